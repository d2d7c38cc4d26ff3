//! Clones a snapshot, or some of its indices, under another name. Only its list of files is copied.
//!
//! Source: Elasticsearch's `SnapshotsService#cloneSnapshot`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::request::{flag, texts};
use crate::api::Result;
use crate::node::Node;
use crate::snapshot::errors::{invalid_snapshot_name, snapshot_error, snapshot_missing};
use crate::snapshot::format::{Entry, SnapshotBody, snapshot_name};
use crate::snapshot::names::{check_snapshot_name, filter_indices};

impl Node {
    /// Carries out `PUT /_snapshot/{repository}/{snapshot}/_clone/{target}`.
    pub fn clone_snapshot(&self, repository: &str, source: &str, target: &str, body: &Value) -> Result<()> {
        let (indices, ignore_unavailable) = parse(body)?;
        let repository = self.repository(repository)?;
        check_snapshot_name(&repository.name, target)?;
        repository.check_writable("cannot create snapshot in a readonly repository")?;
        let _writing = repository.writing.lock();
        self.use_repository(&repository, || Ok(()))?;
        let mut root = repository.root()?;
        let is_running = self.snapshots.running_in(&repository.name).iter().any(|one| one.name == target);
        if is_running || root.snapshots.iter().any(|one| one.name == target) {
            let why = "snapshot with the same name already exists";
            return Err(invalid_snapshot_name(&repository.name, target, why));
        }
        let from = root.snapshots.iter().find(|one| one.name == source);
        let from = from.ok_or_else(|| snapshot_missing(&repository.name, source))?.clone();
        let chosen = filter_indices(from.indices.keys().map(String::as_str), &indices, ignore_unavailable)?;
        if chosen.is_empty() {
            let why =
                format!("No indices in the source snapshot [{source}] matched requested pattern [{indices}]");
            return Err(snapshot_error(&repository.name, source, why));
        }
        if let Some(failed) =
            chosen.iter().find(|name| from.indices[*name].shards.iter().any(Option::is_none))
        {
            let why = format!("Can't clone index [{failed}] because its snapshot was not successful.");
            return Err(snapshot_error(&repository.name, source, why));
        }
        let mut cloned: SnapshotBody = repository.read(&snapshot_name(&from.uuid))?;
        cloned.shards.retain(|name, _| chosen.contains(name));
        for shard in cloned.shards.values_mut().flatten() {
            (shard.new_file_count, shard.new_bytes) = (0, 0);
        }
        cloned.failures.clear();
        // Data streams that miss an index in the clone are left out.
        let holds_all = |stream: &Value| {
            let mut indices = stream["indices"].as_array().into_iter().flatten().filter_map(Value::as_str);
            indices.all(|name| chosen.iter().any(|other| other == name))
        };
        cloned.data_streams.retain(|_, stream| holds_all(stream));
        let now_ms = self.now_millis();
        let entry = Entry {
            name: target.to_owned(),
            uuid: self.environment.uuid(),
            start_ms: now_ms,
            end_ms: now_ms,
            indices: from.indices.into_iter().filter(|(name, _)| chosen.contains(name)).collect(),
            data_streams: cloned.data_streams.keys().cloned().collect(),
            failed_shards: 0,
            state: crate::snapshot::format::State::Success,
            policy: None,
        };
        repository.write(&snapshot_name(&entry.uuid), &cloned)?;
        root.snapshots.push(entry);
        repository.publish(root, &self.environment, self.node_id())
    }
}

fn parse(body: &Value) -> Result<(String, bool)> {
    let empty = Map::new();
    let (mut indices, mut ignore_unavailable) = (String::new(), false);
    for (key, value) in body.as_object().unwrap_or(&empty) {
        match &**key {
            "indices" => indices = texts(key, value)?,
            "ignore_unavailable" => ignore_unavailable = flag(key, value)?,
            _ => return Err(RequestError::illegal_argument(format!("Unknown parameter {key}"))),
        }
    }
    match indices.is_empty() {
        false => Ok((indices, ignore_unavailable)),
        true => Err(RequestError::validation(["indices patterns are empty"])),
    }
}
