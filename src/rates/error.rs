//! The reasons why a feed has no price: what is wrong with the answer of its source, or with the
//! call. Nothing here quotes an address, a header or an answer: they may be secrets, and anything.

use crate::fetch::FetchError;
use crate::json_pointer::PointerError;
use domain::resources::rates::samples::Series;

/// The fault of a source's answer, in words that go on after "the answer".
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The price cannot be found in the answer.
    #[error(transparent)]
    Pointer(#[from] PointerError),
    /// The pointer leads to no price.
    #[error("has nothing there")]
    NoPrice,
    /// The pointer leads to something else than a number.
    #[error("has something there that is no number")]
    NotNumber,
    /// The number is no price.
    #[error("has a price there that is below 0.00005, or too large")]
    NotPrice,
    /// The pointer leads to no time.
    #[error("has no time there")]
    NoTime,
    /// The pointer leads to a time of another type.
    #[error("has a time there that is neither a text nor a number")]
    TimeOfOtherType,
    /// The text is in no form that a time is written in.
    #[error("has a time there that cannot be read")]
    UnreadableTime,
    /// The time is not here yet.
    #[error("has a time there that lies ahead")]
    TimeAhead,
}

/// The reason why a source gave no price.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The call failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A header cannot be sent; its value is not quoted.
    #[error("headers: {name} is no header, or its value has characters that a header cannot have")]
    Header {
        /// The name of the header.
        name: String,
    },
    /// The answer has no price.
    #[error("the answer {0}")]
    Answer(#[from] AnswerError),
    /// The bank has published no rate of the last days, or does not answer.
    #[error("the bank says no rate")]
    NoRate,
    /// A panic while the answer was read.
    #[error("reading the answer failed by a defect of this server")]
    Defect,
}

/// The reason why a feed cannot be asked at all, as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {source}", series.pair, series.source)]
pub struct FeedError {
    /// The line of prices that the feed writes.
    pub series: Series,
    /// The reason why there is no price.
    pub source: SourceError,
}
