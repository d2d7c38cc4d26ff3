//! `wait_for_active_shards`: "are there as many active copies of a shard as a write asks for?"
//!
//! Only primaries are ever active. So a write that asks for more copies waits until the index has no more
//! replicas, or until its timeout.

use std::time::{Duration, Instant};

use limber_mapping::RequestError;

use crate::api::{ActiveCopies, Result};
use crate::catalog::WriteTarget;
use crate::node::Node;
use crate::tasks::waiting::wait_until;

impl Node {
    /// Waits until the shards that a write to `name` goes to have these active copies, at most `timeout_ms`.
    /// What is wrong with the name itself is left to the write.
    ///
    /// # Errors
    /// There are not enough copies at the end of the timeout, or the request is cancelled.
    pub fn await_active_copies(&self, name: &str, wanted: ActiveCopies, timeout_ms: u64) -> Result<()> {
        let index = || {
            let catalog = self.catalog.load();
            let written = || match catalog.write_target(name, false) {
                Ok(WriteTarget::Index { index, .. }) => Some(index),
                _ => None,
            };
            catalog.indices.get(name).cloned().or_else(written)
        };
        let needed = || match wanted {
            ActiveCopies::Number(number) => number,
            ActiveCopies::All => index().map_or(1, |index| 1 + index.typed.number_of_replicas),
        };
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        let held = wait_until(deadline, |step| {
            limber_store::sync::sleep(step);
            Ok((needed() <= 1).then_some(()))
        })?;
        if held.is_some() {
            return Ok(());
        }
        let shown = match wanted {
            ActiveCopies::Number(number) => number.to_string(),
            ActiveCopies::All => "ALL".to_owned(),
        };
        let (needed, index) = (needed(), index().map_or_else(|| name.into(), |index| index.name.clone()));
        Err(RequestError::unavailable(
            "unavailable_shards_exception",
            format!(
                "[{index}][0] Not enough active copies to meet shard count of [{shown}] (have 1, needed {needed}). Timeout: [{timeout_ms}ms]"
            ),
        ))
    }
}
