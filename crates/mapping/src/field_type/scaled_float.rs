//! `scaled_float`: a number times a factor, rounded. Source: Elasticsearch's `ScaledFloatFieldMapper`.

use serde_json::Value;

use super::floating::{null_double, read_double};
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    BOOST, COERCE, Cause, Check, DOC_VALUES, DateContext, Field, FieldType, IGNORE_MALFORMED, INDEX,
    IntegerWidth, KEEP, Leaf, Location, META, METRIC, NULL_VALUE, Param, RangeEnd, SKIP_LIST, STORE, Scalar,
    Selection, Typed, Update, ValueKind, Wanted, double_of, number_range, param,
};
use crate::number::double_from_text;

#[derive(Debug)]
pub(super) struct ScaledFloat;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    BOOST,
    SKIP_LIST,
    META,
    param("scaling_factor", Check::Number, Update::Never, ""),
    COERCE,
    NULL_VALUE,
    METRIC,
    KEEP,
];

impl FieldType for ScaledFloat {
    fn name(&self) -> &'static str {
        "scaled_float"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Scaled(leaf.param("scaling_factor").as_f64().unwrap_or(1.0)))
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        null_double(value)
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        match leaf.params.contains_key("scaling_factor") {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "Field [{}] misses required parameter [scaling_factor]",
                place.path
            ))),
        }
    }

    fn read<'a>(&self, field: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        Ok(match read_double(field, scalar, self.name(), f64::MAX)? {
            Some(value) => Typed::Number(scaled(value, factor(field))),
            None => Typed::Nothing,
        })
    }

    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Ok(Selection::Number(scaled(double_of(wanted.text)?, factor(field))))
    }

    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let factor = factor(field);
        let least = |text: &str, end: RangeEnd<'_>| {
            let value = double_of(text)?;
            let value = if end.inclusive { value } else { value.next_up() };
            Ok((value * factor).ceil() as i128)
        };
        let most = |text: &str, end: RangeEnd<'_>| {
            let value = double_of(text)?;
            let value = if end.inclusive { value } else { value.next_down() };
            Ok((value * factor).floor() as i128)
        };
        number_range((lower, upper), IntegerWidth::Long.limits(), least, most)
    }

    fn show_source(&self, field: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        let factor = factor(field);
        double_from_text(&text).map(|value| Value::from(scaled(value, factor) as f64 / factor))
    }
}

#[inline]
fn factor(field: &Field) -> f64 {
    let ValueKind::Scaled(factor) = field.values else { unreachable!("of a scaled_float") };
    factor
}

/// Computes `Math.round(value * factor)`: rounds half up, and saturates at the limits of `i64`.
fn scaled(value: f64, factor: f64) -> i64 {
    let product = value * factor;
    let floor = floor(product);
    (if product - floor >= 0.5 { floor + 1.0 } else { floor }) as i64
}

/// Computes `value.floor()`, which without SSE 4.1 would be a function call.
#[inline]
fn floor(value: f64) -> f64 {
    // Numbers beyond 2^52 have no fraction.
    if value.abs() >= (1u64 << 52) as f64 {
        return value;
    }
    let truncated = value as i64 as f64;
    if truncated > value { truncated - 1.0 } else { truncated }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Mapping, MappingSettings};

    #[test]
    fn sources_are_shown_to_the_precision_of_the_factor() {
        let body = json!({"properties": {"s": {"type": "scaled_float", "scaling_factor": 100}}});
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a mapping");
        let field = mapping.field("s").expect("mapped");
        assert_eq!(field.show_source(&json!(1.239), None), Some(json!(1.24)));
        assert_eq!(field.show_source(&json!("-1.231"), None), Some(json!(-1.23)));
    }
}
