//! The heuristic `p_value`: how improbable it is that a value is as frequent outside of the foreground as in
//! it.
//!
//! Source: Elasticsearch's documentation of the p-value score. The score is the negative logarithm of the
//! probability, by the test of likelihood ratios between two binomial distributions and a common one (Wilks'
//! theorem: a chi square distribution with one degree of freedom). Both sets are enlarged by documents with
//! the value, so that small counts and changes of less than 5 % are not significant.

use limber_mapping::{ObjectParser, RequestError};

use super::super::options::Options;

/// Largest number of steps of a series or of a continued fraction; both converge in some tens.
const STEP_COUNT_MAX: u32 = 1_000;

/// The options of `p_value`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValue {
    pub background_is_superset: bool,
    /// The number of documents to which larger sets are scaled down.
    normalize_above: Option<i64>,
}

/// The number of documents with a value, and of all documents, in one set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub with: f64,
    pub all: f64,
}

impl PValue {
    pub(super) fn parse(own: &mut Options) -> Result<PValue, RequestError> {
        let background_is_superset = own.boolean("background_is_superset")?.unwrap_or(true);
        let normalize_above = own.long("normalize_above")?;
        if let Some(above) = normalize_above.filter(|above| *above <= 0) {
            let reason = format!("[normalize_above] must be a positive value, provided [{above}]");
            return Err(ObjectParser::new(own.kind).failed_to_build(RequestError::illegal_argument(reason)));
        }
        Ok(PValue { background_is_superset, normalize_above })
    }

    /// Returns the score from the shares inside of the foreground and outside of it; 0 if the value is not
    /// more frequent inside.
    pub(super) fn score(self, inside: Share, outside: Share) -> f64 {
        let is_empty = inside.all == 0.0 || outside.all == 0.0;
        if is_empty || inside.with * outside.all <= inside.all * outside.with {
            return 0.0;
        }
        let inside = self.normalized(inside).enlarged();
        let outside = self.normalized(outside).enlarged();
        let unchanged = inside.with / inside.all * outside.all;
        let outside = Share { with: ((1.05 * outside.with).min(unchanged) + 0.5).floor(), ..outside };
        let both = Share { with: inside.with + outside.with, all: inside.all + outside.all };
        negative_log_above(inside.divergence(both) + outside.divergence(both))
    }

    fn normalized(self, share: Share) -> Share {
        match self.normalize_above {
            Some(above) if share.all > above as f64 => {
                let factor = above as f64 / share.all;
                Share { with: (share.with * factor).floor(), all: (share.all * factor).floor() }
            }
            _ => share,
        }
    }
}

impl Share {
    /// Adds a twentieth of the documents, all of them with the value.
    fn enlarged(self) -> Share {
        let more = (0.05 * self.all + 0.5).max(1.0).floor();
        Share { with: self.with + more, all: self.all + more }
    }

    /// Returns by how much the counts are more probable under their own share than under another one, as a
    /// logarithm.
    fn divergence(self, other: Share) -> f64 {
        let part = |count: f64, other_count: f64| match count > 0.0 {
            true => count * (count / self.all / (other_count / other.all)).ln(),
            false => 0.0,
        };
        part(self.with, other.with) + part(self.all - self.with, other.all - other.with)
    }
}

/// Returns the negative logarithm of the probability that a chi square with one degree of freedom is above
/// `2 * half`, which is `erfc(sqrt(half))`. The probability is at least the smallest normal number.
fn negative_log_above(half: f64) -> f64 {
    if half <= 0.0 {
        return 0.0;
    }
    // Below it the series converges quickly, above it the fraction does.
    let negative_log = if half < 1.5 {
        -(1.0 - erf_of_root(half)).ln()
    } else {
        half - 0.5 * half.ln() + 0.5 * std::f64::consts::PI.ln() - upper_fraction(half).ln()
    };
    negative_log.clamp(0.0, -f64::MIN_POSITIVE.ln())
}

/// Returns `erf(sqrt(x))` by the series DLMF 7.6.2.
fn erf_of_root(x: f64) -> f64 {
    let (mut term, mut sum) = (x.sqrt(), x.sqrt());
    for step in 1..STEP_COUNT_MAX {
        term *= 2.0 * x / f64::from(2 * step + 1);
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x).exp() * sum
}

/// Returns the factor of `exp(-x) * sqrt(x)` in the upper incomplete gamma function of 1/2 by its continued
/// fraction, DLMF 8.9.2 in its even form, with Lentz's algorithm.
fn upper_fraction(x: f64) -> f64 {
    let mut below = x + 0.5;
    let mut c = f64::MAX;
    let mut d = 1.0 / below;
    let mut fraction = d;
    for step in 1..STEP_COUNT_MAX {
        let step = f64::from(step);
        let above = -step * (step - 0.5);
        below += 2.0;
        d = 1.0 / (above * d + below);
        c = below + above / c;
        let change = c * d;
        fraction *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_another_implementation_of_the_binomial_distribution() {
        let check = |counts: [f64; 4], normalize_above: Option<i64>, expected: f64| {
            let options = PValue { background_is_superset: true, normalize_above };
            let [with, all, with_outside, all_outside] = counts;
            let outside = Share { with: with_outside, all: all_outside };
            let score = options.score(Share { with, all }, outside);
            assert!((score - expected).abs() < 1e-9 * expected.max(1.0), "{counts:?}: {score}");
        };
        check([20.0, 100.0, 30.0, 1_000.0], None, 12.439_742_436_5);
        check([20.0, 100.0, 30.0, 1_000.0], Some(50), 4.206_510_267_0);
        check([60.0, 100.0, 300.0, 1_000.0], None, 16.067_688_441_0);
        check([500.0, 1_000.0, 100.0, 10_000.0], None, 703.415_949_24);
        check([5.0, 10.0, 2.0, 100.0], None, 9.030_073_293_1);
        check([5.0, 10.0, 2.0, 100.0], Some(50), 7.514_521_937_5);
        check([900.0, 1_000.0, 10.0, 100_000.0], None, 708.396_418_532_264_1);
        check([11.0, 100.0, 100.0, 1_000.0], None, 0.042_315_526_8);
        check([11.0, 100.0, 100.0, 1_000.0], Some(50), 0.0);
        check([10.0, 100.0, 100.0, 1_000.0], None, 0.0);
        check([10.0, 100.0, 0.0, 0.0], None, 0.0);
    }

    #[test]
    fn both_ways_to_compute_the_probability_agree() {
        // erfc(1) and erfc(2), from tables.
        assert!((negative_log_above(1.0) + 0.157_299_207_050_285_13_f64.ln()).abs() < 1e-13);
        assert!((negative_log_above(4.0) + 0.004_677_734_981_047_266_f64.ln()).abs() < 1e-13);
        assert!((negative_log_above(1.5 - 1e-12) - negative_log_above(1.5)).abs() < 1e-10);
        assert_eq!(negative_log_above(0.0), 0.0);
        assert_eq!(negative_log_above(1e6), -f64::MIN_POSITIVE.ln());
    }
}
