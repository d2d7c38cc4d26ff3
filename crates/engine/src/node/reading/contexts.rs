//! Scrolls and points in time: searches that outlive their request.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_mapping::RequestError;
use limber_search::query::Query;
use limber_search::request::PointInTime;
use limber_search::{SearchContext, SearchRequest, SearchResponse, ShardsSummary};
use serde_json::{Map, Value, json};

use super::placement::Placement;
use super::search::Pinned;
use crate::api::*;
use crate::contexts::{self, Context, Scroll};
use crate::node::Node;
use crate::shard::Shard;

/// A request to open a point in time.
#[derive(Debug, Clone)]
pub struct OpenPointInTime<'r> {
    /// Names and patterns of the indices.
    pub expression: &'r str,
    /// How the expression is resolved.
    pub options: IndicesOptions,
    /// Routing and preference.
    pub placement: Placement<'r>,
    /// Shards in which this query certainly matches nothing are left out.
    pub index_filter: Option<Query>,
    /// Open the point in time even if some shards do not respond.
    pub allow_partial: bool,
    /// How long it stays open without being used.
    pub keep_alive_ms: u64,
}

impl Node {
    pub(in crate::node) fn first_page(
        &self,
        pinned: &Pinned,
        request: &SearchRequest,
        keep_alive_ms: u64,
        context: &SearchContext,
    ) -> limber_search::Result<(SearchResponse, Option<String>)> {
        let limit = self.context_limit();
        let keep_alive_ms = self.keep_alive(keep_alive_ms)?;
        self.contexts.check_room(limit)?;
        let mut response = limber_search::execute_page(&pinned.snapshots, request, None, context)?;
        let cursor = response.cursor.take();
        let context = Context::new(
            self.environment.clock.clone(),
            pinned.snapshots.clone(),
            pinned.shards.clone(),
            Scroll { request: request.clone(), cursor: limber_store::sync::Mutex::new(cursor) },
            request.held_bytes,
            &self.ledger.request,
        )?;
        let id = self.contexts.add(context, keep_alive_ms, limit)?;
        Ok((response, Some(id)))
    }

    /// Returns the next page of a scroll, which keeps its id. A scroll ends with the last of its indices.
    pub fn scroll(
        &self,
        id: &str,
        keep_alive_ms: Option<u64>,
        cancelled: Arc<AtomicBool>,
    ) -> limber_search::Result<SearchResponse> {
        let keep_alive_ms = keep_alive_ms.map(|keep_alive_ms| self.keep_alive(keep_alive_ms)).transpose()?;
        check_scroll_id(id)?;
        let _task = self.tasks.register_cancellable("indices:data/read/scroll", "scroll", cancelled.clone());
        let scroll = self.contexts.get::<Scroll>(id, keep_alive_ms)?;
        if !scroll.counted.is_empty() && !scroll.counted.iter().any(|shard| self.is_live(shard)) {
            return Err(contexts::missing(id).into());
        }
        let context = self.search_context(cancelled);
        // The lock makes concurrent callers of one scroll get consecutive pages.
        let mut cursor = scroll.kind.cursor.lock();
        let mut request = scroll.kind.request.clone();
        let response = match &*cursor {
            Some(from) => limber_search::execute_page(&scroll.shards, &request, Some(from), &context),
            None => {
                request.size = Some(0);
                request.aggregations = None;
                limber_search::execute(&scroll.shards, &request, &context)
            }
        };
        let mut response = response?;
        *cursor = response.cursor.take();
        Ok(response)
    }

    /// Closes scrolls by their ids; `_all` closes all. Returns how many were closed, which counts a named
    /// scroll once per shard. Fails with `BadRequest` for an invalid id.
    pub fn clear_scroll(&self, ids: &[&str]) -> Result<usize> {
        if let ["_all"] = ids {
            return Ok(self.contexts.clear::<Scroll>());
        }
        ids.iter().try_for_each(|id| check_scroll_id(id))?;
        Ok(ids.iter().filter_map(|id| self.contexts.remove::<Scroll>(id)).sum())
    }

