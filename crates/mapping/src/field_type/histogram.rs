//! `histogram`: values with their counts, aggregated before they were indexed. Source: Elasticsearch's
//! `HistogramFieldMapper`, `HistogramParser`.
//!
//! The values and the running totals of their counts are columns of hidden fields. The field's own column
//! only shows which documents have a histogram, which may be empty.

use std::sync::Arc;

use serde_json::{Number, Value, json};

use super::summary_part::{summary_part, unexpected};
use crate::RequestError;
use crate::field::{
    DateContext, Field, FieldType, IGNORE_MALFORMED, KEEP, KeptIn, Leaf, Location, META, Param, Reads,
    Selection, Summary, SummaryColumn, ValueKind, Wanted,
};
use crate::json::java::mapper_parsing;
use crate::number::{f64_from_sortable, java_double, sortable_from_f64};

#[derive(Debug)]
pub(super) struct Histogram;

const COLUMNS: [SummaryColumn; 2] = [SummaryColumn::Values, SummaryColumn::Totals];

/// The largest sum of the counts of a histogram. Doubles represent all whole numbers up to it, and sums over
/// documents stay within 64 bits.
const TOTAL_MAX: i64 = 1 << 53;

/// Returns the error about a value, which Elasticsearch shows with its position.
fn refused(field: &Field, what: impl std::fmt::Display) -> RequestError {
    let reason = format!("error parsing field [{}], {what}", field.path);
    RequestError::bad_request("document_parsing_exception", reason)
}

/// Returns the numbers of a list.
fn numbers_of(list: &Value) -> Result<Vec<&Number>, RequestError> {
    let Value::Array(items) = list else { return Err(unexpected("START_ARRAY", list)) };
    items.iter().map(|item| item.as_number().ok_or_else(|| unexpected("VALUE_NUMBER", item))).collect()
}

/// Reads `values`, which must ascend.
fn values_of(field: &Field, list: &Value) -> Result<Vec<f64>, RequestError> {
    // Adding zero turns -0 into 0, before which a column would sort it.
    let values = numbers_of(list)?.into_iter().map(|number| number.as_f64().unwrap_or(f64::MAX) + 0.0);
    let values: Vec<f64> = values.collect();
    match values.windows(2).find(|pair| pair[1] < pair[0]) {
        None => Ok(values),
        Some(pair) => Err(refused(
            field,
            format_args!(
                "[values] values must be in increasing order, got [{}] but previous value was [{}]",
                java_double(pair[1]),
                java_double(pair[0])
            ),
        )),
    }
}

/// Reads `counts`. Fractions are cut off, as Elasticsearch's parser of integers does.
fn counts_of(field: &Field, list: &Value) -> Result<Vec<i64>, RequestError> {
    let count = |number: &Number| {
        let count = number.as_i64().unwrap_or_else(|| number.as_f64().unwrap_or(f64::MAX) as i64);
        match count {
            0..=TOTAL_MAX => Ok(count),
            ..0 => Err(refused(field, format_args!("[counts] elements must be >= 0 but got {count}"))),
            _ => Err(too_many(field)),
        }
    };
    numbers_of(list)?.into_iter().map(count).collect()
}

/// Returns the error about counts that cannot be added up.
fn too_many(field: &Field) -> RequestError {
    let path = &field.path;
    RequestError::unsupported(format_args!("counts of more than 2^53 in field [{path}] of type [histogram]"))
}

/// Adds the counts up, each with those before it. Values without a count are left out.
fn columns_of(field: &Field, values: &[f64], counts: &[i64]) -> Result<Vec<Vec<i64>>, RequestError> {
    let (mut stored, mut totals, mut total) = (Vec::new(), Vec::new(), 0);
    for (&value, &count) in values.iter().zip(counts).filter(|(_, count)| **count > 0) {
        total += count;
        if total > TOTAL_MAX {
            return Err(too_many(field));
        }
        stored.push(sortable_from_f64(value));
        totals.push(total);
    }
    Ok(vec![stored, totals])
}

