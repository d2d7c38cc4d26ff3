//! Lucene's one-byte norm: "how long is this field, roughly?"
//!
//! Lengths up to 39 are exact, above that four significant bits remain. Source:
//! `org.apache.lucene.util.SmallFloat` (`intToByte4`, `byte4ToInt`, `longToInt4`, `int4ToLong`). Byte 0
//! means "no value", as length 0 never has a norm.

/// Lengths below this are their own norm byte: 255 - `long_to_int4(i32::MAX)`.
const EXACT: u32 = 24;

/// Returns the norm byte of a field length in tokens (at least 1).
#[inline]
pub fn encode(length: u32) -> u8 {
    let length = length.min(i32::MAX as u32);
    if length < EXACT { length as u8 } else { (EXACT + four_bit_float(length - EXACT)) as u8 }
}

/// Returns the length in tokens that a norm byte stands for (the lower bound of its range).
#[inline]
pub fn decode(norm: u8) -> u32 {
    DECODED[norm as usize]
}

/// [`decode`] of every byte: similarities build their tables from it.
pub static DECODED: [u32; 256] = {
    let mut table = [0; 256];
    let mut norm = 0;
    while norm < 256 {
        table[norm] = if norm < EXACT as usize {
            norm as u32
        } else {
            EXACT + from_four_bit_float(norm as u32 - EXACT)
        };
        norm += 1;
    }
    table
};

/// Encodes with three bits of mantissa after an implicit one; the remaining bits are the exponent.
fn four_bit_float(value: u32) -> u32 {
    let bits = 32 - value.leading_zeros();
    if bits < 4 {
        value
    } else {
        let shift = bits - 4;
        ((value >> shift) & 0x07) | ((shift + 1) << 3)
    }
}

const fn from_four_bit_float(value: u32) -> u32 {
    let mantissa = value & 0x07;
    let exponent = value >> 3;
    if exponent == 0 { mantissa } else { (mantissa | 0x08) << (exponent - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_lucene() {
        // Values of Lucene's SmallFloat.byte4ToInt.
        let check = |norm: u8, length: u32| {
            assert_eq!(decode(norm), length, "decode {norm}");
            assert_eq!(encode(length), norm, "encode {length}");
        };
        for norm in 0..40 {
            check(norm, norm as u32);
        }
        for (norm, length) in
            [(40, 40), (41, 42), (47, 54), (48, 56), (49, 60), (56, 88), (100, 3096), (255, 2_013_265_944)]
        {
            check(norm, length);
        }
        assert_eq!(encode(41), 40);
        assert_eq!(encode(u32::MAX), 255);
    }

    #[test]
    fn every_byte_is_the_norm_of_its_length() {
        for norm in 0..=255u8 {
            assert_eq!(encode(decode(norm)), norm);
        }
    }
}
