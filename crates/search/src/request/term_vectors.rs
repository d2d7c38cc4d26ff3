//! The body of `_termvectors`: "which fields of which document, and which data about their terms?"
//!
//! Source: Elasticsearch's `TermVectorsRequest#parseRequest`.

use std::collections::BTreeMap;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use crate::context::version_type::VersionType;
use crate::values::json;

/// Maximum number of fields that one request may name, and of analyzers by field.
const FIELDS_MAX: usize = 1000;

/// A request for the terms of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct TermVectorsRequest {
    /// The name of the index that has the document, or whose mapping applies to `document`.
    pub index: Option<String>,
    /// The `_id` of the document; `None` if `document` is given.
    pub id: Option<String>,
    /// The routing that the document was, or would be, indexed with.
    pub routing: Option<String>,
    /// The only acceptable version of the document; `None` accepts any.
    pub version: Option<u64>,
    /// A document that is in no index, instead of an id.
    pub document: Option<Value>,
    /// Names and patterns of fields; `None`: fields with `term_vector`, or all fields of `document`.
    pub fields: Option<Vec<String>>,
    /// Whether the positions of each term are shown.
    pub positions: bool,
    /// Whether the character offsets of each term are shown.
    pub offsets: bool,
    /// Whether the payloads of each term are shown.
    pub payloads: bool,
    /// Whether the frequency of each term in the shard is shown.
    pub term_statistics: bool,
    /// Whether the sums over all terms of each field in the shard are shown.
    pub field_statistics: bool,
    /// Names of analyzers that replace those of fields.
    pub analyzers: BTreeMap<String, String>,
    /// Selects the terms to show; `None` shows all.
    pub filter: Option<TermFilter>,
}

/// Selects terms of a field: the best by their frequency in the document and their rarity in the shard.
#[derive(Debug, Clone, PartialEq)]
pub struct TermFilter {
    /// Maximum number of terms of a field to show.
    pub count_max: usize,
    /// Minimum number of occurrences of a term in the document.
    pub term_freq_min: u64,
    /// Maximum number of occurrences of a term in the document.
    pub term_freq_max: u64,
    /// Minimum number of documents of the shard that have a term.
    pub doc_freq_min: u64,
    /// Maximum number of documents of the shard that have a term.
    pub doc_freq_max: u64,
    /// Shortest term to show, in UTF-16 units.
    pub length_min: usize,
    /// Longest term to show, in UTF-16 units; 0 for any length.
    pub length_max: usize,
}

impl Default for TermVectorsRequest {
    fn default() -> TermVectorsRequest {
        TermVectorsRequest {
            index: None,
            id: None,
            routing: None,
            version: None,
            document: None,
            fields: None,
            positions: true,
            offsets: true,
            payloads: true,
            term_statistics: false,
            field_statistics: true,
            analyzers: BTreeMap::new(),
            filter: None,
        }
    }
}

impl Default for TermFilter {
    fn default() -> TermFilter {
        TermFilter {
            count_max: 25,
            term_freq_min: 1,
            term_freq_max: i32::MAX as u64,
            doc_freq_min: 1,
            doc_freq_max: i32::MAX as u64,
            length_min: 0,
            length_max: 0,
        }
    }
}

fn failed(why: impl std::fmt::Display) -> RequestError {
    RequestError::bad_request("parse_exception", format!("failed to parse term vectors request. {why}"))
}

fn no_analyzer_name(field: &str, found: &Value) -> RequestError {
    let class = match found {
        Value::Null => "null",
        Value::Bool(_) => "class java.lang.Boolean",
        Value::Number(number) if number.is_f64() => "class java.lang.Double",
        Value::Number(_) => "class java.lang.Integer",
        Value::Array(_) => "class java.util.ArrayList",
        _ => "class java.util.LinkedHashMap",
    };
    let reason = format!("expecting the analyzer at [{field}] to be a String, but found [{class}] instead");
    RequestError::bad_request("parse_exception", reason)
}

