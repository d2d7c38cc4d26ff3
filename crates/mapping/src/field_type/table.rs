//! The table of field types.

use super::aggregate_metric_double::AggregateMetricDouble;
use super::binary::Binary;
use super::boolean::Boolean;
use super::completion::Completion;
use super::constant_keyword::ConstantKeyword;
use super::date::Dated;
use super::flat_object::FlatObject;
use super::flattened::Flattened;
use super::floating::Floating;
use super::geo_point::GeoPointType;
use super::geo_shape::GeoShape;
use super::histogram::Histogram;
use super::integer::Whole;
use super::ip::Ip;
use super::join::Join;
use super::keyword::Keyword;
use super::match_only_text::MatchOnlyText;
use super::percolator::Percolator;
use super::point::PointType;
use super::range::{RangeType, Ranges};
use super::rank_feature::{RankFeature, RankFeatures};
use super::scaled_float::ScaledFloat;
use super::search_as_you_type::SearchAsYouType;
use super::shape::ShapeType;
use super::text::Text;
use super::token_count::TokenCount;
use super::unsigned_long::UnsignedLong;
use super::version::Version;
use super::wildcard::Wildcard;
use crate::date::Resolution;
use crate::field::{FieldType, IntegerWidth, Precision};

/// All leaf types.
pub(crate) static FIELD_TYPES: &[&dyn FieldType] = &[
    &Text,
    &MatchOnlyText,
    &SearchAsYouType,
    &Keyword,
    &Wildcard,
    &ConstantKeyword,
    &Whole(IntegerWidth::Long),
    &UnsignedLong,
    &Whole(IntegerWidth::Integer),
    &Whole(IntegerWidth::Short),
    &Whole(IntegerWidth::Byte),
    &Floating(Precision::Double),
    &Floating(Precision::Float),
    &Floating(Precision::Half),
    &ScaledFloat,
    &Boolean,
    &Dated(Resolution::Millis),
    &Dated(Resolution::Nanos),
    &Ip,
    &GeoPointType,
    &GeoShape,
    &PointType,
    &ShapeType,
    &Ranges(RangeType::Integer),
    &Ranges(RangeType::Long),
    &Ranges(RangeType::Float),
    &Ranges(RangeType::Double),
    &Ranges(RangeType::Date),
    &Ranges(RangeType::Ip),
    &Binary,
    &Completion,
    &Join,
    &Percolator,
    &RankFeature,
    &RankFeatures,
    &Flattened,
    &FlatObject,
    &TokenCount,
    &Version,
    &AggregateMetricDouble,
    &Histogram,
];

/// Elasticsearch's types that Limber does not have yet. They are refused by name, unlike unknown types.
pub(crate) static MISSING: &[&str] = &[
    "alias",
    "annotated_text",
    "counted_keyword",
    "dense_vector",
    "exponential_histogram",
    "icu_collation_keyword",
    "murmur3",
    "passthrough",
    "rank_vectors",
    "semantic_text",
    "sparse_vector",
];

/// Returns the type with this name.
pub(crate) fn find(name: &str) -> Option<&'static dyn FieldType> {
    FIELD_TYPES.iter().copied().find(|kind| kind.name() == name)
}

/// Creates a range field with everything else off.
#[cfg(test)]
pub(crate) fn bare_range(
    id: crate::FieldId,
    path: std::sync::Arc<str>,
    kind: crate::RangeKind,
) -> crate::Field {
    let of = find(kind.name()).expect("a type of the table");
    crate::Field::bare(id, path, of, crate::ValueKind::Range(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_json() {
        for param in FIELD_TYPES.iter().flat_map(|kind| kind.params()) {
            if !param.default.is_empty() {
                serde_json::from_str::<serde_json::Value>(param.default).unwrap();
            }
        }
    }

    #[test]
    fn names_are_said_once() {
        for (place, kind) in FIELD_TYPES.iter().enumerate() {
            let name = kind.name();
            assert!(FIELD_TYPES[..place].iter().all(|other| other.name() != name), "{name}");
            assert!(!MISSING.contains(&name), "{name} is there");
        }
    }
}
