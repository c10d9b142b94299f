//! What the log needs of its storage and of its quorum, in memory, and failing as a test wants it.

mod cursor;
mod quorum;
mod store;

pub use quorum::{MemoryQuorum, QuorumFaults};
pub use store::{Crash, Faults, MemoryStore, Refusal};
