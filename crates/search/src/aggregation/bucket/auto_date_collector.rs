//! Collects the buckets of `auto_date_histogram`. Roundings form a ladder from fine to coarse; a parent is on
//! the finest rung on which it has few enough buckets.

use std::ops::RangeInclusive;

use limber_segment::SegmentView;
use limber_segment::points::Points;

use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::deferred::Deferred;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::buckets::known_buckets::{KnownBuckets, REFUSED};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::CollectorContext;
use super::super::findings::Findings;
use super::super::source::{NumberReader, Source};
use super::auto_date_histogram::{AutoDateHistogram, Rung};
use super::counting::{count_all_numbers, is_worth_counting};
use super::date_buckets::{DateBuckets, Span};
use super::histogram_collector::stored_range;
use crate::error::Result;

/// The state of one parent.
#[derive(Debug, Clone)]
struct ParentState {
    rung: usize,
    /// All buckets, including those made on lower rungs.
    buckets: Vec<u32>,
    /// The number of buckets if all had been made on this rung, or more.
    bucket_count: i64,
    /// The least and the greatest start of its buckets on this rung.
    min: i64,
    max: i64,
}

/// Makes buckets on the rung that the parent has reached. Buckets of lower rungs stay as they are and are
/// merged at the end.
#[derive(Debug)]
pub struct AutoDateCollector<'s> {
    request: &'s AutoDateHistogram,
    source: &'s Source,
    /// Indexed by rung.
    dates: Vec<DateBuckets>,
    reader: NumberReader<'s>,
    /// Indexed by parent.
    rungs: Vec<ParentState>,
    table: BucketTable,
    /// The buckets of the only parent by their indexes on this rung.
    known: KnownBuckets,
    known_rung: usize,
    key_indexes: Vec<u32>,
    /// Whether the sub-aggregations can be merged when their buckets are. Otherwise documents are deferred
    /// until all buckets are known.
    merges: bool,
    deferred: Deferred<'s>,
    subs: Subs<'s>,
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl AutoDateCollector<'_> {
    /// Bytes of one parent's state.
    const PARENT_BYTES: u64 = size_of::<ParentState>() as u64;

    /// Climbs until the buckets fit; the buckets of the parent are counted again on every rung.
    fn coarsen(
        request: &AutoDateHistogram,
        dates: &mut [DateBuckets],
        table: &BucketTable,
        state: &mut ParentState,
    ) {
        let span_fits = |rung: usize, state: &ParentState| {
            let rung = &request.ladder[rung];
            state.max.saturating_sub(state.min) <= request.target * rung.millis * rung.step_max()
        };
        while state.rung + 1 < request.ladder.len() {
            if span_fits(state.rung, state) {
                if request.fits(state.rung, state.bucket_count as usize) {
                    return;
                }
                // A new bucket may start where buckets of lower rungs were counted already.
                state.bucket_count = Self::count_on_rung(dates, table, state);
                if request.fits(state.rung, state.bucket_count as usize) {
                    return;
                }
            }
            state.rung += 1;
            state.bucket_count = Self::count_on_rung(dates, table, state);
        }
    }

    /// Counts the buckets that a parent's buckets make on its rung, and finds the range of their starts. Both
    /// are the same in whatever order, and on whatever rungs, the buckets were made.
    fn count_on_rung(dates: &mut [DateBuckets], table: &BucketTable, state: &mut ParentState) -> i64 {
        let dates = &mut dates[state.rung];
        let own = state.buckets.iter();
        let mut keys: Vec<i64> = own.map(|&bucket| dates.span_of(table.key(bucket)).start).collect();
        keys.sort_unstable();
        keys.dedup();
        if let (Some(&first), Some(&last)) = (keys.first(), keys.last()) {
            (state.min, state.max) = (first, last);
        }
        keys.len() as i64
    }
}

