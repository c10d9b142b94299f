//! Hosts pure machines on ractor, over a write-ahead log.
//!
//! A [`Machine`] says what should happen: how a command changes a tenant's *book* (its money, in
//! memory) and one *entity* (a payment, a payout …). This crate makes it happen: one actor per
//! book, which decides in one turn and is the only writer of its tenant's records; one actor per
//! active entity, which serialises what is asked of it, waits for its records and performs their
//! effects; permits, deadlines, a clock that a test moves, snapshots, recovery and supervision.
//!
//! It promises: a command is decided on the state that all commands before it left; nothing is
//! answered before it is durable; the book never waits; a panic in `decide` changes nothing; a
//! panic in `evolve` halts the book before the record is written, and no other. It must not know
//! what a payment is, nor how it was asked for.
//!
//! Layout: [`machine`] the trait · [`engine`] the handle · `book` and `entity` the actors ·
//! `book_handle` the mailbox of a book, with wake-up · `admission` the bounds on what is under way
//! · `pending_reply` the replies that the log carries · `follow_ups` effects of other entities than
//! the one that was asked · `entity_reply` the reply of an entity · `entity_cache` states that need
//! not be read · `ack_task` acknowledgements of the log · `background_snapshot` snapshots of large
//! books · `halt` books in doubt · `clock`, `clock_advance` and `alarm` time · `recovery` ·
//! `housekeeping`.

mod ack_task;
mod admission;
mod alarm;
mod background_snapshot;
mod book;
mod book_handle;
mod clock;
mod clock_advance;
pub mod engine;
mod entity;
mod entity_cache;
mod entity_reply;
mod follow_ups;
mod halt;
mod housekeeping;
pub mod machine;
mod pending_reply;
mod recovery;

pub use admission::{Refused, Shares};
pub use book::wake_key;
pub use clock::{Clock, Reading, STEP_MS_MAX};
pub use engine::{Config, Engine, Seeds, StartError, Status, unforeseeable};
pub use follow_ups::Performed;
pub use halt::Halted;
pub use machine::{Decision, Effects, Machine, Turn};
pub use pending_reply::{CommandReply, Failure, Guard, ReplyTo, Settled, Timing};
