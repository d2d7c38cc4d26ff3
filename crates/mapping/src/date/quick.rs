//! Common layouts of dates, read without interpreting a pattern.

use super::civil::{MILLIS_PER_DAY, days_from_common_era, days_in_month};
use super::instant::{Instant, NANOS_PER_MILLI};

/// Reads two digits at `at`. Returns a number above 99 if they are not digits.
#[inline(always)]
fn two(bytes: &[u8], at: usize) -> u32 {
    let (tens, ones) = (bytes[at].wrapping_sub(b'0') as u32, bytes[at + 1].wrapping_sub(b'0') as u32);
    if tens > 9 || ones > 9 { 1000 } else { tens * 10 + ones }
}

/// Computes for each byte `i` the number that the digits `i` and `i + 1` form. `None` if a byte that `digits`
/// masks is not a digit.
#[inline(always)]
fn pairs(bytes: [u8; 8], digits: u64) -> Option<[u8; 8]> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let values = (u64::from_le_bytes(bytes) ^ (EACH * u64::from(b'0'))) & digits;
    // Adding 118 to a value above 9 sets its high bit, unless it was set before.
    if (values | values.wrapping_add(EACH * 118)) & (EACH * 0x80) != 0 {
        return None;
    }
    Some((values * 10 + (values >> 8)).to_le_bytes())
}

/// Converts the 19 bytes `yyyy?MM?dd?HH?mm?ss`, whatever the separators, to local milliseconds.
#[inline(always)]
fn date_and_time(bytes: &[u8]) -> Option<i64> {
    let (words, seconds) = bytes.as_chunks::<8>();
    let &[year_and_month, day_to_minute, ..] = words else { return None };
    let year_and_month = pairs(year_and_month, 0x00ff_ff00_ffff_ffff)?.map(u32::from);
    let day_to_minute = pairs(day_to_minute, 0xffff_00ff_ff00_ffff)?.map(u32::from);
    let (year, month) = (year_and_month[0] * 100 + year_and_month[2], year_and_month[5]);
    let (day, hour, minute) = (day_to_minute[0], day_to_minute[3], day_to_minute[6]);
    let second = two(seconds, 1);
    // Year zero is left to the slow path, which knows which formats accept it.
    if year == 0 || !(1..=12).contains(&month) || day == 0 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if day > 28 && day > days_in_month(year as i64, month) {
        return None;
    }
    let of_day = ((hour * 60 + minute) * 60 + second) as i64 * 1000;
    Some(days_from_common_era(year, month, day) * MILLIS_PER_DAY + of_day)
}

/// Parses `yyyy-MM-ddTHH:mm:ssZ` or `yyyy-MM-ddTHH:mm:ss.SSSZ`.
#[inline(always)]
pub(super) fn iso_utc(bytes: &[u8]) -> Option<i64> {
    let head: &[u8; 20] = bytes.first_chunk()?;
    if head[4] != b'-' || head[7] != b'-' || head[10] != b'T' || head[13] != b':' || head[16] != b':' {
        return None;
    }
    match bytes.len() {
        20 if head[19] == b'Z' => date_and_time(head),
        24 if head[19] == b'.' && bytes[23] == b'Z' => {
            let (high, low) = (two(bytes, 20), bytes[22].wrapping_sub(b'0') as u32);
            if high > 99 || low > 9 {
                return None;
            }
            Some(date_and_time(head)? + (high * 10 + low) as i64)
        }
        _ => None,
    }
}

/// Parses `yyyy-MM-ddTHH:mm:ss.SSSSSSSSSZ` with one to nine digits after the point.
#[inline(always)]
pub(super) fn iso_utc_nanos(bytes: &[u8]) -> Option<Instant> {
    let head: &[u8; 20] = bytes.first_chunk()?;
    let digits = bytes[20..].strip_suffix(b"Z")?;
    if head[4] != b'-' || head[7] != b'-' || head[10] != b'T' || head[13] != b':' || head[16] != b':' {
        return None;
    }
    if head[19] != b'.' || digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut nanos = 0;
    for place in 0..9 {
        let digit = digits.get(place).map_or(0, |digit| digit.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        nanos = nanos * 10 + i64::from(digit);
    }
    let millis = date_and_time(head)? + nanos / NANOS_PER_MILLI;
    Some(Instant { millis, nanos: (nanos % NANOS_PER_MILLI) as u32 })
}

/// Parses `yyyy?MM?dd?HH?mm?ss` with these separators.
#[inline(always)]
pub(super) fn plain(bytes: &[u8], separators: &[u8; 5]) -> Option<i64> {
    let bytes: &[u8; 19] = bytes.try_into().ok()?;
    let found = [bytes[4], bytes[7], bytes[10], bytes[13], bytes[16]];
    if found != *separators {
        return None;
    }
    date_and_time(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_of_digits_alone() {
        for at in 0..8 {
            for byte in 0..=255u8 {
                let mut bytes = *b"12345678";
                bytes[at] = byte;
                let expected =
                    |i: usize| (bytes[i] - b'0') * 10 + bytes.get(i + 1).map_or(0, |byte| byte - b'0');
                let found = pairs(bytes, u64::MAX);
                assert_eq!(found, byte.is_ascii_digit().then(|| std::array::from_fn(expected)));
                let without = !(0xff << (8 * at));
                assert!(pairs(bytes, without).is_some());
            }
        }
    }
}
