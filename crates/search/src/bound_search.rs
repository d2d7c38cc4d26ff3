//! The parts of a search bound to a shard: "what do its query, its filter and its sorts mean here?"

use crate::collect::{BoundSort, bind_sorts};
use crate::context::{SearchContext, ShardPlace, ShardSnapshot};
use crate::error::Result;
use crate::query::{self, BoundQuery, Query};
use crate::request::{SearchRequest, Sort};

pub(crate) fn bind_post_filter(
    shard: &ShardSnapshot,
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<Option<BoundQuery>> {
    request.post_filter.as_ref().map(|filter| query::bind_in(filter, shard, context)).transpose()
}

/// The request's query with its slice, on a shard.
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

/// Binds the request's sorts, or none where score alone decides.
pub(crate) fn sorts_of(
    request: &SearchRequest,
    by_score_needs_keys: bool,
    shard: &ShardSnapshot,
    place: ShardPlace,
    context: &SearchContext,
) -> Result<Vec<BoundSort>> {
    let by_score = [Sort::by("_score")];
    let sorts = match request.collapse.is_some() && request.sort.is_empty() {
        // The scores of groups are keys like others.
        true => by_score.as_slice(),
        false if request.is_by_score() && !by_score_needs_keys && request.collapse.is_none() => &[],
        false => &request.sort,
    };
    let mut sorts = bind_sorts(sorts, shard, context.into())?;
    sorts.iter_mut().for_each(|sort| sort.place_shard(place.index));
    Ok(sorts)
}
