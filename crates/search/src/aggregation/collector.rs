//! Collects one shard: takes batches of matching documents, and makes one [`ShardAggregations`].

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

use limber_segment::points::Points;
use limber_segment::{DocId, SegmentView};

use super::answer::hit_reader::HitReader;
use super::answer::order::OrderPath;
use super::answer::partial::{Bucket, Partial};
use super::bind::{Binding, Bound, Shape};
use super::buckets::entries::Entries;
use super::budget::Budget;
use super::findings::{Findings, absorb_fixed};
use super::profiled::AggregationTimes;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::geo;
use crate::query::Query;

/// Collects one aggregation. Every method works on all buckets of the parent at once.
pub trait Collector<'s>: Debug {
    /// Starts a segment, which the next documents belong to.
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()>;
    fn collect(&mut self, entries: &Entries<'_>) -> Result<()>;
    /// Collects, and returns whether the entries of each bucket are counted, too ([`Self::take_counts`]).
    fn collect_counted(&mut self, entries: &Entries<'_>) -> Result<bool> {
        self.collect(entries)?;
        Ok(false)
    }
    /// Adds what [`Self::collect_counted`] has counted since the last call to `counts`, by bucket.
    fn take_counts(&mut self, _counts: &mut [u64]) {}
    /// Collects every document of the segment at once, from the statistics of the segment. Returns false if
    /// that is not possible; then nothing was collected.
    fn collect_whole_segment(&mut self) -> Result<bool> {
        Ok(false)
    }
    /// Whether [`Self::count_numbers`] can answer from the points of this field, of which each document has
    /// at most one value, and is faster than reading documents: if there are few buckets and only their
    /// document counts are needed.
    fn counts_numbers(
        &self,
        _path: &str,
        _points: &Points<'_>,
        _range: &RangeInclusive<i64>,
    ) -> Result<bool> {
        Ok(false)
    }
    /// Collects all documents of the segment whose value lies in the range.
    fn count_numbers(&mut self, _points: &Points<'_>, _range: RangeInclusive<i64>) -> Result<()> {
        Ok(())
    }
    /// Whether [`Self::count_points`] can answer from the geo points of this field, of which each document
    /// has at most one: if only document counts are needed.
    fn counts_places(&self, _path: &str) -> bool {
        false
    }
    /// Collects documents of the segment by their encoded geo points.
    fn count_points(&mut self, _places: &[i64]) -> Result<()> {
        Ok(())
    }
    fn end_segment(&mut self) -> Result<()> {
        Ok(())
    }
    /// Returns the value that a parent orders its buckets by; `path` is the rest of the path from here on.
    fn order_value(&self, _path: &[String], _value: Option<&str>, _bucket: u32) -> f64 {
        f64::NAN
    }
    /// Whether parts of the documents may be collected by several collectors of this kind, whose findings are
    /// then absorbed by one of them.
    fn can_split(&self) -> bool {
        false
    }
    /// Whether the documents of one window may come in several batches, each ascending, without changing the
    /// findings, except for rounding errors in sums of doubles.
    fn takes_windows_again(&self) -> bool {
        false
    }
    /// Takes the findings after the last segment, and leaves none: only [`Self::absorb`] and what makes
    /// results may be called afterwards, and see nothing of what was taken.
    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Nothing)
    }
    /// Adds the findings of another collector of the same aggregation, whose parent bucket `b` is
    /// `bucket_of[b]` here. Called between segments.
    fn absorb(&mut self, _findings: Findings, _bucket_of: &[u32]) -> Result<()> {
        Ok(())
    }
    /// Passes the keys of the parent's `buckets` if these are numbers or dates. Called before `finish`.
    fn take_keys(&mut self, _buckets: &[u32], _key_of: &dyn Fn(u32) -> i64) {}
    /// Called when everything was collected: prepares what [`Collector::order_value`] needs.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
    /// Returns how many buckets it has, which a profile shows; `None` if a profile does not show that.
    fn bucket_count(&self) -> Option<u64> {
        None
    }
    /// Makes the result for each of the parent's `buckets` (ascending and without duplicates). Called once.
    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>>;
}

