//! The documents of a `more_like_this` query: from an index, or given in the query itself.

use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::counts::TermCounts;
use crate::context::documents::{DocumentName, NamedDocument};
use crate::context::version_type::VersionType;
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::lookup::Lookup;
use crate::values::json;

/// One document.
#[derive(Debug)]
pub(super) struct Item {
    index: Option<String>,
    pub id: Option<String>,
    document: Option<Value>,
    fields: Option<Vec<String>>,
    analyzers: Map<String, Value>,
    routing: Option<String>,
    version: Option<i64>,
    /// The document's terms as seen from each index; `None` if the document does not exist.
    found: Lookup<Option<TermCounts>>,
}

fn malformed(what: &str) -> RequestError {
    RequestError::bad_request("parse_exception", format!("failed to parse More Like This item. {what}"))
}

impl Item {
    /// Parses a document that is named or given as an example.
    pub fn parse(members: &Map<String, Value>) -> Result<Item, RequestError> {
        let mut item = Item {
            index: None,
            id: None,
            document: None,
            fields: None,
            analyzers: Map::new(),
            routing: None,
            version: None,
            found: Lookup::default(),
        };
        for (key, value) in members {
            match (key.as_str(), value) {
                ("_index", value) => item.index = Some(json::text(value)?),
                ("_id", value) => item.id = Some(json::text(value)?),
                ("doc", value) => item.document = Some(value.clone()),
                ("fields", Value::Array(items)) => {
                    item.fields = Some(items.iter().map(json::text).collect::<Result<_, _>>()?);
                }
                ("fields", _) => return Err(malformed("field [fields] must be an array")),
                ("per_field_analyzer", Value::Object(analyzers)) => {
                    if let Some((path, _)) = analyzers.iter().find(|(_, name)| !name.is_string()) {
                        let reason = format!("expecting the analyzer at [{path}] to be a String");
                        return Err(RequestError::bad_request("parse_exception", reason));
                    }
                    item.analyzers = analyzers.clone();
                }
                // Elasticsearch reads any other value as an empty map.
                ("per_field_analyzer", _) => {}
                ("routing" | "_routing", value) => item.routing = Some(json::text(value)?),
                ("version" | "_version", value) => {
                    item.version = Some(match value {
                        Value::String(text) => text.parse().map_err(|_| {
                            RequestError::illegal_argument(format!("For input string: \"{text}\""))
                        })?,
                        Value::Number(number) => {
                            number.as_i64().or(number.as_f64().map(|number| number as i64)).unwrap_or(0)
                        }
                        other => i64::from(json::int(other)?),
                    });
                }
                // Reads treat all version types alike.
                ("version_type", value) => {
                    VersionType::parse(&json::text(value)?)?;
                }
                (key, _) => return Err(malformed(&ObjectParser::unknown_words(key))),
            }
        }
        match (&item.id, &item.document) {
            (Some(_), Some(_)) => Err(malformed("either [id] or [doc] can be specified, but not both!")),
            (None, None) => Err(malformed("neither [id] nor [doc] is specified!")),
            _ => Ok(item),
        }
    }

    /// Returns the document's terms, as seen from a shard; `None` if there is no such document, or if it has
    /// no source. `fields`: those of the query, for an item without fields of its own.
    ///
    /// # Errors
    /// Fails if a required routing is missing. If the document cannot be found for another reason, it has no
    /// terms, as in Elasticsearch.
    pub fn counts(
        &self,
        fields: Option<&[String]>,
        binder: &Binder<'_>,
    ) -> Result<Arc<Option<TermCounts>>, Error> {
        let own = self.fields.as_deref().filter(|fields| !fields.is_empty());
        let shard = binder.shard();
        let Some(id) = &self.id else {
            let document = self.document.as_ref().map(Value::to_string).unwrap_or_default();
            let counts = TermCounts::of(&shard.mapping, document.as_bytes(), own, &self.analyzers);
            return Ok(Arc::new(counts.ok()));
        };
        let name = DocumentName {
            index: self.index.clone().unwrap_or_else(|| shard.index.name.clone()),
            id: id.clone(),
            routing: self.routing.clone(),
            version: self
                .version
                .and_then(|version| u64::try_from(version).ok())
                .filter(|version| *version > 0),
        };
        binder.look_up(&self.found, "a document of an index in [more_like_this]", &name, |document| {
            let document = match document {
                Err(error) if error.kind == "routing_missing_exception" => return Err(error),
                found => found.ok().flatten().filter(|document| !document.source.is_empty()),
            };
            let Some(NamedDocument { source, mapping }) = document else { return Ok(None) };
            Ok(TermCounts::of(&mapping, &source, own.or(fields), &self.analyzers).ok())
        })
    }
}
