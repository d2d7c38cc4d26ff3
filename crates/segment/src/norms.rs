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
//! ```
//!
//! The writer takes the shortest layout, but a sparse one only if it takes at most half the bytes of the
//! dense one. A mapping with hundreds of text fields thus costs bytes for the norms that exist, not for
//! documents × fields.

use limber_codec::Reader;
use limber_store::FileBytes;

use crate::{DocId, Error, Result, Sink};

const SECTION: &str = "norms";
const DENSE: u8 = 0;
const LISTED: u8 = 1;
const RANKED: u8 = 2;
/// Words of the bit set per rank: 512 documents.
const RANK_WORDS: usize = 8;

/// Writes the section for `norms` (by document, 0 = none); dense norms are written without a copy.
pub fn write(norms: &[u8], sink: &mut impl Sink) -> Result<()> {
    match encode_sparse(norms) {
        Some(bytes) => sink.append(&bytes),
        None => {
            sink.append(&[DENSE])?;
            sink.append(norms)
        }
    }
}

/// Returns the section for `norms` (by document, 0 = none).
pub fn encode(norms: &[u8]) -> Vec<u8> {
    encode_sparse(norms).unwrap_or_else(|| [&[DENSE], norms].concat())
}

/// Returns `None` if the dense layout should be used.
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
    Listed { count: usize },
    Ranked { ranks: usize, norms: usize },
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
                let docs = docs.as_chunks::<4>().0;
                docs.binary_search_by_key(&doc, |entry| u32::from_le_bytes(*entry)).map_or(0, |at| norms[at])
            }
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
        for len in 0..bytes.len() {
            assert!(
                Norms::open(FileBytes::from_vec(bytes[..len].to_vec()), doc_count).is_err(),
                "cut at {len}"
            );
        }
    }

    #[test]
    fn three_layouts_read_alike() {
        let every = |n: usize, step: usize| -> Vec<u8> {
            (0..n).map(|i| if i % step == 0 { (i % 250) as u8 + 1 } else { 0 }).collect()
        };
        check(&[], DENSE);
        check(&every(700, 1), DENSE);
        check(&every(700, 2), DENSE);
        check(&every(1500, 7), RANKED);
        check(&every(3000, 300), LISTED);
        check(&vec![0; 400], LISTED);
    }

    #[test]
    fn a_list_is_these_bytes() {
        let mut norms = vec![0; 100];
        (norms[3], norms[70]) = (9, 1);
        assert_eq!(encode(&norms), [1, 2, 0, 0, 0, 3, 0, 0, 0, 70, 0, 0, 0, 9, 1]);
    }
}
