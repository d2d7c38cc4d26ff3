//! Batches of documents: "which of these have the term, how often, and where are its positions?"

use limber_codec::members::{Members, running_sums};

use super::cursor::{Postings, unpack_freqs};
use super::format::{BIT_SET_WORDS_MAX, BLOCK_DOCS, TAG_BIT_SET};
use super::places::Spot;
use crate::index_options::Want;
use crate::{DocId, NO_MORE_DOCS};

/// The documents of a batch that have a term.
#[derive(Default)]
pub struct Found {
    members: Members,
    freqs: Vec<u32>,
    spots: Vec<Spot>,
}

impl Found {
    /// Returns the index in the batch of each document that has the term, ascending.
    #[inline]
    pub fn numbers(&self) -> &[u8] {
        self.members.numbers()
    }

    /// Returns the frequency of the term in each of [`Found::numbers`], if it was wanted.
    #[inline]
    pub fn freqs(&self) -> &[u32] {
        &self.freqs
    }

    /// Returns where the term's positions are in each of [`Found::numbers`], if they were wanted.
    #[inline]
    pub fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// Exchanges frequencies and spots for those of an earlier search, whose memory is used again.
    #[inline]
    pub fn swap_occurrences(&mut self, freqs: &mut Vec<u32>, spots: &mut Vec<Spot>) {
        std::mem::swap(&mut self.freqs, freqs);
        std::mem::swap(&mut self.spots, spots);
    }

    /// Notes frequencies and positions of what was found in a block of `len` documents with these
    /// frequencies, from index `known` on.
    #[inline]
    fn note(&mut self, known: usize, block: usize, (freqs, len): (&[u32; BLOCK_DOCS], usize), want: Want) {
        let places = self.members.places()[known..].iter().map(|place| usize::from(*place) % BLOCK_DOCS);
        self.freqs.extend(places.clone().map(|place| freqs[place]));
        if want != Want::Positions {
            return;
        }
        let mut sums = [0; BLOCK_DOCS];
        if running_sums(freqs, &mut sums) {
            let count = u64::from(sums[len - 1]) + u64::from(freqs[len - 1]);
            self.spots.extend(places.map(|place| Spot { block, before: u64::from(sums[place]), count }));
        } else {
            let sum = |freqs: &[u32]| freqs.iter().map(|freq| u64::from(*freq)).sum::<u64>();
            let count = sum(&freqs[..len]);
            self.spots.extend(places.map(|place| Spot { block, before: sum(&freqs[..place]), count }));
        }
    }
}

/// A block that is a bit set.
struct BitSet<'p> {
    /// The first document that it can have.
    base: DocId,
    last: DocId,
    words: &'p [[u8; 8]],
    /// The end of the bit set in the term's postings.
    end: usize,
}

impl Postings {
    /// Finds which of at most 128 ascending documents have the term. All of them must be after those of
    /// earlier batches. The cursor stays at or before the last of them.
    pub fn find(&mut self, docs: &[DocId], want: Want, found: &mut Found) {
        debug_assert!(docs.len() <= BLOCK_DOCS);
        found.members.clear();
        found.freqs.clear();
        found.spots.clear();
        // The cursor passed these, so they do not have the term.
        let mut from = docs.iter().take_while(|doc| **doc < self.doc()).count();
        while let Some(&target) = docs.get(from) {
            let (known, block) = (found.members.len(), self.block_with(target));
            let until;
            if block == self.block {
                until = found.members.add_of_block(docs, from, self.decoded_docs());
            } else if let Some(BitSet { base, last, words, end }) = self.bit_set(block) {
                until = found.members.add_of_bit_set(docs, from, (base, last), words);
                if want != Want::Docs && found.members.len() > known {
                    let mut freqs = [1; BLOCK_DOCS];
                    if self.options.frequencies
                        && let Err(corrupt) = unpack_freqs(&self.postings, end, &mut freqs)
                    {
                        self.corrupt = Some(corrupt.expected);
                    }
                    found.note(known, block, (&freqs, BLOCK_DOCS), want);
                }
                self.searched = block;
                from = until.max(from + 1);
                continue;
            } else {
                if self.enter_block(block) == NO_MORE_DOCS {
                    return;
                }
                until = found.members.add_of_block(docs, from, self.decoded_docs());
            }
            if want != Want::Docs && found.members.len() > known {
                found.note(known, block, self.decoded_freqs(), want);
            }
            // A block that ends before `target` is corrupt.
            from = until.max(from + 1);
        }
    }

    /// Returns the block that has `target` if any does. It is not before the current block.
    #[inline]
    fn block_with(&mut self, target: DocId) -> usize {
        let count = self.skip.block_count;
        if self.block >= count || target <= self.decoded_docs()[BLOCK_DOCS - 1] {
            return self.block;
        }
        let from = self.searched.max(self.block + 1).min(count);
        match self.skip.block_of(&self.postings, from, target) {
            Some(block) => block,
            None => {
                self.corrupt = Some("skip data of all blocks");
                count + 1
            }
        }
    }

    /// Returns the first document that a block can have, and its words, if the block is a sound bit set.
    #[inline]
    pub(super) fn words(&self, block: usize) -> Option<(DocId, &[[u8; 8]])> {
        self.bit_set(block).map(|set| (set.base, set.words))
    }

    /// Returns a block if it is a sound bit set, which ends where the skip data say.
    #[inline]
    fn bit_set(&self, block: usize) -> Option<BitSet<'_>> {
        if block >= self.skip.block_count {
            return None;
        }
        let bytes: &[u8] = &self.postings;
        let (start, block_end) = self.skip.bytes_of(bytes, block)?;
        let [TAG_BIT_SET, word_count, rest @ ..] = &bytes[start..block_end] else { return None };
        let word_count = usize::from(*word_count);
        if word_count > BIT_SET_WORDS_MAX {
            return None;
        }
        let words = rest.get(..8 * word_count)?.as_chunks::<8>().0;
        let base = match block {
            0 => 0,
            _ => self.skip.last_doc(bytes, block - 1)?.checked_add(1)?,
        };
        let top = 64 - u64::from(u64::from_le_bytes(*words.last()?).leading_zeros());
        let end = u64::from(base) + (words.len() as u64 - 1) * 64 + top;
        let last = self.skip.last_doc(bytes, block)?;
        let is_sound = end == u64::from(last) + 1 && last < self.doc_count;
        is_sound.then_some(BitSet { base, last, words, end: start + 2 + 8 * word_count })
    }
}
