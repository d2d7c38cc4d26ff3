//! Tests that make tracks of a stub server's indices and of files, and read them with the loader.

use serde_json::json;

use std::path::Path;

use serde_json::Value;

use super::{Selection, from_cluster, from_file};
use crate::drive::tests::stub::Stub;
use crate::http::cluster::Cluster;
use crate::model::Track;
use crate::server::hosts::{ClientOptions, resolve};
use crate::track::load::{TrackSource, TrackSpec, load};

fn cluster(stub: &Stub) -> Cluster {
    let options = ClientOptions::default();
    let hosts = resolve(std::slice::from_ref(&stub.host), &options).unwrap();
    Cluster::new(&hosts, "", options.timeout).unwrap()
}

fn loaded(folder: &Path) -> Track {
    let spec = TrackSpec::new(TrackSource::Path(folder.to_owned()), 0.0);
    load(&spec, &mut std::io::sink()).unwrap().track
}

/// Answers a scroll with a batch of two documents, a batch of one, and an empty one.
fn documents(asked: &str) -> Option<(u16, String)> {
    let page = |ids: &[u64], scroll: &str| {
        let hits: Vec<Value> =
            ids.iter().map(|id| json!({"_id": id.to_string(), "_source": {"n": id, "t": "a\nb"}})).collect();
        Some((200, json!({"_scroll_id": scroll, "hits": {"hits": hits}}).to_string()))
    };
    match asked {
        _ if asked.contains("_search?scroll=5m") => page(&[1, 2], "s1"),
        _ if asked.contains("\"s1\"") => page(&[3], "s2"),
        _ if asked.contains("\"s2\"") => page(&[], "s3"),
        _ => None,
    }
}

#[test]
fn an_index_becomes_a_track() {
    let stub = Stub::start(|asked| {
        match asked.line().as_str() {
        "GET /logs*?expand_wildcards=all" => Some((
            200,
            json!({"logs-1": {
                "mappings": {"properties": {"t": {"type": "text", "meta": {"note": "{{ no variable }} {% if"}}}},
                "settings": {"index": {"number_of_shards": "3", "number_of_replicas": "1", "uuid": "x", "codec": "best_compression"}},
            }})
            .to_string(),
        )),
        line => documents(&format!("{line} {}", asked.body)),
    }
    });
    let output = tempfile::tempdir().unwrap();
    let selection = Selection { names: vec!["logs*".into()], are_data_streams: false, batch_size: 2 };
    let folder =
        from_cluster("mine", output.path(), &mut cluster(&stub), &selection, &mut std::io::sink()).unwrap();

    let track = loaded(&folder);
    let body = track.indices[0].body.as_ref().unwrap();
    assert_eq!(
        body["settings"]["index"],
        json!({"number_of_shards": "3", "number_of_replicas": "1", "codec": "best_compression"})
    );
    assert_eq!(body["mappings"]["properties"]["t"]["meta"]["note"], "{{ no variable }} {% if");
    let set = &track.corpora[0].documents[0];
    assert_eq!((set.number_of_documents, set.target_index.as_deref()), (3, Some("logs-1")));
    let text = std::fs::read_to_string(folder.join("logs-1-documents.json")).unwrap();
    assert_eq!(text, "{\"n\":1,\"t\":\"a\\nb\"}\n{\"n\":2,\"t\":\"a\\nb\"}\n{\"n\":3,\"t\":\"a\\nb\"}\n");
    assert!(folder.join("logs-1-documents-1k.json.bz2").is_file());
    let kinds: Vec<&str> = track.challenges[0]
        .schedule
        .iter()
        .flat_map(|element| element.tasks())
        .map(|task| task.operation.kind.as_str())
        .collect();
    assert_eq!(kinds, ["delete-index", "create-index", "cluster-health", "bulk", "refresh", "search"]);
    let mut spec = TrackSpec::new(TrackSource::Path(folder.clone()), 0.0);
    spec.params.insert("number_of_shards".into(), 7.into());
    let changed = crate::track::load::read(&spec).unwrap();
    assert_eq!(changed.indices[0].body.as_ref().unwrap()["settings"]["index"]["number_of_shards"], "7");

    let again = from_cluster("mine", output.path(), &mut cluster(&stub), &selection, &mut std::io::sink());
    assert!(again.unwrap_err().to_string().contains("already holds a track"));
}

