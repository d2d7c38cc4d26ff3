//! What an aggregation type says about itself, in four parts: what it [asks for](Request), how it
//! [collects](Collect) a shard, how findings are [put together](Reduce), and how the answer is
//! [shown](Render).
//!
//! Findings are of the aggregation's own type ([`Reduce::Finding`]); [`Definition`] is the same behind one
//! type for all.

use std::any::Any;
use std::fmt::Debug;

use limber_mapping::RequestError;
use limber_script::{ContextScript, Script, ScriptContext};
use serde_json::{Map, Value};

use super::answer::order::{BucketOrder, NameCheck, OrderValues};
use super::answer::partial::{Finding, Partial};
use super::answer::reduce::Reducer;
use super::answer::render::Renderer;
use super::bind::{Bound, Shape, Width};
use super::budget::Budget;
use super::collector::{Collector, Subs};
use super::options::ValuesOptions;
use super::source::Accepts;
use super::terms::Include;
use super::tree::Aggregation;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::Query;

/// One aggregation as asked for: what it reads, where it may stand, what is wrong with it.
pub trait Request: Any + Debug + Send + Sync {
    /// The fields it reads; [`Bound::sources`] and [`Shape::sources`] are in this order.
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        Vec::new()
    }

    /// The type that errors name for the field at this place, where it is not the aggregation's own.
    fn type_name_of(&self, _place: usize) -> Option<&'static str> {
        None
    }

    /// Whether it reads the ranges of range fields; the others refuse such a field.
    fn reads_ranges(&self) -> bool {
        false
    }

    /// Whether it shows documents, or terms of documents, that the query does not match.
    fn sees_all_docs(&self) -> bool {
        false
    }

    /// The queries it needs bound; [`Bound::queries`] are in this order.
    fn queries(&self) -> Vec<&Query> {
        Vec::new()
    }

    /// The scripts it runs on a shard.
    fn scripts(&self, _own: &Aggregation, _shard: &ShardSnapshot) -> Result<Vec<(Script, ScriptContext)>> {
        Ok(Vec::new())
    }

    /// The script it runs over what all shards found.
    fn reduce_script(
        &self,
        _shard: &ShardSnapshot,
    ) -> Option<std::result::Result<ContextScript, RequestError>> {
        None
    }

    /// The documents that the aggregations below it see, where those are not the shard's own.
    fn scope(&self, _own: &Aggregation, _shard: &ShardSnapshot) -> Result<Option<ShardSnapshot>> {
        Ok(None)
    }

    /// Adds what the answer must know of the shard beyond fields and formats; the shape's sources are there.
    fn complete_shape(&self, _shape: &mut Shape) -> Result<()> {
        Ok(())
    }

    /// How long its buckets are, where they are made of dates.
    fn width(&self, _own: &Aggregation, _shape: &Shape) -> Result<Option<Width>> {
        Ok(None)
    }

    /// Whether aggregations may be below it.
    fn takes_subs(&self) -> bool {
        true
    }

    /// Which values may have buckets; [`Bound::filter`] is made of it with the first field.
    fn includes(&self) -> (&Option<Include>, &Option<Include>) {
        (&None, &None)
    }

    /// The order of its buckets, where that may name aggregations below.
    fn order(&self) -> Option<&BucketOrder> {
        None
    }

    /// What is wrong on a shard with the paths of its order; the query of the search is the one of all
    /// documents without one.
    fn check_order(
        &self,
        own: &Aggregation,
        _shape: &Shape,
        _search_query: Option<&Query>,
    ) -> std::result::Result<(), RequestError> {
        self.order().map_or(Ok(()), |order| order.check_on_shard(&own.subs))
    }

    /// The least documents of a bucket, of a histogram: at 0 its buckets follow one another without gaps.
    fn histogram_min_doc_count(&self) -> Option<u64> {
        None
    }

    /// Whether Elasticsearch counts the terms around it by filters, where all documents are counted.
    fn goes_below_filters(&self) -> bool {
        true
    }

    /// Whether a shard has what it looks at, where that is not one of [`Request::values`].
    fn is_mapped(&self, _shard: &ShardSnapshot) -> bool {
        true
    }

    fn needs_scores(&self) -> bool {
        false
    }

    /// Whether it shows hits, for which the search's own query is bound once more.
    fn needs_search_query(&self) -> bool {
        false
    }

    /// Whether it is one bucket, so that paths may lead through it.
    fn is_single_bucket(&self) -> bool {
        false
    }

    /// Whether paths may lead to all of its buckets at once.
    fn has_several_buckets(&self) -> bool {
        self.takes_subs() && !self.is_single_bucket()
    }

    /// What is wrong with its place in the request; `parents` from the outermost on.
    fn check_place(
        &self,
        _own: &Aggregation,
        _parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// What is wrong with what is below it on a shard.
    fn check_subs(&self, _own: &Aggregation, _bound: &Bound) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// What is wrong with it on a shard.
    fn check_on_shard(&self, _bound: &Bound, _shard: &ShardSnapshot) -> Result<()> {
        Ok(())
    }

    /// What is wrong with a path that ends here, at the number of this name.
    fn check_number(
        &self,
        _own: &Aggregation,
        _value: Option<&str>,
    ) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// What the buckets around it can be ordered by.
    fn order_values(&self) -> OrderValues {
        match self.is_single_bucket() {
            true => OrderValues::Documents,
            false => OrderValues::Nothing,
        }
    }

    /// Whether it has a number of this name, where it has several; `own`: its name.
    fn check_order_name(&self, _own: &str, _name: &str) -> NameCheck {
        NameCheck::known()
    }
}

