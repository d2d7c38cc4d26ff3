//! The probability of a word after the words before it, by the counts of an index.
//!
//! Source: Elasticsearch's `WordScorer`, `StupidBackoffScorer`, `LaplaceScorer` and
//! `LinearInterpolatingScorer`.

use std::cell::RefCell;
use std::collections::HashMap;

use super::words::FieldTerms;
use crate::error::Result;
use crate::request::suggest::Smoothing;

/// Avoids division by zero. Source: `StupidBackoffScorer`.
const ALMOST_NOTHING: f64 = 0.000_000_000_01;

/// The language model of one shard.
pub(super) struct Language<'s> {
    terms: FieldTerms<'s>,
    smoothing: Smoothing,
    separator: String,
    vocabulary: f64,
    term_count: f64,
    known: RefCell<HashMap<String, u64>>,
}

impl<'s> Language<'s> {
    pub(crate) fn new(terms: FieldTerms<'s>, smoothing: Smoothing, separator: &str) -> Language<'s> {
        Language {
            vocabulary: terms.total_frequency() as f64,
            term_count: terms.term_count() as f64,
            terms,
            smoothing,
            separator: separator.to_owned(),
            known: RefCell::default(),
        }
    }

    /// Returns the number of occurrences of a term.
    ///
    /// # Errors
    /// Corrupt data or a disk error.
    pub fn frequency(&self, term: &str) -> Result<u64> {
        if let Some(known) = self.known.borrow().get(term) {
            return Ok(*known);
        }
        let found = self.terms.counts(term)?.1;
        self.known.borrow_mut().insert(term.to_owned(), found);
        Ok(found)
    }

    /// Returns the number of occurrences of all terms.
    pub fn total(&self) -> f64 {
        self.vocabulary
    }

    fn joined(&self, words: &[&str]) -> Result<f64> {
        Ok(self.frequency(&words.join(&self.separator))? as f64)
    }

    fn of(&self, word: &str) -> Result<f64> {
        Ok(self.frequency(word)? as f64)
    }

    fn unigram(&self, word: &str) -> Result<f64> {
        let alpha = match self.smoothing {
            Smoothing::Laplace { alpha } => alpha,
            _ => 1.0,
        };
        Ok((alpha + self.of(word)?) / (self.vocabulary + alpha * self.term_count))
    }

    fn bigram(&self, word: &str, before: &str) -> Result<f64> {
        let count = self.joined(&[before, word])?;
        Ok(match self.smoothing {
            Smoothing::StupidBackoff { discount } if count < 1.0 => discount * self.unigram(word)?,
            Smoothing::StupidBackoff { .. } => count / (self.of(before)? + ALMOST_NOTHING),
            Smoothing::Laplace { alpha } => (alpha + count) / (self.of(before)? + alpha * self.term_count),
            Smoothing::LinearInterpolation { unigram, .. } if count < 1.0 => unigram * self.unigram(word)?,
            Smoothing::LinearInterpolation { bigram, unigram, .. } => {
                bigram * (count / (0.5 + self.of(before)?)) + unigram * self.unigram(word)?
            }
        })
    }

    fn trigram(&self, word: &str, before: &str, first: &str) -> Result<f64> {
        let count = self.joined(&[first, before, word])?;
        Ok(match self.smoothing {
            Smoothing::StupidBackoff { discount } => {
                let pair = self.joined(&[before, word])?;
                match (pair < 1.0, count < 1.0) {
                    (true, _) => discount * self.unigram(word)?,
                    (false, true) => discount * (pair / (self.of(before)? + ALMOST_NOTHING)),
                    (false, false) => count / (pair + ALMOST_NOTHING),
                }
            }
            Smoothing::Laplace { alpha } => {
                (alpha + count) / (self.joined(&[first, before])? + alpha * self.term_count)
            }
            Smoothing::LinearInterpolation { .. } if count < 1.0 => self.bigram(word, before)?,
            Smoothing::LinearInterpolation { trigram, .. } => {
                trigram * (count / (1.0 + self.joined(&[first, before])?)) + self.bigram(word, before)?
            }
        })
    }

    /// Returns the probability of the last of `words` after those before it.
    ///
    /// # Errors
    /// Corrupt data or a disk error.
    pub fn likelihood(&self, words: &[&str], gram_size: usize) -> Result<f64> {
        match words {
            [] => Ok(0.0),
            [word] => self.unigram(word),
            [.., word] if gram_size == 1 => self.unigram(word),
            [before, word] => self.bigram(word, before),
            [.., before, word] if gram_size == 2 => self.bigram(word, before),
            [.., first, before, word] => self.trigram(word, before, first),
        }
    }
}
