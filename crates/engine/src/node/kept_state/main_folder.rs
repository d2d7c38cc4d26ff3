//! The main data folder before it is locked: "does a node keep its data here, may one begin here, or does
//! the folder belong to something else?" Locking creates files, so these questions are asked first.

use std::path::Path;

use limber_mapping::RequestError;
use limber_store::Error;

use super::state::{STATE_FOLDER, STATE_NAME};
use crate::api::Result;
use crate::shard::store_error;
use crate::volumes::is_volume;

/// What only data folders of Elasticsearch and OpenSearch contain: `_state` since 8.0, `nodes` before and in
/// OpenSearch.
const OF_ELASTICSEARCH: &[&str] = &["_state", "nodes"];

/// Refuses a folder without a node that contains the data of something else, in which a node would begin
/// beside it.
///
/// # Errors
/// The folder is one of Elasticsearch, or a further folder of another node.
pub(crate) fn refuse_foreign(path: &Path) -> Result<()> {
    let of_elasticsearch = || OF_ELASTICSEARCH.iter().find(|name| path.join(name).is_dir());
    let found = if has_state(path) {
        return Ok(());
    } else if let Some(name) = of_elasticsearch() {
        format!(
            "data of Elasticsearch or OpenSearch ([{name}]), which limber import reads from a running server"
        )
    } else if is_volume(path) {
        "shards of a node whose main folder is another one".to_owned()
    } else {
        return Ok(());
    };
    Err(store_error(&Error::Foreign { path: path.to_owned(), found }))
}

/// Refuses a folder in which no node has ever kept data. Nothing is created in it.
///
/// # Errors
/// There is no such folder, or it contains neither a node's state nor indices, or the data of something else.
pub(crate) fn require_node(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Err(RequestError::illegal_argument(format!("[{}] is not a folder", path.display())));
    }
    refuse_foreign(path)?;
    // A node whose state was lost still has its indices.
    if !has_state(path) && !path.join("indices").is_dir() {
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
