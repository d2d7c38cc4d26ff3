//! `_cat/component_templates`.

use limber_engine::Result;
use serde_json::Value;

use super::App;
use super::table::{Cell, Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("name", "n", "component template name"),
    text("version", "v", "version"),
    text("alias_count", "a", "alias count"),
    text("mapping_count", "m", "mapping count"),
    text("settings_count", "s", "settings count"),
    text("metadata_count", "me", "metadata count"),
    text("included_in", "i", "included in"),
];

/// Answers `GET _cat/component_templates`.
pub fn component_templates(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let pattern = request.param("name").unwrap_or("*");
    let components = app.node.get_component_templates("*")?;
    let templates = app.node.get_index_templates("*")?;
    for entry in list(&components, "component_templates") {
        let name = entry["name"].as_str().unwrap_or_default();
        if !limber_text::wildcard::matches(pattern, name) {
            continue;
        }
        let body = &entry["component_template"];
        let count = |value: &Value| Cell::Count(value.as_object().map_or(0, |object| object.len() as u64));
        let uses = |template: &&Value| {
            let composed_of = template["index_template"]["composed_of"].as_array();
            composed_of.is_some_and(|names| names.iter().any(|used| used == name))
        };
        let users: Vec<&str> = list(&templates, "index_templates")
            .iter()
            .filter(uses)
            .filter_map(|one| one["name"].as_str())
            .collect();
        let settings = body["template"]["settings"].as_object().cloned().unwrap_or_default();
        let settings = limber_engine::settings::flatten(&Value::Object(settings))?;
        table.rows.push(vec![
            Cell::from(name),
            body["version"].as_u64().map_or(Cell::Null, Cell::Count),
            count(&body["template"]["aliases"]),
            count(&body["template"]["mappings"]["properties"]),
            Cell::Count(settings.len() as u64),
            count(&body["_meta"]),
            Cell::from(format!("[{}]", users.join(", "))),
        ]);
    }
    table.render(request)
}

fn list<'v>(body: &'v Value, key: &str) -> &'v [Value] {
    body[key].as_array().map_or(&[], Vec::as_slice)
}
