//! Compares the walker with a naive reading through `serde_json`, on random documents, including damaged
//! ones.

use limber_mapping::document::{Parsed, Scratch, infer, parse};
use limber_mapping::testing::{NullSink, RecordingSink};
use limber_mapping::{Mapping, MappingSettings};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn mapping() -> Mapping {
    let body = json!({"dynamic": "false", "properties": {
        "k": {"type": "keyword"},
        "t": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "\"q\\": {"type": "keyword"},
        "o": {"properties": {
            "k": {"type": "keyword"},
            "inner": {"properties": {"k": {"type": "keyword"}, "long key of more than sixteen bytes": {"type": "keyword"}}},
        }},
    }});
    Mapping::parse(&body, &MappingSettings::default()).unwrap()
}

/// Computes the expected calls of the sink, by recursion over the parsed document.
fn naive(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                naive(value, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, out);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| naive(value, path, out)),
        Value::Null => {}
        scalar => {
            let text = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
            match path {
                "t" => out.extend([format!("t~{text}"), format!("t.raw={text}")]),
                "k" | "\"q\\" | "o.k" | "o.inner.k" | "o.inner.long key of more than sixteen bytes" => {
                    let mut sink = RecordingSink::default();
                    let field = mapping().field(path).unwrap().clone();
                    limber_mapping::FieldSink::term(&mut sink, &field, text.as_bytes());
                    out.extend(sink.lines());
                }
                _ => {}
            }
        }
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-z\"\\\\/\u{8}\u{c}\n\r\t\u{1}é中😀\u{7f} -]{0,24}".prop_map(Value::from),
    ]
}

fn scalars() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| proptest::collection::vec(inner, 0..4).prop_map(Value::from))
}

fn object(
    keys: &'static [&'static str],
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::vec((proptest::sample::select(keys), value), 0..5)
        .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Generates a document for the mapping above, with unmapped fields of any shape among the known ones.
fn document() -> impl Strategy<Value = Value> {
    const INNER: &[&str] = &["k", "long key of more than sixteen bytes", "x"];
    const MIDDLE: &[&str] = &["k", "y"];
    const OUTER: &[&str] = &["k", "t", "\"q\\", "stranger", "k2"];
    let inner = object(INNER, scalars());
    let middle = (object(MIDDLE, scalars()), proptest::collection::vec(inner, 0..3)).prop_map(
        |(mut middle, inner)| {
            middle.insert("inner".to_owned(), inner.into_iter().map(Value::Object).collect());
            middle
        },
    );
    let strange = object(INNER, scalars()).prop_map(Value::Object);
    (object(OUTER, scalars()), middle, strange, any::<bool>()).prop_map(
        |(mut outer, middle, strange, first)| {
            outer.insert("strange".to_owned(), strange);
            outer.insert("o".to_owned(), if first { Value::Object(middle) } else { json!([middle, null]) });
            Value::Object(outer)
        },
    )
}

