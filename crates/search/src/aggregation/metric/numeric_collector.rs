//! The numeric metrics at work: arrays by bucket, filled from a column block by block.

use limber_segment::SegmentView;
use limber_segment::columns::Presence;

use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::entries::{Entries, Values};
use super::super::kahan::KahanSum;
use super::super::made::MadeTerms;
use super::super::partial::Partial;
use super::super::source::{NumberReader, OrdinalReader, Source};
use super::batch_stats::BatchStats;
use super::numeric::{Metric, MetricKind, MetricState};
use crate::error::Result;

/// Where values are read from: only their number matters to `value_count` over terms.
#[derive(Debug)]
enum Reader<'s> {
    Numbers(NumberReader<'s>),
    Ordinals(OrdinalReader<'s>),
    Made(Box<MadeTerms<'s>>),
    /// Of shapes, which are one value a document.
    Shapes(Option<Presence<'s>>),
}

#[derive(Debug)]
pub struct MetricCollector<'s> {
    kind: MetricKind,
    sigma: f64,
    source: &'s Source,
    reader: Reader<'s>,
    /// Whole numbers: sums of a block are exact as integers.
    is_whole: bool,
    /// Values are whole numbers times a factor.
    is_linear: bool,
    batch: BatchStats,
    counts: Vec<u64>,
    sums: Vec<KahanSum>,
    squares: Vec<KahanSum>,
    ranges: Vec<(f64, f64)>,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

/// Bytes of one bucket's state in the largest metric.
const BUCKET_BYTES: u64 = 56;

impl<'s> MetricCollector<'s> {
    pub fn new(metric: &Metric, source: &'s Source, budget: &'s Budget) -> Result<MetricCollector<'s>> {
        let path = source.path();
        let counts_terms =
            metric.kind == MetricKind::ValueCount && source.is_mapped() && !source.is_numeric();
        let reader = match counts_terms {
            true if source.has_shapes() => Reader::Shapes(None),
            true if source.makes_terms() => Reader::Made(Box::new(MadeTerms::new(source)?)),
            true => Reader::Ordinals(OrdinalReader::new(path, source.missing.is_some())),
            // An unmapped field's replacement is only counted, whatever it is.
            false if metric.kind == MetricKind::ValueCount && !source.is_mapped() => {
                Reader::Ordinals(OrdinalReader::new(path, source.missing.is_some()))
            }
            false => Reader::Numbers(NumberReader::new(source)?),
        };
        Ok(MetricCollector {
            kind: metric.kind,
            sigma: metric.sigma,
            source,
            reader,
            is_whole: source.is_whole(),
            is_linear: source.is_linear(),
            batch: BatchStats::default(),
            counts: Vec::new(),
            sums: Vec::new(),
            squares: Vec::new(),
            ranges: Vec::new(),
            doubles: Vec::new(),
            starts: Vec::new(),
            budget,
        })
    }

    fn needs_sum(&self) -> bool {
        matches!(self.kind, MetricKind::Avg | MetricKind::Sum | MetricKind::Stats | MetricKind::ExtendedStats)
    }

    fn needs_range(&self) -> bool {
        matches!(self.kind, MetricKind::Min | MetricKind::Max | MetricKind::Stats | MetricKind::ExtendedStats)
    }

    fn grow(&mut self, bucket_count: usize) -> Result<()> {
        if bucket_count <= self.counts.len() {
            return Ok(());
        }
        self.budget.spend((bucket_count - self.counts.len()) as u64 * BUCKET_BYTES)?;
        self.counts.resize(bucket_count, 0);
        if self.needs_sum() {
            self.sums.resize(bucket_count, KahanSum::default());
        }
        if self.kind == MetricKind::ExtendedStats {
            self.squares.resize(bucket_count, KahanSum::default());
        }
        if self.needs_range() {
            self.ranges.resize(bucket_count, (f64::INFINITY, f64::NEG_INFINITY));
        }
        Ok(())
    }

    fn state(&self, bucket: u32) -> MetricState {
        let bucket = bucket as usize;
        let (min, max) = self.ranges.get(bucket).copied().unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        MetricState {
            count: self.counts.get(bucket).copied().unwrap_or(0),
            sum: self.sums.get(bucket).map_or(0.0, |sum| sum.value),
            min,
            max,
            sum_of_squares: self.squares.get(bucket).map_or(0.0, |sum| sum.value),
        }
    }
}

impl<'s> Collector<'s> for MetricCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let is_mapped = self.source.is_mapped();
        match &mut self.reader {
            Reader::Numbers(reader) => reader.begin(&view.segment, is_mapped),
            Reader::Ordinals(reader) => reader.begin(&view.segment, is_mapped).map(drop),
            Reader::Made(terms) => terms.begin(&view.segment),
            Reader::Shapes(presence) => {
                *presence = view.segment.presence(self.source.path())?;
                Ok(())
            }
        }
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.grow(entries.bucket_count)?;
        let reader = match &mut self.reader {
            Reader::Ordinals(reader) => {
                let counts = &mut self.counts;
                // The ranges of a document are one value.
                let (is_ranges, mut last) = (self.source.range_kind().is_some(), usize::MAX);
                reader.load(entries.docs)?.join(entries, &mut self.starts, |entry, bucket, _| {
                    counts[bucket as usize] += u64::from(!is_ranges || entry != last);
                    last = entry;
                });
                return Ok(());
            }
            Reader::Made(terms) => {
                let loaded = terms.load(entries.docs)?;
                let values = Values { values: loaded.numbers, positions: Some(&loaded.terms.positions) };
                let counts = &mut self.counts;
                values.join(entries, &mut self.starts, |_, bucket, _| counts[bucket as usize] += 1);
                return Ok(());
            }
            Reader::Shapes(presence) => {
                let Some(presence) = presence else { return Ok(()) };
                for entry in 0..entries.len() {
                    if presence.contains(entries.docs[entries.position(entry)])? {
                        self.counts[entries.bucket(entry) as usize] += 1;
                    }
                }
                return Ok(());
            }
            Reader::Numbers(reader) => reader,
        };
        let stored = reader.load(entries.docs)?;
        if entries.is_single_bucket() {
            self.counts[0] += stored.values.len() as u64;
            match self.kind {
                MetricKind::ValueCount => return Ok(()),
                MetricKind::Avg | MetricKind::Sum
                    if self.is_whole
                        && let Some(sum) = exact_sum(stored.values) =>
                {
                    self.sums[0].add(sum);
                    return Ok(());
                }
                // The order of stored numbers is that of their values.
                MetricKind::Min | MetricKind::Max => {
                    let (min, max) = &mut self.ranges[0];
                    if let Some(&least) = stored.values.iter().min() {
                        *min = min.min(self.source.decode(least));
                    }
                    if let Some(&most) = stored.values.iter().max() {
                        *max = max.max(self.source.decode(most));
                    }
                    return Ok(());
                }
                _ => {}
            }
            if self.kind == MetricKind::Stats
                && self.is_whole
                && let Some(sum) = exact_sum(stored.values)
                && let (Some(&least), Some(&most)) = (stored.values.iter().min(), stored.values.iter().max())
            {
                self.sums[0].add(sum);
                let (min, max) = &mut self.ranges[0];
                *min = min.min(self.source.decode(least));
                *max = max.max(self.source.decode(most));
                return Ok(());
            }
            self.source.decode_all(stored.values, &mut self.doubles);
            let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
            for &value in &self.doubles {
                self.sums[0].add(value);
                min = min.min(value);
                max = max.max(value);
            }
            if self.kind == MetricKind::ExtendedStats {
                self.doubles.iter().for_each(|value| self.squares[0].add(value * value));
            }
            if let Some(range) = self.ranges.first_mut() {
                *range = (range.0.min(min), range.1.max(max));
            }
            return Ok(());
        }
        let (counts, sums, ranges) = (&mut self.counts, &mut self.sums, &mut self.ranges);
        if self.kind != MetricKind::ExtendedStats
            && self.is_linear
            && stored.positions.is_none()
            && let (None, Some(buckets)) = (entries.positions, entries.buckets)
            && self.batch.take(stored.values, buckets, entries.bucket_count, !ranges.is_empty())
        {
            let source = self.source;
            self.batch.for_each(|bucket, stored| {
                counts[bucket] += stored.count;
                if let Some(sum) = sums.get_mut(bucket) {
                    sum.add(source.decode(stored.sum));
                }
                if let Some(range) = ranges.get_mut(bucket) {
                    *range = (range.0.min(source.decode(stored.min)), range.1.max(source.decode(stored.max)));
                }
            });
            return Ok(());
        }
        self.source.decode_all(stored.values, &mut self.doubles);
        let values = Values { values: self.doubles.as_slice(), positions: stored.positions };
        let (counts, sums, squares, ranges) =
            (&mut self.counts, &mut self.sums, &mut self.squares, &mut self.ranges);
        let starts = &mut self.starts;
        match self.kind {
            MetricKind::ValueCount => {
                values.join(entries, starts, |_, bucket, _| counts[bucket as usize] += 1)
            }
            MetricKind::Avg | MetricKind::Sum => values.join(entries, starts, |_, bucket, value| {
                counts[bucket as usize] += 1;
                sums[bucket as usize].add(value);
            }),
            MetricKind::Min | MetricKind::Max => values.join(entries, starts, |_, bucket, value| {
                counts[bucket as usize] += 1;
                let range = &mut ranges[bucket as usize];
                *range = (range.0.min(value), range.1.max(value));
            }),
            MetricKind::Stats | MetricKind::ExtendedStats => {
                let is_extended = self.kind == MetricKind::ExtendedStats;
                values.join(entries, starts, |_, bucket, value| {
                    let bucket = bucket as usize;
                    counts[bucket] += 1;
                    sums[bucket].add(value);
                    let range = &mut ranges[bucket];
                    *range = (range.0.min(value), range.1.max(value));
                    if is_extended {
                        squares[bucket].add(value * value);
                    }
                });
            }
        }
        Ok(())
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        self.grow(1)?;
        let (value_count, range) = match &self.reader {
            Reader::Numbers(reader) => {
                let Some(column) = reader.column() else { return Ok(!reader.has_missing()) };
                if reader.has_missing() && column.doc_count_with_value() < column.doc_count() {
                    return Ok(false);
                }
                (column.value_count(), column.min().zip(column.max()))
            }
            Reader::Ordinals(reader) => {
                let Some(column) = reader.column() else { return Ok(reader.missing_ordinal().is_none()) };
                if reader.missing_ordinal().is_some() && column.doc_count_with_value() < column.doc_count() {
                    return Ok(false);
                }
                // The ranges of a document are one value.
                match self.source.range_kind() {
                    Some(_) => (u64::from(column.doc_count_with_value()), None),
                    None => (column.value_count(), None),
                }
            }
            Reader::Made(_) | Reader::Shapes(_) => return Ok(false),
        };
        match self.kind {
            MetricKind::ValueCount => {}
            MetricKind::Min | MetricKind::Max => {
                if let Some((least, most)) = range {
                    let resolution = self.source.resolution();
                    let (least, most) = (resolution.millis(least), resolution.millis(most));
                    let (min, max) = &mut self.ranges[0];
                    *min = min.min(self.source.decode(least));
                    *max = max.max(self.source.decode(most));
                }
            }
            _ => return Ok(false),
        }
        self.counts[0] += value_count;
        Ok(true)
    }

    fn order_value(&self, _path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.state(bucket).order_value(self.kind, value, self.sigma)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        Ok(buckets.iter().map(|&bucket| Partial::Metric(self.state(bucket))).collect())
    }
}

/// The sum of whole numbers as a double, when no addition of them as doubles could have rounded.
fn exact_sum(values: &[i64]) -> Option<f64> {
    const EXACT: i128 = 1 << 53;
    let (mut sum, mut size) = (0i128, 0u128);
    for chunk in values.chunks(512) {
        let most = chunk.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
        if most > (1 << 53) / 512 {
            return None;
        }
        let part: i64 = chunk.iter().sum();
        sum += i128::from(part);
        size += u128::from(most) * chunk.len() as u128;
    }
    (size < EXACT as u128 && sum.abs() < EXACT).then_some(sum as f64)
}
