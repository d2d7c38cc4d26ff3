//! What a request may add to a definition, beyond what it may contain: "does this new part make sense?"
//!
//! What was accepted earlier is not checked again, so that every index can be opened.

use serde_json::Value;

use super::templates::Template;
use super::tree::{Node, Root};
use super::{parse, runtime};
use crate::RequestError;
use crate::json::java::mapper_parsing;
use crate::reserved;
use crate::settings::MappingSettings;

/// Whether a definition may not declare a field of this name at its root.
fn is_metadata(name: &str) -> bool {
    reserved::METADATA.contains(&name) || name == "_doc_count"
}

/// Checks the parts of `update` that `present` does not have.
///
/// # Errors
/// A field has the name of metadata, or no field could get the mapping of a dynamic template.
pub(crate) fn check_additions(
    update: &Root,
    present: Option<&Root>,
    settings: &MappingSettings,
) -> Result<(), RequestError> {
    let properties = update.object.properties.iter();
    for (name, node) in properties.filter(|(name, _)| is_metadata(name)) {
        if present.is_some_and(|present| present.object.properties.contains_key(name)) {
            continue;
        }
        return Err(mapper_parsing(match node {
            Node::Object(_) => format!("Field [{name}] is defined both as an object and a field"),
            Node::Leaf(_) | Node::Alias(_) => format!("Field [{name}] is defined more than once"),
        }));
    }
    let known = present.and_then(|present| present.dynamic_templates.as_deref()).unwrap_or_default();
    let templates = update.dynamic_templates.as_deref().unwrap_or_default();
    for template in templates.iter().filter(|template| !known.contains(template)) {
        limber_work::check()?;
        check_template(template, settings).map_err(parse::wrapped)?;
    }
    Ok(())
}

/// Checks that a template's mapping is valid for one of the types of JSON values that it matches.
///
/// Source: `RootObjectMapper#validateDynamicTemplate`.
fn check_template(template: &Template, settings: &MappingSettings) -> Result<(), RequestError> {
    // The names of fields cannot be guessed.
    if template.uses_names() {
        return Ok(());
    }
    let types = template.json_types();
    let name = format!("__dynamic__{}", template.name);
    let mut last_error = None;
    for json_type in &types {
        match check_for_type(template, &name, json_type, settings) {
            // An index may have a template that it never uses.
            Err(error) if !error.is_unsupported() => last_error = Some(error),
            _ => return Ok(()),
        }
    }
    let Some(cause) = last_error else { return Ok(()) };
    let reason = format!(
        "dynamic template [{}] has invalid content [{}], attempted to validate it with the following match_mapping_type: [{}]",
        template.name,
        template.content(),
        types.join(", ")
    );
    Err(RequestError::illegal_argument(reason).caused_by(cause))
}

fn check_for_type(
    template: &Template,
    name: &str,
    json_type: &str,
    settings: &MappingSettings,
) -> Result<(), RequestError> {
    let kind = match json_type {
        "string" if template.is_runtime => "keyword",
        "string" => "text",
        "double" if !template.is_runtime => "float",
        other => other,
    };
    let mapping = template.mapping_for(name, kind);
    let kind = mapping.get("type").and_then(Value::as_str).unwrap_or(kind).to_owned();
    if template.is_runtime {
        return match runtime::is_kind(&kind) {
            true => runtime::check(name, &mapping),
            false => Err(RequestError::illegal_argument(format!("No runtime field found for type [{kind}]"))),
        };
    }
    let mut mapping = mapping;
    mapping.insert("type".to_owned(), kind.clone().into());
    match parse::node(&Value::Object(mapping), name, 1, settings) {
        Err(error) if error.reason.starts_with("The mapper type [") => {
            Err(RequestError::illegal_argument(format!("No mapper found for type [{kind}]")))
        }
        parsed => parsed.map(drop),
    }
}
