//! The parts of the node's state for repositories and snapshot lifecycles.

use serde_json::{Value, json};

use crate::node::kept_state::state::NodeState;

impl NodeState {
    /// Returns the definitions by name.
    pub(in crate::node) fn repositories(&self) -> &Value {
        &self.repositories
    }

    pub(in crate::node) fn put_repository(&mut self, name: &str, definition: Value) {
        self.repositories[name] = definition;
    }

    pub(in crate::node) fn delete_repository(&mut self, name: &str) {
        if let Some(repositories) = self.repositories.as_object_mut() {
            repositories.shift_remove(name);
        }
    }

    /// Returns `policies` by id, `mode` and `retention`.
    pub(in crate::node) fn snapshot_lifecycle(&self) -> &Value {
        &self.snapshot_lifecycle
    }

    pub(in crate::node) fn set_snapshot_lifecycle(&mut self, key: &str, value: Value) {
        self.snapshot_lifecycle[key] = value;
    }

    pub(in crate::node) fn put_snapshot_policy(&mut self, id: &str, policy: Value) {
        if !self.snapshot_lifecycle["policies"].is_object() {
            self.snapshot_lifecycle["policies"] = json!({});
        }
        self.snapshot_lifecycle["policies"][id] = policy;
    }

    pub(in crate::node) fn delete_snapshot_policy(&mut self, id: &str) {
        if let Some(policies) = self.snapshot_lifecycle["policies"].as_object_mut() {
            policies.shift_remove(id);
        }
    }
}