impl AutoDateCollector<'_> {
    /// Returns the bucket of an instant, and the span of instants that belong to it while the parent stays on
    /// its rung.
    fn bucket(
        request: &AutoDateHistogram,
        dates: &mut [DateBuckets],
        table: &mut BucketTable,
        state: &mut ParentState,
        parent: u32,
        instant: i64,
        budget: &Budget,
    ) -> Result<(u32, Span)> {
        let span = dates[state.rung].span_of(instant);
        let count = table.len();
        let bucket = table.bucket(parent, span.start, budget)?;
        if table.len() == count {
            return Ok((bucket, span));
        }
        state.bucket_count += 1;
        state.buckets.push(bucket);
        (state.min, state.max) = (state.min.min(span.start), state.max.max(span.start));
        let rung = state.rung;
        Self::coarsen(request, dates, table, state);
        // After a climb the span is no longer valid: the next instant is looked up again.
        Ok((bucket, if state.rung == rung { span } else { Span::NONE }))
    }

    fn make_parents(&mut self, count: usize) -> Result<()> {
        if count > self.rungs.len() {
            self.budget.spend((count - self.rungs.len()) as u64 * Self::PARENT_BYTES)?;
            let first =
                ParentState { rung: 0, buckets: Vec::new(), bucket_count: 0, min: i64::MAX, max: i64::MIN };
            self.rungs.resize(count, first);
        }
        Ok(())
    }

    /// Returns the lowest rung on which the starts of the buckets of two instants are near enough.
    fn rung_of_range(&mut self, first: i64, last: i64) -> usize {
        let (request, dates) = (self.request, &mut self.dates);
        let mut holds = |number: usize, rung: &Rung| {
            let (first, last) = (dates[number].span_of(first).start, dates[number].span_of(last).start);
            last.saturating_sub(first) <= request.target * rung.millis * rung.step_max()
        };
        let mut rungs = request.ladder.iter().enumerate();
        rungs.position(|(number, rung)| holds(number, rung)).unwrap_or(request.ladder.len() - 1)
    }

    /// Returns about the lowest rung that fits instants this far apart.
    fn rung_of_length(&self, length: i64) -> usize {
        let ladder = self.request.ladder;
        let holds = |rung: &Rung| length <= self.request.target * rung.millis * rung.step_max();
        ladder.iter().position(holds).unwrap_or(ladder.len() - 1)
    }
}

impl<'s> AutoDateCollector<'s> {
    pub(crate) fn new(
        request: &'s AutoDateHistogram,
        context: CollectorContext<'s>,
    ) -> Result<AutoDateCollector<'s>> {
        let source = &context.bound.sources()[0];
        let range = stored_range(source, context.shard, None)?;
        let dates = (0..request.ladder.len())
            .map(|rung| Ok(DateBuckets::new(request.rounding(rung, source)?, range, 0)))
            .collect::<Result<_>>()?;
        Ok(AutoDateCollector {
            request,
            source,
            dates,
            reader: NumberReader::new(source)?,
            rungs: Vec::new(),
            table: BucketTable::default(),
            known: KnownBuckets::default(),
            known_rung: usize::MAX,
            key_indexes: Vec::new(),
            merges: context.subs.can_split(),
            deferred: Deferred::default(),
            subs: context.subs,
            emitted: Emitted::default(),
            starts: Vec::new(),
            budget: context.budget,
        })
    }

    /// Collects documents of the only parent, if they have at most one value, by the bucket indexes of the
    /// rung's buckets. Returns false where there are no bucket indexes.
    fn collect_key_indexes(&mut self, entries: &Entries<'_>) -> Result<bool> {
        let is_simple = self.reader.has_one_at_most() && !self.reader.has_missing();
        if entries.only_bucket() != Some(0) || !is_simple {
            return Ok(false);
        }
        let rung = self.rungs[0].rung;
        if self.known_rung != rung {
            self.known.begin(self.dates[rung].key_index_count());
            self.known_rung = rung;
        }
        if !self.known.takes(entries, self.budget)? {
            return Ok(false);
        }
        let values = self.reader.load(entries.docs)?;
        self.key_indexes.clear();
        self.dates[rung].key_indexes(values.values, &mut self.key_indexes);
        let (request, dates, table) = (self.request, &mut self.dates, &mut self.table);
        let (state, known, key_indexes, budget) =
            (&mut self.rungs[0], &mut self.known, &self.key_indexes, self.budget);
        let fill = |out: &mut Vec<u32>| {
            known.look_up(key_indexes, values.positions, entries, out, |parent, key_index| {
                let start = dates[rung].start_at(key_index);
                Self::bucket(request, dates, table, state, parent, start, budget)
                    .map(|(bucket, _)| Some(bucket))
            })
        };
        self.emitted.fill(values.positions, fill, REFUSED)?;
        self.table.count(self.emitted.buckets());
        Ok(true)
    }

    /// Passes the batch to the sub-aggregations, or defers it.
    fn hand_on(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.subs.is_empty() || self.table.len() == 0 {
            return Ok(());
        }
        let batch = self.emitted.batch(entries, self.table.len())?;
        match self.merges {
            true => self.subs.collect(&batch),
            false => self.deferred.note(&batch, self.budget),
        }
    }
}

