//! Finds similar words: "which terms of this field may have been meant?"
//!
//! Source: Lucene's `DirectSpellChecker` and Elasticsearch's `DirectSpellcheckerSettings`.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use limber_segment::terms::TermDictionary;
use limber_text::automaton::{Levenshtein, TermAutomaton};

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::matcher::automaton;
use crate::request::suggest::{SuggestMode, WordOptions};

/// A word of the index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Similar {
    pub text: String,
    pub score: f32,
    /// Number of documents of the shard that have it.
    pub frequency: u64,
}

/// Orders by similarity, frequency, then the text; best first.
pub(super) fn by_score(left: &Similar, right: &Similar) -> Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| right.frequency.cmp(&left.frequency))
        .then_with(|| left.text.cmp(&right.text))
}

/// The terms of one field of a shard.
pub(super) struct FieldTerms<'s> {
    dictionaries: Vec<&'s TermDictionary>,
    /// Number of documents, deleted ones included.
    pub document_count: u64,
}

impl<'s> FieldTerms<'s> {
    /// Opens a field of a shard.
    ///
    /// # Errors
    /// Corrupt data or a disk error.
    pub fn open(shard: &'s ShardSnapshot, path: &str) -> Result<FieldTerms<'s>> {
        let mut dictionaries = Vec::new();
        for view in &shard.segments {
            dictionaries.extend(view.segment.terms(path)?);
        }
        Ok(FieldTerms { dictionaries, document_count: shard.doc_count() })
    }

    /// Returns the number of documents with a term, and of its occurrences.
    pub fn counts(&self, term: &str) -> Result<(u64, u64)> {
        let mut counts = (0, 0);
        for dictionary in &self.dictionaries {
            if let Some(info) = dictionary.get(term.as_bytes())? {
                counts = (counts.0 + u64::from(info.doc_freq), counts.1 + info.total_term_freq);
            }
        }
        Ok(counts)
    }

    /// Returns the number of occurrences of all terms.
    pub fn total_frequency(&self) -> u64 {
        self.dictionaries.iter().map(|dictionary| dictionary.sum_total_term_freq()).sum()
    }

    /// Returns the number of distinct terms; a term of several segments counts once per segment.
    pub fn term_count(&self) -> u64 {
        self.dictionaries.iter().map(|dictionary| dictionary.len()).sum()
    }

    /// Returns the words that are similar to `word`, best first, at most `count`.
    ///
    /// # Errors
    /// Cancelled, out of memory, corrupt data or a disk error.
    pub fn similar(
        &self,
        word: &str,
        options: &WordOptions,
        threshold: Option<f32>,
        count: usize,
        context: &SearchContext,
    ) -> Result<Vec<Similar>> {
        let frequency = self.counts(word)?.0;
        if word.chars().count() < options.word_length_min
            || (options.mode == SuggestMode::Missing && frequency > 0)
            || self.is_too_frequent(frequency, options)
        {
            return Ok(Vec::new());
        }
        let own = if options.mode == SuggestMode::Popular { frequency } else { 0 };
        let share = threshold.unwrap_or(options.document_frequency_min);
        let least = match share {
            share if share >= 1.0 => own.max(share as u64),
            share if share > 0.0 => own.max(((share * self.document_count as f32) as u64).saturating_sub(1)),
            _ => own,
        };
        let inspections = count.saturating_mul(options.inspections_max);
        let mut found = self.within(word, 1, least, options, inspections, context)?;
        if options.edits_max > 1 && found.len() < inspections {
            let near = found;
            found = self.within(word, options.edits_max, least, options, inspections, context)?;
            let known: HashSet<String> = found.iter().map(|one| one.text.clone()).collect();
            found.extend(near.into_iter().filter(|one| !known.contains(&one.text)));
        }
        found.sort_by(by_score);
        found.truncate(count);
        Ok(found)
    }

    fn is_too_frequent(&self, frequency: u64, options: &WordOptions) -> bool {
        let limit = match options.term_frequency_max {
            limit if limit >= 1.0 => limit as u64,
            share => (share * self.document_count as f32).ceil() as u64,
        };
        frequency > limit
    }

    /// Finds the best terms within `edits` edits that more than `least` documents have.
    fn within(
        &self,
        word: &str,
        edits: u8,
        least: u64,
        options: &WordOptions,
        count: usize,
        context: &SearchContext,
    ) -> Result<Vec<Similar>> {
        if Levenshtein::is_beyond_terms(word) {
            return Ok(Vec::new());
        }
        let automaton = Levenshtein::new(word, edits, options.prefix_length, true)?;
        let mut frequencies: HashMap<Vec<u8>, (u64, u8)> = HashMap::new();
        for dictionary in &self.dictionaries {
            automaton::walk(dictionary, &automaton as &dyn TermAutomaton, |cursor, distance| {
                context.check()?;
                let entry = frequencies.entry(cursor.term().to_vec()).or_insert((0, distance));
                entry.0 += u64::from(cursor.info()?.doc_freq);
                Ok(())
            })?;
        }
        let mut found = Vec::new();
        for (term, (frequency, distance)) in frequencies {
            let Ok(text) = String::from_utf8(term) else { continue };
            if text == word || frequency <= least {
                continue;
            }
            let score = options.similarity.of(word, &text, distance)?;
            if score >= options.accuracy {
                found.push(Similar { text, score, frequency });
            }
        }
        found.sort_by(|left, right| {
            right.score.total_cmp(&left.score).then_with(|| left.text.cmp(&right.text))
        });
        found.truncate(count);
        Ok(found)
    }
}
