//! Whole numbers of one batch by bucket: added up as integers, so that no sum waits for the one before it.
//!
//! Elasticsearch adds every value to a compensated sum of doubles, a chain of four additions a value. The integers of a batch are exact;
//! one compensated addition a batch and bucket is left. For values with a factor (`scaled_float`) the last digit of a sum can be another
//! one: nearer to the sum of the decimal numbers.

/// Largest integers taken: 4,096 of them are below 2^53, so that their sum is exact as a double.
const VALUE_MAX: u64 = 1 << 41;

/// A batch has to have this many values a bucket, or going through the buckets costs more than it saves.
const VALUES_PER_BUCKET: usize = 4;

/// Values of one bucket in a batch, as they are stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredStats {
    pub count: u64,
    pub sum: i64,
    pub min: i64,
    pub max: i64,
}

const EMPTY: StoredStats = StoredStats { count: 0, sum: 0, min: i64::MAX, max: i64::MIN };

#[derive(Debug, Default)]
pub struct BatchStats {
    by_bucket: Vec<StoredStats>,
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
        self.by_bucket.resize(bucket_count, EMPTY);
        match wants_range {
            true => self.add::<true>(values, buckets),
            false => self.add::<false>(values, buckets),
        }
        true
    }

    fn add<const WANTS_RANGE: bool>(&mut self, values: &[i64], buckets: &[u32]) {
        for (&value, &bucket) in values.iter().zip(buckets) {
            let stats = &mut self.by_bucket[bucket as usize];
            stats.count += 1;
            stats.sum += value;
            if WANTS_RANGE {
                stats.min = stats.min.min(value);
                stats.max = stats.max.max(value);
            }
        }
    }

    /// The buckets that have values.
    pub fn for_each(&self, mut each: impl FnMut(usize, &StoredStats)) {
        let found = self.by_bucket.iter().enumerate().filter(|(_, stats)| stats.count > 0);
        found.for_each(|(bucket, stats)| each(bucket, stats));
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
