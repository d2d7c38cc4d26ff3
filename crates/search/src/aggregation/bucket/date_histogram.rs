//! `date_histogram`. Source: Elasticsearch's `DateHistogramAggregationBuilder`, `DateHistogramAggregator`.

use std::ops::RangeInclusive;

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use limber_segment::points::Points;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::order::BucketOrder;
use super::super::answer::partial::{KeyedBucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Shape, Width};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::Entries;
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::zone;
use super::bounds::Bounds;
use super::counting::{count_all_numbers, is_worth_counting};
use super::date_buckets::{DateBuckets, Span};
use super::date_options::{calendar_or_fixed, instant, offset_millis};
use super::histogram::min_doc_count;
use super::histogram_collector::{keyed_partials, stored_range};
use super::keyed::{filled_range, render_keyed, sorted};
use super::range_histogram::{RangeHistogramCollector, RangeKeys};
use super::rounding::{Interval, Rounding};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// The options of a `date_histogram`: interval, zone, offset, bounds and order.
#[derive(Debug, Clone)]
pub struct DateHistogram {
    pub name: String,
    pub values: ValuesOptions,
    interval: Option<Interval>,
    offset_millis: i64,
    pub min_doc_count: u64,
    extended_bounds: Option<Bounds<Value>>,
    hard_bounds: Option<Bounds<Value>>,
    pub keyed: bool,
    pub order: BucketOrder,
}

/// The request resolved on a shard, where the field's date format is known.
#[derive(Debug, Clone, PartialEq)]
pub struct DateShape {
    pub rounding: Rounding,
    /// The bounds after rounding.
    pub extended_bounds: Bounds<i64>,
    /// The bounds, of which the minimum is rounded.
    pub hard_bounds: Bounds<i64>,
}

impl DateHistogram {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let interval = calendar_or_fixed(options)?;
        let offset_millis = offset_millis(options)?;
        let min_doc_count = min_doc_count(options)?;
        let mut bounds = |name: &str| {
            let bounds = Bounds::parse(options, name, "bounds")?;
            bounds.iter().try_for_each(|bounds| bounds.check_whole(options, name)).map(|()| bounds)
        };
        let (extended_bounds, hard_bounds) = (bounds("extended_bounds")?, bounds("hard_bounds")?);
        let keyed = options.boolean("keyed")?.unwrap_or(false);
        let order = BucketOrder::parse(options)?.unwrap_or_else(BucketOrder::key_ascending);
        let values = ValuesOptions::parse_with_zone(options)?;
        let name = options.name.clone();
        Ok(Kind::own(DateHistogram {
            name,
            values,
            interval,
            offset_millis,
            min_doc_count,
            extended_bounds,
            hard_bounds,
            keyed,
            order,
        }))
    }

    /// Resolves interval, zone and bounds of the request.
    fn dates(&self, source: &Source) -> Result<DateShape> {
        let interval = self.interval;
        let interval = interval.ok_or_else(|| {
            RequestError::illegal_argument("Invalid interval specified, must be non-null and non-empty")
        })?;
        let rounding = Rounding { interval, zone: zone(&self.values)?, offset_millis: self.offset_millis };
        let extended_bounds = self.bounds("extended_bounds", &self.extended_bounds, source)?;
        let hard_bounds = self.bounds("hard_bounds", &self.hard_bounds, source)?;
        if let (Some(hard), Some(extended)) = (&self.hard_bounds, &self.extended_bounds) {
            hard_bounds.check_contains(&extended_bounds, || [hard.to_text(), extended.to_text()])?;
        }
        let round = |end: Option<i64>| end.map(|end| rounding.round(end));
        Ok(DateShape {
            extended_bounds: Bounds { min: round(extended_bounds.min), max: round(extended_bounds.max) },
            hard_bounds: Bounds { min: round(hard_bounds.min), max: round(hard_bounds.max) },
            rounding,
        })
    }

    fn bounds(&self, name: &str, bounds: &Option<Bounds<Value>>, source: &Source) -> Result<Bounds<i64>> {
        let Some(bounds) = bounds else { return Ok(Bounds::default()) };
        let bounds = Bounds { min: instant(&bounds.min, source)?, max: instant(&bounds.max, source)? };
        bounds.check(name, &self.name, |end| end.to_string())?;
        Ok(bounds)
    }
}

impl Request for DateHistogram {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Dates)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn complete_shape(&self, shape: &mut Shape) -> Result<()> {
        shape.date = Some(self.dates(&shape.sources[0])?);
        Ok(())
    }

    fn width(&self, _: &Aggregation, shape: &Shape) -> Result<Option<Width>> {
        Ok(shape.date.as_ref().map(|dates| Width::Dates(dates.rounding.clone())))
    }

    fn order(&self) -> Option<&BucketOrder> {
        Some(&self.order)
    }

    fn histogram_min_doc_count(&self) -> Option<u64> {
        Some(self.min_doc_count)
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for DateHistogram {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, shard, budget, .. } = context;
        let source = &bound.sources()[0];
        let dates = bound.shape.date.as_ref().expect("the shape of a date histogram is bound with it");
        Ok(match source.range_kind() {
            Some(kind) => {
                let keys = RangeKeys::of_dates(dates);
                Box::new(RangeHistogramCollector::new(keys, kind, source, subs, budget))
            }
            None => Box::new(DateHistogramCollector::new(dates, source, subs, shard, budget)?),
        })
    }
}

