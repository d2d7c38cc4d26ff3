//! Smoothing models: how a language model rates sequences of words that no document contains.

use limber_mapping::RequestError;
use serde_json::Value;

use crate::values::json;

/// How sequences of words that no document contains are rated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Smoothing {
    StupidBackoff { discount: f64 },
    Laplace { alpha: f64 },
    LinearInterpolation { trigram: f64, bigram: f64, unigram: f64 },
}

impl Smoothing {
    /// Parses a smoothing model.
    ///
    /// # Errors
    /// There is no such model, or the weights do not add up to 1.
    pub fn parse(value: &Value) -> std::result::Result<Smoothing, RequestError> {
        let Some((name, options)) = value.as_object().and_then(|object| object.iter().next()) else {
            return Err(RequestError::illegal_argument("Required one field, but found none in [smoothing]"));
        };
        let number = |key: &str, default: f64| options.get(key).and_then(Value::as_f64).unwrap_or(default);
        match name.as_str() {
            "stupid_backoff" => Ok(Smoothing::StupidBackoff { discount: number("discount", 0.4) }),
            "laplace" => Ok(Smoothing::Laplace { alpha: number("alpha", 0.5) }),
            "linear_interpolation" => {
                let (trigram, bigram, unigram) = (
                    number("trigram_lambda", 0.0),
                    number("bigram_lambda", 0.0),
                    number("unigram_lambda", 0.0),
                );
                if (trigram + bigram + unigram - 1.0).abs() > 0.001 {
                    return Err(RequestError::illegal_argument("linear smoothing lambdas must sum to 1"));
                }
                Ok(Smoothing::LinearInterpolation { trigram, bigram, unigram })
            }
            other => Err(json::unknown_key(other, options)),
        }
    }
}
