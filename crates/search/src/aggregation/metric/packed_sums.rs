//! Counts and sums by bucket in single words, and the loops that add values to them.

/// Adjacent values go to different lanes, each with its own sum of every bucket, so that adjacent values of
/// one bucket do not wait for each other's store.
pub(super) const LANES: usize = 4;

/// With more buckets, adjacent values are rarely in the same one, and the lanes would not fit into the
/// first-level cache.
pub(super) const LANES_BUCKETS_MAX: usize = 1 << 10;

/// Counts and sums of values that are not in the totals of their buckets yet. The upper bits of a word are a
/// count, the others the sum of the values less `least`. So a value takes one addition.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// `None` if values are too far apart.
    pub form: Option<PackedForm>,
    /// One word for each bucket and lane; the lanes of a bucket are adjacent.
    pub words: Vec<u64>,
    /// Sums of the squares of the values less `least`, by bucket; empty if they are added elsewhere.
    pub squares: Vec<u64>,
    /// The number of values that were packed since the totals were last brought up to date.
    pub value_count: usize,
}

/// How values of a column are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedForm {
    /// The least value.
    pub least: i64,
    /// Number of bits of a sum.
    pub sum_bits: u32,
    /// Number of values whose sums and count fit.
    pub values_max: usize,
    /// Whether squares are packed, too.
    pub has_squares: bool,
}

/// Packed values are less than 2^32 apart.
const PACKED_BITS_MAX: u32 = 32;
/// Squares are packed if values are less than 2^22 apart: 2^20 of them fit.
const PACKED_SQUARE_BITS_MAX: u32 = 22;

impl PackedForm {
    /// Returns the form of values between `least` and `most`.
    pub fn of(least: i64, most: i64, has_squares: bool) -> Option<PackedForm> {
        let value_bits = (u64::BITS - most.abs_diff(least).leading_zeros()).max(1);
        let count_bits = (u64::BITS - value_bits) / 2;
        let has_squares = has_squares && value_bits <= PACKED_SQUARE_BITS_MAX;
        let count_bits = if has_squares { count_bits.min(u64::BITS - 2 * value_bits) } else { count_bits };
        (value_bits <= PACKED_BITS_MAX).then(|| PackedForm {
            least,
            sum_bits: value_bits + count_bits,
            values_max: (1 << count_bits) - 1,
            has_squares,
        })
    }

    /// Returns what is added to a word for a value, less the value.
    pub fn one(self) -> u64 {
        (1u64 << self.sum_bits).wrapping_sub(self.least as u64)
    }
}

/// Adds values to the words of their buckets, adjacent ones to different lanes.
pub(super) fn add_words<const N: usize>(words: &mut [[u64; N]], one: u64, values: &[i64], buckets: &[u32]) {
    let mut add = |lane: usize, value: i64, bucket: u32| {
        let word = &mut words[bucket as usize][lane];
        *word = word.wrapping_add(one.wrapping_add(value as u64));
    };
    let (values, last_values) = values.as_chunks::<N>();
    let (buckets, last_buckets) = buckets.as_chunks::<N>();
    for (values, buckets) in values.iter().zip(buckets) {
        for lane in 0..N {
            add(lane, values[lane], buckets[lane]);
        }
    }
    last_values.iter().zip(last_buckets).for_each(|(&value, &bucket)| add(0, value, bucket));
}

/// Does the same as [`add_words`] with one lane, and widens the ranges of the buckets.
pub(super) fn add_words_and_ranges(
    words: &mut [u64],
    ranges: &mut [(i64, i64)],
    one: u64,
    values: &[i64],
    buckets: &[u32],
) {
    for (&value, &bucket) in values.iter().zip(buckets) {
        let word = &mut words[bucket as usize];
        *word = word.wrapping_add(one.wrapping_add(value as u64));
        let range = &mut ranges[bucket as usize];
        if value < range.0 {
            range.0 = value;
        }
        if value > range.1 {
            range.1 = value;
        }
    }
}
