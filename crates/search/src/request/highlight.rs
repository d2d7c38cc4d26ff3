//! `highlight`: which parts of a hit's fields are shown, and how matches in them are marked.
//!
//! Source: Elasticsearch's `HighlightBuilder` and `AbstractHighlighterBuilder`. Of the highlighters there is `unified`; options of the others are
//! read and have no effect on it.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::json;
use crate::query::{Query, QueryLimits, parse_query};

/// Fields and patterns of one request. Ours.
const FIELDS_MAX: usize = 1_000;

/// Where passages begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundaries {
    Sentences,
    Words,
}

/// `max_analyzed_offset`: the UTF-16 unit of a field's values behind which no token is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OffsetMax {
    /// All are; a text that is longer than the index allows is refused.
    Unset,
    /// -1: the index's limit.
    OfIndex,
    At(usize),
}

impl OffsetMax {
    /// The unit, under an index's limit; `None`: there is none.
    pub fn start_max(self, limit: usize) -> Option<usize> {
        match self {
            OffsetMax::Unset => None,
            OffsetMax::OfIndex => Some(limit),
            OffsetMax::At(most) => Some(most),
        }
    }
}

/// Options of one field, or those of all.
#[derive(Debug, Clone, Default)]
struct Options {
    pre_tags: Option<Vec<String>>,
    post_tags: Option<Vec<String>>,
    fragment_size: Option<i32>,
    number_of_fragments: Option<i32>,
    by_score: Option<bool>,
    require_field_match: Option<bool>,
    boundaries: Option<Boundaries>,
    no_match_size: Option<i32>,
    max_analyzed_offset: Option<i32>,
    /// `type`.
    highlighter: Option<String>,
    query: Option<Query>,
}

/// How one field (or all that fit a pattern) is highlighted.
#[derive(Debug, Clone)]
pub(crate) struct HighlightField {
    pub pattern: String,
    pub pre_tag: String,
    pub post_tag: String,
    /// UTF-16 units of a fragment; 0: as long as its sentence.
    pub fragment_size: usize,
    /// 0: each value as a whole.
    pub fragments_max: usize,
    pub by_score: bool,
    pub require_field_match: bool,
    pub boundaries: Boundaries,
    /// UTF-16 units shown where nothing matches; 0: nothing is.
    pub no_match_size: usize,
    pub offset_max: OffsetMax,
    /// Absent: that of the search.
    pub query: Option<Query>,
}

/// A parsed `highlight`.
#[derive(Debug, Clone)]
pub struct Highlight {
    pub(crate) fields: Vec<HighlightField>,
    /// `encoder: html`.
    pub(crate) escapes: bool,
}

fn refused(reason: String) -> RequestError {
    RequestError::new(400, "x_content_parse_exception", reason)
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(json::scalar_text).collect(),
        scalar => json::scalar_text(scalar).into_iter().collect(),
    }
}

