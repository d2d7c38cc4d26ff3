//! Correction of p-values for many tests at once.

/// How p-values of one family of tests are adjusted for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Correction {
    /// Holm (1979): the chance of even one false alarm in the family stays below the level.
    #[default]
    Holm,
    /// Benjamini and Hochberg (1995): the expected share of false alarms among the alarms stays below the
    /// level.
    BenjaminiHochberg,
    /// Each test by itself.
    None,
}

impl Correction {
    /// Returns the adjusted p-values in the order of `p`. They are compared with the significance level
    /// itself.
    pub fn adjust(self, p: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|i, j| p[*i].total_cmp(&p[*j]));
        let count = p.len() as f64;
        let mut adjusted = p.to_vec();
        match self {
            Correction::None => {}
            Correction::Holm => {
                let mut running = 0.0_f64;
                for (place, &i) in order.iter().enumerate() {
                    running = running.max(p[i] * (count - place as f64)).min(1.0);
                    adjusted[i] = running;
                }
            }
            Correction::BenjaminiHochberg => {
                let mut running = 1.0_f64;
                for (place, &i) in order.iter().enumerate().rev() {
                    running = running.min(p[i] * count / (place + 1) as f64);
                    adjusted[i] = running;
                }
            }
        }
        adjusted
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Correction::Holm => "Holm",
            Correction::BenjaminiHochberg => "Benjamini-Hochberg",
            Correction::None => "no correction",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of R's p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), ...), and of an
    /// unsorted case computed by hand.
    #[test]
    fn adjusted_as_r_does() {
        #[track_caller]
        fn check(correction: Correction, p: &[f64], expected: &[f64]) {
            let adjusted = correction.adjust(p);
            for (found, expected) in adjusted.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
            }
        }
        let p = [0.01, 0.02, 0.03, 0.04, 0.05];
        check(Correction::Holm, &p, &[0.05, 0.08, 0.09, 0.09, 0.09]);
        check(Correction::BenjaminiHochberg, &p, &[0.05; 5]);
        check(Correction::None, &p, &p);
        check(Correction::Holm, &[0.04, 0.001, 0.9], &[0.08, 0.003, 0.9]);
        check(Correction::BenjaminiHochberg, &[0.04, 0.001, 0.9], &[0.06, 0.003, 0.9]);
        check(Correction::Holm, &[0.6, 0.7], &[1.0, 1.0]);
        check(Correction::Holm, &[], &[]);
    }
}
