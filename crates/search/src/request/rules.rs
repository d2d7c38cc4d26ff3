//! Combinations of options that a search must not have: "may these be used together?"

use limber_mapping::RequestError;

use super::{SearchRequest, StoredFields, TrackTotalHits};

impl SearchRequest {
    /// Checks the rules for every search.
    pub(super) fn validate(&self) -> Result<(), RequestError> {
        if self.search_after.is_some() && self.from() > 0 {
            return Err(RequestError::validation([
                "[from] parameter must be set to 0 when [search_after] is used",
            ]));
        }
        let shows_source = self.source.as_ref().is_some_and(|source| source.fetch);
        if self.stored_fields == Some(StoredFields::None) && shows_source {
            return Err(RequestError::validation([
                "[stored_fields] cannot be disabled if [_source] is requested",
            ]));
        }
        Ok(())
    }

    /// Checks that a slice is used with a scroll or a point in time.
    pub fn validate_slice(&self) -> Result<(), RequestError> {
        if self.slice.is_some() && self.pit.is_none() {
            let problem = "[slice] can only be used with [scroll] or [point-in-time] requests";
            return Err(RequestError::validation([problem]));
        }
        Ok(())
    }

    /// Checks the rules for a scroll's first request; `action_request_validation_exception` in
    /// Elasticsearch's words.
    pub fn validate_scroll(&self) -> Result<(), RequestError> {
        let mut problems = Vec::new();
        if self.track_total_hits == TrackTotalHits::None {
            problems.push("disabling [track_total_hits] is not allowed in a scroll context");
        }
        if self.from() > 0 {
            problems.push("using [from] is not allowed in a scroll context");
        }
        if self.size() == 0 {
            problems.push("[size] cannot be [0] in a scroll context");
        }
        if !self.rescores.is_empty() {
            problems.push("using [rescore] is not allowed in a scroll context");
        }
        if self.collapse.is_some() {
            problems.push("cannot use `collapse` in a scroll context");
        }
        if self.search_after.is_some() {
            problems.push("[search_after] cannot be used in a scroll context");
        }
        if self.pit.is_some() {
            problems.push("using [point in time] is not allowed in a scroll context");
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(RequestError::validation(problems))
    }
}
