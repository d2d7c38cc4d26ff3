//! How often a page was used recently, in four bits: "which page is worth more?"
//!
//! A count-min sketch with four rows of 4-bit counters (Cormode and Muthukrishnan; TinyLFU, Einziger,
//! Friedman and Manes 2017). After [`SAMPLE_PER_COUNTER`] times its width uses, every counter is halved, so
//! that old uses fade.

use crate::random::mix;

const ROWS: usize = 4;
/// With eight counters per page this is 16 uses per page, few of which collide with other pages' counters
/// (Caffeine: four counters and ten uses).
const SAMPLE_PER_COUNTER: u64 = 2;
const COUNTERS_PER_PAGE: usize = 8;
const COUNT_MAX: u64 = 15;
/// 2 KiB: a cache of few pages remembers two thousand uses. Four times as many gained up to one percent of
/// hits on the bench's traces, but then new favourites of a small cache were refused for thousands of misses.
const WIDTH_MIN: usize = 1024;
/// 2 MiB per shard; with more pages than that, pages share counters.
const WIDTH_MAX: usize = 1 << 20;

/// Estimates of how often each page was used lately.
pub struct Sketch {
    /// Sixteen counters per word, row after row: `[ROWS * width / 16]`.
    words: Vec<u64>,
    width: usize,
    added: u64,
}

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch { words: vec![0; ROWS * WIDTH_MIN / 16], width: WIDTH_MIN, added: 0 }
    }
}

impl Sketch {
    /// Grows to serve `page_count` pages. The low bits of a hash select a counter, so doubling the width
    /// repeats each row twice, and no estimate changes.
    pub fn grow(&mut self, page_count: usize) {
        while self.width < page_count * COUNTERS_PER_PAGE && self.width < WIDTH_MAX {
            let row_words = self.width / 16;
            self.words = self.words.chunks(row_words).flat_map(|row| [row, row].concat()).collect();
            self.width *= 2;
        }
    }

    /// Returns the bytes of the counters.
    pub fn bytes(&self) -> u64 {
        (self.words.len() * size_of::<u64>()) as u64
    }

    /// Counts `uses` uses of the page with this `hash`.
    pub fn add(&mut self, hash: u64, uses: u64) {
        let uses = uses.min(COUNT_MAX);
        // Only counters below the new estimate are raised; the others contain collisions already.
        let count = (self.count(hash) + uses).min(COUNT_MAX);
        for row in 0..ROWS {
            let (word, shift) = self.place(hash, row);
            let old = self.words[word] >> shift & COUNT_MAX;
            if old < count {
                self.words[word] += (count - old) << shift;
            }
        }
        self.added += uses;
        if self.added >= SAMPLE_PER_COUNTER * self.width as u64 {
            self.age();
        }
    }

    /// Returns an upper estimate of the uses since they last faded, at most 15.
    pub fn count(&self, hash: u64) -> u64 {
        let counts = (0..ROWS).map(|row| {
            let (word, shift) = self.place(hash, row);
            self.words[word] >> shift & COUNT_MAX
        });
        counts.min().unwrap_or(0)
    }

    fn age(&mut self) {
        for word in &mut self.words {
            *word = *word >> 1 & 0x7777_7777_7777_7777;
        }
        self.added /= 2;
    }

    fn place(&self, hash: u64, row: usize) -> (usize, u32) {
        let counter = mix(hash ^ row as u64) as usize & (self.width - 1);
        (row * self.width / 16 + counter / 16, (counter % 16) as u32 * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_never_too_low_and_stop_at_15() {
        let mut sketch = Sketch::default();
        for key in 0..60u64 {
            sketch.add(mix(key), key % 10);
        }
        for key in 0..60u64 {
            assert!(sketch.count(mix(key)) >= key % 10);
        }
        sketch.add(1, 1000);
        assert_eq!(sketch.count(1), 15);
    }

    #[test]
    fn growing_changes_no_estimate() {
        let mut sketch = Sketch::default();
        for key in 0..40u64 {
            sketch.add(mix(key), key % 7);
        }
        let before: Vec<u64> = (0..100).map(|key| sketch.count(mix(key))).collect();
        sketch.grow(1000);
        assert_eq!((sketch.width, sketch.bytes()), (8192, 16_384));
        assert!((0..100).map(|key| sketch.count(mix(key))).eq(before));
    }

    #[test]
    fn the_past_fades() {
        let mut sketch = Sketch::default();
        sketch.add(mix(1), 12);
        for _ in 0..4 * 2 * WIDTH_MIN / 15 {
            sketch.add(mix(2), 15);
        }
        assert!(sketch.count(mix(1)) <= 3, "{}", sketch.count(mix(1)));
    }
}
