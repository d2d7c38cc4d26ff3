//! `adjacency_matrix`: a bucket for the documents of each filter, and for the intersection of each two
//! filters.
//!
//! Source: Elasticsearch's `AdjacencyMatrixAggregationBuilder`, `AdjacencyMatrixAggregator`.

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::buckets::list::{groups_of, push_key, render_buckets};
use super::super::buckets::marked::{MarkedDocs, MarkedPlace};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::filter_marks::FilterMarks;
use crate::error::Result;
use crate::query::Query;
use crate::request::read_query;

/// Largest number of filters of one aggregation.
const FILTER_COUNT_MAX: usize = 1024;

/// From this number of matching filters on, cancellation is checked before a document's pairs are counted.
const CHECKED_FROM: usize = 64;

/// The options of an `adjacency_matrix`: named filters; each filter and each pair of filters is a bucket.
#[derive(Debug, Clone)]
pub struct AdjacencyMatrix {
    /// Sorted by name.
    filters: Vec<(String, Query)>,
    separator: String,
}

impl AdjacencyMatrix {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let separator = options.text("separator")?.unwrap_or_else(|| "&".to_owned());
        let mut filters = Vec::new();
        match options.take("filters") {
            None => {}
            Some(Value::Object(named)) => {
                for (name, query) in named {
                    let query = read_query(&query);
                    filters.push((name, query.map_err(|cause| options.failed("filters", cause))?));
                }
            }
            Some(_) => {
                return Err(options.refused("filters", "adjacency_matrix filters must be an object"));
            }
        }
        if let Some(option) = options.first_left() {
            return Err(super::super::options::unknown_field(options.kind, option));
        }
        if filters.is_empty() {
            let reason = format!("[{}] is missing : filters parameter", options.name);
            return Err(RequestError::bad_request("illegal_state_exception", reason));
        }
        if filters.len() > FILTER_COUNT_MAX {
            return Err(RequestError::illegal_argument(format!(
                "Number of filters is too large, must be less than or equal to: [{FILTER_COUNT_MAX}] but was [{}]. This limit can be set by \
                 changing the [indices.query.bool.max_clause_count] setting.",
                filters.len()
            )));
        }
        filters.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(Kind::own(AdjacencyMatrix { filters, separator }))
    }

    /// Returns the name of the bucket at an index of [`MatrixCollector`].
    fn key(&self, place: usize) -> Key {
        let count = self.filters.len();
        if place < count {
            return Key::Term(self.filters[place].0.as_bytes().into());
        }
        let (mut first, mut rest) = (0, place - count);
        while rest >= count - 1 - first {
            rest -= count - 1 - first;
            first += 1;
        }
        let (left, right) = (&self.filters[first].0, &self.filters[first + 1 + rest].0);
        Key::Term(format!("{left}{}{right}", self.separator).into_bytes().into())
    }
}

impl Request for AdjacencyMatrix {
    fn queries(&self) -> Vec<&Query> {
        self.filters.iter().map(|(_, query)| query).collect()
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for AdjacencyMatrix {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(MatrixCollector {
            definition: self,
            marks: FilterMarks::new(&context.bound.queries),
            marked: MarkedDocs::default(),
            counts: Vec::new(),
            subs: context.subs,
            emitted: Emitted::default(),
            budget: context.budget,
        }))
    }
}

impl Reduce for AdjacencyMatrix {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let all = groups_of(parts);
        let buckets = reducer.buckets_of(own, all)?;
        Ok(ListPartial::of(buckets))
    }
}

impl Render for AdjacencyMatrix {
    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        render_buckets(list, renderer, out, |bucket, head| push_key(head, &bucket.keys[0], None))
    }
}

/// Collects a parent's buckets in this order: the filters, then the pairs (0, 1), (0, 2), ..., (1, 2), ...
#[derive(Debug)]
struct MatrixCollector<'s> {
    definition: &'s AdjacencyMatrix,
    marks: FilterMarks<'s>,
    marked: MarkedDocs,
    counts: Vec<u64>,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl MatrixCollector<'_> {
    fn width(&self) -> usize {
        let count = self.marks.filter_count();
        count + count * (count - 1) / 2
    }
}

impl MatrixCollector<'_> {
    /// Collects a batch filter by filter, then pair by pair.
    fn collect_by_filter(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (width, count) = (self.width(), self.marks.filter_count());
        let mut place = 0;
        for filter in 0..count {
            let marks = self.marks.of_filter(filter);
            let place_of = MarkedPlace { place: filter, width };
            self.marked.collect(marks, place_of, entries, &mut self.counts, &mut self.subs)?;
        }
        for first in 0..count {
            for second in first + 1..count {
                let (start, own) = self.marks.of_filter(first);
                let mut both = own.clone();
                both.and(self.marks.of_filter(second).1);
                let place_of = MarkedPlace { place: count + place, width };
                self.marked.collect((start, &both), place_of, entries, &mut self.counts, &mut self.subs)?;
                place += 1;
            }
        }
        Ok(())
    }
}

impl<'s> Collector<'s> for MatrixCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.marks.open(view)?;
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (width, count) = (self.width(), self.marks.filter_count());
        let bucket_count = entries.bucket_count * width;
        if bucket_count > self.counts.len() {
            self.budget.spend((bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(bucket_count, 0);
        }
        self.marks.mark(entries.docs)?;
        if entries.positions.is_none() && self.subs.takes_windows_again() {
            return self.collect_by_filter(entries);
        }
        self.emitted.clear();
        let has_subs = !self.subs.is_empty();
        let mut held = Vec::with_capacity(count);
        for entry in 0..entries.len() {
            let doc = entries.docs[entries.position(entry)];
            let base = entries.bucket(entry) as usize * width;
            held.clear();
            held.extend(self.marks.of(doc));
            if held.len() >= CHECKED_FROM {
                self.budget.check()?;
            }
            for (at, &first) in held.iter().enumerate() {
                let pairs = count + first * (2 * count - first - 1) / 2;
                let others = held[at + 1..].iter().map(|second| pairs + second - first - 1);
                for place in std::iter::once(first).chain(others) {
                    self.counts[base + place] += 1;
                    if has_subs {
                        self.emitted.push(entry, (base + place) as u32)?;
                    }
                }
            }
        }
        if has_subs {
            self.subs.collect(&self.emitted.batch(entries, bucket_count)?)?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        self.subs.take_fixed(&mut self.counts)
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let width = self.width();
        self.subs.absorb_fixed(&mut self.counts, findings, width, bucket_of, self.budget)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let width = self.width();
        let count = |bucket: usize| self.counts.get(bucket).copied().unwrap_or(0);
        let buckets = |parent: u32| {
            let base = parent as usize * width;
            (base..base + width).filter(|&bucket| count(bucket) > 0)
        };
        let all: Vec<u32> =
            parents.iter().flat_map(|&parent| buckets(parent)).map(|bucket| bucket as u32).collect();
        let mut results = self.subs.finish(&all)?.into_iter();
        let mut partials = Vec::with_capacity(parents.len());
        for &parent in parents {
            let made = buckets(parent).map(|bucket| {
                self.budget.check()?;
                let key = self.definition.key(bucket - parent as usize * width);
                Ok(ListBucket::new([key].into(), count(bucket), results.next().unwrap_or_default()))
            });
            let buckets = made.collect::<Result<_>>()?;
            partials.push(Partial::List(ListPartial::of(buckets)));
        }
        Ok(partials)
    }
}
