//! Any bytes as a document: the walker never panics, and accepts only what serde_json accepts as an object.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings};
use serde_json::json;

static MAPPING: LazyLock<Mapping> = LazyLock::new(|| {
    let body = json!({"properties": {
        "t": {"type": "text", "fields": {"k": {"type": "keyword", "ignore_above": 5}}}, "l": {"type": "long"},
        "d": {"type": "date"}, "f": {"type": "double"}, "s": {"type": "scaled_float", "scaling_factor": 100},
        "b": {"type": "boolean"}, "i": {"type": "ip", "ignore_malformed": true},
        "o": {"properties": {"x": {"type": "integer", "null_value": 7}, "y": {"type": "keyword", "copy_to": "t"}}}}});
    Mapping::parse(&body, &MappingSettings::default()).expect("the mapping is valid")
});

fuzz_target!(|source: &[u8]| {
    let mut sink = RecordingSink::default();
    if let Ok(Parsed::Done) = document::parse(&MAPPING, source, &mut Scratch::new(), &mut sink) {
        let value: serde_json::Value = serde_json::from_slice(source).expect("the walker accepts valid JSON only");
        assert!(value.is_object());
    }
    let _ = document::infer(&MAPPING, source);
});
