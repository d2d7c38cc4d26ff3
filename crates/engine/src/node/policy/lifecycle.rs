//! Stores, shows and deletes lifecycle policies; explains, starts, stops, retries and removes lifecycles.
//!
//! Source: Elasticsearch's `TransportPutLifecycleAction`, `TransportExplainLifecycleAction`,
//! `IndexLifecycleExplainResponse`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use limber_mapping::{ErrorClass, ObjectParser, RequestError};
use limber_store::sync::Mutex;
use limber_text::{time_value, wildcard};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::lifecycle_round::execution_of;
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::environment::{LastTime, WallClockWatch, format_utc_millis};
use crate::lifecycle::{COMPLETE, LifecycleState, Policy, RUNNING, STOPPED, STOPPING, check_policy_name};
use crate::node::Node;
use crate::node::kept_state::state::NodeState;
use crate::settings::{FlatSettings, SettingsUpdate};

/// Maximum number of policies of a node. All of them are in one file.
const POLICIES_MAX: usize = 10_000;

/// State of the lifecycle rounds.
pub(in crate::node) struct Lifecycles {
    pub(in crate::node) policies: ArcSwap<BTreeMap<String, Arc<Policy>>>,
    /// The version of the catalog in which every index had begun its policy.
    pub(in crate::node) seen_version: AtomicU64,
    /// When the last round over all indices was.
    pub(in crate::node) last_round: LastTime,
    /// When the last round over the lifecycles of data streams was.
    pub(in crate::node) last_stream_round: LastTime,
    /// Notices when the wall clock is set, which changes the ages of indices.
    pub(in crate::node) wall_clock: WallClockWatch,
    /// When it was last set forward.
    pub(in crate::node) set_forward: LastTime,
    /// Results of the last rounds over data streams.
    pub(in crate::node) stream_rounds: Mutex<StreamRounds>,
    /// UUIDs of indices that were merged after their data stream was rolled over.
    pub(in crate::node) merged: Mutex<HashSet<Arc<str>>>,
}

/// Timing and failures of the rounds over data stream lifecycles, by the monotonic clock.
#[derive(Debug, Default)]
pub(in crate::node) struct StreamRounds {
    pub started_ms: Option<u64>,
    pub took_ms: Option<u64>,
    /// Time between the starts of the last two rounds.
    pub between_ms: Option<u64>,
    /// Backing indices that failed in the last round: since when (milliseconds since 1970), and the rounds.
    pub failed: HashMap<Arc<str>, (u64, u64)>,
}

impl NodeState {
    /// Stores what differs between two sets of policies. Stored ones that could not be read stay as they are.
    pub(in crate::node) fn change_policies(
        &mut self,
        before: &BTreeMap<String, Arc<Policy>>,
        next: &BTreeMap<String, Arc<Policy>>,
    ) {
        let Some(stored) = self.policies.as_object_mut() else { return };
        for name in before.keys().filter(|name| !next.contains_key(*name)) {
            stored.shift_remove(name);
        }
        for (name, policy) in next {
            if before.get(name).is_none_or(|known| !Arc::ptr_eq(known, policy)) {
                stored.insert(name.clone(), policy.to_json());
            }
        }
    }
}

impl Lifecycles {
    /// Reads the policies that the state stores. One that cannot be read, because its rules have become
    /// stricter, keeps the node from starting no more than a pipeline does: it stays stored, and its indices
    /// stay at their steps.
    pub(in crate::node) fn restored(state: &NodeState) -> Lifecycles {
        let mut policies = BTreeMap::new();
        for (name, body) in state.policies.as_object().into_iter().flatten() {
            match Policy::from_json(body) {
                Ok(policy) => drop(policies.insert(name.clone(), Arc::new(policy))),
                Err(error) => tracing::error!(policy = name, %error, "a stored policy cannot be read"),
            }
        }
        Lifecycles {
            policies: ArcSwap::from_pointee(policies),
            seen_version: AtomicU64::new(0),
            last_round: LastTime::default(),
            last_stream_round: LastTime::default(),
            stream_rounds: Mutex::default(),
            wall_clock: WallClockWatch::default(),
            set_forward: LastTime::default(),
            merged: Mutex::default(),
        }
    }
}

