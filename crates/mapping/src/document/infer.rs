//! The mapping that a document needs: "which types does dynamic mapping give to its unmapped fields?"
//!
//! Source: `DocumentParser`, `DynamicFieldsBuilder`, `DynamicTemplate`.

mod flat;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::error;
use super::json::{self as tokens, JsonErrorKind};
use super::scan::skip_space;
use crate::RequestError;
use crate::date::MILLIS_FORMAT;
use crate::definition::{self, Dynamic, Template};
use crate::mapping::Mapping;
use crate::mapping::tree::{Copy, Target};
use limber_work as work;

/// Returns a body for [`Mapping::merge`] that adds every unmapped field of `source` that `dynamic: true`
/// allows: strings become `text` with a `keyword` multi-field (or dates and numbers if detection is on),
/// integers `long`, fractions `float`.
///
/// Called after [`super::parse`] returned `NeedsMapping`. Errors are those of the walk.
pub fn infer(mapping: &Mapping, source: &[u8]) -> Result<Value, RequestError> {
    infer_by(mapping, source, &HashMap::new())
}

/// As [`infer`]; fields whose full path is in `templates` get the dynamic template of that name, whatever it
/// matches (`dynamic_templates` of a bulk operation).
///
/// # Errors
/// Also: there is no template of that name.
pub fn infer_by(
    mapping: &Mapping,
    source: &[u8],
    templates: &HashMap<String, String>,
) -> Result<Value, RequestError> {
    let text = match std::str::from_utf8(source) {
        Ok(text) => text,
        Err(invalid) => {
            let found = tokens::error(invalid.valid_up_to(), JsonErrorKind::InvalidUtf8);
            return Err(error::syntax(source, 0, &found));
        }
    };
    let mut inference = Inference {
        mapping,
        templates,
        text,
        bytes: source,
        found: Map::new(),
        runtime: Map::new(),
        token: 0,
    };
    let start = skip_space(source, 0);
    if source.get(start) == Some(&b'{') {
        let root = inference.context(0);
        inference.object(root, "", start, 1)?;
    }
    inference.name_nested();
    let mut body = json!({"properties": inference.found});
    if !inference.runtime.is_empty() {
        body["runtime"] = inference.runtime.into();
    }
    Ok(body)
}

struct Inference<'a> {
    mapping: &'a Mapping,
    /// Full path to the name of a template that was asked for.
    templates: &'a HashMap<String, String>,
    text: &'a str,
    bytes: &'a [u8],
    /// New fields: full path to mapping, in document order.
    found: Map<String, Value>,
    /// New runtime fields: full path to definition.
    runtime: Map<String, Value>,
    token: usize,
}

/// An object of the document, either mapped or new.
#[derive(Clone, Copy)]
struct ObjectContext {
    object: Option<u32>,
    dynamic: Dynamic,
    /// If the object has no objects (`subobjects: false`): where the names of its fields begin in their
    /// paths.
    names_from: Option<usize>,
}

impl<'a> Inference<'a> {
    fn context(&self, number: u32) -> ObjectContext {
        let tree = self.mapping.tree();
        let node = &tree.objects[number as usize];
        let owner = &tree.objects[node.begins_names_of.unwrap_or(number) as usize];
        let start = if owner.path.is_empty() { 0 } else { owner.path.len() + 1 };
        ObjectContext {
            object: Some(number),
            dynamic: node.dynamic,
            names_from: node.is_flat.then_some(start),
        }
    }

