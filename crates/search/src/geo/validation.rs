//! How strict a request is about coordinates.

use limber_mapping::RequestError;
use serde_json::Value;

use crate::values::json;

/// `validation_method`: what becomes of coordinates outside of the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Validation {
    /// Refused.
    #[default]
    Strict,
    IgnoreMalformed,
    /// Brought back onto it.
    Coerce,
}

impl Validation {
    /// Reads `validation_method`: `STRICT`, `IGNORE_MALFORMED` or `COERCE`.
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
