//! `highlight`: which parts of a hit's fields are shown, and how matches in them are marked.
//!
//! Source: Elasticsearch's `HighlightBuilder` and `AbstractHighlighterBuilder`. Options of a highlighter have
//! no effect on the others.

use limber_mapping::{ObjectParser, RequestError};
use limber_work as work;
use serde_json::Value;

use super::read_query::read_query;
use super::value_kind::ValueKind;
use crate::query::Query;
use crate::values::json;

/// Maximum number of fields and patterns of one request. The limit is Limber's own.
const FIELDS_MAX: usize = 1_000;

/// The rules for where passages begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundaries {
    Sentences,
    Words,
}

/// `boundary_scanner`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanner {
    Chars,
    Breaks(Boundaries),
}

/// `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Highlighter {
    Unified,
    Plain,
    /// `fvh`.
    FastVector,
}

/// `fragmenter`: how the plain highlighter divides values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fragmenter {
    /// Values are not divided.
    None,
    Simple,
    /// Spans are kept whole.
    Span,
}

/// An invalid option. Elasticsearch reports it only when a shard fetches a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `type`.
    Highlighter(String),
    Fragmenter(String),
    /// The unified highlighter does not support the scanner `chars`.
    Scanner,
}

impl Fault {
    /// Returns the error. `field` is the name of the highlighted field.
    pub fn error(&self, field: &str) -> RequestError {
        RequestError::illegal_argument(match self {
            Fault::Highlighter(name) => {
                format!("unknown highlighter type [{name}] for the field [{field}]")
            }
            Fault::Fragmenter(name) => format!("unknown fragmenter option [{name}] for the field [{field}]"),
            Fault::Scanner => "Invalid boundary scanner type: chars".to_owned(),
        })
    }
}

/// `max_analyzed_offset`: the UTF-16 offset in a field's values after which no token is analyzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OffsetMax {
    /// No limit; a text that is longer than the index allows is refused.
    Unset,
    /// -1: the index's limit.
    OfIndex,
    At(usize),
}

impl OffsetMax {
    /// Returns the offset, given the index's limit; `None` if there is none.
    pub fn start_max(self, limit: usize) -> Option<usize> {
        match self {
            OffsetMax::Unset => None,
            OffsetMax::OfIndex => Some(limit),
            OffsetMax::At(most) => Some(most),
        }
    }
}

/// Options of one field, or the common options of all fields.
#[derive(Debug, Clone, Default)]
struct Options {
    pre_tags: Option<Vec<String>>,
    post_tags: Option<Vec<String>>,
    fragment_size: Option<i32>,
    number_of_fragments: Option<i32>,
    by_score: Option<bool>,
    require_field_match: Option<bool>,
    scanner: Option<Scanner>,
    boundary_chars: Option<String>,
    boundary_max_scan: Option<i32>,
    fragmenter: Option<String>,
    phrase_limit: Option<i32>,
    no_match_size: Option<i32>,
    max_analyzed_offset: Option<i32>,
    /// `type`.
    highlighter: Option<String>,
    query: Option<Query>,
    /// Option of a field only.
    fragment_offset: Option<i32>,
    matched_fields: Vec<String>,
}

/// How one field (or all fields that match a pattern) is highlighted.
#[derive(Debug, Clone)]
pub(crate) struct HighlightField {
    pub pattern: String,
    pub highlighter: Highlighter,
    /// One or more tags; only `fvh` uses more than the first.
    pub pre_tags: Vec<String>,
    pub post_tags: Vec<String>,
    /// UTF-16 units of a fragment; 0: as long as its sentence.
    pub fragment_size: usize,
    /// Maximum number of fragments; 0: each value as a whole.
    pub fragments_max: usize,
    pub by_score: bool,
    pub require_field_match: bool,
    pub boundaries: Boundaries,
    pub scanner: Scanner,
    /// Characters at which a fragment may begin or end, and how far they are searched for.
    pub boundary_chars: String,
    pub boundary_max_scan: usize,
    pub fragmenter: Fragmenter,
    /// Maximum number of phrases of a document that are considered.
    pub phrase_limit: usize,
    /// UTF-16 units shown before a match; negative ones are refused when they are used.
    pub fragment_offset: i32,
    /// Fields whose matches are marked in this one.
    pub matched_fields: Vec<String>,
    /// UTF-16 units shown of a field without matches; 0: nothing is shown.
    pub no_match_size: usize,
    pub offset_max: OffsetMax,
    /// `highlight_query`; `None`: the query of the search.
    pub query: Option<Query>,
    pub fault: Option<Fault>,
}

