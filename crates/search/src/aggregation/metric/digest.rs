//! A t-digest: estimates the quantiles of values in bounded memory.
//!
//! As in Elasticsearch 8.9 and later (`HybridDigest`), a small number of values is kept as it is, so that
//! results are exact. More values are merged into centroids, which are small at both ends and larger in the
//! middle. The scale function is k2 of Dunning and Ertl, "Computing extremely accurate quantiles using
//! t-digests": a centroid at the quantile q has a share of the values that is about proportional to
//! `q (1 - q)`.

use limber_mapping::number::{f64_from_sortable, sortable_from_f64};

/// Number of values that are kept exactly, per unit of compression. Elasticsearch: `HybridDigest`.
const EXACT_PER_COMPRESSION: usize = 20;

/// Below this compression there are too few centroids. Elasticsearch: `MergingDigest`.
const COMPRESSION_MIN: f64 = 10.0;

/// Above this compression every value is a centroid of its own, whatever the number of values.
const COMPRESSION_MAX: f64 = 1e9;

/// Most occurrences of a weighted value that are kept exactly, which are 512 KiB: a histogram can have a
/// count of 2^53. Elasticsearch keeps as many as the compression allows.
const REPEATED_MAX: usize = 1 << 16;

/// A frequent value is divided into centroids, each with about this fraction of the values between it and the
/// nearer end.
const COUNTED_PARTS: u64 = 128;

/// New values are buffered until there are this many times the number of centroids, then merged.
const BUFFER_PER_CENTROID: usize = 10;

/// How many times finer than requested the centroids are; it is the square root of the buffer's extra
/// capacity. Elasticsearch merges them into coarser ones before it sends them; here they stay fine. With
/// 6,000 log-normal values ranks are off by at most 0.2 %, in Elasticsearch by 0.8 %.
const WORKING_FINENESS: f64 = 2.0;

/// Several values, represented by their mean and their number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Centroid {
    mean: f64,
    weight: f64,
}

#[derive(Debug, Clone)]
enum State {
    /// All values in their original order; they are sorted on demand.
    Exact(Vec<f64>),
    Merged(Merged),
}

/// The values as centroids, and those that are not merged yet.
#[derive(Debug, Clone, Default)]
struct Merged {
    /// Ascending by mean; the first and the last have one value each.
    centroids: Vec<Centroid>,
    waiting: Vec<Centroid>,
    /// Single values that are not merged yet, as integers of the same order, which are sorted several times
    /// as fast.
    values: Vec<i64>,
    merge_count: u32,
}

/// The distribution of the values added so far.
#[derive(Debug, Clone)]
pub struct Digest {
    /// The approximate number of centroids.
    compression: f64,
    exact_max: usize,
    count: u64,
    /// Whether values are sorted and merged.
    is_settled: bool,
    state: State,
}

impl Digest {
    pub(crate) fn new(compression: f64) -> Digest {
        let bounded = match compression.is_nan() {
            true => COMPRESSION_MIN,
            false => compression.clamp(COMPRESSION_MIN, COMPRESSION_MAX),
        };
        Digest {
            compression: bounded,
            exact_max: (compression.round() as usize).saturating_mul(EXACT_PER_COMPRESSION),
            count: 0,
            is_settled: true,
            state: State::Exact(Vec::new()),
        }
    }

