//! Component templates: parts of composable templates.
//!
//! Source: `MetadataIndexTemplateService`.

use limber_mapping::{ObjectParser, RequestError};
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use super::template::{
    TemplateBody, Templates, check_template_name, components_of, deprecated, integer, not_found, object_of,
    remove, select,
};
use crate::api::Result;

impl Templates {
    pub(crate) fn put_component(&mut self, name: &str, body: &Value, create: bool) -> Result<()> {
        check_template_name(name)?;
        let mut shown = Map::new();
        for (key, value) in object_of(body, "a component template")? {
            match key.as_str() {
                "template" => {
                    let mut parts = TemplateBody::default();
                    parts.read_all(value)?;
                    parts.check()?;
                    parts.check_mappings(&self.analysis)?;
                    shown.insert("template".into(), Value::Object(parts.to_json()));
                }
                "version" => drop(shown.insert(key.clone(), integer(key, value)?)),
                "_meta" => drop(shown.insert(key.clone(), value.clone())),
                "deprecated" => drop(shown.insert(key.clone(), deprecated(value)?)),
                other => return Err(ObjectParser::new("component_template").unknown(other)),
            }
        }
        if !shown.contains_key("template") {
            return Err(ObjectParser::required("template"));
        }
        if create && self.components.contains_key(name) {
            return Err(RequestError::illegal_argument(format!(
                "component template [{name}] already exists"
            )));
        }
        self.components.insert(name.to_owned(), Value::Object(shown));
        Ok(())
    }

    pub(crate) fn get_components(&self, name: &str) -> Result<Value> {
        let found = select(&self.components, name);
        if found.is_empty() && !name.is_empty() && !wildcard::is_pattern(name) {
            return Err(not_found("component template matching", name));
        }
        let mut list = Vec::with_capacity(found.len());
        for (name, body) in found {
            limber_mapping::claim_tree(body)?;
            list.push(json!({"name": name, "component_template": body}));
        }
        Ok(json!({"component_templates": list}))
    }

    pub(crate) fn delete_component(&mut self, name: &str) -> Result<()> {
        for part in name.split(',').map(str::trim) {
            if select(&self.components, part).is_empty() {
                // An unknown name is refused below, even if a template may do without it.
                continue;
            }
            let users: Vec<&String> = self
                .composable
                .iter()
                .filter(|(_, template)| {
                    components_of(template).any(|component| wildcard::matches(part, component))
                })
                .map(|(name, _)| name)
                .collect();
            if !users.is_empty() {
                let list: Vec<&str> = users.iter().map(|name| name.as_str()).collect();
                return Err(RequestError::illegal_argument(format!(
                    "component templates [{part}] cannot be removed as they are still in use by index templates [{}]",
                    list.join(", ")
                )));
            }
        }
        remove(&mut self.components, name, |part| not_found("", part))
    }
}
