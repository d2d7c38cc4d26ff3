//! Types of new fields: "what does this scalar say about its field?"

use serde_json::{Map, Value, json};

use super::Inference;
use crate::date::MILLIS_FORMAT;
use crate::definition::Template;
use crate::document::json as tokens;

impl Inference<'_> {
    /// Returns the JSON type of a scalar as dynamic mapping sees it, the type that a mapped field gets, and
    /// the format of a date if the type's default does not cover it; `None` for null.
    pub(super) fn scalar(
        &self,
        at: usize,
        end: usize,
    ) -> Option<(&'static str, &'static str, Option<String>)> {
        let number = |is_whole| if is_whole { ("long", "long", None) } else { ("double", "float", None) };
        match self.bytes[at] {
            b'n' => None,
            b't' | b'f' => Some(("boolean", "boolean", None)),
            b'"' => {
                let mut text = String::new();
                tokens::unescape(&self.text[at + 1..end - 1], &mut text);
                let is_long = text.parse::<i64>().is_ok();
                let is_double = !is_long && crate::number::double_from_text(&text).is_some();
                if self.mapping.numeric_detection() && (is_long || is_double) {
                    return Some(number(is_long));
                }
                let mut formats = self.mapping.date_formats().iter();
                if self.mapping.date_detection()
                    && !is_long
                    && !is_double
                    && let Some(format) = formats.find(|format| format.parse_millis(&text).is_ok())
                {
                    let is_default = format.pattern == "strict_date_optional_time";
                    return Some(("date", "date", (!is_default).then(|| format.pattern.to_string())));
                }
                Some(("string", "text", None))
            }
            _ => Some(number(!self.bytes[at..end].iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')))),
        }
    }
}

pub(super) fn string(template: Option<&Template>, name: &str) -> Value {
    match template {
        Some(template) => Value::Object(template.mapping_for(name, "text")),
        None => json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}),
    }
}

pub(super) fn typed(
    template: Option<&Template>,
    name: &str,
    json_type: &str,
    kind: &str,
    format: Option<&str>,
) -> Value {
    let mut body = match template {
        Some(template) => template.mapping_for(name, kind),
        None => {
            let mut body = Map::new();
            body.insert("type".into(), kind.into());
            body
        }
    };
    let is_of = |name: &str| body.get("type").is_some_and(|kind| kind == name);
    // The default of detected dates, which is not that of `date_nanos`.
    let format = format.or_else(|| (json_type == "date" && is_of("date_nanos")).then_some(MILLIS_FORMAT));
    if let Some(format) = format
        && (is_of("date") || is_of("date_nanos"))
        && !body.contains_key("format")
    {
        body.insert("format".into(), format.into());
    }
    Value::Object(body)
}
