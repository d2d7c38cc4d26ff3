//! The templates, pipelines and policies that a node has from the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::Result;
use crate::lifecycle::Policy;
use crate::node::Node;

/// What is put into an empty node: names, and the bodies of the requests that would put them.
#[derive(Debug, Default)]
pub struct Stack {
    /// Ingest pipelines.
    pub pipelines: Vec<(&'static str, Value)>,
    /// Lifecycle policies.
    pub policies: Vec<(&'static str, Value)>,
    /// Component templates.
    pub components: Vec<(&'static str, Value)>,
    /// Composable index templates, which may use these component templates.
    pub composable: Vec<(&'static str, Value)>,
}

impl Node {
    /// Whether this node contains nothing except security settings.
    pub fn is_empty(&self) -> bool {
        let state = self.state.load();
        let is_none = |bodies: &Value| bodies.as_object().is_none_or(Map::is_empty);
        state.indices.is_empty()
            && state.templates.legacy.is_empty()
            && state.templates.composable.is_empty()
            && state.templates.components.is_empty()
            && [&state.pipelines, &state.policies, &state.data_streams].into_iter().all(is_none)
    }

    /// Puts everything into an empty node with one write of the node's state, so that all or nothing is
    /// stored.
    ///
    /// # Errors
    /// Fails for bodies that the requests would refuse, when the node takes no changes, or when the state
    /// cannot be written.
    pub fn put_stack(&self, stack: &Stack) -> Result<()> {
        let snapshot = self.pipelines.snapshot();
        let pipelines = stack.pipelines.iter().map(|(id, body)| snapshot.compile(id, body));
        let pipelines = pipelines.collect::<Result<Vec<_>>>()?;
        let mut policies = BTreeMap::new();
        for (name, body) in &stack.policies {
            let mut policy = Policy::parse(body)?;
            policy.modified_ms = self.now_millis();
            policy.version = 1;
            policies.insert((*name).to_owned(), Arc::new(policy));
        }
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let mut templates = self.catalog.load_full().templates.clone();
        stack.components.iter().try_for_each(|(name, body)| templates.put_component(name, body, true))?;
        stack.composable.iter().try_for_each(|(name, body)| templates.put_composable(name, body, true))?;
        let stored: Map<String, Value> =
            policies.iter().map(|(name, policy)| (name.clone(), policy.to_json())).collect();
        self.change_state(|state| {
            state.templates = templates.clone();
            state.policies = Value::Object(stored);
            for (id, body) in &stack.pipelines {
                state.pipelines[*id] = body.clone();
            }
        })?;
        pipelines.into_iter().for_each(|pipeline| self.pipelines.keep(pipeline));
        self.lifecycles.policies.store(Arc::new(policies));
        self.publish(|catalog| catalog.templates = templates);
        Ok(())
    }
}