impl HighlightField {
    /// Returns the tag that is written before a match.
    pub fn pre_tag(&self) -> &str {
        self.pre_tags.first().map_or("", String::as_str)
    }

    /// Returns the tag that is written after a match.
    pub fn post_tag(&self) -> &str {
        self.post_tags.first().map_or("", String::as_str)
    }
}

/// A parsed `highlight`.
#[derive(Debug, Clone)]
pub struct Highlight {
    pub(crate) fields: Vec<HighlightField>,
    /// `encoder: html`.
    pub(crate) escapes: bool,
}

const PARSER: ObjectParser<'_> = ObjectParser::new("highlight");
const FIELD_PARSER: ObjectParser<'_> = ObjectParser::new("highlight_field");

fn no_text(found: &Value) -> RequestError {
    let reason = format!("expected value but got [{}]", json::token(found));
    RequestError::bad_request("illegal_state_exception", reason)
}

fn texts(value: &Value) -> Result<Vec<String>, RequestError> {
    match value {
        Value::Array(items) => {
            items.iter().map(|item| json::scalar_text(item).ok_or_else(|| no_text(item))).collect()
        }
        scalar => Ok(vec![json::text(scalar)?]),
    }
}

/// Options of a field that can also be set for all fields.
const OPTIONS: [(&str, ValueKind); 21] = [
    ("tags_schema", ValueKind::Text),
    ("pre_tags", ValueKind::Texts),
    ("post_tags", ValueKind::Texts),
    ("fragment_size", ValueKind::Int),
    ("number_of_fragments", ValueKind::Int),
    ("no_match_size", ValueKind::Int),
    ("order", ValueKind::Text),
    ("require_field_match", ValueKind::Boolean),
    ("type", ValueKind::Text),
    ("highlight_query", ValueKind::Object),
    ("boundary_scanner", ValueKind::Text),
    ("boundary_scanner_locale", ValueKind::Text),
    ("max_analyzed_offset", ValueKind::Int),
    ("max_analyzer_offset", ValueKind::Int),
    ("boundary_chars", ValueKind::Text),
    ("boundary_max_scan", ValueKind::Int),
    ("fragmenter", ValueKind::Text),
    ("phrase_limit", ValueKind::Int),
    ("force_source", ValueKind::Boolean),
    ("highlight_filter", ValueKind::Boolean),
    ("options", ValueKind::Object),
];

/// Options of a field only.
const FIELD_OPTIONS: [(&str, ValueKind); 2] =
    [("fragment_offset", ValueKind::Int), ("matched_fields", ValueKind::Texts)];

impl Options {
    /// Reads an option that can be set for a field or for all; returns `false` if `key` is no such option.
    /// `parser` is that of the object.
    fn take(&mut self, key: &str, value: &Value, parser: ObjectParser<'_>) -> Result<bool, RequestError> {
        let Some((_, kind)) = OPTIONS.iter().find(|(name, _)| *name == key) else { return Ok(false) };
        kind.check(parser, key, value)?;
        self.set(key, value).map_err(|cause| parser.failed(key, cause))?;
        Ok(true)
    }

    /// Reads an option of a field; returns `false` if `key` is no such option.
    fn take_own(&mut self, key: &str, value: &Value) -> Result<bool, RequestError> {
        let parser = FIELD_PARSER;
        let Some((_, kind)) = FIELD_OPTIONS.iter().find(|(name, _)| *name == key) else {
            return self.take(key, value, parser);
        };
        kind.check(parser, key, value)?;
        match key {
            "matched_fields" => {
                self.matched_fields = texts(value).map_err(|cause| parser.failed(key, cause))?;
            }
            _ => {
                let offset = json::int(value).map_err(|cause| parser.failed(key, cause))?;
                // -1 means the same as not given.
                self.fragment_offset = Some(offset).filter(|offset| *offset != -1);
            }
        }
        Ok(true)
    }

