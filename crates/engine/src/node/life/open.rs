//! Opening and closing a node.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::Thread;

use arc_swap::ArcSwap;
use limber_mapping::RequestError;
use limber_mapping::analysis::{AnalysisResources, Analyzers};
use limber_script::Scripts;
use limber_search::Workers;
use limber_store::sync::{Condvar, Mutex};
use limber_store::term_index::TermIndexCache;
use limber_store::{Disk, Ledger};
use serde_json::{Map, Value};

use super::background::Background;
use super::restored::Restored;
use super::scrub::Scrub;
use super::shard_recovery::Recoveries;
use crate::analysis::NodeAnalysis;
use crate::api::Result;
use crate::catalog::{Catalog, IndexMetadata};
use crate::contexts::Contexts;
use crate::contexts::async_search::AsyncSearches;
use crate::environment::Environment;
use crate::indexing_pressure::IndexingPressure;
use crate::ingest::Registry;
use crate::node::index::dangling::Dangling;
use crate::node::index::index_files::{IndexFiles, unreadable};
use crate::node::index::live::LiveIndex;
use crate::node::index::name_locks::NameLocks;
use crate::node::kept_state::kept::Kept;
use crate::node::kept_state::main_folder::{open_error, refuse_foreign};
use crate::node::kept_state::security::KeptSecurity;
use crate::node::kept_state::state::NodeState;
use crate::node::kept_state::state_file::Doubt;
use crate::node::policy::lifecycle::Lifecycles;
use crate::node::policy::transform_state::Transforms;
use crate::node::reading::named_documents::DocumentsOf;
use crate::search_pipeline::SearchPipelineStats;
use crate::settings::ClusterSettings;
use crate::settings::blocks::ClusterBlocks;
use crate::shard::{FlakeIds, Host, NodeCaches, ShardServices};
use crate::snapshot::running::Snapshots;
use crate::tasks::Tasks;
use crate::volumes::Volumes;

/// The configuration of a node.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// The data folders (`path.data`), the main one first.
    pub data_paths: Vec<PathBuf>,
    /// `memory.limit` in bytes. All memory pools are shares of it.
    pub memory_limit_bytes: u64,
    /// `cluster.name`.
    pub cluster_name: String,
    /// `node.name`.
    pub node_name: String,
    /// The Elasticsearch version that the node claims to have, such as `8.14.3`. It also determines
    /// `index.version.created`.
    pub compat_version: String,
    /// Flat node settings from the configuration file and `-E`. Unknown keys prevent the start.
    pub settings: Map<String, Value>,
    /// Whether to start threads for refresh, flush, merge and housekeeping. Tests switch them off and call
    /// the rounds themselves.
    pub background_threads: bool,
    /// How many processors one search may use to search its shards in parallel.
    pub search_processors: usize,
}

/// Opens a node for a unit test. It does not depend on how full the machine's disk is.
#[cfg(test)]
pub(in crate::node) fn node_of_tests(folder: &std::path::Path) -> Arc<Node> {
    let mut settings = Map::new();
    settings.insert("cluster.routing.allocation.disk.threshold_enabled".into(), "false".into());
    let config = NodeConfig {
        data_paths: vec![folder.to_owned()],
        memory_limit_bytes: 256 << 20,
        cluster_name: "test".into(),
        node_name: "node".into(),
        compat_version: "8.14.3".into(),
        settings,
        background_threads: false,
        search_processors: 1,
    };
    Node::open(config).expect("opens")
}

/// Open indices by UUID, in the same order in every run.
pub(in crate::node) type LiveIndices = BTreeMap<Arc<str>, Arc<LiveIndex>>;

