//! Opens terms, phrases and sets of documents on a segment.

use std::ops::{Bound, RangeInclusive};

use limber_mapping::Field;
use limber_segment::columns::Batch;
use limber_segment::postings::{Postings, Want};
use limber_segment::terms::{TermCursor, TermInfo};
use limber_segment::{DocId, Segment, StoredReader};

use super::BoxedMatcher;
use super::boolean::BoolDocs;
use super::confirmed::ConfirmedDocs;
use super::scored::conjunction::Conjunction;
use super::simple::{DocBits, DocList, HasField, NoDocs, Union};
use super::slice::{DocRange, IdSlice, NumberSlice};
use super::text::phrase::PhraseCursor;
use super::text::postings::TermDocs;
use super::text::source_phrase::SourcePhrase;
use super::values::column::{ColumnDocs, Wanted};
use super::values::places::places;
use super::values::points::NumberDocs;
use super::values::shapes::shapes;
use crate::error::{Result, check_request};
use crate::matcher::automaton::walk;
use crate::primitives::{Docs, PhraseNode, TermEnd};

/// Up to this many terms, postings are iterated in parallel; more are first merged into one bit set. Lucene's
/// `TermInSetQuery` has a limit of 16.
const POSTINGS_SIDE_BY_SIDE: usize = 16;

/// Opens the postings of a term; `None` if the segment does not have the term. A query may have very many
/// terms, so it checks whether the request may go on.
pub(crate) fn open_postings(
    segment: &Segment,
    field: &Field,
    term: &[u8],
    want: Want,
) -> Result<Option<Postings>> {
    check_request()?;
    let Some(terms) = segment.terms(&field.path)? else { return Ok(None) };
    let Some(info) = terms.get_recent(term)? else { return Ok(None) };
    Ok(Some(segment.postings(&field.path, &info, want)?))
}

/// Matches the documents with a term.
pub(crate) fn term<'a>(segment: &'a Segment, field: &Field, term: &[u8]) -> Result<BoxedMatcher<'a>> {
    Ok(match open_postings(segment, field, term, Want::Docs)? {
        Some(postings) => Box::new(TermDocs::new(postings, segment.doc_count())),
        None => Box::new(NoDocs),
    })
}

/// Matches the documents of a set.
pub(crate) fn set<'a>(docs: &'a Docs, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    check_request()?;
    let doc_count = segment.doc_count();
    match docs {
        Docs::Terms { field, terms } if field.index => any_posting(segment, field, terms),
        Docs::Terms { field, terms } => any_ordinal(segment, field, terms),
        Docs::TermRange { field, lower, upper } => term_range(docs, segment, field, (lower, upper)),
        Docs::Pattern { field, .. } | Docs::Automaton { field, .. } => match field.index {
            true => postings_of(docs, field, segment),
            false => ordinals_of(docs, field, segment),
        },
        Docs::NumberRange { field, min, max } => number_range(segment, field, *min..=*max),
        Docs::Numbers { field, numbers } => any_number(segment, field, numbers),
        Docs::Places { field, shape, relation } => places(segment, field, shape, *relation),
        Docs::Shapes { field, target, relation } => shapes(segment, field, target, *relation),
        Docs::AllOf(parts) => {
            let required = parts.iter().map(|part| set(part, segment)).collect::<Result<Vec<_>>>()?;
            Ok(Box::new(BoolDocs::new(required, Vec::new(), 0, Vec::new(), doc_count)))
        }
        Docs::Runtime { field, docs } => super::values::runtime::runtime_docs(field, docs, segment),
        Docs::Exists { path } => with_field(segment, path),
        Docs::Ids(ids) => {
            let mut docs: Vec<DocId> = Vec::new();
            for id in ids {
                docs.extend(segment.find_id(id.as_bytes())?);
            }
            Ok(Box::new(DocList::new(docs)))
        }
        Docs::Ranges(ranges) => {
            Ok(match ranges.iter().find(|(segment_id, _)| *segment_id == segment.meta().id) {
                Some((_, range)) => Box::new(DocRange(range.clone())),
                None => Box::new(NoDocs),
            })
        }
        Docs::IdSlice { part, parts } => Ok(Box::new(IdSlice {
            segment,
            part: *part,
            parts: *parts,
            reader: StoredReader::new(),
            id: Vec::new(),
            term: Vec::new(),
        })),
        Docs::NumberSlice { field, part, parts } => Ok(Box::new(NumberSlice {
            field,
            column: segment.numbers(&field.path)?,
            doc_count,
            part: *part,
            parts: *parts,
            docs: Vec::new(),
            batch: Batch::default(),
        })),
        Docs::AnyOf(parts) => {
            let parts = parts.iter().map(|part| set(part, segment)).collect::<Result<Vec<_>>>()?;
            Ok(Box::new(Union { parts }))
        }
    }
}

