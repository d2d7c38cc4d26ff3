//! What a mapping answers: fields by path, by pattern and by id, objects, parameters.

use std::collections::HashSet;
use std::sync::Arc;

use limber_text::wildcard;
use serde_json::Value;

use super::Mapping;
use crate::date::DateFormat;
use crate::definition::{Node, SourceRule, Template};
use crate::field::{Field, FieldId, Flattened, KEY_END, Leaf, Nested, keyed_path};
use crate::reserved;
use crate::settings::MappingSettings;
use crate::synthetic::SyntheticPlan;
use crate::tree::{ObjectNode, Tree};

impl Mapping {
    /// The runtime fields, by path.
    pub fn runtime_fields(&self) -> impl Iterator<Item = &Arc<Field>> {
        self.runtime.values()
    }

    /// Whether a runtime field of the mapping has this full path.
    pub(crate) fn makes(&self, path: &str) -> bool {
        self.runtime.contains_key(path)
    }

    /// The field (runtime fields, multi-fields and reserved ones included) at this full path, or that an
    /// alias of this name stands for.
    pub fn field(&self, path: &str) -> Option<Arc<Field>> {
        let own = self.own_field(path).or_else(|| self.own_field(self.alias(path)?));
        let own = own.filter(|field| !is_hidden(field));
        let own = own.or_else(|| self.index_field.as_ref().filter(|field| *field.path == *path));
        own.cloned().or_else(|| self.key(path))
    }

    /// The key of a flattened field, or of an alias of one, that has this full path.
    fn key(&self, path: &str) -> Option<Arc<Field>> {
        if path.as_bytes().contains(&KEY_END) {
            return None;
        }
        // A name may have as many dots as bytes, and each part of it is hashed anew: those that are longer
        // than any root are not looked up.
        let parents = path.match_indices('.').map(|(dot, _)| (&path[..dot], &path[dot + 1..]));
        let mut parents = parents.take_while(|(parent, _)| parent.len() <= self.root_bytes_max);
        parents.find_map(|(parent, key)| {
            let root = self.own_field(parent).or_else(|| self.own_field(self.alias(parent)?))?;
            if !matches!(root.flattened, Some(Flattened::Root { .. })) {
                return None;
            }
            let keyed = self.mapped_field(&keyed_path(&root.path))?;
            Some(Arc::new(Field {
                path: format!("{}.{key}", root.path).into(),
                index: root.index,
                doc_values: root.doc_values,
                splits_queries: root.splits_queries,
                flattened: Some(Flattened::Key),
                ..Field::bare(keyed.id, keyed.path.clone(), keyed.of, keyed.values.clone())
            }))
        })
    }

    /// As [`Mapping::field`], without aliases, `_index` and keys of flattened fields.
    pub(super) fn own_field(&self, path: &str) -> Option<&Arc<Field>> {
        self.runtime.get(path).or_else(|| self.mapped_field(path))
    }

    /// The path that an alias of this name stands for.
    pub fn alias(&self, name: &str) -> Option<&Arc<str>> {
        self.tree.aliases.get(name)
    }

    /// The aliases by name, and the fields that they stand for.
    pub fn aliases(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Field>)> {
        self.tree.aliases.iter().filter_map(|(name, path)| Some((name, self.own_field(path)?)))
    }

    /// The leaf field that documents feed (multi-fields and reserved ones included) at this full path.
    pub fn mapped_field(&self, path: &str) -> Option<&Arc<Field>> {
        self.ids.get(path).map(|id| &self.fields[id.0 as usize])
    }

    /// Panics when the id is of another index.
    pub fn field_by_id(&self, id: FieldId) -> &Arc<Field> {
        &self.fields[id.0 as usize]
    }

    /// All fields, by id; the first [`reserved::COUNT`] are the reserved ones.
    pub fn fields(&self) -> &[Arc<Field>] {
        &self.fields
    }

    /// What is kept of documents' JSON.
    pub fn source(&self) -> &SourceRule {
        &self.source
    }

    /// The paths whose values are kept for stored fields (`store: true`), where the source is not kept whole.
    pub fn stored_beside_source(&self) -> &[String] {
        &self.stored
    }

    /// How documents' JSON is made again; `None` where it is kept or not.
    pub fn synthetic(&self) -> Option<&Arc<SyntheticPlan>> {
        self.synthetic.as_ref()
    }

    /// The fields of type `percolator`: whoever writes a document adds what finds their queries.
    pub fn queries(&self) -> &[Arc<Field>] {
        &self.queries
    }

    /// The fields with a script, by path: whoever writes a document adds their values.
    pub fn scripted(&self) -> &[Arc<Field>] {
        &self.scripted
    }

    /// This mapping as the scripts of [`Mapping::scripted`] see it: without them, without runtime fields,
    /// with whole sources. `None` where there are no such scripts.
    pub fn seen_by_scripts(&self) -> Option<&Arc<Mapping>> {
        self.seen_by_scripts.as_ref()
    }

    /// The object at this full path; "" is the root.
    pub fn object(&self, path: &str) -> Option<&ObjectNode> {
        let mut objects = self.tree.objects.iter().filter(|object| object.begins_names_of.is_none());
        objects.find(|object| &*object.path == path)
    }

    /// All nested objects; that of [`crate::SpaceId`] `n` is at `n - 1`.
    pub fn nested_objects(&self) -> &[Arc<Nested>] {
        &self.nested
    }

    /// The nested object at this full path.
    pub fn nested(&self, path: &str) -> Option<&Arc<Nested>> {
        self.nested.iter().find(|nested| &*nested.path == path)
    }