    /// The dynamic template for a new field: the one that the request names, or the first that fits.
    fn template(
        &self,
        name: &str,
        path: &str,
        json_type: &str,
        at: usize,
    ) -> Result<Option<&'a Template>, RequestError> {
        let mut templates = self.mapping.templates().iter();
        let Some(asked) = self.templates.get(path) else {
            return Ok(templates.find(|template| template.fits(name, path, json_type)));
        };
        let found = templates.find(|template| template.name == *asked);
        found.map(Some).ok_or_else(|| {
            let reason =
                format!("Can't find dynamic template for dynamic template name [{asked}] of field [{path}]");
            error::document(self.bytes, at, reason)
        })
    }

    /// Adds the declarations of the nested objects that enclose the new fields, because a dotted name alone
    /// would declare plain objects.
    fn name_nested(&mut self) {
        let mut around: Map<String, Value> = Map::new();
        for path in self.found.keys() {
            let mut path = path.as_str();
            while let Some(nested) = self.mapping.nested_around(path) {
                around.insert(nested.path.to_string(), self.mapping.nested_declaration(&nested.path));
                path = &nested.path;
            }
        }
        self.found.extend(around);
    }

    /// Adds a new field, unless there would be too many.
    fn find(&mut self, path: &str, body: Value) -> Result<(), RequestError> {
        let limit = self.mapping.settings().limits.total_fields;
        if self.found.len() >= limit && !self.found.contains_key(path) {
            return Err(definition::total_fields_exceeded(limit));
        }
        work::check()?;
        self.found.insert(path.to_owned(), body);
        Ok(())
    }

    fn syntax(&self, found: tokens::JsonError) -> RequestError {
        error::syntax(self.bytes, self.token, &found)
    }

    fn skip(&self, at: usize) -> Result<usize, RequestError> {
        tokens::skip_value(self.bytes, at, 0, self.mapping.settings().limits.json_depth)
            .map_err(|found| self.syntax(found))
    }

    /// Reads the object whose `{` is at `at`. Returns the offset after it. `level` counts mapped levels; the
    /// root is 1.
    fn object(
        &mut self,
        context: ObjectContext,
        path: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        if level > self.mapping.settings().limits.object_levels() {
            return Err(definition::depth_exceeded(path, self.mapping.settings()));
        }
        let total_fields = self.mapping.settings().limits.total_fields;
        let mut at = skip_space(self.bytes, at + 1);
        if self.bytes.get(at) == Some(&b'}') {
            return Ok(at + 1);
        }
        loop {
            self.token = at;
            let value = tokens::key(self.bytes, at).map_err(|found| self.syntax(found))?;
            let (key_end, _) = tokens::string_end(self.bytes, at + 1).map_err(|found| self.syntax(found))?;
            let mut key = String::new();
            tokens::unescape(&self.text[at + 1..key_end], &mut key);
            at = skip_space(self.bytes, self.member(context, path, &key, value, level)?);
            // A document with very many keys is refused before all of them are converted to a mapping.
            if self.found.len() > total_fields {
                return Err(definition::total_fields_exceeded(total_fields));
            }
            match self.bytes.get(at) {
                Some(b',') => at = skip_space(self.bytes, at + 1),
                Some(b'}') => return Ok(at + 1),
                _ => return Err(self.syntax(tokens::unexpected(self.bytes, at, tokens::COMMA_IN_OBJECT))),
            }
        }
    }

    fn member(
        &mut self,
        mut context: ObjectContext,
        path: &str,
        key: &str,
        at: usize,
        mut level: usize,
    ) -> Result<usize, RequestError> {
        let tree = self.mapping.tree();
        let mut path = path.to_owned();
        let mut rest = key.trim_end_matches('.');
        let mut segments = key.trim_end_matches('.').split('.').peekable();
        while let Some(segment) = segments.next() {
            if context.names_from.is_some() {
                return self.flat_member(context, &path, rest, at, level);
            }
            rest = rest.get(segment.len() + 1..).unwrap_or_default();
            if segment.trim().is_empty() {
                // The walk reports the error.
                return self.skip(at);
            }
            let target = context.object.and_then(|object| {
                let entry = tree.find(&tree.objects[object as usize], segment.as_bytes())?;
                Some(tree.entries[entry as usize].target)
            });
            let full = if path.is_empty() { segment.to_owned() } else { format!("{path}.{segment}") };
            let is_last = segments.peek().is_none();
            match target {
                Some(Target::Object(object)) => {
                    let node = &tree.objects[object as usize];
                    if !node.enabled {
                        return self.skip(at);
                    }
                    context = self.context(object);
                    if is_last {
                        return self.objects(context, &full, at, level + 1);
                    }
                }
                Some(Target::Leaf(leaf)) => {
                    return match is_last {
                        true => self.mapped(leaf, &full, at, level),
                        false => self.skip(at),
                    };
                }
                // The walk refuses a value for an alias.
                None if tree.aliases.contains_key(full.as_str()) => return self.skip(at),
                None if context.dynamic == Dynamic::Runtime => {
                    let rest = segments.fold(full, |path, segment| format!("{path}.{segment}"));
                    return self.runtime(&rest, at, level);
                }
                None if context.dynamic != Dynamic::True => return self.skip(at),
                None if is_last => return self.unknown(&full, at, level),
                None => match self.new_object(&full, at)? {
                    Some(new) => context = new,
                    None => return self.skip(at),
                },
            }
            path = full;
            level += 1;
            if level > self.mapping.settings().limits.object_levels() {
                return Err(definition::depth_exceeded(&path, self.mapping.settings()));
            }
        }
        self.skip(at)
    }

    /// The value of a mapped field.
    fn mapped(&mut self, leaf: u32, path: &str, at: usize, level: usize) -> Result<usize, RequestError> {
        let leaf = &self.mapping.tree().leaves[leaf as usize];
        if leaf.field.constant() == Some(None) {
            self.constant(path, at)?;
        }
        for copy in &leaf.copies {
            match copy {
                Copy::Missing { path, dynamic: Dynamic::True } => {
                    self.unknown(&path.clone(), at, level)?;
                }
                Copy::Missing { path, dynamic: Dynamic::Runtime } => {
                    self.runtime(&path.clone(), at, level)?;
                }
                _ => {}
            }
        }
        self.skip(at)
    }

    /// Reads the value of a mapped object: an object, or arrays of objects.
    fn objects(
        &mut self,
        context: ObjectContext,
        path: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        match self.bytes.get(at) {
            Some(b'{') => self.object(context, path, at, level),
            Some(b'[') => self.array(at, &mut |this, at| this.objects(context, path, at, level)),
            _ => self.skip(at),
        }
    }

    /// Reads the value of a `constant_keyword` whose value is not known yet.
    fn constant(&mut self, path: &str, at: usize) -> Result<usize, RequestError> {
        match self.bytes.get(at) {
            Some(b'[') => self.array(at, &mut |this, at| this.constant(path, at)),
            Some(b'{' | b'n') => self.skip(at),
            Some(first) => {
                let end = self.skip(at)?;
                let mut text = self.text[at..end].to_owned();
                if *first == b'"' {
                    text.clear();
                    tokens::unescape(&self.text[at + 1..end - 1], &mut text);
                }
                if !self.found.contains_key(path) {
                    let mut body = json!({"type": "constant_keyword", "value": text});
                    if let Some(meta) = self.mapping.parameter(path, "meta").filter(|meta| !meta.is_null()) {
                        body["meta"] = meta;
                    }
                    self.find(path, body)?;
                }
                Ok(end)
            }
            None => self.skip(at),
        }
    }

    /// Calls `element` for each element of the array at `at` that is not itself an array, at any depth.
    fn array(
        &mut self,
        at: usize,
        element: &mut dyn FnMut(&mut Self, usize) -> Result<usize, RequestError>,
    ) -> Result<usize, RequestError> {
        // Walking twice keeps this simple: the first pass checks grammar and depth.
        let end = self.skip(at)?;
        let mut at = at;
        while at < end {
            match self.bytes[at] {
                b'[' | b']' | b',' | b' ' | b'\n' | b'\t' | b'\r' => at += 1,
                _ => at = element(self, at)?,
            }
        }
        Ok(end)
    }

    /// Adds a new object. Returns `None` if its contents are not to be read.
    fn new_object(&mut self, path: &str, at: usize) -> Result<Option<ObjectContext>, RequestError> {
        let name = path.rsplit('.').next().unwrap_or(path);
        if !self.found.contains_key(path) {
            let template = self.template(name, path, "object", at)?;
            let mut body = template.map(|template| template.mapping_for(name, "object")).unwrap_or_default();
            if !body.contains_key("type") {
                body.insert("type".into(), "object".into());
            }
            self.found.insert(path.to_owned(), Value::Object(body));
        }
        let body = &self.found[path];
        if (body["type"] != "object" && body["type"] != "nested")
            || body["enabled"] == false
            || body["enabled"] == "false"
        {
            return Ok(None);
        }
        let dynamic = match &body["dynamic"] {
            Value::Bool(false) => Dynamic::False,
            Value::String(text) if text == "false" => Dynamic::False,
            Value::String(text) if text == "strict" => Dynamic::Strict,
            Value::String(text) if text == "runtime" => Dynamic::Runtime,
            _ => Dynamic::True,
        };
        let is_flat = body["subobjects"] == false || body["subobjects"] == "false";
        Ok(Some(ObjectContext { object: None, dynamic, names_from: is_flat.then_some(path.len() + 1) }))
    }

    /// Reads the value of an unmapped path.
    fn unknown(&mut self, path: &str, at: usize, level: usize) -> Result<usize, RequestError> {
        let name = path.rsplit('.').next().unwrap_or(path);
        match self.bytes.get(at) {
            Some(b'{') => match self.new_object(path, at)? {
                Some(context) => self.object(context, path, at, level + 1),
                None => self.skip(at),
            },
            Some(b'[') => self.array(at, &mut |this, at| this.unknown(path, at, level)),
            Some(first) => self.new_field(*first, name, path, at),
            None => self.skip(at),
        }
    }

    /// The scalar at `at` of a field that nothing maps. `name`: what templates match as its name.
    fn new_field(&mut self, first: u8, name: &str, path: &str, at: usize) -> Result<usize, RequestError> {
        let end = self.skip(at)?;
        if !self.found.contains_key(path)
            && !self.mapping.makes(path)
            && let Some((json_type, kind, pattern)) = self.scalar(first, at, end)
        {
            let template = self.template(name, path, json_type, at)?;
            if let Some(template) = template.filter(|template| template.is_runtime) {
                let kind = if json_type == "string" { "keyword" } else { json_type };
                self.runtime.insert(path.to_owned(), template.mapping_for(name, kind).into());
                return Ok(end);
            }
            let inferred = match json_type {
                "string" => string(template, name),
                _ => typed(template, name, json_type, kind, pattern.as_deref()),
            };
            self.find(path, inferred)?;
        }
        Ok(end)
    }

    /// Reads the value of an unmapped path in an object whose new fields are runtime fields. Objects
    /// themselves are not added.
    fn runtime(&mut self, path: &str, at: usize, level: usize) -> Result<usize, RequestError> {
        if level > self.mapping.settings().limits.object_levels() {
            return Err(definition::depth_exceeded(path, self.mapping.settings()));
        }
        match self.bytes.get(at) {
            Some(b'{') => {
                let context = ObjectContext { object: None, dynamic: Dynamic::Runtime, names_from: None };
                self.object(context, path, at, level + 1)
            }
            Some(b'[') => self.array(at, &mut |this, at| this.runtime(path, at, level)),
            Some(first) => {
                let end = self.skip(at)?;
                let is_known = self.mapping.field(path).is_some()
                    || self.runtime.contains_key(path)
                    || self.found.contains_key(path);
                let Some((json_type, _, pattern)) = self.scalar(*first, at, end).filter(|_| !is_known) else {
                    return Ok(end);
                };
                let name = path.rsplit('.').next().unwrap_or(path);
                if self.template(name, path, json_type, at)?.is_some() {
                    return self.unknown(path, at, level);
                }
                let kind = if json_type == "string" { "keyword" } else { json_type };
                let mut body = json!({"type": kind});
                if let Some(pattern) = pattern {
                    body["format"] = pattern.into();
                }
                self.runtime.insert(path.to_owned(), body);
                Ok(end)
            }
            None => self.skip(at),
        }
    }

    /// Returns the JSON type of a scalar as dynamic mapping sees it, the type that a mapped field gets, and
    /// the format of a date if the type's default does not cover it; `None` for null.
    fn scalar(
        &self,
        first: u8,
        at: usize,
        end: usize,
    ) -> Option<(&'static str, &'static str, Option<String>)> {
        let number = |is_whole| if is_whole { ("long", "long", None) } else { ("double", "float", None) };
        match first {
            b'n' => None,
            b't' | b'f' => Some(("boolean", "boolean", None)),
            b'"' => {
                let mut text = String::new();
                tokens::unescape(&self.text[at + 1..end - 1], &mut text);
                let is_long = text.parse::<i64>().is_ok();
                let is_double = !is_long && crate::number::double_from_text(&text).is_some();
                if self.mapping.numeric_detection() && (is_long || is_double) {
                    return Some(number(is_long));
                }
                let mut formats = self.mapping.date_formats().iter();
                if self.mapping.date_detection()
                    && !is_long
                    && !is_double
                    && let Some(format) = formats.find(|format| format.parse_millis(&text).is_ok())
                {
                    let is_default = format.pattern == "strict_date_optional_time";
                    return Some(("date", "date", (!is_default).then(|| format.pattern.to_string())));
                }
                Some(("string", "text", None))
            }
            _ => Some(number(!self.bytes[at..end].iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')))),
        }
    }
}

fn string(template: Option<&Template>, name: &str) -> Value {
    match template {
        Some(template) => Value::Object(template.mapping_for(name, "text")),
        None => json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}),
    }
}

fn typed(
    template: Option<&Template>,
    name: &str,
    json_type: &str,
    kind: &str,
    format: Option<&str>,
) -> Value {
    let mut body = match template {
        Some(template) => template.mapping_for(name, kind),
        None => {
            let mut body = Map::new();
            body.insert("type".into(), kind.into());
            body
        }
    };
    let is_of = |name: &str| body.get("type").is_some_and(|kind| kind == name);
    // The default of detected dates, which is not that of `date_nanos`.
    let format = format.or_else(|| (json_type == "date" && is_of("date_nanos")).then_some(MILLIS_FORMAT));
    if let Some(format) = format
        && (is_of("date") || is_of("date_nanos"))
        && !body.contains_key("format")
    {
        body.insert("format".into(), format.into());
    }
    Value::Object(body)
}
