//! `multi_match`: searches one text in several fields.
//!
//! Source: `MultiMatchQueryBuilder`, `MultiMatchQueryParser`. `best_fields` uses the score of the best field,
//! `most_fields` the sum; `cross_fields` is in [`super::cross_fields`].

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::analysed::check_analyzer;
use super::cross_fields::CrossFields;
use super::match_text::zero_terms;
use super::query_string::parse_operator;
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::dis_max::DisMax;
use crate::query::parse::{Common, Parser, Query, QueryLimits, QueryNode, parse_query};
use crate::values::json;

#[derive(Debug)]
struct MultiMatch {
    /// Names or patterns, with boosts. Empty stands for every field.
    fields: Vec<(String, f32)>,
    /// The type of the query on each field; `options` are its options without the field.
    query: &'static str,
    options: Map<String, Value>,
    tie_breaker: f32,
    lenient: Option<bool>,
    /// Whether the type is `cross_fields`.
    is_crossed: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut kind = "best_fields".to_owned();
    let (mut tie_breaker, mut lenient) = (None, None);
    let (mut fields, mut options) = (Vec::new(), Map::new());
    for (key, value) in members {
        if key != "fields" {
            json::check_scalar("multi_match", key, value)?;
        }
        match key.as_str() {
            "query"
            | "operator"
            | "minimum_should_match"
            | "analyzer"
            | "zero_terms_query"
            | "slop"
            | "max_expansions"
            | "fuzziness"
            | "prefix_length"
            | "fuzzy_rewrite"
            | "fuzzy_transpositions" => {
                options.insert(key.clone(), value.clone());
            }
            "auto_generate_synonyms_phrase_query" => {
                json::boolean(value)?;
                options.insert(key.clone(), value.clone());
            }
            "type" => kind = json::scalar_text(value).unwrap_or_default(),
            "tie_breaker" => tie_breaker = Some(json::float(value)?),
            "lenient" => lenient = Some(json::boolean(value)?),
            "fields" => fields = parse_fields("multi_match", value)?,
            "cutoff_frequency" => {
                json::float(value)?;
                options.insert(key.clone(), value.clone());
            }
            key if common.take(key, value)? => {}
            key => {
                return Err(RequestError::parsing(format!("[multi_match] query does not support [{key}]")));
            }
        }
    }
    if options.get("query").is_none_or(Value::is_null) {
        return Err(RequestError::parsing("No text specified for multi_match query"));
    }
    if options.get("fuzziness").is_some_and(|fuzziness| !fuzziness.is_null())
        && matches!(kind.as_str(), "phrase" | "phrase_prefix" | "cross_fields")
    {
        return Err(RequestError::parsing(format!("Fuzziness not allowed for type [{kind}]")));
    }
    options
        .shift_remove("fuzziness")
        .filter(|value| !value.is_null())
        .map(|value| options.insert("fuzziness".into(), value));
    if options.contains_key("cutoff_frequency") && kind == "cross_fields" {
        return Err(RequestError::unsupported(
            "[cutoff_frequency] in [multi_match] of the type [cross_fields]",
        ));
    }
    check_slop(&kind, &options)?;
    let (query, tie) = of_kind(&kind)?;
    keep_options_of(query, &mut options)?;
    let (tie_breaker, is_crossed) = (tie_breaker.unwrap_or(tie), kind == "cross_fields");
    let node = MultiMatch { fields, query, options, tie_breaker, lenient, is_crossed };
    // Wrong options are reported now, not by the shard.
    node.on_field("_", 1.0)?;
    Ok(common.query(node))
}

fn check_slop(kind: &str, options: &Map<String, Value>) -> Result<(), RequestError> {
    match options.get("slop").map(json::int) {
        Some(Ok(slop)) if slop != 0 && kind == "bool_prefix" => {
            Err(RequestError::parsing("[slop] not allowed for type [bool_prefix]"))
        }
        _ => Ok(()),
    }
}

/// Returns the query on each field, and the factor for the scores of fields other than the best. Source:
/// `MultiMatchQueryBuilder.Type`.
fn of_kind(kind: &str) -> Result<(&'static str, f32), RequestError> {
    Ok(match kind {
        "best_fields" => ("match", 0.0),
        "most_fields" => ("match", 1.0),
        "phrase" => ("match_phrase", 0.0),
        "phrase_prefix" => ("match_phrase_prefix", 0.0),
        "bool_prefix" => ("match_bool_prefix", 1.0),
        "cross_fields" => ("match", 0.0),
        other => {
            let reason = format!("failed to parse [multi_match] query type [{other}]. unknown type.");
            return Err(RequestError::bad_request("parse_exception", reason));
        }
    })
}

