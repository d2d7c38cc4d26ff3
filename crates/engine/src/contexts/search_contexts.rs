//! Search contexts: "the next page of that search, or another search, on the indices as they were when it
//! began". Scrolls and points in time share one table and one limit.
//!
//! An id consists of 32 random bytes, so it cannot be guessed and is never parsed. A context holds its
//! snapshots open. Its searches are charged to the `request` circuit breaker like any other search.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_mapping::{ErrorClass, RequestError};
use limber_search::request::AliasFilter;
use limber_search::{Cursor, SearchRequest, ShardSnapshot};
use limber_segment::SegmentView;
use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};
use serde_json::json;

use crate::api::Result;
use crate::environment::{Clock, Environment};
use crate::shard::Shard;

/// One open context. Its shards' statistics count it while it is open.
pub(crate) struct Context<K: Kind> {
    pub shards: Vec<ShardSnapshot>,
    /// The shards of the snapshots, whose statistics count this context.
    pub counted: Vec<Arc<Shard>>,
    pub kind: K,
    /// The user who opened it; `None` when requests are not authenticated.
    owner: Option<String>,
    life: Mutex<Life>,
    clock: Arc<dyn Clock>,
    start_nanos: u64,
    _charge: Charge,
}

struct Life {
    /// The longest keep-alive that any request asked for; it starts again with each use.
    keep_alive_ms: u64,
    /// When it expires, by the monotonic clock.
    expires_millis: u64,
}

/// A kind of context: scroll or point in time.
pub(crate) trait Kind: Sized {
    /// Counts a context in the shard's statistics: as opened (`None`), or as closed after this many
    /// nanoseconds.
    fn count(shard: &Shard, lived_nanos: Option<u64>);
    /// Returns the context if it is of this kind.
    fn of(context: &AnyContext) -> Option<&Arc<Context<Self>>>;
    fn wrap(context: Arc<Context<Self>>) -> AnyContext;
}

/// A search that is read page by page.
pub(crate) struct Scroll {
    pub request: SearchRequest,
    /// The start of the next page; `None` after the last page.
    pub cursor: Mutex<Option<Cursor>>,
}

/// A snapshot of indices for any number of searches.
pub(crate) struct PointInTime {
    /// The filters of the aliases that it was opened with.
    pub filters: Arc<[AliasFilter]>,
}

/// A point in time that is open.
#[derive(Debug)]
pub struct OpenedPointInTime {
    /// Its id.
    pub id: String,
    /// When it was opened, in milliseconds since 1970.
    pub created_millis: u64,
    /// How long it stays open without being used.
    pub keep_alive_ms: u64,
}

#[derive(Clone)]
pub(crate) enum AnyContext {
    Scroll(Arc<Context<Scroll>>),
    PointInTime(Arc<Context<PointInTime>>),
}

impl Kind for Scroll {
    fn count(shard: &Shard, lived_nanos: Option<u64>) {
        let meter = &shard.counters.scroll;
        match lived_nanos {
            None => _ = meter.current.fetch_add(1, Ordering::Relaxed),
            Some(nanos) => {
                meter.current.fetch_sub(1, Ordering::Relaxed);
                meter.add(1, nanos);
            }
        }
    }

    fn of(context: &AnyContext) -> Option<&Arc<Context<Scroll>>> {
        if let AnyContext::Scroll(scroll) = context { Some(scroll) } else { None }
    }

    fn wrap(context: Arc<Context<Scroll>>) -> AnyContext {
        AnyContext::Scroll(context)
    }
}

impl Kind for PointInTime {
    fn count(shard: &Shard, lived_nanos: Option<u64>) {
        let open = &shard.counters.points_in_time;
        match lived_nanos {
            None => open.fetch_add(1, Ordering::Relaxed),
            Some(_) => open.fetch_sub(1, Ordering::Relaxed),
        };
    }

    fn of(context: &AnyContext) -> Option<&Arc<Context<PointInTime>>> {
        if let AnyContext::PointInTime(point) = context { Some(point) } else { None }
    }

