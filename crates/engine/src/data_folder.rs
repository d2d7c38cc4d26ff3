//! A data folder offline: "which shards are in it, and where?", for `limber check` and `limber inspect`.

use std::path::Path;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::{Directory, Disk, FsDisk};

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::{METADATA_NAME, index_folder, shard_folder};
use crate::shard::store_error;

pub(crate) enum Found {
    /// `place` says for people which shard of which index lies where.
    Shard {
        index: Arc<str>,
        place: String,
        directory: Arc<dyn Directory>,
        metadata: Arc<IndexMetadata>,
        /// Of the shard, relative to the data folder.
        folder: String,
        disk: Arc<dyn Disk>,
    },
    /// A folder of no index.
    LeftOver { folder: String },
    /// Metadata or folder that cannot be read, and why.
    Broken(String),
}

/// Calls `visit` for all that a folder holds which no server uses; the folder is locked meanwhile.
///
/// Errors: the folder cannot be read, or a running server holds it.
pub(crate) fn for_each_shard(path: &Path, mut visit: impl FnMut(Found)) -> Result<()> {
    if !path.is_dir() {
        return Err(RequestError::illegal_argument(format!("[{}] is not a folder", path.display())));
    }
    let disk: Arc<dyn Disk> = Arc::new(FsDisk::open(path).map_err(|error| store_error(&error))?);
    for uuid in disk.folders("indices").map_err(|e| store_error(&e))? {
        let folder = index_folder(&uuid);
        let directory = disk.folder(&folder).map_err(|e| store_error(&e))?;
        match directory.exists(METADATA_NAME) {
            Ok(true) => {}
            Ok(false) => {
                visit(Found::LeftOver { folder });
                continue;
            }
            Err(error) => {
                visit(Found::Broken(error.to_string()));
                continue;
            }
        }
        let metadata = directory
            .open(METADATA_NAME)
            .map_err(|e| store_error(&e))
            .and_then(|bytes| IndexMetadata::from_bytes(&bytes, &format!("{folder}/{METADATA_NAME}")));
        let metadata = match metadata {
            Ok(metadata) => Arc::new(metadata),
            Err(error) => {
                visit(Found::Broken(error.reason));
                continue;
            }
        };
        for shard in 0..metadata.typed.number_of_shards {
            let folder = shard_folder(&uuid, shard);
            let place = format!("{}[{shard}] ({folder})", metadata.name);
            visit(match disk.folder(&folder) {
                Ok(directory) => Found::Shard {
                    index: metadata.name.clone(),
                    place,
                    directory,
                    metadata: metadata.clone(),
                    folder,
                    disk: disk.clone(),
                },
                Err(error) => Found::Broken(format!("{place}: {error}")),
            });
        }
    }
    Ok(())
}
