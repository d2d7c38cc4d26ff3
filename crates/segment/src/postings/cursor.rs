//! The postings of one term: "which document is next, how often is the term in it, and where?"

use limber_codec::{Corrupt, Reader, ascending, block128, members};
use limber_store::FileBytes;

use super::format::{BIT_SET_WORDS_MAX, BLOCK_DOCS, TAG_BIT_SET, TAIL_IMPACTS_MIN};
use super::places::Place;
use super::skip::SkipRows;
use crate::index_options::IndexOptions;
use crate::terms::TermInfo;
use crate::{DocId, Error, NO_MORE_DOCS, Result};

/// Documents in one window of [`Postings::fill_bitset`].
pub const WINDOW_DOCS: u32 = 64 * 64;

/// Documents that [`Postings::advance`] compares at once: it first compares `target` with the last document
/// of each such run.
const STEP: usize = ascending::LEN;

/// Gaps up to this width cannot carry 128 documents past 2^32, so for corrupt bytes it suffices to check
/// the last document.
const SAFE_GAP_BITS: u8 = 24;

/// A cursor over the documents of one term, ascending. **It starts on the first document**, not before it.
///
/// Corrupt bytes end it early, at [`NO_MORE_DOCS`]; [`Postings::status`] distinguishes that from the true
/// end. Impacts: see [`Postings::shallow_advance`].
pub struct Postings {
    pub(super) postings: FileBytes,
    pub(super) positions: Option<FileBytes>,
    pub(super) info: TermInfo,
    pub(super) doc_count: u32,
    /// What was written, regardless of what was requested.
    pub(super) options: IndexOptions,
    pub(super) skip: SkipRows,
    pub(super) tail_len: usize,
    /// The current block; `skip.block_count` is the tail, greater values mean the end.
    pub(super) block: usize,
    /// A block before which no document is asked for; see [`Postings::find`].
    pub(super) searched: usize,
    doc: DocId,
    /// Index of `doc` in the block.
    at: usize,
    len: usize,
    decoded: Box<Decoded>,
    /// The offset of the packed frequencies of the current block; `None` once they are in `decoded`.
    freqs_at: Option<usize>,
    pub(super) place: Place,
    pub(super) impacts: ImpactState,
    pub(super) corrupt: Option<&'static str>,
}

/// Kept on the heap, so that a cursor moves cheaply.
struct Decoded {
    /// The documents of the block, then [`NO_MORE_DOCS`].
    docs: [DocId; BLOCK_DOCS],
    /// The last document of each run of [`STEP`] in `docs`, then [`NO_MORE_DOCS`].
    ends: [DocId; STEP],
    freqs: [u32; BLOCK_DOCS],
}

/// State that `shallow_advance` and `max_score` keep between calls.
#[derive(Default)]
pub(super) struct ImpactState {
    /// Block from which the next `max_score` starts.
    pub from_block: usize,
}

