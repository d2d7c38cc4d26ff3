//! Writes points as leaves. Layout: [`super::format`].

use limber_codec::column_block::{COLUMN_BLOCK as BLOCK, ascending_bits, bits_for, pack, pack_ascending};
use limber_codec::varint;

use super::format::{
    DOCS_BITS, DOCS_RUN, DOCS_STEPS, ENTRY_BYTES, FOOTER_BYTES, KIND_COLUMN, KIND_LEAVES, LEAF_POINTS,
};
use crate::columns::{Cardinality, ColumnSummary, Divisor, common_divisor};
use crate::zeros::zeros;
use crate::{DocId, Result, Sink};

/// A value and a document that has it.
pub type Point = (i64, DocId);

/// Collects points in document order and writes them sorted. For a buffer of documents; takes 16 bytes per
/// point in memory.
#[derive(Default)]
pub struct PointsWriter {
    points: Vec<Point>,
}

impl PointsWriter {
    /// Creates a writer with capacity for `points` points.
    pub fn with_capacity(points: usize) -> PointsWriter {
        PointsWriter { points: Vec::with_capacity(points) }
    }

    /// Adds a point; `doc` must not be smaller than that of the preceding call.
    #[inline]
    pub fn push(&mut self, doc: DocId, value: i64) {
        self.points.push((value, doc));
    }

    /// Writes the section of a segment of `doc_count` documents. `column` is the summary of the field's
    /// column if it has one.
    pub fn finish(
        mut self,
        doc_count: u32,
        column: Option<&ColumnSummary>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(column) = column.filter(|column| column_serves(column)) {
            return write_column_kind(column, sink);
        }
        let mut with_value = 0u32;
        let mut previous = None;
        for (_, doc) in &self.points {
            with_value += u32::from(previous != Some(*doc));
            previous = Some(*doc);
        }
        let mut leaves = LeafWriter::default();
        let mut leaf = Vec::with_capacity(LEAF_POINTS);
        match sort(&mut self.points) {
            Order::InPlace => {
                for leaf in self.points.chunks(LEAF_POINTS) {
                    leaves.push_leaf(leaf, sink)?;
                }
            }
            Order::Words(words) => {
                drop(self.points);
                for points in words.sorted.chunks(LEAF_POINTS) {
                    leaf.clear();
                    leaf.extend(points.iter().map(|word| words.point(*word)));
                    leaves.push_leaf(&leaf, sink)?;
                }
            }
            Order::Places(places) => {
                for places in places.chunks(LEAF_POINTS) {
                    leaf.clear();
                    leaf.extend(places.iter().map(|place| self.points[*place as usize]));
                    leaves.push_leaf(&leaf, sink)?;
                }
            }
        }
        leaves.finish(doc_count, with_value, sink)
    }
}

/// Whether the column itself serves as the index.
pub(crate) fn column_serves(column: &ColumnSummary) -> bool {
    column.sorted && column.cardinality == Cardinality::Single
}

pub(crate) fn write_column_kind(column: &ColumnSummary, sink: &mut impl Sink) -> Result<()> {
    sink.append(&footer(&FooterFields {
        value_count: column.value_count,
        bodies_len: 0,
        doc_count: column.doc_count,
        with_value: column.doc_count_with_value,
        min: column.min,
        max: column.max,
        kind: KIND_COLUMN,
        single_valued: true,
    }))
}

/// Writes points that arrive sorted by (value, document). Holds one leaf and the directory (24 bytes per
/// 512 points).
#[derive(Default)]
pub(crate) struct LeafWriter {
    leaf: Vec<Point>,
    directory: Vec<u8>,
    body: Vec<u8>,
    order: Vec<u64>,
    /// Scratch space for sorting `order`.
    sorted: Vec<u64>,
    /// Documents of the leaf being written, packed, and (`widths`) the widths of their blocks.
    docs: Vec<u8>,
    widths: Vec<u8>,
    bodies_len: u64,
    value_count: u64,
    bounds: Option<(i64, i64)>,
}

impl LeafWriter {
    pub(crate) fn push(&mut self, point: Point, sink: &mut impl Sink) -> Result<()> {
        self.leaf.push(point);
        if self.leaf.len() == LEAF_POINTS {
            let leaf = std::mem::take(&mut self.leaf);
            self.push_leaf(&leaf, sink)?;
            self.leaf = leaf;
            self.leaf.clear();
        }
        Ok(())
    }

