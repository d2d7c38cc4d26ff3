//! Objects without objects (`subobjects: false`): what any document asks of the mapping is enough for it, and
//! names have bounds.

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
    let name = prop_oneof![Just("a"), Just("b"), Just("a.b"), Just("b.a.c"), Just("c")];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop::collection::vec((name.clone(), inner), 0..4).prop_map(|members| {
            let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::Object(members.collect::<Map<String, Value>>())
        })
    })
    .prop_filter("a document is an object", Value::is_object)
}

/// A name with so many dots.
fn dotted(dots: usize) -> String {
    vec!["a"; dots + 1].join(".")
}

/// Properties of an object, in which any object may be without objects.
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
        at_root in any::<bool>(),
    ) {
        let flat = json!({"subobjects": false, "dynamic": dynamic});
        let body = if at_root { flat } else { json!({"dynamic": dynamic, "properties": {"a": flat}}) };
        let mut mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a mapping");
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

#[test]
fn names_have_as_many_parts_as_there_may_be_levels() {
    let named = |dots: usize| {
        let body = json!({"subobjects": false, "properties": {dotted(dots): {"type": "long"}}});
        Mapping::parse(&body, &MappingSettings::default())
    };
    assert!(named(19).is_ok());
    let error = named(20).expect_err("too deep");
    assert!(error.reason.starts_with("Limit of mapping depth [20] has been exceeded"), "{}", error.reason);
    // What lies in several objects has the dots of all their names.
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
