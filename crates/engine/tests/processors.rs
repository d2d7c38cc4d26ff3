//! Ingest processors beside Elasticsearch: documents, and what its 9.4.3 made of them.
//!
//! `data/processors-9.4.3.ndjson` holds a document a line: `processor` and `source`, and the `result`, the `error`, or why the processor was
//! `refused` as a whole.

mod common;

use common::*;
use serde_json::{Value, json};

#[test]
fn documents_come_out_as_elasticsearchs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = open(folder.path());
    for line in include_str!("data/processors-9.4.3.ndjson").lines() {
        let case: Value = serde_json::from_str(line).expect("JSON");
        let body = json!({
            "pipeline": {"processors": [case["processor"]]},
            "docs": [{"_source": case["source"].as_object().cloned().unwrap_or_default()}],
        });
        let answer = node.simulate_pipeline(None, &body, false);
        match (&case["refused"], answer) {
            (Value::String(reason), Err(error)) => assert_eq!(&error.reason, reason, "{line}"),
            (Value::Null, Ok(answer)) => {
                let entry = &answer["docs"][0];
                match &case["error"] {
                    Value::Null => assert_eq!(entry["doc"]["_source"], case["result"], "{line}"),
                    reason => assert_eq!(&entry["error"]["reason"], reason, "{line}"),
                }
            }
            (_, other) => panic!("{other:?} for {line}"),
        }
    }
}
