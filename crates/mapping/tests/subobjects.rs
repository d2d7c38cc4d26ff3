//! Flat objects (`subobjects: false`): the mapping that any document proposes is sufficient for it, and names
//! are limited.

use limber_mapping::document::{Parsed, Scratch, infer, parse};
use limber_mapping::testing::NullSink;
use limber_mapping::{Mapping, MappingSettings};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Documents of few names, so that fields, beginnings of names and objects meet.
fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(1)),
        Just(json!("text")),
        Just(json!(null)),
        Just(json!([1, {"b": 2}, {"a.b": {"c": 3}}])),
        Just(json!([])),
        Just(json!({})),
    ];
    let name = prop_oneof![
        8 => prop_oneof![Just("a"), Just("b"), Just("a.b"), Just("b.a.c"), Just("c"), Just("keyword")],
        1 => prop_oneof![Just(""), Just(" "), Just("b."), Just("a..b"), Just("a. .c")],
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop::collection::vec((name.clone(), inner), 0..4).prop_map(|members| {
            let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::Object(members.collect::<Map<String, Value>>())
        })
    })
    .prop_filter("a document is an object", Value::is_object)
}

/// Returns a name with this many dots.
fn dotted(dots: usize) -> String {
    vec!["a"; dots + 1].join(".")
}

/// Generates the properties of an object, in which any object may be flat.
fn properties() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        3 => Just(json!({"type": "long"})),
        1 => Just(json!({"type": "text", "fields": {"c": {"type": "keyword"}}})),
        1 => Just(json!({"type": "alias", "path": "target"})),
    ];
    let name = prop_oneof![
        3 => prop_oneof![Just("a"), Just("b"), Just("a.b"), Just("b.a.c"), Just("c")].prop_map(str::to_owned),
        1 => prop_oneof![9..11_usize, 18..21_usize, 98..102_usize, 197..201_usize].prop_map(dotted),
    ];
    let members = move |inner: BoxedStrategy<Value>| {
        prop::collection::vec((name.clone(), inner), 1..4)
            .prop_map(|members| Value::Object(members.into_iter().collect::<Map<String, Value>>()))
    };
    let of_objects = members.clone();
    let node = field.prop_recursive(4, 16, 3, move |inner| {
        (of_objects(inner.boxed()), any::<bool>()).prop_map(|(properties, is_flat)| match is_flat {
            true => json!({"properties": properties, "subobjects": false}),
            false => json!({"properties": properties}),
        })
    });
    members(node.boxed())
}

fn restores(mapping: &Mapping) -> Result<(), TestCaseError> {
    let restored = Mapping::restore(&mapping.to_json(), mapping.settings());
    prop_assert_eq!(restored.expect("it was accepted").to_json(), mapping.to_json());
    Ok(())
}

proptest! {
    #[test]
    fn what_is_accepted_is_restored(
        mut first in properties(),
        second in properties(),
        at_root in any::<bool>(),
        levels in prop_oneof![Just(20), Just(1000)],
    ) {
        let mut settings = MappingSettings::default();
        settings.limits.depth = levels;
        first["target"] = json!({"type": "long"});
        let body = json!({"properties": first, "subobjects": !at_root});
        if let Ok(mapping) = Mapping::parse(&body, &settings) {
            restores(&mapping)?;
            if let Ok(merged) = mapping.merge(&json!({"properties": second})) {
                restores(&merged)?;
            }
        }
    }

    #[test]
    fn a_document_needs_the_mapping_once(
        documents in prop::collection::vec(document(), 1..4),
        dynamic in prop_oneof![Just("true"), Just("false"), Just("runtime")],
        is_flat in any::<bool>(),
        at_root in any::<bool>(),
        declared in prop_oneof![
            Just(json!({})),
            Just(json!({"b": {"type": "keyword", "copy_to": ["c", "a.b", "b.a"]}})),
            Just(json!({"b": {"type": "keyword", "copy_to": ["a", "c.a"]}, "c.b": {"type": "long"}})),
            Just(json!({"a": {"type": "alias", "path": "t"}, "b.a": {"type": "alias", "path": "t"}})),
            Just(json!({"c": {"type": "alias", "path": "t"}, "a.b.c": {"type": "alias", "path": "t"}})),
        ],
        template in prop_oneof![
            Just(json!([])),
            Just(json!([{"t": {"match": "*b", "runtime": {}}}])),
            Just(json!([{"t": {"match_mapping_type": "long", "runtime": {}}}])),
        ],
        runtime in prop_oneof![Just(json!({})), Just(json!({"a.b": {"type": "long"}, "c": {"type": "long"}}))],
    ) {
        let mut object = json!({"subobjects": !is_flat, "dynamic": dynamic});
        object["properties"] = declared;
        let mut body =
            if at_root { object } else { json!({"dynamic": dynamic, "properties": {"a": object}}) };
        body["properties"]["t"] = json!({"type": "long"});
        body["dynamic_templates"] = template;
        body["runtime"] = runtime;
        // New mappings with copies to objects are refused.
        let mut mapping = Mapping::restore(&body, &MappingSettings::default()).expect("a mapping");
        let mut scratch = Scratch::new();
        for document in documents {
            let source = document.to_string();
            let source = source.as_bytes();
            // A field of another type may refuse a value.
            if let Ok(Parsed::NeedsMapping) =
                parse(&mapping, source, scratch.for_document("1"), &mut NullSink::default())
            {
                let grown = infer(&mapping, source).and_then(|update| mapping.merge(&update));
                let Ok(grown) = grown else { continue };
                let again = parse(&grown, source, scratch.for_document("1"), &mut NullSink::default());
                prop_assert_ne!(again.ok(), Some(Parsed::NeedsMapping), "{}", document);
                mapping = grown;
            }
            restores(&mapping)?;
        }
    }
}

