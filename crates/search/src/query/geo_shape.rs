//! `geo_shape`: documents whose places or shapes have a relation to a shape.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::geo::{Geometry, GivenShape, ShapeOptions, read_shape};
use limber_mapping::geo::{Unit, parse_distance};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::docs::Docs;
use super::geo::places;
use super::parse::{Common, Parser, Query, QueryNode};
use crate::error::Error;
use crate::geo::{Relation, Shape, ShapeRelation, Target, check_within};
use crate::json;

#[derive(Debug)]
struct GeoShape {
    field: String,
    shape: GivenShape,
    relation: ShapeRelation,
    ignore_unmapped: bool,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
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
            "shape" => shape = Some(given_shape(value)?),
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
            // How a prefix tree is walked: there is none.
            "strategy" => match json::scalar_text(value).unwrap_or_default().as_str() {
                "recursive" | "term" => {}
                other => return Err(RequestError::parsing(format!("Unknown strategy [{other} ]"))),
            },
            // Those of a request were put in their place before it was parsed, but for such without an id.
            "indexed_shape" if value.get("id").is_some() => {
                return Err(RequestError::unsupported("[indexed_shape] in [geo_shape] here"));
            }
            "indexed_shape" => {}
            other => return Err(unsupported(other)),
        }
    }
    let shape =
        shape.ok_or_else(|| RequestError::illegal_argument("either shape or indexedShapeId is required"))?;
    let has_boost = common.has_boost();
    let query = common.query(GeoShape { field, shape, relation, ignore_unmapped });
    // Elasticsearch's parser starts at 0 here and at 1 everywhere else.
    Ok(if has_boost { query } else { Query { boost: 0.0, ..query } })
}

/// Open rings are closed, and third coordinates passed over.
fn given_shape(value: &Value) -> Result<GivenShape, RequestError> {
    let options = ShapeOptions {
        coerce: true,
        ignore_z: true,
        is_clockwise: false,
        parse_length: &|text| parse_distance(text, Unit::METERS),
    };
    read_shape(value, &options).map_err(|error| match error.kind {
        "parse_exception" if value.is_string() => {
            // Elasticsearch answers 500: what a request has wrong is its fault here.
            RequestError::new(400, "i_o_exception", format!("java.text.ParseException: {}", error.reason))
        }
        _ => error,
    })
}

/// The points of a shape that is made of points alone: no other is contained in a document's places.
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
        let geometry = &self.shape.geometry;
        let shape_of = |geometry: &Geometry| Shape::of(geometry, self.shape.is_clockwise);
        let text = geometry.name().to_lowercase();
        let failed = |error: RequestError| {
            let reason = format!("Exception creating query on Field [{path}] {}", error.reason);
            binder.query_shard(reason).caused_by(error)
        };
        if self.relation == ShapeRelation::Within {
            check_within(geometry).map_err(failed)?;
        }
        if field.is_shape() {
            let target = Target::of(geometry, self.shape.is_clockwise).map_err(failed)?;
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
