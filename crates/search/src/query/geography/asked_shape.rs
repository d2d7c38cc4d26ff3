//! What `geo_shape` and `shape` have in common: a field, a shape that is given or named, and a relation.
//!
//! Source: Elasticsearch's `AbstractGeometryQueryBuilder`.

use std::sync::Arc;

use limber_mapping::geo::{GivenShape, ShapeOptions, Surface, Unit, parse_distance, read_shape};
use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use crate::context::documents::DocumentName;
use crate::error::Error;
use crate::geo::ShapeRelation;
use crate::query::bind::Binder;
use crate::query::lookup::{Lookup, tree};
use crate::query::parse::{Common, Query, QueryNode};
use crate::values::json;

/// The parsed query.
#[derive(Debug)]
pub(super) struct AskedShape {
    pub field: String,
    pub relation: ShapeRelation,
    shape: WantedShape,
    ignore_unmapped: bool,
    surface: Surface,
}

#[derive(Debug)]
enum WantedShape {
    Given(Arc<GivenShape>),
    /// The shape at a path of an indexed document.
    Named {
        document: DocumentName,
        path: String,
        found: Lookup<GivenShape>,
    },
}

/// The default location of an indexed shape, as in Elasticsearch.
const SHAPE_INDEX: &str = "shapes";
const SHAPE_PATH: &str = "shape";

/// Parses the query for shapes on a surface; `node` makes the query of what is asked.
pub(super) fn parse<N: QueryNode + 'static>(
    members: &Map<String, Value>,
    surface: Surface,
    node: impl FnOnce(AskedShape) -> N,
) -> Result<Query, RequestError> {
    let unsupported = |key: &str| RequestError::parsing(format!("query does not support [{key}]"));
    let mut common = Common::default();
    let (mut field, mut ignore_unmapped) = (None, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            (_, Value::Object(options)) => {
                if field.is_some() {
                    return Err(RequestError::parsing(format!("point specified twice. [{key}]")));
                }
                field = Some((key.clone(), options));
            }
            ("ignore_unmapped", value) => ignore_unmapped = json::boolean(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(unsupported(key)),
        }
    }
    let Some((field, options)) = field else {
        return Err(RequestError::illegal_argument("fieldName is required"));
    };
    let (mut shape, mut relation) = (None, ShapeRelation::Intersects);
    for (key, value) in options {
        match key.as_str() {
            "shape" if value.is_null() => {}
            "shape" => shape = Some(WantedShape::Given(Arc::new(given_shape(surface, value)?))),
            "relation" => relation = parse_relation(value)?,
            // The strategy of walking a prefix tree has no effect, since there is no such tree.
            "strategy" if surface == Surface::Globe => {
                match json::scalar_text(value).unwrap_or_default().as_str() {
                    "recursive" | "term" => {}
                    other => return Err(RequestError::parsing(format!("Unknown strategy [{other} ]"))),
                }
            }
            // Without an id, the indexed shape is ignored.
            "indexed_shape" => {
                if let Some(named) = value.as_object().map_or(Ok(None), parse_indexed)? {
                    shape = Some(named);
                }
            }
            other => return Err(unsupported(other)),
        }
    }
    let shape =
        shape.ok_or_else(|| RequestError::illegal_argument("either shape or indexedShapeId is required"))?;
    let has_boost = common.has_boost();
    let query = common.query(node(AskedShape { field, relation, shape, ignore_unmapped, surface }));
    // In Elasticsearch's parser the default boost is 0 here, and 1 everywhere else.
    Ok(if has_boost { query } else { Query { boost: 0.0, ..query } })
}

fn parse_relation(value: &Value) -> Result<ShapeRelation, RequestError> {
    let name = json::text(value)?;
    match name.to_lowercase().as_str() {
        "intersects" => Ok(ShapeRelation::Intersects),
        "disjoint" => Ok(ShapeRelation::Disjoint),
        "within" => Ok(ShapeRelation::Within),
        "contains" => Ok(ShapeRelation::Contains),
        _ => Err(RequestError::parsing(format!("Unknown shape operation [{name} ]"))),
    }
}

