//! Interned terms: "which number does this term have in this buffer?"

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;
use limber_codec::prefetch::prefetch;

/// Terms of one field, numbered from 0 in the order of their first occurrence; appended terms get a new
/// number each time. Terms are never removed: those of a document that was rolled back stay unused.
///
/// An open-addressing table of (32 bits of hash, offset) over an arena of records. The cost of a lookup is
/// its cache misses. A known term has two: its slot and its record, which holds all its data together.
/// Growing reads no record.
#[derive(Default)]
pub struct TermTable {
    slots: Vec<Slot>,
    records: Records,
    /// Offset of the record of each term.
    starts: Vec<u32>,
    /// Number of terms that have a slot: all except those of [`TermTable::append`].
    slotted: usize,
    hasher: RandomState,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    hash: u32,
    /// Offset of the record + 1; 0 if the slot is free.
    place: u32,
}

/// Records, each: number (4 bytes), length of the term (2), the term, and the owner's data. They are in
/// chunks, so that growing moves nothing and freed memory serves the next buffer.
#[derive(Default)]
struct Records {
    /// Every record starts in the first [`CHUNK_BYTES`] of a chunk; only the last record of a chunk may
    /// extend past them.
    chunks: Vec<Vec<u8>>,
    /// Capacity of all chunks but the last.
    full_bytes: usize,
}

const PLACE_BITS: u32 = 16;
const CHUNK_BYTES: usize = 1 << PLACE_BITS;
/// A chunk with fewer free bytes than this takes no further record, so that most chunks have the same size.
const LAST_RECORD_BYTES: usize = 512;

impl Records {
    /// Appends what `write` writes; returns its offset: number of the chunk and offset in the chunk.
    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> u32 {
        if self.chunks.last().is_none_or(|last| last.len() > CHUNK_BYTES - LAST_RECORD_BYTES) {
            self.full_bytes += self.chunks.last().map_or(0, Vec::capacity);
            // The first chunk doubles as it fills, because most tables are small.
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK_BYTES };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = self.chunks.len() - 1;
        let last = &mut self.chunks[chunk];
        let place = (chunk << PLACE_BITS | last.len()) as u32;
        write(last);
        place
    }

    /// Returns the bytes from an offset on; none if the offset is out of range.
    #[inline]
    fn tail(&self, place: u32) -> &[u8] {
        let chunk = self.chunks.get((place >> PLACE_BITS) as usize);
        chunk.and_then(|chunk| chunk.get(place as usize % CHUNK_BYTES..)).unwrap_or_default()
    }

    fn tail_mut(&mut self, place: u32) -> &mut [u8] {
        &mut self.chunks[(place >> PLACE_BITS) as usize][place as usize % CHUNK_BYTES..]
    }

    fn memory_bytes(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::capacity);
        self.full_bytes + last + self.chunks.capacity() * size_of::<Vec<u8>>()
    }
}

/// A term of a table.
#[derive(Clone, Copy)]
pub struct Entry {
    pub number: u32,
    /// Offset of its record.
    pub place: u32,
}

/// The slot for a term that the table does not have. Valid until the next term is added.
#[derive(Clone, Copy)]
pub struct Vacancy {
    slot: usize,
    hash: u32,
}

const SLOTS_MIN: usize = 64;
/// Maximum number of terms per [`TermTable::intern_all`].
pub const BATCH_TERMS: usize = 64;
/// Bytes of a record before its term.
const HEADER_BYTES: usize = 6;

impl TermTable {
    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the bytes of a term.
    #[inline]
    pub fn term(&self, number: u32) -> &[u8] {
        self.record(self.starts[number as usize]).1
    }

    /// Returns the number of `term`, which gets one if it is new or was only appended. At most 65,535 bytes.
    #[inline]
    pub fn intern(&mut self, term: &[u8]) -> u32 {
        self.intern_by_hash(self.hash(term), term)
    }

    #[inline]
    fn intern_by_hash(&mut self, hash: u32, term: &[u8]) -> u32 {
        match self.find_by_hash(hash, term) {
            Ok(entry) => entry.number,
            Err(vacancy) => self.add(vacancy, term, |_| {}).number,
        }
    }