    fn wrap(context: Arc<Context<PointInTime>>) -> AnyContext {
        AnyContext::PointInTime(context)
    }
}

impl AnyContext {
    fn life(&self) -> &Mutex<Life> {
        match self {
            AnyContext::Scroll(scroll) => &scroll.life,
            AnyContext::PointInTime(point) => &point.life,
        }
    }

    fn owner(&self) -> Option<&str> {
        match self {
            AnyContext::Scroll(scroll) => scroll.owner.as_deref(),
            AnyContext::PointInTime(point) => point.owner.as_deref(),
        }
    }

    fn shard_count(&self) -> usize {
        match self {
            AnyContext::Scroll(scroll) => scroll.shards.len(),
            AnyContext::PointInTime(point) => point.shards.len(),
        }
    }
}

/// Approximate size of a context in bytes: its id in the table, a typical parsed request, the keys of the
/// last hit.
const CONTEXT_BYTES: u64 = 8 << 10;
/// Bytes for each segment that a context sees. The segment itself stays charged while anything refers to it.
const VIEW_BYTES: u64 = size_of::<SegmentView>() as u64;

impl<K: Kind> Context<K> {
    /// Makes a context. `held_bytes` is the size of those parts of the request that the context keeps.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        shards: Vec<ShardSnapshot>,
        counted: Vec<Arc<Shard>>,
        kind: K,
        held_bytes: u64,
        pool: &Arc<Pool>,
    ) -> limber_store::Result<Context<K>> {
        let view_count: usize = shards.iter().map(|shard| shard.segments.len()).sum();
        let bytes = CONTEXT_BYTES + held_bytes + view_count as u64 * VIEW_BYTES;
        let charge = pool.charge(bytes, "<search context>")?;
        counted.iter().for_each(|shard| K::count(shard, None));
        let start_nanos = clock.monotonic_nanos();
        let life = Mutex::new(Life { keep_alive_ms: 0, expires_millis: 0 });
        Ok(Context { shards, counted, kind, owner: owner(), life, clock, start_nanos, _charge: charge })
    }
}

impl<K: Kind> Drop for Context<K> {
    fn drop(&mut self) {
        let nanos = self.clock.monotonic_nanos().saturating_sub(self.start_nanos);
        self.counted.iter().for_each(|shard| K::count(shard, Some(nanos)));
    }
}

/// The open contexts of a node.
pub(crate) struct Contexts {
    environment: Environment,
    open: Mutex<HashMap<String, AnyContext>>,
}

/// Random bytes in an id.
const ID_BYTES: usize = 32;

impl Contexts {
    pub(crate) fn new(environment: &Environment) -> Contexts {
        Contexts { environment: environment.clone(), open: Mutex::default() }
    }

    /// Keeps a context. Fails with `TooManyRequests` when there are already `limit` of them.
    pub(crate) fn add<K: Kind>(
        &self,
        context: Context<K>,
        keep_alive_ms: u64,
        limit: usize,
    ) -> Result<String> {
        let mut bytes = [0u8; ID_BYTES];
        self.environment.randomness.fill(&mut bytes);
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let now_millis = self.environment.clock.monotonic_millis();
        let mut open = self.open.lock();
        if open.len() >= limit {
            return Err(too_many(limit));
        }
        let expires_millis = now_millis.saturating_add(keep_alive_ms);
        *context.life.lock() = Life { keep_alive_ms, expires_millis };
        open.insert(id.clone(), K::wrap(Arc::new(context)));
        Ok(id)
    }

    /// Fails when there is no room for another context, so that no search runs whose context could not be
    /// kept.
    pub(crate) fn check_room(&self, limit: usize) -> Result<()> {
        if self.len() >= limit {
            self.expire();
        }
        if self.len() >= limit { Err(too_many(limit)) } else { Ok(()) }
    }

