//! Runs searches: resolves the expression to snapshots of shards, then calls `limber_search`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use limber_mapping::RequestError;
use limber_search::request::{AliasFilter, within_aliases};
use limber_search::{
    CountRequest, CountResponse, DocumentName, SearchContext, SearchRequest, SearchResponse, ShardFailure,
    ShardSnapshot, TermsEnumRequest, TermsEnumResponse,
};
use limber_text::wildcard;
use serde_json::Value;

use super::alias_filters::{alias_filter, alias_filters};
use super::meters::Meters;
use super::named_documents::reading_document;
use super::placement::{Placement, Preference};
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::shard::{Searched, Shard, force_source, log_search};

const SEARCH_ACTION: &str = "indices:data/read/search";

/// The shards of a search, as they were when it began.
pub(in crate::node) struct Pinned {
    pub(in crate::node) snapshots: Vec<ShardSnapshot>,
    pub(in crate::node) shards: Vec<Arc<Shard>>,
    /// Shards that do not respond.
    pub(in crate::node) failures: Vec<ShardFailure>,
    /// The filters of the aliases in the expression.
    pub(in crate::node) filters: Arc<[AliasFilter]>,
}

/// The shards and aliases with which a search would use one index. See [`Node::search_targets`].
#[derive(Debug)]
pub struct SearchTarget {
    /// The index's name.
    pub index: Arc<str>,
    /// The index's UUID.
    pub uuid: Arc<str>,
    /// The shards that routing and preference select.
    pub shards: Vec<u32>,
    /// The aliases through which the expression reaches the index.
    pub aliases: Vec<String>,
    /// The filter of these aliases; `None` when all documents are searched.
    pub filter: Option<Value>,
}

/// A query as it is bound to one index. See [`Node::describe_query`].
#[derive(Debug)]
pub struct DescribedQuery {
    /// The index's name.
    pub index: String,
    /// The index's UUID.
    pub uuid: String,
    /// The shard that it was bound to.
    pub shard: u32,
    /// The query in Lucene's notation, or why it is not valid.
    pub outcome: Result<String>,
}

impl Node {
    /// Runs a search on the shards that `placement` selects. With `scroll_keep_alive_ms` the response is the
    /// first page of a scroll, whose id is the second result. A request with a point in time searches only
    /// that.
    ///
    /// Errors: see [`limber_search::Error`]; those of the expression are its `Request`.
    pub fn search(
        &self,
        expression: &str,
        options: IndicesOptions,
        placement: Placement<'_>,
        request: &SearchRequest,
        scroll_keep_alive_ms: Option<u64>,
        cancelled: Arc<AtomicBool>,
    ) -> limber_search::Result<(SearchResponse, Option<String>)> {
        let _task = self.tasks.register_cancellable(
            SEARCH_ACTION,
            format!("indices[{expression}]"),
            cancelled.clone(),
        );
        let mut pinned = match &request.pit {
            Some(point) => self.pinned_then(point)?,
            None => self.pin(expression, options, placement)?,
        };
        self.check_shard_count(&pinned)?;
        let mut piped = self.apply_pipeline(request, placement.routing, &pinned)?;
        let routing = piped.new_routing(placement.routing);
        if routing.is_some() && request.pit.is_none() {
            pinned = self.pin(expression, options, Placement { routing, ..placement })?;
        }
        if request.forces_source {
            pinned.snapshots.iter_mut().for_each(force_source);
        }
        let request = &self.prepared(piped.request(request), &pinned, options)?;
        let context = self.search_context(cancelled);
        if !request.allows_partial.unwrap_or(context.allows_partial) {
            check_no_shard_missing(&pinned.failures)?;
        }
        let meters = Meters::start(self, &pinned);
        let outcome = match scroll_keep_alive_ms {
            None => {
                limber_search::execute(&pinned.snapshots, request, &context).map(|response| (response, None))
            }
            Some(keep_alive_ms) => self.first_page(&pinned, request, keep_alive_ms, &context),
        };
        let took = meters.finish(outcome.is_ok(), &request.stats_groups, request.suggest.is_some());
        let (mut response, scroll_id) = outcome?;
        piped.finish(&mut response)?;
        log_search(
            &pinned.shards,
            &Searched {
                query_time: took.saturating_sub(response.fetch_time),
                fetch_time: response.fetch_time,
                total_hits: response.total.as_ref().map(|total| total.value),
                shard_count: response.shards.total,
                source: request.text.as_deref().unwrap_or("{}"),
            },
        );
        add_failures(&mut response, pinned.failures)?;
        Ok((response, scroll_id))
    }

