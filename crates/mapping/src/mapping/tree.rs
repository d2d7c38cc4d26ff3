//! The mapping in the form in which the walker uses it: objects, their keys, and the fields that a key's
//! value feeds.

mod names;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::RequestError;
use crate::definition::{self, Dynamic, Includes, Node, Root};
use crate::field::{self, Field, Flattened, Nested, OwnedScalar, Reads, SpaceId, keyed_path};

/// What a key refers to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    Leaf(u32),
    Object(u32),
}

/// A key of an object.
#[derive(Debug)]
pub(crate) struct Entry {
    pub key: Box<[u8]>,
    /// The key and its closing quote, as they occur in a document. If the key needs escapes, this is a byte
    /// that occurs in no document.
    pub quoted: Box<[u8]>,
    /// The first eight bytes of `quoted`, little-endian, and a mask of the bytes that it has.
    head: (u64, u64),
    /// The last eight bytes of `quoted` if it has more than eight.
    tail: u64,
    pub target: Target,
}

impl Entry {
    fn new(key: &str, target: Target) -> Entry {
        let mut quoted = key.as_bytes().to_vec();
        quoted.push(b'"');
        if key.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
            quoted = vec![0];
        }
        let mut head = [0; 8];
        let shown = quoted.len().min(8);
        head[..shown].copy_from_slice(&quoted[..shown]);
        let mask = if shown == 8 { u64::MAX } else { (1 << (8 * shown)) - 1 };
        let tail = quoted.last_chunk::<8>().map_or(0, |tail| u64::from_le_bytes(*tail));
        Entry {
            key: key.as_bytes().into(),
            head: (u64::from_le_bytes(head), mask),
            tail,
            quoted: quoted.into(),
            target,
        }
    }

    /// Whether the document continues with this key and its closing quote. Compares two words for keys of up
    /// to 15 bytes, instead of calling `memcmp`.
    #[inline(always)]
    pub fn starts(&self, document: &[u8]) -> bool {
        let length = self.quoted.len();
        let Some(head) = document.first_chunk::<8>() else { return document.starts_with(&self.quoted) };
        if (u64::from_le_bytes(*head) ^ self.head.0) & self.head.1 != 0 {
            return false;
        }
        if length <= 8 {
            return true;
        }
        match document.get(length - 8..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(tail) if u64::from_le_bytes(*tail) == self.tail => {
                length <= 16 || document.starts_with(&self.quoted)
            }
            _ => false,
        }
    }
}

/// An object of the mapping. The root is the first.
#[derive(Debug)]
pub struct ObjectNode {
    /// Full dotted path; "" for the root.
    pub path: Arc<str>,
    pub(crate) dynamic: Dynamic,
    pub(crate) enabled: bool,
    /// Whether it is of type `nested`: each of its instances is a separate document.
    pub(crate) nested: Option<NestedNode>,
    /// Names with dots are names of its fields (`subobjects: false`).
    pub(crate) is_flat: bool,
    /// Set if the mapping does not declare this object. Its name is then the beginning of names of fields of
    /// the given flat object, and documents may contain an object there. It is flat as well.
    pub(crate) begins_names_of: Option<u32>,
    keys: HashTable<u32>,
}

impl ObjectNode {
    /// Returns how this object treats unknown fields (inherited from the parent objects unless set here).
    pub fn dynamic(&self) -> Dynamic {
        self.dynamic
    }

    /// Returns `enabled`: false if the object's contents are only kept in `_source`.
    pub fn enabled(&self) -> bool {
        self.enabled
    }
}

/// The properties of a nested object that the walker needs.
#[derive(Debug)]
pub(crate) struct NestedNode {
    pub nested: Arc<Nested>,
    /// The enclosing documents that also get its values (`include_in_parent`, `include_in_root`).
    pub also: Box<[SpaceId]>,
}

/// Whether more than one value of a field in a document is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SingleValued {
    No,
    Dimension,
    /// No value at all is an error too.
    Timestamp,
}

/// Longest term in bytes (Lucene's `IndexWriter.MAX_TERM_LENGTH`).
pub(crate) const TERM_BYTES_MAX: usize = 32_766;

