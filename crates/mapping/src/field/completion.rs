//! Fields of type `completion`: "how may the typed text continue, and what is the weight of each
//! continuation?"
//!
//! Every input becomes one term per context value: the context, the analyzed text (which is compared with
//! what is typed), the original text (which is shown), and the weight. The bytes of a term:
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 + n, then [`CONTEXT_END`] | number of the context from 1, then its value; absent without contexts |
//! | n, then [`KEY_END`] | tokens, separated by [`TOKEN_END`] |
//! | n | the text as given, UTF-8 |
//! | 4 | weight, big-endian |
//!
//! Source: Elasticsearch's `CompletionFieldMapper` and Lucene's `SuggestField`, which keep the same in an
//! automaton.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::RequestError;
use crate::analysis::Analyzer;
use crate::geo::{GeoPoint, geohash_at, parse_point};

/// Follows a context. Source: Lucene's `ContextSuggestField#CONTEXT_SEPARATOR`.
pub const CONTEXT_END: u8 = 0x1d;
/// Separates two tokens. Source: Lucene's `ConcatenateGraphFilter#SEP_LABEL`.
pub const TOKEN_END: u8 = 0x1f;
/// Follows the tokens. Source: Lucene's `NRTSuggesterBuilder#END_BYTE`.
pub const KEY_END: u8 = 0;
const WEIGHT_BYTES: usize = 4;

/// The parameters of a field of type `completion`.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Whether `foof` differs from `foo f` (`preserve_separators`).
    pub preserve_separators: bool,
    /// Whether removed stop words leave a gap between two tokens (`preserve_position_increments`).
    pub preserve_position_increments: bool,
    /// Maximum number of UTF-16 units that are kept of an input (`max_input_length`).
    pub input_length_max: usize,
    /// Its contexts in the order of the mapping; empty if inputs have no contexts.
    pub contexts: Vec<CompletionContext>,
}

/// A context: inputs are stored and searched under its values.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionContext {
    /// The name in documents and queries.
    pub name: String,
    /// The kind of its values.
    pub kind: ContextKind,
    /// The field whose values are used if a document gives no value for the context.
    pub path: Option<String>,
}

/// The kind of a context's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ContextKind {
    /// Any strings, unchanged.
    Category,
    /// Geohashes of a fixed length.
    Geo {
        /// Number of characters of a geohash.
        precision: usize,
    },
}

/// Length of geohashes without a `precision`. Source: `GeoContextMapping#DEFAULT_PRECISION`.
pub const GEO_PRECISION_DEFAULT: usize = 6;
const GEO_PRECISION_MAX: usize = 12;
/// Maximum number of contexts of one field. Source: `CompletionFieldMapper#COMPLETION_CONTEXTS_LIMIT`.
const CONTEXTS_MAX: usize = 10;

/// An input of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input {
    /// The original text.
    pub text: String,
    /// Inputs with a larger weight are suggested first.
    pub weight: u32,
    /// Values of each context, in the order of [`Completion::contexts`]. All inputs of a value share them.
    pub contexts: Arc<Vec<Vec<String>>>,
}

/// The decoded parts of a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'t> {
    /// The input's tokens, with [`TOKEN_END`] between them: what a prefix is compared with.
    pub key: &'t [u8],
    /// The original text of the input.
    pub text: &'t str,
    /// The weight of the input.
    pub weight: u32,
}

