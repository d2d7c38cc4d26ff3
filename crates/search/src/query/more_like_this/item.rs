//! The documents of a `more_like_this` query: those of indices, and those that are part of it.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::counts::TermCounts;
use crate::context::ShardSnapshot;
use crate::json;

/// Where whoever has the indices puts what was found of a document: an object of [`TermCounts::to_json`] by index.
const FOUND: &str = "\0found";

/// One document.
#[derive(Debug, Clone)]
pub(super) struct Item {
    index: Option<String>,
    pub id: Option<String>,
    document: Option<Value>,
    fields: Option<Vec<String>>,
    analyzers: Map<String, Value>,
    routing: Option<String>,
    version: Option<i64>,
    found: Option<Map<String, Value>>,
}

/// A document of an index that a query is like. Documents are read by whoever has the indices.
#[derive(Debug, Clone)]
pub struct LikeLookup {
    /// `None`: each index that is searched has one.
    pub index: Option<String>,
    pub id: String,
    pub routing: Option<String>,
    /// The only version that is wanted; `None`: any.
    pub version: Option<u64>,
    /// Names and patterns of the fields whose terms are wanted; `None`: all.
    pub fields: Option<Vec<String>>,
    /// Of fields, by path.
    pub analyzers: Map<String, Value>,
}

impl LikeLookup {
    /// Of one member of `like` or `unlike`; `None`: it is none of a document of an index. `fields`: those of the query.
    ///
    /// # Errors
    /// As Elasticsearch words them.
    pub fn of(item: &Value, fields: Option<&[String]>) -> Result<Option<LikeLookup>, RequestError> {
        let Value::Object(members) = item else { return Ok(None) };
        let item = Item::parse(members)?;
        let Some(id) = item.id else { return Ok(None) };
        let own = item.fields.filter(|fields| !fields.is_empty());
        Ok(Some(LikeLookup {
            index: item.index,
            id,
            routing: item.routing,
            version: item
                .version
                .and_then(|version| u64::try_from(version).ok())
                .filter(|version| *version > 0),
            fields: own.or_else(|| fields.map(<[String]>::to_vec)),
            analyzers: item.analyzers,
        }))
    }
}

/// The place for what was found of a document.
pub fn found_of(item: &mut Map<String, Value>) -> &mut Map<String, Value> {
    let found = item.entry(FOUND).or_insert_with(|| Value::Object(Map::new()));
    if !found.is_object() {
        *found = Value::Object(Map::new());
    }
    match found {
        Value::Object(found) => found,
        _ => unreachable!("it was made an object"),
    }
}

fn malformed(what: &str) -> RequestError {
    RequestError::new(400, "parse_exception", format!("failed to parse More Like This item. {what}"))
}

impl Item {
    pub fn parse(members: &Map<String, Value>) -> Result<Item, RequestError> {
        let mut item = Item {
            index: None,
            id: None,
            document: None,
            fields: None,
            analyzers: Map::new(),
            routing: None,
            version: None,
            found: None,
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
                        return Err(RequestError::new(400, "parse_exception", reason));
                    }
                    item.analyzers = analyzers.clone();
                }
                // Read as a map, of which there is none.
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
                ("version_type", value) => match json::text(value)?.as_str() {
                    "internal" | "external" | "external_gt" | "external_gte" => {}
                    name => {
                        let reason = format!("No version type match [{name}]");
                        return Err(RequestError::illegal_argument(reason));
                    }
                },
                (FOUND, Value::Object(found)) => item.found = Some(found.clone()),
                (key, _) => return Err(malformed(&format!("unknown field [{key}]"))),
            }
        }
        match (&item.id, &item.document) {
            (Some(_), Some(_)) => Err(malformed("either [id] or [doc] can be specified, but not both!")),
            (None, None) => Err(malformed("neither [id] nor [doc] is specified!")),
            _ => Ok(item),
        }
    }

    /// Its terms, seen from a shard; `None`: there is no such document.
    pub fn counts(&self, shard: &ShardSnapshot) -> Option<TermCounts> {
        if let Some(document) = &self.document {
            let fields = self.fields.as_deref().filter(|fields| !fields.is_empty());
            return TermCounts::of(&shard.mapping, document.to_string().as_bytes(), fields, &self.analyzers)
                .ok();
        }
        let index = self.index.as_deref().unwrap_or(&shard.index.name);
        self.found.as_ref()?.get(index).map(TermCounts::from_json)
    }
}
