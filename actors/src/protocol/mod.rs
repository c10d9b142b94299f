//! The messages that actors send each other, the replies that callers get, and the handles by which
//! a message reaches its actor. A message that cannot be handled tells its caller so when it is
//! dropped or failed; a reply is sent once.

pub(crate) mod book;
pub(crate) mod entity;
pub(crate) mod follow_ups;
pub(crate) mod pending_reply;
pub(crate) mod reply;
pub(crate) mod step;
