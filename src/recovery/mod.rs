//! Recovery: what an operator trusts when things went wrong. Copies of a data directory, other
//! worlds made from its log, and the proof that what is there is right.
//!
//! In reading order: [`directory`] what a data directory consists of · [`past`] the marker of a
//! world that is not the present one · [`books`] the state that records lead to · [`verify`]
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

use crate::rails::simulator::books::BooksError;
use std::fmt;
use wal::{Damage, ReadError, StoreError};

/// Told how far a long work is: what is being done, how much of it is done, and of how much.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// What is stored is not right; the first sequence at which it is not, is named.
    Damaged(Damage),
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Damaged(damage) => write!(f, "bad sequence {}: {}", damage.seq, damage.detail),
            Failed::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failed {}

impl From<Damage> for Failed {
    fn from(damage: Damage) -> Failed {
        Failed::Damaged(damage)
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Other(why)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        Failed::Other(error.to_string())
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

impl From<wal::OpenError> for Failed {
    fn from(error: wal::OpenError) -> Failed {
        match error {
            wal::OpenError::Damage(damage) => Failed::Damaged(damage),
            error => Failed::Other(error.to_string()),
        }
    }
}

impl From<BooksError> for Failed {
    fn from(error: BooksError) -> Failed {
        Failed::Other(error.to_string())
    }
}

/// An error of the file system, with the place.
pub(crate) fn at(path: &std::path::Path) -> impl Fn(std::io::Error) -> Failed {
    move |error| Failed::Other(format!("{}: {error}", path.display()))
}
