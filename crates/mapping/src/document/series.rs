//! Ids of series and of their documents.
//!
//! Source: Elasticsearch's `IndexRouting.ExtractFromSource`, `TimeSeriesIdFieldMapper`,
//! `TsidExtractingIdFieldMapper`.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_codec::murmur3::murmur3_32;
use limber_work as work;
use serde_json::Value;

use super::error;
use super::scripted::{ScriptedValue, put_scripted};
use crate::date::Resolution;
use crate::field::{Field, FieldSink, OwnedScalar, Typed, ValueKind};
use crate::mapping::{Mapping, SeriesPlan};
use crate::{RequestError, claim_parsed, ip};

/// How many dimensions have a hash of their own in the id of a series, so that similar series are adjacent.
const VALUES_MAX: usize = 4;

/// The id of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesId {
    /// `_tsid`, in Base64.
    pub tsid: String,
    /// Hash of the dimensions that choose the shard.
    pub shard_hash: u32,
}

/// What a document says about its series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// The series.
    pub id: SeriesId,
    /// `@timestamp` in milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Whether the document has fields that are not mapped yet and may be dimensions.
    pub needs_mapping: bool,
}

impl Series {
    /// Returns the `_id` of the document: the hash for the shard, the series, and the timestamp.
    pub fn document_id(&self) -> String {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&self.id.shard_hash.to_le_bytes());
        bytes[4..12].copy_from_slice(&hash_128(self.id.tsid.as_bytes())[..8]);
        bytes[12..].copy_from_slice(&self.timestamp_ms.to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

/// Returns the hash for the shard that the `_id` of a document contains; `None` if it is no such id.
pub fn shard_hash_of(id: &str) -> Option<u32> {
    let bytes = URL_SAFE_NO_PAD.decode(id).ok()?;
    Some(u32::from_le_bytes(*bytes.first_chunk::<4>()?))
}

impl Mapping {
    /// Whether the index holds time series.
    pub fn has_series(&self) -> bool {
        self.series.is_some()
    }

    /// Returns `@timestamp` of a document in milliseconds since 1970, if the index holds time series.
    ///
    /// # Errors
    /// The timestamp is missing or no date.
    pub fn series_timestamp(&self, source: &[u8]) -> Result<i64, RequestError> {
        let Some(plan) = &self.series else { return Ok(0) };
        claim_parsed(source)?;
        timestamp_of(&plan.timestamp, &parse(source)?, source)
    }

    /// Returns the series and the timestamp of a document.
    ///
    /// # Errors
    /// The index holds no time series, the document has no timestamp, or no dimension that chooses its shard.
    pub fn series_of(&self, source: &[u8]) -> Result<Series, RequestError> {
        let Some(plan) = &self.series else {
            return Err(RequestError::illegal_argument("the index is not in [index.mode=time_series]"));
        };
        claim_parsed(source)?;
        let document = parse(source)?;
        let timestamp_ms = timestamp_of(&plan.timestamp, &document, source)?;
        let mut found = Found { mapping: self, plan, dimensions: Vec::new(), needs_mapping: false };
        found.read(&mut String::new(), &document)?;
        let needs_mapping = found.needs_mapping;
        let mut dimensions = found.dimensions;
        // The values of a dimension stay in their order.
        dimensions.sort_by(|left, right| left.0.cmp(&right.0));
        let routing = dimensions.iter().filter(|(path, _)| plan.is_routing(path));
        let mut shard_hash = None;
        for (path, value) in routing {
            let both = murmur3_32(path.as_bytes(), 0) ^ murmur3_32(value.as_bytes(), 0);
            shard_hash = Some(shard_hash.unwrap_or(0_u32).wrapping_mul(31).wrapping_add(both));
        }
        let Some(shard_hash) = shard_hash else {
            return Err(RequestError::illegal_argument(
                "Error extracting routing: source didn't contain any routing fields",
            ));
        };
        let id = SeriesId { tsid: tsid_of(&dimensions), shard_hash };
        Ok(Series { id, timestamp_ms, needs_mapping })
    }

    /// Feeds `_tsid` of a document to the sink, if the index holds time series.
    ///
    /// # Errors
    /// As [`Mapping::series_of`].
    pub fn put_series<S: FieldSink>(&self, source: &[u8], sink: &mut S) -> Result<(), RequestError> {
        let Some(plan) = &self.series else { return Ok(()) };
        let tsid = self.series_of(source)?.id.tsid.into_bytes();
        put_scripted(self, &plan.tsid, &[ScriptedValue::Term(tsid)], sink)
    }
}

fn parse(source: &[u8]) -> Result<Value, RequestError> {
    serde_json::from_slice(source)
        .map_err(|invalid| error::wrapped(source, 0, RequestError::parsing(invalid.to_string())))
}

fn timestamp_of(field: &Field, document: &Value, source: &[u8]) -> Result<i64, RequestError> {
    let missing = || {
        let cause = RequestError::illegal_argument("data stream timestamp field [@timestamp] is missing");
        error::wrapped(source, 0, cause)
    };
    let value = match &document[&*field.path] {
        Value::Null => return Err(missing()),
        Value::Array(values) if values.len() == 1 => &values[0],
        value => value,
    };
    let scalar = OwnedScalar::from_json(value);
    let number = match field.of.read(field, scalar.borrow(), &mut [0; 16]) {
        Ok(Typed::Number(number)) => number,
        Ok(_) => return Err(missing()),
        Err(cause) => {
            let of = (&*field.path, field.type_name());
            return Err(error::field_without_preview(source, 0, of, *cause));
        }
    };
    Ok(match field.values {
        ValueKind::Date { resolution: Resolution::Nanos, .. } => number.div_euclid(1_000_000),
        _ => number,
    })
}

/// The dimensions of a document, as they are found.
struct Found<'a> {
    mapping: &'a Mapping,
    plan: &'a SeriesPlan,
    /// Paths and values.
    dimensions: Vec<(String, String)>,
    needs_mapping: bool,
}

impl Found<'_> {
    /// The depth of the document is bounded by the parser.
    fn read(&mut self, path: &mut String, value: &Value) -> Result<(), RequestError> {
        match value {
            Value::Null => {}
            Value::Array(values) => values.iter().try_for_each(|value| self.read(path, value))?,
            Value::Object(members) => {
                for (name, value) in members {
                    let before = path.len();
                    if before > 0 {
                        path.push('.');
                    }
                    path.push_str(name);
                    self.read(path, value)?;
                    path.truncate(before);
                }
            }
            scalar => self.scalar(path, scalar)?,
        }
        Ok(())
    }