/// Formats JSON with blanks and escapes wherever they are allowed.
fn dressed(value: &Value, seed: u64) -> String {
    let text = if seed & 1 == 0 { value.to_string() } else { serde_json::to_string_pretty(value).unwrap() };
    if seed & 2 == 0 {
        return text;
    }
    // Writes every non-ASCII character as \u escapes, including surrogate pairs.
    let mut units = [0; 2];
    text.chars()
        .flat_map(|c| {
            if c.is_ascii() {
                vec![c.to_string()]
            } else {
                c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn walker_hears_what_a_parsed_document_says(documents in proptest::collection::vec((document(), any::<u64>()), 1..4)) {
        let mapping = mapping();
        let mut scratch = Scratch::new();
        for (value, seed) in documents {
            let source = dressed(&value, seed);
            let mut sink = RecordingSink::default();
            let parsed = parse(&mapping, source.as_bytes(), &mut scratch, &mut sink).map_err(|error| TestCaseError::fail(format!("{source}: {error}")))?;
            prop_assert_eq!(parsed, Parsed::Done);
            let mut expected = Vec::new();
            naive(&value, "", &mut expected);
            prop_assert_eq!(sink.lines(), expected, "{}", source);
        }
    }

    #[test]
    fn truncated_documents_are_refused(value in document(), seed in any::<u64>(), cut in any::<prop::sample::Index>()) {
        let source = dressed(&value, seed);
        let end = cut.index(source.len());
        let outcome = parse(&mapping(), &source.as_bytes()[..end], &mut Scratch::new(), &mut NullSink::default());
        prop_assert!(outcome.is_err());
    }

    /// For any bytes, the walker accepts exactly what is JSON without duplicate keys, and never panics.
    #[test]
    fn spoilt_documents_are_judged_like_serde_json(value in document(), seed in any::<u64>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut source = dressed(&value, seed).into_bytes();
        let place = at.index(source.len());
        source[place] = byte;
        let outcome = parse(&mapping(), &source, &mut Scratch::new(), &mut NullSink::default());
        match serde_json::from_slice::<Value>(&source) {
            Err(error) => {
                // As in Elasticsearch, an unpaired surrogate is accepted; numbers out of range are strings to
                // a keyword.
                let text = error.to_string();
                let is_ours = ["surrogate", "out of range", "unexpected end of hex escape"].iter().any(|word| text.contains(word));
                prop_assert!(outcome.is_err() || is_ours, "{} {}", text, String::from_utf8_lossy(&source));
            }
            Ok(Value::Object(_)) => {
                if let Err(error) = outcome {
                    let known = ["Duplicate field", "object mapping for", "failed to parse field", "field name", "Field name"];
                    prop_assert!(known.iter().any(|word| error.reason.contains(word)), "{}", error);
                }
            }
            Ok(_) => prop_assert!(outcome.is_err()),
        }
    }

    /// If a document needs a new mapping, the inferred one satisfies it.
    #[test]
    fn inferred_mappings_suffice(value in document(), seed in any::<u64>()) {
        let source = dressed(&value, seed);
        let mapping = Mapping::empty(&MappingSettings::default());
        let update = infer(&mapping, source.as_bytes());
        if let Ok(update) = update && let Ok(merged) = mapping.merge(&update) {
            match parse(&merged, source.as_bytes(), &mut Scratch::new(), &mut NullSink::default()) {
                Ok(parsed) => prop_assert_eq!(parsed, Parsed::Done, "{}", source),
                // The first value determines the type; a later one may not match it.
                Err(error) => prop_assert!(error.reason.contains("failed to parse") || error.reason.contains("object mapping"), "{}", error),
            }
            // The mapping is unchanged after rendering and parsing.
            let again = Mapping::parse(&merged.to_json(), &MappingSettings::default()).unwrap();
            prop_assert_eq!(again.to_json(), merged.to_json());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(source in proptest::collection::vec(any::<u8>(), 0..200), text in "[{}\\[\\]\",:a-z0-9.\\\\ekt-]{0,60}") {
        let empty = Mapping::empty(&MappingSettings::default());
        for bytes in [&source[..], text.as_bytes()] {
            let _ = parse(&empty, bytes, &mut Scratch::new(), &mut NullSink::default());
            let _ = infer(&empty, bytes);
        }
    }
}

#[test]
fn depth_is_limited_without_recursion() {
    let deep = |open: &str, close: &str, count: usize| {
        format!("{{\"k\":{}1{}}}", open.repeat(count), close.repeat(count))
    };
    let mapping = mapping();
    let empty = Mapping::empty(&MappingSettings::default());
    for source in [deep("[", "]", 100_000), deep("{\"k\":", "}", 100_000), deep("[", "]", 1000)] {
        for mapping in [&mapping, &empty] {
            assert!(
                parse(mapping, source.as_bytes(), &mut Scratch::new(), &mut NullSink::default()).is_err()
            );
        }
        let _ = infer(&empty, source.as_bytes());
    }
    let source = deep("[", "]", 900);
    assert!(parse(&mapping, source.as_bytes(), &mut Scratch::new(), &mut NullSink::default()).is_ok());
}
