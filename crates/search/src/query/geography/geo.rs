//! Common parts of the geo queries: the types of their fields, and how they are bound.

use std::sync::Arc;

use limber_mapping::Field;
use limber_mapping::geo::GeoPoint;

use crate::error::Error;
use crate::geo::{Relation, Shape, ShapeRelation, Target};
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;

/// Whether a point has a valid latitude and longitude.
pub(in crate::query) fn is_on_map(point: &GeoPoint) -> bool {
    (-90.0..=90.0).contains(&point.latitude) && (-180.0..=180.0).contains(&point.longitude)
}

/// Returns the geo field of a query; `None` if it is unmapped and that is ignored.
pub(in crate::query) fn geo_field(
    binder: &Binder<'_>,
    path: &str,
    query: &str,
    ignore_unmapped: bool,
) -> Result<Option<Arc<Field>>, Error> {
    let Some(field) = binder.searchable_field(path)? else {
        if ignore_unmapped {
            return Ok(None);
        }
        return Err(binder.query_shard(format!("failed to find geo field [{path}]")).into());
    };
    if !(field.is_point() || field.is_shape()) {
        return Err(binder
            .query_shard(format!(
                "Field [{path}] is of unsupported type [{}] for [{query}] query",
                binder.type_name(&field)
            ))
            .into());
    }
    Ok(Some(field))
}

/// Makes a query for documents with a point or shape that intersects a shape; explanations print `text`.
pub(in crate::query) fn near(
    field: Arc<Field>,
    boost: f32,
    text: String,
    shape: impl FnOnce() -> Shape,
    target: impl FnOnce() -> Target,
) -> BoundQuery {
    match field.is_shape() {
        true => {
            let text = format!("{}:{text}", field.path);
            let (target, relation) = (Arc::new(target()), ShapeRelation::Intersects);
            BoundQuery::constant(Docs::Shapes { field, target, relation }, boost, text)
        }
        false => places(field, shape(), Relation::Intersects, boost, text),
    }
}

/// Makes a query for documents with a point in the shape; explanations print `text`.
pub(in crate::query) fn places(
    field: Arc<Field>,
    shape: Shape,
    relation: Relation,
    boost: f32,
    text: String,
) -> BoundQuery {
    let text = format!("{}:{text}", field.path);
    BoundQuery::constant(Docs::Places { field, shape: Arc::new(shape), relation }, boost, text)
}
