//! `significant_terms`: the significant values of keyword, IP address and integer fields.

use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext};
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{ListPartial, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader, Source};
use super::super::terms::Include;
use super::super::tree::{Aggregation, Kind};
use super::super::values::given_script::FoundScript;
use super::answer::Counted;
use super::background;
use super::heuristic::HEURISTICS;
use super::request::Significance;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{BoundQuery, Query};

/// The options of a `significant_terms`: the field, and which of its terms are counted.
#[derive(Debug, Clone)]
pub struct SignificantTerms {
    values: ValuesOptions,
    request: Significance,
}

impl SignificantTerms {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let request = Significance::parse(options)?;
        // The hint only chooses between implementations with the same result.
        if let Some(hint) = options.text("execution_hint")?
            && !matches!(hint.as_str(), "map" | "global_ordinals" | "global_ordinals_hash")
        {
            let reason =
                format!("Unknown `execution_hint`: [{hint}], expected any of [map, global_ordinals]");
            return Err(RequestError::illegal_argument(reason));
        }
        let values = ValuesOptions::parse(options)?;
        if let Some(option) = options.first_left() {
            return Err(options.no_heuristic(option, HEURISTICS));
        }
        Ok(Kind::own(SignificantTerms { values, request }))
    }
}

impl Request for SignificantTerms {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Keys)]
    }

    fn queries(&self) -> Vec<&Query> {
        self.request.background_filter.iter().collect()
    }

    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        self.request.heuristic.stored_script()
    }

    fn includes(&self) -> (&Option<Include>, &Option<Include>) {
        (&self.request.include, &self.request.exclude)
    }

    fn check_on_shard(&self, bound: &Bound, _: &ShardSnapshot) -> Result<()> {
        match bound.sources()[0].is_floating() {
            true => Err(RequestError::bad_request(
                "unsupported_operation_exception",
                "No support for examining floating point numerics",
            )
            .into()),
            false => Ok(()),
        }
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for SignificantTerms {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &context.bound.sources()[0];
        Ok(Box::new(SignificantCollector {
            request: &self.request,
            source,
            keys: KeyReader::new(source, Some(&context.bound.filter))?,
            background_filter: context.bound.queries.first(),
            script: context.bound.shape.stored_script.as_ref(),
            table: BucketTable::default(),
            totals: Vec::new(),
            shard: context.shard,
            subs: context.subs,
            emitted: Emitted::default(),
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for SignificantTerms {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        self.request.reduce(own, parts, reducer)
    }
}

impl Render for SignificantTerms {
    fn typed_name(&self, _: &Aggregation, _: &ListPartial, shape: &Shape) -> String {
        let is_number = shape.sources.iter().any(Source::is_numeric);
        (if is_number { "siglterms" } else { "sigsterms" }).to_owned()
    }

    fn render(&self, finding: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        self.request.render(finding, renderer, out)
    }
}

#[derive(Debug)]
struct SignificantCollector<'s> {
    request: &'s Significance,
    source: &'s Source,
    keys: KeyReader<'s>,
    background_filter: Option<&'s BoundQuery>,
    /// The stored script that scores.
    script: Option<&'s FoundScript>,
    table: BucketTable,
    /// Number of documents by parent.
    totals: Vec<u64>,
    shard: &'s ShardSnapshot,
    subs: Subs<'s>,
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for SignificantCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.keys.begin(view, self.budget)?;
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        add_totals(&mut self.totals, entries, self.budget)?;
        let values = self.keys.load(entries.docs, self.budget)?;
        self.emitted.clear();
        let (table, emitted, budget) = (&mut self.table, &mut self.emitted, self.budget);
        values.try_join(entries, &mut self.starts, |entry, parent, id| {
            let bucket = table.bucket(parent, id, budget)?;
            table.counts[bucket as usize] += 1;
            emitted.push(entry, bucket)
        })?;
        if !self.subs.is_empty() && self.table.len() > 0 {
            self.subs.collect(&self.emitted.batch(entries, self.table.len())?)?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let background_size = background::size(self.shard, self.background_filter, self.budget)?;
        let lists = self.table.by_parent(parents);
        let mut counts: HashMap<i64, u64, _> = HashMap::default();
        self.budget.spend(self.table.len() as u64 * 24)?;
        counts.extend(lists.iter().flatten().map(|&bucket| (self.table.key(bucket), 0)));
        background::count(
            &mut self.keys,
            self.source,
            self.shard,
            self.background_filter,
            &mut counts,
            self.budget,
        )?;
        let (table, keys) = (&self.table, &self.keys);
        let counted = Counted {
            table,
            totals: &self.totals,
            background: &counts,
            background_size,
            script: self.script,
        };
        let compare = |left: u32, right: u32| keys.compare(table.key(left), table.key(right));
        counted.answer(self.request, (parents, lists), &mut self.subs, compare, |bucket| {
            keys.key(table.key(bucket))
        })
    }
}

/// Counts the documents of every parent.
pub fn add_totals(totals: &mut Vec<u64>, entries: &Entries<'_>, budget: &Budget) -> Result<()> {
    if entries.bucket_count > totals.len() {
        budget.spend((entries.bucket_count - totals.len()) as u64 * 8)?;
        totals.resize(entries.bucket_count, 0);
    }
    (0..entries.len()).for_each(|entry| totals[entries.bucket(entry) as usize] += 1);
    Ok(())
}
