//! `dynamic_templates`: "which mapping does a new field get by its name or type?"

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use limber_text::pattern::{PATTERN_BYTES_MAX, Pattern, watched};
use limber_text::wildcard;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::RequestError;
use crate::json::java::{java_text, mapper_parsing};

/// One entry of `dynamic_templates`.
///
/// Source: `DynamicTemplate`. Each kind of condition is a list. All kinds must match, and a list matches if
/// any of its elements does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pub name: String,
    body: Map<String, Value>,
    matches: Vec<String>,
    unmatches: Vec<String>,
    path_matches: Vec<String>,
    path_unmatches: Vec<String>,
    types: Vec<String>,
    types_not: Vec<String>,
    is_regex: bool,
    /// New fields are runtime fields.
    pub is_runtime: bool,
    mapping: Map<String, Value>,
}

/// Compiled expressions that are kept for the next field name, and the size in bytes up to which one is kept.
/// When there are more, all are dropped.
const KEPT_MAX: usize = 128;
const KEPT_BYTES_MAX: usize = 64 << 10;
static KEPT: LazyLock<Mutex<HashMap<String, Arc<Pattern>>>> = LazyLock::new(Mutex::default);

/// Bytes of memory per byte of an expression while it is parsed.
const PARSED_FACTOR: u64 = 128;

/// Compiles an expression in Java's syntax that must match whole names. `None` if it is invalid or too large.
fn compiled(pattern: &str) -> Option<Arc<Pattern>> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return None;
    }
    if let Some(known) = KEPT.lock().get(pattern) {
        return Some(known.clone());
    }
    let whole = format!("^(?:{pattern})$");
    let Some(small) = Pattern::parse_small(&whole, KEPT_BYTES_MAX) else {
        return Pattern::parse(&whole).ok().map(Arc::new);
    };
    let small = Arc::new(small);
    let mut kept = KEPT.lock();
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(pattern.to_owned(), small.clone());
    Some(small)
}

const TYPES: [&str; 8] = ["object", "string", "long", "double", "boolean", "date", "binary", "*"];

impl Template {
    /// Parses `dynamic_templates`, a list of objects with one member each. An invalid entry is an error.
    pub fn parse_list(value: &Value) -> Result<Vec<Template>, RequestError> {
        let Value::Array(list) = value else {
            return Err(mapper_parsing(
                "Dynamic template syntax error. An array of named objects is expected.",
            ));
        };
        let parse = |entry: &Value| {
            // Each has copies of its body.
            limber_work::check_beyond_deadline()?;
            match entry {
                Value::Object(entry) if entry.len() == 1 => {
                    let (name, body) = entry.iter().next().expect("one entry");
                    let Value::Object(body) = body else {
                        return Err(mapper_parsing("A dynamic template must be defined with an object"));
                    };
                    Template::parse(name, body)
                }
                _ => Err(mapper_parsing("A dynamic template must be defined with a name")),
            }
        };
        list.iter().map(parse).collect()
    }

    fn parse(name: &str, body: &Map<String, Value>) -> Result<Template, RequestError> {
        let mut template = Template {
            name: name.to_owned(),
            body: body.clone(),
            matches: Vec::new(),
            unmatches: Vec::new(),
            path_matches: Vec::new(),
            path_unmatches: Vec::new(),
            types: Vec::new(),
            types_not: Vec::new(),
            is_regex: false,
            is_runtime: false,
            mapping: Map::new(),
        };
        let mut has_mapping = false;
        for (key, value) in body {
            match key.as_str() {
                "match" => template.matches = strings(value),
                "unmatch" => template.unmatches = strings(value),
                "path_match" => template.path_matches = strings(value),
                "path_unmatch" => template.path_unmatches = strings(value),
                "match_mapping_type" => template.types = types(value)?,
                "unmatch_mapping_type" => template.types_not = types(value)?,
                "match_pattern" => match value.as_str() {
                    Some("simple") => {}
                    Some("regex") => template.is_regex = true,
                    _ => {
                        return Err(RequestError::illegal_argument(format!(
                            "No matching pattern matched on [{}]",
                            value.as_str().unwrap_or_default()
                        )));
                    }
                },
                "mapping" => match value {
                    Value::Object(mapping) => {
                        template.mapping = mapping.clone();
                        has_mapping = true;
                    }
                    _ => {
                        return Err(mapper_parsing(format!(
                            "template [{name}]: [mapping] must be an object"
                        )));
                    }
                },
                "runtime" => match value {
                    Value::Object(mapping) => {
                        template.mapping = mapping.clone();
                        template.is_runtime = true;
                    }
                    _ => {
                        return Err(mapper_parsing(format!(
                            "template [{name}]: [runtime] must be an object"
                        )));
                    }
                },
                other => {
                    return Err(RequestError::illegal_argument(format!(
                        "Illegal dynamic template parameter: [{other}]"
                    )));
                }
            }
        }
        template.check(has_mapping)?;
        Ok(template)
    }

