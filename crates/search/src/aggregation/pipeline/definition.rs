//! The interface of a pipeline aggregation, and its results.

use std::fmt::Debug;

use limber_script::{Script, ScriptContext};
use serde_json::{Map, Value};

use super::super::answer::members::Object;
use super::super::answer::partial::Partial;
use super::super::bind::Shape;
use super::super::tree::Aggregation;
use super::super::values::claimed;
use super::super::values::format::{Format, double};
use super::super::values::given_script::FoundScript;
use super::path::BucketsPath;
use crate::error::Result;

/// One pipeline aggregation as given in the request.
pub trait Pipeline: Debug + Send + Sync {
    /// Returns the paths that it reads.
    fn paths(&self) -> Vec<&BucketsPath>;

    /// Validates its position; `parent` is the aggregation that it is in.
    fn check(
        &self,
        own: &Aggregation,
        parent: Option<&Aggregation>,
        siblings: &[Aggregation],
    ) -> Option<String>;

    /// Returns the script that it runs, if that is stored, and what it is for.
    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        None
    }

    /// Whether it is a sibling of the aggregation whose buckets it reads, rather than inside it.
    fn is_beside(&self) -> bool {
        false
    }

    /// Processes the buckets of the aggregation that it is in.
    fn over_buckets(&self, _work: &Enclosing<'_>, _partial: &mut Partial) -> Result<()> {
        Ok(())
    }

    /// Computes a result from those of its siblings.
    fn beside(&self, _level: &Level<'_>) -> Result<Partial> {
        Ok(Partial::Absent)
    }
}

/// The aggregation that a pipeline aggregation is in.
#[derive(Debug, Clone, Copy)]
pub struct Enclosing<'e> {
    pub aggregation: &'e Aggregation,
    pub shape: &'e Shape,
    /// The index of the pipeline among the sub-aggregations.
    pub place: usize,
}

impl<'e> Enclosing<'e> {
    /// Returns the stored script of the pipeline.
    pub fn stored_script(&self) -> Option<&'e FoundScript> {
        self.shape.subs.get(self.place)?.stored_script.as_ref()
    }
}

/// The results of one level in one bucket.
#[derive(Debug, Clone, Copy)]
pub struct Level<'l> {
    pub list: &'l [Aggregation],
    pub shapes: &'l [Shape],
    pub partials: &'l [Partial],
}

/// A result that is one number. There may be millions of them, one for each bucket and pipeline.
#[derive(Debug, Clone)]
pub struct SimpleValue {
    value: f64,
    /// `value_as_string`, if there is a format.
    text: Option<Box<str>>,
}

impl SimpleValue {
    /// Formats the number; one that is not finite is shown as `null`.
    ///
    /// # Errors
    /// As for [`Format::text`].
    pub fn new(value: f64, format: &Format) -> Result<SimpleValue> {
        let is_formatted = value.is_finite() && !format.is_raw();
        let text = is_formatted.then(|| format.text(value)).transpose()?;
        Ok(SimpleValue { value, text: text.map(String::into_boxed_str) })
    }

    /// Writes `value`, and `value_as_string` if there is a format.
    ///
    /// # Errors
    /// Fails when there is no memory for them, or when the client has disconnected.
    pub fn write(&self, out: &mut impl Object) -> Result<()> {
        let shown = if self.value.is_finite() { double(self.value) } else { Value::Null };
        out.put("value", shown)?;
        match &self.text {
            Some(text) => out.put("value_as_string", claimed::name(text)?.into()),
            None => Ok(()),
        }
    }

    /// Does the same as [`PipelineValue::number`].
    pub fn number(&self, name: Option<&str>) -> Option<f64> {
        name.is_none_or(|name| name == "value").then_some(self.value)
    }

    /// Converts the result to the form that all aggregation results have.
    pub fn into_partial(self) -> Partial {
        Partial::Simple(self)
    }
}

/// The result of a pipeline aggregation: the JSON that is shown, and the values that paths can read.
#[derive(Debug, Clone)]
pub struct PipelineValue {
    pub typed_name: &'static str,
    pub body: Map<String, Value>,
    /// Values by name. A path without a name leads to the first one.
    pub numbers: Vec<(String, f64)>,
    /// A bucket of a sibling, which is shown first.
    pub bucket: Option<PickedBucket>,
}

/// One bucket of another aggregation, as a pipeline aggregation shows it.
#[derive(Debug, Clone)]
pub struct PickedBucket {
    /// Indexes from the pipeline's own level down to the aggregation that the bucket belongs to.
    pub places: Vec<usize>,
    /// The key as a string.
    pub key: String,
    pub doc_count: u64,
    pub subs: Vec<Partial>,
}

impl PipelineValue {
    /// Makes a result that starts like a [`SimpleValue`].
    ///
    /// # Errors
    /// As for [`Format::text`].
    pub fn of_number(value: f64, format: &Format, typed_name: &'static str) -> Result<PipelineValue> {
        let mut body = Map::new();
        SimpleValue::new(value, format)?.write(&mut body)?;
        Ok(PipelineValue { typed_name, body, numbers: vec![("value".into(), value)], bucket: None })
    }

    /// Returns the value that the `buckets_path` of another pipeline leads to. `name` is the part after the
    /// last dot of the path.
    pub fn number(&self, name: Option<&str>) -> Option<f64> {
        match name {
            None => self.numbers.first(),
            Some(name) => self.numbers.iter().find(|(own, _)| own == name),
        }
        .map(|(_, number)| *number)
    }

    /// Converts the result to the form that all aggregation results have.
    pub fn into_partial(self) -> Partial {
        Partial::Pipeline(Box::new(self))
    }
}
