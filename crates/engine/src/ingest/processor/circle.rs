//! `circle`: "which polygon approximates this circle?" Source: Elasticsearch's `CircleProcessor`.

use limber_mapping::RequestError;
use limber_mapping::geo::{Geometry, Position};
use limber_mapping::number::java_double;
use limber_search::geo::{polygon_on_earth, polygon_on_plane, read_any_shape};
use serde_json::{Value, json};

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::{Flow, Processor};

/// Minimum and maximum number of sides of a polygon.
const SIDES: (i32, i32) = (4, 1000);

#[derive(Debug)]
struct Circle {
    field: FieldPath,
    target: FieldPath,
    ignore_missing: bool,
    /// Largest distance from the middle of a side to the circle, in meters or units of the plane.
    error_distance: f64,
    is_on_earth: bool,
}

/// Compiles the processor. Options: `field`, `error_distance` and `shape_type`; optional `target_field` and
/// `ignore_missing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.string("field")?;
    let target = options.string_or("target_field", &field)?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let error_distance = options.double("error_distance")?.abs();
    let shape_type = options.string("shape_type")?;
    let is_on_earth = match shape_type.to_uppercase().as_str() {
        "GEO_SHAPE" => true,
        "SHAPE" => false,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "illegal [shape_type] value [{shape_type}]. valid values are [SHAPE, GEO_SHAPE]"
            )));
        }
    };
    let (field, target) = (FieldPath::parse(&field)?, FieldPath::parse(&target)?);
    Ok(Box::new(Circle { field, target, ignore_missing, error_distance, is_on_earth }))
}

impl Processor for Circle {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        if self.ignore_missing && self.field.find(document)?.is_none() {
            return Ok(Flow::Continue);
        }
        let id = self.field.get(document)?;
        let path = self.field.text();
        let value = match document.node(id).kind {
            Kind::Null if self.ignore_missing => return Ok(Flow::Continue),
            Kind::Null => {
                let reason = format!("field [{path}] is null, cannot process it.");
                return Err(RequestError::illegal_argument(reason));
            }
            Kind::String | Kind::Object => {
                let json = document.json(id)?;
                limber_mapping::claim_parsed(json.as_bytes())?;
                serde_json::from_str(&json).unwrap_or(Value::Null)
            }
            _ => {
                let reason = format!("field [{path}] must be a WKT Circle or a GeoJSON Circle value");
                return Err(RequestError::illegal_argument(reason));
            }
        };
        let invalid = |cause| RequestError::illegal_argument("invalid circle definition").caused_by(cause);
        let polygon = match (self.polygon(&value).map_err(invalid)?, value.is_string()) {
            (corners, true) => document.make_string(&wkt(&corners))?,
            (corners, false) => {
                let polygon = json!({"type": "Polygon", "coordinates": [corners]}).to_string();
                document.make_sound_json(&polygon)?
            }
        };
        self.target.set(document, polygon)?;
        Ok(Flow::Continue)
    }
}

impl Circle {
    fn polygon(&self, value: &Value) -> Result<Vec<Position>, RequestError> {
        let geometry = read_any_shape(value)?.geometry;
        let Geometry::Circle { center, radius_meters } = geometry else {
            return Err(RequestError::illegal_argument(format!(
                "found [{}] instead of circle",
                geometry.name()
            )));
        };
        if radius_meters < 0.0 {
            let shown = java_double(radius_meters);
            return Err(RequestError::illegal_argument(format!(
                "Circle radius [{shown}] cannot be negative"
            )));
        }
        match self.is_on_earth {
            true => polygon_on_earth(center, radius_meters, self.side_count(radius_meters)),
            false => Ok(polygon_on_plane(center, radius_meters, self.side_count(radius_meters))),
        }
    }

    /// Returns the fewest sides for which every side stays within the error distance of the circle. If no
    /// number fits (the radius is below the error distance), it is the minimum.
    fn side_count(&self, radius: f64) -> u32 {
        let sides = (2.0 * std::f64::consts::PI / (1.0 - self.error_distance / radius).acos()).ceil();
        (sides as i32).clamp(SIDES.0, SIDES.1) as u32
    }
}

