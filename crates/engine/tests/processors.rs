//! Compares ingest processors with Elasticsearch 9.4.3 on recorded documents.
//!
//! `data/processors-9.4.3.ndjson` has one case per line: `processor` (or several `processors`), `source`, and
//! the `result` (with its `index` if that changed), the `error`, or why the processor was `refused`.

mod common;

use common::*;
use serde_json::{Value, json};

#[test]
fn documents_come_out_as_elasticsearchs() {
    check(include_str!("data/processors-9.4.3.ndjson"));
}

/// `user_agent` is compared with 7.10.2, which uses the same patterns; the available later versions do not
/// include it.
#[test]
fn user_agents_come_out_as_elasticsearchs() {
    check(include_str!("data/user-agents-7.10.2.ndjson"));
}

fn check(cases: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = open(folder.path());
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("JSON");
        let processors = match &case["processors"] {
            Value::Null => json!([case["processor"]]),
            processors => processors.clone(),
        };
        let index = case["given_index"].as_str().unwrap_or("_index");
        let body = json!({
            "pipeline": {"processors": processors},
            "docs": [{"_source": case["source"].as_object().cloned().unwrap_or_default(), "_index": index}],
        });
        let answer = node.simulate_pipeline(None, &body, false);
        let made = match answer {
            Err(error) => json!({"refused": error.reason}),
            Ok(answer) => {
                let entry = &answer["docs"][0];
                match &entry["error"]["reason"] {
                    Value::Null => {
                        json!({"result": entry["doc"]["_source"], "index": entry["doc"]["_index"]})
                    }
                    reason => json!({"error": reason}),
                }
            }
        };
        let mut expected = case.clone();
        for request in ["processor", "processors", "source", "given_index"] {
            expected.as_object_mut().expect("an object").shift_remove(request);
        }
        if !expected["result"].is_null() && expected["index"].is_null() {
            expected["index"] = index.into();
        }
        if made != expected {
            wrong.push(format!("{line}\n  got {made}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
