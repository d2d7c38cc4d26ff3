//! The document that a `percolate` query refers to, if it is in an index.
//!
//! Source: Elasticsearch's `PercolateQueryBuilder` and `ObjectParser`.

use limber_mapping::number::integer_from_text;
use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use crate::context::documents::DocumentName;

/// The query's parser, by its name in errors.
pub(crate) const PARSER: ObjectParser<'_> = ObjectParser::new("percolate");

/// Elasticsearch's `Versions.MATCH_ANY`.
const ANY_VERSION: i64 = -3;

/// The ways of giving documents, of which a query uses one.
const DOCUMENTS: [&str; 3] = ["document", "documents", "id"];

/// The options that identify an indexed document. The preference selects a copy, of which there is only one.
pub(crate) const OPTIONS: [&str; 5] = ["index", "id", "routing", "preference", "version"];

/// Parses the options that identify an indexed document; `None` if the documents are in the request or
/// missing.
///
/// # Errors
/// Elasticsearch's errors: options of another type, documents given in two ways, an `id` without `index`, and
/// impossible versions.
pub(crate) fn named_document(options: &Map<String, Value>) -> Result<Option<DocumentName>, RequestError> {
    let text = |name: &str| match options.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong_type(name, other)),
    };
    let (index, id, routing) = (text("index")?, text("id")?, text("routing")?);
    text("preference")?;
    let version = options.get("version").map(read_version).transpose()?;
    check_given_once(options)?;
    let Some(id) = id else { return Ok(None) };
    if !options.contains_key("field") {
        return Err(ObjectParser::required("field"));
    }
    let index = index.ok_or_else(|| {
        ObjectParser::new("percolate")
            .failed_to_build(RequestError::illegal_argument("[index] is a required argument"))
    })?;
    let version = version.map_or(Ok(None), wanted_version)?;
    Ok(Some(DocumentName { index, id, routing, version }))
}

pub(crate) fn wrong_type(name: &str, value: &Value) -> RequestError {
    PARSER.unsupported(name, value)
}

fn read_version(value: &Value) -> Result<i64, RequestError> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        other => return Err(wrong_type("version", other)),
    };
    let failed = |reason: String| PARSER.failed("version", RequestError::illegal_argument(reason));
    let whole = integer_from_text(&text).ok_or_else(|| failed(format!("For input string: \"{text}\"")))?;
    i64::try_from(whole.value).map_err(|_| failed(format!("Value [{text}] is out of range for a long")))
}

/// Source: `VersionType.INTERNAL#validateVersionForReads`.
fn wanted_version(version: i64) -> Result<Option<u64>, RequestError> {
    match version {
        ANY_VERSION => Ok(None),
        1.. => Ok(Some(version.unsigned_abs())),
        _ => Err(RequestError::validation([format!(
            "illegal version value [{version}] for version type [INTERNAL]"
        )])),
    }
}

fn check_given_once(options: &Map<String, Value>) -> Result<(), RequestError> {
    let given = options.keys().map(String::as_str).filter(|name| DOCUMENTS.contains(name));
    let given: Vec<&str> = given.collect();
    if given.len() < 2 {
        return Ok(());
    }
    Err(RequestError::illegal_argument(format!(
        "The following fields are not allowed together: [{}] ",
        given.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: Value) -> Result<Option<DocumentName>, RequestError> {
        named_document(options.as_object().expect("an object"))
    }

    #[test]
    fn a_document_of_an_index_is_named() {
        let lookup =
            DocumentName { index: "i".into(), id: "1".into(), routing: Some("r".into()), version: Some(3) };
        let options = json!({"field": "q", "index": "i", "id": "1", "routing": "r", "preference": "_local", "version": "3"});
        assert_eq!(read(options).expect("sound"), Some(lookup));
        let any = read(json!({"field": "q", "index": "i", "id": "1", "version": -3}))
            .expect("sound")
            .expect("a lookup");
        assert_eq!(any.version, None);
        assert_eq!(read(json!({"field": "q", "document": {}, "index": "i"})).expect("sound"), None);
    }

    /// Recorded from Elasticsearch 7.17.15.
    #[test]
    fn what_is_wrong_is_told() {
        let cause_or_self = |error: RequestError| match &error.caused_by {
            Some(cause) => cause.reason.clone(),
            None => error.reason.clone(),
        };
        for (options, reason) in [
            (
                json!({"field": "q", "index": "i", "id": 1}),
                "[percolate] id doesn't support values of type: VALUE_NUMBER",
            ),
            (json!({"field": "q", "index": "i", "id": "1", "version": "x"}), "For input string: \"x\""),
            (
                json!({"field": "q", "index": "i", "id": "1", "version": {}}),
                "[percolate] version doesn't support values of type: START_OBJECT",
            ),
            (
                json!({"field": "q", "index": "i", "id": "1", "version": 0}),
                "Validation Failed: 1: illegal version value [0] for version type [INTERNAL];",
            ),
            (json!({"id": "1"}), "Required [field]"),
            (json!({"field": "q", "id": "1"}), "[index] is a required argument"),
            (
                json!({"field": "q", "index": "i", "id": "1", "document": {}}),
                "The following fields are not allowed together: [id, document] ",
            ),
        ] {
            assert_eq!(cause_or_self(read(options.clone()).expect_err("refused")), reason, "{options}");
        }
    }
}
