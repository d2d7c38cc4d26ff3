//! A search from request to response: the conductor.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_mapping::RequestError;
use limber_segment::{DocId, SegmentView};
use limber_store::Charge;
use serde_json::Value;

use crate::aggregation::{self, Aggregations, BoundAggregations, ShardAggregations, ShardCollector};
use crate::cache::{CachedAnswer, RequestUse};
use crate::collect::{Bar, Best, Hit, KeyKind, SortKey, Tie, TopScores, best_first_key, check_column};
use crate::context::{SearchContext, ShardPlace, ShardSnapshot};
use crate::error::{Error, Result, ShardFailure};
use crate::fetch;
use crate::query::BoundQuery;
use crate::request::{CountRequest, SearchRequest, Sort, TrackTotalHits};
use crate::response::{CountResponse, SearchResponse, ShardsSummary, TotalHits};
use crate::runtime::check_scripts;
use crate::shard::{self, After, ShardHits, ShardRequest, Sink};

/// Where the next page of a scroll starts. Valid for the snapshots it was made from, and only with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    keys: Box<[SortKey]>,
    /// Index of the last hit's shard among the snapshots, and its number there.
    shard: usize,
    shard_doc: u64,
    /// Hits of the scroll, counted once by its first page.
    total: Option<TotalHits>,
    max_score: Option<f32>,
}

/// Searches all shards and fetches the winners.
///
/// A shard that fails is reported in `_shards.failures` while others succeed.
///
/// # Errors
/// The request's fault as a whole, every shard failed, cancelled, or out of memory (`circuit_breaking_exception`).
pub fn execute(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<SearchResponse> {
    run(&with_runtime_mappings(shards, request, context)?, request, None, false, context)
}

/// One page of a scroll: the first without a cursor, the next ones with the cursor of the page before
/// ([`SearchResponse::cursor`]; its absence says that the page was the last). Pages come in the request's order; `_doc` is the cheapest,
/// as a page then starts where the last one ended.
pub fn execute_page(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    cursor: Option<&Cursor>,
    context: &SearchContext,
) -> Result<SearchResponse> {
    run(&with_runtime_mappings(shards, request, context)?, request, cursor, true, context)
}

/// The shards under the mapping that the request adds to.
fn with_runtime_mappings<'s>(
    shards: &'s [ShardSnapshot],
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<Cow<'s, [ShardSnapshot]>> {
    if request.runtime_mappings.is_empty() {
        return Ok(Cow::Borrowed(shards));
    }
    let section = Value::Object(request.runtime_mappings.clone());
    let mut own: Vec<ShardSnapshot> = shards.to_vec();
    for at in 0..own.len() {
        if at > 0 && Arc::ptr_eq(&shards[at].mapping, &shards[at - 1].mapping) {
            own[at].mapping = own[at - 1].mapping.clone();
            continue;
        }
        let mapping = own[at].mapping.with_runtime(&section).and_then(|mapping| {
            check_scripts(&mapping, &own[at].scripts)?;
            Ok(mapping)
        });
        match mapping {
            Ok(mapping) => own[at].mapping = Arc::new(mapping),
            Err(error) => {
                let failures = vec![failure(&shards[at], &Error::Request(error), context)];
                return Err(Error::AllShardsFailed { phase: "query", failures });
            }
        }
    }
    Ok(Cow::Owned(own))
}

/// Counts hits.
pub fn count(
    shards: &[ShardSnapshot],
    request: &CountRequest,
    context: &SearchContext,
) -> Result<CountResponse> {
    let search = SearchRequest {
        query: request.query.clone(),
        min_score: request.min_score,
        terminate_after: request.terminate_after,
        size: Some(0),
        track_total_hits: TrackTotalHits::Exact,
        ..SearchRequest::default()
    };
    let response = execute(shards, &search, context)?;
    Ok(CountResponse {
        count: response.total.map_or(0, |total| total.value),
        terminated_early: response.terminated_early,
        shards: response.shards,
    })
}

