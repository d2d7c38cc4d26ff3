//! Hits that aggregations show: "what do these documents look like?" Documents are read above aggregations,
//! by whoever searches.

use std::fmt::Debug;

use crate::collect::{BoundSort, Hit};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::query::BoundQuery;
use crate::request::SearchRequest;
use crate::response::SearchHit;
use crate::shard::bound_search::InnerSearch;

/// Hits of a shard that are to be shown, and how they were found.
pub(crate) struct WantedHits<'h> {
    /// The shard that they are of.
    pub shard: &'h ShardSnapshot,
    /// The query of the search around the aggregation.
    pub query: &'h BoundQuery,
    /// How they were sorted. Empty: by score.
    pub sorts: &'h [BoundSort],
    /// What is shown of the nested documents of each.
    pub inner: &'h [InnerSearch<'h>],
    /// The hits, in the order in which they are shown.
    pub hits: &'h [Hit],
    /// What of each document is shown.
    pub request: &'h SearchRequest,
    /// Whether sort values are shown.
    pub shows_sort: bool,
    /// The search around.
    pub context: &'h SearchContext,
}

/// Reads the documents of hits.
pub(crate) trait HitReader: Debug + Sync {
    /// One for each of the hits, in their order.
    ///
    /// # Errors
    /// Those of reading, and of the scripts that make values that are shown.
    fn read(&self, wanted: &WantedHits<'_>) -> Result<Vec<SearchHit>>;
}