impl Completion {
    /// Reads the parameter `contexts`.
    ///
    /// # Errors
    /// Elasticsearch's errors.
    pub(crate) fn parse_contexts(value: &Value) -> Result<Vec<CompletionContext>, RequestError> {
        let list = match value {
            Value::Null => return Ok(Vec::new()),
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        if list.len() > CONTEXTS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "Limit of completion field contexts [{CONTEXTS_MAX}] has been exceeded"
            )));
        }
        let mut contexts: Vec<CompletionContext> = Vec::new();
        for item in list {
            let context = CompletionContext::parse(item)?;
            if contexts.iter().any(|known| known.name == context.name) {
                let reason = format!("Context type name [{}] is not unique", context.name);
                return Err(RequestError::illegal_argument(reason));
            }
            contexts.push(context);
        }
        Ok(contexts)
    }

    /// Returns the tokens of a text in the form that terms contain.
    pub fn key(&self, analyzer: &Analyzer, text: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(text.len());
        let mut next = 0;
        analyzer.tokens(text, |token| {
            if next > 0 && self.preserve_separators {
                let holes = match self.preserve_position_increments {
                    true => token.position.saturating_sub(next),
                    false => 0,
                };
                key.extend(std::iter::repeat_n(TOKEN_END, 1 + holes as usize));
            }
            key.extend(token.text.bytes().filter(|byte| *byte != KEY_END && *byte != TOKEN_END));
            next = token.position + 1;
        });
        key
    }

    /// Returns the prefix of the terms under a value of the context `number`, which counts from 0.
    pub fn context_prefix(&self, number: usize, value: &str) -> Vec<u8> {
        let mut prefix = vec![number as u8 + 1];
        prefix.extend(value.bytes().filter(|byte| *byte != CONTEXT_END));
        prefix.push(CONTEXT_END);
        prefix
    }

    /// Returns the terms of an input: one for each value of its contexts. `make_room` gets the bytes of the
    /// terms before they are made.
    ///
    /// # Errors
    /// Those of `make_room`.
    pub(crate) fn terms<E>(
        &self,
        analyzer: &Analyzer,
        input: &Input,
        make_room: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Vec<Vec<u8>>, E> {
        let text = self.shortened(&input.text);
        let mut rest = self.key(analyzer, text);
        rest.push(KEY_END);
        rest.extend_from_slice(text.as_bytes());
        rest.extend_from_slice(&input.weight.to_be_bytes());
        // The number of a context and the byte after its value.
        let term_bytes = rest.len() + 2 + size_of::<Vec<u8>>();
        let values = || input.contexts.iter().flatten();
        let value_bytes: usize = values().map(String::len).sum();
        make_room(value_bytes + values().count().max(1) * term_bytes)?;
        if self.contexts.is_empty() {
            return Ok(vec![rest]);
        }
        let values = input.contexts.iter().enumerate();
        let prefixes = values
            .flat_map(|(number, values)| values.iter().map(move |value| self.context_prefix(number, value)));
        let mut terms: Vec<Vec<u8>> = prefixes
            .map(|mut prefix| {
                prefix.extend_from_slice(&rest);
                prefix
            })
            .collect();
        if terms.is_empty() {
            // Without any context value, the input is only found by queries that ask for all contexts.
            terms.push(self.context_prefix(usize::from(u8::MAX) - 1, "").into_iter().chain(rest).collect());
        }
        terms.sort_unstable();
        terms.dedup();
        Ok(terms)
    }

    fn shortened<'t>(&self, text: &'t str) -> &'t str {
        let mut units = 0;
        for (at, letter) in text.char_indices() {
            units += letter.len_utf16();
            if units > self.input_length_max {
                return &text[..at];
            }
        }
        text
    }

    /// Decodes a term. `None` if it is not a term of this field.
    pub fn entry<'t>(&self, term: &'t [u8]) -> Option<Entry<'t>> {
        let rest = match self.contexts.is_empty() {
            true => term,
            false => &term[term.iter().position(|byte| *byte == CONTEXT_END)? + 1..],
        };
        let (rest, weight) = rest.split_at_checked(rest.len().checked_sub(WEIGHT_BYTES)?)?;
        let end = rest.iter().position(|byte| *byte == KEY_END)?;
        Some(Entry {
            key: &rest[..end],
            text: std::str::from_utf8(&rest[end + 1..]).ok()?,
            weight: u32::from_be_bytes(weight.try_into().ok()?),
        })
    }

    /// Returns the number and the value of a term's context.
    pub fn context_of<'t>(&self, term: &'t [u8]) -> Option<(usize, &'t str)> {
        let end = term.iter().position(|byte| *byte == CONTEXT_END)?;
        let number = usize::from(*term.first()?).checked_sub(1)?;
        (number < self.contexts.len()).then_some(())?;
        Some((number, std::str::from_utf8(&term[1..end]).ok()?))
    }
}

