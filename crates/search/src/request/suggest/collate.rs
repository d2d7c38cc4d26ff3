//! `collate` of the `phrase` suggester: the template of a query that checks suggestions.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use crate::values::json;

/// The template, or the id of a stored one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CollateTemplate {
    Inline(String),
    /// The id of a stored script.
    Stored(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Collate {
    pub template: CollateTemplate,
    /// Parameters of the template besides `suggestion`.
    pub params: Map<String, Value>,
    /// Whether suggestions that match nothing are shown and marked as such.
    pub prune: bool,
}

impl Collate {
    /// Parses `collate`; `None` if it has no query: then nothing is checked, as in Elasticsearch.
    ///
    /// # Errors
    /// Those of Elasticsearch, in its words.
    pub fn parse(value: &Value) -> Result<Option<Collate>, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key("collate", value)) };
        let (mut template, mut params, mut prune) = (None, Map::new(), false);
        for (key, value) in members {
            match (key.as_str(), value) {
                ("query", query) => template = Some(read_template(query)?),
                ("params", Value::Object(given)) => params = given.clone(),
                ("prune", Value::Bool(flag)) => prune = *flag,
                ("prune", _) => {
                    let reason = "suggester[phrase][collate] prune must be either 'true' or 'false'";
                    return Err(RequestError::parsing(reason));
                }
                (other, _) => {
                    let reason = format!("suggester[phrase][collate] doesn't support field [{other}]");
                    return Err(RequestError::parsing(reason));
                }
            }
        }
        Ok(template.map(|template| Collate { template, params, prune }))
    }
}

fn read_template(query: &Value) -> Result<CollateTemplate, RequestError> {
    let parser = ObjectParser::new("script");
    let members = match query {
        Value::String(source) => return Ok(CollateTemplate::Inline(source.clone())),
        Value::Object(members) => members,
        other => return Err(parser.expected_object(other)),
    };
    let mut found = None;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("source" | "inline", Value::String(source)) => {
                found = Some(CollateTemplate::Inline(source.clone()))
            }
            ("source" | "inline", Value::Object(_)) => {
                found = Some(CollateTemplate::Inline(value.to_string()))
            }
            ("id", Value::String(id)) => found = Some(CollateTemplate::Stored(id.clone())),
            ("lang", Value::String(language)) if language == "mustache" => {}
            ("lang", Value::String(language)) => {
                let reason = format!("script_lang not supported [{language}]");
                return Err(RequestError::illegal_argument(reason));
            }
            ("source" | "inline" | "id" | "lang", _) => {
                return Err(parser.malformed(key));
            }
            // The template's own parameters are given beside the query.
            ("params" | "options", _) => {
                return Err(RequestError::unsupported(format_args!("[{key}] in [query] of [collate]")));
            }
            (other, _) => return Err(parser.unknown(other)),
        }
    }
    found.ok_or_else(|| {
        RequestError::illegal_argument(
            "must specify either [source] for an inline script or [id] for a stored script",
        )
    })
}