fn not_found(name: &str) -> RequestError {
    RequestError::not_found("resource_not_found_exception", format!("Lifecycle policy not found: {name}"))
}

/// Which indices `_ilm/explain` leaves out.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExplainFilter {
    /// Leaves out indices without a lifecycle policy.
    pub only_managed: bool,
    /// Leaves out indices whose step has not failed.
    pub only_errors: bool,
}

impl Node {
    pub(in crate::node) fn policy(&self, name: &str) -> Option<Arc<Policy>> {
        self.lifecycles.policies.load().get(name).cloned()
    }

    /// Changes the policies. Called with `changing` locked.
    fn change_policies(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, Arc<Policy>>) -> Result<()>,
    ) -> Result<()> {
        self.check_metadata_write_block()?;
        let before = self.lifecycles.policies.load_full();
        let mut policies = (*before).clone();
        change(&mut policies)?;
        self.change_state(|state| state.change_policies(&before, &policies))?;
        self.lifecycles.policies.store(Arc::new(policies));
        Ok(())
    }

    /// Carries out `PUT /_ilm/policy/{name}`.
    pub fn put_policy(&self, name: &str, body: &Value) -> Result<()> {
        check_policy_name(name)?;
        let mut policy = Policy::parse(body)?;
        policy.modified_ms = self.now_millis();
        policy.author = self.author()?;
        let _changing = self.changing.lock();
        self.change_policies(|policies| {
            let before = policies.get(name);
            if before.is_none() && policies.len() >= POLICIES_MAX {
                let reason = format!("there are [{POLICIES_MAX}] lifecycle policies already");
                return Err(RequestError::illegal_argument(reason));
            }
            policy.version = before.map_or(1, |before| before.version + 1);
            policies.insert(name.to_owned(), Arc::new(policy));
            Ok(())
        })
    }

    /// Returns the body of `GET /_ilm/policy/{names}`; an empty string means all.
    pub fn get_policies(&self, names: &str) -> Result<Value> {
        let policies = self.lifecycles.policies.load();
        let catalog = self.catalog.load();
        let templates = catalog.templates.by_policy()?;
        let mut shown = Map::new();
        for part in names.split(',').map(str::trim) {
            let mut found = policies
                .iter()
                .filter(|(name, _)| part.is_empty() || wildcard::matches(part, name))
                .peekable();
            if found.peek().is_none() && !part.is_empty() && !part.contains('*') {
                return Err(not_found(part));
            }
            for (name, policy) in found {
                work::check()?;
                let users = templates.get(name).map_or(&[][..], Vec::as_slice);
                let policy = show(&catalog, name, policy, users);
                limber_mapping::claim_tree(&policy)?;
                shown.insert(name.clone(), policy);
            }
        }
        Ok(Value::Object(shown))
    }

    /// Carries out `DELETE _ilm/policy/{name}`. Fails when an index uses the policy, and with `NotFound` for
    /// an unknown name.
    pub fn delete_policy(&self, name: &str) -> Result<()> {
        let _changing = self.changing.lock();
        let catalog = self.catalog.load();
        let users = users(&catalog, name);
        if !users.is_empty() {
            return Err(RequestError::illegal_argument(format!(
                "Cannot delete policy [{name}]. It is in use by one or more indices: [{}]",
                users.join(", ")
            )));
        }
        self.change_policies(|policies| policies.remove(name).map(drop).ok_or_else(|| not_found(name)))
    }

    /// Returns `RUNNING`, `STOPPING` or `STOPPED`.
    pub fn lifecycle_mode(&self) -> String {
        self.state.load().lifecycle_mode.clone()
    }

    /// Carries out `POST _ilm/start`: policies are carried out from the next round on.
    pub fn start_lifecycles(&self) -> Result<()> {
        self.change_lifecycle_mode(RUNNING)
    }

    /// Requests a stop. Steps that have begun are finished first, which the next round records.
    pub fn stop_lifecycles(&self) -> Result<()> {
        match self.lifecycle_mode() == STOPPED {
            true => Ok(()),
            false => self.change_lifecycle_mode(STOPPING),
        }
    }

    fn change_lifecycle_mode(&self, mode: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        self.change_state(|state| state.lifecycle_mode = mode.to_owned())
    }

    /// Records that everything that had begun is finished, unless lifecycles were started again meanwhile.
    pub(in crate::node) fn note_lifecycles_stopped(&self) -> Result<()> {
        let _changing = self.changing.lock();
        match self.lifecycle_mode() == STOPPING {
            true => self.change_state(|state| state.lifecycle_mode = STOPPED.to_owned()),
            false => Ok(()),
        }
    }

    /// Returns the body of `GET /{index}/_ilm/explain`.
    pub fn explain_lifecycles(
        &self,
        expression: &str,
        options: IndicesOptions,
        filter: ExplainFilter,
    ) -> Result<Value> {
        let mut shown = Map::new();
        let catalog = self.catalog.load();
        for index in catalog.resolve(expression, options)? {
            let policy = catalog.policy_of(&index);
            let has_failed =
                index.lifecycle.has_failed() || policy.is_some_and(|name| self.policy(name).is_none());
            if (filter.only_errors && !(policy.is_some() && has_failed))
                || (filter.only_managed && policy.is_none())
            {
                continue;
            }
            let body = match policy {
                Some(policy) => self.explain(&index, policy),
                None => json!({"index": &*index.name, "managed": false}),
            };
            shown.insert(index.name.to_string(), body);
        }
        Ok(json!({"indices": shown}))
    }

    fn explain(&self, index: &IndexMetadata, policy: &str) -> Value {
        let (state, now_ms) = (&index.lifecycle, self.now_millis());
        let age = |since_ms: u64| human_time(now_ms.saturating_sub(since_ms));
        let lifecycle_date_ms = index.lifecycle_date_ms();
        let mut body = json!({
            "index": &*index.name,
            "managed": true,
            // No setting lets the lifecycle skip an index.
            "skip": false,
            "policy": policy,
            "index_creation_date_millis": index.creation_date_ms,
            "time_since_index_creation": age(index.creation_date_ms),
        });
        if self.policy(policy).is_none() && !state.has_begun() {
            let reason = format!("policy [{policy}] does not exist");
            body["step_info"] = json!({"type": "illegal_argument_exception", "reason": reason});
            return body;
        }
        body["lifecycle_date_millis"] = lifecycle_date_ms.into();
        body["age"] = age(lifecycle_date_ms).into();
        for (name, value, since_ms) in [
            ("phase", &state.phase, state.phase_ms),
            ("action", &state.action, state.action_ms),
            ("step", &state.step, state.step_ms),
        ] {
            if !value.is_empty() {
                body[name] = value.as_str().into();
                body[format!("{name}_time_millis")] = since_ms.into();
            }
        }
        if let Some(step) = &state.failed_step {
            body["failed_step"] = step.as_str().into();
            body["is_auto_retryable_error"] = true.into();
        }
        if state.retries > 0 || state.failed_step.is_some() {
            body["failed_step_retry_count"] = state.retries.into();
        }
        if !state.step_info.is_null() {
            body["step_info"] = state.step_info.clone();
        }
        if let Some(execution) = state.phase_execution.as_object() {
            let mut shown = execution.clone();
            shown.shift_remove("author");
            body["phase_execution"] = shown.into();
        }
        body
    }

    /// Carries out `POST /{index}/_ilm/retry`: failed steps are retried at once.
    pub fn retry_lifecycles(&self, expression: &str) -> Result<()> {
        self.check_metadata_write_block()?;
        let options = IndicesOptions::METADATA;
        let indices = self.catalog.load().resolve(expression, options)?;
        if let Some(index) = indices.iter().find(|index| !index.lifecycle.has_failed()) {
            return Err(RequestError::illegal_argument(format!(
                "cannot retry an action for an index [{}] that has not encountered an error when running a Lifecycle Policy",
                index.name
            )));
        }
        for index in indices {
            let next = index.lifecycle.retried(self.now_millis());
            self.store_lifecycle(&index, next)?;
            self.advance(&index.name);
        }
        Ok(())
    }

    /// Carries out `POST /_ilm/move/{index}`: the index continues from another step of its policy.
    ///
    /// Source: Elasticsearch's `TransportMoveToStepAction`, `IndexLifecycleTransition#validateTransition`.
    ///
    /// # Errors
    /// Fails when the body lacks the steps, when the index has no policy or is not at the current step, or
    /// when its policy does not have the next step.
    pub fn move_to_step(&self, name: &str, body: &Value) -> Result<()> {
        self.check_metadata_write_block()?;
        let refused = |why: String| Err(RequestError::illegal_argument(why));
        let part = |step: &str, key: &str| body[step][key].as_str().map(str::to_owned);
        let required = |step: &str, key: &str| {
            part(step, key).ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "Required one of fields [{step}.{key}], but none were specified."
                ))
            })
        };
        for key in body.as_object().into_iter().flat_map(Map::keys) {
            if !matches!(key.as_str(), "current_step" | "next_step") {
                return Err(ObjectParser::new("move_to_step_request").unknown(key));
            }
        }
        let current = [
            required("current_step", "phase")?,
            required("current_step", "action")?,
            required("current_step", "name")?,
        ];
        let phase = required("next_step", "phase")?;
        let (action, step) = (part("next_step", "action"), part("next_step", "name"));
        let catalog = self.catalog.load();
        let (index, _) = catalog.single(name)?;
        let state = &index.lifecycle;
        let policy_name = catalog.policy_of(&index).map(str::to_owned);
        let Some(policy) = policy_name.as_deref().and_then(|policy| self.policy(policy)) else {
            return refused(format!("index [{name}] is not associated with an Index Lifecycle Policy"));
        };
        let policy_name = policy_name.unwrap_or_default();
        let place = [&state.phase, &state.action, &state.step].map(|part| match part.is_empty() {
            true => COMPLETE.to_owned(),
            false => part.clone(),
        });
        let shown = |[phase, action, name]: &[String; 3]| {
            json!({"phase": phase, "action": action, "name": name}).to_string()
        };
        if current != place {
            return refused(format!(
                "index [{name}] is not on current step [{}], currently: [{}]",
                shown(&current),
                shown(&place)
            ));
        }
        let known = policy.phase(&phase);
        let actions =
            known.into_iter().flat_map(|phase| &phase.actions).filter(|one| !one.steps().is_empty());
        let mut fitting = actions.filter(|one| action.as_deref().is_none_or(|action| one.name() == action));
        let found = fitting.find_map(|one| {
            let mut steps = one.steps().iter();
            let step = steps.find(|known| step.as_deref().is_none_or(|step| step == **known))?;
            Some((one.name(), *step))
        });
        let (Some(known), Some((action, step))) = (known, found) else {
            let wanted = [phase, action.unwrap_or_default(), step.unwrap_or_default()];
            return refused(format!(
                "step [{}] for index [{name}] with policy [{policy_name}] does not exist",
                shown(&wanted)
            ));
        };
        let mut next = state.at(known.name, action, step, self.now_millis());
        next.phase_execution = execution_of(&policy_name, &policy, known);
        self.store_lifecycle(&index, next)?;
        self.advance(&index.name);
        Ok(())
    }

    /// Carries out `POST /{index}/_ilm/remove`: the indices no longer have a policy. All of them lose its
    /// settings and their place in it in one step. Otherwise a policy that they get later, or after a crash
    /// in between, would go on from that place.
    pub fn remove_lifecycles(&self, expression: &str) -> Result<Value> {
        let mut flat = FlatSettings::new();
        flat.insert("index.lifecycle.*".into(), Value::Null);
        let update = SettingsUpdate::check(flat)?;
        self.change_catalog(|catalog| {
            let mut next = catalog.clone();
            for index in catalog.resolve(expression, IndicesOptions::METADATA)? {
                self.check_metadata_block(&index)?;
                let settled = self.with_settings(&index, &update, false)?;
                let removed = IndexMetadata { lifecycle: LifecycleState::default(), ..settled };
                next.indices.insert(index.name.clone(), Arc::new(removed));
            }
            Ok((next, ()))
        })?;
        Ok(json!({"has_failures": false, "failed_indexes": []}))
    }

    /// Stores how far an index has come in its policy, unless the index is gone or another index has its
    /// name.
    ///
    /// `state` is dropped if the lifecycle of `index` has changed since `index` was read, for instance
    /// because it was retried or removed.
    pub(in crate::node) fn store_lifecycle(
        &self,
        index: &IndexMetadata,
        state: LifecycleState,
    ) -> Result<()> {
        let stored = self.change_index(&index.name, &index.uuid, |current| {
            let changes = current.is_at_the_step_of(index) && current.lifecycle != state;
            Ok(changes.then(|| IndexMetadata { lifecycle: state, ..current.clone() }))
        });
        match stored {
            Err(error) if error.class == ErrorClass::NotFound => Ok(()),
            outcome => outcome,
        }
    }
}

