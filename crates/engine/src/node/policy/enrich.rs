//! Stores, returns, deletes and executes enrich policies, and searches the enrich indices.
//!
//! Executing a policy creates a new index, fills it, and moves the policy's alias to it in one step. The
//! previous index is deleted afterwards. Sources are read with the rights of the user who executes the
//! policy; the enrich index is the server's own.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use limber_access as access;
use limber_mapping::{ErrorClass, RequestError};
use limber_search::{SearchRequest, UrlParameters};
use limber_store::sync::Mutex;
use limber_text::wildcard;
use serde_json::{Value, json};

use crate::api::*;
use crate::catalog::IndexMetadata;
use crate::enrich::{EnrichSource, Kind, Policy, check_name};
use crate::node::index::indices::limits_of;
use crate::node::index::resize::Copying;
use crate::node::kept_state::state::NodeState;
use crate::node::reading::placement::Placement;
use crate::node::{ByQueryRequest, Change, CopyDestination, CopyRouting, Node, Slices};
use crate::settings::FlatSettings;

/// Maximum number of policies of a node. All of them are in one file.
const POLICIES_MAX: usize = 1_000;
/// How many documents are copied at a time.
const BATCH: u32 = 10_000;
const ACTION: &str = "cluster:admin/xpack/enrich/execute";

impl Node {
    /// Returns the policies. A stored one that cannot be read any more is left out, and the others are used.
    fn enrich_policies(&self) -> Result<BTreeMap<String, Policy>> {
        let state = self.state.load();
        let mut policies = BTreeMap::new();
        for (name, body) in state.enrich_policies.as_object().into_iter().flatten() {
            limber_mapping::claim_tree(body)?;
            match Policy::parse(body) {
                Ok(policy) => drop(policies.insert(name.clone(), policy)),
                Err(error) => {
                    tracing::warn!(policy = name, %error, "a stored enrich policy cannot be read");
                }
            }
        }
        Ok(policies)
    }

    /// Returns how many policies are stored, and whether one of them has this name.
    fn stored_enrich_policies(&self, name: &str) -> (usize, bool) {
        let state = self.state.load();
        let stored = state.enrich_policies.as_object();
        stored.map_or((0, false), |stored| (stored.len(), stored.contains_key(name)))
    }

    /// Carries out `PUT _enrich/policy/{name}`.
    pub fn put_enrich_policy(&self, name: &str, body: &Value) -> Result<()> {
        check_name(name)?;
        let policy = Policy::parse(body)?;
        policy.check_levels()?;
        {
            // The user must be allowed to read the source indices, and the query must be valid.
            let _acting = access::acting("indices:data/read/search");
            self.catalog.load().resolve(&policy.indices.join(","), IndicesOptions::SEARCH)?;
        }
        self.enrich_source(&policy)?;
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let (count, is_there) = self.stored_enrich_policies(name);
        if is_there {
            let reason = format!("policy [{name}] already exists");
            return Err(RequestError::new(ErrorClass::Conflict, "resource_already_exists_exception", reason));
        }
        if count >= POLICIES_MAX {
            return Err(RequestError::illegal_argument(format!(
                "there are [{POLICIES_MAX}] enrich policies already"
            )));
        }
        self.change_state(|state| state.enrich_policies[name] = policy.to_json())
    }

    /// Returns the body of `GET _enrich/policy/{names}`; an empty string means all.
    pub fn get_enrich_policies(&self, names: &str) -> Result<Value> {
        let parts: Vec<&str> = names.split(',').map(str::trim).collect();
        let is_wanted =
            |name: &str| names.is_empty() || parts.iter().any(|part| wildcard::matches(part, name));
        let policies = self.enrich_policies()?;
        let mut shown = Vec::new();
        for (name, policy) in policies.iter().filter(|(name, _)| is_wanted(name)) {
            let policy = policy.shown(name);
            // The answer is a second copy.
            limber_mapping::claim_tree(&policy)?;
            shown.push(policy);
        }
        Ok(json!({ "policies": shown }))
    }

