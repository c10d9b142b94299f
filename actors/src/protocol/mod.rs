//! The protocol of the actors: the messages that they send each other, the replies that callers
//! get, and the handles by which a message reaches its actor.
//!
//! Promises: a message that cannot be handled tells its caller so when it is dropped or failed; a
//! reply is sent once. Must not know how an actor handles a message, nor that there is an engine.

pub(crate) mod book;
pub(crate) mod entity;
pub(crate) mod follow_ups;
pub(crate) mod pending_reply;
pub(crate) mod reply;
pub(crate) mod step;
