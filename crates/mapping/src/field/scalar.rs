//! A JSON scalar on its way to a field: "what is it, what does it become, and why may it be refused?"

use serde_json::Value;

use super::mapped::Field;
use super::value_kind::IntegerWidth;
use crate::RequestError;

/// A scalar as it occurs in JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar<'a> {
    Text(&'a str),
    /// A number without fraction or exponent that fits into `i64`.
    Integer {
        text: &'a str,
        value: i64,
    },
    /// Any other number.
    Number(&'a str),
    Bool(bool),
    /// A stored number: a `null_value` of a type whose values are not scalars.
    Stored(i64),
}

/// A scalar that owns its string.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedScalar {
    Text(String),
    Integer(String, i64),
    Number(String),
    Bool(bool),
    Stored(i64),
}

impl OwnedScalar {
    /// Converts a JSON scalar; objects and lists become their JSON text.
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

    /// Returns the borrowed form, with which documents are read.
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
    /// Returns the text of the token, like Jackson's `text()`.
    pub fn text(self) -> &'a str {
        match self {
            Scalar::Text(text) | Scalar::Integer { text, .. } | Scalar::Number(text) => text,
            Scalar::Bool(true) => "true",
            Scalar::Bool(false) => "false",
            Scalar::Stored(_) => "",
        }
    }
}

/// How the walker reads the values of a field. Scalar types are read by [`super::FieldType::read`]. The most
/// common ones have variants of their own, so that the compiler can inline them into the walker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reads {
    Scalar,
    /// A string, unchanged.
    Text,
    /// The bytes of a string as a term.
    Keyword,
    Integer(IntegerWidth),
    Ip,
    Date,
    /// Points in any notation.
    Points,
    /// Shapes in any notation.
    Shapes,
    /// An object with the bounds of a range.
    Ranges,
    /// Base64.
    Bytes,
    /// Strings with weights and contexts of a completion.
    Inputs,
    /// A relation and the parent's id.
    Relation,
    /// A number that becomes a term.
    Feature,
    /// An object with such numbers by name.
    Features,
    /// A query object.
    Query,
    /// An object whose keys are not mapped.
    Flattened,
    /// An object with the numbers of a summary.
    Summary,
}

impl Reads {
    /// Whether a value is read as a whole, whatever its structure.
    pub fn is_whole(self) -> bool {
        self.takes_objects() || matches!(self, Reads::Bytes | Reads::Feature)
    }

    /// Whether the code that reads a value feeds the multi-fields, too: those of points with geohashes, and
    /// the hidden fields of summaries with numbers.
    pub fn feeds_multi_fields(self) -> bool {
        matches!(self, Reads::Points | Reads::Summary)
    }

    /// Whether an object is a value of the field.
    pub fn takes_objects(self) -> bool {
        matches!(
            self,
            Reads::Points
                | Reads::Shapes
                | Reads::Ranges
                | Reads::Inputs
                | Reads::Relation
                | Reads::Features
                | Reads::Query
                | Reads::Flattened
                | Reads::Summary
        )
    }
}

/// What the sink gets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Typed<'a> {
    /// The value counts as null (an empty string for a number).
    Nothing,
    Number(i64),
    Term(&'a [u8]),
    /// A term that the type encoded.
    Coded(Vec<u8>),
    Text(&'a str),
}

/// Why a value cannot be read. Becomes the `caused_by` of the document's error.
pub(crate) type Cause = Box<RequestError>;

#[cold]
pub(crate) fn cause(reason: String) -> Cause {
    Box::new(RequestError::illegal_argument(reason))
}

/// Returns the error about a string with `coerce` off.
#[cold]
pub(crate) fn passed_as_string(name: &str) -> Cause {
    let mut shown = name.to_owned();
    shown[..1].make_ascii_uppercase();
    cause(format!("{shown} value passed as String"))
}

/// Returns the error about a boolean in place of a number.
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
