//! The query phase: searches every shard, several at a time, and keeps the best hits of all.

use std::cmp::Ordering;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use limber_mapping::{RequestError, SourceMode};
use limber_segment::DocId;
use limber_store::Charge;
use limber_store::sync::Mutex;
use limber_work::{Entered, Work};
use serde_json::Value;

use crate::aggregation::{
    AggregationTimes, Aggregations, BoundAggregations, Budget, ShardAggregations, ShardCollector, ShardPart,
};
use crate::collect::{Best, BoundSort, MinCompetitive, Tie, TopScores, best_first_key};
use crate::context::failures::{Failures, failure, time_exceeded};
use crate::context::{SearchContext, ShardPlace, ShardSnapshot, workers};
use crate::error::{Error, Result};
use crate::execute::cached_answer::{CachedAnswer, RequestUse};
use crate::fetch;
use crate::geo::Shape;
use crate::query::BoundQuery;
use crate::request::SearchRequest;
use crate::response::Cursor;
use crate::shard::hits::{AggregationCost, ShardHits};
use crate::shard::rescore::BoundRescore;
use crate::shard::{self, After, CountOnly, ShardRequest, Sink, Split, bound_search};
use crate::values::sort_key::SortKey;

/// The inputs of the query phase.
pub(crate) struct QueryPhase<'r> {
    pub shards: &'r [ShardSnapshot],
    pub request: &'r SearchRequest,
    /// `None` if this page has no aggregations.
    pub aggregations: Option<&'r Aggregations>,
    pub cursor: Option<&'r Cursor>,
    pub is_scroll: bool,
    /// Whether shards may fail or time out; otherwise either fails the search.
    pub allows_partial: bool,
    pub context: &'r SearchContext,
}

/// The answers of the shards, by their indexes.
pub(crate) struct Answered {
    pub found: Vec<(usize, ShardHits)>,
    pub best: Best,
    pub failures: Failures,
    pub aggregates: Vec<ShardAggregations>,
    /// The charges for `aggregates`, kept until these are reduced.
    pub charges: Vec<Charge>,
}

/// The answers so far.
struct Gathered {
    found: Vec<(usize, ShardHits)>,
    failures: Failures,
    aggregates: Vec<(usize, Aggregated)>,
    best: Best,
    counted: u64,
    /// An error of the request as a whole, which overrides everything else.
    error: Option<Error>,
}

/// A shard that is due to be searched.
struct Visit {
    number: usize,
    /// Its bound sorts, if they are bound already.
    sorts: Option<Vec<BoundSort>>,
}

/// What earlier shards found, to spare the next one work.
#[derive(Default)]
struct Before {
    min_competitive: Option<MinCompetitive>,
    counted: u64,
}

/// What a shard found besides its hits.
struct Aggregated {
    aggregations: ShardAggregations,
    /// Approximate bytes of the results; the charge grows in larger steps.
    spent_bytes: u64,
    charge: Charge,
}