    /// Carries out `DELETE _enrich/policy/{name}`, which also deletes the policy's enrich indices, with the
    /// same write: a policy that is put again under the name must not find the documents of this one.
    pub fn delete_enrich_policy(&self, name: &str) -> Result<()> {
        let _using = self.use_policy(name)?;
        {
            let _changing = self.changing.lock();
            self.check_metadata_write_block()?;
            self.check_is_deletable(name)?;
        }
        let remove = |state: &mut NodeState| {
            if let Some(policies) = state.enrich_policies.as_object_mut() {
                policies.shift_remove(name);
            }
        };
        let beside = |state: &mut NodeState| -> Result<()> {
            // A pipeline may have been put since.
            self.check_is_deletable(name)?;
            remove(state);
            Ok(())
        };
        let made = self.made(name, None).join(",");
        let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::DELETE };
        if !made.is_empty() && access::aside(|| self.delete_index_beside(&made, options, beside))? {
            return Ok(());
        }
        let _changing = self.changing.lock();
        self.check_is_deletable(name)?;
        self.change_state(remove)
    }

    /// Checks that the policy exists and that no pipeline uses it. Called with `changing` locked.
    fn check_is_deletable(&self, name: &str) -> Result<()> {
        if !self.stored_enrich_policies(name).1 {
            return Err(missing(name));
        }
        let users: Vec<String> = self
            .pipelines
            .snapshot()
            .matching("")
            .iter()
            .filter(|entry| names_policy(&entry.pipeline.body, name))
            .map(|entry| entry.pipeline.id.to_string())
            .collect();
        if users.is_empty() {
            return Ok(());
        }
        let reason = format!(
            "Could not delete policy [{name}] because a pipeline is referencing it [{}]",
            users.join(", ")
        );
        Err(RequestError::new(ErrorClass::Conflict, "status_exception", reason))
    }

    /// Reserves the policy, so that no other request executes or deletes it meanwhile.
    ///
    /// Source: Elasticsearch's `EnrichPolicyLocks`.
    ///
    /// # Errors
    /// Fails with `TooManyRequests` when another request has reserved the policy.
    fn use_policy(&self, name: &str) -> Result<PolicyInUse> {
        match self.enrich_in_use.lock().insert(name.to_owned()) {
            true => Ok(PolicyInUse { in_use: self.enrich_in_use.clone(), name: name.to_owned() }),
            false => {
                let reason = format!(
                    "Could not obtain lock because policy execution for [{name}] is already in progress."
                );
                Err(RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason))
            }
        }
    }

    /// Creates and fills a new index for the policy. Returns the id of the task unless `waits` is set.
    pub fn execute_enrich_policy(self: &Arc<Self>, name: &str, waits: bool) -> Result<Option<String>> {
        let using = self.use_policy(name)?;
        let policies = self.enrich_policies()?;
        let policy = policies.get(name).ok_or_else(|| missing(name))?.clone();
        let description = format!("policy [{name}]");
        let cancelled = Arc::new(AtomicBool::new(false));
        if waits {
            let _task = self.tasks.register_cancellable(ACTION, description, cancelled.clone());
            self.fill(name, &policy, &cancelled)?;
            return Ok(None);
        }
        let (node, name, of_task) = (self.clone(), name.to_owned(), cancelled.clone());
        let work = move || {
            let _using = using;
            node.fill(&name, &policy, &cancelled)?;
            Ok(json!({"phase": "COMPLETE"}))
        };
        self.tasks.spawn_cancellable(ACTION, description, of_task, work).map(Some)
    }

    /// Creates and fills the policy's new index, and replaces the previous one with it.
    fn fill(self: &Arc<Self>, name: &str, policy: &Policy, cancelled: &Arc<AtomicBool>) -> Result<()> {
        policy.check_levels()?;
        let made = format!("{}-{}", Policy::alias(name), self.now_millis());
        let body = json!({
            "settings": {
                "number_of_shards": 1, "number_of_replicas": 0, "hidden": true, "refresh_interval": "-1",
            },
            "mappings": {
                "dynamic": false,
                "_meta": {"enrich_policy_name": name, "enrich_match_field": policy.match_field},
                "properties": properties(&policy.match_field, self.match_mapping(policy)?),
            },
        });
        // If anything fails before the index is finished, dropping this deletes it.
        let _copying = Copying::begin(self, &made)?;
        let one = ActiveCopies::Number(1);
        access::aside(|| self.create_index_marked(&made, &body, true, one))?;
        let made = self.unfinished_copy(&made)?;
        self.copy_into(&made, policy, cancelled)?;
        access::aside(|| self.replace_made(name, &made, cancelled))
    }

    /// Finishes an index that was filled, moves the policy's alias to it, and deletes the previous one.
    fn replace_made(&self, name: &str, made: &IndexMetadata, cancelled: &Arc<AtomicBool>) -> Result<()> {
        self.refresh_wholly(&made.name)?;
        let request = ForceMergeRequest { max_num_segments: Some(1), ..ForceMergeRequest::default() };
        self.force_merge(&made.name, IndicesOptions::METADATA_OPEN_CLOSED, &request)?;
        if cancelled.load(Ordering::Relaxed) {
            return Err(RequestError::bad_request("task_cancelled_exception", "the execution was cancelled"));
        }
        self.finish_copy(made, FlatSettings::new())?;
        let alias = Policy::alias(name);
        let before = self.catalog.load().aliases.get(alias.as_str()).cloned().unwrap_or_default();
        let mut actions: Vec<Value> =
            before.iter().map(|index| json!({"remove": {"index": &**index, "alias": alias}})).collect();
        actions.push(json!({"add": {"index": &*made.name, "alias": alias, "is_hidden": true}}));
        if let Err(error) = self.update_aliases(&json!({ "actions": actions })) {
            if let Err(left) = self.delete_index(&made.name, IndicesOptions::DELETE) {
                tracing::warn!(index = %made.name, error = %left, "the next execution deletes this index");
            }
            return Err(error);
        }
        self.delete_made(name, Some(&*made.name))
    }

    fn copy_into(
        self: &Arc<Self>,
        made: &IndexMetadata,
        policy: &Policy,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<()> {
        let request = ByQueryRequest {
            source: policy.indices.join(","),
            remote: None,
            options: IndicesOptions::SEARCH,
            routing: None,
            preference: None,
            search: self.enrich_source(policy)?,
            change: Change::Copy(CopyDestination {
                index: made.name.to_string(),
                kind: OperationKind::Create,
                version_type: VersionType::Internal,
                routing: CopyRouting::Discard,
                require_alias: false,
                is_own: true,
                made: Some(made.uuid.clone()),
            }),
            script: None,
            pipeline: Some("_none".to_owned()),
            max_docs: None,
            proceeds_on_conflicts: false,
            refresh: false,
            copies: ActiveCopies::Number(1),
            timeout_ms: 0,
            requests_per_second: f32::INFINITY,
            slices: Slices::Number(1),
        };
        let response = self.by_query(request, cancelled.clone())?;
        response.check_is_whole("could not copy the documents of the policy")
    }

    /// Returns the search that reads a policy's source indices.
    fn enrich_source(&self, policy: &Policy) -> Result<SearchRequest> {
        let mut fields: Vec<&str> = policy.enrich_fields.iter().map(String::as_str).collect();
        fields.push(&policy.match_field);
        let query = policy.query.clone().unwrap_or_else(|| json!({"match_all": {}}));
        let body = json!({ "query": query, "_source": fields, "size": BATCH, "sort": ["_doc"] });
        SearchRequest::parse(&body, &UrlParameters(Vec::new()))
    }

    /// Returns the mapping of the match field. For a range policy it is that of the first index that has the
    /// field.
    fn match_mapping(&self, policy: &Policy) -> Result<Value> {
        match policy.kind {
            Kind::Match => return Ok(json!({"type": "keyword", "doc_values": false})),
            Kind::Geo => return Ok(json!({"type": "geo_shape"})),
            Kind::Range => {}
        }
        let _acting = access::acting("indices:data/read/search");
        for metadata in self.catalog.load().resolve(&policy.indices.join(","), IndicesOptions::SEARCH)? {
            let live = self.live(&metadata)?;
            let whole = live.core.mapping.load_full();
            let mapping = match limits_of(&metadata)? {
                Some(limits) => live.core.seen.of(&whole, &limits)?,
                None => whole,
            };
            let Some(field) = mapping.field(&policy.match_field) else { continue };
            let kind = field.type_name();
            if kind.ends_with("_range") {
                return Ok(json!({"type": kind, "doc_values": false}));
            }
            return Err(RequestError::illegal_argument(format!(
                "Field '{}' has type [{kind}] which doesn't appear to be a range type",
                policy.match_field
            )));
        }
        Err(RequestError::illegal_argument(format!(
            "Could not find the match field [{}] in the source indices",
            policy.match_field
        )))
    }

    /// Deletes a policy's enrich indices, except `kept`.
    fn delete_made(&self, name: &str, kept: Option<&str>) -> Result<()> {
        let doomed = self.made(name, kept);
        doomed.iter().try_for_each(|index| self.delete_index(index, IndicesOptions::DELETE))
    }

    /// Returns the names of a policy's enrich indices, except `kept`.
    fn made(&self, name: &str, kept: Option<&str>) -> Vec<String> {
        let pattern = format!("{}-", Policy::alias(name));
        let is_made = |index: &str| {
            index
                .strip_prefix(&pattern)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        let catalog = self.catalog.load();
        let names = catalog.indices.keys().filter(|index| is_made(index) && kept != Some(&***index));
        names.map(|index| index.to_string()).collect()
    }

    /// Returns the body of `GET _enrich/_stats`.
    pub fn enrich_stats(&self) -> Value {
        let executing: Vec<Value> = self
            .tasks
            .list()
            .iter()
            .filter(|task| task.action == ACTION)
            .map(|task| {
                let shown = self.tasks.show(task, self.node_id(), true);
                let name = shown["description"].as_str().unwrap_or_default();
                let name = name.trim_start_matches("policy [").trim_end_matches(']').to_owned();
                json!({"name": name, "task": shown})
            })
            .collect();
        json!({
            "executing_policies": executing,
            "coordinator_stats": [{
                "node_id": self.node_id(),
                "queue_size": 0,
                "remote_requests_current": 0,
                "remote_requests_total": 0,
                "executed_searches_total": self.enrich_searches.load(Ordering::Relaxed),
            }],
            // There is no cache: every lookup searches the index.
            "cache_stats": [],
        })
    }
}

/// A policy that is reserved for execution or deletion until this is dropped.
struct PolicyInUse {
    in_use: Arc<Mutex<HashSet<String>>>,
    name: String,
}

impl Drop for PolicyInUse {
    fn drop(&mut self) {
        self.in_use.lock().remove(&self.name);
    }
}

impl EnrichSource for Node {
    fn check_executed(&self, name: &str) -> Result<()> {
        match self.catalog.load().aliases.contains_key(Policy::alias(name).as_str()) {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "no enrich index exists for policy with name [{name}]"
            ))),
        }
    }

    fn matches(
        &self,
        name: &str,
        value: &Value,
        max_matches: u32,
        shape_relation: &str,
    ) -> Result<Vec<String>> {
        let state = self.state.load();
        let policy = match &state.enrich_policies[name] {
            Value::Null => return Err(missing(name)),
            body => Policy::parse(body)?,
        };
        let field = policy.match_field.as_str();
        let query = match (policy.kind, value) {
            (Kind::Geo, place) => {
                json!({"geo_shape": {field: {"shape": point(place)?, "relation": shape_relation}}})
            }
            (_, Value::Array(values)) => json!({"terms": {field: values}}),
            (_, value) => json!({"term": {field: {"value": value}}}),
        };
        let body = json!({
            "query": {"constant_score": {"filter": query}},
            "size": max_matches, "sort": ["_doc"], "track_total_hits": false,
        });
        let request = SearchRequest::parse(&body, &UrlParameters(Vec::new()))?;
        self.enrich_searches.fetch_add(1, Ordering::Relaxed);
        let found = access::aside(|| {
            let cancelled = limber_work::cancelled().unwrap_or_default();
            self.search(
                &Policy::alias(name),
                IndicesOptions::SEARCH,
                Placement::default(),
                &request,
                None,
                cancelled,
            )
        });
        let (found, _) = found.map_err(|error| error.to_request_error())?;
        let text = |source: Vec<u8>| String::from_utf8(source).ok();
        Ok(found.hits.into_iter().filter_map(|hit| hit.source.and_then(text)).collect())
    }
}

