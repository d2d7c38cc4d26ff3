//! Indices over the members of large objects: "which of a hundred thousand members has this name?"
//!
//! The members of an object form a linked list. When a search has to walk many of them, the object gets an
//! index, which appending and removing keep up to date, so that a processor that makes one member after the
//! other (`kv`, `csv`, `json`) does not take quadratic time.

use std::collections::HashMap;

use super::node::NodeId;

/// How many members a search walks before an index is built.
pub const LOOKED_THROUGH_MAX: usize = 64;
/// How many objects have an index at the same time.
const OBJECTS_MAX: usize = 16;

/// The indices of a document's large objects.
#[derive(Debug, Default)]
pub struct Members {
    by_object: HashMap<NodeId, Index>,
    /// The last child of containers for which finding it took a long walk.
    ends: HashMap<NodeId, NodeId>,
}

/// The members of one object, each with the member before it.
#[derive(Debug)]
pub struct Index {
    by_name: HashMap<Box<str>, (NodeId, NodeId)>,
    /// The last member.
    pub last: NodeId,
    /// Whether two members have the same name; only the first is in the index.
    has_duplicates: bool,
}

impl Index {
    /// Makes an empty index for an object whose last member is `last`.
    pub fn new(last: NodeId) -> Index {
        Index { by_name: HashMap::new(), last, has_duplicates: false }
    }

    /// Adds a member, and the one before it. If several members have the same name, the first is kept.
    pub fn put(&mut self, name: &str, member: NodeId, before: NodeId) {
        match self.by_name.contains_key(name) {
            true => self.has_duplicates = true,
            false => drop(self.by_name.insert(name.into(), (member, before))),
        }
    }

    /// Returns the member with this name, and the one before it.
    pub fn get(&self, name: &str) -> Option<(NodeId, NodeId)> {
        self.by_name.get(name).copied()
    }
}

impl Members {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            *self = Members::default();
        }
    }

    /// Whether nothing is indexed.
    pub fn is_empty(&self) -> bool {
        self.by_object.is_empty() && self.ends.is_empty()
    }

    /// Returns the last child of a container, if known.
    pub fn end_of(&self, container: NodeId) -> Option<NodeId> {
        self.ends.get(&container).copied()
    }

    /// Notes the last child of a container.
    pub fn keep_end(&mut self, container: NodeId, last: NodeId) {
        self.ends.insert(container, last);
    }

    /// Returns the index of an object, if there is one.
    pub fn of(&self, object: NodeId) -> Option<&Index> {
        self.by_object.get(&object)
    }

    /// Keeps the index of an object.
    pub fn keep(&mut self, object: NodeId, index: Index) {
        if self.by_object.len() >= OBJECTS_MAX {
            self.by_object.clear();
        }
        self.by_object.insert(object, index);
    }

    /// Forgets the index of an object.
    pub fn forget(&mut self, object: NodeId) {
        if !self.is_empty() {
            self.by_object.remove(&object);
            self.ends.remove(&object);
        }
    }

    /// Records that `member` was appended after `before`.
    pub fn appended(&mut self, object: NodeId, name: &str, member: NodeId, before: NodeId) {
        if self.is_empty() {
            return;
        }
        if let Some(end) = self.ends.get_mut(&object) {
            *end = member;
        }
        let Some(index) = self.by_object.get_mut(&object) else { return };
        match index.last == before {
            true => {
                index.put(name, member, before);
                index.last = member;
            }
            false => self.forget(object),
        }
    }

    /// Records that the member `name` was removed from between `before` and `next` (name and node of the next
    /// member).
    pub fn removed(
        &mut self,
        object: NodeId,
        (name, member): (&str, NodeId),
        before: NodeId,
        next: Option<(&str, NodeId)>,
    ) {
        self.ends.remove(&object);
        let Some(index) = self.by_object.get_mut(&object) else { return };
        let is_known = index.by_name.get(name).is_some_and(|(known, _)| *known == member);
        if index.has_duplicates || !is_known {
            self.forget(object);
            return;
        }
        index.by_name.remove(name);
        match next {
            None => index.last = before,
            Some((name, next)) => match index.by_name.get_mut(name) {
                Some(place) if place.0 == next => place.1 = before,
                _ => self.forget(object),
            },
        }
    }
}
