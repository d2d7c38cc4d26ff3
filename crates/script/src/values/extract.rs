//! `grok` and `dissect` in the scripts of runtime fields: "which named parts does this string have?"
//!
//! Source: Elasticsearch's `NamedGroupExtractor`.

use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_text::dissect::Dissect;
use limber_text::grok::{CaptureType, Ecs, Found, Grok, library};

use super::value::Value;

/// A pattern, compiled with its script.
#[derive(Debug)]
pub enum Extractor {
    Grok(Grok),
    Dissect(Dissect),
}

impl Extractor {
    /// Compiles a `grok` pattern.
    ///
    /// # Errors
    /// Why the pattern cannot be compiled, in the words of the script's compiler.
    pub fn grok(pattern: &str) -> Result<Extractor, String> {
        let trouble = |reason| format!("error compiling grok pattern [{pattern}]: {reason}");
        Grok::parse(pattern, library(Ecs::Disabled), &HashMap::new()).map(Extractor::Grok).map_err(trouble)
    }

    /// Compiles a `dissect` pattern; `separator` joins the parts that are appended to each other.
    ///
    /// # Errors
    /// Why the pattern cannot be compiled, in the words of the script's compiler.
    pub fn dissect(pattern: &str, separator: &str) -> Result<Extractor, String> {
        Dissect::parse(pattern, separator)
            .map(Extractor::Dissect)
            .map_err(|error| format!("error compiling dissect pattern [{pattern}]: {}", error.reason))
    }

    /// Returns the parts of a string by name; `Null` when it does not match.
    pub fn extract(&self, text: &str) -> Result<Value, RequestError> {
        Ok(match self {
            Extractor::Grok(grok) => match grok.captures(text)? {
                None => Value::Null,
                Some(found) => Value::map(groups(&found)?, true),
            },
            Extractor::Dissect(dissect) => match dissect.parts(text) {
                None => Value::Null,
                Some(parts) => Value::map(
                    parts
                        .into_iter()
                        .map(|(name, text)| (Value::str(name), Value::str(text.as_ref())))
                        .collect(),
                    true,
                ),
            },
        })
    }
}

/// Groups captures by name. A name that was captured several times becomes a list.
fn groups(found: &[Found<'_, '_>]) -> Result<Vec<(Value, Value)>, RequestError> {
    let mut entries = Vec::new();
    let mut rest = found;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|other| other.name == first.name).count();
        let mut values = rest[..count].iter().map(typed).collect::<Result<Vec<_>, _>>()?;
        let value = if count == 1 { values.remove(0) } else { Value::list(values) };
        entries.push((Value::str(first.name), value));
        rest = &rest[count..];
    }
    Ok(entries)
}

fn typed(found: &Found<'_, '_>) -> Result<Value, RequestError> {
    let text = found.text;
    let wrong = || RequestError::number_format(text);
    Ok(match found.kind {
        CaptureType::Text => Value::str(text),
        CaptureType::Boolean => Value::Bool(text.eq_ignore_ascii_case("true")),
        CaptureType::Integer => Value::Int(text.parse().map_err(|_| wrong())?),
        CaptureType::Long => Value::Long(text.parse().map_err(|_| wrong())?),
        CaptureType::Float => Value::Float(text.parse().map_err(|_| wrong())?),
        CaptureType::Double => Value::Double(text.parse().map_err(|_| wrong())?),
    })
}