/// A running node. See the crate documentation for its guarantees.
pub struct Node {
    pub(in crate::node) config: NodeConfig,
    pub(in crate::node) environment: Environment,
    pub(in crate::node) ledger: Ledger,
    indexing_pressure: Arc<IndexingPressure>,
    pub(in crate::node) term_index: Arc<TermIndexCache>,
    pub(in crate::node) this: Weak<Node>,
    /// The state as it is on disk. See [`crate::node::kept_state::changes`] for the locks.
    pub(in crate::node) state: ArcSwap<NodeState>,
    /// Whether the state on disk may differ from `state`.
    pub(in crate::node) in_doubt: AtomicBool,
    /// What depends on which of the two states is on disk.
    pub(in crate::node) doubt: Mutex<Option<Doubt>>,
    /// Deleted indices whose folders are gone. The next change of the state removes their tombstones.
    pub(in crate::node) buried: Mutex<HashSet<Arc<str>>>,
    pub(in crate::node) index_files: IndexFiles,
    /// Charges for what requests store permanently.
    pub(in crate::node) kept: Kept,
    /// Names of indices that are being filled from other indices.
    pub(in crate::node) copying: Mutex<HashSet<Arc<str>>>,
    pub(in crate::node) dangling: Mutex<BTreeMap<Arc<str>, Dangling>>,
    /// Why open indices have no shards, by UUID.
    pub(in crate::node) not_opened: Mutex<HashMap<Arc<str>, RequestError>>,
    node_id: Arc<str>,
    cluster_uuid: String,
    started_millis: u64,
    /// Measured by the monotonic clock.
    started_at_ms: u64,
    pub(in crate::node) catalog: ArcSwap<Catalog>,
    pub(in crate::node) live: ArcSwap<LiveIndices>,
    /// Names that are being created or rolled over, and UUIDs of indices that are being opened, closed or
    /// removed.
    pub(in crate::node) names: NameLocks,
    /// Held while the node's state changes. A thread that holds it never waits for a shard's gate or for the
    /// file of an index.
    pub(in crate::node) changing: Mutex<()>,
    /// Held briefly while the catalog is replaced.
    pub(in crate::node) publishing: Mutex<()>,
    pub(in crate::node) recoveries: Recoveries,
    pub(in crate::node) settings: ArcSwap<ClusterSettings>,
    /// What `settings` say of blocks, for the shards.
    pub(in crate::node) cluster_blocks: Arc<ClusterBlocks>,
    pub(in crate::node) pipelines: Registry,
    pub(in crate::node) search_pipeline_stats: Arc<SearchPipelineStats>,
    pub(in crate::node) scripts: Arc<Scripts>,
    /// The resources that analyzers read from the node.
    pub(in crate::node) analysis: Arc<NodeAnalysis>,
    pub(in crate::node) tasks: Tasks,
    pub(in crate::node) contexts: Contexts,
    pub(in crate::node) async_searches: AsyncSearches,
    pub(in crate::node) transforms: Transforms,
    /// Number of searches by `enrich` processors.
    pub(in crate::node) enrich_searches: AtomicU64,
    /// Names of enrich policies that are being executed or deleted.
    pub(in crate::node) enrich_in_use: Arc<Mutex<HashSet<String>>>,
    pub(in crate::node) caches: NodeCaches,
    pub(in crate::node) lifecycles: Lifecycles,
    pub(in crate::node) snapshots: Snapshots,
    /// `None` when a search may use only one processor.
    pub(in crate::node) workers: Option<Arc<Workers>>,
    pub(in crate::node) flake_ids: FlakeIds,
    /// Set by the disk monitor, or when a write was refused because the disk is full.
    pub(in crate::node) is_flooded: AtomicBool,
    pub(in crate::node) background: Mutex<Option<Background>>,
    /// Woken early when memory for indexing is getting short.
    pub(in crate::node) buffers_thread: OnceLock<Thread>,
    pub(in crate::node) closed: AtomicBool,
    /// Notified when a shard was refreshed (`refresh=wait_for`).
    pub(in crate::node) refreshed: Condvar,
    pub(in crate::node) refresh_count: Mutex<u64>,
    pub(in crate::node) scrub: Scrub,
    /// Users, roles and keys.
    pub(in crate::node) security: KeptSecurity,
}

impl Node {
    /// Opens and locks the data folders, and recovers every index.
    pub fn open(config: NodeConfig) -> Result<Arc<Node>> {
        refuse_foreign(&config.data_paths)?;
        let disk = Volumes::open(&config.data_paths).map_err(|error| open_error(&error))?;
        let disk: Arc<dyn Disk> = Arc::new(disk);
        Node::open_with(config, Environment::system(disk))
    }

