//! Damage of stored data, in words for the operator. Every message names the sequence: that is
//! where an investigation starts.

use crate::Seq;
use crate::store::StoreError;
use std::path::PathBuf;

/// Stored data that differs from what was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Damage {
    /// The first sequence that is damaged or missing.
    pub seq: Seq,
    /// The damage in words.
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

/// The reason why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Stored data is wrong or missing.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// The store failed to read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReadError {
    /// Turns an error of the store into damage at `seq`, for callers that must name a sequence.
    pub(crate) fn at(self, seq: Seq) -> Damage {
        match self {
            ReadError::Damage(damage) => damage,
            ReadError::Store(error) => Damage::new(seq, format!("record {seq} cannot be read: {error}")),
        }
    }
}

/// The reason why a log could not be opened. Nothing was changed in the data directory.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another log of this process, has the directory open.
    #[error("data directory {} is in use by another \
        process{}", path.display(), match pid { Some(pid) => format!(" (pid {pid})"), None => String::new() })]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// The process that holds it, if it said so.
        pid: Option<u32>,
    },
    /// The directory has no log to read.
    #[error("there is no log in {}", path.display())]
    NotFound {
        /// The data directory.
        path: PathBuf,
    },
    /// The stored log differs from what was acknowledged. Opening it would lose records silently.
    #[error("the log is damaged at sequence {}: {}", .0.seq, .0.detail)]
    Damage(#[from] Damage),
    /// The store could not be opened or read.
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
