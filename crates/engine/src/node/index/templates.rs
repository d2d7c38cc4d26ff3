//! Stores, shows, deletes and simulates templates.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::api::Result;
use crate::catalog::{Catalog, Templates};
use crate::node::Node;

impl Node {
    fn change_templates(&self, change: impl FnOnce(&Catalog, &mut Templates) -> Result<()>) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let catalog = self.catalog.load_full();
        let mut templates = catalog.templates.clone();
        change(&catalog, &mut templates)?;
        self.change_state(|state| state.templates = templates.clone())?;
        self.publish(|catalog| catalog.templates = templates);
        Ok(())
    }

    /// Carries out `PUT /_template/{name}` (legacy templates).
    pub fn put_template(&self, name: &str, body: &Value, create: bool) -> Result<()> {
        self.change_templates(|_, templates| templates.put_legacy(name, body, create))
    }

    /// Carries out `GET /_template/{name}`: returns `{name: body}`; an empty name means all. The result is
    /// empty for a missing name without wildcards, which the REST layer reports as not found.
    pub fn get_templates(&self, name: &str) -> Result<Map<String, Value>> {
        Ok(self.catalog.load().templates.get_legacy(name))
    }

    /// Carries out `DELETE _template/{name}` for a name or pattern. Fails with `NotFound` for a missing name.
    pub fn delete_template(&self, name: &str) -> Result<()> {
        self.change_templates(|_, templates| templates.delete_legacy(name))
    }

    /// Carries out `PUT /_index_template/{name}`.
    pub fn put_index_template(&self, name: &str, body: &Value, create: bool) -> Result<()> {
        self.change_templates(|catalog, templates| {
            templates.put_composable(name, body, create)?;
            let left = streams_without_template(catalog, templates);
            if left.is_empty() {
                return Ok(());
            }
            let put = &templates.composable[name];
            let patterns = put["index_patterns"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Err(RequestError::illegal_argument(format!(
                "composable template [{name}] with index patterns [{}], priority [{}] would cause data streams [{}] to no longer match a \
                 data stream template",
                patterns.collect::<Vec<_>>().join(", "),
                put["priority"],
                left.join(", ")
            )))
        })
    }

    /// Returns the body of `GET /_index_template/{name}`: `{"index_templates": [...]}`. Fails with
    /// `resource_not_found_exception` (`NotFound`).
    pub fn get_index_templates(&self, name: &str) -> Result<Value> {
        self.catalog.load().templates.get_composable(name)
    }

    /// Carries out `DELETE _index_template/{name}` for names and patterns. Refuses to delete a template that
    /// a data stream needs. Fails with `NotFound` for a missing name.
    pub fn delete_index_template(&self, name: &str) -> Result<()> {
        self.change_templates(|catalog, templates| {
            let before: Vec<String> = templates.composable.keys().cloned().collect();
            templates.delete_composable(name)?;
            let left = streams_without_template(catalog, templates);
            if left.is_empty() {
                return Ok(());
            }
            let gone = before.iter().filter(|name| !templates.composable.contains_key(*name));
            Err(RequestError::illegal_argument(format!(
                "unable to remove composable templates [{}] as they are in use by a data streams [{}]",
                gone.map(String::as_str).collect::<Vec<_>>().join(", "),
                left.join(", ")
            )))
        })
    }

    /// Returns the body of `POST /_index_template/_simulate_index/{name}`; `body` is an index template that
    /// is not stored.
    pub fn simulate_index_template(&self, index: &str, body: Option<&Value>) -> Result<Value> {
        self.catalog.load().templates.simulate_index(index, body)
    }

    /// Returns the body of `POST /_index_template/_simulate[/{name}]`.
    pub fn simulate_template(&self, name: Option<&str>, body: Option<&Value>) -> Result<Value> {
        self.catalog.load().templates.simulate(name, body)
    }

    /// Carries out `PUT _component_template/{name}`. With `create` an existing one is an error.
    pub fn put_component_template(&self, name: &str, body: &Value, create: bool) -> Result<()> {
        self.change_templates(|_, templates| templates.put_component(name, body, create))
    }

    /// Returns `{"component_templates": [...]}`. Fails with `resource_not_found_exception` (`NotFound`).
    pub fn get_component_templates(&self, name: &str) -> Result<Value> {
        self.catalog.load().templates.get_components(name)
    }

    /// Carries out `DELETE _component_template/{name}` for names and patterns. Refuses to delete a component
    /// that an index template uses.
    pub fn delete_component_template(&self, name: &str) -> Result<()> {
        self.change_templates(|_, templates| templates.delete_component(name))
    }
}

/// Returns the data streams that no template would match any more.
fn streams_without_template<'a>(catalog: &'a Catalog, templates: &Templates) -> Vec<&'a str> {
    let is_left = |name: &&str| {
        catalog.templates.makes_data_streams(name).is_some() && templates.makes_data_streams(name).is_none()
    };
    catalog.data_streams.keys().map(|name| &**name).filter(is_left).collect()
}
