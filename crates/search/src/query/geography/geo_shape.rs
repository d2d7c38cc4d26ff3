//! `geo_shape`: documents whose points or shapes have a relation to a shape.

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
struct GeoShape(AskedShape);

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    asked_shape::parse(members, Surface::Globe, GeoShape)
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
        let (path, relation) = (&self.0.field, self.0.relation);
        let shape = self.0.read("geo_shape", binder)?;
        let takes = |field: &Field| field.is_point() || field.is_shape();
        let Some(field) = self.0.bind_field("geo_shape", binder, takes)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
        };
        let geometry = &shape.geometry;
        let shape_of = |geometry: &Geometry| Shape::of(geometry, shape.is_clockwise);
        let text = geometry.name().to_lowercase();
        let failed = |error: RequestError| {
            let reason = format!("Exception creating query on Field [{path}] {}", error.reason);
            binder.query_shard(reason).caused_by(error)
        };
        if relation == ShapeRelation::Within {
            check_within(geometry).map_err(failed)?;
        }
        if field.is_shape() {
            let target = Target::of(Surface::Globe, geometry, shape.is_clockwise).map_err(failed)?;
            if target.is_empty() {
                return Ok(BoundQuery::nothing("an empty shape"));
            }
            let docs = Docs::Shapes { field, target: Arc::new(target), relation };
            return Ok(BoundQuery::constant(docs, boost, format!("{path}:{text}")));
        }
        let relation = match relation {
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
