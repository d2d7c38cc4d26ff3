//! Fuzzy terms: their edit distance from a word, and their scores.
//!
//! Source: Elasticsearch's `Fuzziness`, Lucene's `FuzzyQuery` and `FuzzyTermsEnum`.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use limber_text::automaton::Levenshtein;
use serde_json::Value;

use super::flattened::refuse_key;
use super::rewrite::{Rewrite, bind_automaton, collect_terms};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::values::json;

/// `fuzziness`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fuzziness {
    /// Depends on the word's length: no edits below the first length, one below the second, two from there
    /// on.
    Auto(usize, usize),
    Edits(u8),
}

impl Fuzziness {
    /// `AUTO`: no edits up to two characters, one up to five, two for more.
    pub const AUTO: Fuzziness = Fuzziness::Auto(3, 6);

    /// Parses the option. Fails with Elasticsearch's messages.
    pub fn parse(value: &Value) -> Result<Fuzziness, RequestError> {
        let given = json::scalar_text(value).unwrap_or_default();
        let text = given.to_uppercase();
        if text == "AUTO" {
            return Ok(Fuzziness::AUTO);
        }
        if let Some(lengths) = text.strip_prefix("AUTO:") {
            let parse_error = |reason: String| RequestError::bad_request("parse_exception", reason);
            let Some((low, high)) = lengths.split_once(',') else {
                return Err(parse_error("failed to find low and high distance values".to_owned()));
            };
            let number = |text: &str| text.trim().parse::<i32>().map_err(|_| json::number_format(text));
            let (low, high) = (number(low)?, number(high)?);
            if low < 0 || high < 0 || low > high {
                return Err(parse_error(format!(
                    "fuzziness wrongly configured [{text}]. Must be 0 < lower value <= higher value."
                )));
            }
            return Ok(Fuzziness::Auto(low as usize, high as usize));
        }
        let number: f32 = text.parse().map_err(|_| {
            RequestError::illegal_argument(format!("fuzziness cannot be [{given}]."))
                .caused_by(json::number_format(&text))
        })?;
        match number {
            number if (0.0..3.0).contains(&number) => Ok(Fuzziness::Edits(number as u8)),
            _ => Err(RequestError::illegal_argument(format!(
                "Valid edit distances are [0, 1, 2] but was [{given}]"
            ))),
        }
    }

    /// Returns the largest edit distance where the words are not known: `AUTO` is 1. Source:
    /// `Fuzziness#asDistance`.
    pub fn distance_from_any(self) -> u8 {
        match self {
            Fuzziness::Edits(edits) => edits,
            Fuzziness::Auto(..) => 1,
        }
    }

    /// Returns the largest edit distance from a word.
    pub fn distance(self, word: &str) -> u8 {
        match self {
            Fuzziness::Edits(edits) => edits,
            Fuzziness::Auto(low, high) => match word.chars().count() {
                length if length < low => 0,
                length if length < high => 1,
                _ => 2,
            },
        }
    }
}

/// The options of fuzzy terms.
#[derive(Debug, Clone)]
pub(in crate::query) struct Fuzzy {
    pub fuzziness: Fuzziness,
    /// The number of characters at the beginning that must be equal.
    pub prefix_length: i32,
    /// Largest number of terms that a word is expanded to.
    pub expansions_max: i32,
    /// Whether swapping two adjacent characters is one edit.
    pub transpositions: bool,
    pub rewrite: Option<String>,
}

impl Default for Fuzzy {
    fn default() -> Fuzzy {
        Fuzzy {
            fuzziness: Fuzziness::AUTO,
            prefix_length: 0,
            expansions_max: 50,
            transpositions: true,
            rewrite: None,
        }
    }
}

/// Upper limit of `expansions_max` (Lucene's `IndexSearcher#getMaxClauseCount`).
const EXPANSIONS_MAX: usize = 1024;

