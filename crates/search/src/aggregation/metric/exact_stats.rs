//! Integer statistics by bucket. Sums of integers do not have to be computed in order.
//!
//! Elasticsearch adds every value to a compensated sum of doubles, which is a chain of four dependent
//! additions per value. Sums of integers are exact in any order, and are converted to a double once, at the
//! end. For values with a factor (`scaled_float`) the last digit of a sum can differ: it is nearer to the sum
//! of the decimal numbers.

use limber_segment::columns::Moments;

use super::packed_sums::{LANES, LANES_BUCKETS_MAX, Packed, PackedForm, add_words, add_words_and_ranges};

/// Statistics of the stored values of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredStats {
    /// If values are not counted, this is 0 without values and 1 otherwise.
    pub count: u64,
    /// Not computed if only the range is wanted.
    pub sum: i64,
    pub min: i64,
    pub max: i64,
}

/// The range of no values.
const NO_RANGE: (i64, i64) = (i64::MAX, i64::MIN);

/// Which statistics are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Needed for a sum. Without it, a value that is the greatest 64-bit number is no minimum, and the least
    /// one no maximum.
    pub count: bool,
    pub sum: bool,
    pub min: bool,
    pub max: bool,
    pub squares: bool,
}

impl Wanted {
    /// Whether any extreme is wanted.
    pub fn range(self) -> bool {
        self.min || self.max
    }
}

/// Count and sum of the values of one bucket.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    count: u64,
    sum: i64,
}

/// Statistics of stored numbers by bucket. The caller makes sure that no sum of a bucket overflows 64 bits.
#[derive(Debug)]
pub struct ExactStats {
    wanted: Wanted,
    len: usize,
    /// Empty if values are not counted.
    totals: Vec<Total>,
    /// Least and greatest value by bucket; empty if no extreme is wanted. If only one is wanted, the other is
    /// unspecified.
    ranges: Vec<(i64, i64)>,
    /// Sums of squares by bucket; empty if they are not wanted.
    squares: Vec<i128>,
    packed: Packed,
    /// The number of values by bucket that [`Self::take_counts`] does not report: what it has reported, and
    /// what others count. `None` if it was not asked for.
    unreported: Option<Vec<u64>>,
}

impl ExactStats {
    /// Upper bound of the bytes of a bucket.
    pub const BUCKET_BYTES: u64 = (size_of::<Total>()
        + size_of::<(i64, i64)>()
        + size_of::<i128>()
        + size_of::<[u64; LANES]>()
        + 2 * size_of::<u64>()) as u64;

    pub(crate) fn new(wanted: Wanted) -> ExactStats {
        ExactStats {
            wanted,
            len: 0,
            totals: Vec::new(),
            ranges: Vec::new(),
            squares: Vec::new(),
            packed: Packed::default(),
            unreported: None,
        }
    }

    /// Starts a column whose values are between `least` and `most`.
    pub fn begin(&mut self, least: i64, most: i64) {
        self.settle();
        let Wanted { sum, squares, .. } = self.wanted;
        self.packed.form = PackedForm::of(least, most, squares).filter(|_| sum);
    }

    fn lane_count(&self) -> usize {
        if self.len <= LANES_BUCKETS_MAX && !self.wanted.range() { LANES } else { 1 }
    }

