//! What a pipeline aggregation says about itself, and what it makes.

use std::fmt::Debug;

use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::bind::Shape;
use super::super::tree::Aggregation;
use super::super::values::format::{Format, double};
use super::path::BucketsPath;
use crate::error::Result;

/// One pipeline aggregation as asked for.
pub trait Pipeline: Debug + Send + Sync {
    /// What it reads.
    fn paths(&self) -> Vec<&BucketsPath>;

    /// What is wrong with its place: `parent` is the aggregation it is in.
    fn check(
        &self,
        own: &Aggregation,
        parent: Option<&Aggregation>,
        siblings: &[Aggregation],
    ) -> Option<String>;

    /// Whether it stands beside the aggregation whose buckets it reads, rather than in it.
    fn is_beside(&self) -> bool {
        false
    }

    /// Looks at all buckets of the aggregation it is in.
    fn over_buckets(&self, _work: &Enclosing<'_>, _partial: &mut Partial) -> Result<()> {
        Ok(())
    }

    /// Makes one value of the results beside it.
    fn beside(&self, _level: &Level<'_>) -> Result<Partial> {
        Ok(Partial::Absent)
    }
}

/// The aggregation that a pipeline is in.
#[derive(Debug, Clone, Copy)]
pub struct Enclosing<'e> {
    pub aggregation: &'e Aggregation,
    pub shape: &'e Shape,
    /// The pipeline's place among the aggregations below.
    pub place: usize,
}

/// The results of one level in one bucket.
#[derive(Debug, Clone, Copy)]
pub struct Level<'l> {
    pub list: &'l [Aggregation],
    pub shapes: &'l [Shape],
    pub partials: &'l [Partial],
}

/// What a pipeline made: shown as it is, read by name.
#[derive(Debug, Clone)]
pub struct PipelineValue {
    pub typed_name: &'static str,
    pub body: Map<String, Value>,
    /// By name; the first is what a path without a name leads to.
    pub numbers: Vec<(String, f64)>,
    /// A bucket of an aggregation beside the pipeline, which is shown first.
    pub bucket: Option<PickedBucket>,
}

/// One bucket of another aggregation, as a pipeline shows it.
#[derive(Debug, Clone)]
pub struct PickedBucket {
    /// Places from the pipeline's own level down to the aggregation whose bucket it is.
    pub places: Vec<usize>,
    /// Its key as text.
    pub key: String,
    pub doc_count: u64,
    pub subs: Vec<Partial>,
}

impl PipelineValue {
    /// `value`, and `value_as_string` under a format.
    pub fn simple(value: f64, format: &Format) -> PipelineValue {
        let mut body = Map::new();
        let has_value = value.is_finite();
        body.insert("value".into(), if has_value { double(value) } else { Value::Null });
        if has_value && !format.is_raw() {
            body.insert("value_as_string".into(), format.text(value).into());
        }
        PipelineValue {
            typed_name: "simple_value",
            body,
            numbers: vec![("value".into(), value)],
            bucket: None,
        }
    }

    /// The number that a `buckets_path` of another pipeline leads to. `name`: what is behind the last dot of
    /// the path.
    pub fn number(&self, name: Option<&str>) -> Option<f64> {
        match name {
            None => self.numbers.first(),
            Some(name) => self.numbers.iter().find(|(own, _)| own == name),
        }
        .map(|(_, number)| *number)
    }

    /// The result in the form in which all answers of aggregations are kept.
    pub fn into_partial(self) -> Partial {
        Partial::Pipeline(Box::new(self))
    }
}
