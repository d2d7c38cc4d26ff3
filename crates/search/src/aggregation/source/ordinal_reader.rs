//! Reads the ordinals of a field's terms, batch by batch.

use limber_segment::columns::{Batch, OrdinalColumn};
use limber_segment::{DocId, Segment};

use super::super::buckets::entries::Values;
use super::filled::fill;
use crate::error::Result;

/// Reads the ordinals of one segment at a time.
#[derive(Debug)]
pub struct OrdinalReader<'s> {
    path: String,
    /// Whether documents without a value get `missing_ordinal`, which is one more than the last ordinal.
    has_missing: bool,
    missing_ordinal: u32,
    column: Option<OrdinalColumn<'s>>,
    batch: Batch<u32>,
    filled: Vec<u32>,
    filled_positions: Vec<u32>,
}

impl<'s> OrdinalReader<'s> {
    pub(crate) fn new(path: &str, has_missing: bool) -> OrdinalReader<'s> {
        OrdinalReader {
            path: path.to_owned(),
            has_missing,
            missing_ordinal: 0,
            column: None,
            batch: Batch::default(),
            filled: Vec::new(),
            filled_positions: Vec::new(),
        }
    }

    /// Opens the segment's column. Returns the number of ordinals, including the one for `missing`, which is
    /// the last.
    pub fn begin(&mut self, segment: &'s Segment, is_mapped: bool) -> Result<usize> {
        self.column = if is_mapped { segment.ordinals(&self.path)? } else { None };
        let terms =
            if self.column.is_some() { segment.terms(&self.path)?.map_or(0, |terms| terms.len()) } else { 0 };
        self.missing_ordinal = terms as u32;
        Ok(terms as usize + usize::from(self.has_missing))
    }

    /// Returns the ordinal of documents without a value: one more than the last ordinal of the segment.
    /// `None` if they get none.
    pub fn missing_ordinal(&self) -> Option<u32> {
        self.has_missing.then_some(self.missing_ordinal)
    }

    /// Returns the column of the current segment; `None` if no document has a value.
    pub fn column(&self) -> Option<&OrdinalColumn<'s>> {
        self.column.as_ref()
    }

    /// Returns the ordinals of `docs`.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Values<'_, u32>> {
        match &self.column {
            Some(column) => column.gather(docs, &mut self.batch)?,
            None => {
                self.batch.values.clear();
                self.batch.positions.clear();
            }
        }
        let is_aligned = self.column.is_some() && self.batch.is_aligned();
        if is_aligned {
            return Ok(Values { values: &self.batch.values, positions: None });
        }
        if !self.has_missing {
            return Ok(Values { values: &self.batch.values, positions: Some(&self.batch.positions) });
        }
        let missing = self.missing_ordinal;
        fill(
            &self.batch.values,
            &self.batch.positions,
            docs.len(),
            missing,
            &mut self.filled,
            &mut self.filled_positions,
        );
        Ok(Values { values: &self.filled, positions: Some(&self.filled_positions) })
    }
}
