//! The analyzers of an index, by name: the built-in ones, and what `settings.analysis` declares.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::analyzer::{Analyzer, TOKEN_LENGTH_MAX};
use super::char_filter::CharFilter;
use super::english::STOP_WORDS;
use super::filter::{Filter, Snowball};
use super::normalizer::Normalizer;
use super::tokenizer::Tokenizer;
use crate::RequestError;

/// Built-in analyzers plus those of `settings.analysis`.
#[derive(Debug)]
pub struct Analyzers {
    by_name: HashMap<String, Arc<Analyzer>>,
    normalizers: HashMap<String, Arc<Normalizer>>,
    /// The body of `settings.analysis`.
    declared: Value,
}

/// The names of an analyzer's parts, and what those mean that nobody else declares.
#[derive(Debug, Clone, Default)]
pub struct AnalyzerParts {
    /// As `settings.analysis`.
    pub declared: Map<String, Value>,
    pub char_filters: Vec<String>,
    pub tokenizer: String,
    pub filters: Vec<String>,
}

/// Elasticsearch's tokenizers that work without being declared, those included that are not here yet.
const TOKENIZERS_ALL: &[&str] = &[
    "standard",
    "letter",
    "lowercase",
    "whitespace",
    "keyword",
    "classic",
    "edge_ngram",
    "edgeNGram",
    "ngram",
    "nGram",
    "path_hierarchy",
    "PathHierarchy",
    "pattern",
    "simple_pattern",
    "simple_pattern_split",
    "char_group",
    "thai",
    "uax_url_email",
    "icu_tokenizer",
    "ml_standard",
];

/// Names of the built-in analyzers.
const BUILT_IN: [&str; 6] = ["standard", "simple", "whitespace", "keyword", "stop", "english"];

fn built_in(name: &str) -> Option<Analyzer> {
    let new = |tokenizer, filters| Some(Analyzer::new(name, tokenizer, TOKEN_LENGTH_MAX, filters));
    match name {
        "standard" => new(Tokenizer::Standard, vec![Filter::Lowercase]),
        "simple" => new(Tokenizer::Letter, vec![Filter::Lowercase]),
        "whitespace" => new(Tokenizer::Whitespace, vec![]),
        "keyword" => new(Tokenizer::Keyword, vec![]),
        "stop" => new(Tokenizer::Letter, vec![Filter::Lowercase, Filter::EnglishStop]),
        "english" => new(
            Tokenizer::Standard,
            vec![Filter::EnglishPossessive, Filter::Lowercase, Filter::EnglishStop, Filter::PorterStem],
        ),
        _ => None,
    }
}

