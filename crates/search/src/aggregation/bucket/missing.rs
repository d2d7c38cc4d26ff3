//! `missing`: the documents without a value. Source: Elasticsearch's `MissingAggregator`.

use limber_mapping::RequestError;
use limber_segment::columns::{Batch, Presence};
use limber_segment::{DocId, SegmentView};

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::buckets::marked::{MarkedDocs, MarkedPlace, window_bits};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, ComputedTerms, Source};
use super::super::tree::{Aggregation, Kind};
use super::filter::single_partials;
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::script::{RuntimeReader, RuntimeTerms};

/// The options of a `missing`: the field that the documents have no value of.
#[derive(Debug, Clone)]
pub struct Missing {
    values: ValuesOptions,
}

impl Missing {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        Ok(Kind::own(Missing { values: ValuesOptions::parse(options)? }))
    }
}

impl Request for Missing {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Anything)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn is_single_bucket(&self) -> bool {
        true
    }
}

impl Collect for Missing {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(MissingCollector::new(&context.bound.sources()[0], context.subs, context.budget)))
    }
}

impl Reduce for Missing {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for Missing {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }

    fn java_name(&self, _: &Bucket, _: Option<&str>) -> &'static str {
        "InternalFilter"
    }
}

/// Collects the documents without a value of the field.
#[derive(Debug)]
pub struct MissingCollector<'s> {
    path: String,
    source: &'s Source,
    presence: Option<Presence<'s>>,
    /// Reads a runtime field.
    reader: Option<RuntimeReader<'s>>,
    /// Holds the values of a script.
    made: Option<ComputedTerms<'s>>,
    marked: MarkedDocs,
    counts: Vec<u64>,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl<'s> MissingCollector<'s> {
    pub(crate) fn new(source: &'s Source, subs: Subs<'s>, budget: &'s Budget) -> MissingCollector<'s> {
        MissingCollector {
            path: source.path().to_owned(),
            source,
            presence: None,
            reader: None,
            made: None,
            marked: MarkedDocs::default(),
            counts: Vec::new(),
            subs,
            emitted: Emitted::default(),
            budget,
        }
    }
}

/// Returns which of `docs` have a value of a runtime field.
fn present(reader: &mut RuntimeReader<'_>, docs: &[DocId], is_numeric: bool) -> Result<Vec<bool>> {
    let mut flags = vec![false; docs.len()];
    if is_numeric {
        let mut batch = Batch::default();
        reader.numbers(docs, &mut batch)?;
        batch.iter().for_each(|(position, _)| flags[position] = true);
    } else {
        let mut terms = RuntimeTerms::default();
        reader.terms(docs, &mut terms)?;
        terms.positions.iter().for_each(|position| flags[*position as usize] = true);
    }
    Ok(flags)
}

impl<'s> Collector<'s> for MissingCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let segment = &view.segment;
        self.reader = match &self.source.runtime {
            Some(field) => Some(field.open(segment)?),
            None => None,
        };
        if self.source.script.is_some() {
            let mut made = ComputedTerms::new(self.source)?;
            made.begin(segment)?;
            self.made = Some(made);
        }
        self.presence = match self.source.is_column() {
            true => segment.presence(&self.path)?,
            false => None,
        };
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.counts.len() {
            self.budget.spend((entries.bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(entries.bucket_count, 0);
        }
        // A replacement for missing values counts as a value.
        if self.source.missing.is_some() {
            return Ok(());
        }
        if entries.positions.is_none()
            && let Some(presence) = self.presence.as_ref().filter(|_| self.reader.is_none())
        {
            let Some((start, mut bits)) = window_bits(entries.docs) else { return Ok(()) };
            let mut present = Bits::default();
            presence.fill_window((start / WINDOW) as usize, &mut present.0)?;
            bits.and_not(&present);
            let only = MarkedPlace { place: 0, width: 1 };
            return self.marked.collect((start, &bits), only, entries, &mut self.counts, &mut self.subs);
        }
        self.emitted.clear();
        let made = match (&mut self.reader, &mut self.made) {
            (Some(reader), _) => Some(present(reader, entries.docs, self.source.is_numeric())?),
            (None, Some(made)) => Some(made.present(entries.docs)?),
            (None, None) => None,
        };
        for entry in 0..entries.len() {
            let position = entries.positions.map_or(entry, |positions| positions[entry] as usize);
            let has_value = match (&self.presence, &made) {
                (Some(presence), _) => presence.contains(entries.docs[position])?,
                (None, Some(made)) => made[position],
                (None, None) => false,
            };
            if !has_value {
                let bucket = entries.bucket(entry);
                self.counts[bucket as usize] += 1;
                self.emitted.push(entry, bucket)?;
            }
        }
        if !self.subs.is_empty() {
            self.subs.collect(&self.emitted.batch(entries, entries.bucket_count)?)?;
        }
        Ok(())
    }

    /// Collects nothing and returns true if no document is without a value.
    fn collect_whole_segment(&mut self) -> Result<bool> {
        let has_all = matches!(self.presence, Some(Presence::All(_))) && self.reader.is_none();
        Ok(has_all || self.source.missing.is_some())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn settle(&mut self) -> Result<()> {
        self.subs.settle()
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.subs.order_value_of_single(&self.counts, path, value, bucket)
    }

    fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        self.subs.take_fixed(&mut self.counts)
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        self.subs.absorb_fixed(&mut self.counts, findings, 1, bucket_of, self.budget)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        single_partials(&self.counts, &mut self.subs, buckets)
    }
}
