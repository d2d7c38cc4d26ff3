//! The body of `_rank_eval`.

use std::collections::HashMap;

use limber_engine::Result;
use limber_mapping::{ObjectParser, RequestError};
use limber_script::mustache::{Escape, Template};
use limber_search::SourceFilter;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Map, Value, json};

use super::metric::Metric;
use crate::http::request::parse_json;

const BODY: ObjectParser<'_> = ObjectParser::new("rank_eval");
const REQUEST: ObjectParser<'_> = ObjectParser::new("request");

/// Maximum number of requests in one body. The limit is ours.
const REQUESTS_MAX: usize = 1_000;

/// The body of `_rank_eval`.
pub struct RankEvalRequest {
    pub requests: Vec<RatedRequest>,
    pub metric: Metric,
}

/// One search and the documents rated for it.
pub struct RatedRequest {
    pub id: String,
    pub search: SearchRequest,
    pub ratings: Vec<Rating>,
}

/// The rating of one document.
pub struct Rating {
    pub index: String,
    pub id: String,
    pub rating: i64,
}

impl RankEvalRequest {
    /// Parses the body. A member that is unknown, missing or of the wrong type is an error. `stored` returns
    /// the source of a stored template.
    pub fn parse(body: Value, stored: &dyn Fn(&str) -> Result<String>) -> Result<RankEvalRequest> {
        let Value::Object(mut members) = body else {
            return Err(BODY.refused("Expected START_OBJECT"));
        };
        let (requests, metric) = (members.shift_remove("requests"), members.shift_remove("metric"));
        match members.shift_remove("max_concurrent_searches").map(|value| value.as_i64()) {
            // The searches of one request run one after the other anyway.
            None | Some(Some(1..)) => {}
            Some(_) => {
                return Err(RequestError::illegal_argument("maxConcurrentSearchRequests must be positive"));
            }
        }
        let templates = match members.shift_remove("templates") {
            None => Templates::default(),
            Some(templates) => {
                Templates::parse(&templates, stored).map_err(|cause| BODY.failed("templates", cause))?
            }
        };
        if let Some(name) = members.keys().next() {
            return Err(BODY.unknown(name));
        }
        let missing: Vec<&str> = [("requests", requests.is_none()), ("metric", metric.is_none())]
            .into_iter()
            .filter_map(|(name, is_missing)| is_missing.then_some(name))
            .collect();
        let (Some(requests), Some(metric)) = (requests, metric) else {
            return Err(ObjectParser::required(&missing.join(", ")));
        };
        let metric = Metric::parse(&metric).map_err(|cause| BODY.failed("metric", cause))?;
        let Value::Array(requests) = requests else {
            return Err(BODY.refused("requests doesn't support values of that type"));
        };
        if requests.is_empty() {
            return Err(BODY.failed_to_build(RequestError::illegal_argument(
                "Cannot evaluate ranking if no search requests with rated results are provided. Seen: []",
            )));
        }
        if requests.len() > REQUESTS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "more than [{REQUESTS_MAX}] requests in one [rank_eval]"
            )));
        }
        let requests = requests
            .into_iter()
            .map(|request| RatedRequest::parse(request, metric.k, &templates))
            .collect::<Result<_>>()
            .map_err(|cause| BODY.failed("requests", cause))?;
        Ok(RankEvalRequest { requests, metric })
    }
}

/// The sources of the templates of a body, by id.
#[derive(Debug, Default)]
struct Templates(HashMap<String, String>);

impl Templates {
    /// Parses `[{"id", "template": {"source"}}]`, where `template` may name a stored one by its `id`.
    fn parse(value: &Value, stored: &dyn Fn(&str) -> Result<String>) -> Result<Templates> {
        let Value::Array(list) = value else {
            return Err(BODY.refused("templates doesn't support values of that type"));
        };
        let mut templates = HashMap::new();
        for entry in list.iter().take(REQUESTS_MAX) {
            let Some(id) = entry["id"].as_str() else { return Err(ObjectParser::required("id")) };
            let template = &entry["template"];
            // `inline` is the name of `source` in OpenSearch's examples.
            let source = template.get("source").unwrap_or(&template["inline"]);
            let source = match (source, template["id"].as_str()) {
                (Value::String(source), _) => source.clone(),
                (source @ Value::Object(_), _) => source.to_string(),
                (_, Some(id)) => stored(id)?,
                _ => return Err(ObjectParser::required("template")),
            };
            templates.insert(id.to_owned(), source);
        }
        Ok(Templates(templates))
    }

