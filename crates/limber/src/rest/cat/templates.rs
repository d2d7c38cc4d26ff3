//! `_cat/templates`: legacy and composable templates.

use limber_engine::Result;
use serde_json::Value;

use super::App;
use super::table::{Cell, Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("name", "n", "template name"),
    text("index_patterns", "t", "template index patterns"),
    text("order", "o,p", "template application order/priority number"),
    text("version", "v", "version"),
    text("composed_of", "c", "component templates comprising index template"),
];

fn list(value: &Value) -> String {
    let items: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    format!("[{}]", items.join(", "))
}

/// Answers `GET _cat/templates`.
pub fn templates(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let wanted = request.param("name").unwrap_or("*");
    let selected =
        |name: &str| wanted.split(',').any(|pattern| limber_text::wildcard::matches(pattern, name));
    let version = |value: &Value| match value {
        Value::Null => Cell::Null,
        other => Cell::from(other.to_string()),
    };
    let scalar = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    for (name, body) in app.node.get_templates("")? {
        if selected(&name) {
            table.rows.push(vec![
                Cell::from(name.as_str()),
                Cell::from(list(&body["index_patterns"])),
                Cell::from(body.get("order").map_or("0".to_owned(), scalar)),
                version(&body["version"]),
                Cell::from(""),
            ]);
        }
    }
    for template in app.node.get_index_templates("")?["index_templates"].as_array().into_iter().flatten() {
        let name = template["name"].as_str().unwrap_or("");
        let body = &template["index_template"];
        if selected(name) {
            table.rows.push(vec![
                Cell::from(name),
                Cell::from(list(&body["index_patterns"])),
                Cell::from(body.get("priority").map_or("0".to_owned(), scalar)),
                version(&body["version"]),
                Cell::from(list(&body["composed_of"])),
            ]);
        }
    }
    table.rows.sort_by(|a, b| format!("{:?}", a[0]).cmp(&format!("{:?}", b[0])));
    table.render(request)
}
