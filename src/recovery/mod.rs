//! Recovery: the tools that an operator trusts when something went wrong. Copies of a data directory,
//! restored copies made from its log, and the proof that the stored data is right.
//!
//! In reading order: [`directory`] the parts of a data directory · [`restored_copy`] the marker of
//! a directory that is not the active server · [`books`] the state that records lead to ·
//! [`verify`] everything read again and compared · [`recheck`] the newest snapshots of a running
//! server derived again · [`rederive`] one book derived from all its records · [`rebuild`] a
//! directory made from records · [`writing`] a log without an engine · [`archive`] records as one
//! portable file, of [`blocks`] · [`moving`] a tenant as one · [`backup`] copies and their
//! restoration. It knows the domain and the log; it must not know HTTP, nor what the command line
//! looks like.

pub mod archive;
pub mod backup;
pub mod blocks;
pub mod books;
pub mod directory;
mod failed;
pub mod moving;
pub mod rebuild;
pub mod recheck;
pub mod rederive;
pub mod restored_copy;
pub mod verify;
pub mod writing;

pub(crate) use failed::at;
pub use failed::{BlockFault, Failed, Fault, KeyFault};

/// A callback for the progress of a long task: its step, the amount done, and the total (0 if
/// unknown).
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);
