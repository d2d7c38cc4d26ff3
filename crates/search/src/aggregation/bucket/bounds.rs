//! `extended_bounds` and `hard_bounds`: the range of keys that has buckets.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::super::options::Options;
use crate::values::json;

/// A range; either end may be open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds<T> {
    pub min: Option<T>,
    pub max: Option<T>,
}

impl Bounds<Value> {
    /// Reads `{"min": ..., "max": ...}`, where the ends are texts or numbers. `parser` is the name of
    /// Elasticsearch's parser.
    pub fn parse(
        options: &mut Options,
        name: &str,
        parser: &'static str,
    ) -> Result<Option<Bounds<Value>>, RequestError> {
        let Some(mut object) = options.object(name)? else { return Ok(None) };
        let take = |end: &str, object: &mut Map<String, Value>| match object.shift_remove(end) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ (Value::String(_) | Value::Number(_))) => Ok(Some(value)),
            Some(other) => Err(options.failed(name, ObjectParser::new(parser).unsupported(end, &other))),
        };
        let bounds = Bounds { min: take("min", &mut object)?, max: take("max", &mut object)? };
        match object.keys().next() {
            Some(other) => Err(options.failed(name, ObjectParser::new(parser).unknown(other))),
            None => Ok(Some(bounds)),
        }
    }

    /// Refuses numbers that are no dates in milliseconds.
    pub fn check_whole(&self, options: &Options, name: &str) -> Result<(), RequestError> {
        for (end, value) in [("min", &self.min), ("max", &self.max)] {
            if let Some(Value::Number(number)) = value
                && number.as_f64().is_some_and(|number| number.fract() != 0.0)
            {
                let reason = format!("{number} cannot be converted to Long without data loss");
                let cause = ObjectParser::new("bounds").failed(end, RequestError::illegal_argument(reason));
                return Err(options.failed(name, cause));
            }
        }
        Ok(())
    }

    /// Returns the range as the request gives it.
    pub fn to_text(&self) -> String {
        let text = |end: &Option<Value>| end.as_ref().and_then(json::scalar_text).unwrap_or_default();
        format!("{}--{}", text(&self.min), text(&self.max))
    }
}

impl<T: PartialOrd + Copy> Bounds<T> {
    /// Refuses extended bounds outside of the hard bounds; `texts` are how the error shows both.
    pub fn check_contains(
        &self,
        extended: &Bounds<T>,
        texts: impl Fn() -> [String; 2],
    ) -> Result<(), RequestError> {
        let inside = |end: Option<T>| {
            end.is_none_or(|end| {
                self.min.is_none_or(|min| end >= min) && self.max.is_none_or(|max| end <= max)
            })
        };
        if inside(extended.min) && inside(extended.max) {
            return Ok(());
        }
        let [hard, extended] = texts();
        Err(RequestError::illegal_argument(format!(
            "Extended bounds have to be inside hard bounds, hard bounds: [{hard}], extended bounds: [{extended}]"
        )))
    }

    /// Refuses a minimum above the maximum; `shown` formats an end for the error message.
    pub fn check(
        &self,
        name: &str,
        aggregation: &str,
        shown: impl Fn(T) -> String,
    ) -> Result<(), RequestError> {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min > max => Err(RequestError::illegal_argument(format!(
                "[{name}.min][{}] cannot be greater than [{name}.max][{}] for histogram aggregation [{aggregation}]",
                shown(min),
                shown(max)
            ))),
            _ => Ok(()),
        }
    }
}
