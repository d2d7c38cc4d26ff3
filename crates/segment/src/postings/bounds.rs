//! Bounds on the scores of a term's blocks: "how good can a document up to there get?"

use limber_codec::Reader;

use super::cursor::Postings;
use super::format::{GROUP_BLOCKS, TAIL_IMPACTS_MIN};
use super::impact::{self, Impact};
use crate::{DocId, NO_MORE_DOCS};

/// Ranges of more blocks than this are bounded by the impacts of their groups.
const BLOCKS_MAX: usize = 4;

/// Blocks whose bound is kept: neighbours are asked for again and again.
const BLOCKS_KEPT: usize = 16;

/// Bounds of blocks and groups that were asked for, all by one score, so that none is worked out twice.
#[derive(Debug, Default)]
pub struct KnownBounds {
    /// By group; `NAN`: not asked for yet.
    groups: Vec<f32>,
    /// Of block `b`, with its number plus one, at place `b % BLOCKS_KEPT`.
    blocks: [(usize, f32); BLOCKS_KEPT],
}

/// True whatever the documents are.
const UNKNOWN: Impact = Impact { freq: u32::MAX, norm: 1 };

impl Postings {
    /// Names the block that holds `target`, without decoding it, as the one that [`Postings::max_score`] starts from;
    /// returns its last document ([`NO_MORE_DOCS`] for the last, shorter one). `target` must not lie before the current
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

    /// The most that `score`, which must grow with the frequency and shrink with the norm, is of any document from the block of the last
    /// [`Postings::shallow_advance`] (or the current block, if that is later) up to `up_to`. Wide ranges are bounded by groups of 4,096
    /// documents, which may reach further on both sides. `known` is this cursor's and this score's alone.
    pub fn max_score(&mut self, up_to: DocId, known: &mut KnownBounds, score: impl Fn(Impact) -> f32) -> f32 {
        let count = self.skip.block_count;
        let first = self.impacts.from_block.max(self.block);
        let last = match self.skip.block_of(&self.postings, first.min(count), up_to) {
            Some(block) if count > 0 => block.max(first),
            _ => first,
        };
        if !self.options.frequencies {
            return score(Impact { freq: 1, norm: 1 });
        }
        let mut most = f32::NEG_INFINITY;
        if first < count {
            let last_full = last.min(count - 1);
            if last_full - first < BLOCKS_MAX {
                for block in first..=last_full {
                    most = most.max(self.block_bound(block, known, &score));
                }
            } else {
                known.groups.resize(count.div_ceil(GROUP_BLOCKS), f32::NAN);
                for group in first / GROUP_BLOCKS..=last_full / GROUP_BLOCKS {
                    if known.groups[group].is_nan() {
                        known.groups[group] = self.bound_of(&score, |this, list| {
                            this.skip.group_impacts(&this.postings, group, list)
                        });
                    }
                    most = most.max(known.groups[group]);
                }
            }
        }
        if last >= count && self.tail_len > 0 {
            most = most.max(self.block_bound(count, known, &score));
        }
        most
    }

    /// The bound of a full block, or of the tail, whose number is the count of full ones.
    fn block_bound(&mut self, block: usize, known: &mut KnownBounds, score: &impl Fn(Impact) -> f32) -> f32 {
        let slot = &mut known.blocks[block % BLOCKS_KEPT];
        if slot.0 != block + 1 {
            let bound = match block < self.skip.block_count {
                true => {
                    self.bound_of(score, |this, list| this.skip.block_impacts(&this.postings, block, list))
                }
                false => self.bound_of(score, Postings::tail_impacts),
            };
            *slot = (block + 1, bound);
        }
        slot.1
    }

    /// The best score of the impacts that `read` finds; where they do not decode, that of any document.
    fn bound_of(
        &mut self,
        score: &impl Fn(Impact) -> f32,
        read: impl FnOnce(&Postings, &mut Vec<Impact>) -> Option<()>,
    ) -> f32 {
        let mut list = std::mem::take(&mut self.impacts.list);
        list.clear();
        if read(&*self, &mut list).is_none() {
            list.clear();
            list.push(UNKNOWN);
            self.corrupt = Some("lists of impacts");
        }
        let most = list.iter().map(|impact| score(*impact)).fold(f32::NEG_INFINITY, f32::max);
        self.impacts.list = list;
        most
    }

    fn tail_impacts(&self, list: &mut Vec<Impact>) -> Option<()> {
        let bytes = &*self.postings;
        if self.tail_len >= TAIL_IMPACTS_MIN {
            let tail = bytes.get(self.skip.tail_start(bytes)?..)?;
            return impact::read(&mut Reader::new(tail), list).ok();
        }
        // Each of the other documents has the term at least once.
        let others = (self.info.doc_freq - 1) as u64;
        let freq = self.info.total_term_freq.saturating_sub(others).min(u32::MAX as u64) as u32;
        list.push(Impact { freq, norm: 1 });
        Some(())
    }
}
