//! `inner_hits`: "how are the nested documents of a hit, or the documents of its group, shown?"
//!
//! Source: Elasticsearch's `InnerHitBuilder`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::{Collapse, HIT_OPTIONS, SearchRequest, UrlParameters};
use crate::json;

#[derive(Debug)]
pub(crate) struct InnerHits {
    pub name: Option<String>,
    /// Its `collapse` is that of the group's documents. Nested documents are not collapsed, here as in Elasticsearch.
    pub request: SearchRequest,
    pub ignore_unmapped: bool,
}

/// Inner hits without a `size`.
const INNER_HITS_SIZE: u32 = 3;

impl InnerHits {
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
                _ => return Err(refused(format!("unknown field [{key}]"))),
            }
        }
        let mut request = SearchRequest::parse(&Value::Object(options), &UrlParameters::default())?;
        request.size.get_or_insert(INNER_HITS_SIZE);
        request.collapse = collapse.map(Into::into);
        Ok(InnerHits { name, request, ignore_unmapped })
    }
}

/// Options whose values this parser words its own refusals of.
fn check_option(key: &str, value: &Value) -> Result<(), RequestError> {
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

fn refused(what: String) -> RequestError {
    RequestError::new(400, "x_content_parse_exception", format!("[inner_hits] {what}"))
}

fn failed(key: &str, cause: RequestError) -> RequestError {
    refused(format!("failed to parse field [{key}]")).caused_by(cause)
}

fn wrong_type(key: &str, value: &Value) -> RequestError {
    refused(format!("{key} doesn't support values of type: {}", json::token(value)))
}
