//! `track_total_hits`: "how many of the hits are to be counted?"

use limber_mapping::RequestError;

/// How exactly the number of hits is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackTotalHits {
    /// `true`.
    Exact,
    /// Exact up to this many, `gte` beyond.
    UpTo(u32),
    /// `false`: no total.
    None,
}

impl TrackTotalHits {
    /// Elasticsearch's default, `SearchContext#DEFAULT_TRACK_TOTAL_HITS_UP_TO`.
    pub const DEFAULT: TrackTotalHits = TrackTotalHits::UpTo(10_000);

    pub(super) fn up_to(count: i32) -> Result<TrackTotalHits, RequestError> {
        match count {
            -1 => Ok(TrackTotalHits::None),
            count if count >= 0 => Ok(TrackTotalHits::UpTo(count as u32)),
            count => Err(RequestError::illegal_argument(format!(
                "[track_total_hits] parameter must be positive or equals to -1, got {count}"
            ))),
        }
    }
}
