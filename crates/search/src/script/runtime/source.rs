//! Converts JSON values to what a column would store: for fields without a script, and for the parts of a
//! `composite`.
//!
//! Unreadable values are ignored, as in Elasticsearch.

use limber_mapping::geo::{ReadOptions, parse_points};
use limber_mapping::number::{double_from_text, integer_from_text, sortable_from_f64};
use limber_mapping::{Field, ValueKind};
use serde_json::Value;

use crate::values::json;

/// One value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stored {
    Number(i64),
    Term(Vec<u8>),
}

/// Appends the values that `value` (a scalar, or a whole point) stands for.
pub(super) fn read(field: &Field, value: &Value, out: &mut Vec<Stored>) {
    if field.is_point() {
        let options = ReadOptions { ignore_z: true, bring_back: true };
        out.extend(
            parse_points(value, &field.path, options).into_iter().map(|point| Stored::Number(point.encode())),
        );
        return;
    }
    let Some(text) = json::scalar_text(value) else { return };
    out.extend(scalar(field, value, text));
}

fn scalar(field: &Field, value: &Value, text: String) -> Option<Stored> {
    Some(match &field.values {
        ValueKind::Long(_) => Stored::Number(match integer_from_text(&text) {
            Some(number) => i64::try_from(number.value).ok()?,
            None => return None,
        }),
        ValueKind::Double(_) => {
            let number = double_from_text(&text).filter(|number| number.is_finite())?;
            Stored::Number(sortable_from_f64(number))
        }
        ValueKind::Bool => Stored::Number(match (value, text.as_str()) {
            (Value::Bool(flag), _) => i64::from(*flag),
            (_, "true") => 1,
            (_, "false" | "") => 0,
            _ => return None,
        }),
        ValueKind::Date { format, .. } => Stored::Number(format.parse_millis(&text).ok()?),
        ValueKind::Ip => Stored::Term(limber_mapping::ip::parse(text.as_bytes())?.to_vec()),
        _ => Stored::Term(text.into_bytes()),
    })
}
