//! `geo_shape`: shapes such as lines and polygons. Source: Elasticsearch's
//! `GeoShapeWithDocValuesFieldMapper`.

use serde_json::{Map, Value};

use super::geo_point::no_exact_search;
use crate::RequestError;
use crate::field::{
    COERCE, Check, DOC_VALUES, DateContext, Field, FieldType, IGNORE_MALFORMED, IGNORE_Z, INDEX, KEEP, Leaf,
    Location, META, Param, Reads, STORE, Selection, Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct GeoShape;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    IGNORE_Z,
    COERCE,
    param("orientation", Check::Orientation, Update::Always, ""),
    META,
    KEEP,
];

/// Parameters of shapes as prefix trees, which Elasticsearch refuses for new indices since 8.0.
static PREFIX_TREE_PARAMS: &[&str] =
    &["strategy", "tree", "tree_levels", "precision", "distance_error_pct", "points_only"];

impl FieldType for GeoShape {
    fn name(&self) -> &'static str {
        "geo_shape"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Shape { is_clockwise: leaf.params.get("orientation") == Some(&"LEFT".into()) })
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        place.refuse_copies(leaf)
    }

    fn refused_parameter(&self, name: &str, last: &str, body: &Map<String, Value>) -> Option<RequestError> {
        if !PREFIX_TREE_PARAMS.contains(&name) {
            return None;
        }
        let named = body.keys().filter(|name| PREFIX_TREE_PARAMS.contains(&name.as_str()));
        let named: Vec<&str> = named.map(String::as_str).collect();
        Some(RequestError::illegal_argument(format!(
            "using deprecated parameters [{}] in mapper [{last}] of type [geo_shape] is no longer allowed",
            named.join(", ")
        )))
    }

    fn reads(&self) -> Reads {
        Reads::Shapes
    }

    fn select_term(
        &self,
        field: &Field,
        _: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Err(no_exact_search(field))
    }

    fn check_sortable(&self, _: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument(
            "can't sort on geo_shape field without using specific sorting feature, like geo_distance",
        ))
    }
}
