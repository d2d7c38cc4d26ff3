//! What the shards found, put together: "which buckets and values does the whole search have?"

use limber_mapping::RequestError;
use limber_script::ContextScript;
use limber_work as work;

use super::bind::Shape;
use super::bucket::{DateShape, Histogram};
use super::collector::ShardAggregations;
use super::metric::MetricState;
use super::order::BucketOrder;
use super::partial::{Bucket, KeyedBucket, Partial, TermsPartial};
use super::pipeline;
use super::source::Source;
use super::terms::{compare_by, reduce_terms};
use super::tree::{Aggregation, Aggregations, Kind};
use crate::context::SearchContext;
use crate::error::{Error, Result};

/// The whole search's aggregations, ready to be shown.
#[derive(Debug, Clone)]
pub struct ReducedAggregations {
    pub(super) partials: Vec<Partial>,
    pub(super) shapes: Vec<Shape>,
    bucket_count: u64,
    /// What buckets hold beside objects, as JSON.
    value_bytes: u64,
}

/// An object of one to three members as a tree: three places of 112 bytes, a table, and the names.
const OBJECT_BYTES: u64 = 448;

impl ReducedAggregations {
    /// About what [`ReducedAggregations::to_json`] takes: an object a bucket, and one or more for each aggregation in it.
    pub fn json_bytes(&self, request: &Aggregations) -> u64 {
        (1 + self.bucket_count) * (1 + object_count(&request.list)) * OBJECT_BYTES + self.value_bytes
    }
}

/// Objects that the aggregations of one bucket are shown as, about; those with many members count as several.
fn object_count(list: &[Aggregation]) -> u64 {
    let own = |aggregation: &Aggregation| match &aggregation.kind {
        Kind::Percentiles(_) => 3,
        _ => 1,
    };
    list.iter().map(|aggregation| own(aggregation).max(object_count(&aggregation.subs))).sum()
}

/// Puts the shards' findings together.
///
/// # Errors
/// `too_many_buckets_exception` beyond `search.max_buckets`; an order path that leads nowhere; a full memory pool.
pub fn reduce(
    request: &Aggregations,
    shards: Vec<ShardAggregations>,
    context: &SearchContext,
) -> Result<ReducedAggregations> {
    check_orders(&request.list).map_err(in_reduce)?;
    let mut shapes: Vec<Shape> = Vec::new();
    let mut all = Vec::with_capacity(shards.len());
    for shard in shards {
        if shapes.is_empty() {
            shapes = shard.shapes;
        } else {
            shapes.iter_mut().zip(shard.shapes).for_each(|(own, other)| prefer_mapped(own, other));
        }
        all.push(shard.partials);
    }
    let mut reducer = Reducer { context, bucket_count: 0, value_bytes: 0, shapes: &shapes, path: Vec::new() };
    let mut partials = if all.is_empty() { Vec::new() } else { reducer.subs(&request.list, all)? };
    let (bucket_count, value_bytes) = (reducer.bucket_count, reducer.value_bytes);
    pipeline::resolve(&request.list, &shapes, &mut partials).map_err(failed_in_reduce)?;
    Ok(ReducedAggregations { partials, shapes, bucket_count, value_bytes })
}

fn check_orders(list: &[Aggregation]) -> std::result::Result<(), RequestError> {
    for aggregation in list {
        match &aggregation.kind {
            Kind::Terms(terms) => terms.order.check(&aggregation.subs)?,
            Kind::Histogram(histogram) => histogram.order.check(&aggregation.subs)?,
            Kind::DateHistogram(histogram) => histogram.order.check(&aggregation.subs)?,
            Kind::Own(definition) => {
                definition.order().map_or(Ok(()), |order| order.check(&aggregation.subs))?;
            }
            _ => {}
        }
        check_orders(&aggregation.subs)?;
    }
    Ok(())
}

/// A shard that has the field knows better how its values are shown.
fn prefer_mapped(own: &mut Shape, other: Shape) {
    if !own.is_mapped && other.is_mapped {
        *own = other;
        return;
    }
    own.subs.iter_mut().zip(other.subs).for_each(|(own, other)| prefer_mapped(own, other));
}

