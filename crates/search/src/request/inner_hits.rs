//! `inner_hits`: "how are the nested documents of a hit, or the documents of its group, shown?"
//!
//! Source: Elasticsearch's `InnerHitBuilder`.

use std::any::Any;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::value_kind::ValueKind;
use super::{Collapse, HIT_OPTIONS, SearchRequest, UrlParameters};
use crate::query::InnerHitsRequest;
use crate::values::json;

/// What is shown with a hit: nested documents, the other side of a join, or the documents of its group.
#[derive(Debug)]
pub(crate) struct InnerHits {
    /// The name under which they are shown, if the request has one.
    pub name: Option<String>,
    /// The search for the inner hits. Its `collapse` is that of the group's documents; nested documents are
    /// not collapsed, here as in Elasticsearch.
    pub request: SearchRequest,
    /// Whether an index without the query's path is searched as if the query matched nothing.
    pub ignore_unmapped: bool,
}

/// Default `size` of inner hits.
const INNER_HITS_SIZE: u32 = 3;

impl InnerHits {
    /// Parses the object of `inner_hits`, in which some keys of a search, such as aggregations, are
    /// unknown.
    pub fn parse(body: &Map<String, Value>) -> Result<InnerHits, RequestError> {
        let (mut name, mut ignore_unmapped, mut collapse) = (None, false, None);
        let mut options = Map::new();
        for (key, value) in body {
            match (key.as_str(), value) {
                ("name", Value::String(text)) => name = Some(text.clone()),
                ("name", other) => return Err(wrong_type(key, other)),
                ("ignore_unmapped", _) => ignore_unmapped = json::boolean(value)?,
                ("collapse", Value::Object(members)) => {
                    collapse = Some(Collapse::parse_inner(members).map_err(|cause| failed(key, cause))?);
                }
                ("collapse", other) => return Err(wrong_type(key, other)),
                (option, _) if HIT_OPTIONS.contains(&option) => {
                    check_option(key, value)?;
                    options.insert(key.to_owned(), value.clone());
                }
                _ => return Err(PARSER.unknown(key)),
            }
        }
        let parse = |options| SearchRequest::read(&Value::Object(options), &UrlParameters::default(), None);
        let mut request = parse(options.clone()).map_err(|error| {
            // Elasticsearch names the option that is refused when given alone.
            options
                .into_iter()
                .find_map(|(key, value)| {
                    let alone = Map::from_iter([(key.clone(), value)]);
                    parse(alone).err().map(|cause| failed(&key, cause))
                })
                .unwrap_or(error)
        })?;
        request.size.get_or_insert(INNER_HITS_SIZE);
        request.collapse = collapse.map(Into::into);
        Ok(InnerHits { name, request, ignore_unmapped })
    }

    /// Returns the inner hits that a query stores.
    pub fn kept_in(query: &dyn InnerHitsRequest) -> &InnerHits {
        let kept: &dyn Any = query;
        kept.downcast_ref().expect("queries keep what this file reads")
    }
}

impl InnerHitsRequest for InnerHits {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn ignores_unmapped(&self) -> bool {
        self.ignore_unmapped
    }

    fn shows_sequence_numbers(&self) -> bool {
        self.request.seq_no_primary_term
    }

    fn window(&self) -> u64 {
        u64::from(self.request.from()) + u64::from(self.request.size())
    }
}

/// Checks the type of an option's value, for options whose errors this parser words itself.
fn check_option(key: &str, value: &Value) -> Result<(), RequestError> {
    let kind = match key {
        "sort" => Some(ValueKind::ObjectsOrText),
        "_source" => Some(ValueKind::ObjectsOrTextOrBoolean),
        "stored_fields" => Some(ValueKind::Texts),
        "docvalue_fields" | "fields" => Some(ValueKind::Objects),
        "highlight" | "script_fields" => Some(ValueKind::Object),
        _ => None,
    };
    if let Some(kind) = kind {
        kind.check(PARSER, key, value)?;
    }
    let checked = match key {
        "from" | "size" => json::int(value).and_then(|count| match count {
            0.. => Ok(()),
            _ => Err(RequestError::illegal_argument(format!("illegal {key} value, at least 0 or higher"))),
        }),
        "version" | "explain" | "track_scores" | "seq_no_primary_term" => json::boolean(value).map(drop),
        _ => Ok(()),
    };
    match (checked, value) {
        (Ok(()), _) => Ok(()),
        (Err(cause), Value::String(_) | Value::Number(_)) => Err(failed(key, cause)),
        (Err(_), other) => Err(wrong_type(key, other)),
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("inner_hits");

fn failed(key: &str, cause: RequestError) -> RequestError {
    PARSER.failed(key, cause)
}

fn wrong_type(key: &str, value: &Value) -> RequestError {
    PARSER.unsupported(key, value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Compared with Elasticsearch 9.4.3.
    #[test]
    fn refusals_name_the_option() {
        let cases = [
            (json!({"sort": [true]}), "[inner_hits] failed to parse field [sort]"),
            (json!({"size": 1, "sort": {"a": {"nope": 1}}}), "[inner_hits] failed to parse field [sort]"),
            (json!({"sort": 5}), "[inner_hits] sort doesn't support values of type: VALUE_NUMBER"),
            (json!({"_source": {"nope": 1}}), "[inner_hits] failed to parse field [_source]"),
            (json!({"_source": 5}), "[inner_hits] _source doesn't support values of type: VALUE_NUMBER"),
            (json!({"fields": 5}), "[inner_hits] fields doesn't support values of type: VALUE_NUMBER"),
            (json!({"highlight": []}), "[inner_hits] highlight doesn't support values of type: START_ARRAY"),
            (json!({"nope": 5}), "[inner_hits] unknown field [nope]"),
        ];
        for (body, expected) in cases {
            let members = body.as_object().expect("an object");
            let error = InnerHits::parse(members).expect_err("is refused");
            assert_eq!(error.reason, expected, "{body}");
        }
        let all = json!({"sort": ["a", {"b": "desc"}], "_source": false, "fields": ["a"], "stored_fields": "_none_", "highlight": {"fields": {"a": {}}}});
        assert!(InnerHits::parse(all.as_object().expect("an object")).is_ok());
    }
}
