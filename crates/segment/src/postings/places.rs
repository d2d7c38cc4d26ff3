//! The positions of a term in documents: "where in the document is it?"

use limber_codec::followed::{PADDING, padded};

use super::cursor::{Broken, Postings};
use super::positions::PositionRun;

/// The place of a term's positions in a document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spot {
    /// The block of the document.
    pub(super) block: usize,
    /// Positions in the documents of the block before this one.
    pub(super) before: u64,
    /// Positions in all documents of the block.
    pub(super) count: u64,
}

/// The run of positions that was read last.
#[derive(Default)]
pub(super) struct Place {
    /// The walk through the run, with the run's block; `None` before the first one.
    walk: Option<(usize, Box<PositionRun>)>,
    /// Start and end of the run in the term's positions.
    run: (usize, usize),
}

impl Postings {
    /// Replaces `positions` with those of the term in the current document, ascending. There are none if
    /// the postings were opened without [`super::Want::Positions`] or the field has no positions.
    pub fn positions(&mut self, positions: &mut Vec<u32>) {
        positions.clear();
        let Some(at) = self.index_in_block().filter(|_| self.positions.is_some()) else { return };
        let (block, (freqs, len)) = (self.block, self.decoded_freqs());
        let sum = |freqs: &[u32]| freqs.iter().map(|freq| u64::from(*freq)).sum::<u64>();
        let (freq, before) = (freqs[at], sum(&freqs[..at]));
        let spot = Spot { block, before, count: before + sum(&freqs[at..len]) };
        if let Err(broken) = self.read_lists(&[spot], &[freq], positions) {
            positions.clear();
            self.corrupt = Some(broken.0);
        }
        positions.truncate(freq as usize);
    }

    /// Replaces `lists` with the positions of the term at spots, which ascend, in lists of `freqs` numbers,
    /// each padded to a multiple of [`limber_codec::followed::LANES`]. Returns false if they do not decode.
    pub fn lists(&mut self, spots: &[Spot], freqs: &[u32], lists: &mut Vec<u32>) -> bool {
        lists.clear();
        let read = self.read_lists(spots, freqs, lists);
        if let Err(broken) = &read {
            self.corrupt = Some(broken.0);
        }
        read.is_ok() && self.positions.is_some()
    }

    fn read_lists(
        &mut self,
        spots: &[Spot],
        freqs: &[u32],
        lists: &mut Vec<u32>,
    ) -> std::result::Result<(), Broken> {
        const OUTSIDE: Broken = Broken("positions inside the term");
        let Some(positions) = &self.positions else { return Ok(()) };
        let (positions, postings): (&[u8], &[u8]) = (positions, &self.postings);
        let Place { walk, run } = &mut self.place;
        let (block, walk) = walk.get_or_insert_with(|| (usize::MAX, Box::default()));
        // Frequencies are checked before they take memory.
        let mut filled = 0;
        for (spot, freq) in spots.iter().zip(freqs) {
            if *block != spot.block || walk.passed() > spot.before {
                *run = match self.skip.block_count {
                    0 => Some((0, positions.len())),
                    count if spot.block < count => self.skip.positions_of(postings, spot.block),
                    count => {
                        let before = self.skip.positions_of(postings, count - 1);
                        before.map(|(_, start)| (start, positions.len()))
                    }
                }
                .ok_or(OUTSIDE)?;
                *block = spot.block;
                walk.restart(spot.count);
            }
            let bytes = positions.get(run.0..run.1).ok_or(OUTSIDE)?;
            if !PositionRun::can_have(bytes, *freq) {
                return Err(OUTSIDE);
            }
            walk.seek(bytes, spot.before)?;
            let next = filled + padded(*freq);
            if lists.len() < next {
                lists.resize(next.max(2 * lists.len()), PADDING);
            }
            walk.read(bytes, &mut lists[filled..filled + *freq as usize])?;
            filled = next;
        }
        lists.truncate(filled);
        Ok(())
    }
}