/// Matches the documents with any of these terms, by their postings.
fn any_posting<'a>(segment: &'a Segment, field: &Field, terms: &[Box<[u8]>]) -> Result<BoxedMatcher<'a>> {
    if let [only] = terms {
        return term(segment, field, only);
    }
    let (Some(dictionary), Some(reader)) =
        (segment.terms(&field.path)?, segment.postings_reader(&field.path)?)
    else {
        return Ok(Box::new(NoDocs));
    };
    let mut lookup = dictionary.ascending();
    let mut any = match terms.len() > POSTINGS_SIDE_BY_SIDE {
        true => AnyPostings::as_bits(segment.doc_count()),
        false => AnyPostings::new(segment.doc_count()),
    };
    for term in terms {
        if let Some(info) = lookup.get(term)?
            && !any.add_only(&info)
        {
            any.add(reader.postings(&info, Want::Docs)?)?;
        }
    }
    Ok(any.finish())
}

/// Matches the documents with any of these terms, by the column of a field without an index.
fn any_ordinal<'a>(segment: &'a Segment, field: &Field, terms: &[Box<[u8]>]) -> Result<BoxedMatcher<'a>> {
    let Some((dictionary, column)) = segment.terms(&field.path)?.zip(segment.ordinals(&field.path)?) else {
        return Ok(Box::new(NoDocs));
    };
    let mut ordinals = Vec::new();
    for term in terms {
        if let Ok(ordinal) = dictionary.ordinal(term)? {
            ordinals.push(ordinal as u32);
        }
    }
    Ok(Box::new(ColumnDocs::new(column, Wanted::Any(ordinals))))
}

/// Matches the documents with a term between two ends: by postings if there are few terms, otherwise by the
/// column.
fn term_range<'a>(
    docs: &Docs,
    segment: &'a Segment,
    field: &Field,
    (lower, upper): (&TermEnd, &TermEnd),
) -> Result<BoxedMatcher<'a>> {
    let Some(dictionary) = segment.terms(&field.path)? else { return Ok(Box::new(NoDocs)) };
    let cursor = dictionary.range(bound(lower), bound(upper))?;
    let count = cursor.remaining();
    if count == 0 {
        return Ok(Box::new(NoDocs));
    }
    let is_many = count > POSTINGS_SIDE_BY_SIDE as u64;
    if let Some(column) = segment.ordinals(&field.path)?
        && (is_many || !field.index)
    {
        // Ordinals are positions in this dictionary, so a range of terms is a range of ordinals.
        let first = match lower {
            None => 0,
            Some((term, included)) => match dictionary.ordinal(term)? {
                Ok(ordinal) if *included => ordinal,
                Ok(ordinal) => ordinal + 1,
                Err(ordinal) => ordinal,
            },
        };
        let wanted = Wanted::Range(first as u32, (first + count - 1) as u32);
        return Ok(Box::new(ColumnDocs::new(column, wanted)));
    }
    postings_of(docs, field, segment)
}

/// Matches the documents with a number in the range: by points if the field has them, otherwise by its
/// column.
fn number_range<'a>(
    segment: &'a Segment,
    field: &Field,
    range: RangeInclusive<i64>,
) -> Result<BoxedMatcher<'a>> {
    let wanted = Wanted::Range(*range.start(), *range.end());
    let column = segment.numbers(&field.path)?.map(|column| ColumnDocs::new(column, wanted));
    match (segment.points(&field.path)?, column) {
        (Some(points), column) => {
            let cost = points.count_at_most(range.clone());
            if cost == 0 {
                return Ok(Box::new(NoDocs));
            }
            let column = column.map(|column| column.with_cost(cost));
            Ok(Box::new(NumberDocs::new(points, range, column, segment.doc_count())))
        }
        (None, Some(column)) => Ok(Box::new(column)),
        (None, None) => Ok(Box::new(NoDocs)),
    }
}

