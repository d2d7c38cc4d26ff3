//! Decimal numbers that are stored as integers: "what are these numbers, divided by their factor?"

/// Appends stored whole numbers to `out`, each divided by `factor`.
pub fn divided(stored: &[i64], factor: f64, out: &mut Vec<f64>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
        unsafe { divided_avx2(stored, factor, out) };
        return;
    }
    divided_any(stored, factor, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn divided_avx2(stored: &[i64], factor: f64, out: &mut Vec<f64>) {
    divided_any(stored, factor, out);
}

#[inline(always)]
fn divided_any(stored: &[i64], factor: f64, out: &mut Vec<f64>) {
    let bits = stored.iter().fold(0, |bits, value| bits | (value ^ (value >> 63)));
    match bits >> 31 {
        // Numbers of 32 bits are converted to doubles several at a time.
        0 => out.extend(stored.iter().map(|&value| f64::from(value as i32) / factor)),
        _ => out.extend(stored.iter().map(|&value| value as f64 / factor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_one_by_one() {
        let small: Vec<i64> = (-70..70).map(|n| n * 1_234_567).collect();
        let large: Vec<i64> = small.iter().map(|n| n * 10_000_019).collect();
        for stored in [&small, &large, &Vec::new(), &vec![i64::MIN, i64::MAX, 0]] {
            for factor in [100.0, 1.0, 7.0, 0.3] {
                let (mut out, mut scalar) = (Vec::new(), Vec::new());
                divided(stored, factor, &mut out);
                divided_any(stored, factor, &mut scalar);
                let expected: Vec<f64> = stored.iter().map(|&value| value as f64 / factor).collect();
                assert_eq!(out, expected);
                assert_eq!(scalar, expected);
            }
        }
    }
}
