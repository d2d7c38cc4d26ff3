//! `_clone`, `_shrink` and `_split` create an index with the same documents under another name, with the same
//! or another number of shards.
//!
//! The documents are copied with their versions. Elasticsearch links files instead, which takes no time but
//! leaves documents in them that belong to other shards. Source:
//! `MetadataCreateIndexService#validateCloneIndex`, `#validateShrinkIndex`, `#validateSplitIndex`,
//! `#prepareResizeIndexSettings`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_mapping::{ObjectParser, RequestError, plain_text};
use limber_search::SearchRequest;
use serde_json::{Map, Value, json};

use crate::api::{
    ActiveCopies, CreateIndexResponse, IndexInfo, IndicesOptions, OperationKind, Result, VersionType,
};
use crate::catalog::IndexMetadata;
use crate::catalog::names::index_not_found;
use crate::node::Node;
use crate::node::by_query::{ByQueryRequest, Change, CopyDestination, CopyRouting, Slices};
use crate::node::kept_state::security::check_sees_all;
use crate::settings::{FlatSettings, SettingsUpdate, flatten, normalize_index_keys};

/// How many documents are copied at a time.
const BATCH_SIZE: u32 = 1000;
/// Source: `ResizeRequestInterceptor`.
const SEES_ALL: &str = "Resize requests are not allowed for users when field or document level security is enabled on the source index";

/// Reserves the name of an unfinished index while documents are copied to it. When this is dropped, the index
/// is deleted unless it is finished.
pub(in crate::node) struct Copying<'n> {
    node: &'n Node,
    target: Arc<str>,
}

impl<'n> Copying<'n> {
    pub(in crate::node) fn begin(node: &'n Node, target: &str) -> Result<Copying<'n>> {
        let target: Arc<str> = node.catalog.load().resolve_date_math(target)?.into();
        match node.copying.lock().insert(target.clone()) {
            true => Ok(Copying { node, target }),
            false => Err(RequestError::bad_request(
                "resource_already_exists_exception",
                format!("index [{target}] is being made by another request"),
            )),
        }
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        self.node.copying.lock().remove(&self.target);
        self.node.remove_unfinished_copies();
    }
}

/// How the number of shards changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resize {
    /// `_clone`: the same number of shards.
    Clone,
    /// `_shrink`: fewer shards; their number divides the previous one.
    Shrink,
    /// `_split`: more shards; their number is a multiple of the previous one.
    Split,
}

/// Settings that belong to one index only and are never copied to another.
pub(in crate::node) const OWN_SETTINGS: &[&str] = &[
    "index.creation_date",
    "index.provided_name",
    "index.uuid",
    "index.version.created",
    "index.version.upgraded",
];

/// Further settings that are not copied to the target of a resize, or are set to new values.
const NOT_COPIED: &[&str] =
    &["index.number_of_shards", "index.number_of_routing_shards", "index.lifecycle.rollover_alias"];

/// Settings of the target that must not apply to the documents copied from the source.
const LATE: [&str; 3] = ["index.default_pipeline", "index.final_pipeline", "index.translog.durability"];

