//! `aggregate_metric_double`: metrics of values that were aggregated before they were indexed. Source:
//! Elasticsearch's `AggregateMetricDoubleFieldMapper`.
//!
//! The field's own column has the default metric, with which it is searched and sorted. The other metrics are
//! columns of hidden fields.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::summary_part::{number_type, summary_part, unexpected};
use crate::RequestError;
use crate::field::{
    Check, DateContext, Field, FieldType, IGNORE_MALFORMED, IntegerWidth, KEEP, KeptIn, Leaf, Location, META,
    OwnedScalar, Param, Precision, RangeEnd, Reads, Selection, Summary, SummaryColumn, Typed, Update,
    ValueKind, Wanted, param,
};
use crate::json::java::mapper_parsing;
use crate::number::f64_from_sortable;

#[derive(Debug)]
pub(super) struct AggregateMetricDouble;

static PARAMS: &[Param] = &[
    IGNORE_MALFORMED,
    param("metrics", Check::SummaryMetrics, Update::Never, ""),
    param("default_metric", Check::SummaryMetric, Update::Never, ""),
    META,
    param("time_series_metric", Check::GaugeMetric, Update::Never, "null"),
    KEEP,
];

/// Returns the declared metrics.
fn metrics(leaf: &Leaf) -> Vec<SummaryColumn> {
    let names = leaf.params.get("metrics").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| SummaryColumn::metric(name.as_str()?)).collect()
}

/// Returns the declared default metric, or the only metric.
fn default_metric(leaf: &Leaf) -> Option<SummaryColumn> {
    match (leaf.params.get("default_metric").and_then(Value::as_str), metrics(leaf).as_slice()) {
        (Some(name), _) => SummaryColumn::metric(name),
        (None, [only]) => Some(*only),
        (None, _) => None,
    }
}

/// Returns the type with whose rules the field is searched.
fn searched_like(field: &Field) -> &'static dyn FieldType {
    match field.values {
        ValueKind::Long(_) => number_type(SummaryColumn::ValueCount),
        _ => number_type(SummaryColumn::Max),
    }
}

/// Reads the number of a metric as it is stored.
fn number_of(field: &Field, metric: SummaryColumn, value: &Value) -> Result<i64, RequestError> {
    if !value.is_number() {
        return Err(unexpected("VALUE_NUMBER", value));
    }
    let (scalar, mut buffer) = (OwnedScalar::from_json(value), [0; 16]);
    match number_type(metric).read(field, scalar.borrow(), &mut buffer) {
        Ok(Typed::Number(stored)) => Ok(stored),
        Ok(_) => Err(unexpected("VALUE_NUMBER", value)),
        Err(cause) => {
            let reason = format!("failed to parse [{}] sub field: {}", metric.name(), cause.reason);
            Err(RequestError::illegal_argument(reason).caused_by(*cause))
        }
    }
}

/// Checks the metrics of a summary together.
fn check_metrics(field: &Field, found: &[(SummaryColumn, Option<i64>)]) -> Result<(), RequestError> {
    let path = &field.path;
    let get = |wanted: SummaryColumn| {
        found.iter().find(|(metric, _)| *metric == wanted).and_then(|(_, number)| *number)
    };
    if let (Some(min), Some(max)) = (get(SummaryColumn::Min), get(SummaryColumn::Max))
        && f64_from_sortable(max) < f64_from_sortable(min)
    {
        return Err(RequestError::illegal_argument(format!(
            "Aggregate metric field [{path}] max value cannot be smaller than min value"
        )));
    }
    if get(SummaryColumn::ValueCount).is_some_and(|count| count < 0) {
        return Err(RequestError::illegal_argument(format!(
            "Aggregate metric [value_count] of field [{path}] cannot be a negative number"
        )));
    }
    if found.iter().any(|(_, number)| number.is_none()) {
        let names: Vec<&str> = found.iter().map(|(metric, _)| metric.name()).collect();
        return Err(RequestError::illegal_argument(format!(
            "Aggregate metric field [{path}] must contain all metrics [{}]",
            names.join(", ")
        )));
    }
    Ok(())
}