/// A part of a term's postings does not decode.
pub(super) struct Broken(pub(super) &'static str);

impl From<Corrupt> for Broken {
    fn from(corrupt: Corrupt) -> Broken {
        Broken(corrupt.expected)
    }
}

impl Postings {
    pub(super) fn open(
        postings: FileBytes,
        positions: Option<FileBytes>,
        info: &TermInfo,
        options: IndexOptions,
        doc_count: u32,
    ) -> Result<Postings> {
        let skip = match info.doc_freq {
            1 => Some(SkipRows::default()),
            _ => SkipRows::open(&postings, info.doc_freq, options),
        };
        let corrupt = |expected| Error::corrupt("postings", info.location.postings_offset, expected);
        let skip = skip.ok_or_else(|| corrupt("skip data of all blocks"))?;
        let mut this = Postings {
            postings,
            positions,
            info: *info,
            doc_count,
            options,
            skip,
            tail_len: info.doc_freq as usize % BLOCK_DOCS,
            block: 0,
            searched: 0,
            doc: NO_MORE_DOCS,
            at: 0,
            len: 0,
            decoded: Box::new(Decoded {
                docs: [NO_MORE_DOCS; BLOCK_DOCS],
                ends: [NO_MORE_DOCS; STEP],
                freqs: [1; BLOCK_DOCS],
            }),
            freqs_at: None,
            place: Place::default(),
            impacts: ImpactState::default(),
            corrupt: None,
        };
        this.enter_block(0);
        this.status()?;
        Ok(this)
    }

    /// Returns the current document, or [`NO_MORE_DOCS`].
    #[inline]
    pub fn doc(&self) -> DocId {
        self.doc
    }

    /// Returns the number of documents of the term, deleted ones included.
    pub fn doc_freq(&self) -> u32 {
        self.info.doc_freq
    }

    /// Fails if corrupt bytes ended this cursor early or left it without frequencies or positions.
    pub fn status(&self) -> Result<()> {
        match self.corrupt {
            None => Ok(()),
            Some(expected) => Err(Error::corrupt("postings", self.info.location.postings_offset, expected)),
        }
    }

    /// Moves to the next document and returns it, or [`NO_MORE_DOCS`]. The end is a number, because callers
    /// compare documents.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> DocId {
        self.at += 1;
        if self.at < self.len {
            self.doc = self.decoded.docs[self.at];
            self.doc
        } else {
            self.enter_block(self.block + 1)
        }
    }

    /// Moves to the first document at or after `target`; stays where it is when that is the current one.
    #[inline]
    pub fn advance(&mut self, target: DocId) -> DocId {
        if target <= self.doc {
            return self.doc;
        }
        if target > self.decoded.docs[self.len - 1] {
            let found = self.skip.block_of(&self.postings, self.block + 1, target);
            let Some(block) = found else { return self.fail(Broken("skip data of all blocks")) };
            // `block_of` returns a block before the next one only if there is no next one.
            self.enter_block(block.max(self.block + 1));
            if self.doc >= target {
                return self.doc;
            }
        }
        // The target is mostly near.
        let mut step = self.at / STEP;
        if self.decoded.ends[step] < target {
            step = ascending::count_below(&self.decoded.ends, target).min(BLOCK_DOCS / STEP - 1);
        }
        let at = STEP * step + ascending::count_below(&self.decoded.docs.as_chunks().0[step], target);
        self.at = at;
        if at < self.len {
            self.doc = self.decoded.docs[at];
            self.doc
        } else {
            self.enter_block(self.block + 1)
        }
    }

    /// Returns the documents of the current block from the current one on; empty at the end.
    #[inline]
    pub fn block_docs(&self) -> &[DocId] {
        &self.decoded.docs[self.at.min(self.len)..self.len]
    }

    /// Returns the index of the current document in its block; `None` at the end.
    #[inline]
    pub(super) fn index_in_block(&self) -> Option<usize> {
        (self.at < self.len).then_some(self.at)
    }

    /// Returns the documents of the current block, the passed ones included, then [`NO_MORE_DOCS`].
    #[inline]
    pub(super) fn decoded_docs(&self) -> &[DocId; BLOCK_DOCS] {
        &self.decoded.docs
    }

    /// Returns the frequencies of the current block's documents, the passed ones included, and their number.
    #[inline]
    pub(super) fn decoded_freqs(&mut self) -> (&[u32; BLOCK_DOCS], usize) {
        self.decode_freqs();
        (&self.decoded.freqs, self.len)
    }

    /// Returns the frequencies of [`Postings::block_docs`].
    #[inline]
    pub fn block_freqs(&mut self) -> &[u32] {
        self.decode_freqs();
        &self.decoded.freqs[self.at.min(self.len)..self.len]
    }

    /// Moves to the first document after the current block.
    #[inline]
    pub fn next_block(&mut self) -> DocId {
        self.enter_block(self.block + 1)
    }

    /// Sets the bit `doc - window_start` for every document from the current one up to the window's end, and
    /// moves to the first document after the window. The current document must not lie before `window_start`.
    pub fn fill_bitset(&mut self, window_start: DocId, window: &mut [u64; 64]) {
        let end = window_start.saturating_add(WINDOW_DOCS);
        while self.doc < end {
            let docs = &self.decoded.docs[self.at..self.len];
            let inside =
                if docs[docs.len() - 1] < end { docs.len() } else { docs.partition_point(|&doc| doc < end) };
            for &doc in &docs[..inside] {
                let bit = doc.wrapping_sub(window_start) as usize % WINDOW_DOCS as usize;
                window[bit / 64] |= 1 << (bit % 64);
            }
            self.at += inside;
            if self.at < self.len {
                self.doc = self.decoded.docs[self.at];
            } else {
                let next = self.or_bit_sets(self.block + 1, window_start, end, window);
                self.enter_block(next);
            }
        }
    }

    /// From `block` on, merges the blocks that are bit sets and end before `end` into the window, reading
    /// them directly from the file; returns the first block that is not merged.
    fn or_bit_sets(
        &self,
        mut block: usize,
        window_start: DocId,
        end: DocId,
        window: &mut [u64; 64],
    ) -> usize {
        while let Some((base, words)) = self.words(block) {
            // Documents are below 2^32, so this bit exists.
            let last = self.skip.last_doc(&self.postings, block).filter(|last| *last < end);
            let (Some(_), Some(first)) = (last, base.checked_sub(window_start)) else { break };
            let (mut at, shift) = (first as usize / 64, first % 64);
            for word in words {
                let word = u64::from_le_bytes(*word);
                window[at % 64] |= word << shift;
                if shift > 0 && at + 1 < 64 {
                    window[at + 1] |= word >> (64 - shift);
                }
                at += 1;
            }
            block += 1;
        }
        block
    }

    /// Returns the frequency of the term in the current document; 1 in fields without frequencies.
    #[inline]
    pub fn freq(&mut self) -> u32 {
        if self.freqs_at.is_some() {
            self.decode_freqs();
        }
        self.decoded.freqs[self.at.min(BLOCK_DOCS - 1)]
    }

    #[cold]
    pub(super) fn fail(&mut self, broken: Broken) -> DocId {
        self.corrupt = Some(broken.0);
        self.block = self.skip.block_count + 1;
        self.end()
    }

    fn end(&mut self) -> DocId {
        (self.doc, self.at, self.len, self.freqs_at) = (NO_MORE_DOCS, 0, 0, None);
        NO_MORE_DOCS
    }

    /// Decodes the documents of `block` and moves to its first.
    pub(super) fn enter_block(&mut self, block: usize) -> DocId {
        let count = self.skip.block_count;
        self.block = block;
        if block > count || (block == count && self.tail_len == 0) {
            self.block = count + 1;
            return self.end();
        }
        let loaded = if block < count { self.load_block(block) } else { self.load_tail() };
        match loaded {
            Ok(len) if self.decoded.docs[len - 1] < self.doc_count => {
                let Decoded { docs, ends, .. } = &mut *self.decoded;
                for (end, docs) in ends.iter_mut().zip(docs.as_chunks::<STEP>().0) {
                    *end = docs[STEP - 1];
                }
                (self.at, self.len) = (0, len);
                self.doc = self.decoded.docs[0];
                self.doc
            }
            Ok(_) => self.fail(Broken("documents of this segment")),
            Err(broken) => self.fail(broken),
        }
    }

    /// Returns the last document before `block`.
    fn last_doc_before(&self, block: usize) -> std::result::Result<Option<DocId>, Broken> {
        match block {
            0 => Ok(None),
            _ => match self.skip.last_doc(&self.postings, block - 1) {
                None => Err(Broken("skip data of all blocks")),
                doc => Ok(doc),
            },
        }
    }

    fn load_block(&mut self, block: usize) -> std::result::Result<usize, Broken> {
        let previous = self.last_doc_before(block)?;
        let bytes: &[u8] = &self.postings;
        let (start, end) = self.skip.bytes_of(bytes, block).ok_or(Broken("blocks in order"))?;
        let [tag, rest @ ..] = &bytes[start..end] else { return Err(Broken("a block of documents")) };
        let docs = &mut self.decoded.docs;
        let used = if *tag == TAG_BIT_SET {
            load_bit_set(rest, previous, docs)?
        } else {
            let used = block128::unpack_ascending(rest, previous, *tag, docs)?;
            if *tag > SAFE_GAP_BITS && !docs.is_sorted() {
                return Err(Broken("ascending documents"));
            }
            used
        };
        let last = Some(docs[BLOCK_DOCS - 1]);
        if last != self.skip.last_doc(bytes, block) || previous >= last {
            return Err(Broken("the last document the skip data name"));
        }
        self.freqs_at = self.options.frequencies.then_some(start + 1 + used);
        Ok(BLOCK_DOCS)
    }

    fn load_tail(&mut self) -> std::result::Result<usize, Broken> {
        let decoded = &mut *self.decoded;
        self.freqs_at = None;
        if self.info.doc_freq == 1 {
            decoded.docs[0] = self.info.location.single_doc;
            decoded.docs[1..].fill(NO_MORE_DOCS);
            decoded.freqs[0] = u32::try_from(self.info.total_term_freq).map_err(|_| Broken("a frequency"))?;
            return Ok(1);
        }
        let bytes: &[u8] = &self.postings;
        let start = self.skip.tail_start(bytes).ok_or(Broken("blocks in order"))?;
        let tail = bytes.get(start..self.skip.start).ok_or(Broken("a tail after the blocks"))?;
        let mut reader = Reader::new(tail);
        if self.options.frequencies && self.tail_len >= TAIL_IMPACTS_MIN {
            for _ in 0..reader.u8()? {
                reader.varint()?;
                reader.u8()?;
            }
        }
        let mut next = match self.skip.block_count {
            0 => 0,
            count => self.skip.last_doc(bytes, count - 1).map_or(0, |doc| doc as u64 + 1),
        };
        for i in 0..self.tail_len {
            let code = reader.varint()?;
            let gap = if self.options.frequencies { code >> 1 } else { code };
            let doc = next.checked_add(gap).filter(|&doc| doc < NO_MORE_DOCS as u64);
            let doc = doc.ok_or(Broken("documents of 32 bits"))?;
            decoded.docs[i] = doc as u32;
            decoded.freqs[i] =
                if self.options.frequencies && code & 1 == 0 { reader.varint_u32()? } else { 1 };
            next = doc + 1;
        }
        decoded.docs[self.tail_len..].fill(NO_MORE_DOCS);
        Ok(self.tail_len)
    }

    #[inline]
    fn decode_freqs(&mut self) {
        let Some(at) = self.freqs_at.take() else { return };
        if let Err(corrupt) = unpack_freqs(&self.postings, at, &mut self.decoded.freqs) {
            self.corrupt = Some(corrupt.expected);
        }
    }
}

