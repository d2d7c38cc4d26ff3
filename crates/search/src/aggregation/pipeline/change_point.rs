//! `change_point`: finds where and how the values of buckets change.
//!
//! Source: Elasticsearch's documentation of the change point aggregation. The statistical tests are Limber's
//! own ([`super::change`]), so the kinds and positions of clear changes agree with Elasticsearch, but
//! p-values do not.

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::double;
use super::bucket_metric::each_value;
use super::change::{Change, VALUE_COUNT_MIN, change};
use super::check::several_buckets;
use super::definition::{Level, PickedBucket, Pipeline, PipelineValue};
use super::options::{GapPolicy, buckets_path, missing_for};
use super::path::BucketsPath;
use crate::error::Result;

/// The pipeline aggregation `change_point`, as the request gives it.
#[derive(Debug, Clone)]
pub struct ChangePoint {
    path: BucketsPath,
}

impl ChangePoint {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, missing_for("change_point"))?;
        options.finish()?;
        Ok(Kind::pipeline(ChangePoint { path }))
    }
}

/// Returns the name of a change, its properties, and its index in the series.
fn told(change: Change) -> (&'static str, Vec<(&'static str, Value)>, Option<usize>) {
    let p = |p_value: f64| ("p_value", double(p_value));
    let r = |r_value: f64| ("r_value", double(r_value));
    match change {
        Change::Stationary => ("stationary", Vec::new(), None),
        Change::NonStationary { p_value, r_value, is_increasing } => {
            let trend = if is_increasing { "increasing" } else { "decreasing" };
            ("non_stationary", vec![p(p_value), r(r_value), ("trend", trend.into())], None)
        }
        Change::Dip { p_value, at } => ("dip", vec![p(p_value)], Some(at)),
        Change::Spike { p_value, at } => ("spike", vec![p(p_value)], Some(at)),
        Change::Distribution { p_value, at } => ("distribution_change", vec![p(p_value)], Some(at)),
        Change::Step { p_value, at } => ("step_change", vec![p(p_value)], Some(at)),
        Change::Trend { p_value, r_value, at } => ("trend_change", vec![p(p_value), r(r_value)], Some(at)),
    }
}

impl Pipeline for ChangePoint {
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
        let (mut values, mut found) = (Vec::new(), Vec::new());
        // A path leads to the buckets of a single aggregation.
        let mut places = Vec::new();
        each_value(&self.path, GapPolicy::Skip, level, &mut |at, row, value| {
            if value.is_finite() {
                values.push(value);
                found.push((at.bucket, row));
                places.clear();
                places.extend_from_slice(at.aggregation);
            }
        })?;
        if values.len() < VALUE_COUNT_MIN {
            let reason = format!(
                "not enough buckets to calculate change_point. Requires at least [{VALUE_COUNT_MIN}]; found [{}]",
                values.len()
            );
            return Ok(made(json!({"indeterminable": {"reason": reason}}), None));
        }
        let (name, said, at) = told(change(&values)?);
        let mut said: Map<String, Value> =
            said.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let Some(at) = at else { return Ok(made(json!({name: said}), None)) };
        let (number, row) = &found[at];
        said.insert("change_point".into(), (*number).into());
        let (key, subs) = (row.text()?, row.subs.to_vec());
        let bucket = PickedBucket { places, key, doc_count: row.doc_count, subs };
        Ok(made(json!({name: said}), Some(bucket)))
    }
}

fn made(change: Value, bucket: Option<PickedBucket>) -> Partial {
    let body = Map::from_iter([("type".to_owned(), change)]);
    PipelineValue { typed_name: "change_point", body, numbers: Vec::new(), bucket }.into_partial()
}