    /// Returns which shards a search of `expression` runs on, in the order of their indices.
    pub fn search_targets(
        &self,
        expression: &str,
        options: IndicesOptions,
        placement: Placement<'_>,
    ) -> Result<Vec<SearchTarget>> {
        let catalog = self.catalog.load_full();
        let dated = catalog.dated_list(expression)?;
        let expression = &*dated;
        let parts: Vec<&str> = expression.split(',').map(str::trim).collect();
        let mut targets = Vec::new();
        let indices = catalog.resolve(expression, options)?;
        let preference = Preference::parse(placement.preference)?;
        for metadata in &indices {
            limber_work::check_beyond_deadline()?;
            let routing = search_routing(&catalog, &parts, metadata, placement.routing);
            let settings = self.live(metadata)?.core.settings.load_full();
            let is_reached = |alias: &str| parts.iter().any(|part| wildcard::matches(part, alias));
            targets.push(SearchTarget {
                index: metadata.name.clone(),
                uuid: metadata.uuid.clone(),
                shards: self.placed(&metadata.name, &settings, routing.as_deref(), &preference)?,
                aliases: catalog.alias_names(metadata).filter(|alias| is_reached(alias)).cloned().collect(),
                filter: alias_filter(&catalog, &parts, metadata)?,
            });
        }
        Ok(targets)
    }

    /// Returns the indices with a shard in which the query may match something.
    pub fn indices_that_can_match(
        &self,
        expression: &str,
        options: IndicesOptions,
        filter: &limber_search::query::Query,
    ) -> Result<BTreeSet<String>> {
        let pinned = self.pin(expression, options, Placement::default())?;
        let now = self.now_millis() as i64;
        let left = pinned.snapshots.iter().filter(|shard| limber_search::can_match(filter, shard, now));
        Ok(left.map(|shard| shard.index.name.clone()).collect())
    }

    /// Returns how a query is bound to one shard of each index, in Lucene's notation, or why it cannot be
    /// bound.
    pub fn describe_query(
        &self,
        expression: &str,
        options: IndicesOptions,
        query: Option<&limber_search::query::Query>,
        all_shards: bool,
    ) -> Result<Vec<DescribedQuery>> {
        let pinned = self.pin(expression, options, Placement::default())?;
        let now = self.now_millis() as i64;
        let mut described: Vec<DescribedQuery> = Vec::new();
        for snapshot in &pinned.snapshots {
            limber_work::check_beyond_deadline()?;
            if all_shards || !described.iter().any(|seen| seen.index == snapshot.index.name) {
                let outcome = match limber_search::describe(query, snapshot, now) {
                    // This error comes from the request and not from the index.
                    Err(limber_search::Error::Lookup(error)) => return Err(error),
                    outcome => outcome.map_err(|error| error.to_request_error()),
                };
                let (index, uuid) = (snapshot.index.name.clone(), snapshot.index.uuid.clone());
                described.push(DescribedQuery { index, uuid, shard: snapshot.shard, outcome });
            }
        }
        Ok(described)
    }

