//! `shape`: shapes on a plane. Source: Elasticsearch's `ShapeFieldMapper`.

use super::geo_point::no_exact_search;
use crate::RequestError;
use crate::field::{
    COERCE, Check, DOC_VALUES, DateContext, Field, FieldType, IGNORE_MALFORMED, IGNORE_Z, INDEX, KEEP,
    KeptIn, Leaf, Location, META, Param, Reads, Selection, Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct ShapeType;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    IGNORE_MALFORMED,
    IGNORE_Z,
    COERCE,
    param("orientation", Check::Orientation, Update::Always, ""),
    META,
    KEEP,
];

impl FieldType for ShapeType {
    fn name(&self) -> &'static str {
        "shape"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        let is_clockwise = leaf.params.get("orientation") == Some(&"LEFT".into());
        Ok(ValueKind::CartesianShape { is_clockwise })
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        place.refuse_copies(leaf)
    }

    fn reads(&self) -> Reads {
        Reads::Shapes
    }

    /// Elasticsearch keeps shapes as they were given.
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

    fn check_sortable(&self, _: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument(
            "can't sort on shape field without using specific sorting feature, like geo_distance",
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::document::{Scratch, parse};
    use crate::testing::RecordingSink;
    use crate::{Mapping, MappingSettings};

    /// Returns whether a shape was stored or ignored, or the innermost error.
    fn outcome(mut field: Value, value: Value) -> String {
        field["type"] = "shape".into();
        let body = json!({"properties": {"s": field}});
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("sound");
        let source = json!({"s": value}).to_string();
        let mut sink = RecordingSink::default();
        match parse(&mapping, source.as_bytes(), Scratch::new().for_document("1"), &mut sink) {
            Ok(_) if sink.lines().iter().any(|line| line == "_ignored=s") => "ignored".to_owned(),
            Ok(_) if sink.lines().iter().any(|line| line.starts_with("s=")) => "stored".to_owned(),
            Ok(_) => "nothing".to_owned(),
            Err(error) => {
                let mut cause = &error;
                while let Some(inner) = &cause.caused_by {
                    cause = inner;
                }
                cause.reason.clone()
            }
        }
    }

    #[test]
    fn shapes_lie_anywhere_on_the_plane() {
        let check = |field: Value, value: Value, expected: &str| {
            assert_eq!(outcome(field, value.clone()), expected, "{value}");
        };
        let open = json!({"type": "polygon", "coordinates": [[[0, 0], [1000, 0], [1000, 2000], [0, 2000]]]});
        check(json!({}), json!("LINESTRING (-5000 9000, 5000 1e30)"), "stored");
        check(json!({}), json!({"type": "envelope", "coordinates": [[1000, 500], [2000, -500]]}), "stored");
        check(json!({"coerce": true}), open.clone(), "stored");
        check(
            json!({}),
            open,
            "first and last points of the linear ring must be the same (it must close itself): x[0]=0.0 x[3]=0.0 \
             y[0]=0.0 y[3]=2000.0",
        );
        check(
            json!({}),
            json!({"type": "circle", "coordinates": [1, 2], "radius": "10m"}),
            "invalid shape type found [Circle] while indexing shape",
        );
        check(
            json!({}),
            json!("POLYGON ((0 0, 1000 1000, 1000 0, 0 1000, 0 0))"),
            "Polygon self-intersection at lat=500.0 lon=500.0",
        );
        check(json!({"ignore_malformed": true}), json!("POINT (1e39 0)"), "ignored");
        check(
            json!({"ignore_z_value": false}),
            json!("POINT (1 2 3)"),
            "found Z value [3.0] but [ignore_z_value] parameter is [false]",
        );
    }
}
