//! `track_total_hits`: "up to which number are hits counted?"

use limber_mapping::RequestError;

/// How exactly hits are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackTotalHits {
    /// `true`.
    Exact,
    /// Exact up to this number, `gte` beyond.
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
