//! `geo_shape`: documents whose points or shapes have a relation to a shape.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::geo::{Geometry, GivenShape, ShapeOptions, Surface, Unit, parse_distance, read_shape};
use serde_json::{Map, Value};

use super::geo::places;
use crate::context::documents::DocumentName;
use crate::error::Error;
use crate::geo::{Relation, Shape, ShapeRelation, Target, check_within};
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::lookup::{Lookup, tree};
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::values::json;

#[derive(Debug)]
struct GeoShape {
    field: String,
    shape: WantedShape,
    relation: ShapeRelation,
    ignore_unmapped: bool,
}

#[derive(Debug)]
enum WantedShape {
    Given(Arc<GivenShape>),
    /// The shape at a path of an indexed document. Source: Elasticsearch's
    /// `AbstractGeometryQueryBuilder#doRewrite`.
    Named {
        document: DocumentName,
        path: String,
        found: Lookup<GivenShape>,
    },
}

/// The default location of an indexed shape, as in Elasticsearch.
const SHAPE_INDEX: &str = "shapes";
const SHAPE_PATH: &str = "shape";

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
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
            "shape" => shape = Some(WantedShape::Given(Arc::new(given_shape(value)?))),
            "relation" => {
                let name = json::text(value)?;
                relation = match name.to_lowercase().as_str() {
                    "intersects" => ShapeRelation::Intersects,
                    "disjoint" => ShapeRelation::Disjoint,
                    "within" => ShapeRelation::Within,
                    "contains" => ShapeRelation::Contains,
                    _ => return Err(RequestError::parsing(format!("Unknown shape operation [{name} ]"))),
                };
            }
            // The strategy of walking a prefix tree has no effect, since there is no such tree.
            "strategy" => match json::scalar_text(value).unwrap_or_default().as_str() {
                "recursive" | "term" => {}
                other => return Err(RequestError::parsing(format!("Unknown strategy [{other} ]"))),
            },
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
    let query = common.query(GeoShape { field, shape, relation, ignore_unmapped });
    // In Elasticsearch's parser the default boost is 0 here, and 1 everywhere else.
    Ok(if has_boost { query } else { Query { boost: 0.0, ..query } })
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

impl WantedShape {
    fn read(&self, binder: &Binder<'_>) -> Result<Arc<GivenShape>, Error> {
        match self {
            WantedShape::Given(shape) => Ok(shape.clone()),
            WantedShape::Named { document: name, path, found } => {
                binder.look_up(found, "[indexed_shape] in [geo_shape]", name, |document| {
                    let document = document?.ok_or_else(|| {
                        RequestError::illegal_argument(format!("Shape with ID [{}] not found", name.id))
                    })?;
                    let source = tree(&document)?;
                    let shape = at_path(&source, path).ok_or_else(|| {
                        let reason = format!("Shape with name [{}] found but missing {path} field", name.id);
                        RequestError::bad_request("illegal_state_exception", reason)
                    })?;
                    given_shape(shape)
                })
            }
        }
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
fn given_shape(value: &Value) -> Result<GivenShape, RequestError> {
    let options = ShapeOptions {
        surface: Surface::Globe,
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

/// Returns the points of a shape that consists only of points. No other shape can be contained in a
/// document's points.
fn points_only(geometry: &Geometry) -> Option<Vec<Geometry>> {
    match geometry {
        Geometry::Point(_) => Some(vec![geometry.clone()]),
        Geometry::MultiPoint(points) => Some(points.iter().map(|point| Geometry::Point(*point)).collect()),
        Geometry::Collection(parts) => {
            let parts: Option<Vec<Vec<Geometry>>> = parts.iter().map(points_only).collect();
            parts.map(|parts| parts.concat())
        }
        _ => None,
    }
}

impl QueryNode for GeoShape {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let path = &self.field;
        let shape = self.shape.read(binder)?;
        let Some(field) = binder.searchable_field(path)? else {
            if self.ignore_unmapped {
                return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
            }
            return Err(binder.query_shard(format!("failed to find type for field [{path}]")).into());
        };
        if !(field.is_point() || field.is_shape()) {
            return Err(binder
                .query_shard(format!(
                    "Field [{path}] is of unsupported type [{}] for [geo_shape] query",
                    binder.type_name(&field)
                ))
                .into());
        }
        let geometry = &shape.geometry;
        let shape_of = |geometry: &Geometry| Shape::of(geometry, shape.is_clockwise);
        let text = geometry.name().to_lowercase();
        let failed = |error: RequestError| {
            let reason = format!("Exception creating query on Field [{path}] {}", error.reason);
            binder.query_shard(reason).caused_by(error)
        };
        if self.relation == ShapeRelation::Within {
            check_within(geometry).map_err(failed)?;
        }
        if field.is_shape() {
            let target = Target::of(Surface::Globe, geometry, shape.is_clockwise).map_err(failed)?;
            if target.is_empty() {
                return Ok(BoundQuery::nothing("an empty shape"));
            }
            let docs = Docs::Shapes { field, target: Arc::new(target), relation: self.relation };
            return Ok(BoundQuery::constant(docs, boost, format!("{path}:{text}")));
        }
        let relation = match self.relation {
            ShapeRelation::Intersects => Some(Relation::Intersects),
            ShapeRelation::Disjoint => Some(Relation::Disjoint),
            ShapeRelation::Within => Some(Relation::Within),
            ShapeRelation::Contains => None,
        };
        if let Some(relation) = relation {
            return Ok(places(field, shape_of(geometry), relation, boost, text));
        }
        match points_only(geometry) {
            Some(points) if !points.is_empty() => {
                let one = |point: &Geometry| Docs::Places {
                    field: field.clone(),
                    shape: Arc::new(shape_of(point)),
                    relation: Relation::Intersects,
                };
                let docs = Docs::AllOf(points.iter().map(one).collect());
                Ok(BoundQuery::constant(docs, boost, format!("{path}:{text}")))
            }
            _ => Ok(BoundQuery::nothing("Contains LatLonPoint.newGeometryQuery with non-points geometries")),
        }
    }
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
