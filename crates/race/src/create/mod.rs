//! Makes a track of indices and data streams of a running server, or of a log file.
//!
//! The layout is that of Rally's `create-track` (`esrally/tracker`): `track.json`, a body for each index, its
//! documents as NDJSON beside a bzip2 archive, the same for the first 1,000 documents (test mode), one
//! challenge and one search. A track is written into a folder that holds none yet.

mod bodies;
mod cluster;
mod documents;
mod files;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::track::builtin::access_log;
use crate::track::load::LoadError;

/// An index or data stream that the track indexes into.
#[derive(Debug, Clone, PartialEq)]
struct Target {
    name: String,
    is_data_stream: bool,
    /// Body of the index or of the data stream's template, as a Jinja template.
    body: String,
    documents: Option<documents::Written>,
}

/// Which indices or data streams become a track; names may be patterns.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub names: Vec<String>,
    pub are_data_streams: bool,
    /// Number of documents per request.
    pub batch_size: u64,
}

/// Makes a track of indices or data streams, and returns its folder. Progress goes to `log`.
///
/// # Errors
/// `NoAnswer`, `Refused` or `Answer` when the server does not answer as expected, `Load` when there is
/// nothing to take or the folder already holds a track.
pub(crate) fn from_cluster(
    name: &str,
    output: &Path,
    cluster: &mut Cluster,
    selection: &Selection,
    log: &mut dyn Write,
) -> Result<PathBuf, Error> {
    let folder = files::new_folder(output, name)?;
    let mut targets = cluster::targets(cluster, selection)?;
    if targets.is_empty() {
        let wanted = selection.names.join(", ");
        return Err(
            LoadError::NotFound(format!("There is no index or data stream to take of [{wanted}].")).into()
        );
    }
    std::fs::create_dir_all(&folder).map_err(LoadError::at(&folder))?;
    for target in &mut targets {
        target.documents = cluster::dump(cluster, &target.name, selection.batch_size, &folder, log)?;
    }
    files::write(name, &folder, &targets)?;
    Ok(folder)
}

/// Makes a track of an access log (common or combined format) or of NDJSON, compressed or not, and returns
/// its folder.
///
/// A log gets the mapping of the built-in track. The server decides the mapping of other documents.
///
/// # Errors
/// `Load`: the errors of [`access_log::convert`], and when the folder already holds a track.
pub(crate) fn from_file(
    name: &str,
    output: &Path,
    file: &Path,
    log: &mut dyn Write,
) -> Result<PathBuf, Error> {
    let folder = files::new_folder(output, name)?;
    let converted = access_log::convert(file, u64::MAX)?;
    if converted.skipped > 0 {
        let _ = writeln!(
            log,
            "[WARNING] {} lines of [{}] cannot be read and are left out.",
            converted.skipped,
            file.display()
        );
    }
    let mappings =
        if converted.is_log { bodies::of_access_logs()? } else { Value::Object(Default::default()) };
    std::fs::create_dir_all(&folder).map_err(LoadError::at(&folder))?;
    let mut writer = documents::Writer::create(&folder, name)?;
    for line in converted.ndjson.split_inclusive(|byte| *byte == b'\n') {
        writer.write_line(line)?;
    }
    let target = Target {
        name: name.to_owned(),
        is_data_stream: false,
        body: bodies::index(
            &serde_json::json!({"number_of_shards": "1", "number_of_replicas": "0"}),
            &mappings,
        ),
        documents: writer.finish()?,
    };
    files::write(name, &folder, &[target])?;
    Ok(folder)
}

#[cfg(test)]
mod tests;
