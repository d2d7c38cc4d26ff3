//! The interface of an aggregation type, in four parts: what it [asks for](Request), how it
//! [collects](Collect) a shard, how findings are [reduced](Reduce), and how the answer is [rendered](Render).
//!
//! Findings have the aggregation's own type ([`Reduce::Finding`]); [`Definition`] has the same methods with
//! one type for all aggregations.

use std::any::Any;
use std::fmt::Debug;

use limber_mapping::{RequestError, Summary, SummaryColumn};
use limber_script::{ContextScript, Script, ScriptContext};

use super::answer::members::Members;
use super::answer::order::{BucketOrder, NameCheck, OrderValues};
use super::answer::partial::{Finding, Partial};
use super::answer::reduce::Reducer;
use super::answer::render::Renderer;
use super::bind::{Bound, Shape, Width};
use super::budget::Budget;
use super::collector::{Collector, Subs};
use super::options::ValuesOptions;
use super::profiled::ProfileNotes;
use super::source::Accepts;
use super::terms::Include;
use super::tree::Aggregation;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::Query;

/// One aggregation as given in the request: what it reads, where it may occur, and how it is validated.
pub trait Request: Any + Debug + Send + Sync {
    /// Returns the fields that it reads; [`Bound::sources`] and [`Shape::sources`] are in this order.
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        Vec::new()
    }

    /// Returns the type that errors name for the field at this index, if it is not the aggregation's own.
    fn type_name_of(&self, _place: usize) -> Option<&'static str> {
        None
    }

    /// Whether it reads range fields; others refuse such fields.
    fn reads_ranges(&self) -> bool {
        false
    }

    /// Returns the numbers that it reads of a field whose values are summaries, each of which becomes one of
    /// [`Bound::sources`]; none if it refuses such fields.
    fn summary_columns(&self, _summary: &Summary) -> &'static [SummaryColumn] {
        &[]
    }

    /// Whether it shows documents, or terms of documents, that do not match the query.
    fn sees_all_docs(&self) -> bool {
        false
    }

    /// Returns the queries that must be bound; [`Bound::queries`] is in this order.
    fn queries(&self) -> Vec<&Query> {
        Vec::new()
    }

    /// Returns the scripts that it runs on a shard.
    fn scripts(&self, _own: &Aggregation, _shard: &ShardSnapshot) -> Result<Vec<(Script, ScriptContext)>> {
        Ok(Vec::new())
    }

    /// Returns the script that it runs on the findings of all shards.
    fn reduce_script(
        &self,
        _shard: &ShardSnapshot,
    ) -> Option<std::result::Result<ContextScript, RequestError>> {
        None
    }

    /// Returns the script that it runs on numbers alone, if that is stored, and what it is for;
    /// [`Shape::stored_script`] is what a shard finds.
    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        None
    }

    /// Returns the snapshot that its sub-aggregations collect from, if it is not the shard's own.
    fn scope(&self, _own: &Aggregation, _shard: &ShardSnapshot) -> Result<Option<ShardSnapshot>> {
        Ok(None)
    }

    /// Adds what the answer must know about the shard beyond fields and formats. The shape already has its
    /// sources.
    fn complete_shape(&self, _shape: &mut Shape) -> Result<()> {
        Ok(())
    }

    /// Returns the width of its buckets, if they are made of dates.
    fn width(&self, _own: &Aggregation, _shape: &Shape) -> Result<Option<Width>> {
        Ok(None)
    }

    /// Whether it can have sub-aggregations.
    fn takes_subs(&self) -> bool {
        true
    }

    /// Returns which values may have buckets; [`Bound::filter`] is made from it and the first field.
    fn includes(&self) -> (&Option<Include>, &Option<Include>) {
        (&None, &None)
    }

    /// Returns the order of its buckets, if that may name sub-aggregations.
    fn order(&self) -> Option<&BucketOrder> {
        None
    }

    /// Validates the paths of its order on a shard. `search_query` is the query of the search, or the query
    /// for all documents if it has none.
    fn check_order(
        &self,
        own: &Aggregation,
        _shape: &Shape,
        _search_query: Option<&Query>,
    ) -> std::result::Result<(), RequestError> {
        self.order().map_or(Ok(()), |order| order.check_on_shard(&own.subs))
    }

    /// Returns the `min_doc_count` of a histogram; 0 means that its buckets are without gaps.
    fn histogram_min_doc_count(&self) -> Option<u64> {
        None
    }

    /// Whether Elasticsearch counts the terms of an enclosing aggregation with filters if all documents are
    /// counted.
    fn goes_below_filters(&self) -> bool {
        true
    }

    /// Whether a shard has the data that it reads, if that is not one of [`Request::values`].
    fn is_mapped(&self, _shard: &ShardSnapshot) -> bool {
        true
    }

    fn needs_scores(&self) -> bool {
        false
    }

    /// Whether Elasticsearch's sub-aggregations collect nothing before it is known which buckets remain.
    fn defers_subs(&self) -> bool {
        false
    }

    /// Returns what a profile tells of how Elasticsearch collects it. `below` has the names of its
    /// sub-aggregations; `is_alone`: there is only one parent bucket.
    fn profile_notes(
        &self,
        _bound: &Bound,
        below: &[&str],
        _shard: &ShardSnapshot,
        _is_alone: bool,
    ) -> Result<ProfileNotes> {
        Ok(ProfileNotes::deferring(if self.defers_subs() { below } else { &[] }))
    }

    /// Whether it shows hits, for which the query of the search is bound once more.
    fn needs_search_query(&self) -> bool {
        false
    }

    /// Whether it is a single-bucket aggregation, so that paths may lead through it.
    fn is_single_bucket(&self) -> bool {
        false
    }

    /// Whether it is a multi-bucket aggregation, all of whose buckets a path may lead to.
    fn has_several_buckets(&self) -> bool {
        self.takes_subs() && !self.is_single_bucket()
    }

    /// Whether its results can be scaled, so that it may be below `random_sampler`.
    fn can_be_sampled(&self) -> bool {
        false
    }

    /// Whether `composite` may be below it.
    fn may_contain_composite(&self) -> bool {
        false
    }

    /// Validates its position in the request; `parents` starts with the outermost.
    fn check_place(
        &self,
        _own: &Aggregation,
        _parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// Validates its sub-aggregations on a shard.
    fn check_subs(&self, _own: &Aggregation, _bound: &Bound) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// Validates it on a shard.
    fn check_on_shard(&self, _bound: &Bound, _shard: &ShardSnapshot) -> Result<()> {
        Ok(())
    }

    /// Validates a path that ends here, at the value with this name.
    fn check_number(
        &self,
        _own: &Aggregation,
        _value: Option<&str>,
    ) -> std::result::Result<(), RequestError> {
        Ok(())
    }

    /// Returns the values by which an enclosing aggregation can order its buckets.
    fn order_values(&self) -> OrderValues {
        match self.is_single_bucket() {
            true => OrderValues::Documents,
            false => OrderValues::Nothing,
        }
    }

    /// Checks whether it has a value with this name, if it has several; `own` is its own name.
    fn check_order_name(&self, _own: &str, _name: &str) -> NameCheck {
        NameCheck::known()
    }
}

