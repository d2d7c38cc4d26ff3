//! Matches documents by the values of a runtime field, which is evaluated for those that all other clauses
//! have left.

use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};

use super::asked::{AskedDocs, ValueTest};
use crate::error::{Result, check_request};
use crate::geo::Relation;
use crate::matcher::{Bits, BoxedMatcher};
use crate::primitives::{Docs, TermEnd};
use crate::script::{RuntimeField, RuntimeReader, RuntimeTerms};

/// Matches the documents of `segment` whose values are in the set `wanted`.
pub(in crate::matcher) fn runtime_docs<'a>(
    field: &'a RuntimeField,
    wanted: &'a Docs,
    segment: &'a Segment,
) -> Result<BoxedMatcher<'a>> {
    let matches = RuntimeDocs {
        reader: field.open(segment)?,
        is_numeric: field.field.is_numeric(),
        wanted,
        batch: Batch::default(),
        terms: RuntimeTerms::default(),
    };
    Ok(Box::new(AskedDocs::new(matches, segment.doc_count(), field.seen_in(segment))))
}

struct RuntimeDocs<'a> {
    reader: RuntimeReader<'a>,
    is_numeric: bool,
    wanted: &'a Docs,
    batch: Batch<i64>,
    terms: RuntimeTerms,
}

/// Documents whose terms are held at the same time.
const DOCS_AT_ONCE: usize = 256;