fn run(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    cursor: Option<&Cursor>,
    is_scroll: bool,
    context: &SearchContext,
) -> Result<SearchResponse> {
    let context = &with_timeout(request, context);
    // A scroll by score needs its last score as a key.
    let by_score_with_keys = is_scroll || request.search_after.is_some();
    let mut request = std::borrow::Cow::Borrowed(request);
    if request.pit.is_some() {
        request.to_mut().break_ties();
    }
    if by_score_with_keys && request.sort.is_empty() && is_scroll {
        request.to_mut().sort = vec![Sort::by("_score")];
    }
    if cursor.is_some() {
        // Counted by the first page.
        request.to_mut().track_total_hits = TrackTotalHits::None;
    }
    let request = &*request;
    // A scroll aggregates on its first page.
    let aggregations = request.aggregations.as_ref().filter(|list| cursor.is_none() && !list.is_empty());
    let _charge = charge_hits(shards, request, is_scroll, context)?;

    let mut found: Vec<(usize, ShardHits)> = Vec::with_capacity(shards.len());
    let mut failures: Vec<(usize, ShardFailure)> = Vec::new();
    let mut aggregates: Vec<ShardAggregations> = Vec::new();
    // Of what the shards found, until it was put together.
    let mut shard_charges: Vec<Charge> = Vec::new();
    let mut best = Best::new(wanted_hits(request) as usize);
    let mut counted = 0;
    let skipped = skipped_shards(shards, request, is_scroll, context);
    for number in visiting_order(shards, request, aggregations.is_some(), is_scroll, context.now_millis) {
        if skipped.get(number) == Some(&true) {
            continue;
        }
        let snapshot = &shards[number];
        let place = place_of(number, shards);
        let before = Before { bar: best.bar(number), counted };
        match aggregate_shard(place, snapshot, request, aggregations, cursor, is_scroll, before, context) {
            Ok((mut hits, aggregated)) => {
                counted += hits.total;
                best.add(number, std::mem::take(&mut hits.hits), &hits.sorts);
                found.push((number, hits));
                if let Some(aggregated) = aggregated {
                    aggregates.push(aggregated.aggregations);
                    shard_charges.push(aggregated.charge);
                }
            }
            Err(error) if error.is_of_one_shard() => {
                failures.push((number, failure(snapshot, &error, context)));
            }
            Err(error) => return Err(error),
        }
    }
    found.sort_unstable_by_key(|(number, _)| *number);
    failures.sort_by_key(|(number, _)| *number);
    let failures: Vec<ShardFailure> = failures.into_iter().map(|(_, failure)| failure).collect();
    if found.is_empty() && !failures.is_empty() {
        return Err(Error::AllShardsFailed { phase: "query", failures });
    }
    check_sort_kinds(&found)?;

    let skipped_count = skipped.iter().filter(|is_skipped| **is_skipped).count() as u32;
    let mut response = reduce(shards.len(), &found, best.first(), failures, request);
    response.shards.skipped = skipped_count;
    response.shards.successful += skipped_count;
    if let Some(cursor) = cursor {
        (response.total, response.max_score) = (cursor.total, cursor.max_score);
    }
    let winners = best.page(request.from() as usize);
    if is_scroll
        && winners.len() == request.size() as usize
        && let Some((number, hit)) = winners.last()
    {
        response.cursor = Some(Cursor {
            keys: hit.keys.clone(),
            shard: *number,
            shard_doc: hit.shard_doc,
            total: response.total,
            max_score: response.max_score,
        });
    }
    // A scroll by score alone shows no sort values.
    let shows_sort = !(request.is_by_score() && request.search_after.is_none());
    let (hits, hits_charge) = fetch::fetch(shards, &found, &winners, request, shows_sort, context)?;
    response.hits = hits;
    response.charges.push(Arc::new(hits_charge));
    // No shard, no aggregations in the answer: a pattern that fits no index.
    if let Some(list) = aggregations.filter(|_| !shards.is_empty()) {
        let reduced = aggregation::reduce(list, aggregates, context.max_buckets)?;
        let charge =
            context.ledger.request.charge(reduced.json_bytes(list), "<aggregations of an answer>")?;
        response.charges.push(Arc::new(charge));
        response.aggregations = Some(reduced.to_json(list, request.typed_keys, &context.node_id));
    }
    response.took_millis = context.started.elapsed().as_millis() as u64;
    Ok(response)
}

/// For each shard whether it is known that nothing in it matches; empty where that was not asked. One stays where aggregations need it to
/// say what they are. Source: `CanMatchPreFilterSearchPhase`.
fn skipped_shards(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    is_scroll: bool,
    context: &SearchContext,
) -> Vec<bool> {
    let Some(query) = request.query.as_ref().filter(|_| !is_scroll && request.filters_shards(shards.len()))
    else {
        return Vec::new();
    };
    let mut skipped: Vec<bool> =
        shards.iter().map(|shard| !crate::query::can_match(query, shard, context.now_millis)).collect();
    if request.aggregations.is_some() && skipped.iter().all(|is_skipped| *is_skipped) {
        skipped[0] = false;
    }
    skipped
}

