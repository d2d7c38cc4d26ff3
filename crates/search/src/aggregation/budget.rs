//! Memory of one shard's buckets, charged in advance in larger steps.

use std::cell::{Cell, RefCell};

use limber_store::Charge;

use crate::context::SearchContext;
use crate::error::{Error, Result};

/// Bytes that may be used before they are charged, to avoid updating a shared counter for every bucket.
const STEP_BYTES: u64 = 64 << 10;

const LABEL: &str = "<aggregation buckets>";

/// The memory budget that the collectors of one shard share.
#[derive(Debug)]
pub struct Budget {
    charge: RefCell<Charge>,
    uncharged_bytes: Cell<u64>,
    /// The search that the buckets belong to.
    pub context: SearchContext,
}

impl Budget {
    pub(crate) fn new(context: &SearchContext) -> Result<Budget> {
        let charge = context.ledger.request.charge(STEP_BYTES, LABEL)?;
        Ok(Budget { charge: RefCell::new(charge), uncharged_bytes: Cell::new(0), context: context.clone() })
    }

    /// Returns the charge, for the owner of the collectors' results.
    pub fn into_charge(self) -> Charge {
        self.charge.into_inner()
    }

    /// Returns the number of bytes that were spent.
    pub fn spent_bytes(&self) -> u64 {
        self.charge.borrow().bytes() - STEP_BYTES + self.uncharged_bytes.get()
    }

    /// Fails if the task was cancelled or if there is no memory left. Deadlines are checked by the code that
    /// feeds the collectors.
    pub fn check(&self) -> Result<()> {
        match self.context.check() {
            Err(Error::TimedOut) => Ok(()),
            other => other,
        }
    }

    /// Accounts for `bytes` more. Fails with `circuit_breaking_exception` when the pool is full.
    #[inline]
    pub fn spend(&self, bytes: u64) -> Result<()> {
        let uncharged = self.uncharged_bytes.get() + bytes;
        self.uncharged_bytes.set(uncharged);
        if uncharged > STEP_BYTES {
            self.check()?;
            self.charge.borrow_mut().grow(uncharged, LABEL)?;
            self.uncharged_bytes.set(0);
        }
        Ok(())
    }
}