impl RuntimeDocs<'_> {
    /// Tests documents by terms that are computed as a whole block. Returns false if that cannot be done.
    fn matches_distinct(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<bool> {
        let Some(found) = self.reader.distinct_terms(docs) else { return Ok(false) };
        if !is_single(found.positions.as_deref()) {
            self.terms.set(found)?;
            self.test_terms(docs, start, bits)?;
            return Ok(true);
        }
        let is_wanted = |term: &[u8]| accepts(self.wanted, &mut |wanted| selects_term(wanted, term));
        let of_terms: Vec<bool> = found.terms.iter().map(|term| is_wanted(term)).collect();
        let flags: Vec<bool> = found.indexes.iter().map(|index| of_terms[*index as usize]).collect();
        set_bits(docs, found.positions.as_deref(), &flags, start, bits);
        Ok(true)
    }

    fn matches_terms(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()> {
        self.reader.terms(docs, &mut self.terms)?;
        self.test_terms(docs, start, bits)
    }

    /// Tests the documents by their terms, which have been read.
    fn test_terms(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()> {
        let mut at = 0;
        while at < self.terms.len() {
            check_request()?;
            let position = self.terms.positions[at];
            let end = at + self.terms.positions[at..].iter().take_while(|other| **other == position).count();
            if accepts(self.wanted, &mut |wanted| {
                (at..end).any(|at| selects_term(wanted, self.terms.term(at)))
            }) {
                bits.set(docs[position as usize] - start);
            }
            at = end;
        }
        self.terms.release();
        Ok(())
    }

    fn matches_numbers(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()> {
        self.reader.numbers(docs, &mut self.batch)?;
        let values = &self.batch.values;
        let positions = (!self.batch.is_aligned()).then_some(self.batch.positions.as_slice());
        if is_single(positions) {
            let flags = number_flags(self.wanted, values);
            set_bits(docs, positions, &flags, start, bits);
            return Ok(());
        }
        let mut at = 0;
        while at < values.len() {
            let position = self.batch.positions[at];
            let end = at + self.batch.positions[at..].iter().take_while(|other| **other == position).count();
            if accepts(self.wanted, &mut |wanted| selects_numbers(wanted, &values[at..end])) {
                bits.set(docs[position as usize] - start);
            }
            at = end;
        }
        Ok(())
    }
}

impl ValueTest for RuntimeDocs<'_> {
    fn matches(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()> {
        if self.is_numeric {
            return self.matches_numbers(docs, start, bits);
        }
        if self.matches_distinct(docs, start, bits)? {
            return Ok(());
        }
        // Each clause of a query has a reader of its own, so none keeps the values of many documents.
        docs.chunks(DOCS_AT_ONCE).try_for_each(|docs| self.matches_terms(docs, start, bits))
    }
}

/// Whether no document has two values. `None` are the positions of values where each has exactly one.
fn is_single(positions: Option<&[u32]>) -> bool {
    positions.is_none_or(|positions| positions.is_sorted_by(|left, right| left < right))
}

/// Sets the bits of documents whose only value has a flag.
fn set_bits(docs: &[DocId], positions: Option<&[u32]>, flags: &[bool], start: DocId, bits: &mut Bits) {
    match positions {
        None => bits.set_flagged(docs, start, flags),
        Some(positions) => {
            let owners: Vec<DocId> = positions.iter().map(|position| docs[*position as usize]).collect();
            bits.set_flagged(&owners, start, flags);
        }
    }
}

/// Returns for each number whether documents that have only this one are in the set `docs`.
fn number_flags(docs: &Docs, values: &[i64]) -> Vec<bool> {
    let combined = |parts: &[Docs], start: bool, combine: fn(bool, bool) -> bool| {
        parts.iter().fold(vec![start; values.len()], |mut flags, part| {
            flags
                .iter_mut()
                .zip(number_flags(part, values))
                .for_each(|(flag, own)| *flag = combine(*flag, own));
            flags
        })
    };
    match docs {
        Docs::AnyOf(parts) => combined(parts, false, |left, right| left | right),
        Docs::AllOf(parts) => combined(parts, true, |left, right| left & right),
        Docs::Exists { .. } => vec![true; values.len()],
        Docs::NumberRange { min, max, .. } => {
            values.iter().map(|value| (min <= value) & (value <= max)).collect()
        }
        one => values.iter().map(|value| selects_numbers(one, std::slice::from_ref(value))).collect(),
    }
}

/// Whether documents that all have this single term are in the set `docs`.
pub(crate) fn selects_constant(docs: &Docs, term: Option<&[u8]>) -> bool {
    term.is_some_and(|term| accepts(docs, &mut |docs| selects_term(docs, term)))
}

/// Whether a document with values is in the set `docs`; `selects` decides it for a set without parts.
fn accepts(docs: &Docs, selects: &mut dyn FnMut(&Docs) -> bool) -> bool {
    match docs {
        Docs::AnyOf(parts) => parts.iter().any(|part| accepts(part, selects)),
        Docs::AllOf(parts) => parts.iter().all(|part| accepts(part, selects)),
        Docs::Exists { .. } => true,
        one => selects(one),
    }
}

fn selects_numbers(docs: &Docs, values: &[i64]) -> bool {
    match docs {
        Docs::Numbers { numbers, .. } => values.iter().any(|value| numbers.binary_search(value).is_ok()),
        Docs::NumberRange { min, max, .. } => values.iter().any(|value| min <= value && value <= max),
        Docs::Places { shape, relation, .. } => {
            let inside = values.iter().filter(|value| shape.contains(**value)).count();
            match relation {
                Relation::Intersects => inside > 0,
                Relation::Disjoint => inside == 0,
                Relation::Within => inside == values.len(),
            }
        }
        _ => false,
    }
}

fn selects_term(docs: &Docs, term: &[u8]) -> bool {
    match docs {
        Docs::Terms { terms, .. } => terms.binary_search_by(|wanted| (**wanted).cmp(term)).is_ok(),
        Docs::TermRange { lower, upper, .. } => is_between(term, lower, upper),
        Docs::Automaton { automaton, .. } => automaton.accepts(term),
        Docs::Pattern { lower, upper, pattern, .. } => {
            is_between(term, lower, upper) && pattern.matches(term)
        }
        _ => false,
    }
}

fn is_between(term: &[u8], lower: &TermEnd, upper: &TermEnd) -> bool {
    let above =
        lower.as_ref().is_none_or(|(end, included)| term > &end[..] || (*included && term == &end[..]));
    let below =
        upper.as_ref().is_none_or(|(end, included)| term < &end[..] || (*included && term == &end[..]));
    above && below
}
