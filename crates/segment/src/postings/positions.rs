//! Positions within one run: "where does the term occur in the next document?"

use limber_codec::{Corrupt, Reader, bits, block128};

use super::format::{BLOCK_DOCS, POSITION_VARINTS_MAX, POSITIONS_BASE_FLAG};

/// Positions are read from the packed block one by one up to this many at a time ...
const READ_SINGLY: usize = 8;
/// ... and this many times; then the block is unpacked.
const READ_SINGLY_TIMES: u32 = 3;

/// Walks the positions of one block's (or the tail's) documents, in groups of 128. Skips whole groups by
/// their length, and unpacks a group only if many of its positions are read.
pub struct PositionRun {
    /// Positions of the run.
    count: u64,
    /// Positions before the current group.
    first: u64,
    /// The offset of the current group in the run, and of the next one.
    group: usize,
    next_group: usize,
    /// Positions of the current group, and how many of them were passed.
    len: usize,
    at: usize,
    form: Form,
    gaps: [u32; BLOCK_DOCS],
}

/// How the gaps of the current group are found.
#[derive(Clone, Copy)]
enum Form {
    /// They are in `gaps`.
    Unpacked,
    /// In a packed block of 128 with exceptions. Some of them were read so many times.
    Patched { block: block128::Patched, times: u32 },
    /// In a packed array that begins at this offset of the run, less the base.
    Packed { start: usize, width: u8, base: u8 },
}

impl Default for PositionRun {
    fn default() -> PositionRun {
        PositionRun {
            count: 0,
            first: 0,
            group: 0,
            next_group: 0,
            len: 0,
            at: 0,
            form: Form::Unpacked,
            gaps: [0; BLOCK_DOCS],
        }
    }
}

impl PositionRun {
    /// Moves to the start of a run of `count` positions.
    pub fn restart(&mut self, count: u64) {
        (self.count, self.first) = (count, 0);
        (self.group, self.next_group, self.len, self.at) = (0, 0, 0, 0);
    }

    /// Returns the number of positions that were passed since the start of the run.
    #[inline]
    pub fn passed(&self) -> u64 {
        self.first + self.at as u64
    }

    /// Moves to a position by the number of positions before it, which is at least [`PositionRun::passed`].
    #[inline]
    pub fn seek(&mut self, run: &[u8], before: u64) -> Result<(), Corrupt> {
        loop {
            let at = before.saturating_sub(self.first);
            if at <= self.len as u64 {
                self.at = at as usize;
                return Ok(());
            }
            self.enter_next(run)?;
        }
    }

    /// Whether the bytes of the run can have so many positions: 128 take at least two bytes.
    #[inline]
    pub fn can_have(run: &[u8], count: u32) -> bool {
        count as usize / BLOCK_DOCS <= run.len() / 2
    }

    /// Reads the positions of a document, as many as there are in `positions`.
    #[inline]
    pub fn read(&mut self, run: &[u8], positions: &mut [u32]) -> Result<(), Corrupt> {
        let (mut position, mut filled) = (0u32, 0);
        while filled < positions.len() {
            if self.at == self.len {
                self.enter_next(run)?;
            }
            let (from, take) = (self.at, (positions.len() - filled).min(self.len - self.at));
            let out = &mut positions[filled..filled + take];
            match &mut self.form {
                Form::Patched { block, times } if take <= READ_SINGLY && *times < READ_SINGLY_TIMES => {
                    *times += 1;
                    block.get(&run[self.group..self.next_group], from, out)?;
                }
                Form::Packed { start, width, base } if take <= READ_SINGLY => {
                    let packed = run.get(*start..).unwrap_or_default();
                    let gaps = out.iter_mut().zip(from..);
                    gaps.for_each(|(gap, at)| *gap = packed_gap(packed, at, *width, *base));
                }
                _ => {
                    self.unpack(run)?;
                    out.copy_from_slice(&self.gaps[from..from + take]);
                }
            }
            for gap in out {
                position = position.wrapping_add(*gap);
                *gap = position;
            }
            self.at += take;
            filled += take;
        }
        Ok(())
    }

    /// Moves to the next group, which has at least one position.
    fn enter_next(&mut self, run: &[u8]) -> Result<(), Corrupt> {
        let (start, first) = (self.next_group, self.first + self.len as u64);
        let rest = run.get(start..).unwrap_or_default();
        let len = self.count.saturating_sub(first).min(BLOCK_DOCS as u64) as usize;
        let (bytes, form) = if len == BLOCK_DOCS {
            let block = block128::Patched::of(rest)?;
            (block.len(), Form::Patched { block, times: 0 })
        } else {
            let mut reader = Reader::new(rest);
            reader.expect(len > 0, "a position for every occurrence")?;
            if len <= POSITION_VARINTS_MAX {
                for gap in &mut self.gaps[..len] {
                    *gap = reader.varint_u32()?;
                }
                (reader.position(), Form::Unpacked)
            } else {
                let tag = reader.u8()?;
                let width = tag & !POSITIONS_BASE_FLAG;
                reader.expect(width <= 32, "a bit width of at most 32")?;
                let base = if tag == width { 0 } else { reader.u8()? };
                let form = Form::Packed { start: start + reader.position(), width, base };
                reader.bytes(bits::packed_bytes(len, width))?;
                (reader.position(), form)
            }
        };
        (self.first, self.group, self.next_group) = (first, start, start + bytes);
        (self.len, self.at, self.form) = (len, 0, form);
        Ok(())
    }

    /// Fills `gaps` with those of the current group.
    fn unpack(&mut self, run: &[u8]) -> Result<(), Corrupt> {
        match self.form {
            Form::Unpacked => {}
            Form::Patched { .. } => {
                block128::unpack_patched(&run[self.group..self.next_group], &mut self.gaps)?;
            }
            Form::Packed { start, width, base } => {
                let packed = run.get(start..).unwrap_or_default();
                let gaps = self.gaps[..self.len].iter_mut().enumerate();
                gaps.for_each(|(at, gap)| *gap = packed_gap(packed, at, width, base));
            }
        }
        self.form = Form::Unpacked;
        Ok(())
    }
}

#[inline]
fn packed_gap(packed: &[u8], at: usize, width: u8, base: u8) -> u32 {
    (bits::get(packed, at, width) as u32).wrapping_add(u32::from(base))
}
