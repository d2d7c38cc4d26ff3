//! `_analyze`: the tokens of a text under an analyzer, or under a field's.

use std::sync::Arc;

use limber_engine::Result;
use limber_mapping::analysis::{AnalyzedToken, Analyzers, Normalizer};
use limber_mapping::{Mapping, RequestError};
use serde_json::{Map, Value, json};

use super::{App, Route};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;

const BOTH: &[Method] = &[Method::Get, Method::Post];

pub const ROUTES: &[Route] = &[
    Route { methods: BOTH, path: "/_analyze", parameters: &[], pool: PoolName::Search, handler: analyze },
    Route {
        methods: BOTH,
        path: "/{index}/_analyze",
        parameters: &[],
        pool: PoolName::Search,
        handler: analyze,
    },
];

/// `index.analyze.max_token_count`.
const TOKENS_MAX: usize = 10_000;
/// Positions and offsets between two texts of one request, as Elasticsearch's default.
const POSITION_GAP: u32 = 100;

fn analyze(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    let Some(object) = body.as_object() else {
        return Err(RequestError::parsing("expected an object as the body of [_analyze]"));
    };
    let mut texts = Vec::new();
    let (mut analyzer, mut field) = (None, None);
    let mut custom = Map::new();
    let (mut explain, mut normalizer) = (false, None);
    for (name, value) in object {
        match name.as_str() {
            "text" => texts = texts_of(value)?,
            "analyzer" => analyzer = Some(string(name, value)?),
            "field" => field = Some(string(name, value)?),
            "tokenizer" | "filter" | "char_filter" => {
                custom.insert(name.clone(), value.clone());
            }
            "explain" => explain = value.as_bool().unwrap_or(false),
            "normalizer" => normalizer = Some(string(name, value)?),
            "attributes" => {}
            other => {
                return Err(RequestError::new(
                    400,
                    "x_content_parse_exception",
                    format!("[analyze_request] unknown field [{other}]"),
                ));
            }
        }
    }
    if texts.is_empty() {
        return Err(RequestError::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: text is missing;",
        ));
    }
    if normalizer.is_some() && request.param("index").is_none() {
        return Err(RequestError::new(
            400,
            "action_request_validation_exception",
            "Validation Failed: 1: index is required if normalizer is specified;",
        ));
    }
    let mapping = match request.param("index") {
        Some(index) => Some(app.node.mapping(index)?),
        None => None,
    };
    if let Some(normalizer) = normalizer_of(normalizer, field.as_deref(), mapping.as_deref())? {
        if explain {
            return Err(RequestError::unsupported("[explain] of a normalizer in [_analyze]"));
        }
        let tokens = tokens_of(|text| normalizer.analyze(text), &texts)?;
        return Ok(Response::ok(json!({"tokens": tokens})));
    }
    let analyzer = if !custom.is_empty() {
        if custom
            .get("char_filter")
            .is_some_and(|filters| filters.as_array().is_none_or(|list| !list.is_empty()))
        {
            return Err(RequestError::unsupported("[char_filter] in [_analyze]"));
        }
        let tokenizer = tokenizer_of(&custom)?;
        let (declared, filters) = filters_of(custom.get("filter"))?;
        Arc::new(Analyzers::ad_hoc(&json!({"filter": declared}), &tokenizer, &filters)?)
    } else {
        let built_in = Analyzers::built_in();
        let analyzers = mapping.as_ref().map_or(&built_in, |mapping| &mapping.settings().analyzers);
        match (analyzer, field) {
            (Some(name), _) => analyzers.get(&name).cloned().ok_or_else(|| {
                RequestError::illegal_argument(format!("failed to find global analyzer [{name}]"))
            })?,
            (None, Some(field)) => mapping
                .as_ref()
                .and_then(|mapping| mapping.field(&field))
                .map(|field| field.analyzer.clone().or_else(|| analyzers.get("keyword").cloned()))
                .unwrap_or_else(|| Some(analyzers.default_index()))
                .unwrap_or_else(|| analyzers.default_index()),
            (None, None) => analyzers.default_index(),
        }
    };
    if !explain {
        return Ok(Response::ok(json!({"tokens": tokens_of(|text| analyzer.analyze(text), &texts)?})));
    }
    if !custom.is_empty() {
        return Ok(Response::ok(json!({"detail": stages(&custom, &texts)?})));
    }
    let tokens = tokens_of(|text| analyzer.analyze(text), &texts)?;
    Ok(Response::ok(json!({"detail": {
        "custom_analyzer": false, "analyzer": {"name": analyzer.name, "tokens": tokens}}})))
}