/// Checks that each document in turn either needs no mapping update or proposes one that takes effect, and
/// compares the final mapping.
fn check(body: &Value, documents: &[&str], expected: &Value) {
    let mut mapping = Mapping::restore(body, &MappingSettings::default()).expect("a mapping");
    let mut scratch = Scratch::new();
    for document in documents {
        let source = document.as_bytes();
        let mut parsed =
            |mapping: &Mapping| parse(mapping, source, scratch.for_document("1"), &mut NullSink::default());
        if parsed(&mapping) == Ok(Parsed::NeedsMapping) {
            let update = infer(&mapping, source).expect("a mapping for it");
            mapping = mapping.merge(&update).expect("merges");
        }
        assert_eq!(parsed(&mapping), Ok(Parsed::Done), "{document} in {body}");
    }
    assert_eq!(mapping.to_json(), *expected, "{documents:?} in {body}");
}

/// The mappings are those of OpenSearch 3.8.
#[test]
fn disable_objects_means_that_objects_have_no_subobjects() {
    let root = json!({"disable_objects": true});
    let documents =
        [r#"{"metrics.cpu.usage": 0.82}"#, r#"{"metrics": {"cpu": {"usage": 0.65}}}"#, r#"{"metrics": 5}"#];
    let properties = json!({"metrics": {"type": "long"}, "metrics.cpu.usage": {"type": "float"}});
    check(&root, &documents, &json!({"disable_objects": true, "properties": properties}));

    let object = json!({"properties": {"metrics": {"type": "object", "disable_objects": true}}});
    let properties = json!({"a.b": {"type": "long"}, "c.d": {"type": "long"}});
    let expected = json!({"properties": {"metrics": {"disable_objects": true, "properties": properties}}});
    check(&object, &[r#"{"metrics": {"a.b": 1, "c": {"d": 2}}}"#], &expected);

    for body in [
        json!({"disable_objects": "x"}),
        json!({"properties": {"n": {"type": "nested", "disable_objects": true}}}),
        json!({"properties": {"n": {"type": "float", "disable_objects": true}}}),
    ] {
        assert!(Mapping::parse(&body, &MappingSettings::default()).is_err(), "{body}");
    }
}

#[test]
fn what_a_runtime_field_makes_is_not_mapped() {
    let copied = json!({
        "runtime": {"r": {"type": "keyword"}},
        "properties": {"a": {"type": "keyword", "copy_to": ["r"]}},
    });
    check(&copied, &[r#"{"a": "x"}"#, r#"{"a": ["x", "y"]}"#], &copied);
    // An object at the path of a runtime field is ignored, whatever else is new.
    let object = json!({"runtime": {"r": {"type": "keyword"}}});
    let grown = json!({"runtime": {"r": {"type": "keyword"}}, "properties": {"n": {"type": "long"}}});
    check(&object, &[r#"{"r": {"x": 1}}"#, r#"{"r.x": 1}"#], &object);
    check(&object, &[r#"{"r": [{"x": 1}], "r.x": 1, "n": 1}"#], &grown);

    let template = json!([{"t": {"match_mapping_type": "string", "runtime": {}}}]);
    let flat = json!({"subobjects": false, "dynamic_templates": template});
    let mut made = flat.clone();
    made["runtime"] = json!({"a.b": {"type": "keyword"}});
    check(&flat, &[r#"{"a": {"b": "x"}}"#, r#"{"a": [{"b": "x"}, {"b": null}]}"#, r#"{"a.b": "x"}"#], &made);
    // Numbers that no double can hold and names with dots at their end are known as well.
    let at_runtime = json!({"dynamic": "runtime", "runtime": {"a.b": {"type": "long"}}});
    check(&at_runtime, &[r#"{"a": {"b.": [1e999, 1]}}"#], &at_runtime);
    let deep = format!(r#"{{"a": {{"b": {}{}}}}}"#, "[".repeat(150), "]".repeat(150));
    check(&at_runtime, &[&deep], &at_runtime);
}

#[test]
fn the_name_of_a_multi_field_written_in_full_is_passed_over() {
    let flat = json!({
        "subobjects": false,
        "properties": {"a": {"type": "text", "fields": {"k": {"type": "keyword"}}}},
    });
    check(&flat, &[r#"{"a.k": "x"}"#, r#"{"a": {"k": "x"}}"#, r#"{"a": "x", "a.k": [1, 2]}"#], &flat);
}

/// Parses a document, a second time after the mapping has grown if necessary, and returns why it is refused.
fn refusal(body: &Value, document: &str) -> String {
    let mut mapping = Mapping::restore(body, &MappingSettings::default()).expect("a mapping");
    let mut scratch = Scratch::new();
    for _ in 0..2 {
        let scratch = scratch.for_document("1");
        match parse(&mapping, document.as_bytes(), scratch, &mut NullSink::default()) {
            Err(error) => return error.reason,
            Ok(Parsed::Done) => panic!("{document} in {body} is not refused"),
            Ok(Parsed::NeedsMapping) => {}
        }
        match infer(&mapping, document.as_bytes()).and_then(|update| mapping.merge(&update)) {
            Err(error) => return error.reason,
            Ok(grown) => mapping = grown,
        }
    }
    panic!("{document} in {body} needs a mapping again and again")
}

#[test]
fn objects_lead_to_aliases_whose_names_have_dots() {
    let names = |dynamic: &str| {
        json!({"subobjects": false, "dynamic": dynamic, "properties": {
            "t": {"type": "long"},
            "a.b.c": {"type": "alias", "path": "t"},
            "d": {"type": "alias", "path": "t"},
            "d.e": {"type": "long"},
        }})
    };
    for dynamic in ["true", "false", "runtime", "strict"] {
        let check = |document: &str, alias: &str| {
            let reason = refusal(&names(dynamic), document);
            assert!(
                reason.contains(&format!("Cannot write to a field alias [{alias}].")),
                "{document}: {reason}"
            );
        };
        check(r#"{"a": {"b": {"c": 1}}}"#, "a.b.c");
        check(r#"{"a": [{"b.c": 1}]}"#, "a.b.c");
        check(r#"{"a.b": {"c": {"x": 1}}}"#, "a.b.c");
        check(r#"{"d": {"e": 1}}"#, "d");
    }
    let names = names("true");
    check(&names, &[r#"{"a": {"b": {"c": []}}, "a.b.c": [], "d": []}"#], &{
        let mut shown = names.clone();
        shown["dynamic"] = json!("true");
        shown
    });
}

#[test]
fn values_are_not_copied_to_objects() {
    let to = |path: &str, object: Value| json!({"properties": {"a": {"type": "keyword", "copy_to": [path]}, "o": object}});
    let reason = refusal(&to("o", json!({"properties": {"x": {"type": "long"}}})), r#"{"a": "x"}"#);
    assert!(
        reason.contains(
            "object mapping for [o] tried to parse field [o] as object, but found a concrete value"
        ),
        "{reason}"
    );
    // A value that is copied to an object whose contents are not read is ignored.
    for path in ["o", "o.x"] {
        let body = to(path, json!({"type": "object", "enabled": false}));
        check(&body, &[r#"{"a": "x"}"#], &body);
    }
}

#[test]
fn new_runtime_fields_are_limited() {
    let settings = |total_fields: usize| {
        let mut settings = MappingSettings::default();
        settings.limits.total_fields = total_fields;
        settings
    };
    let document = r#"{"a": 1, "b": {"c": 2, "d": "x"}, "e": true, "f": 1.5}"#;
    let template = json!([{"t": {"match": "*", "match_mapping_type": ["long", "string"], "runtime": {}}}]);
    for body in [json!({"dynamic": "runtime"}), json!({"dynamic_templates": template})] {
        let inferred = |total_fields: usize| {
            let mapping = Mapping::parse(&body, &settings(total_fields)).expect("a mapping");
            let update = infer(&mapping, document.as_bytes())?;
            mapping.merge(&update)
        };
        let count = if body["dynamic"] == "runtime" { 5 } else { 6 };
        assert!(inferred(count).is_ok());
        // Not even the body of the update is built.
        let mapping = Mapping::parse(&body, &settings(count - 1)).expect("a mapping");
        let error = infer(&mapping, document.as_bytes()).expect_err("too many");
        let limit = format!("Limit of total fields [{}] has been exceeded", count - 1);
        assert!(error.reason.starts_with(&limit), "{}", error.reason);
    }
}

#[test]
fn a_new_runtime_field_has_the_type_of_its_first_value() {
    let template = json!([{"t": {"match_mapping_type": "string", "runtime": {}}}]);
    let body = json!({"dynamic_templates": template});
    let mut grown = body.clone();
    grown["runtime"] = json!({"a": {"type": "keyword"}});
    check(&body, &[r#"{"a": ["x", 1, true]}"#], &grown);

    // In a flat object, templates see the field's whole name.
    let template = json!([{"t": {"match": "b.*", "runtime": {"type": "long"}}}]);
    let flat = json!({"type": "object", "subobjects": false, "dynamic": "runtime"});
    let body = json!({"dynamic_templates": template, "properties": {"a": flat}});
    let mut grown = body.clone();
    grown["runtime"] = json!({"a.b.c": {"type": "long"}, "a.c": {"type": "keyword"}});
    check(&body, &[r#"{"a": {"b": {"c": "1"}, "c": "x"}}"#], &grown);
}

#[test]
fn names_below_a_new_runtime_object_are_checked() {
    let body = json!({"dynamic": "runtime"});
    let blank = refusal(&body, r#"{"a": {" ": 1}}"#);
    assert!(blank.contains("Field name cannot contain only whitespace: [ ]"), "{blank}");
    let empty = refusal(&body, r#"{"a": {"b": {"": 1}}}"#);
    assert!(empty.contains("field name cannot be an empty string"), "{empty}");
}

#[test]
fn objects_below_a_field_are_not_copied() {
    let body = json!({
        "subobjects": false,
        "properties": {"a": {"type": "keyword", "copy_to": ["c"]}},
    });
    let mut grown = body.clone();
    grown["properties"]["a.b"] = json!({"type": "long"});
    check(&body, &[r#"{"a": [{"b": 1}]}"#], &grown);
}

#[test]
fn names_have_as_many_parts_as_there_may_be_levels() {
    let named = |dots: usize| {
        let body = json!({"subobjects": false, "properties": {dotted(dots): {"type": "long"}}});
        Mapping::parse(&body, &MappingSettings::default())
    };
    assert!(named(19).is_ok());
    let error = named(20).expect_err("too deep");
    assert!(error.reason.starts_with("Limit of mapping depth [20] has been exceeded"), "{}", error.reason);
    // A field inside several objects has the dots of all their names.
    let part = dotted(9);
    let long = |last: usize| {
        let inner = json!({"subobjects": false, "properties": {dotted(last): {"type": "long"}}});
        json!({"subobjects": false, "properties": {&part: inner}})
    };
    let in_object = |last: usize| {
        let mapping = Mapping::parse(&long(last), &MappingSettings::default())?;
        let restored = Mapping::restore(&mapping.to_json(), &MappingSettings::default())?;
        assert_eq!(restored.to_json(), mapping.to_json());
        Ok(())
    };
    assert_eq!(in_object(9), Ok(()));
    let error: limber_mapping::RequestError = in_object(10).expect_err("too deep");
    assert!(error.reason.starts_with("Limit of mapping depth [20] has been exceeded"), "{}", error.reason);
    let flat = Mapping::parse(&json!({"subobjects": false}), &MappingSettings::default()).expect("a mapping");
    let merged = |last| {
        let inner = json!({"subobjects": false, "properties": {dotted(last): {"type": "long"}}});
        flat.merge(&json!({"properties": {&part: inner}}))
    };
    assert!(merged(9).is_ok());
    let error = merged(10).expect_err("too deep");
    assert!(error.reason.starts_with("Limit of mapping depth [20] has been exceeded"), "{}", error.reason);
    let synthetic =
        MappingSettings { source_mode: limber_mapping::SourceMode::Synthetic, ..MappingSettings::default() };
    let refused = Mapping::parse(&json!({"subobjects": false}), &synthetic).expect_err("not supported");
    assert!(refused.reason.contains("[subobjects: false] in an index with synthetic source"));
}
