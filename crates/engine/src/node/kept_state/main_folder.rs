//! The main data folder before it is locked: "does a node keep its data here, may one begin here, or does
//! the folder belong to something else?" Locking creates files, so these questions are asked first.

use std::path::{Path, PathBuf};

use limber_mapping::RequestError;
use limber_store::Error;

use super::state::{STATE_FOLDER, STATE_NAME};
use crate::api::Result;
use crate::shard::store_error;
use crate::volumes::is_volume;

/// What only data folders of Elasticsearch and OpenSearch contain: `_state` since 8.0, `nodes` before and in
/// OpenSearch.
const OF_ELASTICSEARCH: &[&str] = &["_state", "nodes"];

/// What a node keeps besides its state.
const OF_A_NODE: &[&str] = &["indices", "security"];

/// What a folder may contain before a node first starts in it: what an interrupted first start has left, the
/// files that users and `limber serve --secure` put there, and what a new file system has. Names that begin
/// with a dot may be there too.
const BEFORE_A_NODE: &[&str] =
    &[STATE_FOLDER, "volumes", "node.lock", "config", "certs", "audit.json", "lost+found"];
/// Endings of files that may be there too: of logs and of settings.
const BEFORE_A_NODE_ENDINGS: &[&str] = &[".log", ".out", ".err", ".yml", ".yaml"];

/// Refuses data folders that can never be used as they are: files, and a main folder (the first one) without
/// a node that contains the data of something else, in which a node would begin beside it. Nothing is
/// created, and folders that do not exist yet are not refused.
///
/// # Errors
/// A path is that of a file, or leads through one; the main folder is one of Elasticsearch, a further folder
/// of another node, or contains what belongs to no node.
pub fn refuse_foreign(paths: &[PathBuf]) -> Result<()> {
    for path in paths {
        refuse_file(path)?;
    }
    let Some(main) = paths.first().filter(|main| !has_state(main)) else { return Ok(()) };
    match data_of_others(main).or_else(|| foreign_name(main).map(|name| format!("[{name}]"))) {
        Some(found) => Err(foreign(main, found)),
        None => Ok(()),
    }
}

/// Refuses a path of which a part is a file. A further folder that is only missing may be mounted later, but
/// a file does not become a folder.
fn refuse_file(path: &Path) -> Result<()> {
    match path.ancestors().find(|part| part.exists()) {
        Some(file) if !file.is_dir() => {
            let file = file.display();
            let reason = format!("[{file}] is a file, but data is kept in a folder (--data, path.data)");
            Err(RequestError::illegal_argument(reason))
        }
        _ => Ok(()),
    }
}

fn foreign(path: &Path, found: String) -> RequestError {
    store_error(&Error::Foreign { path: path.to_owned(), found })
}

/// Returns whose data a folder without a node contains, if it contains any.
fn data_of_others(path: &Path) -> Option<String> {
    if let Some(name) = OF_ELASTICSEARCH.iter().find(|name| path.join(name).is_dir()) {
        return Some(format!(
            "data of Elasticsearch or OpenSearch ([{name}]), which limber import reads from a running server"
        ));
    }
    is_volume(path).then(|| "shards of a node whose main folder is another one".to_owned())
}

/// Returns the first name in the folder, by the alphabet, that neither a node nor its user has put there.
fn foreign_name(path: &Path) -> Option<String> {
    // A node whose state was lost still has its indices and users.
    if OF_A_NODE.iter().any(|name| path.join(name).is_dir()) {
        return None;
    }
    let belongs = |name: &String| {
        BEFORE_A_NODE.contains(&name.as_str())
            || name.starts_with('.')
            || BEFORE_A_NODE_ENDINGS.iter().any(|ending| name.ends_with(ending))
    };
    // A folder that cannot be listed is reported when it is opened.
    let names = std::fs::read_dir(path).ok()?.flatten();
    names.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| !belongs(name)).min()
}

/// Refuses a folder in which no node has ever kept data. Nothing is created in it.
///
/// # Errors
/// There is no such folder, or it contains neither a node's state nor indices, or the data of something else.
pub(crate) fn require_node(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Err(RequestError::illegal_argument(format!("[{}] is not a folder", path.display())));
    }
    if has_state(path) {
        return Ok(());
    }
    if let Some(found) = data_of_others(path) {
        return Err(foreign(path, found));
    }
    // A node whose state was lost still has its indices.
    if !path.join("indices").is_dir() {
        let reason = format!(
            "[{}] is not a data folder: no server has ever kept data in it (the folder is what limber serve calls --data)",
            path.display()
        );
        return Err(RequestError::illegal_argument(reason));
    }
    Ok(())
}

/// Whether a node has kept its state in the folder, or whether that cannot be told.
fn has_state(path: &Path) -> bool {
    path.join(STATE_FOLDER).join(STATE_NAME).try_exists().unwrap_or(true)
}

/// Converts the error of opening the folders. A folder in use is named as such.
pub(crate) fn open_error(error: &Error) -> RequestError {
    match error {
        Error::Locked { path } => RequestError::internal(
            "illegal_state_exception",
            format!("the data folder {} is in use by another process", path.display()),
        ),
        other => store_error(other),
    }
}
