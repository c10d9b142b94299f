//! Primitives by which one thread hands work to another without losing a wake-up.
//!
//! A wrong memory ordering or a step too early in these few lines would leave a request waiting for
//! ever, and no test that runs them once would notice. So they are in a crate of their own that
//! compiles in seconds without the log and its store: built with `--cfg loom`, its tests try every
//! interleaving and every stale read that the memory model allows (docs/testing.md says what is
//! modelled). It must not know what is handed over.
//!
//! Layout: [`Mailbox`] a queue whose consumer sleeps · [`TasklessMailbox`] a queue whose consumer
//! runs in the task of its caller · [`HandedOver`] a count that keeps acknowledgements in order ·
//! [`Gated`] a future that is polled when it called · `sync` the primitives, real or loom's.

mod gated;
mod handed_over;
mod mailbox;
mod sync;
mod taskless_mailbox;

pub use gated::Gated;
pub use handed_over::HandedOver;
pub use mailbox::Mailbox;
pub use taskless_mailbox::TasklessMailbox;