    fn scalar(&mut self, path: &str, scalar: &Value) -> Result<(), RequestError> {
        let is_dimension = self.plan.dimensions.contains(path);
        if is_dimension || self.plan.is_routing(path) {
            // The name of an object is part of the path of everything in it.
            work::claim(path.len() as u64)?;
            self.dimensions.push((path.to_owned(), self.text_of(path, scalar)));
        }
        let is_new = !is_dimension && self.plan.may_grow && !self.needs_mapping;
        self.needs_mapping |= is_new && self.mapping.field(path).is_none();
        Ok(())
    }

    /// Returns the text that all notations of a value have in common.
    fn text_of(&self, path: &str, scalar: &Value) -> String {
        let text = match scalar {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let field = self.mapping.mapped_field(path);
        match field.map(|field| &field.values) {
            Some(ValueKind::Long(_)) => match text.trim().parse::<f64>() {
                Ok(number) if text.trim().parse::<i64>().is_err() => (number as i64).to_string(),
                _ => text.trim().to_owned(),
            },
            Some(ValueKind::Ip) => ip::parse(text.as_bytes()).map_or(text, |address| ip::format(&address)),
            Some(ValueKind::Bool) if text.is_empty() => "false".to_owned(),
            _ => text,
        }
    }
}

/// Returns the id of a series: hashes of the names, of the first values, and of everything.
fn tsid_of(dimensions: &[(String, String)]) -> String {
    let (mut names, mut everything) = (Vec::new(), Vec::new());
    for (path, value) in dimensions {
        names.extend_from_slice(path.as_bytes());
        names.push(0);
        for part in [path, value] {
            everything.extend_from_slice(&(part.len() as u64).to_le_bytes());
            everything.extend_from_slice(part.as_bytes());
        }
    }
    let mut bytes = murmur3_32(&names, 0).to_le_bytes().to_vec();
    for (_, value) in dimensions.iter().take(VALUES_MAX) {
        bytes.extend_from_slice(&murmur3_32(value.as_bytes(), 0).to_le_bytes());
    }
    bytes.extend_from_slice(&hash_128(&everything));
    URL_SAFE_NO_PAD.encode(bytes)
}

fn hash_128(bytes: &[u8]) -> [u8; 16] {
    murmur3::murmur3_x64_128(&mut Cursor::new(bytes), 0).unwrap_or_default().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::{IndexMode, MappingSettings};

    fn mapping(body: Value, routing_path: &[&str]) -> Result<Mapping, RequestError> {
        let routing_path = routing_path.iter().map(|path| (*path).to_owned()).collect();
        let mode = IndexMode::TimeSeries { routing_path };
        Mapping::parse(&body, &MappingSettings { mode, ..MappingSettings::default() })
    }

    fn metrics() -> Mapping {
        mapping(
            json!({"properties": {
                "@timestamp": {"type": "date"},
                "host": {"type": "keyword", "time_series_dimension": true},
                "core": {"type": "long", "time_series_dimension": true},
                "ip": {"type": "ip", "time_series_dimension": true},
                "load": {"type": "double", "time_series_metric": "gauge"},
                "rx": {"type": "long", "time_series_metric": "counter"},
            }}),
            &["host"],
        )
        .expect("a mapping")
    }

    fn series(document: Value) -> Result<Series, RequestError> {
        metrics().series_of(document.to_string().as_bytes())
    }

    #[test]
    fn notations_of_the_same_dimensions_are_one_series() {
        let time = "2024-05-01T10:00:00Z";
        let first = series(json!({"@timestamp": time, "host": "a", "core": 1, "ip": "::ffff:10.0.0.1"}));
        let first = first.expect("a series");
        let other =
            series(json!({"load": 3.5, "ip": "10.0.0.1", "core": "1", "host": ["a"], "@timestamp": time}));
        assert_eq!(first, other.expect("a series"));
        let later = series(json!({"@timestamp": 0, "host": "a", "core": 1, "ip": "10.0.0.1"})).expect("one");
        assert_eq!(first.id, later.id);
        assert_ne!(first.document_id(), later.document_id());
        let different = series(json!({"@timestamp": time, "host": "a", "core": 2})).expect("a series");
        assert_ne!(first.id.tsid, different.id.tsid);
        assert_eq!(first.id.shard_hash, different.id.shard_hash);
        assert_eq!(shard_hash_of(&first.document_id()), Some(first.id.shard_hash));
        assert_eq!(first.timestamp_ms, 1_714_557_600_000);
    }

    #[test]
    fn documents_without_a_series_are_refused() {
        let check = |document: Value, reason: &str| {
            assert!(series(document).expect_err("refused").reason.contains(reason), "{reason}");
        };
        check(json!({"host": "a"}), "data stream timestamp field [@timestamp] is missing");
        check(json!({"@timestamp": "x", "host": "a"}), "failed to parse field [@timestamp] of type [date]");
        check(
            json!({"@timestamp": 0, "core": 1}),
            "Error extracting routing: source didn't contain any routing fields",
        );
    }

    #[test]
    fn mappings_that_cannot_hold_series_are_refused() {
        let check = |properties: Value, path: &str, reason: &str| {
            let mut body = json!({"properties": {"@timestamp": {"type": "date"}}});
            for (name, field) in properties.as_object().expect("fields") {
                body["properties"][name] = field.clone();
            }
            let error = mapping(body, &[path]).expect_err("refused");
            assert!(error.reason.contains(reason), "{}", error.reason);
        };
        let dimension = json!({"type": "keyword", "time_series_dimension": true});
        check(json!({"h": {"type": "keyword"}}), "h", "[h] was not a dimension.");
        check(json!({"h": {"type": "text"}}), "*", "was [date].");
        check(
            json!({"h": dimension, "n": {"type": "nested"}}),
            "h",
            "cannot have nested fields when index is in [index.mode=time_series]",
        );
    }

    #[test]
    fn keys_of_flattened_fields_are_dimensions() {
        let body = json!({"properties": {
            "@timestamp": {"type": "date"},
            "labels": {"type": "flattened", "time_series_dimensions": ["app", "zone"]},
        }});
        let mapping = mapping(body.clone(), &["labels.app"]).expect("a mapping");
        assert_eq!(mapping.to_json()["properties"]["labels"], body["properties"]["labels"]);
        let of = |labels: Value| {
            let document = json!({"@timestamp": 5, "labels": labels}).to_string();
            mapping.series_of(document.as_bytes()).expect("a series").id
        };
        assert_eq!(of(json!({"app": "x", "version": 1})), of(json!({"app": "x", "version": 2})));
        assert_ne!(of(json!({"app": "x", "zone": 1})), of(json!({"app": "x", "zone": 2})));
    }
}
