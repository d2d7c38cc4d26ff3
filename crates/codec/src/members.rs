//! Which of some ascending numbers are in a block of ascending numbers, or in a bit set, and where?

use crate::ascending;
use crate::block128::LEN;

/// Maximum number of words of a bit set.
pub const WORDS_MAX: usize = 64;

/// Numbers that were found, in ascending order.
#[derive(Debug, Clone)]
pub struct Members {
    len: usize,
    numbers: [u8; LEN],
    places: [u8; LEN],
}

impl Default for Members {
    fn default() -> Members {
        Members { len: 0, numbers: [0; LEN], places: [0; LEN] }
    }
}

impl Members {
    /// Forgets what was found.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns how many numbers were found.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none was found.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the index of each found number among those that were searched for, all below 128.
    #[inline]
    pub fn numbers(&self) -> &[u8] {
        &self.numbers[..self.len]
    }

    /// Returns the index of each found number in the block or among the set bits, all below 128.
    #[inline]
    pub fn places(&self) -> &[u8] {
        &self.places[..self.len]
    }

    /// Adds number `number` at place `place` if `is_found`. `self.len` must be below 128.
    #[inline(always)]
    fn add(&mut self, number: usize, place: usize, is_found: bool) {
        let slot = self.len % LEN;
        (self.numbers[slot], self.places[slot]) = (number as u8, (place % LEN) as u8);
        self.len += usize::from(is_found);
    }

    /// Adds those of `numbers[from..]` that `block` has. There are at most 128 numbers. Returns the index of
    /// the first one above the last of the block.
    #[inline]
    pub fn add_of_block(&mut self, numbers: &[u32], from: usize, block: &[u32; LEN]) -> usize {
        #[cfg(target_arch = "x86_64")]
        if x86::is_available() {
            // SAFETY: the processor has the features, which were just detected.
            return unsafe { x86::add_of_block(self, numbers, from, block) };
        }
        self.add_of_block_any(numbers, from, block)
    }

    fn add_of_block_any(&mut self, numbers: &[u32], from: usize, block: &[u32; LEN]) -> usize {
        let (runs, _) = block.as_chunks::<{ ascending::LEN }>();
        let (mut run, mut at, count) = (0, from, numbers.len().min(LEN));
        while at < count && numbers[at] <= block[LEN - 1] {
            let number = &numbers[at];
            while run + 1 < runs.len() && runs[run][ascending::LEN - 1] < *number {
                run += 1;
            }
            let within = ascending::count_below(&runs[run], *number);
            let place = ascending::LEN * run + within;
            self.add(at, place, block[place % LEN] == *number);
            at += 1;
        }
        at
    }

    /// Adds those of `numbers[from..]` whose bit is set, at the number of set bits before it. Bit `i` of
    /// `words` stands for `base + i`. There are at most 128 numbers, none below `base`. Returns the index of
    /// the first one above `last`, which the words must have a bit for.
    #[inline]
    pub fn add_of_bit_set(
        &mut self,
        numbers: &[u32],
        from: usize,
        (base, last): (u32, u32),
        words: &[[u8; 8]],
    ) -> usize {
        #[cfg(target_arch = "x86_64")]
        if x86::is_available() {
            // SAFETY: the processor has the features, which were just detected.
            return unsafe { x86::add_of_bit_set(self, numbers, from, (base, last), words) };
        }
        self.add_of_bit_set_any(numbers, from, (base, last), words)
    }

    #[inline(always)]
    fn add_of_bit_set_any(
        &mut self,
        numbers: &[u32],
        from: usize,
        (base, last): (u32, u32),
        words: &[[u8; 8]],
    ) -> usize {
        let mut sets = [(0u64, 0u32); WORDS_MAX];
        let mut before = 0;
        for (set, word) in sets.iter_mut().zip(words) {
            *set = (u64::from_le_bytes(*word), before);
            before += set.0.count_ones();
        }
        let (mut at, count) = (from, numbers.len().min(LEN));
        while at < count && numbers[at] <= last {
            let bit = numbers[at].wrapping_sub(base);
            let (word, before) = sets[(bit / 64) as usize % WORDS_MAX];
            let below = word & ((1 << (bit % 64)) - 1);
            self.add(at, (before + below.count_ones()) as usize, word >> (bit % 64) & 1 == 1);
            at += 1;
        }
        at
    }
}

