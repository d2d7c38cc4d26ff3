//! The body of `_count`.

use limber_mapping::RequestError;
use serde_json::Value;

use super::UrlParameters;
use super::body::terminate_after;
use super::read_query::read_query;
use crate::query::Query;
use crate::values::json;

/// A parsed `_count`.
#[derive(Debug, Clone, Default)]
pub struct CountRequest {
    /// The query whose documents are counted. Absent: `match_all`.
    pub query: Option<Query>,
    /// Documents with a lower score are not counted.
    pub min_score: Option<f32>,
    /// Number of documents after which a shard stops; 0: never.
    pub terminate_after: u32,
}

impl CountRequest {
    /// Parses a body, which may only have a `query`.
    pub fn parse(body: &Value, url: &UrlParameters) -> Result<CountRequest, RequestError> {
        let mut request = CountRequest::default();
        json::check_depth(body)?;
        match body {
            Value::Null => {}
            Value::Object(members) => {
                for (key, value) in members {
                    if key != "query" {
                        return Err(RequestError::parsing(format!("request does not support [{key}]")));
                    }
                    request.query = Some(read_query(value)?);
                }
            }
            other => {
                return Err(RequestError::parsing(format!(
                    "Expected [START_OBJECT] but found [{}]",
                    json::token(other)
                )));
            }
        }
        for (name, value) in &url.0 {
            match name.as_str() {
                "q" => request.query = crate::query::from_url(|name| url.get(name))?,
                "terminate_after" => {
                    request.terminate_after = terminate_after(json::int(&Value::String(value.clone()))?)?
                }
                "min_score" => request.min_score = Some(json::float(&Value::String(value.clone()))?),
                _ => {}
            }
        }
        Ok(request)
    }
}
