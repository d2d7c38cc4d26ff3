//! Reads indices and data streams of a server: which there are, how they were created, and their documents.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::bodies;
use super::documents::{Writer, Written};
use super::target::{Selection, Target};
use crate::error::Error;
use crate::http::cluster::{Answer, Cluster};
use crate::http::{HttpError, in_path};

/// How long the server keeps a scroll between two requests.
const SCROLL: &str = "5m";
/// Documents between two progress lines.
const REPORT_EVERY: u64 = 100_000;

/// Returns the selected indices or data streams, without their documents.
pub(super) fn targets(cluster: &mut Cluster, selection: &Selection) -> Result<Vec<Target>, Error> {
    let mut targets: Vec<Target> = Vec::new();
    for pattern in &selection.names {
        let found = match selection.are_data_streams {
            true => data_streams(cluster, pattern)?,
            false => indices(cluster, pattern)?,
        };
        for target in found {
            if !targets.iter().any(|known| known.name == target.name) {
                targets.push(target);
            }
        }
    }
    Ok(targets)
}

fn indices(cluster: &mut Cluster, pattern: &str) -> Result<Vec<Target>, Error> {
    let path = format!("/{}?expand_wildcards=all", in_path(pattern));
    let answer = successful(&path, cluster.get(&path))?;
    // As in Rally: hidden indices often belong to the system, so they are taken only when they are named.
    let takes_hidden = !["_all", "*"].contains(&pattern);
    let found =
        answer.as_object().into_iter().flatten().filter(|(name, _)| takes_hidden || !name.starts_with('.'));
    Ok(found
        .map(|(name, index)| Target {
            name: name.clone(),
            is_data_stream: false,
            body: bodies::index(&index["settings"]["index"], &index["mappings"]),
            documents: None,
        })
        .collect())
}

fn data_streams(cluster: &mut Cluster, pattern: &str) -> Result<Vec<Target>, Error> {
    let path = format!("/_data_stream/{}?expand_wildcards=all", in_path(pattern));
    let answer = successful(&path, cluster.get(&path))?;
    let mut targets = Vec::new();
    for stream in answer["data_streams"].as_array().into_iter().flatten() {
        let name = stream["name"].as_str().unwrap_or_default().to_owned();
        let newest = stream["indices"].as_array().and_then(|indices| indices.last());
        let Some(newest) = newest.and_then(|index| index["index_name"].as_str()) else { continue };
        let path = format!("/{}", in_path(newest));
        let index = &successful(&path, cluster.get(&path))?[newest];
        let body = bodies::data_stream(&name, &index["settings"]["index"], &index["mappings"]);
        targets.push(Target { name, is_data_stream: true, body, documents: None });
    }
    Ok(targets)
}

/// Writes all documents of an index or data stream, in the order in which the shards store them.
pub(super) fn dump(
    cluster: &mut Cluster,
    name: &str,
    batch_size: u64,
    folder: &Path,
    log: &mut dyn Write,
) -> Result<Option<Written>, Error> {
    let mut writer = Writer::create(folder, name)?;
    let path = format!("/{}/_search?scroll={SCROLL}", in_path(name));
    let first = json!({"size": batch_size, "sort": ["_doc"], "query": {"match_all": {}}});
    let mut answer = successful(&path, cluster.post(&path, &first))?;
    let mut count = 0_u64;
    loop {
        let scroll = answer["_scroll_id"].as_str().map(str::to_owned);
        let hits = answer["hits"]["hits"].as_array().map_or(&[][..], Vec::as_slice);
        for hit in hits {
            writer.write_line(format!("{}\n", hit["_source"]).as_bytes())?;
            count += 1;
            if count.is_multiple_of(REPORT_EVERY) {
                let _ = writeln!(log, "[INFO] {count} documents of [{name}] are written.");
            }
        }
        let is_over = hits.is_empty();
        let Some(scroll) = scroll else { break };
        if is_over {
            // On failure, the server drops the scroll by itself a few minutes later.
            let _ = cluster.delete("/_search/scroll", &json!({ "scroll_id": [scroll] }));
            break;
        }
        let next = json!({"scroll": SCROLL, "scroll_id": scroll});
        answer = successful("/_search/scroll", cluster.post("/_search/scroll", &next))?;
    }
    let _ = writeln!(log, "[INFO] {count} documents of [{name}] are written.");
    Ok(writer.finish()?)
}

fn successful(path: &str, answer: Result<Answer, HttpError>) -> Result<Value, Error> {
    match answer {
        Ok(answer) if answer.status == 200 => Ok(answer.body),
        Ok(answer) => Err(answer.refused(path)),
        Err(error) => Err(Error::no_answer(path)(error)),
    }
}
