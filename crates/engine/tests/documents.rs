//! Tests single documents and bulks on a whole node.

mod common;

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use serde_json::json;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("tempdir")
}

#[test]
fn a_document_is_written_found_changed_and_deleted() {
    let folder = folder();
    let node = open(folder.path());
    let first = write(&node, index("t", "1", br#"{"a": "x", "n": 1}"#)).expect("created");
    assert_eq!(
        (first.outcome.result, first.outcome.identity.version, first.outcome.identity.seq_no),
        (WriteResult::Created, 1, 0)
    );
    assert_eq!((first.outcome.shards_total, first.outcome.shards_successful), (2, 1));
    assert_eq!(get(&node, "t", "1"), Some((1, json!({"a": "x", "n": 1}))), "realtime");
    assert!(search(&node, "t", json!({"match_all": {}})).is_empty(), "not refreshed");
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    assert_eq!(search(&node, "t", json!({"term": {"a.keyword": "x"}})).len(), 1);

    let second = write(&node, index("t", "1", br#"{"a": "y", "n": 2}"#)).expect("updated");
    assert_eq!((second.outcome.result, second.outcome.identity.version), (WriteResult::Updated, 2));
    assert_eq!(
        search(&node, "t", json!({"match_all": {}}))[0].1,
        json!({"a": "x", "n": 1}),
        "the old one until refresh"
    );
    let third = write(&node, update("t", "1", br#"{"doc": {"n": 3}}"#)).expect("merged");
    assert_eq!((third.outcome.result, third.outcome.identity.version), (WriteResult::Updated, 3));
    let noop = write(&node, update("t", "1", br#"{"doc": {"n": 3}}"#)).expect("noop");
    assert_eq!((noop.outcome.result, noop.outcome.identity.version), (WriteResult::Noop, 3));
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    assert_eq!(search(&node, "t", json!({"match_all": {}})), [("1".to_owned(), json!({"a": "y", "n": 3}))]);

    let gone = write(&node, delete("t", "1")).expect("deleted");
    assert_eq!((gone.outcome.result, gone.outcome.identity.version), (WriteResult::Deleted, 4));
    assert_eq!(get(&node, "t", "1"), None);
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    assert!(search(&node, "t", json!({"match_all": {}})).is_empty());
    let missing = write(&node, delete("t", "1")).expect("answers");
    assert_eq!(missing.outcome.result, WriteResult::NotFound);
    let again = write(&node, index("t", "1", b"{}")).expect("created");
    assert_eq!(
        (again.outcome.result, again.outcome.identity.version),
        (WriteResult::Created, 6),
        "the tombstone counts on"
    );
}

#[test]
fn conditions_are_checked_in_elasticsearchs_words() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("t", "1", b"{}")).expect("created");
    for refreshed in [false, true] {
        if refreshed {
            node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
        }
        let check = |operation: BulkOperation<'_>, expected: &str| {
            let error = write(&node, operation).expect_err("refused");
            assert_eq!((error.class, error.reason.as_str()), (ErrorClass::Conflict, expected));
            assert_eq!(error.metadata["index"], "t");
        };
        let create = BulkOperation { kind: OperationKind::Create, ..index("t", "1", b"{}") };
        check(create, "[1]: version conflict, document already exists (current version [1])");
        let old = BulkOperation { if_seq_no: Some(3), if_primary_term: Some(1), ..index("t", "1", b"{}") };
        check(
            old,
            "[1]: version conflict, required seqNo [3], primary term [1]. current document has seqNo [0] and primary term [1]",
        );
        let none = BulkOperation { if_seq_no: Some(3), if_primary_term: Some(1), ..index("t", "2", b"{}") };
        check(none, "[2]: version conflict, required seqNo [3], primary term [1]. but no document was found");
        let external =
            BulkOperation { version: Some(1), version_type: VersionType::External, ..index("t", "1", b"{}") };
        check(
            external,
            "[1]: version conflict, current version [1] is higher or equal to the one provided [1]",
        );
        let older = BulkOperation {
            version: Some(0),
            version_type: VersionType::ExternalGte,
            ..index("t", "1", b"{}")
        };
        check(older, "[1]: version conflict, current version [1] is higher than the one provided [0]");
    }
    let same = BulkOperation { if_seq_no: Some(0), if_primary_term: Some(1), ..index("t", "1", b"{}") };
    assert_eq!(write(&node, same).expect("holds").outcome.identity.version, 2);
    let external =
        BulkOperation { version: Some(17), version_type: VersionType::External, ..index("t", "1", b"{}") };
    assert_eq!(write(&node, external).expect("holds").outcome.identity.version, 17);
    let missing = write(&node, update("t", "9", br#"{"doc": {}}"#)).expect_err("missing");
    assert_eq!(
        (missing.class, missing.kind, missing.reason.as_str()),
        (ErrorClass::NotFound, "document_missing_exception", "[9]: document missing")
    );
    let upsert =
        write(&node, update("t", "9", br#"{"doc": {"a": 1}, "doc_as_upsert": true}"#)).expect("upserted");
    assert_eq!(upsert.outcome.result, WriteResult::Created);
}

#[test]
fn a_bulk_answers_each_item_in_order() {
    let folder = folder();
    let node = open(folder.path());
    node.create_index("t", &json!({"settings": {"number_of_shards": 3, "number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "long"}}}}))
        .expect("created");
    let operations = vec![
        index("t", "1", br#"{"n": 1}"#),
        BulkOperation::new(OperationKind::Index, "t", br#"{"n": 2}"#),
        index("t", "bad", br#"{"n": "x"}"#),
        index("t", "1", br#"{"n": 3}"#),
        update("t", "1", br#"{"doc": {"m": 4}}"#),
        delete("t", "nothing"),
        index("Bad Name", "1", b"{}"),
        BulkOperation { kind: OperationKind::Create, ..index("t", "1", b"{}") },
        index("broken", "1", b"{nonsense"),
        delete("absent", "1"),
    ];
    let response = node
        .bulk(BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::Immediate })
        .expect("answers");
    let outcomes: Vec<std::result::Result<WriteResult, ErrorClass>> = response
        .items
        .iter()
        .map(|item| item.outcome.as_ref().map(|outcome| outcome.result).map_err(|error| error.class))
        .collect();
    let expected = [
        Ok(WriteResult::Created),
        Ok(WriteResult::Created),
        Err(ErrorClass::BadRequest),
        Ok(WriteResult::Updated),
        Ok(WriteResult::Updated),
        Ok(WriteResult::NotFound),
        Err(ErrorClass::BadRequest),
        Err(ErrorClass::Conflict),
        Err(ErrorClass::BadRequest),
        Err(ErrorClass::NotFound),
    ];
    assert_eq!(outcomes, expected);
    assert!(response.errors);
    assert_eq!(response.items[1].id.len(), 20);
    assert_eq!(response.items[6].outcome.as_ref().expect_err("name").kind, "invalid_index_name_exception");
    assert_eq!(response.items[9].outcome.as_ref().expect_err("absent").kind, "index_not_found_exception");
    assert_eq!(response.items[4].outcome.as_ref().expect("updated").identity.version, 3);
    assert!(response.items[0].outcome.as_ref().expect("written").forced_refresh);
    assert_eq!(search(&node, "t", json!({"match_all": {}})).len(), 2);
    assert_eq!(get(&node, "t", "1"), Some((3, json!({"n": 3, "m": 4}))));
}

#[test]
fn operations_of_a_bulk_keep_the_routing_of_their_own_name() {
    let folder = folder();
    let node = open(folder.path());
    let body =
        json!({"settings": {"number_of_shards": 1}, "aliases": {"routed": {"routing": "r"}, "plain": {}}});
    node.create_index("t", &body).expect("created");
    let names = ["routed", "t", "plain", "routed", "t"];
    let ids = ["0", "1", "2", "3", "4"];
    let mut operations: Vec<BulkOperation<'_>> =
        names.iter().zip(ids).map(|(name, id)| index(name, id, b"{}")).collect();
    operations[3] = update("routed", "3", br#"{"doc": {}, "doc_as_upsert": true}"#);
    operations[4] = update("t", "4", br#"{"doc": {}, "doc_as_upsert": true}"#);
    node.bulk(BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None })
        .expect("answers");
    let routing = |id: &str| {
        let found = node.get(&GetRequest::new("t", id)).expect("gets").found;
        found.expect("found").routing
    };
    let expected = names.map(|name| (name == "routed").then(|| "r".to_owned()));
    assert_eq!(ids.map(routing), expected);
}

#[test]
fn everything_is_there_after_an_end_without_warning() {
    let folder = folder();
    let node = open(folder.path());
    node.create_index("t", &json!({"aliases": {"a": {}}})).expect("created");
    for number in 0..50 {
        let source = format!(r#"{{"n": {number}, "new_{}": "x"}}"#, number % 5);
        write(&node, index("t", &number.to_string(), source.as_bytes())).expect("written");
        if number == 20 {
            node.flush("t", IndicesOptions::BROADCAST, false).expect("flushed");
        }
        if number == 30 {
            node.refresh("t", IndicesOptions::BROADCAST).expect("refreshed");
        }
    }
    write(&node, delete("t", "3")).expect("deleted");
    write(&node, index("t", "4", br#"{"n": 400}"#)).expect("updated");
    drop(node);
    let node = open(folder.path());
    assert_eq!(search(&node, "a", json!({"match_all": {}})).len(), 49);
    assert_eq!(get(&node, "t", "4"), Some((2, json!({"n": 400}))));
    assert_eq!(get(&node, "t", "3"), None);
    let next = write(&node, index("t", "50", b"{}")).expect("written");
    assert_eq!((next.outcome.identity.seq_no, next.outcome.identity.primary_term), (52, 2));
    node.close();
    drop(node);
    let node = open(folder.path());
    assert_eq!(search(&node, "t", json!({"match_all": {}})).len(), 50);
    drop(node);
    let report = check_data_folder(folder.path()).expect("checks");
    assert_eq!(report.problem_count, 0, "{:?}", report.lines);
}

#[test]
fn several_writers_and_a_refresher_agree() {
    let folder = folder();
    let node = open(folder.path());
    node.create_index(
        "t",
        &json!({"settings": {"number_of_shards": 1}, "mappings": {"properties": {"n": {"type": "long"}}}}),
    )
    .expect("created");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|thread| {
                let node = &node;
                scope.spawn(move || {
                    for round in 0..30u64 {
                        let ids: Vec<String> =
                            (0..20).map(|n| format!("{}", (n * 7 + round + thread) % 40)).collect();
                        let source = format!(r#"{{"n": {round}}}"#);
                        let mut operations: Vec<BulkOperation<'_>> =
                            ids.iter().map(|id| index("t", id, source.as_bytes())).collect();
                        operations.push(BulkOperation::new(OperationKind::Index, "t", source.as_bytes()));
                        let request = BulkRequest {
                            operations: &operations,
                            pipeline: None,
                            refresh: RefreshPolicy::None,
                        };
                        assert!(!node.bulk(request).expect("answers").errors);
                    }
                })
            })
            .collect();
        let (node, stop) = (&node, &stop);
        scope.spawn(move || {
            let mut round = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                round += 1;
                node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
                let hits = search(node, "t", json!({"match_all": {}}));
                let mut ids: Vec<&str> = hits.iter().map(|(id, _)| id.as_str()).collect();
                ids.dedup();
                assert_eq!(ids.len(), hits.len(), "an id is visible once");
                if round % 5 == 0 {
                    let request =
                        ForceMergeRequest { max_num_segments: Some(1), ..ForceMergeRequest::default() };
                    assert_eq!(
                        node.force_merge("t", IndicesOptions::BROADCAST, &request).expect("merges").failed,
                        0
                    );
                }
            }
        });
        for writer in writers {
            writer.join().expect("writes");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    assert_eq!(search(&node, "t", json!({"match_all": {}})).len(), 40 + 90);
}
