//! Any JSON as a search body: parsed or refused with a 400, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use limber_search::{SearchRequest, UrlParameters};

fuzz_target!(|body: &[u8]| {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(body) else { return };
    if let Err(error) = SearchRequest::parse(&value, &UrlParameters::default()) {
        assert!((400..500).contains(&error.status), "{error}");
    }
});
