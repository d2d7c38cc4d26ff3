//! Copies of JSON trees: "is there enough memory for one more?"

use limber_work::Stop;
use serde_json::Value;

/// Estimated bytes of a member's entry in its object's hash table, and of the table of a small object.
const MEMBER_BYTES: u64 = 128;
const OBJECT_BYTES: u64 = 256;

/// Checks that there is enough memory for a copy of a JSON tree, before it is made.
///
/// # Errors
/// As [`limber_work::claim`].
pub fn claim_tree(tree: &Value) -> Result<(), Stop> {
    limber_work::claim(bytes(tree))
}

/// Estimates the bytes of a copy of a JSON tree.
pub fn copied_bytes(tree: &Value) -> u64 {
    bytes(tree)
}

/// Estimates the bytes of a member of an object, without those of its value.
pub fn member_bytes(name: &str) -> u64 {
    name.len() as u64 + MEMBER_BYTES
}

fn bytes(tree: &Value) -> u64 {
    let inside: u64 = match tree {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| member_bytes(name) + bytes(value));
            OBJECT_BYTES + members.sum::<u64>()
        }
        _ => 0,
    };
    size_of::<Value>() as u64 + inside
}
