//! `filter` and `filters`: the documents that match a query. Source: Elasticsearch's `FilterAggregator`,
//! `FiltersAggregator`.

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::order::OrderValues;
use super::super::answer::partial::{Bucket, Partial, with_places};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Shape;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::buckets::marked::{MarkedDocs, MarkedPlace, window_bits};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::filter_marks::{Docs, FilterMarks};
use crate::error::Result;
use crate::query::{BoundQuery, MatchingDocs, Query};
use crate::request::read_query;
use crate::values::json;

/// Largest number of filters of one `filters` aggregation.
const FILTER_COUNT_MAX: usize = 1024;

/// The options of a `filter`: one query, whose matches are the only bucket.
#[derive(Debug, Clone)]
pub struct Filter {
    query: Query,
}

impl Filter {
    /// The body of `filter` is the query itself.
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let query = Value::Object(options.take_all());
        Ok(Kind::own(Filter { query: read_query(&query)? }))
    }
}

impl Request for Filter {
    fn queries(&self) -> Vec<&Query> {
        vec![&self.query]
    }

    fn is_single_bucket(&self) -> bool {
        true
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::FilteredDocuments
    }

    fn can_be_sampled(&self) -> bool {
        true
    }

    fn may_contain_composite(&self) -> bool {
        true
    }
}

impl Collect for Filter {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(FilterCollector::new(&context.bound.queries[0], context.subs, context.budget)))
    }
}

impl Reduce for Filter {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for Filter {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }

    fn java_name(&self, _: &Bucket, _: Option<&str>) -> &'static str {
        "InternalFilter"
    }
}

/// The options of a `filters`: several queries, each of which is a bucket.
#[derive(Debug, Clone)]
pub struct Filters {
    /// The names are empty when the filters were given as a list.
    pub filters: Vec<(String, Query)>,
    pub is_named: bool,
    /// Whether named buckets are shown as an object.
    pub keyed: bool,
    /// The name of the bucket of the documents that match no filter.
    pub other: Option<String>,
}

impl Filters {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        // `filters` is the only aggregation whose options Elasticsearch parses by hand, with other errors.
        for (option, value) in options.entries() {
            let fits = match option {
                "other_bucket" | "keyed" => value.is_boolean(),
                "other_bucket_key" => value.is_string(),
                "filters" => value.is_object() || value.is_array(),
                _ => false,
            };
            if !fits {
                let (token, name) = (json::token(value), &options.name);
                return Err(RequestError::parsing(format!(
                    "Unknown key for a {token} in [{name}]: [{option}]."
                )));
            }
        }
        let (is_named, filters) = match options.take("filters") {
            Some(Value::Object(named)) => {
                let parsed = named.iter().map(|(name, query)| Ok((name.clone(), read_query(query)?)));
                (true, parsed.collect::<std::result::Result<Vec<_>, RequestError>>()?)
            }
            Some(Value::Array(list)) => {
                let parsed = list.iter().map(|query| Ok((String::new(), read_query(query)?)));
                (false, parsed.collect::<std::result::Result<Vec<_>, RequestError>>()?)
            }
            Some(other) => {
                return Err(RequestError::parsing(format!(
                    "Unexpected token {} in [{}]: [filters].",
                    json::token(&other),
                    options.name
                )));
            }
            None => (true, Vec::new()),
        };
        if filters.is_empty() {
            return Err(RequestError::illegal_argument("[filters] cannot be empty."));
        }
        if filters.len() > FILTER_COUNT_MAX {
            let reason = format!(
                "Number of filters is too large, must be less than or equal to: [{FILTER_COUNT_MAX}] but was [{}].",
                filters.len()
            );
            return Err(RequestError::illegal_argument(reason));
        }
        let other_key = options.text("other_bucket_key")?;
        let has_other = options.boolean("other_bucket")?.unwrap_or(other_key.is_some());
        let other = has_other.then(|| other_key.unwrap_or_else(|| "_other_".to_owned()));
        let keyed = options.boolean("keyed")?.unwrap_or(true);
        let mut filters = Filters { filters, is_named, keyed, other };
        if is_named {
            filters.filters.sort_by(|left, right| left.0.cmp(&right.0));
        }
        Ok(Kind::own(filters))
    }

    fn bucket_count(&self) -> usize {
        self.filters.len() + usize::from(self.other.is_some())
    }

    /// Returns the names of the filters' buckets, then the name of the bucket of other documents.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.filters.iter().map(|(name, _)| name).chain(&self.other)
    }
}

impl Request for Filters {
    fn queries(&self) -> Vec<&Query> {
        self.filters.iter().map(|(_, query)| query).collect()
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Filters {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, budget, .. } = context;
        Ok(Box::new(FiltersCollector::new(&bound.queries, self.other.is_some(), subs, budget)))
    }
}

impl Reduce for Filters {
    type Finding = Vec<Bucket>;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Vec<Bucket>>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Vec<Bucket>> {
        reducer.fixed(own, parts, self.bucket_count())
    }
}

impl Render for Filters {
    fn render(&self, buckets: &Vec<Bucket>, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        if !self.is_named {
            return out.bucket_list(buckets, |bucket, out| renderer.single(bucket, out));
        }
        let names: Vec<&String> = self.names().collect();
        let named = with_places(buckets).filter_map(|(place, bucket)| Some((*names.get(place)?, bucket)));
        out.buckets(self.keyed, |buckets| {
            for (name, bucket) in named {
                buckets.add(name, |out| {
                    if !self.keyed {
                        out.insert("key", name)?;
                    }
                    renderer.single(bucket, out)
                })?;
            }
            Ok(())
        })
    }

