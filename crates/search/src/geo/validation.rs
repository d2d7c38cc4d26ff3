//! How strict a request is about coordinates.

use limber_mapping::RequestError;
use serde_json::Value;

use crate::values::json;

/// `validation_method`: how coordinates outside of the map are treated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Validation {
    /// They are refused.
    #[default]
    Strict,
    IgnoreMalformed,
    /// They are brought back onto the map.
    Coerce,
}

impl Validation {
    /// Parses `validation_method`: `STRICT`, `IGNORE_MALFORMED` or `COERCE`.
    pub fn parse(value: &Value) -> Result<Validation, RequestError> {
        let name = json::scalar_text(value).unwrap_or_default();
        match name.to_uppercase().as_str() {
            "STRICT" => Ok(Validation::Strict),
            "IGNORE_MALFORMED" => Ok(Validation::IgnoreMalformed),
            "COERCE" => Ok(Validation::Coerce),
            _ => Err(RequestError::illegal_argument(format!(
                "operator needs to be either [COERCE, IGNORE_MALFORMED, STRICT], but not [{name}]"
            ))),
        }
    }
}
