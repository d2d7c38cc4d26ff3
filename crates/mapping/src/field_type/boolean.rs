//! `boolean`. Source: Elasticsearch's `BooleanFieldMapper`.

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    BOOST, Cause, DIMENSION, DOC_VALUES, DateContext, Dimension, Field, FieldType, IGNORE_MALFORMED, INDEX,
    IntegerWidth, KEEP, Leaf, META, NULL_VALUE, ON_SCRIPT_ERROR, Param, RangeEnd, SCRIPT, STORE, Scalar,
    Selection, Typed, ValueKind, Wanted, number_range,
};
use crate::json::java;

#[derive(Debug)]
pub(super) struct Boolean;

static PARAMS: &[Param] = &[
    BOOST,
    META,
    DOC_VALUES,
    INDEX,
    NULL_VALUE,
    STORE,
    SCRIPT,
    ON_SCRIPT_ERROR,
    DIMENSION,
    IGNORE_MALFORMED,
    KEEP,
];

impl FieldType for Boolean {
    fn name(&self) -> &'static str {
        "boolean"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Bool)
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        java::boolean(value).map(Value::Bool)
    }

    fn dimension(&self) -> Dimension {
        Dimension::Allowed
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        match scalar {
            Scalar::Bool(flag) => Ok(Typed::Number(flag.into())),
            Scalar::Text("true") => Ok(Typed::Number(1)),
            Scalar::Text("false" | "") => Ok(Typed::Number(0)),
            other => Err(unreadable(other)),
        }
    }

    fn select_term(
        &self,
        _: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Ok(Selection::Number(flag(wanted.text)?.into()))
    }

    fn select_range(
        &self,
        _: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let least = |text: &str, end: RangeEnd<'_>| Ok(i128::from(flag(text)?) + i128::from(!end.inclusive));
        let most = |text: &str, end: RangeEnd<'_>| Ok(i128::from(flag(text)?) - i128::from(!end.inclusive));
        number_range((lower, upper), IntegerWidth::Long.limits(), least, most)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        match text.as_str() {
            "true" => Some(true.into()),
            "false" | "" => Some(false.into()),
            _ => None,
        }
    }

    fn sorts_indices(&self) -> bool {
        true
    }
}

/// Parses a boolean of a query.
fn flag(text: &str) -> Result<bool, RequestError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(RequestError::illegal_argument(format!(
            "Can't parse boolean value [{other}], expected [true] or [false]"
        ))),
    }
}

#[cold]
fn unreadable(scalar: Scalar<'_>) -> Cause {
    let text = scalar.text();
    if let Scalar::Text(_) = scalar {
        return Box::new(RequestError::not_a_boolean(text));
    }
    let is_integer = !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let token = if is_integer { "VALUE_NUMBER_INT" } else { "VALUE_NUMBER_FLOAT" };
    let reason = format!("Current token ({token}) not of boolean type");
    Box::new(
        RequestError::bad_request("x_content_parse_exception", reason.clone())
            .caused_by(RequestError::bad_request("json_parse_exception", reason)),
    )
}
