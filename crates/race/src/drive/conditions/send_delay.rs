//! How late requests were sent, and whether the server or the load generator caused the delay.
//!
//! Each request has two delays. **Behind schedule** is the time from when it was due to when its first byte
//! left. Only throttled tasks have it, and the server causes most of it (a client that still waits for an
//! answer cannot send). **Own** is the time from when the client both could and should have sent to when it
//! did. The load generator alone causes it, and it must be small compared with the service time.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Microseconds are finer than any delay that matters. Two digits keep a histogram at about 30 kB, whatever
/// is recorded.
const SIGNIFICANT_DIGITS: u8 = 2;
/// 3 hours, in microseconds.
const DELAY_MAX_US: u64 = 3 * 3600 * 1_000_000;

/// Delays of one kind, in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    histogram: Option<Box<Histogram<u64>>>,
    sum: Duration,
    max: Duration,
}

impl Delays {
    pub(crate) fn record(&mut self, delay: Duration) {
        self.sum += delay;
        self.max = self.max.max(delay);
        let histogram = self.histogram.get_or_insert_with(|| {
            let histogram = Histogram::new_with_bounds(1, DELAY_MAX_US, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that the histogram accepts");
            Box::new(histogram)
        });
        histogram.saturating_record(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// Returns the mean in ms; `None` without samples.
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum.as_secs_f64() * 1e3 / self.count() as f64)
    }

    /// Returns the delay that this share (in [0, 1]) of requests did not exceed, within 1 %; `None` without
    /// samples.
    pub(crate) fn quantile_ms(&self, share: f64) -> Option<f64> {
        let histogram = self.histogram.as_ref()?;
        let us = histogram.value_at_quantile(share) as f64;
        Some((us / 1e3).min(self.max_ms()))
    }

    pub(crate) fn max_ms(&self) -> f64 {
        self.max.as_secs_f64() * 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_delays() {
        let mut delays = Delays::default();
        assert_eq!((delays.count(), delays.mean_ms(), delays.quantile_ms(0.5)), (0, None, None));
        for ms in 1..=100 {
            delays.record(Duration::from_millis(ms));
        }
        assert_eq!((delays.count(), delays.mean_ms(), delays.max_ms()), (100, Some(50.5), 100.0));
        let p99 = delays.quantile_ms(0.99).unwrap();
        assert!((98.0..=100.0).contains(&p99), "{p99}");
    }
}