/// Removes options that `multi_match` accepts for every type, but that the query on a field does not know.
fn keep_options_of(query: &str, options: &mut Map<String, Value>) -> Result<(), RequestError> {
    if query != "match" {
        options.shift_remove("cutoff_frequency");
        options.shift_remove("auto_generate_synonyms_phrase_query");
    }
    if query.starts_with("match_phrase") {
        // These have no effect on a phrase.
        options.shift_remove("operator");
        options.shift_remove("minimum_should_match");
        options.shift_remove("prefix_length");
        options.shift_remove("fuzzy_rewrite");
        options.shift_remove("fuzzy_transpositions");
    }
    if !query.starts_with("match_phrase") {
        // Elasticsearch ignores the slop, also in phrases of synonyms.
        options.shift_remove("slop").map_or(Ok(()), |slop| json::int(&slop).map(drop))?;
    }
    Ok(())
}

/// Parses `["title^2", "body"]`, or a single item of such a list.
pub(in crate::query) fn parse_fields(query: &str, value: &Value) -> Result<Vec<(String, f32)>, RequestError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    items
        .iter()
        .map(|item| {
            let text = match item {
                Value::String(text) => std::borrow::Cow::Borrowed(text.as_str()),
                Value::Number(number) => number.to_string().into(),
                Value::Bool(flag) => flag.to_string().into(),
                Value::Array(_) | Value::Object(_) if value.is_array() => {
                    let reason = format!("Expected text but found {}", json::token(item));
                    return Err(RequestError::illegal_argument(reason));
                }
                _ => {
                    let reason = format!("[{query}] query does not support [fields] of this type");
                    return Err(RequestError::parsing(reason));
                }
            };
            Ok(match text.rsplit_once('^') {
                Some((field, boost)) => {
                    let boost: f32 = boost.parse().map_err(|_| json::number_format(boost))?;
                    // `combined_fields` has a message of its own.
                    if boost < 0.0 && query != "combined_fields" {
                        return Err(RequestError::illegal_argument(format!(
                            "negative [boost] are not allowed in [{query}], use a value between 0 and 1 to deboost"
                        )));
                    }
                    (field.to_owned(), boost)
                }
                None => (text.into_owned(), 1.0),
            })
        })
        .collect()
}

/// Returns the fields, with their weights, that `index.query.default_field` names. A weight that is no number
/// counts as 1.
pub fn weighted_fields(names: &[String]) -> Vec<(String, f32)> {
    let weighted = |name: &String| match name.rsplit_once('^') {
        Some((field, weight)) => (field.to_owned(), weight.parse().unwrap_or(1.0)),
        None => (name.clone(), 1.0),
    };
    names.iter().map(weighted).collect()
}

impl MultiMatch {
    fn on_field(&self, field: &str, boost: f32) -> Result<Query, RequestError> {
        let query = parse_query(&json!({self.query: {field: self.options}}), &QueryLimits::default())?;
        Ok(Query { boost, ..query })
    }

    fn crossed(&self, lenient: bool) -> Result<CrossFields, RequestError> {
        let text = |name: &str| self.options.get(name).and_then(json::scalar_text);
        Ok(CrossFields {
            text: text("query").unwrap_or_default(),
            is_and: self.options.get("operator").map_or(Ok(false), parse_operator)?,
            minimum_should_match: text("minimum_should_match"),
            analyzer: text("analyzer"),
            zero_terms_all: self.options.get("zero_terms_query").map_or(Ok(false), zero_terms)?,
            tie_breaker: self.tie_breaker,
            lenient,
        })
    }
}

impl QueryNode for MultiMatch {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let analyzer = self.options.get("analyzer").and_then(json::scalar_text);
        check_analyzer("multi_match", "analyzer", analyzer.as_deref(), binder)?;
        let fields = binder.or_default_fields(&self.fields);
        let lenient = self.lenient.unwrap_or(fields.iter().any(|(field, _)| field == "*"));
        let on_field = |path: &str, weight: f32| {
            let query = self.on_field(path, weight)?;
            Ok(if lenient { super::lenient::lenient(query) } else { query })
        };
        let fields = binder.expand_fields(fields)?;
        if self.is_crossed {
            return self.crossed(lenient)?.bind(fields, on_field, boost, binder);
        }
        let queries = fields.iter().map(|(path, weight)| on_field(path, *weight));
        let queries = queries.collect::<Result<Vec<_>, RequestError>>()?;
        DisMax { queries, tie_breaker: self.tie_breaker, is_asked: false }.bind(boost, binder)
    }
}
