//! JSON as Elasticsearch prints it: compact, or `pretty` with Jackson's spacing (`"a" : 1`, `{ }`, `[ ]`).

use std::io;

use limber_work::{CheckedBytes, Stop};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Like [`to_bytes`], for a response whose size depends on the client: `pretty` may turn one byte into
/// twenty.
///
/// # Errors
/// There is not enough memory for it, or the client has disconnected.
pub fn to_bytes_checked(value: &Value, pretty: bool) -> Result<Vec<u8>, Stop> {
    let mut writer = CheckedBytes::of(Vec::with_capacity(256));
    // Writing to memory fails only for the reasons that `finish` returns.
    let _ = if pretty {
        value.serialize(&mut Serializer::with_formatter(&mut writer, Jackson::default()))
    } else {
        value.serialize(&mut Serializer::with_formatter(&mut writer, CompactFormatter))
    };
    let mut out = writer.finish()?;
    if pretty {
        out.push(b'\n');
    }
    Ok(out)
}

/// Serializes `value`. As in Elasticsearch, the pretty form ends with a line break and the compact form does
/// not.
pub fn to_bytes(value: &Value, pretty: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    let outcome = if pretty {
        let outcome = value.serialize(&mut Serializer::with_formatter(&mut bytes, Jackson::default()));
        bytes.push(b'\n');
        outcome
    } else {
        value.serialize(&mut Serializer::with_formatter(&mut bytes, CompactFormatter))
    };
    outcome.expect("a JSON value always serialises into memory");
    bytes
}

/// Jackson's default pretty printer.
#[derive(Default)]
struct Jackson {
    depth: usize,
    has_value: bool,
}

impl Jackson {
    fn line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        for _ in 0..self.depth {
            writer.write_all(b"  ")?;
        }
        Ok(())
    }

    fn open<W: ?Sized + io::Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + io::Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.line(writer)?;
        } else {
            writer.write_all(b" ")?;
        }
        self.has_value = true;
        writer.write_all(bracket)
    }

    fn member<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.line(writer)
    }
}

impl Formatter for Jackson {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.member(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.member(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pretty_has_jacksons_spacing() {
        let value = json!({"a": 1, "b": [], "c": {}, "d": [1, {"e": null}]});
        let expected = "{\n  \"a\" : 1,\n  \"b\" : [ ],\n  \"c\" : { },\n  \"d\" : [\n    1,\n    {\n      \"e\" : null\n    }\n  ]\n}\n";
        assert_eq!(String::from_utf8(to_bytes(&value, true)).expect("utf-8"), expected);
        assert_eq!(to_bytes(&value, false), br#"{"a":1,"b":[],"c":{},"d":[1,{"e":null}]}"#);
        for pretty in [false, true] {
            assert_eq!(to_bytes_checked(&value, pretty).expect("no request"), to_bytes(&value, pretty));
        }
    }
}
