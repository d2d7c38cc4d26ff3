//! Templates: legacy ones, and composable ones made of components.
//!
//! Source: `MetadataIndexTemplateService`. A composable template that matches hides all legacy ones; of several, the one
//! with the highest priority counts.

use std::collections::BTreeMap;

use limber_mapping::{Mapping, RequestError};
use serde_json::{Map, Value, json};

use super::Alias;
use super::merge_json::merge_mappings;
use super::names::{has_wildcard, wildcard_matches};
use crate::api::Result;
use crate::settings::{FlatSettings, IndexSettings, flatten, nest, normalize_index_keys};

/// `settings`, `mappings`, `aliases` of any template or of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TemplateBody {
    pub settings: Option<FlatSettings>,
    pub mappings: Option<Map<String, Value>>,
    pub aliases: Option<BTreeMap<String, Alias>>,
}

/// What a new index gets from templates; the request's own settings, mappings and aliases come on top.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResolvedTemplate {
    pub settings: FlatSettings,
    pub mappings: Map<String, Value>,
    pub aliases: BTreeMap<String, Alias>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Templates {
    /// Each is the validated body as `GET` shows it, settings nested.
    pub(crate) legacy: BTreeMap<String, Value>,
    pub(crate) composable: BTreeMap<String, Value>,
    pub(crate) components: BTreeMap<String, Value>,
}

fn text_list(key: &str, value: &Value) -> Result<Vec<Value>> {
    let bad = || RequestError::parsing(format!("[{key}] is a text or a list of texts, not [{value}]"));
    match value {
        Value::String(_) => Ok(vec![value.clone()]),
        Value::Array(items) if items.iter().all(Value::is_string) => Ok(items.clone()),
        _ => Err(bad()),
    }
}

fn integer(key: &str, value: &Value) -> Result<Value> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    };
    number
        .map(Value::from)
        .ok_or_else(|| RequestError::parsing(format!("[{key}] is an integer, not [{value}]")))
}

impl TemplateBody {
    /// Reads one of the three keys; `Ok(false)` when it is another key.
    pub(crate) fn read(&mut self, key: &str, value: &Value) -> Result<bool> {
        match key {
            "settings" => self.settings = Some(normalize_index_keys(flatten(value)?)),
            "mappings" => self.mappings = Some(mappings_of(value)?),
            "aliases" => {
                let object = match value {
                    Value::Null => &Map::new(),
                    Value::Object(object) => object,
                    _ => return Err(RequestError::parsing("[aliases] is an object")),
                };
                let mut aliases = BTreeMap::new();
                for (name, body) in object {
                    super::names::check_alias_name(name)?;
                    aliases.insert(name.clone(), Alias::parse(body)?);
                }
                self.aliases = Some(aliases);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn to_json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        if let Some(settings) = &self.settings {
            object.insert("settings".into(), nest(settings));
        }
        if let Some(mappings) = &self.mappings {
            object.insert("mappings".into(), Value::Object(mappings.clone()));
        }
        if let Some(aliases) = &self.aliases {
            object.insert("aliases".into(), aliases_json(aliases));
        }
        object
    }

    fn of(value: &Value) -> TemplateBody {
        let mut body = TemplateBody::default();
        for (key, value) in value.as_object().into_iter().flatten() {
            // What is stored was checked when it was put.
            let _ = body.read(key, value);
        }
        body
    }

    fn check(&self) -> Result<()> {
        match &self.settings {
            Some(settings) => crate::settings::check_new(settings),
            None => Ok(()),
        }
    }

    /// Checks that an index could be made of it: the mappings under the settings' own analysis and limits.
    fn check_mappings(&self) -> Result<()> {
        let mut resolved = ResolvedTemplate::default();
        resolved.lay(self);
        resolved.check_mappings()
    }
}

pub(crate) fn aliases_json(aliases: &BTreeMap<String, Alias>) -> Value {
    Value::Object(aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect())
}

/// The body of `mappings`; a type name around it (`{"_doc": {...}}`) is refused as in Elasticsearch.
fn mappings_of(value: &Value) -> Result<Map<String, Value>> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(object) if object.contains_key("_doc") => Err(RequestError::illegal_argument(
            "The mapping definition cannot be nested under a type [_doc] unless include_type_name is set to true.",
        )),
        Value::Object(object) => Ok(object.clone()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(RequestError::new(
                400,
                "mapper_parsing_exception",
                "Failed to parse mapping: not an object",
            )),
        },
        _ => {
            Err(RequestError::new(400, "mapper_parsing_exception", "Failed to parse mapping: not an object"))
        }
    }
}

