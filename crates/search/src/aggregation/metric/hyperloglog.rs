//! Counts distinct hashes in bounded memory.
//!
//! A small number of hashes is stored directly (linear counting over 25 bits); more go to HyperLogLog
//! registers. Thresholds, precision and the encoding of hashes are those of Elasticsearch's
//! `HyperLogLogPlusPlus`, so that small cardinalities agree exactly. Large ones are estimated with Ertl's
//! improved estimator (arXiv:1702.01284), which needs no correction table and is as accurate.

use foldhash::fast::FixedState;
use hashbrown::HashSet;

/// The number of leading bits that are stored of a hash.
const KEPT_BITS: u32 = 25;

const PRECISION_MIN: u32 = 4;
const PRECISION_MAX: u32 = 18;

/// A set of hashes.
#[derive(Debug, Clone)]
pub struct Sketch {
    precision: u32,
    hashes: Hashes,
}

#[derive(Debug, Clone)]
enum Hashes {
    Kept(HashSet<u32, FixedState>),
    Registers(Vec<u8>),
}

/// Returns the precision at which counts are exact up to about `threshold`.
pub fn precision_of(threshold: u64) -> u32 {
    let entries = threshold.saturating_mul(4).div_ceil(3);
    let bits = 64 - entries.saturating_mul(4).leading_zeros();
    bits.clamp(PRECISION_MIN, PRECISION_MAX)
}

impl Sketch {
    pub(crate) fn new(precision: u32) -> Sketch {
        Sketch { precision, hashes: Hashes::Kept(HashSet::default()) }
    }

    /// Returns the number of hashes that are stored before registers are used.
    fn kept_max(&self) -> usize {
        ((1usize << self.precision) / 4) * 3 / 4
    }

    /// Returns the bytes of the registers, which are the largest size of a sketch.
    pub fn bytes_max(precision: u32) -> u64 {
        1 << precision
    }

    /// Adds a hash, all of whose bits must be well mixed.
    #[inline]
    pub fn insert(&mut self, hash: u64) {
        match &mut self.hashes {
            Hashes::Kept(kept) => {
                kept.insert(encode(hash, self.precision));
                if kept.len() > self.kept_max() {
                    self.upgrade();
                }
            }
            Hashes::Registers(registers) => {
                let index = (hash >> (64 - self.precision)) as usize;
                let run = 1 + (hash << self.precision).leading_zeros().min(64 - self.precision);
                registers[index] = registers[index].max(run as u8);
            }
        }
    }

    /// Does the same as [`Sketch::insert`]; faster if most registers already hold a longer run of zeros.
    #[inline]
    pub fn insert_quickly(&mut self, hash: u64) {
        if let Hashes::Registers(registers) = &self.hashes {
            let register = registers[(hash >> (64 - self.precision)) as usize];
            let rest = hash << self.precision;
            if rest >> 1 >> (63 - u32::from(register & 63)) != 0 {
                return;
            }
        }
        self.insert(hash);
    }

    /// Adds about `count` hashes.
    pub fn insert_all(&mut self, count: usize, hashes: impl Iterator<Item = u64>) {
        let most = self.kept_max() + 1;
        if let Hashes::Kept(kept) = &mut self.hashes {
            kept.reserve(count.min(most - kept.len()));
        }
        hashes.for_each(|hash| self.insert_quickly(hash));
    }

    /// Adds the hashes of numbers.
    pub fn insert_numbers(&mut self, mut numbers: impl Iterator<Item = i64>) {
        while matches!(self.hashes, Hashes::Kept(_)) {
            match numbers.next() {
                Some(number) => self.insert(hash_number(number)),
                None => return,
            }
        }
        let Hashes::Registers(registers) = &mut self.hashes else { return };
        let (shift, run_max) = (64 - self.precision, 64 - self.precision);
        let precision = self.precision;
        numbers.for_each(|number| {
            let hash = hash_number(number);
            let register = &mut registers[(hash >> shift) as usize];
            // Registers in use are rarely raised, and whether this one is can be tested faster than the run
            // can be counted.
            let rest = hash << precision;
            if rest >> 1 >> (63 - u32::from(*register & 63)) == 0 {
                *register = (*register).max(1 + rest.leading_zeros().min(run_max) as u8);
            }
        });
    }

