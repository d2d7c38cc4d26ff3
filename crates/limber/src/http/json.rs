//! JSON as Elasticsearch prints it: compact, or `pretty` with Jackson's spacing (`"a" : 1`, `{ }`, `[ ]`).

use std::io;

use limber_work::{self as work, Stop};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Like [`to_bytes`], for a response whose size depends on the client: `pretty` may turn one byte into
/// twenty.
///
/// # Errors
/// There is not enough memory for it, or the client has disconnected.
pub fn to_bytes_checked(value: &Value, pretty: bool) -> Result<Vec<u8>, Stop> {
    let mut writer = Checked::new(b"");
    // Writing to memory fails only for the reasons in `stop`.
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

/// A buffer that checks memory and cancellation as it grows.
pub(super) struct Checked {
    out: Vec<u8>,
    checked_bytes: usize,
    stop: Option<Stop>,
}

/// Bytes that are written between two checks.
const CHECK_EVERY_BYTES: usize = 256 << 10;

impl Checked {
    /// Creates a buffer that begins with `start`.
    pub(super) fn new(start: &[u8]) -> Checked {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(start);
        Checked { out, checked_bytes: 0, stop: None }
    }

    /// Returns what was written, or why nothing more could be.
    pub(super) fn finish(self) -> Result<Vec<u8>, Stop> {
        self.stop.map_or(Ok(self.out), Err)
    }

    fn check(&mut self, more_bytes: usize) -> Result<(), Stop> {
        work::check_growth(self.out.len(), self.out.capacity(), more_bytes)?;
        if self.out.len() - self.checked_bytes < CHECK_EVERY_BYTES {
            return Ok(());
        }
        self.checked_bytes = self.out.len();
        work::check_beyond_deadline()
    }
}

impl io::Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(stop) = self.check(bytes.len()) {
            self.stop = Some(stop);
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
