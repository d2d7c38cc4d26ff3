//! `wait_for_active_shards`: "are there as many active copies of a shard as a write asks for?"
//!
//! Only primaries are ever active. So a write that asks for more copies waits until the index has no more
//! replicas, or until its timeout.

use std::time::{Duration, Instant};

use limber_mapping::RequestError;
use limber_text::{byte_size, time_value};

use crate::api::{ActiveCopies, BulkOperation, OperationKind, Result};
use crate::catalog::WriteTarget;
use crate::node::Node;
use crate::settings::IndexSettings;
use crate::tasks::waiting::wait_until;

/// Longest source that an error shows, in bytes. Source: `IndexRequest#MAX_SOURCE_LENGTH_IN_TOSTRING`.
const SOURCE_BYTES_MAX: usize = 2048;

impl Node {
    /// Waits until the shards that a write to `name` goes to have these active copies, at most `timeout_ms`.
    /// What is wrong with the name itself is left to the write. An error shows the `operations` that waited.
    ///
    /// # Errors
    /// There are not enough copies at the end of the timeout, or the request is cancelled.
    pub fn await_active_copies(
        &self,
        name: &str,
        wanted: ActiveCopies,
        timeout_ms: u64,
        operations: &[BulkOperation<'_>],
    ) -> Result<()> {
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
            wanted => index().map_or(1, |index| copies_of(wanted, &index.typed)),
        };
        if needed() <= 1 {
            return Ok(());
        }
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        let held = wait_until(deadline, |step| {
            limber_store::sync::sleep(step);
            Ok((needed() <= 1).then_some(()))
        })?;
        if held.is_some() {
            return Ok(());
        }
        let index = index();
        let settled = index.as_ref().map_or(wanted, |index| settled(wanted, &index.typed));
        let shown = match settled {
            ActiveCopies::All => "ALL".to_owned(),
            _ => needed().to_string(),
        };
        let (needed, index) = (needed(), index.as_ref().map_or(name, |index| &*index.name));
        Err(RequestError::unavailable(
            "unavailable_shards_exception",
            format!(
                "[{index}][0] Not enough active copies to meet shard count of [{shown}] (have 1, needed {needed}). Timeout: [{}], \
                 request: [BulkShardRequest [[{index}][0]] containing [{}]",
                time_value::show_millis(timeout_ms),
                shown_operations(index, operations)
            ),
        ))
    }
}

/// Replaces `AsSet` by what the settings say.
fn settled(wanted: ActiveCopies, settings: &IndexSettings) -> ActiveCopies {
    if wanted == ActiveCopies::AsSet { settings.write_copies } else { wanted }
}

/// Returns the number of copies that a request wants of an index with these settings.
pub(in crate::node) fn copies_of(wanted: ActiveCopies, settings: &IndexSettings) -> u32 {
    match settled(wanted, settings) {
        ActiveCopies::Number(number) => number,
        ActiveCopies::All => 1 + settings.number_of_replicas,
        ActiveCopies::AsSet => 1,
    }
}

/// Source: `BulkShardRequest#toString`.
fn shown_operations(index: &str, operations: &[BulkOperation<'_>]) -> String {
    let [operation] = operations else { return format!("{}] requests", operations.len()) };
    let id = operation.id.as_deref().unwrap_or("null");
    match operation.kind {
        OperationKind::Delete => format!("delete {{[{index}][{id}]}}]"),
        _ if operation.source.len() > SOURCE_BYTES_MAX => format!(
            "index {{[{index}][{id}], source[n/a, actual length: [{}], max length: 2kb]}}]",
            byte_size::show(operation.source.len() as u64)
        ),
        _ => {
            let source = String::from_utf8_lossy(operation.source);
            format!("index {{[{index}][{id}], source[{source}]}}]")
        }
    }
}
