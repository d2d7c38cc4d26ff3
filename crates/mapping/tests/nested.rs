//! Nested objects: to which document each value belongs, and how a mapping may declare them.

use limber_mapping::document::{Parsed, Scratch, infer, parse};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Limits, Mapping, MappingSettings, RequestError, SpaceId};
use serde_json::{Value, json};

fn mapping(properties: Value) -> Mapping {
    Mapping::parse(&json!({"properties": properties}), &MappingSettings::default()).expect("a mapping")
}

fn walk(mapping: &Mapping, source: &str) -> Result<Vec<String>, RequestError> {
    let mut sink = RecordingSink::default();
    let parsed = parse(mapping, source.as_bytes(), &mut Scratch::new(), &mut sink)?;
    assert_eq!(parsed, Parsed::Done, "{source}");
    Ok(sink.lines())
}

#[track_caller]
fn check(mapping: &Mapping, source: &str, expected: &str) {
    let lines = walk(mapping, source).expect("parses");
    assert_eq!(lines.join(" "), expected, "{source}");
}

#[test]
fn every_instance_is_a_document() {
    let mapping = mapping(json!({
        "k": {"type": "keyword"},
        "n": {"type": "nested", "properties": {
            "a": {"type": "long"},
            "o": {"properties": {"d": {"type": "nested", "properties": {"x": {"type": "long"}}}}},
        }},
        "off": {"type": "nested", "enabled": false},
    }));
    check(&mapping, r#"{"k":"v","n":{"a":1}}"#, "k=v n { n.a=1 } n");
    check(
        &mapping,
        r#"{"n":[{"a":1},[{"a":2},null],{}],"k":"v"}"#,
        "n { n.a=1 } n n { n.a=2 } n n { } n k=v",
    );
    check(
        &mapping,
        r#"{"n":[{"o":{"d":[{"x":1},{"x":2}]},"a":3}]}"#,
        "n { n.o.d { n.o.d.x=1 } n.o.d n.o.d { n.o.d.x=2 } n.o.d n.a=3 } n",
    );
    check(&mapping, r#"{"n":null}"#, "");
    check(&mapping, r#"{"n":[]}"#, "");
    check(&mapping, r#"{"off":[{"a":1}]}"#, "");
    // Dotted names open the nested documents on their path.
    check(&mapping, r#"{"n.a":1,"k":"v"}"#, "n { n.a=1 } n k=v");
    check(&mapping, r#"{"n.o.d.x":1}"#, "n { n.o.d { n.o.d.x=1 } n.o.d } n");
    check(&mapping, r#"{"n":{"o.d":[{"x":1}]}}"#, "n { n.o.d { n.o.d.x=1 } n.o.d } n");
    let spaces: Vec<(&str, u32, u32)> = (mapping.nested_objects().iter())
        .map(|nested| (&*nested.path, nested.space.0, nested.parent.0))
        .collect();
    assert_eq!(spaces, [("n", 1, 0), ("n.o.d", 2, 1), ("off", 3, 0)]);
    assert_eq!(mapping.nested_around("n.o.d.x").map(|nested| nested.space), Some(SpaceId(2)));
    assert_eq!(mapping.nested_around("n.o.d").map(|nested| nested.space), Some(SpaceId(1)));
    assert_eq!(mapping.nested_around("n"), None);
}

#[test]
fn includes_are_read_for_the_documents_around() {
    let inner = |include: Value| {
        let mut inner = json!({"type": "nested", "properties": {"x": {"type": "long", "copy_to": ["n.c", "c", "n.d.y"]}, "y": {"type": "long"}}});
        inner.as_object_mut().unwrap().extend(include.as_object().unwrap().clone());
        inner
    };
    let source = r#"{"n":[{"d":{"x":1},"a":2}]}"#;
    let with = |outer: Value, include: Value| {
        let mut nested = json!({"type": "nested", "properties": {"a": {"type": "long"}, "c": {"type": "long"}, "d": inner(include)}});
        nested.as_object_mut().unwrap().extend(outer.as_object().unwrap().clone());
        mapping(json!({"c": {"type": "long"}, "n": nested}))
    };
    let copies = "n.d { n.d.x=1 -> 1 n.c=1 -> 2 -> 0 c=1 -> 2 n.d.y=1 } n.d";
    check(&with(json!({}), json!({})), source, &format!("n {{ {copies} n.a=2 }} n"));
    check(
        &with(json!({}), json!({"include_in_parent": true})),
        source,
        &format!("n {{ {copies} -> 1 n.d.x=1 n.d.y=1 -> 1 n.a=2 }} n"),
    );
    check(
        &with(json!({}), json!({"include_in_root": true})),
        source,
        &format!("n {{ {copies} -> 0 n.d.x=1 n.d.y=1 -> 1 n.a=2 }} n"),
    );
    let both =
        with(json!({"include_in_parent": true}), json!({"include_in_parent": true, "include_in_root": true}));
    check(
        &both,
        source,
        &format!(
            "n {{ {copies} -> 1 n.d.x=1 n.d.y=1 -> 1 -> 0 n.d.x=1 n.d.y=1 -> 1 n.a=2 }} n -> 0 n.a=2 -> 0"
        ),
    );
    let shown = both.to_json();
    assert_eq!(
        shown["properties"]["n"]["properties"]["d"]["include_in_root"],
        Value::Null,
        "comes by the parent"
    );
}

#[test]
fn updates_keep_spaces() {
    let first = mapping(json!({"n": {"type": "nested"}, "z": {"type": "nested"}}));
    let update = json!({"properties": {"b": {"type": "nested"}, "z": {"type": "nested", "properties": {"q": {"type": "nested"}}}}});
    let second = first.merge(&update).expect("merges");
    let spaces: Vec<&str> = second.nested_objects().iter().map(|nested| &*nested.path).collect();
    assert_eq!(spaces, ["n", "z", "b", "z.q"]);
    let dynamic = infer(&second, br#"{"n":[{"a":1}]}"#).expect("infers");
    assert_eq!(dynamic["properties"]["n.a"], json!({"type": "long"}));
    let third = second.merge(&dynamic).expect("stays nested");
    assert_eq!(
        third.to_json()["properties"]["n"],
        json!({"type": "nested", "properties": {"a": {"type": "long"}}})
    );
    let deep = infer(&third, br#"{"z":{"q":[{"o":{"x":"text"}}]}}"#).expect("infers");
    let fourth = third.merge(&deep).expect("stays nested");
    assert_eq!(fourth.nested_around("z.q.o.x").map(|nested| &*nested.path), Some("z.q"));
}

/// The messages were recorded from Elasticsearch 9.4.3.
#[test]
fn refusals_are_worded_as_elasticsearch_words_them() {
    let settings = MappingSettings {
        limits: Limits { nested_fields: 2, nested_objects: 2, ..Limits::default() },
        ..MappingSettings::default()
    };
    let body = json!({"properties": {
        "n": {"type": "nested", "include_in_parent": true, "include_in_root": true, "properties": {"a": {"type": "long"}}},
        "o": {"properties": {"x": {"type": "nested", "enabled": false}}},
    }});
    let mapping = Mapping::parse(&body, &settings).expect("parses");
    assert_eq!(
        mapping.to_json()["properties"],
        json!({
            "n": {"type": "nested", "include_in_parent": true, "properties": {"a": {"type": "long"}}},
            "o": {"properties": {"x": {"type": "nested", "enabled": false}}},
        })
    );
    for (update, expected) in [
        (json!({"n": {"properties": {}}}), "can't merge a non-nested mapping [n] with a nested mapping"),
        (json!({"o": {"type": "nested"}}), "can't merge a non-nested mapping [o] with a nested mapping"),
        (json!({"n": {"type": "keyword"}}), "can't merge a non object mapping [n] with an object mapping"),
        (
            json!({"n": {"type": "nested"}}),
            "the [include_in_parent] parameter can't be updated on a nested object mapping",
        ),
        (
            json!({"n": {"type": "nested", "include_in_parent": true, "include_in_root": true}}),
            "the [include_in_root] parameter can't be updated on a nested object mapping",
        ),
        (
            json!({"z": {"type": "nested", "include_in_rot": true}}),
            "Failed to parse mapping: Mapping definition for [z] has unsupported parameters:  [include_in_rot : true]",
        ),
        (
            json!({"z": {"type": "object", "include_in_root": true}}),
            "Failed to parse mapping: Mapping definition for [z] has unsupported parameters:  [include_in_root : true]",
        ),
        (
            json!({"z": {"type": "nested", "include_in_root": "yes"}}),
            "Failed to parse mapping: Could not convert [z.include_in_root] to boolean",
        ),
        (
            json!({"z": {"type": "nested", "subobjects": false}}),
            "Failed to parse mapping: Nested type [z] does not support [subobjects] parameter",
        ),
        (json!({"z": {"type": "nested"}}), "Limit of nested fields [2] has been exceeded"),
        (
            json!({"r": {"type": "long", "copy_to": "n.a"}}),
            "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to the current nested document or any \
             of its parents, however one [copy_to] directive is trying to copy data from nested object [null] to [n]",
        ),
    ] {
        let error = mapping.merge(&json!({"properties": update})).expect_err("refused");
        assert_eq!(error.reason, expected, "{update}");
    }
    let error = walk(&mapping, r#"{"n":[{"a":1},{"a":2},{"a":3}]}"#).expect_err("refused");
    assert_eq!(
        error.reason,
        "[1:23] The number of nested documents has exceeded the allowed limit of [2]. This limit can be set by changing the \
         [index.mapping.nested_objects.limit] index level setting."
    );
    let error = walk(&mapping, r#"{"n":[1]}"#).expect_err("refused");
    assert_eq!(
        error.reason,
        "[1:7] object mapping for [n] tried to parse field [null] as object, but found a concrete value"
    );
}