impl FieldType for AggregateMetricDouble {
    fn name(&self) -> &'static str {
        "aggregate_metric_double"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(match default_metric(leaf) {
            Some(SummaryColumn::ValueCount) => ValueKind::Long(IntegerWidth::Integer),
            _ => ValueKind::Double(Precision::Double),
        })
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        (field.index, field.doc_values) = (true, true);
        let default = default_metric(leaf);
        let path_of = |metric: SummaryColumn| -> Arc<str> {
            match Some(metric) == default {
                true => field.path.clone(),
                false => format!("{}.{}", field.path, metric.name()).into(),
            }
        };
        let columns = metrics(leaf).into_iter().map(|metric| (metric, path_of(metric))).collect();
        field.summary = Some(Arc::new(Summary { columns }));
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        let (last, metrics) = (place.name(), metrics(leaf));
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        if place.is_multi_field {
            let reason = format!("Field [{last}] of type [{}] can't be used in multifields", self.name());
            return Err(mapper_parsing(reason));
        }
        if metrics.is_empty() {
            return refused(format!("Property [metrics] is required for field [{last}]."));
        }
        match default_metric(leaf) {
            None => refused(format!("Property [default_metric] is required for field [{last}].")),
            Some(metric) if !metrics.contains(&metric) => refused(format!(
                "Default metric [{}] is not defined in the metrics of field [{last}].",
                metric.name()
            )),
            Some(_) => place.refuse_copies(leaf),
        }
    }

    fn complete(&self, leaf: &mut Leaf) {
        if let Some(metric) = default_metric(leaf) {
            leaf.params.insert("default_metric", metric.name().into());
        }
    }

    fn parts(&self, leaf: &Leaf) -> Vec<(String, Leaf)> {
        let default = default_metric(leaf);
        let others = metrics(leaf).into_iter().filter(|metric| Some(*metric) != default);
        others.map(summary_part).collect()
    }

    fn reads(&self) -> Reads {
        Reads::Summary
    }

    fn read_summary(&self, field: &Field, value: &Value) -> Result<Vec<Vec<i64>>, RequestError> {
        let Value::Object(members) = value else { return Err(unexpected("START_OBJECT", value)) };
        let columns = field.summary.iter().flat_map(|summary| &summary.columns);
        let mut found: Vec<(SummaryColumn, Option<i64>)> =
            columns.map(|(metric, _)| (*metric, None)).collect();
        for (name, value) in members {
            let Some(metric) = SummaryColumn::metric(name) else {
                return Err(RequestError::illegal_argument(format!(
                    "No enum constant org.elasticsearch.xpack.aggregatemetric.mapper.AggregateMetricDoubleFieldMapper.Metric.{name}"
                )));
            };
            let Some((_, number)) = found.iter_mut().find(|(own, _)| *own == metric) else {
                return Err(RequestError::illegal_argument(format!(
                    "Aggregate metric [{name}] does not exist in the mapping of field [{}]",
                    field.path
                )));
            };
            *number = Some(number_of(field, metric, value)?);
        }
        check_metrics(field, &found)?;
        Ok(found.into_iter().map(|(_, number)| number.into_iter().collect()).collect())
    }

    fn show_summary(&self, field: &Field, numbers: &[Vec<i64>]) -> Value {
        let mut shown = Map::new();
        let columns = field.summary.iter().flat_map(|summary| &summary.columns);
        for ((metric, _), numbers) in columns.zip(numbers) {
            for &number in numbers {
                let value: Value = match metric {
                    SummaryColumn::ValueCount => number.into(),
                    _ => f64_from_sortable(number).into(),
                };
                shown.insert(metric.name().into(), value);
            }
        }
        shown.into()
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Shown
    }

    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        searched_like(field).select_term(field, wanted, context)
    }

    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        searched_like(field).select_range(field, lower, upper, context)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::number::sortable_from_f64;
    use crate::testing::{fed, refused};
    use crate::{Mapping, MappingSettings};

    fn mapping(field: Value) -> Value {
        json!({"properties": {"m": field}})
    }

    #[test]
    fn the_default_metric_is_the_field_and_the_others_are_hidden() {
        let declared = mapping(json!({"type": "aggregate_metric_double",
            "metrics": ["max", "min", "value_count"], "default_metric": "max"}));
        let (one, two) = (sortable_from_f64(1.0), sortable_from_f64(2.5));
        assert_eq!(
            fed(&declared, &json!({"m": {"value_count": 7, "max": 2.5, "min": 1}})),
            [format!("m.min={one}"), format!("m={two}"), "m.value_count=7".to_owned()]
        );
        let parsed = Mapping::parse(&declared, &MappingSettings::default()).expect("a mapping");
        assert!(parsed.field("m.min").is_none());
        assert_eq!(parsed.matching("m*").count(), 1);
        assert_eq!(parsed.to_json()["properties"]["m"]["metrics"], json!(["min", "max", "value_count"]));
    }

    #[test]
    fn the_only_metric_is_the_default() {
        let declared = mapping(json!({"type": "aggregate_metric_double", "metrics": ["value_count"]}));
        assert_eq!(fed(&declared, &json!({"m": {"value_count": 7}})), ["m=7"]);
        let parsed = Mapping::parse(&declared, &MappingSettings::default()).expect("a mapping");
        assert_eq!(parsed.to_json()["properties"]["m"]["default_metric"], "value_count");
    }

    /// Reasons as in Elasticsearch's `AggregateMetricDoubleFieldMapper`.
    #[test]
    fn declarations_are_checked() {
        for (parameters, reason) in [
            (json!({}), "Property [metrics] is required for field [m]."),
            (json!({"metrics": []}), "Property [metrics] is required for field [m]."),
            (json!({"metrics": ["min", "avg"]}), "Metric [avg] is not supported."),
            (json!({"metrics": ["min", "max"]}), "Property [default_metric] is required for field [m]."),
            (
                json!({"metrics": ["min", "max"], "default_metric": "sum"}),
                "Default metric [sum] is not defined in the metrics of field [m].",
            ),
            (json!({"metrics": ["min"], "default_metric": "x"}), "Metric [x] is not supported."),
        ] {
            let mut field = parameters;
            field["type"] = "aggregate_metric_double".into();
            let error = Mapping::parse(&mapping(field), &MappingSettings::default()).expect_err("refused");
            assert!(error.reason.contains(reason), "{}", error.reason);
        }
    }

    #[test]
    fn summaries_are_checked() {
        let declared = mapping(json!({"type": "aggregate_metric_double",
            "metrics": ["min", "max", "value_count"], "default_metric": "max"}));
        for (value, reason) in [
            (
                json!(3),
                "Failed to parse object: expecting token of type [START_OBJECT] but found [VALUE_NUMBER]",
            ),
            (
                json!({"min": "1", "max": 2, "value_count": 1}),
                "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [VALUE_STRING]",
            ),
            (
                json!({"min": 1}),
                "Aggregate metric field [m] must contain all metrics [min, max, value_count]",
            ),
            (json!({"sum": 1}), "Aggregate metric [sum] does not exist in the mapping of field [m]"),
            (
                json!({"min": 3, "max": 2, "value_count": 1}),
                "Aggregate metric field [m] max value cannot be smaller than min value",
            ),
            (
                json!({"min": 1, "max": 2, "value_count": -1}),
                "Aggregate metric [value_count] of field [m] cannot be a negative number",
            ),
            (
                json!([{"min": 1, "max": 2, "value_count": 1}, {"min": 1, "max": 2, "value_count": 1}]),
                "Field [m] of type [aggregate_metric_double] does not support indexing multiple values for the same field in \
                 the same document",
            ),
        ] {
            let cause = refused(&declared, &json!({"m": value})).caused_by.expect("a cause");
            assert_eq!(cause.reason, reason);
        }
        assert!(fed(&declared, &json!({"m": null})).is_empty());
    }

    #[test]
    fn ignored_values_reach_no_metric() {
        let declared = json!({"properties": {
            "m": {"type": "aggregate_metric_double", "metrics": ["min", "max"], "default_metric": "max",
                "ignore_malformed": true},
            "n": {"type": "long", "copy_to": "m"},
        }});
        assert_eq!(fed(&declared, &json!({"m": [5, "x", {"min": 1}]})), ["_ignored=m"]);
        assert_eq!(fed(&declared, &json!({"n": 5})), ["n=5", "_ignored=m"]);
    }
}
