//! `percentiles_bucket`: percentiles of the values of all buckets. Each percentile is one of these values.
//! Source: Elasticsearch's `PercentilesBucketPipelineAggregator`.

use limber_mapping::RequestError;
use limber_mapping::number::java_double;
use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::{Format, double};
use super::bucket_metric::{shown, values};
use super::check::several_buckets;
use super::definition::{Level, Pipeline, PipelineValue};
use super::options::{GapPolicy, buckets_path, finish, format};
use super::path::BucketsPath;
use crate::error::Result;

const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Largest number of percentages of one aggregation.
const PERCENT_COUNT_MAX: usize = 10_000;

/// The options of a `percentiles_bucket`: the path of the value, and the percentages.
#[derive(Debug, Clone)]
pub struct PercentilesBucket {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    percents: Vec<f64>,
    keyed: bool,
}

impl PercentilesBucket {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, |name| {
            format!("Missing required field [buckets_path] for aggregation [{name}]")
        })?;
        let gaps = GapPolicy::parse(options)?;
        let format = format(options)?;
        let refused = || {
            RequestError::illegal_argument(
                "percents must only contain non-null doubles from 0.0-100.0 inclusive",
            )
        };
        let percents = match options.take("percents") {
            None => PERCENTS.to_vec(),
            Some(Value::Array(list)) if list.len() <= PERCENT_COUNT_MAX => {
                let percent = |value: &Value| {
                    let percent = value.as_f64().filter(|percent| (0.0..=100.0).contains(percent));
                    percent.ok_or_else(refused)
                };
                list.iter().map(percent).collect::<std::result::Result<_, _>>()?
            }
            Some(_) => return Err(refused()),
        };
        let keyed = options.boolean("keyed")?.unwrap_or(true);
        finish(options)?;
        Ok(Kind::pipeline(PercentilesBucket { path, gaps, format, percents, keyed }))
    }
}

impl Pipeline for PercentilesBucket {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, _: Option<&Aggregation>, siblings: &[Aggregation]) -> Option<String> {
        several_buckets(own, &self.path, siblings)
    }

    fn is_beside(&self) -> bool {
        true
    }

    fn beside(&self, level: &Level<'_>) -> Result<Partial> {
        let mut found: Vec<f64> =
            values(&self.path, self.gaps, level)?.into_iter().map(|(_, value)| value).collect();
        found.sort_unstable_by(f64::total_cmp);
        // The nearest value, without interpolation.
        let value = |percent: f64| match found.len() {
            0 => f64::NAN,
            count => found[(percent / 100.0 * (count - 1) as f64 + 0.5).floor() as usize],
        };
        let text = |value: f64| -> Result<Option<Value>> {
            let is_formatted = !self.format.is_raw() && value.is_finite();
            Ok(is_formatted.then(|| self.format.text(value)).transpose()?.map(Value::from))
        };
        let body = if self.keyed {
            let mut body = Map::new();
            for &percent in &self.percents {
                let (key, value) = (java_double(percent), value(percent));
                body.insert(key.clone(), shown(value));
                body.extend(text(value)?.map(|text| (format!("{key}_as_string"), text)));
            }
            Value::Object(body)
        } else {
            let one = |&percent: &f64| {
                let value = value(percent);
                let mut entry = Map::new();
                entry.insert("key".into(), double(percent));
                entry.insert("value".into(), shown(value));
                let name = || format!("{}_as_string", java_double(percent));
                entry.extend(text(value)?.map(|text| (name(), text)));
                Ok(Value::Object(entry))
            };
            self.percents.iter().map(one).collect::<Result<_>>()?
        };
        let numbers = self.percents.iter().map(|&percent| (java_double(percent), value(percent))).collect();
        Ok(PipelineValue {
            typed_name: "percentiles_bucket",
            body: Map::from_iter([("values".to_owned(), body)]),
            numbers,
            bucket: None,
        }
        .into_partial())
    }
}
