//! Documents under a mapping: what is fed to the sink, and what is refused with which message.

use limber_mapping::document::{Parsed, Scratch, infer, parse, parse_acknowledged};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings, RequestError};
use serde_json::{Value, json};

fn mapping(body: Value) -> Mapping {
    Mapping::parse(&body, &MappingSettings::default()).unwrap()
}

fn walk(mapping: &Mapping, source: &str) -> Result<(Parsed, Vec<String>), RequestError> {
    let mut sink = RecordingSink::default();
    let parsed = parse(mapping, source.as_bytes(), Scratch::new().for_document("1"), &mut sink)?;
    Ok((parsed, sink.lines()))
}

/// Checks the calls of the sink.
fn check(mapping: &Mapping, source: &str, expected: &[&str]) {
    let (parsed, lines) = walk(mapping, source).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(parsed, Parsed::Done, "{source}");
    assert_eq!(lines, expected, "{source}");
}

fn logs() -> Mapping {
    mapping(json!({"dynamic": "strict", "properties": {
        "@timestamp": {"type": "date", "format": "epoch_second"},
        "clientip": {"type": "ip"},
        "request": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
        "status": {"type": "integer"},
        "size": {"type": "integer"},
        "machine": {"properties": {"os": {"type": "keyword"}, "ram": {"type": "long"}}},
    }}))
}

#[test]
fn values_reach_their_fields() {
    check(
        &logs(),
        r#"{"@timestamp":804571201,"clientip":"199.72.81.55","request":"GET / HTTP/1.0","status":200,"size":"6245"}"#,
        &[
            "@timestamp=804571201000",
            "clientip=0x00000000000000000000ffffc7485137",
            "request~GET / HTTP/1.0",
            "request.raw=GET / HTTP/1.0",
            "status=200",
            "size=6245",
        ],
    );
    check(
        &logs(),
        r#" { "machine" : { "os" : "linux" , "ram" : 8589934592 } } "#,
        &["machine.os=linux", "machine.ram=8589934592"],
    );
    check(
        &logs(),
        r#"{"machine.os":"linux","machine":[{"ram":1},[{"ram":2}],null]}"#,
        &["machine.os=linux", "machine.ram=1", "machine.ram=2"],
    );
    check(
        &logs(),
        r#"{"status":[1,[2,null,[]],[[3]]],"size":null,"machine":null}"#,
        &["status=1", "status=2", "status=3"],
    );
    check(
        &logs(),
        r#"{"request":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800x"}"#,
        &[
            "request~a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\u{fffd}x",
            "request.raw=a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\u{fffd}x",
        ],
    );
    check(&logs(), r#"{"st\u0061tus":5}"#, &["status=5"]);
    check(&logs(), "{}", &[]);
}

#[test]
fn dynamic_fields_are_proposed() {
    let empty = Mapping::empty(&MappingSettings::default());
    let source = r#"{"a":1,"b":"text","c":[1.5],"d":{"e":true},"f":"2020-01-01","g":null,"h":[],"i.j":"x"}"#;
    assert_eq!(walk(&empty, source).unwrap().0, Parsed::NeedsMapping);
    let merged = empty.merge(&infer(&empty, source.as_bytes()).unwrap()).unwrap();
    assert_eq!(walk(&merged, source).unwrap().0, Parsed::Done);
    assert_eq!(
        merged.to_json(),
        json!({"properties": {
            "a": {"type": "long"},
            "b": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
            "c": {"type": "float"},
            "d": {"properties": {"e": {"type": "boolean"}}},
            "f": {"type": "date"},
            "i": {"properties": {"j": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}}},
        }})
    );
}

/// A document that was acknowledged under an earlier state of a mapping can be read under every later one:
/// what the later one refuses is left out, and nothing else.
#[test]
fn an_acknowledged_document_is_never_refused() {
    let source = br#"{"n": "no number", "list": [1, "x", 3], "o": "no object", "unknown": 7, "a.b": 1, "k": "kept",
        "deep": [{"n": "1"}, {"n": "x"}, {"n": "2"}], " ": 1, "_id": "forged", "p": {"lat": 1000, "lon": 0}, "c": "y"}"#;
    for dynamic in ["true", "false", "strict", "runtime"] {
        let body = serde_json::json!({"dynamic": dynamic, "properties": {
            "n": {"type": "long"}, "list": {"type": "long"}, "o": {"properties": {"x": {"type": "long"}}},
            "a": {"type": "long"}, "k": {"type": "keyword"}, "p": {"type": "geo_point"},
            "deep": {"type": "nested", "properties": {"n": {"type": "long"}}},
            "c": {"type": "constant_keyword", "value": "x"}}});
        let mut settings = MappingSettings::default();
        settings.limits.nested_objects = 2;
        let mapping = Mapping::parse(&body, &settings).expect("a mapping");
        assert!(parse(&mapping, source, &mut Scratch::new(), &mut RecordingSink::default()).is_err());
        let mut sink = RecordingSink::default();
        parse_acknowledged(&mapping, source, &mut Scratch::new(), &mut sink).expect(dynamic);
        let lines: Vec<String> =
            sink.lines().into_iter().filter(|line| !line.starts_with("_field_names")).collect();
        let expected = [
            "list=1", "list=3", "k=kept", "deep {", "deep.n=1", "} deep", "deep {", "} deep", "deep {",
            "deep.n=2", "} deep",
        ];
        assert_eq!(lines, expected, "dynamic: {dynamic}");
    }
}
