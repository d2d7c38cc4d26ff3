//! Reads JSON into a tree, and refuses objects that have a key twice.
//!
//! `serde_json` alone would keep the last of them, and so silently lose a clause of a query. Elasticsearch
//! refuses such bodies as well. A key is looked up once, as for any tree, so this costs no second pass.

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::error::RequestError;

/// The beginning of the error about a key that is there twice.
const DUPLICATE: &str = "Duplicate field '";

/// Parses JSON with serde_json's depth limit (128).
///
/// # Errors
/// The text is not one JSON value, or an object in it has a key twice; then the message begins with
/// [`DUPLICATE`], and the place is that of the end of the second key.
pub fn parse_unique(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = Tree.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Parses the value that a text begins with, like [`parse_unique`], and ignores what follows it.
///
/// # Errors
/// As for [`parse_unique`].
pub fn parse_leading(bytes: &[u8]) -> serde_json::Result<Value> {
    Tree.deserialize(&mut serde_json::Deserializer::from_slice(bytes))
}

/// Returns Elasticsearch's error about a key that is there twice, if that is what is wrong with `bytes`.
pub fn duplicate_key(bytes: &[u8], error: &serde_json::Error) -> Option<RequestError> {
    /// Bytes of the body that Elasticsearch's errors show.
    const SHOWN_BYTES: usize = 500;
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" at line {line} column {column}"))?;
    if !text.starts_with(DUPLICATE) {
        return None;
    }
    let mut source = format!("\"{}\"", String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]));
    if let Some(rest @ 1..) = bytes.len().checked_sub(SHOWN_BYTES) {
        source.push_str(&format!("[truncated {rest} bytes]"));
    }
    // Elasticsearch names the place after the key.
    let column = column + 1;
    let reason = format!("{text}\n at [Source: (byte[]){source}; line: {line}, column: {column}]");
    let cause = RequestError::bad_request("json_parse_exception", reason.clone());
    let reason = format!("[{line}:{column}] {reason}");
    Some(RequestError::bad_request("x_content_parse_exception", reason).caused_by(cause))
}

/// Returns the parser's error about a key that is there twice; [`duplicate_key`] recognises it.
pub fn duplicate<E: Error>(key: &str) -> E {
    E::custom(format_args!("{DUPLICATE}{key}'"))
}

/// Which of an object's known members have been read, for objects that do not become trees.
pub struct SeenMembers<'n> {
    names: &'n [&'n str],
    seen: u32,
}

impl<'n> SeenMembers<'n> {
    /// Begins to read an object, of which at most 32 members are known.
    pub fn of(names: &'n [&'n str]) -> SeenMembers<'n> {
        SeenMembers { names, seen: 0 }
    }

    /// Notes a member.
    ///
    /// # Errors
    /// It is known, and has been read before.
    pub fn note<E: Error>(&mut self, name: &str) -> Result<(), E> {
        let Some(place) = self.names.iter().position(|known| *known == name) else { return Ok(()) };
        let bit = 1 << place;
        if self.seen & bit != 0 {
            return Err(duplicate(name));
        }
        self.seen |= bit;
        Ok(())
    }
}

/// Builds the tree of one value.
struct Tree;

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Tree)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            match object.entry(key) {
                Entry::Vacant(place) => place.insert(members.next_value_seed(Tree)?),
                Entry::Occupied(present) => {
                    return Err(duplicate(present.key()));
                }
            };
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_those_of_serde_json() {
        for text in [
            "null",
            "[1,-2,3.5,1e400,18446744073709551615,\"a\\u0041\",true,{}]",
            "{\"a\":{\"b\":[{\"a\":1},{\"a\":2}]},\"b\":null}",
            "{\"a\":1} x",
            "{\"a\":",
            "[1,]",
        ] {
            let (ours, theirs) = (parse_unique(text.as_bytes()), serde_json::from_str::<Value>(text));
            assert_eq!(ours.map_err(|error| error.to_string()), theirs.map_err(|error| error.to_string()));
        }
        let deep = "[".repeat(200);
        assert!(parse_unique(deep.as_bytes()).expect_err("too deep").to_string().contains("recursion limit"));
    }

    /// Recorded from Elasticsearch 9.4.3.
    #[test]
    fn a_duplicate_is_reported_as_elasticsearch_does() {
        let body = b"{\"size\":1,\"size\":2}";
        let error = duplicate_key(body, &parse_unique(body).expect_err("a duplicate")).expect("about a key");
        let place = "at [Source: (byte[])\"{\"size\":1,\"size\":2}\"; line: 1, column: 17]";
        assert_eq!(error.reason, format!("[1:17] Duplicate field 'size'\n {place}"));
        let cause = error.caused_by.expect("a cause");
        assert_eq!((error.kind, cause.kind), ("x_content_parse_exception", "json_parse_exception"));
        assert_eq!(cause.reason, format!("Duplicate field 'size'\n {place}"));
    }

    #[test]
    fn a_key_is_there_once() {
        for (text, column) in [("{\"size\":1,\"size\":2}", 16), ("[{\"a\":{\"b\":1,\"b\":{}}}]", 16)] {
            let error = parse_unique(text.as_bytes()).expect_err("a duplicate");
            assert!(error.to_string().starts_with(DUPLICATE), "{error}");
            assert_eq!(error.column(), column);
        }
    }
}