    /// Works like [`Node::open`], with the given clock, randomness and disk.
    pub fn open_with(mut config: NodeConfig, environment: Environment) -> Result<Arc<Node>> {
        let (restored, origin) = Restored::load(&mut config, &environment)?;
        let enrich = restored.enrich.clone();
        let node = Arc::new_cyclic(|this| Node::idle(this.clone(), config, environment, restored));
        let source: Weak<Node> = Arc::downgrade(&node);
        let _ = enrich.set(source);
        node.recover_indices(origin)?;
        node.remove_unfinished_copies();
        if node.config.background_threads {
            *node.background.lock() = Some(Background::start(&node));
        }
        Ok(node)
    }

    /// Returns the node without indices and background threads.
    fn idle(this: Weak<Node>, config: NodeConfig, environment: Environment, restored: Restored) -> Node {
        let node_id: Arc<str> = restored.state.node_id.as_str().into();
        let pressure_bytes =
            restored.settings.bytes_of("indexing_pressure.memory.limit", restored.ledger.limit_bytes);
        Node {
            cluster_blocks: Arc::new(ClusterBlocks::of(&restored.settings)),
            flake_ids: FlakeIds::new(&environment),
            started_millis: environment.clock.now_millis(),
            started_at_ms: environment.clock.monotonic_millis(),
            node_id: node_id.clone(),
            cluster_uuid: restored.state.cluster_uuid.clone(),
            catalog: ArcSwap::from_pointee(restored.catalog),
            lifecycles: restored.lifecycles,
            security: restored.security,
            snapshots: restored.snapshots,
            state: ArcSwap::from_pointee(restored.state),
            in_doubt: AtomicBool::new(false),
            doubt: Mutex::new(None),
            buried: Mutex::default(),
            index_files: IndexFiles::default(),
            kept: restored.kept,
            copying: Mutex::default(),
            dangling: Mutex::default(),
            not_opened: Mutex::default(),
            tasks: Tasks::new(node_id.clone(), environment.clock.clone()),
            contexts: Contexts::new(&environment),
            async_searches: AsyncSearches::new(&environment),
            transforms: Transforms::default(),
            enrich_searches: AtomicU64::new(0),
            enrich_in_use: Arc::default(),
            caches: NodeCaches::new(&restored.ledger),
            workers: restored.workers,
            config,
            environment,
            indexing_pressure: IndexingPressure::new(pressure_bytes),
            ledger: restored.ledger,
            term_index: restored.term_index,
            this,
            live: ArcSwap::default(),
            names: NameLocks::default(),
            changing: Mutex::new(()),
            publishing: Mutex::new(()),
            recoveries: Recoveries::default(),
            settings: ArcSwap::from_pointee(restored.settings),
            pipelines: restored.pipelines,
            search_pipeline_stats: Arc::default(),
            scripts: restored.scripts,
            analysis: restored.analysis,
            is_flooded: AtomicBool::new(false),
            background: Mutex::new(None),
            buffers_thread: OnceLock::new(),
            closed: AtomicBool::new(false),
            refreshed: Condvar::new(),
            refresh_count: Mutex::new(0),
            scrub: Scrub::default(),
        }
    }