    /// Returns the context and restarts its keep-alive, which `keep_alive_ms` may extend. Fails with
    /// `NotFound` when it is unknown or has expired.
    pub(crate) fn get<K: Kind>(&self, id: &str, keep_alive_ms: Option<u64>) -> Result<Arc<Context<K>>> {
        let now_millis = self.environment.clock.monotonic_millis();
        let found = if is_id(id) { self.open.lock().get(id).cloned() } else { None };
        let found = found.as_ref().filter(|context| is_own(context.owner()));
        let found = found.and_then(K::of).ok_or_else(|| missing(id))?;
        let mut life = found.life.lock();
        if life.expires_millis <= now_millis {
            return Err(missing(id));
        }
        life.keep_alive_ms = life.keep_alive_ms.max(keep_alive_ms.unwrap_or(0));
        life.expires_millis = now_millis.saturating_add(life.keep_alive_ms);
        drop(life);
        Ok(found.clone())
    }

    /// Removes a context of this kind. Returns how many shards it had.
    pub(crate) fn remove<K: Kind>(&self, id: &str) -> Option<usize> {
        let mut open = self.open.lock();
        K::of(open.get(id).filter(|context| is_own(context.owner()))?)?;
        open.remove(id).map(|context| context.shard_count())
    }

    /// Returns the open points in time that belong to the caller.
    pub(crate) fn points_in_time(&self, now_millis: u64) -> Vec<OpenedPointInTime> {
        self.expire();
        let now_nanos = self.environment.clock.monotonic_nanos();
        let open = self.open.lock();
        let own = open.iter().filter(|(_, context)| is_own(context.owner()));
        own.filter_map(|(id, context)| {
            let point = PointInTime::of(context)?;
            let age_millis = now_nanos.saturating_sub(point.start_nanos) / 1_000_000;
            Some(OpenedPointInTime {
                id: id.clone(),
                created_millis: now_millis.saturating_sub(age_millis),
                keep_alive_ms: point.life.lock().keep_alive_ms,
            })
        })
        .collect()
    }

    /// Removes all contexts of this kind. Returns how many there were.
    pub(crate) fn clear<K: Kind>(&self) -> usize {
        let mut open = self.open.lock();
        let before = open.len();
        open.retain(|_, context| K::of(context).is_none() || !is_own(context.owner()));
        before - open.len()
    }

    pub(crate) fn clear_all(&self) {
        self.open.lock().clear();
    }

    pub(crate) fn expire(&self) {
        let now_millis = self.environment.clock.monotonic_millis();
        self.open.lock().retain(|_, context| context.life().lock().expires_millis > now_millis);
    }

    pub(crate) fn len(&self) -> usize {
        self.open.lock().len()
    }
}

/// Returns the user who owns what this request opens.
pub(crate) fn owner() -> Option<String> {
    limber_access::current().map(|access| access.identity.owner())
}

/// Whether the request of this thread may use what belongs to `owner`.
pub(crate) fn is_own(owner: Option<&str>) -> bool {
    limber_access::current().is_none_or(|access| owner == Some(&*access.identity.owner()))
}

/// Whether a string has the form of an id.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == ID_BYTES.div_ceil(3) * 4 - 1 && URL_SAFE_NO_PAD.decode(text).is_ok()
}

fn too_many(limit: usize) -> RequestError {
    RequestError::new(
        ErrorClass::TooManyRequests,
        "too_many_scroll_contexts_exception",
        format!(
            "Trying to create too many scroll contexts. Must be less than or equal to: [{limit}]. This limit can be set by changing the \
             [search.max_open_scroll_context] setting."
        ),
    )
}

/// Makes the error (`NotFound`) about a context that is not open: all shards failed with a
/// `search_context_missing_exception`. Only the context would have known the shards.
pub(crate) fn missing(id: &str) -> RequestError {
    let shown: String = id.chars().take(64).collect();
    let reason = format!("No search context found for id [{shown}]");
    let cause = RequestError::not_found(limber_search::CONTEXT_MISSING, reason);
    let failed = json!({"shard": -1, "index": null, "reason": cause.to_json()});
    RequestError::not_found("search_phase_execution_exception", "all shards failed")
        .with("phase", "query")
        .with("grouped", true)
        .with("failed_shards", vec![failed])
        .caused_by(cause)
}
