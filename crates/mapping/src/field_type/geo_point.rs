//! `geo_point`: a point given by latitude and longitude. Source: Elasticsearch's `GeoPointFieldMapper`.

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Check, DIMENSION, DOC_VALUES, DateContext, Field, FieldType, IGNORE_MALFORMED, IGNORE_Z, INDEX, KEEP,
    Leaf, META, ON_SCRIPT_ERROR, Param, Reads, SCRIPT, STORE, Selection, Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct GeoPointType;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    IGNORE_Z,
    param("null_value", Check::NullPoint, Update::Never, ""),
    SCRIPT,
    ON_SCRIPT_ERROR,
    META,
    DIMENSION,
    param("time_series_metric", Check::PositionMetric, Update::Never, "null"),
    KEEP,
];

impl FieldType for GeoPointType {
    fn name(&self) -> &'static str {
        "geo_point"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Point)
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }

    fn reads(&self) -> Reads {
        Reads::Points
    }

    fn select_term(
        &self,
        field: &Field,
        _: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Err(no_exact_search(field))
    }

    fn shown_by(&self, field: &Field, _: &str) -> Result<DateFormat, RequestError> {
        Err(field.without_formats())
    }

    fn check_sortable(&self, field: &Field) -> Result<(), RequestError> {
        let name = if field.runtime.is_some() { "geo_point" } else { "geo_point or point" };
        Err(RequestError::illegal_argument(format!(
            "can't sort on {name} field without using specific sorting feature, like geo_distance"
        )))
    }
}

pub(super) fn no_exact_search(field: &Field) -> RequestError {
    RequestError::illegal_argument(format!(
        "Geometry fields do not support exact searching, use dedicated geometry queries instead: [{}]",
        field.path
    ))
}