/// Memory of a bucket when a shard is finished, without its results: what sorts it, and its index in a list.
const BUCKET_BYTES: usize = 2 * size_of::<u32>() + size_of::<usize>() + size_of::<Bucket>();

/// The sub-aggregations of a bucket aggregation, or the top-level aggregations of a request.
#[derive(Debug)]
pub struct Subs<'s> {
    list: Vec<(String, Box<dyn Collector<'s> + 's>)>,
    /// What the results are charged to.
    budget: &'s Budget,
}

impl<'s> Subs<'s> {
    /// Takes the collectors of the sub-aggregations, with their names.
    pub fn new(list: Vec<(String, Box<dyn Collector<'s> + 's>)>, budget: &'s Budget) -> Subs<'s> {
        Subs { list, budget }
    }

    /// Adds a collector after the others.
    pub(super) fn add(&mut self, name: &str, collector: Box<dyn Collector<'s> + 's>) {
        self.list.push((name.to_owned(), collector));
    }

    /// Whether there are no sub-aggregations.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Fails if the request was cancelled. Collectors that make many batches of one window call it for each.
    pub fn check(&self) -> Result<()> {
        self.budget.check()
    }

    /// Calls [`Collector::begin_segment`] of each of them. The methods below do likewise.
    pub fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.list.iter_mut().try_for_each(|(_, sub)| sub.begin_segment(view))
    }