fn wkt(corners: &[Position]) -> String {
    let corners = corners.iter().map(|(x, y)| format!("{} {}", java_double(*x), java_double(*y)));
    format!("POLYGON (({}))", corners.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::tests::{check, run};

    /// Checks the example of Elasticsearch's documentation.
    #[test]
    fn documented() {
        let processors = r#"[{"circle":{"field":"circle","error_distance":28.0,"shape_type":"geo_shape"}}]"#;
        let corners = "30.000365257263184 10.0, 30.000111397193788 10.00034284530941, 29.999706043744222 10.000213571721195, \
                       29.999706043744222 9.999786428278805, 30.000111397193788 9.99965715469059, 30.000365257263184 10.0";
        let expected = json!({"circle": format!("POLYGON (({corners}))")}).to_string();
        check(processors, r#"{"circle":"CIRCLE (30 10 40)"}"#, &expected);
        let list: Vec<Vec<f64>> = corners
            .split(", ")
            .map(|corner| corner.split(' ').map(|number| number.parse().unwrap()).collect())
            .collect();
        let expected = json!({"circle": {"type": "Polygon", "coordinates": [list]}}).to_string();
        check(processors, r#"{"circle":{"type":"circle","radius":"40m","coordinates":[30,10]}}"#, &expected);
    }

    #[test]
    fn on_a_plane_with_a_target() {
        let processors = r#"[{"circle":{"field":"a","target_field":"b.c","error_distance":"100","shape_type":"Shape","ignore_missing":true}}]"#;
        let pipeline = json!({"processors": serde_json::from_str::<serde_json::Value>(processors).unwrap()});
        let made = run(&pipeline, r#"{"a":"CIRCLE (1 2 3)"}"#).expect("a polygon");
        let text = made["b"]["c"].as_str().expect("WKT");
        assert!(text.starts_with("POLYGON ((4.0 2.0, 1.0000000000000002 5.0, -2.0 2.0"), "{text}");
        check(processors, r#"{"x":1}"#, r#"{"x":1}"#);
        check(processors, r#"{"a":null}"#, r#"{"a":null}"#);
    }

    #[test]
    fn more_sides_for_less_error() {
        let sides = |error: f64| {
            let processors =
                json!([{"circle": {"field": "a", "error_distance": error, "shape_type": "geo_shape"}}]);
            let made = run(&json!({"processors": processors}), r#"{"a":"CIRCLE (-170 60 5000)"}"#)
                .expect("a polygon");
            made["a"].as_str().expect("WKT").split(", ").count() - 1
        };
        assert_eq!([10_000.0, 100.0, 1.0, 0.0].map(sides), [4, 32, 315, 1000]);
    }

    #[test]
    fn refused() {
        let processors = r#"[{"circle":{"field":"a","error_distance":1,"shape_type":"geo_shape"}}]"#;
        check(processors, r#"{}"#, "!field [a] not present as part of path [a]");
        check(processors, r#"{"a":null}"#, "!field [a] is null, cannot process it.");
        check(processors, r#"{"a":5}"#, "!field [a] must be a WKT Circle or a GeoJSON Circle value");
        for bad in [
            r#""POINT (1 2)""#,
            r#""CIRCLE (1 2""#,
            r#""CIRCLE (0 90 10)""#,
            r#""CIRCLE (0 0 -1)""#,
            r#"{"type":"circle"}"#,
        ] {
            check(processors, &format!(r#"{{"a":{bad}}}"#), "!invalid circle definition");
        }
        for (options, reason) in [
            (json!({"field": "a", "shape_type": "shape"}), "[error_distance] required property is missing"),
            (json!({"field": "a", "error_distance": 1}), "[shape_type] required property is missing"),
            (
                json!({"field": "a", "error_distance": "x", "shape_type": "shape"}),
                "[error_distance] property cannot be converted to a double [x]",
            ),
            (
                json!({"field": "a", "error_distance": 1, "shape_type": "ball"}),
                "illegal [shape_type] value [ball]. valid values are [SHAPE, GEO_SHAPE]",
            ),
        ] {
            let answer = run(&json!({"processors": [{"circle": options}]}), "{}");
            assert_eq!(answer, Err(reason.to_owned()));
        }
    }
}