    /// Returns the search that a template makes of these parameters.
    fn render(&self, id: &str, params: &Value) -> Result<Value> {
        let Some(source) = self.0.get(id) else {
            return Err(RequestError::illegal_argument(format!(
                "there is no template [{id}] in [rank_eval]"
            )));
        };
        let text = Template::parse(source, Escape::Json)?.render(params)?;
        parse_json(text.as_bytes())
    }
}

impl RatedRequest {
    fn parse(value: Value, k: u32, templates: &Templates) -> Result<RatedRequest> {
        // A template may make a large search of few parameters.
        limber_work::check_beyond_deadline()?;
        let Value::Object(mut members) = value else {
            return Err(REQUEST.refused("Expected START_OBJECT"));
        };
        let built = |reason: &str| REQUEST.failed_to_build(RequestError::illegal_argument(reason));
        let template_id = members.shift_remove("template_id");
        let params = members.shift_remove("params").unwrap_or_else(|| json!({}));
        let summary = match members.shift_remove("summary_fields") {
            Some(Value::Array(fields)) => {
                fields.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        let id = match members.shift_remove("id") {
            Some(Value::String(id)) => id,
            Some(other) => other.to_string(),
            None => return Err(ObjectParser::required("id")),
        };
        let ratings = members.shift_remove("ratings").ok_or_else(|| ObjectParser::required("ratings"))?;
        let Value::Array(ratings) = ratings else {
            return Err(REQUEST.refused("ratings doesn't support values of that type"));
        };
        let ratings: Vec<Rating> = ratings
            .iter()
            .map(Rating::parse)
            .collect::<Result<_>>()
            .map_err(|cause| REQUEST.failed("ratings", cause))?;
        let search = match (members.shift_remove("request"), template_id) {
            (Some(_), Some(_)) => {
                return Err(built(
                    "Ambiguous rated request: Set both, verbatim test request and test request template parameters.",
                ));
            }
            (None, Some(template)) => Some(templates.render(template.as_str().unwrap_or_default(), &params)?),
            (search, None) => search,
        };
        if let Some(name) = members.keys().next() {
            return Err(REQUEST.unknown(name));
        }
        let search = search
            .ok_or_else(|| built("Need to set at least test request or test request template parameters."))?;
        check_search(&search).map_err(built)?;
        let mut search = SearchRequest::parse(&search, &UrlParameters::default())
            .map_err(|cause| REQUEST.failed("request", cause))?;
        search.size = Some(k);
        search.source = Some(match summary.is_empty() {
            true => SourceFilter::none(),
            false => SourceFilter { fetch: true, includes: summary, excludes: Vec::new() },
        });
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = ratings.iter().find(|rating| !seen.insert((&rating.index, &rating.id))) {
            let key = Map::from_iter([
                ("_index".to_owned(), twice.index.clone().into()),
                ("_id".to_owned(), twice.id.clone().into()),
            ]);
            return Err(built(&format!(
                "Found duplicate rated document key [{}] in evaluation request [{id}]",
                Value::Object(key)
            )));
        }
        Ok(RatedRequest { id, search, ratings })
    }
}

/// Refuses what a rated search must not contain.
fn check_search(search: &Value) -> std::result::Result<(), &'static str> {
    let has = |name: &str| search.get(name).is_some();
    if has("aggs") || has("aggregations") {
        return Err("Query in rated requests should not contain aggregations.");
    }
    if has("suggest") {
        return Err("Query in rated requests should not contain a suggest section.");
    }
    if search.get("explain") == Some(&Value::Bool(true)) {
        return Err("Query in rated requests should not use explain.");
    }
    if search.get("profile") == Some(&Value::Bool(true)) {
        return Err("Query in rated requests should not use profile.");
    }
    if has("highlight") {
        return Err("Query in rated requests should not contain a highlighter section.");
    }
    Ok(())
}

impl Rating {
    fn parse(value: &Value) -> Result<Rating> {
        let text = |name: &str| match value.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(ObjectParser::required(name)),
        };
        let (index, id) = (text("_index")?, text("_id")?);
        let rating = value.get("rating").and_then(Value::as_i64);
        let rating = rating.ok_or_else(|| ObjectParser::required("rating"))?;
        Ok(Rating { index, id, rating })
    }
}
