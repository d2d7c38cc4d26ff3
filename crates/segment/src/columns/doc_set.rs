//! An immutable set of documents with rank: "does it contain this document, how many members are before it,
//! which members are in this window?"
//!
//! ```text
//! windows of 4,096 documents, one after the other (none and full windows take no bytes):
//!   list   u16 * n: offsets in the window, ascending, when that is smaller than bits (n <= 256)
//!   bits   u16 * 8: members before each eighth of the window, then 512 bytes of bits
//! directory  8 bytes per window and one more entry: members before it u32;
//!            u32: offset of its bytes / 2 << 2 | kind (0 none, 1 full, 2 list, 3 bits);
//!            the last entry has the count of members and the end of the bytes
//! ```
//! At most 1.03 bits per document, and 0.016 where a whole window has or lacks the field, so that the
//! sparse fields of a wide mapping are cheap.

use super::format::GROUP as WINDOW;
use crate::{DocId, Error, Result};

const WORDS: usize = WINDOW / 64;
const EIGHTH_WORDS: usize = WORDS / 8;
const LIST_LEN_MAX: usize = 256;
const BITS_BYTES: usize = 16 + WINDOW / 8;

const NONE: u32 = 0;
const FULL: u32 = 1;
const LIST: u32 = 2;
const BITS: u32 = 3;

/// Collects ascending documents.
#[derive(Default)]
pub struct DocSetBuilder {
    window: Vec<u16>,
    window_number: u32,
    directory: Vec<u8>,
    bytes: Vec<u8>,
    count: u32,
}

impl DocSetBuilder {
    /// Returns the number of documents added so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Adds a document, which must be larger than all before it.
    #[inline]
    pub fn push(&mut self, doc: DocId) {
        let number = doc / WINDOW as u32;
        while self.window_number < number {
            self.end_window(WINDOW);
        }
        self.window.push((doc % WINDOW as u32) as u16);
        self.count += 1;
    }

    fn end_window(&mut self, window_len: usize) {
        let kind = match self.window.len() {
            0 => NONE,
            len if len == window_len => FULL,
            len if len <= LIST_LEN_MAX => LIST,
            _ => BITS,
        };
        self.entry(self.count - self.window.len() as u32, kind);
        match kind {
            LIST => self.window.iter().for_each(|place| self.bytes.extend_from_slice(&place.to_le_bytes())),
            BITS => {
                let mut words = [0u64; WORDS];
                for place in &self.window {
                    words[usize::from(*place) / 64] |= 1 << (place % 64);
                }
                let mut before = 0u16;
                for eighth in words.chunks(EIGHTH_WORDS) {
                    self.bytes.extend_from_slice(&before.to_le_bytes());
                    before += eighth.iter().map(|word| word.count_ones() as u16).sum::<u16>();
                }
                words.iter().for_each(|word| self.bytes.extend_from_slice(&word.to_le_bytes()));
            }
            _ => {}
        }
        self.window.clear();
        self.window_number += 1;
    }

    fn entry(&mut self, before: u32, kind: u32) {
        self.directory.extend_from_slice(&before.to_le_bytes());
        self.directory.extend_from_slice(&(((self.bytes.len() / 2) as u32) << 2 | kind).to_le_bytes());
    }

    /// Returns the bytes of the set for `doc_count` documents.
    pub fn finish(mut self, doc_count: u32) -> Vec<u8> {
        let windows = doc_count.div_ceil(WINDOW as u32);
        while self.window_number < windows {
            let start = self.window_number as usize * WINDOW;
            self.end_window((doc_count as usize - start).min(WINDOW));
        }
        self.entry(self.count, NONE);
        self.bytes.append(&mut self.directory);
        self.bytes
    }
}

/// Reader; a view, free to copy.
#[derive(Debug, Clone, Copy)]
pub struct DocSet<'a> {
    bytes: &'a [u8],
    directory: &'a [[u8; 8]],
    doc_count: u32,
}

#[derive(Clone, Copy)]
enum Window<'a> {
    None,
    Full,
    List(&'a [[u8; 2]]),
    Bits(&'a [u8; BITS_BYTES]),
}

#[cold]
fn corrupt(offset: usize) -> Error {
    Error::corrupt("presence", offset as u64, "a set of documents")
}

#[inline]
fn word(bits: &[u8; BITS_BYTES], index: usize) -> u64 {
    bits[16 + 8 * index..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b))
}

