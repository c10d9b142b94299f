//! Recovery: what an operator trusts when things went wrong. Copies of a data directory, directories
//! made from its log, and the proof that what is there is right.
//!
//! In reading order: [`directory`] what a data directory consists of · [`restored_copy`] the
//! marker of a directory that is not the active server's · [`books`] the state that records lead to · [`verify`]
//! everything read again and compared · [`recheck`] the newest snapshots of a running server
//! derived again · [`rederive`] one book derived from all its records · [`rebuild`] a directory
//! made from records · [`archive`] records as one portable file · [`backup`] copies and their
//! restoration. It knows the domain and the log; it must not know HTTP, nor how the command line
//! looks.

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

/// The progress of a long work, told: what is being done, how much of it is done, and of how much.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// The reason why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// What is stored is not right; the first sequence at which it is not, is named.
    #[error("bad sequence {}: {}", .0.seq, .0.detail)]
    Damaged(#[from] Damage),
    /// The file system says no.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or the directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The store of a log says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be copied.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The directory of the copy.
        path: PathBuf,
        /// What the store says.
        source: StoreError,
    },
    /// A log does not open.
    #[error(transparent)]
    Open(OpenError),
    /// Another store than the log's says no.
    #[error("{}: {source}", path.display())]
    Beside {
        /// Its directory.
        path: PathBuf,
        /// What it says.
        source: rocksdb::Error,
    },
    /// The books of the simulated bank are not right, or cannot be written.
    #[error(transparent)]
    Books(#[from] BooksError),
    /// Anything else, in words.
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

/// An error of the file system, with the place.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Failed {
    move |source| Failed::File { path: path.to_owned(), source }
}