    /// Returns the memory of the digest in bytes.
    pub fn bytes(&self) -> u64 {
        let centroid = size_of::<Centroid>();
        (match &self.state {
            State::Exact(values) => values.capacity() * size_of::<f64>(),
            State::Merged(merged) => {
                let centroids = merged.centroids.capacity() + merged.waiting.capacity();
                centroids * centroid + merged.values.capacity() * size_of::<i64>()
            }
        }) as u64
    }

    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.add_all(&[value]);
    }

    /// Adds several values.
    pub fn add_all(&mut self, mut values: &[f64]) {
        while let (State::Exact(_), [first, rest @ ..]) = (&self.state, values) {
            self.add_weighted(*first, 1);
            values = rest;
        }
        if let State::Merged(merged) = &mut self.state
            && !values.is_empty()
        {
            self.is_settled = false;
            self.count += values.len() as u64;
            merged.add_values(values, self.compression);
        }
    }

    /// Adds ascending values, each with its count.
    pub fn add_counted(&mut self, counted: impl Iterator<Item = (f64, u64)> + Clone) {
        let total: u64 = counted.clone().map(|(_, count)| count).sum();
        if let State::Exact(values) = &mut self.state
            && self.count + total < self.exact_max as u64
        {
            counted.for_each(|(value, count)| values.extend(std::iter::repeat_n(value, count as usize)));
            self.is_settled = false;
            self.count += total;
            return;
        }
        if let State::Exact(values) = &mut self.state {
            let kept = std::mem::take(values);
            self.merge_from_now_on(kept);
        }
        self.is_settled = false;
        self.count += total;
        let State::Merged(merged) = &mut self.state else { return };
        let mut done = 0;
        for (mean, count) in counted {
            // Equal values are divided into parts, which are small at both ends. So no interpolation happens
            // between them, and no centroid is too large for its quantile.
            let end = done + count;
            while done < end {
                let part = (done.min(total - done) / COUNTED_PARTS).max(1).min(end - done);
                merged.waiting.push(Centroid { mean, weight: part as f64 });
                done += part;
            }
        }
        merged.settle(self.compression * WORKING_FINENESS);
        self.is_settled = true;
    }

    /// Adds a value with a weight. If it becomes a centroid, it stays whole.
    pub(super) fn add_weighted(&mut self, value: f64, weight: u64) {
        self.is_settled = false;
        let weight_len = usize::try_from(weight).unwrap_or(usize::MAX);
        if let State::Exact(values) = &mut self.state {
            if weight_len <= REPEATED_MAX && values.len() + weight_len < self.exact_max {
                values.extend(std::iter::repeat_n(value, weight_len));
                self.count += weight;
                return;
            }
            let kept = std::mem::take(values);
            self.merge_from_now_on(kept);
        }
        self.count += weight;
        if let State::Merged(merged) = &mut self.state {
            merged.add(Centroid { mean: value, weight: weight as f64 }, self.compression);
        }
    }

    fn merge_from_now_on(&mut self, kept: Vec<f64>) {
        let mut merged = Merged::default();
        kept.into_iter().for_each(|mean| merged.add(Centroid { mean, weight: 1.0 }, self.compression));
        self.state = State::Merged(merged);
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, mut other: Digest) {
        if self.count == 0 {
            *self = other;
            return;
        }
        other.prepare();
        match other.state {
            State::Exact(values) => values.into_iter().for_each(|value| self.add(value)),
            State::Merged(merged) => {
                if let State::Exact(values) = &mut self.state {
                    let kept = std::mem::take(values);
                    self.merge_from_now_on(kept);
                }
                merged.centroids.iter().for_each(|part| self.add_weighted(part.mean, part.weight as u64));
            }
        }
    }

    /// Sorts and merges the values. Must be called before [`Self::quantile`] and [`Self::share_below`];
    /// repeated calls are free.
    pub fn prepare(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        match &mut self.state {
            State::Exact(values) => values.sort_unstable_by(f64::total_cmp),
            State::Merged(merged) => merged.settle(self.compression * WORKING_FINENESS),
        }
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether it has all values as they were added.
    pub fn is_exact(&self) -> bool {
        matches!(self.state, State::Exact(_))
    }

    /// Returns the values with their weights, in ascending order if the digest is prepared.
    pub fn values(&self) -> Vec<(f64, u64)> {
        match &self.state {
            State::Exact(values) => values.iter().map(|&value| (value, 1)).collect(),
            State::Merged(merged) => {
                merged.centroids.iter().map(|part| (part.mean, part.weight as u64)).collect()
            }
        }
    }

    /// Returns the distances of the values from their median as a prepared digest.
    pub fn deviations(&self) -> Digest {
        let median = self.quantile(0.5);
        let mut deviations = Digest::new(self.compression);
        self.values().into_iter().for_each(|(value, weight)| {
            deviations.add_weighted((value - median).abs(), weight);
        });
        deviations.prepare();
        deviations
    }

    /// Returns the value at the quantile `q` (0 to 1); NaN without any values.
    pub fn quantile(&self, q: f64) -> f64 {
        match &self.state {
            State::Exact(values) => exact_quantile(values.len(), |rank| values[rank], q),
            State::Merged(merged) => merged.quantile(q, self.count as f64),
        }
    }

    /// Returns the share of values below `value`, plus half of those that are equal; NaN without any values.
    pub fn share_below(&self, value: f64) -> f64 {
        match &self.state {
            State::Exact(values) => {
                let at = |place: usize| Centroid { mean: values[place], weight: 1.0 };
                share_below(values.len(), at, self.count as f64, value)
            }
            State::Merged(merged) => {
                share_below(merged.centroids.len(), |place| merged.centroids[place], self.count as f64, value)
            }
        }
    }
}