    /// Returns how many scrolls and points in time are open.
    pub fn open_context_count(&self) -> usize {
        self.contexts.len()
    }

    /// Opens a point in time on the current state of the indices. Returns its id, and the shard counts and
    /// failures.
    ///
    /// Errors: those of the expression, and `Unavailable` when a shard does not respond and none may be
    /// missing.
    pub fn open_point_in_time(
        &self,
        open: &OpenPointInTime<'_>,
    ) -> limber_search::Result<(String, ShardsSummary)> {
        let _task = self.tasks.register("indices:data/read/open_point_in_time", open.expression, false);
        let limit = self.context_limit();
        let keep_alive_ms = self.keep_alive(open.keep_alive_ms)?;
        self.contexts.check_room(limit)?;
        let mut pinned = self.pin(open.expression, open.options, open.placement)?;
        if !pinned.failures.is_empty() && (!open.allow_partial || pinned.snapshots.is_empty()) {
            let failures = pinned.failures;
            return Err(limber_search::Error::AllShardsFailed { phase: "open_search_context", failures });
        }
        let mut shards = ShardsSummary {
            total: (pinned.snapshots.len() + pinned.failures.len()) as u32,
            successful: pinned.snapshots.len() as u32,
            skipped: 0,
            failures: std::mem::take(&mut pinned.failures),
        };
        if let Some(filter) = &open.index_filter {
            let now_millis = self.now_millis() as i64;
            let mut number = 0;
            let can_match: Vec<bool> = pinned
                .snapshots
                .iter()
                .map(|snapshot| limber_search::can_match(filter, snapshot, now_millis))
                .collect();
            pinned.snapshots.retain(|_| {
                number += 1;
                can_match[number - 1]
            });
            number = 0;
            pinned.shards.retain(|_| {
                number += 1;
                can_match[number - 1]
            });
            shards.skipped = shards.successful - pinned.snapshots.len() as u32;
        }
        let context = Context::new(
            self.environment.clock.clone(),
            pinned.snapshots,
            pinned.shards,
            contexts::PointInTime { filters: pinned.filters },
            0,
            &self.ledger.request,
        )?;
        Ok((self.contexts.add(context, keep_alive_ms, limit)?, shards))
    }

    /// Returns the open points in time that belong to the caller.
    pub fn points_in_time(&self) -> Vec<contexts::OpenedPointInTime> {
        self.contexts.points_in_time(self.now_millis())
    }

    /// Returns the segments that points in time hold, in the form of `GET _segments`: shards by index and
    /// number, each with a list of copies, one for each point in time.
    ///
    /// # Errors
    /// `search_context_missing_exception` for a point in time that is not open.
    pub fn point_in_time_segments(&self, ids: &[String]) -> Result<Value> {
        let mut indices = Map::new();
        for id in ids {
            check_point_in_time_id(id)?;
            let context = self.contexts.get::<contexts::PointInTime>(id, None)?;
            for (snapshot, shard) in context.shards.iter().zip(&context.counted) {
                let Ok(core) = shard.core() else { continue };
                let segments: Map<String, Value> =
                    core.describe_views(&snapshot.segments, &Value::Null).into_iter().collect();
                let index = indices.entry(&*snapshot.index.name).or_insert_with(|| json!({"shards": {}}));
                let copies = &mut index["shards"][snapshot.shard.to_string()];
                if !copies.is_array() {
                    *copies = json!([]);
                }
                if let Some(copies) = copies.as_array_mut() {
                    copies.push(json!({ "segments": segments }));
                }
            }
        }
        Ok(json!({ "indices": indices }))
    }

    /// Closes a point in time. Returns how many shards it had; `None` if there is no such point in time.
    /// Fails with `BadRequest` for an invalid id.
    pub fn close_point_in_time(&self, id: &str) -> Result<Option<usize>> {
        check_point_in_time_id(id)?;
        Ok(self.contexts.remove::<contexts::PointInTime>(id))
    }

