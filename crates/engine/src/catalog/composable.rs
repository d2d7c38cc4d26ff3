//! Composable templates: storing, resolving and simulating them.
//!
//! Source: `MetadataIndexTemplateService`. A matching composable template hides all legacy templates; if
//! several composable templates match, the one with the highest priority is used.

use std::collections::{BTreeMap, HashMap, HashSet};

use limber_mapping::{ObjectParser, RequestError, validation_failed};
use limber_text::wildcard;
use limber_work as work;
use serde_json::{Map, Value, json};

use super::template::{
    ResolvedTemplate, TemplateBody, Templates, check_patterns, check_template_name, components_of,
    deprecated, integer, invalid_template, is_of_all, not_found, object_of, patterns_match, remove, select,
    text_list,
};
use super::{DataStream, DataStreamOptions};
use crate::api::Result;
use crate::lifecycle::StreamLifecycle;

/// What a composable template defines for a data stream.
#[derive(Debug)]
pub(crate) struct DataStreamTemplate {
    pub options: DataStreamOptions,
    pub meta: Option<Value>,
    pub lifecycle: Option<StreamLifecycle>,
    pub resolved: ResolvedTemplate,
}

const HIDES_ALL: &str = "global composable templates may not specify the setting index.hidden";

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
                    parts.read_all(value)?;
                    parts.check().map_err(|error| {
                        invalid_template(name, &validation_failed([error.reason.as_str()]))
                    })?;
                    shown.insert("template".into(), Value::Object(parts.to_json()));
                }
                "data_stream" => {
                    shown.insert(key.clone(), DataStreamOptions::parse(value)?.to_json());
                }
                "deprecated" => drop(shown.insert(key.clone(), deprecated(value)?)),
                other => return Err(ObjectParser::new("index_template").unknown(other)),
            }
        }
        let Some(patterns) = shown.get("index_patterns").and_then(Value::as_array) else {
            return Err(RequestError::illegal_argument("Required [index_patterns]"));
        };
        if patterns.is_empty() {
            return Err(RequestError::illegal_argument("There must be at least one pattern, zero given"));
        }
        if shown.get("priority").and_then(Value::as_i64).is_some_and(|priority| priority < 0) {
            return Err(RequestError::validation(["index template priority must be >= 0"]));
        }
        if is_of_all(patterns) && parts.decides_hiding() {
            return Err(RequestError::validation([HIDES_ALL]));
        }
        parts.check_aliases(patterns)?;
        let shown = Value::Object(shown);
        let ignored: HashSet<&str> = ignored_components.iter().filter_map(Value::as_str).collect();
        let missing: Vec<&str> = components_of(&shown)
            .filter(|component| !self.components.contains_key(*component) && !ignored.contains(component))
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
        check_patterns(name, shown["index_patterns"].as_array().map_or(&[], Vec::as_slice))?;
        let resolved = self.resolve_composable(&shown);
        if shown["index_patterns"].as_array().is_some_and(|patterns| is_of_all(patterns))
            && resolved.settings.contains_key("index.hidden")
        {
            return Err(invalid_template(name, HIDES_ALL));
        }
        resolved.check_mappings(&self.analysis).map_err(|error| {
            let mappings = RequestError::illegal_argument(format!("invalid composite mappings for [{name}]"))
                .caused_by(error);
            RequestError::illegal_argument(format!(
                "composable template [{name}] template after composition is invalid"
            ))
            .caused_by(mappings)
        })?;
        if resolved.lifecycle.is_some() && !shown["data_stream"].is_object() {
            return Err(RequestError::illegal_argument(format!(
                "index template [{name}] specifies lifecycle configuration that can only be used in combination with a data stream"
            )));
        }
        self.check_priority(name, &shown)?;
        for component in components_of(&shown) {
            if self.components.get(component).is_some_and(|component| component["deprecated"] == true) {
                work::warn(format!(
                    "index template [{name}] uses deprecated component template [{component}]"
                ));
            }
        }
        self.warn_of_legacy(name, &shown)?;
        self.composable.insert(name.to_owned(), shown);
        Ok(())
    }

    /// Checks that composable templates whose patterns can match the same name differ in priority.
    fn check_priority(&self, name: &str, template: &Value) -> Result<()> {
        let priority = template["priority"].as_i64().unwrap_or(0);
        let conflicts = overlapping_of(&self.composable, template, |other, body| {
            other != name && body["priority"].as_i64().unwrap_or(0) == priority
        })?;
        if conflicts.is_empty() {
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!(
            "index template [{name}] has index patterns {} matching patterns from existing templates {} that \
             have the same priority [{priority}], multiple index templates may not match during index creation, please use a different priority",
            list(template),
            names_and_patterns(&conflicts),
        )))
    }

    /// Warns of legacy templates that the new one takes precedence over.
    fn warn_of_legacy(&self, name: &str, template: &Value) -> Result<()> {
        let taken = overlapping_of(&self.legacy, template, |_, _| true)?;
        if !taken.is_empty() {
            work::warn(format!(
                "index template [{name}] has index patterns {} matching patterns from existing older templates {}; this template [{name}] \
                 will take precedence during new index creation",
                list(template),
                names_and_patterns(&taken),
            ));
        }
        Ok(())
    }

    /// Refuses a legacy template that would have no effect because composable templates match its indices. A
    /// template whose patterns do not change, and one for all indices, only cause a warning.
    pub(super) fn check_is_not_taken(&self, name: &str, template: &Value) -> Result<()> {
        let takers = overlapping_of(&self.composable, template, |_, _| true)?;
        if takers.is_empty() {
            return Ok(());
        }
        let patterns = &template["index_patterns"];
        let is_for_all = patterns.as_array().into_iter().flatten().any(|pattern| pattern == "*");
        let is_as_it_was = self.legacy.get(name).is_some_and(|before| before["index_patterns"] == *patterns);
        let told = format!(
            "legacy template [{name}] has index patterns {} matching patterns from existing composable templates {}",
            list(template),
            names_and_patterns(&takers),
        );
        if is_for_all || is_as_it_was {
            work::warn(format!(
                "{told}; this template [{name}] may be ignored in favor of a composable template at index creation time"
            ));
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!(
            "{told}, use composable templates (/_index_template) instead"
        )))
    }

    pub(crate) fn get_composable(&self, name: &str) -> Result<Value> {
        let found = select(&self.composable, name);
        if found.is_empty() && !name.is_empty() && !wildcard::is_pattern(name) {
            return Err(not_found("index template matching", name));
        }
        let mut list = Vec::with_capacity(found.len());
        for (name, body) in found {
            limber_mapping::claim_tree(body)?;
            let mut body = body.clone();
            if let Some(object) = body.as_object_mut() {
                object.entry("composed_of").or_insert_with(|| json!([]));
            }
            list.push(json!({"name": name, "index_template": body}));
        }
        Ok(json!({"index_templates": list}))
    }

    pub(crate) fn delete_composable(&mut self, name: &str) -> Result<()> {
        remove(&mut self.composable, name, |part| {
            RequestError::not_found(
                "index_template_missing_exception",
                format!("index_template [{part}] missing"),
            )
        })
    }

    fn resolve_composable(&self, template: &Value) -> ResolvedTemplate {
        let mut resolved = ResolvedTemplate::default();
        // A component that is named again replaces all that it has laid before.
        let names: Vec<&str> = components_of(template).collect();
        let last: HashMap<&str, usize> =
            names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        for (place, name) in names.iter().enumerate().filter(|(place, name)| last[**name] == *place) {
            if let Some(component) = self.components.get(*name) {
                if place % COMPONENTS_PER_TURN == COMPONENTS_PER_TURN - 1 {
                    work::let_others_run();
                }
                resolved.lay(&TemplateBody::of(&component["template"]));
            }
        }
        resolved.lay(&TemplateBody::of(&template["template"]));
        if template["data_stream"].is_object() {
            let ignores = resolved.settings.get("index.mapping.ignore_malformed");
            let ignores_malformed = ignores.and_then(Value::as_str) == Some("true");
            limber_mapping::add_timestamp(&mut resolved.mappings, ignores_malformed);
        }
        resolved
    }

    fn best_composable(&self, index: &str) -> Option<(&String, &Value)> {
        self.composable
            .iter()
            .filter(|(_, template)| patterns_match(template, index))
            .max_by_key(|(_, template)| template["priority"].as_i64().unwrap_or(0))
    }

    /// Returns what a new index with this name starts from.
    pub(crate) fn resolve(&self, index: &str) -> ResolvedTemplate {
        if let Some((_, template)) = self.best_composable(index) {
            return self.resolve_composable(template).for_index(index);
        }
        let mut matching: Vec<(&String, &Value)> =
            self.legacy.iter().filter(|(_, template)| patterns_match(template, index)).collect();
        if matching.len() > 1 {
            let names: Vec<&str> = matching.iter().map(|(name, _)| name.as_str()).collect();
            work::warn(format!(
                "index [{index}] matches multiple legacy templates [{}], composable templates will only match a single template",
                names.join(", ")
            ));
        }
        matching.sort_by_key(|(_, template)| template["order"].as_i64().unwrap_or(0));
        let mut resolved = ResolvedTemplate::default();
        for (_, template) in matching {
            resolved.lay(&TemplateBody::of(template));
        }
        resolved.for_index(index)
    }

    /// Returns the name of the template that turns writes to this name into a data stream.
    pub(crate) fn makes_data_streams(&self, name: &str) -> Option<&str> {
        let (template, body) = self.best_composable(name)?;
        body["data_stream"].is_object().then_some(template.as_str())
    }

    /// Returns what a data stream with this name, and each of its backing indices, starts from.
    ///
    /// # Errors
    /// Fails when no template matches, or when the matching one does not create data streams.
    pub(crate) fn of_data_stream(&self, name: &str) -> Result<DataStreamTemplate> {
        let refused = |why: String| Err(RequestError::illegal_argument(why));
        let Some((template, body)) = self.best_composable(name) else {
            return refused(format!("no matching index template found for data stream [{name}]"));
        };
        if !body["data_stream"].is_object() {
            return refused(format!(
                "matching index template [{template}] for data stream [{name}] has no data stream template"
            ));
        }
        let mut resolved = self.resolve_composable(body);
        resolved.settings.insert("index.hidden".into(), "true".into());
        Ok(DataStreamTemplate {
            options: DataStreamOptions::parse(&body["data_stream"])?,
            meta: body.get("_meta").cloned(),
            lifecycle: match resolved.lifecycle.take() {
                Some(body) => Some(StreamLifecycle::parse(&Value::Object(body))?),
                None => None,
            },
            resolved,
        })
    }

    /// Returns what the next backing index of a data stream starts from: the template, and over it what the
    /// data stream sets itself.
    ///
    /// # Errors
    /// Fails when no template creates data streams with this name.
    pub(crate) fn of_stream(&self, stream: &DataStream) -> Result<DataStreamTemplate> {
        let mut template = self.of_data_stream(&stream.name)?;
        template.resolved.lay(&stream.overrides.as_template());
        Ok(template)
    }

    /// Returns `allow_auto_create` of the template that a new index would use.
    pub(crate) fn allows_auto_create(&self, index: &str) -> Option<bool> {
        self.best_composable(index).and_then(|(_, template)| template["allow_auto_create"].as_bool())
    }

    /// Answers `_simulate_index`: what an index with this name would get, with `body` as one more template.
    pub(crate) fn simulate_index(&self, index: &str, body: Option<&Value>) -> Result<Value> {
        let name = format!("simulate_index_template_{index}");
        let given = body.map(|body| self.parse_composable(&name, body)).transpose()?;
        let stored = self.composable.iter().filter(|(other, _)| given.is_none() || **other != name);
        let given = given.iter().map(|body| (&name, body));
        let composable: BTreeMap<&String, &Value> = stored.chain(given).collect();
        let matching = composable.iter().filter(|(_, template)| patterns_match(template, index));
        let best = matching.max_by_key(|(_, template)| template["priority"].as_i64().unwrap_or(0));
        let Some((name, template)) = best else {
            // Legacy templates are not simulated.
            return Ok(json!({}));
        };
        let resolved = simulated(self.resolve_composable(template).to_json(), template);
        let others =
            composable.iter().map(|(other, body)| (*other, *body)).filter(|(other, _)| other != name);
        let matching = self.legacy.iter().chain(others).filter(|(_, other)| patterns_match(other, index));
        let overlapping = shown_patterns(&matching.collect::<Vec<_>>());
        Ok(json!({"template": resolved, "overlapping": overlapping}))
    }

    /// Answers `_simulate`: what an existing template or the one in the body produces.
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
        let mut overlapping = overlapping_of(&self.legacy, &template, |_, _| true)?;
        overlapping.extend(overlapping_of(&self.composable, &template, |other, _| Some(other) != name)?);
        let overlapping = shown_patterns(&overlapping);
        let resolved = simulated(self.resolve_composable(&template).to_json(), &template);
        Ok(json!({"template": resolved, "overlapping": overlapping}))
    }
}

