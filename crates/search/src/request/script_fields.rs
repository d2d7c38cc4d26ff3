//! `script_fields`: values that scripts compute for each hit.

use limber_mapping::RequestError;
use limber_script::Script;
use serde_json::Value;

use crate::values::json;

/// Maximum number of script fields of one search, inner hits or `top_hits`. Shards also check those of a
/// search against the settings of their index.
const FIELDS_MAX: usize = 1_000;

/// An entry of `script_fields`: a value that a script computes for each hit.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptField {
    /// The name under which the value is shown.
    pub name: String,
    /// Computes the value.
    pub script: Script,
    /// Whether a document for which the script fails just lacks the field.
    pub ignore_failure: bool,
}

impl ScriptField {
    /// Parses the value of `script_fields`.
    pub(super) fn parse_all(value: &Value) -> Result<Vec<ScriptField>, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key("script_fields", value)) };
        if members.len() > FIELDS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "Trying to retrieve too many script_fields. Must be less than or equal to: [{FIELDS_MAX}] but was [{}].",
                members.len()
            )));
        }
        members.iter().map(|(name, value)| ScriptField::parse(name, value)).collect()
    }

    fn parse(name: &str, value: &Value) -> Result<ScriptField, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key(name, value)) };
        let (mut script, mut ignore_failure) = (None, false);
        for (key, value) in members {
            match key.as_str() {
                "script" => script = Some(Script::parse(value)?),
                "ignore_failure" => ignore_failure = json::boolean(value)?,
                other => return Err(json::unknown_key(other, value)),
            }
        }
        let script = script
            .ok_or_else(|| RequestError::parsing(format!("script field [{name}] requires a [script]")))?;
        Ok(ScriptField { name: name.to_owned(), script, ignore_failure })
    }
}
