//! Features that raise scores (`rank_feature`, `rank_features`): "how is a number encoded as a term and
//! decoded?"
//!
//! A value keeps 9 significant bits, as in Lucene's `FeatureField`, which stores them as the frequency of the
//! feature's name. Here they are the end of a term, so that the values of a feature are adjacent in the
//! dictionary, in ascending order.

use crate::RequestError;
use crate::number::java_float;

/// Follows the name in the terms of `rank_features`.
const NAME_END: u8 = 0;

/// Number of low bits of a float that are dropped.
const BITS_LOST: u32 = 15;

/// The parameters of a field of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankFeature {
    /// Whether values are pairs of a feature's name and a number (`rank_features`).
    pub is_named: bool,
    /// Whether scores rise with the number, rather than with its reciprocal (`positive_score_impact`).
    pub is_positive: bool,
}

impl RankFeature {
    /// Returns the term of a value. `field` is the name of Lucene's field in Elasticsearch, for error
    /// messages.
    ///
    /// # Errors
    /// The value is not a positive normal float; the message is Lucene's.
    pub fn term(self, name: &str, field: &str, value: f32) -> Result<Vec<u8>, RequestError> {
        if !value.is_finite() {
            return Err(RequestError::illegal_argument(format!(
                "featureValue must be finite, got: {} for feature {name} on field {field}",
                java_float(value)
            )));
        }
        let value = if self.is_positive { value } else { 1.0 / value };
        if value < f32::MIN_POSITIVE {
            return Err(RequestError::illegal_argument(format!(
                "featureValue must be a positive normal float, got: {} for feature {name} on field {field} which is \
                 less than the minimum positive normal float: {}",
                java_float(value),
                java_float(f32::MIN_POSITIVE)
            )));
        }
        if !value.is_finite() {
            return Err(RequestError::illegal_argument(format!(
                "featureValue must be finite, got: {} for feature {name} on field {field}",
                java_float(value)
            )));
        }
        let mut term = if self.is_named { RankFeature::prefix(name) } else { Vec::new() };
        term.extend(((value.to_bits() >> BITS_LOST) as u16).to_be_bytes());
        Ok(term)
    }

    /// Returns the prefix of the terms of a named feature.
    pub fn prefix(name: &str) -> Vec<u8> {
        let mut prefix = name.as_bytes().to_vec();
        prefix.push(NAME_END);
        prefix
    }

    /// Returns the number at the end of a term, which has the form of Lucene's frequency.
    pub fn frequency(term: &[u8]) -> u16 {
        term.last_chunk::<2>().map_or(0, |bytes| u16::from_be_bytes(*bytes))
    }

    /// Returns the value for a frequency, which may be the mean of several.
    pub fn value(frequency: f32) -> f32 {
        f32::from_bits((frequency as u32) << BITS_LOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those in explanations of Elasticsearch 7.17.15.
    #[test]
    fn values_keep_nine_bits() {
        let feature = RankFeature { is_named: false, is_positive: true };
        for (value, kept) in [(8.0, 8.0), (0.1, 0.099853516), (12.75, 12.75), (50.8, 50.75)] {
            let term = feature.term("f", "_feature", value).unwrap();
            assert_eq!(RankFeature::value(RankFeature::frequency(&term).into()), kept);
        }
        let reciprocal = RankFeature { is_positive: false, ..feature };
        let term = reciprocal.term("f", "_feature", 22.0).unwrap();
        assert_eq!(RankFeature::value(RankFeature::frequency(&term).into()), 0.045410156);
    }

    #[test]
    fn terms_of_a_feature_are_neighbours_in_the_order_of_their_values() {
        let feature = RankFeature { is_named: true, is_positive: true };
        let terms: Vec<_> =
            [0.5, 1.0, 3.0, 1e9].map(|value| feature.term("a", "f", value).unwrap()).into_iter().collect();
        assert!(terms.is_sorted() && terms.iter().all(|term| term.starts_with(&RankFeature::prefix("a"))));
    }

    #[test]
    fn what_is_no_positive_normal_float_is_refused() {
        let feature = RankFeature { is_named: false, is_positive: true };
        for value in [0.0, -1.0, 1e-40] {
            let error = feature.term("pr", "_feature", value).unwrap_err();
            assert!(error.reason.starts_with("featureValue must be a positive normal float, got: "));
            assert!(
                error.reason.ends_with("the minimum positive normal float: 1.1754944E-38"),
                "{}",
                error.reason
            );
        }
        assert!(feature.term("pr", "_feature", f32::NAN).is_err());
    }
}
