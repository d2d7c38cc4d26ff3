//! Reads the hits that an aggregation such as `top_hits` shows. The aggregations do not read documents
//! themselves: the caller of the search passes in a reader.

use std::fmt::Debug;

use crate::collect::{BoundSort, Hit};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::query::BoundQuery;
use crate::request::SearchRequest;
use crate::response::SearchHit;
use crate::shard::bound_search::InnerSearch;

/// Hits of one shard that are to be shown, and how they were found.
pub(crate) struct WantedHits<'h> {
    /// The shard that the hits come from.
    pub shard: &'h ShardSnapshot,
    /// The query of the search that the aggregation belongs to.
    pub query: &'h BoundQuery,
    /// The sort of the hits; empty when they were sorted by score.
    pub sorts: &'h [BoundSort],
    /// The inner hits that are shown with each hit.
    pub inner: &'h [InnerSearch<'h>],
    /// The hits, in the order in which they are shown.
    pub hits: &'h [Hit],
    /// Which parts of each document are shown.
    pub request: &'h SearchRequest,
    /// Whether sort values are shown.
    pub shows_sort: bool,
    /// The search that the aggregation belongs to.
    pub context: &'h SearchContext,
}

/// Reads the documents of hits.
pub(crate) trait HitReader: Debug + Sync {
    /// Reads the hits, in the order of [`WantedHits::hits`].
    ///
    /// # Errors
    /// Fails when a document cannot be read, or when a script that makes a shown value fails.
    fn read(&self, wanted: &WantedHits<'_>) -> Result<Vec<SearchHit>>;
}
