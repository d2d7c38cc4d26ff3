//! `cardinality`: the number of distinct values. Source: Elasticsearch's `CardinalityAggregator`.

use limber_mapping::RequestError;
use limber_segment::{Segment, SegmentView};
use serde_json::{Map, Value};

use super::super::answer::order::OrderValues;
use super::super::answer::partial::Partial;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Entries, Values};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions, unknown_field};
use super::super::source::{Accepts, ComputedTerms, NumberReader, OrdinalReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::hyperloglog::{Sketch, hash_number, hash_term, precision_of};
use crate::error::Result;

/// Elasticsearch's default `precision_threshold`.
const PRECISION_THRESHOLD: i64 = 3000;

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
        // Elasticsearch accepts this only as a hint; every way of collecting gives the same answer.
        options.text("execution_hint")?;
        if options.has("rehash") {
            return Err(RequestError::unsupported("[rehash] in the aggregation [cardinality]"));
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
}

impl Collect for Cardinality {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(CardinalityCollector::new(self, &context.bound.sources()[0], context.budget)?))
    }
}

impl Reduce for Cardinality {
    type Finding = Box<Sketch>;

    fn reduce(&self, _: &Aggregation, parts: Vec<Box<Sketch>>, _: &mut Reducer<'_>) -> Result<Box<Sketch>> {
        let mut merged = Box::new(self.empty_sketch());
        parts.iter().for_each(|sketch| merged.merge(sketch));
        Ok(merged)
    }
}

impl Render for Cardinality {
    fn render(&self, sketch: &Box<Sketch>, _: &Renderer<'_>, out: &mut Map<String, Value>) -> Result<()> {
        out.insert("value".into(), sketch.cardinality().into());
        Ok(())
    }

    fn number(&self, finding: &Box<Sketch>, _: Option<&str>) -> Option<f64> {
        Some(finding.cardinality() as f64)
    }
}

#[derive(Debug)]
enum Reader<'s> {
    Numbers(NumberReader<'s>),
    Terms(TermHashes<'s>),
    Computed(Box<ComputedTerms<'s>>),
}

/// The ordinals of the current segment, and the hashes of their terms.
#[derive(Debug)]
struct TermHashes<'s> {
    reader: OrdinalReader<'s>,
    missing: Option<Vec<u8>>,
    segment: Option<&'s Segment>,
    path: String,
    /// The ordinals that the only bucket has seen, as a bit set. They are hashed at the end of the segment.
    seen: Vec<u64>,
    ordinal_count: usize,
    /// Hash by ordinal, for several buckets; 0 if it is not known yet.
    hashes: Vec<u64>,
    term: Vec<u8>,
}

/// Collects the values of each bucket in a sketch.
#[derive(Debug)]
pub struct CardinalityCollector<'s> {
    precision: u32,
    source: &'s Source,
    reader: Reader<'s>,
    sketches: Vec<Option<Box<Sketch>>>,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> CardinalityCollector<'s> {
    pub(crate) fn new(
        request: &Cardinality,
        source: &'s Source,
        budget: &'s Budget,
    ) -> Result<CardinalityCollector<'s>> {
        let path = source.path();
        let reader = if source.is_numeric() {
            Reader::Numbers(NumberReader::new(source)?)
        } else if source.computes_terms() {
            Reader::Computed(Box::new(ComputedTerms::new(source)?))
        } else {
            Reader::Terms(TermHashes {
                reader: OrdinalReader::new(path, source.missing.is_some()),
                missing: source.missing_term()?,
                segment: None,
                path: path.to_owned(),
                seen: Vec::new(),
                ordinal_count: 0,
                hashes: Vec::new(),
                term: Vec::new(),
            })
        };
        Ok(CardinalityCollector {
            precision: request.precision,
            source,
            reader,
            sketches: Vec::new(),
            doubles: Vec::new(),
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
        let is_floating = source.is_floating();
        let mut last = None;
        values.try_join(entries, starts, |_, bucket, value| {
            // Consecutive documents often repeat a value.
            if last == Some((bucket, value)) {
                return Ok(());
            }
            last = Some((bucket, value));
            let bits = if is_floating { source.decode(value).to_bits() as i64 } else { value };
            self.insert(bucket, hash_number(bits))
        })
    }
}

impl TermHashes<'_> {
    /// Marks the ordinals of documents that are all in one bucket.
    fn see(&mut self, entries: &Entries<'_>, budget: &Budget) -> Result<()> {
        if self.seen.is_empty() {
            budget.spend(self.ordinal_count as u64 / 8)?;
            self.seen.resize(self.ordinal_count.div_ceil(64), 0);
        }
        let seen = &mut self.seen;
        let values = self.reader.load(entries.docs)?;
        values.values.iter().for_each(|&ordinal| seen[ordinal as usize / 64] |= 1 << (ordinal % 64));
        Ok(())
    }

    /// Adds the terms of documents of several buckets.
    fn insert_joined(
        &mut self,
        entries: &Entries<'_>,
        starts: &mut Vec<u32>,
        sketches: &mut Sketches<'_>,
    ) -> Result<()> {
        if self.hashes.is_empty() {
            sketches.budget.spend(self.ordinal_count as u64 * 8)?;
            self.hashes.resize(self.ordinal_count, 0);
        }
        // The hashes first: they are read with the terms, and the values borrow the reader.
        let values = self.reader.load(entries.docs)?.values;
        let new = values.iter().copied().filter(|ordinal| self.hashes[*ordinal as usize] == 0);
        let mut new: Vec<u32> = new.collect();
        new.sort_unstable();
        new.dedup();
        for ordinal in new {
            self.hashes[ordinal as usize] = self.hash(ordinal)?;
        }
        let hashes = &self.hashes;
        let values = self.reader.load(entries.docs)?;
        values
            .try_join(entries, starts, |_, bucket, ordinal| sketches.insert(bucket, hashes[ordinal as usize]))
    }

    fn hash(&mut self, ordinal: u32) -> Result<u64> {
        if Some(ordinal) == self.reader.missing_ordinal() {
            return Ok(hash_term(self.missing.as_deref().unwrap_or_default()));
        }
        if let Some(segment) = self.segment
            && let Some(terms) = segment.terms(&self.path)?
        {
            terms.term(u64::from(ordinal), &mut self.term)?;
        }
        Ok(hash_term(&self.term))
    }
}

