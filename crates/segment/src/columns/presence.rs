//! Which documents have a field, regardless of how it is indexed. Used by `exists`.

use std::sync::Arc;

use super::doc_set::{DocSet, fill_first};
use super::format::GROUP as WINDOW;
use crate::{DocId, Result};

/// Documents that have a field.
#[derive(Debug, Clone)]
pub enum Presence<'a> {
    /// Every document of the segment; holds their count.
    All(u32),
    /// The document set of a column.
    Set(DocSet<'a>),
    /// Computed from terms or norms: bit `doc % 64` of word `doc / 64`, and the number of set bits.
    Bits(Arc<[u64]>, u32),
}

impl Presence<'_> {
    /// Returns the number of documents that have the field, deleted ones included.
    pub fn count(&self) -> Result<u32> {
        match self {
            Presence::All(count) | Presence::Bits(_, count) => Ok(*count),
            Presence::Set(set) => set.count(),
        }
    }

    /// Whether a document has the field.
    #[inline]
    pub fn contains(&self, doc: DocId) -> Result<bool> {
        match self {
            Presence::All(count) => Ok(doc < *count),
            Presence::Set(set) => set.contains(doc),
            Presence::Bits(words, _) => {
                Ok(words.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 != 0))
            }
        }
    }

    /// Sets `out` to the members among the 4,096 documents from `4096 * window`, bit 0 of word 0 first.
    pub fn fill_window(&self, window: usize, out: &mut [u64; WINDOW / 64]) -> Result<()> {
        match self {
            Presence::All(count) => {
                fill_first(out, (*count as usize).saturating_sub(window * WINDOW).min(WINDOW))
            }
            Presence::Set(set) => set.fill_window(window, out)?,
            Presence::Bits(words, _) => {
                let words = words.get(window * out.len()..).unwrap_or_default();
                out.fill(0);
                out.iter_mut().zip(words).for_each(|(out, word)| *out = *word);
            }
        }
        Ok(())
    }
}
