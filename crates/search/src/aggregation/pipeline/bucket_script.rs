//! `bucket_script` and `bucket_selector`: run a script on the values of each bucket, to compute a value or to
//! select buckets.
//!
//! Source: Elasticsearch's `BucketScriptPipelineAggregator` and `BucketSelectorPipelineAggregator`. Scripts
//! are compiled when the request is parsed; stored ones are found when it reaches a shard.

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext};
use serde_json::Value;

use super::super::answer::partial::Partial;
use super::super::options::{Options, unknown_field};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::super::values::given_script::GivenScript;
use super::check::any_parent;
use super::definition::{Enclosing, Pipeline, SimpleValue};
use super::options::{GapPolicy, format};
use super::path::{BucketsPath, value_of};
use super::rows::{keep, rows, subs_mut};
use crate::error::{Result, check_request};
use crate::values::json;

/// Largest number of paths of one aggregation.
const PATH_COUNT_MAX: usize = 64;

/// The common part of both: the script, and the paths of its parameters.
#[derive(Debug)]
struct Scripted {
    /// Keyed by the names of the script's parameters.
    paths: Vec<(String, BucketsPath)>,
    gaps: GapPolicy,
    script: GivenScript,
}

impl Scripted {
    fn parse(options: &mut Options, context: ScriptContext) -> std::result::Result<Scripted, RequestError> {
        let paths = paths(options)?;
        let script = match options.take("script") {
            None => {
                // A misspelt option is reported first.
                let known = ["gap_policy", "format"];
                let unknown = options.names_left().find(|name| !known.contains(name));
                return Err(match unknown {
                    Some(name) => unknown_field(options.kind, name),
                    None => RequestError::illegal_argument("Required [script]"),
                });
            }
            Some(script) => Script::parse(&script).map_err(|cause| options.failed("script", cause))?,
        };
        Ok(Scripted { paths, gaps: GapPolicy::parse(options)?, script: GivenScript::new(script, context)? })
    }

    /// Returns the script's result for each bucket; `None` if a value is missing and `needs_all` is set.
    fn outcomes(
        &self,
        work: &Enclosing<'_>,
        partial: &mut Partial,
        needs_all: bool,
    ) -> Result<Vec<Option<limber_script::Value>>> {
        let (own, shape) = (work.aggregation, work.shape);
        let mut run = self.script.compiled(work.stored_script())?.start();
        let mut outcomes = Vec::new();
        for row in rows(own, shape, partial)? {
            check_request()?;
            let mut values = Vec::with_capacity(self.paths.len());
            for (name, path) in &self.paths {
                let value = value_of(path, self.gaps, (&own.subs, &shape.subs), &row, &own.name)?;
                values.push((name.as_str(), value.unwrap_or(f64::NAN)));
            }
            let is_skipped = needs_all && values.iter().any(|(_, value)| !value.is_finite());
            outcomes.push(if is_skipped { None } else { Some(run.run(&values)?) });
        }
        Ok(outcomes)
    }
}

/// Reads `{"name": "path"}`, or paths without names, which get the names `_value`, or `_value0`, `_value1`,
/// ...
fn paths(options: &mut Options) -> std::result::Result<Vec<(String, BucketsPath)>, RequestError> {
    let read = |value: &Value| json::scalar_text(value).map(|text| BucketsPath::parse(&text));
    let found: Option<Vec<_>> = match options.take("buckets_path") {
        Some(Value::Object(map)) => {
            map.iter().map(|(name, path)| Some((name.clone(), read(path)?))).collect()
        }
        Some(Value::Array(list)) => {
            list.iter().enumerate().map(|(at, path)| Some((format!("_value{at}"), read(path)?))).collect()
        }
        Some(one) => read(&one).map(|path| vec![("_value".to_owned(), path)]),
        None => None,
    };
    match found {
        Some(paths) if paths.len() > PATH_COUNT_MAX => {
            Err(options.refused("buckets_path", format!("more than {PATH_COUNT_MAX} paths")))
        }
        Some(paths) => Ok(paths),
        None => Err(RequestError::illegal_argument("Required [buckets_path]")),
    }
}

/// The options of a `bucket_script`: a script that computes a number from values of a bucket.
#[derive(Debug)]
pub struct BucketScript {
    scripted: Scripted,
    format: Format,
}

impl BucketScript {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let scripted = Scripted::parse(options, ScriptContext::BucketScript)?;
        Ok(Kind::pipeline(BucketScript { scripted, format: format(options)? }))
    }
}

impl Pipeline for BucketScript {
    fn paths(&self) -> Vec<&BucketsPath> {
        self.scripted.paths.iter().map(|(_, path)| path).collect()
    }

    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        self.scripted.script.stored()
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        any_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let outcomes = self.scripted.outcomes(work, partial, true)?;
        for (subs, outcome) in subs_mut(partial).into_iter().zip(outcomes) {
            check_request()?;
            if let Some(value) = outcome.filter(|value| !value.is_null()) {
                subs[work.place] = SimpleValue::new(value.f64(), &self.format)?.into_partial();
            }
        }
        Ok(())
    }
}

/// The options of a `bucket_selector`: a script that decides whether a bucket is kept.
#[derive(Debug)]
pub struct BucketSelector(Scripted);

impl BucketSelector {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        Scripted::parse(options, ScriptContext::BucketSelector)
            .map(|scripted| Kind::pipeline(BucketSelector(scripted)))
    }
}

impl Pipeline for BucketSelector {
    fn paths(&self) -> Vec<&BucketsPath> {
        self.0.paths.iter().map(|(_, path)| path).collect()
    }

    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        self.0.script.stored()
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        any_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let outcomes = self.0.outcomes(work, partial, false)?;
        let is_kept = |outcome: &Option<limber_script::Value>| {
            matches!(outcome, Some(limber_script::Value::Bool(true)))
        };
        let places: Vec<usize> = outcomes
            .iter()
            .enumerate()
            .filter(|(_, outcome)| is_kept(outcome))
            .map(|(place, _)| place)
            .collect();
        match keep(partial, &places) {
            true => Ok(()),
            false => Err(RequestError::unsupported(format!(
                "[bucket_selector] in the aggregation [{}]",
                work.aggregation.type_name
            ))
            .into()),
        }
    }
}
