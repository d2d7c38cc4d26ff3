//! Runs a search from request to response, phase by phase.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_mapping::RequestError;
use limber_store::Charge;
use limber_work as work;
use limber_work::{Account, Work};
use serde_json::Value;

use super::{expand, fusion, profile};
use crate::aggregation::{self, Aggregations, ShardAggregations};
use crate::collect::{Hit, KeyKind, widened};
use crate::context::failures::failure;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::execute::query_phase::{Answered, QueryPhase, check_window, collected_hits};
use crate::query::Query;
use crate::request::{CountRequest, SearchRequest, Sort, TrackTotalHits};
use crate::response::{CountResponse, Cursor, SearchResponse, ShardsSummary, TotalHits};
use crate::script::check_scripts;
use crate::shard::hits::ShardHits;
use crate::values::sort_key::SortKey;
use crate::{fetch, suggest};

/// Searches all shards and fetches the best hits.
///
/// A shard that fails in any phase is reported in `_shards.failures` while others succeed; its hits are
/// left out.
///
/// # Errors
/// The request as a whole is invalid, all shards failed (or one, where `allow_partial_search_results` is
/// off), or the request was cancelled.
pub fn execute(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<SearchResponse> {
    check_limits(shards, request)?;
    let shards = with_runtime_mappings(shards, request, context)?;
    match &request.fusion {
        Some(fusion) => fusion::fuse(&shards, (request, fusion), context, execute),
        None => run(&shards, request, None, false, context),
    }
}

/// Returns one page of a scroll. Without a cursor it is the first page; each further page takes the cursor
/// of the page before ([`SearchResponse::cursor`], absent from the last page). Pages come in the request's
/// order; `_doc` is the cheapest, as each page then starts where the last one ended.
pub fn execute_page(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    cursor: Option<&Cursor>,
    context: &SearchContext,
) -> Result<SearchResponse> {
    run(&with_runtime_mappings(shards, request, context)?, request, cursor, true, context)
}

/// Refuses requests that would reveal hidden documents: suggesters read the terms of all documents.
///
/// Source: `SearchRequestInterceptor`.
fn check_limits(shards: &[ShardSnapshot], request: &SearchRequest) -> Result<()> {
    if request.suggest.is_some() && shards.iter().any(|shard| shard.hides_documents) {
        let reason = "Suggest isn't supported if document level security is enabled";
        return Err(RequestError::bad_request("security_exception", reason).into());
    }
    Ok(())
}

/// Returns the shards with the mapping extended by the request's runtime mappings.
pub(super) fn with_runtime_mappings<'s>(
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
    let run = |context: &SearchContext| run_entered(shards, request, cursor, is_scroll, context);
    let (mut response, held) = entered(shards, request, context, run)?;
    response.charges.extend(held);
    Ok(response)
}

/// Runs a part of a search as the request's work. Returns its result together with the account of what it
/// holds, unless the caller's work has one.
pub(super) fn entered<T>(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    context: &SearchContext,
    run: impl FnOnce(&SearchContext) -> Result<T>,
) -> Result<(T, Option<Arc<dyn Account>>)> {
    let context = &*within_request(request, shards, context);
    let work = context.work();
    let own_meter = work.meter.clone().filter(|_| Work::current().is_none_or(|work| work.meter.is_none()));
    let entered = work.enter();
    let outcome = run(context);
    // Code that could not report a refused allocation has made this answer wrong, so it fails.
    let refusal = entered.refusal();
    let result = outcome?;
    refusal.map_or(Ok(()), Err)?;
    let Some(meter) = own_meter else { return Ok((result, None)) };
    work::check_beyond_deadline()?;
    Ok((result, Some(meter.take_account().into())))
}

/// Returns the request with the sorts and hit counting that scrolls and points in time need.
pub(super) fn as_carried_out<'r>(
    request: &'r SearchRequest,
    cursor: Option<&Cursor>,
    is_scroll: bool,
) -> Cow<'r, SearchRequest> {
    let mut request = Cow::Borrowed(request);
    if request.pit.is_some() {
        request.to_mut().break_ties();
    }
    // A scroll by score needs its last score as a key.
    if is_scroll && request.sort.is_empty() {
        request.to_mut().sort = vec![Sort::by("_score")];
    }
    if is_scroll {
        // The first page counts all hits; later pages do not count.
        request.to_mut().track_total_hits =
            if cursor.is_some() { TrackTotalHits::None } else { TrackTotalHits::Exact };
    }
    if request.is_suggest_only() {
        let request = request.to_mut();
        (request.size, request.sort) = (Some(0), Vec::new());
        request.query = Some(Query::match_none());
    }
    request
}

/// Makes the keys of all shards doubles where they are numbers of different kinds.
fn with_widened_sorts<'r>(
    mut request: Cow<'r, SearchRequest>,
    shards: &[ShardSnapshot],
) -> Cow<'r, SearchRequest> {
    if let Some(sorts) = widened(&request.sort, shards) {
        let request = request.to_mut();
        // An answer of one shard depends on the other shards now.
        (request.sort, request.cache_key) = (sorts, None);
    }
    request
}

