//! The `format` of `docvalue_fields` and `fields`: "how shall this field's values be shown?"

use limber_mapping::date::DateFormat;
use limber_mapping::{Field, RequestError, ValueKind};
use serde_json::Value;

use crate::aggregation::DecimalFormat;
use crate::error::Result;
use crate::request::FieldFormat;

/// How the values of a column are shown.
pub(super) enum ColumnFormat {
    /// As the mapping says.
    Own,
    /// Dates in a pattern of the request.
    Date(DateFormat),
    /// Numbers in a pattern of the request, as strings.
    Number(DecimalFormat),
}

impl ColumnFormat {
    /// Parses the format that the request has for a field.
    ///
    /// # Errors
    /// The pattern is invalid, or the field has values that no pattern can show.
    pub fn of(field: &Field, wanted: &FieldFormat) -> Result<ColumnFormat> {
        let Some(pattern) = pattern(wanted) else { return Ok(ColumnFormat::Own) };
        Ok(match &field.values {
            ValueKind::Long(_) | ValueKind::Double(_) | ValueKind::Scaled(_) => {
                ColumnFormat::Number(DecimalFormat::parse(pattern)?)
            }
            ValueKind::UnsignedLong => {
                return Err(RequestError::unsupported("[format] of an unsigned_long").into());
            }
            _ => ColumnFormat::Date(field.shown_by(pattern)?),
        })
    }

    /// Shows a number of the field's column.
    pub fn show(&self, field: &Field, stored: i64) -> Value {
        match self {
            ColumnFormat::Own => field.show_number(stored, None),
            ColumnFormat::Date(format) => field.show_number(stored, Some(format)),
            ColumnFormat::Number(format) if matches!(field.values, ValueKind::Long(_)) => {
                format.format_whole(stored).into()
            }
            ColumnFormat::Number(format) => format.format(field.decode_f64(stored)).into(),
        }
    }
}

/// Parses the format of values that `fields` reads from the source: only dates have one.
///
/// # Errors
/// The pattern is invalid, or the field supports no formats; the error names the field.
pub(super) fn source_format(field: &Field, wanted: &FieldFormat) -> Result<Option<DateFormat>> {
    let Some(pattern) = pattern(wanted) else { return Ok(None) };
    let format = match field.takes_date_formats() {
        true => field.shown_by(pattern),
        false => Err(RequestError::illegal_argument(format!(
            "Field [{}] of type [{}] doesn't support formats.",
            field.path,
            field.type_name()
        ))),
    };
    format.map(Some).map_err(|cause| error_fetching(&field.path, cause).into())
}

/// Returns the error about a field whose values cannot be shown as the request asks.
pub(super) fn error_fetching(path: &str, cause: RequestError) -> RequestError {
    let reason = format!("error fetching [{path}]: {}", cause.reason);
    RequestError::illegal_argument(reason).caused_by(cause)
}

fn pattern(wanted: &FieldFormat) -> Option<&str> {
    wanted.format.as_deref().filter(|pattern| *pattern != "use_field_mapping")
}
