//! Files of settings, as flat keys.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// Reads a file of settings; adds them as flat keys.
///
/// # Errors
/// The file cannot be read or has another form.
pub fn read(path: &Path, settings: &mut Map<String, Value>) -> Result<()> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration {}", path.display()))?;
    let value: Value =
        serde_yaml_ng::from_str(&text).with_context(|| format!("{} is not valid YAML", path.display()))?;
    match value {
        Value::Null => Ok(()),
        Value::Object(object) => {
            flatten("", object, settings);
            Ok(())
        }
        _ => bail!("{} must contain settings, one `key: value` per line", path.display()),
    }
}

fn flatten(prefix: &str, object: Map<String, Value>, flat: &mut Map<String, Value>) {
    for (key, value) in object {
        let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) => flatten(&path, inner, flat),
            leaf => {
                flat.insert(path, leaf);
            }
        }
    }
}