impl Node {
    /// Creates `target` with the documents of `source`. `body` may have `settings` and `aliases`.
    ///
    /// # Errors
    /// Fails with Elasticsearch's messages, or when copying fails. There is no target then.
    pub fn resize(
        self: &Arc<Self>,
        kind: Resize,
        (source, target): (&str, &str),
        body: &Value,
        copies: ActiveCopies,
        cancelled: Arc<AtomicBool>,
    ) -> Result<CreateIndexResponse> {
        let info = self.only_index(source)?;
        // The target would silently lack what is hidden.
        check_sees_all(&info.name, SEES_ALL)?;
        let Asked { settings: mut given, aliases, shard_bytes_max } = parse(body)?;
        if matches!(kind, Resize::Split) && crate::settings::has_series(&info.settings) {
            return Err(RequestError::illegal_argument(format!(
                "index-split is not supported because the destination index [{}] is in time series mode",
                info.name
            )));
        }
        // Source: `TransportResizeAction`.
        let from_one = kind == Resize::Split && number_of_shards(&info.settings)?.unwrap_or(1) == 1;
        let number = match shard_bytes_max {
            Some(_) if given.contains_key("index.number_of_shards") => {
                return Err(RequestError::illegal_argument(
                    "Cannot set both index.number_of_shards and max_primary_shard_size for the target index",
                ));
            }
            // The size only matters for a shrink; any other resize is checked as if it were not there.
            Some(bytes) if kind == Resize::Shrink => self.fewest_shards_of(&info, bytes)?,
            _ => shard_number(kind, &info, &given)?,
        };
        if given.contains_key("index.number_of_routing_shards") && !from_one {
            return Err(RequestError::illegal_argument(
                "cannot provide index.number_of_routing_shards on resize",
            ));
        }
        if info.settings.get("index.blocks.write") != Some(&"true".into()) {
            let reason = format!(
                "index {} must be read-only to resize index. use \"index.blocks.write=true\"",
                info.name
            );
            return Err(RequestError::internal("illegal_state_exception", reason));
        }
        let mut settings: Map<String, Value> = info.settings.clone();
        let is_copied = |key: &str| !OWN_SETTINGS.contains(&key) && !NOT_COPIED.contains(&key);
        settings.retain(|key, _| is_copied(key));
        given.insert("index.number_of_shards".to_owned(), number.into());
        merge_settings(&mut settings, given);
        // Blocks would reject the documents, and pipelines would change them, so these settings are applied
        // after copying. So is `async`: a shard that is opened again meanwhile would lack what was copied.
        let is_late = |key: &str| key.starts_with("index.blocks.") || LATE.contains(&key);
        let late: Map<String, Value> = settings
            .iter()
            .filter(|(key, _)| is_late(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        settings.retain(|key, _| !is_late(key));
        let body = json!({"settings": settings, "mappings": info.mappings, "aliases": aliases});
        self.refresh_blocked(&info)?;
        // If anything fails before the target is finished, dropping this deletes the target.
        let _copying = Copying::begin(self, target)?;
        let created = self.create_index_marked(target, &body, true, copies)?;
        let made = self.unfinished_copy(&created.index)?;
        self.copy_documents(&info, &made, cancelled)?;
        // Searches must find all documents as soon as the target is there.
        self.refresh_wholly(&made.name)?;
        self.finish_copy(&made, late)?;
        Ok(created)
    }

    fn fewest_shards_of(&self, source: &IndexInfo, shard_bytes_max: u64) -> Result<u64> {
        // What cannot be shrunk to one shard cannot be shrunk at all.
        shard_number(Resize::Shrink, source, &Map::new())?;
        let mut bytes = 0;
        let mut shards = 0;
        for (_, live) in self.live_of(&source.name, IndicesOptions::METADATA)? {
            shards = live.shards.len() as u64;
            bytes = live.shards.iter().map(|shard| shard.stats().store_bytes).sum();
        }
        Ok(fewest_shards(shards.max(1), bytes, shard_bytes_max))
    }

    /// Makes all documents of a source visible to searches. Its block is known to the catalog, and applies to
    /// every write once the change that set it has ended.
    fn refresh_blocked(&self, source: &IndexInfo) -> Result<()> {
        if let Some(file) = self.index_files.get(&source.uuid) {
            drop(file.lock());
        }
        self.refresh_wholly(&source.name)
    }

    /// Makes all documents of an index visible to searches, or fails.
    pub(in crate::node) fn refresh_wholly(&self, index: &str) -> Result<()> {
        let refreshed = self.refresh(index, IndicesOptions::BROADCAST)?;
        if refreshed.failed > 0 {
            let reason = format!("not all shards of [{index}] could be refreshed");
            return Err(RequestError::unavailable("unavailable_shards_exception", reason));
        }
        Ok(())
    }

    /// Returns an unfinished index that was created. A user may have deleted it already.
    pub(in crate::node) fn unfinished_copy(&self, target: &str) -> Result<Arc<IndexMetadata>> {
        let catalog = self.catalog.load();
        let made = catalog.indices.get(target).filter(|index| index.is_unfinished);
        made.cloned().ok_or_else(|| index_not_found(target))
    }

    /// Turns an unfinished index into an ordinary one, with the settings that must not apply before. All of
    /// its documents are durable then.
    pub(in crate::node) fn finish_copy(&self, made: &IndexMetadata, late: FlatSettings) -> Result<()> {
        // Whatever durability the target promises for writes, the source may be deleted from now on.
        self.live(made)?.shards.iter().try_for_each(|shard| shard.sync_all())?;
        let update = SettingsUpdate::check(late)?;
        self.change_catalog(|catalog| {
            // A user may have deleted the target, and another index may have its name.
            let current = catalog.indices.get(&made.name).filter(|index| index.uuid == made.uuid);
            let current = current.ok_or_else(|| index_not_found(&made.name))?;
            let changed = self.with_settings(current, &update, false)?;
            let finished = IndexMetadata { is_unfinished: false, ..changed };
            Ok((catalog.with_index(Arc::new(finished)), ()))
        })
    }

    /// Deletes targets of resizes that ended early, for example because the process ended. Failed deletions
    /// are repeated later.
    pub(in crate::node) fn remove_unfinished_copies(&self) {
        let copies: Vec<Arc<IndexMetadata>> = {
            let (catalog, copying) = (self.catalog.load(), self.copying.lock());
            let unfinished = catalog.indices.values().filter(|index| index.is_unfinished);
            unfinished.filter(|index| !copying.contains(&index.name)).cloned().collect()
        };
        for IndexMetadata { name, uuid, .. } in copies.iter().map(|copy| &**copy) {
            let removed = self.change_catalog(|catalog| {
                let copy = catalog.indices.get(name).filter(|index| index.uuid == *uuid);
                let is_there = copy.is_some_and(|index| index.is_unfinished);
                Ok((if is_there { catalog.without_index(name) } else { catalog.clone() }, ()))
            });
            match removed {
                Ok(()) => tracing::info!(index = %name, "a copy that was not finished is deleted"),
                Err(error) => {
                    tracing::warn!(index = %name, error = %error.reason, "what is left of a resize")
                }
            }
        }
    }

    /// Returns the index with exactly this name; an alias, a data stream or a wildcard names none here.
    ///
    /// Source: `TransportResizeAction`, `CreateIndexFromSourceTransportAction`.
    pub(in crate::node) fn only_index(&self, source: &str) -> Result<IndexInfo> {
        let catalog = self.catalog.load();
        let name = catalog.resolve_date_math(source)?;
        if !catalog.indices.contains_key(&*name) {
            return Err(index_not_found(&name));
        }
        let found = self.get_index(&name, IndicesOptions::METADATA)?.pop();
        found.ok_or_else(|| index_not_found(&name))
    }

    fn copy_documents(
        self: &Arc<Self>,
        source: &IndexInfo,
        made: &IndexMetadata,
        cancelled: Arc<AtomicBool>,
    ) -> Result<()> {
        let copied = self.by_query(
            ByQueryRequest {
                source: source.name.to_string(),
                remote: None,
                options: IndicesOptions::SEARCH,
                routing: None,
                preference: None,
                search: SearchRequest { size: Some(BATCH_SIZE), ..SearchRequest::default() },
                change: Change::Copy(CopyDestination {
                    index: made.name.to_string(),
                    kind: OperationKind::Index,
                    version_type: VersionType::External,
                    routing: CopyRouting::Keep,
                    require_alias: false,
                    is_own: false,
                    made: Some(made.uuid.clone()),
                }),
                script: None,
                pipeline: None,
                max_docs: None,
                proceeds_on_conflicts: false,
                refresh: false,
                copies: ActiveCopies::Number(1),
                timeout_ms: 0,
                requests_per_second: f32::INFINITY,
                slices: Slices::Number(1),
            },
            cancelled,
        )?;
        copied.check_is_whole(&format!("a document could not be copied to [{}]", made.name))?;
        // If another index has taken the name of the source, its documents may have been copied.
        match self.catalog.load().indices.get(&source.name).is_some_and(|now| now.uuid == source.uuid) {
            true => Ok(()),
            false => Err(index_not_found(&source.name)),
        }
    }
}

/// Makes the error for a request that reads or writes documents of an index that is being filled from another
/// one.
pub(in crate::node) fn unfinished(index: &IndexMetadata) -> RequestError {
    let reason = format!("index [{}] is still being made from another index", index.name);
    RequestError::unavailable("no_shard_available_action_exception", reason)
}

/// Merges the settings of a request into those of an index; `null` removes a setting.
pub(in crate::node) fn merge_settings(settings: &mut FlatSettings, given: FlatSettings) {
    for (key, value) in given {
        match value {
            Value::Null => drop(settings.shift_remove(&key)),
            value => drop(settings.insert(key, value)),
        }
    }
}

/// The body of a resize.
struct Asked {
    /// Flat, with the prefix `index.`.
    settings: Map<String, Value>,
    aliases: Value,
    /// `max_primary_shard_size` in bytes: the target has as few shards as this allows.
    shard_bytes_max: Option<u64>,
}

fn parse(body: &Value) -> Result<Asked> {
    let mut asked = Asked { settings: Map::new(), aliases: json!({}), shard_bytes_max: None };
    for (key, value) in body.as_object().into_iter().flatten() {
        match key.as_str() {
            "settings" => asked.settings = normalize_index_keys(flatten(value)?),
            "aliases" => asked.aliases = value.clone(),
            "mappings" => {
                return Err(RequestError::illegal_argument(
                    "mappings are not allowed when resizing indices, all mappings are copied from the source index",
                ));
            }
            "max_primary_shard_size" => {
                let text = plain_text(value);
                let bytes = crate::notation::value::parse_bytes(key, &text)?;
                match u64::try_from(bytes).ok().filter(|bytes| *bytes > 0) {
                    Some(bytes) => asked.shard_bytes_max = Some(bytes),
                    None => {
                        let fault = "max_primary_shard_size must be greater than 0";
                        return Err(RequestError::validation([fault]));
                    }
                }
            }
            other => return Err(ObjectParser::new("resize_request").unknown(other)),
        }
    }
    Ok(asked)
}

/// Returns the smallest number of shards that divides the source's and keeps each within a size.
///
/// Source: `TransportResizeAction#calcTargetShardsNum`.
fn fewest_shards(source_shards: u64, source_bytes: u64, shard_bytes_max: u64) -> u64 {
    let least = source_bytes.div_ceil(shard_bytes_max).max(1);
    (least..source_shards).find(|number| source_shards.is_multiple_of(*number)).unwrap_or(source_shards)
}

fn number_of_shards(settings: &Map<String, Value>) -> Result<Option<u64>> {
    match settings.get("index.number_of_shards") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let text = plain_text(value);
            text.parse::<u64>().ok().filter(|number| *number > 0).map(Some).ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "Failed to parse value [{text}] for setting [index.number_of_shards] must be >= 1"
                ))
            })
        }
    }
}