    /// See [`Collector::collect`].
    pub fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.list.iter_mut().try_for_each(|(_, sub)| sub.collect(entries))
    }

    /// See [`Collector::collect_counted`]: true if one of them counts.
    pub fn collect_counted(&mut self, entries: &Entries<'_>) -> Result<bool> {
        self.list.iter_mut().try_fold(false, |is_counted, (_, sub)| match is_counted {
            true => sub.collect(entries).map(|()| true),
            false => sub.collect_counted(entries),
        })
    }

    /// See [`Collector::take_counts`].
    pub fn take_counts(&mut self, counts: &mut [u64]) {
        self.list.iter_mut().for_each(|(_, sub)| sub.take_counts(counts));
    }

    /// Collects all documents of the current segment, none of which is deleted, in the only bucket, with
    /// those aggregations that can answer from the statistics of the segment. Returns the indexes of the
    /// others, which must get the documents.
    pub fn collect_known(&mut self) -> Result<Vec<usize>> {
        let mut rest = Vec::new();
        for (place, (_, sub)) in self.list.iter_mut().enumerate() {
            if !sub.collect_whole_segment()? {
                rest.push(place);
            }
        }
        Ok(rest)
    }

    /// Does the same as [`Self::collect_known`], and passes all documents to the other aggregations.
    pub fn collect_whole_segment(&mut self, doc_count: u32) -> Result<()> {
        let rest = self.collect_known()?;
        let mut docs = Vec::with_capacity(4096);
        for start in (0..doc_count).step_by(4096) {
            docs.clear();
            docs.extend(start..doc_count.min(start + 4096));
            self.feed(&rest, &Entries::of(&docs))?;
        }
        Ok(())
    }

    /// Passes a batch to the aggregations at these indexes.
    fn feed(&mut self, places: &[usize], entries: &Entries<'_>) -> Result<()> {
        places.iter().try_for_each(|&place| self.list[place].1.collect(entries))
    }

    /// See [`Collector::can_split`]: true where all of them can.
    pub fn can_split(&self) -> bool {
        self.list.iter().all(|(_, sub)| sub.can_split())
    }

    /// See [`Collector::takes_windows_again`]: true where all of them do.
    pub fn takes_windows_again(&self) -> bool {
        self.list.iter().all(|(_, sub)| sub.takes_windows_again())
    }

    /// Takes the counts of a collector that has the same number of buckets under each parent, together with
    /// the findings of the sub-aggregations.
    pub fn take_fixed(&mut self, counts: &mut Vec<u64>) -> Result<Findings> {
        Ok(Findings::Fixed(std::mem::take(counts), self.take_findings()?))
    }

    /// Adds what [`Self::take_fixed`] took of another part to `counts` and to the sub-aggregations. Each
    /// parent has `width` buckets; parent `p` of the findings is `bucket_of[p]` here.
    pub fn absorb_fixed(
        &mut self,
        counts: &mut Vec<u64>,
        findings: Findings,
        width: usize,
        bucket_of: &[u32],
        budget: &Budget,
    ) -> Result<()> {
        let Findings::Fixed(found, below) = findings else { unreachable!("findings of another collector") };
        budget.spend(found.len() as u64 * 8)?;
        let buckets = absorb_fixed(counts, &found, width, bucket_of);
        self.absorb(below, &buckets)
    }

    /// Takes the findings of each of the aggregations.
    pub fn take_findings(&mut self) -> Result<Vec<Findings>> {
        self.list.iter_mut().map(|(_, sub)| sub.take_findings()).collect()
    }

    /// See [`Collector::absorb`]. `findings` has one item for each of them.
    pub fn absorb(&mut self, findings: Vec<Findings>, bucket_of: &[u32]) -> Result<()> {
        self.list.iter_mut().zip(findings).try_for_each(|((_, sub), found)| sub.absorb(found, bucket_of))
    }

    /// See [`Collector::end_segment`].
    pub fn end_segment(&mut self) -> Result<()> {
        self.list.iter_mut().try_for_each(|(_, sub)| sub.end_segment())
    }

    /// See [`Collector::settle`].
    pub fn settle(&mut self) -> Result<()> {
        self.list.iter_mut().try_for_each(|(_, sub)| sub.settle())
    }

    /// Returns the value that buckets are ordered by, from the aggregation that the path names.
    pub fn order_value(&self, path: &OrderPath, bucket: u32) -> f64 {
        self.order_value_below(&path.names, path.value.as_deref(), bucket)
    }

    /// Does the same as [`Subs::order_value`] for the rest of a path.
    pub fn order_value_below(&self, names: &[String], value: Option<&str>, bucket: u32) -> f64 {
        let Some((first, rest)) = names.split_first() else { return f64::NAN };
        let sub = self.list.iter().find(|(name, _)| name == first);
        sub.map_or(f64::NAN, |(_, sub)| sub.order_value(rest, value, bucket))
    }

    /// Does the same as [`Subs::order_value_below`] for a single-bucket aggregation with these document
    /// counts, which are the values if the path ends here.
    pub fn order_value_of_single(
        &self,
        counts: &[u64],
        path: &[String],
        value: Option<&str>,
        bucket: u32,
    ) -> f64 {
        match path {
            [] => counts.get(bucket as usize).map_or(0.0, |&count| count as f64),
            path => self.order_value_below(path, value, bucket),
        }
    }

    /// [`Subs::finish`] for buckets that have numeric keys.
    pub fn finish_keyed(
        &mut self,
        buckets: &[u32],
        key_of: impl Fn(u32) -> i64,
    ) -> Result<Vec<Vec<Partial>>> {
        self.list.iter_mut().for_each(|(_, sub)| sub.take_keys(buckets, &key_of));
        self.finish(buckets)
    }

    /// Returns the results of all aggregations for each of `buckets` (in any order, without duplicates).
    ///
    /// # Errors
    /// Fails if there is no memory for that many results.
    pub fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Vec<Partial>>> {
        // Spent, not only claimed: these bytes are also those of a cached answer.
        let results_bytes = size_of::<Vec<Partial>>() + self.list.len() * size_of::<Partial>();
        self.budget.spend((buckets.len() * (BUCKET_BYTES + results_bytes)) as u64)?;
        let mut results: Vec<Vec<Partial>> =
            buckets.iter().map(|_| Vec::with_capacity(self.list.len())).collect();
        if self.list.is_empty() {
            return Ok(results);
        }
        let mut places: Vec<usize> = (0..buckets.len()).collect();
        places.sort_unstable_by_key(|&place| buckets[place]);
        let ascending: Vec<u32> = places.iter().map(|&place| buckets[place]).collect();
        for (_, sub) in &mut self.list {
            for (&place, partial) in places.iter().zip(sub.finish(&ascending)?) {
                results[place].push(partial);
            }
        }
        Ok(results)
    }
}