/// The normalizer that is named, or that of the field.
fn normalizer_of(
    name: Option<String>,
    field: Option<&str>,
    mapping: Option<&Mapping>,
) -> Result<Option<Arc<Normalizer>>> {
    let Some(mapping) = mapping else { return Ok(None) };
    match name {
        Some(name) => match mapping.settings().analyzers.normalizer(&name) {
            Some(normalizer) => Ok(Some(normalizer.clone())),
            None => Err(RequestError::illegal_argument(format!("failed to find normalizer under [{name}]"))),
        },
        None => Ok(field.and_then(|path| mapping.field(path)?.normalizer.clone())),
    }
}

/// The tokens after the tokenizer and after each filter.
fn stages(custom: &Map<String, Value>, texts: &[String]) -> Result<Value> {
    let tokenizer = tokenizer_of(custom)?;
    let (declared, filters) = filters_of(custom.get("filter"))?;
    let after = |count: usize| -> Result<Vec<Value>> {
        let analyzer = Analyzers::ad_hoc(&json!({"filter": declared}), &tokenizer, &filters[..count])?;
        tokens_of(|text| analyzer.analyze(text), texts)
    };
    let mut shown = Vec::with_capacity(filters.len());
    for (number, name) in filters.iter().enumerate() {
        let name = match declared.get(name).and_then(|body| body["type"].as_str()) {
            Some(kind) => format!("__anonymous__{kind}"),
            None => name.clone(),
        };
        shown.push(json!({"name": name, "tokens": after(number + 1)?}));
    }
    Ok(json!({
        "custom_analyzer": true,
        "charfilters": [],
        "tokenizer": {"name": tokenizer, "tokens": after(0)?},
        "tokenfilters": shown,
    }))
}

fn tokenizer_of(custom: &Map<String, Value>) -> Result<String> {
    custom.get("tokenizer").map_or(Ok("keyword".into()), |value| string("tokenizer", value))
}

/// The tokens of all texts, one behind the other, as the answer shows them.
fn tokens_of(analyze: impl Fn(&str) -> Vec<AnalyzedToken>, texts: &[String]) -> Result<Vec<Value>> {
    let mut tokens: Vec<AnalyzedToken> = Vec::new();
    let (mut position, mut offset) = (0, 0);
    for text in texts {
        let found = analyze(text);
        let last = found.last().map_or(0, |token| token.position + 1);
        tokens.extend(found.into_iter().map(|token| AnalyzedToken {
            position: token.position + position,
            start_offset: token.start_offset + offset,
            end_offset: token.end_offset + offset,
            ..token
        }));
        if tokens.len() > TOKENS_MAX {
            return Err(RequestError::new(
                500,
                "illegal_state_exception",
                format!(
                    "The number of tokens produced by calling _analyze has exceeded the allowed maximum of [{TOKENS_MAX}]. This limit can be set by changing the [index.analyze.max_token_count] index level setting."
                ),
            ));
        }
        position += last + POSITION_GAP;
        offset += text.encode_utf16().count() as u32 + 1;
    }
    let shown = tokens.iter().map(|token| {
        json!({"token": token.token, "start_offset": token.start_offset, "end_offset": token.end_offset,
            "type": token.kind, "position": token.position})
    });
    Ok(shown.collect())
}

fn string(name: &str, value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| {
        RequestError::new(
            400,
            "x_content_parse_exception",
            format!("[analyze_request] {name} doesn't support values of this type"),
        )
    })
}

/// Filters by name; those defined in the request get names of their own.
fn filters_of(value: Option<&Value>) -> Result<(Map<String, Value>, Vec<String>)> {
    let mut declared = Map::new();
    let mut names = Vec::new();
    let items = match value {
        None => &[][..],
        Some(Value::Array(items)) => items,
        Some(one) => std::slice::from_ref(one),
    };
    for item in items {
        if item.is_object() {
            let name = format!("_anonymous_{}", names.len());
            declared.insert(name.clone(), item.clone());
            names.push(name);
        } else {
            names.push(string("filter", item)?);
        }
    }
    Ok((declared, names))
}

fn texts_of(value: &Value) -> Result<Vec<String>> {
    match value {
        Value::Array(items) => items.iter().map(|item| string("text", item)).collect(),
        other => Ok(vec![match other {
            Value::Number(number) => number.to_string(),
            other => string("text", other)?,
        }]),
    }
}
