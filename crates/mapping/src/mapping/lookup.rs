//! Look-ups in a mapping: fields by path, by pattern and by id, objects, parameters.

use std::collections::HashSet;
use std::sync::Arc;

use limber_text::wildcard;
use serde_json::Value;

use super::Mapping;
use crate::date::DateFormat;
use crate::definition::{self, Dynamic, Node, SourceRule, Template};
use crate::field::{Field, FieldId, Flattened, KEY_END, Leaf, Nested, keyed_path};
use crate::mapping::tree::{self, ObjectNode, SingleValued, Tree};
use crate::reserved;
use crate::settings::MappingSettings;
use crate::synthetic::SyntheticPlan;

impl Mapping {
    /// Returns the runtime fields, by path.
    pub fn runtime_fields(&self) -> impl Iterator<Item = &Arc<Field>> {
        self.runtime.values()
    }

    /// Whether this full path, which a document contains but to which no key of the mapping leads, already
    /// has a field, so that dynamic mapping adds none: a runtime field, or a multi-field given by its full
    /// name. `dynamic` is the setting in force there. With `runtime`, any other field at the path prevents a
    /// new runtime field as well.
    ///
    /// Source: `DocumentParser#getLeafMapper`, which ignores the value.
    pub(crate) fn is_known(&self, dynamic: Dynamic, path: &str) -> bool {
        match dynamic {
            Dynamic::Runtime => self.field(path).is_some(),
            _ => self.own_field(path).is_some(),
        }
    }

    /// Returns the field at this full path (including runtime fields, multi-fields and reserved fields), or
    /// the target of an alias with this name.
    pub fn field(&self, path: &str) -> Option<Arc<Field>> {
        let own = self.own_field(path).or_else(|| self.own_field(self.alias(path)?));
        // Values of `_ignored` are names of fields, also of hidden ones.
        let names_hidden = |field: &Field| self.hides_fields() && field.id == reserved::IGNORED;
        let own = own.filter(|field| !is_hidden(field) && !names_hidden(field));
        let own = own.or_else(|| self.index_field.as_ref().filter(|field| *field.path == *path));
        own.cloned().or_else(|| self.key(path))
    }

    /// Returns the paths at which a document has a field's values: its own (that of its parent for a
    /// multi-field), and those of the fields that are copied to it.
    ///
    /// Source: `MappingLookup#sourcePaths`.
    pub fn source_paths<'m>(&'m self, field: &'m Field) -> Vec<&'m str> {
        let parent = field.path.rsplit_once('.').and_then(|(parent, _)| self.own_field(parent));
        let own = match parent.filter(|parent| parent.multi_fields.contains(&field.id)) {
            Some(parent) => &*parent.path,
            None => &*field.path,
        };
        let copied = self.copies.get(own).into_iter().flatten().map(|path| &**path);
        std::iter::once(own).chain(copied).collect()
    }

    /// Returns the key of a flattened field, or of an alias of one, with this full path.
    fn key(&self, path: &str) -> Option<Arc<Field>> {
        if path.as_bytes().contains(&KEY_END) {
            return None;
        }
        // A name may consist of dots, and each of its prefixes is hashed separately. Prefixes that are longer
        // than any flattened field's name are not looked up.
        let parents = path.match_indices('.').map(|(dot, _)| (&path[..dot], &path[dot + 1..]));
        let mut parents = parents.take_while(|(parent, _)| parent.len() <= self.root_bytes_max);
        parents.find_map(|(parent, key)| {
            let root = self.own_field(parent).or_else(|| self.own_field(self.alias(parent)?))?;
            if !matches!(root.flattened, Some(Flattened::Root { .. })) {
                return None;
            }
            let keyed = self.mapped_field(&keyed_path(&root.path))?;
            let path = format!("{}.{key}", root.path);
            if !self.shows(&path) {
                return None;
            }
            Some(Arc::new(Field {
                path: path.into(),
                index: root.index,
                doc_values: root.doc_values,
                splits_queries: root.splits_queries,
                flattened: Some(Flattened::Key),
                ..Field::bare(keyed.id, keyed.path.clone(), keyed.of, keyed.values.clone())
            }))
        })
    }