    /// Adds what was packed to the totals of the buckets. Must be called before they are read.
    pub fn settle(&mut self) {
        let lane_count = self.lane_count();
        let Packed { form, words, squares, value_count } = &mut self.packed;
        let (Some(form), true) = (*form, *value_count > 0) else { return };
        let PackedForm { least, sum_bits, has_squares, .. } = form;
        for (bucket, words) in words.chunks_exact_mut(lane_count).enumerate() {
            let (mut count, mut rest) = (0, 0);
            for word in words {
                count += *word >> sum_bits;
                rest += *word & ((1 << sum_bits) - 1);
                *word = 0;
            }
            let total = &mut self.totals[bucket];
            total.count += count;
            total.sum = total.sum.wrapping_add((rest as i64).wrapping_add(least.wrapping_mul(count as i64)));
            if has_squares {
                let (least, rest, count) = (i128::from(least), i128::from(rest), i128::from(count));
                let own = i128::from(std::mem::take(&mut squares[bucket]));
                self.squares[bucket] += own + 2 * least * rest + least * least * count;
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
        self.len
    }

    /// Adds empty buckets up to this number.
    pub fn grow(&mut self, bucket_count: usize) {
        if bucket_count <= self.len {
            return;
        }
        if self.len <= LANES_BUCKETS_MAX && bucket_count > LANES_BUCKETS_MAX {
            // From now on there is one lane.
            self.settle();
            self.packed.words.clear();
        }
        self.len = bucket_count;
        if self.wanted.count {
            self.totals.resize(bucket_count, Total::default());
        }
        if self.wanted.range() {
            self.ranges.resize(bucket_count, NO_RANGE);
        }
        if self.wanted.squares {
            self.squares.resize(bucket_count, 0);
        }
        if let Some(unreported) = &mut self.unreported {
            unreported.resize(bucket_count, 0);
        }
    }

    /// Returns a bucket's statistics and its sum of squares. An unknown bucket has the statistics of an empty
    /// one.
    pub fn get(&self, bucket: usize) -> (StoredStats, i128) {
        let (min, max) = self.ranges.get(bucket).copied().unwrap_or(NO_RANGE);
        let is_known = (self.wanted.min && min < i64::MAX) || (self.wanted.max && max > i64::MIN);
        let unknown = Total { count: u64::from(is_known), sum: 0 };
        let Total { count, sum } = self.totals.get(bucket).copied().unwrap_or(unknown);
        (StoredStats { count, sum, min, max }, self.squares.get(bucket).copied().unwrap_or(0))
    }

    /// Adds precomputed moments of several values to a bucket.
    pub fn add_known(&mut self, bucket: usize, moments: &Moments, range: Option<(i64, i64)>) {
        if let Some(total) = self.totals.get_mut(bucket) {
            total.count += moments.count;
            total.sum += moments.sum as i64;
        }
        if let (Some(known), Some(range)) = (self.ranges.get_mut(bucket), range) {
            *known = (known.0.min(range.0), known.1.max(range.1));
        }
        if let Some(squares) = self.squares.get_mut(bucket) {
            *squares += moments.sum_of_squares;
        }
        if let Some(unreported) = &mut self.unreported {
            unreported[bucket] += moments.count;
        }
    }

    /// Adds values to one bucket.
    pub fn add_all(&mut self, bucket: usize, values: &[i64]) {
        let moments = match self.wanted.sum {
            true => Moments::of(values, self.wanted.squares),
            false => Moments { count: values.len() as u64, ..Moments::default() },
        };
        let range =
            (self.wanted.range() && !values.is_empty()).then(|| limber_codec::column_block::bounds(values));
        self.add_known(bucket, &moments, range);
    }

    /// Adds one value to a bucket.
    #[inline]
    pub fn add_one(&mut self, bucket: u32, value: i64) {
        let bucket = bucket as usize;
        if let Some(total) = self.totals.get_mut(bucket) {
            total.count += 1;
            total.sum = total.sum.wrapping_add(if self.wanted.sum { value } else { 0 });
        }
        if let Some(range) = self.ranges.get_mut(bucket) {
            *range = (range.0.min(value), range.1.max(value));
        }
        if let Some(squares) = self.squares.get_mut(bucket) {
            *squares += square(value);
        }
        if let Some(unreported) = &mut self.unreported {
            unreported[bucket] += 1;
        }
    }

    /// Adds `values[i]` to bucket `buckets[i]`.
    pub fn add_each(&mut self, values: &[i64], buckets: &[u32]) {
        self.add_pairs(values, buckets);
        if let Some(unreported) = &mut self.unreported {
            buckets.iter().for_each(|&bucket| unreported[bucket as usize] += 1);
        }
    }

    /// Does the same as [`Self::add_each`]; [`Self::take_counts`] reports how many values there were. Only
    /// for statistics that count.
    pub fn add_each_counted(&mut self, values: &[i64], buckets: &[u32]) {
        if self.unreported.is_none() {
            self.settle();
            self.unreported = Some(self.totals.iter().map(|total| total.count).collect());
        }
        self.add_pairs(values, buckets);
    }

    /// Adds how many values were added to each bucket by [`Self::add_each_counted`] since the last call.
    pub fn take_counts(&mut self, counts: &mut [u64]) {
        self.settle();
        let Some(unreported) = &mut self.unreported else { return };
        for ((total, unreported), count) in self.totals.iter().zip(unreported).zip(counts) {
            *count += total.count - std::mem::replace(unreported, total.count);
        }
    }

    fn add_pairs(&mut self, values: &[i64], buckets: &[u32]) {
        let Wanted { count, sum, min, max, squares } = self.wanted;
        let Some(form) = self.packed.form.filter(|form| values.len() <= form.values_max) else {
            match (sum, count) {
                (true, _) => add_totals::<true>(&mut self.totals, values, buckets),
                (false, true) => add_totals::<false>(&mut self.totals, values, buckets),
                (false, false) => {}
            }
            add_ranges((min, max), &mut self.ranges, values, buckets);
            if squares {
                for (&value, &bucket) in values.iter().zip(buckets) {
                    self.squares[bucket as usize] += square(value);
                }
            }
            return;
        };
        if self.packed.value_count + values.len() > form.values_max {
            self.settle();
        }
        let lane_count = self.lane_count();
        let Packed { words, squares: packed_squares, value_count, .. } = &mut self.packed;
        words.resize(self.len * lane_count, 0);
        *value_count += values.len();
        let ranges = self.ranges.as_mut_slice();
        match (lane_count, self.wanted.range()) {
            (_, true) => add_words_and_ranges(words, ranges, form.one(), values, buckets),
            (1, false) => add_words(words.as_chunks_mut::<1>().0, form.one(), values, buckets),
            (_, false) => add_words(words.as_chunks_mut::<LANES>().0, form.one(), values, buckets),
        }
        if form.has_squares {
            packed_squares.resize(self.len, 0);
            for (&value, &bucket) in values.iter().zip(buckets) {
                let rest = value.wrapping_sub(form.least) as u64;
                packed_squares[bucket as usize] += rest * rest;
            }
        } else if squares {
            for (&value, &bucket) in values.iter().zip(buckets) {
                self.squares[bucket as usize] += square(value);
            }
        }
    }

    /// Adds the buckets of `other`, whose bucket `b` is `bucket_of[b]` here. Both must be settled.
    pub fn absorb(&mut self, other: &ExactStats, bucket_of: &[u32]) {
        for (bucket, &own) in bucket_of.iter().enumerate().take(other.len) {
            let own = own as usize;
            if let Some(total) = other.totals.get(bucket) {
                self.totals[own].count += total.count;
                self.totals[own].sum += total.sum;
                if let Some(unreported) = &mut self.unreported {
                    unreported[own] += total.count;
                }
            }
            if let Some(range) = other.ranges.get(bucket) {
                let known = &mut self.ranges[own];
                *known = (known.0.min(range.0), known.1.max(range.1));
            }
            if let Some(squares) = other.squares.get(bucket) {
                self.squares[own] += squares;
            }
        }
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        *self = ExactStats::new(self.wanted);
    }
}

#[inline]
fn square(value: i64) -> i128 {
    i128::from(value) * i128::from(value)
}

fn add_totals<const SUM: bool>(totals: &mut [Total], values: &[i64], buckets: &[u32]) {
    for (&value, &bucket) in values.iter().zip(buckets) {
        let total = &mut totals[bucket as usize];
        total.count += 1;
        if SUM {
            total.sum = total.sum.wrapping_add(value);
        }
    }
}

/// Adds values to extremes. Extremes soon change rarely, so that a branch is faster than a store.
fn add_ranges((min, max): (bool, bool), ranges: &mut [(i64, i64)], values: &[i64], buckets: &[u32]) {
    match (min, max) {
        (true, true) => widen::<true, true>(ranges, values, buckets),
        (true, false) => widen::<true, false>(ranges, values, buckets),
        (false, true) => widen::<false, true>(ranges, values, buckets),
        (false, false) => {}
    }
}

fn widen<const MIN: bool, const MAX: bool>(ranges: &mut [(i64, i64)], values: &[i64], buckets: &[u32]) {
    for (&value, &bucket) in values.iter().zip(buckets) {
        let range = &mut ranges[bucket as usize];
        if MIN && value < range.0 {
            range.0 = value;
        }
        if MAX && value > range.1 {
            range.1 = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BUCKETS: usize = 8;

    /// Adds values in every way, and compares each with adding them one by one.
    fn check(entries: &[(i64, u32)], cut: usize, wanted: Wanted, spread: i64) {
        let (values, buckets): (Vec<i64>, Vec<u32>) = entries.iter().copied().unzip();
        let [mut batch, mut loose, mut single, mut first, mut second, mut whole] =
            [(); 6].map(|()| ExactStats::new(wanted));
        let all = [&mut batch, &mut loose, &mut single, &mut first, &mut second, &mut whole];
        all.into_iter().for_each(|stats| stats.grow(BUCKETS));
        [&mut batch, &mut first, &mut second].into_iter().for_each(|stats| stats.begin(-spread, spread));
        let mut counts = [0; BUCKETS];
        let is_counted = wanted.count;
        for part in 0..50 {
            match is_counted && part % 3 > 0 {
                true => batch.add_each_counted(&values, &buckets),
                false => batch.add_each(&values, &buckets),
            }
            if part == 30 {
                batch.take_counts(&mut counts);
                // From now on there is one lane.
                batch.grow(LANES_BUCKETS_MAX + 1);
            }
            loose.add_each(&values, &buckets);
            entries.iter().for_each(|(value, bucket)| single.add_one(*bucket, *value));
        }
        batch.settle();
        batch.take_counts(&mut counts);
        let cut = cut.min(values.len());
        first.add_each(&values[..cut], &buckets[..cut]);
        // The other part numbers its buckets in reverse.
        let turned: Vec<u32> = buckets[cut..].iter().map(|bucket| BUCKETS as u32 - 1 - bucket).collect();
        second.add_each(&values[cut..], &turned);
        first.settle();
        second.settle();
        first.absorb(&second, &[7, 6, 5, 4, 3, 2, 1, 0]);
        for (bucket, counted) in counts.into_iter().enumerate() {
            let own = || entries.iter().filter(|(_, of)| *of as usize == bucket).map(|(value, _)| *value);
            let count = own().count() as u64;
            let (min, max) = (own().min().unwrap_or(i64::MAX), own().max().unwrap_or(i64::MIN));
            let squares: i128 = own().map(|value| i128::from(value) * i128::from(value)).sum();
            for (stats, times) in [(&batch, 50), (&loose, 50), (&single, 50), (&first, 1)] {
                let (found, found_squares) = stats.get(bucket);
                match wanted.count {
                    true => assert_eq!(found.count, count * times),
                    false => assert_eq!(found.count, count.min(1)),
                }
                assert_eq!(found.sum, if wanted.sum { own().sum::<i64>() * times as i64 } else { 0 });
                assert!(!wanted.min || found.min == min);
                assert!(!wanted.max || found.max == max);
                assert_eq!(found_squares, if wanted.squares { squares * i128::from(times) } else { 0 });
            }
            assert_eq!(counted, if is_counted { count * 33 } else { 0 });
        }
        whole.add_all(0, &values);
        assert_eq!(whole.get(0).0.sum, if wanted.sum { values.iter().sum::<i64>() } else { 0 });
    }

    proptest! {
        #[test]
        fn as_one_by_one(
            entries in prop::collection::vec((-1_000_000i64..1_000_000, 0u32..BUCKETS as u32), 1..600),
            cut in 0usize..600,
            which in 0u8..12,
            spread in prop::sample::select(vec![1_000_000, 1 << 30, 1 << 40]),
        ) {
            let sum = which >= 4;
            let wanted = Wanted { count: sum || which == 0, sum, min: which & 1 > 0, max: which & 2 > 0, squares: which >= 8 };
            check(&entries, cut, wanted, spread);
        }
    }
}