impl TermVectorsRequest {
    /// Parses the members of a body, which override values set before.
    ///
    /// # Errors
    /// `parse_exception` for unknown members, and for an id beside a document.
    pub fn read(&mut self, body: &Map<String, Value>) -> Result<(), RequestError> {
        for (name, value) in body {
            let text = || {
                json::scalar_text(value).ok_or_else(|| failed(format_args!("field [{name}] must be a text")))
            };
            match name.as_str() {
                "fields" => {
                    let Value::Array(list) = value else {
                        return Err(failed("field [fields] must be an array"));
                    };
                    self.set_fields(list.iter().map(json::text).collect::<Result<_, _>>()?)?;
                }
                "offsets" => self.offsets = json::boolean(value)?,
                "positions" => self.positions = json::boolean(value)?,
                "payloads" => self.payloads = json::boolean(value)?,
                "term_statistics" | "termStatistics" => self.term_statistics = json::boolean(value)?,
                "field_statistics" | "fieldStatistics" => self.field_statistics = json::boolean(value)?,
                "per_field_analyzer" => {
                    let Value::Object(named) = value else {
                        return Err(failed("field [per_field_analyzer] must be an object"));
                    };
                    if named.len() > FIELDS_MAX {
                        return Err(too_many_fields());
                    }
                    for (field, name) in named {
                        let name = name.as_str().ok_or_else(|| no_analyzer_name(field, name))?;
                        self.analyzers.insert(field.clone(), name.to_owned());
                    }
                }
                "filter" => self.filter = Some(TermFilter::parse(value)?),
                "_index" => self.index = Some(text()?),
                "_id" => self.id = Some(text()?),
                "doc" => self.document = Some(value.clone()),
                "_routing" | "routing" => self.routing = Some(text()?),
                "version" | "_version" => self.version = value.as_u64(),
                // Reads treat all version types alike.
                "version_type" | "_version_type" => {
                    VersionType::parse(&text()?)?;
                }
                _ => return Err(failed(ObjectParser::unknown_words(name))),
            }
            if self.id.is_some() && self.document.is_some() {
                return Err(failed("either [id] or [doc] can be specified, but not both!"));
            }
        }
        Ok(())
    }

    /// Sets the fields.
    ///
    /// # Errors
    /// There are more than [`FIELDS_MAX`].
    pub fn set_fields(&mut self, fields: Vec<String>) -> Result<(), RequestError> {
        if fields.len() > FIELDS_MAX {
            return Err(too_many_fields());
        }
        self.fields = Some(fields).filter(|fields| !fields.is_empty());
        Ok(())
    }
}

fn too_many_fields() -> RequestError {
    failed(format_args!("more than [{FIELDS_MAX}] fields"))
}

impl TermFilter {
    fn parse(value: &Value) -> Result<TermFilter, RequestError> {
        let mut filter = TermFilter::default();
        let Value::Object(members) = value else { return Err(failed("field [filter] must be an object")) };
        for (name, value) in members {
            let number = || match json::int(value) {
                Ok(number) if number >= 0 => Ok(number as u64),
                Ok(number) => Err(RequestError::illegal_argument(format!(
                    "[{name}] must not be negative, but was [{number}]"
                ))),
                Err(error) => Err(error),
            };
            match name.as_str() {
                "max_num_terms" => filter.count_max = number()? as usize,
                "min_term_freq" => filter.term_freq_min = number()?,
                "max_term_freq" => filter.term_freq_max = number()?,
                "min_doc_freq" => filter.doc_freq_min = number()?,
                "max_doc_freq" => filter.doc_freq_max = number()?,
                "min_word_length" => filter.length_min = number()? as usize,
                "max_word_length" => filter.length_max = number()? as usize,
                _ => {
                    return Err(failed(format_args!(
                        "the field [{name}] is not valid for filter parameter for term vector request"
                    )));
                }
            }
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_read_and_refused() {
        let read = |body: Value| {
            let mut request = TermVectorsRequest::default();
            request.read(body.as_object().expect("an object")).map(|()| request).map_err(|error| error.reason)
        };
        let found = read(json!({
            "fields": ["a", "b*"], "offsets": false, "termStatistics": "true", "filter": { "max_num_terms": 3 },
            "per_field_analyzer": { "a": "keyword" },
        }))
        .expect("sound");
        assert_eq!(found.fields, Some(vec!["a".to_owned(), "b*".to_owned()]));
        assert!(!found.offsets && found.positions && found.term_statistics);
        assert_eq!(found.filter, Some(TermFilter { count_max: 3, ..TermFilter::default() }));
        assert_eq!(found.analyzers["a"], "keyword");
        for (body, reason) in [
            (json!({ "fields": "a" }), "field [fields] must be an array"),
            (json!({ "foo": 1 }), "unknown field [foo]"),
            (json!({ "_id": "1", "doc": {} }), "either [id] or [doc] can be specified, but not both!"),
            (
                json!({ "filter": { "foo": 1 } }),
                "the field [foo] is not valid for filter parameter for term vector request",
            ),
        ] {
            assert_eq!(read(body), Err(format!("failed to parse term vectors request. {reason}")));
        }
    }
}