impl CompletionContext {
    fn parse(value: &Value) -> Result<CompletionContext, RequestError> {
        let parsing = |reason: String| RequestError::bad_request("parse_exception", reason);
        let required = |name: &str| match value.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Ok(other.to_string()),
            None => Err(parsing(format!("missing [{name}] in context mapping"))),
        };
        let Some(members) = value.as_object() else {
            return Err(parsing("Contexts should be an object".to_owned()));
        };
        let (name, kind) = (required("name")?, required("type")?.to_lowercase());
        let path = members.get("path").and_then(Value::as_str).map(str::to_owned);
        let allowed: &[&str] = match kind.as_str() {
            "category" => &["name", "type", "path"],
            "geo" => &["name", "type", "path", "precision", "neighbors"],
            other => return Err(parsing(format!("unknown context type[{other}]"))),
        };
        if let Some(other) = members.keys().find(|key| !allowed.contains(&key.as_str())) {
            let reason = format!("Mapping definition for [{name}] has unsupported parameters:  [{other}]");
            return Err(RequestError::bad_request("mapper_parsing_exception", reason));
        }
        let kind = match kind.as_str() {
            "category" => ContextKind::Category,
            _ => ContextKind::Geo { precision: precision(members.get("precision"))? },
        };
        Ok(CompletionContext { name, kind, path })
    }

    /// Returns the context as `GET _mapping` shows it.
    pub(crate) fn to_json(&self) -> Value {
        let mut shown = match self.kind {
            ContextKind::Category => json!({"name": self.name, "type": "CATEGORY"}),
            ContextKind::Geo { precision } => {
                json!({"name": self.name, "type": "GEO", "precision": precision})
            }
        };
        if let Some(path) = &self.path {
            shown["path"] = path.as_str().into();
        }
        shown
    }

    /// Returns the values that a document's JSON gives for this context.
    ///
    /// # Errors
    /// Elasticsearch's errors.
    pub(crate) fn read(&self, value: &Value) -> Result<Vec<String>, RequestError> {
        match self.kind {
            ContextKind::Category => {
                let scalar = |value: &Value| match value {
                    Value::String(text) => Ok(text.clone()),
                    Value::Number(number) => Ok(number.to_string()),
                    Value::Bool(flag) => Ok(flag.to_string()),
                    _ => Err(RequestError::parsing(
                        "contexts must be a string, number or boolean or a list of string, number or boolean",
                    )),
                };
                match value {
                    Value::Null => Ok(Vec::new()),
                    Value::Array(items) => items.iter().map(scalar).collect(),
                    one => Ok(vec![scalar(one)?]),
                }
            }
            ContextKind::Geo { precision } => {
                let is_list_of_points =
                    value.as_array().is_some_and(|items| items.iter().any(|item| !item.is_number()));
                let points = match value {
                    Value::Null => return Ok(Vec::new()),
                    Value::Array(items) if is_list_of_points => items.iter().collect(),
                    one => vec![one],
                };
                points
                    .into_iter()
                    .map(|point| Ok(geohash(&parse_point(point, true)?.checked("")?, precision)))
                    .collect()
            }
        }
    }
}

/// Returns the geohash of the cell that contains the point.
pub fn geohash(point: &GeoPoint, precision: usize) -> String {
    geohash_at(point.latitude, point.longitude).chars().take(precision).collect()
}

/// Reads a precision: the length of geohashes, or the width of their cells in metres (`"5km"`).
///
/// # Errors
/// The value is neither, or out of range.
pub fn precision(value: Option<&Value>) -> Result<usize, RequestError> {
    let value = match value {
        None | Some(Value::Null) => return Ok(GEO_PRECISION_DEFAULT),
        Some(value) => value,
    };
    let length = match value {
        Value::Number(number) => number.as_u64().and_then(|length| usize::try_from(length).ok()),
        Value::String(text) => match text.parse::<usize>() {
            Ok(length) => Some(length),
            Err(_) => Some(levels_for(crate::geo::parse_distance(text, crate::geo::Unit::METERS)?)),
        },
        _ => None,
    };
    match length {
        Some(length) if (1..=GEO_PRECISION_MAX).contains(&length) => Ok(length),
        _ => Err(RequestError::illegal_argument(format!(
            "Invalid geohash aggregation precision of {value}. Must be between 1 and {GEO_PRECISION_MAX}."
        ))),
    }
}

/// Returns the smallest length whose cells are at most this wide and high. Source: Elasticsearch's
/// `GeoUtils#geoHashLevelsForPrecision`.
fn levels_for(metres: f64) -> usize {
    const EQUATOR_METRES: f64 = 40_075_016.685_578_49;
    const MERIDIAN_METRES: f64 = 20_003_931.458_623;
    let (mut width, mut height) = (EQUATOR_METRES, MERIDIAN_METRES);
    for level in 1..=GEO_PRECISION_MAX {
        let (across, down) = if level % 2 == 1 { (8.0, 4.0) } else { (4.0, 8.0) };
        (width, height) = (width / across, height / down);
        if width <= metres && height <= metres {
            return level;
        }
    }
    GEO_PRECISION_MAX
}

impl Input {
    /// Creates an input with weight 1 and without contexts.
    fn plain(text: &str) -> Input {
        Input { text: text.to_owned(), weight: 1, contexts: Arc::default() }
    }