impl ResolvedTemplate {
    pub(crate) fn lay(&mut self, body: &TemplateBody) {
        for (key, value) in body.settings.iter().flatten() {
            match value.is_null() {
                true => drop(self.settings.shift_remove(key)),
                false => drop(self.settings.insert(key.clone(), value.clone())),
            }
        }
        if let Some(mappings) = &body.mappings {
            merge_mappings(&mut self.mappings, mappings);
        }
        for (name, alias) in body.aliases.iter().flatten() {
            self.aliases.insert(name.clone(), alias.clone());
        }
    }

    fn check_mappings(&self) -> Result<()> {
        if self.mappings.is_empty() {
            return Ok(());
        }
        let typed = IndexSettings::from_flat(&self.settings)?;
        let settings = typed.mapping_settings(&self.settings)?;
        Mapping::parse(&Value::Object(self.mappings.clone()), &settings).map(drop)
    }

    fn to_json(&self) -> Value {
        json!({"settings": nest(&self.settings), "mappings": self.mappings, "aliases": aliases_json(&self.aliases)})
    }
}

fn patterns_match(template: &Value, index: &str) -> bool {
    let patterns = template["index_patterns"].as_array();
    patterns.into_iter().flatten().filter_map(Value::as_str).any(|pattern| wildcard_matches(pattern, index))
}

fn object_of<'a>(body: &'a Value, what: &str) -> Result<&'a Map<String, Value>> {
    body.as_object().ok_or_else(|| RequestError::parsing(format!("{what} is an object")))
}

fn check_template_name(name: &str) -> Result<()> {
    let invalid = |why: &str| {
        Err(RequestError::new(
            400,
            "invalid_index_template_exception",
            format!("index_template [{name}] invalid, cause [Validation Failed: 1: {why};]"),
        ))
    };
    if name.contains(' ') {
        return invalid("name must not contain a space");
    }
    if name.contains([',', '#', '*']) {
        return invalid("name must not contain ',', '#' or '*'");
    }
    if name.starts_with('_') {
        return invalid("name must not start with '_'");
    }
    if name.chars().any(char::is_uppercase) {
        return invalid("name must be lower cased");
    }
    Ok(())
}

fn select<'a>(map: &'a BTreeMap<String, Value>, name: &str) -> Vec<(&'a String, &'a Value)> {
    let patterns: Vec<&str> = name.split(',').map(str::trim).collect();
    map.iter()
        .filter(|(key, _)| {
            name.is_empty()
                || patterns.iter().any(|pattern| *pattern == "_all" || wildcard_matches(pattern, key))
        })
        .collect()
}

fn remove(
    map: &mut BTreeMap<String, Value>,
    name: &str,
    missing: impl Fn(&str) -> RequestError,
) -> Result<()> {
    let mut gone = Vec::new();
    for part in name.split(',').map(str::trim) {
        let found: Vec<String> = select(map, part).into_iter().map(|(name, _)| name.clone()).collect();
        if found.is_empty() && part != "*" {
            return Err(missing(part));
        }
        gone.extend(found);
    }
    gone.iter().for_each(|name| drop(map.remove(name)));
    Ok(())
}