    /// Stops the background threads and flushes every shard; errors are logged. Dropping the last reference
    /// to the node releases the folder's lock.
    pub fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let background = self.background.lock().take();
        if let Some(background) = background {
            background.stop();
        }
        self.close_snapshots();
        self.contexts.clear_all();
        self.async_searches.clear();
        for index in self.live.load().values() {
            for shard in &index.shards {
                if let Err(error) = shard.flush(false) {
                    tracing::warn!(index = %index.core.name, shard = shard.number, %error, "not flushed while closing");
                }
            }
            index.close();
        }
        self.live.store(Arc::default());
        self.metadata_round();
    }

    /// Returns the configuration that the node was opened with.
    pub fn config(&self) -> &NodeConfig {
        &self.config
    }

    /// Returns the node's memory pools.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the sizes of the writes that are in progress.
    pub fn indexing_pressure(&self) -> &Arc<IndexingPressure> {
        &self.indexing_pressure
    }

    /// Returns the running requests, for `_tasks`.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Returns the node's id: 22 characters of URL-safe base64, unchanged by restarts.
    pub fn node_id(&self) -> &str {
        &self.node_id
    }

    pub(in crate::node) fn node_id_shared(&self) -> Arc<str> {
        self.node_id.clone()
    }

    /// Returns the cluster's UUID: 22 characters of URL-safe base64, generated with the data folder.
    pub fn cluster_uuid(&self) -> &str {
        &self.cluster_uuid
    }

    /// Returns when the node was opened, by the wall clock, in milliseconds since 1970.
    pub fn started_millis(&self) -> u64 {
        self.started_millis
    }

    /// Returns how long the node has been open, independent of changes to the wall clock.
    pub fn uptime_ms(&self) -> u64 {
        self.environment.clock.monotonic_millis().saturating_sub(self.started_at_ms)
    }

    pub(in crate::node) fn services(&self) -> ShardServices {
        let this: Weak<Node> = self.this.clone();
        let host: Weak<dyn Host> = this;
        ShardServices {
            environment: self.environment.clone(),
            ledger: self.ledger.clone(),
            term_index: self.term_index.clone(),
            scripts: self.scripts.clone(),
            analysis: self.analysis(),
            caches: self.caches.clone(),
            host,
            cluster_blocks: self.cluster_blocks.clone(),
            documents: Arc::new(DocumentsOf(self.this.clone())),
        }
    }

    /// Returns the resources that analyzers read from the node.
    pub(in crate::node) fn analysis(&self) -> Arc<dyn AnalysisResources> {
        self.analysis.clone()
    }

    /// Returns the built-in analyzers, with the node's resources for analyzers that a request defines.
    pub fn analyzers(&self) -> Analyzers {
        Analyzers::built_in_of(&self.analysis())
    }

    pub(in crate::node) fn now_millis(&self) -> u64 {
        self.environment.clock.now_millis()
    }

    /// Returns the open index with this metadata. Fails for closed and broken indices, with the reason.
    ///
    /// Every request that reads or writes documents calls this. It checks authorization again, for names that
    /// were resolved before it changed.
    pub(in crate::node) fn live(&self, metadata: &IndexMetadata) -> Result<Arc<LiveIndex>> {
        if let Some(access) = limber_access::current() {
            access.limits(&metadata.name, None)?;
        }
        self.live.load().get(&metadata.uuid).cloned().ok_or_else(|| {
            if !metadata.open {
                return crate::catalog::names::index_closed(&metadata.name, &metadata.uuid);
            }
            if let Some(why) = &metadata.damage {
                return unreadable(metadata, why);
            }
            let error = RequestError::unavailable(
                "no_shard_available_action_exception",
                format!("index [{}] does not open", metadata.name),
            );
            match self.why_not_open(metadata) {
                Some(why) => error.caused_by(why),
                None => error,
            }
        })
    }

    /// Whether a request's view of an index is out of date: the index was deleted, closed, opened, or
    /// replaced by another one.
    pub(in crate::node) fn is_outdated(&self, seen: &IndexMetadata) -> bool {
        let catalog = self.catalog.load();
        !catalog.indices.get(&seen.name).is_some_and(|now| now.uuid == seen.uuid && now.open == seen.open)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Tests drop nodes to simulate a sudden end. The threads must not outlive the node.
        if let Some(background) = self.background.lock().take() {
            background.abandon();
        }
    }
}

/// Applies the settings for shares of the memory limit; that of the term index is in
/// [`super::segment_memory`].
pub(in crate::node) fn apply_limits(ledger: &Ledger, settings: &ClusterSettings) {
    let share = |key| settings.bytes_of(key, ledger.limit_bytes);
    ledger.indexing.set_limit_bytes(share("indices.memory.index_buffer_size"));
    ledger.queries_cache.set_limit_bytes(share("indices.queries.cache.size"));
    ledger.requests_cache.set_limit_bytes(share("indices.requests.cache.size"));
    ledger.stored_blocks.set_limit_bytes(share("indices.stored_blocks.cache.size"));
    ledger.request.set_limit_bytes(share("indices.breaker.request.limit"));
    ledger.parent.set_limit_bytes(share("indices.breaker.total.limit"));
    ledger.in_flight.set_limit_bytes(share("network.breaker.inflight_requests.limit"));
}