    /// Like [`Mapping::field`], without aliases, `_index` and keys of flattened fields.
    pub(super) fn own_field(&self, path: &str) -> Option<&Arc<Field>> {
        self.runtime.get(path).or_else(|| self.mapped_field(path))
    }

    /// Returns the path to which an alias with this name refers.
    pub fn alias(&self, name: &str) -> Option<&Arc<str>> {
        self.tree.aliases.get(name)
    }

    /// Returns the aliases by name, with their fields.
    pub fn aliases(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Field>)> {
        self.tree.aliases.iter().filter_map(|(name, path)| Some((name, self.own_field(path)?)))
    }

    /// Returns the leaf field at this full path that documents feed (including multi-fields and reserved
    /// fields).
    pub fn mapped_field(&self, path: &str) -> Option<&Arc<Field>> {
        self.ids.get(path).map(|id| &self.fields[id.0 as usize])
    }

    /// Returns the field with this id. Panics if the id belongs to another index.
    pub fn field_by_id(&self, id: FieldId) -> &Arc<Field> {
        &self.fields[id.0 as usize]
    }

    /// Returns all fields, by id; the first [`reserved::COUNT`] are the reserved ones.
    pub fn fields(&self) -> &[Arc<Field>] {
        &self.fields
    }

    /// Returns what is stored of documents' JSON.
    pub fn source(&self) -> &SourceRule {
        &self.source
    }

    /// Returns the paths whose values are stored for stored fields (`store: true`), if the whole source is
    /// not stored.
    pub fn stored_beside_source(&self) -> &[String] {
        &self.stored
    }

    /// Returns how documents' JSON is rebuilt; `None` unless the source is synthetic.
    pub fn synthetic(&self) -> Option<&Arc<SyntheticPlan>> {
        self.synthetic.as_ref()
    }

    /// Returns the fields of type `percolator`. The code that writes a document adds the terms by which their
    /// queries are found.
    pub fn queries(&self) -> &[Arc<Field>] {
        &self.queries
    }

    /// Returns the fields with a script, by path. The code that writes a document adds their values.
    pub fn scripted(&self) -> &[Arc<Field>] {
        &self.scripted
    }

    /// Returns this mapping as the scripts of [`Mapping::scripted`] see it: without those fields, without
    /// runtime fields, with the whole source. `None` if there are no such scripts.
    pub fn seen_by_scripts(&self) -> Option<&Arc<Mapping>> {
        self.seen_by_scripts.as_ref()
    }

    /// Returns the object at this full path; "" is the root.
    pub fn object(&self, path: &str) -> Option<&ObjectNode> {
        let mut objects = self.tree.objects.iter().filter(|object| object.begins_names_of.is_none());
        objects.find(|object| &*object.path == path)
    }

    /// Returns all nested objects; that of [`crate::SpaceId`] `n` is at `n - 1`.
    pub fn nested_objects(&self) -> &[Arc<Nested>] {
        &self.nested
    }

    /// Returns the nested object at this full path.
    pub fn nested(&self, path: &str) -> Option<&Arc<Nested>> {
        self.nested.iter().find(|nested| &*nested.path == path)
    }

    /// Returns the nested objects whose documents contain the field or object at this path; `None` if it is
    /// in the top-level document.
    pub fn nested_around(&self, path: &str) -> Option<&Arc<Nested>> {
        let is_around = |nested: &&Arc<Nested>| {
            path.strip_prefix(&*nested.path).is_some_and(|rest| rest.starts_with('.'))
        };
        self.nested.iter().filter(is_around).max_by_key(|nested| nested.path.len())
    }

    /// Returns the declaration of a nested object for use in an update.
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