impl FieldType for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn params(&self) -> &'static [Param] {
        &[IGNORE_MALFORMED, META, KEEP]
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Bytes)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        field.doc_values = true;
        let path = |column: SummaryColumn| -> Arc<str> { format!("{}.{}", field.path, column.name()).into() };
        let columns = COLUMNS.into_iter().map(|column| (column, path(column))).collect();
        field.summary = Some(Arc::new(Summary { columns }));
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        if place.is_multi_field {
            let last = place.name();
            let reason = format!("Field [{last}] of type [histogram] can't be used in multifields");
            return Err(mapper_parsing(reason));
        }
        place.refuse_copies(leaf)
    }

    fn parts(&self, _: &Leaf) -> Vec<(String, Leaf)> {
        COLUMNS.into_iter().map(summary_part).collect()
    }

    fn reads(&self) -> Reads {
        Reads::Summary
    }

    fn read_summary(&self, field: &Field, value: &Value) -> Result<Vec<Vec<i64>>, RequestError> {
        let Value::Object(members) = value else { return Err(unexpected("START_OBJECT", value)) };
        let (mut values, mut counts) = (None, None);
        for (name, list) in members {
            match name.as_str() {
                "values" => values = Some(values_of(field, list)?),
                "counts" => counts = Some(counts_of(field, list)?),
                other => return Err(refused(field, format_args!("with unknown parameter [{other}]"))),
            }
        }
        let missing = |name: &str| refused(field, format_args!("expected field called [{name}]"));
        let values = values.ok_or_else(|| missing("values"))?;
        let counts = counts.ok_or_else(|| missing("counts"))?;
        if values.len() != counts.len() {
            return Err(refused(
                field,
                format_args!(
                    "expected same length from [values] and [counts] but got [{} != {}]",
                    values.len(),
                    counts.len()
                ),
            ));
        }
        columns_of(field, &values, &counts)
    }

    fn show_summary(&self, _: &Field, numbers: &[Vec<i64>]) -> Value {
        let [stored, totals] = numbers else { return Value::Null };
        let values: Vec<f64> = stored.iter().map(|&value| f64_from_sortable(value)).collect();
        let before = std::iter::once(&0).chain(totals);
        let counts: Vec<i64> = totals.iter().zip(before).map(|(total, before)| total - before).collect();
        json!({"values": values, "counts": counts})
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Shown
    }

    fn select_term(
        &self,
        field: &Field,
        _: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Err(RequestError::illegal_argument(format!(
            "[histogram] field do not support searching, use dedicated aggregations instead: [{}]",
            field.path
        )))
    }

    fn check_sortable(&self, _: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument("can't sort on the [histogram] field"))
    }

    fn is_searchable(&self, _: &Field) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::number::sortable_from_f64;
    use crate::testing::{fed, refused};
    use crate::{Mapping, MappingSettings};

    fn mapping() -> Value {
        json!({"properties": {"h": {"type": "histogram"}}})
    }

    #[test]
    fn counts_are_added_up_and_empty_ones_left_out() {
        let (one, two) = (sortable_from_f64(0.1), sortable_from_f64(0.3));
        assert_eq!(
            fed(&mapping(), &json!({"h": {"values": [0.1, 0.2, 0.3], "counts": [3, 0, 4]}})),
            [
                format!("h.values={one}"),
                format!("h.values={two}"),
                "h.counts=3".to_owned(),
                "h.counts=7".to_owned(),
                "h=".to_owned(),
            ]
        );
        assert_eq!(fed(&mapping(), &json!({"h": {"values": [], "counts": []}})), ["h="]);
        assert!(fed(&mapping(), &json!({"h": null})).is_empty());
        let parsed = Mapping::parse(&mapping(), &MappingSettings::default()).expect("a mapping");
        assert_eq!(parsed.matching("h*").count(), 1);
    }

    /// Reasons as in Elasticsearch's `HistogramParser`.
    #[test]
    fn histograms_are_checked() {
        for (value, reason) in [
            (
                json!({"values": [2, 1], "counts": [1, 1]}),
                "[values] values must be in increasing order, got [1.0] but previous value was [2.0]",
            ),
            (json!({"values": [1], "counts": [-1]}), "[counts] elements must be >= 0 but got -1"),
            (json!({"values": [1]}), "expected field called [counts]"),
            (json!({"counts": [1]}), "expected field called [values]"),
            (
                json!({"values": [1, 2], "counts": [1]}),
                "expected same length from [values] and [counts] but got [2 != 1]",
            ),
            (json!({"values": [], "counts": [], "x": 1}), "with unknown parameter [x]"),
        ] {
            let cause = refused(&mapping(), &json!({"h": value})).caused_by.expect("a cause");
            let expected = format!("error parsing field [h], {reason}");
            assert!(cause.reason.ends_with(&expected), "{}", cause.reason);
        }
        for (value, expected, found) in [
            (json!("x"), "START_OBJECT", "VALUE_STRING"),
            (json!({"values": 1}), "START_ARRAY", "VALUE_NUMBER"),
            (json!({"values": [null], "counts": [1]}), "VALUE_NUMBER", "VALUE_NULL"),
        ] {
            let cause = refused(&mapping(), &json!({"h": value})).caused_by.expect("a cause");
            assert!(cause.reason.ends_with(&format!("of type [{expected}] but found [{found}]")));
        }
        let twice = json!([{"values": [1], "counts": [1]}, {"values": [1], "counts": [1]}]);
        let cause = refused(&mapping(), &json!({"h": twice})).caused_by.expect("a cause");
        assert!(cause.reason.contains("indexing multiple values"), "{}", cause.reason);
        let many = json!({"values": [1, 2], "counts": [9_007_199_254_740_992i64, 1]});
        assert!(refused(&mapping(), &json!({"h": many})).caused_by.is_some());
    }
}