impl Analyzers {
    /// `standard`, `simple`, `whitespace`, `keyword`, `stop`, `english`.
    pub fn built_in() -> Analyzers {
        let by_name = BUILT_IN
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), Arc::new(built_in(name)?))))
            .collect();
        let normalizers = HashMap::from([("lowercase".to_owned(), Arc::new(Normalizer::lowercase()))]);
        Analyzers { by_name, normalizers, declared: Value::Null }
    }

    /// The built-in analyzers and those of the body of `settings.analysis`.
    ///
    /// Error: `illegal_argument_exception` naming the analyzer, tokenizer, filter or parameter that is not there.
    pub fn parse(analysis: &Value) -> Result<Analyzers, RequestError> {
        let mut analyzers = Analyzers::built_in();
        let Value::Object(sections) = analysis else {
            return if analysis.is_null() {
                Ok(analyzers)
            } else {
                Err(RequestError::illegal_argument("[analysis] must be an object"))
            };
        };
        let empty = Map::new();
        let section = |name: &str| match sections.get(name) {
            None => Ok(&empty),
            Some(Value::Object(section)) => Ok(section),
            Some(_) => Err(RequestError::illegal_argument(format!("[analysis.{name}] must be an object"))),
        };
        for (name, body) in sections {
            limber_work::check()?;
            let is_empty = body.as_object().is_some_and(Map::is_empty);
            let is_known =
                matches!(name.as_str(), "analyzer" | "tokenizer" | "filter" | "char_filter" | "normalizer");
            if !is_known && !is_empty {
                return Err(RequestError::unsupported(format!("[analysis.{name}]")));
            }
        }
        let declared = Declared {
            tokenizers: section("tokenizer")?,
            filters: section("filter")?,
            char_filters: section("char_filter")?,
        };
        for name in declared.char_filters.keys() {
            declared.char_filter(name)?;
        }
        for name in declared.filters.keys() {
            declared.filter(name)?;
        }
        for name in declared.tokenizers.keys() {
            declared.tokenizer(name)?;
        }
        for (name, body) in section("analyzer")? {
            limber_work::check()?;
            let Value::Object(body) = body else {
                return Err(RequestError::illegal_argument(format!(
                    "[analysis.analyzer.{name}] must be an object"
                )));
            };
            let analyzer = declared.analyzer(name, body)?;
            analyzers.by_name.insert(name.clone(), Arc::new(analyzer));
        }
        for (name, body) in section("normalizer")? {
            limber_work::check()?;
            let Value::Object(body) = body else {
                return Err(RequestError::illegal_argument(format!(
                    "[analysis.normalizer.{name}] must be an object"
                )));
            };
            let normalizer = declared.normalizer(name, body)?;
            analyzers.normalizers.insert(name.clone(), Arc::new(normalizer));
        }
        analyzers.declared = analysis.clone();
        Ok(analyzers)
    }

    /// An analyzer put together for one `_analyze` request from what the index declares, and what comes with it everywhere.
    pub fn ad_hoc(&self, parts: &AnalyzerParts) -> Result<Analyzer, RequestError> {
        let sections = |name: &str| {
            let mut section = self.declared.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
            let own = parts.declared.get(name).and_then(Value::as_object).cloned();
            section.extend(own.unwrap_or_default());
            section
        };
        let (tokenizers, filters, char_filters) =
            (sections("tokenizer"), sections("filter"), sections("char_filter"));
        let declared = Declared { tokenizers: &tokenizers, filters: &filters, char_filters: &char_filters };
        let missing = |what: &str, name: &str| {
            RequestError::illegal_argument(format!("failed to find global {what} under [{name}]"))
        };
        if !tokenizers.contains_key(&parts.tokenizer) && !TOKENIZERS_ALL.contains(&parts.tokenizer.as_str()) {
            return Err(missing("tokenizer", &parts.tokenizer));
        }
        let (tokenizer, length_max, mut chain) = declared.tokenizer(&parts.tokenizer)?;
        for filter in &parts.filters {
            chain.push(declared.filter(filter)?);
        }
        let mut whole = Vec::with_capacity(parts.char_filters.len());
        for filter in &parts.char_filters {
            whole.push(declared.char_filter(filter)?.ok_or_else(|| missing("char_filter", filter))?);
        }
        Ok(Analyzer::new("_custom_", tokenizer, length_max, chain).with_char_filters(whole))
    }

    /// What the custom analyzer of this name is put together from; `None`: it is none of those that the index declares.
    pub fn parts(&self, name: &str) -> Option<AnalyzerParts> {
        let body = self.declared.get("analyzer")?.get(name)?;
        let tokenizer = body.get("tokenizer").map(text)?;
        let is_custom = body.get("type").is_none_or(|kind| kind == "custom");
        is_custom.then(|| AnalyzerParts {
            declared: Map::new(),
            char_filters: strings(body.get("char_filter")),
            tokenizer,
            filters: strings(body.get("filter")),
        })
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Analyzer>> {
        self.by_name.get(name)
    }

    /// A normalizer of keywords: `lowercase`, or one that the index declares.
    pub fn normalizer(&self, name: &str) -> Option<&Arc<Normalizer>> {
        self.normalizers.get(name)
    }

    /// The analyzer of a text field that names none: the index's `default`, else `standard`.
    pub fn default_index(&self) -> Arc<Analyzer> {
        self.get("default").or_else(|| self.get("standard")).expect("standard is built in").clone()
    }

    /// The analyzer of query text for such a field: `default_search`, else the above.
    pub fn default_search(&self) -> Arc<Analyzer> {
        self.get("default_search").cloned().unwrap_or_else(|| self.default_index())
    }
}

/// Tokenizers and filters of `settings.analysis`.
struct Declared<'a> {
    tokenizers: &'a Map<String, Value>,
    filters: &'a Map<String, Value>,
    char_filters: &'a Map<String, Value>,
}

/// Filters of Elasticsearch that a normalizer may have, and that are not here yet.
const NORMALIZING_MISSING: &[&str] = &[
    "arabic_normalization",
    "bengali_normalization",
    "cjk_width",
    "decimal_digit",
    "elision",
    "german_normalization",
    "hindi_normalization",
    "icu_folding",
    "icu_normalizer",
    "indic_normalization",
    "persian_normalization",
    "scandinavian_folding",
    "scandinavian_normalization",
    "serbian_normalization",
    "sorani_normalization",
];
/// Filters that work without being declared.
const FILTERS: &[&str] =
    &["lowercase", "uppercase", "trim", "asciifolding", "porter_stem", "stop", "length", "stemmer"];

