//! What one thread keeps between documents, so that the next one costs no allocation.

use std::collections::{HashMap, HashSet};

use crate::mapping::Mapping;

/// Buffers and predictions of one thread. Bound to a mapping by its first use; another mapping resets it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Identity of the mapping that `next` and `seen` speak of.
    pub(super) mapping_identity: u64,
    /// The entry that followed last time: `[entry_count + object_count]`, an object's own slot standing for
    /// its start.
    pub(super) next: Vec<u32>,
    /// Number of the object instance an entry was last met in, against duplicate keys: `[entry_count]`.
    pub(super) seen: Vec<u32>,
    pub(super) instance: u32,
    /// Number of the document a leaf was last named in `_field_names` or `_ignored`: `[leaf_count]`.
    pub(super) named: Vec<u32>,
    pub(super) ignored: Vec<u32>,
    pub(super) document: u32,
    /// As `named`, for fields that a document has once.
    pub(super) single: Vec<u32>,
    /// The named features of the document, by leaf.
    features: (u32, HashMap<u32, HashSet<String>>),
    /// Values of `@timestamp` in the document of a data stream.
    pub(super) timestamps: u32,
    /// Numbers given so far: nested documents have numbers of their own.
    pub(super) last_document: u32,
    /// Nested documents of the document in work.
    pub(super) nested_objects: usize,
    /// Unescaped strings.
    pub(super) unescaped: String,
    /// Unmapped keys of the objects that are open, with their instance, against duplicates.
    pub(super) unmapped_keys: Vec<(u32, std::ops::Range<usize>)>,
    /// `_id` of the document, for error messages only.
    pub(super) id: String,
    /// Whether the document came with a routing, which children of others need.
    pub(super) has_routing: bool,
}

impl Scratch {
    /// Scratch space that holds nothing yet; it grows with the documents that are parsed and is used again.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Names the next document, so that its errors say "in document with id '...'"; forgotten after that
    /// document.
    pub fn for_document(&mut self, id: &str) -> &mut Scratch {
        self.id.clear();
        self.id.push_str(id);
        self.has_routing = false;
        self
    }

    /// The next document came with a routing, or without.
    pub fn routed(&mut self, has_routing: bool) -> &mut Scratch {
        self.has_routing = has_routing;
        self
    }

    #[inline]
    pub(super) fn prepare(&mut self, mapping: &Mapping) {
        if self.mapping_identity != mapping.identity()
            || self.instance > u32::MAX / 2
            || self.last_document > u32::MAX / 2
        {
            self.reset(mapping);
        }
        self.next_document();
        self.nested_objects = 0;
        self.timestamps = 0;
        self.unmapped_keys.clear();
    }

    /// The names of the features that a leaf has had in the document.
    pub(super) fn features_of(&mut self, leaf: u32) -> &mut HashSet<String> {
        let (document, by_leaf) = &mut self.features;
        if *document != self.document {
            *document = self.document;
            by_leaf.clear();
        }
        by_leaf.entry(leaf).or_default()
    }

    /// Another document's values follow.
    #[inline]
    pub(super) fn next_document(&mut self) {
        self.last_document += 1;
        self.document = self.last_document;
    }

    #[cold]
    fn reset(&mut self, mapping: &Mapping) {
        self.mapping_identity = mapping.identity();
        self.instance = 0;
        self.last_document = 0;
        let tree = mapping.tree();
        for (list, length, fill) in [
            (&mut self.next, tree.entries.len() + tree.objects.len(), u32::MAX),
            (&mut self.seen, tree.entries.len(), 0),
            (&mut self.named, tree.leaves.len(), 0),
            (&mut self.single, tree.leaves.len(), 0),
            (&mut self.ignored, tree.leaves.len(), 0),
        ] {
            list.clear();
            list.resize(length, fill);
        }
    }
}
