//! Finds the position of a number among 16 ascending numbers.

/// Numbers that are compared at once.
pub const LEN: usize = 16;

/// Counts the ascending `values` that are less than `target`.
#[inline]
pub fn count_below(values: &[u32; LEN], target: u32) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: SSE2 is a part of x86-64.
        let below = unsafe { sse2::below(values, target) };
        below.trailing_ones() as usize
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        count_below_scalar(values, target)
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn count_below_scalar(values: &[u32; LEN], target: u32) -> usize {
    values.iter().map(|value| usize::from(*value < target)).sum()
}

/// The compiler turns the plain loop into a population count, for which SSE2 has no instruction.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::LEN;

    /// Flipping this bit lets a signed comparison order unsigned numbers.
    const SIGN: u32 = 1 << 31;

    /// Sets bit `i` of the result where value `i` is less than `target`.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn below(values: &[u32; LEN], target: u32) -> u32 {
        let (fours, _) = values.as_chunks::<4>();
        let target = _mm_set1_epi32((target ^ SIGN) as i32);
        let below = |at: usize| _mm_cmplt_epi32(load(&fours[at]), target);
        let low = _mm_packs_epi32(below(0), below(1));
        let high = _mm_packs_epi32(below(2), below(3));
        _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load([a, b, c, d]: &[u32; 4]) -> __m128i {
        let four = _mm_setr_epi32(*a as i32, *b as i32, *c as i32, *d as i32);
        _mm_xor_si128(four, _mm_set1_epi32(SIGN as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_one_by_one() {
        let ascending = |step: u32, first: u32| -> [u32; LEN] {
            std::array::from_fn(|at| first.saturating_add(step.saturating_mul(at as u32)))
        };
        for values in
            [ascending(1, 0), ascending(3, 7), ascending(1 << 28, 5), ascending(0, 9), [u32::MAX; LEN]]
        {
            let around = |value: u32| [value.saturating_sub(1), value, value.saturating_add(1)];
            for target in values.iter().copied().flat_map(around).chain([0, u32::MAX]) {
                assert_eq!(
                    count_below(&values, target),
                    count_below_scalar(&values, target),
                    "{values:?} {target}"
                );
            }
        }
    }
}
