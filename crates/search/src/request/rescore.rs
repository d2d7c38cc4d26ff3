//! `rescore`: "which second query is evaluated on the best hits of each shard, and how does it change their
//! scores?"
//!
//! Source: Elasticsearch's `RescorerBuilder`, `QueryRescorerBuilder`, `QueryRescoreMode`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::read_query::read_query;
use crate::query::Query;
use crate::values::json;

/// One rescoring of the best hits.
#[derive(Debug, Clone)]
pub struct Rescore {
    /// How many of a shard's best hits are rescored.
    pub(crate) window: u32,
    pub(crate) query: Query,
    pub(crate) query_weight: f32,
    pub(crate) rescore_query_weight: f32,
    pub(crate) mode: RescoreMode,
}

/// How the two scores are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RescoreMode {
    Avg,
    Max,
    Min,
    Total,
    Multiply,
}

impl RescoreMode {
    fn parse(name: &str) -> Option<RescoreMode> {
        Some(match name {
            "avg" => RescoreMode::Avg,
            "max" => RescoreMode::Max,
            "min" => RescoreMode::Min,
            "total" => RescoreMode::Total,
            "multiply" => RescoreMode::Multiply,
            _ => return None,
        })
    }

    /// Combines the score of the search and that of the rescoring query.
    pub fn combine(self, first: f32, second: f32) -> f32 {
        match self {
            RescoreMode::Avg => (first + second) / 2.0,
            RescoreMode::Max => first.max(second),
            RescoreMode::Min => first.min(second),
            RescoreMode::Total => first + second,
            RescoreMode::Multiply => first * second,
        }
    }

    /// Returns the name that explanations show.
    pub fn description(self) -> &'static str {
        match self {
            RescoreMode::Avg => "avg of:",
            RescoreMode::Max => "max of:",
            RescoreMode::Min => "min of:",
            RescoreMode::Total => "sum of:",
            RescoreMode::Multiply => "product of:",
        }
    }
}

impl Rescore {
    /// Source: `RescorerBuilder#DEFAULT_WINDOW_SIZE`.
    const WINDOW: u32 = 10;

    /// Parses the value of `rescore`: one object or a list of objects. `search_query` is the query of the
    /// search, for rescoring by a script that changes its score.
    pub(super) fn parse_list(
        value: &Value,
        search_query: Option<&Value>,
    ) -> Result<Vec<Rescore>, RequestError> {
        let items = match value {
            Value::Array(items) => items.as_slice(),
            one @ Value::Object(_) => std::slice::from_ref(one),
            other => return Err(json::unknown_key("rescore", other)),
        };
        let mut rescores = Vec::with_capacity(items.len());
        for item in items {
            limber_work::check_beyond_deadline()?;
            if item.get("script").is_some_and(Value::is_object) && !rescores.is_empty() {
                return Err(RequestError::unsupported("[script] after another [rescore]"));
            }
            rescores.push(Rescore::parse(item, search_query)?);
        }
        Ok(rescores)
    }

    fn parse(value: &Value, search_query: Option<&Value>) -> Result<Rescore, RequestError> {
        let Value::Object(members) = value else {
            return Err(RequestError::parsing("unexpected token [END_ARRAY] after [null]"));
        };
        let (mut window, mut found) = (Rescore::WINDOW, None);
        for (key, value) in members {
            match (key.as_str(), value) {
                (_, Value::Object(_)) if found.is_some() => {
                    return Err(RequestError::parsing(
                        "Can't have more than one rescore type in a [rescore] object",
                    ));
                }
                ("query", Value::Object(body)) => found = Some(Rescore::parse_query(body)?),
                ("script", Value::Object(body)) => found = Some(Rescore::parse_script(body, search_query)?),
                (key, Value::Object(_)) => {
                    return Err(ObjectParser::no_named_object(key));
                }
                (key, Value::Array(_) | Value::Null) => {
                    let token = json::token(value);
                    return Err(RequestError::parsing(format!("unexpected token [{token}] after [{key}]")));
                }
                ("window_size", value) => {
                    let size = json::int(value)?;
                    window = u32::try_from(size).map_err(|_| {
                        RequestError::illegal_argument(format!(
                            "[window_size] of [rescore] must not be negative, got [{size}]"
                        ))
                    })?;
                }
                (key, _) => return Err(RequestError::parsing(format!("rescore doesn't support [{key}]"))),
            }
        }
        let found = found.ok_or_else(|| RequestError::parsing("missing rescore type"))?;
        Ok(Rescore { window, ..found })
    }