/// The target of `copy_to`.
#[derive(Debug)]
pub(crate) enum Copy {
    Leaf(u32),
    /// An alias of a field, which takes no values.
    Alias(Arc<str>),
    /// An object, which takes no values.
    Object(u32),
    /// A field that is not mapped. `above` is the deepest object around it: its `dynamic` decides.
    Missing {
        path: Arc<str>,
        above: u32,
    },
}

/// A leaf field with all properties that the walker needs.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub field: Arc<Field>,
    pub reads: Reads,
    /// A script computes its values; documents contain none.
    pub is_scripted: bool,
    /// Whether the sink needs its values at all.
    pub is_fed: bool,
    /// It has neither multi-fields nor copies, and any number of values is allowed.
    pub is_plain: bool,
    /// Whether a document may have at most one value: a time series dimension, or the timestamp of a data
    /// stream.
    pub single_valued: SingleValued,
    /// Listed in `_field_names`, because it has neither doc values nor norms.
    pub is_named: bool,
    /// In UTF-16 units; `u32::MAX` for no limit.
    pub ignore_above: u32,
    /// UTF-8 length up to which a keyword cannot exceed any limit, so that no further check is needed.
    pub quick_bytes_max: usize,
    pub null: Option<OwnedScalar>,
    pub multi_fields: Box<[u32]>,
    pub copies: Box<[Copy]>,
    /// For a join: the name of each parent relation and the leaf for the parents' ids.
    pub parents: Box<[(Box<str>, u32)]>,
    /// For a flattened field: the leaf of its keyed terms.
    pub keyed: Option<u32>,
    /// The space of its values.
    pub space: SpaceId,
    /// The flat object (`subobjects: false`) that it is a field of.
    pub flat_in: Option<u32>,
    /// The object for documents that have one at this name, if the names of other fields begin with it.
    pub beginning: Option<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub entries: Vec<Entry>,
    pub objects: Vec<ObjectNode>,
    pub leaves: Vec<Leaf>,
    /// Aliases of fields with the paths of those fields. Keys of documents do not match them.
    pub aliases: BTreeMap<Arc<str>, Arc<str>>,
}

/// Assigns fields to leaves and spaces to nested objects.
pub(crate) trait Intern {
    fn field(&mut self, leaf: &field::Leaf, path: &str) -> Result<Arc<Field>, RequestError>;
    fn nested(&mut self, path: &str, parent: SpaceId, include_in_root: bool) -> Arc<Nested>;
}

/// What an object inherits from the enclosing one.
#[derive(Clone, Copy)]
struct Around<'a> {
    dynamic: Dynamic,
    space: SpaceId,
    also: &'a [SpaceId],
}

impl Tree {
    /// Compiles a definition.
    pub fn grow(root: &Root, intern: &mut dyn Intern) -> Result<Tree, RequestError> {
        let mut tree = Tree::default();
        let outside = Around { dynamic: Dynamic::True, space: SpaceId::ROOT, also: &[] };
        tree.object(&root.object, "", outside, intern)?;
        tree.alias_dotted_names();
        tree.resolve_copies();
        tree.find_timestamp(root);
        if root.field_names == Some(false) {
            tree.leaves.iter_mut().for_each(|leaf| leaf.is_named = false);
        }
        tree.check_copies()?;
        Ok(tree)
    }

    fn object(
        &mut self,
        object: &definition::Object,
        path: &str,
        around: Around<'_>,
        intern: &mut dyn Intern,
    ) -> Result<u32, RequestError> {
        let number = self.objects.len() as u32;
        let mut inside = Around { dynamic: object.dynamic.unwrap_or(around.dynamic), ..around };
        let also;
        let nested = match object.nested {
            None => None,
            Some(includes) => {
                let nested = intern.nested(path, around.space, includes.root);
                also = spaces_included(includes, around);
                inside = Around { space: nested.space, also: &also, ..inside };
                Some(NestedNode { nested, also: also.as_slice().into() })
            }
        };
        self.objects.push(ObjectNode {
            path: Arc::from(path),
            dynamic: inside.dynamic,
            enabled: object.enabled.unwrap_or(true),
            nested,
            is_flat: object.is_flat(),
            begins_names_of: None,
            keys: HashTable::new(),
        });
        for (name, node) in &object.properties {
            let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let target = match node {
                Node::Object(inner) => Target::Object(self.object(inner, &full, inside, intern)?),
                Node::Leaf(leaf) => Target::Leaf(self.leaf(leaf, &full, inside.space, intern)?),
                Node::Alias(target) => {
                    self.aliases.insert(full.into(), target.as_str().into());
                    continue;
                }
            };
            self.add(number, name, target);
        }
        if object.is_flat() {
            self.add_beginnings(number, object)?;
        }
        Ok(number)
    }

