//! Reads the section of bytes together with the column of offsets into it.

use limber_codec::Reader;
use limber_mapping::geo::GridShape;

use crate::columns::{Batch, NumberColumn};
use crate::{DocId, Error, Result};

/// Shapes of a field by document; a view.
#[derive(Debug, Clone, Copy)]
pub struct ShapeColumn<'a> {
    places: NumberColumn<'a>,
    bytes: &'a [u8],
}

impl<'a> ShapeColumn<'a> {
    pub(crate) fn new(places: NumberColumn<'a>, bytes: &'a [u8]) -> ShapeColumn<'a> {
        ShapeColumn { places, bytes }
    }

    /// Returns the column of the offset at which each document's shapes start.
    pub(crate) fn places(&self) -> &NumberColumn<'a> {
        &self.places
    }

    /// Documents that have a shape, deleted ones included.
    pub fn doc_count_with_value(&self) -> u32 {
        self.places.doc_count_with_value()
    }

    /// Returns the number of values; a document with shapes counts once.
    pub fn value_count(&self) -> u64 {
        self.places.value_count()
    }

    /// Returns the shape that starts at an offset, with its length in front.
    pub(crate) fn record(&self, place: i64) -> Result<&'a [u8]> {
        let (bytes, head) = self.parts(place)?;
        let start = place as usize;
        self.bytes
            .get(start..start + head + bytes.len())
            .ok_or_else(|| Error::corrupt("shapes", place as u64, "a whole shape"))
    }

    /// Returns the bytes of a shape and the number of bytes of its length prefix.
    fn parts(&self, place: i64) -> Result<(&'a [u8], usize)> {
        let rest = usize::try_from(place).ok().and_then(|start| self.bytes.get(start..));
        let rest = rest.ok_or_else(|| Error::corrupt("shapes", place as u64, "a place in the section"))?;
        let mut reader = Reader::new(rest);
        let bytes = reader.prefixed_bytes().map_err(Error::in_section("shapes", place as u64))?;
        Ok((bytes, reader.position() - bytes.len()))
    }

    /// Visits the shapes of these documents (ascending), each with the index of its document in the list.
    pub fn for_each(
        &self,
        docs: &[DocId],
        batch: &mut Batch<i64>,
        mut visit: impl FnMut(usize, &'a [u8]) -> Result<()>,
    ) -> Result<()> {
        self.places.gather(docs, batch)?;
        batch.iter().try_for_each(|(position, place)| visit(position, self.parts(place)?.0))
    }

    /// Checks that the shapes lie back to back and can be read.
    pub(crate) fn check(&self) -> Result<()> {
        self.places.check(None)?;
        let mut batch = Batch::default();
        let mut records = Vec::new();
        let doc_count = self.places.doc_count();
        for start in (0..doc_count).step_by(4096) {
            let docs: Vec<DocId> = (start..doc_count.min(start + 4096)).collect();
            self.places.gather(&docs, &mut batch)?;
            for place in &batch.values {
                records.push((*place, self.record(*place)?.len() as i64));
                GridShape::decode(self.parts(*place)?.0)
                    .map_err(Error::in_section("shapes", *place as u64))?;
            }
        }
        // A merge by index sort takes documents of several segments in turn, but their shapes in blocks, so
        // the offsets need not ascend by document.
        records.sort_unstable();
        let mut next = 0;
        for (place, len) in records {
            if place != next {
                return Err(Error::corrupt("shapes", place as u64, "shapes back to back"));
            }
            next += len;
        }
        if next as usize != self.bytes.len() {
            return Err(Error::corrupt("shapes", next as u64, "the end of the section"));
        }
        Ok(())
    }
}
