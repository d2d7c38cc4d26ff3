//! The parts of a search bound to a shard: "what do its query, its filter and its sorts mean here?"

use crate::collect::{BoundSort, bind_sorts};
use crate::context::{SearchContext, ShardPlace, ShardSnapshot};
use crate::error::Result;
use crate::query::{self, BoundQuery, NestedMatches, Query};
use crate::request::{InnerHits, SearchRequest, Sort};

pub(crate) fn bind_post_filter(
    shard: &ShardSnapshot,
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<Option<BoundQuery>> {
    request.post_filter.as_ref().map(|filter| query::bind_in(filter, shard, context)).transpose()
}

/// Binds the request's query, with its slice, to a shard.
pub(crate) fn bind_query(
    shard: &ShardSnapshot,
    request: &SearchRequest,
    place: ShardPlace,
    context: &SearchContext,
) -> Result<BoundQuery> {
    let mut query = request.query.clone().unwrap_or_else(Query::match_all);
    query.boost *= request.index_boosts.get(&shard.index.uuid).copied().unwrap_or(1.0);
    let query = query::bind_in(&query, shard, context)?;
    match &request.slice {
        Some(slice) => query::within_slice(query, slice, place, shard, request.pit.is_none()),
        None => Ok(query),
    }
}

/// Binds the request's sorts; none if only the score decides.
pub(crate) fn sorts_of(
    request: &SearchRequest,
    by_score_needs_keys: bool,
    shard: &ShardSnapshot,
    place: ShardPlace,
    context: &SearchContext,
) -> Result<Vec<BoundSort>> {
    let by_score = [Sort::by("_score")];
    let sorts = match request.collapse.is_some() && request.sort.is_empty() {
        // The scores of groups are sort keys like others.
        true => by_score.as_slice(),
        false if request.is_by_score() && !by_score_needs_keys && request.collapse.is_none() => &[],
        false => &request.sort,
    };
    let mut sorts = bind_sorts(sorts, shard, context)?;
    sorts.iter_mut().for_each(|sort| sort.place_shard(place.index));
    Ok(sorts)
}

/// A search for the nested documents that are shown with each hit, bound to their shard.
#[derive(Debug)]
pub(crate) struct InnerSearch<'q> {
    /// The query that matches them, their name and their settings.
    pub nested: NestedMatches<'q>,
    /// The search that describes what is shown of them.
    pub request: &'q SearchRequest,
    /// How they are sorted; empty if by score.
    pub sorts: Vec<BoundSort>,
    /// The context of the enclosing search.
    pub context: &'q SearchContext,
    /// The searches for the inner hits of each of them.
    pub inside: Vec<InnerSearch<'q>>,
}

/// Binds the searches for the inner hits of `queries`.
///
/// # Errors
/// Two inner hits of the same name; more hits than the index allows; sorts that cannot be bound.
pub(crate) fn bind_inner_hits<'q>(
    queries: impl IntoIterator<Item = &'q BoundQuery>,
    context: &'q SearchContext,
) -> Result<Vec<InnerSearch<'q>>> {
    let mut shown = Vec::new();
    queries.into_iter().try_for_each(|query| query.inner_hits(&mut shown))?;
    shown.into_iter().map(|nested| InnerSearch::bind(nested, context)).collect()
}

impl<'q> InnerSearch<'q> {
    fn bind(nested: NestedMatches<'q>, context: &'q SearchContext) -> Result<InnerSearch<'q>> {
        let hits = nested.hits;
        let request = &InnerHits::kept_in(&*hits.request).request;
        let sorts = match request.is_by_score() {
            true => Vec::new(),
            false => bind_sorts(&request.sort, &hits.shard, context)?,
        };
        let inside = bind_inner_hits([nested.query], context)?;
        Ok(InnerSearch { nested, request, sorts, context, inside })
    }
}
