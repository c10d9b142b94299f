//! The end of a log that could not write. The first failed write is the last: whether it was stored
//! is unknown, so nothing may follow it.

use crate::store::StoreError;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {}, ask again with the same key after the restart", 
    if *.outcome_unknown { "outcome unknown" } else { "not written" })]
pub struct Poisoned {
    pub why: Arc<str>,
    /// If false, the record certainly is not in the log.
    pub outcome_unknown: bool,
}

impl Poisoned {
    pub(crate) fn not_written(why: impl Into<Arc<str>>) -> Poisoned {
        Poisoned { why: why.into(), outcome_unknown: false }
    }
}

impl From<StoreError> for Poisoned {
    fn from(error: StoreError) -> Poisoned {
        let why = match error {
            // RocksDB refuses to write once a compaction has met a bad file.
            StoreError::Corrupt(_) => format!("what the log holds is damaged: {error}"),
            _ => format!("the log could not be written: {error}"),
        };
        Poisoned { why: why.into(), outcome_unknown: true }
    }
}
