//! Memory for what requests store until it is deleted: "is there room for one more template, pipeline,
//! mapping or alias?"
//!
//! All of it is stored in one of two files, the node's state or that of an index. Their content is charged
//! before it is written, so that nothing new is stored without being counted.

use std::collections::HashMap;
use std::sync::Arc;

use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};

use crate::api::Result;
use crate::shard::store_error;

/// Bytes of memory per byte of JSON: for the JSON tree and what is compiled from it. Measured: 4 to 9 for
/// mappings, 3 to 6 for templates.
const KEPT_FACTOR: u64 = 6;
/// The first bytes of each file are not counted. The number of indices is limited elsewhere.
const UNCOUNTED_BYTES: u64 = 4 << 10;

/// Growth that a deletion may need, for its tombstone.
const SMALL_BYTES: u64 = 4 << 10;
/// This fraction of the limit is available on top of it for small changes, so that deletions remain possible.
const RESERVE_SHARE: u64 = 8;

/// The charges for what is stored.
pub(in crate::node) struct Kept {
    pool: Arc<Pool>,
    charges: Mutex<HashMap<Arc<str>, Charge>>,
}

impl Kept {
    pub(in crate::node) fn new(pool: Arc<Pool>) -> Kept {
        Kept { pool, charges: Mutex::default() }
    }

    /// Charges `what` for its new size of `json_bytes`.
    ///
    /// # Errors
    /// Fails with `TooManyRequests` when there is no room for the growth.
    pub(in crate::node) fn keep(&self, what: &str, json_bytes: usize) -> Result<()> {
        let bytes = (json_bytes as u64).saturating_sub(UNCOUNTED_BYTES) * KEPT_FACTOR;
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
    pub(in crate::node) fn keep_always(&self, what: &str, json_bytes: usize) {
        let bytes = (json_bytes as u64).saturating_sub(UNCOUNTED_BYTES) * KEPT_FACTOR;
        self.charges.lock().insert(what.into(), self.pool.charge_always(bytes));
    }

    pub(in crate::node) fn forget(&self, what: &str) {
        self.charges.lock().remove(what);
    }
}
