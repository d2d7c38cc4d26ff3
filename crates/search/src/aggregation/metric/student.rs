//! Probabilities of Student's t-distribution and Fisher's F-distribution.

/// Largest number of steps of the continued fraction, which converges in about the square root of the larger
/// parameter.
const STEP_COUNT_MAX: usize = 10_000;

/// Lanczos coefficients for g = 7 (Godfrey).
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// Returns the two-sided probability of a t at least this far from zero.
pub fn two_sided(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// Returns the probability of an F above this one, for these degrees of freedom.
pub fn above_f(f: f64, (above, below): (f64, f64)) -> f64 {
    if f.is_nan() || above <= 0.0 || below <= 0.0 {
        return f64::NAN;
    }
    incomplete_beta(below / 2.0, above / 2.0, below / (below + above * f.max(0.0)))
}

fn ln_gamma(x: f64) -> f64 {
    let x = x - 1.0;
    let base = x + 7.5;
    let series = LANCZOS[1..]
        .iter()
        .zip(1u32..)
        .fold(LANCZOS[0], |sum, (coefficient, place)| sum + coefficient / (x + f64::from(place)));
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * base.ln() - base + series.ln()
}

/// Computes the regularized incomplete beta function by the continued fraction DLMF 8.17.22, computed with
/// Lentz's algorithm.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges quickly only below the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..STEP_COUNT_MAX {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            last = c * d;
            fraction *= last;
        }
        if (last - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_probabilities() {
        // With one degree of freedom it is the Cauchy distribution; with two there is a closed form.
        for t in [0.0, 0.1, 1.0, 3.5, 40.0f64] {
            let cauchy = 1.0 - 2.0 * t.atan() / std::f64::consts::PI;
            assert!((two_sided(t, 1.0) - cauchy).abs() < 1e-12, "{t}");
            assert!((two_sided(-t, 2.0) - (1.0 - t / (2.0 + t * t).sqrt())).abs() < 1e-12, "{t}");
        }
        // The square of a t is an F whose numerator has one degree of freedom.
        assert!((above_f(9.0, (1.0, 7.0)) - two_sided(3.0, 7.0)).abs() < 1e-12);
        // The 0.975 quantile for ten degrees of freedom, from tables.
        assert!((two_sided(2.228_138_851_964_939, 10.0) - 0.05).abs() < 1e-9);
    }
}
