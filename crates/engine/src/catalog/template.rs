//! Templates: what every kind has in common, and legacy templates.
//!
//! Source: `MetadataIndexTemplateService`. The others are in [`super::components`] and
//! [`super::composable`].

use std::collections::{BTreeMap, HashSet};

use limber_mapping::{Mapping, ObjectParser, RequestError, validation_failed};
use limber_text::wildcard;
use limber_work as work;
use serde_json::{Map, Value, json};

use super::Alias;
use super::merge_json::merge_mappings;
use super::names::{FORBIDDEN, forbidden_list};
use crate::analysis::AnalysisOf;
use crate::api::Result;
use crate::lifecycle::StreamLifecycle;
use crate::settings::{FlatSettings, IndexSettings, flatten, nest, normalize_index_keys};

/// The `settings`, `mappings` and `aliases` of a template or of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TemplateBody {
    pub settings: Option<FlatSettings>,
    pub mappings: Option<Map<String, Value>>,
    pub aliases: Option<BTreeMap<String, Alias>>,
    /// The lifecycle of data streams that a composable template creates, in normal form; null removes it.
    pub lifecycle: Option<Value>,
}

/// What a new index gets from templates. The request's own settings, mappings and aliases are added to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResolvedTemplate {
    pub settings: FlatSettings,
    pub mappings: Map<String, Value>,
    pub aliases: BTreeMap<String, Alias>,
    pub lifecycle: Option<Map<String, Value>>,
}

/// The templates of a node, each kind by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Templates {
    /// Each value is the validated body as `GET` shows it, with nested settings.
    pub(crate) legacy: BTreeMap<String, Value>,
    pub(crate) composable: BTreeMap<String, Value>,
    pub(crate) components: BTreeMap<String, Value>,
    /// The resources that analyzers read from the node.
    pub(crate) analysis: AnalysisOf,
}

/// Maximum number of texts in a list of a template. Lists of all templates are compared with each other.
const LIST_MAX: usize = 1_000;

pub(super) fn text_list(key: &str, value: &Value) -> Result<Vec<Value>> {
    let bad = || RequestError::parsing(format!("[{key}] is a text or a list of texts, not [{value}]"));
    match value {
        Value::String(_) => Ok(vec![value.clone()]),
        Value::Array(items) if items.len() > LIST_MAX => Err(RequestError::illegal_argument(format!(
            "[{key}] has [{}] entries, more than the maximum of [{LIST_MAX}]",
            items.len()
        ))),
        Value::Array(items) if items.iter().all(Value::is_string) => Ok(items.clone()),
        _ => Err(bad()),
    }
}

pub(super) fn integer(key: &str, value: &Value) -> Result<Value> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    };
    number
        .map(Value::from)
        .ok_or_else(|| RequestError::parsing(format!("[{key}] is an integer, not [{value}]")))
}

