//! `cardinality`: the number of distinct values. Source: Elasticsearch's `CardinalityAggregator`.

use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use limber_store::sync::Mutex;

use super::super::answer::members::Members;
use super::super::answer::order::OrderValues;
use super::super::answer::partial::Partial;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Entries, Values, push_checked};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions, unknown_field};
use super::super::source::{Accepts, ComputedTerms, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::hyperloglog::{Sketch, hash_number, hash_term, precision_of};
use super::seen_numbers::SeenNumbers;
use super::shape_hashes::ShapeHashes;
use super::term_hashes::TermHashes;
use super::value_counts::span_of_most;
use crate::context::workers;
use crate::error::Result;

/// Elasticsearch's default `precision_threshold`.
const PRECISION_THRESHOLD: i64 = 3000;

/// Largest range of numbers that are collected as bits.
const SEEN_WIDTH_MAX: u64 = 1 << 20;

/// The options of a `cardinality`: the field, and the number of values up to which the count is exact.
#[derive(Debug, Clone)]
pub struct Cardinality {
    pub values: ValuesOptions,
    precision: u32,
}

impl Cardinality {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let threshold = options.long("precision_threshold")?.unwrap_or(PRECISION_THRESHOLD);
        if threshold < 0 {
            let reason = format!(
                "[precisionThreshold] must be greater than or equal to 0. Found [{threshold}] in [{}]",
                options.name
            );
            return Err(options.refused("precision_threshold", reason));
        }
        // Only a hint: every way of collecting gives the same answer. OpenSearch has `ordinals`.
        let hint = options.text("execution_hint")?.map(|hint| hint.to_lowercase());
        const HINTS: [&str; 6] = [
            "direct",
            "global_ordinals",
            "ordinals",
            "save_memory_heuristic",
            "save_time_heuristic",
            "segment_ordinals",
        ];
        if let Some(hint) = hint.filter(|hint| !HINTS.contains(&hint.as_str())) {
            return Err(RequestError::illegal_argument(format!(
                "Invalid execution mode for cardinality aggregation.  Got [{hint}]\
                 expected one of [global_ordinal, segment_ordinal, direct]"
            )));
        }
        // Values are always hashed again.
        if options.long("rehash")?.is_some() {
            limber_work::warn(
                "Deprecated field [rehash] used, replaced by [no replacement - values will always be rehashed]",
            );
        }
        if options.has("format") {
            return Err(unknown_field(options.kind, "format"));
        }
        Ok(Kind::own(Cardinality {
            values: ValuesOptions::parse(options)?,
            precision: precision_of(threshold as u64),
        }))
    }

    /// Makes an empty sketch of the requested precision.
    pub fn empty_sketch(&self) -> Sketch {
        Sketch::new(self.precision)
    }
}

impl Request for Cardinality {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Anything)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::One
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Cardinality {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(CardinalityCollector::new(self, context)?))
    }
}

impl Reduce for Cardinality {
    type Finding = Box<Sketch>;

    fn reduce(&self, _: &Aggregation, parts: Vec<Box<Sketch>>, _: &mut Reducer<'_>) -> Result<Box<Sketch>> {
        // The hashes of the first shard, often the only one, stay where they are.
        let mut parts = parts.into_iter();
        let mut merged = parts.next().unwrap_or_else(|| Box::new(self.empty_sketch()));
        parts.for_each(|sketch| merged.absorb(sketch));
        Ok(merged)
    }
}

impl Render for Cardinality {
    fn render(&self, sketch: &Box<Sketch>, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.insert("value", &sketch.cardinality())
    }

    fn number(&self, finding: &Box<Sketch>, _: Option<&str>) -> Option<f64> {
        Some(finding.cardinality() as f64)
    }
}

