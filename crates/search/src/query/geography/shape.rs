//! `shape`: documents whose points or shapes on a plane have a relation to a shape.
//!
//! Source: Elasticsearch's `ShapeQueryBuilder`, `ShapeQueryPointProcessor`, `ShapeQueryProcessor`.

use std::sync::Arc;

use limber_mapping::geo::{Geometry, Surface};
use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::asked_shape::{self, AskedShape};
use super::geo::places;
use crate::error::Error;
use crate::geo::{Relation, Shape, ShapeRelation, Target, check_within};
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Parser, Query, QueryNode};

#[derive(Debug)]
struct PlaneShape(AskedShape);

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    asked_shape::parse(members, Surface::Plane, PlaneShape)
}

impl QueryNode for PlaneShape {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let (path, relation) = (&self.0.field, self.0.relation);
        let shape = self.0.read("shape", binder)?;
        let takes = |field: &Field| field.is_cartesian_point() || field.is_cartesian_shape();
        let Some(field) = self.0.bind_field("shape", binder, takes)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
        };
        let geometry = &shape.geometry;
        let text = geometry.name().to_lowercase();
        let target = || Target::of(Surface::Plane, geometry, shape.is_clockwise);
        if field.is_cartesian_point() {
            check_for_points(path, relation, geometry).map_err(|reason| binder.query_shard(reason))?;
            let target = target()?;
            if target.is_empty() {
                return Ok(BoundQuery::nothing("an empty shape"));
            }
            return Ok(places(field, Shape::OnPlane(target), Relation::Intersects, boost, text));
        }
        let target = target().map_err(|error| {
            let reason = format!("Exception creating query on Field [{path}] {}", error.reason);
            binder.query_shard(reason).caused_by(error)
        })?;
        if target.is_empty() {
            return Ok(BoundQuery::nothing("an empty shape"));
        }
        if relation == ShapeRelation::Within && check_within(geometry).is_err() {
            let reason = "XYShapeQuery does not support WITHIN queries with line geometries";
            return Err(RequestError::illegal_argument(reason).into());
        }
        let docs = Docs::Shapes { field, target: Arc::new(target), relation };
        Ok(BoundQuery::constant(docs, boost, format!("{path}:{text}")))
    }
}

/// Returns why the points of a field cannot be compared with a shape: they are only asked whether they lie
/// in an area.
fn check_for_points(path: &str, relation: ShapeRelation, geometry: &Geometry) -> Result<(), String> {
    let name = match relation {
        ShapeRelation::Intersects => return check_areas(path, geometry),
        ShapeRelation::Disjoint => "DISJOINT",
        ShapeRelation::Within => "WITHIN",
        ShapeRelation::Contains => "CONTAINS",
    };
    Err(format!("{name} query relation not supported for Field [{path}]."))
}

fn check_areas(path: &str, geometry: &Geometry) -> Result<(), String> {
    match geometry {
        Geometry::Point(_) | Geometry::MultiPoint(_) | Geometry::Line(_) | Geometry::MultiLine(_) => {
            Err(format!("Field [{path}] does not support {} queries", geometry.name()))
        }
        Geometry::Collection(parts) => parts.iter().try_for_each(|part| check_areas(path, part)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::query::parse::{QueryLimits, parse_query};

    #[test]
    fn what_is_asked_is_a_field_a_shape_and_a_relation() {
        let parse = |body: Value| parse_query(&json!({"shape": body}), &QueryLimits::default());
        let sound = json!({"f": {"shape": "BBOX (1000, 2000, 500, -500)", "relation": "within"}, "boost": 2});
        assert_eq!(parse(sound).expect("sound").boost, 2.0);
        for (body, reason) in [
            (json!({}), "fieldName is required"),
            (json!({"f": {}}), "either shape or indexedShapeId is required"),
            (json!({"f": {"shape": "POINT (1 2)", "relation": "near"}}), "Unknown shape operation [near ]"),
            (json!({"f": {"shape": "POINT (1 2)", "strategy": "term"}}), "query does not support [strategy]"),
            (json!({"f": {"shape": "BBOX (1, 2, 3, 4)"}}), "max y cannot be less than min y"),
        ] {
            assert_eq!(parse(body).expect_err("refused").reason, reason);
        }
    }
}
