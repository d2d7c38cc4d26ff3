//! What an aggregation type says about itself: "which fields and queries does it need, how does it collect, and how is it put together and
//! shown?"

use std::any::Any;
use std::fmt::Debug;

use limber_mapping::RequestError;
use limber_script::{ContextScript, Script, ScriptContext};
use serde_json::{Map, Value};

use super::bind::{Bound, Shape, Width};
use super::budget::Budget;
use super::collector::{Collector, Subs};
use super::options::ValuesOptions;
use super::order::{BucketOrder, NameCheck, OrderValues};
use super::partial::{Bucket, Partial};
use super::reduce::Reducer;
use super::render::Renderer;
use super::source::Accepts;
use super::terms::Include;
use super::tree::Aggregation;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::Query;

/// One aggregation as asked for.
pub trait Definition: Any + Debug + Send + Sync {
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

    /// What is wrong on a shard with the paths of its order; the query of the search is the one of all documents without one.
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

    /// Whether a shard has what it looks at, where that is not one of [`Definition::values`].
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

    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>>;

    /// Puts the findings of shards (or of buckets that become one) together. No parts: an empty bucket.
    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial>;

    /// Objects that its body is shown as, about: what an answer takes is charged by it.
    fn object_count(&self) -> u64 {
        1
    }

    /// The type's name in `type#name`.
    fn typed_name(&self, own: &Aggregation, _partial: &Partial, _shape: &Shape) -> String {
        own.type_name.to_owned()
    }

    /// Writes the body of the answer. Buckets are written by [`Renderer::bucket`], which refuses what there is no memory for.
    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Map<String, Value>) -> Result<()>;

    /// The results below each of its buckets, in a finding of its own form.
    fn buckets_mut<'p>(&self, _partial: &'p mut Partial) -> Vec<&'p mut Vec<Partial>> {
        Vec::new()
    }

    /// The key of the bucket at a place, where buckets are known by their place.
    fn bucket_text(&self, _place: usize, _shape: &Shape) -> Option<String> {
        None
    }

    /// The key that a histogram's bucket of this number has, where that is no whole number.
    fn double_key(&self, _number: i64) -> Option<f64> {
        None
    }

    /// Its only bucket, in a finding of its own form.
    fn single<'p>(&self, _partial: &'p Partial) -> Option<&'p Bucket> {
        None
    }

    /// What is wrong with a path that ends here, at the number of this name.
    fn check_number(&self, _own: &Aggregation, _value: Option<&str>) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// The number that a path such as `name` or `name.value` leads to.
    fn number(&self, _partial: &Partial, _value: Option<&str>) -> Option<f64> {
        None
    }

    /// What Elasticsearch calls the result that a path leads to, where that is no number.
    fn java_name(&self, _partial: &Partial, _value: Option<&str>) -> &'static str {
        "Object[]"
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

/// Where a collector works.
#[derive(Debug)]
pub struct Place<'s> {
    pub bound: &'s Bound,
    pub subs: Subs<'s>,
    pub shard: &'s ShardSnapshot,
    pub budget: &'s Budget,
}

/// What one shard found, in a form that only its [`Definition`] knows.
pub trait Found: Any + Debug + Send + Sync {
    fn clone_found(&self) -> Box<dyn Found>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Any + Clone + Debug + Send + Sync> Found for T {
    fn clone_found(&self) -> Box<dyn Found> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Clone for Box<dyn Found> {
    fn clone(&self) -> Box<dyn Found> {
        (**self).clone_found()
    }
}

impl Partial {
    /// A finding of a [`Definition`].
    pub fn own<T: Found>(found: T) -> Partial {
        Partial::Own(Box::new(found))
    }

    pub fn as_own<T: Found>(&self) -> Option<&T> {
        match self {
            Partial::Own(found) => (**found).as_any().downcast_ref(),
            _ => None,
        }
    }

    pub fn as_own_mut<T: Found>(&mut self) -> Option<&mut T> {
        match self {
            Partial::Own(found) => (**found).as_any_mut().downcast_mut(),
            _ => None,
        }
    }

    pub fn into_own<T: Found>(self) -> Option<T> {
        match self {
            Partial::Own(found) => found.into_any().downcast().ok().map(|found| *found),
            _ => None,
        }
    }
}
