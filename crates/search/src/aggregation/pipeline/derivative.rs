//! `derivative`: the change of a value since the previous bucket. Source: Elasticsearch's
//! `DerivativePipelineAggregator`.

use limber_mapping::RequestError;

use super::super::answer::partial::Partial;
use super::super::bucket::Interval;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::{Format, double};
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, PipelineValue};
use super::options::{GapPolicy, buckets_path, finish, format, missing_for};
use super::path::{BucketsPath, value_of};
use super::rows::{rows, subs_mut};
use crate::error::{Result, check_request};
use crate::values::json;

/// The options of a `derivative`: the path of the value, and the unit of time that it is normalized to.
#[derive(Debug, Clone)]
pub struct Derivative {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    /// The milliseconds of `unit`.
    unit_millis: Option<f64>,
}

impl Derivative {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, missing_for("derivative"))?;
        let gaps = GapPolicy::parse(options)?;
        let format = format(options)?;
        let unit_millis = match options.text("unit")? {
            None => None,
            Some(unit) => Some(match Interval::calendar(&unit).and_then(Interval::mean_millis) {
                Some(millis) => millis as f64,
                None => json::time_millis(&unit, "unit")?.unwrap_or(0) as f64,
            }),
        };
        finish(options)?;
        Ok(Kind::pipeline(Derivative { path, gaps, format, unit_millis }))
    }
}

impl Pipeline for Derivative {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let (own, shape) = (work.aggregation, work.shape);
        let mut made = Vec::new();
        let mut last: Option<(f64, f64)> = None;
        for row in rows(own, shape, partial)? {
            check_request()?;
            let value = value_of(&self.path, self.gaps, (&own.subs, &shape.subs), &row, &own.name)?;
            made.push(match (last, value) {
                (Some((last_key, last_value)), Some(value)) => {
                    let change = value - last_value;
                    let mut result = PipelineValue::of_number(change, &self.format, "derivative")?;
                    if let Some(unit) = self.unit_millis {
                        let normalized = change / ((row.key - last_key) / unit);
                        if normalized.is_finite() {
                            result.body.insert("normalized_value".into(), double(normalized));
                            if !self.format.is_raw() {
                                let text = self.format.text(normalized)?;
                                result.body.insert("normalized_value_as_string".into(), text.into());
                            }
                        } else {
                            result.body.insert("normalized_value".into(), serde_json::Value::Null);
                        }
                        result.numbers.push(("normalized_value".into(), normalized));
                    }
                    result.into_partial()
                }
                _ => Partial::Absent,
            });
            last = value.map(|value| (row.key, value));
        }
        subs_mut(partial).into_iter().zip(made).for_each(|(subs, made)| subs[work.place] = made);
        Ok(())
    }
}