    fn bucket_text(&self, place: usize, _: &Shape) -> Result<Option<String>> {
        if !self.is_named {
            return Ok(None);
        }
        self.names().nth(place).map(|name| claimed::name(name)).transpose()
    }

    fn java_name(&self, _: &Vec<Bucket>, _: Option<&str>) -> &'static str {
        "InternalRange"
    }
}

/// Collects the documents that match the filter, in one bucket for each bucket of the parent.
#[derive(Debug)]
pub struct FilterCollector<'s> {
    query: &'s BoundQuery,
    docs: Docs<'s>,
    marked: MarkedDocs,
    counts: Vec<u64>,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl<'s> FilterCollector<'s> {
    pub(crate) fn new(query: &'s BoundQuery, subs: Subs<'s>, budget: &'s Budget) -> FilterCollector<'s> {
        FilterCollector {
            query,
            docs: Docs(None),
            marked: MarkedDocs::default(),
            counts: Vec::new(),
            subs,
            emitted: Emitted::default(),
            budget,
        }
    }
}

impl<'s> Collector<'s> for FilterCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.docs = Docs(Some(MatchingDocs::open(self.query, &view.segment)?));
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.counts.len() {
            self.budget.spend((entries.bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(entries.bucket_count, 0);
        }
        let (Docs(Some(docs)), Some((start, mut bits))) = (&mut self.docs, window_bits(entries.docs)) else {
            return Ok(());
        };
        docs.restrict(start, &mut bits)?;
        if entries.positions.is_none() {
            let only = MarkedPlace { place: 0, width: 1 };
            return self.marked.collect((start, &bits), only, entries, &mut self.counts, &mut self.subs);
        }
        self.emitted.clear();
        for entry in 0..entries.len() {
            if bits.contains(entries.docs[entries.position(entry)] - start) {
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

/// Makes the results of a single-bucket aggregation, whose bucket has the same ordinal as its parent.
pub fn single_partials(counts: &[u64], subs: &mut Subs<'_>, buckets: &[u32]) -> Result<Vec<Partial>> {
    let results = subs.finish(buckets)?;
    let count = |bucket: u32| counts.get(bucket as usize).copied().unwrap_or(0);
    let partials =
        buckets.iter().zip(results).map(|(&bucket, subs)| Partial::Single(Bucket::new(count(bucket), subs)));
    Ok(partials.collect())
}

/// Collects documents in a bucket for each filter that they match, and the others in a bucket of their own if
/// that is requested.
#[derive(Debug)]
pub struct FiltersCollector<'s> {
    marks: FilterMarks<'s>,
    has_other: bool,
    marked: MarkedDocs,
    counts: Vec<u64>,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl<'s> FiltersCollector<'s> {
    pub(crate) fn new(
        queries: &'s [BoundQuery],
        has_other: bool,
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> FiltersCollector<'s> {
        FiltersCollector {
            marks: FilterMarks::new(queries),
            has_other,
            marked: MarkedDocs::default(),
            counts: Vec::new(),
            subs,
            emitted: Emitted::default(),
            budget,
        }
    }

    fn width(&self) -> usize {
        self.marks.filter_count() + usize::from(self.has_other)
    }

    /// Collects a batch filter by filter.
    fn collect_by_filter(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (width, filter_count) = (self.width(), self.marks.filter_count());
        for place in 0..filter_count {
            let (marks, place) = (self.marks.of_filter(place), MarkedPlace { place, width });
            self.marked.collect(marks, place, entries, &mut self.counts, &mut self.subs)?;
        }
        let Some((start, mut others)) = window_bits(entries.docs).filter(|_| self.has_other) else {
            return Ok(());
        };
        (0..filter_count).for_each(|filter| others.and_not(self.marks.of_filter(filter).1));
        let place = MarkedPlace { place: filter_count, width };
        self.marked.collect((start, &others), place, entries, &mut self.counts, &mut self.subs)
    }
}

impl<'s> Collector<'s> for FiltersCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.marks.open(view)?;
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let width = self.width();
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
        for entry in 0..entries.len() {
            let doc = entries.docs[entries.position(entry)];
            let first = entries.bucket(entry) as usize * width;
            let mut is_other = self.has_other;
            for filter in self.marks.of(doc) {
                is_other = false;
                self.counts[first + filter] += 1;
                self.emitted.push(entry, (first + filter) as u32)?;
            }
            if is_other {
                self.counts[first + width - 1] += 1;
                self.emitted.push(entry, (first + width - 1) as u32)?;
            }
        }
        if !self.subs.is_empty() {
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

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let width = self.width();
        fixed_partials(&self.counts, width, &mut self.subs, buckets)
    }
}

/// Makes the results of an aggregation that has `width` buckets under each parent.
pub(super) fn fixed_partials(
    counts: &[u64],
    width: usize,
    subs: &mut Subs<'_>,
    parents: &[u32],
) -> Result<Vec<Partial>> {
    let numbers =
        |parent: u32| (parent as usize * width..(parent as usize + 1) * width).map(|bucket| bucket as u32);
    let all: Vec<u32> = parents.iter().flat_map(|&parent| numbers(parent)).collect();
    let mut results = subs.finish(&all)?.into_iter();
    let mut bucket = |number: u32| {
        let doc_count = counts.get(number as usize).copied().unwrap_or(0);
        Bucket::new(doc_count, results.next().unwrap_or_default())
    };
    Ok(parents.iter().map(|&parent| Partial::Fixed(numbers(parent).map(&mut bucket).collect())).collect())
}
