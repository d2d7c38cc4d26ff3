//! A search bound to a shard: "what is searched for here, and what is known before any document is
//! visited?"

use std::sync::Arc;
use std::time::Instant;

use super::ShardRequest;
use crate::collect::BoundSort;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::query::{BoundQuery, CountedFrom, QueryTimes, cache_filters, profiled};
use crate::request::{SearchRequest, TrackTotalHits};
use crate::shard::bound_search::{bind_inner_hits, bind_post_filter, bind_query};
use crate::shard::rescore::BoundRescore;

/// If the terms occur in fewer documents than this in total, hits are counted while they are scored:
/// counting first would save little.
const COUNTED_FIRST_MIN: u64 = 2_048;

/// A search on one shard.
pub(super) struct Plan {
    pub query: BoundQuery,
    /// Timers of the query and its sub-queries, if the search is profiled.
    pub queries: Vec<Arc<QueryTimes>>,
    pub post_filter: Option<BoundQuery>,
    pub rescores: Vec<BoundRescore>,
    /// Whether documents are scored.
    pub scoring: bool,
    /// Time spent rewriting the bound query.
    pub rewrite_nanos: u64,
}

impl Plan {
    /// Binds all parts of the request. `feeds_scores`: whether the sink needs scores.
    ///
    /// # Errors
    /// The query, its inner hits, the post filter or a rescore cannot be bound on this shard.
    pub fn bind(
        shard: &ShardSnapshot,
        wanted: &ShardRequest<'_>,
        feeds_scores: bool,
        context: &SearchContext,
    ) -> Result<Plan> {
        let request = wanted.request;
        let query = bind_query(shard, request, wanted.place, context)?;
        let post_filter = bind_post_filter(shard, request, context)?;
        // Errors in them are reported before any document is searched for.
        bind_inner_hits(std::iter::once(&query).chain(&post_filter), context)?;
        query.joined_hits(&mut Vec::new())?;
        let rescores = BoundRescore::bind_all(request, shard, context)?;
        let scoring = (wanted.sorts.is_empty() && wanted.count_max > 0)
            || wanted.sorts.iter().any(BoundSort::needs_scores)
            || request.track_scores
            || request.min_score.is_some()
            || feeds_scores;
        let rewrite_started = Instant::now();
        let query = cache_filters(query, shard, !scoring);
        let rewrite_nanos = rewrite_started.elapsed().as_nanos() as u64;
        let (query, queries) = if context.profiles { profiled(query) } else { (query, Vec::new()) };
        Ok(Plan { query, queries, post_filter, rescores, scoring, rewrite_nanos })
    }

    /// Decides about all documents at once if they have the same score; returns the request without
    /// `min_score`, which is then done with. Only for searches that show no hits, and so no scores.
    pub fn decide_min_score(
        &mut self,
        wanted: &ShardRequest<'_>,
        feeds_scores: bool,
    ) -> Option<SearchRequest> {
        let (least, score) = (wanted.request.min_score?, self.query.node.common_score()?);
        if wanted.count_max > 0 || !wanted.sorts.is_empty() {
            return None;
        }
        if score < least {
            self.query = BoundQuery::nothing("Its score is below min_score.");
        }
        self.scoring = feeds_scores || wanted.request.track_scores;
        Some(SearchRequest { min_score: None, ..wanted.request.clone() })
    }

    /// Returns the number of hits, if it is known without visiting documents.
    /// With `terminate_after`, only what Elasticsearch knows as well counts as known (its
    /// `QueryPhase#shortcutTotalHitCount`).
    pub fn known_total(&self, shard: &ShardSnapshot, wanted: &ShardRequest<'_>) -> Result<Option<u64>> {
        let is_known = wanted.request.terminate_after == 0
            || match self.query.node.counted_from() {
                Some(CountedFrom::Term) => true,
                // Nested documents are documents of their own there, which a filter leaves out.
                Some(CountedFrom::Documents) => shard.mapping.nested_objects().is_empty(),
                None => wanted.count_max == 0,
            };
        match is_known && wanted.request.min_score.is_none() && self.post_filter.is_none() {
            true => self.query.known_count(shard),
            false => Ok(None),
        }
    }

    /// Whether aggregations may be fed by a separate search before the hits are searched for.
    pub fn may_feed_apart(&self, wanted: &ShardRequest<'_>) -> bool {
        let request = wanted.request;
        (wanted.count_max > 0 || self.post_filter.is_some())
            && self.query.node.is_quick()
            && request.min_score.is_none()
            && request.terminate_after == 0
    }

    /// Whether hits are counted, up to `limit`, before the best are searched for. Matches of any of several
    /// terms are found by bit sets, a window at a time, in a fraction of the time that scoring takes.
    /// Documents that need not be counted can then be skipped from the start.
    pub fn counts_first(&self, wanted: &ShardRequest<'_>, limit: u64) -> bool {
        let request = wanted.request;
        let is_by_score = wanted.sorts.is_empty() && request.collapse.is_none();
        let counts_all =
            self.post_filter.is_none() && request.min_score.is_none() && request.terminate_after == 0;
        if wanted.count_max == 0 || limit == 0 || !is_by_score || !counts_all {
            return false;
        }
        let found = match self.query.node.by_score() {
            Some(by_score) if by_score.needs_any() => by_score.cost(),
            // A conjunction counts the documents that it skips, too.
            _ => return false,
        };
        found >= COUNTED_FIRST_MIN.max(wanted.count_max as u64)
    }
}

/// Returns how many hits must be counted before any may be skipped; `None` if they need not be counted.
pub(super) fn count_limit(known_total: Option<u64>, wanted: &ShardRequest<'_>) -> Option<u64> {
    match (known_total, wanted.request.track_total_hits) {
        (Some(_), _) | (None, TrackTotalHits::None) => None,
        (None, TrackTotalHits::UpTo(limit)) => u64::from(limit).checked_sub(wanted.counted),
        (None, TrackTotalHits::Exact) => Some(u64::MAX),
    }
}
