//! `moving_fn`: a function of the values in a window that moves along the buckets. Source: Elasticsearch's
//! `MovFnPipelineAggregator`.
//!
//! A script that only calls one function of `MovingFunctions` is replaced by that function.

use std::ops::Range;

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext, moving_functions as functions};
use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::super::values::given_script::GivenScript;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, SimpleValue};
use super::options::{GapPolicy, buckets_path, format};
use super::path::{BucketsPath, values_of};
use super::rows::subs_mut;
use crate::error::{Result, check_request};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Max,
    Min,
    Sum,
    UnweightedAvg,
    LinearWeightedAvg,
    /// Around the mean of the window, or around a given mean.
    StdDev(Option<f64>),
    Ewma(f64),
    Holt(f64, f64),
    HoltWinters {
        alpha: f64,
        beta: f64,
        gamma: f64,
        period: usize,
        multiplicative: bool,
    },
}

/// The options of a `moving_fn`: the path of the value, the window, and the script that runs on it.
#[derive(Debug, Clone)]
pub struct MovingFn {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    window: i64,
    shift: i64,
    script: Chosen,
}

/// The function or script that computes a number from a window.
#[derive(Debug, Clone)]
enum Chosen {
    Function(Function),
    Script(GivenScript),
}

impl MovingFn {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let window = window(options)?;
        let shift = i64::from(options.int("shift")?.unwrap_or(0));
        let script =
            options.take("script").ok_or_else(|| RequestError::illegal_argument("Required [script]"));
        let script = script?;
        let chosen = match Function::parse(&script) {
            Some(function) => Chosen::Function(function),
            None => {
                let script = Script::parse(&script).map_err(|cause| options.failed("script", cause))?;
                Chosen::Script(GivenScript::new(script, ScriptContext::MovingFunction)?)
            }
        };
        let path = buckets_path(options, |_| "Required [buckets_path]".to_owned())?;
        let gaps = GapPolicy::parse(options)?;
        Ok(Kind::pipeline(MovingFn { path, gaps, format: format(options)?, window, shift, script: chosen }))
    }
}

/// Reads `window`, which is required and must be positive.
pub fn window(options: &mut Options) -> std::result::Result<i64, RequestError> {
    match options.int("window")? {
        None => Err(RequestError::illegal_argument("Required [window]")),
        Some(window) if window <= 0 => {
            Err(options.refused("window", "[window] must be a positive, non-zero integer."))
        }
        Some(window) => Ok(i64::from(window)),
    }
}

/// Returns the window of `count` values that ends before `place`, shifted by `shift`.
pub fn span(count: usize, place: usize, window: i64, shift: i64) -> Range<usize> {
    let clamp = |at: i64| at.clamp(0, count as i64) as usize;
    clamp(place as i64 - window + shift)..clamp(place as i64 + shift)
}

