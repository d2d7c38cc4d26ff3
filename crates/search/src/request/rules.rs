//! Rules that follow from several options: "may these be used together, and how are the shards asked?"

use limber_mapping::RequestError;

use super::{SearchRequest, StoredFields, TrackTotalHits};

impl SearchRequest {
    /// Default of `batched_reduce_size`. Source: `SearchRequest#DEFAULT_BATCHED_REDUCE_SIZE`.
    const BATCHED_REDUCE_SIZE: u32 = 512;

    /// Source: `SearchRequest#DEFAULT_PRE_FILTER_SHARD_SIZE`.
    const PRE_FILTER_SHARDS: u32 = 128;

    /// Whether shards are first checked for whether anything in them can match. Source:
    /// `TransportSearchAction#shouldPreFilterSearchShards`, `SearchService#canRewriteToMatchNone`.
    pub(crate) fn filters_shards(&self, shard_count: usize) -> bool {
        let by_field = self.sort.first().is_some_and(|sort| !sort.is_score());
        let default = if by_field { 1 } else { SearchRequest::PRE_FILTER_SHARDS };
        shard_count > self.pre_filter_shard_size.unwrap_or(default) as usize
            && self.query.is_some()
            && self.suggest.is_none()
            // Their statistics are needed from all shards.
            && !self.counts_all_shards
            && self.aggregations.as_ref().is_none_or(|list| !list.must_visit_all_docs())
    }

    /// Returns how often Elasticsearch reduces the results of this many shards: once for each batch beyond
    /// the first, whose outcome then counts as one result, and once at the end. Source:
    /// `QueryPhaseResultConsumer`.
    pub(crate) fn reduce_phases(&self, result_count: usize) -> u32 {
        let batch = self.batched_reduce_size.unwrap_or(SearchRequest::BATCHED_REDUCE_SIZE) as usize;
        let (mut phases, mut waiting) = (1, 0);
        if self.size() == 0 && self.aggregations.is_none() {
            return phases;
        }
        for _ in 0..result_count {
            if waiting >= batch {
                (phases, waiting) = (phases + 1, 1);
            }
            waiting += 1;
        }
        phases
    }

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

#[cfg(test)]
mod tests {
    use super::super::UrlParameters;
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn results_of_shards_are_reduced_in_batches() {
        let phases = |body: Value, batch: &str, results: usize| {
            let url: UrlParameters = [("batched_reduce_size", batch)].into_iter().collect();
            SearchRequest::read(&body, &url, None).unwrap().reduce_phases(results)
        };
        assert_eq!([2, 3, 4, 5].map(|results| phases(json!({}), "2", results)), [1, 2, 3, 4]);
        assert_eq!([4, 5, 7, 8].map(|results| phases(json!({}), "4", results)), [1, 2, 2, 3]);
        assert_eq!(phases(json!({"size": 0}), "2", 5), 1);
    }
}
