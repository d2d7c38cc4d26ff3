//! `pit`: "which opened point in time is searched?"

use limber_mapping::{ObjectParser, RequestError};
use serde_json::Value;

use crate::values::json;

/// A point in time to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointInTime {
    /// The id that `_pit` returned when it was opened.
    pub id: String,
    /// How much longer it is kept after this search.
    pub keep_alive_millis: Option<u64>,
}

impl PointInTime {
    pub(super) fn parse(value: &Value) -> Result<PointInTime, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key("pit", value)) };
        let (mut id, mut keep_alive_millis) = (None, None);
        for (name, value) in members {
            let text = || json::scalar_text(value).ok_or_else(|| PARSER.unsupported(name, value));
            match name.as_str() {
                "id" => id = Some(text()?),
                "keep_alive" => keep_alive_millis = json::time_millis(&text()?, "keep_alive")?,
                _ => return Err(PARSER.unknown(name)),
            }
        }
        match id {
            Some(id) => Ok(PointInTime { id, keep_alive_millis }),
            None => Err(RequestError::illegal_argument("point in time id is not provided")),
        }
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("pit");