    /// Counts matching documents.
    pub fn count(
        &self,
        expression: &str,
        options: IndicesOptions,
        placement: Placement<'_>,
        request: &CountRequest,
        cancelled: Arc<AtomicBool>,
    ) -> limber_search::Result<CountResponse> {
        let _task = self.tasks.register_cancellable(
            SEARCH_ACTION,
            format!("indices[{expression}]"),
            cancelled.clone(),
        );
        let mut pinned = self.pin(expression, options, placement)?;
        let (mut request, routing) = self.counted(request, placement.routing, &pinned)?;
        if routing.is_some() {
            pinned = self.pin(expression, options, Placement { routing: routing.as_deref(), ..placement })?;
        }
        request.query = within_aliases(request.query, &pinned.filters)?;
        let context = self.search_context(cancelled);
        if !context.allows_partial {
            check_no_shard_missing(&pinned.failures)?;
        }
        let meters = Meters::start(self, &pinned);
        let outcome = limber_search::count(&pinned.snapshots, &request, &context);
        meters.finish(outcome.is_ok(), &[], false);
        let mut response = outcome?;
        response.shards.total += pinned.failures.len() as u32;
        response.shards.failures.extend(pinned.failures);
        Ok(response)
    }

    /// Returns terms of a field, with the number of shards and of those that failed.
    pub fn terms_enum(
        &self,
        expression: &str,
        options: IndicesOptions,
        request: &TermsEnumRequest,
        timeout_ms: u64,
        cancelled: Arc<AtomicBool>,
    ) -> limber_search::Result<(TermsEnumResponse, BroadcastResponse)> {
        let _task = self.tasks.register_cancellable(
            "indices:data/read/xpack/termsenum/list",
            format!("indices[{expression}]"),
            cancelled.clone(),
        );
        let mut pinned = self.pin(expression, options, Placement::default())?;
        // The term dictionary would reveal terms of documents that the user may not see.
        let hides_documents = |shard: &Arc<Shard>| match shard.limits() {
            Ok(limits) => limits.is_some_and(|limits| !limits.documents.is_empty()),
            Err(_) => true,
        };
        let shown: Vec<bool> = pinned.shards.iter().map(|shard| !hides_documents(shard)).collect();
        let mut shown = shown.into_iter();
        pinned.snapshots.retain(|_| shown.next().unwrap_or(false));
        if let Some(filter) = &request.index_filter {
            let now_millis = self.now_millis() as i64;
            pinned.snapshots.retain(|shard| limber_search::can_match(filter, shard, now_millis));
        }
        let mut context = self.search_context(cancelled);
        context.deadline = Instant::now().checked_add(Duration::from_millis(timeout_ms));
        let found = limber_search::terms_enum(&pinned.snapshots, request, &context)?;
        let mut shards = BroadcastResponse {
            total: (pinned.snapshots.len() + pinned.failures.len()) as u32,
            successful: pinned.snapshots.len() as u32,
            failed: pinned.failures.len() as u32,
            failures: Vec::new(),
        };
        shards.failures.extend(pinned.failures.into_iter().map(|failure| crate::api::ShardFailure {
            index: failure.index.into(),
            shard: failure.shard,
            error: failure.reason,
        }));
        Ok((found, shards))
    }

