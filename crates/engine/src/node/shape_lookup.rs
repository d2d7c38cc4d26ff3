//! Shapes of `geo_shape` queries that another document holds: read when the search begins, and put in their place.
//!
//! Source: Elasticsearch's `AbstractGeometryQueryBuilder#doRewrite`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::Node;
use super::lookups::{check_parse, check_work, each_member};
use crate::api::*;

/// Documents that one request may read for its shapes. Ours.
const LOOKUPS_MAX: usize = 1_000;
/// Elasticsearch's defaults.
const INDEX: &str = "shapes";
const PATH: &str = "shape";

impl Node {
    /// Replaces `{"geo_shape": {"field": {"indexed_shape": {"id", "index", "path", "routing"}}}}` in the JSON of a search by `shape`. Without an
    /// `id` it is left for the parser to refuse.
    ///
    /// Errors: `index_not_found_exception`, documents that are not there or have no such path.
    pub(super) fn resolve_shape_lookups(&self, body: &mut Value) -> Result<()> {
        let mut count = 0;
        each_member(body, "geo_shape", &mut |shape: &mut Value| match shape {
            Value::Object(fields) => {
                fields.values_mut().try_for_each(|options| self.put_shape(options, &mut count))
            }
            _ => Ok(()),
        })
    }

    fn put_shape(&self, options: &mut Value, count: &mut usize) -> Result<()> {
        let Some(Value::Object(lookup)) = options.get("indexed_shape") else { return Ok(()) };
        if !lookup.contains_key("id") {
            return Ok(());
        }
        *count += 1;
        if *count > LOOKUPS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "more than [{LOOKUPS_MAX}] indexed shapes in one request"
            )));
        }
        let shape = self.look_up_shape(lookup)?;
        if let Value::Object(options) = options {
            options.remove("indexed_shape");
            options.insert("shape".to_owned(), shape);
        }
        Ok(())
    }

    fn look_up_shape(&self, lookup: &Map<String, Value>) -> Result<Value> {
        let text = |name: &str| match lookup.get(name) {
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(scalar @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(scalar.to_string())),
            None | Some(Value::Null) => Ok(None),
            Some(other) => Err(RequestError::parsing(format!(
                "unknown token [{}] after [{name}]",
                limber_mapping::token(other)
            ))),
        };
        let id = text("id")?.unwrap_or_default();
        let (index, path, routing) = (text("index")?, text("path")?, text("routing")?);
        let (index, path) = (index.as_deref().unwrap_or(INDEX), path.as_deref().unwrap_or(PATH));
        let found = self.get(&GetRequest { routing: routing.as_deref(), ..GetRequest::new(index, &id) })?;
        let Some(document) = found.found else {
            return Err(RequestError::illegal_argument(format!("Shape with ID [{id}] not found")));
        };
        check_work()?;
        check_parse(&document.source)?;
        let source: Value = serde_json::from_slice(&document.source)
            .map_err(|error| RequestError::new(500, "exception", error.to_string()))?;
        at_path(&source, path).cloned().ok_or_else(|| {
            let reason = format!("Shape with name [{id}] found but missing {path} field");
            RequestError::new(400, "illegal_state_exception", reason)
        })
    }
}

/// The value at a dotted path, through names that hold dots themselves.
fn at_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let Value::Object(members) = value else { return None };
    members.iter().find_map(|(name, inner)| {
        let rest = path.strip_prefix(name.as_str())?;
        match rest.strip_prefix('.') {
            Some(rest) => at_path(inner, rest),
            None => rest.is_empty().then_some(inner),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_through_objects_and_dotted_names() {
        let source = json!({"a": {"b.c": {"d": 1}}, "a.b": 2});
        assert_eq!(at_path(&source, "a.b.c.d"), Some(&json!(1)));
        assert_eq!(at_path(&source, "a.b"), Some(&json!(2)));
        assert_eq!(at_path(&source, "a.x"), None);
    }
}