fn run_entered(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    cursor: Option<&Cursor>,
    is_scroll: bool,
    context: &SearchContext,
) -> Result<SearchResponse> {
    let request = &*with_widened_sorts(as_carried_out(request, cursor, is_scroll), shards);
    // A scroll computes aggregations on its first page only.
    let aggregations = Aggregations::in_request(request).filter(|_| cursor.is_none());
    // For later pages of a scroll, partial results are always allowed.
    let allows_partial = cursor.is_some() || request.allows_partial.unwrap_or(context.allows_partial);
    let phase = QueryPhase { shards, request, aggregations, cursor, is_scroll, allows_partial, context };
    let (answered, skipped_count, _charge) = ask_shards(&phase)?;
    let Answered { found, best, mut failures, aggregates, charges: _charges } = answered;
    let mut response = reduce(shards.len(), &found, best.first(), request);
    response.shards.skipped = skipped_count;
    if let Some(cursor) = cursor {
        (response.total, response.max_score) = (cursor.total, cursor.max_score);
    }
    let winners = best.page(request.from() as usize);
    if is_scroll && winners.len() == request.size() as usize {
        response.cursor = winners.last().map(|(number, hit)| cursor_after(*number, hit, &response));
    }
    let shows_sort = shows_sort(request);
    let fetch_started = Instant::now();
    let next = of_next_phase(context);
    let _of_next_phase = next.work().enter();
    let page = fetch::BestHits { shards, found: &found, hits: &winners, shows_sort, allows_partial };
    let fetched = match request.collapse_field() {
        None => fetch::fetch(&page, request, &mut failures, &next)?,
        Some(_) => {
            let mut shown = request.clone();
            shown.show_group_key();
            fetch::fetch(&page, &shown, &mut failures, &next)?
        }
    };
    // Like aggregations, suggestions come with the first page only.
    if let Some(wanted) = request.suggest.as_ref().filter(|list| cursor.is_none() && !list.is_empty()) {
        response.suggest =
            Some(suggest::suggest(shards, request, wanted, &mut failures, allows_partial, &next)?);
    }
    let answered: Vec<&ShardSnapshot> =
        (0..shards.len()).filter(|&number| !failures.has(number)).map(|number| &shards[number]).collect();
    response.shards.successful = (shards.len() - failures.len()) as u32;
    response.shards.failures = failures.into_list();
    response.hits = fetched.hits;
    if request.profile {
        response.profile = Some(profile::to_json(shards, request, &found, &fetched.profiles, &next)?);
    }
    response.timed_out |= fetched.timed_out;
    response.charges.push(Arc::new(fetched.charge));
    expand::add_joined(&mut response, &next)?;
    expand::expand(shards, request, &mut response, &next)?;
    check_intact(&answered, context)?;
    // Without shards (a pattern that matches no index) the answer has no aggregations.
    if let Some(list) = aggregations.filter(|_| !shards.is_empty()) {
        // The reduce cannot be cut short: it takes its time or is cancelled.
        let _without_deadline = Work { deadline: None, ..next.work() }.enter();
        add_aggregations(&mut response, list, aggregates, request.typed_keys, context)?;
    }
    response.fetch_time = fetch_started.elapsed();
    response.took_millis = context.started.elapsed().as_millis() as u64;
    Ok(response)
}

/// Asks the shards of a phase, and charges the hits that they may return. Returns their answers, the number
/// of shards that were skipped, and the charge.
pub(super) fn ask_shards(phase: &QueryPhase<'_>) -> Result<(Answered, u32, Charge)> {
    let &QueryPhase { shards, request, is_scroll, context, .. } = phase;
    let charge = charge_hits(shards, request, is_scroll, context)?;
    let skipped = skipped_shards(shards, request, is_scroll, context);
    let answered = phase.run(&skipped)?;
    check_sort_kinds(&answered.found)?;
    let skipped_count = skipped.iter().filter(|is_skipped| **is_skipped).count() as u32;
    Ok((answered, skipped_count, charge))
}

/// Returns the end of a scroll's page whose last hit is this one.
fn cursor_after(shard: usize, hit: &Hit, response: &SearchResponse) -> Cursor {
    Cursor {
        keys: hit.keys.clone(),
        shard,
        shard_doc: hit.shard_doc,
        total: response.total,
        max_score: response.max_score,
    }
}

/// Whether hits show what they were sorted by. A scroll by score alone does not show it, nor do groups by
/// score, in whatever order.
fn shows_sort(request: &SearchRequest) -> bool {
    let is_by_score_alone = match request.collapse {
        None => request.is_by_score() && request.search_after.is_none(),
        Some(_) => request.sort.iter().all(Sort::is_score),
    };
    !is_by_score_alone
}

