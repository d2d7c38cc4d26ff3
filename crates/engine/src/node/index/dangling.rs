//! Dangling indices: folders with metadata that the node's state does not list. They are not touched until a
//! user decides.
//!
//! Source: Elasticsearch's `RestListDanglingIndicesAction`, `TransportImportDanglingIndexAction`,
//! `TransportDeleteDanglingIndexAction`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use super::index_files::read_index_file;
use super::live::index_folder;
use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::node::kept_state::state::Listed;
use crate::node::kept_state::state_file::AtStake;
use crate::shard::store_error;

/// What the start found in a folder that is not listed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::node) struct Dangling {
    /// `None` when its metadata cannot be read.
    pub name: Option<Arc<str>>,
    pub creation_date_ms: u64,
    /// Why it cannot be imported as it is, or why it is dangling.
    pub reason: Option<String>,
}

impl Dangling {
    pub(in crate::node) fn of(index: &IndexMetadata, reason: &str) -> Dangling {
        Dangling {
            name: Some(index.name.clone()),
            creation_date_ms: index.creation_date_ms,
            reason: Some(reason.to_owned()),
        }
    }

    pub(in crate::node) fn found(read: Result<Option<IndexMetadata>>) -> Dangling {
        let unknown = |reason: String| Dangling { name: None, creation_date_ms: 0, reason: Some(reason) };
        match read {
            Ok(Some(index)) => Dangling {
                name: Some(index.name.clone()),
                creation_date_ms: index.creation_date_ms,
                reason: None,
            },
            Ok(None) => unknown("it has no metadata".into()),
            Err(error) => unknown(error.reason),
        }
    }
}

impl Node {
    /// Returns the members `_nodes`, `cluster_name` and `dangling_indices` of `GET /_dangling`. In addition
    /// to Elasticsearch's members, an entry has a `reason` if it cannot be imported. Its name is `_na_` if it
    /// cannot be read.
    pub fn dangling_indices(&self) -> Value {
        let dangling = self.dangling.lock();
        let shown: Vec<Value> = dangling
            .iter()
            .map(|(uuid, found)| {
                let mut entry = json!({
                    "index_name": found.name.as_deref().unwrap_or("_na_"),
                    "index_uuid": &**uuid,
                    "creation_date_millis": found.creation_date_ms,
                    "node_ids": [self.node_id()],
                });
                if let Some(reason) = &found.reason {
                    entry["reason"] = reason.as_str().into();
                }
                entry
            })
            .collect();
        json!({
            "_nodes": {"total": 1, "successful": 1, "failed": 0},
            "cluster_name": self.config.cluster_name,
            "dangling_indices": shown,
        })
    }

    /// Carries out `POST /_dangling/{uuid}`: lists the index again, as its metadata says.
    ///
    /// # Errors
    /// Fails with `BadRequest` without `accept_data_loss` or for an unknown UUID. Fails too when the metadata
    /// cannot be read, or when the name or an alias is taken.
    pub fn import_dangling_index(&self, uuid: &str, accept_data_loss: bool) -> Result<()> {
        let uuid = self.check_dangling(uuid, accept_data_loss)?;
        let _opening = self.names.lock(&uuid);
        let directory = self.environment.folder(&index_folder(&uuid)).map_err(|e| store_error(&e))?;
        let Some(metadata) = read_index_file(&*directory, &uuid)? else {
            let why = format!("dangling index [{uuid}] has no metadata and cannot be imported");
            return Err(RequestError::illegal_argument(why));
        };
        let metadata = Arc::new(metadata);
        {
            let _changing = self.changing.lock();
            // Another request may have deleted or imported it meanwhile.
            self.check_dangling(&uuid, accept_data_loss)?;
            self.check_metadata_write_block()?;
            let catalog = self.catalog.load_full();
            self.with_new_index(&catalog, &metadata)?;
            self.kept.keep_index(&metadata)?;
            self.change_state(|state| {
                state.indices.insert(uuid.clone(), Listed::of(&metadata));
                state.set_aside.remove(&uuid);
            })?;
            self.index_files.add(&uuid, metadata.version, metadata.version);
            self.publish(|catalog| drop(catalog.indices.insert(metadata.name.clone(), metadata.clone())));
            self.dangling.lock().remove(&uuid);
        }
        self.open_and_admit(&metadata)
    }

    /// Carries out `DELETE /_dangling/{uuid}`: removes the folder.
    ///
    /// # Errors
    /// Fails with `BadRequest` without `accept_data_loss` or for an unknown UUID, and with errors of the
    /// disk.
    pub fn delete_dangling_index(&self, uuid: &str, accept_data_loss: bool) -> Result<()> {
        let uuid = self.check_dangling(uuid, accept_data_loss)?;
        {
            let _changing = self.changing.lock();
            self.check_dangling(&uuid, accept_data_loss)?;
            self.check_metadata_write_block()?;
            let mut state = (*self.state.load_full()).clone();
            state.tombstones.insert(uuid.clone());
            state.set_aside.remove(&uuid);
            self.write_state(state, AtStake::default())?;
            self.dangling.lock().remove(&uuid);
        }
        self.remove_index_folder(&uuid);
        Ok(())
    }

    fn check_dangling(&self, uuid: &str, accept_data_loss: bool) -> Result<Arc<str>> {
        if !accept_data_loss {
            return Err(RequestError::illegal_argument("accept_data_loss must be set to true"));
        }
        let dangling = self.dangling.lock();
        let known = dangling.get_key_value(uuid).map(|(uuid, _)| uuid.clone());
        known.ok_or_else(|| {
            RequestError::illegal_argument(format!("No dangling index found for UUID [{uuid}]"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::IndicesOptions;
    use crate::node::life::open::node_of_tests;

    #[test]
    fn an_index_that_is_being_deleted_is_not_imported() {
        for _ in 0..8 {
            let folder = tempfile::tempdir().expect("a folder");
            let first = node_of_tests(folder.path());
            first.create_index("lost", &json!({})).expect("created");
            first.close();
            drop(first);
            // Without its state, the node knows none of its indices.
            std::fs::remove_file(folder.path().join("state/node.json")).expect("removed");
            let node = node_of_tests(folder.path());
            let uuid = node.dangling.lock().keys().next().expect("one").clone();
            std::thread::scope(|scope| {
                let opening = node.names.lock(&uuid);
                let import = scope.spawn(|| node.import_dangling_index(&uuid, true));
                // The import has looked at the list and waits.
                std::thread::sleep(std::time::Duration::from_millis(50));
                let deletion = scope.spawn(|| node.delete_dangling_index(&uuid, true));
                while node.dangling.lock().contains_key(&uuid) {
                    std::thread::yield_now();
                }
                drop(opening);
                import.join().expect("no panic").expect_err("it is deleted");
                deletion.join().expect("no panic").expect("deleted");
            });
            assert!(!node.index_exists("lost", IndicesOptions::METADATA).expect("an answer"));
        }
    }
}
