//! Reads a data folder offline, for `limber check` and `limber inspect`: "which shards are in it, and where?"

use std::path::Path;
use std::sync::Arc;

use limber_store::{Directory, Disk};

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::{
    Newest, NodeState, Origin, STATE_FOLDER, STATE_NAME, SecurityFiles, index_folder, open_error,
    read_index_file, require_node, shard_folder,
};
use crate::shard::store_error;
use crate::volumes::Volumes;

pub(crate) enum Found {
    /// A shard. `place` says for people which shard of which index it is and where it lies.
    Shard {
        index: Arc<str>,
        place: String,
        directory: Arc<dyn Directory>,
        metadata: Arc<IndexMetadata>,
        /// The shard's folder, relative to the data folder.
        folder: String,
        disk: Arc<dyn Disk>,
    },
    /// Neither damage nor an index in use: leftovers of deletions and creations, an index that is not up to
    /// date, a dangling index.
    Note(String),
    /// Metadata or a folder that cannot be read, and why.
    Broken(String),
}

/// Calls `visit` for everything in a data folder that no server uses, and in the further data folders that it
/// knows. The folders are locked meanwhile.
///
/// Errors: no node has kept data in the folder, it cannot be read, or a running server has locked it.
pub(crate) fn for_each_shard(path: &Path, mut visit: impl FnMut(Found)) -> Result<()> {
    require_node(path)?;
    let disk: Arc<dyn Disk> = Arc::new(Volumes::open_known(path).map_err(|error| open_error(&error))?);
    let folders = disk.folders("indices").map_err(|e| store_error(&e))?;
    let state = match read_state(&*disk) {
        Ok(None) if !folders.is_empty() => {
            // A server writes the state before it creates an index, so a missing state is damage.
            visit(Found::Broken(format!(
                "{STATE_FOLDER}/{STATE_NAME} is not there: a server starts without {} indices that are, as dangling ones",
                folders.len()
            )));
            None
        }
        Ok(state) => state,
        Err(error) => {
            visit(Found::Broken(error.reason));
            None
        }
    };
    if let Some((state, _)) = state.as_ref().filter(|(state, _)| state.security.is_none())
        && let Err(error) = SecurityFiles::open(&*disk, &state.cluster_uuid)
    {
        visit(Found::Broken(error.reason));
    }
    if let Some((state, Origin::Listed)) = &state {
        for (uuid, listed) in
            state.indices.iter().filter(|(uuid, _)| !folders.iter().any(|at| **at == ***uuid))
        {
            let name = listed.name.as_deref().unwrap_or("_na_");
            visit(Found::Broken(format!("index [{name}]: its folder {} is not there", index_folder(uuid))));
        }
    }
    for uuid in folders {
        visit_index(&disk, &uuid, state.as_ref(), &mut visit)?;
    }
    Ok(())
}

/// Reads the node's state; `None` when there is no file.
fn read_state(disk: &dyn Disk) -> Result<Option<(NodeState, Origin)>> {
    let directory = disk.folder(STATE_FOLDER).map_err(|e| store_error(&e))?;
    match directory.exists(STATE_NAME).map_err(|e| store_error(&e))? {
        true => {
            NodeState::from_bytes(&directory.read_whole(STATE_NAME).map_err(|e| store_error(&e))?).map(Some)
        }
        false => Ok(None),
    }
}

fn visit_index(
    disk: &Arc<dyn Disk>,
    uuid: &str,
    state: Option<&(NodeState, Origin)>,
    visit: &mut impl FnMut(Found),
) -> Result<()> {
    let folder = index_folder(uuid);
    let directory = disk.folder(&folder).map_err(|e| store_error(&e))?;
    let (mut pending, mut is_listed) = (None, true);
    if let Some((state, origin)) = state {
        if state.tombstones.contains(uuid) {
            visit(Found::Note(format!("{folder}: of a deleted index, goes at the next start")));
            return Ok(());
        }
        pending = state.pending.get(uuid);
        is_listed = matches!(origin, Origin::Unlisted { .. }) || state.indices.contains_key(uuid);
    }
    let own = match read_index_file(&*directory, uuid) {
        Ok(own) => own,
        Err(error) => {
            visit(Found::Broken(error.reason));
            return Ok(());
        }
    };
    let is_state_of_lists = state.is_some_and(|(_, origin)| matches!(origin, Origin::Listed));
    let metadata = match Newest::of(own, pending) {
        Newest::Pending { pending, own_version } => {
            visit(Found::Note(format!(
                "{folder}: version {} of its metadata is still in {STATE_FOLDER}/{STATE_NAME} alone, its own file has {own_version}",
                pending.version()
            )));
            match IndexMetadata::from_json(&pending.metadata, &folder) {
                Ok(metadata) => metadata,
                Err(error) => {
                    visit(Found::Broken(error.reason));
                    return Ok(());
                }
            }
        }
        Newest::Own(own) => *own,
        missing if matches!(missing, Newest::Lost) || (is_listed && is_state_of_lists) => {
            visit(Found::Broken(format!("{folder}: the metadata of a listed index is not there")));
            return Ok(());
        }
        Newest::Lost | Newest::None => {
            visit(Found::Note(format!("{folder}: left over from a creation or deletion that was cut short")));
            return Ok(());
        }
    };
    if !is_listed {
        let name = &metadata.name;
        visit(Found::Note(format!("{folder}: dangling, an index [{name}] that the node does not list")));
    }
    visit_shards(disk, uuid, metadata, visit);
    Ok(())
}

fn visit_shards(disk: &Arc<dyn Disk>, uuid: &str, metadata: IndexMetadata, visit: &mut impl FnMut(Found)) {
    let metadata = Arc::new(metadata);
    for shard in 0..metadata.typed.number_of_shards {
        let folder = shard_folder(uuid, shard);
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
