//! One node: the catalog, its shards and everything that runs beside them.
//!
//! Question answered: "carry out this API call". All calls are synchronous; the edge runs them on bounded pools.

use std::path::PathBuf;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::Ledger;
use serde_json::{Map, Value};

use crate::api::*;

/// What a node is opened with.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    pub data_path: PathBuf,
    /// `memory.limit` in bytes; all pools are shares of it.
    pub memory_limit_bytes: u64,
    pub cluster_name: String,
    pub node_name: String,
    /// The Elasticsearch version claimed, such as `8.14.3` (it also decides `index.version.created`).
    pub compat_version: String,
    /// Flat node settings of the configuration file and `-E` (known keys only; unknown ones refuse the start).
    pub settings: Map<String, Value>,
    /// Refresh, flush, merge and housekeeping threads. Tests switch them off and call the maintenance themselves.
    pub background_threads: bool,
}

/// One running node. See the crate's head for what it promises.
pub struct Node {
    config: NodeConfig,
    ledger: Ledger,
}

fn later<T>(what: &str) -> Result<T> {
    Err(RequestError::unsupported(what))
}

// The node itself.
impl Node {
    /// Opens the data folder, locks it, recovers every index.
    pub fn open(config: NodeConfig) -> Result<Arc<Node>> {
        let ledger = Ledger::new(config.memory_limit_bytes);
        Ok(Arc::new(Node { config, ledger }))
    }

    /// Stops the background threads, flushes every shard (errors are logged) and gives the folder back.
    pub fn close(&self) {}

    pub fn config(&self) -> &NodeConfig {
        &self.config
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// 22 characters of URL-safe base64, stable over restarts.
    pub fn node_id(&self) -> &str {
        ""
    }

    pub fn cluster_uuid(&self) -> &str {
        ""
    }

    /// Wall clock when the node was opened, milliseconds since 1970.
    pub fn started_millis(&self) -> u64 {
        0
    }
}

// Indices.
impl Node {
    /// `PUT /{index}`; `body` is the whole body (`settings`, `mappings`, `aliases`) or `{}`.
    pub fn create_index(&self, _name: &str, _body: &Value) -> Result<CreateIndexResponse> {
        later("create index")
    }

    pub fn delete_index(&self, _expression: &str, _options: IndicesOptions) -> Result<()> {
        later("delete index")
    }

    /// `GET /{index}`, `_mapping`, `_settings`, `_alias`: in name order.
    pub fn get_index(&self, _expression: &str, _options: IndicesOptions) -> Result<Vec<IndexInfo>> {
        later("get index")
    }

    /// `HEAD /{index}`: every name in the expression exists.
    pub fn index_exists(&self, _expression: &str, _options: IndicesOptions) -> Result<bool> {
        later("index exists")
    }

    pub fn put_mapping(&self, _expression: &str, _options: IndicesOptions, _body: &Value) -> Result<()> {
        later("put mapping")
    }

    pub fn put_settings(
        &self,
        _expression: &str,
        _options: IndicesOptions,
        _body: &Value,
        _preserve_existing: bool,
    ) -> Result<()> {
        later("put settings")
    }

    /// Returns whether every shard started in time (always, here).
    pub fn open_index(&self, _expression: &str, _options: IndicesOptions) -> Result<bool> {
        later("open index")
    }

    /// Returns the names of the indices that are closed now.
    pub fn close_index(&self, _expression: &str, _options: IndicesOptions) -> Result<Vec<Arc<str>>> {
        later("close index")
    }

    /// `PUT /{index}/_block/{block}` with `write`, `read`, `read_only`, `metadata`.
    pub fn add_block(
        &self,
        _expression: &str,
        _options: IndicesOptions,
        _block: &str,
    ) -> Result<Vec<Arc<str>>> {
        later("add block")
    }

    /// Names, wildcards, exclusions, aliases, `_all` and `""` to indices.
    pub fn resolve(&self, _expression: &str, _options: IndicesOptions) -> Result<Vec<ResolvedIndex>> {
        later("resolve")
    }

    /// The body of `GET /_resolve/index/{name}`.
    pub fn resolve_index(&self, _expression: &str, _options: IndicesOptions) -> Result<Value> {
        later("resolve index")
    }
}

// Aliases and templates.
impl Node {
    /// `POST /_aliases`; `body` is `{"actions": [...]}`. All or nothing.
    pub fn update_aliases(&self, _body: &Value) -> Result<()> {
        later("update aliases")
    }

    /// `PUT /{index}/_alias/{name}`.
    pub fn put_alias(&self, _expression: &str, _alias: &str, _body: &Value) -> Result<()> {
        later("put alias")
    }

    /// `DELETE /{index}/_alias/{name}`; 404 `aliases_not_found_exception`.
    pub fn delete_alias(&self, _expression: &str, _aliases: &str) -> Result<()> {
        later("delete alias")
    }

    /// `GET /{index}/_alias/{name}`: the body and its status (404 with the aliases that were found and an `error`).
    pub fn get_alias(
        &self,
        _expression: &str,
        _aliases: &str,
        _options: IndicesOptions,
    ) -> Result<(u16, Value)> {
        later("get alias")
    }