/// How many components are laid before others may run beside the request.
const COMPONENTS_PER_TURN: usize = 4;

/// Returns what a template resolves to as `_simulate` shows it: with the tier where its indices are created,
/// unless the template names one, and without empty mappings.
///
/// Source: `DataTier.DefaultHotAllocationSettingProvider`.
fn simulated(mut resolved: Value, template: &Value) -> Value {
    if resolved["mappings"].as_object().is_some_and(Map::is_empty)
        && let Value::Object(members) = &mut resolved
    {
        members.remove("mappings");
    }
    let tier = if template["data_stream"].is_object() { "data_hot" } else { "data_content" };
    let mut place = &mut resolved["settings"];
    for name in ["index", "routing", "allocation", "include"] {
        if !place.get(name).is_some_and(Value::is_object) {
            place[name] = json!({});
        }
        place = &mut place[name];
    }
    if place.get("_tier_preference").is_none() {
        place["_tier_preference"] = tier.into();
    }
    resolved
}

/// Returns names and patterns of templates as `_simulate` shows them.
fn shown_patterns(templates: &[(&String, &Value)]) -> Vec<Value> {
    let shown =
        templates.iter().map(|(name, body)| json!({"name": name, "index_patterns": body["index_patterns"]}));
    shown.collect()
}