fn with_timeout(request: &SearchRequest, context: &SearchContext) -> SearchContext {
    let mut context = context.clone();
    if let Some(millis) = request.timeout_millis {
        let own = Instant::now() + Duration::from_millis(millis.min(u64::from(u32::MAX)));
        context.deadline = Some(context.deadline.map_or(own, |deadline| deadline.min(own)));
    }
    context
}

/// Charges the hits that all shards may hand in, before any is collected.
fn charge_hits(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    is_scroll: bool,
    context: &SearchContext,
) -> Result<Charge> {
    let mut hits = 0u64;
    for snapshot in shards {
        if check_window(snapshot, request, is_scroll).is_ok() {
            hits = hits.saturating_add(wanted_hits(request).min(snapshot.doc_count()));
        }
    }
    let bytes = hits.saturating_mul(TopScores::HIT_BYTES * (1 + request.sort.len() as u64));
    Ok(context.ledger.request.charge(bytes, "<hits of a search>")?)
}

fn wanted_hits(request: &SearchRequest) -> u64 {
    u64::from(request.from()) + u64::from(request.size())
}

impl<'s> Sink<'s> for ShardCollector<'s> {
    fn begin_segment(&mut self, number: usize, _: &'s SegmentView) -> Result<()> {
        ShardCollector::begin_segment(self, number)
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        if self.needs_scores() {
            return Ok(false);
        }
        ShardCollector::collect_whole_segment(self)?;
        Ok(true)
    }

    fn count_numbers(&mut self, path: &str, range: RangeInclusive<i64>) -> Result<bool> {
        if self.needs_scores() {
            return Ok(false);
        }
        ShardCollector::count_numbers(self, path, range)
    }

    fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        ShardCollector::collect(self, docs, scores)
    }

    fn needs_scores(&self) -> bool {
        ShardCollector::needs_scores(self)
    }
}

fn place_of(number: usize, shards: &[ShardSnapshot]) -> ShardPlace {
    ShardPlace { index: number as u32, count: shards.len() as u32 }
}

/// The numbers of the shards in the order in which they are searched: those that hold the best sort keys first, so that little is left to
/// look for in the others.
fn visiting_order(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    aggregates: bool,
    is_scroll: bool,
    now_millis: i64,
) -> Vec<usize> {
    let natural = 0..shards.len();
    // Aggregations see all documents anyway, and add up numbers in the order of the shards.
    if shards.len() < 2 || aggregates || request.size() == 0 || request.terminate_after > 0 {
        return natural.collect();
    }
    let best_key = |number: usize| -> Option<i64> {
        let place = place_of(number, shards);
        let sorts = shard::sorts_of(request, is_scroll, &shards[number], place, now_millis).ok()?;
        best_first_key(sorts.first()?, &shards[number].segments).ok()?
    };
    match natural.clone().map(|number| Some((best_key(number)?, number))).collect::<Option<Vec<_>>>() {
        Some(mut keyed) => {
            keyed.sort_unstable();
            keyed.into_iter().map(|(_, number)| number).collect()
        }
        None => natural.collect(),
    }
}

/// What a shard is told of those searched before it.
#[derive(Default)]
struct Before {
    bar: Option<Bar>,
    counted: u64,
}

/// What a shard found beside its hits.
struct Aggregated {
    aggregations: ShardAggregations,
    /// About what they take; the charge goes in steps.
    spent_bytes: u64,
    charge: Charge,
}

/// Searches a shard and aggregates over all its hits, or finds in the request cache what came out of that.
#[allow(clippy::too_many_arguments)] // What a search is made from.
fn aggregate_shard(
    place: ShardPlace,
    snapshot: &ShardSnapshot,
    request: &SearchRequest,
    aggregations: Option<&Aggregations>,
    cursor: Option<&Cursor>,
    is_scroll: bool,
    before: Before,
    context: &SearchContext,
) -> Result<(ShardHits, Option<Aggregated>)> {
    let kept = match cursor.is_none() && !is_scroll {
        true => RequestUse::of(snapshot, place, request, context),
        false => None,
    };
    let Some(kept) = kept else {
        return run_shard(place, snapshot, request, aggregations, cursor, is_scroll, before, context);
    };
    check_window(snapshot, request, is_scroll)?;
    if let Some(answer) = kept.get() {
        return repeat(&answer, place, snapshot, request, context);
    }
    // What is kept must not depend on other shards.
    let alone = Before::default();
    let (hits, aggregated) = run_shard(place, snapshot, request, aggregations, None, false, alone, context)?;
    if !hits.timed_out {
        let hit_bytes = TopScores::HIT_BYTES * (1 + request.sort.len() as u64);
        let bytes =
            hits.hits.len() as u64 * hit_bytes + aggregated.as_ref().map_or(0, |found| found.spent_bytes);
        kept.put(CachedAnswer {
            hits: hits.hits.clone(),
            sorts: hits.sorts.clone(),
            total: hits.total,
            is_lower_bound: hits.is_lower_bound,
            max_score: hits.max_score,
            terminated_early: hits.terminated_early,
            aggregations: aggregated.as_ref().map(|found| found.aggregations.clone()),
            bytes,
        });
    }
    Ok((hits, aggregated))
}

