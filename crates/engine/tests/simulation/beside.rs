//! Pairs of [`crate::together`] in which documents are written and read beside another request.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use limber_access::RoleDescriptor;
use limber_engine::*;
use limber_mapping::RequestError;
use limber_search::{SearchRequest, UrlParameters};
use limber_store::repository::MemoryBlobs;
use serde_json::json;

use crate::common::{get, index, search, write};
use crate::together::{Pair, both, missing};

/// Documents of a bulk, each with a field of its own: the shard's gate is left for every mapping update.
const BULK: usize = 4;

fn put_block(node: &Node, name: &str) -> Result<()> {
    node.add_block(name, IndicesOptions::METADATA, "write").map(drop)
}

fn count(node: &Node, name: &str) -> Result<usize> {
    node.refresh(name, IndicesOptions::BROADCAST)?;
    Ok(search(node, name, json!({"match_all": {}})).len())
}

fn write_several(node: &Arc<Node>) -> Result<()> {
    let sources: Vec<String> = (0..BULK).map(|number| format!(r#"{{"f{number}": 1}}"#)).collect();
    let ids: Vec<String> = (0..BULK).map(|number| number.to_string()).collect();
    let operations: Vec<BulkOperation<'_>> =
        ids.iter().zip(&sources).map(|(id, source)| index("w", id, source.as_bytes())).collect();
    let request = BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
    node.bulk(request).map(drop)
}

/// Blocks writes and notes how many documents there are then.
fn block_and_count(node: &Arc<Node>) -> Result<()> {
    put_block(node, "w")?;
    let source = json!({"count": count(node, "w")?}).to_string();
    write(node, index("noted", "1", source.as_bytes())).map(drop)
}

fn block_cluster(node: &Node) -> Result<()> {
    node.put_cluster_settings(&json!({"persistent": {"cluster.blocks.read_only": true}})).map(drop)
}

/// Notes a number as the description of a role, which is possible after a block of the cluster.
fn note_in_role(node: &Node, number: usize) -> Result<()> {
    let role = RoleDescriptor::parse("noted", &json!({"description": number.to_string()}))?;
    node.change_security(|store| {
        store.roles.insert("noted", role);
        Ok(())
    })
}

/// Returns the number that was noted.
fn noted_in_role(node: &Node) -> String {
    let store = node.security();
    store.roles.get("noted").and_then(|role| role.description.clone()).unwrap_or_default()
}

/// Blocks writes to the whole cluster and notes how many documents there are then.
fn block_cluster_and_count(node: &Arc<Node>) -> Result<()> {
    block_cluster(node)?;
    note_in_role(node, count(node, "w")?)
}

/// Blocks writes to the whole cluster and notes how many fields there are then.
fn block_cluster_and_count_fields(node: &Arc<Node>) -> Result<()> {
    block_cluster(node)?;
    note_in_role(node, field_count(node)?)
}

/// Returns how many fields of [`write_several`] are mapped.
fn field_count(node: &Node) -> Result<usize> {
    let index = node.get_index("w", IndicesOptions::METADATA)?.remove(0);
    Ok(index.mappings["properties"].as_object().map_or(0, |fields| fields.len()))
}

/// Blocks writes to the whole cluster and notes whether the index is open then.
fn block_cluster_and_look(node: &Arc<Node>) -> Result<()> {
    block_cluster(node)?;
    note_in_role(node, usize::from(is_open(node)?))
}

fn is_open(node: &Node) -> Result<bool> {
    Ok(node.get_index("w", IndicesOptions::METADATA_OPEN_CLOSED)?.remove(0).open)
}

fn with_a_stream(node: &Arc<Node>) -> Result<()> {
    node.put_index_template("s", &json!({"index_patterns": ["s"], "data_stream": {}}), false)?;
    node.create_data_stream("s")
}

/// Blocks writes to the whole cluster and notes whether the data stream has a lifecycle then.
fn block_cluster_and_look_at_the_stream(node: &Arc<Node>) -> Result<()> {
    block_cluster(node)?;
    note_in_role(node, usize::from(has_lifecycle(node)?))
}

fn has_lifecycle(node: &Node) -> Result<bool> {
    let shown = node.get_stream_lifecycles("s", IndicesOptions::METADATA, false)?;
    Ok(shown["data_streams"][0]["lifecycle"].is_object())
}

fn write_and_refresh(node: &Arc<Node>) -> Result<()> {
    for _ in 0..4 {
        write(node, index("w", "1", b"{}"))?;
        node.refresh("w", IndicesOptions::BROADCAST)?;
    }
    Ok(())
}

fn get_again(node: &Arc<Node>) -> Result<()> {
    (0..8).try_for_each(|_| get(node, "w", "1").map(drop).ok_or_else(|| missing("the document")))
}

fn with_a_source(node: &Arc<Node>) -> Result<()> {
    for id in ["1", "2", "3"] {
        write(node, index("w", id, b"{}"))?;
    }
    put_block(node, "w")
}

fn resize(node: &Arc<Node>) -> Result<()> {
    let body = json!({"settings": {"index.blocks.write": null}});
    node.resize(
        Resize::Clone,
        ("w", "copy"),
        &body,
        ActiveCopies::Number(1),
        Arc::new(AtomicBool::new(false)),
    )
    .map(drop)
}

/// Writes documents with the same ids, and so with the same sequence numbers in a new index.
fn write_all(node: &Arc<Node>, text: &str) -> Result<()> {
    for id in ["1", "2", "3"] {
        write(node, index("w", id, json!({"v": text}).to_string().as_bytes()))?;
    }
    node.refresh("w", IndicesOptions::BROADCAST).map(drop)
}

/// Changes the documents with the text `old`, one at a time.
fn change_old(node: &Arc<Node>, change: Change) -> Result<()> {
    change_old_of(node, ("w", 1), change, None)
}

/// Sends the documents of `a` with the text `old` to `w`, and updates those of `w`, all at once.
fn send_old(node: &Arc<Node>) -> Result<()> {
    change_old_of(node, ("a,w", 10), Change::Update, Some("send"))
}

fn change_old_of(
    node: &Arc<Node>,
    (source, size): (&str, u32),
    change: Change,
    pipeline: Option<&str>,
) -> Result<()> {
    let body = json!({"query": {"match": {"v": "old"}}, "size": size});
    let request = ByQueryRequest {
        source: source.into(),
        remote: None,
        options: IndicesOptions::SEARCH,
        routing: None,
        preference: None,
        search: SearchRequest::parse(&body, &UrlParameters::default())?,
        change,
        script: None,
        pipeline: pipeline.map(str::to_owned),
        max_docs: None,
        proceeds_on_conflicts: true,
        refresh: false,
        copies: ActiveCopies::Number(1),
        timeout_ms: 0,
        requests_per_second: f32::INFINITY,
        slices: Slices::Number(1),
    };
    node.by_query(request, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Makes the indices of [`send_old`]. The documents of `a` come first in a batch.
fn with_documents_to_send(node: &Arc<Node>) -> Result<()> {
    write(node, index("a", "sent", br#"{"v": "old"}"#))?;
    node.refresh("a", IndicesOptions::BROADCAST)?;
    node.put_pipeline("send", &json!({"processors": [{"set": {"field": "_index", "value": "w"}}]}))?;
    write_all(node, "old")
}

fn make_anew(node: &Arc<Node>) -> Result<()> {
    node.delete_index("w", IndicesOptions::DELETE)?;
    write_all(node, "new")
}

/// Whether the index has the new documents and nothing else.
fn has_new(node: &Node) -> bool {
    let found = search(node, "w", json!({"match_all": {}}));
    found.len() == 3 && found.iter().all(|(_, source)| source["v"] == "new")
}

/// Writes one of the source's documents to the copy as soon as that exists.
fn write_to_the_copy(node: &Arc<Node>) -> Result<()> {
    for _ in 0..1_000 {
        if node.index_exists("copy", IndicesOptions::METADATA)? {
            break;
        }
        limber_store::sync::sleep(Duration::from_micros(200));
    }
    write(node, index("copy", "1", br#"{"own": true}"#)).map(drop)
}

fn with_a_repository(node: &Arc<Node>) -> Result<()> {
    write_all(node, "old")?;
    node.put_repository_on("r", Arc::new(MemoryBlobs::default()))
}

fn take_snapshot(node: &Arc<Node>) -> Result<()> {
    let taken = node.create_snapshot("r", "s", &json!({"indices": "w"}), true)?;
    if taken["snapshot"]["state"] == "SUCCESS" { Ok(()) } else { Err(missing("a shard of the snapshot")) }
}

fn close(node: &Arc<Node>) -> Result<()> {
    node.close_index("w", IndicesOptions::METADATA).map(drop)
}

pub fn pairs() -> Vec<Pair> {
    vec![
        Pair {
            name: "a bulk, and a block on writes",
            set_up: |node| node.create_index("w", &json!({})).map(drop),
            acts: [write_several, block_and_count],
            wrong: |node, outcomes| {
                let noted = get(node, "noted", "1").map(|(_, source)| source["count"].clone());
                let now = count(node, "w").ok();
                both(outcomes, noted == Some(now.into())).map(|why| format!("{why} {noted:?} {now:?}"))
            },
        },
        Pair {
            name: "a bulk, and a block of the cluster",
            set_up: |node| node.create_index("w", &json!({})).map(drop),
            acts: [write_several, block_cluster_and_count],
            wrong: |node, outcomes| {
                let noted = noted_in_role(node);
                let now = count(node, "w").map(|count| count.to_string());
                let fields = node.mapping("w").map(|mapping| {
                    (0..BULK).filter(|number| mapping.field(&format!("f{number}")).is_some()).count()
                });
                let is_as_noted = now.as_ref().is_ok_and(|now| *now == noted);
                both(outcomes, is_as_noted).map(|why| format!("{why} {noted} {now:?}, {fields:?} fields"))
            },
        },
        Pair {
            name: "a mapping that grows, and a block of the cluster",
            set_up: |node| node.create_index("w", &json!({})).map(drop),
            acts: [write_several, block_cluster_and_count_fields],
            wrong: |node, outcomes| {
                let noted = noted_in_role(node);
                let now = field_count(node).map(|count| count.to_string());
                let is_as_noted = now.as_ref().is_ok_and(|now| *now == noted);
                both(outcomes, is_as_noted).map(|why| format!("{why} {noted} {now:?}"))
            },
        },
        Pair {
            name: "an index that is closed, and a block of the cluster",
            set_up: |node| node.create_index("w", &json!({})).map(drop),
            acts: [close, block_cluster_and_look],
            wrong: |node, outcomes| {
                let noted = noted_in_role(node);
                let now = is_open(node).map(|is_open| usize::from(is_open).to_string());
                let is_as_noted = now.as_ref().is_ok_and(|now| *now == noted);
                (outcomes[1].is_err() || !is_as_noted).then(|| format!("{outcomes:?} {noted} {now:?}"))
            },
        },
        Pair {
            name: "the lifecycle of a data stream, and a block of the cluster",
            set_up: with_a_stream,
            acts: [
                |node| {
                    let body = json!({"data_retention": "7d"});
                    node.put_stream_lifecycle("s", IndicesOptions::METADATA, &body)
                },
                block_cluster_and_look_at_the_stream,
            ],
            wrong: |node, outcomes| {
                let noted = noted_in_role(node);
                let now = has_lifecycle(node).map(|has| usize::from(has).to_string());
                let is_as_noted = now.as_ref().is_ok_and(|now| *now == noted);
                (outcomes[1].is_err() || !is_as_noted).then(|| format!("{outcomes:?} {noted} {now:?}"))
            },
        },
        Pair {
            name: "a document that is read and written",
            set_up: |node| {
                write(node, index("w", "1", b"{}"))?;
                node.refresh("w", IndicesOptions::BROADCAST).map(drop)
            },
            acts: [get_again, write_and_refresh],
            wrong: |_, outcomes| both(outcomes, true),
        },
        Pair {
            name: "a deletion by query, and its index that is made anew",
            set_up: |node| write_all(node, "old"),
            acts: [|node| change_old(node, Change::Delete), make_anew],
            wrong: |node, outcomes| {
                let is_refreshed = node.refresh("w", IndicesOptions::BROADCAST).is_ok();
                (outcomes[1].is_err() || !is_refreshed || !has_new(node)).then(|| format!("{outcomes:?}"))
            },
        },
        Pair {
            name: "an update by query, and its index that is made anew",
            set_up: |node| write_all(node, "old"),
            acts: [|node| change_old(node, Change::Update), make_anew],
            wrong: |node, outcomes| {
                let is_refreshed = node.refresh("w", IndicesOptions::BROADCAST).is_ok();
                (outcomes[1].is_err() || !is_refreshed || !has_new(node)).then(|| format!("{outcomes:?}"))
            },
        },
        Pair {
            name: "a snapshot, and its index that is closed",
            set_up: with_a_repository,
            acts: [take_snapshot, close],
            wrong: |_, outcomes| {
                let is_refused = |error: &RequestError| error.kind == "snapshot_in_progress_exception";
                let is_as_told = outcomes[1].as_ref().err().is_none_or(is_refused);
                (outcomes[0].is_err() || !is_as_told).then(|| format!("{outcomes:?}"))
            },
        },
        Pair {
            name: "an update by query that sends documents to an index which is made anew",
            set_up: with_documents_to_send,
            acts: [send_old, make_anew],
            wrong: |node, outcomes| {
                let is_refreshed = node.refresh("w", IndicesOptions::BROADCAST).is_ok();
                (outcomes[1].is_err() || !is_refreshed || !has_new(node)).then(|| format!("{outcomes:?}"))
            },
        },
        Pair {
            name: "a resize, and its source that is made anew",
            set_up: with_a_source,
            acts: [resize, make_anew],
            wrong: |node, outcomes| {
                // The copy is of the index that was there, and not of documents that nobody asked to copy.
                let is_new = |id: &str| get(node, "copy", id).is_none_or(|(_, source)| source["v"] == "new");
                let is_mixed = outcomes[0].is_ok() && ["1", "2", "3"].into_iter().any(is_new);
                (is_mixed || outcomes[1].is_err()).then(|| format!("{outcomes:?}"))
            },
        },
        Pair {
            name: "a resize, and a write to its target",
            set_up: with_a_source,
            acts: [resize, write_to_the_copy],
            wrong: |node, outcomes| match &outcomes[1] {
                Ok(()) => {
                    let kept = node.get(&GetRequest::new("copy", "1")).is_ok_and(|got| got.found.is_some());
                    (!kept).then(|| format!("an acknowledged document is gone: {outcomes:?}"))
                }
                Err(error) => {
                    (error.class != limber_mapping::ErrorClass::Unavailable).then(|| error.to_string())
                }
            },
        },
    ]
}
