//! `normalize`: normalizes the values of buckets. Source: Elasticsearch's `NormalizePipelineMethods`.

use limber_mapping::{ObjectParser, RequestError};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::any_parent;
use super::definition::{Enclosing, Pipeline, SimpleValue};
use super::options::{GapPolicy, buckets_path, format};
use super::path::{BucketsPath, values_of};
use super::rows::subs_mut;
use crate::error::{Result, check_request};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Rescale(f64),
    PercentOfSum,
    Mean,
    ZScore,
    Softmax,
}

/// The options of a `normalize`: the path of the value, and the method.
#[derive(Debug, Clone)]
pub struct Normalize {
    path: BucketsPath,
    format: Format,
    method: Method,
}

impl Normalize {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let method = match options.text("method")?.as_deref() {
            None => return Err(RequestError::illegal_argument("Required [method]")),
            Some("rescale_0_1") => Method::Rescale(1.0),
            Some("rescale_0_100") => Method::Rescale(100.0),
            Some("percent_of_sum") => Method::PercentOfSum,
            Some("mean") => Method::Mean,
            Some("z-score") => Method::ZScore,
            Some("softmax") => Method::Softmax,
            Some(other) => {
                let cause = RequestError::illegal_argument(format!("invalid method [{other}]"));
                return Err(ObjectParser::new("normalize").failed_to_build(cause));
            }
        };
        let path = buckets_path(options, |_| "Required [buckets_path]".to_owned())?;
        Ok(Kind::pipeline(Normalize { path, format: format(options)?, method }))
    }
}

/// Normalizes all values together; NaN stands for a missing value.
fn normalized(method: Method, values: &[f64]) -> Vec<f64> {
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    let (min, max) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let (sum, count) = (known().sum::<f64>(), known().count() as f64);
    let mean = if count == 0.0 { 0.0 } else { sum / count };
    let apply: Box<dyn Fn(f64) -> f64> = match method {
        Method::Rescale(scale) => Box::new(move |value| scale * (value - min) / (max - min)),
        Method::PercentOfSum => Box::new(move |value| value / sum),
        Method::Mean => Box::new(move |value| (value - mean) / (max - min)),
        Method::ZScore => {
            let variance = known().map(|value| (value - mean).powi(2)).sum::<f64>();
            let deviation = (variance / count).sqrt();
            Box::new(move |value| (value - mean) / deviation)
        }
        Method::Softmax => {
            let all = known().map(f64::exp).sum::<f64>();
            Box::new(move |value| value.exp() / all)
        }
    };
    values.iter().map(|&value| apply(value)).collect()
}

impl Pipeline for Normalize {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        any_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let values = values_of(&self.path, GapPolicy::Skip, work, partial)?;
        let made = normalized(self.method, &values);
        for (subs, value) in subs_mut(partial).into_iter().zip(made) {
            check_request()?;
            subs[work.place] = SimpleValue::new(value, &self.format)?.into_partial();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method() {
        for (method, expected) in [
            (Method::Rescale(1.0), [0.0, 0.25, 1.0]),
            (Method::Rescale(100.0), [0.0, 25.0, 100.0]),
            (Method::PercentOfSum, [1.0 / 8.0, 2.0 / 8.0, 5.0 / 8.0]),
            (Method::Mean, [-5.0 / 12.0, -1.0 / 6.0, 7.0 / 12.0]),
        ] {
            for (made, expected) in normalized(method, &[1.0, 2.0, 5.0]).iter().zip(expected) {
                assert!((made - expected).abs() < 1e-12, "{method:?}");
            }
        }
        assert!((normalized(Method::Softmax, &[1.0, 2.0, 5.0]).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(normalized(Method::ZScore, &[1.0, f64::NAN, 5.0])[1].is_nan());
    }
}
