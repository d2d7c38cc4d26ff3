//! Reduces what the shards found to the buckets and values of the whole search.

use limber_mapping::{ErrorClass, RequestError};
use limber_script::ContextScript;
use limber_work as work;

use super::partial::{Bucket, Partial};
use crate::aggregation::bind::Shape;
use crate::aggregation::collector::ShardAggregations;
use crate::aggregation::pipeline;
use crate::aggregation::source::Source;
use crate::aggregation::tree::{Aggregation, Aggregations, Kind};
use crate::context::SearchContext;
use crate::error::{Error, Result};

/// The whole search's aggregations, ready to be shown.
#[derive(Debug, Clone)]
pub struct ReducedAggregations {
    pub(in crate::aggregation) partials: Vec<Partial>,
    pub(in crate::aggregation) shapes: Vec<Shape>,
}

/// Reduces the shards' findings.
///
/// # Errors
/// Fails with `too_many_buckets_exception` beyond `search.max_buckets`, for an order path that leads nowhere,
/// and when the memory pool is full.
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
    let mut reducer = Reducer { context, bucket_count: 0, shapes: &shapes, path: Vec::new() };
    let mut partials = if all.is_empty() { Vec::new() } else { reducer.subs(&request.list, all)? };
    pipeline::resolve(&request.list, &shapes, &mut partials).map_err(failed_in_reduce)?;
    Ok(ReducedAggregations { partials, shapes })
}

fn check_orders(list: &[Aggregation]) -> std::result::Result<(), RequestError> {
    for aggregation in list {
        if let Some(order) = aggregation.definition().and_then(|definition| definition.order()) {
            order.check(&aggregation.subs)?;
        }
        check_orders(&aggregation.subs)?;
    }
    Ok(())
}

/// Prefers the shape of a shard that maps the field: it knows how the values are shown.
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
    shapes: &'r [Shape],
    /// Indexes of the aggregations from the root down to the current one.
    path: Vec<usize>,
}

impl Reducer<'_> {
    /// Returns the search that the buckets belong to.
    pub fn context(&self) -> &SearchContext {
        self.context
    }

    /// `search.max_buckets`.
    fn max_buckets(&self) -> u64 {
        u64::from(self.context.max_buckets)
    }

    /// Counts buckets of the answer, before they are made.
    pub fn count_buckets(&mut self, count: usize) -> Result<()> {
        work::check_beyond_deadline()?;
        self.bucket_count = self.bucket_count.saturating_add(count as u64);
        if self.bucket_count > self.max_buckets() {
            return Err(too_many_buckets(self.max_buckets()).into());
        }
        Ok(())
    }

    /// Returns the fields of the current aggregation, as the shards know them.
    pub fn sources(&self) -> &[Source] {
        self.shape().map_or(&[], |shape| &shape.sources)
    }

    /// Fails when `count` more buckets would be too many.
    pub fn check_buckets(&self, count: usize) -> Result<()> {
        match self.bucket_count.saturating_add(count as u64) > self.max_buckets() {
            true => Err(too_many_buckets(self.max_buckets()).into()),
            false => Ok(()),
        }
    }

    /// Returns the [`Shape::reduce_script`] of the current aggregation.
    pub fn script(&self) -> Option<&std::result::Result<ContextScript, RequestError>> {
        self.shape().and_then(|shape| shape.reduce_script.as_ref())
    }

    /// Returns what the shards know about the current aggregation.
    pub fn shape(&self) -> Option<&Shape> {
        let (first, rest) = self.path.split_first()?;
        rest.iter().try_fold(self.shapes.get(*first)?, |shape, &place| shape.subs.get(place))
    }

    /// Reduces the sub-aggregations of one bucket; `parts` comes from the shards (or merged buckets) that
    /// have the bucket.
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
            Kind::Own(definition) => definition.reduce(aggregation, parts, self),
            Kind::Pipeline(_) => Ok(Partial::Absent),
        }
    }

    /// Merges several buckets into one.
    pub fn bucket(&mut self, aggregation: &Aggregation, buckets: Vec<Bucket>) -> Result<Bucket> {
        let doc_count = buckets.iter().map(|bucket| bucket.doc_count).sum();
        let subs = buckets.into_iter().map(|bucket| bucket.subs).collect();
        Ok(Bucket::new(doc_count, self.subs(&aggregation.subs, subs)?))
    }

    /// Merges buckets by their position; there are `width` positions.
    pub fn fixed(
        &mut self,
        aggregation: &Aggregation,
        parts: Vec<Vec<Bucket>>,
        width: usize,
    ) -> Result<Vec<Bucket>> {
        // Without any part, as for a bucket that fills a gap in a histogram, all buckets are empty.
        let mut columns: Vec<Vec<Bucket>> = vec![Vec::new(); width];
        for part in parts {
            columns.iter_mut().zip(part).for_each(|(column, bucket)| column.push(bucket));
        }
        self.count_buckets(columns.len())?;
        columns.into_iter().map(|column| self.bucket(aggregation, column)).collect()
    }
}

/// Returns the error for a [composite] page that is larger than the limit of buckets.
pub fn too_many_composite_buckets(limit: u64, size: u64) -> RequestError {
    RequestError::bad_request("too_many_buckets_exception",
        format!(
            "Trying to create too many buckets. Must be less than or equal to: [{limit}] but was [{size}]. This limit can be set by changing \
             the [search.max_buckets] cluster level setting."
        ),
    )
    .with("max_buckets", limit)
}

/// Wraps the error of a pipeline aggregation as Elasticsearch does.
fn failed_in_reduce(error: Error) -> Error {
    match error {
        Error::Request(cause) => in_reduce(cause).into(),
        other => other,
    }
}

/// Elasticsearch's `TooManyBucketsException`, wrapped in the exception of the phase that throws it.
fn too_many_buckets(limit: u64) -> RequestError {
    let cause = RequestError::bad_request("too_many_buckets_exception",
        format!(
            "Trying to create too many buckets. Must be less than or equal to: [{limit}] but this number of buckets was exceeded. This limit \
             can be set by changing the [search.max_buckets] cluster level setting."
        ),
    )
    .with("max_buckets", limit);
    in_reduce(cause)
}

/// Fails if some keys are texts and others are numbers, as those of a field that has one type in one index
/// and another type in another index. `are_texts` says it of each key.
pub fn check_one_type(aggregation: &Aggregation, mut are_texts: impl Iterator<Item = bool>) -> Result<()> {
    let Some(first) = are_texts.next() else { return Ok(()) };
    if are_texts.all(|other| other == first) {
        return Ok(());
    }
    Err(in_reduce(RequestError::illegal_argument(format!(
        "Merging/Reducing the aggregations failed when computing the aggregation [{}] because the field you gave in the aggregation query \
         existed as two different types in two different indices",
        aggregation.name
    )))
    .into())
}

/// Returns the exception that Elasticsearch wraps errors of the last reduce in.
pub fn in_reduce(cause: RequestError) -> RequestError {
    let class = match cause.class {
        ErrorClass::NotFound => ErrorClass::NotFound,
        _ => ErrorClass::BadRequest,
    };
    RequestError::new(class, "search_phase_execution_exception", "")
        .with("phase", "fetch")
        .with("grouped", true)
        .with("failed_shards", serde_json::Value::Array(Vec::new()))
        .caused_by(cause)
}
