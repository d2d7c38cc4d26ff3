//! Documents with a phrase in a field that has no positions: their sources are read and analysed once more.
//!
//! Source: `SourceConfirmedTextQuery`. Documents that lack a term of the phrase are never read.

use limber_mapping::document::{Scratch, parse};
use limber_mapping::{Field, FieldSink};
use limber_segment::{DocId, Segment, StoredReader};

use super::phrase::phrase_freq;
use super::{Bits, BoxedMatcher, Matcher};
use crate::error::Result;
use crate::query::PhraseNode;

pub(super) struct SourcePhraseDocs<'a> {
    /// Documents that hold all its terms.
    candidates: BoxedMatcher<'a>,
    node: &'a PhraseNode,
    segment: &'a Segment,
    reader: StoredReader,
    scratch: Scratch,
    offsets: Vec<u32>,
    groups: Vec<Option<u32>>,
    positions: Vec<Vec<u32>>,
}

impl<'a> SourcePhraseDocs<'a> {
    pub fn new(candidates: BoxedMatcher<'a>, node: &'a PhraseNode, segment: &'a Segment) -> Self {
        SourcePhraseDocs {
            candidates,
            node,
            segment,
            reader: StoredReader::default(),
            scratch: Scratch::new(),
            offsets: node.slots.iter().map(|(offset, _)| *offset).collect(),
            groups: node.groups(),
            positions: vec![Vec::new(); node.slots.len()],
        }
    }

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        let Some(mapping) = &self.node.confirms_by else { return Ok(true) };
        let source = self.segment.source(doc, &mut self.reader)?;
        let mut sink = Sink {
            node: self.node,
            offsets: &self.offsets,
            groups: &self.groups,
            positions: &mut self.positions,
            found: false,
        };
        // A source that was accepted once may break rules of a mapping that was changed since; what was read until then counts.
        let _ = parse(mapping, source, &mut self.scratch, &mut sink);
        Ok(sink.found)
    }

    fn verify(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        for (at, word) in bits.0.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !self.holds(start + at as u32 * 64 + bit)? {
                    *word &= !(1 << bit);
                }
            }
        }
        Ok(())
    }
}

impl Matcher for SourcePhraseDocs<'_> {
    fn cost(&self) -> u64 {
        // A source to read and to analyse for each.
        self.candidates.cost().saturating_mul(64)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        self.candidates.next(target)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut own = Bits::default();
        self.candidates.fill(start, &mut own)?;
        self.verify(start, &mut own)?;
        bits.or(&own);
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.candidates.restrict(start, bits)?;
        self.verify(start, bits)
    }
}

/// Looks for a phrase in each value of its field by itself: one that goes from a value to the next is none, whatever the slop.
struct Sink<'s> {
    node: &'s PhraseNode,
    offsets: &'s [u32],
    groups: &'s [Option<u32>],
    positions: &'s mut [Vec<u32>],
    found: bool,
}

impl FieldSink for Sink<'_> {
    fn term(&mut self, _: &Field, _: &[u8]) {}

    fn number(&mut self, _: &Field, _: i64) {}

    fn text(&mut self, field: &Field, value: &str) {
        if field.id != self.node.field.id || self.found {
            return;
        }
        self.positions.iter_mut().for_each(Vec::clear);
        let mut emit = |text: &str, position: u32| {
            for ((_, terms), positions) in self.node.slots.iter().zip(self.positions.iter_mut()) {
                if terms.iter().any(|term| **term == *text.as_bytes()) {
                    positions.push(position);
                }
            }
        };
        match &field.analyzer {
            Some(analyzer) => analyzer.tokens(value, |token| emit(token.text, token.position)),
            None => emit(value, 0),
        }
        self.found = self.positions.iter().all(|positions| !positions.is_empty())
            && phrase_freq(self.positions, self.offsets, self.groups, self.node.slop) > 0.0;
    }
}
