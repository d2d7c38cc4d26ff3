//! Matchers that need no index: nothing, everything, a list of documents, a bit set, the presence of a field,
//! and the union of others.

use limber_segment::columns::Presence;
use limber_segment::{DocId, NO_MORE_DOCS};

use super::{Bits, BoxedMatcher, Matcher, WINDOW};
use crate::error::Result;
use crate::matcher::clauses::each_clause;

pub(crate) struct NoDocs;

impl Matcher for NoDocs {
    fn cost(&self) -> u64 {
        0
    }

    fn next(&mut self, _: DocId) -> Result<DocId> {
        Ok(NO_MORE_DOCS)
    }

    fn fill(&mut self, _: DocId, _: &mut Bits) -> Result<()> {
        Ok(())
    }

    fn restrict(&mut self, _: DocId, bits: &mut Bits) -> Result<()> {
        bits.clear();
        Ok(())
    }
}

/// Matches every document of a segment with this number of documents.
pub(crate) struct AllDocs(pub u32);

impl Matcher for AllDocs {
    fn cost(&self) -> u64 {
        u64::from(self.0)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        Ok(if target < self.0 { target } else { NO_MORE_DOCS })
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        bits.set_range(0, self.0.saturating_sub(start).min(WINDOW));
        Ok(())
    }

    fn restrict(&mut self, _: DocId, _: &mut Bits) -> Result<()> {
        Ok(())
    }
}

/// Matches a list of documents in ascending order.
pub(crate) struct DocList {
    docs: Vec<DocId>,
    at: usize,
}

impl DocList {
    pub(crate) fn new(mut docs: Vec<DocId>) -> DocList {
        docs.sort_unstable();
        docs.dedup();
        DocList { docs, at: 0 }
    }
}

impl Matcher for DocList {
    fn cost(&self) -> u64 {
        self.docs.len() as u64
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        self.at += self.docs[self.at..].partition_point(|doc| *doc < target);
        Ok(self.docs.get(self.at).copied().unwrap_or(NO_MORE_DOCS))
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.next(start)?;
        while let Some(doc) = self.docs.get(self.at).filter(|doc| **doc - start < WINDOW) {
            bits.set(doc - start);
            self.at += 1;
        }
        Ok(())
    }
}

/// Matches the documents of a bit set over the whole segment.
pub(crate) struct DocBits {
    pub words: Vec<u64>,
    pub count: u64,
}

impl DocBits {
    pub(crate) fn new(doc_count: u32) -> DocBits {
        DocBits { words: vec![0; (doc_count as usize).div_ceil(64)], count: 0 }
    }

    /// Adds a document. Documents can be added in any order.
    #[inline]
    pub fn set(&mut self, doc: DocId) {
        self.words[doc as usize / 64] |= 1 << (doc % 64);
    }

    /// Makes a matcher of the added documents.
    pub fn finish(mut self) -> DocBits {
        self.count = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        self
    }
}

impl Matcher for DocBits {
    fn cost(&self) -> u64 {
        self.count
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut at = target as usize / 64;
        let Some(first) = self.words.get(at) else { return Ok(NO_MORE_DOCS) };
        let mut word = first >> (target % 64) << (target % 64);
        while word == 0 {
            at += 1;
            match self.words.get(at) {
                Some(next) => word = *next,
                None => return Ok(NO_MORE_DOCS),
            }
        }
        Ok(at as u32 * 64 + word.trailing_zeros())
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let words = self.words.get(start as usize / 64..).unwrap_or_default();
        bits.0.iter_mut().zip(words).for_each(|(word, own)| *word |= own);
        Ok(())
    }
}

/// Matches documents that have a value of a field.
pub(crate) struct HasField<'a> {
    presence: Presence<'a>,
    count: u32,
    doc_count: u32,
}

impl<'a> HasField<'a> {
    pub(crate) fn new(presence: Presence<'a>, doc_count: u32) -> Result<HasField<'a>> {
        let count = presence.count()?;
        Ok(HasField { presence, count, doc_count })
    }
}

impl Matcher for HasField<'_> {
    fn cost(&self) -> u64 {
        u64::from(self.count)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        Ok(if target < self.doc_count { target } else { NO_MORE_DOCS })
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut window = Bits::default();
        self.presence.fill_window((start / WINDOW) as usize, &mut window.0)?;
        bits.or(&window);
        Ok(())
    }
}

/// Matches documents that match any of several matchers.
pub(crate) struct Union<'a> {
    pub parts: Vec<BoxedMatcher<'a>>,
}

impl Matcher for Union<'_> {
    fn cost(&self) -> u64 {
        self.parts.iter().map(|part| part.cost()).sum()
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut first = NO_MORE_DOCS;
        for part in &mut self.parts {
            first = first.min(part.next(target)?);
            if first <= target {
                break;
            }
        }
        Ok(first)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        each_clause(&mut self.parts, |part| part.fill(start, bits))
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut kept = Bits::default();
        each_clause(&mut self.parts, |part| {
            let mut rest = bits.clone();
            rest.and_not(&kept);
            if !rest.is_empty() {
                part.restrict(start, &mut rest)?;
                kept.or(&rest);
            }
            Ok(())
        })?;
        *bits = kept;
        Ok(())
    }
}
