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
//! Layers, of which each imports only from those before it (`tests/tidy/layers.rs`): `age_bound` ·
//! `machine` the traits of what is hosted · `wake_mark`, `clock`, `alarm`, `admission` and
//! `entity_cache`, which know no actors · `protocol` messages, replies and handles · `host` what
//! every actor needs of its engine · `book`, `entity` and `clock_advance` the actors, over a
//! context of their own · `engine` the handle.

mod admission;
mod age_bound;
mod alarm;
mod book;
mod clock;
mod clock_advance;
pub mod engine;
mod entity;
mod entity_cache;
mod host;
pub mod machine;
mod protocol;
mod wake_mark;

pub use admission::{Refused, Shares};
pub use clock::{Clock, Reading, STEP_MS_MAX};
pub use engine::{
    Config, Engine, FollowError, Followed, Follower, NotReady, StartError, Status, unforeseeable,
};
pub use host::{Halted, HasRoomForDue, OnHalt, Seeds};
pub use machine::{Decision, Effects, LONG_AGO_MS, Machine, Rules, Schedule, Storage, Turn};
pub use protocol::follow_ups::Performed;
pub use protocol::reply::{CommandReply, Failure, Guard, Settled, Timing};
pub use wake_mark::wake_key;
