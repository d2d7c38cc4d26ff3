//! One JSON scalar on its way to a field: "what stands there, what may become of it, and why not?"

use serde_json::Value;

use super::mapped::Field;
use super::value_kind::IntegerWidth;
use crate::RequestError;

/// A scalar as it stands in JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar<'a> {
    Text(&'a str),
    /// A number without fraction or exponent that fits.
    Integer {
        text: &'a str,
        value: i64,
    },
    /// Any other number.
    Number(&'a str),
    Bool(bool),
    /// What a column holds: a `null_value` of a type whose values are read otherwise.
    Stored(i64),
}

/// A scalar that owns its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedScalar {
    Text(String),
    Integer(String, i64),
    Number(String),
    Bool(bool),
    Stored(i64),
}

impl OwnedScalar {
    /// Takes a JSON scalar; objects and lists become their text.
    pub fn from_json(value: &Value) -> OwnedScalar {
        match value {
            Value::String(text) => OwnedScalar::Text(text.clone()),
            Value::Bool(flag) => OwnedScalar::Bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(value) => OwnedScalar::Integer(number.to_string(), value),
                None => OwnedScalar::Number(number.to_string()),
            },
            other => OwnedScalar::Text(other.to_string()),
        }
    }

    /// The scalar that documents are read with.
    pub fn borrow(&self) -> Scalar<'_> {
        match self {
            OwnedScalar::Text(text) => Scalar::Text(text),
            OwnedScalar::Integer(text, value) => Scalar::Integer { text, value: *value },
            OwnedScalar::Number(text) => Scalar::Number(text),
            OwnedScalar::Bool(flag) => Scalar::Bool(*flag),
            OwnedScalar::Stored(number) => Scalar::Stored(*number),
        }
    }
}

impl<'a> Scalar<'a> {
    /// The text of the token, as Jackson's `text()` gives it.
    pub fn text(self) -> &'a str {
        match self {
            Scalar::Text(text) | Scalar::Integer { text, .. } | Scalar::Number(text) => text,
            Scalar::Bool(true) => "true",
            Scalar::Bool(false) => "false",
            Scalar::Stored(_) => "",
        }
    }
}

/// How the walker reads the values of a field. Types of scalars are asked by [`super::FieldType::read`];
/// those that are read most have an arm of their own beside it, which the compiler puts into the walker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reads {
    Scalar,
    /// A text as it is.
    Text,
    /// The bytes of a text as a term.
    Keyword,
    Integer(IntegerWidth),
    Ip,
    Date,
    /// Points in any notation.
    Points,
    /// Shapes in any notation.
    Shapes,
    /// The object of a range.
    Ranges,
    /// Base64.
    Bytes,
    /// Texts with weights and contexts.
    Inputs,
    /// A relation, and the parent's id.
    Relation,
    /// A number that becomes a term.
    Feature,
    /// An object of such numbers by name.
    Features,
    /// The object of a query.
    Query,
    /// An object whose keys are not mapped.
    Flattened,
}

impl Reads {
    /// Whether a value is read as a whole, whatever it consists of.
    pub fn is_whole(self) -> bool {
        matches!(
            self,
            Reads::Points
                | Reads::Shapes
                | Reads::Ranges
                | Reads::Bytes
                | Reads::Inputs
                | Reads::Relation
                | Reads::Feature
                | Reads::Features
                | Reads::Query
                | Reads::Flattened
        )
    }
}

/// What the sink gets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Typed<'a> {
    /// The value counts for null (an empty string for a number).
    Nothing,
    Number(i64),
    Term(&'a [u8]),
    /// A term that the type made.
    Coded(Vec<u8>),
    Text(&'a str),
}

/// Why a value cannot be read; becomes the `caused_by` of the document's error.
pub(crate) type Cause = Box<RequestError>;

#[cold]
pub(crate) fn cause(reason: String) -> Cause {
    Box::new(RequestError::illegal_argument(reason))
}

/// A text where `coerce` is off.
#[cold]
pub(crate) fn passed_as_string(name: &str) -> Cause {
    let mut shown = name.to_owned();
    shown[..1].make_ascii_uppercase();
    cause(format!("{shown} value passed as String"))
}

/// A truth value where a number belongs.
#[cold]
pub(crate) fn not_numeric(flag: bool) -> Cause {
    let token = if flag { "VALUE_TRUE" } else { "VALUE_FALSE" };
    let reason = format!("Current token ({token}) not numeric, can not use numeric value accessors");
    Box::new(RequestError::bad_request("x_content_parse_exception", reason))
}

/// Checks a scalar against a field without a sink.
pub(crate) fn check_scalar(field: &Field, scalar: Scalar<'_>) -> Result<(), Cause> {
    field.of.read(field, scalar, &mut [0; 16]).map(|_| ())
}