impl Reduce for DateHistogram {
    type Finding = Vec<KeyedBucket>;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Vec<KeyedBucket>>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Vec<KeyedBucket>> {
        let mut buckets = reducer.keyed(own, parts, self.min_doc_count)?;
        let dates = reducer.shape().and_then(|shape| shape.date.clone());
        if let Some(dates) = dates.filter(|_| self.min_doc_count == 0) {
            let bounds = &dates.extended_bounds;
            let range = filled_range(bounds.min, bounds.max, &buckets);
            buckets = reducer.fill(own, buckets, range, |key| dates.rounding.next(key))?;
        }
        Ok(sorted(&self.order, own, buckets))
    }
}

impl Render for DateHistogram {
    fn render(
        &self,
        finding: &Vec<KeyedBucket>,
        renderer: &Renderer<'_>,
        out: &mut Members<'_>,
    ) -> Result<()> {
        let format = &renderer.shape.format;
        let key = |bucket: &KeyedBucket| bucket.key.into();
        let text = |bucket: &KeyedBucket| format.text_of_long(bucket.key);
        render_keyed(finding, self.keyed, (key, text), renderer, out)
    }

    fn java_name(&self, _: &Vec<KeyedBucket>, _: Option<&str>) -> &'static str {
        "InternalHistogram"
    }
}

/// Collects the documents of each date interval on a shard.
#[derive(Debug)]
pub struct DateHistogramCollector<'s> {
    shape: &'s DateShape,
    source: &'s Source,
    reader: NumberReader<'s>,
    /// Whether the column holds doubles instead of longs; the integer part of a double is the instant.
    holds_doubles: bool,
    dates: DateBuckets,
    buckets: KeyedBuckets<'s>,
    /// Bucket indexes of the current batch.
    key_indexes: Vec<u32>,
    starts: Vec<u32>,
    /// The span of the last bucket.
    span: Span,
    budget: &'s Budget,
}

/// Number of values in a block of a column.
const BLOCK: usize = 128;

/// Where the values of a window fall into fewer buckets than this, most blocks of ascending dates lie within
/// one bucket.
const BUCKETS_BY_BLOCK_MAX: u32 = 32;

impl<'s> DateHistogramCollector<'s> {
    pub(crate) fn new(
        shape: &'s DateShape,
        source: &'s Source,
        subs: Subs<'s>,
        shard: &ShardSnapshot,
        budget: &'s Budget,
    ) -> Result<DateHistogramCollector<'s>> {
        let holds_doubles = source.is_floating();
        let reader = NumberReader::new(source)?;
        let range = if holds_doubles { None } else { stored_range(source, shard, reader.missing())? };
        let dates = DateBuckets::new(shape.rounding.clone(), range, shard.doc_count());
        let mut buckets = KeyedBuckets::new(BucketTable::default(), subs, budget);
        buckets.begin_key_indexes(dates.key_index_count());
        buckets.reserve_buckets();
        Ok(DateHistogramCollector {
            shape,
            source,
            reader,
            holds_doubles,
            dates,
            buckets,
            key_indexes: Vec::new(),
            starts: Vec::new(),
            span: Span::NONE,
            budget,
        })
    }

    /// Collects documents that all have one parent and are all in one bucket. Returns false if they are not,
    /// or if that is not known.
    fn collect_one(&mut self, entries: &Entries<'_>) -> Result<bool> {
        let Some(parent) = entries.only_bucket().filter(|_| !self.holds_doubles) else { return Ok(false) };
        let Some((min, max)) = self.reader.window_range(entries.docs[0])? else { return Ok(false) };
        let first = self.dates.span_of(min);
        if !first.contains(max) && self.dates.rounding.round(max) != first.start {
            return Ok(false);
        }
        if Self::allows(&self.shape.hard_bounds, first.start) {
            let bucket = self.buckets.table.bucket(parent, first.start, self.budget)?;
            self.buckets.collect_one(bucket, entries)?;
        }
        Ok(true)
    }

    /// Collects documents that have at most one value, by bucket index.
    fn collect_key_indexes(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.key_indexes.clear();
        let positions = match self.fill_by_block(entries)? {
            true => None,
            false => {
                let values = self.reader.load(entries.docs)?;
                self.dates.key_indexes(values.values, &mut self.key_indexes);
                values.positions
            }
        };
        let (dates, hard_bounds, budget) = (&self.dates, &self.shape.hard_bounds, self.budget);
        self.buckets.collect_key_indexes(&self.key_indexes, positions, entries, |table, parent, key_index| {
            let start = dates.start_at(key_index);
            Self::allows(hard_bounds, start).then(|| table.bucket(parent, start, budget)).transpose()
        })
    }

    /// Fills the bucket indexes of a contiguous run of a column whose dates are close together. A block that
    /// lies within one bucket is not even decoded. Returns false if the documents are not such a run.
    fn fill_by_block(&mut self, entries: &Entries<'_>) -> Result<bool> {
        let (Some(run), Some(column)) = (self.reader.run(entries.docs), self.reader.column()) else {
            return Ok(false);
        };
        let Some((min, max)) = self.reader.window_range(entries.docs[0])? else { return Ok(false) };
        let (dates, key_indexes) = (&self.dates, &mut self.key_indexes);
        let mut ends = Vec::with_capacity(2);
        let mut is_one = |min: i64, max: i64, apart: u32| {
            ends.clear();
            dates.key_indexes(&[min, max], &mut ends);
            (ends[1] - ends[0] < apart).then_some(ends[0])
        };
        if is_one(min, max, BUCKETS_BY_BLOCK_MAX).is_none() {
            return Ok(false);
        }
        let mut values = [0i64; BLOCK];
        let mut at = run.start;
        while at < run.end {
            let (block, first) = (at / BLOCK as u64, at as usize % BLOCK);
            let len = (run.end - at).min((BLOCK - first) as u64) as usize;
            let (least, most) = column.block_range(block)?;
            match is_one(least, most, 1) {
                Some(key_index) => key_indexes.extend(std::iter::repeat_n(key_index, len)),
                None => {
                    column.read_block(block, &mut values)?;
                    dates.key_indexes(&values[first..first + len], key_indexes);
                }
            }
            at += len as u64;
        }
        Ok(true)
    }

    fn allows(bounds: &Bounds<i64>, start: i64) -> bool {
        bounds.min.is_none_or(|min| start >= min) && bounds.max.is_none_or(|max| start < max)
    }
}