    /// Adds a term without checking whether it exists, and without a slot, so that it will not be found.
    /// Another number may stand for the same term.
    #[inline]
    pub fn append(&mut self, term: &[u8]) -> u32 {
        self.push_record(term, |_| {}).number
    }

    /// Whether two numbers may stand for the same term.
    pub fn may_repeat(&self) -> bool {
        self.slotted < self.len()
    }

    /// Interns all terms of another table; returns the new number of each, by its number there.
    pub fn intern_table(&mut self, other: &TermTable) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(other.len());
        let count = other.len() as u32;
        for first in (0..count).step_by(BATCH_TERMS) {
            let batch = (count - first).min(BATCH_TERMS as u32);
            self.intern_all(
                batch as usize,
                |at| other.term(first + at as u32),
                |_, number| numbers.push(number),
            );
        }
        numbers
    }

    #[inline]
    fn hash(&self, term: &[u8]) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(term);
        let hash = hasher.finish();
        // The upper half of the product is better mixed.
        (hash >> 32) as u32 ^ hash as u32
    }

    /// Returns the numbers of at most [`BATCH_TERMS`] terms, as [`TermTable::intern`] does, in order. It
    /// first visits all slots, then all records: no access depends on that of another term, so the
    /// processor waits for many cache misses at once.
    pub fn intern_all<'t>(
        &mut self,
        count: usize,
        term: impl Fn(usize) -> &'t [u8],
        mut put: impl FnMut(usize, u32),
    ) {
        if self.slots.is_empty() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut probed = [(0, Slot::default()); BATCH_TERMS];
        for (at, (hash, _)) in probed[..count].iter_mut().enumerate() {
            *hash = self.hash(term(at));
            prefetch(&self.slots, *hash as usize & mask);
        }
        for (hash, slot) in &mut probed[..count] {
            *slot = self.slots[*hash as usize & mask];
            prefetch(self.records.tail(slot.place.saturating_sub(1)), 0);
        }
        for (at, &(hash, slot)) in probed[..count].iter().enumerate() {
            let term = term(at);
            if slot.place != 0 && slot.hash == hash {
                let (number, known, _) = self.record(slot.place - 1);
                if same(known, term) {
                    put(at, number);
                    continue;
                }
            }
            put(at, self.intern_by_hash(hash, term));
        }
    }

    /// Returns `Ok` with the entry of `term`, or `Err` with the place where it would go.
    #[inline]
    pub fn find(&mut self, term: &[u8]) -> Result<Entry, Vacancy> {
        self.find_by_hash(self.hash(term), term)
    }

    #[inline]
    fn find_by_hash(&mut self, hash: u32, term: &[u8]) -> Result<Entry, Vacancy> {
        if self.slotted * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.place == 0 {
                return Err(Vacancy { slot: at, hash });
            }
            if slot.hash == hash {
                let place = slot.place - 1;
                let (number, known, _) = self.record(place);
                if same(known, term) {
                    return Ok(Entry { number, place });
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the bytes of the term whose record is at offset `place`, and the bytes from its owner's data
    /// on.
    #[inline]
    pub fn at(&self, place: u32) -> (&[u8], &[u8]) {
        let (_, term, beside) = self.record(place);
        (term, beside)
    }

    /// Returns the bytes from the owner's data on, for the term whose record is at offset `place`.
    #[inline]
    pub fn beside_mut(&mut self, place: u32) -> &mut [u8] {
        let start = HEADER_BYTES + self.at(place).0.len();
        &mut self.records.tail_mut(place)[start..]
    }

    /// Adds a term of at most 65,535 bytes that [`TermTable::find`] did not find; `beside` appends the
    /// owner's data.
    #[cold]
    pub fn add(&mut self, vacancy: Vacancy, term: &[u8], beside: impl FnOnce(&mut Vec<u8>)) -> Entry {
        let entry = self.push_record(term, beside);
        self.slots[vacancy.slot] = Slot { hash: vacancy.hash, place: entry.place + 1 };
        self.slotted += 1;
        entry
    }

    #[inline]
    fn push_record(&mut self, term: &[u8], beside: impl FnOnce(&mut Vec<u8>)) -> Entry {
        let number = self.len() as u32;
        let len = u16::try_from(term.len()).expect("a term's length was checked before");
        let place = self.records.push(|record| {
            record.extend_from_slice(&number.to_le_bytes());
            record.extend_from_slice(&len.to_le_bytes());
            record.extend_from_slice(term);
            beside(record);
        });
        self.starts.push(place);
        Entry { number, place }
    }

    /// Returns number and bytes of the term whose record is at offset `start`, and the bytes that follow.
    #[inline]
    fn record(&self, start: u32) -> (u32, &[u8], &[u8]) {
        let record = self.records.tail(start);
        let (&[n0, n1, n2, n3, l0, l1], rest) =
            record.split_first_chunk::<HEADER_BYTES>().expect("a whole header");
        let (term, beside) = rest.split_at(u16::from_le_bytes([l0, l1]) as usize);
        (u32::from_le_bytes([n0, n1, n2, n3]), term, beside)
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); (self.slots.len() * 2).max(SLOTS_MIN)];
        let mask = slots.len() - 1;
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.place != 0 {
                let mut at = slot.hash as usize & mask;
                while self.slots[at].place != 0 {
                    at = (at + 1) & mask;
                }
                self.slots[at] = slot;
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.records.memory_bytes() + self.starts.capacity() * 4
    }
}

/// Whether two terms are equal. Most are short: two overlapping words of each are compared, without a call
/// of `memcmp` (which took a tenth of the indexing time).
#[inline]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if let (Some(a_first), Some(a_last)) = (a.first_chunk::<8>(), a.last_chunk::<8>()) {
        return b.first_chunk::<8>() == Some(a_first)
            && b.last_chunk::<8>() == Some(a_last)
            && (a.len() <= 16 || a == b);
    }
    if let (Some(a_first), Some(a_last)) = (a.first_chunk::<4>(), a.last_chunk::<4>()) {
        return b.first_chunk::<4>() == Some(a_first) && b.last_chunk::<4>() == Some(a_last);
    }
    a.iter().zip(b).all(|(x, y)| x == y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_terms_compare_like_slices() {
        let base: Vec<u8> = (0..40).collect();
        for len in 0..40 {
            assert!(same(&base[..len], &base.clone()[..len]));
            assert!(!same(&base[..len], &base[..len + 1]));
            for at in 0..len {
                let mut other = base.clone();
                other[at] ^= 1;
                assert!(!same(&base[..len], &other[..len]), "byte {at} of {len}");
            }
        }
    }

    #[test]
    fn numbers_terms_by_first_sight() {
        let mut table = TermTable::default();
        for round in 0..2 {
            for i in 0..5000u32 {
                assert_eq!(table.intern(format!("term {i}").as_bytes()), i, "round {round}");
            }
        }
        let terms: Vec<String> = (4980..5040).step_by(2).map(|i| format!("term {}", i - i % 4)).collect();
        let mut numbers = Vec::new();
        let batch = |at: usize| terms[at].as_bytes();
        TermTable::default().intern_all(30, batch, |at, number| assert_eq!(at as u32 / 2, number));
        table.intern_all(30, batch, |at, number| numbers.push((at, number)));
        assert!(numbers.iter().enumerate().all(|(i, (at, _))| i == *at));
        assert!(terms.iter().zip(&numbers).all(|(term, (_, number))| table.term(*number) == term.as_bytes()));
        assert_eq!((numbers[0].1, numbers[29].1, table.len()), (4980, 5009, 5010));
        assert_eq!(table.intern(b""), 5010);
        // Longer than the rest of any chunk, and than a whole chunk.
        let long = vec![b'x'; 65_535];
        assert_eq!((table.intern(&long), table.intern(b"after"), table.intern(&long)), (5011, 5012, 5011));
        assert_eq!((table.term(5011), table.term(5012)), (&long[..], &b"after"[..]));
        assert_eq!((table.len(), table.term(17), table.term(5010)), (5013, &b"term 17"[..], &b""[..]));
    }
}