impl<'s> Collector<'s> for CardinalityCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let is_mapped = self.source.is_mapped();
        match &mut self.reader {
            Reader::Numbers(reader) => reader.begin(&view.segment, is_mapped),
            Reader::Computed(terms) => terms.begin(&view.segment),
            Reader::Terms(terms) => {
                terms.ordinal_count = terms.reader.begin(&view.segment, is_mapped)?;
                terms.segment = Some(&*view.segment);
                terms.seen.clear();
                terms.hashes.clear();
                Ok(())
            }
        }
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.grow(entries.bucket_count)?;
        let mut sketches =
            Sketches { of_bucket: &mut self.sketches, precision: self.precision, budget: self.budget };
        match &mut self.reader {
            Reader::Numbers(reader) => {
                let values = reader.load(entries.docs)?;
                match entries.only_bucket() {
                    Some(bucket) if self.source.is_floating() => {
                        let sketch = sketches.of(bucket)?;
                        self.source.decode_all(values.values, &mut self.doubles);
                        sketch.insert_numbers(self.doubles.iter().map(|value| value.to_bits() as i64));
                    }
                    Some(bucket) => sketches.of(bucket)?.insert_numbers(values.values.iter().copied()),
                    None => sketches.insert_joined(&values, entries, self.source, &mut self.starts)?,
                }
                Ok(())
            }
            Reader::Computed(terms) => {
                let loaded = terms.load(entries.docs)?;
                let values = Values { values: loaded.numbers, positions: Some(&loaded.terms.positions) };
                values.try_join(entries, &mut self.starts, |_, bucket, number| {
                    sketches.insert(bucket, hash_term(loaded.terms.term(number as usize)))
                })
            }
            Reader::Terms(terms) if entries.bucket_count == 1 => terms.see(entries, self.budget),
            Reader::Terms(terms) => terms.insert_joined(entries, &mut self.starts, &mut sketches),
        }
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        self.grow(1)?;
        let Reader::Terms(terms) = &mut self.reader else { return Ok(false) };
        let Some(column) = terms.reader.column() else { return Ok(terms.reader.missing_ordinal().is_none()) };
        if terms.reader.missing_ordinal().is_some() && column.doc_count_with_value() < column.doc_count() {
            return Ok(false);
        }
        let all = terms.ordinal_count - usize::from(terms.reader.missing_ordinal().is_some());
        terms.seen = vec![u64::MAX; all.div_ceil(64)];
        if let Some(last) = terms.seen.last_mut()
            && all % 64 != 0
        {
            *last = (1 << (all % 64)) - 1;
        }
        Ok(true)
    }

    fn end_segment(&mut self) -> Result<()> {
        let Reader::Terms(terms) = &mut self.reader else { return Ok(()) };
        let seen = std::mem::take(&mut terms.seen);
        if seen.iter().all(|&word| word == 0) {
            return Ok(());
        }
        if self.sketches[0].is_none() {
            charge_sketch(self.budget, self.precision)?;
        }
        let own = self.sketches[0].get_or_insert_with(|| Box::new(Sketch::new(self.precision)));
        let missing = terms.reader.missing_ordinal();
        if let Some(ordinal) = missing
            && seen.get(ordinal as usize / 64).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
        {
            own.insert(hash_term(terms.missing.as_deref().unwrap_or_default()));
        }
        let Some(segment) = terms.segment else { return Ok(()) };
        let Some(dictionary) = segment.terms(&terms.path)?.filter(|_| self.source.is_mapped()) else {
            return Ok(());
        };
        let mut cursor = dictionary.cursor();
        while cursor.advance()? {
            let ordinal = cursor.ord();
            if seen.get(ordinal as usize / 64).is_some_and(|word| word >> (ordinal % 64) & 1 == 1) {
                own.insert(hash_term(cursor.term()));
            }
        }
        Ok(())
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
        let Findings::Sketches(sketches) = findings else { return Ok(()) };
        let most = bucket_of[..sketches.len()].iter().max().map_or(0, |most| *most as usize + 1);
        self.grow(most)?;
        for (other, &bucket) in sketches.into_iter().zip(bucket_of) {
            let Some(other) = other else { continue };
            match &mut self.sketches[bucket as usize] {
                Some(own) => own.merge(&other),
                empty => {
                    charge_sketch(self.budget, self.precision)?;
                    *empty = Some(other);
                }
            }
        }
        Ok(())
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