impl QueryPhase<'_> {
    /// Searches all shards except those of `skipped` (if empty, none is skipped).
    ///
    /// # Errors
    /// An error of the request as a whole, all shards failed, cancelled, or out of memory.
    pub fn run(&self, skipped: &[bool]) -> Result<Answered> {
        let mut visits = self.visiting_order();
        visits.retain(|visit| skipped.get(visit.number) != Some(&true));
        let gathered = Mutex::new(Gathered {
            found: Vec::with_capacity(visits.len()),
            failures: Failures::default(),
            aggregates: Vec::new(),
            best: Best::new(wanted_hits(self.request) as usize),
            counted: 0,
            error: None,
        });
        workers::for_each(self.context.workers.as_deref(), visits.len(), |at| {
            let visit = &visits[at];
            let before = {
                let gathered = gathered.lock();
                let min_competitive =
                    gathered.best.min_competitive(visit.number).filter(|_| self.request.ranks_hits_alone());
                Before { min_competitive, counted: gathered.counted }
            };
            let answer = self.ask(visit, before).and_then(|answer| self.in_time(answer));
            // Results read from a damaged file count neither as an answer nor as another error.
            let answer = self.shards[visit.number].intact().map_err(Error::from).and(answer);
            let gathered = &mut *gathered.lock();
            match answer {
                Ok((mut hits, aggregated)) => {
                    gathered.counted += hits.total;
                    gathered.best.add(visit.number, std::mem::take(&mut hits.hits), &hits.sorts);
                    gathered.found.push((visit.number, hits));
                    gathered.aggregates.extend(aggregated.map(|aggregated| (visit.number, aggregated)));
                }
                Err(error) if error.is_of_one_shard() => {
                    let failure = failure(&self.shards[visit.number], &error, self.context);
                    gathered.failures.add(visit.number, failure);
                }
                Err(error) => {
                    gathered.error.get_or_insert(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        let Gathered { mut found, mut failures, mut aggregates, best, error, .. } = gathered.into_inner();
        if let Some(error) = error {
            return Err(error);
        }
        found.sort_unstable_by_key(|(number, _)| *number);
        // Floating-point numbers are added in the order of the shards.
        aggregates.sort_unstable_by_key(|(number, _)| *number);
        failures.check("query", self.shards.len(), self.allows_partial)?;
        let (aggregates, charges) =
            aggregates.into_iter().map(|(_, found)| (found.aggregations, found.charge)).unzip();
        Ok(Answered { found, best, failures, aggregates, charges })
    }

    fn place_of(&self, number: usize) -> ShardPlace {
        ShardPlace { index: number as u32, count: self.shards.len() as u32 }
    }

    fn sorts_of(&self, number: usize) -> Result<Vec<BoundSort>> {
        let needs_keys = self.is_scroll || self.request.search_after.is_some();
        let place = self.place_of(number);
        bound_search::sorts_of(self.request, needs_keys, &self.shards[number], place, self.context)
    }

    /// Returns the shards in the order in which they are searched: those with the best sort keys first, so
    /// that little is left to do in the others.
    fn visiting_order(&self) -> Vec<Visit> {
        let shards = self.shards;
        let natural = || (0..shards.len()).map(|number| Visit { number, sorts: None }).collect();
        let request = self.request;
        // Aggregations visit all documents anyway.
        if shards.len() < 2
            || self.aggregations.is_some()
            || request.size() == 0
            || request.terminate_after > 0
        {
            return natural();
        }
        let keyed = |number: usize| -> Option<(i64, Visit)> {
            let sorts = self.sorts_of(number).ok()?;
            let key = best_first_key(sorts.first()?, &shards[number].segments).ok()??;
            Some((key, Visit { number, sorts: Some(sorts) }))
        };
        let Some(mut visits) = (0..shards.len()).map(keyed).collect::<Option<Vec<_>>>() else {
            return natural();
        };
        visits.sort_by_key(|(key, visit)| (*key, visit.number));
        visits.into_iter().map(|(_, visit)| visit).collect()
    }

    /// Makes a timed-out answer an error, if no partial answers are accepted.
    fn in_time(&self, answer: (ShardHits, Option<Aggregated>)) -> Result<(ShardHits, Option<Aggregated>)> {
        match answer.0.timed_out && !self.allows_partial {
            true => Err(time_exceeded().into()),
            false => Ok(answer),
        }
    }

    /// Searches a shard and aggregates over all its hits, or finds the results in the request cache.
    fn ask(&self, visit: &Visit, before: Before) -> Result<(ShardHits, Option<Aggregated>)> {
        let (snapshot, place) = (&self.shards[visit.number], self.place_of(visit.number));
        let kept = match self.cursor.is_none() && !self.is_scroll {
            true => RequestUse::of(snapshot, place, self.request, self.context),
            false => None,
        };
        let Some(kept) = kept else {
            return self.aggregate(visit, before);
        };
        check_window(snapshot, self.request, self.is_scroll)?;
        if let Some(answer) = kept.get() {
            return self.repeat(&answer, visit.number);
        }
        // A cached answer must not depend on other shards.
        let (hits, aggregated) = self.aggregate(visit, Before::default())?;
        snapshot.intact()?;
        let hit_bytes = TopScores::HIT_BYTES * (1 + self.request.sort.len() as u64);
        let bytes =
            hits.hits.len() as u64 * hit_bytes + aggregated.as_ref().map_or(0, |found| found.spent_bytes);
        // An answer that will not be cached is not copied.
        if !hits.timed_out && bytes <= self.context.ledger.requests_cache.limit_bytes() {
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

    /// Restores a cached answer of a shard.
    fn repeat(&self, answer: &CachedAnswer, number: usize) -> Result<(ShardHits, Option<Aggregated>)> {
        let (snapshot, request, context) = (&self.shards[number], self.request, self.context);
        let aggregated = match &answer.aggregations {
            Some(aggregations) => {
                let charge = context.ledger.request.charge(answer.bytes, "<aggregations of a shard>")?;
                Some(Aggregated { aggregations: aggregations.clone(), spent_bytes: answer.bytes, charge })
            }
            None => None,
        };
        // The fetch phase needs the query for the matched names and the explanation of hits.
        let (query, post_filter, rescores) = match answer.hits.is_empty() {
            true => (BoundQuery::nothing("answered before"), None, Vec::new()),
            false => (
                bound_search::bind_query(snapshot, request, self.place_of(number), context)?,
                bound_search::bind_post_filter(snapshot, request, context)?,
                BoundRescore::bind_all(request, snapshot, context)?,
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
            rescores,
            profile: None,
        };
        Ok((hits, aggregated))
    }

    fn aggregate(&self, visit: &Visit, before: Before) -> Result<(ShardHits, Option<Aggregated>)> {
        let Some(list) = self.aggregations else {
            return Ok((self.search(visit, None, before, Some(&CountOnly))?, None));
        };
        let snapshot = &self.shards[visit.number];
        let bound = BoundAggregations::bind(
            list,
            snapshot,
            self.request.query.as_ref(),
            self.context,
            &fetch::AggregationHits,
        )?;
        let budget = Budget::new(self.context)?;
        let mut collector = ShardCollector::new(snapshot, &bound, &budget)?;
        let parts = Parts { snapshot, bound: &bound, context: self.context, found: Mutex::new(Vec::new()) };
        let split: Option<&dyn Split> = if collector.can_split() { Some(&parts) } else { None };
        let mut hits = self.search(visit, Some(&mut collector), before, split)?;
        // What was collected in time becomes the answer, however long that takes.
        let _without_deadline = without_deadline(self.context);
        for (part, _charge) in parts.found.into_inner() {
            collector.absorb(part)?;
        }
        let aggregations = collector.finish()?;
        if let Some(profile) = &mut hits.profile {
            let cost = |times: &Arc<AggregationTimes>| AggregationCost {
                name: times.name().to_owned(),
                collecting_nanos: times.nanos_of_collecting(),
                shown: times.to_json(),
            };
            profile.aggregations = bound.times().iter().map(cost).collect();
        }
        let spent_bytes = bound.spent_bytes(&budget);
        Ok((hits, Some(Aggregated { aggregations, spent_bytes, charge: budget.into_charge() })))
    }

    /// Searches a shard. `sink`, used for aggregations, receives all its matching documents.
    fn search(
        &self,
        visit: &Visit,
        sink: Option<&mut dyn Sink>,
        before: Before,
        split: Option<&dyn Split>,
    ) -> Result<ShardHits> {
        let (snapshot, request) = (&self.shards[visit.number], self.request);
        check_window(snapshot, request, self.is_scroll)?;
        check_source(snapshot, request)?;
        fetch::check(snapshot, request, self.context)?;
        let sorts = match &visit.sorts {
            Some(sorts) => sorts.clone(),
            None => self.sorts_of(visit.number)?,
        };
        let after: After = match (self.cursor, &request.search_after) {
            (Some(cursor), _) => {
                // Documents with equal keys come in the order of shards, then of documents: those of
                // earlier shards were all on the pages before, those of later shards were not.
                let tie = match visit.number.cmp(&cursor.shard) {
                    Ordering::Less => Tie::Seen,
                    Ordering::Equal => Tie::SeenUpTo(cursor.shard_doc),
                    Ordering::Greater => Tie::Unseen,
                };
                Some((cursor.keys.clone(), tie))
            }
            (None, Some(_)) if request.is_by_score() => return Err(no_sort().into()),
            (None, Some(values)) => Some((search_after(values, &sorts)?, Tie::Seen)),
            (None, None) => None,
        };
        let count_max = collected_hits(request).min(snapshot.doc_count()) as usize;
        let Before { min_competitive, counted } = before;
        let place = self.place_of(visit.number);
        let wanted =
            ShardRequest { request, count_max, sorts, after, min_competitive, counted, place, split };
        shard::search(snapshot, wanted, sink, self.context)
    }
}

/// Collects the parts of a shard, each with collectors of its own.
struct Parts<'s> {
    snapshot: &'s ShardSnapshot,
    bound: &'s BoundAggregations,
    context: &'s SearchContext,
    /// The results of the parts so far, with the charges for them.
    found: Mutex<Vec<(ShardPart, Charge)>>,
}

/// Makes this thread work on without the deadline of the search until the guard drops.
fn without_deadline(context: &SearchContext) -> Entered {
    Work { deadline: None, ..context.work() }.enter()
}

impl Split for Parts<'_> {
    fn with_sink(&self, body: &mut dyn FnMut(Option<&mut dyn Sink>) -> Result<()>) -> Result<()> {
        let budget = Budget::new(self.context)?;
        let mut collector = ShardCollector::new(self.snapshot, self.bound, &budget)?;
        body(Some(&mut collector))?;
        let _without_deadline = without_deadline(self.context);
        let part = collector.into_part()?;
        self.found.lock().push((part, budget.into_charge()));
        Ok(())
    }
}

impl Sink for ShardCollector<'_> {
    fn begin_segment(&mut self, number: usize) -> Result<()> {
        ShardCollector::begin_segment(self, number)
    }

    fn collect_whole_segment(&mut self) -> Result<Option<Vec<usize>>> {
        if self.needs_scores() {
            return Ok(None);
        }
        Ok(Some(ShardCollector::collect_whole_segment(self)?.to_vec()))
    }

    fn feed_only(&mut self, rest: &[usize]) {
        ShardCollector::feed_only(self, rest);
    }

    fn count_numbers(&mut self, path: &str, range: RangeInclusive<i64>) -> Result<bool> {
        if self.needs_scores() {
            return Ok(false);
        }
        ShardCollector::count_numbers(self, path, range)
    }

    fn count_points(&mut self, path: &str, shape: &Shape) -> Result<Option<u64>> {
        if self.needs_scores() {
            return Ok(None);
        }
        ShardCollector::count_points(self, path, shape)
    }

    fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        ShardCollector::collect(self, docs, scores)
    }

    fn needs_scores(&self) -> bool {
        ShardCollector::needs_scores(self)
    }
}

/// Returns the number of best hits up to the end of the page.
pub(crate) fn wanted_hits(request: &SearchRequest) -> u64 {
    u64::from(request.from()) + u64::from(request.size())
}

/// Returns the number of best hits that a shard must return, including those in rescore windows.
pub(crate) fn collected_hits(request: &SearchRequest) -> u64 {
    let wanted = wanted_hits(request);
    let windows = request.rescores.iter().map(|rescore| u64::from(rescore.window));
    if wanted == 0 { 0 } else { windows.fold(wanted, u64::max) }
}

/// Returns the error for `search_after` in a search that is only sorted by descending score: Elasticsearch
/// treats that as no sort.
fn no_sort() -> RequestError {
    RequestError::illegal_argument("Sort must contain at least one field.")
}

fn search_after(values: &[Value], sorts: &[BoundSort]) -> Result<Box<[SortKey]>> {
    if sorts.is_empty() {
        return Err(no_sort().into());
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

/// Refuses source filters if the index stores no source.
fn check_source(snapshot: &ShardSnapshot, request: &SearchRequest) -> Result<()> {
    let asks_for_parts = request
        .source
        .as_ref()
        .is_some_and(|filter| !(filter.includes.is_empty() && filter.excludes.is_empty()));
    if asks_for_parts && snapshot.mapping.source().mode == SourceMode::Disabled {
        return Err(RequestError::illegal_argument(format!(
            "unable to fetch fields from _source field: _source is disabled in the mappings for index [{}]",
            snapshot.index.name
        ))
        .into());
    }
    Ok(())
}

/// Checks `index.max_result_window`.
pub(crate) fn check_window(snapshot: &ShardSnapshot, request: &SearchRequest, is_scroll: bool) -> Result<()> {
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
