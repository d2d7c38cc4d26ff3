//! The query phase on one shard, from its request to its hits.

use std::time::Instant;

use super::parts::Split;
use super::plan::{self, Plan};
use super::run::Run;
use super::sink::Sink;
use super::top::Top;
use crate::collect::{BoundSort, Hit, MinCompetitive, Tie};
use crate::context::{SearchContext, ShardPlace, ShardSnapshot};
use crate::error::{Error, Result};
use crate::query::BoundQuery;
use crate::request::SearchRequest;
use crate::shard::hits::{ShardHits, ShardProfile};
use crate::values::sort_key::SortKey;

/// The start of a page: after these keys; [`Tie`] decides about documents with equal keys.
pub(crate) type After = Option<(Box<[SortKey]>, Tie)>;

/// A request to one shard.
pub(crate) struct ShardRequest<'r> {
    pub request: &'r SearchRequest,
    /// Number of best hits wanted from the shard.
    pub count_max: usize,
    pub sorts: Vec<BoundSort>,
    pub after: After,
    /// The worst wanted hit of the shards that were searched before.
    pub min_competitive: Option<MinCompetitive>,
    /// Number of hits counted on those shards.
    pub counted: u64,
    pub place: ShardPlace,
    /// Makes sinks for parts of the shard, if these may be searched in parallel.
    pub split: Option<&'r dyn Split>,
}

/// Runs the query phase. Except for cancellation, errors concern only this shard.
pub(crate) fn search(
    shard: &ShardSnapshot,
    wanted: ShardRequest<'_>,
    sink: Option<&mut dyn Sink>,
    context: &SearchContext,
) -> Result<ShardHits> {
    let feeds_scores = sink.as_ref().is_some_and(|sink| sink.needs_scores());
    let sorts = wanted.sorts.clone();
    let plan = Plan::bind(shard, &wanted, feeds_scores, context);
    match plan.and_then(|plan| search_bound(shard, wanted, plan, sink, context)) {
        // Binding may take long too, for example to evaluate query rules.
        Err(Error::TimedOut) => Ok(ShardHits::timed_out(sorts, context.profiles)),
        outcome => outcome,
    }
}

fn search_bound(
    shard: &ShardSnapshot,
    wanted: ShardRequest<'_>,
    mut plan: Plan,
    mut sink: Option<&mut dyn Sink>,
    context: &SearchContext,
) -> Result<ShardHits> {
    let feeds_scores = sink.as_ref().is_some_and(|sink| sink.needs_scores());
    let decided = plan.decide_min_score(&wanted, feeds_scores);
    let request = decided.as_ref().unwrap_or(wanted.request);
    let wanted = ShardRequest { request, ..wanted };
    let search_started = Instant::now();
    let (mut known_total, mut timed_out_first) = (plan.known_total(shard, &wanted)?, false);
    if plan.may_feed_apart(&wanted)
        && let Some(sink) = sink.take_if(|sink| !sink.needs_scores())
    {
        let fed = feed(shard, &wanted, &plan.query, sink, context)?;
        timed_out_first = fed.timed_out;
        if plan.post_filter.is_none() && !fed.timed_out {
            known_total = Some(fed.total);
        }
    }
    let count_limit = plan::count_limit(known_total, &wanted);
    let counted = match count_limit.filter(|limit| sink.is_none() && plan.counts_first(&wanted, *limit)) {
        Some(limit) => Some(count(shard, &wanted, &plan.query, limit, context)?),
        None => None,
    };
    let mut run = Run {
        post_filter: plan.post_filter.as_ref(),
        scoring: plan.scoring,
        sink,
        top: Top::of(shard, &wanted)?,
        count_max: wanted.count_max,
        count_limit: count_limit.filter(|_| counted.is_none()),
        ..Run::new((shard, &plan.query), request, context)
    };
    let is_needless = run.sink.is_none() && wanted.count_max == 0 && known_total.is_some();
    let in_parts = match wanted.split.filter(|_| !is_needless && run.can_split()) {
        Some(split) => run.segments_in_parts(split, Some(&wanted))?,
        None if is_needless => None,
        None => run.segments().map(|()| None)?,
    };
    let search_nanos = search_started.elapsed().as_nanos() as u64;
    let Run { top, total, is_lower_bound, max_score, timed_out, terminated_early, .. } = run;
    let mut hits = in_parts.unwrap_or_else(|| top.finish(shard));
    let timed_out = !is_rescored(&plan, shard, &mut hits, context)? || timed_out;
    let (total, is_lower_bound) = match (known_total, &counted) {
        (Some(known), _) => (known, false),
        (None, Some(counted)) => (counted.total, counted.is_lower_bound),
        (None, None) => (total, is_lower_bound),
    };
    let timed_out_first = timed_out_first || counted.is_some_and(|counted| counted.timed_out);
    let Plan { query, queries, post_filter, rescores, rewrite_nanos, .. } = plan;
    let profile = ShardProfile { queries, rewrite_nanos, search_nanos, aggregations: Vec::new() };
    Ok(ShardHits {
        hits,
        sorts: wanted.sorts,
        total,
        is_lower_bound,
        max_score,
        timed_out: timed_out || timed_out_first,
        terminated_early,
        query,
        post_filter,
        rescores,
        profile: context.profiles.then_some(profile),
    })
}

/// The outcome of a search for all documents.
struct Fed {
    total: u64,
    is_lower_bound: bool,
    timed_out: bool,
}

/// Gives the best hits the scores of the plan's rescores. Returns `false` after a timeout: the hits have the
/// scores of the rescores that were done until then.
fn is_rescored(
    plan: &Plan,
    shard: &ShardSnapshot,
    hits: &mut [Hit],
    context: &SearchContext,
) -> Result<bool> {
    for rescore in &plan.rescores {
        match rescore.rescore(shard, hits, context) {
            Err(Error::TimedOut) => return Ok(false),
            outcome => outcome?,
        }
    }
    Ok(true)
}

/// Runs a search that only feeds the sink. Aggregations see all documents, hits are the best of them. Where
/// documents are found quickly, two searches, each in its fastest way, take less time than one that does
/// both for every document.
fn feed(
    shard: &ShardSnapshot,
    wanted: &ShardRequest<'_>,
    query: &BoundQuery,
    sink: &mut dyn Sink,
    context: &SearchContext,
) -> Result<Fed> {
    let mut run = Run { sink: Some(sink), ..Run::new((shard, query), wanted.request, context) };
    match wanted.split.filter(|_| run.can_split()) {
        Some(split) => drop(run.segments_in_parts(split, None)?),
        None => run.segments()?,
    }
    Ok(Fed { total: run.total, is_lower_bound: run.is_lower_bound, timed_out: run.timed_out })
}

/// Counts hits, up to about `limit`.
fn count(
    shard: &ShardSnapshot,
    wanted: &ShardRequest<'_>,
    query: &BoundQuery,
    limit: u64,
    context: &SearchContext,
) -> Result<Fed> {
    let mut run = Run { count_limit: Some(limit), ..Run::new((shard, query), wanted.request, context) };
    match wanted.split.filter(|_| run.can_split()) {
        Some(split) => drop(run.segments_in_parts(split, None)?),
        None => run.segments()?,
    }
    Ok(Fed { total: run.total, is_lower_bound: run.is_lower_bound, timed_out: run.timed_out })
}
