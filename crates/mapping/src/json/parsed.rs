//! Trees of JSON texts of users: "is there enough memory for this one, and what does it hold?"

use limber_work::Stop;
use serde_json::Value;

/// Bytes that each value takes in its list or object, which grow by doubling.
const BYTES_A_VALUE: u64 = 2 * size_of::<Value>() as u64;
/// Bytes of an object with few members, beside its value: entries and a hash table.
const OBJECT_BYTES: u64 = 256;
/// The depth from which parsing fails.
const DEPTH_MAX: u32 = 130;

/// Estimates the largest size of the tree of a JSON text while it grows, its strings included: for a text
/// such as `[[],[],...]` it is fifty times the size of the text.
pub fn tree_bytes(text: &[u8]) -> u64 {
    let (values, objects) = values_and_objects(text);
    text.len() as u64 + values * BYTES_A_VALUE + objects * OBJECT_BYTES
}

/// Returns upper bounds for the number of values, and of objects among them, up to the depth at which
/// parsing fails.
fn values_and_objects(text: &[u8]) -> (u64, u64) {
    let (mut values, mut objects, mut depth) = (0, 0, 0u32);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in text {
        if in_text {
            in_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b',' => values += 1,
            b'[' | b'{' => {
                values += 1;
                objects += u64::from(*byte == b'{');
                depth += 1;
                if depth > DEPTH_MAX {
                    break;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (values, objects)
}

/// Checks that there is enough memory for the tree of a JSON text, before it is parsed. To be called for
/// every text whose length a user determines, such as the source of a document.
///
/// # Errors
/// As [`limber_work::claim`].
pub fn claim_parsed(text: &[u8]) -> Result<(), Stop> {
    limber_work::claim(tree_bytes(text))
}

/// Parses the source of a document, which was accepted when it was indexed. Unlike in other JSON, a number
/// may be larger than any double, in a field that does not hold numbers; as in Elasticsearch it is the string
/// `Infinity` or `-Infinity` then.
///
/// # Errors
/// The source is damaged, or nested more deeply than 128 levels.
pub fn parse_source(source: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(source).or_else(|error| match with_infinities(source) {
        Some(text) => serde_json::from_slice(&text),
        None => Err(error),
    })
}

/// Returns a JSON text with its numbers that are too large replaced by strings; `None` if it has none.
fn with_infinities(json: &[u8]) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = json.get(at) {
        if byte == b'"' {
            at = end_of_text(json, at);
            continue;
        }
        if !matches!(byte, b'-' | b'0'..=b'9') {
            at += 1;
            continue;
        }
        let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        let end = at + json[at..].iter().take_while(|byte| is_part(byte)).count();
        let number = std::str::from_utf8(&json[at..end]).ok().and_then(|text| text.parse::<f64>().ok());
        if let Some(number) = number.filter(|number| number.is_infinite()) {
            let out = out.get_or_insert_default();
            out.extend_from_slice(&json[copied..at]);
            out.extend_from_slice(if number > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
            copied = end;
        }
        at = end;
    }
    let mut out = out?;
    out.extend_from_slice(&json[copied..]);
    Some(out)
}

/// Returns the place after the string that begins at `start`.
fn end_of_text(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_may_have_numbers_that_no_double_holds() {
        let parsed = |text: &str| parse_source(text.as_bytes()).expect(text);
        let digits = "9".repeat(100_000);
        assert_eq!(
            parsed("{\"a\":[1e400,-1E+999,\"1e400\",2]}"),
            json!({"a": ["Infinity", "-Infinity", "1e400", 2]})
        );
        assert_eq!(parsed(&format!("{{\"a\":{digits}}}")), json!({"a": "Infinity"}));
        assert_eq!(parsed("{\"\\\"1e999\":-0.5e-999}"), json!({"\"1e999": -0.0}));
        assert_eq!(parsed("1"), json!(1));
        for broken in ["{\"a\":1e400", "{\"a\":1e400x}", "{", "{\"a\":\"", "-", "[1e400,]"] {
            assert!(parse_source(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn an_estimate_is_at_least_what_the_tree_of_a_text_takes() {
        let repeated = |item: &str| format!("[{}]", vec![item; 1_000].join(","));
        let text = repeated("[]");
        assert!(tree_bytes(text.as_bytes()) >= 1_000 * size_of::<Value>() as u64);
        // An object of one member has an entry (hash, key and value) and room for three more.
        let text = repeated("{\"\":0}");
        assert!(tree_bytes(text.as_bytes()) >= 1_000 * 4 * (size_of::<Value>() as u64 + 32));
        let text = repeated("\"a,[{\\\"\"");
        assert!(tree_bytes(text.as_bytes()) < 1_000 * (2 * size_of::<Value>() as u64 + 20));
    }
}
