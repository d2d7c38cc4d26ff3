//! Norms of one field: "how long is this field in that document?"
//!
//! One byte per document ([`limber_codec::norm`]), 0 where the field is absent. Layout of the section
//! `Norms`:
//!
//! ```text
//! u8  kind
//! 0   dense: u8 per document                                                    [doc_count]
//! 1   listed: u32 count, u32 document each (ascending), u8 norm each            [count]
//! 2   ranked: u64 words, bit d % 64 of word d / 64 = document d has a norm      [doc_count.div_ceil(64)]
//!     u32 per 8 words: norms before them                                        [words.div_ceil(8)]
//!     u8 norm each                                                                      [count]
//! 3   packed, since version 5 of the format: u8 the most frequent norms                 [15]
//!     u32 count of documents with others, u32 document each (ascending), u8 norm each   [count]
//!     u8 per two documents, the even one in the low bits:                         [doc_count.div_ceil(2)]
//!     place of its norm among the 15, or 15 for a listed document
//! ```
//!
//! The writer takes the shorter sparse layout if that takes at most half the bytes of the dense one. A
//! mapping with hundreds of text fields thus costs bytes for the norms that exist, not for documents ×
//! fields. Otherwise it packs norms if few documents have to be listed ([`LISTED_SHARE`]): short texts that
//! are alike, such as the first lines of requests, have few lengths.

use limber_codec::Reader;
use limber_store::FileBytes;

use crate::{DocId, Error, Result, Sink};

const SECTION: &str = "norms";
const DENSE: u8 = 0;
const LISTED: u8 = 1;
const RANKED: u8 = 2;
const PACKED: u8 = 3;
/// Words of the bit set per rank: 512 documents.
const RANK_WORDS: usize = 8;
/// Norms that have a place of their own in the packed layout.
const FREQUENT: usize = 15;
/// Norms are packed if at most one document in so many is listed: its norm takes a binary search.
const LISTED_SHARE: usize = 1000;
/// Documents that are packed at a time.
const PACKED_AT_ONCE: usize = 64 << 10;

/// Writes the section for `norms` (by document, 0 = none), without a copy of all of them.
pub fn write(norms: &[u8], sink: &mut impl Sink) -> Result<()> {
    if let Some(bytes) = encode_sparse(norms) {
        return sink.append(&bytes);
    }
    match frequent(norms) {
        Some(frequent) => write_packed(norms, &frequent, sink),
        None => {
            sink.append(&[DENSE])?;
            sink.append(norms)
        }
    }
}

/// Returns the section for `norms` (by document, 0 = none).
pub fn encode(norms: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(norms, &mut bytes).expect("memory takes all bytes");
    bytes
}

/// Returns the most frequent norms if hardly any document has another.
fn frequent(norms: &[u8]) -> Option<[u8; FREQUENT]> {
    // Four counts of each norm, so that equal neighbours need not wait for each other.
    let mut counts = [[0u32; 256]; 4];
    let (fours, rest) = norms.as_chunks::<4>();
    for four in fours {
        counts.iter_mut().zip(four).for_each(|(counts, norm)| counts[usize::from(*norm)] += 1);
    }
    rest.iter().for_each(|norm| counts[0][usize::from(*norm)] += 1);
    let count = |norm: u8| counts.iter().map(|counts| counts[usize::from(norm)] as usize).sum::<usize>();
    let mut by_count: Vec<(usize, u8)> = (0..=u8::MAX).map(|norm| (count(norm), norm)).collect();
    by_count.sort_unstable_by(|a, b| b.cmp(a));
    let listed: usize = by_count[FREQUENT..].iter().map(|(count, _)| count).sum();
    let is_shorter = listed <= norms.len() / LISTED_SHARE && norms.len() > 4 * FREQUENT;
    is_shorter.then(|| std::array::from_fn(|place| by_count[place].1))
}

fn write_packed(norms: &[u8], frequent: &[u8; FREQUENT], sink: &mut impl Sink) -> Result<()> {
    let mut places = [FREQUENT as u8; 256];
    (0..).zip(frequent).for_each(|(place, norm)| places[usize::from(*norm)] = place);
    let place = |norm: &u8| places[usize::from(*norm)];
    let listed = || norms.iter().enumerate().filter(|(_, norm)| usize::from(place(norm)) == FREQUENT);
    let mut bytes = vec![PACKED];
    bytes.extend_from_slice(frequent);
    bytes.extend_from_slice(&(listed().count() as u32).to_le_bytes());
    listed().for_each(|(doc, _)| bytes.extend_from_slice(&(doc as u32).to_le_bytes()));
    bytes.extend(listed().map(|(_, norm)| *norm));
    for norms in norms.chunks(PACKED_AT_ONCE) {
        let (pairs, last) = norms.as_chunks::<2>();
        bytes.extend(pairs.iter().map(|[even, odd]| place(even) | place(odd) << 4));
        bytes.extend(last.iter().map(place));
        sink.append(&bytes)?;
        bytes.clear();
    }
    Ok(())
}

