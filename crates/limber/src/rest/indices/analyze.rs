//! `_analyze`: the tokens that an analyzer, or a field's analyzer, makes of a text.

use std::sync::Arc;

use limber_engine::Result;
use limber_mapping::analysis::{
    Analyzed, AnalyzedToken, Analyzer, AnalyzerParts, Analyzers, Normalizer, POSITION_INCREMENT_GAP,
    take_failure, text_of_request as string,
};
use limber_mapping::{Mapping, ObjectParser, RequestError, token};
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::{App, Route};

const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_analyze`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route { methods: BOTH, path: "/_analyze", parameters: &[], pool: PoolName::Management, handler: analyze },
    Route {
        methods: BOTH,
        path: "/{index}/_analyze",
        parameters: &[],
        pool: PoolName::Management,
        handler: analyze,
    },
];

/// Default of `index.analyze.max_token_count`.
const TOKENS_MAX: usize = 10_000;
/// What an explained token may have besides its text, offsets, type and position.
const ATTRIBUTES: [&str; 5] = ["bytes", "positionLength", "termFrequency", "keyword", "payload"];

/// The body of a request.
#[derive(Default)]
struct Asked {
    /// The texts to analyze; there is at least one.
    texts: Vec<String>,
    analyzer: Option<String>,
    field: Option<String>,
    /// The components of an analyzer that the request defines: `tokenizer`, `filter` and `char_filter`.
    custom: Map<String, Value>,
    explain: bool,
    normalizer: Option<String>,
    attributes: Option<Vec<String>>,
}

impl Asked {
    fn parse(body: &Value) -> Result<Asked> {
        let Some(object) = body.as_object() else {
            let reason = format!("[analyze_request] Expected START_OBJECT but was: {}", token(body));
            return Err(RequestError::bad_request("x_content_parse_exception", reason));
        };
        let mut asked = Asked::default();
        for (name, value) in object {
            check_kind(name, value)?;
            match name.as_str() {
                "text" => asked.texts = strings_of(name, value)?,
                "analyzer" => asked.analyzer = Some(string(name, value)?),
                "field" => asked.field = Some(string(name, value)?),
                "tokenizer" | "filter" | "char_filter" => {
                    asked.custom.insert(name.clone(), value.clone());
                }
                "explain" => asked.explain = PARSER.flag(name, value)?,
                "normalizer" => asked.normalizer = Some(string(name, value)?),
                "attributes" => {
                    asked.attributes = Some(strings_of(name, value)?).filter(|names| !names.is_empty());
                    // What tokens do not have need not be compared for each of them.
                    if let Some(names) = &mut asked.attributes {
                        names.retain(|name| ATTRIBUTES.iter().any(|known| known.eq_ignore_ascii_case(name)));
                        names.sort_unstable();
                        names.dedup();
                    }
                }
                other => return Err(PARSER.unknown(other)),
            }
        }
        Ok(asked)
    }

    /// Refuses what does not go together. `has_index`: the request names an index.
    ///
    /// Source: `AnalyzeAction.Request#validate`.
    fn check(&self, has_index: bool) -> Result<()> {
        let has_filters = self.custom.contains_key("filter") || self.custom.contains_key("char_filter");
        let has_parts = has_filters || self.custom.contains_key("tokenizer");
        let has_normalizer = self.normalizer.is_some();
        let splits = self.analyzer.is_some() || self.custom.contains_key("tokenizer");
        let is_by_field = self.field.is_some() && self.analyzer.is_none() && !has_normalizer;
        let problems = [
            (self.texts.is_empty(), "text is missing"),
            (has_normalizer && !has_index, "index is required if normalizer is specified"),
            (has_normalizer && splits, "tokenizer/analyze should be null if normalizer is specified"),
            (self.analyzer.is_some() && has_parts, "cannot define extra components on a named analyzer"),
            (has_normalizer && has_parts, "cannot define extra components on a named normalizer"),
            (is_by_field && has_parts, "cannot define extra components on a field-specific analyzer"),
        ];
        let found: Vec<&str> = problems.iter().filter(|(is, _)| *is).map(|(_, problem)| *problem).collect();
        if found.is_empty() { Ok(()) } else { Err(RequestError::validation(found)) }
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("analyze_request");

/// Refuses a value of a type that its member does not take.
fn check_kind(name: &str, value: &Value) -> Result<()> {
    let is_taken = match name {
        "text" | "attributes" => value.is_string() || value.is_array(),
        "analyzer" | "field" | "normalizer" => value.is_string(),
        "tokenizer" => value.is_string() || value.is_object(),
        "filter" | "char_filter" => value.is_array(),
        "explain" => value.is_string() || value.is_boolean(),
        _ => true,
    };
    match is_taken {
        true => Ok(()),
        false => Err(PARSER.unsupported(name, value)),
    }
}

fn analyze(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?;
    let body = body.ok_or_else(|| {
        RequestError::bad_request("parse_exception", "request body or source parameter is required")
    })?;
    let asked = Asked::parse(&body)?;
    asked.check(request.param("index").is_some())?;
    let Asked { texts, analyzer, field, custom, explain, normalizer, attributes } = asked;
    if field.is_some() && request.param("index").is_none() {
        return Err(RequestError::illegal_argument("analysis based on a specific field requires an index"));
    }
    let mapping = match request.param("index") {
        Some(index) => Some(app.node.mapping(index)?),
        None => None,
    };
    let tokens_max = tokens_max(app, request)?;
    if let Some(normalizer) = normalizer_of(normalizer, field.as_deref(), mapping.as_deref())? {
        let shown = Shown { explains: explain, attributes, gap: 0, tokens_max };
        return answer_normalizer(&normalizer, mapping.as_deref(), &texts, &shown);
    }
    if let (Some(path), Some(mapping), None) = (&field, &mapping, &analyzer) {
        check_is_tokenized(path, mapping)?;
    }
    let built_in = app.node.analyzers();
    let analyzers = mapping.as_ref().map_or(&built_in, |mapping| &mapping.settings().analyzers);
    let mut shown = Shown { explains: explain, attributes, gap: POSITION_INCREMENT_GAP, tokens_max };
    if !custom.is_empty() {
        // As in Elasticsearch, `explain` shows a custom analyzer without a position gap.
        if explain {
            shown.gap = 0;
        }
        return answer_parts(&AnalyzerParts::of_request(&custom)?, analyzers, &texts, &shown);
    }
    let own_gap = match (&analyzer, &field, &mapping) {
        (None, Some(field), Some(mapping)) => mapping.field(field),
        _ => None,
    }
    .map(|field| field.position_increment_gap);
    let has_own = own_gap.is_some()
        && field.as_ref().is_some_and(|path| {
            let named = mapping.as_ref().and_then(|mapping| mapping.parameter(path, "analyzer"));
            named.is_some_and(|name| !name.is_null() && name != "default")
        });
    let is_default = !has_own && analyzer.as_ref().is_none_or(|name| name == "default");
    let analyzer = match (analyzer, field) {
        (Some(name), _) => named_analyzer(&name, analyzers, mapping.is_some())?,
        (None, Some(field)) => mapping
            .as_ref()
            .and_then(|mapping| mapping.field(&field))
            .map(|field| field.analyzer.clone().or_else(|| analyzers.get("keyword").cloned()))
            .unwrap_or_else(|| Some(analyzers.default_index()))
            .unwrap_or_else(|| analyzers.default_index()),
        (None, None) => analyzers.default_index(),
    };
    // Built-in analyzers have no position gap unless an index is named, as before Elasticsearch 9.
    let named_gap = if mapping.is_some() { analyzer.position_increment_gap } else { 0 };
    shown.gap = own_gap.unwrap_or(named_gap);
    let shown_name = if is_default && mapping.is_some() { "default" } else { analyzer.name.as_ref() };
    match analyzers.parts(&analyzer.name) {
        Some(parts) if explain => answer_parts(&parts, analyzers, &texts, &shown),
        _ => {
            let tokens = shown.tokens(|text| analyzer.analyze(text), &texts)?;
            Ok(Response::ok(match explain {
                false => json!({"tokens": tokens}),
                true => json!({"detail": {
                    "custom_analyzer": false, "analyzer": {"name": shown_name, "tokens": tokens}}}),
            }))
        }
    }
}

/// Returns the analyzer with this name. `of_index`: `analyzers` are those of an index.
fn named_analyzer(name: &str, analyzers: &Analyzers, of_index: bool) -> Result<Arc<Analyzer>> {
    let named = analyzers.get(name).cloned();
    named.or_else(|| (name == "default").then(|| analyzers.default_index())).ok_or_else(|| {
        let what = if of_index { "analyzer" } else { "global analyzer" };
        RequestError::illegal_argument(format!("failed to find {what} [{name}]"))
    })
}

/// Refuses a field that is neither a text nor a keyword.
///
/// Source: `TransportAnalyzeAction#getAnalyzer`.
fn check_is_tokenized(path: &str, mapping: &Mapping) -> Result<()> {
    /// Metadata that no field of the mapping stands for.
    const METADATA: [&str; 2] = ["_source", "_index"];
    let is_tokenized = match mapping.field(path) {
        Some(_) if path == "_id" => false,
        Some(field) => field.analyzer.is_some() || field.type_name() == "keyword",
        None => true,
    };
    match is_tokenized && !METADATA.contains(&path) {
        true => Ok(()),
        false => Err(RequestError::illegal_argument(format!(
            "Can't process field [{path}], Analysis requests are only supported on tokenized fields"
        ))),
    }
}

/// Returns the named normalizer, or that of the field.
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

/// Renders the result of a normalizer: one token per text, or with `explain` the result of each component.
fn answer_normalizer(
    normalizer: &Normalizer,
    mapping: Option<&Mapping>,
    texts: &[String],
    shown: &Shown,
) -> Result<Response> {
    let analyzers = mapping.map(|mapping| &mapping.settings().analyzers).filter(|_| shown.explains);
    let parts =
        analyzers.and_then(|analyzers| Some((analyzers, analyzers.normalizer_parts(&normalizer.name)?)));
    if let Some((analyzers, parts)) = parts {
        return answer_parts(&parts, analyzers, texts, shown);
    }
    let tokens = shown.tokens(|text| normalizer.analyze(text), texts)?;
    Ok(Response::ok(match shown.explains {
        false => json!({"tokens": tokens}),
        true => json!({"detail": {
            "custom_analyzer": false, "analyzer": {"name": normalizer.name, "tokens": tokens}}}),
    }))
}

/// Renders the result of an analyzer with named components: its tokens, or with `explain` the result of each
/// component.
fn answer_parts(
    parts: &AnalyzerParts,
    analyzers: &Analyzers,
    texts: &[String],
    shown: &Shown,
) -> Result<Response> {
    let with = |char_filters: usize, filters: usize| {
        analyzers.ad_hoc(&AnalyzerParts {
            char_filters: parts.char_filters[..char_filters].to_vec(),
            filters: parts.filters[..filters].to_vec(),
            ..parts.clone()
        })
    };
    let all = parts.char_filters.len();
    let tokens = |filters: usize| {
        let analyzer = with(all, filters)?;
        shown.tokens(|text| analyzer.analyze(text), texts)
    };
    if !shown.explains {
        return Ok(Response::ok(json!({"tokens": tokens(parts.filters.len())?})));
    }
    // Components that the request defines have no name of their own.
    let name = |section: &str, name: &str| {
        let own = parts.declared.get(section).and_then(|section| section.get(name)?["type"].as_str());
        own.map_or_else(|| name.to_owned(), |kind| format!("__anonymous__{kind}"))
    };
    let mut char_filters = Vec::with_capacity(all);
    let mut filtered = texts.to_vec();
    for filter in &parts.char_filters {
        let own = AnalyzerParts { char_filters: vec![filter.clone()], filters: Vec::new(), ..parts.clone() };
        filtered = filtered_texts(&analyzers.ad_hoc(&own)?, &filtered)?;
        char_filters.push(json!({"name": name("char_filter", filter), "filtered_text": filtered}));
    }
    let mut filters = Vec::with_capacity(parts.filters.len());
    for (number, filter) in parts.filters.iter().enumerate() {
        filters.push(json!({"name": name("filter", filter), "tokens": tokens(number + 1)?}));
    }
    Ok(Response::ok(json!({"detail": {
        "custom_analyzer": true,
        "charfilters": char_filters,
        "tokenizer": {"name": name("tokenizer", &parts.tokenizer), "tokens": tokens(0)?},
        "tokenfilters": filters,
    }})))
}

/// Applies the character filters of an analyzer to texts. The results are claimed, since an explanation shows
/// those of all filters.
fn filtered_texts(analyzer: &Analyzer, texts: &[String]) -> Result<Vec<String>> {
    let mut filtered = Vec::with_capacity(texts.len());
    for text in texts {
        drop(take_failure());
        work::claim(2 * text.len() as u64)?;
        filtered.push(analyzer.filtered_text(text));
        take_failure().map_or(Ok(()), Err)?;
        work::check()?;
    }
    Ok(filtered)
}

/// How tokens are shown.
struct Shown {
    explains: bool,
    /// Attributes that an explanation shows; `None` means all.
    attributes: Option<Vec<String>>,
    /// Number of positions between two texts.
    gap: u32,
    /// `index.analyze.max_token_count`.
    tokens_max: usize,
}

impl Shown {
    fn tokens(&self, analyze: impl Fn(&str) -> Analyzed, texts: &[String]) -> Result<Vec<Value>> {
        let tokens = tokens_of(analyze, texts, self)?;
        Ok(tokens.iter().map(|token| self.token(token)).collect())
    }

    fn token(&self, token: &AnalyzedToken) -> Value {
        let mut shown = json!({"token": token.token, "start_offset": token.start_offset,
            "end_offset": token.end_offset, "type": token.kind, "position": token.position});
        if token.position_length > 1 {
            shown["positionLength"] = token.position_length.into();
        }
        if !self.explains {
            return shown;
        }
        let bytes = |bytes: &[u8]| {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:x}")).collect();
            json!(format!("[{}]", bytes.join(" ")))
        };
        let payload =
            |payload: &Option<Arc<[u8]>>| payload.as_ref().map_or(Value::Null, |payload| bytes(payload));
        let more = [
            ("bytes", Some(bytes(token.token.as_bytes()))),
            ("positionLength", Some(json!(token.position_length))),
            ("termFrequency", Some(json!(token.frequency))),
            ("keyword", token.is_keyword.map(Value::Bool)),
            ("payload", token.payload.as_ref().map(payload)),
        ];
        for (name, value) in more {
            let wanted = |list: &Vec<String>| list.iter().any(|one| one.eq_ignore_ascii_case(name));
            if let Some(value) = value.filter(|_| self.attributes.as_ref().is_none_or(wanted)) {
                shown[name] = value;
            }
        }
        shown
    }
}