/// Writes the sum of the values before each value to `sums`. Returns false, and unspecified sums, if a sum
/// may need more than 32 bits.
pub fn running_sums(values: &[u32; LEN], sums: &mut [u32; LEN]) -> bool {
    // 128 numbers of 25 bits have a sum of 32 bits.
    if values.iter().fold(0, |all, value| all | value) >> 25 != 0 {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: SSE2 is a part of x86-64.
        unsafe { x86::running_sums(values, sums) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        running_sums_any(values, sums);
    }
    true
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn running_sums_any(values: &[u32; LEN], sums: &mut [u32; LEN]) {
    let mut before = 0u32;
    for (value, sum) in values.iter().zip(sums) {
        *sum = before;
        before += value;
    }
}

/// Writes `base + i` for every set bit `i` of `words` to `numbers`, ascending. Returns the number of set
/// bits; if it is not 128, `numbers` are unspecified.
#[inline]
pub fn unpack_bit_set(words: &[[u8; 8]], base: u32, numbers: &mut [u32; LEN]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if x86::compresses() {
        // SAFETY: the processor has the features, which were just detected.
        return unsafe { x86::unpack_bit_set(words, base, numbers) };
    }
    unpack_bit_set_any(words, base, numbers)
}

fn unpack_bit_set_any(words: &[[u8; 8]], base: u32, numbers: &mut [u32; LEN]) -> usize {
    let mut count = 0;
    for (at, word) in words.iter().enumerate() {
        let mut word = u64::from_le_bytes(*word);
        let in_word = word.count_ones() as usize;
        let Some(numbers) = numbers.get_mut(count..count + in_word) else { return count + in_word };
        for number in numbers {
            *number = base.wrapping_add(at as u32 * 64 + word.trailing_zeros());
            word &= word - 1;
        }
        count += in_word;
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::*;

    use super::{LEN, Members};
    use crate::ascending::LEN as RUN;

    /// Whether the processor has what all but [`unpack_bit_set`] need.
    #[inline]
    pub fn is_available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
    }

    /// Whether the processor has what [`unpack_bit_set`] needs.
    #[inline]
    pub fn compresses() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("popcnt")
    }

    /// Counts bits by single instructions.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
    pub fn add_of_bit_set(
        members: &mut Members,
        numbers: &[u32],
        from: usize,
        ends: (u32, u32),
        words: &[[u8; 8]],
    ) -> usize {
        members.add_of_bit_set_any(numbers, from, ends, words)
    }

    /// Adds up four values at a time.
    #[target_feature(enable = "sse2")]
    pub fn running_sums(values: &[u32; LEN], sums: &mut [u32; LEN]) {
        let mut before = _mm_setzero_si128();
        for (four, sums) in values.as_chunks::<4>().0.iter().zip(sums.as_chunks_mut::<4>().0) {
            let [a, b, c, d] = four.map(|value| value as i32);
            let own = _mm_setr_epi32(a, b, c, d);
            let pairs = _mm_add_epi32(own, _mm_slli_si128(own, 4));
            let all = _mm_add_epi32(before, _mm_add_epi32(pairs, _mm_slli_si128(pairs, 8)));
            // SAFETY: the store fills the four sums, and needs no alignment.
            unsafe { _mm_storeu_si128(sums.as_mut_ptr().cast(), _mm_sub_epi32(all, own)) };
            before = _mm_shuffle_epi32(all, 0xFF);
        }
    }

    /// Chooses the run of 16 numbers by their last ones, then compares all of the run, without a branch that
    /// depends on the numbers.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
    pub fn add_of_block(members: &mut Members, numbers: &[u32], from: usize, block: &[u32; LEN]) -> usize {
        let (runs, _) = block.as_chunks::<RUN>();
        let end = |run: usize| runs[run][RUN - 1] as i32;
        let ends = _mm256_setr_epi32(end(0), end(1), end(2), end(3), end(4), end(5), end(6), end(7));
        let (mut at, count) = (from, numbers.len().min(LEN));
        while at < count && numbers[at] <= block[LEN - 1] {
            let number = _mm256_set1_epi32(numbers[at] as i32);
            // Bit `r` is set if run `r` does not end before the number.
            let reaching = lanes(_mm256_cmpeq_epi32(_mm256_max_epu32(ends, number), ends));
            let run = (reaching.trailing_zeros() as usize).min(runs.len() - 1);
            let (low, high) = halves(&runs[run]);
            let low = lanes(_mm256_cmpeq_epi32(low, number));
            let high = lanes(_mm256_cmpeq_epi32(high, number));
            let equal = low | high << 8;
            members.add(at, RUN * run + equal.trailing_zeros() as usize, equal != 0);
            at += 1;
        }
        at
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes(mask: __m256i) -> u32 {
        _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as u32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(run: &[u32; RUN]) -> (__m256i, __m256i) {
        // SAFETY: both loads are within the array, and need no alignment.
        unsafe {
            let start = run.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1)))
        }
    }

    /// Moves the numbers of 16 set bits to the front at once.
    #[target_feature(enable = "avx512f,popcnt")]
    pub fn unpack_bit_set(words: &[[u8; 8]], base: u32, numbers: &mut [u32; LEN]) -> usize {
        // A store writes 16 numbers, however many bits are set.
        let mut found = [0u32; LEN + 16];
        let mut count = 0;
        let mut all =
            _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), {
                _mm512_set1_epi32(base as i32)
            });
        for word in words {
            let mut word = u64::from_le_bytes(*word);
            let in_word = word.count_ones() as usize;
            if count + in_word > LEN {
                return count + in_word;
            }
            for _ in 0..4 {
                // SAFETY: `count` is at most 128, and 16 numbers more have room.
                unsafe {
                    let slot = found.as_mut_ptr().add(count);
                    _mm512_storeu_si512(slot.cast(), _mm512_maskz_compress_epi32(word as u16, all));
                }
                count += (word & 0xFFFF).count_ones() as usize;
                word >>= 16;
                all = _mm512_add_epi32(all, _mm512_set1_epi32(16));
            }
        }
        numbers.copy_from_slice(&found[..LEN]);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks with gaps of several kinds, the last one up to the greatest number.
    fn blocks() -> Vec<[u32; LEN]> {
        let block = |first: u32, gap: fn(u32) -> u32| {
            let mut next = first;
            std::array::from_fn(|at| {
                next += gap(at as u32);
                next
            })
        };
        vec![
            block(0, |_| 1),
            block(70, |at| 1 + at % 3),
            block(1 << 31, |at| 1 + at * at % 97),
            block(u32::MAX - 128 * 7, |_| 7),
        ]
    }

    fn check_found(members: &Members, numbers: &[u32], from: usize, block: &[u32; LEN]) {
        let expected = numbers.iter().enumerate().skip(from);
        let expected: Vec<_> = expected
            .filter_map(|(at, number)| Some((at as u8, block.binary_search(number).ok()? as u8)))
            .collect();
        let found: Vec<_> = members.numbers().iter().copied().zip(members.places().iter().copied()).collect();
        assert_eq!(found, expected, "{numbers:?} from {from} in {block:?}");
    }

    #[test]
    fn finds_what_a_block_has() {
        for block in blocks() {
            let (first, last) = (block[0], block[LEN - 1]);
            for step in [1, 2, 5, 40, 300] {
                let all: Vec<u32> = (first.saturating_sub(9)..=last).step_by(step).collect();
                for numbers in all.chunks(LEN).chain([&[][..], &[last], &[first]]) {
                    for from in [0, numbers.len() / 2] {
                        let mut members = Members::default();
                        assert_eq!(members.add_of_block(numbers, from, &block), numbers.len());
                        check_found(&members, numbers, from, &block);
                        members.clear();
                        members.add_of_block_any(numbers, from, &block);
                        check_found(&members, numbers, from, &block);
                    }
                }
            }
        }
    }

    #[test]
    fn finds_what_a_bit_set_has() {
        for block in blocks() {
            let base = block[0] - block[0].min(3);
            let mut words = [0u64; WORDS_MAX];
            let inside = block.iter().map(|number| number - base).filter(|bit| *bit < 64 * 64);
            let count = inside.clone().count();
            inside.for_each(|bit| words[bit as usize / 64] |= 1 << (bit % 64));
            let words = words.map(u64::to_le_bytes);
            if count == LEN {
                let (mut fast, mut slow) = ([0; LEN], [0; LEN]);
                assert_eq!(unpack_bit_set(&words, base, &mut fast), LEN);
                assert_eq!(unpack_bit_set_any(&words, base, &mut slow), LEN);
                assert_eq!((fast, slow), (block, block));
            }
            let last = block[LEN - 1].min(base.saturating_add(64 * 64 - 1));
            let all: Vec<u32> = (base..=last).step_by(2).collect();
            for numbers in all.chunks(LEN) {
                let mut members = Members::default();
                let until = numbers.len();
                assert_eq!(members.add_of_bit_set(numbers, 1, (base, last), &words), until.max(1));
                check_found(&members, numbers, 1, &block);
                members.clear();
                assert_eq!(members.add_of_bit_set_any(numbers, 1, (base, last), &words), until.max(1));
                check_found(&members, numbers, 1, &block);
            }
        }
    }

    #[test]
    fn numbers_after_the_last_are_left() {
        let block: [u32; LEN] = std::array::from_fn(|at| 2 * at as u32);
        let numbers = [3, 8, 254, 255, 256];
        for is_fast in [true, false] {
            let mut members = Members::default();
            let until = match is_fast {
                true => members.add_of_block(&numbers, 0, &block),
                false => members.add_of_block_any(&numbers, 0, &block),
            };
            assert_eq!((until, members.numbers(), members.places()), (3, &[1, 2][..], &[4, 127][..]));
            members.clear();
            let words = [0x5555_5555_5555_5555u64.to_le_bytes(); 4];
            let until = match is_fast {
                true => members.add_of_bit_set(&numbers, 0, (0, 254), &words),
                false => members.add_of_bit_set_any(&numbers, 0, (0, 254), &words),
            };
            assert_eq!((until, members.numbers(), members.places()), (3, &[1, 2][..], &[4, 127][..]));
        }
    }

    #[test]
    fn sums_are_those_of_the_values_before() {
        for values in [[0; LEN], std::array::from_fn(|at| at as u32 * 77 % 50), [(1 << 25) - 1; LEN]] {
            let (mut fast, mut slow) = ([9; LEN], [9; LEN]);
            assert!(running_sums(&values, &mut fast));
            running_sums_any(&values, &mut slow);
            assert_eq!(fast, slow);
        }
        assert!(!running_sums(&[1 << 25; LEN], &mut [0; LEN]));
    }

    #[test]
    fn a_bit_set_of_too_many_is_counted_beyond_the_block() {
        let words = [u64::MAX.to_le_bytes(); 3];
        let mut numbers = [0; LEN];
        assert_eq!(unpack_bit_set(&words, 0, &mut numbers), 192);
        assert_eq!(unpack_bit_set_any(&words, 0, &mut numbers), 192);
        assert_eq!(unpack_bit_set(&words[..1], 0, &mut numbers), 64);
    }
}