// Legacy templates.
impl Templates {
    pub(crate) fn put_legacy(&mut self, name: &str, body: &Value, create: bool) -> Result<()> {
        check_template_name(name)?;
        let mut parts = TemplateBody::default();
        let (mut patterns, mut order, mut version) = (None, Value::from(0), None);
        for (key, value) in object_of(body, "a template")? {
            match key.as_str() {
                "index_patterns" => patterns = Some(text_list(key, value)?),
                "template" => patterns = Some(text_list(key, value)?),
                "order" => order = integer(key, value)?,
                "version" => version = Some(integer(key, value)?),
                "_meta" => {}
                _ if parts.read(key, value)? => {}
                _ => {
                    return Err(RequestError::new(
                        400,
                        "parse_exception",
                        format!("unknown key [{key}] in the template "),
                    ));
                }
            }
        }
        let Some(patterns) = patterns.filter(|patterns| !patterns.is_empty()) else {
            return Err(RequestError::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: index patterns are missing;",
            ));
        };
        parts.check()?;
        parts.check_mappings()?;
        if create && self.legacy.contains_key(name) {
            return Err(RequestError::illegal_argument(format!("index_template [{name}] already exists")));
        }
        let mut shown = Map::new();
        shown.insert("order".into(), order);
        version.map(|version| shown.insert("version".into(), version));
        shown.insert("index_patterns".into(), Value::Array(patterns));
        shown.insert("settings".into(), nest(parts.settings.as_ref().unwrap_or(&Map::new())));
        shown.insert("mappings".into(), Value::Object(parts.mappings.clone().unwrap_or_default()));
        shown.insert("aliases".into(), aliases_json(parts.aliases.as_ref().unwrap_or(&BTreeMap::new())));
        self.legacy.insert(name.to_owned(), Value::Object(shown));
        Ok(())
    }

    pub(crate) fn get_legacy(&self, name: &str) -> Map<String, Value> {
        select(&self.legacy, name).into_iter().map(|(name, body)| (name.clone(), body.clone())).collect()
    }

    pub(crate) fn delete_legacy(&mut self, name: &str) -> Result<()> {
        remove(&mut self.legacy, name, |part| {
            RequestError::new(
                404,
                "index_template_missing_exception",
                format!("index_template [{part}] missing"),
            )
        })
    }
}

