//! The hashes of documents' shapes: documents with the same shapes, in the same order, have the same hash.

use limber_segment::columns::Batch;
use limber_segment::shapes::ShapeColumn;
use limber_segment::{DocId, Segment};

use super::super::buckets::entries::Values;
use super::super::source::Source;
use super::hyperloglog::{hash_number, hash_term};
use crate::error::Result;

/// Reads the shapes of one segment at a time. All shapes of a document are one value, as in Elasticsearch.
#[derive(Debug)]
pub(super) struct ShapeHashes<'s> {
    path: &'s str,
    column: Option<ShapeColumn<'s>>,
    batch: Batch<i64>,
    hashes: Vec<u64>,
    positions: Vec<u32>,
}

impl<'s> ShapeHashes<'s> {
    pub(super) fn new(source: &'s Source) -> ShapeHashes<'s> {
        ShapeHashes {
            path: source.path(),
            column: None,
            batch: Batch::default(),
            hashes: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Starts a segment, whose documents come next.
    pub(super) fn begin(&mut self, segment: &'s Segment) -> Result<()> {
        self.column = segment.shapes(self.path)?;
        Ok(())
    }

    /// Returns the hash of each of `docs` that has shapes.
    pub(super) fn load(&mut self, docs: &[DocId]) -> Result<Values<'_, u64>> {
        let (hashes, positions) = (&mut self.hashes, &mut self.positions);
        hashes.clear();
        positions.clear();
        if let Some(column) = &self.column {
            column.for_each(docs, &mut self.batch, |position, bytes| {
                let (position, hash) = (position as u32, hash_term(bytes));
                match hashes.last_mut() {
                    Some(whole) if positions.last() == Some(&position) => {
                        *whole = hash_number((whole.rotate_left(1) ^ hash) as i64);
                    }
                    _ => {
                        hashes.push(hash);
                        positions.push(position);
                    }
                }
                Ok(())
            })?;
        }
        Ok(Values { values: &self.hashes, positions: Some(&self.positions) })
    }
}
