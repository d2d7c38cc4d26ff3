//! Matches documents with a phrase in a field without positions: their sources are read and analysed again.
//!
//! Source: `SourceConfirmedTextQuery`. The sources of documents that lack a term of the phrase are never
//! read.

use std::collections::HashMap;

use limber_mapping::document::{Scratch, parse};
use limber_mapping::{Field, FieldSink, Mapping, Nested, SpaceId};
use limber_segment::{DocId, Segment, StoredReader};

use super::phrase::phrase_freq;
use crate::error::Result;
use crate::matcher::confirmed::Confirm;
use crate::primitives::{PhraseNode, PhrasePlaces};
use crate::source::read_source;

pub(in crate::matcher) struct SourcePhrase<'a> {
    node: &'a PhraseNode,
    mapping: &'a Mapping,
    segment: &'a Segment,
    reader: StoredReader,
    scratch: Scratch,
    places: PhrasePlaces,
    /// The lists of `positions` that a term belongs to, by their numbers.
    lists_of: HashMap<&'a [u8], Vec<u32>>,
    positions: Vec<Vec<u32>>,
}

impl<'a> SourcePhrase<'a> {
    /// `mapping` is used to parse sources.
    pub fn new(node: &'a PhraseNode, mapping: &'a Mapping, segment: &'a Segment) -> Self {
        let (places, distinct) = node.places();
        let mut lists_of: HashMap<&'a [u8], Vec<u32>> = HashMap::new();
        for (number, terms) in (0..).zip(&distinct) {
            for term in *terms {
                lists_of.entry(&**term).or_default().push(number);
            }
        }
        lists_of.values_mut().for_each(Vec::dedup);
        SourcePhrase {
            node,
            mapping,
            segment,
            reader: StoredReader::default(),
            scratch: Scratch::new(),
            places,
            positions: vec![Vec::new(); distinct.len()],
            lists_of,
        }
    }
}

impl Confirm for SourcePhrase<'_> {
    /// For each candidate a source must be read and analysed.
    const COST_FACTOR: u64 = 64;

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        limber_work::check()?;
        let source = read_source(self.mapping, self.segment, doc, &mut self.reader)?;
        let mut sink = Sink {
            node: self.node,
            places: &self.places,
            lists_of: &self.lists_of,
            positions: &mut self.positions,
            found: Ok(false),
        };
        // A source that was accepted once can violate a mapping that was changed since then; the values that
        // were parsed before the error count.
        let _ = parse(self.mapping, &source, &mut self.scratch, &mut sink);
        sink.found
    }
}

/// Looks for a phrase in each value of its field separately: a phrase across values does not match, whatever
/// the slop.
struct Sink<'s> {
    node: &'s PhraseNode,
    places: &'s PhrasePlaces,
    lists_of: &'s HashMap<&'s [u8], Vec<u32>>,
    positions: &'s mut [Vec<u32>],
    found: Result<bool>,
}

impl FieldSink for Sink<'_> {
    fn term(&mut self, _: &Field, _: &[u8]) {}

    fn number(&mut self, _: &Field, _: i64) {}

    fn text(&mut self, field: &Field, value: &str) {
        if field.id != self.node.field.id || !matches!(self.found, Ok(false)) {
            return;
        }
        self.positions.iter_mut().for_each(Vec::clear);
        let mut emit = |text: &str, position: u32| {
            for list in self.lists_of.get(text.as_bytes()).into_iter().flatten() {
                self.positions[*list as usize].push(position);
            }
        };
        match &field.analyzer {
            Some(analyzer) => {
                analyzer.tokens(value, |token| emit(token.text, token.position));
            }
            None => emit(value, 0),
        }
        if self.positions.iter().all(|positions| !positions.is_empty()) {
            self.found = phrase_freq(self.positions, self.places, self.node.slop).map(|freq| freq > 0.0);
        }
    }

    fn shape(&mut self, _: &Field, _: &[i64], _: &[u8]) {}

    fn begin_nested(&mut self, _: &Nested) {}

    fn end_nested(&mut self, _: &Nested) {}

    fn turn_to(&mut self, _: SpaceId) {}
}