    /// Sets an option of [`OPTIONS`].
    fn set(&mut self, key: &str, value: &Value) -> Result<(), RequestError> {
        match key {
            "tags_schema" => {
                let schema = json::text(value)?;
                let (open, close) = match schema.as_str() {
                    "styled" => styled(),
                    "default" => (vec!["<em>".to_owned()], vec!["</em>".to_owned()]),
                    _ => {
                        let reason = format!("Unknown tag schema [{schema}]");
                        return Err(RequestError::illegal_argument(reason));
                    }
                };
                (self.pre_tags, self.post_tags) = (Some(open), Some(close));
            }
            "pre_tags" => self.pre_tags = Some(texts(value)?),
            "post_tags" => self.post_tags = Some(texts(value)?),
            "fragment_size" => self.fragment_size = Some(json::int(value)?),
            "number_of_fragments" => self.number_of_fragments = Some(json::int(value)?),
            "no_match_size" => self.no_match_size = Some(json::int(value)?),
            "order" => self.by_score = Some(json::text(value)?.eq_ignore_ascii_case("score")),
            "require_field_match" => self.require_field_match = Some(json::boolean(value)?),
            "type" => self.highlighter = Some(json::text(value)?),
            "highlight_query" => self.query = Some(read_query(value)?),
            "boundary_scanner" => {
                let name = json::text(value)?.to_uppercase();
                self.scanner = Some(match name.as_str() {
                    "SENTENCE" => Scanner::Breaks(Boundaries::Sentences),
                    "WORD" => Scanner::Breaks(Boundaries::Words),
                    "CHARS" => Scanner::Chars,
                    _ => {
                        let known = "org.elasticsearch.search.fetch.subphase.highlight.HighlightBuilder.BoundaryScannerType";
                        return Err(RequestError::illegal_argument(format!(
                            "No enum constant {known}.{name}"
                        )));
                    }
                })
            }
            "boundary_scanner_locale" => check_locale(&json::text(value)?)?,
            // OpenSearch's name is the second.
            "max_analyzed_offset" | "max_analyzer_offset" => {
                let offset = json::int(value)?;
                if offset < -1 || offset == 0 {
                    let reason = "[max_analyzed_offset] must be a positive integer, or -1";
                    return Err(RequestError::illegal_argument(reason));
                }
                self.max_analyzed_offset = Some(offset);
            }
            "boundary_chars" => self.boundary_chars = Some(json::text(value)?),
            "boundary_max_scan" => self.boundary_max_scan = Some(json::int(value)?),
            "fragmenter" => self.fragmenter = Some(json::text(value)?),
            "phrase_limit" => self.phrase_limit = Some(json::int(value)?),
            // Values always come from the source here. Clauses of filters are highlighted like others, as
            // by default.
            "force_source" | "highlight_filter" => {
                if key == "force_source" {
                    work::warn_unused(key);
                }
                json::boolean(value)?;
            }
            // `options` is for highlighters of plugins.
            _ => {}
        }
        Ok(())
    }