/// Returns the target's number of shards.
fn shard_number(kind: Resize, source: &IndexInfo, given: &Map<String, Value>) -> Result<u64> {
    let from = number_of_shards(&source.settings)?.unwrap_or(1);
    let wanted = number_of_shards(given)?;
    let refuse = |reason: String| Err(RequestError::illegal_argument(reason));
    match (kind, wanted) {
        (Resize::Clone, None) => Ok(from),
        (Resize::Clone, Some(to)) if to != from => refuse(format!(
            "the number of target shards ({to}) must be the same as the number of  source shards ( {from})"
        )),
        (Resize::Shrink, Some(to)) if to > from => refuse(format!(
            "the number of target shards [{to}] must be less that the number of source shards [{from}]"
        )),
        (Resize::Shrink, _) if from == 1 => refuse("can't shrink an index with only one shard".to_owned()),
        (Resize::Shrink, Some(to)) if !from.is_multiple_of(to) => {
            refuse(format!("the number of source shards [{from}] must be a multiple of [{to}]"))
        }
        (Resize::Shrink, None) => Ok(1),
        (Resize::Split, None) => {
            Err(RequestError::validation(["index.number_of_shards is required for split operations"]))
        }
        (Resize::Split, Some(to)) if to <= from => refuse(format!(
            "the number of source shards [{from}] must be less that the number of target shards [{to}]"
        )),
        (Resize::Split, Some(to)) if !to.is_multiple_of(from) => {
            refuse(format!("the number of source shards [{from}] must be a factor of [{to}]"))
        }
        (_, Some(to)) => Ok(to),
    }
}

