//! Documents of a cached filter, or of one that is about to be cached.

use std::sync::Arc;

use limber_segment::{DocId, NO_MORE_DOCS};

use super::{Bits, BoxedMatcher, Matcher, WINDOW};
use crate::cache::FilterSet;
use crate::error::Result;

pub(super) struct KeptDocs {
    set: Arc<FilterSet>,
    /// Current index in a sparse set.
    at: usize,
}

impl Matcher for KeptDocs {
    fn cost(&self) -> u64 {
        match &*self.set {
            FilterSet::Sparse(docs) => docs.len() as u64,
            FilterSet::Bits(_, count) => u64::from(*count),
        }
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        match &*self.set {
            FilterSet::Sparse(docs) => {
                self.at += docs[self.at..].partition_point(|doc| *doc < target);
                Ok(docs.get(self.at).copied().unwrap_or(NO_MORE_DOCS))
            }
            FilterSet::Bits(words, _) => {
                let first = target as usize / 64;
                let Some(word) = words.get(first) else { return Ok(NO_MORE_DOCS) };
                let word = word >> (target % 64) << (target % 64);
                let mut rest = words[first + 1..].iter().enumerate();
                Ok(match word {
                    0 => match rest.find(|(_, word)| **word != 0) {
                        Some((at, word)) => (first + 1 + at) as u32 * 64 + word.trailing_zeros(),
                        None => NO_MORE_DOCS,
                    },
                    word => first as u32 * 64 + word.trailing_zeros(),
                })
            }
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match &*self.set {
            FilterSet::Sparse(docs) => {
                self.at += docs[self.at..].partition_point(|doc| *doc < start);
                while let Some(doc) = docs.get(self.at).filter(|doc| **doc - start < WINDOW) {
                    bits.set(doc - start);
                    self.at += 1;
                }
            }
            FilterSet::Bits(words, _) => {
                let words = words.get(start as usize / 64..).unwrap_or_default();
                bits.0.iter_mut().zip(words).for_each(|(word, own)| *word |= own);
            }
        }
        Ok(())
    }
}

/// Matches the documents of a cached set.
pub(crate) fn kept<'a>(set: Arc<FilterSet>) -> BoxedMatcher<'a> {
    Box::new(KeptDocs { set, at: 0 })
}

/// Reads all documents that match a filter in a segment with this number of documents.
pub(crate) fn read_all(mut matcher: BoxedMatcher<'_>, doc_count: u32) -> Result<FilterSet> {
    let mut words = vec![0u64; (doc_count as usize).div_ceil(64)];
    let mut start = 0;
    loop {
        let next = matcher.next(start)?;
        if next >= doc_count {
            return Ok(FilterSet::new(words, doc_count));
        }
        start = next / WINDOW * WINDOW;
        let mut bits = Bits::default();
        matcher.fill(start, &mut bits)?;
        let here = &mut words[start as usize / 64..];
        here.iter_mut().zip(&bits.0).for_each(|(word, bits)| *word = *bits);
        start += WINDOW;
    }
}
