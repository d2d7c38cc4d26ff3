//! A script in a request: `"source"` alone, or an object with `source` or `id`, `lang`, `params` and
//! `options`.

use limber_mapping::{ObjectParser, RequestError, token};
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
    /// The media type of a template's source. Only shown.
    pub content_type: Option<String>,
}

/// The media type of a template that is put as an object.
const JSON: &str = "application/json;charset=utf-8";

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
    ///
    /// Source: `StoredScriptSource#parse`.
    pub fn parse(body: &Value) -> Result<StoredScript, RequestError> {
        let unexpected = |what: String| RequestError::parsing(format!("unexpected {what}"));
        let members = match body.as_object().and_then(|members| Some((members.len(), members.iter().next()?)))
        {
            Some((1, (name, Value::Object(members)))) if name == "script" => members,
            Some((_, (name, other))) if name == "script" && !other.is_object() => {
                return Err(unexpected(format!("token [{}], expected [{{, <source>]", token(other))));
            }
            Some((_, (name, _))) if name != "script" => {
                return Err(unexpected(format!("field [{name}], expected [script]")));
            }
            _ => return Err(unexpected("field, expected [{, <source>]".to_owned())),
        };
        let (mut language, mut source, mut content_type) = (None, None, None);
        for (key, value) in members {
            match (key.as_str(), value) {
                ("lang", Value::String(text)) => language = Some(text.clone()),
                ("source", Value::String(text)) => source = Some(text.clone()),
                // A template that is given as an object is kept as its JSON.
                ("source", Value::Object(_)) => {
                    source = Some(value.to_string());
                    content_type.get_or_insert_with(|| JSON.to_owned());
                }
                ("options", Value::Object(options)) => {
                    let given = options.get("content_type").and_then(Value::as_str);
                    content_type = given.map(str::to_owned).or(content_type);
                }
                // Example parameters of a template serve its readers only.
                ("params", Value::Object(_)) => {}
                (other, _) => {
                    return Err(ObjectParser::new("stored script source").unknown(other));
                }
            }
        }
        let language =
            language.ok_or_else(|| RequestError::illegal_argument("must specify lang for stored script"))?;
        let source =
            source.ok_or_else(|| RequestError::illegal_argument("must specify source for stored script"))?;
        if source.is_empty() {
            return Err(RequestError::illegal_argument("source cannot be empty"));
        }
        Ok(StoredScript { language, source, content_type })
    }
}