/// Converts a location to a point shape: a string `lat,lon` or `POINT (..)`, `[lon, lat]`, or `{lat, lon}`.
fn point(value: &Value) -> Result<Value> {
    let at = |longitude: &Value, latitude: &Value| {
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        Some(json!({"type": "Point", "coordinates": [number(longitude)?, number(latitude)?]}))
    };
    let shape = match value {
        Value::Array(items) if items.len() >= 2 => at(&items[0], &items[1]),
        Value::Object(members) if members.contains_key("type") => Some(value.clone()),
        Value::Object(members) => {
            members.get("lon").zip(members.get("lat")).and_then(|(lon, lat)| at(lon, lat))
        }
        Value::String(text) => match text.split_once(',').filter(|_| !text.contains('(')) {
            Some((latitude, longitude)) => at(&longitude.into(), &latitude.into()),
            None => Some(value.clone()),
        },
        _ => None,
    };
    shape.ok_or_else(|| RequestError::illegal_argument(format!("[{value}] is no place")))
}

/// Returns the properties of a mapping with one field, which may be inside objects.
fn properties(path: &str, definition: Value) -> Value {
    match path.split_once('.') {
        None => json!({ path: definition }),
        Some((object, rest)) => json!({ object: {"properties": properties(rest, definition)} }),
    }
}

/// Whether any `enrich` processor of the pipeline, however deeply nested, uses the policy.
fn names_policy(body: &Value, name: &str) -> bool {
    match body {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| key == "enrich" && value["policy_name"] == name || names_policy(value, name)),
        Value::Array(items) => items.iter().any(|item| names_policy(item, name)),
        _ => false,
    }
}

fn missing(name: &str) -> RequestError {
    RequestError::not_found("resource_not_found_exception", format!("policy [{name}] not found"))
}