/// Returns the shorter sparse layout; `None` if norms are not sparse.
fn encode_sparse(norms: &[u8]) -> Option<Vec<u8>> {
    let count = norms.iter().filter(|&&norm| norm != 0).count();
    let present = || norms.iter().enumerate().filter(|(_, norm)| **norm != 0);
    let word_count = norms.len().div_ceil(64);
    let listed_bytes = 5 + count * 5;
    let ranked_bytes = 1 + word_count * 8 + word_count.div_ceil(RANK_WORDS) * 4 + count;
    if listed_bytes.min(ranked_bytes) > norms.len() / 2 {
        return None;
    }
    let mut out = Vec::with_capacity(listed_bytes.min(ranked_bytes));
    if listed_bytes <= ranked_bytes {
        out.push(LISTED);
        out.extend_from_slice(&(count as u32).to_le_bytes());
        present().for_each(|(doc, _)| out.extend_from_slice(&(doc as u32).to_le_bytes()));
    } else {
        out.push(RANKED);
        let mut words = vec![0u64; word_count];
        present().for_each(|(doc, _)| words[doc / 64] |= 1 << (doc % 64));
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        let mut before = 0u32;
        for words in words.chunks(RANK_WORDS) {
            out.extend_from_slice(&before.to_le_bytes());
            before += words.iter().map(|word| word.count_ones()).sum::<u32>();
        }
    }
    out.extend(present().map(|(_, &norm)| norm));
    Some(out)
}

/// The norms of one field.
pub struct Norms {
    bytes: FileBytes,
    doc_count: u32,
    layout: Layout,
}

#[derive(Clone, Copy)]
enum Layout {
    Dense,
    Listed {
        count: usize,
    },
    Ranked {
        ranks: usize,
        norms: usize,
    },
    /// The offset of the places of norms.
    Packed {
        places: usize,
    },
}

/// Norms in the packed layout.
#[derive(Clone, Copy)]
pub struct PackedNorms<'a> {
    /// The last one is no norm.
    frequent: &'a [u8; FREQUENT + 1],
    listed: (&'a [[u8; 4]], &'a [u8]),
    places: &'a [u8],
}

impl PackedNorms<'_> {
    /// Returns the norm byte of a document of the segment; 0 if it does not have the field.
    #[inline]
    pub fn get(&self, doc: DocId) -> u8 {
        let places = self.places.get(doc as usize / 2).copied().unwrap_or(0);
        match usize::from(places >> (4 * (doc % 2)) & 15) {
            FREQUENT => norm_in_list(self.listed, doc),
            place => self.frequent[place],
        }
    }

    /// Writes the norms by document to `out`, `[doc_count]`.
    fn unpack(&self, out: &mut [u8]) {
        let norm = |place: u8| self.frequent[usize::from(place)];
        for (places, norms) in self.places.iter().zip(out.chunks_mut(2)) {
            norms.iter_mut().zip([norm(places & 15), norm(places >> 4)]).for_each(|(out, norm)| *out = norm);
        }
        for (doc, norm) in self.listed.0.iter().zip(self.listed.1) {
            if let Some(out) = out.get_mut(u32::from_le_bytes(*doc) as usize) {
                *out = *norm;
            }
        }
    }
}

/// Returns the norm of a document in a list; 0 if it has none.
#[cold]
fn norm_in_list((docs, norms): (&[[u8; 4]], &[u8]), doc: DocId) -> u8 {
    docs.binary_search_by_key(&doc, |entry| u32::from_le_bytes(*entry)).map_or(0, |at| norms[at])
}

