//! Collects the values of each bucket in a t-digest, for `median_absolute_deviation` and `boxplot`.

use std::cell::RefCell;
use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_mapping::number::java_double;
use limber_segment::SegmentView;

use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::buckets::entries::{Entries, Values};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::CollectorContext;
use super::super::findings::Findings;
use super::super::options::Options;
use super::super::source::{NumberReader, Source};
use super::digest::Digest;
use super::value_counts::ValueCounts;
use crate::error::Result;

/// How many times finer `high_accuracy` is, as in `percentiles`.
const HIGH_ACCURACY: f64 = 10.0;

/// Reads `compression` and `execution_hint`.
pub fn compression(options: &mut Options, default: f64) -> std::result::Result<f64, RequestError> {
    let compression = options.double("compression")?.unwrap_or(default);
    if compression <= 0.0 {
        let shown = java_double(compression);
        let reason = format!("[compression] must be greater than 0. Found [{shown}] in [{}]", options.name);
        return Err(options.refused("compression", reason));
    }
    match options.text("execution_hint")?.as_deref() {
        None | Some("default") => Ok(compression),
        Some("high_accuracy") => Ok(compression * HIGH_ACCURACY),
        Some(hint) => {
            let reason =
                format!("Invalid execution_hint [{hint}], valid values are [default, high_accuracy]");
            Err(options.refused("execution_hint", reason))
        }
    }
}

impl OwnFinding for Digest {}

/// Merges the digests of the shards.
pub fn merged(parts: Vec<Digest>, compression: f64) -> Digest {
    let mut all = Digest::new(compression);
    parts.into_iter().for_each(|part| all.merge(part));
    all.prepare();
    all
}

/// The values that an enclosing aggregation's buckets can be ordered by.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    pub names: &'static [&'static str],
    /// Computes one value for each name.
    pub of: fn(&Digest) -> Box<[f64]>,
}

/// Bytes of an entry in `compared` without its values: the table slot and the overhead of an allocation.
const COMPARED_BYTES: u64 = 64;

/// Collects the values of each bucket in a t-digest.
#[derive(Debug)]
pub struct DigestCollector<'s> {
    compression: f64,
    numbers: Numbers,
    /// The results of [`Numbers::of`] for each bucket that was compared and has values. They are charged
    /// after all documents have been collected.
    compared: RefCell<HashMap<u32, Box<[f64]>>>,
    source: &'s Source,
    reader: NumberReader<'s>,
    digests: Vec<Option<Box<Digest>>>,
    /// Counted values that have not been added to the digests yet.
    counts: ValueCounts<'s>,
    /// Whether there is only one parent bucket.
    is_alone: bool,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> DigestCollector<'s> {
    pub(crate) fn new(
        compression: f64,
        context: CollectorContext<'s>,
        numbers: Numbers,
    ) -> Result<DigestCollector<'s>> {
        let source = &context.bound.sources()[0];
        Ok(DigestCollector {
            compression,
            numbers,
            compared: RefCell::default(),
            source,
            reader: NumberReader::new(source)?,
            digests: Vec::new(),
            counts: ValueCounts::new(source, context.shard, context.budget)?,
            is_alone: context.is_alone,
            doubles: Vec::new(),
            starts: Vec::new(),
            budget: context.budget,
        })
    }
}

impl DigestCollector<'_> {
    /// Adds the counted values to the digests.
    fn flush_counts(&mut self) -> Result<()> {
        let (source, budget, compression) = (self.source, self.budget, self.compression);
        let digests = &mut self.digests;
        self.counts.each(|bucket, counted| {
            if bucket as usize >= digests.len() {
                digests.resize_with(bucket as usize + 1, || None);
            }
            let own = digests[bucket as usize].get_or_insert_with(|| Box::new(Digest::new(compression)));
            own.add_counted(counted.iter().map(|&(value, count)| (source.decode(value), count)));
            budget.spend(own.bytes())
        })
    }
}

impl<'s> Collector<'s> for DigestCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.reader.set_scores(entries.scores);
        if entries.bucket_count > self.digests.len() {
            self.budget.spend((entries.bucket_count - self.digests.len()) as u64 * 8)?;
            self.digests.resize_with(entries.bucket_count, || None);
        }
        if self.counts.takes(entries.bucket_count)? {
            return self.counts.add(&self.reader.load(entries.docs)?, entries, &mut self.starts);
        }
        let positions = self.reader.load_doubles(entries.docs, &mut self.doubles)?;
        // A value takes at most eight bytes in a digest.
        self.budget.spend(self.doubles.len() as u64 * 8)?;
        let values = Values { values: self.doubles.as_slice(), positions };
        let (digests, compression) = (&mut self.digests, self.compression);
        values.join(entries, &mut self.starts, |_, bucket, value| {
            digests[bucket as usize].get_or_insert_with(|| Box::new(Digest::new(compression))).add(value);
        })
    }

    fn can_split(&self) -> bool {
        // A digest depends on the order in which values are added; counts do not.
        self.is_alone && self.counts.takes_one()
    }

    fn takes_windows_again(&self) -> bool {
        self.counts.takes_one()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Counted(Box::new(self.counts.take())))
    }

    fn absorb(&mut self, findings: Findings, _: &[u32]) -> Result<()> {
        let Findings::Counted(counted) = findings else { unreachable!("findings of another collector") };
        self.counts.absorb(*counted)
    }

    fn settle(&mut self) -> Result<()> {
        self.flush_counts()?;
        let bytes = COMPARED_BYTES + self.numbers.names.len() as u64 * 8;
        for digest in self.digests.iter_mut().flatten() {
            digest.prepare();
            self.budget.spend(bytes)?;
        }
        Ok(())
    }

    fn order_value(&self, _: &[String], value: Option<&str>, bucket: u32) -> f64 {
        let names = self.numbers.names;
        let place = value.and_then(|value| names.iter().position(|name| *name == value)).unwrap_or(0);
        match self.digests.get(bucket as usize).and_then(Option::as_ref) {
            Some(digest) => {
                let mut compared = self.compared.borrow_mut();
                compared.entry(bucket).or_insert_with(|| (self.numbers.of)(digest))[place]
            }
            None => (self.numbers.of)(&Digest::new(self.compression))[place],
        }
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.flush_counts()?;
        let mut take = |bucket: u32| self.digests.get_mut(bucket as usize).and_then(Option::take);
        let empty = || Box::new(Digest::new(self.compression));
        Ok(buckets.iter().map(|&bucket| Finding::into_partial(*take(bucket).unwrap_or_else(empty))).collect())
    }
}
