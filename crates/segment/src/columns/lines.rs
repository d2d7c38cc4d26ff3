//! Groups of values near lines: "does a line for each block save bytes, and which?" Layout:
//! [`super::format`].

use limber_codec::column_block::{BlockLine, SLOPE_SHIFT, bits_for, pack};

use super::format::{BLOCK, LINE_BYTES};

/// Lines of a group, before they are written.
pub(super) struct Lines(Vec<(BlockLine, u8)>);

/// Numbers on lines are 32-bit ones; half of that leaves room for a line that lies beside its values.
const PLACE_MAX: u64 = i32::MAX as u64;

impl Lines {
    /// Returns lines if they save a quarter of the `frame_bits` that a frame takes. `place` returns the
    /// number that is packed for a value between `min` and `max`.
    pub fn of(
        values: &[i64],
        (min, max): (i64, i64),
        frame_bits: usize,
        place: impl Fn(i64) -> u64 + Copy,
    ) -> Option<Lines> {
        let (first, last) = (*values.first()?, *values.last()?);
        // Values that rise all along the group; others are hardly near lines.
        let rises = last.checked_sub(first)? >= max.checked_sub(min)? / 2;
        if !rises || values.len() <= BLOCK || place(max) > PLACE_MAX {
            return None;
        }
        let lines: Vec<(BlockLine, u8)> = values.chunks(BLOCK).map(|block| line_of(block, place)).collect();
        let bits: usize = lines.iter().map(|(_, bits)| BLOCK * usize::from(*bits) + 8 * LINE_BYTES).sum();
        (bits <= frame_bits / 4 * 3).then_some(Lines(lines))
    }

    /// Returns the bits of a value of the block.
    pub fn bits(&self, block: usize) -> u8 {
        self.0[block].1
    }

    /// Appends the lines and the packed blocks.
    pub fn write(&self, values: &[i64], place: impl Fn(i64) -> u64, out: &mut Vec<u8>) {
        for (line, _) in &self.0 {
            out.extend_from_slice(&line.first.to_le_bytes());
            out.extend_from_slice(&line.slope.to_le_bytes());
        }
        for (chunk, (line, bits)) in values.chunks(BLOCK).zip(&self.0) {
            let residual =
                |(i, value): (usize, &i64)| u64::from((place(*value) as u32).wrapping_sub(line.at(i)));
            let mut residuals = [0; BLOCK];
            residuals.iter_mut().zip(chunk.iter().enumerate().map(residual)).for_each(|(slot, r)| *slot = r);
            pack(&residuals, *bits, out);
        }
    }
}

/// Returns the line below the values that is parallel to the one from the first to the last, and the bits of
/// what is above it.
fn line_of(values: &[i64], place: impl Fn(i64) -> u64) -> (BlockLine, u8) {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return (BlockLine { first: 0, slope: 0 }, 0);
    };
    let rise = place(*last).saturating_sub(place(*first));
    let slope = (rise << SLOPE_SHIFT) / (values.len() as u64 - 1).max(1);
    let line = BlockLine { first: 0, slope: u32::try_from(slope).unwrap_or(0) };
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    for (i, value) in values.iter().enumerate() {
        let above = place(*value) as i64 - i64::from(line.at(i));
        (least, most) = (least.min(above), most.max(above));
    }
    (BlockLine { first: least as u32, ..line }, bits_for((most - least) as u64))
}