    /// Source: `TransportSearchAction#failIfOverShardCountLimit`.
    fn check_shard_count(&self, pinned: &Pinned) -> Result<()> {
        let limit = self.settings.load().integer("action.search.shard_count.limit").max(0) as usize;
        let count = pinned.snapshots.len() + pinned.failures.len();
        if count <= limit {
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!(
            "Trying to query {count} shards, which is over the limit of {limit}. This limit exists because querying many shards at the same \
             time can make the job of the coordinating node very CPU and/or memory intensive. It is usually a better idea to have a smaller \
             number of larger shards. Update [action.search.shard_count.limit] to a greater value if you really want to query that many \
             shards at the same time."
        )))
    }

    pub(in crate::node) fn search_context(&self, cancelled: Arc<AtomicBool>) -> SearchContext {
        let settings = self.settings.load();
        let mut context = SearchContext::new(self.ledger.clone(), self.now_millis() as i64);
        context.cancelled = cancelled;
        context.max_buckets = settings.integer("search.max_buckets").clamp(0, u32::MAX.into()) as u32;
        context.allow_expensive_queries = settings.boolean("search.allow_expensive_queries");
        context.allows_partial = settings.boolean("search.default_allow_partial_results");
        context.deadline = settings
            .time_ms("search.default_search_timeout")
            .filter(|ms| *ms > 0)
            .map(|ms| Instant::now() + Duration::from_millis(ms));
        context.node_id = self.node_id_shared();
        context.workers = self.workers.clone();
        context.recent_blocks = Some(self.caches.blocks.clone());
        context
    }

    /// Opens snapshots of the shards of a search, all according to one version of the catalog.
    pub(in crate::node) fn pin(
        &self,
        expression: &str,
        options: IndicesOptions,
        placement: Placement<'_>,
    ) -> Result<Pinned> {
        loop {
            if let Some(pinned) = self.pin_once(expression, options, placement)? {
                return Ok(pinned);
            }
        }
    }

    /// Returns `None` when an index was deleted, closed or replaced since its name was looked up.
    fn pin_once(
        &self,
        expression: &str,
        options: IndicesOptions,
        placement: Placement<'_>,
    ) -> Result<Option<Pinned>> {
        let catalog = self.catalog.load();
        let dated = catalog.dated_list(expression)?;
        let expression = &*dated;
        let indices = catalog.resolve(expression, options)?;
        let preference = Preference::parse(placement.preference)?;
        let parts: Vec<&str> = expression.split(',').map(str::trim).collect();
        let filters = alias_filters(&catalog, &parts, &indices)?;
        let mut shards: Vec<Arc<Shard>> = Vec::new();
        let mut failures = Vec::new();
        for metadata in &indices {
            self.check_read_block(metadata)?;
            if let Some(failed) = self.unfinished_index(&catalog, expression, metadata) {
                failures.extend(failed);
                continue;
            }
            let live = match self.live(metadata) {
                Ok(live) => live,
                Err(_) if self.is_outdated(metadata) => return Ok(None),
                Err(_) if !metadata.open => continue,
                Err(error) => {
                    failures.extend(self.failed_index(metadata, &error));
                    continue;
                }
            };
            limber_work::check_beyond_deadline()?;
            let routing = search_routing(&catalog, &parts, metadata, placement.routing);
            let settings = live.core.settings.load();
            for number in self.placed(&metadata.name, &settings, routing.as_deref(), &preference)? {
                shards.push(live.shard(number)?.clone());
            }
        }
        // Elasticsearch's order of shards, which decides ties and the assignment of slices
        // (`ShardId#compareTo`).
        shards.sort_by(|left, right| {
            left.number.cmp(&right.number).then_with(|| left.index.name.cmp(&right.index.name))
        });
        let mut pinned = Pinned { snapshots: Vec::new(), shards: Vec::new(), failures, filters };
        for shard in shards {
            match shard.snapshot() {
                Ok(snapshot) => {
                    pinned.snapshots.push(snapshot);
                    pinned.shards.push(shard);
                }
                Err(error) => pinned.failures.push(self.failed_shard(&shard, error)),
            }
        }
        let is_outdated = !pinned.failures.is_empty() && indices.iter().any(|index| self.is_outdated(index));
        Ok((!is_outdated).then_some(pinned))
    }

    /// Makes failures for the shards of an open index without shards: its metadata cannot be read, or its
    /// mapping cannot be compiled.
    pub(super) fn failed_index(&self, metadata: &IndexMetadata, reason: &RequestError) -> Vec<ShardFailure> {
        let failed = |shard| ShardFailure {
            index: metadata.name.to_string(),
            shard,
            node: self.node_id().to_owned(),
            reason: reason.clone(),
        };
        (0..metadata.typed.number_of_shards).map(failed).collect()
    }

    pub(in crate::node) fn failed_shard(&self, shard: &Shard, reason: RequestError) -> ShardFailure {
        ShardFailure {
            index: shard.index.name.to_string(),
            shard: shard.number,
            node: self.node_id().to_owned(),
            reason,
        }
    }

    pub(in crate::node) fn prepared(
        &self,
        request: &SearchRequest,
        pinned: &Pinned,
        options: IndicesOptions,
    ) -> Result<SearchRequest> {
        let mut request = request.clone();
        request.query = within_aliases(request.query, &pinned.filters)?;
        for filter in pinned.filters.iter() {
            request.narrow_cache_key(filter);
        }
        request.key_documents(|name| self.state_of(name).ok());
        for (expression, boost) in std::mem::take(&mut request.indices_boost) {
            for index in self.catalog.load().resolve(&expression, options)? {
                request.index_boosts.entry(index.uuid.to_string()).or_insert(boost);
            }
        }
        Ok(request)
    }

    /// Returns a string that identifies a document and its state. It differs for another state, another
    /// document, and another index with the same name.
    fn state_of(&self, name: &DocumentName) -> Result<String> {
        let _acting = reading_document(&name.index);
        let request =
            GetRequest { routing: name.routing.as_deref(), ..GetRequest::new(&name.index, &name.id) };
        let response = self.get(&request)?;
        let place = response.found.map(|found| (found.identity.primary_term, found.identity.seq_no));
        Ok(format!("{} {} {:?} {place:?}", response.uuid, name.id, name.routing))
    }
}