impl IndexMetadata {
    /// Whether the index still is the one that was `seen`, at the same step of the same policy. Another index
    /// may have taken its name, or a user may have removed it from its policy.
    pub(in crate::node) fn is_at_the_step_of(&self, seen: &IndexMetadata) -> bool {
        self.uuid == seen.uuid
            && self.lifecycle == seen.lifecycle
            && self.typed.lifecycle.name == seen.typed.lifecycle.name
    }

    /// Returns when the ages of phases start to count: at the rollover, at the date in the settings, or at
    /// the creation.
    pub(in crate::node) fn lifecycle_date_ms(&self) -> u64 {
        let set = self.typed.lifecycle.origination_date_ms;
        self.lifecycle.lifecycle_date_ms.or(set).unwrap_or(self.creation_date_ms)
    }
}

/// Returns the indices that use a policy.
fn users<'a>(catalog: &'a Catalog, policy: &str) -> Vec<&'a str> {
    let indices = catalog.indices.values();
    let users = indices.filter(|index| index.typed.lifecycle.name.as_deref() == Some(policy));
    users.map(|index| &*index.name).collect()
}

/// `templates`: the names of the templates that use the policy.
fn show(catalog: &Catalog, name: &str, policy: &Policy, templates: &[&str]) -> Value {
    let is_by_template = |stream: &&Arc<str>| {
        catalog.templates.makes_data_streams(stream).is_some_and(|template| templates.contains(&template))
    };
    let streams: Vec<&str> = catalog.data_streams.keys().filter(is_by_template).map(|name| &**name).collect();
    json!({
        "version": policy.version,
        "modified_date": format_utc_millis(policy.modified_ms),
        "policy": policy.body(),
        "in_use_by": {"indices": users(catalog, name), "data_streams": streams, "composable_templates": templates},
    })
}

/// Formats milliseconds in the largest unit that is not below 1, with up to two fractional digits.
pub(in crate::node) fn human_time(ms: u64) -> String {
    match ms {
        0 => "0ms".to_owned(),
        ms => time_value::show_millis_to(ms, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::human_time;

    #[test]
    fn ages_in_words() {
        for (ms, expected) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_500, "1.5s"),
            (60_000, "1m"),
            (97_200, "1.62m"),
            (93_600_000, "1.08d"),
        ] {
            assert_eq!(human_time(ms), expected);
        }
    }
}