/// How it collects the documents of a shard.
pub trait Collect {
    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>>;
}

/// How the findings of shards (or of buckets that become one) are put together.
pub trait Reduce {
    /// What is found in one bucket of the parent.
    type Finding: Finding;

    /// No parts: an empty bucket.
    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Self::Finding>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Self::Finding>;
}

/// How the answer is shown: as JSON, and as the numbers that paths lead to.
pub trait Render: Reduce {
    /// Writes the body of the answer. Buckets are written by [`Renderer::bucket`], which refuses what there
    /// is no memory for.
    fn render(
        &self,
        finding: &Self::Finding,
        renderer: &Renderer<'_>,
        out: &mut Map<String, Value>,
    ) -> Result<()>;

    /// The type's name in `type#name`.
    fn typed_name(&self, own: &Aggregation, _finding: &Self::Finding, _shape: &Shape) -> String {
        own.type_name.to_owned()
    }

    /// Objects that its body is shown as, about: what an answer takes is charged by it.
    fn object_count(&self) -> u64 {
        1
    }

    /// The number that a path such as `name` or `name.value` leads to.
    fn number(&self, _finding: &Self::Finding, _value: Option<&str>) -> Option<f64> {
        None
    }

    /// What Elasticsearch calls the result that a path leads to, where that is no number.
    fn java_name(&self, _finding: &Self::Finding, _value: Option<&str>) -> &'static str {
        "Object[]"
    }

    /// The key of the bucket at a place, where buckets are known by their place.
    fn bucket_text(&self, _place: usize, _shape: &Shape) -> Option<String> {
        None
    }

    /// The key that a histogram's bucket of this number has, where that is no whole number.
    fn double_key(&self, _number: i64) -> Option<f64> {
        None
    }
}

/// Any aggregation that collects documents. Its methods are those of [`Reduce`] and [`Render`] over
/// [`Partial`].
pub trait Definition: Request + Collect {
    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial>;
    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Map<String, Value>) -> Result<()>;
    fn typed_name(&self, own: &Aggregation, partial: &Partial, shape: &Shape) -> String;
    fn object_count(&self) -> u64;
    fn number(&self, partial: &Partial, value: Option<&str>) -> Option<f64>;
    fn java_name(&self, partial: &Partial, value: Option<&str>) -> &'static str;
    fn bucket_text(&self, place: usize, shape: &Shape) -> Option<String>;
    fn double_key(&self, number: i64) -> Option<f64>;
}

impl<T: Request + Collect + Render> Definition for T {
    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial> {
        let parts = parts.into_iter().filter_map(T::Finding::from_partial).collect();
        Ok(Reduce::reduce(self, own, parts, reducer)?.into_partial())
    }

    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Map<String, Value>) -> Result<()> {
        match T::Finding::in_partial(partial) {
            Some(finding) => Render::render(self, finding, renderer, out),
            None => Ok(()),
        }
    }

    fn typed_name(&self, own: &Aggregation, partial: &Partial, shape: &Shape) -> String {
        match T::Finding::in_partial(partial) {
            Some(finding) => Render::typed_name(self, own, finding, shape),
            None => own.type_name.to_owned(),
        }
    }

    fn object_count(&self) -> u64 {
        Render::object_count(self)
    }

    fn number(&self, partial: &Partial, value: Option<&str>) -> Option<f64> {
        Render::number(self, T::Finding::in_partial(partial)?, value)
    }

    fn java_name(&self, partial: &Partial, value: Option<&str>) -> &'static str {
        let finding = T::Finding::in_partial(partial);
        finding.map_or("Object[]", |finding| Render::java_name(self, finding, value))
    }

    fn bucket_text(&self, place: usize, shape: &Shape) -> Option<String> {
        Render::bucket_text(self, place, shape)
    }

    fn double_key(&self, number: i64) -> Option<f64> {
        Render::double_key(self, number)
    }
}

/// Where a collector works.
#[derive(Debug)]
pub struct Place<'s> {
    pub bound: &'s Bound,
    pub subs: Subs<'s>,
    pub shard: &'s ShardSnapshot,
    /// There is one bucket around.
    pub is_alone: bool,
    pub budget: &'s Budget,
}
