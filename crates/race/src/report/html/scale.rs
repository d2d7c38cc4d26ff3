//! Positions of values on an axis, and its ticks.

use crate::notation::shown;

/// Unit of an axis of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    Bytes,
    BytesPerSecond,
    Percent,
    /// Any other unit; the plot's title names it.
    Plain,
}

impl Unit {
    pub(crate) fn shown(self, value: f64) -> String {
        match self {
            Unit::Milliseconds => shown::milliseconds(value),
            Unit::Bytes => shown::bytes(value),
            Unit::BytesPerSecond => format!("{}/s", shown::bytes(value)),
            Unit::Percent => format!("{} %", shown::three_digits(value)),
            Unit::Plain => shown::grouped(value),
        }
    }

    /// Formats a tick, without the trailing zeros that a figure with three digits has.
    fn tick(self, value: f64) -> String {
        let text = self.shown(value);
        let (number, unit) = text.split_once(' ').unwrap_or((text.as_str(), ""));
        let number =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
        let (number, suffix) = match (self, value) {
            (Unit::Plain, value) if value >= 1e6 => (trimmed(value / 1e6), "M"),
            (Unit::Plain, value) if value >= 1e4 => (trimmed(value / 1e3), "k"),
            _ => (number.to_owned(), ""),
        };
        if unit.is_empty() { format!("{number}{suffix}") } else { format!("{number} {unit}") }
    }
}

fn trimmed(value: f64) -> String {
    let text = shown::three_digits(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Maps values to shares of the axis, with 0 at its lower end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    pub is_log: bool,
    pub unit: Unit,
}

impl Scale {
    /// Returns a scale from zero to a round number above all values.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, unit: Unit) -> Scale {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = step(most, 4.0, unit);
        Scale { low: 0.0, high: (most / step - 1e-9).ceil() * step, is_log: false, unit }
    }

    /// Returns a scale slightly beyond all positive values, over at least one power of ten.
    pub(crate) fn log(values: impl Iterator<Item = f64>, unit: Unit) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        if high == 0.0 {
            (low, high) = (1.0, 10.0);
        }
        let (mut low, mut high) = (low.log10() - 0.05, high.log10() + 0.05);
        let missing = 1.0 - (high - low);
        if missing > 0.0 {
            (low, high) = (low - missing / 2.0, high + missing / 2.0);
        }
        Scale { low: 10f64.powf(low), high: 10f64.powf(high), is_log: true, unit }
    }

    /// Returns the share of the axis, which is not limited to [0, 1].
    pub(crate) fn share(&self, value: f64) -> f64 {
        if self.is_log {
            (value.max(1e-12) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Inverse of [`Self::share`].
    #[cfg(test)]
    pub(crate) fn value(&self, share: f64) -> f64 {
        if self.is_log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + share * (self.high - self.low)
        }
    }

    /// Returns about three to eight ticks as (share, label).
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.is_log { self.log_ticks() } else { self.linear_ticks() };
        values.into_iter().map(|value| (self.share(value), self.unit.tick(value))).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let step = step(self.high, 4.0, self.unit);
        (0..=10)
            .map(|index| f64::from(index) * step)
            .take_while(|value| *value <= self.high * 1.000_001)
            .collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let with = |digits: &[f64]| -> Vec<f64> {
            (first..=last)
                .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
                .filter(|value| (self.low..=self.high).contains(value))
                .collect()
        };
        [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]]
            .into_iter()
            .map(with)
            .find(|ticks| ticks.len() <= 8)
            .unwrap_or_else(|| with(&[1.0]).into_iter().step_by(2).collect())
    }
}

/// Returns a round step such that `most` consists of about `steps` of them; a power of two for bytes.
fn step(most: f64, steps: f64, unit: Unit) -> f64 {
    let raw = most / steps;
    if matches!(unit, Unit::Bytes | Unit::BytesPerSecond) {
        return 2f64.powf(raw.max(1.0).log2().ceil());
    }
    let power = 10f64.powf(raw.log10().floor());
    let digit = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|digit| digit * power >= raw * 0.999);
    digit.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(scale: Scale, labels: &[&str]) {
        let ticks = scale.ticks();
        assert_eq!(ticks.iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>(), labels);
        assert!(ticks.iter().all(|tick| (-1e-9..=1.000_001).contains(&tick.0)), "{ticks:?}");
    }

    #[test]
    fn ticks_are_round() {
        check(Scale::linear([61_204.0, 3.0].into_iter(), Unit::Plain), &["0", "20k", "40k", "60k", "80k"]);
        check(Scale::linear([0.4].into_iter(), Unit::Plain), &["0", "0.1", "0.2", "0.3", "0.4"]);
        check(Scale::linear([3.2e9].into_iter(), Unit::Bytes), &["0 B", "1 GiB", "2 GiB", "3 GiB"]);
        check(Scale::linear(std::iter::empty(), Unit::Percent), &["0 %", "0.25 %", "0.5 %", "0.75 %", "1 %"]);
        check(
            Scale::log([0.4, 30.0].into_iter(), Unit::Milliseconds),
            &["500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"],
        );
        check(Scale::log([5.0].into_iter(), Unit::Milliseconds), &["2 ms", "5 ms", "10 ms"]);
    }

    #[test]
    fn shares_and_values_are_inverse() {
        for scale in
            [Scale::linear([7.0].into_iter(), Unit::Plain), Scale::log([0.1, 900.0].into_iter(), Unit::Plain)]
        {
            for share in [0.0, 0.3, 1.0] {
                assert!((scale.share(scale.value(share)) - share).abs() < 1e-9);
            }
        }
    }
}
