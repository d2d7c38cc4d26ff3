//! `histogram` and `date_histogram` of range fields: a document counts once in every bucket that one of its
//! ranges intersects.
//!
//! Source: Elasticsearch's `RangeHistogramAggregator` and `DateRangeHistogramAggregator`.

use std::ops::RangeInclusive;

use limber_mapping::{RangeKind, RequestError};
use limber_segment::SegmentView;

use super::super::answer::partial::Partial;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Entries, push_checked};
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::source::{OrdinalReader, Source};
use super::date_buckets::DateBuckets;
use super::date_histogram::DateShape;
use super::histogram::Histogram;
use super::histogram_collector::keyed_partials;
use crate::error::Result;

/// Largest number of buckets of one range. An answer cannot have as many anyway (`search.max_buckets`, by
/// default 65,536), so the request fails either way.
const BUCKETS_MAX: u64 = 1 << 17;

/// How the bounds of a range are converted to keys.
#[derive(Debug)]
pub enum RangeKeys<'s> {
    Numbers(&'s Histogram),
    Dates { buckets: Box<DateBuckets>, shape: &'s DateShape },
}

impl<'s> RangeKeys<'s> {
    /// Makes the keys of a `date_histogram`: the instants at which its buckets start.
    pub fn of_dates(shape: &'s DateShape) -> RangeKeys<'s> {
        RangeKeys::Dates { buckets: Box::new(DateBuckets::new(shape.rounding.clone(), None, 0)), shape }
    }

    /// Returns the first and the last key of a range; `None` if it is outside of the hard bounds.
    fn of(&self, kind: &RangeKind, term: &[u8]) -> Option<(i64, i64)> {
        let (first, last) = match self {
            RangeKeys::Numbers(histogram) => {
                let (from, to) = kind.numbers(term)?;
                let bounds = &histogram.hard_bounds;
                let (from, to) = (from.max(bounds.min.unwrap_or(from)), to.min(bounds.max.unwrap_or(to)));
                (histogram.number(from), histogram.number(to))
            }
            RangeKeys::Dates { shape, .. } => {
                let (from, to) = kind.millis(term)?;
                let bounds = &shape.hard_bounds;
                let (from, to) = (from.max(bounds.min.unwrap_or(from)), to.min(bounds.max.unwrap_or(to)));
                (shape.rounding.round(from), shape.rounding.round(to))
            }
        };
        (first <= last).then_some((first, last))
    }

    /// Counts the buckets from one key to another.
    fn count(&self, first: i64, last: i64) -> u64 {
        match self {
            RangeKeys::Numbers(_) => last.abs_diff(first),
            RangeKeys::Dates { shape, .. } => shape.rounding.buckets_between(first, last),
        }
    }

    fn next(&mut self, key: i64) -> i64 {
        match self {
            RangeKeys::Numbers(_) => key.saturating_add(1),
            RangeKeys::Dates { buckets, .. } => buckets.next(key),
        }
    }
}

/// Collects documents in each interval that one of their ranges intersects.
#[derive(Debug)]
pub struct RangeHistogramCollector<'s> {
    keys: RangeKeys<'s>,
    kind: &'s RangeKind,
    source: &'s Source,
    reader: OrdinalReader<'s>,
    /// First and last key of each range of the segment, by ordinal. An empty interval if the range has no
    /// key.
    spans: Vec<RangeInclusive<i64>>,
    buckets: KeyedBuckets<'s>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> RangeHistogramCollector<'s> {
    /// `kind`: the type of the field's ranges.
    pub fn new(
        keys: RangeKeys<'s>,
        kind: &'s RangeKind,
        source: &'s Source,
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> RangeHistogramCollector<'s> {
        RangeHistogramCollector {
            keys,
            kind,
            source,
            reader: OrdinalReader::new(source.path(), false),
            spans: Vec::new(),
            buckets: KeyedBuckets::new(BucketTable::default(), subs, budget),
            starts: Vec::new(),
            budget,
        }
    }

    /// Adds an entry to the buckets of a range, except those up to `previous`.
    fn add(
        &mut self,
        entry: usize,
        parent: u32,
        span: RangeInclusive<i64>,
        previous: Option<i64>,
    ) -> Result<()> {
        let (mut key, last) = span.into_inner();
        if let Some(previous) = previous.filter(|previous| *previous >= key) {
            if previous >= last {
                return Ok(());
            }
            key = self.keys.next(previous);
        }
        if key <= last && self.keys.count(key, last) > BUCKETS_MAX {
            return Err(RequestError::bad_request(
                "too_many_buckets_exception",
                format!(
                    "Trying to create too many buckets. A range of more than [{BUCKETS_MAX}] buckets was met."
                ),
            )
            .with("max_buckets", BUCKETS_MAX)
            .into());
        }
        while key <= last {
            let bucket = self.buckets.table.bucket(parent, key, self.budget)?;
            self.buckets.add(entry, bucket)?;
            let next = self.keys.next(key);
            if next == key {
                break;
            }
            key = next;
        }
        Ok(())
    }
}

impl<'s> Collector<'s> for RangeHistogramCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let segment = &view.segment;
        let count = self.reader.begin(segment, self.source.is_mapped())?;
        self.budget
            .spend((count.saturating_sub(self.spans.capacity()) * size_of::<RangeInclusive<i64>>()) as u64)?;
        self.spans.clear();
        if count > 0
            && let Some(terms) = segment.terms(self.source.path())?
        {
            let mut cursor = terms.cursor();
            while cursor.advance()? {
                let span = self.keys.of(self.kind, cursor.term());
                let (first, last) = span.unwrap_or((i64::MAX, i64::MIN));
                self.spans.push(first..=last);
            }
        }
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.buckets.begin();
        let mut starts = std::mem::take(&mut self.starts);
        let mut wanted: Vec<(usize, u32, u32)> = Vec::new();
        let values = self.reader.load(entries.docs)?;
        values.try_join(entries, &mut starts, |entry, parent, ordinal| {
            push_checked(&mut wanted, (entry, parent, ordinal))
        })?;
        self.starts = starts;
        // Ranges of a document are sorted by their lower ends, so buckets that a range shares with earlier
        // ones are not after the last key so far.
        let (mut last_entry, mut previous) = (usize::MAX, None);
        for (entry, parent, ordinal) in wanted {
            if entry != last_entry {
                (last_entry, previous) = (entry, None);
            }
            let Some(span) = self.spans.get(ordinal as usize).filter(|span| !span.is_empty()).cloned() else {
                continue;
            };
            let last = *span.end();
            self.add(entry, parent, span, previous)?;
            previous = previous.max(Some(last));
        }
        self.buckets.hand_on(entries)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn bucket_count(&self) -> Option<u64> {
        Some(self.buckets.table.len() as u64)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        keyed_partials(&self.buckets.table, &mut self.buckets.subs, buckets)
    }
}
