//! The mapping that a document needs: "which types does dynamic mapping give to its unmapped fields?"
//!
//! Source: `DocumentParser`, `DynamicFieldsBuilder`, `DynamicTemplate`.

mod flat;
mod scalar;
mod unmapped;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::doc_count::DOC_COUNT;
use super::error;
use super::json::{self as tokens, JsonErrorKind};
use super::key_name;
use super::scan::skip_space;
use crate::RequestError;
use crate::definition::{self, Dynamic};
use crate::mapping::Mapping;
use crate::mapping::tree::{Copy, ObjectNode, Target};
use unmapped::name_of;

/// Returns a body for [`Mapping::merge`] that adds every unmapped field of `source` that `dynamic: true`
/// allows: strings become `text` with a `keyword` multi-field (or dates and numbers if detection is on),
/// integers `long`, fractions `float`.
///
/// Called after [`super::parse`] returned `NeedsMapping`. Errors are those of the walk.
pub fn infer(mapping: &Mapping, source: &[u8]) -> Result<Value, RequestError> {
    infer_by(mapping, source, &HashMap::new())
}

/// Works like [`infer`], but fields whose full path is in `templates` get the dynamic template of that name,
/// whether it matches or not (`dynamic_templates` of a bulk operation).
///
/// # Errors
/// Also: there is no template of that name.
pub fn infer_by(
    mapping: &Mapping,
    source: &[u8],
    templates: &HashMap<String, String>,
) -> Result<Value, RequestError> {
    // Expressions of dynamic templates that are not kept are compiled for each field.
    let _limited = limber_work::limit_patterns();
    let text = match std::str::from_utf8(source) {
        Ok(text) => text,
        Err(invalid) => {
            let found = tokens::error(invalid.valid_up_to(), JsonErrorKind::InvalidUtf8);
            return Err(error::syntax(source, 0, &found));
        }
    };
    let mut inference = Inference::of(mapping, text, templates, 0);
    let start = skip_space(source, 0);
    if source.get(start) == Some(&b'{') {
        let root = inference.context(0);
        inference.object(root, "", start, 1)?;
    }
    inference.name_nested();
    inference.name_flat();
    let mut body = json!({"properties": inference.found});
    if mapping.tree().objects[0].is_flat {
        body["subobjects"] = false.into();
    }
    if !inference.runtime.is_empty() {
        body["runtime"] = inference.runtime.into();
    }
    Ok(body)
}

/// Whether dynamic mapping adds fields for a member that `object` does not know. `places`: the offsets of its
/// key and of its value.
///
/// # Errors
/// The object takes only members that a dynamic template matches, and none matches.
pub(super) fn adds_member(
    mapping: &Mapping,
    text: &str,
    object: &ObjectNode,
    key: &str,
    (quote, at): (usize, usize),
) -> Result<bool, RequestError> {
    let objects = &mapping.tree().objects;
    let Some(number) = objects.iter().position(|one| std::ptr::eq(one, object)) else { return Ok(false) };
    let templates = HashMap::new();
    let mut inference = Inference::of(mapping, text, &templates, quote);
    let level = object.path.split('.').filter(|part| !part.is_empty()).count() + 1;
    inference.member(inference.context(number as u32), &object.path, key, at, level)?;
    Ok(inference.has_found())
}

/// Whether dynamic mapping adds a field for the scalar at `at` that is copied to `path`, below the object
/// with the number `above`.
///
/// # Errors
/// The object takes only fields that a dynamic template matches, and none matches.
pub(super) fn adds_copy(
    mapping: &Mapping,
    text: &str,
    above: u32,
    path: &str,
    at: usize,
) -> Result<bool, RequestError> {
    let templates = HashMap::new();
    let mut inference = Inference::of(mapping, text, &templates, at);
    inference.copied(inference.context(above), path, at, 1)?;
    Ok(inference.has_found())
}

