//! Reproducible random numbers from a seed: SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", 2014).

/// Increment of the state per draw: 2^64 divided by the golden ratio.
pub const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator. Equal seeds yield equal numbers, on every machine and in every version.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator whose state is `seed`.
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Draws the next number, uniformly from 2^64.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(INCREMENT);
        mix(self.0)
    }

    /// Draws a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.draw() % end }
    }

    /// Returns true with a probability of one in `count`.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// SplitMix64's finalizer: maps neighbouring values to numbers that look unrelated. 0 stays 0.
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of seed 1234567, as the authors' reference implementation draws them.
    #[test]
    fn draws_the_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.draw()).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