fn parse_indexed(lookup: &Map<String, Value>) -> Result<Option<WantedShape>, RequestError> {
    let text = |name: &str| match lookup.get(name) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(scalar @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(scalar.to_string())),
        None | Some(Value::Null) => Ok(None),
        Some(other) => {
            Err(RequestError::parsing(format!("unknown token [{}] after [{name}]", json::token(other))))
        }
    };
    if !lookup.contains_key("id") {
        return Ok(None);
    }
    let id = text("id")?.unwrap_or_default();
    let (index, path, routing) = (text("index")?, text("path")?, text("routing")?);
    let index = index.unwrap_or_else(|| SHAPE_INDEX.to_owned());
    let document = DocumentName { index, id, routing, version: None };
    let path = path.unwrap_or_else(|| SHAPE_PATH.to_owned());
    Ok(Some(WantedShape::Named { document, path, found: Lookup::default() }))
}

impl AskedShape {
    /// Returns the shape, which may have to be read from its document.
    pub fn read(&self, query: &str, binder: &Binder<'_>) -> Result<Arc<GivenShape>, Error> {
        match &self.shape {
            WantedShape::Given(shape) => Ok(shape.clone()),
            WantedShape::Named { document: name, path, found } => {
                let what = format!("[indexed_shape] in [{query}]");
                binder.look_up(found, &what, name, |document| {
                    let document = document?.ok_or_else(|| {
                        RequestError::illegal_argument(format!("Shape with ID [{}] not found", name.id))
                    })?;
                    let source = tree(&document)?;
                    let shape = at_path(&source, path).ok_or_else(|| {
                        let reason = format!("Shape with name [{}] found but missing {path} field", name.id);
                        RequestError::bad_request("illegal_state_exception", reason)
                    })?;
                    given_shape(self.surface, shape)
                })
            }
        }
    }

    /// Returns the field; `None` if it is unmapped and that is ignored.
    ///
    /// # Errors
    /// The field is unmapped, or `takes` does not accept it.
    pub fn bind_field(
        &self,
        query: &str,
        binder: &Binder<'_>,
        takes: impl FnOnce(&Field) -> bool,
    ) -> Result<Option<Arc<Field>>, Error> {
        let path = &self.field;
        let Some(field) = binder.searchable_field(path)? else {
            if self.ignore_unmapped {
                return Ok(None);
            }
            return Err(binder.query_shard(format!("failed to find type for field [{path}]")).into());
        };
        if !takes(&field) {
            return Err(binder
                .query_shard(format!(
                    "Field [{path}] is of unsupported type [{}] for [{query}] query",
                    binder.type_name(&field)
                ))
                .into());
        }
        Ok(Some(field))
    }
}

/// Returns the value at a dotted path. Names of members can contain dots.
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

/// Parses a shape. Open rings are closed, and third coordinates are ignored.
fn given_shape(surface: Surface, value: &Value) -> Result<GivenShape, RequestError> {
    let options = ShapeOptions {
        surface,
        coerce: true,
        ignore_z: true,
        is_clockwise: false,
        parse_length: &|text| parse_distance(text, Unit::METERS),
    };
    read_shape(value, &options).map_err(|error| match error.kind {
        "parse_exception" if value.is_string() => {
            // Elasticsearch answers with status 500; an error in the request is reported as such here.
            RequestError::bad_request("i_o_exception", format!("java.text.ParseException: {}", error.reason))
        }
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_lead_through_objects_and_dotted_names() {
        let source = serde_json::json!({"a": {"b.c": {"d": 1}}, "a.b": 2});
        assert_eq!(super::at_path(&source, "a.b.c.d"), Some(&serde_json::json!(1)));
        assert_eq!(super::at_path(&source, "a.b"), Some(&serde_json::json!(2)));
        assert_eq!(super::at_path(&source, "a.x"), None);
    }
}