/// Formats the patterns of a template for a message.
fn list(template: &Value) -> String {
    let patterns = template["index_patterns"].as_array().into_iter().flatten().filter_map(Value::as_str);
    format!("[{}]", patterns.collect::<Vec<_>>().join(", "))
}

fn names_and_patterns(templates: &[(&String, &Value)]) -> String {
    let names: Vec<&str> = templates.iter().map(|(name, _)| name.as_str()).collect();
    let with: Vec<String> =
        templates.iter().map(|(name, body)| format!("{name} => {}", list(body))).collect();
    format!("[{}] with patterns ({})", names.join(","), with.join(","))
}

/// How many steps one request may take to compare patterns: some tenths of a second, during which other
/// changes of metadata wait.
const STEPS_MAX: u64 = 100_000_000;
/// Longer patterns count as overlapping with all others.
const COMPARED_BYTES_MAX: usize = 512;

/// Returns the templates of which some name can match both them and `template`, as far as `is_asked`.
///
/// # Errors
/// There are too many patterns to compare.
fn overlapping_of<'t>(
    templates: &'t BTreeMap<String, Value>,
    template: &Value,
    is_asked: impl Fn(&str, &Value) -> bool,
) -> Result<Vec<(&'t String, &'t Value)>> {
    let (patterns, mut steps_left) = (patterns_of(template), STEPS_MAX);
    let mut found = Vec::new();
    for (name, other) in templates.iter().filter(|(name, other)| is_asked(name, other)) {
        if overlap(&patterns, &patterns_of(other), &mut steps_left)? {
            found.push((name, other));
        }
    }
    Ok(found)
}

