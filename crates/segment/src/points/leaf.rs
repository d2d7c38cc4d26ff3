//! One leaf: "which points are in it?"

use std::ops::{Range, RangeInclusive};

use limber_codec::Reader;
use limber_codec::column_block::{self, COLUMN_BLOCK as BLOCK, packed_bytes};

use super::format::{DOCS_BITS, DOCS_RUN, DOCS_STEPS, LEAF_POINTS};
use crate::{DocId, Error, Result};

/// One leaf decoded; reused from leaf to leaf.
pub(super) struct Leaf {
    pub values: [i64; LEAF_POINTS],
    pub docs: [DocId; LEAF_POINTS],
    pub len: usize,
}

/// A leaf as it is stored.
pub(super) struct LeafBody<'a> {
    pub offset: u64,
    pub len: usize,
    bits: u8,
    factor: u64,
    min: i64,
    first: DocId,
    values: &'a [u8],
    docs: LeafDocs<'a>,
}

enum LeafDocs<'a> {
    Steps { widths: &'a [u8], packed: &'a [u8] },
    Bits(&'a [[u8; 8]]),
    Run,
}

/// From a document below 2^31, 512 steps of this many bits stay below 2^32.
const STEP_BITS_SAFE: u8 = 21;

#[cold]
pub(super) fn corrupt(offset: u64, expected: &'static str) -> Error {
    Error::corrupt("points", offset, expected)
}

impl<'a> LeafBody<'a> {
    /// Parses the leaf in `bytes`. It has `len` points, of which `min` is the smallest value, in a segment
    /// of `doc_count` documents.
    pub fn parse(bytes: &'a [u8], offset: u64, len: usize, min: i64, doc_count: u32) -> Result<LeafBody<'a>> {
        let unfit = || corrupt(offset, "a leaf of points");
        let blocks = len.div_ceil(BLOCK);
        let mut reader = Reader::new(bytes);
        let head = (|| {
            let (bits, layout, factor) = (reader.u8()?, reader.u8()?, reader.varint()?);
            let first = reader.varint_u32()?;
            let widths = reader.bytes(if layout == DOCS_STEPS { blocks } else { 0 })?;
            Ok::<_, limber_codec::Corrupt>((bits, layout, factor, first, widths))
        })();
        let (bits, layout, factor, first, widths) = head.map_err(Error::in_section("points", offset))?;
        if bits > 64 || first >= doc_count {
            return Err(unfit());
        }
        let (values, docs) = reader.rest().split_at_checked(blocks * packed_bytes(bits)).ok_or_else(unfit)?;
        let docs = match layout {
            DOCS_STEPS => LeafDocs::Steps { widths, packed: docs },
            DOCS_BITS if docs.len() / 8 <= (doc_count.div_ceil(64) - first / 64) as usize => {
                LeafDocs::Bits(docs.as_chunks().0)
            }
            DOCS_RUN if u64::from(first) + len as u64 <= u64::from(doc_count) => LeafDocs::Run,
            _ => return Err(unfit()),
        };
        Ok(LeafBody { offset, len, bits, factor, min, first, values, docs })
    }

    pub(crate) fn read_values(&self, out: &mut Leaf) -> Result<()> {
        let (blocks, _) = out.values.as_chunks_mut::<BLOCK>();
        for (block, out) in blocks.iter_mut().enumerate().take(self.len.div_ceil(BLOCK)) {
            let packed = &self.values[block * packed_bytes(self.bits)..][..packed_bytes(self.bits)];
            let unpacked = column_block::unpack_i64(packed, self.bits, self.min, self.factor, out);
            unpacked.ok_or_else(|| corrupt(self.offset, "packed values"))?;
        }
        Ok(())
    }

    pub(crate) fn read_docs(&self, doc_count: u32, out: &mut Leaf) -> Result<()> {
        let unfit = || corrupt(self.offset, "as many ascending documents as the leaf has points");
        match &self.docs {
            LeafDocs::Run => {
                out.docs[..self.len].iter_mut().zip(self.first..).for_each(|(out, doc)| *out = doc)
            }
            LeafDocs::Bits(words) => {
                let mut at = 0;
                for (word, base) in words.iter().zip((self.first / 64 * 64..).step_by(64)) {
                    let mut rest = u64::from_le_bytes(*word);
                    while rest != 0 {
                        *out.docs.get_mut(at).ok_or_else(unfit)? = base + rest.trailing_zeros();
                        at += 1;
                        rest &= rest - 1;
                    }
                }
                if at != self.len || out.docs[0] != self.first {
                    return Err(unfit());
                }
            }
            LeafDocs::Steps { widths, packed } => {
                let (mut initial, mut packed) = (self.first, *packed);
                let (blocks, _) = out.docs.as_chunks_mut::<BLOCK>();
                for (docs, bits) in blocks.iter_mut().zip(*widths) {
                    let (here, rest) = packed.split_at_checked(packed_bytes(*bits)).ok_or_else(unfit)?;
                    column_block::unpack_ascending(here, *bits, initial, docs).ok_or_else(unfit)?;
                    // Steps this wide could wrap around; narrower ones cannot within one leaf.
                    let is_safe = *bits <= STEP_BITS_SAFE || (docs.is_sorted() && docs[0] >= initial);
                    initial = docs[BLOCK - 1];
                    if !is_safe || initial >= doc_count {
                        return Err(unfit());
                    }
                    packed = rest;
                }
                if !packed.is_empty() {
                    return Err(unfit());
                }
            }
        }
        Ok(())
    }

    /// Sets the bits of all documents of the leaf if that needs no decoding; returns whether it did.
    pub fn set_all(&self, bits: &mut [u64]) -> bool {
        let first_word = self.first as usize / 64;
        match &self.docs {
            LeafDocs::Steps { .. } => false,
            LeafDocs::Run => {
                let docs = self.first..self.first + self.len as u32;
                let fits = docs.end as usize <= bits.len() * 64;
                if fits {
                    set_range(bits, docs);
                }
                fits
            }
            LeafDocs::Bits(words) => {
                let Some(bits) = bits.get_mut(first_word..first_word + words.len()) else { return false };
                bits.iter_mut().zip(*words).for_each(|(bits, word)| *bits |= u64::from_le_bytes(*word));
                true
            }
        }
    }
}

impl Leaf {
    pub(crate) fn boxed() -> Box<Leaf> {
        Box::new(Leaf { values: [0; LEAF_POINTS], docs: [0; LEAF_POINTS], len: 0 })
    }

    /// Drops the points outside the range.
    pub fn keep(&mut self, range: &RangeInclusive<i64>) {
        let mut kept = 0;
        for index in 0..self.len {
            self.docs[kept] = self.docs[index];
            kept += usize::from(range.contains(&self.values[index]));
        }
        self.len = kept;
    }
}

/// Sets the bits of `docs`, which must lie inside `bits`.
pub(super) fn set_range(bits: &mut [u64], docs: Range<DocId>) {
    if docs.is_empty() {
        return;
    }
    let (first, last) = (docs.start as usize / 64, (docs.end - 1) as usize / 64);
    let head = u64::MAX << (docs.start % 64);
    let tail = u64::MAX >> (63 - (docs.end - 1) % 64);
    if first == last {
        bits[first] |= head & tail;
    } else {
        bits[first] |= head;
        bits[first + 1..last].fill(u64::MAX);
        bits[last] |= tail;
    }
}
