//! `bucket_correlation`: how the document counts of buckets correlate with a known indicator.
//!
//! Source: Elasticsearch's documentation of the aggregation. Each document of the indicator counts as a pair:
//! the expectation of its bucket, and whether it is among the counted documents. The result is Pearson's
//! correlation of these pairs.

use limber_mapping::number::java_double;
use limber_mapping::{ObjectParser, RequestError};
use limber_script::moving_functions as functions;
use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::bucket_metric::values;
use super::check::bucket_counts;
use super::definition::{Level, Pipeline, SimpleValue};
use super::options::{GapPolicy, check_only_zeros, doubles, single_path};
use super::path::BucketsPath;
use crate::error::Result;

type Parsed<T> = std::result::Result<T, RequestError>;

/// The options of a `bucket_correlation`: the path of the counts, and what they are correlated with.
#[derive(Debug, Clone)]
pub struct BucketCorrelation {
    path: BucketsPath,
    indicator: Indicator,
}

/// All documents, of which the buckets count some: the value that stands for each bucket, the share of the
/// documents in it, and their number.
#[derive(Debug, Clone)]
struct Indicator {
    expectations: Vec<f64>,
    /// `None` if all buckets have the same share.
    fractions: Option<Vec<f64>>,
    doc_count: i64,
}

impl BucketCorrelation {
    pub(crate) fn parse(options: &mut Options) -> Parsed<Kind> {
        let path = single_path(options)?;
        let function = options.object("function")?.ok_or_else(|| ObjectParser::required("function"))?;
        let indicator =
            count_correlation(function, &options.name).map_err(|cause| options.failed("function", cause))?;
        check_only_zeros(options)?;
        Ok(Kind::pipeline(BucketCorrelation { path, indicator }))
    }
}

/// Parses `count_correlation`, the only function.
fn count_correlation(function: Map<String, Value>, name: &str) -> Parsed<Indicator> {
    let Some((function, body)) = function.into_iter().next() else {
        return Err(ObjectParser::required("count_correlation"));
    };
    if function != "count_correlation" {
        return Err(ObjectParser::no_named_object(&function));
    }
    let parser = "count_correlation_function";
    let body = match body {
        Value::Object(body) => body,
        other => return Err(ObjectParser::new(parser).expected_object(&other)),
    };
    let mut own = Options::new(parser, name, body);
    let indicator = own.object("indicator")?.ok_or_else(|| ObjectParser::required("indicator"))?;
    let indicator = Indicator::parse(indicator, name).map_err(|cause| own.failed("indicator", cause))?;
    own.finish()?;
    Ok(indicator)
}

impl Indicator {
    fn parse(body: Map<String, Value>, name: &str) -> Parsed<Indicator> {
        let mut own = Options::new("correlative_value", name, body);
        let expectations = doubles(&mut own, "expectations")?;
        let expectations = expectations.ok_or_else(|| ObjectParser::required("expectations"))?;
        let doc_count = own.long("doc_count")?.ok_or_else(|| ObjectParser::required("doc_count"))?;
        let fractions = doubles(&mut own, "fractions")?;
        own.finish()?;
        let count = expectations.len();
        let fault = if fractions.as_ref().is_some_and(|fractions| fractions.len() != count) {
            "[expectations] and [fractions] must have the same length"
        } else if doc_count <= 0 {
            "[doc_count] must be a positive value"
        } else if count < 2 {
            "[expectations] must have a length of at least 2"
        } else {
            return Ok(Indicator { expectations, fractions, doc_count });
        };
        let cause = RequestError::illegal_argument(fault);
        Err(ObjectParser::new("correlative_value").failed_to_build(cause))
    }

    /// Returns the share of the documents in each bucket.
    fn shares(&self) -> impl Iterator<Item = f64> {
        let same = 1.0 / self.expectations.len() as f64;
        let of = move |place: usize| self.fractions.as_ref().map_or(same, |fractions| fractions[place]);
        (0..self.expectations.len()).map(of)
    }

    /// Returns the mean and the variance of the expectations.
    fn spread(&self) -> (f64, f64) {
        let expectations = &self.expectations;
        if self.fractions.is_none() {
            let mean = functions::unweighted_avg(expectations);
            return (mean, functions::std_dev(expectations, mean).powi(2));
        }
        let weighted = || expectations.iter().zip(self.shares());
        let mean: f64 = weighted().fold(0.0, |sum, (value, share)| sum + value * share);
        (mean, weighted().fold(0.0, |sum, (value, share)| sum + (value - mean).powi(2) * share))
    }

