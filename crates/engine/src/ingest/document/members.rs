//! Members of large objects by name: "which of a hundred thousand members is called so?"
//!
//! The members of an object are a list. One that is looked through for long gets an index, which appending
//! and taking out keep true, so that a processor that makes one member after the other (`kv`, `csv`, `json`)
//! does not take quadratic time.

use std::collections::HashMap;

use super::node::NodeId;

/// Members that are looked through before an index is made.
pub const LOOKED_THROUGH_MAX: usize = 64;
/// Objects with an index at a time.
const OBJECTS_MAX: usize = 16;

/// The indices of a document's large objects.
#[derive(Debug, Default)]
pub struct Members {
    by_object: HashMap<NodeId, Index>,
    /// The last child of containers whose children were walked for long to find it.
    ends: HashMap<NodeId, NodeId>,
}

/// The members of one object, each with the one before it.
#[derive(Debug)]
pub struct Index {
    by_name: HashMap<Box<str>, (NodeId, NodeId)>,
    /// The last member.
    pub last: NodeId,
    /// Two members have the same name: only the first is here.
    has_doubles: bool,
}

impl Index {
    /// An index without members of an object whose last member is `last`.
    pub fn new(last: NodeId) -> Index {
        Index { by_name: HashMap::new(), last, has_doubles: false }
    }

    /// Adds a member, and the one before it. The first of several with the same name counts.
    pub fn put(&mut self, name: &str, member: NodeId, before: NodeId) {
        match self.by_name.contains_key(name) {
            true => self.has_doubles = true,
            false => drop(self.by_name.insert(name.into(), (member, before))),
        }
    }

    /// The member of this name, and the one before it.
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

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.by_object.is_empty() && self.ends.is_empty()
    }

    /// The last child of a container, where it is known.
    pub fn end_of(&self, container: NodeId) -> Option<NodeId> {
        self.ends.get(&container).copied()
    }

    /// Notes the last child of a container.
    pub fn keep_end(&mut self, container: NodeId, last: NodeId) {
        self.ends.insert(container, last);
    }

    /// The members of an object, where they are known.
    pub fn of(&self, object: NodeId) -> Option<&Index> {
        self.by_object.get(&object)
    }

    /// Keeps the members of an object.
    pub fn keep(&mut self, object: NodeId, index: Index) {
        if self.by_object.len() >= OBJECTS_MAX {
            self.by_object.clear();
        }
        self.by_object.insert(object, index);
    }

    /// Forgets what is known of an object.
    pub fn forget(&mut self, object: NodeId) {
        if !self.is_empty() {
            self.by_object.remove(&object);
            self.ends.remove(&object);
        }
    }

    /// `member` was appended after `before`.
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

    /// The member `name` was taken out from between `before` and `next`, a member's number and name.
    pub fn taken_out(
        &mut self,
        object: NodeId,
        (name, member): (&str, NodeId),
        before: NodeId,
        next: Option<(&str, NodeId)>,
    ) {
        self.ends.remove(&object);
        let Some(index) = self.by_object.get_mut(&object) else { return };
        let is_known = index.by_name.get(name).is_some_and(|(known, _)| *known == member);
        if index.has_doubles || !is_known {
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