/// Collects the documents of one shard.
///
/// Call [`Self::begin_segment`], then [`Self::collect`] with ascending documents of one window of 4,096 at a
/// time, for every segment in order; [`Self::finish`] at the end.
#[derive(Debug)]
pub struct ShardCollector<'s> {
    shard: &'s ShardSnapshot,
    subs: Subs<'s>,
    shapes: Vec<Shape>,
    budget: &'s Budget,
    needs_scores: bool,
    /// The index of the current segment in the snapshot.
    current: Option<usize>,
    /// The aggregations that still need the documents of the current segment; the others have answered from
    /// its statistics.
    rest: Option<Vec<usize>>,
}

/// What one shard passes to [`super::reduce`].
#[derive(Debug, Clone)]
pub struct ShardAggregations {
    pub(super) partials: Vec<Partial>,
    pub(super) shapes: Vec<Shape>,
}

impl<'s> ShardCollector<'s> {
    pub(crate) fn new(
        shard: &'s ShardSnapshot,
        bound: &'s BoundAggregations,
        budget: &'s Budget,
    ) -> Result<ShardCollector<'s>> {
        let subs = super::bind::collectors(&bound.list, shard, true, budget)?;
        let shapes = bound.list.iter().map(|bound| bound.shape.clone()).collect();
        let needs_scores = bound.needs_scores;
        Ok(ShardCollector { shard, subs, shapes, budget, needs_scores, current: None, rest: None })
    }

    /// `number` is the index of the segment in the snapshot.
    pub fn begin_segment(&mut self, number: usize) -> Result<()> {
        self.end_segment()?;
        (self.current, self.rest) = (Some(number), None);
        self.subs.begin_segment(&self.shard.segments[number])
    }

    /// Collects documents. `docs` are ascending and live, and are all in one window of 4,096; `scores` has
    /// their scores, or is empty if [`Self::needs_scores`] returns false.
    pub fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        if docs.is_empty() {
            return Ok(());
        }
        self.budget.spend(0)?;
        let scores = if self.needs_scores { scores } else { &[] };
        let entries = Entries { scores, ..Entries::of(docs) };
        match &self.rest {
            None => self.subs.collect(&entries),
            Some(rest) => self.subs.feed(rest, &entries),
        }
    }

    /// Whether parts of the shard may be collected separately ([`ShardPart`]).
    pub fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    /// Finishes the collection of a part of the shard.
    pub fn into_part(mut self) -> Result<ShardPart> {
        self.end_segment()?;
        Ok(ShardPart(self.subs.take_findings()?))
    }

    /// Adds the findings of a part of the shard.
    pub fn absorb(&mut self, part: ShardPart) -> Result<()> {
        self.end_segment()?;
        self.subs.absorb(part.0, &[0])
    }

    /// Whether any of the aggregations needs scores.
    pub fn needs_scores(&self) -> bool {
        self.needs_scores
    }

    /// Collects all documents of the current segment at once, in those aggregations that can answer from its
    /// statistics. The segment must not have deleted documents, and the query must match everything. Returns
    /// the aggregations that must still get the documents by [`Self::collect`].
    pub fn collect_whole_segment(&mut self) -> Result<&[usize]> {
        let rest = self.subs.collect_known()?;
        Ok(self.rest.insert(rest))
    }

    /// Limits the current segment's documents to these aggregations; the others have already been answered.
    pub fn feed_only(&mut self, rest: &[usize]) {
        self.rest = Some(rest.to_vec());
    }

    /// Collects the documents of the current segment whose value of `path` lies in the range, if all
    /// aggregations can do that; otherwise does nothing and returns false.
    pub fn count_numbers(&mut self, path: &str, range: RangeInclusive<i64>) -> Result<bool> {
        let Some(number) = self.current else { return Ok(false) };
        let Some(points) = self.shard.segments[number].segment.points(path)? else { return Ok(false) };
        if !points.is_single_valued() {
            return Ok(false);
        }
        for (_, sub) in &self.subs.list {
            if !sub.counts_numbers(path, &points, &range)? {
                return Ok(false);
            }
        }
        self.budget.spend(0)?;
        self.subs.list.iter_mut().try_for_each(|(_, sub)| sub.count_numbers(&points, range.clone()))?;
        Ok(true)
    }

    /// Collects the documents of the current segment whose geo point in `path` lies in the shape, if all
    /// aggregations can do that, and returns their number; otherwise does nothing.
    pub(crate) fn count_points(&mut self, path: &str, shape: &geo::Shape) -> Result<Option<u64>> {
        let Some(number) = self.current else { return Ok(None) };
        let Some(points) = self.shard.segments[number].segment.spatial_points(path)? else { return Ok(None) };
        if !points.is_single_valued() || !self.subs.list.iter().all(|(_, sub)| sub.counts_places(path)) {
            return Ok(None);
        }
        self.budget.spend(0)?;
        let (mut count, subs) = (0, &mut self.subs.list);
        let cover = points.cover(|cell| shape.overlap(cell));
        points.for_each_leaf(
            &cover,
            |place| shape.contains(place),
            |places| {
                count += places.len() as u64;
                subs.iter_mut().try_for_each(|(_, sub)| sub.count_points(places))
            },
        )?;
        Ok(Some(count))
    }

    fn end_segment(&mut self) -> Result<()> {
        if self.current.take().is_some() {
            self.subs.end_segment()?;
        }
        Ok(())
    }

    /// Makes the result of the shard. All segments must have been collected.
    pub fn finish(mut self) -> Result<ShardAggregations> {
        self.end_segment()?;
        let partials = self.subs.finish(&[0])?.pop().unwrap_or_default();
        Ok(ShardAggregations { partials, shapes: self.shapes })
    }
}

