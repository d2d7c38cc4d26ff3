//! Matches the documents of one slice of a scroll or point in time: a contiguous range, or those whose id or
//! number has a hash that belongs to the slice.

use std::ops::Range;

use limber_codec::murmur3::murmur3_32;
use limber_mapping::number::f64_from_sortable;
use limber_mapping::{Field, Precision, ValueKind};
use limber_segment::columns::{Batch, NumberColumn};
use limber_segment::{DocId, NO_MORE_DOCS, Segment, StoredReader};

use super::{Bits, Matcher, WINDOW};
use crate::error::Result;

/// A contiguous range of documents.
pub(super) struct DocRange(pub Range<u32>);

impl Matcher for DocRange {
    fn cost(&self) -> u64 {
        u64::from(self.0.end - self.0.start)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let doc = target.max(self.0.start);
        Ok(if doc < self.0.end { doc } else { NO_MORE_DOCS })
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let place = |doc: DocId| doc.saturating_sub(start).min(WINDOW);
        bits.set_range(place(self.0.start), place(self.0.end));
        Ok(())
    }
}

/// Documents by the hash of their `_id`, in the encoding of Elasticsearch.
pub(super) struct IdSlice<'a> {
    pub segment: &'a Segment,
    pub part: u32,
    pub parts: u32,
    pub reader: StoredReader,
    pub id: Vec<u8>,
    pub term: Vec<u8>,
}

/// Source: Elasticsearch's `TermsSliceQuery#SEED`.
const ID_SEED: u32 = 7919;

impl Matcher for IdSlice<'_> {
    fn cost(&self) -> u64 {
        u64::from(self.segment.doc_count() / self.parts)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut all = Bits::default();
        all.set_range(0, self.segment.doc_count().saturating_sub(start).min(WINDOW));
        self.restrict(start, &mut all)?;
        bits.or(&all);
        Ok(())
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        Ok(if target < self.segment.doc_count() { target } else { NO_MORE_DOCS })
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let IdSlice { segment, part, parts, reader, id, term } = self;
        bits.retain(|index| {
            segment.id(start + index, reader, id)?;
            encode_id(id, term);
            let hash = i64::from(murmur3_32(term, ID_SEED) as i32);
            Ok(hash.rem_euclid(i64::from(*parts)) == i64::from(*part))
        })
    }
}

/// Encodes an id as Elasticsearch indexes it: digits as two per byte, unpadded base64 decoded, and anything
/// else unchanged. The first byte distinguishes these cases. Source:
/// `org.elasticsearch.index.mapper.Uid#encodeId`.
fn encode_id(id: &[u8], term: &mut Vec<u8>) {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    const UTF8: u8 = 0xff;
    const NUMERIC: u8 = 0xfe;
    const BASE64_ESCAPE: u8 = 0xfd;
    term.clear();
    if id.iter().all(u8::is_ascii_digit) {
        term.push(NUMERIC);
        term.extend(id.chunks(2).map(|pair| {
            let second = pair.get(1).map_or(0x0f, |digit| digit - b'0');
            (pair[0] - b'0') << 4 | second
        }));
        return;
    }
    if URL_SAFE_NO_PAD.decode_vec(id, term).is_ok() && !term.is_empty() {
        if term[0] >= BASE64_ESCAPE {
            term.insert(0, BASE64_ESCAPE);
        }
        return;
    }
    term.clear();
    term.push(UTF8);
    term.extend_from_slice(id);
}

/// Documents by the hash of any of their numbers; that of a document without a number is 0.
pub(super) struct NumberSlice<'a> {
    pub field: &'a Field,
    /// `None` if no document of the segment has a number.
    pub column: Option<NumberColumn<'a>>,
    pub doc_count: u32,
    pub part: u32,
    pub parts: u32,
    pub docs: Vec<DocId>,
    pub batch: Batch<i64>,
}

impl Matcher for NumberSlice<'_> {
    fn cost(&self) -> u64 {
        u64::from(self.doc_count / self.parts)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        Ok(if target < self.doc_count { target } else { NO_MORE_DOCS })
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut all = Bits::default();
        all.set_range(0, self.doc_count.saturating_sub(start).min(WINDOW));
        self.restrict(start, &mut all)?;
        bits.or(&all);
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        bits.append_to(start, &mut self.docs);
        let mut without_number = bits.clone();
        bits.clear();
        if let Some(column) = &self.column {
            column.gather(&self.docs, &mut self.batch)?;
            let mut with_number = Bits::default();
            for (position, value) in self.batch.iter() {
                let index = self.docs[position] - start;
                with_number.set(index);
                let hash = i64::from(mix(lucene_number(self.field, value)));
                if hash.rem_euclid(i64::from(self.parts)) == i64::from(self.part) {
                    bits.set(index);
                }
            }
            without_number.and_not(&with_number);
        }
        if self.part == 0 {
            bits.or(&without_number);
        }
        Ok(())
    }
}