    /// Writes a whole leaf (full unless it is the last), sorted by (value, document).
    fn push_leaf(&mut self, leaf: &[Point], sink: &mut impl Sink) -> Result<()> {
        let (Some(&(min, _)), Some(&(max, _))) = (leaf.first(), leaf.last()) else { return Ok(()) };
        self.order.clear();
        self.order
            .extend(leaf.iter().enumerate().map(|(place, (_, doc))| u64::from(*doc) << 32 | place as u64));
        // A leaf of equal values is in document order already.
        if min != max {
            sort_by_doc(&mut self.order, &mut self.sorted);
        }
        let place = |ordered: u64| leaf[ordered as u32 as usize];
        let factor = common_divisor(leaf.iter().map(|point| point.0), min);
        let divisor = Divisor::new(factor);
        let bits = bits_for(divisor.divide(max.wrapping_sub(min) as u64));
        self.body.clear();
        let docs_layout = self.pack_docs();
        self.body.extend_from_slice(&[bits, docs_layout]);
        varint::write_u64(&mut self.body, factor);
        varint::write_u64(&mut self.body, self.order[0] >> 32);
        self.body.extend_from_slice(&self.widths);
        if bits > 0 {
            for block in self.order.chunks(BLOCK) {
                let mut residuals = [0; BLOCK];
                for (residual, ordered) in residuals.iter_mut().zip(block) {
                    *residual = divisor.divide(place(*ordered).0.wrapping_sub(min) as u64);
                }
                pack(&residuals, bits, &mut self.body);
            }
        }
        self.body.extend_from_slice(&self.docs);
        self.directory.reserve(ENTRY_BYTES);
        self.directory.extend_from_slice(&min.to_le_bytes());
        self.directory.extend_from_slice(&max.to_le_bytes());
        self.directory.extend_from_slice(&self.bodies_len.to_le_bytes());
        sink.append(&self.body)?;
        self.bodies_len += self.body.len() as u64;
        self.value_count += leaf.len() as u64;
        self.bounds = Some((self.bounds.map_or(min, |(least, _)| least), max));
        Ok(())
    }

    /// Packs the documents of `order` into `docs` and `widths`; returns the shortest layout, which it used.
    fn pack_docs(&mut self) -> u8 {
        self.docs.clear();
        self.widths.clear();
        let doc = |ordered: &u64| (ordered >> 32) as u32;
        let (first, last) = (doc(&self.order[0]), doc(&self.order[self.order.len() - 1]));
        let is_strict = self.order.windows(2).all(|pair| doc(&pair[0]) < doc(&pair[1]));
        if is_strict && (last - first) as usize == self.order.len() - 1 {
            return DOCS_RUN;
        }
        let mut initial = first;
        for block in self.order.chunks(BLOCK) {
            let mut docs = [doc(&block[block.len() - 1]); BLOCK];
            docs.iter_mut().zip(block).for_each(|(slot, ordered)| *slot = doc(ordered));
            let bits = ascending_bits(initial, &docs);
            self.widths.push(bits);
            pack_ascending(initial, &docs, bits, &mut self.docs);
            initial = docs[BLOCK - 1];
        }
        let word_count = (last / 64 - first / 64 + 1) as usize;
        if !is_strict || 8 * word_count >= self.docs.len() + self.widths.len() {
            return DOCS_STEPS;
        }
        let mut words = vec![0u64; word_count];
        for ordered in &self.order {
            words[(doc(ordered) / 64 - first / 64) as usize] |= 1 << (doc(ordered) % 64);
        }
        self.docs.clear();
        self.widths.clear();
        words.iter().for_each(|word| self.docs.extend_from_slice(&word.to_le_bytes()));
        DOCS_BITS
    }

    pub(crate) fn finish(mut self, doc_count: u32, with_value: u32, sink: &mut impl Sink) -> Result<()> {
        let leaf = std::mem::take(&mut self.leaf);
        self.push_leaf(&leaf, sink)?;
        sink.append(&self.directory)?;
        let (min, max) = self.bounds.unwrap_or((0, 0));
        sink.append(&footer(&FooterFields {
            value_count: self.value_count,
            bodies_len: self.bodies_len,
            doc_count,
            with_value,
            min,
            max,
            kind: KIND_LEAVES,
            single_valued: u64::from(with_value) == self.value_count,
        }))
    }
}

struct FooterFields {
    value_count: u64,
    bodies_len: u64,
    doc_count: u32,
    with_value: u32,
    min: i64,
    max: i64,
    kind: u8,
    single_valued: bool,
}

fn footer(fields: &FooterFields) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FOOTER_BYTES);
    bytes.extend_from_slice(&fields.value_count.to_le_bytes());
    bytes.extend_from_slice(&fields.bodies_len.to_le_bytes());
    bytes.extend_from_slice(&fields.doc_count.to_le_bytes());
    bytes.extend_from_slice(&fields.with_value.to_le_bytes());
    bytes.extend_from_slice(&fields.min.to_le_bytes());
    bytes.extend_from_slice(&fields.max.to_le_bytes());
    bytes.extend_from_slice(&[fields.kind, u8::from(fields.single_valued), 0, 0, 0, 0, 0, 0]);
    bytes
}

/// How to visit points in the order of (value, document).
enum Order {
    InPlace,
    Words(PointWords),
    /// Indexes into the list of points.
    Places(Vec<u32>),
}

/// Points as one word each, the value in the bits above the document.
struct PointWords {
    sorted: Vec<u64>,
    min: i64,
    doc_bits: u32,
}

