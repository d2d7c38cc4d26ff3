//! Blocks: "may this index, or the cluster, be written, read or changed now?"
//!
//! Source: `ClusterBlocks`, `IndexMetadata#INDEX_*_BLOCK`, `Metadata#CLUSTER_READ_ONLY_BLOCK`.

use limber_mapping::{ErrorClass, RequestError};

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::settings::Blocks;

/// A block, with its text in errors: `FORBIDDEN/8/index write (api)`.
struct Block {
    class: ErrorClass,
    text: &'static str,
}

const READ_ONLY: Block = Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/5/index read-only (api)" };
const READ: Block = Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/7/index read (api)" };
const WRITE: Block = Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/8/index write (api)" };
const METADATA: Block = Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/9/index metadata (api)" };
const READ_ONLY_ALLOW_DELETE: Block = Block {
    class: ErrorClass::TooManyRequests,
    text: "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block; for more \
           information, see https://www.elastic.co/docs/troubleshoot",
};
const CLUSTER_READ_ONLY: Block =
    Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/6/cluster read-only (api)" };
const CLUSTER_READ_ONLY_ALLOW_DELETE: Block =
    Block { class: ErrorClass::Forbidden, text: "FORBIDDEN/13/cluster read-only / allow delete (api)" };

fn refused(index: Option<&IndexMetadata>, blocks: &[Block]) -> Result<()> {
    if blocks.is_empty() {
        return Ok(());
    }
    // As in Elasticsearch, the error tells clients to retry only if every block may disappear without their
    // help.
    let may_pass = blocks.iter().all(|block| block.class == ErrorClass::TooManyRequests);
    let class = if may_pass { ErrorClass::TooManyRequests } else { ErrorClass::Forbidden };
    let list: Vec<String> = blocks.iter().map(|block| format!("[{}];", block.text)).collect();
    let place =
        index.map_or("blocked by: ".to_owned(), |index| format!("index [{}] blocked by: ", index.name));
    Err(RequestError::new(class, "cluster_block_exception", place + &list.join("")))
}

impl Node {
    fn cluster_blocks(&self, allows_delete: bool) -> Vec<Block> {
        let settings = self.settings.load();
        let mut blocks = Vec::new();
        if settings.boolean("cluster.blocks.read_only") {
            blocks.push(CLUSTER_READ_ONLY);
        }
        if settings.boolean("cluster.blocks.read_only_allow_delete") && !allows_delete {
            blocks.push(CLUSTER_READ_ONLY_ALLOW_DELETE);
        }
        blocks
    }

    pub(in crate::node) fn check_metadata_write_block(&self) -> Result<()> {
        refused(None, &self.cluster_blocks(false))
    }

    /// Checks the blocks on writing documents: index, update, delete.
    pub(in crate::node) fn check_write_block(&self, index: &IndexMetadata, blocks: &Blocks) -> Result<()> {
        if *blocks == Blocks::default() && !self.has_cluster_block() {
            return Ok(());
        }
        let mut found = self.cluster_blocks(false);
        let flags = [
            (blocks.read_only, READ_ONLY),
            (blocks.write, WRITE),
            (blocks.read_only_allow_delete, READ_ONLY_ALLOW_DELETE),
        ];
        found.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, block)| block));
        refused(Some(index), &found)
    }

    fn has_cluster_block(&self) -> bool {
        let settings = self.settings.load();
        settings
            .persistent
            .keys()
            .chain(settings.transient.keys())
            .chain(settings.node.keys())
            .any(|key| key.starts_with("cluster.blocks"))
    }

    pub(in crate::node) fn check_read_block(&self, index: &IndexMetadata) -> Result<()> {
        if index.typed.blocks.read { refused(Some(index), &[READ]) } else { Ok(()) }
    }

    /// Checks the blocks on changing mapping, settings and aliases.
    pub(in crate::node) fn check_metadata_block(&self, index: &IndexMetadata) -> Result<()> {
        let mut found = self.cluster_blocks(false);
        let blocks = &index.typed.blocks;
        let flags = [
            (blocks.read_only, READ_ONLY),
            (blocks.metadata, METADATA),
            (blocks.read_only_allow_delete, READ_ONLY_ALLOW_DELETE),
        ];
        found.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, block)| block));
        refused(Some(index), &found)
    }

    /// Checks the blocks on showing mapping, settings, aliases and statistics.
    pub(in crate::node) fn check_metadata_read_block(&self, index: &IndexMetadata) -> Result<()> {
        match index.typed.blocks.metadata {
            true => refused(Some(index), &[METADATA]),
            false => Ok(()),
        }
    }

    pub(in crate::node) fn check_delete_block(&self, index: &IndexMetadata) -> Result<()> {
        let mut found = self.cluster_blocks(true);
        let blocks = &index.typed.blocks;
        let flags = [(blocks.read_only, READ_ONLY), (blocks.metadata, METADATA)];
        found.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, block)| block));
        refused(Some(index), &found)
    }
}
