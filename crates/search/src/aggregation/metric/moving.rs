//! The distribution of a window that moves along a list of distributions.
//!
//! The values of all of them are sorted once. A window marks those that are in it in Fenwick trees (Fenwick,
//! "A new data structure for cumulative frequency tables", 1994), which find the value of a rank. So the time
//! for all windows grows with the number of values and of windows, and not with their product.

use std::ops::Range;

use limber_work as work;

use super::digest::exact_quantile;
use super::distribution::Distribution;
use super::hdr::Histogram;
use crate::error::{Result, check_request};

/// Number of values between two checks of the request.
const CHECK_EVERY: usize = 1 << 12;

/// A value, or several values with this mean.
#[derive(Debug, Clone, Copy)]
struct Point {
    mean: f64,
    weight: u64,
}

/// Bytes of a point: in the list, in the list of places, and in both trees.
const POINT_BYTES: usize = size_of::<Point>() + size_of::<u32>() + 2 * size_of::<u64>();

/// The distribution of the current window.
#[derive(Debug)]
pub struct MovingDistribution {
    method: Method,
    /// The points of all distributions, ascending; equal ones are in the order of the distributions.
    points: Vec<Point>,
    /// The places of the points of distribution `d` are `places[starts[d]..starts[d + 1]]`.
    places: Vec<u32>,
    starts: Vec<usize>,
    /// Which distributions do not have all their values.
    merged: Vec<bool>,
    window: Range<usize>,
    /// The number of those distributions in the window.
    merged_count: usize,
    /// The number of points in the window, and their weight.
    marks: Fenwick,
    weights: Fenwick,
}

#[derive(Debug)]
enum Method {
    Digest,
    /// The histogram is empty and knows the slots. A point is the lowest value of a slot; -0.0 stands for
    /// values that are zero.
    Hdr(Histogram),
}

impl MovingDistribution {
    /// Sorts the values of `distributions`, all of which have the method of `empty`.
    ///
    /// # Errors
    /// Fails when there is no memory for them, or when the client has disconnected.
    pub fn new(empty: Distribution, distributions: &[Option<&Distribution>]) -> Result<MovingDistribution> {
        let mut points: Vec<(Point, u32)> = Vec::new();
        let (mut starts, mut merged) = (vec![0], Vec::new());
        for distribution in distributions {
            let own: Vec<Point> = distribution.map(points_of).unwrap_or_default();
            let bytes = |count: usize| count * size_of::<(Point, u32)>();
            work::check_growth(bytes(points.len()), bytes(points.capacity()), bytes(own.len()))?;
            let count = points.len() as u32;
            points.extend(own.into_iter().zip(count..));
            starts.push(points.len());
            let is_merged = |distribution: &Distribution| match distribution {
                Distribution::Digest(digest) => !digest.is_exact(),
                Distribution::Hdr(_) => false,
            };
            merged.push(distribution.is_some_and(is_merged));
        }
        work::claim((points.len() * POINT_BYTES) as u64)?;
        points.sort_unstable_by(|(left, number), (right, other)| {
            left.mean.total_cmp(&right.mean).then_with(|| number.cmp(other))
        });
        let mut places = vec![0; points.len()];
        for (place, (_, number)) in points.iter().enumerate() {
            places[*number as usize] = place as u32;
        }
        Ok(MovingDistribution {
            method: match empty {
                Distribution::Digest(_) => Method::Digest,
                Distribution::Hdr(histogram) => Method::Hdr(histogram),
            },
            marks: Fenwick::new(points.len()),
            weights: Fenwick::new(points.len()),
            points: points.into_iter().map(|(point, _)| point).collect(),
            places,
            starts,
            merged,
            window: 0..0,
            merged_count: 0,
        })
    }