    /// Returns the user's fields whose path matches a pattern with `*`: mapped fields by id, then runtime
    /// fields by path. Without a `*`, returns the field at that path (including reserved ones).
    pub fn matching<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = Arc<Field>> {
        let is_pattern = pattern.contains('*');
        let exact = if is_pattern { None } else { self.field(pattern) };
        let mapped = if is_pattern { &self.fields[reserved::COUNT..] } else { &[] };
        let is_passed_over =
            |field: &Field| self.runtime.contains_key(&field.path) || is_hidden(field) || self.is_tsid(field);
        let mapped = mapped.iter().filter(move |field| !is_passed_over(field));
        let runtime = is_pattern.then(|| self.runtime.values()).into_iter().flatten();
        let fits = move |field: &&Arc<Field>| wildcard::matches(pattern, &field.path);
        exact.into_iter().chain(mapped.chain(runtime).filter(fits).cloned())
    }

    /// Like [`Mapping::matching`], including aliases, each with the name under which it matched.
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

    /// Like [`Mapping::matching_names`], but returns each field once, however many aliases of it match.
    pub fn matching_distinct<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = Arc<Field>> {
        let mut seen = HashSet::new();
        self.matching_names(pattern)
            .map(|(_, field)| field)
            .filter(move |field| seen.insert(field.path.clone()))
    }

    /// Returns a declared parameter, or its default, of the field at `path` (`fielddata`, `format`, `meta`,
    /// ...); `None` if the field or the parameter does not exist.
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

    /// Returns `_routing.required`.
    pub fn routing_required(&self) -> bool {
        self.root.routing_required == Some(true)
    }

    /// Whether each document must have exactly one `@timestamp` (`_data_stream_timestamp`).
    pub fn has_timestamp(&self) -> bool {
        self.has_timestamp
    }

    /// Whether the field is `_tsid` of an index of time series.
    fn is_tsid(&self, field: &Field) -> bool {
        self.series.as_ref().is_some_and(|series| series.tsid.id == field.id)
    }

    /// Returns the paths of the dimensions of an index of time series, in order.
    pub fn dimensions(&self) -> Vec<Arc<str>> {
        let dimensions = self.series.iter().flat_map(|series| series.dimensions.iter().cloned());
        let mut dimensions: Vec<Arc<str>> = dimensions.collect();
        dimensions.sort_unstable();
        dimensions
    }

    /// Returns `_meta`.
    pub fn meta(&self) -> Option<&Value> {
        self.root.meta.as_ref()
    }

    /// Returns the index settings under which the mapping was parsed.
    pub fn settings(&self) -> &MappingSettings {
        &self.settings
    }

    /// Returns a number that is unique among all mappings of this process.
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

    /// Returns the number of leaf fields, multi-fields and objects, as `index.mapping.total_fields.limit`
    /// counts them.
    pub(crate) fn total_fields(&self) -> usize {
        let tree = &self.tree;
        let keyed = tree.leaves.iter().filter(|leaf| leaf.keyed.is_some()).count();
        let parts = tree.leaves.iter().filter(|leaf| leaf.field.is_part).count();
        tree.leaves.len() - keyed - parts + tree.aliases.len() + tree.object_count() - 1
            + self.root.runtime.len()
    }

    /// Returns how many different parents the nested objects have, as `index.mapping.nested_parents.limit`
    /// counts them. The root is one.
    pub(crate) fn nested_parents(&self) -> usize {
        self.nested.iter().map(|nested| nested.parent).collect::<HashSet<_>>().len()
    }

    /// Returns the number of fields that are dimensions, as `index.mapping.dimension_fields.limit` counts
    /// them. A flattened field counts once, however many of its keys are dimensions.
    pub(crate) fn dimension_fields(&self) -> usize {
        let is_dimension = |leaf: &&tree::Leaf| match leaf.keyed {
            Some(_) => !definition::series_keys(&self.root, &leaf.field.path).is_empty(),
            None => leaf.single_valued == SingleValued::Dimension,
        };
        self.tree.leaves.iter().filter(is_dimension).count()
    }
}

/// Whether no name or pattern matches the field.
fn is_hidden(field: &Field) -> bool {
    field.is_hidden || field.flattened == Some(Flattened::Keyed)
}
