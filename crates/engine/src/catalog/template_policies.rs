//! Lifecycle policies of templates: "which templates give their indices this policy?"

use std::collections::{BTreeMap, HashMap};

use limber_work as work;
use serde_json::Value;

use super::template::{Templates, components_of};
use crate::api::Result;
use crate::settings::{flatten, normalize_index_keys};

impl Templates {
    /// Returns the names of the templates whose settings use each lifecycle policy.
    pub(crate) fn by_policy(&self) -> Result<BTreeMap<String, Vec<&str>>> {
        // What each component says about it, read once.
        let mut said: HashMap<&str, Option<Value>> = HashMap::new();
        for (name, component) in &self.components {
            work::check()?;
            said.insert(name, policy_in(&component["template"])?);
        }
        let mut templates: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, body) in &self.composable {
            work::check()?;
            let own = policy_in(&body["template"])?;
            let of_components =
                components_of(body).filter_map(|component| said.get(component)?.as_ref()).last();
            if let Some(Value::String(policy)) = own.as_ref().or(of_components) {
                templates.entry(policy.clone()).or_default().push(name);
            }
        }
        Ok(templates)
    }
}

/// Returns what the settings of a template or component say about the lifecycle policy: its name, or null if
/// they remove it.
fn policy_in(template: &Value) -> Result<Option<Value>> {
    let settings = normalize_index_keys(flatten(&template["settings"])?);
    Ok(settings.get("index.lifecycle.name").cloned())
}
