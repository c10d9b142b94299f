//! Primitives by which one thread hands work to another without losing a wake-up. A wrong memory
//! ordering here would leave a request waiting for ever, and no test that runs it once would
//! notice: built with `--cfg loom` the tests try every interleaving and every stale read that the
//! memory model allows (docs/testing.md). So the crate compiles in seconds, without the log, and
//! must not know what is handed over.

mod gated;
mod handed_over;
mod mailbox;
mod sync;
mod taskless_mailbox;

pub use gated::Gated;
pub use handed_over::HandedOver;
pub use mailbox::Mailbox;
pub use taskless_mailbox::TasklessMailbox;