    /// Moves the window. Neither end moves backwards.
    ///
    /// # Errors
    /// Fails when the client has disconnected.
    pub fn slide(&mut self, window: Range<usize>) -> Result<()> {
        for entering in self.window.end..window.end {
            self.merged_count += usize::from(self.merged[entering]);
            self.mark(entering, Fenwick::add)?;
        }
        for leaving in self.window.start..window.start {
            self.merged_count -= usize::from(self.merged[leaving]);
            self.mark(leaving, Fenwick::take)?;
        }
        self.window = window;
        Ok(())
    }

    fn mark(&mut self, distribution: usize, change: fn(&mut Fenwick, usize, u64)) -> Result<()> {
        let places = &self.places[self.starts[distribution]..self.starts[distribution + 1]];
        for places in places.chunks(CHECK_EVERY) {
            check_request()?;
            for &place in places {
                change(&mut self.marks, place as usize, 1);
                change(&mut self.weights, place as usize, self.points[place as usize].weight);
            }
        }
        Ok(())
    }

    /// Returns the value at a percentage; NaN without any values.
    pub fn value_at(&self, percent: f64) -> f64 {
        match &self.method {
            Method::Hdr(slots) => self.hdr_value_at(slots, percent),
            Method::Digest => {
                let q = (percent / 100.0).clamp(0.0, 1.0);
                match self.merged_count {
                    0 => exact_quantile(self.marks.total as usize, |rank| self.at(rank).mean, q),
                    _ => self.quantile(q),
                }
            }
        }
    }

    /// Returns the percentage of values below a value, as the method of the distributions defines it; NaN
    /// without any values.
    pub fn percent_at(&self, value: f64) -> f64 {
        match &self.method {
            Method::Hdr(slots) => self.hdr_percent_at(slots, value),
            Method::Digest => self.share_below(value) * 100.0,
        }
    }

    /// Returns the point at an index among those in the window.
    fn at(&self, index: usize) -> Point {
        self.points[self.marks.place_of(index as u64)]
    }

    /// Returns the weight of the points in the window before one of them.
    fn before(&self, index: usize) -> f64 {
        self.weights.sum(self.marks.place_of(index as u64)) as f64
    }

    /// Does the same as [`super::digest::Digest::quantile`] with centroids.
    fn quantile(&self, q: f64) -> f64 {
        let count = self.marks.total as usize;
        if count < 2 {
            return if count == 0 { f64::NAN } else { self.at(0).mean };
        }
        let (first, last) = (self.at(0), self.at(count - 1));
        let rank = q * (self.weights.total as f64 - 1.0);
        if rank <= 1.0 && first.weight == 1 {
            return first.mean + rank.max(0.0) * (self.at(1).mean - first.mean);
        }
        // The rank of a point's middle is the weight before it, plus half of its own, minus this.
        let start = if first.weight == 1 { 0.5 } else { 0.0 };
        let middle = |index: usize| self.before(index) + self.at(index).weight as f64 / 2.0 - start;
        let found = first_index(count, |index| middle(index) > rank);
        if found == count {
            return last.mean;
        }
        let (left, right) = (found.max(1) - 1, found.max(1));
        let share = ((rank - middle(left)) / (middle(right) - middle(left))).clamp(0.0, 1.0);
        self.at(left).mean * (1.0 - share) + self.at(right).mean * share
    }

    /// Does the same as [`super::digest::Digest::share_below`].
    fn share_below(&self, value: f64) -> f64 {
        let (count, total) = (self.marks.total as usize, self.weights.total as f64);
        let Some(last) = count.checked_sub(1) else { return f64::NAN };
        let (least, most) = (self.at(0).mean, self.at(last).mean);
        if value < least {
            return 0.0;
        }
        if value > most {
            return 1.0;
        }
        if value == least || value == most {
            let up_to = |is_beyond: &dyn Fn(f64) -> bool| {
                let place = self.points.partition_point(|point| !is_beyond(point.mean));
                self.weights.sum(place) as f64
            };
            let equal = up_to(&|mean| mean > value) - up_to(&|mean| mean >= value);
            return if value == least { equal / 2.0 / total } else { (total - equal / 2.0) / total };
        }
        let half = |from: usize, to: usize| (self.at(to).mean - self.at(from).mean) / 2.0;
        // The first and the last point reach as far outwards as inwards.
        let right =
            |index: usize| if index == last { half(index - 1, index) } else { half(index, index + 1) };
        let index = first_index(count, |index| value < self.at(index).mean + right(index));
        if index == count {
            return 1.0;
        }
        let (own, right) = (self.at(index), right(index));
        let left = if index == 0 { right } else { half(index - 1, index) };
        (self.before(index) + own.weight as f64 * (value - own.mean + left) / (left + right)) / total
    }