    /// Whether a field that gets its mapping from this template may be a dimension of a time series.
    pub fn makes_dimensions(&self) -> bool {
        let flag = self.mapping.get("time_series_dimension");
        flag.is_some_and(|flag| *flag == Value::Bool(true) || flag.as_str() == Some("true"))
    }

    /// Refuses what does not go together. `has_mapping`: there was a member `mapping`.
    fn check(&self, has_mapping: bool) -> Result<(), RequestError> {
        if has_mapping && self.is_runtime {
            let reason = format!(
                "mapping and runtime cannot be both specified in the same dynamic template [{}]",
                self.name
            );
            return Err(mapper_parsing(reason));
        }
        if !has_mapping && !self.is_runtime {
            return Err(mapper_parsing(format!(
                "template [{}] must have either mapping or runtime set",
                self.name
            )));
        }
        if let Some(kind) = self.types.iter().find(|kind| matches!(kind.as_str(), "object" | "binary"))
            && self.is_runtime
        {
            return Err(mapper_parsing(format!(
                "Dynamic template [{}] defines a runtime field but type [{kind}] is not supported as runtime field",
                self.name
            )));
        }
        if self.is_regex {
            for pattern in self.matches.iter().chain(&self.unmatches) {
                let parsed_bytes = pattern.len().min(PATTERN_BYTES_MAX) as u64 * PARSED_FACTOR;
                limber_work::claim(parsed_bytes)?;
                compiled(pattern).ok_or_else(|| {
                    RequestError::illegal_argument(format!(
                        "Pattern [{pattern}] of type [regex] is invalid. Cannot create dynamic template [{}].",
                        self.name
                    ))
                })?;
            }
        }
        Ok(())
    }

    /// Whether its mapping contains the name of the field.
    pub fn uses_names(&self) -> bool {
        fn contains(value: &Value) -> bool {
            match value {
                Value::String(text) => text.contains("{name}"),
                Value::Array(list) => list.iter().any(contains),
                Value::Object(members) => {
                    members.iter().any(|(key, value)| key.contains("{name}") || contains(value))
                }
                _ => false,
            }
        }
        self.mapping.iter().any(|(key, value)| key.contains("{name}") || contains(value))
    }

    /// Returns the types of JSON values that it matches. They are empty if only requests can name it.
    pub fn json_types(&self) -> Vec<&str> {
        let all = TYPES.iter().copied().filter(|one| *one != "*");
        let of_runtime = |one: &&str| !self.is_runtime || !matches!(*one, "object" | "binary");
        let has_names = !(self.matches.is_empty() && self.path_matches.is_empty());
        let is_any = self.types.iter().any(|one| one == "*") || (self.types.is_empty() && has_names);
        let matched: Vec<&str> = match is_any {
            true => all.collect(),
            false => self.types.iter().map(String::as_str).collect(),
        };
        let is_left = |one: &&str| !self.types_not.iter().any(|not| not == one || not == "*");
        matched.into_iter().filter(of_runtime).filter(is_left).collect()
    }

    /// Returns the JSON of its body, in which a list of one element stands for itself.
    pub fn content(&self) -> String {
        const KEYS: [&str; 9] = [
            "match",
            "path_match",
            "unmatch",
            "path_unmatch",
            "match_mapping_type",
            "unmatch_mapping_type",
            "match_pattern",
            "mapping",
            "runtime",
        ];
        let shown = |key: &str| {
            let value = match self.body.get(key)? {
                Value::Array(list) if list.len() == 1 => list[0].clone(),
                value => value.clone(),
            };
            (key != "match_pattern" || value != "simple").then(|| (key.to_owned(), value))
        };
        Value::Object(KEYS.iter().filter_map(|key| shown(key)).collect()).to_string()
    }

