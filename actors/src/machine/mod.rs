//! The pure rules that the engine hosts, over a book and its entities: no I/O, clock, randomness or
//! async, and no code that hosts a machine. [`Effects`] is the outside world, which is not pure.

mod effects;
mod rules;
mod schedule;
mod storage;

pub use effects::Effects;
pub use rules::{Decision, Rules, Turn};
pub use schedule::{LONG_AGO_MS, Schedule};
pub use storage::Storage;

pub trait Machine: Rules + Storage + Schedule {}

impl<M: Rules + Storage + Schedule> Machine for M {}
