//! Finds where and how a series of values changes.
//!
//! Four models are fitted by least squares: one level, one line, two levels, and two lines. The chosen model
//! is the one with the lowest Bayesian information criterion among those that an F-test finds significantly
//! better than the simpler model. A series with one level can still change its distribution, which a
//! Kolmogorov-Smirnov test finds. A single outlier is looked for first.

use super::super::metric::{above_f, two_sided};
use crate::error::{Result, check_request};

/// Least number of values on either side of a change.
const SIDE_COUNT_MIN: usize = 10;
/// Least number of values that can be analysed.
pub const VALUE_COUNT_MIN: usize = 2 * SIDE_COUNT_MIN + 2;
/// Number of values on either side of a spike that are left out of the comparison.
const NEIGHBOR_COUNT: usize = 2;
/// Largest p-value of a change.
const CHANGE_P_MAX: f64 = 0.01;
/// Largest p-value of a spike. It is smaller because values rarely have a normal distribution, so outliers
/// are more common than the test assumes.
const SPIKE_P_MAX: f64 = 1e-4;
/// Number of positions at which distributions are compared.
const COMPARED_COUNT: usize = 32;
/// A smaller share of the sum of squares is a rounding error.
const ROUNDED: f64 = 1e-12;

/// The kind of change in a series. `at` is an index in the series.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Stationary,
    NonStationary { p_value: f64, r_value: f64, is_increasing: bool },
    Dip { p_value: f64, at: usize },
    Spike { p_value: f64, at: usize },
    Distribution { p_value: f64, at: usize },
    Step { p_value: f64, at: usize },
    Trend { p_value: f64, r_value: f64, at: usize },
}

/// Analyses at least [`VALUE_COUNT_MIN`] finite values.
///
/// # Errors
/// Fails if the request is cancelled or beyond its deadline.
pub fn change(values: &[f64]) -> Result<Change> {
    let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return Ok(Change::Stationary);
    }
    let values: Vec<f64> = values.iter().map(|value| value / largest).collect();
    if let Some(found) = spike_or_dip(&values) {
        return Ok(found);
    }
    match level_or_line(&values)? {
        Some(found) => Ok(found),
        None => Ok(distribution(&values)?.unwrap_or(Change::Stationary)),
    }
}

fn spike_or_dip(values: &[f64]) -> Option<Change> {
    let by_value = |left: &usize, right: &usize| values[*left].total_cmp(&values[*right]);
    let (dip, spike) = ((0..values.len()).min_by(by_value)?, (0..values.len()).max_by(by_value)?);
    let (dip_p, spike_p) = (outlier(values, dip), outlier(values, spike));
    match dip_p.min(spike_p) < SPIKE_P_MAX {
        true if dip_p < spike_p => Some(Change::Dip { p_value: dip_p, at: dip }),
        true => Some(Change::Spike { p_value: spike_p, at: spike }),
        false => None,
    }
}

/// Returns the probability that the farthest of this many values is at least as far away as this one.
fn outlier(values: &[f64], at: usize) -> f64 {
    let is_other = |place: usize| place.abs_diff(at) > NEIGHBOR_COUNT;
    let others = || values.iter().enumerate().filter(|(place, _)| is_other(*place)).map(|(_, value)| *value);
    let count = others().count() as f64;
    let mean = others().sum::<f64>() / count;
    let variance = others().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let away = (values[at] - mean).abs();
    if away <= ROUNDED {
        return 1.0;
    }
    let t = away / (variance * (1.0 + 1.0 / count)).sqrt();
    let one_sided = if t.is_finite() { two_sided(t, count - 1.0) / 2.0 } else { 0.0 };
    (one_sided * values.len() as f64).min(1.0)
}

/// Prefix sums of a series, with which a model of any part of it is fitted in constant time.
struct Sums {
    /// `[count + 1]`: sums of the values, of their squares, and of the values multiplied by their indexes.
    of: Vec<[f64; 3]>,
}

impl Sums {
    fn new(values: &[f64]) -> Sums {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut sums = [0.0; 3];
        let mut of = Vec::with_capacity(values.len() + 1);
        of.push(sums);
        for (place, value) in values.iter().enumerate() {
            let value = value - mean;
            sums = [sums[0] + value, sums[1] + value * value, sums[2] + value * place as f64];
            of.push(sums);
        }
        Sums { of }
    }

