//! `profile: true`: what a search cost on each shard, as Elasticsearch shows it.

use limber_work as work;
use serde_json::{Map, Value, json};

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::fetch::FetchTimes;
use crate::request::SearchRequest;
use crate::shard::hits::{ShardHits, ShardProfile};

/// Returns the member `profile` of the answer. `found` and `fetched` are by the shard's index.
///
/// # Errors
/// The texts of the queries, once for each shard, do not fit into the memory of the request.
pub(crate) fn to_json(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    found: &[(usize, ShardHits)],
    fetched: &[(usize, FetchTimes)],
    context: &SearchContext,
) -> Result<Value> {
    let mut shown: Vec<Value> = Vec::new();
    for (number, hits) in found {
        let Some(profile) = &hits.profile else { continue };
        work::check_beyond_deadline()?;
        let shard = &shards[*number];
        let (node, index, place) = (&*context.node_id, &shard.index.name, shard.shard);
        let mut one = json!({
            "id": format!("[{node}][{index}][{place}]"),
            "node_id": node,
            "shard_id": place,
            "index": index,
            "cluster": "(local)",
            "searches": [{
                "query": [],
                "rewrite_time": profile.rewrite_nanos,
                "collector": [collector(profile, request)],
            }],
            "aggregations":
                profile.aggregations.iter().map(|aggregation| &aggregation.shown).collect::<Vec<_>>(),
        });
        // Moved, because the macro would copy them.
        one["searches"][0]["query"] = profile.queries.iter().map(|query| query.to_json()).collect();
        if let Some((_, times)) = fetched.iter().find(|(shard, _)| shard == number) {
            one["fetch"] = times.to_json(request);
        }
        shown.push(one);
    }
    Ok(Value::Object(Map::from_iter([("shards".to_owned(), shown.into())])))
}

/// Returns what collecting the hits cost: the time of the search that is not the query's.
fn collector(profile: &ShardProfile, request: &SearchRequest) -> Value {
    let of_queries: u64 = profile.queries.iter().map(|query| query.nanos_of_search()).sum();
    let nanos = profile.search_nanos.saturating_sub(of_queries);
    let of_aggregations: u64 =
        profile.aggregations.iter().map(|aggregation| aggregation.collecting_nanos).sum();
    let (name, reason) = match request.size() {
        0 => ("PartialHitCountCollector", "search_count"),
        _ if request.collapse.is_some() => ("MultiCollector", "search_top_hits"),
        _ if request.is_by_score() => ("SimpleTopScoreDocCollector", "search_top_hits"),
        _ => ("SimpleFieldCollector", "search_top_hits"),
    };
    let mut children =
        vec![json!({"name": name, "reason": reason, "time_in_nanos": nanos.saturating_sub(of_aggregations)})];
    if !profile.aggregations.is_empty() {
        let names: Vec<&str> =
            profile.aggregations.iter().map(|aggregation| aggregation.name.as_str()).collect();
        children.push(json!({
            "name": format!("AggregatorCollector: [{}]", names.join(", ")),
            "reason": "aggregation",
            "time_in_nanos": of_aggregations,
        }));
    }
    json!({
        "name": "QueryPhaseCollector",
        "reason": "search_query_phase",
        "time_in_nanos": nanos,
        "children": children,
    })
}
