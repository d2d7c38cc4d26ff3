//! Two 32-bit coordinates as one number whose order keeps neighbours near each other (Morton order): "which
//! cell is this point in, at every size of cells?"
//!
//! The bits alternate from the highest down, `x` first. All numbers that share their highest `n` bits are one
//! cell: halves of the plane by `x` for `n` = 1, quarters for `n` = 2, and so on.

/// Spreads the bits of `value` to the even positions.
#[inline]
fn spread(value: u32) -> u64 {
    let mut bits = u64::from(value);
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & 0x5555_5555_5555_5555
}

/// Gathers the bits at the even positions.
#[inline]
fn gather(bits: u64) -> u32 {
    let mut bits = bits & 0x5555_5555_5555_5555;
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) as u32
}

/// Interleaves both coordinates into one number.
#[inline]
pub fn interleave(x: u32, y: u32) -> u64 {
    spread(x) << 1 | spread(y)
}

/// Reverses [`interleave`].
#[inline]
pub fn deinterleave(bits: u64) -> (u32, u32) {
    (gather(bits >> 1), gather(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_start_with_x() {
        for x in [0, 1, 0x8000_0000, 0xdead_beef, u32::MAX] {
            for y in [0, 1, 0x7fff_ffff, 0x1234_5678, u32::MAX] {
                assert_eq!(deinterleave(interleave(x, y)), (x, y));
            }
        }
        assert_eq!(interleave(1 << 31, 0), 1 << 63);
        assert_eq!(interleave(0, 1 << 31), 1 << 62);
        assert_eq!(interleave(0b11, 0b01), 0b1011);
    }
}