impl<'a> DocSet<'a> {
    /// Opens what a [`DocSetBuilder`] wrote for a segment of `doc_count` documents.
    ///
    /// # Errors
    /// Fails if there are too few bytes.
    pub fn new(bytes: &'a [u8], doc_count: u32) -> Result<DocSet<'a>> {
        let directory_len = (doc_count.div_ceil(WINDOW as u32) as usize + 1) * 8;
        let at = bytes.len().checked_sub(directory_len).ok_or_else(|| corrupt(bytes.len()))?;
        let (bytes, directory) = bytes.split_at(at);
        Ok(DocSet { bytes, directory: directory.as_chunks().0, doc_count })
    }

    fn entry(&self, window: usize) -> Result<(u32, u32)> {
        let entry = self.directory.get(window).ok_or_else(|| corrupt(8 * window))?;
        let [a, b, c, d, e, f, g, h] = *entry;
        Ok((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])))
    }

    /// Returns the number of documents of the segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Returns the number of members.
    pub fn count(&self) -> Result<u32> {
        Ok(self.entry(self.directory.len() - 1)?.0)
    }

    /// Returns the number of members before window `window` (its first document is `4096 * window`).
    #[inline]
    pub fn before_window(&self, window: usize) -> Result<u32> {
        Ok(self.entry(window.min(self.directory.len() - 1))?.0)
    }

    #[inline]
    fn window(&self, window: usize) -> Result<(u32, Window<'a>)> {
        let (before, packed) = self.entry(window)?;
        let offset = (packed >> 2) as usize * 2;
        let unfit = || corrupt(offset);
        let window = match packed & 3 {
            NONE => Window::None,
            FULL => Window::Full,
            LIST => {
                let len = self.before_window(window + 1)?.checked_sub(before).ok_or_else(unfit)? as usize;
                let list = self.bytes.get(offset..).and_then(|b| b.get(..2 * len)).ok_or_else(unfit)?;
                Window::List(list.as_chunks().0)
            }
            _ => Window::Bits(self.bytes.get(offset..).and_then(|b| b.first_chunk()).ok_or_else(unfit)?),
        };
        Ok((before, window))
    }

    /// Whether a document is in the set.
    #[inline]
    pub fn contains(&self, doc: DocId) -> Result<bool> {
        Ok(self.rank(doc)?.is_some())
    }

    /// Returns the number of members before `doc`, or `None` if `doc` is not a member.
    #[inline]
    pub fn rank(&self, doc: DocId) -> Result<Option<u32>> {
        if doc >= self.doc_count {
            return Ok(None);
        }
        let (before, window) = self.window(doc as usize / WINDOW)?;
        Ok(window.rank((doc as usize % WINDOW) as u16).map(|rank| before + rank))
    }

    /// Appends, for each of `docs` (ascending) that is a member, its index in `docs` and its rank.
    pub fn ranks(&self, docs: &[DocId], positions: &mut Vec<u32>, ranks: &mut Vec<u32>) -> Result<()> {
        let mut at = 0;
        while at < docs.len() {
            let number = docs[at] as usize / WINDOW;
            let end = at
                + docs[at..]
                    .iter()
                    .position(|doc| *doc as usize / WINDOW != number)
                    .unwrap_or(docs.len() - at);
            let (before, window) = self.window(number)?;
            match window {
                Window::None => {}
                Window::Full => {
                    positions.extend(at as u32..end as u32);
                    ranks.extend(docs[at..end].iter().map(|doc| before + doc % WINDOW as u32));
                }
                Window::List(_) => {
                    for (index, doc) in (at as u32..).zip(&docs[at..end]) {
                        if let Some(rank) = window.rank((doc % WINDOW as u32) as u16) {
                            positions.push(index);
                            ranks.push(before + rank);
                        }
                    }
                }
                Window::Bits(bits) => {
                    // Documents ascend, so each word's bits are counted once.
                    let (mut next_word, mut rank) = (0, before);
                    for (index, doc) in (at as u32..).zip(&docs[at..end]) {
                        let place = *doc as usize % WINDOW;
                        while next_word < place / 64 {
                            rank += word(bits, next_word).count_ones();
                            next_word += 1;
                        }
                        let here = word(bits, place / 64);
                        if here >> (place % 64) & 1 != 0 {
                            positions.push(index);
                            ranks.push(rank + (here & ((1u64 << (place % 64)) - 1)).count_ones());
                        }
                    }
                }
            }
            at = end;
        }
        Ok(())
    }

    /// Sets `out` to the members among the 4,096 documents from `4096 * window`, bit 0 of word 0 first.
    pub fn fill_window(&self, window: usize, out: &mut [u64; WORDS]) -> Result<()> {
        match self.window(window)?.1 {
            Window::None => out.fill(0),
            Window::Full => fill_first(out, (self.doc_count as usize - window * WINDOW).min(WINDOW)),
            Window::List(list) => {
                out.fill(0);
                for place in list {
                    let place = usize::from(u16::from_le_bytes(*place)) % WINDOW;
                    out[place / 64] |= 1 << (place % 64);
                }
            }
            Window::Bits(bits) => {
                out.iter_mut().enumerate().for_each(|(index, out)| *out = word(bits, index))
            }
        }
        Ok(())
    }

    /// Checks every structure: counts, order, offsets.
    pub fn check(&self) -> Result<()> {
        let (mut before, mut offset) = (0u32, 0usize);
        let mut words = [0u64; WORDS];
        for window in 0..self.directory.len() - 1 {
            let (rank, packed) = self.entry(window)?;
            let len = (self.doc_count as usize - window * WINDOW).min(WINDOW);
            self.fill_window(window, &mut words)?;
            let members: u32 = words.iter().map(|word| word.count_ones()).sum();
            let mut allowed = [0u64; WORDS];
            fill_first(&mut allowed, len);
            let inside = words.iter().zip(&allowed).all(|(word, allowed)| word & !allowed == 0);
            let (_, view) = self.window(window)?;
            let sorted = match view {
                Window::List(list) => {
                    list.windows(2).all(|p| u16::from_le_bytes(p[0]) < u16::from_le_bytes(p[1]))
                }
                Window::Bits(bits) => (0..8).all(|eighth| {
                    let found =
                        words[..eighth * EIGHTH_WORDS].iter().map(|word| word.count_ones()).sum::<u32>();
                    u32::from(u16::from_le_bytes([bits[2 * eighth], bits[2 * eighth + 1]])) == found
                }),
                _ => true,
            };
            if rank != before || (packed >> 2) as usize * 2 != offset || !inside || !sorted {
                return Err(corrupt(offset));
            }
            before += members;
            offset += match view {
                Window::List(list) => 2 * list.len(),
                Window::Bits(_) => BITS_BYTES,
                _ => 0,
            };
        }
        let (rank, packed) = self.entry(self.directory.len() - 1)?;
        if rank != before || packed as usize != (offset / 2) << 2 || offset != self.bytes.len() {
            return Err(corrupt(offset));
        }
        Ok(())
    }
}

impl Window<'_> {
    #[inline]
    fn rank(&self, place: u16) -> Option<u32> {
        match self {
            Window::None => None,
            Window::Full => Some(u32::from(place)),
            Window::List(list) => {
                list.binary_search_by(|p| u16::from_le_bytes(*p).cmp(&place)).ok().map(|rank| rank as u32)
            }
            Window::Bits(bits) => {
                let index = usize::from(place) / 64;
                let here = word(bits, index);
                if here >> (place % 64) & 1 == 0 {
                    return None;
                }
                let eighth = index / EIGHTH_WORDS;
                let mut rank = u32::from(u16::from_le_bytes([bits[2 * eighth], bits[2 * eighth + 1]]));
                for word_index in eighth * EIGHTH_WORDS..index {
                    rank += word(bits, word_index).count_ones();
                }
                Some(rank + (here & ((1u64 << (place % 64)) - 1)).count_ones())
            }
        }
    }
}

/// Sets the first `len` bits and clears the others.
pub(crate) fn fill_first(out: &mut [u64; WORDS], len: usize) {
    for (index, word) in out.iter_mut().enumerate() {
        let here = len.saturating_sub(64 * index).min(64);
        *word = if here == 64 { u64::MAX } else { (1 << here) - 1 };
    }
}
