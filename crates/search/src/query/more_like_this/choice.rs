//! Which of the terms of a text or document are looked for: "by which of them does it stand out?"
//!
//! A term stands out the more, the more often it is there and the rarer it is in the shard. Source: Elasticsearch's `XMoreLikeThis#createQueue`, with
//! Lucene's heap and Java's order of equal ones.

use std::collections::HashSet;
use std::sync::Arc;

use limber_mapping::Field;

use super::java_order::in_java_order;
use crate::error::Error;
use crate::matcher::PositionQueue;
use crate::query::bind::Binder;

/// The parameters that say which terms are looked for.
#[derive(Debug)]
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

/// A term that is looked for.
pub(super) struct Chosen {
    pub field: Arc<Field>,
    pub term: String,
    pub score: f32,
}

impl Selection {
    /// Whether a term is one that is never looked for.
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

    /// Of terms with their counts, in the order in which they were met, those that stand out most, least first. Each is looked for in that of
    /// `fields` that has it in most documents. `doc_count`: live documents of the shard.
    pub fn choose(
        &self,
        terms: Vec<(String, u32)>,
        fields: &[Arc<Field>],
        doc_count: u64,
        binder: &Binder<'_>,
    ) -> Result<Vec<Chosen>, Error> {
        let Some(first) = fields.first() else { return Ok(Vec::new()) };
        let limit = terms.len().min(usize::try_from(self.max_query_terms).unwrap_or(0));
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut queue = PositionQueue::new(limit, |left, right| left < right);
        let mut kept: Vec<Option<Chosen>> = Vec::new();
        for (term, count) in in_java_order(terms, |(term, _)| term) {
            if self.min_term_freq > 0 && i64::from(count) < i64::from(self.min_term_freq) {
                continue;
            }
            let (mut top, mut doc_freq) = (first, 0);
            for field in fields {
                let freq = binder.doc_freq(field, term.as_bytes())?;
                if freq > doc_freq {
                    (top, doc_freq) = (field, freq);
                }
            }
            let is_rare = self.min_doc_freq > 0 && (doc_freq as i64) < i64::from(self.min_doc_freq);
            if is_rare || doc_freq as i64 > i64::from(self.max_doc_freq) || doc_freq == 0 {
                continue;
            }
            let score = count as f32 * idf(doc_freq, doc_count);
            // Bits of floats above zero ascend as they do.
            let key = (i64::from(score.to_bits()), 0);
            let chosen = Chosen { field: top.clone(), term, score };
            if queue.len() < limit {
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
        Ok(chosen)
    }
}

/// Lucene's `ClassicSimilarity#idf`.
fn idf(doc_freq: u64, doc_count: u64) -> f32 {
    (((doc_count + 1) as f64 / (doc_freq + 1) as f64).ln() + 1.0) as f32
}
