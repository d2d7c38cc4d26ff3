//! Which aggregations accept points of a plane, shapes, ranges and summaries, and the errors of the others.

use limber_mapping::{Field, RangeKind, RequestError};

use crate::aggregation::bind::Bound;
use crate::aggregation::options::ValuesOptions;
use crate::aggregation::tree::Aggregation;

/// Checks whether an aggregation accepts points of a plane. Scripts cannot read them.
pub(in crate::aggregation) fn check_cartesian_points(
    field: &Field,
    options: &ValuesOptions,
    aggregation: &str,
) -> Result<(), RequestError> {
    let accepting = ["cartesian_bounds", "cartesian_centroid", "missing", "value_count"];
    if !accepting.contains(&aggregation) {
        return Err(not_supported(field, aggregation));
    }
    match &options.script {
        None => Ok(()),
        Some(_) => Err(RequestError::unsupported(format!(
            "[script] over the points of field [{}] in the aggregation [{aggregation}]",
            field.path
        ))),
    }
}

/// Checks whether an aggregation accepts shapes. Source: Elasticsearch's `SpatialPlugin`.
pub(in crate::aggregation) fn check_shapes(
    field: &Field,
    options: &ValuesOptions,
    aggregation: &str,
) -> Result<(), RequestError> {
    let is_accepted = match aggregation {
        "cardinality" | "missing" | "value_count" => true,
        "geo_bounds" | "geo_centroid" | "geohash_grid" | "geotile_grid" | "geohex_grid" => field.is_shape(),
        "cartesian_bounds" | "cartesian_centroid" => field.is_cartesian_shape(),
        _ => false,
    };
    if !is_accepted {
        return Err(not_supported(field, aggregation));
    }
    match (&options.missing, &options.script) {
        (None, None) => Ok(()),
        _ => Err(RequestError::unsupported(format!(
            "[missing] and [script] over the shapes of field [{}] in the aggregation [{aggregation}]",
            field.path
        ))),
    }
}

/// Checks whether an aggregation accepts ranges.
pub(in crate::aggregation) fn check_ranges(
    field: &Field,
    kind: &RangeKind,
    options: &ValuesOptions,
    aggregation: &str,
) -> Result<(), RequestError> {
    if options.script.is_some() {
        return Err(RequestError::unsupported(format!(
            "[script] over the ranges of field [{}] in the aggregation [{aggregation}]",
            field.path
        )));
    }
    let name = kind.name();
    match (aggregation, kind) {
        ("value_count" | "cardinality" | "missing", _) => {}
        ("histogram", RangeKind::Ip) => {
            return Err(RequestError::illegal_argument(format!(
                "Expected numeric range type but found non-numeric range [{name}]"
            )));
        }
        ("histogram", _) | ("date_histogram", RangeKind::Date { .. }) => {}
        ("date_histogram", _) => {
            return Err(RequestError::illegal_argument(format!(
                "Expected date range type but found range type [{name}]"
            )));
        }
        _ => return Err(not_supported(field, aggregation)),
    }
    if options.missing.is_some() {
        return Err(RequestError::illegal_argument(
            "Can't apply missing values on a class org.elasticsearch.search.aggregations.support.ValuesSource$Range",
        ));
    }
    Ok(())
}

/// Refuses sub-aggregations below buckets of histogram fields, which have no documents. `name` is that
/// of the aggregation in the error.
pub(in crate::aggregation) fn check_no_subs(
    own: &Aggregation,
    bound: &Bound,
    name: &str,
) -> Result<(), RequestError> {
    if !bound.reads_summaries() || own.subs.iter().all(Aggregation::is_pipeline) {
        return Ok(());
    }
    Err(RequestError::illegal_argument(format!(
        "{name} aggregation on histogram fields does not support sub-aggregations"
    )))
}

pub(in crate::aggregation) fn not_supported(field: &Field, aggregation: &str) -> RequestError {
    RequestError::illegal_argument(format!(
        "Field [{}] of type [{}] is not supported for aggregation [{aggregation}]",
        field.path,
        field.type_name()
    ))
}
