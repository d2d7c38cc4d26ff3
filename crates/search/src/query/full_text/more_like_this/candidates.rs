//! Selects the terms of a text or document that are searched.
//!
//! A term is more significant if it is frequent in the text and rare in the shard (tf-idf). Source:
//! Elasticsearch's `XMoreLikeThis#createQueue`, with Lucene's heap and Java's order of equal terms.

use std::collections::HashSet;
use std::sync::Arc;

use limber_mapping::Field;
use limber_work as work;

use crate::error::Error;
use crate::matcher::PositionQueue;
use crate::primitives::java_order::in_java_order;
use crate::query::bind::Binder;

/// The parameters of the selection.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    pub max_query_terms: i32,
    pub min_term_freq: i32,
    pub min_doc_freq: i32,
    pub max_doc_freq: i32,
    pub min_word_length: i32,
    pub max_word_length: i32,
    pub stop_words: HashSet<String>,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            max_query_terms: 25,
            min_term_freq: 2,
            min_doc_freq: 5,
            max_doc_freq: i32::MAX,
            min_word_length: 0,
            max_word_length: 0,
            stop_words: HashSet::new(),
        }
    }
}

impl Selection {
    /// Whether a term is never searched.
    pub fn is_noise(&self, term: &str) -> bool {
        let is_odd = || {
            let length = term.encode_utf16().count();
            let is_beyond = |bound: i32, is_outside: fn(usize, usize) -> bool| {
                usize::try_from(bound).is_ok_and(|bound| bound > 0 && is_outside(length, bound))
            };
            is_beyond(self.min_word_length, |length, least| length < least)
                || is_beyond(self.max_word_length, |length, most| length > most)
        };
        self.stop_words.contains(term) || is_odd()
    }

    fn is_too_seldom(&self, count: u32) -> bool {
        self.min_term_freq > 0 && i64::from(count) < i64::from(self.min_term_freq)
    }

    fn is_outside(&self, doc_freq: u64) -> bool {
        let is_rare = self.min_doc_freq > 0 && (doc_freq as i64) < i64::from(self.min_doc_freq);
        is_rare || doc_freq as i64 > i64::from(self.max_doc_freq) || doc_freq == 0
    }
}

/// The terms of texts or documents, of which some are selected.
#[derive(Debug)]
pub(super) struct Candidates {
    /// The fields. Each term is searched in the field with its highest document frequency.
    pub fields: Vec<Arc<Field>>,
    /// The terms with their frequencies in the texts, in the order of Java's `HashMap`.
    terms: Vec<(String, u32)>,
    /// `[terms.len() * fields.len()]`: the document frequency in the shard of each term in each field.
    doc_freqs: Vec<u64>,
    /// How many terms are selected.
    count_max: usize,
}

/// A selected term.
pub(super) struct Chosen<'c> {
    pub field: &'c Arc<Field>,
    pub term: &'c str,
    pub score: f32,
}

impl Candidates {
    /// `terms` are in the order in which they were found.
    pub fn of(
        terms: Vec<(String, u32)>,
        fields: Vec<Arc<Field>>,
        selection: &Selection,
        binder: &Binder<'_>,
    ) -> Result<Candidates, Error> {
        let count_max = terms.len().min(usize::try_from(selection.max_query_terms).unwrap_or(0));
        let mut terms = in_java_order(terms, |(term, _)| term);
        terms.retain(|(_, count)| !fields.is_empty() && !selection.is_too_seldom(*count));
        // A field that is named again adds nothing: of equal frequencies the first one counts.
        let mut seen = HashSet::new();
        let fields: Vec<Arc<Field>> = fields.into_iter().filter(|field| seen.insert(field.id)).collect();
        work::claim((terms.len() * fields.len() * size_of::<u64>()) as u64)?;
        let mut doc_freqs = Vec::with_capacity(terms.len() * fields.len());
        for (term, _) in &terms {
            work::check()?;
            for field in &fields {
                doc_freqs.push(binder.doc_freq(field, term.as_bytes())?);
            }
        }
        Ok(Candidates { fields, terms, doc_freqs, count_max })
    }

    /// Returns the most significant terms, least significant first. `doc_count` is the number of live
    /// documents; `doc_freq` computes the document frequency of a term in a field from that in the shard.
    pub fn choose(
        &self,
        selection: &Selection,
        doc_count: u64,
        doc_freq: impl Fn(&Field, &str, u64) -> u64,
    ) -> Vec<Chosen<'_>> {
        let Some(first) = self.fields.first().filter(|_| self.count_max > 0) else { return Vec::new() };
        let mut queue = PositionQueue::new(self.count_max, |left, right| left < right);
        let mut kept: Vec<Option<Chosen<'_>>> = Vec::new();
        for ((term, count), of_shard) in self.terms.iter().zip(self.doc_freqs.chunks(self.fields.len())) {
            let (mut top, mut most) = (first, 0);
            for (field, of_shard) in self.fields.iter().zip(of_shard) {
                let freq = doc_freq(field, term, *of_shard);
                if freq > most {
                    (top, most) = (field, freq);
                }
            }
            if selection.is_outside(most) {
                continue;
            }
            let score = *count as f32 * idf(most, doc_count);
            // The bits of positive floats have the same order as the floats.
            let key = (i64::from(score.to_bits()), 0);
            let chosen = Chosen { field: top, term, score };
            if queue.len() < self.count_max {
                queue.push(key, kept.len());
                kept.push(Some(chosen));
            } else if let Some((least, place)) = queue.first()
                && least < key
            {
                queue.replace_first(key);
                kept[place] = Some(chosen);
            }
        }
        let mut chosen = Vec::with_capacity(kept.len());
        while let Some((_, place)) = queue.pop() {
            chosen.extend(kept[place].take());
        }
        chosen
    }
}

/// Lucene's `ClassicSimilarity#idf`.
fn idf(doc_freq: u64, doc_count: u64) -> f32 {
    (((doc_count + 1) as f64 / (doc_freq + 1) as f64).ln() + 1.0) as f32
}