    /// The nested objects whose documents hold what lies at this path (of a field or an object); `None` for
    /// the root's own.
    pub fn nested_around(&self, path: &str) -> Option<&Arc<Nested>> {
        let is_around = |nested: &&Arc<Nested>| {
            path.strip_prefix(&*nested.path).is_some_and(|rest| rest.starts_with('.'))
        };
        self.nested.iter().filter(is_around).max_by_key(|nested| nested.path.len())
    }

    /// A nested object as an update has to name it.
    pub(crate) fn nested_declaration(&self, path: &str) -> Value {
        let mut object = &self.root.object;
        for segment in path.split('.') {
            match object.properties.get(segment) {
                Some(Node::Object(inner)) => object = inner,
                _ => break,
            }
        }
        let includes = object.nested.unwrap_or_default();
        serde_json::json!({
            "type": "nested", "include_in_parent": includes.parent, "include_in_root": includes.root
        })
    }

    /// The user's fields whose path fits a pattern with `*`: mapped ones by id, then runtime fields by path.
    /// Without a `*`, the field of that path (reserved ones included).
    pub fn matching<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = Arc<Field>> {
        let is_pattern = pattern.contains('*');
        let exact = if is_pattern { None } else { self.field(pattern) };
        let mapped = if is_pattern { &self.fields[reserved::COUNT..] } else { &[] };
        let is_passed_over = |field: &Field| self.runtime.contains_key(&field.path) || is_hidden(field);
        let mapped = mapped.iter().filter(move |field| !is_passed_over(field));
        let runtime = is_pattern.then(|| self.runtime.values()).into_iter().flatten();
        let fits = move |field: &&Arc<Field>| wildcard::matches(pattern, &field.path);
        exact.into_iter().chain(mapped.chain(runtime).filter(fits).cloned())
    }

    /// As [`Mapping::matching`], with aliases, each under the name that it was asked for by.
    pub fn matching_names<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = (Arc<str>, Arc<Field>)> {
        let is_pattern = pattern.contains('*');
        let named =
            move |field: Arc<Field>| (if is_pattern { field.path.clone() } else { pattern.into() }, field);
        let aliases = is_pattern.then(|| self.aliases()).into_iter().flatten();
        let fits = move |(name, _): &(&Arc<str>, &Arc<Field>)| wildcard::matches(pattern, name);
        self.matching(pattern)
            .map(named)
            .chain(aliases.filter(fits).map(|(name, field)| (name.clone(), field.clone())))
    }

    /// As [`Mapping::matching_names`], each field once, however many aliases of it fit.
    pub fn matching_distinct<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = Arc<Field>> {
        let mut seen = HashSet::new();
        self.matching_names(pattern)
            .map(|(_, field)| field)
            .filter(move |field| seen.insert(field.path.clone()))
    }

    /// A declared parameter, or its default, of the field at `path` (`fielddata`, `format`, `meta`, ...);
    /// None when the field or the parameter does not exist.
    pub fn parameter(&self, path: &str, name: &str) -> Option<Value> {
        let leaf = self.definition_of(path)?;
        leaf.kind.param(name)?;
        Some(leaf.param(name))
    }

    fn definition_of(&self, path: &str) -> Option<&Leaf> {
        let mut object = &self.root.object;
        let mut path = path;
        loop {
            let (name, rest) = match path.split_once('.') {
                Some((name, rest)) if !object.is_flat() => (name, Some(rest)),
                // The whole of it is a field's name, or all but a multi-field's.
                _ => match path.rsplit_once('.').filter(|_| !object.properties.contains_key(path)) {
                    Some((name, part)) => (name, Some(part)),
                    None => (path, None),
                },
            };
            match (object.properties.get(name)?, rest) {
                (Node::Object(inner), Some(rest)) => (object, path) = (inner, rest),
                (Node::Object(_), None) => return None,
                (Node::Alias(path), _) => return self.definition_of(path),
                (Node::Leaf(leaf), None) => return Some(leaf),
                (Node::Leaf(leaf), Some(part)) => return leaf.fields.get(part),
            }
        }
    }

    /// `_routing.required`.
    pub fn routing_required(&self) -> bool {
        self.root.routing_required == Some(true)
    }

    /// Each document has exactly one `@timestamp` (`_data_stream_timestamp`).
    pub fn has_timestamp(&self) -> bool {
        self.has_timestamp
    }

    /// `_meta`.
    pub fn meta(&self) -> Option<&Value> {
        self.root.meta.as_ref()
    }

    /// The index settings that the mapping was parsed under.
    pub fn settings(&self) -> &MappingSettings {
        &self.settings
    }

    /// A number that no other mapping of this process has.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn date_detection(&self) -> bool {
        self.root.date_detection.unwrap_or(true)
    }

    pub(crate) fn numeric_detection(&self) -> bool {
        self.root.numeric_detection.unwrap_or(false)
    }

    pub(crate) fn date_formats(&self) -> &[Arc<DateFormat>] {
        &self.date_formats
    }

    pub(crate) fn templates(&self) -> &[Template] {
        self.root.dynamic_templates.as_deref().unwrap_or_default()
    }

    /// Leaf fields, multi-fields and objects together, as `index.mapping.total_fields.limit` counts them.
    pub(crate) fn total_fields(&self) -> usize {
        let tree = &self.tree;
        let keyed = tree.leaves.iter().filter(|leaf| leaf.keyed.is_some()).count();
        let parts = tree.leaves.iter().filter(|leaf| leaf.field.is_part).count();
        tree.leaves.len() - keyed - parts + tree.aliases.len() + tree.object_count() - 1
            + self.root.runtime.len()
    }
}

/// Whether no name finds a field.
fn is_hidden(field: &Field) -> bool {
    field.is_hidden || field.flattened == Some(Flattened::Keyed)
}
