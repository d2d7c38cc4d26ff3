//! `point`: a point on a plane, given by x and y. Source: Elasticsearch's `PointFieldMapper`.

use super::geo_point::no_exact_search;
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Check, DOC_VALUES, DateContext, Field, FieldType, IGNORE_MALFORMED, IGNORE_Z, INDEX, KEEP, KeptIn, Leaf,
    Location, META, Param, Reads, STORE, Selection, Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct PointType;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    IGNORE_Z,
    param("null_value", Check::NullCartesianPoint, Update::Never, ""),
    META,
    KEEP,
];

impl FieldType for PointType {
    fn name(&self) -> &'static str {
        "point"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::CartesianPoint)
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        place.refuse_copies(leaf)
    }

    fn reads(&self) -> Reads {
        Reads::Points
    }

    /// Elasticsearch keeps these points as they were given.
    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
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

    fn check_sortable(&self, _: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument(
            "can't sort on geo_point or point field without using specific sorting feature, like geo_distance",
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::document::{Scratch, parse};
    use crate::geo::{decode_on_plane, encode_on_plane};
    use crate::testing::RecordingSink;
    use crate::{Mapping, MappingSettings};

    fn mapping(mut field: Value) -> Mapping {
        field["type"] = "point".into();
        Mapping::parse(&json!({"properties": {"p": field}}), &MappingSettings::default()).expect("sound")
    }

    /// Returns the lines of the sink for a document, or the innermost error.
    fn outcome(mapping: &Mapping, value: Value) -> Result<Vec<String>, String> {
        let source = json!({"p": value}).to_string();
        let mut sink = RecordingSink::default();
        match parse(mapping, source.as_bytes(), Scratch::new().for_document("1"), &mut sink) {
            Ok(_) => Ok(sink.lines()),
            Err(error) => {
                let mut cause = &error;
                while let Some(inner) = &cause.caused_by {
                    cause = inner;
                }
                Err(cause.reason.clone())
            }
        }
    }

    #[test]
    fn every_notation_names_the_same_point() {
        let mapping = mapping(json!({"null_value": [1000.5, -2000]}));
        let expected = outcome(&mapping, json!([1000.5, -2000])).expect("stored");
        for value in [
            json!({"x": 1000.5, "y": "-2000"}),
            json!("1000.5, -2000"),
            json!("POINT (1000.5 -2000 7)"),
            json!({"type": "Point", "coordinates": [1000.5, -2000]}),
            json!([[1000.5, -2000]]),
            Value::Null,
        ] {
            assert_eq!(outcome(&mapping, value.clone()).as_ref(), Ok(&expected), "{value}");
        }
        let shown = mapping.to_json()["properties"]["p"]["null_value"].clone();
        assert_eq!(shown, json!({"x": 1000.5, "y": -2000.0}));
    }

    #[test]
    fn malformed_points_are_named() {
        let strict = mapping(json!({"ignore_z_value": false}));
        let lenient = mapping(json!({"ignore_malformed": true}));
        for (value, reason) in [
            (json!(1), "point expected"),
            (json!({"x": 1}), "Required [y]"),
            (json!({}), "field must be either lat/lon or type/coordinates"),
            (json!("u0"), "unsupported symbol [u] in point [u0]"),
            (json!("1.5"), "failed to parse [1.5], expected 2 or 3 coordinates but found: [1]"),
            (json!("a,1"), "[x] must be a number"),
            (json!("1,2,3,4"), "failed to parse [[1, 2, 3, 4]], expected 2 or 3 coordinates but found: [4]"),
            (
                json!("MULTIPOINT (1 2)"),
                "[point] supports only POINT among WKT primitives, but found MULTIPOINT",
            ),
            (
                json!([1, 2, 3]),
                "Exception parsing coordinates: found Z value [3.0] but [ignore_z_value] parameter is [false]",
            ),
            (
                json!([1e39, 2]),
                "invalid value Infinity; must be between -3.4028234663852886E38 and 3.4028234663852886E38",
            ),
        ] {
            assert_eq!(outcome(&strict, value.clone()), Err(reason.to_owned()), "{value}");
            let is_z = value.as_array().is_some_and(|items| items.len() == 3);
            if !is_z {
                let lines = outcome(&lenient, value.clone()).expect("ignored");
                assert!(lines.iter().any(|line| line == "_ignored=p"), "{value}: {lines:?}");
            }
        }
    }

    #[test]
    fn columns_hold_floats() {
        let stored = encode_on_plane((0.1, 2.5)).expect("finite");
        assert_eq!(decode_on_plane(stored), (f64::from(0.1_f32), 2.5));
        let field = mapping(json!({})).field("p").expect("mapped");
        assert_eq!(field.format_number(stored), json!("0.10000000149011612, 2.5"));
    }
}
