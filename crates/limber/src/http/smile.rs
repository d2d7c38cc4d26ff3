//! Bodies in SMILE, Jackson's binary form of JSON, and streams of them.
//!
//! Source: the [Smile format specification](https://github.com/FasterXML/smile-format-specification) and
//! Elasticsearch's `SmileXContentImpl`.

use limber_mapping::RequestError;
use limber_work::{CheckedBytes, Stop};
use serde::Serialize;
use serde_json::Value;
use serde_smile::Serializer;

use super::checked_tree;

/// Ends each value of a stream.
const SEPARATOR: u8 = 0xff;

/// Returns the value of a body.
///
/// # Errors
/// The body is malformed, or there is not enough memory for its tree.
pub(super) fn read(body: &[u8]) -> Result<Value, RequestError> {
    let broken = |error| RequestError::parsing(format!("failed to parse smile body: {error}"));
    checked_tree::read(|| serde_smile::from_slice(body), broken)
}

/// Returns the values of a stream as they are sent, each with its header.
pub(super) fn parts(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    stream.strip_suffix(&[SEPARATOR]).unwrap_or(stream).split(|byte| *byte == SEPARATOR)
}

/// Returns the values of a stream as lines of JSON. What no separator ends becomes a line that is not ended
/// either.
///
/// # Errors
/// A value is malformed, or there is not enough memory.
pub(super) fn lines(stream: &[u8]) -> Result<Vec<u8>, RequestError> {
    let mut out = CheckedBytes::default();
    let mut is_first = true;
    for part in parts(stream) {
        // Writing to memory fails only for the reasons that `finish` returns.
        if !std::mem::take(&mut is_first) {
            let _ = std::io::Write::write_all(&mut out, b"\n");
        }
        if !part.is_empty() {
            let _ = serde_json::to_writer(&mut out, &read(part)?);
        }
    }
    if stream.ends_with(&[SEPARATOR]) {
        let _ = std::io::Write::write_all(&mut out, b"\n");
    }
    Ok(out.finish()?)
}

/// Serializes a value with the options of Elasticsearch: repeated names are references, and bytes are sent as
/// they are.
///
/// # Errors
/// There is not enough memory for it, or the client has disconnected.
pub(super) fn write(value: &Value) -> Result<Vec<u8>, Stop> {
    let mut out = CheckedBytes::default();
    // Writing to memory fails only for the reasons that `finish` returns.
    let _ = value.serialize(&mut Serializer::builder().raw_binary(true).build(&mut out));
    out.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_survive_and_streams_become_lines() {
        let value =
            json!({"a": [1, -70_000, 5e300, null, true, "x"], "b": {"a": u64::MAX, "ü": "ü".repeat(90)}});
        let bytes = write(&value).expect("no request");
        assert!(bytes.starts_with(b":)\n\x05"));
        assert_eq!(read(&bytes), Ok(value));
        let part = |value: Value| write(&value).expect("no request");
        let mut stream = part(json!({"index": {}}));
        stream.push(SEPARATOR);
        stream.extend(part(json!({"a": 1})));
        assert_eq!(lines(&stream), Ok(b"{\"index\":{}}\n{\"a\":1}".to_vec()));
        stream.push(SEPARATOR);
        assert_eq!(lines(&stream), Ok(b"{\"index\":{}}\n{\"a\":1}\n".to_vec()));
        assert_eq!(parts(&stream).count(), 2);
    }

    #[test]
    fn jacksons_numbers_bytes_and_damage() {
        // 0.1 as a float, and the bytes 1 and 2.
        let float = b":)\n\x00\xf8\x28\x03\x6e\x33\x19\x4d\xfd\x82\x01\x02\xf9";
        assert_eq!(read(float), Ok(json!([0.1, "AQI="])));
        for broken in [
            b":(\n\x00\xf8\xf9".to_vec(),
            b":)\n\x00\xf8".to_vec(),
            [b":)\n\x00".to_vec(), vec![0xf8; 5_000]].concat(),
        ] {
            assert!(read(&broken).is_err(), "{broken:?}");
        }
        // Ten to the power of 400 as an integer of many bytes.
        assert!(read(b":)\n\x00\x26\x95\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03\x04\x05\x06\x07\x08").is_err());
    }
}