    /// Adds the hashes of another sketch of the same precision, the fewer to the more.
    pub fn absorb(&mut self, mut other: Box<Sketch>) {
        if let (Hashes::Kept(own), Hashes::Kept(theirs)) = (&self.hashes, &other.hashes)
            && own.len() < theirs.len()
        {
            std::mem::swap(self, &mut other);
        }
        self.merge(&other);
    }

    /// Adds the hashes of another sketch of the same precision.
    pub fn merge(&mut self, other: &Sketch) {
        match &other.hashes {
            Hashes::Kept(theirs) => {
                let most = self.kept_max() + 1;
                // Hashes come in the order of their slots. In a table that is too small for them they would
                // all be in one place.
                if let Hashes::Kept(own) = &mut self.hashes
                    && theirs.len() > own.capacity() - own.len()
                {
                    own.reserve(theirs.len().min(most - own.len()));
                }
                theirs.iter().for_each(|&encoded| self.insert_encoded(encoded));
            }
            Hashes::Registers(theirs) => {
                if matches!(self.hashes, Hashes::Kept(_)) {
                    self.upgrade();
                }
                if let Hashes::Registers(registers) = &mut self.hashes {
                    for (own, &their) in registers.iter_mut().zip(theirs) {
                        *own = (*own).max(their);
                    }
                }
            }
        }
    }

    fn insert_encoded(&mut self, encoded: u32) {
        let precision = self.precision;
        match &mut self.hashes {
            Hashes::Kept(kept) => {
                kept.insert(encoded);
                if kept.len() > self.kept_max() {
                    self.upgrade();
                }
            }
            Hashes::Registers(registers) => put(registers, encoded, precision),
        }
    }

    fn upgrade(&mut self) {
        let mut registers = vec![0; 1 << self.precision];
        if let Hashes::Kept(kept) = &self.hashes {
            kept.iter().for_each(|&encoded| put(&mut registers, encoded, self.precision));
        }
        self.hashes = Hashes::Registers(registers);
    }

    /// Estimates the number of distinct hashes.
    pub fn cardinality(&self) -> u64 {
        match &self.hashes {
            Hashes::Kept(kept) => {
                let slots = f64::from(1u32 << KEPT_BITS);
                (slots * (slots / (slots - kept.len() as f64)).ln()).round() as u64
            }
            Hashes::Registers(registers) => estimate(registers, self.precision).round() as u64,
        }
    }
}

/// Encodes 25 bits of the hash, and the length of the run of zeros after them if the bits between `precision`
/// and 25 are all zero.
fn encode(hash: u64, precision: u32) -> u32 {
    let top = (hash >> (64 - KEPT_BITS)) as u32;
    if top & ((1 << (KEPT_BITS - precision)) - 1) == 0 {
        let run = 1 + (hash << KEPT_BITS).leading_zeros().min(64 - KEPT_BITS);
        (top << 7) | (run << 1) | 1
    } else {
        top << 1
    }
}

fn put(registers: &mut [u8], encoded: u32, precision: u32) {
    let (index, run) = if encoded & 1 == 1 {
        (encoded >> 7 >> (KEPT_BITS - precision), ((encoded >> 1) & 0x3F) + KEPT_BITS - precision)
    } else {
        (
            encoded >> 1 >> (KEPT_BITS - precision),
            1 + (encoded << (31 + precision - KEPT_BITS)).leading_zeros(),
        )
    };
    let register = &mut registers[index as usize];
    *register = (*register).max(run as u8);
}