/// Returns the routing of a search in one index, as comma-separated values. `None` means all shards.
///
/// An index that is only reached through aliases with a `search_routing` is searched where the values of all
/// these aliases lead to; of these, a request with a routing of its own only takes those that it names. If it
/// names none of them, all shards are searched.
///
/// Source: `IndexNameExpressionResolver#resolveSearchRouting`.
fn search_routing(
    catalog: &Catalog,
    parts: &[&str],
    index: &IndexMetadata,
    requested: Option<&str>,
) -> Option<String> {
    // A pattern that an alias matches stands for the alias's indices.
    let is_reached = |part: &&str| {
        catalog.alias_of(index, part).is_none()
            && (matches!(*part, "" | "_all")
                || wildcard::matches(part, &index.name)
                || catalog.is_of_stream(index, part)
                || wildcard::is_pattern(part)
                    && catalog.alias_names(index).any(|alias| wildcard::matches(part, alias)))
    };
    let of_aliases = parts.iter().filter_map(|part| catalog.alias_of(index, part));
    let routings: Option<Vec<&str>> = of_aliases.map(|alias| alias.search_routing.as_deref()).collect();
    // Most indices have no such alias, so the patterns are compared with the aliases last.
    let routings = routings.filter(|routings| !routings.is_empty() && !parts.iter().any(is_reached));
    let Some(routings) = routings else { return requested.map(str::to_owned) };
    let is_asked =
        |value: &&str| requested.is_none_or(|requested| requested.split(',').any(|one| one == *value));
    let values: BTreeSet<&str> =
        routings.iter().flat_map(|routing| routing.split(',')).filter(is_asked).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(","))
}

/// Fails when a search that does not allow partial results would begin without a shard. Source:
/// `SearchPhase#doCheckNoMissingShards`.
fn check_no_shard_missing(failures: &[ShardFailure]) -> Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let missing: Vec<String> =
        failures.iter().map(|failure| format!("[{}][{}]", failure.index, failure.shard)).collect();
    let reason = format!(
        "Search rejected due to missing shards [{}]. Consider using `allow_partial_search_results` setting to bypass this error.",
        missing.join(", ")
    );
    let refused = |reason: String| {
        RequestError::unavailable("search_phase_execution_exception", reason)
            .with("phase", "query")
            .with("grouped", true)
            .with("failed_shards", Value::Array(Vec::new()))
    };
    Err(refused(String::new()).caused_by(refused(reason)))
}

fn add_failures(response: &mut SearchResponse, failures: Vec<ShardFailure>) -> limber_search::Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    if response.shards.successful == 0 {
        return Err(limber_search::Error::AllShardsFailed { phase: "query", failures });
    }
    response.shards.total += failures.len() as u32;
    response.shards.failures.extend(failures);
    Ok(())
}