impl<'s> Collector<'s> for DateHistogramCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.collect_one(entries)? {
            return Ok(());
        }
        if self.reader.has_one_at_most() && self.buckets.takes_key_indexes(entries)? {
            return self.collect_key_indexes(entries);
        }
        let values = self.reader.load(entries.docs)?;
        let (buckets, budget) = (&mut self.buckets, self.budget);
        buckets.begin();
        let (dates, hard_bounds) = (&mut self.dates, &self.shape.hard_bounds);
        let mut span = self.span;
        // The bucket of `span` under `cached_parent`.
        let (mut cached_parent, mut cached) = (u32::MAX, 0);
        let (mut last_entry, mut last_start) = (usize::MAX, i64::MIN);
        let (source, holds_doubles) = (self.source, self.holds_doubles);
        values.try_join(entries, &mut self.starts, |entry, parent, stored| {
            let value = if holds_doubles { source.decode(stored) as i64 } else { stored };
            if !span.contains(value) {
                span = dates.span_of(value);
                cached_parent = u32::MAX;
            }
            if (entry == last_entry && span.start == last_start) || !Self::allows(hard_bounds, span.start) {
                return Ok(());
            }
            (last_entry, last_start) = (entry, span.start);
            if parent != cached_parent {
                (cached_parent, cached) = (parent, buckets.table.bucket(parent, span.start, budget)?);
            }
            buckets.add(entry, cached)
        })?;
        self.span = span;
        self.buckets.hand_on(entries)
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        count_all_numbers(self, self.source.path(), self.reader.segment())
    }

    fn counts_numbers(&self, path: &str, points: &Points<'_>, range: &RangeInclusive<i64>) -> Result<bool> {
        if self.holds_doubles
            || !self.buckets.subs.is_empty()
            || self.reader.has_missing()
            || self.source.path() != path
        {
            return Ok(false);
        }
        let Some((first, last)) = points.extremes(range.clone())? else { return Ok(true) };
        let resolution = self.source.resolution();
        let (first, last) = (resolution.millis(first), resolution.millis(last));
        Ok(is_worth_counting(points.count(range.clone())?, self.dates.rounding.buckets_between(first, last)))
    }

    fn count_numbers(&mut self, points: &Points<'_>, range: RangeInclusive<i64>) -> Result<()> {
        let Some((first, last)) = points.extremes(range)? else { return Ok(()) };
        let resolution = self.source.resolution();
        let mut ranks = points.ranks();
        let (mut next, mut below) = (first, ranks.below(first)?);
        let all = below + points.count(first..=last)?;
        loop {
            let span = self.dates.span_of(resolution.millis(next));
            let end = span.end.saturating_mul(resolution.per_milli());
            let is_last = end > last || end == i64::MAX;
            let rank = if is_last { all } else { ranks.below(end)? };
            let count = rank - std::mem::replace(&mut below, rank);
            if count > 0 && Self::allows(&self.shape.hard_bounds, span.start) {
                self.buckets.count(span.start, count)?;
            }
            if is_last {
                return Ok(());
            }
            next = end;
        }
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn can_split(&self) -> bool {
        self.buckets.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.buckets.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        self.buckets.take_findings()
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        self.buckets.absorb(findings, bucket_of)
    }

    fn bucket_count(&self) -> Option<u64> {
        Some(self.buckets.table.len() as u64)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        keyed_partials(&self.buckets.table, &mut self.buckets.subs, buckets)
    }
}
