//! What a `more_like_this` query is made from, for those who show why a document is alike: "which terms would
//! be looked for if the text that is shown were the shard?"
//!
//! Lucene's highlighters rewrite a query on an index of the text that they show, and this query chooses its
//! terms when it is rewritten; so what is marked are not the terms by which the document was found. The fast
//! vector highlighter alone rewrites it on the shard.

use limber_mapping::Field;

use super::candidates::{Candidates, Chosen, Selection};

/// Texts and documents that others are to be like, on one shard.
#[derive(Debug)]
pub(crate) struct Likeness {
    pub(super) selection: Selection,
    /// Of the documents, field by field, then of the texts.
    pub(super) candidates: Vec<Candidates>,
    /// Live documents of the shard.
    pub(super) doc_count: u64,
    pub(super) boost: f32,
    /// 0: terms are not weighted.
    pub(super) boost_terms: f32,
}

impl Likeness {
    /// The fields that terms are looked for in, some of them several times.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.candidates.iter().flat_map(|candidates| &candidates.fields).map(|field| &**field)
    }

    /// The product of all boosts down to it.
    pub fn boost(&self) -> f32 {
        self.boost
    }

    /// The terms of `field` that are marked in a text of it, which has those terms that `is_there` says: it
    /// stands for the one document, other fields are the shard's.
    pub fn terms_in_field<'l>(&'l self, field: &Field, is_there: impl Fn(&[u8]) -> bool) -> Vec<&'l [u8]> {
        let doc_freq = |other: &Field, term: &str, of_shard: u64| match other.path == field.path {
            true => u64::from(is_there(term.as_bytes())),
            false => of_shard,
        };
        let mut terms = Vec::new();
        for candidates in &self.candidates {
            let chosen = candidates.choose(&self.selection, self.doc_count, doc_freq);
            let own = chosen.into_iter().filter(|one| one.field.path == field.path);
            terms.extend(own.map(|one| one.term.as_bytes()));
        }
        terms
    }

    /// The terms that are marked in a text that stands for every field, with their weights; `field`: those
    /// that are looked for in it alone.
    pub fn weighted_terms_in_text<'l>(
        &'l self,
        field: Option<&Field>,
        is_there: impl Fn(&[u8]) -> bool,
    ) -> Vec<(&'l [u8], f32)> {
        let doc_freq = |_: &Field, term: &str, _: u64| u64::from(is_there(term.as_bytes()));
        let mut terms = Vec::new();
        for candidates in &self.candidates {
            let chosen = candidates.choose(&self.selection, 1, doc_freq);
            let weights = weights(&chosen, self.boost, self.boost_terms);
            let weighted = chosen.into_iter().zip(weights);
            let own = weighted.filter(|(one, _)| field.is_none_or(|field| one.field.path == field.path));
            terms.extend(own.map(|(one, weight)| (one.term.as_bytes(), weight)));
        }
        terms
    }
}

/// The boosts of the terms of one choice: how much more each stands out than the first.
pub(super) fn weights(chosen: &[Chosen<'_>], boost: f32, boost_terms: f32) -> Vec<f32> {
    let least = chosen.first().map_or(1.0, |first| first.score);
    let weight = |one: &Chosen<'_>| match boost_terms {
        0.0 => boost,
        factor => boost * (factor * one.score / least),
    };
    chosen.iter().map(weight).collect()
}