/// Returns the tokens of all texts, one after the other.
fn tokens_of(
    analyze: impl Fn(&str) -> Analyzed,
    texts: &[String],
    shown: &Shown,
) -> Result<Vec<AnalyzedToken>> {
    let mut tokens: Vec<AnalyzedToken> = Vec::new();
    let (mut position, mut offset) = (0, 0);
    let tokens_max = shown.tokens_max;
    for text in texts {
        drop(take_failure());
        let Analyzed { tokens: found, trailing } = analyze(text);
        if let Some(error) = take_failure() {
            return Err(error);
        }
        work::check()?;
        let last = found.last().map_or(0, |token| token.position + 1);
        tokens.extend(found.into_iter().map(|token| AnalyzedToken {
            position: token.position + position,
            start_offset: token.start_offset + offset,
            end_offset: token.end_offset + offset,
            ..token
        }));
        if tokens.len() > tokens_max {
            return Err(RequestError::bad_request(
                "status_exception",
                format!(
                    "The number of tokens produced by calling _analyze has exceeded the allowed maximum of [{tokens_max}]. This limit can be set by changing the [index.analyze.max_token_count] index level setting."
                ),
            ));
        }
        if tokens.iter().any(|token| token.frequency == 0) {
            return Err(RequestError::illegal_argument("Term frequency must be 1 or greater"));
        }
        position += last + trailing + shown.gap;
        offset += text.encode_utf16().count() as u32 + 1;
    }
    Ok(tokens)
}

/// Returns `index.analyze.max_token_count` of the named index, or the default.
fn tokens_max(app: &App, request: &Request) -> Result<usize> {
    match request.param("index") {
        Some(index) => app.node.tokens_max(index),
        None => Ok(TOKENS_MAX),
    }
}

/// Reads a string, or a list of strings, numbers and booleans.
fn strings_of(name: &str, value: &Value) -> Result<Vec<String>> {
    let Value::Array(items) = value else { return Ok(vec![string(name, value)?]) };
    let text = |item: &Value| match item {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(item.to_string()),
        other => {
            let reason = format!("Expected text but found {}", token(other));
            Err(PARSER.failed(name, RequestError::illegal_argument(reason)))
        }
    };
    items.iter().map(text).collect()
}