/// Interpolates linearly between the two nearest ranks of `count` sorted values.
pub(super) fn exact_quantile(count: usize, value: impl Fn(usize) -> f64, q: f64) -> f64 {
    let Some(last) = count.checked_sub(1) else { return f64::NAN };
    let rank = (q * last as f64).clamp(0.0, last as f64);
    let low = value(rank.floor() as usize);
    let high = value((rank.floor() as usize + 1).min(last));
    low + (rank - rank.floor()) * (high - low)
}

/// Returns the share of values below `value` among sorted centroids. The weight of each mean is spread evenly
/// up to the midpoints between it and its neighbours, as in Elasticsearch (`AVLTreeDigest.cdf`). Equal means
/// do not overlap. At the first and the last mean, half of the weight is below the mean.
fn share_below(count: usize, at: impl Fn(usize) -> Centroid, total: f64, value: f64) -> f64 {
    let Some(last) = count.checked_sub(1) else { return f64::NAN };
    let (least, most) = (at(0).mean, at(last).mean);
    if value < least {
        return 0.0;
    }
    if value > most {
        return 1.0;
    }
    if value == least || value == most {
        let equal: f64 = (0..count).map(&at).filter(|own| own.mean == value).map(|own| own.weight).sum();
        return if value == least { equal / 2.0 / total } else { (total - equal / 2.0) / total };
    }
    let mut below = 0.0;
    for place in 0..count {
        let own = at(place);
        let half = |from: usize, to: usize| (at(to).mean - at(from).mean) / 2.0;
        // The first and the last centroid reach as far outwards as inwards.
        let right = if place == last { half(place - 1, place) } else { half(place, place + 1) };
        if value < own.mean + right {
            let left = if place == 0 { right } else { half(place - 1, place) };
            return (below + own.weight * (value - own.mean + left) / (left + right)) / total;
        }
        below += own.weight;
    }
    1.0
}

impl Merged {
    fn add(&mut self, part: Centroid, compression: f64) {
        // The buffer has space for the existing centroids, which take part in the merge.
        if self.room(compression) <= 1 {
            self.settle(compression * WORKING_FINENESS);
        }
        self.waiting.push(part);
    }

    /// Returns how many more values can be buffered.
    fn room(&self, compression: f64) -> usize {
        let buffer_max = BUFFER_PER_CENTROID * (compression as usize + 10);
        buffer_max.saturating_sub(self.waiting.len() + self.values.len() + self.centroids.len())
    }

    fn add_values(&mut self, mut values: &[f64], compression: f64) {
        while !values.is_empty() {
            if self.room(compression) <= 1 {
                self.settle(compression * WORKING_FINENESS);
            }
            let (now, later) =
                values.split_at(values.len().min(self.room(compression).saturating_sub(1).max(1)));
            self.values.extend(now.iter().map(|value| sortable_from_f64(*value)));
            values = later;
        }
    }

    /// Merges the buffered values into the centroids, in alternating directions so that neither end is
    /// preferred.
    fn settle(&mut self, compression: f64) {
        if self.waiting.is_empty() && self.values.is_empty() {
            return;
        }
        let mut incoming = std::mem::take(&mut self.waiting);
        incoming.append(&mut self.centroids);
        self.values.sort_unstable();
        let single = |value| Centroid { mean: f64_from_sortable(value), weight: 1.0 };
        incoming.extend(self.values.drain(..).map(single));
        // The sort makes use of runs that are already sorted.
        incoming.sort_by_key(|part| sortable_from_f64(part.mean));
        let backwards = self.merge_count % 2 == 1;
        self.merge_count += 1;
        if backwards {
            incoming.reverse();
        }
        let total: f64 = incoming.iter().map(|part| part.weight).sum();
        let normalizer = compression / (4.0 * (total / compression).ln() + 24.0);
        let share = |weight: f64| {
            let q = weight / total;
            q * (1.0 - q) / normalizer
        };
        let last = incoming.len() - 1;
        let mut done = 0.0;
        for (place, &part) in incoming.iter().enumerate() {
            // The ends are not merged, so the extremes are exact.
            let is_end = place <= 1 || place == last;
            let grown = self.centroids.last_mut().filter(|own| {
                let weight = own.weight + part.weight;
                !is_end && weight <= total * share(done).min(share(done + weight))
            });
            match grown {
                Some(own) => {
                    own.weight += part.weight;
                    own.mean += (part.mean - own.mean) * part.weight / own.weight;
                }
                None => {
                    done += self.centroids.last().map_or(0.0, |own| own.weight);
                    self.centroids.push(part);
                }
            }
        }
        if backwards {
            self.centroids.reverse();
        }
        incoming.clear();
        self.waiting = incoming;
    }