/// Returns the number that Lucene's column has for a value: floats and half floats are not widened there, and
/// points of a plane have x first. Source: `NumericUtils#floatToSortableInt`,
/// `HalfFloatPoint#halfFloatToSortableShort`, `XYDocValuesField`.
fn lucene_number(field: &Field, stored: i64) -> i64 {
    match field.values {
        ValueKind::Double(Precision::Float) => {
            let bits = (f64_from_sortable(stored) as f32).to_bits() as i32;
            i64::from(bits ^ ((bits >> 31) & i32::MAX))
        }
        ValueKind::Double(Precision::Half) => {
            let bits = half_bits(f64_from_sortable(stored) as f32) as i16;
            i64::from(bits ^ ((bits >> 15) & i16::MAX))
        }
        ValueKind::CartesianPoint => stored.rotate_left(32),
        _ => stored,
    }
}

/// Returns the bits of a number that is a half float.
fn half_bits(value: f32) -> u16 {
    /// The difference between the exponent biases of a float and a half float, at the exponent's place in the
    /// latter.
    const MORE: u32 = (127 - 15) << 10;
    const SUBNORMAL_STEPS: f32 = 16_777_216.0;
    let bits = value.to_bits();
    let (sign, magnitude) = ((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff);
    sign | match magnitude {
        0x7f80_0000.. => 0x7c00,
        0x3880_0000.. => ((magnitude >> 13) - MORE) as u16,
        _ => (f32::from_bits(magnitude) * SUBNORMAL_STEPS) as u16,
    }
}

/// Mixes the bits of a number with David Stafford's 64-bit mixer, variant 9, and keeps the lower half of
/// them. Source: `com.carrotsearch.hppc.BitMixer#mix(long)`.
fn mix(value: i64) -> i32 {
    let mut bits = value as u64;
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x4cd6_944c_5cc2_0b6d);
    bits = (bits ^ (bits >> 29)).wrapping_mul(0xfc12_c5b1_9d32_59e9);
    (bits ^ (bits >> 32)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the documents of a shard, as Elasticsearch 9.4.3 assigns them to slices.
    #[test]
    fn ids_are_dealt_out_as_elasticsearch_does() {
        let mut term = Vec::new();
        let mut part = |id: &str| {
            encode_id(id.as_bytes(), &mut term);
            i64::from(murmur3_32(&term, ID_SEED) as i32).rem_euclid(2)
        };
        for id in
            ["3", "7", "8", "9", "12", "14", "16", "17", "a", "ab", "4", "5", "6", "10", "11", "13", "18"]
        {
            assert_eq!(part(id), 0, "{id}");
        }
        for id in ["0", "19", "_x-9AA", "1", "2", "15", "aGVsbG8", "foo bar", "zzzz", "Ab_-"] {
            assert_eq!(part(id), 1, "{id}");
        }
    }

    #[test]
    fn numbers_are_dealt_out_as_elasticsearch_does() {
        let in_first = |numbers: std::ops::Range<i64>| -> Vec<i64> {
            numbers.filter(|number| mix(*number).rem_euclid(2) == 0).collect()
        };
        assert_eq!(in_first(0..10), [0, 3, 4, 5, 6, 7, 9]);
        let doubles = [0.0, 1.5, 3.5, 4.0, 4.5, 6.0, 7.0, 8.0, 8.5, 9.5f64];
        let first: Vec<f64> = doubles
            .into_iter()
            .filter(|double| mix(limber_mapping::number::sortable_from_f64(*double)).rem_euclid(2) == 0)
            .collect();
        assert_eq!(first, [0.0, 3.5, 6.0, 9.5]);
    }

    /// The bits are those of IEEE 754's binary16.
    #[test]
    fn half_floats_have_sixteen_bits() {
        for (value, bits) in [
            (0.0, 0),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (f32::INFINITY, 0x7c00),
            (5.960_464_5e-8, 1),
            (6.103_515_6e-5, 0x0400),
        ] {
            assert_eq!(half_bits(value), bits, "{value}");
        }
    }
}