    /// Returns the entry as given.
    pub fn to_json(&self) -> Value {
        let mut outer = Map::new();
        outer.insert(self.name.clone(), Value::Object(self.body.clone()));
        Value::Object(outer)
    }

    /// Whether the template matches a field with this name, path and JSON type (`string`, `long`, `double`,
    /// `boolean`, `date`, `object`).
    ///
    /// # Errors
    /// Its regular expressions take too long, or the request must end.
    pub fn fits(&self, name: &str, path: &str, json_type: &str) -> Result<bool, RequestError> {
        match self.is_regex {
            true => watched(name, || self.matches(name, path, json_type))?,
            false => self.matches(name, path, json_type),
        }
    }

    fn matches(&self, name: &str, path: &str, json_type: &str) -> Result<bool, RequestError> {
        let failed = RefCell::new(None);
        let by_name = |pattern: &String| match self.is_regex {
            true => compiled(pattern).is_some_and(|regex| match regex.captures(name, 0) {
                Ok(found) => found.is_some(),
                Err(error) => {
                    failed.borrow_mut().get_or_insert(error);
                    false
                }
            }),
            false => wildcard::matches(pattern, name),
        };
        let by_path = |pattern: &String| wildcard::matches(pattern, path);
        let by_type = |one: &String| one == json_type || (one == "*" && json_type != "object");
        let any_or_none =
            |list: &[String], test: &dyn Fn(&String) -> bool| list.is_empty() || list.iter().any(test);
        // A template that says nothing of names and types is for requests that name it.
        let is_for_any = !(self.matches.is_empty() && self.path_matches.is_empty() && self.types.is_empty());
        let is_match = is_for_any
            // Objects are no runtime fields, nor is what is in them binary.
            && (!self.is_runtime || !matches!(json_type, "object" | "binary"))
            && any_or_none(&self.matches, &by_name)
            && any_or_none(&self.path_matches, &by_path)
            && any_or_none(&self.types, &by_type)
            && !self.unmatches.iter().any(by_name)
            && !self.path_unmatches.iter().any(by_path)
            && !self.types_not.iter().any(by_type);
        match failed.into_inner() {
            None => Ok(is_match),
            Some(error) => Err(error.into()),
        }
    }

    /// Returns the mapping for a field with this name, with `{name}` and `{dynamic_type}` replaced. The type
    /// is `default_type` if the template has no `type`.
    pub fn mapping_for(&self, name: &str, default_type: &str) -> Map<String, Value> {
        let mut mapping = fill(&Value::Object(self.mapping.clone()), name, default_type)
            .as_object()
            .cloned()
            .unwrap_or_default();
        if !mapping.contains_key("type") && default_type != "object" {
            let mut typed = Map::new();
            typed.insert("type".into(), default_type.into());
            typed.append(&mut mapping);
            mapping = typed;
        }
        mapping
    }
}

fn fill(value: &Value, name: &str, default_type: &str) -> Value {
    let text = |text: &str| {
        text.replace("{name}", name)
            .replace("{dynamic_type}", default_type)
            .replace("{dynamicType}", default_type)
    };
    match value {
        Value::String(one) => Value::String(text(one)),
        Value::Array(list) => list.iter().map(|one| fill(one, name, default_type)).collect(),
        Value::Object(object) => Value::Object(
            object.iter().map(|(key, one)| (text(key), fill(one, name, default_type))).collect(),
        ),
        other => other.clone(),
    }
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().map(java_text).collect(),
        other => vec![java_text(other)],
    }
}

fn types(value: &Value) -> Result<Vec<String>, RequestError> {
    let types = strings(value);
    match types.iter().find(|one| !TYPES.contains(&one.as_str())) {
        Some(unknown) => Err(RequestError::illegal_argument(format!(
            "No field type matched on [{unknown}], possible values are [object, string, long, double, boolean, date, binary]"
        ))),
        None => Ok(types),
    }
}