/// State of one reduce.
#[derive(Debug)]
pub struct Reducer<'r> {
    context: &'r SearchContext,
    bucket_count: u64,
    value_bytes: u64,
    shapes: &'r [Shape],
    /// Places from the root down to the aggregation at hand.
    path: Vec<usize>,
}

impl Reducer<'_> {
    /// The search that the buckets belong to.
    pub fn context(&self) -> &SearchContext {
        self.context
    }

    /// `search.max_buckets`.
    fn max_buckets(&self) -> u64 {
        u64::from(self.context.max_buckets)
    }

    /// Tells what a bucket of the answer takes as JSON beyond an object, in bytes.
    pub fn count_bytes(&mut self, bytes: u64) {
        self.value_bytes = self.value_bytes.saturating_add(bytes);
    }

    /// Counts buckets of the answer before they are made.
    pub fn count_buckets(&mut self, count: usize) -> Result<()> {
        work::check_beyond_deadline()?;
        self.bucket_count = self.bucket_count.saturating_add(count as u64);
        if self.bucket_count > self.max_buckets() {
            return Err(too_many_buckets(self.max_buckets()).into());
        }
        Ok(())
    }

    /// The fields of the aggregation at hand, as the shards know them.
    pub fn sources(&self) -> &[Source] {
        self.shape().map_or(&[], |shape| &shape.sources)
    }

    /// Refuses to go on when `count` buckets more would be too many.
    pub fn check_buckets(&self, count: usize) -> Result<()> {
        match self.bucket_count.saturating_add(count as u64) > self.max_buckets() {
            true => Err(too_many_buckets(self.max_buckets()).into()),
            false => Ok(()),
        }
    }

    /// One bucket of all shards.
    pub fn single(&mut self, aggregation: &Aggregation, parts: Vec<Partial>) -> Result<Partial> {
        let bucket = |part| match part {
            Partial::Single(bucket) => Some(bucket),
            _ => None,
        };
        let buckets = parts.into_iter().filter_map(bucket).collect();
        self.merged(aggregation, buckets).map(Partial::Single)
    }

    /// [`Shape::reduce_script`] of the aggregation at hand.
    pub fn script(&self) -> Option<&std::result::Result<ContextScript, RequestError>> {
        self.shape().and_then(|shape| shape.reduce_script.as_ref())
    }

    fn shape(&self) -> Option<&Shape> {
        let (first, rest) = self.path.split_first()?;
        rest.iter().try_fold(self.shapes.get(*first)?, |shape, &place| shape.subs.get(place))
    }

    /// The aggregations of one level in one bucket, from the shards (or merged buckets) that have the bucket.
    pub fn subs(&mut self, list: &[Aggregation], mut parts: Vec<Vec<Partial>>) -> Result<Vec<Partial>> {
        if list.is_empty() {
            return Ok(Vec::new());
        }
        for part in &mut parts {
            part.reverse();
        }
        let mut reduced = Vec::with_capacity(list.len());
        for (place, aggregation) in list.iter().enumerate() {
            let own: Vec<Partial> = parts.iter_mut().filter_map(Vec::pop).collect();
            self.path.push(place);
            let result = self.one(aggregation, own);
            self.path.pop();
            reduced.push(result?);
        }
        Ok(reduced)
    }

    fn one(&mut self, aggregation: &Aggregation, parts: Vec<Partial>) -> Result<Partial> {
        work::check_beyond_deadline()?;
        match &aggregation.kind {
            Kind::Metric(_) => {
                let states = parts.iter().filter_map(|part| match part {
                    Partial::Metric(state) => Some(state),
                    _ => None,
                });
                Ok(Partial::Metric(MetricState::reduce(states)))
            }
            Kind::Cardinality(cardinality) => {
                let mut merged = Box::new(cardinality.empty_sketch());
                for part in parts {
                    if let Partial::Cardinality(sketch) = part {
                        merged.merge(&sketch);
                    }
                }
                Ok(Partial::Cardinality(merged))
            }
            Kind::Percentiles(percentiles) => {
                let shards = parts.into_iter().filter_map(|part| match part {
                    Partial::Distribution(distribution) => Some(*distribution),
                    _ => None,
                });
                Ok(Partial::Distribution(Box::new(percentiles.reduce(shards))))
            }
            Kind::Terms(terms) => {
                let shards: Vec<TermsPartial> = parts
                    .into_iter()
                    .filter_map(|part| match part {
                        Partial::Terms(terms) => Some(terms),
                        _ => None,
                    })
                    .collect();
                reduce_terms(terms, aggregation, shards, self).map(Partial::Terms)
            }
            Kind::Histogram(histogram) => {
                let buckets = self.keyed(aggregation, parts, histogram.min_doc_count)?;
                let filled = if histogram.min_doc_count == 0 {
                    self.fill_histogram(aggregation, histogram, buckets)?
                } else {
                    buckets
                };
                Ok(Partial::Histogram(sorted(&histogram.order, aggregation, filled)))
            }
            Kind::DateHistogram(histogram) => {
                let buckets = self.keyed(aggregation, parts, histogram.min_doc_count)?;
                let shape = self.shape().and_then(|shape| shape.date.clone());
                let filled = match shape {
                    Some(shape) if histogram.min_doc_count == 0 => {
                        self.fill_dates(aggregation, &shape, buckets)?
                    }
                    _ => buckets,
                };
                Ok(Partial::Histogram(sorted(&histogram.order, aggregation, filled)))
            }
            Kind::Pipeline(_) => Ok(Partial::Absent),
            Kind::Own(definition) => definition.reduce(aggregation, parts, self),
            Kind::Filters(filters) => self.fixed(aggregation, parts, filters.bucket_count()),
            Kind::Range(_) => {
                let width = self.shape().map_or(0, |shape| shape.ranges.len());
                self.fixed(aggregation, parts, width)
            }
            Kind::Filter(_) | Kind::Missing(_) => self.single(aggregation, parts),
        }
    }

    /// One bucket of several.
    fn merged(&mut self, aggregation: &Aggregation, buckets: Vec<Bucket>) -> Result<Bucket> {
        let doc_count = buckets.iter().map(|bucket| bucket.doc_count).sum();
        let subs = buckets.into_iter().map(|bucket| bucket.subs).collect();
        Ok(Bucket { doc_count, subs: self.subs(&aggregation.subs, subs)? })
    }

    /// Buckets by their place, of which there are `width`.
    pub fn fixed(&mut self, aggregation: &Aggregation, parts: Vec<Partial>, width: usize) -> Result<Partial> {
        // Without any part (a bucket that only fills a histogram's gap) all buckets are empty.
        let mut columns: Vec<Vec<Bucket>> = vec![Vec::new(); width];
        for part in parts {
            if let Partial::Fixed(buckets) = part {
                columns.iter_mut().zip(buckets).for_each(|(column, bucket)| column.push(bucket));
            }
        }
        self.count_buckets(columns.len())?;
        let buckets =
            columns.into_iter().map(|column| self.merged(aggregation, column)).collect::<Result<_>>()?;
        Ok(Partial::Fixed(buckets))
    }

    /// Buckets of equal keys put together, by ascending key; those with too few documents left out.
    fn keyed(
        &mut self,
        aggregation: &Aggregation,
        parts: Vec<Partial>,
        min_doc_count: u64,
    ) -> Result<Vec<KeyedBucket>> {
        let mut all: Vec<KeyedBucket> = Vec::new();
        for part in parts {
            if let Partial::Histogram(buckets) = part {
                all.extend(buckets);
            }
        }
        all.sort_by_key(|bucket| bucket.key);
        let mut merged = Vec::new();
        let mut from = all.into_iter().peekable();
        while let Some(first) = from.next() {
            let (key, mut doc_count) = (first.key, first.doc_count);
            let mut subs = vec![first.subs];
            while let Some(next) = from.next_if(|next| next.key == key) {
                doc_count += next.doc_count;
                subs.push(next.subs);
            }
            if doc_count >= min_doc_count {
                self.count_buckets(1)?;
                merged.push(KeyedBucket { key, doc_count, subs: self.subs(&aggregation.subs, subs)? });
            }
        }
        Ok(merged)
    }

    /// Puts empty buckets between `first` and `last` (both included) and the buckets that are there.
    fn fill(
        &mut self,
        aggregation: &Aggregation,
        buckets: Vec<KeyedBucket>,
        range: Option<(i64, i64)>,
        next: impl Fn(i64) -> i64,
    ) -> Result<Vec<KeyedBucket>> {
        let known = buckets.first().map(|first| first.key).zip(buckets.last().map(|last| last.key));
        let (mut key, last) = match (range, known) {
            (Some((first, last)), Some((least, most))) => (first.min(least), last.max(most)),
            (Some(range), None) | (None, Some(range)) => range,
            (None, None) => return Ok(buckets),
        };
        let empty = self.subs(&aggregation.subs, Vec::new())?;
        let mut filled = Vec::with_capacity(buckets.len());
        let mut from = buckets.into_iter().peekable();
        while key <= last {
            match from.next_if(|bucket| bucket.key <= key) {
                Some(bucket) => {
                    let own = bucket.key;
                    filled.push(bucket);
                    if own < key {
                        continue;
                    }
                }
                None => {
                    self.count_buckets(1)?;
                    filled.push(KeyedBucket { key, doc_count: 0, subs: empty.clone() });
                }
            }
            let following = next(key);
            if following <= key {
                break;
            }
            key = following;
        }
        filled.extend(from);
        Ok(filled)
    }

    fn fill_histogram(
        &mut self,
        aggregation: &Aggregation,
        request: &Histogram,
        buckets: Vec<KeyedBucket>,
    ) -> Result<Vec<KeyedBucket>> {
        let bounds = &request.extended_bounds;
        let number = |end: Option<f64>| end.map(|end| request.number(end));
        let range = bound_range(number(bounds.min), number(bounds.max), &buckets);
        self.fill(aggregation, buckets, range, |key| key.saturating_add(1))
    }

    fn fill_dates(
        &mut self,
        aggregation: &Aggregation,
        shape: &DateShape,
        buckets: Vec<KeyedBucket>,
    ) -> Result<Vec<KeyedBucket>> {
        let bounds = &shape.extended_bounds;
        let range = bound_range(bounds.min, bounds.max, &buckets);
        self.fill(aggregation, buckets, range, |key| shape.rounding.next(key))
    }
}

