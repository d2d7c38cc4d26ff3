//! Integer statistics by bucket. Sums of integers do not have to be computed in order.
//!
//! Elasticsearch adds every value to a compensated sum of doubles, which is a chain of four dependent
//! additions per value. Sums of integers are exact in any order, and are converted to a double once, at the
//! end. For values with a factor (`scaled_float`) the last digit of a sum can differ: it is nearer to the sum
//! of the decimal numbers.

use limber_segment::columns::Moments;

/// Adjacent values go to different lanes, each with its own statistics of every bucket, so that adjacent
/// values of one bucket do not wait for each other's store. Merging the lanes is cheap if a bucket has at
/// least this many values on average.
const LANES: usize = 4;
const VALUES_PER_BUCKET_OF_LANES: usize = 32;

/// Statistics of the stored values of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredStats {
    pub count: u64,
    /// Not computed if only the range is wanted.
    pub sum: i64,
    pub min: i64,
    pub max: i64,
}

const EMPTY: StoredStats = StoredStats { count: 0, sum: 0, min: i64::MAX, max: i64::MIN };

impl StoredStats {
    #[inline(always)]
    fn add<const SUM: bool, const RANGE: bool>(&mut self, value: i64) {
        self.count += 1;
        if SUM {
            self.sum += value;
        }
        if RANGE {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    fn merge(&mut self, other: &StoredStats) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Which statistics are computed besides the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    pub sum: bool,
    pub range: bool,
    pub squares: bool,
}

/// Statistics of stored numbers by bucket. The caller makes sure that no sum of a bucket overflows 64 bits.
#[derive(Debug)]
pub struct ExactStats {
    wanted: Wanted,
    by_bucket: Vec<StoredStats>,
    /// Sums of squares by bucket; empty if they are not wanted.
    squares: Vec<i128>,
    /// Statistics of the current batch, one lane after the other.
    lanes: Vec<StoredStats>,
    packed: Packed,
}

/// Counts and sums of values that are not in the statistics of their buckets yet, in lanes. The upper 16 bits
/// of a word are a count, the others the sum of the values less `least`. So a value takes one addition.
#[derive(Debug, Default)]
struct Packed {
    /// The least value; `None` if values are too far apart.
    least: Option<i64>,
    words: Vec<[u64; LANES]>,
    value_count: usize,
}

const PACKED_SUM_BITS: u32 = 48;
/// So many values have a sum that fits if they are less than 2^32 apart.
const PACKED_VALUES_MAX: usize = (1 << 16) - 1;
/// With more buckets, emptying them all would cost too much.
const PACKED_BUCKETS_MAX: usize = 1 << 11;

impl Packed {
    /// Adds `values[i]` to bucket `buckets[i]`.
    fn add(&mut self, least: i64, values: &[i64], buckets: &[u32]) {
        self.value_count += values.len();
        let one = (1u64 << PACKED_SUM_BITS).wrapping_sub(least as u64);
        let (values, last_values) = values.as_chunks::<LANES>();
        let (buckets, last_buckets) = buckets.as_chunks::<LANES>();
        for (values, buckets) in values.iter().zip(buckets) {
            for lane in 0..LANES {
                let word = &mut self.words[buckets[lane] as usize][lane];
                *word = word.wrapping_add(one.wrapping_add(values[lane] as u64));
            }
        }
        for (value, bucket) in last_values.iter().zip(last_buckets) {
            let word = &mut self.words[*bucket as usize][0];
            *word = word.wrapping_add(one.wrapping_add(*value as u64));
        }
    }
}

impl ExactStats {
    /// Upper bound of the bytes of a bucket.
    pub const BUCKET_BYTES: u64 =
        (size_of::<StoredStats>() + size_of::<i128>() + size_of::<[u64; LANES]>()) as u64;

    pub(crate) fn new(wanted: Wanted) -> ExactStats {
        ExactStats {
            wanted,
            by_bucket: Vec::new(),
            squares: Vec::new(),
            lanes: Vec::new(),
            packed: Packed::default(),
        }
    }

    /// Starts a column whose values are between `least` and `most`.
    pub fn begin(&mut self, least: i64, most: i64) {
        self.settle();
        let Wanted { sum, range, squares } = self.wanted;
        let is_plain = sum && !range && !squares;
        self.packed.least = (is_plain && most.abs_diff(least) < 1 << 32).then_some(least);
    }

    /// Adds what was packed to the statistics of the buckets. Must be called before they are read.
    pub fn settle(&mut self) {
        let Packed { least, words, value_count } = &mut self.packed;
        let (Some(least), true) = (*least, *value_count > 0) else { return };
        for (stats, words) in self.by_bucket.iter_mut().zip(words) {
            for word in words {
                let count = *word >> PACKED_SUM_BITS;
                stats.count += count;
                let rest = (*word & ((1 << PACKED_SUM_BITS) - 1)) as i64;
                stats.sum = stats.sum.wrapping_add(rest.wrapping_add(least.wrapping_mul(count as i64)));
                *word = 0;
            }
        }
        *value_count = 0;
    }

    /// Returns which statistics are computed.
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Returns the number of buckets.
    pub fn len(&self) -> usize {
        self.by_bucket.len()
    }

    /// Adds empty buckets up to this number.
    pub fn grow(&mut self, bucket_count: usize) {
        self.by_bucket.resize(bucket_count.max(self.len()), EMPTY);
        if self.wanted.squares {
            self.squares.resize(self.by_bucket.len(), 0);
        }
    }

    /// Returns a bucket's statistics and its sum of squares. An unknown bucket has the statistics of an empty
    /// one.
    pub fn get(&self, bucket: usize) -> (StoredStats, i128) {
        let squares = self.squares.get(bucket).copied().unwrap_or(0);
        (self.by_bucket.get(bucket).copied().unwrap_or(EMPTY), squares)
    }

    /// Adds precomputed moments of several values to a bucket.
    pub fn add_known(&mut self, bucket: usize, moments: &Moments, range: Option<(i64, i64)>) {
        let (min, max) = range.unwrap_or((EMPTY.min, EMPTY.max));
        self.by_bucket[bucket].merge(&StoredStats {
            count: moments.count,
            sum: moments.sum as i64,
            min,
            max,
        });
        if let Some(squares) = self.squares.get_mut(bucket) {
            *squares += moments.sum_of_squares;
        }
    }

    /// Adds values to one bucket.
    pub fn add_all(&mut self, bucket: usize, values: &[i64]) {
        let moments = match self.wanted.sum {
            true => Moments::of(values, self.wanted.squares),
            false => Moments { count: values.len() as u64, ..Moments::default() },
        };
        let range =
            (self.wanted.range && !values.is_empty()).then(|| limber_codec::column_block::bounds(values));
        self.add_known(bucket, &moments, range);
    }

    /// Adds one value to a bucket.
    #[inline]
    pub fn add_one(&mut self, bucket: u32, value: i64) {
        let stats = &mut self.by_bucket[bucket as usize];
        match self.wanted.sum {
            true => stats.add::<true, true>(value),
            false => stats.add::<false, true>(value),
        }
        if let Some(squares) = self.squares.get_mut(bucket as usize) {
            *squares += square(value);
        }
    }

    /// Adds `values[i]` to bucket `buckets[i]`.
    pub fn add_each(&mut self, values: &[i64], buckets: &[u32]) {
        if let Some(least) = self.packed.least
            && self.len() <= PACKED_BUCKETS_MAX
        {
            if self.packed.value_count + values.len() > PACKED_VALUES_MAX {
                self.settle();
            }
            if self.packed.words.len() < self.len() {
                self.packed.words.resize(self.by_bucket.len(), [0; LANES]);
            }
            self.packed.add(least, values, buckets);
            return;
        }
        match (self.wanted.sum, self.wanted.range) {
            (true, true) => self.add_pairs::<true, true>(values, buckets),
            (true, false) => self.add_pairs::<true, false>(values, buckets),
            (false, true) => self.add_pairs::<false, true>(values, buckets),
            (false, false) => self.add_pairs::<false, false>(values, buckets),
        }
        if self.wanted.squares {
            for (&value, &bucket) in values.iter().zip(buckets) {
                self.squares[bucket as usize] += square(value);
            }
        }
    }

    fn add_pairs<const SUM: bool, const RANGE: bool>(&mut self, values: &[i64], buckets: &[u32]) {
        let bucket_count = self.by_bucket.len();
        if bucket_count == 0 || values.len() < bucket_count * VALUES_PER_BUCKET_OF_LANES {
            add_pairs::<SUM, RANGE>(&mut self.by_bucket, values, buckets);
            return;
        }
        self.lanes.clear();
        self.lanes.resize(bucket_count * LANES, EMPTY);
        let (first, others) = self.lanes.split_at_mut(bucket_count);
        let (second, others) = others.split_at_mut(bucket_count);
        let (third, fourth) = others.split_at_mut(bucket_count);
        let (values, last_values) = values.as_chunks::<LANES>();
        let (buckets, last_buckets) = buckets.as_chunks::<LANES>();
        for (value, bucket) in values.iter().zip(buckets) {
            first[bucket[0] as usize].add::<SUM, RANGE>(value[0]);
            second[bucket[1] as usize].add::<SUM, RANGE>(value[1]);
            third[bucket[2] as usize].add::<SUM, RANGE>(value[2]);
            fourth[bucket[3] as usize].add::<SUM, RANGE>(value[3]);
        }
        add_pairs::<SUM, RANGE>(first, last_values, last_buckets);
        for lane in self.lanes.chunks_exact(bucket_count) {
            self.by_bucket.iter_mut().zip(lane).for_each(|(whole, part)| whole.merge(part));
        }
    }

    /// Adds the buckets of `other`, whose bucket `b` is `bucket_of[b]` here.
    pub fn absorb(&mut self, other: &ExactStats, bucket_of: &[u32]) {
        for (stats, &bucket) in other.by_bucket.iter().zip(bucket_of) {
            self.by_bucket[bucket as usize].merge(stats);
        }
        for (squares, &bucket) in other.squares.iter().zip(bucket_of) {
            self.squares[bucket as usize] += squares;
        }
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.packed = Packed::default();
        self.by_bucket.clear();
        self.squares.clear();
    }
}

#[inline]
fn square(value: i64) -> i128 {
    i128::from(value) * i128::from(value)
}

fn add_pairs<const SUM: bool, const RANGE: bool>(
    by_bucket: &mut [StoredStats],
    values: &[i64],
    buckets: &[u32],
) {
    for (&value, &bucket) in values.iter().zip(buckets) {
        by_bucket[bucket as usize].add::<SUM, RANGE>(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_one_by_one(
            entries in prop::collection::vec((-1_000_000i64..1_000_000, 0u32..8), 1..600),
            cut in 0usize..600,
        ) {
            let (values, buckets): (Vec<i64>, Vec<u32>) = entries.iter().copied().unzip();
            let wanted = Wanted { sum: true, range: true, squares: true };
            let [mut batch, mut single, mut first, mut second] = [(); 4].map(|()| ExactStats::new(wanted));
            for stats in [&mut batch, &mut single, &mut first, &mut second] {
                stats.grow(8);
            }
            batch.add_each(&values, &buckets);
            let mut packed = ExactStats::new(Wanted { sum: true, range: false, squares: false });
            packed.begin(-1_000_000, 1_000_000);
            packed.grow(8);
            // More values than fit at once.
            (0..200).for_each(|_| packed.add_each(&values, &buckets));
            packed.settle();
            entries.iter().for_each(|(value, bucket)| single.add_one(*bucket, *value));
            let cut = cut.min(values.len());
            first.add_each(&values[..cut], &buckets[..cut]);
            // The other part numbers its buckets in reverse.
            let turned: Vec<u32> = buckets[cut..].iter().map(|bucket| 7 - bucket).collect();
            second.add_each(&values[cut..], &turned);
            first.absorb(&second, &[7, 6, 5, 4, 3, 2, 1, 0]);
            for bucket in 0..8 {
                let own = || entries.iter().filter(|(_, of)| *of as usize == bucket).map(|(value, _)| *value);
                let expected = StoredStats {
                    count: own().count() as u64,
                    sum: own().sum(),
                    min: own().min().unwrap_or(i64::MAX),
                    max: own().max().unwrap_or(i64::MIN),
                };
                prop_assert_eq!(packed.get(bucket).0.sum, expected.sum * 200);
                prop_assert_eq!(packed.get(bucket).0.count, expected.count * 200);
                let squares = own().map(|value| i128::from(value) * i128::from(value)).sum();
                for stats in [&batch, &single, &first] {
                    prop_assert_eq!(stats.get(bucket), (expected, squares));
                }
            }
            let mut whole = ExactStats::new(wanted);
            whole.grow(1);
            whole.add_all(0, &values);
            prop_assert_eq!(whole.get(0).0.sum, values.iter().sum::<i64>());
        }
    }
}