#[test]
fn a_data_stream_becomes_a_track() {
    let stub = Stub::start(|asked| {
        match asked.line().as_str() {
        "GET /_data_stream/logs?expand_wildcards=all" => {
            Some((200, json!({"data_streams": [{"name": "logs", "indices": [{"index_name": ".ds-logs-1"}]}]}).to_string()))
        }
        "GET /.ds-logs-1" => Some((
            200,
            json!({".ds-logs-1": {
                "mappings": {"_data_stream_timestamp": {"enabled": true}, "properties": {"@timestamp": {"type": "date"}}},
                "settings": {"index": {"hidden": "true", "number_of_shards": "1"}},
            }})
            .to_string(),
        )),
        line => documents(&format!("{line} {}", asked.body)),
    }
    });
    let output = tempfile::tempdir().unwrap();
    let selection = Selection { names: vec!["logs".into()], are_data_streams: true, batch_size: 2 };
    let folder =
        from_cluster("mine", output.path(), &mut cluster(&stub), &selection, &mut std::io::sink()).unwrap();
    let track = loaded(&folder);
    assert_eq!(track.data_streams, ["logs"]);
    let template = &track.composable_templates[0];
    assert_eq!(
        template.body["template"],
        json!({"mappings": {"properties": {"@timestamp": {"type": "date"}}}, "settings": {"index": {"number_of_shards": "1"}}})
    );
    assert_eq!(track.corpora[0].documents[0].target_data_stream.as_deref(), Some("logs"));
}

#[test]
fn names_are_text_in_paths_and_in_templates() {
    let stub = Stub::start(|asked| match asked.line().as_str() {
        "GET /a%20b%3Fc,5*?expand_wildcards=all" => {
            Some((200, json!({"50%{{x}}": {"mappings": {}, "settings": {"index": {}}}}).to_string()))
        }
        line if line.starts_with("POST /50%25%7B%7Bx%7D%7D/") || line.ends_with("/_search/scroll") => {
            documents(&format!("{line} {}", asked.body))
        }
        _ => None,
    });
    let output = tempfile::tempdir().unwrap();
    let selection = Selection { names: vec!["a b?c,5*".into()], are_data_streams: false, batch_size: 2 };
    let folder =
        from_cluster("mine", output.path(), &mut cluster(&stub), &selection, &mut std::io::sink()).unwrap();
    let track = loaded(&folder);
    assert_eq!(track.indices[0].name, "50%{{x}}");
    assert_eq!(track.corpora[0].documents[0].target_index.as_deref(), Some("50%{{x}}"));
}

#[test]
fn servers_that_refuse_and_other_programs_are_named() {
    let told = |responder: fn(&str) -> Option<(u16, String)>| {
        let stub = Stub::start(move |asked| responder(&asked.line()));
        let output = tempfile::tempdir().unwrap();
        let selection = Selection { names: vec!["books".into()], are_data_streams: false, batch_size: 2 };
        let made = from_cluster("mine", output.path(), &mut cluster(&stub), &selection, &mut std::io::sink());
        assert_eq!(std::fs::read_dir(output.path()).unwrap().count(), 0, "nothing is created");
        made.unwrap_err().to_string()
    };
    let other = told(|line| (line == "GET /").then(|| (200, "{\"hello\": \"world\"}".to_owned())));
    assert!(other.contains("not as Limber, Elasticsearch or OpenSearch do"), "{other}");
    let refused = told(|line| {
        let error = json!({"type": "index_not_found_exception", "reason": "no such index\u{1b}[2J\n[books]"});
        line.starts_with("GET /books").then(|| (404, json!({"error": error, "status": 404}).to_string()))
    });
    assert!(refused.ends_with("answered with status 404: no such index [2J [books]"), "{refused}");
    let page = told(|line| line.starts_with("GET /books").then(|| (502, "<html>bad gateway".to_owned())));
    assert!(page.ends_with("answered with status 502"), "{page}");
}

#[test]
fn a_log_becomes_a_track() {
    let output = tempfile::tempdir().unwrap();
    let log = output.path().join("access.log");
    let line = "10.0.0.1 - - [22/Nov/2026:07:08:30 +0000] \"GET / HTTP/1.1\" 200 5\n";
    std::fs::write(&log, line.repeat(1_500)).unwrap();
    let folder = from_file("weblog", output.path(), &log, &mut std::io::sink()).unwrap();
    let track = loaded(&folder);
    assert_eq!(track.corpora[0].documents[0].number_of_documents, 1_500);
    assert_eq!(track.indices[0].body.as_ref().unwrap()["mappings"]["properties"]["clientip"]["type"], "ip");
    let spec = TrackSpec { test_mode: true, ..TrackSpec::new(TrackSource::Path(folder.clone()), 0.0) };
    assert_eq!(
        load(&spec, &mut std::io::sink()).unwrap().track.corpora[0].documents[0].number_of_documents,
        1_000
    );

    let ndjson = output.path().join("documents.ndjson");
    std::fs::write(&ndjson, "{\"a\": 1}\n{\"a\": 2}\n").unwrap();
    let folder = from_file("other", output.path(), &ndjson, &mut std::io::sink()).unwrap();
    assert_eq!(loaded(&folder).indices[0].body.as_ref().unwrap()["mappings"], json!({}));
    assert!(from_file("../x", output.path(), &ndjson, &mut std::io::sink()).is_err());
}
