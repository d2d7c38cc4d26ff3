//! Writes a buffer as a segment.

use std::sync::Arc;

use limber_codec::norm;
use limber_mapping::{Field, Mapping, SpaceId, reserved};
use limber_store::Directory;

use super::document::Buffer;
use super::echo;
use super::field_table::FieldTable;
use super::fields::{FieldBuffer, NumbersBuffer, TermsBuffer};
use super::invert::TermOrder;
use super::nested::NestedBuffers;
use super::reorder::{Reordering, reorder_nested};
use super::table::{TermTable, same};
use super::text::TextBuffer;
use crate::columns::format::GROUP;
use crate::columns::{ColumnSummary, ColumnWriter};
use crate::file::{FieldInfo, NO_FIELD, SectionKind, SegmentId, SegmentMeta, SegmentWriter};
use crate::id_filter;
use crate::nested::{self, ParentBitsBuilder, SpaceEntry};
use crate::points::column_serves;
use crate::postings::{FieldSinks, FieldWriter, IndexOptions};
use crate::zeros::zeros;
use crate::{DocId, LiveDocs, Result, norms};

impl Buffer {
    /// Writes all documents as segment `id`; nothing is durable until the caller syncs
    /// `SegmentMeta::files`. `mapping` must know every field that received values. The second result is the
    /// set of live documents, if any was deleted.
    ///
    /// Consumes the buffer, and frees its memory field by field.
    pub fn write(
        self,
        directory: &dyn Directory,
        id: SegmentId,
        mapping: &Mapping,
    ) -> Result<(SegmentMeta, Option<LiveDocs>)> {
        self.write_sorted(directory, id, mapping, &mut |_| {}).map(|written| (written.meta, written.live))
    }

    /// Does the same as [`Buffer::write`], and also returns the new numbers of a sorted buffer's documents.
    /// Calls `freed` with the bytes of the buffer's memory ([`Buffer::memory_bytes`]) that were freed, each
    /// time a part of it is written.
    pub fn write_sorted(
        self,
        directory: &dyn Directory,
        id: SegmentId,
        mapping: &Mapping,
        freed: &mut dyn FnMut(usize),
    ) -> Result<Written> {
        let doc_count = self.doc_count();
        let Buffer { mut fields, ids, stored, sort, deleted, seq_no_bounds, mut nested, .. } = self;
        let order = match sort.is_empty() {
            true => None,
            false => Reordering::by(&sort, &mut fields, doc_count, mapping),
        };
        if let Some(order) = &order {
            fields.iter_mut().for_each(|field| order.reorder(field));
            reorder_nested(order, &mut nested.spaces, mapping);
        }
        let mut live = None;
        for &doc in &deleted {
            let doc = order.as_ref().map_or(doc, |order| order.new_of(doc));
            live.get_or_insert_with(|| LiveDocs::all(doc_count)).delete(doc);
        }
        let writer = SegmentWriter::new(directory, id);
        let mut segment = FieldsWriter { writer, infos: Vec::new(), doc_count, freed };
        let (id_bytes, source_bytes) = (ids.memory_bytes(), stored.memory_bytes());
        let ids = ids.finish();
        stored.write(order.as_ref(), |doc| ids.get(doc), &mut segment.writer)?;
        (segment.freed)(source_bytes);
        match &order {
            None => segment.write_all_ids(mapping, live.as_ref(), |doc| ids.get(doc))?,
            Some(order) => segment.write_all_ids(mapping, live.as_ref(), |doc| ids.get(order.old(doc)))?,
        }
        drop(ids);
        (segment.freed)(id_bytes);
        segment.write_fields(fields, mapping)?;
        segment.write_nested(nested, mapping)?;
        let meta = segment.writer.finish(&segment.infos, doc_count, seq_no_bounds)?;
        Ok(Written { meta, live, doc_map: order.map(Reordering::into_new) })
    }
}

/// Result of writing a buffer.
#[derive(Debug)]
pub struct Written {
    /// The segment.
    pub meta: SegmentMeta,
    /// Live documents, without those that were deleted in the buffer; `None` if all are live.
    pub live: Option<LiveDocs>,
    /// Number in the segment of each document of the buffer; `None` if the numbers are the same.
    pub doc_map: Option<Vec<DocId>>,
}

/// `_id` is the first field written.
const ID_FIELD: u32 = 0;

/// Returns the live documents sorted by `_id`. Deleted ones are left out, so that an id is in a segment's
/// dictionary only once.
fn sorted_ids<'a>(doc_count: u32, id: impl Fn(DocId) -> &'a [u8], live: Option<&LiveDocs>) -> Vec<DocId> {
    let mut docs: Vec<DocId> = match live {
        None => (0..doc_count).collect(),
        Some(live) => (0..doc_count).filter(|&doc| live.is_live(doc)).collect(),
    };
    super::sort::sort_by_term(&mut docs, id);
    docs
}