struct Inference<'a> {
    mapping: &'a Mapping,
    /// Full path to the name of a template that was asked for.
    templates: &'a HashMap<String, String>,
    text: &'a str,
    bytes: &'a [u8],
    /// New fields: full path to mapping, in document order.
    found: Map<String, Value>,
    /// How many fields that adds to the mapping.
    found_count: usize,
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
    fn of(
        mapping: &'a Mapping,
        text: &'a str,
        templates: &'a HashMap<String, String>,
        token: usize,
    ) -> Inference<'a> {
        let (found, runtime) = (Map::new(), Map::new());
        Inference { mapping, templates, text, bytes: text.as_bytes(), found, found_count: 0, runtime, token }
    }

    fn has_found(&self) -> bool {
        !self.found.is_empty() || !self.runtime.is_empty()
    }

    fn context(&self, number: u32) -> ObjectContext {
        let tree = self.mapping.tree();
        let node = &tree.objects[number as usize];
        let owner = &tree.objects[node.begins_names_of.unwrap_or(number) as usize];
        ObjectContext {
            object: Some(number),
            dynamic: node.dynamic,
            names_from: node.is_flat.then(|| owner.names_from()),
        }
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

    /// Adds the declarations of the objects without objects that enclose the new fields. They come before
    /// those fields, because a name with dots would declare objects in them.
    fn name_flat(&mut self) {
        let objects = self.mapping.tree().objects.iter();
        let flat: Vec<&str> = objects
            .filter(|object| object.is_flat && object.begins_names_of.is_none() && !object.path.is_empty())
            .map(|object| &*object.path)
            .collect();
        if flat.is_empty() {
            return;
        }
        let mut around: Map<String, Value> = Map::new();
        for field in self.found.keys() {
            let starts = field.match_indices('.').map(|(dot, _)| &field[..dot]);
            for path in starts.filter(|path| flat.contains(path)) {
                around.insert(path.to_owned(), json!({"type": "object", "subobjects": false}));
            }
        }
        around.append(&mut self.found);
        self.found = around;
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
            let end = match context.object == Some(0) && key == DOC_COUNT {
                true => self.skip(value)?,
                false => self.member(context, path, &key, value, level)?,
            };
            at = skip_space(self.bytes, end);
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
        // The walk does not read the keys in objects that are not added.
        if context.names_from.is_none()
            && let Some(refused) = key_name::refused(self.bytes, self.token, key)
        {
            return Err(refused);
        }
        let tree = self.mapping.tree();
        let mut path = path.to_owned();
        let mut rest = key.trim_end_matches('.');
        let mut segments = key.trim_end_matches('.').split('.').peekable();
        while let Some(segment) = segments.next() {
            if context.names_from.is_some() {
                return self.flat_member(context, &path, rest, at, level);
            }
            rest = rest.get(segment.len() + 1..).unwrap_or_default();
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
                    return self.runtime(context, &rest, at, level);
                }
                None if !context.dynamic.adds_fields() => return self.skip(at),
                None if self.mapping.is_known(Dynamic::True, &full) => return self.skip(at),
                None if is_last => return self.unknown(context.dynamic, &full, at, level),
                None => match self.new_object(context.dynamic, &full, at)? {
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

    /// Reads the value at `at` of a mapped field.
    fn mapped(&mut self, leaf: u32, path: &str, at: usize, level: usize) -> Result<usize, RequestError> {
        let leaf = &self.mapping.tree().leaves[leaf as usize];
        if leaf.field.constant() == Some(None) {
            self.constant(path, at)?;
        }
        for copy in &leaf.copies {
            if let Copy::Missing { path, above } = copy {
                self.copied(self.context(*above), path, at, level)?;
            }
        }
        self.skip(at)
    }

    /// Reads the value at `at` of a field that copies it to an unmapped path in an object of `context`.
    /// Objects are not copied.
    fn copied(
        &mut self,
        context: ObjectContext,
        path: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        match (self.bytes.get(at), context.dynamic) {
            (Some(b'['), _) => self.array(at, &mut |this, at| this.copied(context, path, at, level)),
            (Some(b'{'), _) => self.skip(at),
            (_, Dynamic::Runtime) => self.runtime(context, path, at, level),
            (_, Dynamic::False | Dynamic::Strict) => self.skip(at),
            (_, dynamic) => self.new_field(dynamic, name_of(path, context.names_from), path, at),
        }
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
                    // It has been counted.
                    self.check_room()?;
                    self.found.insert(path.to_owned(), body);
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
}
