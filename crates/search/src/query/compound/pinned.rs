//! `pinned`: given documents in a given order, followed by those that a query finds.
//!
//! Source: Elasticsearch's `PinnedQueryBuilder`. A pinned document scores higher than any other can.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::dis_max::DisMax;
use crate::query::parse::{Common, Parser, Query};
use crate::values::json;

/// Largest number of pinned documents of a query (`MAX_NUM_PINNED_HITS`).
const PINS_MAX: usize = 100;

/// `Float.intBitsToFloat((0xfe << 23)) - 1`: upper limit of the other documents' scores.
const ORGANIC_SCORE_MAX: f32 = f32::from_bits(0xfe << 23);

/// A pinned document, and its index if that is given.
struct Pin {
    id: String,
    index: Option<String>,
}

const PARSER: ObjectParser<'_> = ObjectParser::new("pinned");

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut organic, mut ids, mut docs) = (None, None, None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("organic", Value::Object(_)) => organic = Some(parser.query(value)?),
            ("ids", Value::Array(items)) => ids = Some(pins(items, id_of)?),
            ("docs", Value::Array(items)) => docs = Some(pins(items, doc_of)?),
            ("organic" | "ids" | "docs", other) => {
                return Err(PARSER.unsupported(key, other));
            }
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(PARSER.unknown(key)),
        }
    }
    let organic = organic.ok_or_else(|| ObjectParser::required("organic"))?;
    let pins = match (ids, docs) {
        (Some(_), Some(_)) => {
            return Err(RequestError::illegal_argument("[pinned] takes either [ids] or [docs]"));
        }
        (None, None) => {
            return Err(RequestError::illegal_argument(
                "Required one of fields [ids, docs], but none were specified. ",
            ));
        }
        (Some(pins), None) | (None, Some(pins)) => pins,
    };
    if pins.is_empty() {
        return Ok(common.query(DisMax { queries: vec![organic], tie_breaker: 0.0, is_asked: false }));
    }
    let count = pins.len() as u32;
    let mut queries = Vec::with_capacity(pins.len() + 1);
    for (place, pin) in (0..).zip(pins) {
        let score = f32::from_bits(ORGANIC_SCORE_MAX.to_bits() + count - place);
        queries.push(parser.query(&pin.query(score))?);
    }
    queries.push(organic);
    Ok(common.query(DisMax { queries, tie_breaker: 0.0, is_asked: false }))
}

fn pins(items: &[Value], read: fn(&Value) -> Result<Pin, RequestError>) -> Result<Vec<Pin>, RequestError> {
    if items.len() > PINS_MAX {
        let reason = format!("[pinned] Max of {PINS_MAX} ids exceeded: {} provided.", items.len());
        return Err(RequestError::illegal_argument(reason));
    }
    let pins = items.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (place, pin) in pins.iter().enumerate() {
        if pins[..place].iter().any(|other| other.id == pin.id && other.index == pin.index) {
            let reason = format!("[pinned] duplicate id found in list: {}", pin.id);
            return Err(RequestError::illegal_argument(reason));
        }
    }
    Ok(pins)
}

fn id_of(value: &Value) -> Result<Pin, RequestError> {
    match json::scalar_text(value) {
        Some(id) => Ok(Pin { id, index: None }),
        None => Err(PARSER.unsupported("ids", value)),
    }
}

fn doc_of(value: &Value) -> Result<Pin, RequestError> {
    let Value::Object(members) = value else {
        return Err(PARSER.unsupported("docs", value));
    };
    let (mut id, mut index) = (None, None);
    for (key, value) in members {
        match key.as_str() {
            "_id" => id = json::scalar_text(value),
            "_index" => index = json::scalar_text(value),
            other => {
                return Err(
                    PARSER.refused(&format!("[specified_document] {}", ObjectParser::unknown_words(other)))
                );
            }
        }
    }
    let id = id.ok_or_else(|| ObjectParser::required("_id"))?;
    Ok(Pin { id, index })
}

impl Pin {
    fn query(&self, score: f32) -> Value {
        let id = json!({"ids": {"values": [self.id]}});
        let filter = match &self.index {
            None => id,
            Some(index) => json!({"bool": {"filter": [id, {"term": {"_index": index}}]}}),
        };
        json!({"constant_score": {"filter": filter, "boost": f64::from(score)}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse::{QueryLimits, parse_query};

    #[test]
    fn what_is_no_list_of_documents_is_refused() {
        let all = json!({"match_all": {}});
        for (body, reason) in [
            (json!({"ids": ["1"]}), "Required [organic]"),
            (json!({"ids": ["1", "1"], "organic": all}), "[pinned] duplicate id found in list: 1"),
            (json!({"ids": ["1"], "x": 1, "organic": all}), "[pinned] unknown field [x]"),
            (json!({"docs": [{"_index": "i"}], "organic": all}), "Required [_id]"),
            (
                json!({"ids": vec!["1"; 101], "organic": all}),
                "[pinned] Max of 100 ids exceeded: 101 provided.",
            ),
        ] {
            let error = parse_query(&json!({"pinned": body}), &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason);
        }
        let taken = json!({"pinned": {"docs": [{"_index": "i", "_id": 3}], "organic": all}});
        assert!(parse_query(&taken, &QueryLimits::default()).is_ok());
    }

    #[test]
    fn pins_score_more_than_other_documents_may() {
        assert!(ORGANIC_SCORE_MAX == f32::from_bits(0x7f00_0000) && ORGANIC_SCORE_MAX.is_finite());
        let last = f32::from_bits(ORGANIC_SCORE_MAX.to_bits() + PINS_MAX as u32);
        assert!(last.is_finite() && last > ORGANIC_SCORE_MAX);
    }
}
