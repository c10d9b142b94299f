//! A command prints these as they are; a sequence at which the log is damaged is also read by programs.

use domain::codec::Undecodable;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use wal::{Damage, OpenError, ReadError, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The first wrong sequence is named.
    #[error("bad sequence {}: {}", .0.seq, .0.detail)]
    Damaged(#[from] Damage),
    #[error("{}: {source}", path.display())]
    At { path: PathBuf, source: Box<dyn Error + Send + Sync>, is_damage: bool },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Open(OpenError),
    /// A secret that is not the one of this directory.
    #[error("{}: {why}", path.display())]
    Key { path: PathBuf, why: String },
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
            | Failed::Open(OpenError::Damage(_) | OpenError::Store(StoreError::Corrupt(_)))
            | Failed::Key { .. } => true,
            Failed::At { is_damage, .. } => *is_damage,
            _ => false,
        }
    }

    pub fn refused(path: &Path, why: impl Into<Box<dyn Error + Send + Sync>>) -> Failed {
        Failed::At { path: path.to_owned(), source: why.into(), is_damage: false }
    }

    pub fn checkpoint(path: &Path, error: StoreError) -> Failed {
        let is_damage = matches!(error, StoreError::Corrupt(_));
        Failed::At { path: path.to_owned(), source: error.into(), is_damage }
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
    move |error| Failed::refused(path, error)
}