/// What a shard answered before.
fn repeat(
    answer: &CachedAnswer,
    place: ShardPlace,
    snapshot: &ShardSnapshot,
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<(ShardHits, Option<Aggregated>)> {
    let aggregated = match &answer.aggregations {
        Some(aggregations) => {
            let charge = context.ledger.request.charge(answer.bytes, "<aggregations of a shard>")?;
            Some(Aggregated { aggregations: aggregations.clone(), spent_bytes: answer.bytes, charge })
        }
        None => None,
    };
    // Fetching asks it for the names and the explanation of hits.
    let (query, post_filter) = match answer.hits.is_empty() {
        true => (BoundQuery::nothing("answered before"), None),
        false => (
            shard::bind_query(snapshot, request, place, context)?,
            shard::bind_post_filter(snapshot, request, context)?,
        ),
    };
    let hits = ShardHits {
        hits: answer.hits.clone(),
        sorts: answer.sorts.clone(),
        total: answer.total,
        is_lower_bound: answer.is_lower_bound,
        max_score: answer.max_score,
        timed_out: false,
        terminated_early: answer.terminated_early,
        query,
        post_filter,
    };
    Ok((hits, aggregated))
}

#[allow(clippy::too_many_arguments)] // What a search is made from.
fn run_shard(
    place: ShardPlace,
    snapshot: &ShardSnapshot,
    request: &SearchRequest,
    aggregations: Option<&Aggregations>,
    cursor: Option<&Cursor>,
    is_scroll: bool,
    before: Before,
    context: &SearchContext,
) -> Result<(ShardHits, Option<Aggregated>)> {
    let Some(list) = aggregations else {
        return Ok((search_shard(place, snapshot, request, cursor, is_scroll, None, before, context)?, None));
    };
    let bound = BoundAggregations::bind(list, snapshot, request.query.as_ref(), context)?;
    let mut collector = ShardCollector::new(snapshot, &bound)?;
    let hits =
        search_shard(place, snapshot, request, cursor, is_scroll, Some(&mut collector), before, context)?;
    let aggregations = collector.finish()?;
    let spent_bytes = bound.spent_bytes();
    Ok((hits, Some(Aggregated { aggregations, spent_bytes, charge: bound.into_charge() })))
}

/// `sink` is fed all matching documents of the shard: where aggregations come in.
#[allow(clippy::too_many_arguments)] // What a search is made from.
fn search_shard<'a>(
    place: ShardPlace,
    snapshot: &'a ShardSnapshot,
    request: &SearchRequest,
    cursor: Option<&Cursor>,
    is_scroll: bool,
    sink: Option<&mut dyn Sink<'a>>,
    before: Before,
    context: &SearchContext,
) -> Result<ShardHits> {
    check_window(snapshot, request, is_scroll)?;
    for wanted in &request.docvalue_fields {
        if let Some(field) = snapshot.mapping.field(&wanted.field) {
            check_column(field, snapshot)?;
        }
    }
    let needs_keys = is_scroll || request.search_after.is_some();
    let sorts = shard::sorts_of(request, needs_keys, snapshot, place, context.now_millis)?;
    let after: After = match (cursor, &request.search_after) {
        (Some(cursor), _) => {
            // Equal keys come in the order of shards, then of documents: those of earlier shards were all on the pages before, none of
            // those of later ones was.
            let tie = match (place.index as usize).cmp(&cursor.shard) {
                Ordering::Less => Tie::Seen,
                Ordering::Equal => Tie::SeenUpTo(cursor.shard_doc),
                Ordering::Greater => Tie::Unseen,
            };
            Some((cursor.keys.clone(), tie))
        }
        (None, Some(values)) => Some((search_after(values, &sorts)?, Tie::Seen)),
        (None, None) => None,
    };
    let count_max = wanted_hits(request).min(snapshot.doc_count()) as usize;
    let Before { bar, counted } = before;
    let wanted = ShardRequest { request, count_max, sorts, after, bar, counted, place };
    shard::search(snapshot, wanted, sink, context)
}

