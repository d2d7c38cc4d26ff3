//! `moving_fn`: a function of the values in a window that moves along the buckets. Source: Elasticsearch's `MovFnPipelineAggregator`.
//!
//! The script is one call of a function of `MovingFunctions`; others are refused until there is a script engine.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, PipelineValue};
use super::moving_functions as functions;
use super::options::{GapPolicy, buckets_path, format};
use super::path::{BucketsPath, values_of};
use super::rows::subs_mut;
use crate::error::{Result, check_request};
use crate::json;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Max,
    Min,
    Sum,
    UnweightedAvg,
    LinearWeightedAvg,
    /// Around the mean of the window, or around a given one.
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

/// The options of a `moving_fn`: the path of the number, the window and the script that runs over it.
#[derive(Debug, Clone)]
pub struct MovingFn {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    window: i64,
    shift: i64,
    function: Function,
}

impl MovingFn {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let window = window(options)?;
        let shift = i64::from(options.int("shift")?.unwrap_or(0));
        let script =
            options.take("script").ok_or_else(|| RequestError::illegal_argument("Required [script]"));
        let function = Function::parse(&script?)?;
        let path = buckets_path(options, |_| "Required [buckets_path]".to_owned())?;
        let gaps = GapPolicy::parse(options)?;
        Ok(Kind::pipeline(MovingFn { path, gaps, format: format(options)?, window, shift, function }))
    }
}

/// Reads `window`, which must be there and positive.
pub fn window(options: &mut Options) -> std::result::Result<i64, RequestError> {
    match options.int("window")? {
        None => Err(RequestError::illegal_argument("Required [window]")),
        Some(window) if window <= 0 => {
            Err(options.refused("window", "[window] must be a positive, non-zero integer."))
        }
        Some(window) => Ok(i64::from(window)),
    }
}

/// The values of a window that ends before `place`, moved by `shift`.
pub fn slice<T>(values: &[T], place: usize, window: i64, shift: i64) -> &[T] {
    let clamp = |at: i64| at.clamp(0, values.len() as i64) as usize;
    let (from, to) = (clamp(place as i64 - window + shift), clamp(place as i64 + shift));
    &values[from..to]
}

impl Function {
    fn parse(script: &Value) -> std::result::Result<Function, RequestError> {
        let empty = Map::new();
        let (source, params) = match script {
            Value::String(source) => (Some(source.as_str()), &empty),
            Value::Object(map) => {
                let params = map.get("params").and_then(Value::as_object).unwrap_or(&empty);
                (map.get("source").and_then(Value::as_str), params)
            }
            _ => (None, &empty),
        };
        let refused = || {
            RequestError::unsupported(format!(
                "a [script] of [moving_fn] other than one call of a function of [MovingFunctions] ({})",
                json::scalar_text(script).unwrap_or_else(|| script.to_string())
            ))
        };
        let source = source.ok_or_else(refused)?.trim();
        let source = source.strip_prefix("return ").unwrap_or(source).trim_end_matches(';').trim();
        let call = source.strip_prefix("MovingFunctions.").and_then(|call| call.strip_suffix(')'));
        let (name, arguments) = call.and_then(|call| call.split_once('(')).ok_or_else(refused)?;
        let mut arguments = arguments.split(',').map(str::trim);
        if arguments.next() != Some("values") {
            return Err(refused());
        }
        let arguments: Vec<&str> = arguments.collect();
        let given = |place: usize| -> std::result::Result<Value, RequestError> {
            let text = arguments.get(place).copied().ok_or_else(refused)?;
            match text.strip_prefix("params.") {
                Some(name) => params.get(name).cloned().ok_or_else(refused),
                None => serde_json::from_str(text.trim_end_matches(['d', 'D', 'f', 'F']))
                    .or_else(|_| serde_json::from_str(text))
                    .map_err(|_| refused()),
            }
        };
        let number = |place: usize| given(place)?.as_f64().ok_or_else(refused);
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
                let period = given(3)?.as_u64().ok_or_else(refused)?;
                let multiplicative = given(4)?.as_bool().ok_or_else(refused)?;
                let (alpha, beta, gamma) = (number(0)?, number(1)?, number(2)?);
                let period = usize::try_from(period).map_err(|_| refused())?;
                (Function::HoltWinters { alpha, beta, gamma, period, multiplicative }, 5)
            }
            _ => return Err(refused()),
        };
        if arguments.len() == count { Ok(function) } else { Err(refused()) }
    }

    /// Seasons need two whole ones to begin with, where there is anything.
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

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let all = values_of(&self.path, self.gaps, work, partial)?;
        let values: Vec<f64> = all.iter().copied().filter(|value| !value.is_nan()).collect();
        let mut place = 0;
        for (subs, value) in subs_mut(partial).into_iter().zip(&all) {
            check_request()?;
            if !value.is_nan() {
                self.function.check(slice(&values, place, self.window, self.shift))?;
                let result = self.function.call(slice(&values, place, self.window, self.shift));
                subs[work.place] = PipelineValue::simple(result, &self.format).into_partial();
                place += 1;
            }
        }
        Ok(())
    }
}