impl TemplateBody {
    /// Reads one of the three keys. Returns `false` for any other key.
    pub(crate) fn read(&mut self, key: &str, value: &Value) -> Result<bool> {
        match key {
            "settings" => self.settings = Some(normalize_index_keys(flatten(value)?)),
            "mappings" => {
                if value.pointer("/_source/mode").is_some() {
                    work::warn(
                        "Configuring source mode in mappings is deprecated and will be removed in future versions. Use \
                         [index.mapping.source.mode] index setting instead.",
                    );
                }
                self.mappings = Some(mappings_of(value)?);
            }
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

    /// Reads all members of `template`. The error names an unknown one.
    pub(super) fn read_all(&mut self, body: &Value) -> Result<()> {
        for (key, value) in object_of(body, "[template]")? {
            if !self.read_member(key, value)? {
                return Err(ObjectParser::new("template").unknown(key));
            }
        }
        Ok(())
    }

    /// Reads one of the keys of [`TemplateBody::read`], or one that only templates of data streams have.
    fn read_member(&mut self, key: &str, value: &Value) -> Result<bool> {
        if key != "lifecycle" {
            return self.read(key, value);
        }
        self.lifecycle = Some(match value {
            Value::Null => Value::Null,
            body => StreamLifecycle::parse(body)?.to_json(),
        });
        Ok(true)
    }

    pub(super) fn to_json(&self) -> Map<String, Value> {
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
        if let Some(lifecycle) = &self.lifecycle {
            object.insert("lifecycle".into(), lifecycle.clone());
        }
        object
    }

    pub(super) fn of(value: &Value) -> TemplateBody {
        let mut body = TemplateBody::default();
        for (key, value) in value.as_object().into_iter().flatten() {
            // Stored templates were validated when they were put.
            let _ = body.read_member(key, value);
        }
        body
    }

    pub(super) fn check(&self) -> Result<()> {
        match &self.settings {
            Some(settings) => crate::settings::check_new(settings),
            None => Ok(()),
        }
    }

    /// Whether a setting decides if indices are hidden. A template of all indices may not have it.
    pub(super) fn decides_hiding(&self) -> bool {
        self.settings.as_ref().is_some_and(|settings| settings.contains_key("index.hidden"))
    }

    /// Checks that no alias has the name of an index that the template is for.
    pub(super) fn check_aliases(&self, patterns: &[Value]) -> Result<()> {
        let names: HashSet<&str> = patterns.iter().filter_map(Value::as_str).collect();
        let is_taken = |alias: &&String| names.contains(alias.as_str());
        match self.aliases.iter().flatten().map(|(alias, _)| alias).find(is_taken) {
            None => Ok(()),
            Some(alias) => {
                let patterns: Vec<&str> = patterns.iter().filter_map(Value::as_str).collect();
                Err(RequestError::illegal_argument(format!(
                    "alias [{alias}] cannot be the same as any pattern in [{}]",
                    patterns.join(", ")
                )))
            }
        }
    }

    /// Checks that an index could be created from it: the mappings must be valid under the template's own
    /// analysis and limits.
    pub(super) fn check_mappings(&self, analysis: &AnalysisOf) -> Result<()> {
        let mut resolved = ResolvedTemplate::default();
        resolved.lay(self);
        resolved.check_mappings(analysis)
    }
}

pub(crate) fn aliases_json(aliases: &BTreeMap<String, Alias>) -> Value {
    Value::Object(aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect())
}

/// Returns the body of `mappings`. Refuses a type name around it (`{"_doc": {...}}`), as Elasticsearch does.
fn mappings_of(value: &Value) -> Result<Map<String, Value>> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(object) if object.contains_key("_doc") => Err(RequestError::illegal_argument(
            "The mapping definition cannot be nested under a type [_doc] unless include_type_name is set to true.",
        )),
        Value::Object(object) => {
            limber_mapping::claim_tree(value)?;
            Ok(object.clone())
        }
        Value::String(text) => {
            limber_mapping::claim_parsed(text.as_bytes())?;
            match serde_json::from_str(text) {
                Ok(Value::Object(object)) => Ok(object),
                _ => Err(RequestError::bad_request(
                    "mapper_parsing_exception",
                    "Failed to parse mapping: not an object",
                )),
            }
        }
        _ => Err(RequestError::bad_request(
            "mapper_parsing_exception",
            "Failed to parse mapping: not an object",
        )),
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
        match &body.lifecycle {
            Some(Value::Object(members)) => {
                let own = self.lifecycle.get_or_insert_default();
                own.extend(members.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            Some(_) => self.lifecycle = None,
            None => {}
        }
    }

    /// Replaces `{index}` in the names of aliases by the name of the index.
    pub(super) fn for_index(mut self, index: &str) -> ResolvedTemplate {
        if self.aliases.keys().any(|name| name.contains("{index}")) {
            let named = std::mem::take(&mut self.aliases).into_iter();
            self.aliases = named.map(|(name, alias)| (name.replace("{index}", index), alias)).collect();
        }
        self
    }

    pub(crate) fn check_mappings(&self, analysis: &AnalysisOf) -> Result<()> {
        if self.mappings.is_empty() {
            return Ok(());
        }
        let typed = IndexSettings::from_flat(&self.settings)?;
        let settings = typed.mapping_settings(&self.settings, &analysis.get())?;
        Mapping::parse(&Value::Object(self.mappings.clone()), &settings).map(drop)
    }

    pub(super) fn to_json(&self) -> Value {
        let mut body = json!({"settings": nest(&self.settings), "mappings": self.mappings, "aliases": aliases_json(&self.aliases)});
        if let Some(lifecycle) = &self.lifecycle {
            body["lifecycle"] = Value::Object(lifecycle.clone());
        }
        body
    }
}

pub(super) fn patterns_match(template: &Value, index: &str) -> bool {
    let patterns = template["index_patterns"].as_array();
    patterns.into_iter().flatten().filter_map(Value::as_str).any(|pattern| wildcard::matches(pattern, index))
}

pub(super) fn object_of<'a>(body: &'a Value, what: &str) -> Result<&'a Map<String, Value>> {
    body.as_object().ok_or_else(|| RequestError::parsing(format!("{what} is an object")))
}

