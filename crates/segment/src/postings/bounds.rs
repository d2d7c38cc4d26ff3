//! Upper bounds on the scores of a term's blocks: "how high can a document up to there score?"

use limber_codec::Reader;

use super::cursor::Postings;
use super::format::{GROUP_BLOCKS, TAIL_IMPACTS_MIN};
use super::impact::{self, Impact, Strength};
use crate::{DocId, NO_MORE_DOCS};

/// A range of more blocks than this is bounded by the impacts of groups.
const BLOCKS_MAX: usize = 8;

/// Blocks whose bound is cached: neighbouring blocks are requested repeatedly.
const BLOCKS_KEPT: usize = 16;

/// Bounds of blocks and groups that were requested, all for one score, so that none is computed twice.
#[derive(Debug, Default)]
pub struct KnownBounds {
    /// Indexed by group; `NAN` if it was not requested yet.
    groups: Vec<f32>,
    /// The bound of block `b` at index `b % BLOCKS_KEPT`, together with `b + 1`.
    blocks: [(usize, f32); BLOCKS_KEPT],
}

/// A bound that holds for all documents.
const UNKNOWN: Impact = Impact { freq: u32::MAX, norm: 1 };

impl Postings {
    /// Moves to the block that holds `target`, without decoding it; [`Postings::max_score`] starts there.
    /// Returns its last document ([`NO_MORE_DOCS`] for the tail). `target` must not lie before the current
    /// document, nor before an earlier `target`.
    pub fn shallow_advance(&mut self, target: DocId) -> DocId {
        let from = self.impacts.from_block.max(self.block);
        if from >= self.skip.block_count {
            self.impacts.from_block = from;
            return NO_MORE_DOCS;
        }
        let found = self.skip.block_of(&self.postings, from, target);
        let block = found.unwrap_or(self.skip.block_count);
        self.impacts.from_block = block;
        self.skip
            .last_doc(&self.postings, block)
            .filter(|_| block < self.skip.block_count)
            .unwrap_or(NO_MORE_DOCS)
    }

    /// Returns the highest score by `scale` of any document from the block of the last
    /// [`Postings::shallow_advance`] (or the current block, if that is later) up to `up_to`. Wide ranges
    /// are bounded by groups of 4,096 documents, which may extend the range on both sides. `known` must be
    /// used with this cursor and this score only.
    pub fn max_score(&mut self, up_to: DocId, known: &mut KnownBounds, scale: &impl Strength) -> f32 {
        let count = self.skip.block_count;
        let first = self.impacts.from_block.max(self.block);
        let last = match self.skip.block_of(&self.postings, first.min(count), up_to) {
            Some(block) if count > 0 => block.max(first),
            _ => first,
        };
        if !self.options.frequencies {
            return of(scale, Impact { freq: 1, norm: 1 });
        }
        let mut most = f32::NEG_INFINITY;
        if first < count {
            let last_full = last.min(count - 1);
            if last_full - first < BLOCKS_MAX {
                for block in first..=last_full {
                    most = most.max(self.block_bound(block, known, scale));
                }
            } else {
                for group in first / GROUP_BLOCKS..=last_full / GROUP_BLOCKS {
                    most = most.max(self.group_bound(group, known, scale));
                }
            }
        }
        if last >= count && self.tail_len > 0 {
            most = most.max(self.block_bound(count, known, scale));
        }
        most
    }

    /// Returns the highest score of any document in the block of the last [`Postings::shallow_advance`].
    #[inline]
    pub fn block_bound_here(&mut self, known: &mut KnownBounds, scale: &impl Strength) -> f32 {
        if !self.options.frequencies {
            return of(scale, Impact { freq: 1, norm: 1 });
        }
        let block = self.impacts.from_block;
        let is_there = block < self.skip.block_count || (block == self.skip.block_count && self.tail_len > 0);
        if is_there { self.block_bound(block, known, scale) } else { f32::NEG_INFINITY }
    }

    /// If the block of the last [`Postings::shallow_advance`] is the first of a whole group, returns the
    /// last document of the group and the highest score of any of its documents; otherwise `None`.
    #[inline]
    pub fn group_bound_from_here(
        &mut self,
        known: &mut KnownBounds,
        scale: &impl Strength,
    ) -> Option<(DocId, f32)> {
        let block = self.impacts.from_block;
        let next_group = block + GROUP_BLOCKS;
        if !block.is_multiple_of(GROUP_BLOCKS)
            || next_group > self.skip.block_count
            || !self.options.frequencies
        {
            return None;
        }
        let last = self.skip.last_doc(&self.postings, next_group - 1)?;
        Some((last, self.group_bound(block / GROUP_BLOCKS, known, scale)))
    }

    fn group_bound(&mut self, group: usize, known: &mut KnownBounds, scale: &impl Strength) -> f32 {
        known.groups.resize(self.skip.block_count.div_ceil(GROUP_BLOCKS), f32::NAN);
        if known.groups[group].is_nan() {
            let strength = self.skip.group_strength(&self.postings, group, scale);
            known.groups[group] = self.bound_of(scale, strength);
        }
        known.groups[group]
    }

    /// Returns the bound of a full block, or of the tail, whose number is the count of full blocks.
    #[inline]
    fn block_bound(&mut self, block: usize, known: &mut KnownBounds, scale: &impl Strength) -> f32 {
        let slot = &mut known.blocks[block % BLOCKS_KEPT];
        if slot.0 != block + 1 {
            let strength = match block < self.skip.block_count {
                true => self.skip.block_strength(&self.postings, block, scale),
                false => self.tail_strength(scale),
            };
            *slot = (block + 1, self.bound_of(scale, strength));
        }
        slot.1
    }

    /// Returns the score of a strength. If the strength did not decode, returns a score that no document
    /// exceeds.
    fn bound_of(&mut self, scale: &impl Strength, strength: Option<f32>) -> f32 {
        match strength {
            Some(f32::NEG_INFINITY) => f32::NEG_INFINITY,
            Some(strength) => scale.score(strength),
            None => {
                self.corrupt = Some("lists of impacts");
                of(scale, UNKNOWN)
            }
        }
    }

    fn tail_strength(&self, scale: &impl Strength) -> Option<f32> {
        let bytes = &*self.postings;
        if self.tail_len >= TAIL_IMPACTS_MIN {
            let tail = bytes.get(self.skip.tail_start(bytes)?..)?;
            return impact::greatest(&mut Reader::new(tail), scale).ok();
        }
        // Each of the other documents contains the term at least once.
        let others = (self.info.doc_freq - 1) as u64;
        let freq = self.info.total_term_freq.saturating_sub(others).min(u32::MAX as u64) as u32;
        Some(scale.strength(Impact { freq, norm: 1 }))
    }
}

fn of(scale: &impl Strength, impact: Impact) -> f32 {
    scale.score(scale.strength(impact))
}
