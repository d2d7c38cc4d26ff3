//! Scroll contexts: "give me the next page of that search, as the indices were when it began".
//!
//! Ids are 32 random bytes: nobody can make one up, and nothing in them is parsed. A context pins its snapshots; the pages in
//! between are charged to the `request` pool like any search.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_mapping::RequestError;
use limber_search::{Cursor, SearchRequest, ShardSnapshot};
use limber_segment::SegmentView;
use limber_store::{Charge, Pool};
use parking_lot::Mutex;

use crate::api::Result;
use crate::environment::{Clock, Environment};
use crate::shard::Shard;

/// One open scroll; counted in its shards' statistics while it lives.
pub(crate) struct ScrollContext {
    pub shards: Vec<ShardSnapshot>,
    pub request: SearchRequest,
    /// `None`: the last page was reached.
    pub cursor: Mutex<Option<Cursor>>,
    expires_millis: Mutex<u64>,
    clock: Arc<dyn Clock>,
    start_nanos: u64,
    counted: Vec<Arc<Shard>>,
    _charge: Charge,
}

/// Of a context: its id in the table, the request as parsed, the last hit's keys. A request of many clauses takes more; it was charged
/// while it was read.
const CONTEXT_BYTES: u64 = 8 << 10;
/// Of a segment that a context sees. The segment itself stays charged while someone sees it.
const VIEW_BYTES: u64 = size_of::<SegmentView>() as u64;

impl ScrollContext {
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        shards: Vec<ShardSnapshot>,
        counted: &[Arc<Shard>],
        request: SearchRequest,
        cursor: Option<Cursor>,
        pool: &Arc<Pool>,
    ) -> limber_store::Result<ScrollContext> {
        let view_count: usize = shards.iter().map(|shard| shard.segments.len()).sum();
        let charge = pool.charge(CONTEXT_BYTES + view_count as u64 * VIEW_BYTES, "<scroll>")?;
        for shard in counted {
            shard.counters.scroll.current.fetch_add(1, Ordering::Relaxed);
        }
        let start_nanos = clock.monotonic_nanos();
        Ok(ScrollContext {
            shards,
            request,
            cursor: Mutex::new(cursor),
            expires_millis: Mutex::new(0),
            clock,
            start_nanos,
            counted: counted.to_vec(),
            _charge: charge,
        })
    }
}

impl Drop for ScrollContext {
    fn drop(&mut self) {
        let nanos = self.clock.monotonic_nanos().saturating_sub(self.start_nanos);
        for shard in &self.counted {
            shard.counters.scroll.current.fetch_sub(1, Ordering::Relaxed);
            shard.counters.scroll.add(1, nanos);
        }
    }
}

pub(crate) struct Scrolls {
    environment: Environment,
    open: Mutex<HashMap<String, Arc<ScrollContext>>>,
}

/// Longest scroll id that is looked up.
const ID_BYTES_MAX: usize = 128;

impl Scrolls {
    pub(crate) fn new(environment: &Environment) -> Scrolls {
        Scrolls { environment: environment.clone(), open: Mutex::default() }
    }

    /// Keeps a context. 429 when there are `limit` of them.
    pub(crate) fn add(&self, context: ScrollContext, keep_alive_ms: u64, limit: usize) -> Result<String> {
        let mut bytes = [0u8; 32];
        self.environment.randomness.fill(&mut bytes);
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let now_millis = self.environment.clock.now_millis();
        let mut open = self.open.lock();
        if open.len() >= limit {
            open.retain(|_, context| *context.expires_millis.lock() > now_millis);
        }
        if open.len() >= limit {
            return Err(too_many(limit));
        }
        *context.expires_millis.lock() = now_millis + keep_alive_ms;
        open.insert(id.clone(), Arc::new(context));
        Ok(id)
    }

    /// Fails before a search is run that could not be kept.
    pub(crate) fn check_room(&self, limit: usize) -> Result<()> {
        if self.len() >= limit { Err(too_many(limit)) } else { Ok(()) }
    }

    /// The context, kept alive for `keep_alive_ms` more when given; 404 when it is unknown or has expired.
    pub(crate) fn get(&self, id: &str, keep_alive_ms: Option<u64>) -> Result<Arc<ScrollContext>> {
        let now_millis = self.environment.clock.now_millis();
        let found = if id.len() <= ID_BYTES_MAX { self.open.lock().get(id).cloned() } else { None };
        let context =
            found.filter(|context| *context.expires_millis.lock() > now_millis).ok_or_else(|| missing(id))?;
        if let Some(keep_alive_ms) = keep_alive_ms {
            let mut expires = context.expires_millis.lock();
            *expires = (*expires).max(now_millis + keep_alive_ms);
        }
        Ok(context)
    }

    pub(crate) fn remove(&self, id: &str) -> bool {
        self.open.lock().remove(id).is_some()
    }

    /// Frees all; how many there were.
    pub(crate) fn clear(&self) -> usize {
        std::mem::take(&mut *self.open.lock()).len()
    }

    pub(crate) fn expire(&self) {
        let now_millis = self.environment.clock.now_millis();
        self.open.lock().retain(|_, context| *context.expires_millis.lock() > now_millis);
    }

    pub(crate) fn len(&self) -> usize {
        self.open.lock().len()
    }
}

fn too_many(limit: usize) -> RequestError {
    RequestError::new(
        429,
        "too_many_scroll_contexts_exception",
        format!(
            "Trying to create too many scroll contexts. Must be less than or equal to: [{limit}]. This limit can be set by changing the \
             [search.max_open_scroll_context] setting."
        ),
    )
}

/// 404 `search_context_missing_exception`.
pub(crate) fn missing(id: &str) -> RequestError {
    let shown: String = id.chars().take(64).collect();
    RequestError::new(
        404,
        "search_context_missing_exception",
        format!("No search context found for id [{shown}]"),
    )
}