    /// Does the same as [`Histogram::percentile`].
    fn hdr_value_at(&self, slots: &Histogram, percent: f64) -> f64 {
        let count = self.weights.total;
        if count == 0 {
            return f64::NAN;
        }
        let wanted = ((percent / 100.0 * count as f64 + 0.5) as u64).clamp(1, count);
        let zeros = self.zeros();
        if zeros >= wanted {
            return 0.0;
        }
        let slot_at = |rank: u64| slots.slot(self.points[self.weights.place_of(rank)].mean);
        let slot = slot_at(wanted - 1);
        if percent == 0.0 { slots.lowest(slot) } else { slots.highest(slot, slot_at(zeros)) }
    }

    /// Does the same as [`Histogram::percent_up_to`].
    fn hdr_percent_at(&self, slots: &Histogram, value: f64) -> f64 {
        let count = self.weights.total;
        if count == 0 {
            return f64::NAN;
        }
        let seen = if value < 0.0 {
            0
        } else if value > 0.0 {
            let most = slots.lowest(slots.slot(value));
            self.weights.sum(self.points.partition_point(|point| point.mean <= most))
        } else {
            self.zeros()
        };
        100.0 * seen as f64 / count as f64
    }

    fn zeros(&self) -> u64 {
        self.weights.sum(self.points.partition_point(|point| point.mean.is_sign_negative()))
    }
}

fn points_of(distribution: &Distribution) -> Vec<Point> {
    match distribution {
        Distribution::Digest(digest) => {
            digest.values().into_iter().map(|(mean, weight)| Point { mean, weight }).collect()
        }
        Distribution::Hdr(histogram) => {
            let zeros = Some((-0.0, histogram.zeros())).filter(|(_, zeros)| *zeros > 0);
            zeros.into_iter().chain(histogram.counts()).map(|(mean, weight)| Point { mean, weight }).collect()
        }
    }
}