impl Fuzzy {
    /// Binds a query for the terms of a text or keyword field that are similar to `word`.
    pub fn bind(
        &self,
        binder: &Binder<'_>,
        field: &Arc<Field>,
        word: &str,
        boost: f32,
    ) -> Result<BoundQuery, Error> {
        let rewrite = self.check(binder, field)?;
        let distance = self.distance(word);
        let length = word.chars().count();
        let prefix_length = self.prefix_length as usize;
        if Levenshtein::is_beyond_terms(word) {
            return Ok(BoundQuery::nothing("no term is as long"));
        }
        if distance == 0 {
            return binder.scored_term(field, word.as_bytes(), boost);
        }
        let automaton = Levenshtein::new(word, distance, prefix_length, self.transpositions)?;
        let text = format!("{}:{word}~{distance}", field.path);
        let nearness = |term: &[u8], distance: u8| nearness(term, distance, length);
        bind_automaton(binder, field, Arc::new(automaton), rewrite, nearness, boost, text)
    }

    /// Returns the terms of the field that are similar to `word`, each with its similarity.
    pub fn terms(
        &self,
        binder: &Binder<'_>,
        field: &Field,
        word: &str,
    ) -> Result<BTreeMap<Box<[u8]>, f32>, Error> {
        let rewrite = self.check(binder, field)?;
        let distance = self.distance(word);
        let length = word.chars().count();
        let prefix_length = self.prefix_length as usize;
        if Levenshtein::is_beyond_terms(word) {
            return Ok(BTreeMap::new());
        }
        let automaton = Levenshtein::new(word, distance, prefix_length, self.transpositions)?;
        let rewrite = if rewrite == Rewrite::Constant { Rewrite::Scoring } else { rewrite };
        let nearness = |term: &[u8], distance: u8| nearness(term, distance, length);
        collect_terms(binder, field, &automaton, rewrite, nearness)
    }

    /// Returns the largest edit distance from a word; only the empty term is similar to an empty one.
    fn distance(&self, word: &str) -> u8 {
        if word.is_empty() { 0 } else { self.fuzziness.distance(word) }
    }

    /// Refuses fields that do not support fuzzy terms, and invalid options.
    fn check(&self, binder: &Binder<'_>, field: &Field) -> Result<Rewrite, Error> {
        if field.has_texts() && &*field.path != "_id" {
            binder.check_expensive("[fuzzy] queries")?;
        } else {
            let reason = format!(
                "Can only use fuzzy queries on keyword and text fields - not on [{}] which is of type [{}]",
                field.path,
                binder.type_name(field)
            );
            return Err(RequestError::illegal_argument(reason).into());
        }
        refuse_key(field, "fuzzy")?;
        if self.prefix_length < 0 {
            return Err(RequestError::illegal_argument("prefixLength cannot be negative.").into());
        }
        if self.expansions_max <= 0 {
            return Err(RequestError::illegal_argument("maxExpansions must be positive.").into());
        }
        let count_max = (self.expansions_max as usize).min(EXPANSIONS_MAX);
        Ok(match &self.rewrite {
            None => Rewrite::TopBlended(count_max),
            Some(name) => Rewrite::parse(name)?,
        })
    }
}

/// Returns the similarity of a term to a word of `length` characters (Lucene's `FuzzyTermsEnum`).
fn nearness(term: &[u8], distance: u8, length: usize) -> f32 {
    let shortest = String::from_utf8_lossy(term).chars().count().min(length);
    if distance == 0 { 1.0 } else { 1.0 - f32::from(distance) / shortest as f32 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fuzziness_is_read_in_all_its_forms() {
        for (value, word, expected) in [
            (json!("AUTO"), "ab", 0),
            (json!("auto"), "abc", 1),
            (json!("AUTO"), "abcdef", 2),
            (json!("AUTO:1,2"), "ab", 2),
            (json!(1), "abcdef", 1),
            (json!("2"), "a", 2),
            (json!(1.5), "a", 1),
        ] {
            assert_eq!(Fuzziness::parse(&value).expect("valid").distance(word), expected, "{value} {word}");
        }
        for value in [json!(3), json!("foo"), json!("AUTO:5"), json!("AUTO:5,2"), json!(-1)] {
            assert!(Fuzziness::parse(&value).is_err(), "{value}");
        }
    }
}
