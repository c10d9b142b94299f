//! Hosts pure machines on ractor, over a write-ahead log. A [`Machine`] says how a command changes
//! a tenant's *book* (its money, in memory) and one *entity* (a payment, a payout …). This crate
//! makes it happen: one actor per book, which decides in one turn and is the only writer of its
//! tenant's records; one actor per active entity, which serialises what is asked of it, waits for
//! its records and performs their effects.
//!
//! Promises: a command is decided on the state that all commands before it left; nothing is
//! answered before it is durable; the book never waits; a panic in `decide` changes nothing; a
//! panic in `evolve` halts the book before the record is written, and no other. It must not know
//! what a payment is, nor how it was asked for.
//!
//! Layers, of which each imports only from those before it (`tests/tidy/layers.rs`): `machine` the
//! traits of what is hosted · `clock` and `admission`, which know no actors · `protocol` messages, replies
//! and handles · `host` what all actors share · `alarm` · `entity` and `book` the actors ·
//! `clock_advance` · `engine` the handle.

mod admission;
mod alarm;
mod book;
mod clock;
mod clock_advance;
pub mod engine;
mod entity;
mod host;
pub mod machine;
mod protocol;

pub use admission::{Refused, Shares};
pub use alarm::wake_key;
pub use clock::{Clock, Reading, STEP_MS_MAX};
pub use engine::{Engine, FollowError, Followed, Follower, NotReady, Rehearsal, StartError, Status};
pub use host::{Config, Halted, HasRoomForDue, IsElsewhere, OnHalt, Seeds, unforeseeable};
pub use machine::{Decision, Effects, LONG_AGO_MS, Machine, Turn};
pub use protocol::{CommandReply, Failure, Guard, Performed, Settled, Timing};
