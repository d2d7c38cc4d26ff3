//! Blocks of an index or of the cluster: what they are called, and the error that names them.
//!
//! Source: `ClusterBlocks`, `IndexMetadata#INDEX_*_BLOCK`, `Metadata#CLUSTER_READ_ONLY_BLOCK`.

use std::sync::atomic::{AtomicBool, Ordering};

use limber_mapping::{ErrorClass, RequestError};

use super::{Blocks, ClusterSettings};

/// A block, with its text in errors: `FORBIDDEN/8/index write (api)`.
pub(crate) struct Block {
    class: ErrorClass,
    text: &'static str,
}

pub(crate) const READ_ONLY: Block =
    Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/5/index read-only (api)" };
pub(crate) const READ: Block = Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/7/index read (api)" };
const WRITE: Block = Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/8/index write (api)" };
pub(crate) const METADATA: Block =
    Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/9/index metadata (api)" };
pub(crate) const READ_ONLY_ALLOW_DELETE: Block = Block {
    class: ErrorClass::TooManyRequests,
    text: "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block; for more \
           information, see https://www.elastic.co/docs/troubleshoot",
};
pub(crate) const CLUSTER_READ_ONLY: Block =
    Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/6/cluster read-only (api)" };
pub(crate) const CLUSTER_READ_ONLY_ALLOW_DELETE: Block =
    Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/13/cluster read-only / allow delete (api)" };

impl Block {
    /// Returns its description: its text without the status and the id.
    pub(crate) fn description(&self) -> &'static str {
        self.text.splitn(3, '/').nth(2).unwrap_or(self.text)
    }
}

impl Blocks {
    /// Whether any of them refuses writes of documents: index, update, delete.
    pub(crate) fn are_on_writes(&self) -> bool {
        self.read_only || self.write || self.read_only_allow_delete
    }

    /// Returns those that refuse writes of documents.
    pub(crate) fn on_writes(&self) -> Vec<Block> {
        let flags = [
            (self.read_only, READ_ONLY),
            (self.write, WRITE),
            (self.read_only_allow_delete, READ_ONLY_ALLOW_DELETE),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, block)| block).collect()
    }
}

/// The blocks of the cluster on writes of documents (`cluster.blocks.*`), as its shards see them: each group
/// of writes looks, and not only the request that they belong to.
#[derive(Debug, Default)]
pub(crate) struct ClusterBlocks {
    read_only: AtomicBool,
    read_only_allow_delete: AtomicBool,
}

impl ClusterBlocks {
    pub(crate) fn of(settings: &ClusterSettings) -> ClusterBlocks {
        let blocks = ClusterBlocks::default();
        blocks.set(settings);
        blocks
    }

    /// Sets them as the settings say. Returns whether writes are refused from now on.
    pub(crate) fn set(&self, settings: &ClusterSettings) -> bool {
        let flags = [
            (&self.read_only, "cluster.blocks.read_only"),
            (&self.read_only_allow_delete, "cluster.blocks.read_only_allow_delete"),
        ];
        for (flag, key) in flags {
            flag.store(settings.boolean(key), Ordering::Release);
        }
        self.are_set()
    }

    fn are_set(&self) -> bool {
        self.read_only.load(Ordering::Acquire) || self.read_only_allow_delete.load(Ordering::Acquire)
    }

    /// Refuses writes of documents to an index for these blocks and those of the index.
    pub(crate) fn check_writes(&self, index: &str, blocks: &Blocks) -> Result<(), RequestError> {
        if !self.are_set() && !blocks.are_on_writes() {
            return Ok(());
        }
        let flags = [
            (&self.read_only, CLUSTER_READ_ONLY),
            (&self.read_only_allow_delete, CLUSTER_READ_ONLY_ALLOW_DELETE),
        ];
        let set = flags.into_iter().filter(|(flag, _)| flag.load(Ordering::Acquire));
        let mut found: Vec<Block> = set.map(|(_, block)| block).collect();
        found.extend(blocks.on_writes());
        refused(Some(index), &found)
    }
}

/// Refuses a request to an index, or to the cluster (`None`), for these blocks.
pub(crate) fn refused(index: Option<&str>, blocks: &[Block]) -> Result<(), RequestError> {
    if blocks.is_empty() {
        return Ok(());
    }
    // As in Elasticsearch, the error tells clients to retry only if every block may disappear without their
    // help.
    let may_pass = blocks.iter().all(|block| block.class == ErrorClass::TooManyRequests);
    let class = if may_pass { ErrorClass::TooManyRequests } else { ErrorClass::Forbidden };
    let list: Vec<String> = blocks.iter().map(|block| format!("[{}];", block.text)).collect();
    let place = index.map_or("blocked by: ".to_owned(), |index| format!("index [{index}] blocked by: "));
    Err(RequestError::new(class, "cluster_block_exception", place + &list.join("")))
}
