//! The tree of a body in YAML, CBOR or SMILE: "is there still memory for what these bytes stand for?"
//!
//! An alias of YAML stands for as many values as its anchor, so that the size of a body says little about
//! its tree. Memory and cancellation are checked while the tree grows.

use std::cell::Cell;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use limber_mapping::RequestError;
use limber_work::{self as work, Stop};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Bytes that are added to the tree between two checks.
const CHECK_EVERY_BYTES: usize = 256 << 10;

/// `serde_smile` passes numbers that fit no Rust type on as objects. The names of their members begin with
/// this.
const LARGE_NUMBER: &str = "\0SmileBig";

thread_local! {
    /// Bytes that were added to the tree since the last check.
    static UNCHECKED_BYTES: Cell<usize> = const { Cell::new(0) };
    /// Why the tree could not be finished. Errors of a deserializer can only hold a text.
    static STOP: Cell<Option<Stop>> = const { Cell::new(None) };
}

/// A tree, as deserializers make it inside of [`read`].
pub(super) struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        Growing.deserialize(deserializer).map(Tree)
    }
}

/// Returns the tree that `parse` makes. `broken` makes the error for a message of the format.
///
/// # Errors
/// The body is malformed, there is not enough memory for its tree, or the client has disconnected.
pub(super) fn read<E: fmt::Display>(
    parse: impl FnOnce() -> Result<Tree, E>,
    broken: impl FnOnce(String) -> RequestError,
) -> Result<Value, RequestError> {
    STOP.set(None);
    match (parse(), STOP.take()) {
        (_, Some(stop)) => Err(stop.into()),
        (Ok(Tree(value)), None) => Ok(value),
        (Err(error), None) => Err(broken(error.to_string())),
    }
}

/// A value of the tree, and all below it.
#[derive(Clone, Copy)]
struct Growing;

impl Growing {
    fn grow<E: Error>(self, text_bytes: usize) -> Result<(), E> {
        let bytes = UNCHECKED_BYTES.get() + size_of::<Value>() + text_bytes;
        if bytes < CHECK_EVERY_BYTES {
            UNCHECKED_BYTES.set(bytes);
            return Ok(());
        }
        UNCHECKED_BYTES.set(0);
        work::claim(text_bytes as u64).map_err(|stop| {
            STOP.set(Some(stop));
            E::custom("stopped")
        })
    }

    fn leaf<E: Error>(self, value: Value) -> Result<Value, E> {
        self.grow(0)?;
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for Growing {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Growing {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        self.leaf(Value::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.leaf(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.leaf(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.leaf(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    /// A float of 32 bits gets the digits that stand for it in JSON.
    fn visit_f32<E: Error>(self, number: f32) -> Result<Value, E> {
        self.visit_f64(number.to_string().parse().unwrap_or(f64::from(number)))
    }

    /// Bytes become what stands for them in JSON.
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Value, E> {
        self.grow(bytes.len() / 3 * 4)?;
        Ok(Value::String(BASE64_STANDARD.encode(bytes)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.grow(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        self.grow(text.len())?;
        Ok(Value::String(text))
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.leaf(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.leaf(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.grow(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.grow(0)?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name.starts_with(LARGE_NUMBER) {
                return Err(A::Error::custom("numbers of more than 128 bits are not supported"));
            }
            self.grow(name.len())?;
            object.insert(name, members.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use limber_work::Work;
    use serde_json::json;

    use super::*;

    fn of_yaml(text: &str) -> Result<Value, RequestError> {
        read(|| serde_yaml_ng::from_str(text), RequestError::parsing)
    }

    #[test]
    fn a_tree_is_what_serde_json_makes_of_it() {
        let text = "a: [1, -2, 2.5, .nan, ~, true, x, {b: ''}]\nc: &c {d: 18446744073709551615}\ne: *c\n";
        let expected = serde_yaml_ng::from_str::<Value>(text).expect("valid");
        assert_eq!(of_yaml(text).expect("valid"), expected);
        assert_eq!(of_yaml("a: 1").expect("valid"), json!({"a": 1}));
        assert!(of_yaml("? [1]\n: 1").is_err());
    }

    #[test]
    fn a_tree_that_grows_by_aliases_ends_with_its_request() {
        let list = vec!["1"; 20_000].join(",");
        let aliases = vec!["*a"; 90].join(",");
        let text = format!("a: &a [{list}]\nb: [{aliases}]\n");
        assert!(of_yaml(&text).is_ok());
        let work = Work { cancelled: Arc::new(AtomicBool::new(true)), ..Work::default() };
        let _entered = work.enter();
        let error = of_yaml(&text).expect_err("the client is gone");
        assert!(!error.reason.contains("stopped"), "{}", error.reason);
    }
}
