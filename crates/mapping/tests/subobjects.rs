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

proptest! {
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
            let restored = Mapping::restore(&mapping.to_json(), &MappingSettings::default());
            prop_assert_eq!(restored.expect("it was a mapping").to_json(), mapping.to_json());
        }
    }
}

#[test]
fn names_have_as_many_parts_as_there_may_be_levels() {
    let named = |dots: usize| {
        let name = vec!["a"; dots + 1].join(".");
        let body = json!({"subobjects": false, "properties": {name: {"type": "long"}}});
        Mapping::parse(&body, &MappingSettings::default())
    };
    assert!(named(19).is_ok());
    let error = named(20).expect_err("too deep");
    assert!(error.reason.starts_with("Limit of mapping depth [20] has been exceeded"), "{}", error.reason);
    let synthetic =
        MappingSettings { source_mode: limber_mapping::SourceMode::Synthetic, ..MappingSettings::default() };
    let refused = Mapping::parse(&json!({"subobjects": false}), &synthetic).expect_err("not supported");
    assert!(refused.reason.contains("[subobjects: false] in an index with synthetic source"));
}
