//! Bodies that create the indices that were read again.

use serde_json::{Map, Value, json};

use crate::model::{Params, bare_text};
use crate::track::builtin;
use crate::track::load::LoadError;
use crate::track::load::template::TemplateContext;

/// Settings that belong to the index that was read, and not to a copy of it.
const EPHEMERAL: [&str; 8] =
    ["uuid", "creation_date", "version", "provided_name", "store", "history", "resize", "hidden"];

/// Settings that become track parameters of the same name.
const PARAMETERS: [&str; 2] = ["number_of_replicas", "number_of_shards"];

/// Returns the body of an index with these settings (below `index`) and mappings, as a Jinja template.
pub(super) fn index(settings: &Value, mappings: &Value) -> String {
    template(json!({"mappings": mappings, "settings": {"index": kept(settings)}}), settings)
}

/// Returns the composable template of a data stream whose newest backing index has these settings and
/// mappings.
pub(super) fn data_stream(name: &str, settings: &Value, mappings: &Value) -> String {
    let mut mappings = mappings.clone();
    if let Some(mappings) = mappings.as_object_mut() {
        // The server adds this field itself and rejects it in a request.
        mappings.shift_remove("_data_stream_timestamp");
    }
    let body = json!({
        "index_patterns": [name],
        "data_stream": {},
        "priority": 500,
        "template": {"mappings": mappings, "settings": {"index": kept(settings)}},
    });
    template(body, settings)
}

/// Returns the mapping of the built-in track of access logs.
///
/// # Errors
/// None occur: the built-in track is part of the program.
pub(super) fn of_access_logs() -> Result<Value, LoadError> {
    let context = TemplateContext {
        files: builtin::files("log_ingest")?,
        params: Params::new(),
        build_flavor: "default".to_owned(),
        serverless_operator: false,
        now_s: 0.0,
    };
    let rendered = context.render_body("index.json")?;
    let body: Value =
        serde_json::from_str(&rendered.text).map_err(|error| LoadError::invalid(error.to_string()))?;
    Ok(body["mappings"].clone())
}

fn kept(settings: &Value) -> Map<String, Value> {
    let mut kept = settings.as_object().cloned().unwrap_or_default();
    kept.retain(|name, _| !EPHEMERAL.contains(&name.as_str()));
    for name in PARAMETERS {
        if let Some(value) = kept.get_mut(name) {
            *value = marker(name).into();
        }
    }
    kept
}

/// Returns a placeholder for a parameter, used while the rest is escaped for Jinja.
fn marker(name: &str) -> String {
    format!("\u{1}{name}\u{1}")
}

/// Returns the body as a string in which Jinja sees only the parameters.
fn template(body: Value, settings: &Value) -> String {
    let mut safe = escaped(&format!("{body:#}\n"));
    for name in PARAMETERS {
        let value = settings.get(name).map_or_else(String::new, bare_text);
        // In JSON, the control characters of the marker are written as escapes.
        let escaped = Value::from(marker(name)).to_string();
        safe = safe.replace(&escaped, &format!("\"{{{{ {name} | default({value}) }}}}\""));
    }
    safe
}

/// Returns JSON in which Jinja sees nothing but text. The JSON must be indented, so that `{{` occurs only
/// inside of strings.
pub(super) fn escaped(json: &str) -> String {
    let mut text = json.to_owned();
    for opening in ["{{", "{%", "{#"] {
        text = text.replace(opening, &format!("{}{opening}{}", '\u{2}', '\u{2}'));
    }
    let mut safe = String::with_capacity(text.len());
    for part in text.split('\u{2}') {
        match part {
            "{{" | "{%" | "{#" => safe.push_str(&format!("{{{{ '{part}' }}}}")),
            other => safe.push_str(other),
        }
    }
    safe
}