impl PointWords {
    #[inline]
    fn point(&self, word: u64) -> Point {
        let doc = word & ((1u64 << self.doc_bits) - 1);
        (self.min.wrapping_add((word >> self.doc_bits) as i64), doc as u32)
    }
}

/// Sorts points that are in document order by (value, document), in place or as a separate list, whichever
/// is faster.
fn sort(points: &mut [Point]) -> Order {
    if points.is_sorted_by_key(|point| point.0) {
        return Order::InPlace;
    }
    let (mut min, mut max) = (i64::MAX, i64::MIN);
    let mut doc_max = 0;
    for (value, doc) in points.iter() {
        (min, max, doc_max) = (min.min(*value), max.max(*value), doc_max.max(*doc));
    }
    if points.len() < RADIX_POINTS_MIN {
        points.sort_unstable();
        return Order::InPlace;
    }
    let above_min = |value: i64| value.wrapping_sub(min) as u64;
    let doc_bits = u32::from(bits_for(u64::from(doc_max)));
    let value_bits = u32::from(bits_for(above_min(max)));
    if value_bits + doc_bits > 64 {
        return Order::Places(sorted_places(points, |point| above_min(point.0), value_bits));
    }
    // Value and document in one word: half the memory traffic, and the sort only needs the digits of the
    // value.
    let mut words: Vec<u64> =
        points.iter().map(|(value, doc)| above_min(*value) << doc_bits | u64::from(*doc)).collect();
    radix_sort(&mut words, doc_bits, value_bits);
    Order::Words(PointWords { sorted: words, min, doc_bits })
}

/// Returns the indexes of points in the order of their keys, which have `key_bits` bits; equal keys keep
/// their order. Sorts by as many upper bits as fit into a word beside an index, then sorts the few runs
/// that are equal in those bits.
fn sorted_places(points: &[Point], key: impl Fn(&Point) -> u64, key_bits: u32) -> Vec<u32> {
    let place_bits = u32::from(bits_for(points.len() as u64 - 1));
    let dropped_bits = (key_bits + place_bits).saturating_sub(64);
    let mut words: Vec<u64> =
        (0u64..).zip(points).map(|(place, point)| key(point) >> dropped_bits << place_bits | place).collect();
    radix_sort(&mut words, place_bits, key_bits - dropped_bits);
    let mask = (1u64 << place_bits) - 1;
    let mut places: Vec<u32> = Vec::with_capacity(words.len());
    for run in words.chunk_by(|a, b| a >> place_bits == b >> place_bits) {
        let start = places.len();
        places.extend(run.iter().map(|word| (word & mask) as u32));
        if run.len() > 1 {
            places[start..].sort_by_key(|place| key(&points[*place as usize]));
        }
    }
    places
}

/// Below this number of points a comparison sort is as fast.
const RADIX_POINTS_MIN: usize = 256;
/// The counters of a digit (2,048 of 4 bytes) fit into the first-level cache.
const DIGIT_BITS: u32 = 11;

/// Sorts `words` by the `bits` bits from bit `shift` up; stable.
fn radix_sort(words: &mut Vec<u64>, shift: u32, bits: u32) {
    let mut other = zeros(words.len());
    let mut done = 0;
    while done < bits {
        radix_pass::<{ 1 << DIGIT_BITS }>(words, &mut other, shift + done);
        std::mem::swap(words, &mut other);
        done += DIGIT_BITS;
    }
}

/// Copies `from` to `to`, sorted by the digit at `shift`, which has `DIGITS` (a power of two) values; stable.
fn radix_pass<const DIGITS: usize>(from: &[u64], to: &mut [u64], shift: u32) {
    let digit = |word: u64| (word >> shift) as usize & (DIGITS - 1);
    let mut starts = [0u32; DIGITS];
    from.iter().for_each(|word| starts[digit(*word)] += 1);
    let mut next = 0;
    for start in &mut starts {
        (*start, next) = (next, next + *start);
    }
    for word in from {
        let start = &mut starts[digit(*word)];
        to[*start as usize] = *word;
        *start += 1;
    }
}

/// Below this number of documents a comparison sort is as fast.
const RADIX_DOCS_MIN: usize = 64;
const BYTE_DIGITS: usize = 256;

/// Sorts `words` by their upper halves; stable. `scratch` may have any content and length.
fn sort_by_doc(words: &mut Vec<u64>, scratch: &mut Vec<u64>) {
    let Some(first) = words.first().copied() else { return };
    if words.len() < RADIX_DOCS_MIN {
        return words.sort_by_key(|word| word >> 32);
    }
    let varying = words.iter().fold(0, |bits, word| bits | (word ^ first));
    scratch.resize(words.len(), 0);
    for shift in (32..64).step_by(8).filter(|shift| varying >> shift & 0xff != 0) {
        radix_pass::<BYTE_DIGITS>(words, scratch, shift);
        std::mem::swap(words, scratch);
    }
}