impl Declared<'_> {
    fn analyzer(&self, name: &str, body: &Map<String, Value>) -> Result<Analyzer, RequestError> {
        let kind = match body.get("type") {
            Some(kind) => text(kind),
            None if body.contains_key("tokenizer") => "custom".to_owned(),
            None => {
                return Err(RequestError::illegal_argument(format!(
                    "analyzer [{name}] must specify either an analyzer type, or a tokenizer"
                )));
            }
        };
        let length_max = length_max(body)?;
        let stop_words = body.get("stopwords").map(stop_words).transpose()?;
        let stop = |words: Option<Vec<String>>| {
            words.filter(|words| !words.is_empty()).map(|words| stop_filter(words, false))
        };
        let (allowed, analyzer): (&[&str], Analyzer) = match kind.as_str() {
            "custom" => {
                let tokenizer = body.get("tokenizer").map(text).ok_or_else(|| {
                    RequestError::illegal_argument(format!(
                        "Custom Analyzer [{name}] must be configured with a tokenizer"
                    ))
                })?;
                let (tokenizer, length_max, mut chain) = self.tokenizer(&tokenizer)?;
                for filter in strings(body.get("filter")) {
                    chain.push(self.filter(&filter)?);
                }
                let mut whole = Vec::new();
                for filter in strings(body.get("char_filter")) {
                    whole.push(self.char_filter(&filter)?.ok_or_else(|| {
                        RequestError::illegal_argument(format!(
                            "Custom Analyzer [{name}] failed to find char_filter under name [{filter}]"
                        ))
                    })?);
                }
                let analyzer = Analyzer::new(name, tokenizer, length_max, chain).with_char_filters(whole);
                let analyzer = match body.get("position_increment_gap") {
                    None => analyzer,
                    Some(gap) => analyzer.with_gap(position_gap(&text(gap))?),
                };
                (&["tokenizer", "filter", "char_filter", "position_increment_gap"], analyzer)
            }
            "standard" => {
                let mut chain = vec![Filter::Lowercase];
                chain.extend(stop(stop_words));
                (
                    &["stopwords", "max_token_length"],
                    Analyzer::new(name, Tokenizer::Standard, length_max, chain),
                )
            }
            "stop" => {
                let filter = match stop_words {
                    None => Some(Filter::EnglishStop),
                    words => stop(words),
                };
                let mut chain = vec![Filter::Lowercase];
                chain.extend(filter);
                (&["stopwords"], Analyzer::new(name, Tokenizer::Letter, TOKEN_LENGTH_MAX, chain))
            }
            "english" => {
                let filter = match stop_words {
                    None => Some(Filter::EnglishStop),
                    words => stop(words),
                };
                let mut chain = vec![Filter::EnglishPossessive, Filter::Lowercase];
                chain.extend(filter);
                chain.push(Filter::PorterStem);
                (&["stopwords"], Analyzer::new(name, Tokenizer::Standard, TOKEN_LENGTH_MAX, chain))
            }
            "simple" => {
                (&[], Analyzer::new(name, Tokenizer::Letter, TOKEN_LENGTH_MAX, vec![Filter::Lowercase]))
            }
            "whitespace" => (&[], Analyzer::new(name, Tokenizer::Whitespace, TOKEN_LENGTH_MAX, vec![])),
            "keyword" => (&[], Analyzer::new(name, Tokenizer::Keyword, TOKEN_LENGTH_MAX, vec![])),
            other => {
                return Err(RequestError::unsupported(format!(
                    "analyzer type [{other}] of analyzer [{name}]"
                )));
            }
        };
        refuse_others(body, allowed, &format!("analyzer [{name}]"))?;
        Ok(analyzer)
    }

    /// Source: `CustomNormalizerProvider`.
    fn normalizer(&self, name: &str, body: &Map<String, Value>) -> Result<Normalizer, RequestError> {
        match body.get("type").map(text).as_deref() {
            Some("lowercase") => return Ok(Normalizer::new(name, Vec::new(), vec![Filter::Lowercase])),
            None | Some("custom") => {}
            Some(other) => {
                return Err(RequestError::illegal_argument(format!(
                    "Unknown normalizer type [{other}] for [{name}]"
                )));
            }
        }
        if body.contains_key("tokenizer") {
            return Err(RequestError::illegal_argument(format!(
                "Custom normalizer [{name}] cannot configure a tokenizer"
            )));
        }
        refuse_others(body, &["filter", "char_filter"], &format!("normalizer [{name}]"))?;
        let mut char_filters = Vec::new();
        for filter in strings(body.get("char_filter")) {
            let parsed = self.char_filter(&filter)?.ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "Custom normalizer [{name}] failed to find char_filter under name [{filter}]"
                ))
            })?;
            if !parsed.is_normalizing() {
                return Err(RequestError::illegal_argument(format!(
                    "Custom normalizer [{name}] may not use char filter [{filter}]"
                )));
            }
            char_filters.push(parsed);
        }
        let mut filters = Vec::new();
        for filter in strings(body.get("filter")) {
            let is_known = self.filters.contains_key(&filter)
                || FILTERS.contains(&filter.as_str())
                || NORMALIZING_MISSING.contains(&filter.as_str());
            if !is_known {
                return Err(RequestError::illegal_argument(format!(
                    "Custom Analyzer [{name}] failed to find filter under name [{filter}]"
                )));
            }
            let parsed = self.filter(&filter)?;
            if !parsed.is_normalizing() {
                return Err(RequestError::illegal_argument(format!(
                    "Custom normalizer [{name}] may not use filter [{filter}]"
                )));
            }
            filters.push(parsed);
        }
        Ok(Normalizer::new(name, char_filters, filters))
    }

    /// The character filter of this name, if there is one.
    fn char_filter(&self, name: &str) -> Result<Option<CharFilter>, RequestError> {
        match self.char_filters.get(name) {
            Some(Value::Object(body)) => {
                let kind = body.get("type").map(text).ok_or_else(|| {
                    RequestError::illegal_argument(format!(
                        "char_filter [{name}] must specify either an analyzer type, or a tokenizer"
                    ))
                })?;
                CharFilter::parse(name, &kind, body).map(Some)
            }
            Some(_) => Err(RequestError::illegal_argument(format!("char_filter [{name}] must be an object"))),
            None if name == "html_strip" => CharFilter::parse(name, name, &Map::new()).map(Some),
            None => Ok(None),
        }
    }

    /// A tokenizer, its longest token, and the filters that it brings along.
    fn tokenizer(&self, name: &str) -> Result<(Tokenizer, usize, Vec<Filter>), RequestError> {
        let (kind, body) = match self.tokenizers.get(name) {
            Some(Value::Object(body)) => (body.get("type").map(text).unwrap_or_default(), Some(body)),
            Some(_) => {
                return Err(RequestError::illegal_argument(format!("tokenizer [{name}] must be an object")));
            }
            None => (name.to_owned(), None),
        };
        let length_max = body.map(length_max).transpose()?.unwrap_or(TOKEN_LENGTH_MAX);
        if let Some(body) = body {
            refuse_others(body, &["max_token_length"], &format!("tokenizer [{name}]"))?;
        }
        Ok(match kind.as_str() {
            "standard" => (Tokenizer::Standard, length_max, vec![]),
            "letter" => (Tokenizer::Letter, length_max, vec![]),
            "lowercase" => (Tokenizer::Letter, length_max, vec![Filter::Lowercase]),
            "whitespace" => (Tokenizer::Whitespace, length_max, vec![]),
            "keyword" => (Tokenizer::Keyword, length_max, vec![]),
            other => return Err(RequestError::unsupported(format!("tokenizer [{other}]"))),
        })
    }

    fn filter(&self, name: &str) -> Result<Filter, RequestError> {
        let empty = Map::new();
        let (kind, body) = match self.filters.get(name) {
            Some(Value::Object(body)) => (body.get("type").map(text).unwrap_or_default(), body),
            Some(_) => {
                return Err(RequestError::illegal_argument(format!("filter [{name}] must be an object")));
            }
            None => (name.to_owned(), &empty),
        };
        let (allowed, filter): (&[&str], Filter) = match kind.as_str() {
            "lowercase" => (&[], Filter::Lowercase),
            "uppercase" => (&[], Filter::Uppercase),
            "trim" => (&[], Filter::Trim),
            "asciifolding" => {
                if matches!(body.get("preserve_original").map(text).as_deref(), Some("true")) {
                    let reason = format!("[preserve_original] of filter [{name}]");
                    return Err(RequestError::unsupported(reason));
                }
                (&["preserve_original"], Filter::AsciiFolding)
            }
            "porter_stem" => (&[], Filter::PorterStem),
            "stop" => {
                let ignore_case = matches!(body.get("ignore_case").map(text).as_deref(), Some("true"));
                let filter = match body.get("stopwords") {
                    None if !ignore_case => Filter::EnglishStop,
                    None => stop_filter(STOP_WORDS.iter().map(|word| (*word).to_owned()).collect(), true),
                    Some(words) => stop_filter(stop_words(words)?, ignore_case),
                };
                (&["stopwords", "ignore_case"], filter)
            }
            "length" => {
                let bound = |key: &str, default: usize| {
                    body.get(key).map_or(Ok(default), |value| {
                        text(value).parse().map_err(|_| {
                            RequestError::illegal_argument(format!(
                                "[{key}] of filter [{name}] must be a number"
                            ))
                        })
                    })
                };
                (
                    &["min", "max"],
                    Filter::Length { min: bound("min", 0)?, max: bound("max", i32::MAX as usize)? },
                )
            }
            "stemmer" => {
                let language = body.get("language").or(body.get("name")).map_or("porter".to_owned(), text);
                let filter = match language.as_str() {
                    "english" | "porter" => Filter::PorterStem,
                    "possessive_english" => Filter::EnglishPossessive,
                    "porter2" => Filter::Snowball(Snowball::new(frostem::Algorithm::English)),
                    other => {
                        return Err(RequestError::unsupported(format!(
                            "language [{other}] of filter [{name}]"
                        )));
                    }
                };
                (&["language", "name"], filter)
            }
            other => return Err(RequestError::unsupported(format!("token filter [{other}]"))),
        };
        refuse_others(body, allowed, &format!("filter [{name}]"))?;
        Ok(filter)
    }
}

