//! Functions over a window of values: Elasticsearch's `MovingFunctions`, which its scripts call by name.

/// Keeps multiplicative seasons away from zero.
const PADDING: f64 = 0.0000000001;

/// Returns the greatest of `values`, ignoring NaN; NaN if there are none.
pub fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

/// Returns the least of `values`, ignoring NaN; NaN if there are none.
pub fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// Returns the sum of `values`; 0 if there are none.
pub fn sum(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, value| sum + value)
}

/// Returns the mean; NaN without values, like all means here.
pub fn unweighted_avg(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { sum(values) / values.len() as f64 }
}

/// Returns the standard deviation of `values` around `avg`.
pub fn std_dev(values: &[f64], avg: f64) -> f64 {
    if avg.is_nan() || values.is_empty() {
        return f64::NAN;
    }
    let squares = values.iter().fold(0.0, |sum, value| sum + (value - avg) * (value - avg));
    (squares / values.len() as f64).sqrt()
}

/// Returns the mean in which the first value weighs 1, the next 2, and so on.
pub fn linear_weighted_avg(values: &[f64]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        let weight = (place + 1) as f64;
        sum += value * weight;
        weights += weight;
    }
    if values.is_empty() { f64::NAN } else { sum / weights }
}

/// Returns the exponentially weighted moving average; `alpha` is the weight of the last value.
pub fn ewma(values: &[f64], alpha: f64) -> f64 {
    let mut values = values.iter();
    let Some(&first) = values.next() else { return f64::NAN };
    values.fold(first, |avg, value| value * alpha + avg * (1.0 - alpha))
}

/// Returns the forecast of Holt's linear method (1957): level and trend.
pub fn holt(values: &[f64], alpha: f64, beta: f64) -> f64 {
    holt_line(values, alpha, beta).map_or(f64::NAN, |(level, _)| level)
}

/// Returns the level and the trend after all values of Holt's linear method; `None` without values.
pub fn holt_line(values: &[f64], alpha: f64, beta: f64) -> Option<(f64, f64)> {
    let (&first, rest) = values.split_first()?;
    let (mut level, mut trend) = (first, 0.0);
    for value in rest {
        let last = level;
        level = alpha * value + (1.0 - alpha) * (level + trend);
        trend = beta * (level - last) + (1.0 - beta) * trend;
    }
    Some((level, trend))
}

/// The coefficients of Holt and Winters' method (1960): level, trend and season.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoltWinters {
    /// Weight of the last value in the level.
    pub alpha: f64,
    /// Weight of the last change in the trend.
    pub beta: f64,
    /// Weight of the last season in the seasons.
    pub gamma: f64,
    /// Values in a season.
    pub period: usize,
    /// Whether seasons are factors of the level, and not added to it.
    pub multiplicative: bool,
    /// Whether values are kept away from zero, as divisions of multiplicative seasons need.
    pub padded: bool,
}

impl HoltWinters {
    /// Returns the forecasts of the next `count` values: NaN below two seasons.
    pub fn forecasts(&self, values: &[f64], count: usize) -> Vec<f64> {
        let (period, multiplicative) = (self.period, self.multiplicative);
        if values.is_empty() || period == 0 || values.len() < period.saturating_mul(2) {
            return vec![f64::NAN; count];
        }
        let padding = if self.padded { PADDING } else { 0.0 };
        let values: Vec<f64> = values.iter().map(|value| value + padding).collect();
        let span = period as f64;
        let (mut level, mut trend) = (0.0, 0.0);
        for place in 0..period {
            level += values[place];
            trend += (values[place + period] - values[place]) / span;
        }
        level /= span;
        trend /= span;
        let (mut last_level, mut last_trend) = (level, 0.0);
        let mut seasons = vec![0.0; values.len()];
        if level != 0.0 {
            for place in 0..period {
                seasons[place] = values[place] / level;
            }
        }
        let (alpha, beta, gamma) = (self.alpha, self.beta, self.gamma);
        for place in period..values.len() {
            let (value, season) = (values[place], seasons[place - period]);
            let plain = if multiplicative { value / season } else { value - season };
            level = alpha * plain + (1.0 - alpha) * (last_level + last_trend);
            trend = beta * (level - last_level) + (1.0 - beta) * last_trend;
            let own = if multiplicative {
                value / (last_level + last_trend)
            } else {
                value - (last_level - last_trend)
            };
            seasons[place] = gamma * own + (1.0 - gamma) * season;
            (last_level, last_trend) = (level, trend);
        }
        let forecast = |ahead: usize| {
            let season = seasons[values.len() - period + ahead % period];
            let line = level + (ahead + 1) as f64 * trend;
            if multiplicative { line * season } else { line + season }
        };
        (0..count).map(forecast).collect()
    }
}

/// Returns the forecast one step ahead of [`HoltWinters`].
pub fn holt_winters(
    values: &[f64],
    alpha: f64,
    beta: f64,
    gamma: f64,
    period: usize,
    multiplicative: bool,
) -> f64 {
    let model = HoltWinters { alpha, beta, gamma, period, multiplicative, padded: multiplicative };
    model.forecasts(values, 1)[0]
}