/// Unpacks the frequencies of a block, which begin at an offset of the postings; all are 1 if that fails.
pub(super) fn unpack_freqs(
    postings: &[u8],
    at: usize,
    freqs: &mut [u32; BLOCK_DOCS],
) -> std::result::Result<(), Corrupt> {
    match block128::unpack_patched(postings.get(at..).unwrap_or_default(), freqs) {
        Ok(_) => freqs.iter_mut().for_each(|freq| *freq = freq.wrapping_add(1)),
        Err(corrupt) => {
            *freqs = [1; BLOCK_DOCS];
            return Err(corrupt);
        }
    }
    Ok(())
}

/// Reads the bit set at the start of `bytes`; returns its length in bytes.
fn load_bit_set(
    bytes: &[u8],
    previous: Option<DocId>,
    docs: &mut [DocId; BLOCK_DOCS],
) -> std::result::Result<usize, Broken> {
    const EXPECTED: Broken = Broken("a bit set of 128 documents");
    let [word_count, rest @ ..] = bytes else { return Err(EXPECTED) };
    let len = *word_count as usize * 8;
    if *word_count as usize > BIT_SET_WORDS_MAX || len > rest.len() {
        return Err(EXPECTED);
    }
    let base = previous.map_or(0, |doc| doc.wrapping_add(1));
    let count = members::unpack_bit_set(rest[..len].as_chunks::<8>().0, base, docs);
    if count == BLOCK_DOCS { Ok(1 + len) } else { Err(EXPECTED) }
}
