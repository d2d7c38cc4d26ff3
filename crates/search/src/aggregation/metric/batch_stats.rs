//! Whole numbers of one batch by bucket: added up as integers, so that no sum waits for the one before it.
//!
//! Elasticsearch adds every value to a compensated sum of doubles, a chain of four additions a value. The integers of a batch are exact;
//! one compensated addition a batch and bucket is left. For values with a factor (`scaled_float`) the last digit of a sum can be another
//! one: nearer to the sum of the decimal numbers.

/// Largest integers taken: 4,096 of them are below 2^53, so that their sum is exact as a double.
const VALUE_MAX: u64 = 1 << 41;

/// A batch has to have this many values a bucket, or going through the buckets costs more than it saves.
const VALUES_PER_BUCKET: usize = 4;

/// Neighbouring values go to different lanes, each with its own statistics of a bucket: values of one bucket in a row need not wait for what
/// the one before stored. Going through the lanes costs little where a bucket has this many values.
const LANES: usize = 4;
const VALUES_PER_BUCKET_OF_LANES: usize = 32;

/// Values of one bucket in a batch, as they are stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredStats {
    pub count: u64,
    pub sum: i64,
    pub min: i64,
    pub max: i64,
}

const EMPTY: StoredStats = StoredStats { count: 0, sum: 0, min: i64::MAX, max: i64::MIN };

impl StoredStats {
    #[inline(always)]
    fn add<const WANTS_RANGE: bool>(&mut self, value: i64) {
        self.count += 1;
        self.sum += value;
        if WANTS_RANGE {
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

#[derive(Debug, Default)]
pub struct BatchStats {
    /// Lanes back to back, merged into the first when the batch is taken.
    by_bucket: Vec<StoredStats>,
    bucket_count: usize,
}

impl BatchStats {
    /// Takes `values[i]` into bucket `buckets[i]`, each below `bucket_count`; `min` and `max` are kept only where they are wanted. False: too
    /// few values for the buckets, or too large ones; nothing is known then.
    pub fn take(&mut self, values: &[i64], buckets: &[u32], bucket_count: usize, wants_range: bool) -> bool {
        if values.len() < bucket_count * VALUES_PER_BUCKET || values.len() > 4096 {
            return false;
        }
        let bits = values.iter().fold(0, |bits, value| bits | value.unsigned_abs());
        if bits >= VALUE_MAX {
            return false;
        }
        self.by_bucket.clear();
        self.bucket_count = bucket_count;
        let has_lanes = values.len() >= bucket_count * VALUES_PER_BUCKET_OF_LANES;
        self.by_bucket.resize(bucket_count * if has_lanes { LANES } else { 1 }, EMPTY);
        match (has_lanes, wants_range) {
            (true, true) => self.add_in_lanes::<true>(values, buckets),
            (true, false) => self.add_in_lanes::<false>(values, buckets),
            (false, true) => add::<true>(&mut self.by_bucket, values, buckets),
            (false, false) => add::<false>(&mut self.by_bucket, values, buckets),
        }
        true
    }

    fn add_in_lanes<const WANTS_RANGE: bool>(&mut self, values: &[i64], buckets: &[u32]) {
        let (first, others) = self.by_bucket.split_at_mut(self.bucket_count);
        let (second, others) = others.split_at_mut(self.bucket_count);
        let (third, fourth) = others.split_at_mut(self.bucket_count);
        let (values, last_values) = values.as_chunks::<LANES>();
        let (buckets, last_buckets) = buckets.as_chunks::<LANES>();
        for (value, bucket) in values.iter().zip(buckets) {
            first[bucket[0] as usize].add::<WANTS_RANGE>(value[0]);
            second[bucket[1] as usize].add::<WANTS_RANGE>(value[1]);
            third[bucket[2] as usize].add::<WANTS_RANGE>(value[2]);
            fourth[bucket[3] as usize].add::<WANTS_RANGE>(value[3]);
        }
        add::<WANTS_RANGE>(first, last_values, last_buckets);
        for lane in [second, third, fourth] {
            first.iter_mut().zip(lane).for_each(|(whole, part)| whole.merge(part));
        }
    }

    /// The buckets that have values.
    pub fn for_each(&self, mut each: impl FnMut(usize, &StoredStats)) {
        let found =
            self.by_bucket[..self.bucket_count].iter().enumerate().filter(|(_, stats)| stats.count > 0);
        found.for_each(|(bucket, stats)| each(bucket, stats));
    }
}

fn add<const WANTS_RANGE: bool>(by_bucket: &mut [StoredStats], values: &[i64], buckets: &[u32]) {
    for (&value, &bucket) in values.iter().zip(buckets) {
        by_bucket[bucket as usize].add::<WANTS_RANGE>(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_one_by_one(entries in prop::collection::vec((-1_000_000i64..1_000_000, 0u32..8), 32..400)) {
            let (values, buckets): (Vec<i64>, Vec<u32>) = entries.iter().copied().unzip();
            let mut stats = BatchStats::default();
            prop_assert!(stats.take(&values, &buckets, 8, true));
            let mut seen = 0;
            stats.for_each(|bucket, found| {
                let own = || entries.iter().filter(|(_, of)| *of as usize == bucket).map(|(value, _)| *value);
                assert_eq!(found.count, own().count() as u64);
                assert_eq!(found.sum, own().sum::<i64>());
                assert_eq!((Some(found.min), Some(found.max)), (own().min(), own().max()));
                seen += found.count;
            });
            prop_assert_eq!(seen, entries.len() as u64);
        }
    }

    #[test]
    fn refuses_what_it_cannot_add_exactly() {
        let mut stats = BatchStats::default();
        assert!(!stats.take(&[1 << 41; 64], &[0; 64], 1, false));
        assert!(!stats.take(&[i64::MIN; 64], &[0; 64], 1, false));
        assert!(!stats.take(&[1; 3], &[0; 3], 1, false));
    }
}