impl Function {
    /// Parses a script that only calls one function; `None` for any other script.
    fn parse(script: &Value) -> Option<Function> {
        let empty = Map::new();
        let (source, params) = match script {
            Value::String(source) => (source.as_str(), &empty),
            Value::Object(map) => {
                let params = map.get("params").and_then(Value::as_object).unwrap_or(&empty);
                (map.get("source").and_then(Value::as_str)?, params)
            }
            _ => return None,
        };
        let source = source.trim();
        let source = source.strip_prefix("return ").unwrap_or(source).trim_end_matches(';').trim();
        let call = source.strip_prefix("MovingFunctions.").and_then(|call| call.strip_suffix(')'));
        let (name, arguments) = call.and_then(|call| call.split_once('('))?;
        let mut arguments = arguments.split(',').map(str::trim);
        if arguments.next() != Some("values") {
            return None;
        }
        let arguments: Vec<&str> = arguments.collect();
        let given = |place: usize| -> Option<Value> {
            let text = arguments.get(place).copied()?;
            match text.strip_prefix("params.") {
                Some(name) => params.get(name).cloned(),
                None => serde_json::from_str(text.trim_end_matches(['d', 'D', 'f', 'F']))
                    .or_else(|_| serde_json::from_str(text))
                    .ok(),
            }
        };
        let number = |place: usize| given(place)?.as_f64();
        let (function, count) = match name {
            "max" => (Function::Max, 0),
            "min" => (Function::Min, 0),
            "sum" => (Function::Sum, 0),
            "unweightedAvg" => (Function::UnweightedAvg, 0),
            "linearWeightedAvg" => (Function::LinearWeightedAvg, 0),
            "stdDev" if arguments == ["MovingFunctions.unweightedAvg(values)"] => (Function::StdDev(None), 1),
            "stdDev" => (Function::StdDev(Some(number(0)?)), 1),
            "ewma" => (Function::Ewma(number(0)?), 1),
            "holt" => (Function::Holt(number(0)?, number(1)?), 2),
            "holtWinters" => {
                let period = usize::try_from(given(3)?.as_u64()?).ok()?;
                let multiplicative = given(4)?.as_bool()?;
                let (alpha, beta, gamma) = (number(0)?, number(1)?, number(2)?);
                (Function::HoltWinters { alpha, beta, gamma, period, multiplicative }, 5)
            }
            _ => return None,
        };
        (arguments.len() == count).then_some(function)
    }

    /// Seasonal models need two complete seasons, unless there are no values.
    fn check(self, values: &[f64]) -> std::result::Result<(), RequestError> {
        match self {
            Function::HoltWinters { period, .. }
                if !values.is_empty() && values.len() < period.saturating_mul(2) =>
            {
                let cause = RequestError::bad_request(
                    "array_index_out_of_bounds_exception",
                    format!("Index {} out of bounds for length {}", values.len(), values.len()),
                );
                Err(RequestError::bad_request("script_exception", "runtime error").caused_by(cause))
            }
            _ => Ok(()),
        }
    }

    fn call(self, values: &[f64]) -> f64 {
        match self {
            Function::Max => functions::max(values),
            Function::Min => functions::min(values),
            Function::Sum => functions::sum(values),
            Function::UnweightedAvg => functions::unweighted_avg(values),
            Function::LinearWeightedAvg => functions::linear_weighted_avg(values),
            Function::StdDev(avg) => {
                functions::std_dev(values, avg.unwrap_or_else(|| functions::unweighted_avg(values)))
            }
            Function::Ewma(alpha) => functions::ewma(values, alpha),
            Function::Holt(alpha, beta) => functions::holt(values, alpha, beta),
            Function::HoltWinters { alpha, beta, gamma, period, multiplicative } => {
                functions::holt_winters(values, alpha, beta, gamma, period, multiplicative)
            }
        }
    }
}

impl Pipeline for MovingFn {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        match &self.script {
            Chosen::Function(_) => None,
            Chosen::Script(script) => script.stored(),
        }
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let all = values_of(&self.path, self.gaps, work, partial)?;
        let values: Vec<f64> = all.iter().copied().filter(|value| !value.is_nan()).collect();
        let mut place = 0;
        let mut run = match &self.script {
            Chosen::Function(_) => None,
            Chosen::Script(script) => Some(script.compiled(work.stored_script())?.start()),
        };
        for (subs, value) in subs_mut(partial).into_iter().zip(&all) {
            check_request()?;
            if !value.is_nan() {
                let window = &values[span(values.len(), place, self.window, self.shift)];
                let result = match (&self.script, &mut run) {
                    (Chosen::Function(function), _) => {
                        function.check(window)?;
                        function.call(window)
                    }
                    (Chosen::Script(_), Some(run)) => run.run_over(window)?.f64(),
                    (Chosen::Script(_), None) => f64::NAN,
                };
                subs[work.place] = SimpleValue::new(result, &self.format)?.into_partial();
                place += 1;
            }
        }
        Ok(())
    }
}