/// Matches the documents with any of these numbers.
fn any_number<'a>(segment: &'a Segment, field: &Field, numbers: &[i64]) -> Result<BoxedMatcher<'a>> {
    if let Some(points) = segment.points(&field.path)? {
        let mut bits = DocBits::new(segment.doc_count());
        for number in numbers {
            points.fill_bits(*number..=*number, &mut bits.words)?;
        }
        return Ok(Box::new(bits.finish()));
    }
    Ok(match segment.numbers(&field.path)? {
        Some(column) => Box::new(ColumnDocs::new(column, Wanted::Any(numbers.to_vec()))),
        None => Box::new(NoDocs),
    })
}

/// Calls `found` for every term of a set that the segment has, in ascending order.
pub(crate) fn each_term(
    docs: &Docs,
    segment: &Segment,
    mut found: impl FnMut(&TermCursor<'_>) -> Result<()>,
) -> Result<()> {
    let dictionary = |field: &Field| segment.terms(&field.path);
    match docs {
        Docs::Terms { field, terms } => {
            let Some(dictionary) = dictionary(field)? else { return Ok(()) };
            for term in terms.iter() {
                let mut cursor = dictionary.range(Bound::Included(&**term), Bound::Included(&**term))?;
                if cursor.advance()? {
                    found(&cursor)?;
                }
            }
        }
        Docs::TermRange { field, lower, upper } => {
            let Some(dictionary) = dictionary(field)? else { return Ok(()) };
            let mut cursor = dictionary.range(bound(lower), bound(upper))?;
            while cursor.advance()? {
                found(&cursor)?;
            }
        }
        Docs::Pattern { field, lower, upper, pattern } => {
            let Some(dictionary) = dictionary(field)? else { return Ok(()) };
            let mut cursor = dictionary.range(bound(lower), bound(upper))?;
            while cursor.advance()? {
                if pattern.matches(cursor.term()) {
                    found(&cursor)?;
                }
            }
        }
        Docs::Automaton { field, automaton } => {
            let Some(dictionary) = dictionary(field)? else { return Ok(()) };
            walk(dictionary, &**automaton, |cursor, _| found(cursor))?;
        }
        _ => {}
    }
    Ok(())
}

fn bound(end: &TermEnd) -> Bound<&[u8]> {
    match end {
        None => Bound::Unbounded,
        Some((term, true)) => Bound::Included(term),
        Some((term, false)) => Bound::Excluded(term),
    }
}

/// Matches the documents with a value of the field at `path`.
pub(crate) fn with_field<'a>(segment: &'a Segment, path: &str) -> Result<BoxedMatcher<'a>> {
    Ok(match segment.presence(path)? {
        Some(presence) => Box::new(HasField::new(presence, segment.doc_count())?),
        None => Box::new(NoDocs),
    })
}

/// Matches the documents with any term of a set, by the postings of an indexed field.
fn postings_of<'a>(docs: &Docs, field: &Field, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    let Some(reader) = segment.postings_reader(&field.path)? else { return Ok(Box::new(NoDocs)) };
    let mut any = AnyPostings::new(segment.doc_count());
    each_term(docs, segment, |cursor| any.add(reader.postings(&cursor.info()?, Want::Docs)?))?;
    Ok(any.finish())
}

/// Matches the documents with any term of a set, by the column of a field without an index.
fn ordinals_of<'a>(docs: &Docs, field: &Field, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    let Some(column) = segment.ordinals(&field.path)? else { return Ok(Box::new(NoDocs)) };
    let mut ordinals = Vec::new();
    each_term(docs, segment, |cursor| {
        ordinals.push(cursor.ord() as u32);
        Ok(())
    })?;
    Ok(Box::new(ColumnDocs::new(column, Wanted::Any(ordinals))))
}

