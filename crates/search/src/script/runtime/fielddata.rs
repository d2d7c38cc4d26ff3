//! The terms of a text field by document (`fielddata: true`), built from its postings for one request.
//!
//! Source: Elasticsearch's `PagedBytesIndexFieldData`. The memory is charged to the request before it is
//! allocated; only one segment's table is kept at a time.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use limber_mapping::FrequencyFilter;
use limber_segment::postings::Want;
use limber_segment::{DocId, Segment, SegmentId};
use limber_store::sync::Mutex;
use limber_work as work;

use super::terms::RuntimeTerms;
use crate::error::{Result, check_request};

/// The ordinals of the terms of each document of a segment.
#[derive(Default)]
struct Table {
    /// `ordinals[starts[doc]..starts[doc + 1]]` are the ordinals of a document, ascending. Empty if no
    /// document has the field.
    starts: Vec<u32>,
    ordinals: Vec<u32>,
}

impl Table {
    fn of(segment: &Segment, path: &str, filter: Option<FrequencyFilter>) -> Result<Table> {
        let Some(terms) = segment.terms(path)? else { return Ok(Table::default()) };
        let doc_count = segment.doc_count() as usize;
        let doc_freqs = match filter {
            Some(filter) => filter.doc_freqs(terms.doc_count_with_field()),
            None => None,
        };
        work::claim((doc_count + 1) as u64 * 8 + terms.sum_doc_freq() * size_of::<u32>() as u64)?;
        let mut starts = vec![0u32; doc_count + 1];
        each_posting(segment, path, doc_freqs.as_ref(), |_, doc| starts[doc as usize + 1] += 1)?;
        for doc in 0..doc_count {
            starts[doc + 1] += starts[doc];
        }
        let mut next = starts.clone();
        let mut ordinals = vec![0; starts[doc_count] as usize];
        each_posting(segment, path, doc_freqs.as_ref(), |ordinal, doc| {
            let place = &mut next[doc as usize];
            ordinals[*place as usize] = ordinal;
            *place += 1;
        })?;
        Ok(Table { starts, ordinals })
    }
}

impl Table {
    fn bytes(&self) -> u64 {
        ((self.starts.len() + self.ordinals.len()) * size_of::<u32>()) as u64
    }
}

/// The table of the segment that was opened last.
#[derive(Default)]
pub(super) struct LastTable(Mutex<Option<(SegmentId, Arc<Table>)>>);

impl fmt::Debug for LastTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("LastTable")
    }
}

/// The terms of a text field on a segment.
pub(super) struct Fielddata<'a> {
    segment: &'a Segment,
    path: &'a str,
    table: Arc<Table>,
}

impl<'a> Fielddata<'a> {
    /// Opens the field. Builds the segment's table unless `last` holds it already.
    ///
    /// # Errors
    /// There is not enough memory, the request was cancelled, or the data is corrupt.
    pub fn open(
        segment: &'a Segment,
        path: &'a str,
        filter: Option<FrequencyFilter>,
        last: &LastTable,
    ) -> Result<Fielddata<'a>> {
        let id = segment.meta().id;
        let kept = last.0.lock().take().filter(|(kept, _)| *kept == id);
        let table = match kept {
            Some((_, table)) => table,
            None => {
                let table = Table::of(segment, path, filter)?;
                segment.note_fielddata(path, table.bytes());
                Arc::new(table)
            }
        };
        *last.0.lock() = Some((id, table.clone()));
        Ok(Fielddata { segment, path, table })
    }

    /// Reads the terms of `docs`, sorted within a document.
    pub fn terms(&self, docs: &[DocId], out: &mut RuntimeTerms) -> Result<()> {
        out.clear();
        let Some(terms) = self.segment.terms(self.path)? else { return Ok(()) };
        let Table { starts, ordinals } = &*self.table;
        if starts.is_empty() {
            return Ok(());
        }
        let mut term = Vec::new();
        for (position, &doc) in (0..).zip(docs) {
            let (start, end) = (starts[doc as usize], starts[doc as usize + 1]);
            for ordinal in &ordinals[start as usize..end as usize] {
                terms.term(u64::from(*ordinal), &mut term)?;
                out.push(position, &term)?;
            }
        }
        Ok(())
    }
}

/// Calls `found` with the ordinal of every term of a field and each document that has it. Terms ascend, and
/// so do the documents of each term. Leaves out terms whose number of documents is not one of `doc_freqs`.
fn each_posting(
    segment: &Segment,
    path: &str,
    doc_freqs: Option<&RangeInclusive<u32>>,
    mut found: impl FnMut(u32, DocId),
) -> Result<()> {
    let (Some(terms), Some(reader)) = (segment.terms(path)?, segment.postings_reader(path)?) else {
        return Ok(());
    };
    let mut cursor = terms.cursor();
    while cursor.advance()? {
        let ordinal = cursor.ord() as u32;
        if ordinal.is_multiple_of(1024) {
            check_request()?;
        }
        let info = cursor.info()?;
        if doc_freqs.is_some_and(|wanted| !wanted.contains(&info.doc_freq)) {
            continue;
        }
        let mut postings = reader.postings(&info, Want::Docs)?;
        while !postings.block_docs().is_empty() {
            postings.block_docs().iter().for_each(|doc| found(ordinal, *doc));
            postings.next_block();
        }
        postings.status()?;
    }
    Ok(())
}
