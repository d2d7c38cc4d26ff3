//! Positions within one run: "where does the term occur in the next document?"

use limber_codec::{Corrupt, Reader, bits, block128};

use super::format::{BLOCK_DOCS, POSITION_VARINTS_MAX};

/// Walks the positions of one block's (or the tail's) documents. Decodes 128 at a time and skips whole
/// groups of 128 by their length.
pub struct PositionRun {
    /// Bytes of the run decoded so far.
    at: usize,
    /// Positions of the run that are not decoded yet.
    undecoded: u64,
    gaps: [u32; BLOCK_DOCS],
    gaps_len: usize,
    gaps_at: usize,
}

impl Default for PositionRun {
    fn default() -> PositionRun {
        PositionRun { at: 0, undecoded: 0, gaps: [0; BLOCK_DOCS], gaps_len: 0, gaps_at: 0 }
    }
}

impl PositionRun {
    /// Moves to the start of a run of `count` positions.
    pub fn restart(&mut self, count: u64) {
        (self.at, self.undecoded, self.gaps_len, self.gaps_at) = (0, count, 0, 0);
    }

    /// Skips `count` positions.
    pub fn skip(&mut self, run: &[u8], mut count: u64) -> Result<(), Corrupt> {
        loop {
            let here = (self.gaps_len - self.gaps_at) as u64;
            if count <= here {
                self.gaps_at += count as usize;
                return Ok(());
            }
            count -= here;
            self.gaps_at = self.gaps_len;
            if count >= BLOCK_DOCS as u64 && self.undecoded >= BLOCK_DOCS as u64 {
                self.at += block128::patched_len(self.rest(run))?;
                self.undecoded -= BLOCK_DOCS as u64;
                count -= BLOCK_DOCS as u64;
            } else {
                self.decode(run)?;
            }
        }
    }

    /// Appends the positions of a document in which the term occurs `freq` times. The run's bytes bound how
    /// much is appended, however large `freq` is.
    pub fn read(&mut self, run: &[u8], freq: u32, positions: &mut Vec<u32>) -> Result<(), Corrupt> {
        let mut position = 0u32;
        let mut left = freq as usize;
        while left > 0 {
            if self.gaps_at == self.gaps_len {
                self.decode(run)?;
            }
            let take = left.min(self.gaps_len - self.gaps_at);
            positions.extend(self.gaps[self.gaps_at..self.gaps_at + take].iter().map(|gap| {
                position = position.wrapping_add(*gap);
                position
            }));
            self.gaps_at += take;
            left -= take;
        }
        Ok(())
    }

    fn rest<'a>(&self, run: &'a [u8]) -> &'a [u8] {
        run.get(self.at..).unwrap_or_default()
    }

    /// Decodes the next positions of the run: at least one.
    fn decode(&mut self, run: &[u8]) -> Result<(), Corrupt> {
        let rest = self.rest(run);
        let len = self.undecoded.min(BLOCK_DOCS as u64) as usize;
        if len == BLOCK_DOCS {
            self.at += block128::unpack_patched(rest, &mut self.gaps)?;
        } else {
            let mut reader = Reader::new(rest);
            reader.expect(len > 0, "a position for every occurrence")?;
            if len <= POSITION_VARINTS_MAX {
                for gap in &mut self.gaps[..len] {
                    *gap = reader.varint_u32()?;
                }
            } else {
                let width = reader.u8()?;
                reader.expect(width <= 32, "a bit width of at most 32")?;
                let packed = reader.bytes(bits::packed_bytes(len, width))?;
                for (i, gap) in self.gaps[..len].iter_mut().enumerate() {
                    *gap = bits::get(packed, i, width) as u32;
                }
            }
            self.at += reader.position();
        }
        self.undecoded -= len as u64;
        (self.gaps_len, self.gaps_at) = (len, 0);
        Ok(())
    }
}