    /// Returns the correlation with the counts of the buckets; NaN if one of the two is constant.
    fn correlation(&self, counts: &[f64]) -> Parsed<f64> {
        if counts.len() != self.expectations.len() {
            return Err(failed(format!(
                "value lengths do not match; indicator.expectations [{}] and number of buckets [{}]. Unable to calculate correlation",
                self.expectations.len(),
                counts.len()
            )));
        }
        let (all, counted) = (self.doc_count as f64, functions::sum(counts));
        let among = counted / all;
        if among > 1.0 {
            return Err(failed(format!(
                "doc_count of indicator must be larger than the total count of the correlating values indicator count [{}] correlating value total count [{}]",
                self.doc_count,
                java_double(counted)
            )));
        }
        let (mean, variance) = self.spread();
        let among_variance = (1.0 - among) * among * among + among * (1.0 - among) * (1.0 - among);
        let pairs = self.expectations.iter().zip(self.shares()).zip(counts);
        let covariance = pairs.fold(0.0f64, |sum, ((value, share), count)| {
            let distance = value - mean;
            sum - (all * share - count) * distance * among + count * distance * (1.0 - among)
        });
        let variances = variance * among_variance;
        Ok(if variances == 0.0 { f64::NAN } else { covariance / all / variances.sqrt() })
    }
}

fn failed(reason: String) -> RequestError {
    RequestError::bad_request("aggregation_execution_exception", reason)
}

impl Pipeline for BucketCorrelation {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, _: Option<&Aggregation>, siblings: &[Aggregation]) -> Option<String> {
        bucket_counts(own, &self.path, siblings, |name| {
            format!("count correlation requires that bucket_path points to bucket [_count] for agg [{name}]")
        })
    }

    fn is_beside(&self) -> bool {
        true
    }

    fn beside(&self, level: &Level<'_>) -> Result<Partial> {
        let found = values(&self.path, GapPolicy::InsertZeros, level)?;
        let counts: Vec<f64> = found.iter().map(|(_, count)| *count).collect();
        let correlation = self.indicator.correlation(&counts)?;
        Ok(SimpleValue::new(correlation, &Format::Raw)?.into_partial())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn indicator(body: Value) -> Parsed<Indicator> {
        let function = json!({"count_correlation": {"indicator": body}});
        count_correlation(function.as_object().expect("an object").clone(), "c")
    }

    /// The example of Elasticsearch's documentation.
    #[test]
    fn latencies_of_two_versions() {
        let expectations = [0.0, 52.5, 165.0, 335.0, 555.0, 775.0, 1000.0, 1225.0, 1445.0, 1665.0, 1775.0];
        let latencies = indicator(json!({"expectations": expectations, "doc_count": 200})).expect("valid");
        for (counts, expected) in [
            ([0.0, 1.0, 9.0, 0.0, 0.0, 0.0, 10.0, 20.0, 20.0, 20.0, 20.0], 0.840_239_898_136_093_7),
            ([0.0, 19.0, 11.0, 20.0, 20.0, 20.0, 10.0, 0.0, 0.0, 0.0, 0.0], -0.575_985_561_333_494_3),
        ] {
            let found = latencies.correlation(&counts).expect("the lengths match");
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        assert!(latencies.correlation(&[0.0; 11]).expect("the lengths match").is_nan());
        assert!(latencies.correlation(&[0.0; 10]).expect_err("too few").reason.contains("[11]"));
        assert!(latencies.correlation(&[20.0; 11]).expect_err("too many").reason.contains("[220.0]"));
    }

    #[test]
    fn equal_fractions_are_the_default() {
        let counts = [1.0, 2.0, 4.0, 3.0];
        let given = |body: Value| {
            let found = indicator(body).expect("valid");
            found.correlation(&counts).expect("the lengths match")
        };
        let same = given(json!({"expectations": [1, 2, 3, 5], "doc_count": 20}));
        let fractions = [0.25; 4];
        let quarters = json!({"expectations": [1, 2, 3, 5], "doc_count": 20, "fractions": fractions});
        assert!((same - given(quarters)).abs() < 1e-12);
    }

    #[test]
    fn wrong_indicators() {
        for (body, expected) in [
            (json!({"doc_count": 1}), "Required [expectations]"),
            (json!({"expectations": [1, 2]}), "Required [doc_count]"),
            (json!({"expectations": [1, 2], "doc_count": 0}), "[doc_count] must be a positive value"),
            (json!({"expectations": [1], "doc_count": 9}), "[expectations] must have a length of at least 2"),
            (
                json!({"expectations": [1, 2], "doc_count": 9, "fractions": [1]}),
                "[expectations] and [fractions] must have the same length",
            ),
        ] {
            let mut error = &indicator(body).expect_err("refused");
            while let Some(cause) = &error.caused_by {
                error = cause;
            }
            assert_eq!(error.reason, expected);
        }
    }
}
