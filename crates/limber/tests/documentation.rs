//! Requests as the public documentation of Elasticsearch and OpenSearch shows them
//! (`tests/documentation/pages`): each is answered with 2xx, or with the status that the page says. `any`
//! there stands for 2xx and for an error of the request. `tests/documentation/run` compares the answers with
//! those of other servers.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Client, ServerProcess};

/// A request, and what is written after it.
struct Asked {
    method: String,
    path: String,
    body: String,
    note: Option<String>,
}

/// Returns the pages of a file: their titles and requests, once for each value that a title lists.
fn pages(text: &str) -> Vec<(String, Vec<Asked>)> {
    let mut pages = Vec::new();
    for page in format!("\n{text}").split("\n--- ").skip(1) {
        let (head, body) = page.split_once('\n').unwrap_or((page, ""));
        let Some((title, values)) = head.split_once(" @ x=") else {
            pages.push((head.to_owned(), requests(body)));
            continue;
        };
        let separator = if values.contains(";;") { ";;" } else { "," };
        for value in values.split(separator) {
            pages.push((format!("{title} [{value}]"), requests(&body.replace("${x}", value))));
        }
    }
    pages
}

fn requests(text: &str) -> Vec<Asked> {
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let request = |block: &str| {
        let (lines, note) = match block.rsplit_once("\n=> ") {
            Some((lines, note)) => (lines, Some(note.trim())),
            None => (block, None),
        };
        let (head, body) = lines.split_once('\n').unwrap_or((lines, ""));
        let (method, path) = head.split_once(' ').unwrap_or((head, "/"));
        Asked {
            method: method.to_owned(),
            path: format!("/{}", path.trim().trim_start_matches('/')),
            body: body.to_owned(),
            note: note.map(str::to_owned),
        }
    };
    blocks.map(request).collect()
}

/// Deletes what the page before left.
fn clean(client: &mut Client) {
    let settings = r#"{"persistent": {"*": null}, "transient": {"*": null}}"#;
    client.send("PUT", "/_cluster/settings", settings);
    client.send(
        "PUT",
        "/_cluster/settings",
        r#"{"persistent": {"action.destructive_requires_name": false}}"#,
    );
    for path in [
        "/_data_stream/*",
        "/*?expand_wildcards=all",
        "/_index_template/*",
        "/_component_template/*",
        "/_template/*",
        "/_search/scroll/_all",
    ] {
        client.send("DELETE", path, "");
    }
    for kind in ["/_ingest/pipeline", "/_search/pipeline", "/_transform", "/_enrich/policy", "/_snapshot"] {
        let Value::Object(known) = client.send("GET", kind, "").json() else { continue };
        let listed = |list: &str, id: &str| -> Vec<String> {
            let entries = known.get(list).and_then(Value::as_array).into_iter().flatten();
            entries.filter_map(|entry| entry.pointer(id)?.as_str().map(str::to_owned)).collect()
        };
        let names: Vec<String> = match kind {
            "/_transform" => listed("transforms", "/id"),
            "/_enrich/policy" => listed("policies", "/config/match/name"),
            _ => known.keys().cloned().collect(),
        };
        for name in names {
            client.send("DELETE", &format!("{kind}/{name}"), "");
        }
    }
}

#[test]
fn requests_of_the_documentation_are_answered() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let repository = folder.path().join("repository");
    std::fs::create_dir(&repository).expect("a folder");
    let repository = repository.to_string_lossy().into_owned();
    let server =
        ServerProcess::start(&folder.path().join("data"), &["-E", &format!("path.repo={repository}")]);
    let mut client = server.client();
    let mut wrong = Vec::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/documentation/pages");
    for entry in std::fs::read_dir(sources).expect("the pages") {
        let file = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&file).expect("a page").replace("${repo}", &repository);
        for (title, requests) in pages(&text) {
            clean(&mut client);
            for asked in requests {
                let path = asked.path.replace(' ', "%20").replace('"', "%22");
                let answer = client.send(&asked.method, &path, format!("{}\n", asked.body).trim_start());
                let note = asked.note.as_deref().unwrap_or_default();
                let is_right = match note.parse::<u16>() {
                    Ok(status) => answer.status == status,
                    Err(_) if note == "any" => (200..500).contains(&answer.status),
                    Err(_) => (200..300).contains(&answer.status),
                };
                if !is_right {
                    let beginning: String = answer.text().chars().take(300).collect();
                    wrong.push(format!(
                        "{title}: {} {} {}\n  {} and not [{note}]: {beginning}",
                        asked.method, asked.path, asked.body, answer.status
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
}