/// Ertl's improved raw estimator (algorithm 6).
fn estimate(registers: &[u8], precision: u32) -> f64 {
    let longest = 64 - precision as usize;
    let mut counts = vec![0u32; longest + 2];
    for &register in registers {
        counts[(register as usize).min(longest + 1)] += 1;
    }
    let m = registers.len() as f64;
    let mut z = m * tau(1.0 - f64::from(counts[longest + 1]) / m);
    for run in (1..=longest).rev() {
        z = 0.5 * (z + f64::from(counts[run]));
    }
    z += m * sigma(f64::from(counts[0]) / m);
    let alpha = 0.5 / std::f64::consts::LN_2;
    alpha * m * m / z
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

/// Hashes a number (`BitMixer.mix64`).
#[inline]
pub fn hash_number(number: i64) -> u64 {
    let mut z = number as u64;
    z = (z ^ (z >> 32)).wrapping_mul(0x4cd6_944c_5cc2_0b6d);
    z = (z ^ (z >> 29)).wrapping_mul(0xfc12_c5b1_9d32_59e9);
    z ^ (z >> 32)
}

/// Returns the first half of MurmurHash3 x64 128 with seed 0 (Austin Appleby), Elasticsearch's hash of terms.
pub fn hash_term(bytes: &[u8]) -> u64 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let word = |part: &[u8]| part.iter().rev().fold(0u64, |word, &byte| (word << 8) | u64::from(byte));
    let (mut h1, mut h2) = (0u64, 0u64);
    let (chunks, tail) = bytes.as_chunks::<16>();
    for chunk in chunks {
        h1 ^= mix1(word(&chunk[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix2(word(&chunk[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    if tail.len() > 8 {
        h2 ^= mix2(word(&tail[8..]));
    }
    if !tail.is_empty() {
        h1 ^= mix1(word(&tail[..tail.len().min(8)]));
    }
    h1 ^= bytes.len() as u64;
    h2 ^= bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    let finish = |mut k: u64| {
        k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        k ^ (k >> 33)
    };
    finish(h1).wrapping_add(finish(h2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        // The results of the reference implementation's MurmurHash3_x64_128.
        assert_eq!(hash_term(b""), 0);
        assert_eq!(hash_term(b"hello"), 0xcbd8_a7b3_41bd_9b02);
        assert_eq!(hash_term(b"The quick brown fox jumps over the lazy dog"), 0xe34b_bc7b_bc07_1b6c);
    }

    #[test]
    fn precision_follows_the_threshold() {
        assert_eq!(precision_of(3000), 14);
        assert_eq!(precision_of(0), 4);
        assert_eq!(precision_of(40_000), 18);
        assert_eq!(precision_of(100), 10);
    }

    #[test]
    fn small_sets_are_exact_and_large_ones_close() {
        for count in [0u64, 1, 10, 1000, 3000, 5000, 20_000, 200_000] {
            let mut whole = Sketch::new(14);
            let mut numbers = Vec::new();
            let mut parts = [Sketch::new(14), Sketch::new(14), Sketch::new(14)];
            for number in 0..count {
                let hash = hash_number(number as i64);
                whole.insert(hash);
                numbers.push(number as i64);
                parts[number as usize % 3].insert(hash);
                parts[(number as usize + 1) % 3].insert(hash);
            }
            let mut absorbed = Sketch::new(14);
            for part in &parts {
                absorbed.absorb(Box::new(part.clone()));
            }
            let [mut merged, second, third] = parts;
            merged.merge(&second);
            merged.merge(&third);
            let estimate = whole.cardinality();
            let mut batch = Sketch::new(14);
            numbers.chunks(4096).for_each(|chunk| batch.insert_numbers(chunk.iter().copied()));
            assert_eq!(batch.cardinality(), estimate, "{count}");
            assert_eq!(merged.cardinality(), estimate, "{count}");
            assert_eq!(absorbed.cardinality(), estimate, "{count}");
            if count <= 3000 {
                assert_eq!(estimate, count);
            } else {
                let error = (estimate as f64 - count as f64).abs() / count as f64;
                assert!(error < 0.02, "{count}: {estimate}");
            }
        }
    }
}