/// Collects the documents of a shard.
pub trait Collect {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>>;
}

/// Reduces the findings of shards, or of buckets that are merged.
pub trait Reduce {
    /// The finding in one bucket of the parent.
    type Finding: Finding;

    /// Reduces the findings. Without parts the result is that of an empty bucket.
    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Self::Finding>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Self::Finding>;
}

/// Renders the answer: as JSON, and as the values that paths lead to.
pub trait Render: Reduce {
    /// Writes the body of the answer. Buckets must be written by [`Renderer::bucket`], which checks the
    /// memory limit.
    fn render(&self, finding: &Self::Finding, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()>;

    /// Returns the name of the type in `type#name`.
    fn typed_name(&self, own: &Aggregation, _finding: &Self::Finding, _shape: &Shape) -> String {
        own.type_name.to_owned()
    }

    /// Returns the value that a path such as `name` or `name.value` leads to.
    fn number(&self, _finding: &Self::Finding, _value: Option<&str>) -> Option<f64> {
        None
    }

    /// Elasticsearch's class name of the result that a path leads to, if it is not a number.
    fn java_name(&self, _finding: &Self::Finding, _value: Option<&str>) -> &'static str {
        "Object[]"
    }

    /// Returns the key of the bucket at an index, if buckets are identified by their index.
    fn bucket_text(&self, _place: usize, _shape: &Shape) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the key of the histogram bucket with this number, if keys are not integers.
    fn double_key(&self, _number: i64) -> Option<f64> {
        None
    }
}

/// Any aggregation that collects documents. Has the methods of [`Reduce`] and [`Render`] for [`Partial`].
pub trait Definition: Request + Collect {
    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial>;
    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()>;
    fn typed_name(&self, own: &Aggregation, partial: &Partial, shape: &Shape) -> String;
    fn number(&self, partial: &Partial, value: Option<&str>) -> Option<f64>;
    fn java_name(&self, partial: &Partial, value: Option<&str>) -> &'static str;
    fn bucket_text(&self, place: usize, shape: &Shape) -> Result<Option<String>>;
    fn double_key(&self, number: i64) -> Option<f64>;
}

impl<T: Request + Collect + Render> Definition for T {
    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial> {
        let parts = parts.into_iter().filter_map(T::Finding::from_partial).collect();
        Ok(Reduce::reduce(self, own, parts, reducer)?.into_partial())
    }

    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
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

    fn number(&self, partial: &Partial, value: Option<&str>) -> Option<f64> {
        Render::number(self, T::Finding::in_partial(partial)?, value)
    }

    fn java_name(&self, partial: &Partial, value: Option<&str>) -> &'static str {
        let finding = T::Finding::in_partial(partial);
        finding.map_or("Object[]", |finding| Render::java_name(self, finding, value))
    }

    fn bucket_text(&self, place: usize, shape: &Shape) -> Result<Option<String>> {
        Render::bucket_text(self, place, shape)
    }

    fn double_key(&self, number: i64) -> Option<f64> {
        Render::double_key(self, number)
    }
}

/// What a collector is made from.
#[derive(Debug)]
pub struct CollectorContext<'s> {
    pub bound: &'s Bound,
    pub subs: Subs<'s>,
    pub shard: &'s ShardSnapshot,
    /// Whether there is only one parent bucket.
    pub is_alone: bool,
    pub budget: &'s Budget,
}