    /// Parses a value to inputs: a string, or an object with `input`, `weight` and `contexts`.
    ///
    /// # Errors
    /// Elasticsearch's errors.
    pub fn parse(value: &Value, field: &str, completion: &Completion) -> Result<Vec<Input>, RequestError> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::String(text) => Ok(vec![Input::plain(text)]),
            Value::Object(members) => {
                let (mut texts, mut weight, mut contexts) = (Vec::new(), 1, Arc::default());
                for (key, value) in members {
                    match key.as_str() {
                        "input" => texts = read_texts(value)?,
                        "weight" => weight = read_weight(value)?,
                        "contexts" => contexts = Arc::new(read_contexts(value, field, completion)?),
                        other => {
                            return Err(RequestError::illegal_argument(format!(
                                "unknown field name [{other}], must be one of [input, weight, contexts]"
                            )));
                        }
                    }
                }
                let input = |text| Input { text, weight, contexts: contexts.clone() };
                Ok(texts.into_iter().map(input).collect())
            }
            other => Err(RequestError::parsing(format!(
                "failed to parse [{field}]: expected text or object, but got {}",
                crate::token(other)
            ))),
        }
    }
}

fn read_texts(value: &Value) -> Result<Vec<String>, RequestError> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        _ => Err(RequestError::illegal_argument("input array must only contain strings")),
    };
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        one => Ok(vec![text(one)?]),
    }
}

/// Source: `CompletionFieldMapper#parse`.
fn read_weight(value: &Value) -> Result<u32, RequestError> {
    let number = match value {
        Value::String(text) => text.parse::<i64>().map_err(|_| {
            RequestError::illegal_argument("weight must be an integer, but was [".to_owned() + text + "]")
        })?,
        Value::Number(number) => {
            number.as_i64().ok_or_else(|| RequestError::illegal_argument("weight must be an integer"))?
        }
        _ => return Err(RequestError::illegal_argument("weight must be a number or string")),
    };
    match u32::try_from(number) {
        Ok(weight) if weight <= i32::MAX as u32 => Ok(weight),
        _ => Err(RequestError::illegal_argument(format!(
            "weight must be in the interval [0..2147483647], but was [{number}]"
        ))),
    }
}

fn read_contexts(
    value: &Value,
    field: &str,
    completion: &Completion,
) -> Result<Vec<Vec<String>>, RequestError> {
    if completion.contexts.is_empty() {
        let reason = format!("contexts field is not supported for field: [{field}]");
        return Err(RequestError::illegal_argument(reason));
    }
    let mut found = vec![Vec::new(); completion.contexts.len()];
    let Value::Object(members) = value else {
        return Err(RequestError::illegal_argument("contexts must be an object"));
    };
    for (name, value) in members {
        match completion.contexts.iter().position(|context| context.name == *name) {
            Some(number) => found[number] = completion.contexts[number].read(value)?,
            None => {
                let reason = format!("unknown context name [{name}]");
                return Err(RequestError::illegal_argument(reason));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_hold_what_is_shown() {
        let contexts = json!([{"name": "c", "type": "category"}]);
        let contexts = Completion::parse_contexts(&contexts).expect("contexts");
        let field = Completion {
            preserve_separators: true,
            preserve_position_increments: true,
            input_length_max: 7,
            contexts,
        };
        let analyzers = crate::analysis::Analyzers::built_in();
        let simple = analyzers.get("simple").expect("built in");
        let input =
            Input { text: "Ab cd efgh".into(), weight: 7, contexts: Arc::new(vec![vec!["x".into()]]) };
        let mut bytes = 0;
        let note = |room| {
            bytes = room;
            Ok::<(), ()>(())
        };
        let terms = field.terms(simple, &input, note).expect("room");
        assert_eq!(bytes, terms[0].len() + size_of::<Vec<u8>>());
        assert!(field.terms(simple, &input, Err).is_err());
        assert_eq!(terms.len(), 1);
        let entry = field.entry(&terms[0]).expect("an entry");
        assert_eq!((entry.key, entry.text, entry.weight), (&b"ab\x1fcd\x1fe"[..], "Ab cd e", 7));
        assert_eq!(field.context_of(&terms[0]), Some((0, "x")));
        assert!(terms[0].starts_with(&field.context_prefix(0, "x")));
    }

    #[test]
    fn widths_are_lengths_of_geohashes() {
        assert_eq!(precision(Some(&json!("5km"))).ok(), Some(5));
        assert_eq!(precision(Some(&json!(3))).ok(), Some(3));
        assert!(precision(Some(&json!(13))).is_err());
    }
}
