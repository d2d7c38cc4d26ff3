//! Fusion of rankings: "which hits are near the top of several rankings?"
//!
//! A hit's score is the sum of its shares of the rankings whose window contains it: 1 / (rank constant +
//! rank) in reciprocal rank fusion, or its normalized score, times the weight of the ranking.
//! Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
//! learning methods", 2009; Elasticsearch's `RRFRankDoc`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::request::{Fusion, Ranking, SearchRequest, Share};
use crate::response::{SearchHit, SearchResponse};

/// Answers a search whose hits come from several rankings. Totals and aggregations cover all documents that
/// any of the rankings finds.
///
/// # Errors
/// Those of `execute` for a single search.
pub(crate) fn fuse(
    shards: &[ShardSnapshot],
    (request, fusion): (&SearchRequest, &Fusion),
    context: &SearchContext,
    execute: impl Fn(&[ShardSnapshot], &SearchRequest, &SearchContext) -> Result<SearchResponse>,
) -> Result<SearchResponse> {
    let whole = SearchRequest { fusion: None, size: Some(0), from: None, ..request.clone() };
    let mut response = execute(shards, &whole, context)?;
    let mut scores: HashMap<(Arc<str>, Option<String>), (f32, usize)> = HashMap::new();
    let mut hits: Vec<SearchHit> = Vec::new();
    for ranking in &fusion.rankings {
        let found = execute(shards, &of_ranking(request, &ranking.search, fusion), context)?;
        response.timed_out |= found.timed_out;
        response.charges.extend(found.charges);
        let shares = shares(fusion.share, ranking, &found.hits);
        for (hit, share) in found.hits.into_iter().zip(shares) {
            let key = (hit.index.clone(), hit.id.clone());
            match scores.get_mut(&key) {
                Some((score, _)) => *score += share,
                None => {
                    scores.insert(key, (share, hits.len()));
                    hits.push(hit);
                }
            }
        }
    }
    for (score, at) in scores.into_values() {
        hits[at].score = Some(score);
        hits[at].sort = None;
    }
    // The sort is stable: hits with equal scores stay in the order of the rankings.
    hits.sort_by(|left, right| right.score.partial_cmp(&left.score).unwrap_or(std::cmp::Ordering::Equal));
    hits.truncate(fusion.window as usize);
    hits.retain(|hit| request.min_score.is_none_or(|least| hit.score.is_some_and(|score| score >= least)));
    response.max_score = hits.first().and_then(|hit| hit.score);
    response.hits = hits.into_iter().skip(request.from() as usize).take(request.size() as usize).collect();
    response.took_millis = context.started.elapsed().as_millis() as u64;
    Ok(response)
}

/// Returns what each hit of a ranking adds to its score.
fn shares(share: Share, ranking: &Ranking, hits: &[SearchHit]) -> Vec<f32> {
    let mut shares: Vec<f32> = match share {
        Share::Rank { constant } => {
            (0..hits.len()).map(|place| 1.0 / (constant as f32 + place as f32 + 1.0)).collect()
        }
        Share::Score => {
            let mut scores: Vec<f32> = hits.iter().map(|hit| hit.score.unwrap_or(0.0)).collect();
            ranking.normalizer.normalize(&mut scores);
            scores
        }
    };
    shares.iter_mut().for_each(|share| *share *= ranking.weight);
    shares
}

/// Returns the search for one ranking, which fetches hits as the request asks.
fn of_ranking(request: &SearchRequest, ranking: &SearchRequest, fusion: &Fusion) -> SearchRequest {
    SearchRequest {
        query: ranking.query.clone(),
        sort: ranking.sort.clone(),
        search_after: ranking.search_after.clone(),
        min_score: ranking.min_score,
        terminate_after: ranking.terminate_after,
        collapse: ranking.collapse.clone(),
        rescores: ranking.rescores.clone(),
        fusion: ranking.fusion.clone(),
        from: None,
        size: Some(fusion.window),
        aggregations: None,
        suggest: None,
        cache_key: None,
        ..request.clone()
    }
}
