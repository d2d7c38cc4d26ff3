//! Bounds of time series: "which index of a data stream accepts a timestamp, and where does the next one
//! begin?"
//!
//! Each index begins where the one before it ends, so that a timestamp belongs to exactly one index. A
//! document gets its id from its series and its timestamp: in two indices it would be stored twice. Only the
//! end of the newest index moves, and the same step that makes another one the newest ends that.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Map;

use crate::api::Result;
use crate::catalog::names::index_not_found;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::environment::format_utc_millis;
use crate::node::Node;
use crate::settings::{END_TIME, FlatSettings, SettingsUpdate, TimeBounds, later_end, start_from};

/// How often an index is looked for that accepts a timestamp, if the data stream is rolled over meanwhile.
const LOOKS_MAX: usize = 3;

impl Node {
    /// Returns the index of a data stream that accepts a timestamp, and the data stream as it is then. The
    /// end of the newest index moves with the time.
    ///
    /// # Errors
    /// Fails when no index accepts the timestamp, or when the data stream is gone.
    pub(in crate::node) fn index_at(
        &self,
        stream: &str,
        timestamp_ms: i64,
    ) -> Result<(Arc<DataStream>, Arc<IndexMetadata>)> {
        for _ in 0..LOOKS_MAX {
            let catalog = self.catalog.load_full();
            let stream = catalog.data_streams.get(stream).ok_or_else(|| index_not_found(stream))?;
            let mut backing = stream.indices.iter().rev().filter_map(|name| catalog.indices.get(name));
            let accepts = |index: &&Arc<IndexMetadata>| {
                index.open && index.typed.time_bounds.is_some_and(|bounds| bounds.contains(timestamp_ms))
            };
            if let Some(index) = backing.find(accepts) {
                return Ok((stream.clone(), index.clone()));
            }
            if !self.move_end(&stream.name, timestamp_ms)? {
                break;
            }
        }
        let catalog = self.catalog.load();
        let indices = catalog.data_streams.get(stream).map_or(&[][..], |stream| stream.indices.as_slice());
        let ranges: Vec<String> = indices
            .iter()
            .rev()
            .filter_map(|name| catalog.indices.get(name)?.typed.time_bounds)
            .map(|bounds| format!("[{},{}]", shown(bounds.start_ms), shown(bounds.end_ms)))
            .collect();
        Err(RequestError::illegal_argument(format!(
            "the document timestamp [{}] is outside of ranges of currently writable indices [{}]",
            shown(timestamp_ms),
            ranges.join("")
        )))
    }

    /// Moves the end of the newest index so that it accepts a timestamp, unless the timestamp is too far in
    /// the future. Returns whether another look for an index is worthwhile.
    fn move_end(&self, stream: &str, timestamp_ms: i64) -> Result<bool> {
        self.change_catalog(|catalog| {
            let newest = catalog.data_streams.get(stream).map(|stream| stream.write_index());
            let newest = newest.and_then(|name| catalog.indices.get(name));
            let bounds = newest.and_then(|index| index.typed.time_bounds);
            let (Some(newest), Some(bounds)) = (newest, bounds) else { return Ok((catalog.clone(), false)) };
            if timestamp_ms < bounds.end_ms {
                return Ok((catalog.clone(), newest.open && bounds.contains(timestamp_ms)));
            }
            let Some(end) = later_end(&newest.settings, timestamp_ms, self.now_millis()) else {
                return Ok((catalog.clone(), false));
            };
            self.check_metadata_block(newest)?;
            let update = SettingsUpdate::check(Map::from_iter([(END_TIME.to_owned(), end.into())]))?;
            let mut next = catalog.clone();
            next.indices.insert(newest.name.clone(), Arc::new(self.with_settings(newest, &update, false)?));
            Ok((next, true))
        })
    }
}

/// Returns the end of the last index of a data stream that has time series.
pub(in crate::node) fn series_end(catalog: &Catalog, stream: &DataStream) -> Option<i64> {
    let bounds = stream.indices.iter().filter_map(|name| catalog.indices.get(name)?.typed.time_bounds);
    bounds.map(|bounds| bounds.end_ms).max()
}

/// Lets the next index of a data stream begin where the last one ends, or later if its template says so.
pub(in crate::node) fn continue_series(
    catalog: &Catalog,
    stream: &DataStream,
    settings: &mut FlatSettings,
) -> Result<()> {
    match series_end(catalog, stream) {
        Some(end_ms) => start_from(settings, end_ms),
        None => Ok(()),
    }
}

/// Checks that new settings move the end of an index neither back, where it may have documents, nor into
/// another index of its data stream.
///
/// Source: Elasticsearch's `TimestampBounds#updateEndTime`, `DataStream#validate`.
pub(in crate::node) fn check_moved_end(
    catalog: &Catalog,
    before: &IndexMetadata,
    after: &IndexMetadata,
) -> Result<()> {
    let (Some(old), Some(new)) = (before.typed.time_bounds, after.typed.time_bounds) else {
        return Ok(());
    };
    if new.end_ms == old.end_ms {
        return Ok(());
    }
    if new.end_ms < old.end_ms {
        return Err(RequestError::illegal_argument(format!(
            "{END_TIME} must be larger than current value [{}] but was [{}]",
            shown(old.end_ms),
            shown(new.end_ms)
        )));
    }
    // What overlapped before stays as it is.
    let added = TimeBounds { start_ms: old.end_ms, ..new };
    match catalog.stream_of(&before.name) {
        Some(stream) => check_is_free(catalog, stream, before, added),
        None => Ok(()),
    }
}

/// Checks that an index that joins a data stream accepts no timestamp that another one accepts.
///
/// Source: Elasticsearch's `DataStream#validate`.
pub(in crate::node) fn check_joined(
    catalog: &Catalog,
    stream: &DataStream,
    joined: &IndexMetadata,
) -> Result<()> {
    joined.typed.time_bounds.map_or(Ok(()), |bounds| check_is_free(catalog, stream, joined, bounds))
}

/// Checks that no index of a data stream but `own` accepts a timestamp within `bounds`.
fn check_is_free(
    catalog: &Catalog,
    stream: &DataStream,
    own: &IndexMetadata,
    bounds: TimeBounds,
) -> Result<()> {
    let mut others = stream.indices.iter().filter_map(|name| catalog.indices.get(name));
    let accepts = |other: &&Arc<IndexMetadata>| {
        let theirs = other.typed.time_bounds.filter(|_| other.uuid != own.uuid);
        theirs.is_some_and(|theirs| theirs.start_ms < bounds.end_ms && bounds.start_ms < theirs.end_ms)
    };
    match others.find(accepts) {
        None => Ok(()),
        Some(other) => Err(RequestError::illegal_argument(format!(
            "backing index [{}] with range [{} TO {}] is overlapping with backing index [{}]",
            own.name,
            shown(bounds.start_ms),
            shown(bounds.end_ms),
            other.name
        ))),
    }
}

/// Renders a timestamp for messages.
pub(in crate::node) fn shown(timestamp_ms: i64) -> String {
    format_utc_millis(timestamp_ms.max(0) as u64)
}