impl Norms {
    /// Opens the norms of a field in a segment of `doc_count` documents. Checks lengths; damaged contents
    /// can only yield a wrong norm.
    pub fn open(bytes: FileBytes, doc_count: u32) -> Result<Norms> {
        let mut reader = Reader::new(&bytes);
        let word_count = (doc_count as usize).div_ceil(64);
        let mut parse = || {
            let layout = match reader.u8()? {
                DENSE => {
                    reader.bytes(doc_count as usize)?;
                    Layout::Dense
                }
                LISTED => {
                    let count = reader.u32()? as usize;
                    reader.expect(count <= doc_count as usize, "at most one norm a document")?;
                    reader.bytes(count * 5)?;
                    Layout::Listed { count }
                }
                RANKED => {
                    let words = reader.bytes(word_count * 8)?;
                    let ranks = reader.position();
                    reader.bytes(word_count.div_ceil(RANK_WORDS) * 4)?;
                    let norms = reader.position();
                    let count: u32 = words.iter().map(|byte| byte.count_ones()).sum();
                    reader.bytes(count as usize)?;
                    Layout::Ranked { ranks, norms }
                }
                PACKED => {
                    reader.bytes(FREQUENT)?;
                    let listed = reader.u32()? as usize;
                    reader.expect(listed <= doc_count as usize, "at most one norm a document")?;
                    reader.bytes(listed * 5)?;
                    let places = reader.position();
                    reader.bytes((doc_count as usize).div_ceil(2))?;
                    Layout::Packed { places }
                }
                _ => return Err(reader.corrupt("a kind of norms")),
            };
            reader.expect(reader.remaining() == 0, "the end of the norms")?;
            Ok(layout)
        };
        let layout = parse().map_err(Error::in_section(SECTION, 0))?;
        Ok(Norms { bytes, doc_count, layout })
    }

    /// Returns the norm byte of a document; 0 if it does not have the field.
    #[inline]
    pub fn get(&self, doc: DocId) -> u8 {
        let bytes: &[u8] = &self.bytes;
        match self.layout {
            Layout::Dense => bytes.get(1 + doc as usize).copied().unwrap_or(0),
            Layout::Listed { count } => {
                let (docs, norms) = bytes[5..].split_at(count * 4);
                norm_in_list((docs.as_chunks().0, norms), doc)
            }
            Layout::Packed { .. } if doc >= self.doc_count => 0,
            Layout::Packed { .. } => self.packed().map_or(0, |packed| packed.get(doc)),
            Layout::Ranked { ranks, norms } => {
                if doc >= self.doc_count {
                    return 0;
                }
                let words = bytes[1..ranks].as_chunks::<8>().0;
                let at = doc as usize / 64;
                let (word, bit) = (u64::from_le_bytes(words[at]), doc % 64);
                if word >> bit & 1 == 0 {
                    return 0;
                }
                let first = at / RANK_WORDS * RANK_WORDS;
                let rank = u32::from_le_bytes(bytes[ranks..norms].as_chunks::<4>().0[at / RANK_WORDS]);
                let within: u32 =
                    words[first..at].iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
                let below = (word & ((1 << bit) - 1)).count_ones();
                bytes.get(norms + (rank + within + below) as usize).copied().unwrap_or(0)
            }
        }
    }

    /// Returns the norms by document, `[doc_count]`, if they are stored in the dense layout.
    #[inline]
    pub fn as_slice(&self) -> Option<&[u8]> {
        match self.layout {
            Layout::Dense => Some(&self.bytes[1..]),
            _ => None,
        }
    }