fn search_after(values: &[Value], sorts: &[crate::collect::BoundSort]) -> Result<Box<[SortKey]>> {
    if sorts.is_empty() {
        return Err(RequestError::illegal_argument("Sort must contain at least one field.").into());
    }
    if values.len() != sorts.len() {
        return Err(RequestError::illegal_argument(format!(
            "search_after has {} value(s) but sort has {}.",
            values.len(),
            sorts.len()
        ))
        .into());
    }
    values.iter().zip(sorts).map(|(value, sort)| sort.key_of(value)).collect()
}

/// `index.max_result_window`.
fn check_window(snapshot: &ShardSnapshot, request: &SearchRequest, is_scroll: bool) -> Result<()> {
    let window_max = snapshot.settings.max_result_window;
    let wanted = wanted_hits(request);
    if wanted <= u64::from(window_max) {
        return Ok(());
    }
    Err(RequestError::illegal_argument(match is_scroll {
        true => format!(
            "Batch size is too large, size must be less than or equal to: [{window_max}] but was [{wanted}]. Scroll batch sizes cost as much \
             memory as result windows so they are controlled by the [index.max_result_window] index level setting."
        ),
        false => format!(
            "Result window is too large, from + size must be less than or equal to: [{window_max}] but was [{wanted}]. See the scroll api \
             for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index \
             level setting."
        ),
    })
    .into())
}

fn failure(snapshot: &ShardSnapshot, error: &Error, context: &SearchContext) -> ShardFailure {
    ShardFailure {
        index: snapshot.index.name.clone(),
        shard: snapshot.shard,
        node: context.node_id.to_string(),
        reason: error.to_request_error(),
    }
}

/// Keys of different kinds do not compare.
fn check_sort_kinds(found: &[(usize, ShardHits)]) -> Result<()> {
    let Some((_, first)) = found.first() else { return Ok(()) };
    for (_, other) in &found[1..] {
        for (left, right) in first.sorts.iter().zip(&other.sorts) {
            let kinds: (KeyKind, KeyKind) = (left.kind, right.kind);
            if kinds.0 != kinds.1 {
                return Err(RequestError::illegal_argument(format!(
                    "Can't sort on field [{}]; the field has incompatible sort types: [{}] and [{}] across shards!",
                    left.name,
                    kinds.0.name(),
                    kinds.1.name()
                ))
                .into());
            }
        }
    }
    Ok(())
}

fn reduce(
    shard_count: usize,
    found: &[(usize, ShardHits)],
    best: Option<&Hit>,
    failures: Vec<ShardFailure>,
    request: &SearchRequest,
) -> SearchResponse {
    let counted: u64 = found.iter().map(|(_, hits)| hits.total).sum();
    let is_lower_bound = found.iter().any(|(_, hits)| hits.is_lower_bound);
    let total = match request.track_total_hits {
        TrackTotalHits::None => None,
        TrackTotalHits::Exact => Some(TotalHits { value: counted, is_lower_bound: false }),
        TrackTotalHits::UpTo(limit) if counted > u64::from(limit) => {
            Some(TotalHits { value: u64::from(limit), is_lower_bound: true })
        }
        TrackTotalHits::UpTo(_) => Some(TotalHits { value: counted, is_lower_bound }),
    };
    let max_score = match request.is_by_score() {
        // No shard at all: Elasticsearch's empty response, whose score is a plain 0.
        _ if found.is_empty() => Some(0.0),
        true if request.size() > 0 => best.map(|hit| match hit.keys.first() {
            Some(SortKey::Score(score)) => *score,
            _ => hit.score,
        }),
        false if request.track_scores => {
            found.iter().map(|(_, hits)| hits.max_score).filter(|score| score.is_finite()).reduce(f32::max)
        }
        _ => None,
    };
    SearchResponse {
        took_millis: 0,
        timed_out: found.iter().any(|(_, hits)| hits.timed_out),
        terminated_early: (request.terminate_after > 0)
            .then(|| found.iter().any(|(_, hits)| hits.terminated_early)),
        shards: ShardsSummary {
            total: shard_count as u32,
            successful: found.len() as u32,
            skipped: 0,
            failures,
        },
        total,
        max_score,
        hits: Vec::new(),
        aggregations: None,
        cursor: None,
        charges: Vec::new(),
    }
}