pub(super) fn refuse_others(
    body: &Map<String, Value>,
    allowed: &[&str],
    what: &str,
) -> Result<(), RequestError> {
    match body
        .keys()
        .find(|key| !allowed.contains(&key.as_str()) && !matches!(key.as_str(), "type" | "version"))
    {
        Some(key) => Err(RequestError::unsupported(format!("parameter [{key}] of {what}"))),
        None => Ok(()),
    }
}

/// Settings are strings as often as not.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(text).collect(),
        Some(one) => {
            text(one).split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        }
    }
}

fn length_max(body: &Map<String, Value>) -> Result<usize, RequestError> {
    match body.get("max_token_length") {
        None => Ok(TOKEN_LENGTH_MAX),
        Some(value) => match text(value).parse::<usize>() {
            Ok(length @ 1..=1_048_576) => Ok(length),
            _ => Err(RequestError::illegal_argument(format!(
                "maxTokenLength must be greater than 0 and less than 1048576 passed: {}",
                text(value)
            ))),
        },
    }
}

fn position_gap(text: &str) -> Result<u32, RequestError> {
    match text.parse::<i32>() {
        Ok(gap) => u32::try_from(gap).map_err(|_| {
            RequestError::unsupported(format!("[position_increment_gap: {gap}] of an analyzer"))
        }),
        Err(_) => {
            let reason = format!("Failed to parse int setting [position_increment_gap] with value [{text}]");
            let cause = format!("For input string: \"{text}\"");
            Err(RequestError::new(500, "settings_exception", reason).caused_by(RequestError::new(
                400,
                "number_format_exception",
                cause,
            )))
        }
    }
}

fn stop_words(value: &Value) -> Result<Vec<String>, RequestError> {
    let words = strings(Some(value));
    match words.first().map(String::as_str) {
        Some("_english_") if words.len() == 1 => {
            Ok(STOP_WORDS.iter().map(|word| (*word).to_owned()).collect())
        }
        Some("_none_") if words.len() == 1 => Ok(Vec::new()),
        _ => match words.iter().find(|word| word.len() > 2 && word.starts_with('_') && word.ends_with('_')) {
            Some(named) => Err(RequestError::unsupported(format!("stop word list [{named}]"))),
            None => Ok(words),
        },
    }
}

fn stop_filter(words: Vec<String>, ignore_case: bool) -> Filter {
    let words = words.into_iter().map(|word| if ignore_case { word.to_lowercase() } else { word }).collect();
    Filter::Stop { words, ignore_case }
}