/// The union of postings. A few are iterated in parallel; more are merged into one bit set, so that memory
/// does not grow with their number.
pub(super) struct AnyPostings {
    doc_count: u32,
    few: Vec<Postings>,
    bits: Option<DocBits>,
}

impl AnyPostings {
    pub(crate) fn new(doc_count: u32) -> AnyPostings {
        AnyPostings { doc_count, few: Vec::new(), bits: None }
    }

    /// Makes a union of more postings than are iterated in parallel.
    fn as_bits(doc_count: u32) -> AnyPostings {
        AnyPostings { bits: Some(DocBits::new(doc_count)), ..AnyPostings::new(doc_count) }
    }

    /// Adds the document of a term that occurs in only one, without opening postings. Returns false if the
    /// term's postings must be added instead.
    fn add_only(&mut self, info: &TermInfo) -> bool {
        match &mut self.bits {
            Some(bits) if info.doc_freq == 1 && info.location.single_doc < self.doc_count => {
                bits.set(info.location.single_doc);
                true
            }
            _ => false,
        }
    }

    /// Adds the postings of a term.
    pub fn add(&mut self, postings: Postings) -> Result<()> {
        self.few.push(postings);
        if self.few.len() <= POSTINGS_SIDE_BY_SIDE && self.bits.is_none() {
            return Ok(());
        }
        let bits = self.bits.get_or_insert_with(|| DocBits::new(self.doc_count));
        for mut postings in self.few.drain(..) {
            while !postings.block_docs().is_empty() {
                postings.block_docs().iter().for_each(|doc| bits.set(*doc));
                postings.next_block();
            }
            postings.status()?;
        }
        Ok(())
    }

    /// Makes a matcher of the documents that have one of the terms.
    pub fn finish<'a>(self) -> BoxedMatcher<'a> {
        let doc_count = self.doc_count;
        if let Some(bits) = self.bits {
            return Box::new(bits.finish());
        }
        let open = |postings| Box::new(TermDocs::new(postings, doc_count)) as BoxedMatcher<'a>;
        let mut parts: Vec<BoxedMatcher<'a>> = self.few.into_iter().map(open).collect();
        match parts.len() {
            0 => Box::new(NoDocs),
            1 => parts.remove(0),
            _ => Box::new(Union { parts }),
        }
    }
}

/// Matches the documents with a phrase.
pub(crate) fn phrase<'a>(node: &'a PhraseNode, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    if let Some(exact) = Conjunction::of_phrase(node, segment)? {
        return Ok(Box::new(exact));
    }
    let mut required: Vec<BoxedMatcher<'a>> = Vec::new();
    for alternatives in node.places().1 {
        let parts =
            alternatives.iter().map(|text| term(segment, &node.field, text)).collect::<Result<Vec<_>>>()?;
        required.push(match parts.len() {
            1 => parts.into_iter().next().expect("one part"),
            _ => Box::new(Union { parts }),
        });
    }
    let candidates = Box::new(BoolDocs::new(required, Vec::new(), 0, Vec::new(), segment.doc_count()));
    if let Some(mapping) = &node.confirms_by {
        let confirm = SourcePhrase::new(node, mapping, segment);
        return Ok(Box::new(ConfirmedDocs { candidates, confirm }));
    }
    Ok(match phrase_cursor(node, segment)? {
        Some(confirm) => Box::new(ConfirmedDocs { candidates, confirm }),
        None => Box::new(NoDocs),
    })
}

/// Opens the positions of a phrase; `None` if the segment lacks one of the terms.
pub(crate) fn phrase_cursor(node: &PhraseNode, segment: &Segment) -> Result<Option<PhraseCursor>> {
    let (places, distinct) = node.places();
    let mut lists = Vec::with_capacity(distinct.len());
    for alternatives in distinct {
        let mut postings = Vec::new();
        for text in alternatives {
            postings.extend(open_postings(segment, &node.field, text, Want::Positions)?);
        }
        if postings.is_empty() {
            return Ok(None);
        }
        lists.push(postings);
    }
    Ok(Some(PhraseCursor::new(places, lists, node.slop)))
}