    fn leaf(
        &mut self,
        leaf: &field::Leaf,
        path: &str,
        space: SpaceId,
        intern: &mut dyn Intern,
    ) -> Result<u32, RequestError> {
        let field = intern.field(leaf, path)?;
        let number = self.leaves.len() as u32;
        self.leaves.push(Leaf::new(field, space));
        let mut multi_fields = Vec::new();
        for (name, sub) in &leaf.beside() {
            let sub = self.leaf(sub, &format!("{path}.{name}"), space, intern)?;
            multi_fields.push(sub);
            // The additional fields of a multi-field are fed together with it.
            multi_fields.extend_from_slice(&self.leaves[sub as usize].multi_fields);
        }
        if let Some(keyed) = leaf.keyed() {
            let keyed = self.leaf(&keyed, &keyed_path(path), space, intern)?;
            self.leaves[number as usize].keyed = Some(keyed);
        }
        if let Some(relations) = self.leaves[number as usize].field.relations.clone() {
            if space != SpaceId::ROOT {
                let reason =
                    format!("join field [{path}] cannot be added inside an object or in a multi-field");
                return Err(RequestError::illegal_argument(reason));
            }
            let mut parents = Vec::new();
            for parent in relations.parents() {
                let ids = relations.ids_path(path, parent);
                let ids = self.leaf(&field::Leaf::of(&crate::field_type::Keyword), &ids, space, intern)?;
                parents.push((parent.into(), ids));
            }
            self.leaves[number as usize].parents = parents.into();
        }
        let is_dimension = leaf.flag("time_series_dimension");
        let leaf = &mut self.leaves[number as usize];
        leaf.single_valued = if is_dimension { SingleValued::Dimension } else { SingleValued::No };
        leaf.is_plain &= multi_fields.is_empty() && !is_dimension;
        leaf.multi_fields = multi_fields.into();
        Ok(number)
    }

    fn add(&mut self, object: u32, key: &str, target: Target) {
        let number = self.entries.len() as u32;
        self.entries.push(Entry::new(key, target));
        let keys = &mut self.objects[object as usize].keys;
        let entries = &self.entries;
        keys.insert_unique(hash(key.as_bytes()), number, |&entry| hash(&entries[entry as usize].key));
    }

    fn find_timestamp(&mut self, root: &Root) {
        if root.data_stream_timestamp != Some(true) {
            return;
        }
        let is_timestamp = |leaf: &&mut Leaf| *leaf.field.path == *definition::data_stream::TIMESTAMP;
        if let Some(leaf) = self.leaves.iter_mut().find(is_timestamp) {
            leaf.single_valued = SingleValued::Timestamp;
            leaf.is_plain = false;
        }
    }

    fn resolve_copies(&mut self) {
        let by_path: HashMap<Arc<str>, u32> = self
            .leaves
            .iter()
            .enumerate()
            .filter(|(_, leaf)| leaf.field.flattened != Some(Flattened::Keyed))
            .map(|(number, leaf)| (leaf.field.path.clone(), number as u32))
            .collect();
        for number in 0..self.leaves.len() {
            let field = self.leaves[number].field.clone();
            let copies: Box<[Copy]> = (field.copy_to.iter())
                .filter_map(|path| match by_path.get(path) {
                    Some(&leaf) => Some(Copy::Leaf(leaf)),
                    None if self.aliases.contains_key(path) => Some(Copy::Alias(path.clone())),
                    None => self.copy_to_no_field(path),
                })
                .collect();
            let leaf = &mut self.leaves[number];
            leaf.is_plain &= copies.is_empty();
            leaf.copies = copies;
        }
    }

