//! Which documents of a segment have a field.

use super::Segment;
use crate::columns::Presence;
use crate::postings::{Postings, Want};
use crate::terms::TermDictionary;
use crate::{Error, NO_MORE_DOCS, Result};

impl Segment {
    /// Returns which documents have the field: from its column, otherwise from norms, points or terms
    /// (computed once and cached).
    pub fn presence(&self, path: &str) -> Result<Option<Presence<'_>>> {
        let Some(number) = self.number(path) else {
            return self.key(path)?.map_or_else(|| self.named(path), |key| key.presence(self).map(Some));
        };
        if let Some(column) = self.numbers(path)? {
            return Ok(Some(column.presence()));
        }
        if let Some(column) = self.ordinals(path)? {
            return Ok(Some(column.presence()));
        }
        if let Some(shapes) = self.shapes(path)? {
            return Ok(Some(shapes.places().presence()));
        }
        self.file.readable_field(number)?;
        let state = &self.state(number).presence;
        if state.get().is_none() {
            let Some(words) = self.compute_presence(number)? else { return self.named(path) };
            let count = words.iter().map(|word| word.count_ones()).sum();
            let _ = state.set((words.into(), count));
        }
        Ok(state.get().map(|(words, count)| Presence::Bits(words.clone(), *count)))
    }

    /// Returns the documents that name the field in `_field_names`, for a field with neither column, norms
    /// nor terms.
    fn named(&self, path: &str) -> Result<Option<Presence<'_>>> {
        let mut words = vec![0u64; self.doc_count().div_ceil(64) as usize];
        if !self.mark_named(path, &mut words)? {
            return Ok(None);
        }
        let count = words.iter().map(|word| word.count_ones()).sum();
        Ok(Some(Presence::Bits(words.into(), count)))
    }

    /// Sets the bit of every document that names the field in `_field_names`; returns whether there is one.
    fn mark_named(&self, path: &str, words: &mut [u64]) -> Result<bool> {
        let Some(number) = self.number("_field_names") else { return Ok(false) };
        let Some(inverted) = self.inverted(number)? else { return Ok(false) };
        let Some(info) = inverted.terms.get(path.as_bytes())? else { return Ok(false) };
        mark(inverted.postings.postings(&info, Want::Docs)?, words)?;
        Ok(true)
    }

    /// Sets the bit of every document that has one of a field's terms.
    pub(crate) fn mark_all(&self, number: u32, terms: &TermDictionary, words: &mut [u64]) -> Result<()> {
        let Some(inverted) = self.inverted(number)? else { return Ok(()) };
        let mut cursor = terms.cursor();
        while let Some((_, info)) = cursor.next()? {
            mark(inverted.postings.postings(&info, Want::Docs)?, words)?;
        }
        Ok(())
    }

    fn compute_presence(&self, number: u32) -> Result<Option<Vec<u64>>> {
        let path = self.info(number).path.clone();
        let mut words = vec![0u64; self.doc_count().div_ceil(64) as usize];
        if let Some(norms) = self.norms(&path)? {
            norms.for_each(|doc, _| words[doc as usize / 64] |= 1 << (doc % 64));
        } else if let Some(points) = self.raw_points(&path)? {
            points.fill_bits(i64::MIN..=i64::MAX, &mut words)?;
        } else if let Some(inverted) = self.inverted(number)? {
            self.mark_all(number, &inverted.terms, &mut words)?;
        } else {
            return Ok(None);
        }
        // Documents whose text has no token have neither terms nor a norm.
        self.mark_named(&path, &mut words)?;
        Ok(Some(words))
    }
}

/// Sets the bit of every document of a term.
fn mark(mut postings: Postings, words: &mut [u64]) -> Result<()> {
    while postings.doc() != NO_MORE_DOCS {
        for doc in postings.block_docs() {
            let word = words.get_mut(*doc as usize / 64);
            *word.ok_or_else(|| Error::corrupt("postings", 0, "documents of the segment"))? |=
                1 << (doc % 64);
        }
        postings.next_block();
    }
    postings.status()
}
