//! The tools that an operator trusts when something went wrong: copies of a data directory,
//! restored copies made from its log, and the proof that the stored data is right. It knows the
//! domain and the log; it must not know HTTP, nor what the command line looks like.

pub mod archive;
pub mod backup;
pub mod bisect;
pub mod blocks;
pub mod books;
pub mod condition;
pub mod directory;
pub mod earlier_state;
mod failed;
pub mod moment;
pub mod moving;
pub mod rebuild;
pub mod recheck;
pub mod rederive;
pub mod restored_copy;
pub mod sets;
pub mod shadow;
pub mod sql;
pub mod states;
pub mod verify;
pub mod writing;

pub use failed::Failed;
pub(crate) use failed::at;
use std::time::{SystemTime, UNIX_EPOCH};

/// The step, the amount done, and the total (0 if unknown).
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// On the machine's clock.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
