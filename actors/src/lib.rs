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
//! Layout: [`machine`] the trait · [`engine`] the handle · `book` and `entity` the actors · `slot`
//! where a book is found · `admission` how much may be under way · `rider` what travels with a
//! record · `errands` what it asks of other entities · `asker` who waits for one · `at_hand` states
//! that need not be read · `halt` books in doubt · `clock`, `jump` and `alarm` time · `recovery` ·
//! `housekeeping`.

mod admission;
mod alarm;
mod asker;
mod at_hand;
mod book;
mod clock;
pub mod engine;
mod entity;
mod errands;
mod halt;
mod housekeeping;
mod image;
mod jump;
pub mod machine;
mod recovery;
mod rider;
mod slot;
mod teller;

pub use admission::{Refused, Shares};
pub use book::wake_key;
pub use clock::{Clock, Reading, STEP_MS_MAX};
pub use engine::{Config, Engine, Seeds, StartError, Status, unforeseeable};
pub use errands::Performed;
pub use halt::Halted;
pub use machine::{Decision, Effects, Machine, Turn};
pub use rider::{Answer, Failure, Held, Outcome, Settled, Timing};