fn patterns_of(template: &Value) -> Vec<&[u8]> {
    let patterns = template["index_patterns"].as_array().into_iter().flatten();
    patterns.filter_map(Value::as_str).map(str::as_bytes).collect()
}

/// Whether some name can match a pattern of each list.
fn overlap(left: &[&[u8]], right: &[&[u8]], steps_left: &mut u64) -> Result<bool> {
    for a in left {
        work::check_beyond_deadline()?;
        for b in right {
            let steps = if ends_differ(a, b) { 1 } else { (a.len() + 1) * (b.len() + 1) };
            *steps_left = steps_left.checked_sub(steps as u64).ok_or_else(|| {
                RequestError::illegal_argument(
                    "too many index patterns to compare with those of other templates",
                )
            })?;
            if steps > 1 && patterns_overlap(a, b) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether what precedes the first `*` of the patterns, or what follows the last one, cannot be equal.
fn ends_differ(a: &[u8], b: &[u8]) -> bool {
    let start = |pattern: &[u8]| pattern.iter().position(|byte| *byte == b'*').unwrap_or(pattern.len());
    let end = |pattern: &[u8]| pattern.iter().rev().position(|byte| *byte == b'*').unwrap_or(pattern.len());
    let (start, end) = (start(a).min(start(b)), end(a).min(end(b)));
    a[..start] != b[..start] || a[a.len() - end..] != b[b.len() - end..]
}

/// Whether some string matches both `*` patterns: reachability over pairs of positions.
fn patterns_overlap(a: &[u8], b: &[u8]) -> bool {
    if a.len() > COMPARED_BYTES_MAX || b.len() > COMPARED_BYTES_MAX {
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
        for (a, b) in [("a*", "b*"), ("*a", "*b"), ("a*x", "a*y"), ("abc", "abd")] {
            assert!(ends_differ(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
        for (a, b) in [("a*", "ab*"), ("*", "b"), ("a*c", "abc"), ("a*c*", "*c")] {
            assert!(!ends_differ(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn comparing_patterns_ends() {
        let patterns = |letter: char| -> Value {
            (0..1_000).map(|number| format!("*{letter}{number}{}*", "x*".repeat(200))).collect()
        };
        let mut templates = Templates::default();
        templates.put_composable("a", &json!({"index_patterns": patterns('a')}), false).expect("the first");
        let error = templates.put_composable("b", &json!({"index_patterns": patterns('b')}), false);
        assert!(error.is_err(), "they overlap, or are too many to compare");
        let many: Value = (0..1_001).map(|number| format!("n{number}*")).collect();
        let error = templates.put_composable("c", &json!({"index_patterns": many}), false);
        assert!(error.expect_err("too many").reason.contains("1000"));
    }
}
