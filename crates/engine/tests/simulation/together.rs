//! Makes two changes at the same time: "does the result of each of them still hold afterwards?"
//!
//! Code that reads, decides and writes under different locks, or reads before it has the lock, loses one of
//! the two changes in some schedule.

use std::sync::{Arc, Mutex};

use limber_engine::*;
use limber_mapping::{ErrorClass, RequestError};
use limber_store::CrashDisk;
use limber_store::sync::{Schedule, Simulation, SwitchPolicy};
use serde_json::{Value, json};

use crate::common::{get, index, search, write};
use crate::side_by_side;
use crate::world::{SimulatedClock, open};

pub type Act = fn(&Arc<Node>) -> Result<()>;
pub type Outcomes = [Result<()>; 2];

/// Two changes, and what must hold if both were made.
pub struct Pair {
    pub name: &'static str,
    pub set_up: Act,
    pub acts: [Act; 2],
    /// Returns what is wrong afterwards.
    pub wrong: fn(&Arc<Node>, &Outcomes) -> Option<String>,
}

const SCHEDULES: u64 = 100;

#[test]
fn two_changes_at_once_are_both_kept() {
    let others = [crate::beside::pairs(), crate::policies::pairs()];
    let pairs: Vec<Pair> = pairs().into_iter().chain(others.into_iter().flatten()).collect();
    let runs: Vec<(usize, u64)> =
        (0..pairs.len()).flat_map(|pair| (0..SCHEDULES).map(move |seed| (pair, seed))).collect();
    let mut failed = Vec::new();
    for ((pair, seed), wrong) in side_by_side(runs, |(pair, seed)| run(&pairs[*pair], *seed)) {
        failed.extend(wrong.map(|wrong| format!("{}, schedule {seed}: {wrong}", pairs[pair].name)));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

fn run(pair: &Pair, seed: u64) -> Option<String> {
    let node = open(&CrashDisk::new(1), &Arc::<SimulatedClock>::default(), 7).expect("opens");
    if let Err(error) = (pair.set_up)(&node) {
        return Some(format!("set-up: {error}"));
    }
    let mut simulation = Simulation::new(Schedule {
        seed,
        switch_policy: SwitchPolicy::Uniform { switch_one_in: [1, 2, 4, 16][seed as usize % 4] },
        step_nanos_max: 50_000,
        wakes_without_reason: false,
    });
    let outcomes = Arc::new(Mutex::new([Ok(()), Ok(())]));
    for (at, act) in pair.acts.into_iter().enumerate() {
        let (node, outcomes) = (node.clone(), outcomes.clone());
        simulation.thread(["first", "second"][at], move || {
            let outcome = act(&node);
            outcomes.lock().expect("no panic")[at] = outcome;
        });
    }
    match simulation.run() {
        Err(failure) => return Some(failure.report),
        Ok(end) if !end.panics.is_empty() => return Some(format!("{:?}", end.panics)),
        Ok(_) => {}
    }
    let outcomes = outcomes.lock().expect("no panic").clone();
    (pair.wrong)(&node, &outcomes)
}

fn none(_: &Arc<Node>) -> Result<()> {
    Ok(())
}

/// Checks that both changes were made and that `holds` is true.
pub fn both(outcomes: &Outcomes, holds: bool) -> Option<String> {
    (outcomes.iter().any(Result::is_err) || !holds).then(|| format!("{outcomes:?}"))
}

pub fn missing(what: &str) -> RequestError {
    RequestError::not_found("resource_not_found_exception", what.to_owned())
}

fn rule(id: &str) -> Value {
    json!({"rule_id": id, "type": "pinned", "criteria": [{"type": "always"}], "actions": {"ids": [id]}})
}

fn put_synonyms(node: &Arc<Node>, text: &str) -> Result<()> {
    let body = json!({"synonyms_set": [{"id": "one", "synonyms": text}]});
    node.put_synonyms("words", &body, &body.to_string())?;
    node.reload_synonyms("words").map(drop)
}

fn put_rule_of_synonyms(node: &Arc<Node>, id: &str) -> Result<()> {
    let body = json!({"synonyms": format!("{id}, same")});
    node.put_synonym_rule("words", id, &body, &body.to_string()).map(drop)
}

fn searched_with_synonyms(node: &Arc<Node>) -> Result<()> {
    put_synonyms(node, "a, x")?;
    let filter = json!({"type": "synonym", "synonyms_set": "words", "updateable": true});
    let body = json!({
        "settings": {"analysis": {
            "filter": {"same": filter},
            "analyzer": {"wide": {"type": "custom", "tokenizer": "whitespace", "filter": ["same"]}},
        }},
        "mappings": {"properties": {"t": {"type": "text", "analyzer": "whitespace", "search_analyzer": "wide"}}},
    });
    node.create_index("texts", &body)?;
    for word in ["b", "c"] {
        write(node, index("texts", word, format!(r#"{{"t":"{word}"}}"#).as_bytes()))?;
    }
    node.refresh("texts", IndicesOptions::BROADCAST).map(drop)
}

fn put_policy(node: &Arc<Node>, name: &str) -> Result<()> {
    node.put_policy(
        name,
        &json!({"policy": {"phases": {"delete": {"min_age": "0ms", "actions": {"delete": {}}}}}}),
    )
}

fn lifecycle_round(node: &Arc<Node>) -> Result<()> {
    node.lifecycle_round();
    Ok(())
}

/// Creates an index whose policy deletes it in the next round.
fn aged(node: &Arc<Node>) -> Result<()> {
    put_policy(node, "short")?;
    node.create_index("old", &json!({"settings": {"index.lifecycle.name": "short"}}))?;
    Ok(())
}

fn is_there(node: &Node, name: &str) -> bool {
    node.index_exists(name, IndicesOptions::METADATA).unwrap_or(false)
}

fn in_a_lifecycle(node: &Arc<Node>) -> Result<()> {
    let phases =
        json!({"hot": {"actions": {"set_priority": {"priority": 3}}}, "warm": {"actions": {"readonly": {}}}});
    node.put_policy("long", &json!({"policy": {"phases": phases}}))?;
    node.create_index("old", &json!({"settings": {"index.lifecycle.name": "long"}}))?;
    Ok(())
}

fn enriching(node: &Arc<Node>) -> Result<()> {
    write(node, index("source", "1", br#"{"k":"a","v":1}"#))?;
    node.refresh("source", IndicesOptions::BROADCAST)?;
    put_enrich_policy(node, "join")
}

fn put_enrich_policy(node: &Arc<Node>, name: &str) -> Result<()> {
    let body = json!({"match": {"indices": "source", "match_field": "k", "enrich_fields": ["v"]}});
    node.put_enrich_policy(name, &body)
}

fn execute(node: &Arc<Node>) -> Result<()> {
    node.execute_enrich_policy("join", true).map(drop)
}

fn lifecycles_stopping(node: &Arc<Node>) -> Result<()> {
    node.stop_lifecycles()
}

fn pairs() -> Vec<Pair> {
    vec![
        Pair {
            name: "two query rules of a set",
            set_up: none,
            acts: [
                |node| node.put_query_rule("s", "a", &rule("a")).map(drop),
                |node| node.put_query_rule("s", "b", &rule("b")).map(drop),
            ],
            wrong: |node, outcomes| {
                both(outcomes, ["a", "b"].iter().all(|id| node.get_query_rule("s", id).is_ok()))
            },
        },
        Pair {
            name: "the last query rule deleted, another put",
            set_up: |node| node.put_query_rule("s", "a", &rule("a")).map(drop),
            acts: [
                |node| node.delete_query_rule("s", "a"),
                |node| node.put_query_rule("s", "b", &rule("b")).map(drop),
            ],
            wrong: |node, outcomes| both(outcomes, node.get_query_rule("s", "b").is_ok()),
        },
        Pair {
            name: "two synonym rules",
            set_up: |node| put_synonyms(node, "a, b"),
            acts: [|node| put_rule_of_synonyms(node, "a"), |node| put_rule_of_synonyms(node, "b")],
            wrong: |node, outcomes| {
                both(outcomes, ["a", "b"].iter().all(|id| node.get_synonym_rule("words", id).is_ok()))
            },
        },
        Pair {
            name: "two sets of synonyms and the analyzers that read them",
            set_up: searched_with_synonyms,
            acts: [|node| put_synonyms(node, "a, b"), |node| put_synonyms(node, "a, c")],
            wrong: |node, outcomes| {
                let rule = node.get_synonym_rule("words", "one").unwrap_or_default();
                let found = search(node, "texts", json!({"match": {"t": "a"}}));
                let kept = rule["synonyms"].as_str().unwrap_or_default().trim_start_matches("a, ");
                both(outcomes, found.len() == 1 && found[0].0 == kept)
            },
        },
        Pair {
            name: "a setting and a reload of analyzers",
            set_up: |node| {
                searched_with_synonyms(node)?;
                let body = json!({"synonyms_set": [{"id": "one", "synonyms": "a, c"}]});
                node.put_synonyms("words", &body, &body.to_string()).map(drop)
            },
            acts: [
                |node| node.reload_synonyms("words").map(drop),
                |node| {
                    let body = json!({"index.mapping.total_fields.limit": 77});
                    node.put_settings("texts", IndicesOptions::METADATA, &body, false)
                },
            ],
            wrong: |node, outcomes| {
                let finds =
                    search(node, "texts", json!({"match": {"t": "a"}})).iter().any(|hit| hit.0 == "c");
                let mapping = node.mapping("texts").expect("an index");
                both(outcomes, finds && mapping.settings().limits.total_fields == 77)
            },
        },
        Pair {
            name: "an index that is opened, and a set of synonyms",
            set_up: |node| {
                searched_with_synonyms(node)?;
                node.close_index("texts", IndicesOptions::METADATA).map(drop)
            },
            acts: [
                |node| node.open_index("texts", IndicesOptions::METADATA_OPEN_CLOSED).map(drop),
                |node| put_synonyms(node, "a, c"),
            ],
            wrong: |node, outcomes| {
                both(
                    outcomes,
                    search(node, "texts", json!({"match": {"t": "a"}})).iter().any(|hit| hit.0 == "c"),
                )
            },
        },
        Pair {
            name: "two stored scripts",
            set_up: none,
            acts: [
                |node| node.put_script("a", None, &json!({"script": {"lang": "painless", "source": "1"}})),
                |node| node.put_script("b", None, &json!({"script": {"lang": "painless", "source": "2"}})),
            ],
            wrong: |node, outcomes| {
                both(outcomes, node.get_script("a").is_some() && node.get_script("b").is_some())
            },
        },
        Pair {
            name: "two pipelines",
            set_up: none,
            acts: [
                |node| node.put_pipeline("a", &json!({"processors": []})),
                |node| node.put_pipeline("b", &json!({"processors": []})),
            ],
            wrong: |node, outcomes| both(outcomes, node.get_pipelines("").is_ok_and(|all| all.len() == 2)),
        },
        Pair {
            name: "two component templates",
            set_up: none,
            acts: [
                |node| node.put_component_template("a", &json!({"template": {}}), false),
                |node| node.put_component_template("b", &json!({"template": {}}), false),
            ],
            wrong: |node, outcomes| {
                both(outcomes, ["a", "b"].iter().all(|name| node.get_component_templates(name).is_ok()))
            },
        },
        Pair {
            name: "two lifecycle policies",
            set_up: none,
            acts: [|node| put_policy(node, "a"), |node| put_policy(node, "b")],
            wrong: |node, outcomes| {
                both(outcomes, ["a", "b"].iter().all(|name| node.get_policies(name).is_ok()))
            },
        },
        Pair {
            name: "two settings of the cluster",
            set_up: none,
            acts: [
                |node| node.put_cluster_settings(&json!({"persistent": {"search.max_buckets": 7}})).map(drop),
                |node| {
                    node.put_cluster_settings(&json!({"persistent": {"search.max_open_scroll_context": 7}}))
                        .map(drop)
                },
            ],
            wrong: |node, outcomes| {
                let is_set = |key| node.cluster_setting(key) == "7";
                both(outcomes, is_set("search.max_buckets") && is_set("search.max_open_scroll_context"))
            },
        },
        Pair {
            name: "two aliases of an index",
            set_up: |node| node.create_index("i", &json!({})).map(drop),
            acts: [|node| node.put_alias("i", "a", &json!({})), |node| node.put_alias("i", "b", &json!({}))],
            wrong: |node, outcomes| both(outcomes, is_there(node, "a") && is_there(node, "b")),
        },
        Pair {
            name: "a field that is mapped and one of a document",
            set_up: |node| node.create_index("i", &json!({})).map(drop),
            acts: [
                |node| {
                    let body = json!({"properties": {"a": {"type": "keyword"}}});
                    node.put_mapping("i", IndicesOptions::METADATA, false, &body)
                },
                |node| write(node, index("i", "1", br#"{"b": 1}"#)).map(drop),
            ],
            wrong: |node, outcomes| {
                let mapped = node.mapping("i").expect("an index");
                both(outcomes, ["a", "b"].iter().all(|field| mapped.field(field).is_some()))
            },
        },
        Pair {
            name: "two settings of an index",
            set_up: |node| node.create_index("i", &json!({})).map(drop),
            acts: [
                |node| {
                    let body = json!({"index.max_result_window": 77});
                    node.put_settings("i", IndicesOptions::METADATA, &body, false)
                },
                |node| {
                    let body = json!({"index.max_inner_result_window": 77});
                    node.put_settings("i", IndicesOptions::METADATA, &body, false)
                },
            ],
            wrong: |node, outcomes| {
                let shown = node.get_index("i", IndicesOptions::METADATA).expect("an index");
                let shown = Value::Object(shown[0].settings.clone()).to_string();
                both(outcomes, shown.matches("77").count() == 2)
            },
        },
        Pair {
            name: "lifecycles that stop and are started",
            set_up: lifecycles_stopping,
            acts: [
                |node| {
                    node.lifecycle_tick();
                    Ok(())
                },
                |node| node.start_lifecycles(),
            ],
            wrong: |node, outcomes| both(outcomes, node.lifecycle_mode() == "RUNNING"),
        },
        Pair {
            name: "a round that deletes an index, which is taken out of its policy",
            set_up: aged,
            acts: [lifecycle_round, |node| {
                node.remove_lifecycles("old")?;
                // A user who was told that the index no longer has a policy relies on that.
                is_there(node, "old").then_some(()).ok_or_else(|| missing("gone"))
            }],
            wrong: |node, outcomes| match &outcomes[1] {
                Ok(()) => both(outcomes, is_there(node, "old")),
                Err(error) => {
                    (error.class != ErrorClass::NotFound || error.reason == "gone").then(|| error.to_string())
                }
            },
        },
        Pair {
            name: "a round that deletes an index, which is made anew without a policy",
            set_up: aged,
            acts: [lifecycle_round, |node| {
                // The round may already have deleted the index.
                let _ = node.delete_index("old", IndicesOptions::DELETE);
                write(node, index("old", "1", b"{}")).map(drop)
            }],
            wrong: |node, outcomes| both(outcomes, is_there(node, "old") && get(node, "old", "1").is_some()),
        },
        Pair {
            name: "a round of lifecycles, and an index that is taken out of its policy",
            set_up: in_a_lifecycle,
            acts: [lifecycle_round, |node| node.remove_lifecycles("old").map(drop)],
            wrong: |node, outcomes| {
                let body = json!({"index.lifecycle.name": "long"});
                node.put_settings("old", IndicesOptions::METADATA, &body, false).expect("set");
                let shown = node
                    .explain_lifecycles("old", IndicesOptions::METADATA, ExplainFilter::default())
                    .expect("explained");
                // The new index begins its policy from the start: nothing of the earlier round remains.
                both(outcomes, shown["indices"]["old"]["phase"].is_null())
            },
        },
        Pair {
            name: "two enrich policies",
            set_up: enriching,
            acts: [|node| put_enrich_policy(node, "a"), |node| put_enrich_policy(node, "b")],
            wrong: |node, outcomes| {
                let all = node.get_enrich_policies("").expect("policies");
                both(outcomes, all["policies"].as_array().is_some_and(|all| all.len() == 3))
            },
        },
        Pair {
            name: "two executions of an enrich policy",
            set_up: enriching,
            acts: [execute, execute],
            wrong: |node, outcomes| {
                let are_allowed = outcomes.iter().all(|outcome| match outcome {
                    Ok(()) => true,
                    Err(error) => error.class == ErrorClass::TooManyRequests,
                });
                let made =
                    node.get_index(".enrich-join*", IndicesOptions::METADATA_OPEN_CLOSED).expect("indices");
                let is_whole =
                    made.len() == 1 && !search(node, ".enrich-join", json!({"match_all": {}})).is_empty();
                (!are_allowed || !is_whole).then(|| format!("{outcomes:?}, {} indices", made.len()))
            },
        },
        Pair {
            name: "two transforms",
            set_up: enriching,
            acts: [|node| put_transform(node, "a"), |node| put_transform(node, "b")],
            wrong: |node, outcomes| {
                let all = node.get_transforms("", true, false, (0, 10)).expect("transforms");
                both(outcomes, all["count"] == 2)
            },
        },
        Pair {
            name: "a transform whose run ends, and which is stopped and started",
            set_up: |node| {
                enriching(node)?;
                put_transform(node, "a")?;
                node.start_transform("a")
            },
            acts: [
                |node| {
                    node.transform_tick();
                    Ok(())
                },
                |node| {
                    node.stop_transforms("a", false)?;
                    write(node, index("source", "2", br#"{"k":"b","v":2}"#))?;
                    node.refresh("source", IndicesOptions::BROADCAST)?;
                    node.start_transform("a")
                },
            ],
            wrong: |node, outcomes| {
                // A run that starts after the last write includes it, whatever happened to the previous run.
                let stats = node.transform_stats("a", true, (0, 10)).expect("statistics").to_string();
                both(
                    outcomes,
                    stats.contains(r#""state":"started""#)
                        || search(node, "made", json!({"match_all": {}})).len() == 2,
                )
            },
        },
        Pair {
            name: "two users",
            set_up: none,
            acts: [
                |node| {
                    node.change_security(|store| {
                        store.set_password("elastic", "password", &"secret-1".into())
                    })
                },
                |node| {
                    node.change_security(|store| {
                        store.set_password("kibana_system", "password", &"secret-2".into())
                    })
                },
            ],
            wrong: |node, outcomes| both(outcomes, node.security().users.len() == 2),
        },
    ]
}

fn put_transform(node: &Arc<Node>, id: &str) -> Result<()> {
    let body = json!({
        "source": {"index": "source"},
        "dest": {"index": "made"},
        "pivot": {
            "group_by": {"k": {"terms": {"field": "k.keyword"}}},
            "aggregations": {"v": {"sum": {"field": "v"}}},
        },
    });
    node.put_transform(id, &body, false)
}
