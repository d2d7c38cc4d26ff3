//! State that a thread keeps between documents, so that parsing does not allocate for each.

use std::collections::{HashMap, HashSet};

use crate::mapping::Mapping;

/// Buffers and predictions of one thread. The first use binds it to a mapping; another mapping resets it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The identity of the mapping to which `next` and `seen` refer.
    pub(super) mapping_identity: u64,
    /// The entry that followed last time: `[entry_count + object_count]`. An object's own slot stands for its
    /// start.
    pub(super) next: Vec<u32>,
    /// The number of the object instance in which an entry was last seen, to detect duplicate keys:
    /// `[entry_count]`.
    pub(super) seen: Vec<u32>,
    pub(super) instance: u32,
    /// The number of the document for which a leaf was last listed in `_field_names` or `_ignored`:
    /// `[leaf_count]`.
    pub(super) named: Vec<u32>,
    pub(super) ignored: Vec<u32>,
    pub(super) document: u32,
    /// Like `named`, for fields that a document may have only once.
    pub(super) single: Vec<u32>,
    /// The named features of the current document, by leaf.
    features: (u32, HashMap<u32, HashSet<String>>),
    /// Number of `@timestamp` values in the current document of a data stream.
    pub(super) timestamps: u32,
    /// The last document number that was assigned; nested documents have their own numbers.
    pub(super) last_document: u32,
    /// Number of nested documents in the current document.
    pub(super) nested_objects: usize,
    /// Buffer for unescaped strings.
    pub(super) unescaped: String,
    /// Unmapped keys of the open objects, with their instance, to detect duplicates.
    pub(super) unmapped_keys: Vec<(u32, std::ops::Range<usize>)>,
    /// `_id` of the document, for error messages only.
    pub(super) id: String,
    /// Whether the document was sent with a routing, which children in a join need.
    pub(super) has_routing: bool,
}

impl Scratch {
    /// Creates empty scratch space, which grows with the documents that are parsed and is reused.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Sets the id of the next document, so that its errors say "in document with id '...'". It is forgotten
    /// after that document.
    pub fn for_document(&mut self, id: &str) -> &mut Scratch {
        self.id.clear();
        self.id.push_str(id);
        self.has_routing = false;
        self
    }

    /// Sets whether the next document was sent with a routing.
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

    /// Returns the names of the features that a leaf has had in the current document.
    pub(super) fn features_of(&mut self, leaf: u32) -> &mut HashSet<String> {
        let (document, by_leaf) = &mut self.features;
        if *document != self.document {
            *document = self.document;
            by_leaf.clear();
        }
        by_leaf.entry(leaf).or_default()
    }

    /// Starts the next document.
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