/// The range that extended bounds ask for; an open end is that of the buckets.
fn bound_range(min: Option<i64>, max: Option<i64>, buckets: &[KeyedBucket]) -> Option<(i64, i64)> {
    let first = buckets.first().map(|bucket| bucket.key);
    let last = buckets.last().map(|bucket| bucket.key);
    min.or(first).zip(max.or(last)).filter(|(min, max)| min <= max)
}

fn sorted(order: &BucketOrder, aggregation: &Aggregation, mut buckets: Vec<KeyedBucket>) -> Vec<KeyedBucket> {
    if !order.is_key_ascending() {
        buckets.sort_by(|left, right| {
            let pair = ((left.doc_count, &left.subs), (right.doc_count, &right.subs));
            compare_by(order, aggregation, pair, || left.key.cmp(&right.key))
        });
    }
    buckets
}

/// A page of [composite] larger than all buckets may be.
pub fn too_many_composite_buckets(limit: u64, size: u64) -> RequestError {
    RequestError::new(
        400,
        "too_many_buckets_exception",
        format!(
            "Trying to create too many buckets. Must be less than or equal to: [{limit}] but was [{size}]. This limit can be set by changing \
             the [search.max_buckets] cluster level setting."
        ),
    )
    .with("max_buckets", limit)
}

/// What a pipeline could not do, in what Elasticsearch wraps it in.
fn failed_in_reduce(error: Error) -> Error {
    match error {
        Error::Request(cause) => in_reduce(cause).into(),
        other => other,
    }
}

/// Elasticsearch's `TooManyBucketsException`, inside of the exception of the phase that found it.
fn too_many_buckets(limit: u64) -> RequestError {
    let cause = RequestError::new(
        400,
        "too_many_buckets_exception",
        format!(
            "Trying to create too many buckets. Must be less than or equal to: [{limit}] but this number of buckets was exceeded. This limit \
             can be set by changing the [search.max_buckets] cluster level setting."
        ),
    )
    .with("max_buckets", limit);
    in_reduce(cause)
}

/// What Elasticsearch wraps errors of the last reduce in.
pub fn in_reduce(cause: RequestError) -> RequestError {
    RequestError::new(400, "search_phase_execution_exception", "")
        .with("phase", "fetch")
        .with("grouped", true)
        .with("failed_shards", serde_json::Value::Array(Vec::new()))
        .caused_by(cause)
}
