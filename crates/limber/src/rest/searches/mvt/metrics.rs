//! The aggregations of a request: "may a tile have this one, and which of its values get statistics over all
//! cells?"

use std::borrow::Cow;
use std::iter;

use limber_engine::Result;
use limber_mapping::RequestError;
use limber_search::aggregation::{EXTENDED_NAMES, PERCENTS, STATS_NAMES};
use limber_work as work;
use serde_json::{Map, Value};

use super::names::{BOUNDS, GRID, OWN_PREFIX};

/// The metric aggregations that a tile supports, with the lists of their values; a metric with one value has
/// no list. Each value gets statistics over all cells.
const METRICS: [(&str, &[&[&str]]); 13] = [
    ("avg", &[]),
    ("boxplot", &[&["min", "max", "q1", "q2", "q3", "lower", "upper"]]),
    ("cardinality", &[]),
    ("extended_stats", &[&STATS_NAMES, &EXTENDED_NAMES]),
    ("max", &[]),
    ("median_absolute_deviation", &[]),
    ("min", &[]),
    ("percentile_ranks", &[]),
    ("percentiles", &[]),
    ("stats", &[&STATS_NAMES]),
    ("string_stats", &[&["count", "min_length", "max_length", "avg_length", "entropy"]]),
    ("sum", &[]),
    ("value_count", &[]),
];

/// Returns the type of an aggregation, which is the one member that is neither `meta` nor sub-aggregations.
fn type_of(body: &Value) -> Option<(&str, &Value)> {
    let mut members = body.as_object()?.iter().map(|(name, value)| (name.as_str(), value));
    members.find(|(name, _)| !matches!(*name, "meta" | "aggs" | "aggregations"))
}

/// Checks the aggregations of a request.
///
/// # Errors
/// A tile does not support one of them. Messages are Elasticsearch's.
pub fn check_aggregations(given: &Map<String, Value>) -> Result<()> {
    for (name, body) in given {
        if name.starts_with(OWN_PREFIX) {
            return Err(RequestError::illegal_argument(format!(
                "Invalid aggregation name [{name}]. Aggregation names cannot start with prefix '{OWN_PREFIX}'"
            )));
        }
        if [GRID, BOUNDS, "_count"].contains(&name.as_str()) {
            return Err(RequestError::illegal_argument(format!(
                "Two sibling aggregations cannot have the same name: [{name}]"
            )));
        }
        // The search itself refuses a member that is not an aggregation.
        let Some((kind, _)) = type_of(body) else { continue };
        if !METRICS.iter().any(|(metric, _)| *metric == kind) {
            return Err(RequestError::illegal_argument(format!(
                "Unsupported aggregation of type [{kind}].Only metric aggregations are supported."
            )));
        }
    }
    Ok(())
}

/// Claims the memory of one statistic over all cells, because a list of percentiles may request any number of
/// them. The body holds the name of each statistic twice, and the compiled search holds it again.
///
/// # Errors
/// There is not enough memory, or the request was cancelled.
pub fn claim_statistic(name: &str) -> Result<()> {
    const NAME_COPIES: usize = 6;
    Ok(work::claim((NAME_COPIES * name.len()) as u64)?)
}

/// Returns the values of a metric that get a statistic over all cells each; a metric with a single value has
/// `None`.
pub fn metrics_of(body: &Value) -> Box<dyn Iterator<Item = Option<Cow<'static, str>>> + '_> {
    let named = |number: f64| Some(format!("{number:?}").into());
    let Some((kind, options)) = type_of(body) else { return Box::new(iter::empty()) };
    let given = |name: &str| options[name].as_array();
    match (kind, METRICS.iter().find(|(metric, _)| *metric == kind)) {
        ("percentiles", _) => match given("percents") {
            Some(list) => Box::new(list.iter().filter_map(Value::as_f64).map(named)),
            None => Box::new(PERCENTS.into_iter().map(named)),
        },
        ("percentile_ranks", _) => {
            Box::new(given("values").into_iter().flatten().filter_map(Value::as_f64).map(named))
        }
        (_, Some((_, []))) => Box::new(iter::once(None)),
        (_, Some((_, lists))) => Box::new(lists.iter().copied().flatten().map(|name| Some((*name).into()))),
        (_, None) => Box::new(iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statistics_of_metrics() {
        let names = |body: Value| metrics_of(&body).flatten().collect::<Vec<_>>();
        assert!(metrics_of(&json!({"avg": {"field": "a"}})).eq([None]));
        assert_eq!(names(json!({"stats": {"field": "a"}})), ["count", "min", "max", "avg", "sum"]);
        assert_eq!(names(json!({"percentiles": {"field": "a", "percents": [1, 99.9]}})), ["1.0", "99.9"]);
        let extended = names(json!({"extended_stats": {"field": "a"}}));
        assert_eq!((&*extended[0], &*extended[17]), ("count", "std_lower_sampling"));
    }

    #[test]
    fn only_metrics() {
        let reason = |body: Value| {
            check_aggregations(body.as_object().expect("an object")).expect_err("refused").reason
        };
        assert_eq!(
            reason(json!({"a": {"terms": {"field": "b"}}})),
            "Unsupported aggregation of type [terms].Only metric aggregations are supported."
        );
        assert_eq!(
            reason(json!({"_mvt_a": {"avg": {"field": "b"}}})),
            "Invalid aggregation name [_mvt_a]. Aggregation names cannot start with prefix '_mvt_'"
        );
    }
}
