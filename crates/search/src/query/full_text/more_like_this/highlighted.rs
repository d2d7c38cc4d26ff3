//! The input of a `more_like_this` query, for highlighters: selects the terms that would be searched if the
//! highlighted text were the whole shard.
//!
//! Lucene's highlighters rewrite a query on an index of the text that they highlight, and `more_like_this`
//! selects its terms in the rewrite. So the highlighted terms are not those by which the document was found.
//! Only the fast vector highlighter rewrites the query on the shard.

use limber_mapping::Field;

use super::candidates::{Candidates, Chosen, Selection};

/// The texts and documents of a `more_like_this` query, on one shard.
#[derive(Debug)]
pub(crate) struct MoreLikeThisTerms {
    pub(super) selection: Selection,
    /// The terms of the documents, field by field, followed by those of the texts.
    pub(super) candidates: Vec<Candidates>,
    /// Number of live documents in the shard.
    pub(super) doc_count: u64,
    pub(super) boost: f32,
    /// 0 if the terms are not weighted.
    pub(super) boost_terms: f32,
}

impl MoreLikeThisTerms {
    /// Returns the fields that terms are searched in. A field can occur several times.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.candidates.iter().flat_map(|candidates| &candidates.fields).map(|field| &**field)
    }

    /// Returns the product of all boosts from the root query down to it.
    pub fn boost(&self) -> f32 {
        self.boost
    }

    /// Returns the terms of `field` that are highlighted in a text of it. `is_there` says which terms the
    /// text has. For this field the text is the only document, and for other fields the document frequencies
    /// of the shard are used.
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

    /// Returns the terms that are highlighted in a text that stands for every field, with their weights. With
    /// `field`, only the terms that are searched in it are returned.
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

/// Returns the boosts of selected terms, which are proportional to their scores relative to the first term's.
pub(super) fn weights(chosen: &[Chosen<'_>], boost: f32, boost_terms: f32) -> Vec<f32> {
    let least = chosen.first().map_or(1.0, |first| first.score);
    let weight = |one: &Chosen<'_>| match boost_terms {
        0.0 => boost,
        factor => boost * (factor * one.score / least),
    };
    chosen.iter().map(weight).collect()
}
