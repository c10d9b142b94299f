//! A command prints these as they are; a sequence at which the log is damaged is also read by programs.

use domain::codec::Undecodable;
use std::io;
use std::path::{Path, PathBuf};
use wal::{Damage, OpenError, ReadError, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The first wrong sequence is named.
    #[error("bad sequence {}: {}", .0.seq, .0.detail)]
    Damaged(#[from] Damage),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {source}", path.display())]
    Checkpoint { path: PathBuf, source: StoreError },
    #[error(transparent)]
    Open(OpenError),
    #[error("{}: {source}", path.display())]
    Beside { path: PathBuf, source: rocksdb::Error },
    #[error("{}: cannot be understood; this directory is not to be trusted", .0.display())]
    Marker(PathBuf),
    /// A secret that is not the one of this directory.
    #[error("{}: {why}", path.display())]
    Key { path: PathBuf, why: String },
    #[error("{}: {why}", path.display())]
    Refused { path: PathBuf, why: String },
    /// Whole, but not what was written, or not by who has the key.
    #[error(
        "{0}, is not what was written under the card.key here: it was changed, or the key is another one"
    )]
    Unproved(String),
    /// A file that is for another deployment, or from one with other keys.
    #[error("{0}")]
    Misdirected(String),
    #[error("{0}")]
    NotDone(String),
    #[error(transparent)]
    Notes(#[from] Undecodable),
}

impl Failed {
    /// As against a task that could not be done.
    pub fn is_damage(&self) -> bool {
        match self {
            Failed::Damaged(_)
            | Failed::Store(StoreError::Corrupt(_))
            | Failed::Checkpoint { source: StoreError::Corrupt(_), .. }
            | Failed::Open(OpenError::Damage(_) | OpenError::Store(StoreError::Corrupt(_)))
            | Failed::Marker(_)
            | Failed::Key { .. } => true,
            Failed::Beside { source, .. } => wal::is_damage(source),
            _ => false,
        }
    }

    pub fn refused(path: &Path, why: impl Into<String>) -> Failed {
        Failed::Refused { path: path.to_owned(), why: why.into() }
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

pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Failed {
    move |source| Failed::File { path: path.to_owned(), source }
}