    fn check_tags(&self) -> Result<(), RequestError> {
        match (&self.pre_tags, &self.post_tags) {
            (Some(_), None) => Err(RequestError::parsing("pre_tags are set but post_tags are not set")),
            (Some(tags), _) if tags.is_empty() => {
                Err(RequestError::parsing("pre_tags or post_tags must not be empty"))
            }
            (_, Some(tags)) if tags.is_empty() => {
                Err(RequestError::parsing("pre_tags or post_tags must not be empty"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the options of a field, with `self` as the common ones.
    fn of_field(&self, pattern: &str, own: Options) -> Result<HighlightField, RequestError> {
        let number = |own: Option<i32>, all: Option<i32>, default: usize| {
            own.or(all).and_then(|number| usize::try_from(number).ok()).unwrap_or(default)
        };
        let tags = |own: Option<Vec<String>>, all: &Option<Vec<String>>, default: &str| {
            let tags = own.or_else(|| all.clone()).filter(|tags| !tags.is_empty());
            tags.unwrap_or_else(|| vec![default.to_owned()])
        };
        let fragments_max = number(own.number_of_fragments, self.number_of_fragments, 5);
        let mut fault = None;
        let highlighter = match own.highlighter.as_deref().or(self.highlighter.as_deref()) {
            None | Some("unified") => Highlighter::Unified,
            Some("plain") => Highlighter::Plain,
            Some("fvh") => Highlighter::FastVector,
            Some(other) => {
                fault = Some(Fault::Highlighter(other.to_owned()));
                Highlighter::Plain
            }
        };
        let scanner = own.scanner.or(self.scanner);
        let boundaries = match scanner {
            Some(Scanner::Breaks(boundaries)) => boundaries,
            Some(Scanner::Chars) if highlighter == Highlighter::Unified && fragments_max > 0 => {
                fault = Some(Fault::Scanner);
                Boundaries::Sentences
            }
            _ => Boundaries::Sentences,
        };
        let fragmenter = match own.fragmenter.as_deref().or(self.fragmenter.as_deref()) {
            Some("simple") => Fragmenter::Simple,
            Some(other) if other != "span" && highlighter == Highlighter::Plain && fragments_max > 0 => {
                fault.get_or_insert_with(|| Fault::Fragmenter(other.to_owned()));
                Fragmenter::Span
            }
            _ => Fragmenter::Span,
        };
        Ok(HighlightField {
            pattern: pattern.to_owned(),
            highlighter,
            pre_tags: tags(own.pre_tags, &self.pre_tags, "<em>"),
            post_tags: tags(own.post_tags, &self.post_tags, "</em>"),
            fragment_size: number(own.fragment_size, self.fragment_size, 100),
            fragments_max,
            by_score: own.by_score.or(self.by_score).unwrap_or(false),
            require_field_match: own.require_field_match.or(self.require_field_match).unwrap_or(true),
            boundaries,
            scanner: scanner.unwrap_or(Scanner::Chars),
            boundary_chars: own
                .boundary_chars
                .or_else(|| self.boundary_chars.clone())
                .unwrap_or_else(|| ".,!? \t\n".to_owned()),
            boundary_max_scan: number(own.boundary_max_scan, self.boundary_max_scan, 20),
            fragmenter,
            phrase_limit: number(own.phrase_limit, self.phrase_limit, 256),
            fragment_offset: own.fragment_offset.unwrap_or(6),
            matched_fields: own.matched_fields,
            no_match_size: number(own.no_match_size, self.no_match_size, 0),
            offset_max: match own.max_analyzed_offset.or(self.max_analyzed_offset) {
                None => OffsetMax::Unset,
                Some(most) => usize::try_from(most).map_or(OffsetMax::OfIndex, OffsetMax::At),
            },
            query: own.query.or_else(|| self.query.clone()),
            fault,
        })
    }
}

/// Refuses other locales, because sentences and words follow Unicode's default rules.
fn check_locale(locale: &str) -> Result<(), RequestError> {
    match locale.split(['-', '_']).next() {
        Some("" | "und" | "en") => Ok(()),
        _ => Err(RequestError::unsupported(format!("[boundary_scanner_locale: {locale}] in [highlight]"))),
    }
}

/// Returns the tags of `tags_schema: styled`.
fn styled() -> (Vec<String>, Vec<String>) {
    let open = (1..=10).map(|level| format!("<em class=\"hlt{level}\">")).collect();
    (open, vec!["</em>".to_owned()])
}

impl Highlight {
    pub(super) fn parse(value: &Value) -> Result<Highlight, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key("highlight", value)) };
        let (mut all, mut own, mut escapes) = (Options::default(), Vec::new(), false);
        for (key, value) in members {
            match (key.as_str(), value) {
                ("fields", fields) => {
                    if !fields.is_array() {
                        ValueKind::Object.check(PARSER, key, fields)?;
                    }
                    parse_fields(fields, &mut own).map_err(|cause| PARSER.failed(key, cause))?;
                }
                ("encoder", value) => {
                    ValueKind::Text.check(PARSER, key, value)?;
                    escapes = value == "html";
                }
                (key, value) => {
                    if !all.take(key, value, PARSER)? {
                        return Err(PARSER.unknown(key));
                    }
                }
            }
        }
        all.check_tags()?;
        if own.len() > FIELDS_MAX {
            let reason =
                format!("[highlight] takes up to [{FIELDS_MAX}] fields, but [{}] were given", own.len());
            return Err(RequestError::illegal_argument(reason));
        }
        let fields = own.into_iter().map(|(pattern, own)| all.of_field(&pattern, own));
        Ok(Highlight { fields: fields.collect::<Result<_, _>>()?, escapes })
    }
}

/// Parses an object of fields, or a list of objects with one field each.
fn parse_fields(fields: &Value, out: &mut Vec<(String, Options)>) -> Result<(), RequestError> {
    let single: Vec<&Value> = match fields {
        Value::Array(items) => items.iter().collect(),
        one => return named_fields(one.as_object().into_iter().flatten(), out),
    };
    for item in single {
        let Some(field) = item.as_object().filter(|members| members.len() == 1) else {
            return Err(ObjectParser::new("").refused(
                "[fields] can be a single object with any number of fields or an array where each entry is an object with a single field",
            ));
        };
        named_fields(field.iter(), out)?;
    }
    Ok(())
}

fn named_fields<'v>(
    fields: impl Iterator<Item = (&'v String, &'v Value)>,
    out: &mut Vec<(String, Options)>,
) -> Result<(), RequestError> {
    for (pattern, value) in fields {
        let own = field_options(value).map_err(|cause| ObjectParser::new("fields").failed(pattern, cause))?;
        out.push((pattern.clone(), own));
    }
    Ok(())
}

fn field_options(value: &Value) -> Result<Options, RequestError> {
    let Value::Object(members) = value else {
        return Err(FIELD_PARSER.expected_object(value));
    };
    let mut own = Options::default();
    for (key, value) in members {
        if !own.take_own(key, value)? {
            return Err(FIELD_PARSER.unknown(key));
        }
    }
    own.check_tags()?;
    Ok(own)
}