#[derive(Debug)]
enum Reader<'s> {
    /// The numbers, and the first number of the range of those that are collected in `seen`.
    Numbers(Box<NumberReader<'s>>, i64),
    Terms(Box<TermHashes<'s>>),
    Computed(Box<ComputedTerms<'s>>),
    Shapes(Box<ShapeHashes<'s>>),
}

/// Collects the values of each bucket in a sketch.
#[derive(Debug)]
pub struct CardinalityCollector<'s> {
    precision: u32,
    source: &'s Source,
    reader: Reader<'s>,
    sketches: Vec<Option<Box<Sketch>>>,
    /// The ordinals, or the numbers counted from the first one, that were met in the current segment. They
    /// are hashed at its end.
    seen: SeenNumbers,
    /// How many numbers or ordinals `seen` can hold; 0 if none are collected there.
    seen_width: u64,
    doubles: Vec<f64>,
    /// The (bucket, ordinal) pairs of the current batch.
    pairs: Vec<(u32, u32)>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> CardinalityCollector<'s> {
    pub(crate) fn new(
        request: &Cardinality,
        context: CollectorContext<'s>,
    ) -> Result<CardinalityCollector<'s>> {
        let CollectorContext { bound, shard, budget, .. } = context;
        let source = &bound.sources()[0];
        let mut seen_width = 0;
        let reader = if source.has_shapes() {
            Reader::Shapes(Box::new(ShapeHashes::new(source)))
        } else if source.is_numeric() {
            let span = match span_of_most(source, shard, SEEN_WIDTH_MAX)? {
                Some(span) => Some(span),
                None => span_of_most(source, shard, SEEN_WIDTH_MAX / 16)?,
            };
            let (first, width) = span.unwrap_or((0, 0));
            seen_width = width as u64;
            Reader::Numbers(Box::new(NumberReader::new(source)?), first)
        } else if source.computes_terms() {
            Reader::Computed(Box::new(ComputedTerms::new(source)?))
        } else {
            Reader::Terms(Box::new(TermHashes::new(source)?))
        };
        Ok(CardinalityCollector {
            precision: request.precision,
            source,
            reader,
            sketches: Vec::new(),
            seen: SeenNumbers::default(),
            seen_width,
            doubles: Vec::new(),
            pairs: Vec::new(),
            starts: Vec::new(),
            budget,
        })
    }

    fn grow(&mut self, bucket_count: usize) -> Result<()> {
        if bucket_count > self.sketches.len() {
            self.budget.spend((bucket_count - self.sketches.len()) as u64 * 8)?;
            self.sketches.resize_with(bucket_count, || None);
        }
        Ok(())
    }

    /// Hashes what was met in the current segment.
    fn settle_seen(&mut self) -> Result<()> {
        let mut sketches =
            Sketches { of_bucket: &mut self.sketches, precision: self.precision, budget: self.budget };
        match &mut self.reader {
            Reader::Numbers(_, first) => {
                let (source, first) = (self.source, *first);
                let hash = |number: u32| hash_number(bits_of(source, first + i64::from(number)));
                self.seen.each(|bucket, count, numbers| {
                    sketches.of(bucket)?.insert_all(count, numbers.map(hash));
                    Ok(())
                })
            }
            Reader::Terms(terms) => {
                let hashes = terms.hash_all(&self.seen.union(), self.budget)?;
                self.seen.each(|bucket, count, ordinals| {
                    let own = ordinals.map(|ordinal| hashes[ordinal as usize]);
                    sketches.of(bucket)?.insert_all(count, own);
                    Ok(())
                })
            }
            Reader::Computed(_) | Reader::Shapes(_) => Ok(()),
        }
    }
}

/// Returns the bits of a stored number that are hashed.
#[inline]
fn bits_of(source: &Source, stored: i64) -> i64 {
    if source.is_floating() { source.decode(stored).to_bits() as i64 } else { stored }
}

/// Charges a sketch. Most of them stay small if there are many buckets, so each is charged a quarter of the
/// largest size.
fn charge_sketch(budget: &Budget, precision: u32) -> Result<()> {
    budget.spend(Sketch::bytes_max(precision) / 4)
}

/// The sketches of all buckets, each made and charged at its first value.
struct Sketches<'k> {
    of_bucket: &'k mut [Option<Box<Sketch>>],
    precision: u32,
    budget: &'k Budget,
}

impl Sketches<'_> {
    fn of(&mut self, bucket: u32) -> Result<&mut Sketch> {
        let sketch = &mut self.of_bucket[bucket as usize];
        if sketch.is_none() {
            charge_sketch(self.budget, self.precision)?;
        }
        Ok(sketch.get_or_insert_with(|| Box::new(Sketch::new(self.precision))))
    }

    #[inline]
    fn insert(&mut self, bucket: u32, hash: u64) -> Result<()> {
        match &mut self.of_bucket[bucket as usize] {
            Some(sketch) => sketch.insert_quickly(hash),
            None => self.of(bucket)?.insert(hash),
        }
        Ok(())
    }

    /// Adds numbers of documents that belong to several buckets.
    fn insert_joined(
        &mut self,
        values: &Values<'_, i64>,
        entries: &Entries<'_>,
        source: &Source,
        starts: &mut Vec<u32>,
    ) -> Result<()> {
        let mut last = None;
        values.try_join(entries, starts, |_, bucket, value| {
            // Consecutive documents often repeat a value.
            if last == Some((bucket, value)) {
                return Ok(());
            }
            last = Some((bucket, value));
            self.insert(bucket, hash_number(bits_of(source, value)))
        })
    }
}

