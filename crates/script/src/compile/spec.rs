//! A script in a request: `"source"` alone, or an object with `source` or `id`, `lang`, `params` and
//! `options`.

use limber_mapping::{ObjectParser, RequestError};
use limber_work as work;
use serde_json::{Map, Value};

/// A script as a request names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// What is run.
    pub code: Code,
    /// `params`.
    pub params: Map<String, Value>,
}

/// The origin of a script's source.
#[derive(Debug, Clone, PartialEq)]
pub enum Code {
    /// Its source is in the request.
    Inline {
        /// `painless`, `expression` or `mustache`.
        language: String,
        /// As the request has it.
        source: String,
    },
    /// A stored script's id.
    Stored(String),
}

/// A script kept under an id.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredScript {
    /// `painless`, `expression` or `mustache`.
    pub language: String,
    /// As it was put.
    pub source: String,
}

const PARSER: ObjectParser<'_> = ObjectParser::new("script");

impl Script {
    /// Parses the value of `script`.
    ///
    /// # Errors
    /// `x_content_parse_exception` and `illegal_argument_exception`, worded as Elasticsearch words them.
    pub fn parse(value: &Value) -> Result<Script, RequestError> {
        let members = match value {
            Value::String(source) => {
                let code = Code::Inline { language: "painless".to_owned(), source: source.clone() };
                return Ok(Script { code, params: Map::new() });
            }
            other => PARSER.members(other)?,
        };
        let (mut source, mut id, mut language, mut params) = (None, None, None, Map::new());
        for (key, value) in members {
            let text = || PARSER.text(key, value).map(str::to_owned);
            match key.as_str() {
                "source" | "inline" | "id" if source.is_some() || id.is_some() => {
                    return Err(PARSER.malformed(key));
                }
                "source" | "inline" => {
                    if key == "inline" {
                        work::warn_renamed("inline", "source");
                    }
                    source = Some(text()?);
                }
                "id" => id = Some(text()?),
                "lang" => language = Some(text()?),
                "params" => match value {
                    Value::Object(members) => params = members.clone(),
                    other => {
                        return Err(PARSER.unsupported("params", other));
                    }
                },
                "options" => match value {
                    Value::Object(options) if options.is_empty() => {}
                    _ => return Err(RequestError::unsupported("[options] of a script")),
                },
                _ => return Err(PARSER.unknown(key)),
            }
        }
        let code = match (source, id) {
            (Some(source), _) => {
                Code::Inline { language: language.unwrap_or_else(|| "painless".to_owned()), source }
            }
            (None, Some(_)) if language.is_some() => {
                return Err(RequestError::illegal_argument(
                    "illegally specified <lang> for a stored script, must not be specified",
                ));
            }
            (None, Some(id)) => Code::Stored(id),
            (None, None) => {
                return Err(RequestError::illegal_argument(
                    "must specify either [source] for an inline script or [id] for a stored script",
                ));
            }
        };
        Ok(Script { code, params })
    }
}

impl Script {
    /// Whether this names a stored script.
    pub fn is_stored(&self) -> bool {
        matches!(self.code, Code::Stored(_))
    }

    /// Returns the source, or the id of a stored script.
    pub fn text(&self) -> &str {
        match &self.code {
            Code::Inline { source, .. } => source,
            Code::Stored(id) => id,
        }
    }
}

impl StoredScript {
    /// Parses the body of `PUT _scripts/ID`.
    pub fn parse(body: &Value) -> Result<StoredScript, RequestError> {
        let script = match body {
            Value::Object(members) if members.len() == 1 => members.get("script"),
            _ => None,
        };
        let Some(Value::Object(members)) = script else {
            return Err(RequestError::parsing("unexpected field, expected [{, <source>]"));
        };
        let (mut language, mut source) = (None, None);
        for (key, value) in members {
            match (key.as_str(), value) {
                ("lang", Value::String(text)) => language = Some(text.clone()),
                ("source", Value::String(text)) => source = Some(text.clone()),
                // A template that is given as an object is kept as its JSON.
                ("source", Value::Object(_)) => source = Some(value.to_string()),
                // Example parameters of a template serve its readers only.
                ("options" | "params", Value::Object(_)) => {}
                (other, _) => {
                    return Err(ObjectParser::new("stored script source").unknown(other));
                }
            }
        }
        let language =
            language.ok_or_else(|| RequestError::illegal_argument("must specify lang for stored script"))?;
        let source = source
            .filter(|source| !source.is_empty())
            .ok_or_else(|| RequestError::illegal_argument("must specify source for stored script"))?;
        Ok(StoredScript { language, source })
    }
}
