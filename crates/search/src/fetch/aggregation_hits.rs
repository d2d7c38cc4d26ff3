//! The hits that aggregations show.

use super::hit::Searched;
use super::page::fetch_hits;
use crate::aggregation::{HitReader, WantedHits};
use crate::error::Result;
use crate::response::SearchHit;

/// Fetches the hits of aggregations in the same way as those of searches.
#[derive(Debug)]
pub(crate) struct AggregationHits;

impl HitReader for AggregationHits {
    fn read(&self, wanted: &WantedHits<'_>) -> Result<Vec<SearchHit>> {
        let &WantedHits { shard, query, sorts, inner, hits, request, shows_sort, context } = wanted;
        let searched = Searched { query, post_filter: None, sorts, rescores: &[], inner };
        fetch_hits(shard, searched, hits, request, shows_sort, context)
    }
}
