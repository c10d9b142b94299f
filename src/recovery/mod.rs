//! Recovery: the tools that an operator trusts when things went wrong. Copies of a data directory,
//! restored copies made from its log, and the proof that the stored data is right.
//!
//! In reading order: [`directory`] the parts of a data directory · [`restored_copy`] the marker of
//! a directory that is not the active server · [`books`] the state that records lead to ·
//! [`verify`] everything read again and compared · [`recheck`] the newest snapshots of a running
//! server derived again · [`rederive`] one book derived from all its records · [`rebuild`] a
//! directory made from records · [`archive`] records as one portable file · [`backup`] copies and
//! their restoration. It knows the domain and the log; it must not know HTTP, nor how the command
//! line looks.

pub mod archive;
pub mod backup;
pub mod books;
pub mod directory;
pub mod rebuild;
pub mod recheck;
pub mod rederive;
pub mod restored_copy;
pub mod verify;

use crate::rails::simulator::BooksError;
use std::io;
use std::path::{Path, PathBuf};
use wal::{Damage, OpenError, ReadError, StoreError};

/// A callback for the progress of a long task: its step, the amount done, and the total (0 if
/// unknown).
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// The reason why a task failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Stored data is wrong; the first wrong sequence is named.
    #[error("bad sequence {}: {}", .0.seq, .0.detail)]
    Damaged(#[from] Damage),
    /// The file system failed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or the directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The store of a log failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be copied.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The directory of the copy.
        path: PathBuf,
        /// The error of the store.
        source: StoreError,
    },
    /// A log does not open.
    #[error(transparent)]
    Open(OpenError),
    /// A store beside the log failed.
    #[error("{}: {source}", path.display())]
    Beside {
        /// The directory of the store.
        path: PathBuf,
        /// The error of the store.
        source: rocksdb::Error,
    },
    /// The books of the simulated bank are wrong, or cannot be written.
    #[error(transparent)]
    Books(#[from] BooksError),
    /// Any other failure, in words.
    #[error("{0}")]
    Other(String),
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Other(why)
    }
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Failed {
        match error {
            ReadError::Damage(damage) => Failed::Damaged(damage),
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<OpenError> for Failed {
    fn from(error: OpenError) -> Failed {
        match error {
            OpenError::Damage(damage) => Failed::Damaged(damage),
            error => Failed::Open(error),
        }
    }
}

/// Turns an error of the file system into a failure that names the path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Failed {
    move |source| Failed::File { path: path.to_owned(), source }
}