/// Writes the fields of a buffer, one after the other.
pub(super) struct FieldsWriter<'d> {
    pub(super) writer: SegmentWriter<'d>,
    infos: Vec<FieldInfo>,
    pub(super) doc_count: u32,
    freed: &'d mut dyn FnMut(usize),
}

impl FieldsWriter<'_> {
    /// Writes fields.
    fn write_fields(&mut self, mut fields: FieldTable, mapping: &Mapping) -> Result<()> {
        let sizes: Vec<usize> = fields.iter().map(|(_, field)| field.memory_bytes()).collect();
        let tables = echo::resolve(&mut fields);
        for ((id, field), bytes) in fields.into_iter().zip(sizes) {
            let known = || mapping.field_by_id(id);
            let table = tables.get(&id).map(|table| &**table);
            match field {
                FieldBuffer::Absent => {}
                FieldBuffer::Terms(terms) => self.write_terms(known(), *terms, table)?,
                FieldBuffer::Numbers(numbers) => self.write_numbers(known(), *numbers)?,
                FieldBuffer::Text(text) => self.write_text(known(), *text, table)?,
                FieldBuffer::Shapes(shapes) => self.write_shapes(known(), *shapes)?,
            }
            if bytes > 0 {
                (self.freed)(bytes);
            }
        }
        Ok(())
    }

    /// Writes the spaces that have documents, in the order of their numbers, in which parents come first.
    fn write_nested(&mut self, nested: NestedBuffers, mapping: &Mapping) -> Result<()> {
        let doc_count = self.doc_count;
        let mut table: Vec<SpaceEntry> = Vec::new();
        for (space, buffer) in nested.spaces.into_iter().enumerate().skip(1) {
            if buffer.doc_count == 0 {
                continue;
            }
            let nested = &mapping.nested_objects()[space - 1];
            let parent = match nested.parent {
                SpaceId::ROOT => None,
                around => {
                    let path = &mapping.nested_objects()[around.0 as usize - 1].path;
                    table.iter().position(|entry| entry.path == *path)
                }
            };
            let parent_count = parent.map_or(doc_count, |place| table[place].bits.child_count());
            let fields_before = self.infos.len();
            self.doc_count = buffer.doc_count;
            self.write_fields(buffer.fields, mapping)?;
            table.push(SpaceEntry {
                path: nested.path.clone(),
                parent,
                field_count: (self.infos.len() - fields_before) as u32,
                bits: Arc::new(ParentBitsBuilder::of_parents(&buffer.parents, parent_count).finish()),
            });
        }
        if !table.is_empty() {
            self.writer.put(SectionKind::Nested, NO_FIELD, &nested::encode(&table))?;
        }
        Ok(())
    }

    /// Assigns a field its number in the segment.
    pub(super) fn add_info(&mut self, field: &Field) -> (u32, FieldInfo) {
        let info = FieldInfo::of(field);
        self.infos.push(info.clone());
        (self.infos.len() as u32 - 1, info)
    }

    /// Writes the sections of an inverted field; `fill` adds the terms.
    fn invert(
        &mut self,
        number: u32,
        options: IndexOptions,
        norms: Option<&[u8]>,
        doc_count_with_field: u32,
        fill: impl FnOnce(&mut FieldWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let writer = &mut self.writer;
        let mut terms = writer.begin(SectionKind::Terms, number);
        let mut index = writer.begin(SectionKind::TermIndex, number);
        let mut postings = writer.begin(SectionKind::Postings, number);
        let mut positions = writer.begin(SectionKind::Positions, number);
        let sinks = FieldSinks {
            terms: &mut terms,
            index: &mut index,
            postings: &mut postings,
            positions: &mut positions,
        };
        let mut field = FieldWriter::new(options, norms, sinks);
        fill(&mut field)?;
        let directory = field.finish(doc_count_with_field)?;
        for section in [terms, index, postings, positions] {
            writer.end(section);
        }
        writer.put(SectionKind::TermDirectory, number, &directory)
    }

    fn write_all_ids<'a>(
        &mut self,
        mapping: &Mapping,
        live: Option<&LiveDocs>,
        id: impl Fn(DocId) -> &'a [u8] + Copy,
    ) -> Result<()> {
        let by_id = sorted_ids(self.doc_count, id, live);
        let (kind, filter) = id_filter::section(by_id.iter().map(|doc| id(*doc)));
        self.writer.put(kind, ID_FIELD, &filter)?;
        self.write_ids(mapping.field_by_id(reserved::ID), &by_id, id)
    }

    /// Writes the ids of `docs`, which ascend by id. An id of two live documents is written once for both.
    fn write_ids<'a>(&mut self, field: &Field, docs: &[DocId], id: impl Fn(DocId) -> &'a [u8]) -> Result<()> {
        let (number, _) = self.add_info(field);
        let options = IndexOptions { frequencies: false, positions: false };
        self.invert(number, options, None, docs.len() as u32, |terms| {
            let mut rest = docs;
            let mut next = rest.first().map(|doc| id(*doc));
            while let Some(term) = next {
                let mut same_count = 1;
                next = None;
                for other in &rest[1..] {
                    let other = id(*other);
                    if !same(other, term) {
                        next = Some(other);
                        break;
                    }
                    same_count += 1;
                }
                let (of_term, others) = rest.split_at(same_count);
                rest = others;
                if let [doc] = of_term {
                    terms.add_single(term, *doc)?;
                } else {
                    let mut of_term = of_term.to_vec();
                    of_term.sort_unstable();
                    terms.add(term, &of_term, &[], &[])?;
                }
            }
            Ok(())
        })
    }

    /// `other_table` is the table of the term numbers if that is not the buffer's own.
    fn write_terms(
        &mut self,
        field: &Field,
        mut terms: TermsBuffer,
        other_table: Option<&TermTable>,
    ) -> Result<()> {
        if terms.values.is_empty() {
            return Ok(());
        }
        let (number, info) = self.add_info(field);
        terms.settle();
        let repeats = terms.docs.has_repeats();
        let TermsBuffer { table, mut values, docs, .. } = terms;
        let table = other_table.unwrap_or(&table);
        let docs = docs.finish(self.doc_count);
        let docs = docs.as_deref();
        let order = TermOrder::of_terms(table, &mut values);
        let scattered = order.scatter_docs(values.chunks(), docs);
        let norms = info.norms.then(|| count_norms(docs, self.doc_count));
        if let Some(norms) = &norms {
            self.writer.put(SectionKind::Norms, number, &norms::encode(norms))?;
        }
        let doc_count_with_field =
            docs.map_or(self.doc_count, |docs| docs.chunk_by(|a, b| a == b).count() as u32);
        let options = IndexOptions { frequencies: info.frequencies, positions: false };
        self.invert(number, options, norms.as_deref(), doc_count_with_field, |writer| {
            let (mut distinct, mut freqs) = (Vec::new(), Vec::new());
            for &term in &order.sorted {
                let docs = &scattered[order.range(term)];
                if !repeats && !options.frequencies {
                    writer.add(table.term(term), docs, &[], &[])?;
                    continue;
                }
                distinct.clear();
                freqs.clear();
                for same in docs.chunk_by(|a, b| a == b) {
                    distinct.push(same[0]);
                    freqs.push(same.len() as u32);
                }
                let freqs = if options.frequencies { &freqs[..] } else { &[] };
                writer.add(table.term(term), &distinct, freqs, &[])?;
            }
            Ok(())
        })?;
        drop(scattered);
        let ordinal = |value: u32| order.rank(value) as i64;
        match docs {
            _ if !info.column => {}
            None => {
                self.write_full_column(number, |doc| ordinal(values.get(doc)))?;
            }
            Some(_) => {
                let mut ordinals: Vec<i64> = values.iter().map(ordinal).collect();
                self.write_column(number, &mut ordinals, docs, repeats, true)?;
            }
        }
        Ok(())
    }

    fn write_numbers(&mut self, field: &Field, numbers: NumbersBuffer) -> Result<()> {
        if numbers.docs.len() == 0 {
            return Ok(());
        }
        let (number, info) = self.add_info(field);
        if info.column && numbers.docs.is_one_a_document(self.doc_count) {
            let column = self.write_full_column(number, |doc| numbers.get(doc))?;
            if !info.index {
                return Ok(());
            }
            if info.spatial {
                return self.write_spatial_points(number, numbers.into_parts().0, None);
            }
            let values = if column_serves(&column) { Vec::new() } else { numbers.into_parts().0 };
            return self.write_points(number, &values, None, Some(&column));
        }
        let (mut values, docs) = numbers.into_parts();
        let repeats = docs.has_repeats();
        let docs = docs.finish(self.doc_count);
        let docs = docs.as_deref();
        let column = match info.column {
            true => Some(self.write_column(number, &mut values, docs, repeats, false)?),
            false => None,
        };
        match info.index {
            true if info.spatial => self.write_spatial_points(number, values, docs),
            true => self.write_points(number, &values, docs, column.as_ref()),
            false => Ok(()),
        }
    }

    /// Writes the column of a field of which every document has one value, without a list of all values.
    fn write_full_column(&mut self, number: u32, value: impl Fn(usize) -> i64) -> Result<ColumnSummary> {
        let mut section = self.writer.begin(SectionKind::Column, number);
        let mut column = ColumnWriter::new();
        let doc_count = self.doc_count as usize;
        let mut run = Vec::with_capacity(GROUP.min(doc_count));
        for first in (0..doc_count).step_by(GROUP) {
            run.clear();
            run.extend((first..doc_count.min(first + GROUP)).map(&value));
            column.push_run(first as DocId, &run, &mut section)?;
        }
        let summary = column.finish(self.doc_count, &mut section)?;
        self.writer.end(section);
        Ok(summary)
    }

    /// `distinct` says whether a document's equal values count once, as ordinals do.
    pub(super) fn write_column(
        &mut self,
        number: u32,
        values: &mut [i64],
        docs: Option<&[DocId]>,
        repeats: bool,
        distinct: bool,
    ) -> Result<ColumnSummary> {
        let mut section = self.writer.begin(SectionKind::Column, number);
        let mut column = ColumnWriter::new();
        match docs {
            None => column.push_run(0, values, &mut section)?,
            Some(docs) if !repeats => {
                for (doc, value) in docs.iter().zip(&*values) {
                    column.push(*doc, std::slice::from_ref(value), &mut section)?;
                }
            }
            Some(docs) => {
                let mut rest = values;
                for same in docs.chunk_by(|a, b| a == b) {
                    let (of_doc, others) = rest.split_at_mut(same.len());
                    rest = others;
                    of_doc.sort_unstable();
                    let len = if distinct { partition_dedup(of_doc) } else { of_doc.len() };
                    column.push(same[0], &of_doc[..len], &mut section)?;
                }
            }
        }
        let summary = column.finish(self.doc_count, &mut section)?;
        self.writer.end(section);
        Ok(summary)
    }

    /// `other_table` is the table of the term numbers if that is not the buffer's own.
    fn write_text(
        &mut self,
        field: &Field,
        mut text: TextBuffer,
        other_table: Option<&TermTable>,
    ) -> Result<()> {
        if text.docs.len() == 0 {
            return Ok(());
        }
        text.settle();
        let (number, info) = self.add_info(field);
        let TextBuffer { table, tokens, entries, docs, .. } = text;
        let table = other_table.unwrap_or(&table);
        let docs = docs.finish(self.doc_count);
        let docs = docs.as_deref();
        let doc_of = |entry: usize| docs.map_or(entry as u32, |docs| docs[entry]);
        let norms = info.norms.then(|| {
            let mut norms = zeros(self.doc_count as usize);
            entries.iter().enumerate().for_each(|(number, entry)| {
                norms[doc_of(number) as usize] = norm::encode(entry.length);
            });
            norms
        });
        if let Some(norms) = &norms {
            self.writer.put(SectionKind::Norms, number, &norms::encode(norms))?;
        }
        let order = TermOrder::of_tokens(table.len(), tokens.chunks(), |number| table.term(number));
        let starts = entries.iter().map(|entry| entry.tokens_start as usize);
        let texts = starts.clone().zip(starts.skip(1).chain([tokens.len()])).enumerate();
        let texts = texts.map(|(number, (start, end))| (doc_of(number), tokens.slices(start, end)));
        let scattered = order.scatter_positions(texts);
        let doc_count_with_field = entries.iter().filter(|entry| entry.length > 0).count() as u32;
        let options = IndexOptions { frequencies: info.frequencies, positions: info.positions };
        self.invert(number, options, norms.as_deref(), doc_count_with_field, |writer| {
            for &term in &order.sorted {
                writer.add_occurrences(table.term(term), &scattered[order.range(term)])?;
            }
            Ok(())
        })
    }
}

/// Returns the norms of a field of whole terms, from the number of values. `docs` is the document of each
/// value.
fn count_norms(docs: Option<&[DocId]>, doc_count: u32) -> Vec<u8> {
    let Some(docs) = docs else { return vec![norm::encode(1); doc_count as usize] };
    let mut norms = zeros(doc_count as usize);
    for same in docs.chunk_by(|a, b| a == b) {
        norms[same[0] as usize] = norm::encode(same.len() as u32);
    }
    norms
}

/// Moves the distinct values of a sorted slice to its front; returns their number.
fn partition_dedup(sorted: &mut [i64]) -> usize {
    let mut len = 0;
    for at in 0..sorted.len() {
        if len == 0 || sorted[at] != sorted[len - 1] {
            sorted[len] = sorted[at];
            len += 1;
        }
    }
    len
}
