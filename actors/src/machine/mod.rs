//! The machine: the pure rules that the engine hosts, over a book and its entities. Traits and the
//! values that they exchange belong here, and no code that hosts a machine: no I/O, clock,
//! randomness or async.
//!
//! Layout: [`Rules`] says what may happen, [`Storage`] how it is stored and found again,
//! [`Schedule`] when deadlines fall due. [`Effects`] is the outside world, which is not pure.

mod effects;
mod rules;
mod schedule;
mod storage;

pub use effects::Effects;
pub use rules::{Decision, Rules, Turn};
pub use schedule::Schedule;
pub use storage::Storage;

/// All that the engine needs of a machine: the sum of its three parts.
pub trait Machine: Rules + Storage + Schedule {}

impl<M: Rules + Storage + Schedule> Machine for M {}