    /// Returns the shards as the point in time sees them. Shards of indices that are gone count as failed.
    pub(in crate::node) fn pinned_then(&self, point: &PointInTime) -> Result<Pinned> {
        let keep_alive = point.keep_alive_millis.map(|keep_alive_ms| self.keep_alive(keep_alive_ms));
        let keep_alive_ms = keep_alive.transpose()?;
        check_point_in_time_id(&point.id)?;
        let context = self.contexts.get::<contexts::PointInTime>(&point.id, keep_alive_ms)?;
        let mut pinned = Pinned {
            snapshots: Vec::new(),
            shards: Vec::new(),
            failures: Vec::new(),
            filters: context.kind.filters.clone(),
        };
        for (snapshot, shard) in context.shards.iter().zip(&context.counted) {
            if self.is_live(shard) {
                pinned.snapshots.push(snapshot.for_request());
                pinned.shards.push(shard.clone());
            } else {
                let gone =
                    RequestError::unavailable("no_shard_available_action_exception", "the index is gone");
                pinned.failures.push(self.failed_shard(shard, gone));
            }
        }
        if pinned.snapshots.is_empty() && !pinned.failures.is_empty() {
            return Err(contexts::missing(&point.id));
        }
        Ok(pinned)
    }

    /// Whether the index of a shard is there and open. Another one may have its name.
    fn is_live(&self, shard: &Shard) -> bool {
        self.live.load().contains_key(&*shard.index.uuid)
    }

    fn context_limit(&self) -> usize {
        self.settings.load().integer("search.max_open_scroll_context").max(0) as usize
    }

    /// Returns how long a context is kept after its last use.
    ///
    /// # Errors
    /// That is longer than the node allows.
    fn keep_alive(&self, keep_alive_ms: u64) -> Result<u64> {
        if keep_alive_ms == UNTIL_NEXT_LOOK {
            return Ok(LOOK_MS);
        }
        let max_ms = self.settings.load().time_ms("search.max_keep_alive").unwrap_or(u64::MAX);
        if keep_alive_ms <= max_ms {
            return Ok(keep_alive_ms);
        }
        let shown = |ms: u64| match ms {
            ms if ms % 86_400_000 == 0 => format!("{}d", ms / 86_400_000),
            ms if ms % 3_600_000 == 0 => format!("{}h", ms / 3_600_000),
            ms if ms % 60_000 == 0 => format!("{}m", ms / 60_000),
            ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
            ms => format!("{ms}ms"),
        };
        Err(RequestError::illegal_argument(format!(
            "Keep alive for request ({}) is too large. It must be less than ({}). This limit can be set by changing the \
             [search.max_keep_alive] cluster level setting.",
            shown(keep_alive_ms),
            shown(max_ms)
        )))
    }
}

/// The keep-alive time that `-1` stands for. Such a context expires at once, but is freed only when
/// Elasticsearch next looks for expired contexts, which it does every minute (`search.keep_alive_interval`).
const UNTIL_NEXT_LOOK: u64 = u64::MAX;
const LOOK_MS: u64 = 60_000;

/// Refuses a text that is no id of a scroll, as Elasticsearch does when it decodes one.
///
/// Source: `TransportSearchHelper#parseScrollId`.
fn check_scroll_id(id: &str) -> Result<()> {
    if contexts::is_id(id) {
        return Ok(());
    }
    let refused = RequestError::illegal_argument("Cannot parse scroll id");
    let is_foreign = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"-_=".contains(byte);
    let cause = match id.bytes().find(is_foreign) {
        Some(byte) => format!("Illegal base64 character 0x{byte:x}"),
        None if id.len() % 4 == 1 => "Base64 stream has one un-decoded dangling byte.".to_owned(),
        None => return Err(refused),
    };
    Err(refused.caused_by(RequestError::bad_request("i_o_exception", cause)))
}

fn check_point_in_time_id(id: &str) -> Result<()> {
    if contexts::is_id(id) {
        return Ok(());
    }
    let shown: String = id.chars().take(64).collect();
    Err(RequestError::illegal_argument(format!("[{shown}] is no id of a point in time")))
}