impl<'s> Collector<'s> for CardinalityCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let is_mapped = self.source.is_mapped();
        match &mut self.reader {
            Reader::Numbers(reader, _) => reader.begin(&view.segment, is_mapped)?,
            Reader::Computed(terms) => terms.begin(&view.segment)?,
            Reader::Shapes(shapes) => shapes.begin(&view.segment)?,
            Reader::Terms(terms) => self.seen_width = terms.begin(&view.segment, is_mapped)?,
        }
        self.seen.begin(self.seen_width);
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.grow(entries.bucket_count)?;
        let (seen, width, starts) = (&mut self.seen, self.seen_width, &mut self.starts);
        let mut sketches =
            Sketches { of_bucket: &mut self.sketches, precision: self.precision, budget: self.budget };
        match &mut self.reader {
            Reader::Numbers(reader, first) => {
                let values = reader.load(entries.docs)?;
                let count = values.values.len().max(entries.len());
                if seen.takes(entries.bucket_count, count, self.budget)? {
                    let (source, first) = (self.source, *first);
                    return values.try_join(entries, starts, |_, bucket, value| {
                        let number = value.wrapping_sub(first) as u64;
                        if number >= width {
                            return sketches.insert(bucket, hash_number(bits_of(source, value)));
                        }
                        seen.insert(bucket, number as u32);
                        Ok(())
                    });
                }
                let Some(bucket) = entries.only_bucket() else {
                    return sketches.insert_joined(&values, entries, self.source, starts);
                };
                let sketch = sketches.of(bucket)?;
                if self.source.is_floating() {
                    self.source.decode_all(values.values, &mut self.doubles);
                    sketch.insert_numbers(self.doubles.iter().map(|value| value.to_bits() as i64));
                } else {
                    sketch.insert_numbers(values.values.iter().copied());
                }
                Ok(())
            }
            Reader::Computed(terms) => {
                let loaded = terms.load(entries.docs)?;
                let values = Values { values: loaded.numbers, positions: Some(&loaded.terms.positions) };
                values.try_join(entries, starts, |_, bucket, number| {
                    sketches.insert(bucket, hash_term(loaded.terms.term(number as usize)))
                })
            }
            Reader::Shapes(shapes) => {
                let hashes = shapes.load(entries.docs)?;
                hashes.try_join(entries, starts, |_, bucket, hash| sketches.insert(bucket, hash))
            }
            Reader::Terms(terms) => {
                let values = terms.reader.load(entries.docs)?;
                let count = values.values.len().max(entries.len());
                if seen.takes(entries.bucket_count, count, self.budget)? {
                    return values.join(entries, starts, |_, bucket, ordinal| seen.insert(bucket, ordinal));
                }
                self.pairs.clear();
                let pairs = &mut self.pairs;
                values
                    .try_join(entries, starts, |_, bucket, ordinal| push_checked(pairs, (bucket, ordinal)))?;
                terms.grow(self.budget)?;
                pairs.iter().try_for_each(|(bucket, ordinal)| sketches.insert(*bucket, terms.hash(*ordinal)?))
            }
        }
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        self.grow(1)?;
        let Reader::Terms(terms) = &mut self.reader else { return Ok(false) };
        let Some(column) = terms.reader.column() else { return Ok(terms.reader.missing_ordinal().is_none()) };
        if terms.reader.missing_ordinal().is_some() && column.doc_count_with_value() < column.doc_count() {
            return Ok(false);
        }
        terms.has_all = true;
        Ok(true)
    }

    fn end_segment(&mut self) -> Result<()> {
        if let Reader::Terms(terms) = &mut self.reader
            && terms.has_all
        {
            let mut sketches =
                Sketches { of_bucket: &mut self.sketches, precision: self.precision, budget: self.budget };
            let own = sketches.of(0)?;
            return terms.each(|term| own.insert_quickly(hash_term(term)));
        }
        self.settle_seen()
    }

    fn can_split(&self) -> bool {
        true
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Sketches(std::mem::take(&mut self.sketches)))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Sketches(sketches) = findings else { unreachable!("findings of another collector") };
        let most = bucket_of[..sketches.len()].iter().max().map_or(0, |most| *most as usize + 1);
        self.grow(most)?;
        // Several buckets of the other collector may be one here.
        let mut others: HashMap<u32, Vec<Box<Sketch>>> = HashMap::new();
        for (other, &bucket) in sketches.into_iter().zip(bucket_of) {
            others.entry(bucket).or_default().extend(other);
        }
        let mut merges = Vec::with_capacity(others.len());
        for (bucket, mut others) in others {
            let own = match self.sketches[bucket as usize].take() {
                Some(own) => own,
                None => {
                    let Some(first) = others.pop() else { continue };
                    charge_sketch(self.budget, self.precision)?;
                    first
                }
            };
            merges.push((bucket, Mutex::new((own, others))));
        }
        // Merging two sets takes longer than collecting them.
        workers::share(self.budget.context.workers.as_deref(), merges.len(), |next| {
            while let Some(at) = next() {
                let (own, others) = &mut *merges[at].1.lock();
                others.drain(..).for_each(|other| own.absorb(other));
            }
        });
        for (bucket, merged) in merges {
            self.sketches[bucket as usize] = Some(merged.into_inner().0);
        }
        self.budget.check()
    }

    fn order_value(&self, _path: &[String], _value: Option<&str>, bucket: u32) -> f64 {
        let sketch = self.sketches.get(bucket as usize).and_then(Option::as_ref);
        sketch.map_or(0.0, |sketch| sketch.cardinality() as f64)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut take = |bucket: u32| self.sketches.get_mut(bucket as usize).and_then(Option::take);
        let empty = || Box::new(Sketch::new(self.precision));
        Ok(buckets.iter().map(|&bucket| Partial::Cardinality(take(bucket).unwrap_or_else(empty))).collect())
    }
}
