//! `extended_bounds` and `hard_bounds`: the range of keys that has buckets.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::super::options::{Options, unknown_field};

/// A range; either end may be open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds<T> {
    pub min: Option<T>,
    pub max: Option<T>,
}

impl Bounds<Value> {
    /// Reads `{"min": ..., "max": ...}`.
    pub fn parse(options: &mut Options, name: &str) -> Result<Option<Bounds<Value>>, RequestError> {
        let Some(mut object) = options.object(name)? else { return Ok(None) };
        let take = |end: &str, object: &mut Map<String, Value>| {
            object.shift_remove(end).filter(|value| !value.is_null())
        };
        let bounds = Bounds { min: take("min", &mut object), max: take("max", &mut object) };
        match object.keys().next() {
            Some(other) => Err(options.failed(name, unknown_field("bounds", other))),
            None => Ok(Some(bounds)),
        }
    }
}

impl<T: PartialOrd + Copy> Bounds<T> {
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