    /// Interpolates linearly between the midpoints of neighbouring centroids. Source: Elasticsearch's
    /// `MergingDigest.quantile`.
    fn quantile(&self, q: f64, total: f64) -> f64 {
        let [first, .., last] = self.centroids.as_slice() else {
            return self.centroids.first().map_or(f64::NAN, |only| only.mean);
        };
        let rank = q * (total - 1.0);
        if rank <= 1.0 && first.weight == 1.0 {
            return first.mean + rank.max(0.0) * (self.centroids[1].mean - first.mean);
        }
        let mut middle = if first.weight == 1.0 { 0.0 } else { first.weight / 2.0 };
        for pair in self.centroids.windows(2) {
            let distance = f64::midpoint(pair[0].weight, pair[1].weight);
            if middle + distance > rank {
                let right = ((rank - middle) / distance).clamp(0.0, 1.0);
                return pair[0].mean * (1.0 - right) + pair[1].mean * right;
            }
            middle += distance;
        }
        last.mean
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest(values: &[f64]) -> Digest {
        let mut digest = Digest::new(100.0);
        values.iter().for_each(|&value| digest.add(value));
        digest.prepare();
        digest
    }

    #[test]
    fn a_large_weight_takes_no_memory_of_its_size() {
        for compression in [100.0, 1e18, f64::MAX] {
            let mut digest = Digest::new(compression);
            digest.add_weighted(1.0, 1 << 53);
            (0..1_000).for_each(|n| digest.add_weighted(f64::from(n), 1 << 20));
            digest.prepare();
            assert!(digest.bytes() < 1 << 20, "{compression}: {} bytes", digest.bytes());
            let median = digest.quantile(0.5);
            assert!((median - 1.0).abs() < 0.01, "{compression}: {median}");
        }
    }

    #[test]
    fn few_values_are_exact() {
        let values = [3.0, 1.0, 2.0, 10.0];
        for (q, expected) in [(0.0, 1.0), (0.5, 2.5), (1.0, 10.0), (0.25, 1.75)] {
            assert_eq!(digest(&values).quantile(q), expected, "{q}");
        }
        for (value, expected) in [
            (0.0, 0.0),
            (1.0, 0.125),
            (2.0, 0.375),
            (2.25, 0.4375),
            (6.5, 0.75),
            (8.25, 0.8125),
            (10.0, 0.875),
        ] {
            assert_eq!(digest(&values).share_below(value), expected, "{value}");
        }
        assert!(digest(&[]).quantile(0.5).is_nan() && digest(&[]).share_below(0.5).is_nan());
    }

    /// Returns the largest error of the rank, as a share of all values: the width of the widest centroid
    /// around the quantile, and a little more. Nothing is known between the means of two neighbours, so in a
    /// skewed distribution the error can be that large.
    fn tolerance(q: f64, count: usize) -> f64 {
        let compression = 100.0 * WORKING_FINENESS;
        let normalizer = compression / (4.0 * (count as f64 / compression).ln().max(0.0) + 24.0);
        q * (1.0 - q) / normalizer + 0.002
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Many values, in any order and on any number of shards: the ranks are off by less than a centroid.
        #[test]
        fn many_values_are_close(seed in any::<u64>(), count in 100usize..20_000, shards in 1usize..4, spread in 1u32..8) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f64 / f64::from(1 << 24)
            };
            let mut values: Vec<f64> = (0..count).map(|_| next().powi(spread as i32) * 1e4).collect();
            let mut all = Digest::new(100.0);
            for part in values.chunks(count.div_ceil(shards)) {
                let mut shard = Digest::new(100.0);
                part.iter().for_each(|&value| shard.add(value));
                all.merge(shard);
            }
            all.prepare();
            values.sort_unstable_by(f64::total_cmp);
            prop_assert_eq!(all.count, count as u64);
            for q in [0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 1.0] {
                let found = all.quantile(q);
                let low = values.partition_point(|&value| value < found) as f64 / count as f64;
                let high = values.partition_point(|&value| value <= found) as f64 / count as f64;
                let near = tolerance(q, count) + 1.0 / count as f64;
                prop_assert!(low - near <= q && q <= high + near, "{} is at {}..{}", q, low, high);
                let value = values[((count - 1) as f64 * q) as usize];
                let share = all.share_below(value);
                prop_assert!((share - q).abs() <= near + 1.0 / count as f64, "{} has the share {} not {}", value, share, q);
            }
            prop_assert!(all.bytes() < 64 << 10);
        }
    }
}