    /// Refuses `copy_to` from a document to one that does not enclose it.
    fn check_copies(&self) -> Result<(), RequestError> {
        let nested_of = |space: SpaceId| {
            let mut nested = self.objects.iter().filter_map(|object| object.nested.as_ref());
            nested.find(|node| node.nested.space == space).map(|node| &node.nested)
        };
        let name_of = |space| nested_of(space).map_or("null", |nested| &nested.path);
        for leaf in &self.leaves {
            for copy in &leaf.copies {
                let &Copy::Leaf(target) = copy else { continue };
                let to = self.leaves[target as usize].space;
                let mut around = Some(leaf.space);
                while let Some(space) = around.filter(|space| *space != to) {
                    around = nested_of(space).map(|nested| nested.parent);
                }
                if around.is_none() {
                    return Err(RequestError::illegal_argument(format!(
                        "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to the current nested \
                         document or any of its parents, however one [copy_to] directive is trying to copy data from nested object [{}] \
                         to [{}]",
                        name_of(leaf.space),
                        name_of(to)
                    )));
                }
            }
        }
        Ok(())
    }

    /// Returns the number of objects that the mapping declares, including the root.
    pub fn object_count(&self) -> usize {
        self.objects.iter().filter(|object| object.begins_names_of.is_none()).count()
    }

    /// Whether the mapping declares an object at this path.
    pub fn is_object(&self, path: &str) -> bool {
        self.objects.iter().any(|object| *object.path == *path && object.begins_names_of.is_none())
    }

    /// Returns the target for a path without a field; `None` in an object whose contents are not read.
    fn copy_to_no_field(&self, path: &Arc<str>) -> Option<Copy> {
        let at = |path: &str| self.objects.iter().position(|object| *object.path == *path);
        let is_declared = |number: &usize| self.objects[*number].begins_names_of.is_none();
        if let Some(object) = at(path).filter(is_declared) {
            return self.objects[object].enabled.then_some(Copy::Object(object as u32));
        }
        let mut around = path.rmatch_indices('.').map(|(dot, _)| &path[..dot]);
        let above = around.find_map(at).unwrap_or(0);
        self.objects[above].enabled.then(|| Copy::Missing { path: path.clone(), above: above as u32 })
    }

    /// Returns the entry of `key` in an object.
    #[inline]
    pub fn find(&self, object: &ObjectNode, key: &[u8]) -> Option<u32> {
        object.keys.find(hash(key), |&entry| *self.entries[entry as usize].key == *key).copied()
    }
}

impl Leaf {
    fn new(field: Arc<Field>, space: SpaceId) -> Leaf {
        let is_flattened = matches!(field.flattened, Some(Flattened::Root { .. }));
        Leaf {
            reads: field.of.reads(),
            is_scripted: field.script.is_some(),
            is_fed: (field.index || field.doc_values) && field.runtime.is_none() && field.script.is_none(),
            is_plain: true,
            single_valued: SingleValued::No,
            is_named: field.is_named(),
            ignore_above: field.ignore_above.unwrap_or(u32::MAX),
            quick_bytes_max: match field.normalizer {
                Some(_) => 0,
                None => (field.ignore_above.unwrap_or(u32::MAX) as usize).min(TERM_BYTES_MAX),
            },
            // The `null_value` of a flattened field applies to its keys.
            null: field.null_value.as_ref().filter(|_| !is_flattened).map(|null| field.of.null(null)),
            multi_fields: Box::default(),
            copies: Box::default(),
            parents: Box::default(),
            keyed: None,
            space,
            flat_in: None,
            beginning: None,
            field,
        }
    }
}

/// Returns the documents that get the values of a nested object besides its own: its parent, with the
/// documents that get the parent's values, and the root.
fn spaces_included(includes: Includes, around: Around<'_>) -> Vec<SpaceId> {
    let mut also = Vec::new();
    if includes.parent {
        also.push(around.space);
        also.extend_from_slice(around.also);
    }
    if includes.root && !also.contains(&SpaceId::ROOT) {
        also.push(SpaceId::ROOT);
    }
    also
}

#[inline]
fn hash(key: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::with_seed(0x6c69_6d62_6572).hash_one(key)
}