#[cfg(test)]
mod tests {
    use limber_store::repository::MemoryBlobs;

    use super::*;
    use crate::api::*;
    use crate::node::life::open::node_of_tests;

    /// Checks that an unfinished index is neither written nor read, and that patterns pass over it.
    fn takes_no_documents(node: &Node, name: &str) {
        let mut write = BulkOperation::new(OperationKind::Index, name, b"{}");
        write.id = Some("1".into());
        let refused = node.write(write, RefreshPolicy::None, None).expect_err("refused");
        assert_eq!(refused.class, limber_mapping::ErrorClass::Unavailable);
        assert!(node.get(&GetRequest::new(name, "1")).is_err());
        let failures = |expression: &str| {
            let pinned = node.pin(expression, IndicesOptions::SEARCH, crate::node::Placement::default());
            pinned.expect("pinned").failures.len()
        };
        assert_eq!([failures(name), failures("*"), failures("")], [1, 0, 0]);
    }

    #[test]
    fn a_target_has_the_fewest_shards_that_a_size_allows() {
        let check = |shards, bytes, max, expected| {
            assert_eq!(fewest_shards(shards, bytes, max), expected, "{bytes} bytes in {shards} shards");
        };
        check(8, 0, 10, 1);
        check(8, 10, 10, 1);
        check(8, 11, 10, 2);
        check(8, 30, 10, 4);
        check(8, 50, 10, 8);
        check(8, 1000, 10, 8);
        check(6, 31, 10, 6);
    }

    #[test]
    fn a_copy_that_is_not_finished_is_in_no_snapshot_and_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let node = node_of_tests(folder.path());
        node.create_index("whole", &json!({})).expect("an index");
        let copying = Copying::begin(&node, "half").expect("nobody else makes it");
        node.create_index_marked("half", &json!({}), true, ActiveCopies::Number(1)).expect("an index");
        node.remove_unfinished_copies();
        assert!(
            node.index_exists("half", IndicesOptions::METADATA).expect("an answer"),
            "it is being copied"
        );
        takes_no_documents(&node, "half");
        node.put_repository_on("r", Arc::new(MemoryBlobs::default())).expect("a repository");
        let taken = node.create_snapshot("r", "s", &json!({}), true).expect("a snapshot");
        assert_eq!(taken["snapshot"]["indices"], json!(["whole"]));
        drop(copying);
        assert!(!node.index_exists("half", IndicesOptions::METADATA).expect("an answer"), "nobody copies it");
    }
}
