//! What is kept of requests until somebody deletes it: "is there room for one more template, pipeline,
//! mapping or alias?"
//!
//! All of it passes through one of two files, the node's state and that of an index. What they hold is
//! charged before it is written, so that nothing new can be kept without being counted.

use std::collections::HashMap;
use std::sync::Arc;

use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};

use crate::api::Result;
use crate::shard::store_error;

/// What a byte of JSON takes in memory: as a tree, and as what is compiled of it. Measured: 4 to 9 for
/// mappings, 3 to 6 for templates.
const KEPT_FACTOR: u64 = 6;
/// Things smaller than this in JSON are not worth counting; there is a limit on how many indices there are.
const UNCOUNTED_BYTES: u64 = 4 << 10;

/// What deleting things may need: a tombstone for each.
const SMALL_BYTES: u64 = 4 << 10;
/// A part of the limit beyond it, for small changes: whoever wants to delete something can.
const RESERVE_SHARE: u64 = 8;

/// The charges of what is kept.
pub(in crate::node) struct Kept {
    pool: Arc<Pool>,
    charges: Mutex<HashMap<Arc<str>, Charge>>,
}

impl Kept {
    pub(in crate::node) fn new(pool: Arc<Pool>) -> Kept {
        Kept { pool, charges: Mutex::default() }
    }

    /// `what` is about to take `json_bytes`.
    ///
    /// # Errors
    /// `TooManyRequests` where there is no room for what it takes more than before.
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

    /// As [`Kept::keep`], of what was kept before a restart.
    pub(in crate::node) fn keep_always(&self, what: &str, json_bytes: usize) {
        let bytes = (json_bytes as u64).saturating_sub(UNCOUNTED_BYTES) * KEPT_FACTOR;
        self.charges.lock().insert(what.into(), self.pool.charge_always(bytes));
    }

    pub(in crate::node) fn forget(&self, what: &str) {
        self.charges.lock().remove(what);
    }
}
