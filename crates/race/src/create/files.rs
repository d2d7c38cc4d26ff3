//! Writes the files of a track.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::bodies::escaped;
use super::target::Target;
use crate::track::load::LoadError;
use crate::track::track_files::files::write_below;

/// Creates the track's folder, which must not hold a track yet.
pub(super) fn new_folder(output: &Path, name: &str) -> Result<PathBuf, LoadError> {
    check_name(name)?;
    let folder = output.join(name);
    if folder.join("track.json").exists() {
        return Err(LoadError::NotFound(format!(
            "[{}] already holds a track, which is left as it is; choose another --track or --output-path.",
            folder.display()
        )));
    }
    Ok(folder)
}

/// Writes everything but the documents.
pub(super) fn write(name: &str, folder: &Path, targets: &[Target]) -> Result<(), LoadError> {
    for target in targets {
        write_below(folder, &body_file(target)?, target.body.as_bytes())?;
    }
    write_below(folder, "track.json", track(name, targets)?.as_bytes())?;
    write_below(folder, "challenges/default.json", challenge(targets).as_bytes())?;
    let operation =
        json!({"name": "default", "operation-type": "search", "body": {"query": {"match_all": {}}}});
    write_below(folder, "operations/default.json", format!("{operation:#}\n").as_bytes())
}

fn body_file(target: &Target) -> Result<String, LoadError> {
    check_name(&target.name)?;
    Ok(format!("{}.json", target.name))
}

/// Checks a name that becomes part of file names.
fn check_name(name: &str) -> Result<(), LoadError> {
    if name.is_empty() || name.contains(['/', '\\']) || name == "." || name == ".." {
        return Err(LoadError::NotFound(format!("[{name}] cannot be the name of a file")));
    }
    Ok(())
}

fn track(name: &str, targets: &[Target]) -> Result<String, LoadError> {
    let mut track = json!({ "version": 2, "description": format!("Made by limber create-track: {name}") });
    let (mut indices, mut templates, mut streams, mut corpora) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for target in targets {
        let file = body_file(target)?;
        match target.is_data_stream {
            false => indices.push(json!({"name": target.name, "body": file})),
            true => {
                streams.push(json!({"name": target.name}));
                templates.push(json!({
                    "name": format!("{}-template", target.name), "index-pattern": target.name, "delete-matching-indices": false,
                    "template": file
                }));
            }
        }
        if let Some(documents) = &target.documents {
            let target_key = if target.is_data_stream { "target-data-stream" } else { "target-index" };
            corpora.push(json!({"name": target.name, "documents": [{
                target_key: target.name,
                "source-file": documents.source_file,
                "document-count": documents.count,
                "compressed-bytes": documents.compressed_bytes,
                "uncompressed-bytes": documents.uncompressed_bytes,
            }]}));
        }
    }
    let sections = [
        ("indices", indices),
        ("composable-templates", templates),
        ("data-streams", streams),
        ("corpora", corpora),
    ];
    for (section, elements) in sections.into_iter().filter(|(_, elements)| !elements.is_empty()) {
        track[section] = Value::Array(elements);
    }
    let head = escaped(&format!("{track:#}"));
    let head = head.trim_end().strip_suffix('}').unwrap_or(&head).trim_end().to_owned();
    Ok(format!(
        "{{% import \"rally.helpers\" as rally with context %}}\n{head},\n  \"operations\": [\n    \
         {{{{ rally.collect(parts=\"operations/*.json\") }}}}\n  ],\n  \"challenges\": [\n    \
         {{{{ rally.collect(parts=\"challenges/*.json\") }}}}\n  ]\n}}\n"
    ))
}

fn challenge(targets: &[Target]) -> String {
    let is_data_stream = targets.iter().any(|target| target.is_data_stream);
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let creation = match is_data_stream {
        false => {
            "    {\"operation\": \"delete-index\"},\n    {\"operation\": {\"operation-type\": \"create-index\", \"settings\": {{ \
             index_settings | default({}) | tojson }}}},\n"
        }
        true => {
            "    {\"operation\": \"delete-data-stream\"},\n    {\"operation\": \"delete-composable-template\"},\n    {\"operation\": \
             \"create-composable-template\"},\n    {\"operation\": \"create-data-stream\"},\n"
        }
    };
    let bulk = match targets.iter().any(|target| target.documents.is_some()) {
        true => {
            "    {\n      \"operation\": {\n        \"operation-type\": \"bulk\",\n        \"bulk-size\": {{ bulk_size | default(5000) \
             }},\n        \"ingest-percentage\": {{ ingest_percentage | default(100) }}\n      },\n      \"clients\": {{ \
             bulk_indexing_clients | default(8) }}\n    },\n"
        }
        false => "",
    };
    format!(
        "{{\n  \"name\": \"default\",\n  \"description\": \"Creates everything anew, indexes all documents and searches them\",\n  \"default\": \
         true,\n  \"schedule\": [\n{creation}    {{\n      \"operation\": {{\n        \"operation-type\": \"cluster-health\",\n        \
         \"index\": {},\n        \"request-params\": {{\n          \"wait_for_status\": \"{{{{ cluster_health | default('green') \
         }}}}\",\n          \"wait_for_no_relocating_shards\": \"true\"\n        }},\n        \"retry-until-success\": true\n      \
         }}\n    }},\n{bulk}    {{\"operation\": \"refresh\"}},\n    {{\"operation\": \"default\", \"warmup-iterations\": 50, \
         \"iterations\": 100}}\n  ]\n}}\n",
        escaped(&Value::from(names.join(",")).to_string())
    )
}