// Component templates.
impl Templates {
    pub(crate) fn put_component(&mut self, name: &str, body: &Value, create: bool) -> Result<()> {
        check_template_name(name)?;
        let mut shown = Map::new();
        for (key, value) in object_of(body, "a component template")? {
            match key.as_str() {
                "template" => {
                    let mut parts = TemplateBody::default();
                    for (key, value) in object_of(value, "[template]")? {
                        if !parts.read(key, value)? {
                            return Err(unknown_field("template", key));
                        }
                    }
                    parts.check()?;
                    shown.insert("template".into(), Value::Object(parts.to_json()));
                }
                "version" => drop(shown.insert(key.clone(), integer(key, value)?)),
                "_meta" => drop(shown.insert(key.clone(), value.clone())),
                "deprecated" if !value.as_bool().unwrap_or(true) => {}
                other => return Err(unknown_field("component_template", other)),
            }
        }
        if !shown.contains_key("template") {
            return Err(RequestError::illegal_argument("Required [template]"));
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
        if found.is_empty() && !name.is_empty() && !has_wildcard(name) {
            return Err(not_found("component template matching", name));
        }
        let list: Vec<Value> =
            found.into_iter().map(|(name, body)| json!({"name": name, "component_template": body})).collect();
        Ok(json!({"component_templates": list}))
    }

    pub(crate) fn delete_component(&mut self, name: &str) -> Result<()> {
        for part in name.split(',').map(str::trim) {
            let users: Vec<&String> = self
                .composable
                .iter()
                .filter(|(_, template)| {
                    components_of(template).any(|component| wildcard_matches(part, component))
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

fn unknown_field(parser: &str, field: &str) -> RequestError {
    RequestError::new(400, "x_content_parse_exception", format!("[{parser}] unknown field [{field}]"))
}

fn not_found(what: &str, name: &str) -> RequestError {
    let reason = if what.is_empty() { name.to_owned() } else { format!("{what} [{name}] not found") };
    RequestError::new(404, "resource_not_found_exception", reason)
}

fn components_of(template: &Value) -> impl Iterator<Item = &str> {
    template["composed_of"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

// Composable templates.
impl Templates {
    fn parse_composable(&self, name: &str, body: &Value) -> Result<Value> {
        let mut shown = Map::new();
        let mut parts = TemplateBody::default();
        let mut ignored_components = Vec::new();
        for (key, value) in object_of(body, "an index template")? {
            match key.as_str() {
                "index_patterns" | "composed_of" => {
                    drop(shown.insert(key.clone(), Value::Array(text_list(key, value)?)));
                }
                "ignore_missing_component_templates" => {
                    ignored_components = text_list(key, value)?;
                    shown.insert(key.clone(), Value::Array(ignored_components.clone()));
                }
                "priority" | "version" => drop(shown.insert(key.clone(), integer(key, value)?)),
                "_meta" => drop(shown.insert(key.clone(), value.clone())),
                "allow_auto_create" => drop(shown.insert(key.clone(), value.clone())),
                "template" => {
                    for (key, value) in object_of(value, "[template]")? {
                        if !parts.read(key, value)? {
                            return Err(unknown_field("template", key));
                        }
                    }
                    parts.check()?;
                    shown.insert("template".into(), Value::Object(parts.to_json()));
                }
                "data_stream" => return Err(RequestError::unsupported("[data_stream] of an index template")),
                "deprecated" if !value.as_bool().unwrap_or(true) => {}
                other => return Err(unknown_field("index_template", other)),
            }
        }
        let patterns = shown.get("index_patterns").and_then(Value::as_array);
        if patterns.is_none_or(Vec::is_empty) {
            return Err(RequestError::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: index patterns are missing;",
            ));
        }
        if shown.get("priority").and_then(Value::as_i64).is_some_and(|priority| priority < 0) {
            return Err(RequestError::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: index template priority must be >= 0;",
            ));
        }
        let shown = Value::Object(shown);
        let missing: Vec<&str> = components_of(&shown)
            .filter(|component| !self.components.contains_key(*component))
            .filter(|component| !ignored_components.iter().any(|ignored| ignored == component))
            .collect();
        if !missing.is_empty() {
            return Err(invalid_template(
                name,
                &format!(
                    "index template [{name}] specifies component templates {missing:?} that do not exist"
                )
                .replace('"', ""),
            ));
        }
        Ok(shown)
    }

    pub(crate) fn put_composable(&mut self, name: &str, body: &Value, create: bool) -> Result<()> {
        check_template_name(name)?;
        if create && self.composable.contains_key(name) {
            return Err(RequestError::illegal_argument(format!("index template [{name}] already exists")));
        }
        let shown = self.parse_composable(name, body)?;
        self.lay_composable(&shown).check_mappings()?;
        self.check_priority(name, &shown)?;
        self.composable.insert(name.to_owned(), shown);
        Ok(())
    }

    /// Two composable templates whose patterns can match one name must differ in priority.
    fn check_priority(&self, name: &str, template: &Value) -> Result<()> {
        let priority = template["priority"].as_i64().unwrap_or(0);
        let conflicts: Vec<(&String, &Value)> = self
            .composable
            .iter()
            .filter(|(other, body)| {
                *other != name
                    && body["priority"].as_i64().unwrap_or(0) == priority
                    && overlap(template, body)
            })
            .collect();
        let Some((other, _)) = conflicts.first() else { return Ok(()) };
        let list = |template: &Value| {
            let patterns =
                template["index_patterns"].as_array().into_iter().flatten().filter_map(Value::as_str);
            format!("[{}]", patterns.collect::<Vec<_>>().join(", "))
        };
        let names: Vec<&str> = conflicts.iter().map(|(name, _)| name.as_str()).collect();
        let with: Vec<String> =
            conflicts.iter().map(|(name, body)| format!("{name} => {}", list(body))).collect();
        let _ = other;
        Err(RequestError::illegal_argument(format!(
            "index template [{name}] has index patterns {} matching patterns from existing templates [{}] with patterns ({}) that \
             have the same priority [{priority}], multiple index templates may not match during index creation, please use a different priority",
            list(template),
            names.join(","),
            with.join(","),
        )))
    }

    pub(crate) fn get_composable(&self, name: &str) -> Result<Value> {
        let found = select(&self.composable, name);
        if found.is_empty() && !name.is_empty() && !has_wildcard(name) {
            return Err(not_found("index template matching", name));
        }
        let list: Vec<Value> = found
            .into_iter()
            .map(|(name, body)| {
                let mut body = body.clone();
                if let Some(object) = body.as_object_mut() {
                    object.entry("composed_of").or_insert_with(|| json!([]));
                }
                json!({"name": name, "index_template": body})
            })
            .collect();
        Ok(json!({"index_templates": list}))
    }

    pub(crate) fn delete_composable(&mut self, name: &str) -> Result<()> {
        remove(&mut self.composable, name, |part| {
            RequestError::new(
                404,
                "index_template_missing_exception",
                format!("index_template [{part}] missing"),
            )
        })
    }

    fn lay_composable(&self, template: &Value) -> ResolvedTemplate {
        let mut resolved = ResolvedTemplate::default();
        for component in components_of(template) {
            if let Some(component) = self.components.get(component) {
                resolved.lay(&TemplateBody::of(&component["template"]));
            }
        }
        resolved.lay(&TemplateBody::of(&template["template"]));
        resolved
    }

    fn best_composable(&self, index: &str) -> Option<(&String, &Value)> {
        self.composable
            .iter()
            .filter(|(_, template)| patterns_match(template, index))
            .max_by_key(|(_, template)| template["priority"].as_i64().unwrap_or(0))
    }

    /// What a new index of that name starts from.
    pub(crate) fn resolve(&self, index: &str) -> ResolvedTemplate {
        if let Some((_, template)) = self.best_composable(index) {
            return self.lay_composable(template);
        }
        let mut matching: Vec<&Value> =
            self.legacy.values().filter(|template| patterns_match(template, index)).collect();
        matching.sort_by_key(|template| template["order"].as_i64().unwrap_or(0));
        let mut resolved = ResolvedTemplate::default();
        for template in matching {
            resolved.lay(&TemplateBody::of(template));
        }
        resolved
    }

    /// `allow_auto_create` of the template that would be used.
    pub(crate) fn allows_auto_create(&self, index: &str) -> Option<bool> {
        self.best_composable(index).and_then(|(_, template)| template["allow_auto_create"].as_bool())
    }

    /// `_simulate_index`: the result for an index of that name, with `body` as one more template.
    pub(crate) fn simulate_index(&self, index: &str, body: Option<&Value>) -> Result<Value> {
        let mut templates = self.clone();
        if let Some(body) = body {
            let name = format!("simulate_index_template_{index}");
            let shown = templates.parse_composable(&name, body)?;
            templates.composable.insert(name, shown);
        }
        let Some((name, template)) = templates.best_composable(index) else {
            return Ok(json!({"template": templates.resolve(index).to_json(), "overlapping": []}));
        };
        let resolved = templates.lay_composable(template).to_json();
        Ok(
            json!({"template": resolved, "overlapping": templates.overlapping(name, |other| patterns_match(other, index))}),
        )
    }

    /// `_simulate`: the result of a template that exists or is given.
    pub(crate) fn simulate(&self, name: Option<&str>, body: Option<&Value>) -> Result<Value> {
        let template = match (body, name) {
            (Some(body), _) => self.parse_composable(name.unwrap_or("simulate_template"), body)?,
            (None, Some(name)) => self.composable.get(name).cloned().ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "unable to simulate template [{name}] that does not exist"
                ))
            })?,
            (None, None) => {
                return Err(RequestError::illegal_argument(
                    "a template name or a body is required to simulate a template",
                ));
            }
        };
        let overlapping = self.overlapping(name.unwrap_or(""), |other| overlap(&template, other));
        Ok(json!({"template": self.lay_composable(&template).to_json(), "overlapping": overlapping}))
    }

    fn overlapping(&self, name: &str, is_overlapping: impl Fn(&Value) -> bool) -> Vec<Value> {
        let legacy = self.legacy.iter();
        let composable = self.composable.iter().filter(|(other, _)| *other != name);
        legacy
            .chain(composable)
            .filter(|(_, other)| is_overlapping(other))
            .map(|(name, other)| json!({"name": name, "index_patterns": other["index_patterns"]}))
            .collect()
    }
}

fn invalid_template(name: &str, why: &str) -> RequestError {
    RequestError::new(
        400,
        "invalid_index_template_exception",
        format!("index_template [{name}] invalid, cause [{why}]"),
    )
}

/// Whether some name can match both templates.
fn overlap(a: &Value, b: &Value) -> bool {
    let patterns = |template: &'_ Value| -> Vec<String> {
        template["index_patterns"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let others = patterns(b);
    patterns(a)
        .iter()
        .any(|left| others.iter().any(|right| patterns_overlap(left.as_bytes(), right.as_bytes())))
}

/// Whether two `*` patterns share a text: reachability over pairs of positions.
fn patterns_overlap(a: &[u8], b: &[u8]) -> bool {
    if a.len() > 512 || b.len() > 512 {
        return true;
    }
    let width = b.len() + 1;
    let mut reachable = vec![false; (a.len() + 1) * width];
    reachable[0] = true;
    for i in 0..=a.len() {
        for j in 0..width {
            if !reachable[i * width + j] {
                continue;
            }
            let star_a = a.get(i) == Some(&b'*');
            let star_b = b.get(j) == Some(&b'*');
            if star_a {
                reachable[(i + 1) * width + j] = true;
            }
            if star_b {
                reachable[i * width + j + 1] = true;
            }
            if star_a && j < b.len() {
                reachable[i * width + j + 1] = true;
            }
            if star_b && i < a.len() {
                reachable[(i + 1) * width + j] = true;
            }
            if i < a.len() && j < b.len() && a[i] == b[j] {
                reachable[(i + 1) * width + j + 1] = true;
            }
        }
    }
    reachable[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_priority_hides_legacy_templates() {
        let mut templates = Templates::default();
        templates
            .put_legacy(
                "old",
                &json!({"index_patterns": "logs*", "settings": {"number_of_shards": 7}}),
                false,
            )
            .expect("ok");
        assert_eq!(templates.resolve("logs-1").settings["index.number_of_shards"], "7");
        templates
            .put_component("c", &json!({"template": {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"a": {"type": "long"}}}}}), false)
            .expect("ok");
        templates
            .put_composable("new", &json!({"index_patterns": ["logs-*"], "composed_of": ["c"], "priority": 5, "template": {"settings": {"number_of_shards": 2}}}), false)
            .expect("ok");
        let resolved = templates.resolve("logs-1");
        assert_eq!(
            Value::Object(resolved.settings),
            json!({"index.number_of_replicas": "0", "index.number_of_shards": "2"})
        );
        assert_eq!(Value::Object(resolved.mappings), json!({"properties": {"a": {"type": "long"}}}));
        assert!(
            templates
                .put_composable("twin", &json!({"index_patterns": ["l*"], "priority": 5}), false)
                .is_err()
        );
        assert!(templates.delete_component("c").is_err());
        assert!(
            templates
                .put_composable("bad", &json!({"index_patterns": ["q*"], "composed_of": ["none"]}), false)
                .is_err()
        );
    }

    #[test]
    fn patterns_overlap_when_some_text_matches_both() {
        let check = |a: &str, b: &str, expected| {
            assert_eq!(patterns_overlap(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        };
        check("a*", "*b", true);
        check("a*", "b*", false);
        check("logs", "logs", true);
        check("logs", "log", false);
        check("l*s", "logs", true);
        check("*", "", true);
    }
}
