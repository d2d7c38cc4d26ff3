//! Values as Elasticsearch sees them: "what is this number's Java class, and what is its string form?"
//!
//! Messages, `convert`, `join` and templates show values through Java's `toString`, which this module
//! reproduces.

use limber_mapping::number::java_double;

use super::IngestDocument;
use super::node::{Kind, Node, NodeId};

/// Whether Jackson reads a number with this JSON text as a `Double`.
pub fn is_floating(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Returns the name of the Java class that holds this value in Elasticsearch.
pub fn java_type(document: &IngestDocument<'_>, id: NodeId) -> &'static str {
    java_type_of(document, document.node(id))
}

/// Does the same as [`java_type`], for a node.
pub fn java_type_of(document: &IngestDocument<'_>, node: &Node) -> &'static str {
    match node.kind {
        Kind::Null => "null",
        Kind::False | Kind::True => "java.lang.Boolean",
        Kind::String => "java.lang.String",
        Kind::Array => "java.util.ArrayList",
        Kind::Object => "java.util.HashMap",
        Kind::Number => {
            let text = document.text(node.text);
            if is_floating(text) {
                "java.lang.Double"
            } else if text.parse::<i32>().is_ok() {
                "java.lang.Integer"
            } else if text.parse::<i64>().is_ok() {
                "java.lang.Long"
            } else {
                "java.math.BigInteger"
            }
        }
    }
}

/// Returns the value's `toString`.
pub fn java_text(document: &IngestDocument<'_>, id: NodeId) -> String {
    java_text_of(document, document.node(id))
}

/// Does the same as [`java_text`], for a node.
pub fn java_text_of(document: &IngestDocument<'_>, node: &Node) -> String {
    let mut out = String::new();
    push_java_text(document, node, &mut out, 0);
    out
}

/// Formats a number: integers unchanged, doubles as Java prints them.
pub fn number_text(text: &str) -> String {
    if is_floating(text) {
        return java_double(text.parse().unwrap_or(f64::NAN));
    }
    match text.parse::<i64>() {
        Ok(value) => value.to_string(),
        Err(_) => text.to_owned(),
    }
}

fn push_java_text(document: &IngestDocument<'_>, node: &Node, out: &mut String, depth: usize) {
    // A string this long is refused anyway when it would become part of the document.
    if out.len() > 2 * super::GROWTH_BYTES_MAX {
        return;
    }
    match node.kind {
        Kind::Null => out.push_str("null"),
        Kind::False => out.push_str("false"),
        Kind::True => out.push_str("true"),
        Kind::Number => out.push_str(&number_text(document.text(node.text))),
        Kind::String => {
            let inside = document.text(node.text);
            let inside = &inside[1..inside.len() - 1];
            if node.is(super::node::flag::TEXT_ESCAPED) {
                out.push_str(&super::json::unescape(inside));
            } else {
                out.push_str(inside);
            }
        }
        Kind::Array | Kind::Object => {
            if super::check_depth(depth).is_err() {
                return;
            }
            let is_object = node.kind == Kind::Object;
            out.push(if is_object { '{' } else { '[' });
            let mut child = node.first;
            while child != super::node::NONE {
                if child != node.first {
                    out.push_str(", ");
                }
                if is_object {
                    out.push_str(&document.key(child));
                    out.push('=');
                }
                let member = document.node(child);
                push_java_text(document, member, out, depth + 1);
                child = member.next;
            }
            out.push(if is_object { '}' } else { ']' });
        }
    }
}

/// Parses an integer like the `convert` processor, similar to `Integer.decode`: `0x` means hexadecimal, and a
/// sign may come first.
pub fn parse_integer(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().and_then(|value| i64::try_from(value).ok());
    }
    if let Some(digits) = text.strip_prefix("-0x") {
        return u64::from_str_radix(digits, 16).ok().and_then(|value| 0i64.checked_sub_unsigned(value));
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_java_reads_them() {
        assert_eq!(parse_integer("0x10"), Some(16));
        assert_eq!(parse_integer("+5"), Some(5));
        assert_eq!(parse_integer("1.0"), None);
        assert_eq!(parse_integer(" 1"), None);
    }
}
