//! The parts of the node's state that snapshots contain: persistent settings, templates, pipelines of both
//! kinds, scripts, lifecycle policies. Restoring them leaves entries that the snapshot does not have.
//! Snapshots do not say who put a policy; its author is the user who restores it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use limber_script::{ScriptLimits, StoredScript};
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::catalog::Templates;
use crate::lifecycle::Policy;
use crate::node::Node;
use crate::node::kept_state::state::NodeState;
use crate::node::kept_state::state_file::AtStake;
use crate::node::life::segment_memory::check_budget;
use crate::search_pipeline::SearchPipeline;
use crate::settings::ClusterSettings;

/// A snapshot's global state, merged into that of the node, and not visible yet.
pub(super) struct MergedState {
    settings: ClusterSettings,
    script_limits: ScriptLimits,
    templates: Templates,
    scripts: HashMap<String, StoredScript>,
    policies: BTreeMap<String, Arc<Policy>>,
}

impl Node {
    pub(super) fn global_state(&self) -> Value {
        let state = self.state.load();
        let mut policies = state.policies.clone();
        for policy in policies.as_object_mut().into_iter().flat_map(Map::values_mut) {
            policy.as_object_mut().map(|policy| policy.shift_remove("author"));
        }
        json!({
            "persistent_settings": state.persistent_settings,
            "templates": state.templates.legacy,
            "index_templates": state.templates.composable,
            "component_templates": state.templates.components,
            "pipelines": state.pipelines,
            "search_pipelines": state.search_pipelines,
            "scripts": state.scripts,
            "policies": policies,
        })
    }

    /// Checks that a snapshot's global state is valid in this node.
    pub(super) fn check_global_state(&self, saved: &Value) -> Result<()> {
        self.with_saved_settings(saved)?;
        for (id, body) in saved["pipelines"].as_object().into_iter().flatten() {
            self.pipelines.snapshot().compile(id, body)?;
        }
        for (id, body) in saved["search_pipelines"].as_object().into_iter().flatten() {
            SearchPipeline::parse(id, body, &self.scripts)?;
        }
        self.with_saved_policies(saved).map(drop)
    }

    fn with_saved_settings(&self, saved: &Value) -> Result<ClusterSettings> {
        let given = json!({"persistent": saved["persistent_settings"]});
        match saved["persistent_settings"].as_object().is_some_and(|given| !given.is_empty()) {
            true => Ok(self.settings.load().update(&given)?.0),
            false => Ok((**self.settings.load()).clone()),
        }
    }

    fn with_saved_policies(&self, saved: &Value) -> Result<BTreeMap<String, Arc<Policy>>> {
        let mut policies = (**self.lifecycles.policies.load()).clone();
        let author = self.author()?;
        for (name, body) in saved["policies"].as_object().into_iter().flatten() {
            let mut policy = Policy::from_json(body)?;
            policy.author = author.clone();
            policies.insert(name.clone(), Arc::new(policy));
        }
        Ok(policies)
    }

    /// Merges a snapshot's global state into that of the node, in one step. [`Node::publish_restored`] does
    /// so together with indices.
    pub(super) fn restore_global_state(&self, saved: &Value) -> Result<()> {
        let changing = self.changing.lock();
        let mut next = (*self.state.load_full()).clone();
        let merged = self.merge_global_state(saved, &mut next)?;
        self.write_state(next, AtStake::default())?;
        let is_blocked = self.use_global_state(saved, merged);
        drop(changing);
        if is_blocked {
            self.settle_all_writes();
        }
        Ok(())
    }

    /// Merges a snapshot's global state into the state that is about to be written. Called with `changing`
    /// held.
    pub(super) fn merge_global_state(&self, saved: &Value, state: &mut NodeState) -> Result<MergedState> {
        self.check_global_state(saved)?;
        let (settings, policies) = (self.with_saved_settings(saved)?, self.with_saved_policies(saved)?);
        check_budget(&settings, self.ledger.limit_bytes)?;
        let script_limits = settings.script_limits()?;
        let mut templates = self.catalog.load().templates.clone();
        put_bodies(&mut templates.legacy, &saved["templates"]);
        put_bodies(&mut templates.composable, &saved["index_templates"]);
        put_bodies(&mut templates.components, &saved["component_templates"]);
        state.persistent_settings = settings.persistent.clone();
        state.templates = templates.clone();
        put_members(&mut state.pipelines, &saved["pipelines"]);
        put_members(&mut state.search_pipelines, &saved["search_pipelines"]);
        put_members(&mut state.scripts, &saved["scripts"]);
        state.change_policies(&self.lifecycles.policies.load(), &policies);
        let scripts = crate::node::kept_state::scripts::restored(&state.scripts);
        Ok(MergedState { settings, script_limits, templates, scripts, policies })
    }

    /// Makes a merged state visible, which is durable. Returns whether the cluster takes no writes from now
    /// on. Called with `changing` held.
    pub(super) fn use_global_state(&self, saved: &Value, merged: MergedState) -> bool {
        let MergedState { settings, script_limits, templates, scripts, policies } = merged;
        crate::node::life::open::apply_limits(&self.ledger, &settings);
        self.apply_segment_memory(&settings);
        self.scripts.set_limits(script_limits);
        let is_blocked = self.use_settings(settings);
        // What is stored is not refused any more.
        limber_work::suspended(|| self.pipelines.restore(&saved["pipelines"]));
        self.scripts.set_stored(scripts);
        self.lifecycles.policies.store(Arc::new(policies));
        self.publish(|catalog| catalog.templates = templates);
        is_blocked
    }
}

fn put_bodies(into: &mut BTreeMap<String, Value>, saved: &Value) {
    for (name, body) in saved.as_object().into_iter().flatten() {
        into.insert(name.clone(), body.clone());
    }
}

fn put_members(into: &mut Value, saved: &Value) {
    let Some(members) = saved.as_object() else { return };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    if let Some(all) = into.as_object_mut() {
        all.extend(members.iter().map(|(name, body)| (name.clone(), body.clone())));
    }
}