    /// Returns the norms if they are stored in the packed layout.
    #[inline]
    pub fn packed(&self) -> Option<PackedNorms<'_>> {
        let Layout::Packed { places } = self.layout else { return None };
        let (head, places) = self.bytes.split_at_checked(places)?;
        let (frequent, list) = (head.get(1..)?.first_chunk()?, head.get(1 + FREQUENT + 4..)?);
        // Four bytes for each listed document, then one for each.
        let (docs, norms) = list.split_at(list.len() / 5 * 4);
        Some(PackedNorms { frequent, listed: (docs.as_chunks().0, norms), places })
    }

    /// Writes the norms by document to `out`, `[doc_count]`, unless the layout is sparse; returns whether it
    /// did.
    pub(crate) fn copy_all(&self, out: &mut [u8]) -> bool {
        if let Some(all) = self.as_slice() {
            out.copy_from_slice(all);
        } else if let Some(packed) = self.packed() {
            packed.unpack(out);
        } else {
            return false;
        }
        true
    }

    /// Calls `found` with every document that has a norm, that is, every document with the field, ascending.
    pub fn for_each(&self, mut found: impl FnMut(DocId, u8)) {
        let bytes: &[u8] = &self.bytes;
        match self.layout {
            Layout::Dense => {
                let present = bytes[1..].iter().enumerate().filter(|(_, norm)| **norm != 0);
                present.for_each(|(doc, &norm)| found(doc as u32, norm));
            }
            Layout::Listed { count } => {
                let (docs, norms) = bytes[5..].split_at(count * 4);
                let docs = docs.as_chunks::<4>().0.iter().map(|entry| u32::from_le_bytes(*entry));
                let inside = docs.zip(norms).filter(|(doc, _)| *doc < self.doc_count);
                inside.for_each(|(doc, &norm)| found(doc, norm));
            }
            Layout::Packed { .. } => {
                let Some(packed) = self.packed() else { return };
                let norms = (0..self.doc_count).map(|doc| (doc, packed.get(doc)));
                norms.filter(|(_, norm)| *norm != 0).for_each(|(doc, norm)| found(doc, norm));
            }
            Layout::Ranked { ranks, norms } => {
                let mut norms = bytes[norms..].iter();
                for (at, word) in bytes[1..ranks].as_chunks::<8>().0.iter().enumerate() {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        let doc = at as u32 * 64 + word.trailing_zeros();
                        found(doc, norms.next().copied().unwrap_or(0));
                        word &= word - 1;
                    }
                }
            }
        }
    }

    /// Returns the number of documents of the segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(norms: &[u8], kind: u8) {
        let bytes = encode(norms);
        assert_eq!(bytes[0], kind);
        let doc_count = norms.len() as u32;
        let read = Norms::open(FileBytes::from_vec(bytes.clone()), doc_count).expect("sound");
        for (doc, &norm) in norms.iter().enumerate() {
            assert_eq!(read.get(doc as u32), norm, "document {doc}");
        }
        assert_eq!(read.get(doc_count), 0);
        assert_eq!(read.as_slice().is_some(), kind == DENSE);
        let mut walked = vec![0; norms.len()];
        read.for_each(|doc, norm| walked[doc as usize] = norm);
        assert_eq!(walked, norms);
        let mut copied = vec![9; norms.len()];
        let is_sparse = matches!(kind, LISTED | RANKED);
        assert!(read.copy_all(&mut copied) != is_sparse && (is_sparse || copied == norms));
        for len in 0..bytes.len() {
            assert!(
                Norms::open(FileBytes::from_vec(bytes[..len].to_vec()), doc_count).is_err(),
                "cut at {len}"
            );
        }
    }

    #[test]
    fn four_layouts_read_alike() {
        let every = |n: usize, step: usize| -> Vec<u8> {
            (0..n).map(|i| if i % step == 0 { (i % 250) as u8 + 1 } else { 0 }).collect()
        };
        check(&[], DENSE);
        check(&every(700, 1), DENSE);
        check(&every(700, 2), DENSE);
        check(&every(1500, 7), RANKED);
        check(&every(3000, 300), LISTED);
        check(&vec![0; 400], LISTED);
        let few = |n: usize| -> Vec<u8> { (0..n).map(|i| (i % 15) as u8 * 3 + 1).collect() };
        check(&few(61), PACKED);
        check(&few(60), DENSE);
        check(&[few(2999), vec![70, 71]].concat(), PACKED);
        check(&[few(2997), vec![70, 71, 72, 73]].concat(), DENSE);
        check(&[vec![9], few(PACKED_AT_ONCE), few(PACKED_AT_ONCE)].concat(), PACKED);
    }

    #[test]
    fn packed_norms_are_these_bytes() {
        let mut norms = vec![5; 2001];
        (norms[1], norms[2]) = (2, 0);
        (1..=12).for_each(|n| norms[2 * n + 4] = 10 + n as u8);
        norms[1000] = 99;
        let bytes = encode(&norms);
        assert_eq!(bytes[..16], [3, 5, 99, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 2]);
        // Document 2 has no norm, and its 0 is the rarest.
        assert_eq!(bytes[16..25], [1, 0, 0, 0, 2, 0, 0, 0, 0]);
        assert_eq!((&bytes[25..30], bytes.len()), (&[0xe0, 0x0f, 0, 0x0d, 0x0c][..], 25 + 1001));
    }

    #[test]
    fn a_list_is_these_bytes() {
        let mut norms = vec![0; 100];
        (norms[3], norms[70]) = (9, 1);
        assert_eq!(encode(&norms), [1, 2, 0, 0, 0, 3, 0, 0, 0, 70, 0, 0, 0, 9, 1]);
    }
}