    /// Parses `script` of Elasticsearch 9: the script's value replaces the score, which it sees as `_score`.
    fn parse_script(
        body: &Map<String, Value>,
        search_query: Option<&Value>,
    ) -> Result<Rescore, RequestError> {
        let parser = ObjectParser::new("script");
        if let Some(unknown) = body.keys().find(|key| *key != "script") {
            return Err(parser.unknown(unknown));
        }
        let script = body.get("script").ok_or_else(|| ObjectParser::required("script"))?;
        let all = json!({"match_all": {}});
        let query = json!({"script_score": {"query": search_query.unwrap_or(&all), "script": script}});
        Ok(Rescore {
            window: Rescore::WINDOW,
            query: read_query(&query).map_err(|cause| parser.failed("script", cause))?,
            query_weight: 0.0,
            rescore_query_weight: 1.0,
            mode: RescoreMode::Total,
        })
    }

    fn parse_query(body: &Map<String, Value>) -> Result<Rescore, RequestError> {
        let (mut query, mut mode) = (None, RescoreMode::Total);
        let (mut query_weight, mut rescore_query_weight) = (1.0, 1.0);
        for (key, value) in body {
            let failed = |cause: RequestError| PARSER.failed(key, cause);
            match (key.as_str(), value) {
                ("rescore_query", Value::Object(_)) => {
                    query = Some(read_query(value).map_err(failed)?);
                }
                ("query_weight", Value::Number(_) | Value::String(_)) => {
                    query_weight = json::float(value).map_err(failed)?;
                }
                ("rescore_query_weight", Value::Number(_) | Value::String(_)) => {
                    rescore_query_weight = json::float(value).map_err(failed)?;
                }
                ("score_mode", Value::String(name)) => {
                    let unknown = || RequestError::illegal_argument(format!("illegal score_mode [{name}]"));
                    mode = RescoreMode::parse(name).ok_or_else(unknown).map_err(failed)?;
                }
                ("rescore_query" | "query_weight" | "rescore_query_weight" | "score_mode", other) => {
                    return Err(PARSER.unsupported(key, other));
                }
                (key, _) => {
                    let known = ["rescore_query", "query_weight", "rescore_query_weight", "score_mode"];
                    return Err(PARSER.unknown_among(key, &known));
                }
            }
        }
        let query = query.ok_or_else(|| RequestError::illegal_argument("rescore_query cannot be null"))?;
        Ok(Rescore { window: Rescore::WINDOW, query, query_weight, rescore_query_weight, mode })
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("query");

#[cfg(test)]
mod tests {
    use super::*;

    /// Reasons recorded from Elasticsearch 9.4.3.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        let query = json!({"match_all": {}});
        for (value, reason) in [
            (json!(5), "Unknown key for a VALUE_NUMBER in [rescore]."),
            (json!([5]), "unexpected token [END_ARRAY] after [null]"),
            (json!({}), "missing rescore type"),
            (json!({"window_size": 5}), "missing rescore type"),
            (json!({"query": {}}), "rescore_query cannot be null"),
            (json!({"query": 5}), "rescore doesn't support [query]"),
            (json!({"foo": {}}), "unknown field [foo]"),
            (json!({"foo": 1}), "rescore doesn't support [foo]"),
            (
                json!({"query": {"rescore_query": query}, "foo": {}}),
                "Can't have more than one rescore type in a [rescore] object",
            ),
            (json!({"query": {"rescore_query": query, "foo": 1}}), "[query] unknown field [foo]"),
            (
                json!({"query": {"rescore_query": []}}),
                "[query] rescore_query doesn't support values of type: START_ARRAY",
            ),
            (
                json!({"query": {"rescore_query": query, "score_mode": "xx"}}),
                "[query] failed to parse field [score_mode]",
            ),
            (json!({"query": {"rescore_query": query}, "window_size": "a"}), "For input string: \"a\""),
            (json!({"script": {"foo": 1}}), "[script] unknown field [foo]"),
        ] {
            assert_eq!(Rescore::parse_list(&value, None).unwrap_err().reason, reason, "{value}");
        }
    }

    #[test]
    fn scores_are_combined_by_mode() {
        for (mode, expected) in [("avg", 2.0), ("max", 3.0), ("min", 1.0), ("total", 4.0), ("multiply", 3.0)]
        {
            assert_eq!(RescoreMode::parse(mode).unwrap().combine(1.0, 3.0), expected, "{mode}");
        }
    }
}
