//! Writes a column: "document 17 has these values". Layout: [`super::format`].

use super::column::Cardinality;
use super::doc_set::DocSetBuilder;
use super::pack::PackedWriter;
use crate::{DocId, Result, Sink};

/// Streams a column into a sink. Holds 4,096 values, and about one bit per document unless every document
/// has a value.
///
/// Documents must ascend; ordinals and numbers are both `i64` here.
#[derive(Default)]
pub struct ColumnWriter {
    values: PackedWriter,
    /// Used from the first document with several values on.
    offsets: Option<(PackedWriter, Vec<u8>)>,
    /// Used from the first document without a value on.
    docs: Option<DocSetBuilder>,
    with_value: u32,
}

/// Summary of a written column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSummary {
    /// How many values documents have.
    pub cardinality: Cardinality,
    /// Documents of the segment.
    pub doc_count: u32,
    /// Documents that have a value.
    pub doc_count_with_value: u32,
    /// Values of all documents.
    pub value_count: u64,
    /// Smallest value; 0 if there are no values.
    pub min: i64,
    /// Largest value; 0 if there are no values.
    pub max: i64,
    /// Whether values never descend in document order.
    pub sorted: bool,
}

impl ColumnWriter {
    /// Creates a writer without values.
    pub fn new() -> ColumnWriter {
        ColumnWriter::default()
    }

    /// Adds the values of `doc`, ascending. A call without values has no effect.
    #[inline]
    pub fn push(&mut self, doc: DocId, values: &[i64], sink: &mut impl Sink) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.start_doc(doc, values.len())?;
        match values {
            [value] => self.values.push(*value, sink),
            _ => self.values.extend(values, sink),
        }
    }

    /// Adds one value for each of the documents from `first` on.
    pub fn push_run(&mut self, first: DocId, values: &[i64], sink: &mut impl Sink) -> Result<()> {
        if self.docs.is_none() && self.offsets.is_none() && first == self.with_value {
            self.with_value += values.len() as u32;
            return self.values.extend(values, sink);
        }
        for (doc, value) in (first..).zip(values) {
            self.push(doc, std::slice::from_ref(value), sink)?;
        }
        Ok(())
    }

    #[inline]
    fn start_doc(&mut self, doc: DocId, value_count: usize) -> Result<()> {
        if self.docs.is_none() && doc != self.with_value {
            self.docs = Some(first_docs(self.with_value));
        }
        if let Some(docs) = &mut self.docs {
            docs.push(doc);
        }
        if value_count > 1 && self.offsets.is_none() {
            let (mut offsets, mut bytes) = (PackedWriter::default(), Vec::new());
            for offset in 0..self.with_value {
                offsets.push(i64::from(offset), &mut bytes)?;
            }
            self.offsets = Some((offsets, bytes));
        }
        if let Some((offsets, bytes)) = &mut self.offsets {
            offsets.push(self.values.count() as i64, bytes)?;
        }
        self.with_value += 1;
        Ok(())
    }

    /// Ends the column of a segment of `doc_count` documents.
    pub fn finish(mut self, doc_count: u32, sink: &mut impl Sink) -> Result<ColumnSummary> {
        let value_count = self.values.count();
        let values = self.values.finish(sink)?;
        let (mut offsets_len, mut offsets_body) = (0, 0);
        let is_multi = self.offsets.is_some();
        if let Some((mut offsets, mut bytes)) = self.offsets {
            offsets.push(value_count as i64, &mut bytes)?;
            let summary = offsets.finish(&mut bytes)?;
            sink.append(&bytes)?;
            (offsets_len, offsets_body) = (summary.len, summary.body_len);
        }
        if self.docs.is_none() && self.with_value != doc_count {
            self.docs = Some(first_docs(self.with_value));
        }
        let cardinality = match (&self.docs, is_multi) {
            (_, true) => Cardinality::Multi,
            (Some(_), false) => Cardinality::Optional,
            (None, false) => Cardinality::Single,
        };
        let presence = self.docs.map(|docs| docs.finish(doc_count)).unwrap_or_default();
        sink.append(&presence)?;
        let mut footer = Vec::with_capacity(super::format::FOOTER_BYTES);
        for number in [value_count, values.body_len, offsets_len, offsets_body, presence.len() as u64] {
            footer.extend_from_slice(&number.to_le_bytes());
        }
        footer.extend_from_slice(&values.min.to_le_bytes());
        footer.extend_from_slice(&values.max.to_le_bytes());
        footer.extend_from_slice(&doc_count.to_le_bytes());
        footer.extend_from_slice(&self.with_value.to_le_bytes());
        footer.extend_from_slice(&[cardinality as u8, u8::from(values.sorted), 0, 0, 0, 0, 0, 0]);
        sink.append(&footer)?;
        Ok(ColumnSummary {
            cardinality,
            doc_count,
            doc_count_with_value: self.with_value,
            value_count,
            min: values.min,
            max: values.max,
            sorted: values.sorted,
        })
    }
}

fn first_docs(count: u32) -> DocSetBuilder {
    let mut docs = DocSetBuilder::default();
    (0..count).for_each(|doc| docs.push(doc));
    docs
}
