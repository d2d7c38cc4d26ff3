//! The hidden fields of `aggregate_metric_double` and `histogram`, each of which is a column of numbers.

use serde_json::Value;

use super::floating::Floating;
use super::integer::Whole;
use crate::RequestError;
use crate::error::token;
use crate::field::{DOC_VALUES, Field, FieldType, IntegerWidth, Leaf, Param, Precision, SummaryColumn};

/// The hidden field of a column of a summary.
#[derive(Debug)]
struct SummaryPart(SummaryColumn);

/// Returns the hidden field of a column: the suffix of its name, and its declaration.
pub(super) fn summary_part(column: SummaryColumn) -> (String, Leaf) {
    let kind: &'static dyn FieldType = match column {
        SummaryColumn::Min => &SummaryPart(SummaryColumn::Min),
        SummaryColumn::Max => &SummaryPart(SummaryColumn::Max),
        SummaryColumn::Sum => &SummaryPart(SummaryColumn::Sum),
        SummaryColumn::ValueCount => &SummaryPart(SummaryColumn::ValueCount),
        SummaryColumn::Values => &SummaryPart(SummaryColumn::Values),
        SummaryColumn::Totals => &SummaryPart(SummaryColumn::Totals),
    };
    (column.name().to_owned(), Leaf::of(kind))
}

/// Returns the type of a column's numbers.
pub(super) fn number_type(column: SummaryColumn) -> &'static dyn FieldType {
    match column {
        SummaryColumn::ValueCount => &Whole(IntegerWidth::Integer),
        SummaryColumn::Totals => &Whole(IntegerWidth::Long),
        _ => &Floating(Precision::Double),
    }
}

/// Returns the error about a value that does not begin with the expected token.
pub(super) fn unexpected(expected: &str, value: &Value) -> RequestError {
    let found = token(value);
    RequestError::parsing(format!(
        "Failed to parse object: expecting token of type [{expected}] but found [{found}]"
    ))
}

impl FieldType for SummaryPart {
    fn name(&self) -> &'static str {
        number_type(self.0).name()
    }

    fn params(&self) -> &'static [Param] {
        &[DOC_VALUES]
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(number_type(self.0))
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        (field.is_part, field.is_hidden) = (true, true);
    }

    fn takes_script(&self) -> bool {
        false
    }
}
