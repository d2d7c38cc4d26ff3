//! What the geo queries share: how strict they are about coordinates, and which fields they take.

use std::sync::Arc;

use limber_mapping::geo::GeoPoint;
use limber_mapping::{Field, FieldType, RequestError};
use serde_json::Value;

use super::bind::Binder;
use super::bound::{BoundQuery, Docs};
use crate::error::Error;
use crate::geo::{Relation, Shape};
use crate::json;

/// `validation_method`: what becomes of coordinates outside of the map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Validation {
    /// Refused.
    #[default]
    Strict,
    IgnoreMalformed,
    /// Brought back onto it.
    Coerce,
}

impl Validation {
    pub fn parse(value: &Value) -> Result<Validation, RequestError> {
        let name = json::scalar_text(value).unwrap_or_default();
        match name.to_uppercase().as_str() {
            "STRICT" => Ok(Validation::Strict),
            "IGNORE_MALFORMED" => Ok(Validation::IgnoreMalformed),
            "COERCE" => Ok(Validation::Coerce),
            _ => Err(RequestError::illegal_argument(format!(
                "operator needs to be either [COERCE, IGNORE_MALFORMED, STRICT], but not [{name}]"
            ))),
        }
    }
}

/// Whether a point lies on the map.
pub(super) fn is_on_map(point: &GeoPoint) -> bool {
    (-90.0..=90.0).contains(&point.latitude) && (-180.0..=180.0).contains(&point.longitude)
}

/// The `geo_point` field of a query; `None` when it is unmapped and that is ignored.
pub(super) fn geo_field(
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
    if field.kind != FieldType::GeoPoint {
        return Err(binder
            .query_shard(format!(
                "Field [{path}] is of unsupported type [{}] for [{query}] query",
                binder.type_name(&field)
            ))
            .into());
    }
    Ok(Some(field))
}

/// Documents with a place in the shape; `text` is how explanations name it.
pub(super) fn places(
    field: Arc<Field>,
    shape: Shape,
    relation: Relation,
    boost: f32,
    text: String,
) -> BoundQuery {
    let text = format!("{}:{text}", field.path);
    BoundQuery::constant(Docs::Places { field, shape: Arc::new(shape), relation }, boost, text)
}
