//! Blocks: "may this index, or the cluster, be written, read or changed now?"

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::settings::Blocks;
use crate::settings::blocks::{
    Block, CLUSTER_READ_ONLY, CLUSTER_READ_ONLY_ALLOW_DELETE, METADATA, READ, READ_ONLY, refused,
};

impl Node {
    fn blocks_of_cluster(&self, allows_delete: bool) -> Vec<Block> {
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
        refused(None, &self.blocks_of_cluster(false))
    }

    /// Checks the blocks on writing documents: index, update, delete. Shards check them again when they
    /// write.
    pub(in crate::node) fn check_write_block(&self, index: &IndexMetadata, blocks: &Blocks) -> Result<()> {
        self.cluster_blocks.check_writes(&index.name, blocks)
    }

    pub(in crate::node) fn check_read_block(&self, index: &IndexMetadata) -> Result<()> {
        if index.typed.blocks.read { refused(Some(&index.name), &[READ]) } else { Ok(()) }
    }

    /// Checks the blocks on changing mapping, settings and aliases. The block of a full disk is none of them.
    pub(in crate::node) fn check_metadata_block(&self, index: &IndexMetadata) -> Result<()> {
        let mut found = self.blocks_of_cluster(false);
        let blocks = &index.typed.blocks;
        let flags = [(blocks.read_only, READ_ONLY), (blocks.metadata, METADATA)];
        found.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, block)| block));
        refused(Some(&index.name), &found)
    }

    /// Checks the blocks on changing settings, of which those of the index may be lifted (`may_lift`).
    pub(in crate::node) fn check_settings_block(&self, index: &IndexMetadata, may_lift: bool) -> Result<()> {
        match may_lift {
            true => self.check_metadata_write_block(),
            false => self.check_metadata_block(index),
        }
    }

    /// Checks the blocks on showing mapping, settings, aliases and statistics.
    pub(in crate::node) fn check_metadata_read_block(&self, index: &IndexMetadata) -> Result<()> {
        match index.typed.blocks.metadata {
            true => refused(Some(&index.name), &[METADATA]),
            false => Ok(()),
        }
    }

    /// Checks the blocks on deleting an index, and that no snapshot needs it.
    pub(in crate::node) fn check_delete_block(&self, index: &IndexMetadata) -> Result<()> {
        self.check_is_not_copied(index, "delete")?;
        let mut found = self.blocks_of_cluster(true);
        let blocks = &index.typed.blocks;
        let flags = [(blocks.read_only, READ_ONLY), (blocks.metadata, METADATA)];
        found.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, block)| block));
        refused(Some(&index.name), &found)
    }
}