    fn part(&self, start: usize, end: usize) -> [f64; 3] {
        std::array::from_fn(|sum| self.of[end][sum] - self.of[start][sum])
    }

    /// Returns the residual sum of squares of a part around one level.
    fn around_level(&self, start: usize, end: usize) -> f64 {
        let [sum, squares, _] = self.part(start, end);
        squares - sum * sum / (end - start) as f64
    }

    /// Returns the covariance sum of values and indexes, and the variance sum of the indexes, of a part.
    fn slope(&self, start: usize, end: usize) -> (f64, f64) {
        let ([sum, _, products], count) = (self.part(start, end), (end - start) as f64);
        let middle = (start + end - 1) as f64 / 2.0;
        (products - sum * middle, count * (count * count - 1.0) / 12.0)
    }

    /// Returns the residual sum of squares of a part around a line.
    fn around_line(&self, start: usize, end: usize) -> f64 {
        let (together, places) = self.slope(start, end);
        self.around_level(start, end) - together * together / places
    }
}

/// Finds a line, a step or a bend that explains the values; `None` if one level does.
fn level_or_line(values: &[f64]) -> Result<Option<Change>> {
    let (sums, count) = (Sums::new(values), values.len());
    let level = sums.around_level(0, count);
    let squares: f64 = values.iter().map(|value| value * value).sum();
    if level <= ROUNDED * squares {
        return Ok(None);
    }
    let floor = ROUNDED * level;
    let line = sums.around_line(0, count).max(floor);
    let (mut step, mut bend) = ((f64::INFINITY, 0), (f64::INFINITY, 0));
    for at in SIDE_COUNT_MIN..=count - SIDE_COUNT_MIN {
        if at % 1024 == 0 {
            check_request()?;
        }
        let levels = sums.around_level(0, at) + sums.around_level(at, count);
        let lines = sums.around_line(0, at) + sums.around_line(at, count);
        step = if levels.max(floor) < step.0 { (levels.max(floor), at) } else { step };
        bend = if lines.max(floor) < bend.0 { (lines.max(floor), at) } else { bend };
    }
    let n = count as f64;
    let split_count = (count - 2 * SIDE_COUNT_MIN + 1) as f64;
    // The criterion of a model with this many parameters and this residual sum of squares. The position of a
    // split counts as a parameter.
    let criterion = |squares: f64, numbers: f64| n * (squares / n).ln() + numbers * n.ln();
    // The p-value of a model that reduces the residuals from `before` to `squares` with `more` parameters
    // than the simpler model, `numbers` in all, at the best of `place_count` positions.
    let by_chance = |before: f64, squares: f64, more: f64, numbers: f64, place_count: f64| {
        let f = ((before - squares) / more) / (squares / (n - numbers));
        (above_f(f, (more, n - numbers)) * place_count).min(1.0)
    };
    let r_value = |squares: f64| 1.0 - squares / level;
    let models = [
        (criterion(level, 1.0), None),
        (
            criterion(line, 2.0),
            Some(Change::NonStationary {
                p_value: by_chance(level, line, 1.0, 2.0, 1.0),
                r_value: r_value(line),
                is_increasing: sums.slope(0, count).0 > 0.0,
            }),
        ),
        (
            criterion(step.0, 3.0),
            Some(Change::Step { p_value: by_chance(level, step.0, 1.0, 2.0, split_count), at: step.1 }),
        ),
        (
            criterion(bend.0, 5.0),
            Some(Change::Trend {
                p_value: by_chance(line, bend.0, 2.0, 4.0, split_count),
                r_value: r_value(bend.0),
                at: bend.1,
            }),
        ),
    ];
    let significant = models.into_iter().filter(|(_, model)| match model {
        None => true,
        Some(
            Change::NonStationary { p_value, .. }
            | Change::Step { p_value, .. }
            | Change::Trend { p_value, .. },
        ) => *p_value < CHANGE_P_MAX,
        Some(_) => unreachable!("no model of these"),
    });
    Ok(significant.min_by(|left, right| left.0.total_cmp(&right.0)).and_then(|(_, model)| model))
}