/// The findings of one part of a shard's documents.
#[derive(Debug)]
pub struct AutoDateFindings {
    rungs: Vec<ParentState>,
    table: BucketTable,
    below: Vec<Findings>,
}

impl<'s> Collector<'s> for AutoDateCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        match self.merges {
            true => self.subs.begin_segment(view),
            false => {
                self.deferred.begin_segment(view);
                Ok(())
            }
        }
    }

    fn end_segment(&mut self) -> Result<()> {
        if self.merges { self.subs.end_segment() } else { Ok(()) }
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.make_parents(entries.bucket_count)?;
        if self.collect_key_indexes(entries)? {
            return self.hand_on(entries);
        }
        let values = self.reader.load(entries.docs)?;
        let has_subs = !self.subs.is_empty();
        self.emitted.clear();
        let (table, emitted, budget, rungs) =
            (&mut self.table, &mut self.emitted, self.budget, &mut self.rungs);
        let (request, dates) = (self.request, &mut self.dates);
        // The last bucket, and its parent.
        let (mut span, mut span_parent, mut span_bucket) = (Span::NONE, u32::MAX, 0u32);
        let mut last = (usize::MAX, u32::MAX);
        values.try_join(entries, &mut self.starts, |entry, parent, value| {
            if parent != span_parent || !span.contains(value) {
                let state = &mut rungs[parent as usize];
                (span_bucket, span) = Self::bucket(request, dates, table, state, parent, value, budget)?;
                span_parent = parent;
            }
            if (entry, span_bucket) == last {
                return Ok(());
            }
            last = (entry, span_bucket);
            table.counts[span_bucket as usize] += 1;
            if has_subs {
                emitted.push(entry, span_bucket)?;
            }
            Ok(())
        })?;
        self.hand_on(entries)
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        count_all_numbers(self, self.source.path(), self.reader.segment())
    }

    fn counts_numbers(&self, path: &str, points: &Points<'_>, range: &RangeInclusive<i64>) -> Result<bool> {
        if !self.subs.is_empty() || self.reader.has_missing() || self.source.path() != path {
            return Ok(false);
        }
        let Some((first, last)) = points.extremes(range.clone())? else { return Ok(true) };
        let resolution = self.source.resolution();
        let (first, last) = (resolution.millis(first), resolution.millis(last));
        let rung = self.rung_of_length(last.saturating_sub(first));
        let buckets = self.dates[rung].rounding.buckets_between(first, last);
        Ok(is_worth_counting(points.count(range.clone())?, buckets))
    }

    fn count_numbers(&mut self, points: &Points<'_>, range: RangeInclusive<i64>) -> Result<()> {
        let Some((stored_first, stored_last)) = points.extremes(range)? else { return Ok(()) };
        let resolution = self.source.resolution();
        let (first, last) = (resolution.millis(stored_first), resolution.millis(stored_last));
        self.make_parents(1)?;
        let rung = self.rung_of_range(first, last);
        let state = &mut self.rungs[0];
        if state.rung < rung {
            // These instants alone need this rung, whatever buckets there are so far.
            state.rung = rung;
            state.bucket_count = Self::count_on_rung(&mut self.dates, &self.table, state);
            Self::coarsen(self.request, &mut self.dates, &self.table, state);
        }
        let mut ranks = points.ranks();
        let (mut next, mut below) = (stored_first, ranks.below(stored_first)?);
        let all = below + points.count(stored_first..=stored_last)?;
        loop {
            let instant = resolution.millis(next);
            let state = &mut self.rungs[0];
            let span = self.dates[state.rung].span_of(instant);
            let end = span.end.saturating_mul(resolution.per_milli());
            let is_last = end > stored_last || end == i64::MAX;
            let rank = if is_last { all } else { ranks.below(end)? };
            let count = rank - std::mem::replace(&mut below, rank);
            if count > 0 {
                let dates = &mut self.dates;
                let (bucket, _) =
                    Self::bucket(self.request, dates, &mut self.table, state, 0, instant, self.budget)?;
                self.table.counts[bucket as usize] += count;
            }
            if is_last {
                return Ok(());
            }
            next = end;
        }
    }

    fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.merges && self.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let (rungs, table) = (std::mem::take(&mut self.rungs), std::mem::take(&mut self.table));
        let below = self.subs.take_findings()?;
        Ok(Findings::AutoDate(Box::new(AutoDateFindings { rungs, table, below })))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::AutoDate(found) = findings else { unreachable!("findings of another collector") };
        let AutoDateFindings { rungs, table, below } = *found;
        let own = bucket_of.iter().take(rungs.len()).map(|own| *own as usize + 1).max().unwrap_or(0);
        self.make_parents(own)?;
        let count = self.table.len() as u32;
        let buckets = self.table.absorb(&table, bucket_of, Ok, self.budget)?;
        for (parent, state) in rungs.iter().enumerate() {
            let own = &mut self.rungs[bucket_of[parent] as usize];
            own.rung = own.rung.max(state.rung);
            let new = state.buckets.iter().map(|&bucket| buckets[bucket as usize]);
            own.buckets.extend(new.filter(|&bucket| bucket >= count));
            own.bucket_count = Self::count_on_rung(&mut self.dates, &self.table, own);
            Self::coarsen(self.request, &mut self.dates, &self.table, own);
        }
        self.subs.absorb(below, &buckets)
    }

    /// Buckets of lower rungs count as merged.
    fn bucket_count(&self) -> Option<u64> {
        let [state] = self.rungs.as_slice() else { return None };
        let rounding = &self.dates[state.rung].rounding;
        let mut keys: Vec<i64> =
            state.buckets.iter().map(|&bucket| rounding.round(self.table.key(bucket))).collect();
        keys.sort_unstable();
        keys.dedup();
        Some(keys.len() as u64)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        // Buckets of lower rungs are merged into those of the parent's final rung.
        let mut target = vec![u32::MAX; self.table.len()];
        let mut lists: Vec<Vec<(i64, u64, u32)>> = Vec::with_capacity(parents.len());
        for (&parent, buckets) in parents.iter().zip(self.table.by_parent(parents)) {
            let rung = self.rungs.get(parent as usize).map_or(0, |state| state.rung);
            let mut keyed: Vec<(i64, u32)> = buckets
                .into_iter()
                .map(|bucket| (self.dates[rung].span_of(self.table.key(bucket)).start, bucket))
                .collect();
            keyed.sort_unstable();
            let mut list: Vec<(i64, u64, u32)> = Vec::new();
            for (key, bucket) in keyed {
                let count = self.table.counts[bucket as usize];
                match list.last_mut() {
                    Some(last) if last.0 == key => last.1 += count,
                    _ => list.push((key, count, bucket)),
                }
                target[bucket as usize] = list.last().map_or(bucket, |last| last.2);
            }
            lists.push(list);
        }
        let known = |bucket: u32| Some(target[bucket as usize]).filter(|&bucket| bucket != u32::MAX);
        if self.merges {
            let below = self.subs.take_findings()?;
            let own = (0u32..).zip(&target);
            let merged: Vec<u32> =
                own.map(|(bucket, &target)| if target == u32::MAX { bucket } else { target }).collect();
            self.subs.absorb(below, &merged)?;
            self.subs.settle()?;
        } else {
            self.deferred.replay(&mut self.subs, self.table.len(), self.budget, known)?;
        }
        let all: Vec<u32> = lists.iter().flatten().map(|&(_, _, bucket)| bucket).collect();
        let mut results = self.subs.finish(&all)?.into_iter();
        let partial = |(list, parent): (&Vec<(i64, u64, u32)>, &u32)| {
            let buckets = list.iter().map(|&(key, count, _)| {
                ListBucket::new([Key::Long(key)].into(), count, results.next().unwrap_or_default())
            });
            Partial::List(ListPartial {
                buckets: buckets.collect(),
                background: self.rungs.get(*parent as usize).map_or(0, |state| state.rung) as u64,
                ..ListPartial::default()
            })
        };
        Ok(lists.iter().zip(parents).map(partial).collect())
    }
}
