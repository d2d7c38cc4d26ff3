//! Memory for what requests store until it is deleted: "is there room for one more template, pipeline,
//! mapping or alias?"
//!
//! All of it is stored in the node's state, in the file of an index, or in the files of users and keys. Their
//! content is charged before it is written, so that nothing new is stored without being counted.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::tree_bytes;
use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::shard::store_error;

/// The first bytes of each file are not counted. The number of indices is limited elsewhere.
const UNCOUNTED_BYTES: u64 = 4 << 10;
/// Bytes of memory per byte of JSON for what is compiled from it and for its copies, beside its tree.
const COMPILED_FACTOR: u64 = 2;
/// Bytes of a field of a mapping, beside its JSON. Measured: 1,300 to 1,800 when an index has 1,000 of them.
const FIELD_BYTES: u64 = 1_800;
/// Bytes of an open shard without documents. Measured: 44 to 50 KB.
const SHARD_BYTES: u64 = 48 << 10;

/// Growth that a deletion may need, for its tombstone.
const SMALL_BYTES: u64 = 4 << 10;
/// This fraction of the limit is available on top of it for small changes, so that deletions remain possible.
const RESERVE_SHARE: u64 = 8;

/// What is stored under one key.
pub(in crate::node) struct Content<'c> {
    /// The file's content.
    json: &'c [u8],
    /// The number of fields of its mapping.
    fields: usize,
    /// The number of shards that are open for it.
    shards: usize,
}

impl<'c> Content<'c> {
    /// The node's state, or a part of it: it has no fields and no shards.
    pub(in crate::node) fn of_state(json: &'c str) -> Content<'c> {
        Content { json: json.as_bytes(), fields: 0, shards: 0 }
    }

    fn of_index(index: &IndexMetadata, json: &'c [u8]) -> Content<'c> {
        let shards = if index.open { index.typed.number_of_shards as usize } else { 0 };
        Content { json, fields: limber_mapping::field_count(&index.mappings), shards }
    }

    /// Estimates the memory that the content takes while the node runs.
    fn bytes(&self) -> u64 {
        let counted = self.json.len() as u64 * COMPILED_FACTOR + tree_bytes(self.json);
        counted.saturating_sub(UNCOUNTED_BYTES)
            + self.fields as u64 * FIELD_BYTES
            + self.shards as u64 * SHARD_BYTES
    }
}

/// The charges for what is stored.
pub(in crate::node) struct Kept {
    pool: Arc<Pool>,
    charges: Mutex<HashMap<Arc<str>, Charge>>,
}

impl Kept {
    pub(in crate::node) fn new(pool: Arc<Pool>) -> Kept {
        Kept { pool, charges: Mutex::default() }
    }

    /// Charges `what` for its new content.
    ///
    /// # Errors
    /// Fails with `TooManyRequests` when there is no room for the growth.
    pub(in crate::node) fn keep(&self, what: &str, content: &Content<'_>) -> Result<()> {
        self.keep_bytes(what, content.bytes())
    }

    /// Charges `what` for the memory that its new content takes.
    ///
    /// # Errors
    /// As [`Kept::keep`].
    pub(in crate::node) fn keep_bytes(&self, what: &str, bytes: u64) -> Result<()> {
        let mut charges = self.charges.lock();
        match charges.get_mut(what) {
            Some(charge) if charge.bytes() >= bytes => charge.shrink_to(bytes),
            Some(charge) => {
                let more = bytes - charge.bytes();
                if let Err(error) = charge.grow(more, "<metadata>") {
                    let reserve = self.pool.limit_bytes() + self.pool.limit_bytes() / RESERVE_SHARE;
                    if more > SMALL_BYTES || self.pool.used_bytes() > reserve {
                        return Err(store_error(&error));
                    }
                    charge.grow_always(more);
                }
            }
            None if bytes == 0 => {}
            None => {
                let charge = self.pool.charge(bytes, "<metadata>").map_err(|error| store_error(&error))?;
                charges.insert(what.into(), charge);
            }
        }
        Ok(())
    }

    /// Works like [`Kept::keep`], for what was stored before a restart, so it never fails.
    pub(in crate::node) fn keep_always(&self, what: &str, content: &Content<'_>) {
        self.keep_bytes_always(what, content.bytes());
    }

    /// Works like [`Kept::keep_bytes`], for what is stored already, so it never fails.
    pub(in crate::node) fn keep_bytes_always(&self, what: &str, bytes: u64) {
        self.charges.lock().insert(what.into(), self.pool.charge_always(bytes));
    }

    /// Charges the metadata of an index, whose file is about to contain it.
    ///
    /// # Errors
    /// As [`Kept::keep`].
    pub(in crate::node) fn keep_index(&self, index: &IndexMetadata) -> Result<()> {
        self.keep(&index.uuid, &Content::of_index(index, &index.to_bytes()))
    }

    /// Charges the metadata of an index that was stored before a restart.
    pub(in crate::node) fn keep_index_always(&self, index: &IndexMetadata) {
        self.keep_always(&index.uuid, &Content::of_index(index, &index.to_bytes()));
    }

    pub(in crate::node) fn forget(&self, what: &str) {
        self.charges.lock().remove(what);
    }
}
