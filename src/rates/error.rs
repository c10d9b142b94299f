//! Why a feed has no price. Nothing here quotes an address, a header or an answer: they may be
//! secrets, and anything.

use domain::resources::rates::samples::Series;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub(super) String);

/// Found at the start: a feed cannot be asked at all, as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {source}", series.pair, series.source)]
pub struct FeedError {
    pub series: Series,
    pub source: SourceError,
}
