//! One alias of one index.

use limber_mapping::{ObjectParser, RequestError, token};
use serde_json::{Map, Value};

use crate::api::Result;

/// The names of the member `index_routing`. Source: `IndicesAliasesRequest.AliasActions`.
pub(super) const INDEX_ROUTING: [&str; 3] = ["index_routing", "indexRouting", "index-routing"];
/// The names of the member `search_routing`.
pub(super) const SEARCH_ROUTING: [&str; 3] = ["search_routing", "searchRouting", "search-routing"];

/// What one index defines for one of its aliases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Alias {
    /// A query that restricts what a search through the alias sees, as the user gave it.
    pub filter: Option<Value>,
    /// Routing of writes through the alias.
    pub index_routing: Option<String>,
    /// Routing of searches through the alias: comma-separated values.
    pub search_routing: Option<String>,
    /// Whether writes through the alias go to this index. `None` means yes if the alias has only this index.
    pub is_write_index: Option<bool>,
    /// Whether wildcards skip the alias.
    pub is_hidden: Option<bool>,
}

impl Alias {
    /// Checks the types of the members of an alias in the body of a request that creates an index.
    ///
    /// Source: `Alias#fromXContent`.
    pub(crate) fn check_types(name: &str, body: &Value) -> Result<()> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        let Value::Object(members) = body else { return refused("No alias is specified".to_owned()) };
        for (member, value) in members {
            match (member.as_str(), value) {
                ("is_write_index" | "is_hidden", Value::String(text)) => {
                    return refused(format!(
                        "Unsupported String type value [{text}] for field [{member}] in alias [{name}]"
                    ));
                }
                (_, Value::Null | Value::Number(_) | Value::Array(_)) => {
                    return refused(format!("Unknown token [{}] in alias [{name}]", token(value)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Parses the body of one alias, an object with `filter`, `routing`, `index_routing`, `search_routing`,
    /// `is_write_index` and `is_hidden`. The error names any other key.
    pub fn parse(body: &Value) -> Result<Alias> {
        let mut alias = Alias::default();
        let object = match body {
            Value::Null => return Ok(alias),
            Value::Object(object) => object,
            other => return Err(RequestError::parsing(format!("an alias is an object, not [{other}]"))),
        };
        for (key, value) in object {
            match key.as_str() {
                "filter" if value.is_null() || value.as_object().is_some_and(Map::is_empty) => {}
                "filter" if value.is_object() => alias.filter = Some(value.clone()),
                "routing" => {
                    alias.index_routing = routing(key, value)?;
                    alias.search_routing = alias.index_routing.clone();
                }
                name if INDEX_ROUTING.contains(&name) => alias.index_routing = routing(key, value)?,
                name if SEARCH_ROUTING.contains(&name) => alias.search_routing = routing(key, value)?,
                "is_write_index" => alias.is_write_index = flag(key, value)?,
                "is_hidden" => alias.is_hidden = flag(key, value)?,
                other => return Err(RequestError::parsing(ObjectParser::unknown_words(other) + " in alias")),
            }
        }
        Ok(alias)
    }

    /// Returns the bytes that an alias takes, without its name.
    pub(crate) fn bytes(&self) -> u64 {
        /// Bytes of an entry in the map of an index, and of the members in JSON.
        const ENTRY_BYTES: u64 = 300;
        let routing = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() as u64);
        let filter = self.filter.as_ref().map_or(0, limber_mapping::copied_bytes);
        ENTRY_BYTES + filter + routing(&self.index_routing) + routing(&self.search_routing)
    }

    /// Renders the alias as `GET _alias` shows it; [`Alias::parse`] reads it back.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        if let Some(filter) = &self.filter {
            object.insert("filter".into(), filter.clone());
        }
        if let Some(routing) = &self.index_routing {
            object.insert("index_routing".into(), routing.as_str().into());
        }
        if let Some(routing) = &self.search_routing {
            object.insert("search_routing".into(), routing.as_str().into());
        }
        if let Some(flag) = self.is_write_index {
            object.insert("is_write_index".into(), flag.into());
        }
        if let Some(flag) = self.is_hidden {
            object.insert("is_hidden".into(), flag.into());
        }
        Value::Object(object)
    }
}

/// Returns the routing of a request for one document that names an alias: that of the request, or that of the
/// alias. The two must not differ.
///
/// Source: `ProjectMetadata#resolveRouting`.
pub(crate) fn index_routing<'a>(
    alias: &str,
    of_alias: Option<&'a str>,
    requested: Option<&'a str>,
) -> Result<Option<&'a str>> {
    match (of_alias, requested) {
        (Some(own), Some(routing)) if own != routing => Err(RequestError::illegal_argument(format!(
            "Alias [{alias}] has index routing associated with it [{own}], and was provided with routing value \
             [{routing}], rejecting operation"
        ))),
        _ => Ok(of_alias.or(requested)),
    }
}

pub(super) fn routing(key: &str, value: &Value) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(RequestError::parsing(format!("[{key}] is a text, not [{other}]"))),
    }
}

pub(super) fn flag(key: &str, value: &Value) -> Result<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        Value::String(text) if text == "true" || text == "false" => Ok(Some(text == "true")),
        other => Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{other}] as only [true] or [false] are allowed for [{key}]."
        ))),
    }
}