/// Returns the first index for which `is_found` is true, or `count`. It stays true after that.
fn first_index(count: usize, is_found: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = usize::midpoint(low, high);
        match is_found(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Numbers by place, with sums of the first ones.
#[derive(Debug)]
struct Fenwick {
    /// Entry `n` (from 1) has the sum of the places from `n - (n & -n)` to before `n`.
    sums: Vec<u64>,
    total: u64,
}

impl Fenwick {
    fn new(count: usize) -> Fenwick {
        Fenwick { sums: vec![0; count + 1], total: 0 }
    }

    fn add(&mut self, place: usize, number: u64) {
        self.change(place, number);
    }

    fn take(&mut self, place: usize, number: u64) {
        self.change(place, number.wrapping_neg());
    }

    fn change(&mut self, place: usize, number: u64) {
        self.total = self.total.wrapping_add(number);
        let mut entry = place + 1;
        while entry < self.sums.len() {
            self.sums[entry] = self.sums[entry].wrapping_add(number);
            entry += entry & entry.wrapping_neg();
        }
    }

    /// Returns the sum of the numbers before a place.
    fn sum(&self, place: usize) -> u64 {
        let (mut entry, mut sum) = (place, 0u64);
        while entry > 0 {
            sum = sum.wrapping_add(self.sums[entry]);
            entry &= entry - 1;
        }
        sum
    }

    /// Returns the first place up to which the numbers add up to more than `sum`, which must be less than the
    /// total.
    fn place_of(&self, mut sum: u64) -> usize {
        let mut place = 0;
        let mut step = self.sums.len().next_power_of_two() / 2;
        while step > 0 {
            if let Some(&own) = self.sums.get(place + step)
                && own <= sum
            {
                place += step;
                sum -= own;
            }
            step /= 2;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::digest::Digest;
    use super::*;

    /// Compares each window with the distribution that its parts are merged to.
    fn check(empty: &Distribution, lists: &[Vec<f64>], window: usize, points: &[f64]) {
        let of = |values: &[f64]| {
            let mut own = empty.clone();
            assert!(own.add_all(values));
            own.prepare();
            own
        };
        let parts: Vec<Distribution> = lists.iter().map(|values| of(values)).collect();
        let parts: Vec<Option<&Distribution>> = parts.iter().map(Some).collect();
        let mut moving = MovingDistribution::new(empty.clone(), &parts).expect("there is memory");
        for end in 0..=lists.len() {
            let window = end.saturating_sub(window)..end;
            moving.slide(window.clone()).expect("nobody cancels");
            let all = of(&lists[window].concat());
            for &point in points {
                let (value, percent) = match &all {
                    Distribution::Digest(digest) => {
                        (digest.quantile(point / 100.0), digest.share_below(point) * 100.0)
                    }
                    Distribution::Hdr(histogram) => {
                        (histogram.percentile(point), histogram.percent_up_to(point))
                    }
                };
                let is_near = |own: f64, other: f64| {
                    own == other || (own - other).abs() < 1e-9 || (own.is_nan() && other.is_nan())
                };
                assert!(
                    is_near(moving.value_at(point), value),
                    "{point}: {} {value}",
                    moving.value_at(point)
                );
                let found = moving.percent_at(point);
                assert!(is_near(found, percent), "{point}: {found} {percent}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_window_is_the_distribution_of_its_parts(
            lists in prop::collection::vec(prop::collection::vec((0u32..200).prop_map(|n| f64::from(n) / 2.0), 0..9), 0..12),
            window in 1usize..14,
        ) {
            let points = [0.0, 0.5, 1.0, 12.5, 37.0, 50.0, 75.25, 99.0, 100.0];
            check(&Distribution::Digest(Digest::new(100.0)), &lists, window, &points);
            for digits in [1, 3, 5] {
                check(&Distribution::Hdr(Histogram::new(digits)), &lists, window, &points);
            }
        }
    }

    #[test]
    fn centroids_of_a_window_are_within_a_percent() {
        let noise = |n: usize| (n * 7919 % 10_007) as f64;
        let part = |from: usize| {
            let mut digest = Digest::new(100.0);
            (from..from + 5_000).for_each(|n| digest.add(noise(n)));
            digest.prepare();
            Distribution::Digest(digest)
        };
        let parts: Vec<Distribution> = (0..6).map(|n| part(n * 5_000)).collect();
        let parts: Vec<Option<&Distribution>> = parts.iter().map(Some).collect();
        let mut moving = MovingDistribution::new(Distribution::Digest(Digest::new(100.0)), &parts)
            .expect("there is memory");
        moving.slide(1..5).expect("nobody cancels");
        let mut values: Vec<f64> = (5_000..25_000).map(noise).collect();
        values.sort_unstable_by(f64::total_cmp);
        for percent in [0.0, 1.0, 25.0, 50.0, 90.0, 99.9, 100.0] {
            let exact = exact_quantile(values.len(), |rank| values[rank], percent / 100.0);
            let found = moving.value_at(percent);
            assert!((found - exact).abs() <= 100.0, "{percent}: {found} {exact}");
            let share = moving.percent_at(exact);
            assert!((share - percent).abs() <= 1.0, "{percent}: {share}");
        }
    }
}
