//! Why a feed has no price. Nothing here quotes an address, a header or an answer: they may be
//! secrets, and anything.

use crate::fetch::FetchError;
use crate::json_pointer::PointerError;
use domain::resources::rates::samples::Series;

#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error(transparent)]
    Pointer(#[from] PointerError),
    #[error("has nothing there")]
    NoPrice,
    #[error("has something there that is no number")]
    NotNumber,
    #[error("has a price there that is below 0.00005, or too large")]
    NotPrice,
    #[error("has no time there")]
    NoTime,
    #[error("has a time there that is neither a text nor a number")]
    TimeOfOtherType,
    #[error("has a time there that cannot be read")]
    UnreadableTime,
    #[error("has a time there that lies ahead")]
    TimeAhead,
}

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("headers: {name} is no header, or its value has characters that a header cannot have")]
    Header { name: String },
    #[error("the answer {0}")]
    Answer(#[from] AnswerError),
    /// The bank has published no rate of the last days, or does not answer.
    #[error("the bank says no rate")]
    NoRate,
    #[error("reading the answer failed by a defect of this server")]
    Defect,
}

/// Found at the start: a feed cannot be asked at all, as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {source}", series.pair, series.source)]
pub struct FeedError {
    pub series: Series,
    pub source: SourceError,
}
