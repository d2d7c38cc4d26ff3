//! Which words get suggestions, and how similar words are searched for.
//!
//! Source: Elasticsearch's `DirectSpellcheckerSettings`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::similarity::Similarity;
use crate::values::json;

/// Which words get suggestions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuggestMode {
    /// Words that no document has.
    Missing,
    /// All words, but only more frequent suggestions.
    Popular,
    Always,
}

/// The order of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortBy {
    Score,
    Frequency,
}

/// How similar words are searched for.
#[derive(Debug, Clone)]
pub(crate) struct WordOptions {
    pub mode: SuggestMode,
    pub sort: SortBy,
    pub accuracy: f32,
    pub similarity: Similarity,
    pub edits_max: u8,
    pub inspections_max: usize,
    /// Below 1 a share of the documents, otherwise a count.
    pub term_frequency_max: f32,
    pub document_frequency_min: f32,
    pub prefix_length: usize,
    pub word_length_min: usize,
}

impl Default for WordOptions {
    fn default() -> WordOptions {
        WordOptions {
            mode: SuggestMode::Missing,
            sort: SortBy::Score,
            accuracy: 0.5,
            similarity: Similarity::Internal,
            edits_max: 2,
            inspections_max: 5,
            term_frequency_max: 0.01,
            document_frequency_min: 0.0,
            prefix_length: 1,
            word_length_min: 4,
        }
    }
}

impl WordOptions {
    /// Parses the options.
    ///
    /// # Errors
    /// Options that `kind` does not have, in Elasticsearch's words.
    pub fn parse(options: &Map<String, Value>, kind: &str) -> std::result::Result<WordOptions, RequestError> {
        let mut parsed = WordOptions::default();
        for (key, value) in options {
            if !parsed.take(key, value)? {
                let reason = format!("suggester[{kind}] doesn't support field [{key}]");
                return Err(RequestError::parsing(reason));
            }
        }
        Ok(parsed)
    }

    /// Reads one option; returns `false` if there is no such option.
    pub fn take(&mut self, key: &str, value: &Value) -> std::result::Result<bool, RequestError> {
        match key {
            "suggest_mode" => self.mode = mode(&json::text(value)?)?,
            "sort" => self.sort = sort_by(&json::text(value)?)?,
            "accuracy" => self.accuracy = json::float(value)?,
            "string_distance" => self.similarity = Similarity::parse(&json::text(value)?)?,
            "max_edits" => match json::int(value)? {
                edits @ 1..=2 => self.edits_max = edits as u8,
                _ => return Err(RequestError::illegal_argument("maxEdits must be between 1 and 2")),
            },
            "max_inspections" => self.inspections_max = not_negative("maxInspections", value)?,
            "max_term_freq" => self.term_frequency_max = frequency("maxTermFreq", value)?,
            "min_doc_freq" => self.document_frequency_min = frequency("minDocFreq", value)?,
            "prefix_length" | "prefix_len" => self.prefix_length = not_negative("prefixLength", value)?,
            "min_word_length" | "min_word_len" => {
                self.word_length_min = not_negative("minWordLength", value)?;
                if self.word_length_min == 0 {
                    return Err(RequestError::illegal_argument(
                        "minWordLength must be greater or equal to 1",
                    ));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn not_negative(name: &str, value: &Value) -> std::result::Result<usize, RequestError> {
    usize::try_from(json::int(value)?)
        .map_err(|_| RequestError::illegal_argument(format!("{name} must be positive")))
}

fn frequency(name: &str, value: &Value) -> std::result::Result<f32, RequestError> {
    let number = json::float(value)?;
    if number < 0.0 {
        return Err(RequestError::illegal_argument(format!("{name} must be positive")));
    }
    if number > 1.0 && number.fract() != 0.0 {
        let reason = format!("if {name} is greater than 1, it must not be a fraction");
        return Err(RequestError::illegal_argument(reason));
    }
    Ok(number)
}

fn mode(name: &str) -> std::result::Result<SuggestMode, RequestError> {
    match name {
        "missing" => Ok(SuggestMode::Missing),
        "popular" => Ok(SuggestMode::Popular),
        "always" => Ok(SuggestMode::Always),
        other => Err(no_constant("SuggestMode", other)),
    }
}

fn sort_by(name: &str) -> std::result::Result<SortBy, RequestError> {
    match name {
        "score" => Ok(SortBy::Score),
        "frequency" => Ok(SortBy::Frequency),
        other => Err(no_constant("SortBy", other)),
    }
}

pub(crate) fn no_constant(of: &str, name: &str) -> RequestError {
    RequestError::illegal_argument(format!(
        "No enum constant org.elasticsearch.search.suggest.{of}.{}",
        name.to_uppercase()
    ))
}