impl Options {
    /// Whether `key` is an option of both a field and all of them. `parser`: Elasticsearch's name for the object.
    fn take(&mut self, key: &str, value: &Value, parser: &str) -> Result<bool, RequestError> {
        let failed = || refused(format!("[{parser}] failed to parse field [{key}]"));
        match key {
            "pre_tags" => self.pre_tags = Some(texts(value)),
            "post_tags" => self.post_tags = Some(texts(value)),
            "fragment_size" => self.fragment_size = Some(json::int(value)?),
            "number_of_fragments" => self.number_of_fragments = Some(json::int(value)?),
            "no_match_size" => self.no_match_size = Some(json::int(value)?),
            "order" => self.by_score = Some(json::text(value)?.eq_ignore_ascii_case("score")),
            "require_field_match" => self.require_field_match = Some(json::boolean(value)?),
            "type" => self.highlighter = Some(json::text(value)?),
            "highlight_query" => self.query = Some(parse_query(value, &QueryLimits::default())?),
            "boundary_scanner" => {
                self.boundaries = Some(match json::text(value)?.to_lowercase().as_str() {
                    "sentence" => Boundaries::Sentences,
                    "word" => Boundaries::Words,
                    "chars" => {
                        return Err(RequestError::illegal_argument("Invalid boundary scanner type: chars"));
                    }
                    _ => return Err(failed()),
                })
            }
            "boundary_scanner_locale" => check_locale(&json::text(value)?)?,
            "max_analyzed_offset" => {
                let offset = json::int(value)?;
                if offset < -1 || offset == 0 {
                    return Err(failed().caused_by(RequestError::illegal_argument(
                        "[max_analyzed_offset] must be a positive integer, or -1",
                    )));
                }
                self.max_analyzed_offset = Some(offset);
            }
            // They shape the work of the other highlighters alone, or say where values come from: here always from the source.
            "boundary_chars" | "boundary_max_scan" | "fragmenter" | "phrase_limit" | "force_source"
            | "highlight_filter" => json::check_scalar("highlight", key, value)?,
            "options" | "matched_fields" => {
                return Err(RequestError::unsupported(format!("[{key}] in [highlight]")));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check_tags(&self) -> Result<(), RequestError> {
        match (&self.pre_tags, &self.post_tags) {
            (Some(_), None) => Err(RequestError::parsing("pre_tags are set but post_tags are not set")),
            _ => Ok(()),
        }
    }

    /// The options of a field where these are those of all.
    fn of_field(&self, pattern: &str, own: Options) -> Result<HighlightField, RequestError> {
        let number = |own: Option<i32>, all: Option<i32>, default: usize| {
            own.or(all).and_then(|number| usize::try_from(number).ok()).unwrap_or(default)
        };
        let tag = |own: Option<Vec<String>>, all: &Option<Vec<String>>, default: &str| {
            let tags = own.or_else(|| all.clone()).unwrap_or_default();
            tags.into_iter().next().unwrap_or_else(|| default.to_owned())
        };
        match own.highlighter.as_deref().or(self.highlighter.as_deref()) {
            None | Some("unified") => {}
            Some("plain") => return Err(RequestError::unsupported("[type: plain] in [highlight]")),
            Some("fvh") => {
                return Err(RequestError::illegal_argument(format!(
                    "the field [{pattern}] should be indexed with term vector with position offsets to be used with fast vector highlighter"
                )));
            }
            Some(other) => {
                let reason = format!("unknown highlighter type [{other}] for the field [{pattern}]");
                return Err(RequestError::illegal_argument(reason));
            }
        }
        Ok(HighlightField {
            pattern: pattern.to_owned(),
            pre_tag: tag(own.pre_tags, &self.pre_tags, "<em>"),
            post_tag: tag(own.post_tags, &self.post_tags, "</em>"),
            fragment_size: number(own.fragment_size, self.fragment_size, 100),
            fragments_max: number(own.number_of_fragments, self.number_of_fragments, 5),
            by_score: own.by_score.or(self.by_score).unwrap_or(false),
            require_field_match: own.require_field_match.or(self.require_field_match).unwrap_or(true),
            boundaries: own.boundaries.or(self.boundaries).unwrap_or(Boundaries::Sentences),
            no_match_size: number(own.no_match_size, self.no_match_size, 0),
            offset_max: match own.max_analyzed_offset.or(self.max_analyzed_offset) {
                None => OffsetMax::Unset,
                Some(most) => usize::try_from(most).map_or(OffsetMax::OfIndex, OffsetMax::At),
            },
            query: own.query.or_else(|| self.query.clone()),
        })
    }
}

/// Sentences and words are those of Unicode's default rules.
fn check_locale(locale: &str) -> Result<(), RequestError> {
    match locale.split(['-', '_']).next() {
        Some("" | "und" | "en") => Ok(()),
        _ => Err(RequestError::unsupported(format!("[boundary_scanner_locale: {locale}] in [highlight]"))),
    }
}

/// `tags_schema: styled`.
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
                ("fields", Value::Object(fields)) => parse_fields(fields, &mut own)?,
                ("fields", Value::Array(items)) => {
                    for item in items {
                        let fields = item.as_object().ok_or_else(|| json::unknown_key("fields", item))?;
                        parse_fields(fields, &mut own)?;
                    }
                }
                ("fields", other) => {
                    let token = json::token(other);
                    return Err(refused(format!(
                        "[highlight] fields doesn't support values of type: {token}"
                    )));
                }
                ("encoder", value) => escapes = json::text(value)? == "html",
                ("tags_schema", value) => {
                    let schema = json::text(value)?;
                    let (open, close) = match schema.as_str() {
                        "styled" => styled(),
                        "default" => (vec!["<em>".to_owned()], vec!["</em>".to_owned()]),
                        _ => {
                            return Err(refused(
                                "[highlight] failed to parse field [tags_schema]".to_owned(),
                            ));
                        }
                    };
                    (all.pre_tags, all.post_tags) = (Some(open), Some(close));
                }
                (key, value) => {
                    if !all.take(key, value, "highlight")? {
                        return Err(refused(format!("[highlight] unknown field [{key}]")));
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

fn parse_fields(fields: &Map<String, Value>, out: &mut Vec<(String, Options)>) -> Result<(), RequestError> {
    for (pattern, value) in fields {
        let Value::Object(members) = value else { return Err(json::unknown_key(pattern, value)) };
        let mut own = Options::default();
        for (key, value) in members {
            // Of the highlighter that needs term vectors.
            let is_offset = key == "fragment_offset";
            if !is_offset && !own.take(key, value, "highlight_field")? {
                return Err(refused("[highlight] failed to parse field [fields]".to_owned())
                    .caused_by(refused(format!("[highlight_field] unknown field [{key}]"))));
            }
        }
        own.check_tags()?;
        out.push((pattern.clone(), own));
    }
    Ok(())
}