/// The findings of a part of a shard's documents.
#[derive(Debug)]
pub struct ShardPart(Vec<Findings>);

/// Aggregations bound to one shard: fields are resolved, queries are bound. They must outlive the collector.
#[derive(Debug)]
pub struct BoundAggregations {
    pub(super) list: Vec<Bound>,
    needs_scores: bool,
}

impl BoundAggregations {
    /// Resolves fields and queries on `shard`. `search_query` is the query of the search, and `hit_reader`
    /// reads the hits that are shown.
    ///
    /// # Errors
    /// Those of the shard: unsupported fields, wrong formats, a full memory pool.
    pub(crate) fn bind(
        request: &super::Aggregations,
        shard: &ShardSnapshot,
        search_query: Option<&Query>,
        context: &SearchContext,
        hit_reader: &'static dyn HitReader,
    ) -> Result<BoundAggregations> {
        let binding = Binding { shard, context, search_query, hit_reader, around: None };
        let list = super::bind::bind_all(&request.list, &binding)?;
        Ok(BoundAggregations { list, needs_scores: request.needs_scores() })
    }

    /// Returns the execution times of the aggregations, if the search is profiled.
    pub fn times(&self) -> Vec<Arc<AggregationTimes>> {
        self.list.iter().filter_map(|bound| bound.times().cloned()).collect()
    }

    /// Estimates the memory of the finished [`ShardAggregations`]: an object each, and what was spent on
    /// buckets.
    pub fn spent_bytes(&self, budget: &Budget) -> u64 {
        const AGGREGATION_BYTES: u64 = 256;
        budget.spent_bytes() + self.list.len() as u64 * AGGREGATION_BYTES
    }
}
