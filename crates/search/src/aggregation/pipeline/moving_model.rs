//! The models of `moving_avg`: what each makes of the values of a window, and what it forecasts. Source: the
//! classes below `MovAvgModel` of Elasticsearch 7.

use limber_mapping::{ObjectParser, RequestError};
use limber_script::moving_functions::{self as functions, HoltWinters};
use serde_json::{Map, Value};

use crate::error::{Result, check_request};

/// Steps of a coefficient that the first round of [`Model::fitted`] tries.
const FIT_STEPS: u32 = 5;
/// Rounds of [`Model::fitted`]; each has steps half as wide.
const FIT_ROUNDS: u32 = 6;

/// One model with its coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Model {
    Simple,
    Linear,
    Ewma(f64),
    /// Level and trend.
    Holt(f64, f64),
    HoltWinters(HoltWinters),
}

type Settings = Map<String, Value>;

impl Model {
    /// Parses `model` and `settings` of the aggregation `name`, whose window has `window` values.
    pub fn parse(model: &str, mut settings: Settings, name: &str, window: usize) -> Parsed<Model> {
        let model = match model {
            "simple" => Model::Simple,
            "linear" => Model::Linear,
            "ewma" => Model::Ewma(weight(&mut settings, "alpha", 0.3, name)?),
            "holt" => Model::Holt(
                weight(&mut settings, "alpha", 0.3, name)?,
                weight(&mut settings, "beta", 0.1, name)?,
            ),
            "holt_winters" => Model::HoltWinters(seasonal(&mut settings, name, window)?),
            other => {
                let cause = RequestError::illegal_argument(format!("unknown model [{other}] of [{name}]"));
                return Err(ObjectParser::no_named_object(other).caused_by(cause));
            }
        };
        match settings.keys().next() {
            None => Ok(model),
            Some(_) => Err(RequestError::parsing(format!(
                "Could not parse settings for model [{}]: Unrecognized parameters: [{}]",
                model.name(),
                settings.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Model::Simple => "simple",
            Model::Linear => "linear",
            Model::Ewma(_) => "ewma",
            Model::Holt(..) => "holt",
            Model::HoltWinters(_) => "holt_winters",
        }
    }

    /// Whether [`Model::fitted`] has coefficients to choose.
    pub fn can_be_fitted(self) -> bool {
        !matches!(self, Model::Simple | Model::Linear)
    }

    /// Whether coefficients are chosen unless the request says otherwise.
    pub fn is_fitted_by_default(self) -> bool {
        matches!(self, Model::HoltWinters(_))
    }

    /// Whether so many values are enough for a forecast.
    pub fn has_enough(self, count: usize) -> bool {
        match self {
            Model::HoltWinters(model) => count >= model.period.saturating_mul(2),
            _ => count > 0,
        }
    }

    /// Returns the forecasts of the `count` values after those of the window; NaN where it has too few.
    pub fn forecasts(self, values: &[f64], count: usize) -> Vec<f64> {
        match self {
            Model::Simple => vec![functions::unweighted_avg(values); count],
            Model::Linear => vec![linear_weighted_avg(values); count],
            Model::Ewma(alpha) => vec![functions::ewma(values, alpha); count],
            Model::Holt(alpha, beta) => {
                let (level, trend) =
                    functions::holt_line(values, alpha, beta).unwrap_or((f64::NAN, f64::NAN));
                (0..count).map(|ahead| level + ahead as f64 * trend).collect()
            }
            Model::HoltWinters(model) => model.forecasts(values, count),
        }
    }

    /// Returns the model with the coefficients whose forecasts from `train` are nearest to `test`. The grid
    /// of coefficients is refined around the best; Elasticsearch anneals at random.
    pub fn fitted(self, train: &[f64], test: &[f64]) -> Result<Model> {
        let (mut best, mut least) = (self, self.error(train, test));
        let (mut center, mut width) = ([0.5; 3], 0.5);
        for _ in 0..FIT_ROUNDS {
            let mut found = center;
            for number in 0..FIT_STEPS.pow(self.weight_count()) {
                check_request()?;
                let place = |axis: u32| f64::from(number / FIT_STEPS.pow(axis) % FIT_STEPS);
                let step = |axis: u32| place(axis) / f64::from(FIT_STEPS - 1) * 2.0 - 1.0;
                let weights: [f64; 3] = std::array::from_fn(|axis| {
                    let axis_number = axis as u32;
                    (center[axis] + if axis_number < 3 { step(axis_number) } else { 0.0 } * width)
                        .clamp(0.0, 1.0)
                });
                let candidate = self.with_weights(weights);
                let error = candidate.error(train, test);
                if error < least || least.is_nan() {
                    (best, least, found) = (candidate, error, weights);
                }
            }
            (center, width) = (found, width / 2.0);
        }
        Ok(best)
    }

    fn weight_count(self) -> u32 {
        match self {
            Model::Simple | Model::Linear => 0,
            Model::Ewma(_) => 1,
            Model::Holt(..) => 2,
            Model::HoltWinters(_) => 3,
        }
    }

    fn with_weights(self, [alpha, beta, gamma]: [f64; 3]) -> Model {
        match self {
            Model::Ewma(_) => Model::Ewma(alpha),
            Model::Holt(..) => Model::Holt(alpha, beta),
            Model::HoltWinters(model) => Model::HoltWinters(HoltWinters { alpha, beta, gamma, ..model }),
            other => other,
        }
    }

    fn error(self, train: &[f64], test: &[f64]) -> f64 {
        let forecasts = self.forecasts(train, test.len());
        forecasts.iter().zip(test).map(|(forecast, value)| (forecast - value).powi(2)).sum()
    }
}

type Parsed<T> = std::result::Result<T, RequestError>;

/// Weighs the first value 1, the next 2, and so on. Elasticsearch's model divides by one more than the sum of
/// the weights, which `MovingFunctions.linearWeightedAvg` does not.
fn linear_weighted_avg(values: &[f64]) -> f64 {
    let (mut sum, mut weights) = (0.0, 1.0);
    for (place, value) in values.iter().enumerate() {
        let weight = (place + 1) as f64;
        sum += value * weight;
        weights += weight;
    }
    if values.is_empty() { f64::NAN } else { sum / weights }
}

fn weight(settings: &mut Settings, option: &str, default: f64, name: &str) -> Parsed<f64> {
    let refused = |shown: String| {
        RequestError::parsing(format!(
            "Parameter [{option}] must be between 0-1 inclusive.  Provided value was [{shown}] in [{name}]"
        ))
    };
    match settings.shift_remove(option) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => match value.as_f64() {
            Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
            Some(number) => Err(refused(number.to_string())),
            None => Err(RequestError::parsing(format!(
                "Parameter [{option}] must be a double, type [{}] provided instead",
                crate::values::json::token(&value)
            ))),
        },
    }
}

fn seasonal(settings: &mut Settings, name: &str, window: usize) -> Parsed<HoltWinters> {
    let alpha = weight(settings, "alpha", 0.3, name)?;
    let beta = weight(settings, "beta", 0.1, name)?;
    let gamma = weight(settings, "gamma", 0.3, name)?;
    let period = match settings.shift_remove("period") {
        None => 1,
        Some(value) => match value.as_u64().and_then(|period| usize::try_from(period).ok()) {
            Some(period) if period > 0 => period,
            _ => {
                return Err(RequestError::parsing(format!(
                    "Parameter [period] must be a positive integer. Provided value was [{value}] in [{name}]"
                )));
            }
        },
    };
    if period.saturating_mul(2) > window {
        return Err(RequestError::parsing(format!(
            "Field [window] must be at least twice as large as the period when using Holt-Winters.  Value provided was [{window}], which is less than (2*period) == {}",
            period.saturating_mul(2)
        )));
    }
    let multiplicative = match settings.shift_remove("type") {
        None => false,
        Some(Value::String(kind)) if kind == "add" => false,
        Some(Value::String(kind)) if kind == "mult" => true,
        Some(value) => {
            return Err(RequestError::parsing(format!(
                "Unknown seasonality type [{}], accepted values: [add, mult]",
                crate::values::json::scalar_text(&value).unwrap_or_default()
            )));
        }
    };
    let padded = match settings.shift_remove("pad") {
        None => multiplicative,
        Some(Value::Bool(pad)) => pad && multiplicative,
        Some(value) => {
            return Err(RequestError::parsing(format!(
                "Parameter [pad] must be a boolean, type [{}] provided instead",
                crate::values::json::token(&value)
            )));
        }
    };
    Ok(HoltWinters { alpha, beta, gamma, period, multiplicative, padded })
}