    /// `PUT /_template/{name}` (legacy templates).
    pub fn put_template(&self, _name: &str, _body: &Value, _create: bool) -> Result<()> {
        later("put template")
    }

    /// `GET /_template/{name}`: `{name: body}`; an empty name is all. 404 is `Ok` of an empty object when a name has no
    /// wildcard: the edge answers 404 with `{}`.
    pub fn get_templates(&self, _name: &str) -> Result<Map<String, Value>> {
        later("get template")
    }

    pub fn delete_template(&self, _name: &str) -> Result<()> {
        later("delete template")
    }

    /// `PUT /_index_template/{name}`.
    pub fn put_index_template(&self, _name: &str, _body: &Value, _create: bool) -> Result<()> {
        later("put index template")
    }

    /// The body of `GET /_index_template/{name}`: `{"index_templates": [...]}`; 404 `resource_not_found_exception`.
    pub fn get_index_templates(&self, _name: &str) -> Result<Value> {
        later("get index template")
    }

    pub fn delete_index_template(&self, _name: &str) -> Result<()> {
        later("delete index template")
    }

    /// The body of `POST /_index_template/_simulate_index/{name}`; `body` is an index template that is not there yet.
    pub fn simulate_index_template(&self, _index: &str, _body: Option<&Value>) -> Result<Value> {
        later("simulate index template")
    }

    /// The body of `POST /_index_template/_simulate[/{name}]`.
    pub fn simulate_template(&self, _name: Option<&str>, _body: Option<&Value>) -> Result<Value> {
        later("simulate template")
    }

    pub fn put_component_template(&self, _name: &str, _body: &Value, _create: bool) -> Result<()> {
        later("put component template")
    }

    /// `{"component_templates": [...]}`; 404 `resource_not_found_exception`.
    pub fn get_component_templates(&self, _name: &str) -> Result<Value> {
        later("get component template")
    }

    pub fn delete_component_template(&self, _name: &str) -> Result<()> {
        later("delete component template")
    }
}

// Documents.
impl Node {
    /// Carries out the operations, in the order of each document's shard; never fails as a whole but for a cluster block.
    pub fn bulk(&self, _request: BulkRequest<'_>) -> Result<BulkResponse> {
        later("bulk")
    }

    /// One write of any kind (`_doc`, `_create`, `_update`, `DELETE`). For `Delete` of a missing document `Ok` with status 404.
    pub fn write(
        &self,
        _operation: BulkOperation<'_>,
        _refresh: RefreshPolicy,
        _pipeline: Option<&str>,
    ) -> Result<WriteResponse> {
        later("write")
    }

    pub fn get(&self, _request: &GetRequest<'_>) -> Result<GetResponse> {
        later("get")
    }

    /// One answer per request, in order.
    pub fn mget(&self, requests: &[GetRequest<'_>]) -> Vec<Result<GetResponse>> {
        requests.iter().map(|request| self.get(request)).collect()
    }
}

// Searches arrive with `limber_search::SearchRequest`:
//   search(expression, options, &SearchRequest, scroll keep-alive) / count / msearch / scroll / clear_scroll.

// Shards' upkeep and statistics.
impl Node {
    pub fn refresh(&self, _expression: &str, _options: IndicesOptions) -> Result<BroadcastResponse> {
        later("refresh")
    }

    /// `force`: commit even when nothing changed.
    pub fn flush(
        &self,
        _expression: &str,
        _options: IndicesOptions,
        _force: bool,
    ) -> Result<BroadcastResponse> {
        later("flush")
    }

    /// Blocks until the merges are done.
    pub fn force_merge(
        &self,
        _expression: &str,
        _options: IndicesOptions,
        _request: &ForceMergeRequest,
    ) -> Result<BroadcastResponse> {
        later("force merge")
    }

    /// The body of `GET /{index}/_segments`.
    pub fn segments(&self, _expression: &str, _options: IndicesOptions) -> Result<Value> {
        later("segments")
    }

    /// Waits as asked, at most `timeout_ms`.
    pub fn cluster_health(&self, _request: &HealthRequest) -> Result<HealthResponse> {
        later("cluster health")
    }

    /// The body of `GET /_cluster/state/{metrics}/{index}`; `metrics` is the comma list or `_all`.
    pub fn cluster_state(
        &self,
        _metrics: &str,
        _expression: &str,
        _options: IndicesOptions,
    ) -> Result<Value> {
        later("cluster state")
    }

    /// `{"persistent": {..}, "transient": {..}}`, flat keys; `defaults` is added when asked for.
    pub fn cluster_settings(&self, _include_defaults: bool) -> Result<Value> {
        later("cluster settings")
    }

    /// `PUT /_cluster/settings`: answers what was set, flat: `{"persistent": {..}, "transient": {..}}`.
    pub fn put_cluster_settings(&self, _body: &Value) -> Result<Value> {
        later("put cluster settings")
    }
}
