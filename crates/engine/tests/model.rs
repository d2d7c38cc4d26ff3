//! Compares random sequences of calls with a map: what is acknowledged is there, whatever happens in between.

mod common;

use std::collections::BTreeMap;

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
enum Step {
    Index {
        id: u8,
        color: u8,
        n: u16,
    },
    Create {
        id: u8,
    },
    Append {
        color: u8,
    },
    Update {
        id: u8,
        n: u16,
    },
    Delete {
        id: u8,
    },
    Refresh,
    Flush,
    Merge {
        segments: u8,
    },
    /// Merges by the policy, as the background threads run them.
    ExpungeDeletes,
    /// The process ends and starts again.
    Reopen {
        closes: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0u8..20, 0u8..4, any::<u16>()).prop_map(|(id, color, n)| Step::Index { id, color, n }),
        2 => (0u8..25).prop_map(|id| Step::Create { id }),
        4 => (0u8..4).prop_map(|color| Step::Append { color }),
        4 => (0u8..20, any::<u16>()).prop_map(|(id, n)| Step::Update { id, n }),
        4 => (0u8..20).prop_map(|id| Step::Delete { id }),
        3 => Just(Step::Refresh),
        2 => Just(Step::Flush),
        1 => (1u8..3).prop_map(|segments| Step::Merge { segments }),
        1 => Just(Step::ExpungeDeletes),
        1 => any::<bool>().prop_map(|closes| Step::Reopen { closes }),
    ];
    prop::collection::vec(step, 1..60)
}

/// What the shard must contain.
#[derive(Default)]
struct Model {
    documents: BTreeMap<String, Value>,
    /// What searches see since the last refresh.
    visible: BTreeMap<String, Value>,
}

fn run(steps: &[Step], shards: u32) {
    let folder = tempfile::tempdir().expect("tempdir");
    let mut node = open(folder.path());
    let body = json!({
        "settings": {"number_of_shards": shards, "number_of_replicas": 0, "merge.policy.segments_per_tier": 2},
        "mappings": {"properties": {"color": {"type": "keyword"}, "n": {"type": "long"}}},
    });
    node.create_index("t", &body).expect("created");
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Index { id, color, n } => {
                let (id, source) = (format!("id{id}"), json!({"color": format!("c{color}"), "n": n}));
                let response = write(&node, index("t", &id, source.to_string().as_bytes())).expect("written");
                let existed = model.documents.insert(id, source).is_some();
                let expected = if existed { WriteResult::Updated } else { WriteResult::Created };
                assert_eq!(response.outcome.result, expected);
            }
            Step::Create { id } => {
                let id = format!("id{id}");
                let source = json!({"color": "c0", "n": 0});
                let text = source.to_string();
                let operation =
                    BulkOperation { kind: OperationKind::Create, ..index("t", &id, text.as_bytes()) };
                match write(&node, operation) {
                    Ok(_) => assert!(model.documents.insert(id, source).is_none(), "created over a document"),
                    Err(error) => {
                        assert!(error.class == ErrorClass::Conflict && model.documents.contains_key(&id))
                    }
                }
            }
            Step::Append { color } => {
                let source = json!({"color": format!("c{color}"), "n": 7});
                let text = source.to_string();
                let response = write(&node, BulkOperation::new(OperationKind::Index, "t", text.as_bytes()))
                    .expect("written");
                assert!(model.documents.insert(response.id.into(), source).is_none());
            }
            Step::Update { id, n } => {
                let id = format!("id{id}");
                let body = json!({"doc": {"n": n}}).to_string();
                match (write(&node, update("t", &id, body.as_bytes())), model.documents.get_mut(&id)) {
                    (Ok(_), Some(document)) => document["n"] = json!(n),
                    (Err(error), None) => assert_eq!(error.class, ErrorClass::NotFound),
                    (found, expected) => panic!("{found:?} instead of {expected:?}"),
                }
            }
            Step::Delete { id } => {
                let id = format!("id{id}");
                let response = write(&node, delete("t", &id)).expect("answers");
                let existed = model.documents.remove(&id).is_some();
                assert_eq!(response.outcome.result == WriteResult::Deleted, existed);
            }
            Step::Refresh => {
                node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
                model.visible = model.documents.clone();
            }
            Step::Flush => {
                assert_eq!(node.flush("t", IndicesOptions::BROADCAST, false).expect("flushes").failed, 0);
            }
            Step::Merge { segments } => {
                let request =
                    ForceMergeRequest { max_num_segments: Some(u32::from(*segments)), ..Default::default() };
                assert_eq!(
                    node.force_merge("t", IndicesOptions::BROADCAST, &request).expect("merges").failed,
                    0
                );
                model.visible = model.documents.clone();
            }
            Step::ExpungeDeletes => {
                let request = ForceMergeRequest { only_expunge_deletes: true, ..Default::default() };
                assert_eq!(
                    node.force_merge("t", IndicesOptions::BROADCAST, &request).expect("merges").failed,
                    0
                );
                model.visible = model.documents.clone();
            }
            Step::Reopen { closes } => {
                if *closes {
                    node.close();
                }
                drop(node);
                node = open(folder.path());
                model.visible = model.documents.clone();
            }
        }
        if !matches!(step, Step::Flush) {
            check(&node, &model, matches!(step, Step::Refresh | Step::Merge { .. } | Step::Reopen { .. }));
        }
    }
    node.close();
    drop(node);
    let report = check_data_folder(folder.path()).expect("checks");
    assert_eq!(report.problem_count, 0, "{:?}", report.lines);
}

fn check(node: &Node, model: &Model, thoroughly: bool) {
    for id in 0..20 {
        let id = format!("id{id}");
        if !thoroughly && !id.ends_with('3') {
            continue;
        }
        assert_eq!(
            get(node, "t", &id).map(|(_, source)| source),
            model.documents.get(&id).cloned(),
            "get {id}"
        );
    }
    if thoroughly {
        let expected: Vec<(String, Value)> = model.visible.clone().into_iter().collect();
        assert_eq!(search(node, "t", json!({"match_all": {}})), expected);
        let expected: Vec<(String, Value)> =
            expected.into_iter().filter(|(_, source)| source["color"] == "c1").collect();
        assert_eq!(search(node, "t", json!({"term": {"color": "c1"}})), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_node_equals_a_map(steps in steps(), shards in 1u32..3) {
        run(&steps, shards);
    }
}
