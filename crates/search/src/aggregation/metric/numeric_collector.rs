//! The collector of the numeric metrics: fills arrays by bucket from columns, batch by batch.
//!
//! Wherever the result is exact, stored numbers are added as integers ([`ExactStats`]), and runs of a column
//! are added without being decoded ([`limber_segment::columns::Moments`]). Other numbers are added to
//! compensated sums of doubles.

use limber_segment::SegmentView;
use limber_segment::columns::{Moments, NumberColumn, Presence};

use super::super::answer::partial::Partial;
use super::super::buckets::entries::{Entries, Values};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::findings::Findings;
use super::super::source::{ComputedTerms, NumberReader, OrdinalReader, Source};
use super::super::values::kahan::KahanSum;
use super::doubles::Doubles;
use super::exact_stats::{ExactStats, Wanted};
use super::numeric::{Metric, MetricKind, MetricState};
use crate::error::Result;

/// Reads the values. A `value_count` of terms only needs their number.
#[derive(Debug)]
enum Reader<'s> {
    Numbers(Box<NumberReader<'s>>),
    Ordinals(Box<OrdinalReader<'s>>),
    Computed(Box<ComputedTerms<'s>>),
    /// Reads shapes, each of which counts as one value per document.
    Shapes(Option<Presence<'s>>),
}

/// Collects the statistics of each bucket.
#[derive(Debug)]
pub struct MetricCollector<'s> {
    kind: MetricKind,
    sigma: f64,
    source: &'s Source,
    reader: Reader<'s>,
    /// The statistics of stored numbers that could be added as integers.
    exact: ExactStats,
    /// Whether the current segment's numbers are added to `exact`; `exact_bound` is an upper bound of the
    /// absolute value of each sum so far.
    is_exact: bool,
    exact_bound: u128,
    doubles: Doubles,
    starts: Vec<u32>,
    budget: &'s Budget,
}

/// The findings of one part of a shard's documents.
#[derive(Debug)]
pub struct MetricFindings {
    exact: ExactStats,
    exact_bound: u128,
    doubles: Doubles,
}

/// Upper bound of the sums of stored numbers.
const EXACT_SUM_MAX: u128 = 1 << 62;

/// The least number of values of a segment for which values with a factor are added as integers. With fewer
/// values, the last digit must agree with Elasticsearch's sum of doubles.
const FACTOR_VALUES_MIN: u64 = 1024;

/// From this number of values of one bucket on, they are added in several lanes.
const LANES_FROM: usize = 512;

/// The number of values that are added between two checks for cancellation.
const CHECKED_VALUES: u64 = 1 << 20;

impl<'s> MetricCollector<'s> {
    pub(crate) fn new(
        metric: &Metric,
        source: &'s Source,
        budget: &'s Budget,
    ) -> Result<MetricCollector<'s>> {
        let path = source.path();
        let counts_terms =
            metric.kind == MetricKind::ValueCount && source.is_mapped() && !source.is_numeric();
        let reader = match counts_terms {
            true if source.has_shapes() => Reader::Shapes(None),
            true if source.computes_terms() => Reader::Computed(Box::new(ComputedTerms::new(source)?)),
            true => Reader::Ordinals(Box::new(OrdinalReader::new(path, source.missing.is_some()))),
            // For an unmapped field the replacement is only counted, whatever its type.
            false if metric.kind == MetricKind::ValueCount && !source.is_mapped() => {
                Reader::Ordinals(Box::new(OrdinalReader::new(path, source.missing.is_some())))
            }
            false => Reader::Numbers(Box::new(NumberReader::new(source)?)),
        };
        Ok(MetricCollector {
            kind: metric.kind,
            sigma: metric.sigma,
            source,
            reader,
            exact: ExactStats::new(wanted_of(metric.kind, source.is_column())),
            is_exact: false,
            exact_bound: 0,
            doubles: Doubles::default(),
            starts: Vec::new(),
            budget,
        })
    }

    fn grow_exact(&mut self, bucket_count: usize) -> Result<()> {
        if bucket_count > self.exact.len() {
            self.budget.spend((bucket_count - self.exact.len()) as u64 * ExactStats::BUCKET_BYTES)?;
            self.exact.grow(bucket_count);
        }
        Ok(())
    }

    /// Whether the current segment's numbers can be added as they are stored. Settles the sums so far if the
    /// new ones could overflow.
    fn takes_exact(&mut self, doc_count: u32) -> Result<bool> {
        let Reader::Numbers(reader) = &self.reader else { return Ok(false) };
        // Minimum and maximum need no sum: stored numbers have the same order as their values.
        if !self.exact.wanted().sum {
            let ends = reader.column().into_iter().flat_map(|column| [column.min(), column.max()]);
            let mut ends = ends.chain([reader.missing()]).flatten();
            return Ok(self.exact.wanted().count || ends.all(|end| !matches!(end, i64::MIN | i64::MAX)));
        }
        let Some(column) = reader.column().filter(|_| self.source.is_linear()) else { return Ok(false) };
        let resolution = self.source.resolution();
        let stored = [column.min(), column.max()].into_iter().flatten().map(|value| resolution.millis(value));
        let ends = || stored.clone().chain(reader.missing());
        let size = ends().map(i64::unsigned_abs).max().unwrap_or(0);
        let (least, most) = (ends().min().unwrap_or(0), ends().max().unwrap_or(0));
        let count = column.value_count().max(u64::from(doc_count));
        let is_alike = self.source.factor() == 1.0 || count >= FACTOR_VALUES_MIN;
        let bound = u128::from(size) * u128::from(count);
        if size >= Moments::VALUE_MAX || !is_alike || bound >= EXACT_SUM_MAX {
            return Ok(false);
        }
        if self.exact_bound + bound >= EXACT_SUM_MAX {
            self.settle_exact()?;
        }
        self.exact_bound += bound;
        self.exact.begin(least, most);
        Ok(true)
    }

    /// Converts the exact statistics so far to doubles and adds them there.
    fn settle_exact(&mut self) -> Result<()> {
        self.doubles.grow(self.exact.len(), self.exact.wanted(), self.budget)?;
        for bucket in 0..self.exact.len() {
            let state = self.exact_state(bucket);
            if state.count == 0 {
                continue;
            }
            let doubles = &mut self.doubles;
            doubles.counts[bucket] += state.count;
            if let Some(sum) = doubles.sums.get_mut(bucket) {
                sum.add(state.sum);
            }
            if let Some(squares) = doubles.squares.get_mut(bucket) {
                squares.add(state.sum_of_squares);
            }
            if let Some(range) = doubles.ranges.get_mut(bucket) {
                *range = (range.0.min(state.min), range.1.max(state.max));
            }
        }
        self.exact.clear();
        self.exact_bound = 0;
        Ok(())
    }

    /// Converts the statistics of stored numbers of a bucket to those of the values.
    fn exact_state(&self, bucket: usize) -> MetricState {
        let (stored, squares) = self.exact.get(bucket);
        let Wanted { sum, .. } = self.exact.wanted();
        let range = self.exact.wanted().range();
        let mut state = MetricState { count: stored.count, ..MetricState::default() };
        if stored.count == 0 {
            return state;
        }
        if sum {
            state.sum = self.source.decode(stored.sum);
            state.sum_of_squares = squares as f64 / (self.source.factor() * self.source.factor());
        }
        if range {
            (state.min, state.max) = (self.source.decode(stored.min), self.source.decode(stored.max));
        }
        state
    }

    /// Returns the statistics of a bucket so far.
    pub(super) fn state(&self, bucket: u32) -> MetricState {
        let bucket = bucket as usize;
        let mut state = self.exact_state(bucket);
        let doubles = &self.doubles;
        let Some(count) = doubles.counts.get(bucket).copied().filter(|count| *count > 0) else {
            return state;
        };
        let with = |own: f64, sums: &[KahanSum]| {
            let mut sum = sums.get(bucket).copied().unwrap_or_default();
            if state.count > 0 {
                sum.add(own);
            }
            sum.value
        };
        (state.sum, state.sum_of_squares) =
            (with(state.sum, &doubles.sums), with(state.sum_of_squares, &doubles.squares));
        if let Some((min, max)) = doubles.ranges.get(bucket) {
            (state.min, state.max) = (state.min.min(*min), state.max.max(*max));
        }
        state.count += count;
        state
    }

    /// Collects a batch of stored numbers. Returns whether its entries are counted.
    fn collect_exact(&mut self, entries: &Entries<'_>, counts: bool) -> Result<bool> {
        self.grow_exact(entries.bucket_count)?;
        let Reader::Numbers(reader) = &mut self.reader else { return Ok(false) };
        let exact = &mut self.exact;
        if let Some(bucket) = entries.only_bucket() {
            match (reader.run(entries.docs), reader.column()) {
                (Some(run), Some(column)) => add_run(exact, bucket as usize, column, run)?,
                _ => exact.add_all(bucket as usize, reader.load(entries.docs)?.values),
            }
            return Ok(false);
        }
        let stored = reader.load(entries.docs)?;
        match (stored.positions, entries.positions, entries.buckets) {
            (None, None, Some(buckets)) if counts && exact.wanted().count => {
                exact.add_each_counted(stored.values, buckets);
                return Ok(true);
            }
            (None, None, Some(buckets)) => exact.add_each(stored.values, buckets),
            _ => stored.join(entries, &mut self.starts, |_, bucket, value| exact.add_one(bucket, value))?,
        }
        Ok(false)
    }
}

/// Returns what a metric needs. `is_column`: the extremes of the values are known in advance.
fn wanted_of(kind: MetricKind, is_column: bool) -> Wanted {
    use MetricKind::{Avg, ExtendedStats, Max, Min, Stats, Sum};
    let sum = matches!(kind, Avg | Sum | Stats | ExtendedStats);
    let min = matches!(kind, Min | Stats | ExtendedStats);
    let max = matches!(kind, Max | Stats | ExtendedStats);
    Wanted { count: sum || !(min || max) || !is_column, sum, min, max, squares: kind == ExtendedStats }
}

/// Adds a run of a column to a bucket.
fn add_run(
    exact: &mut ExactStats,
    bucket: usize,
    column: &NumberColumn<'_>,
    values: std::ops::Range<u64>,
) -> Result<()> {
    let Wanted { sum, squares, .. } = exact.wanted();
    let moments = match sum {
        true => column.moments(values.clone(), squares)?,
        false => Moments { count: values.end - values.start, ..Moments::default() },
    };
    let extremes = if exact.wanted().range() { column.extremes(values)? } else { None };
    exact.add_known(bucket, &moments, extremes);
    Ok(())
}

impl<'s> Collector<'s> for MetricCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let is_mapped = self.source.is_mapped();
        match &mut self.reader {
            Reader::Numbers(reader) => reader.begin(&view.segment, is_mapped)?,
            Reader::Ordinals(reader) => reader.begin(&view.segment, is_mapped).map(drop)?,
            Reader::Computed(terms) => terms.begin(&view.segment)?,
            Reader::Shapes(presence) => *presence = view.segment.presence(self.source.path())?,
        }
        self.is_exact = self.takes_exact(view.doc_count())?;
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if let Reader::Numbers(reader) = &mut self.reader {
            reader.set_scores(entries.scores);
        }
        if self.is_exact {
            return self.collect_exact(entries, false).map(drop);
        }
        self.doubles.grow(entries.bucket_count, self.exact.wanted(), self.budget)?;
        let (doubles, starts) = (&mut self.doubles, &mut self.starts);
        match &mut self.reader {
            Reader::Ordinals(reader) => {
                let counts = &mut doubles.counts;
                // All ranges of a document count as one value.
                let (is_ranges, mut last) = (self.source.range_kind().is_some(), usize::MAX);
                reader.load(entries.docs)?.join(entries, starts, |entry, bucket, _| {
                    counts[bucket as usize] += u64::from(!is_ranges || entry != last);
                    last = entry;
                })?;
            }
            Reader::Computed(terms) => {
                let loaded = terms.load(entries.docs)?;
                let values = Values { values: loaded.numbers, positions: Some(&loaded.terms.positions) };
                values.join(entries, starts, |_, bucket, _| doubles.counts[bucket as usize] += 1)?;
            }
            Reader::Shapes(presence) => {
                let Some(presence) = presence else { return Ok(()) };
                for entry in 0..entries.len() {
                    if presence.contains(entries.docs[entries.position(entry)])? {
                        doubles.counts[entries.bucket(entry) as usize] += 1;
                    }
                }
            }
            Reader::Numbers(reader) => {
                let mut decoded = std::mem::take(&mut doubles.values);
                let positions = reader.load_doubles(entries.docs, &mut decoded)?;
                match entries.only_bucket() {
                    Some(bucket) if decoded.len() >= LANES_FROM => {
                        doubles.values = decoded;
                        doubles.add_all(bucket as usize);
                        return Ok(());
                    }
                    _ => {
                        let values = Values { values: decoded.as_slice(), positions };
                        values.join(entries, starts, |_, bucket, value| {
                            doubles.add(bucket as usize, value);
                        })?;
                    }
                }
                doubles.values = decoded;
            }
        }
        Ok(())
    }

    fn collect_counted(&mut self, entries: &Entries<'_>) -> Result<bool> {
        if let (Reader::Numbers(reader), true) = (&mut self.reader, self.is_exact) {
            reader.set_scores(entries.scores);
            return self.collect_exact(entries, true);
        }
        self.collect(entries)?;
        Ok(false)
    }

    fn take_counts(&mut self, counts: &mut [u64]) {
        self.exact.take_counts(counts);
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        let (value_count, is_all) = match &self.reader {
            Reader::Numbers(reader) => {
                let Some(column) = reader.column() else { return Ok(!reader.has_missing()) };
                let is_all = !reader.has_missing() || column.doc_count_with_value() == column.doc_count();
                (column.value_count(), is_all)
            }
            Reader::Ordinals(reader) => {
                let Some(column) = reader.column() else { return Ok(reader.missing_ordinal().is_none()) };
                let is_all =
                    reader.missing_ordinal().is_none() || column.doc_count_with_value() == column.doc_count();
                // All ranges of a document count as one value.
                match self.source.range_kind() {
                    Some(_) => (u64::from(column.doc_count_with_value()), is_all),
                    None => (column.value_count(), is_all),
                }
            }
            Reader::Computed(_) | Reader::Shapes(_) => return Ok(false),
        };
        if !is_all {
            return Ok(false);
        }
        let Reader::Numbers(reader) = &self.reader else {
            self.doubles.grow(1, self.exact.wanted(), self.budget)?;
            self.doubles.counts[0] += value_count;
            return Ok(true);
        };
        let Some(column) = reader.column().copied() else { return Ok(true) };
        let Wanted { sum, squares, .. } = self.exact.wanted();
        let range = self.exact.wanted().range();
        let resolution = self.source.resolution();
        // The sum of rounded dates is not the rounded sum of the stored ones.
        if sum && !(self.is_exact && resolution.per_milli() == 1) {
            return Ok(false);
        }
        self.grow_exact(1)?;
        let mut moments = Moments { count: value_count, ..Moments::default() };
        if sum {
            moments.count = 0;
            for start in (0..value_count).step_by(CHECKED_VALUES as usize) {
                self.budget.check()?;
                moments.add(&column.moments(start..value_count.min(start + CHECKED_VALUES), squares)?);
            }
        }
        let extremes = column.min().zip(column.max()).filter(|_| range);
        let extremes = extremes.map(|(min, max)| (resolution.millis(min), resolution.millis(max)));
        self.exact.add_known(0, &moments, extremes);
        Ok(true)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.exact.settle();
        Ok(())
    }

    fn can_split(&self) -> bool {
        true
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        self.exact.settle();
        let empty = ExactStats::new(self.exact.wanted());
        let exact = std::mem::replace(&mut self.exact, empty);
        let (exact_bound, doubles) = (self.exact_bound, std::mem::take(&mut self.doubles));
        Ok(Findings::Metric(Box::new(MetricFindings { exact, exact_bound, doubles })))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Metric(found) = findings else { unreachable!("findings of another collector") };
        let MetricFindings { exact, exact_bound, doubles } = *found;
        if self.exact_bound + exact_bound >= EXACT_SUM_MAX {
            self.settle_exact()?;
        }
        self.exact_bound += exact_bound;
        let most = |len: usize| bucket_of[..len].iter().max().map_or(0, |most| *most as usize + 1);
        self.grow_exact(most(exact.len()))?;
        self.exact.absorb(&exact, bucket_of);
        self.doubles.grow(most(doubles.counts.len()), self.exact.wanted(), self.budget)?;
        self.doubles.absorb(&doubles, bucket_of);
        Ok(())
    }

    fn order_value(&self, _path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.state(bucket).order_value(self.kind, value, self.sigma)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.exact.settle();
        Ok(buckets.iter().map(|&bucket| Partial::Metric(self.state(bucket))).collect())
    }
}
