//! The mapping update that a document needs: "which fields does it add, and is it accepted with them?"

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Mapping, RequestError};
use limber_search::{index_queries, index_scripts};
use limber_segment::{Buffer, DocumentMeta, WriteIdentity};
use limber_work as work;
use serde_json::Value;

use super::write::{Condition, Write};
use crate::api::Result;
use crate::shard::core::Shard;
use crate::shard::error::segment_error;

/// How many mapping updates a document may need. There may be several because other requests can change the
/// mapping at the same time.
const MAPPING_UPDATES_MAX: usize = 8;

/// A mapping update that was inferred from a document.
pub(crate) struct Growth {
    /// The mapping with which the document was parsed.
    pub base: Arc<Mapping>,
    /// A body for [`Mapping::merge`].
    pub inferred: Value,
    /// `base` with `inferred` merged in.
    pub merged: Arc<Mapping>,
}

impl Growth {
    /// Infers the update that a document needs. `templates` are the dynamic templates that the request names.
    pub fn of(
        base: &Arc<Mapping>,
        source: &[u8],
        templates: Option<&HashMap<String, String>>,
    ) -> Result<Growth> {
        let inferred = match templates {
            Some(templates) => document::infer_by(base, source, templates)?,
            None => document::infer(base, source)?,
        };
        let merged = Arc::new(base.merge(&inferred)?);
        Ok(Growth { base: base.clone(), inferred, merged })
    }
}

impl Shard {
    /// Merges the mapping that a document needs into that of the index, unless the document is refused under
    /// it. `mapping` is the one that the document was parsed with.
    pub(super) fn update_mapping(
        &self,
        mapping: &Arc<Mapping>,
        write: &Write<'_>,
        updates: usize,
    ) -> Result<()> {
        if updates > MAPPING_UPDATES_MAX {
            let why = "the document's mapping update did not take effect";
            return Err(RequestError::internal("mapper_exception", why));
        }
        let growth = Growth::of(mapping, write.operation.source, write.templates)?;
        self.try_document(&growth, write)?;
        let gone = || RequestError::unavailable("node_closed_exception", "the node is closing");
        let is_replayed = matches!(write.condition, Condition::Replay(_));
        let check = || if is_replayed { Ok(()) } else { self.check_blocks() };
        self.services.host.upgrade().ok_or_else(gone)?.update_mapping(&self.index, &growth, &check)
    }

    /// Parses a document under the mapping that it needs, and keeps nothing of it.
    ///
    /// # Errors
    /// The document is refused.
    fn try_document(&self, growth: &Growth, write: &Write<'_>) -> Result<()> {
        let operation = &write.operation;
        let mut mapping = growth.merged.clone();
        let mut scratch = Scratch::new();
        for _ in 0..MAPPING_UPDATES_MAX {
            work::check()?;
            let identity = WriteIdentity { seq_no: 0, primary_term: 0, version: 1 };
            let meta = DocumentMeta { id: operation.id.as_bytes(), routing: operation.routing, identity };
            let mut buffer = Buffer::sorted(self.codec(), self.sort());
            buffer.begin(&meta, b"");
            scratch.for_document(operation.id).routed(operation.routing.is_some());
            match document::parse(&mapping, operation.source, &mut scratch, &mut buffer)? {
                Parsed::Done => {
                    self.add_derived(&mapping, operation.source, self.now_millis(), &mut buffer)?;
                    return buffer.commit().map_err(|error| segment_error(&error));
                }
                Parsed::NeedsMapping => {
                    mapping = Growth::of(&mapping, operation.source, write.templates)?.merged;
                }
            }
        }
        Ok(())
    }

    /// Adds what is derived from a document in the buffer: terms that find its stored queries, and values
    /// from scripts.
    pub(super) fn add_derived(
        &self,
        mapping: &Arc<Mapping>,
        source: &[u8],
        now_millis: u64,
        buffer: &mut Buffer,
    ) -> Result<()> {
        mapping.put_series(source, buffer)?;
        if mapping.queries().is_empty() && mapping.scripted().is_empty() {
            return Ok(());
        }
        let shard = self.snapshot_without_documents(mapping.clone());
        if !mapping.queries().is_empty() {
            index_queries(&shard, source, now_millis as i64, buffer)?;
        }
        if !mapping.scripted().is_empty() {
            index_scripts(&shard, source, buffer)?;
        }
        Ok(())
    }
}
