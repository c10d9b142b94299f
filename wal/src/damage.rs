//! Damage of stored data, in words for the operator. Every message names the sequence: that is
//! where an investigation starts.

use crate::Seq;
use crate::store::StoreError;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Damage {
    pub seq: Seq,
    pub detail: String,
}

impl Damage {
    pub(crate) fn new(seq: Seq, detail: impl Into<String>) -> Damage {
        Damage { seq, detail: detail.into() }
    }

    pub(crate) fn missing(first: Seq, last: Seq) -> Damage {
        if first == last {
            Damage::new(first, format!("record {first} is missing"))
        } else {
            Damage::new(first, format!("records {first} to {last} are missing"))
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Damage(#[from] Damage),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReadError {
    pub(crate) fn at(self, seq: Seq) -> Damage {
        match self {
            ReadError::Damage(damage) => damage,
            ReadError::Store(error) => Damage::new(seq, format!("record {seq} cannot be read: {error}")),
        }
    }
}

/// Nothing was changed in the data directory.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Held by another process, or by another log of this process.
    #[error("data directory {} is in use by another \
        process{}", path.display(), match pid { Some(pid) => format!(" (pid {pid})"), None => String::new() })]
    InUse { path: PathBuf, pid: Option<u32> },
    #[error("there is no log in {}", path.display())]
    NotFound { path: PathBuf },
    /// Opening the log would lose records silently.
    #[error("the log is damaged at sequence {}: {}", .0.seq, .0.detail)]
    Damage(#[from] Damage),
    #[error("the data directory cannot be opened: {0}")]
    Store(#[from] StoreError),
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> OpenError {
        match error {
            ReadError::Damage(damage) => OpenError::Damage(damage),
            ReadError::Store(error) => OpenError::Store(error),
        }
    }
}