pub(super) fn check_template_name(name: &str) -> Result<()> {
    let invalid = |why: &str| {
        Err(RequestError::bad_request(
            "invalid_index_template_exception",
            format!("index_template [{name}] invalid, cause [{}]", validation_failed([why])),
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

/// Reads `deprecated`: whether the use of a template causes a warning.
pub(super) fn deprecated(value: &Value) -> Result<Value> {
    Ok(super::alias::flag("deprecated", value)?.into())
}

/// Checks the patterns of an index template. Source: `MetadataIndexTemplateService#validate`.
pub(super) fn check_patterns(name: &str, patterns: &[Value]) -> Result<()> {
    let mut faults = Vec::new();
    for pattern in patterns.iter().filter_map(Value::as_str) {
        if pattern.contains(' ') {
            faults.push(format!("index_patterns [{pattern}] must not contain a space"));
        }
        if pattern.contains(',') {
            faults.push(format!("index_pattern [{pattern}] must not contain a ','"));
        }
        if pattern.contains('#') {
            faults.push(format!("index_pattern [{pattern}] must not contain a '#'"));
        }
        if pattern.contains(':') {
            faults.push(format!("index_pattern [{pattern}] must not contain a ':'"));
        }
        if pattern.starts_with('_') {
            faults.push(format!("index_pattern [{pattern}] must not start with '_'"));
        }
        if pattern.replace('*', "").contains(FORBIDDEN) {
            faults.push(format!(
                "index_pattern [{pattern}] must not contain the following characters {}",
                forbidden_list()
            ));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(invalid_template(name, &validation_failed(&faults)))
}

pub(super) fn invalid_template(name: &str, why: &str) -> RequestError {
    RequestError::bad_request(
        "invalid_index_template_exception",
        format!("index_template [{name}] invalid, cause [{why}]"),
    )
}

/// Whether a template with these patterns is for all indices.
pub(super) fn is_of_all(patterns: &[Value]) -> bool {
    patterns.iter().any(|pattern| pattern == "*")
}

pub(super) fn select<'a>(map: &'a BTreeMap<String, Value>, name: &str) -> Vec<(&'a String, &'a Value)> {
    let patterns: Vec<&str> = name.split(',').map(str::trim).collect();
    map.iter()
        .filter(|(key, _)| {
            name.is_empty()
                || patterns.iter().any(|pattern| *pattern == "_all" || wildcard::matches(pattern, key))
        })
        .collect()
}

pub(super) fn remove(
    map: &mut BTreeMap<String, Value>,
    name: &str,
    missing: impl Fn(&str) -> RequestError,
) -> Result<()> {
    let (mut gone, mut absent) = (Vec::new(), Vec::new());
    for part in name.split(',').map(str::trim) {
        let found: Vec<String> = select(map, part).into_iter().map(|(name, _)| name.clone()).collect();
        if found.is_empty() && part != "*" {
            absent.push(part);
        }
        gone.extend(found);
    }
    if !absent.is_empty() {
        return Err(missing(&absent.join(",")));
    }
    gone.iter().for_each(|name| drop(map.remove(name)));
    Ok(())
}

// Legacy templates.
impl Templates {
    pub(crate) fn put_legacy(&mut self, name: &str, body: &Value, create: bool) -> Result<()> {
        work::warn("Legacy index templates are deprecated in favor of composable templates.");
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
                    return Err(RequestError::bad_request(
                        "parse_exception",
                        format!("unknown key [{key}] in the template "),
                    ));
                }
            }
        }
        let Some(patterns) = patterns.filter(|patterns| !patterns.is_empty()) else {
            return Err(RequestError::validation(["index patterns are missing"]));
        };
        check_patterns(name, &patterns)?;
        if is_of_all(&patterns) && parts.decides_hiding() {
            let fault = "global templates may not specify the setting index.hidden";
            return Err(invalid_template(name, &validation_failed([fault])));
        }
        parts.check_aliases(&patterns)?;
        parts.check()?;
        parts.check_mappings(&self.analysis)?;
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
        let shown = Value::Object(shown);
        self.check_is_not_taken(name, &shown)?;
        self.legacy.insert(name.to_owned(), shown);
        Ok(())
    }

    pub(crate) fn get_legacy(&self, name: &str) -> Map<String, Value> {
        select(&self.legacy, name).into_iter().map(|(name, body)| (name.clone(), body.clone())).collect()
    }

    pub(crate) fn delete_legacy(&mut self, name: &str) -> Result<()> {
        remove(&mut self.legacy, name, |part| {
            RequestError::not_found(
                "index_template_missing_exception",
                format!("index_template [{part}] missing"),
            )
        })
    }
}

pub(super) fn not_found(what: &str, name: &str) -> RequestError {
    let reason = if what.is_empty() { name.to_owned() } else { format!("{what} [{name}] not found") };
    RequestError::not_found("resource_not_found_exception", reason)
}

pub(super) fn components_of(template: &Value) -> impl Iterator<Item = &str> {
    template["composed_of"].as_array().into_iter().flatten().filter_map(Value::as_str)
}