/// Finds the index at which the distributions of the values before and after it differ most.
fn distribution(values: &[f64]) -> Result<Option<Change>> {
    let count = values.len();
    let mut ascending: Vec<usize> = (0..count).collect();
    ascending.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
    let room = count - 2 * SIDE_COUNT_MIN;
    let tried_count = COMPARED_COUNT.min(room + 1);
    let mut best = (f64::INFINITY, 0);
    for number in 0..tried_count {
        check_request()?;
        let at = SIDE_COUNT_MIN + number * room / tried_count.max(2).saturating_sub(1);
        let p_value = (differently(values, &ascending, at) * tried_count as f64).min(1.0);
        if p_value < best.0 {
            best = (p_value, at);
        }
    }
    Ok((best.0 < CHANGE_P_MAX).then_some(Change::Distribution { p_value: best.0, at: best.1 }))
}

/// Returns the p-value of the difference of both sides (Kolmogorov-Smirnov test with Stephens' correction).
fn differently(values: &[f64], ascending: &[usize], at: usize) -> f64 {
    let (before, after) = (at as f64, (values.len() - at) as f64);
    let (mut below_before, mut below_after, mut distance) = (0.0, 0.0, 0.0f64);
    for (rank, &place) in ascending.iter().enumerate() {
        if place < at {
            below_before += 1.0;
        } else {
            below_after += 1.0;
        }
        let is_last = ascending.get(rank + 1).is_none_or(|&next| values[next] != values[place]);
        if is_last {
            distance = distance.max((below_before / before - below_after / after).abs());
        }
    }
    let size = (before * after / (before + after)).sqrt();
    let lambda = (size + 0.12 + 0.11 / size) * distance;
    let term = |number: i32| {
        let sign = if number % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(number * number) * lambda * lambda).exp()
    };
    match lambda < 0.2 {
        true => 1.0,
        false => (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pseudo-random number from -0.5 to 0.5.
    fn noise(place: usize) -> f64 {
        (place as f64 * 12.9898).sin().mul_add(43_758.545_3, 0.0).rem_euclid(1.0) - 0.5
    }

    fn series(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..count).map(value).collect()
    }

    #[test]
    fn each_kind_of_change_is_told_at_its_place() {
        let steady = change(&series(60, |place| 100.0 + noise(place))).unwrap();
        assert_eq!(steady, Change::Stationary);
        assert_eq!(change(&[7.0; 22]).unwrap(), Change::Stationary);
        assert_eq!(change(&[0.0; 22]).unwrap(), Change::Stationary);
        let step = change(&series(60, |place| if place < 25 { 10.0 } else { 14.0 } + noise(place))).unwrap();
        assert!(matches!(step, Change::Step { at: 25, p_value } if p_value < 1e-6), "{step:?}");
        let spike = change(&series(60, |place| if place == 33 { 30.0 } else { 10.0 + noise(place) }));
        assert!(matches!(spike.unwrap(), Change::Spike { at: 33, .. }));
        let dip = change(&series(60, |place| if place == 7 { -30.0 } else { 10.0 })).unwrap();
        assert_eq!(dip, Change::Dip { at: 7, p_value: 0.0 });
        let line = change(&series(60, |place| 3.0 * place as f64 + noise(place))).unwrap();
        let rises = |change: &Change| match change {
            Change::NonStationary { r_value, is_increasing, .. } => *is_increasing && *r_value > 0.99,
            _ => false,
        };
        assert!(rises(&line), "{line:?}");
        let falls = change(&series(60, |place| -1e300 * place as f64)).unwrap();
        assert!(matches!(falls, Change::NonStationary { is_increasing: false, .. }), "{falls:?}");
        let bend = change(&series(60, |place| 2.0 * (place as f64 - 30.0).abs() + noise(place))).unwrap();
        assert!(matches!(bend, Change::Trend { at: 28..=32, .. }), "{bend:?}");
        let spread =
            change(&series(200, |place| 10.0 + noise(place) * if place < 100 { 1.0 } else { 6.0 })).unwrap();
        assert!(matches!(spread, Change::Distribution { at: 80..=120, .. }), "{spread:?}");
    }
}
