//! Conversations: files with requests and the expected responses. They hold for Elasticsearch as well as for
//! Limber.
//!
//! `CONVERSATION_URL=127.0.0.1:9200 cargo test --test conversations` replays them on a running server
//! (`tests/peers/run` does so on a real Elasticsearch). `CONVERSATION` names the only file to run,
//! `CONVERSATION_SKIP` is a comma-separated list of files to skip. Every file is a list of steps:
//! `do: METHOD /path`; an optional `body` (an object, or a string that is sent unchanged); `status` (200 if
//! absent); `match`, the minimal content of the response: objects are compared by the named members, arrays
//! in full, numbers within 1e-6, `$any` matches anything, `$absent` a missing member, `$has TEXT` a string
//! that contains the text, and the member `$each` each member of an object that has some (such as nodes by
//! their ids); an expected reason may lack the position (`[1:23] `) that the found one begins with; and
//! `warnings`, the texts of all headers `Warning`. All indices are deleted before and after each file.

mod support;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use support::{Client, ServerProcess};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(rename = "do")]
    request: String,
    body: Option<Value>,
    #[serde(default = "ok")]
    status: u16,
    #[serde(rename = "match")]
    expected: Option<Value>,
    /// For plain-text responses: a string that the text must contain.
    text: Option<String>,
    warnings: Option<Vec<String>>,
}

fn ok() -> u16 {
    200
}

#[test]
fn answers_are_as_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (address, _server): (SocketAddr, _) = match std::env::var("CONVERSATION_URL") {
        Ok(url) => (url.trim_start_matches("http://").parse().expect("CONVERSATION_URL is host:port"), None),
        Err(_) => {
            // Conversations about snapshots create their repositories there.
            let repositories = format!("path.repo={}", folder.path().join("repositories").display());
            // All of them together compile more scripts than a client does in five minutes.
            let scripts = "script.max_compilations_rate=10000/5m";
            let server = ServerProcess::start(folder.path(), &["-E", &repositories, "-E", scripts]);
            (server.address, Some(server))
        }
    };
    let mut client = Client::connect(address);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conversations"))
            .expect("the folder exists")
            .map(|entry| entry.expect("the folder can be read").path())
            .collect();
    files.sort();
    let only = std::env::var("CONVERSATION").ok();
    let skipped = std::env::var("CONVERSATION_SKIP").unwrap_or_default();
    let mut failures = Vec::new();
    for file in files {
        let name = file.file_stem().expect("files have names").to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name)
            || skipped.split(',').any(|skipped| skipped == name)
        {
            continue;
        }
        clean(&mut client);
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let steps: Vec<Step> =
            serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (number, step) in steps.iter().enumerate() {
            if let Err(what) = take(&mut client, step) {
                failures.push(format!("{name}, step {}: {}\n    {what}", number + 1, step.request));
                break;
            }
        }
    }
    clean(&mut client);
    assert!(failures.is_empty(), "{} conversations differ:\n{}", failures.len(), failures.join("\n"));
}

fn clean(client: &mut Client) {
    client.send("PUT", "/_cluster/settings", r#"{"transient":{"action.destructive_requires_name":false}}"#);
    client.send("DELETE", "/_data_stream/*?expand_wildcards=all", "");
    client.send("DELETE", "/*", "");
    client.send("DELETE", "/_index_template/*", "");
    client.send("DELETE", "/_template/*", "");
    client.send("DELETE", "/_component_template/*", "");
    client.send("DELETE", "/_ingest/pipeline/*", "");
}

fn take(client: &mut Client, step: &Step) -> Result<(), String> {
    let (method, path) = step.request.split_once(' ').ok_or("`do` is METHOD /path")?;
    let body = match &step.body {
        None => Vec::new(),
        Some(Value::String(text)) => text.clone().into_bytes(),
        Some(value) => value.to_string().into_bytes(),
    };
    let answer = client.try_send(method, path, &[], &body).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    if answer.status != step.status {
        return Err(format!("status {} instead of {}: {text}", answer.status, step.status));
    }
    if let Some(expected) = &step.warnings {
        let headers = answer.headers.iter().filter(|(name, _)| name == "warning");
        let found: Vec<&str> = headers.filter_map(|(_, value)| quoted(value)).collect();
        if found != *expected {
            return Err(format!("warnings {found:?}"));
        }
    }
    if let Some(part) = &step.text
        && !text.contains(part.as_str())
    {
        return Err(format!("{text:?} lacks {part:?}"));
    }
    if let Some(expected) = &step.expected {
        let found: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
        matches(expected, &found, "").map_err(|what| format!("{what}\n    in {text}"))?;
    }
    Ok(())
}

/// Returns the text of a header `Warning`: `299 Elasticsearch-VERSION-HASH "text"`.
fn quoted(warning: &str) -> Option<&str> {
    let (head, text) = warning.split_once(" \"")?;
    head.starts_with("299 Elasticsearch-").then_some(text.strip_suffix('"')?)
}

fn matches(expected: &Value, found: &Value, path: &str) -> Result<(), String> {
    let differs = || Err(format!("{path}: {found} instead of {expected}"));
    match (expected, found) {
        (Value::String(text), _) if text == "$any" => Ok(()),
        (Value::String(text), Value::String(found)) if text.starts_with("$has ") => {
            if found.contains(&text[5..]) { Ok(()) } else { differs() }
        }
        (Value::Object(expected), Value::Object(found)) => {
            for (name, expected) in expected {
                let path = format!("{path}.{name}");
                if name == "$each" {
                    if found.is_empty() {
                        return Err(format!("{path}: has no members"));
                    }
                    found.iter().try_for_each(|(member, found)| {
                        matches(expected, found, &format!("{path}.{member}"))
                    })?;
                    continue;
                }
                match (expected, found.get(name)) {
                    (Value::String(text), None) if text == "$absent" => {}
                    (Value::String(text), Some(_)) if text == "$absent" => {
                        return Err(format!("{path}: is there"));
                    }
                    (_, None) => return Err(format!("{path}: is missing")),
                    (expected, Some(found)) => matches(expected, found, &path)?,
                }
            }
            Ok(())
        }
        (Value::Array(a), Value::Array(b)) => {
            if a.len() != b.len() {
                return Err(format!("{path}: {} elements instead of {}", b.len(), a.len()));
            }
            a.iter().zip(b).enumerate().try_for_each(|(n, (a, b))| matches(a, b, &format!("{path}[{n}]")))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            if (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-300) { Ok(()) } else { differs() }
        }
        (Value::String(expected), Value::String(found)) if expected == without_position(found) => Ok(()),
        (a, b) if a == b => Ok(()),
        _ => differs(),
    }
}

/// Returns the reason of an error without its position in the body, `[line:column] `.
fn without_position(reason: &str) -> &str {
    let is_position = |inside: &str| {
        inside
            .split_once(':')
            .is_some_and(|(line, column)| [line, column].iter().all(|number| number.parse::<u32>().is_ok()))
    };
    match reason.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((inside, rest)) if is_position(inside) => rest,
        _ => reason,
    }
}
