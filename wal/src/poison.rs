//! The end of a log that could not write. The first failed write is the last: whether it was stored
//! is unknown, so nothing may follow it.

use crate::store::StoreError;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum Ended {
    /// The store refused the batch.
    Store(StoreError),
    /// Another writer has taken the log: the batch is not in it, and will not be.
    Fenced(String),
    /// The answer whether the batch was agreed on did not come in time.
    Unknown(String),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Ended {
        Ended::Store(error)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poisoned {
    why: Arc<str>,
    outcome: WriteOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteOutcome {
    Unknown,
    NotWritten,
}

impl Poisoned {
    pub(crate) fn unknown(why: impl Into<Arc<str>>) -> Poisoned {
        Poisoned { why: why.into(), outcome: WriteOutcome::Unknown }
    }

    pub(crate) fn ended(ended: &Ended) -> Poisoned {
        match ended {
            // RocksDB refuses to write once a compaction has met a bad file.
            Ended::Store(error @ StoreError::Corrupt(_)) => {
                Poisoned::unknown(format!("what the log holds is damaged: {error}"))
            }
            Ended::Store(error) => Poisoned::unknown(format!("the log could not be written: {error}")),
            Ended::Fenced(why) => Poisoned { why: why.as_str().into(), outcome: WriteOutcome::NotWritten },
            Ended::Unknown(why) => Poisoned::unknown(why.as_str()),
        }
    }

    pub(crate) fn not_written(&self) -> Poisoned {
        Poisoned { why: self.why.clone(), outcome: WriteOutcome::NotWritten }
    }

    pub(crate) fn closed() -> Poisoned {
        Poisoned { why: "the log is closed".into(), outcome: WriteOutcome::NotWritten }
    }

    pub fn why(&self) -> &str {
        &self.why
    }

    /// If false, the record certainly is not in the log.
    pub fn outcome_unknown(&self) -> bool {
        self.outcome == WriteOutcome::Unknown
    }
}

impl fmt::Display for Poisoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            WriteOutcome::Unknown => "outcome unknown",
            WriteOutcome::NotWritten => "not written",
        };
        write!(f, "{}; {outcome}, ask again with the same key after the restart", self.why)
    }
}

impl std::error::Error for Poisoned {}