/// Puts the shards' aggregations together and charges them with the response.
fn add_aggregations(
    response: &mut SearchResponse,
    list: &Aggregations,
    of_shards: Vec<ShardAggregations>,
    typed_keys: bool,
    context: &SearchContext,
) -> Result<()> {
    let reduced = aggregation::reduce(list, of_shards, context)?;
    let text = reduced.to_json(list, typed_keys, &context.node_id)?;
    let charge = context.ledger.request.charge(text.capacity() as u64, "<aggregations of an answer>")?;
    response.charges.push(Arc::new(charge));
    response.aggregations = Some(text);
    Ok(())
}

/// Fails the whole answer if a file turned out to be unreadable after its shard had answered: its contents
/// may be anywhere in the answer.
fn check_intact(answered: &[&ShardSnapshot], context: &SearchContext) -> Result<()> {
    let of_shard = |shard: &&ShardSnapshot| Some(failure(shard, &shard.intact().err()?.into(), context));
    let failures: Vec<_> = answered.iter().filter_map(of_shard).collect();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Error::SomeShardsFailed { phase: "fetch", failures }),
    }
}

/// Returns for each shard whether it is known that nothing in it matches; empty if that was not checked.
/// One shard always remains if aggregations need it to name their types. Source:
/// `CanMatchPreFilterSearchPhase`.
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
    let mut skipped: Vec<bool> = shards
        .iter()
        .map(|shard| {
            let is_out = !crate::query::can_match(query, shard, context.now_millis);
            is_out && shard.intact().is_ok()
        })
        .collect();
    if request.aggregations.is_some() && skipped.iter().all(|is_skipped| *is_skipped) {
        skipped[0] = false;
    }
    skipped
}

fn within_request<'c>(
    request: &SearchRequest,
    shards: &[ShardSnapshot],
    context: &'c SearchContext,
) -> Cow<'c, SearchContext> {
    let mut context = Cow::Borrowed(context);
    if context.profiles != request.profile {
        context.to_mut().profiles = request.profile;
    }
    if request.counts_all_shards && shards.len() > 1 {
        context.to_mut().statistics = Some(shards.into());
    }
    if let Some(millis) = request.timeout_millis {
        let own = Instant::now() + Duration::from_millis(millis.min(u64::from(u32::MAX)));
        context.to_mut().deadline = Some(context.deadline.map_or(own, |deadline| deadline.min(own)));
    }
    context
}

/// Gives the next phase as much time as the one before had: Elasticsearch applies the timeout to each
/// phase.
fn of_next_phase(context: &SearchContext) -> SearchContext {
    let mut context = context.clone();
    context.deadline =
        context.deadline.map(|deadline| Instant::now() + deadline.saturating_duration_since(context.started));
    context
}

/// Charges the hits that all shards may return, before any is collected.
fn charge_hits(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    is_scroll: bool,
    context: &SearchContext,
) -> Result<Charge> {
    let mut hits = 0u64;
    for snapshot in shards {
        if check_window(snapshot, request, is_scroll).is_ok() {
            hits = hits.saturating_add(collected_hits(request).min(snapshot.doc_count()));
        }
    }
    Ok(context.ledger.request.charge(crate::shard::hit_bytes(request, hits), "<hits of a search>")?)
}

/// Refuses sort keys of different kinds, which do not compare.
fn check_sort_kinds(found: &[(usize, ShardHits)]) -> Result<()> {
    let Some((_, first)) = found.first() else { return Ok(()) };
    for (_, other) in &found[1..] {
        for (left, right) in first.sorts.iter().zip(&other.sorts) {
            let kinds: (KeyKind, KeyKind) = (left.kind, right.kind);
            if kinds.0 != kinds.1 && [kinds.0, kinds.1].contains(&KeyKind::Unsigned) {
                return Err(RequestError::illegal_argument(
                    "Can't do sort across indices, as a field has [unsigned_long] type in one index, and different type in another index!",
                )
                .into());
            }
            if kinds.0 != kinds.1 {
                return Err(aggregation::in_reduce(RequestError::illegal_argument(format!(
                    "Can't sort on field [{}]; the field has incompatible sort types: [{}] and [{}] across shards!",
                    left.name,
                    kinds.0.name(),
                    kinds.1.name()
                )))
                .into());
            }
        }
    }
    Ok(())
}

pub(super) fn reduce(
    shard_count: usize,
    found: &[(usize, ShardHits)],
    best: Option<&Hit>,
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
        // Without shards, or if none can match: Elasticsearch's empty response has the score 0.
        _ if found.is_empty() && (shard_count == 0 || request.sort.is_empty()) => Some(0.0),
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
        fetch_time: Duration::ZERO,
        timed_out: found.iter().any(|(_, hits)| hits.timed_out),
        terminated_early: (request.terminate_after > 0)
            .then(|| found.iter().any(|(_, hits)| hits.terminated_early)),
        reduce_phases: request.reduce_phases(found.len()),
        shards: ShardsSummary { total: shard_count as u32, ..ShardsSummary::default() },
        total,
        max_score,
        hits: Vec::new(),
        aggregations: None,
        suggest: None,
        profile: None,
        processor_results: None,
        cursor: None,
        charges: Vec::new(),
    }
}
