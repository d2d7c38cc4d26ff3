//! Changes of a document's tree. Callers mark every container on the path with
//! [`IngestDocument::mark_edited`].

use limber_mapping::RequestError;

use super::ingest_document::IngestDocument;
use super::json;
use super::members::LOOKED_THROUGH_MAX;
use super::node::{Key, Kind, NONE, Node, NodeId, Span, flag, key_tag};

impl IngestDocument<'_> {
    /// Notes that something below the container has changed, so that its original text is out of date.
    pub fn mark_edited(&mut self, container: NodeId) {
        self.nodes[container as usize].flags |= flag::EDITED;
    }

    /// Replaces the value of `id`, keeping its key.
    pub fn replace(&mut self, id: NodeId, value: Node) {
        self.appended = (NONE, NONE);
        self.members.get_mut().forget(id);
        let old = &mut self.nodes[id as usize];
        let flags = (old.flags & flag::KEY_ESCAPED) | (value.flags & !flag::KEY_ESCAPED);
        *old = Node {
            kind: value.kind,
            flags,
            key: old.key,
            text: value.text,
            first: value.first,
            next: old.next,
        };
    }

    /// Appends a child. Arrays ignore `key`.
    pub fn append_child(&mut self, parent: NodeId, key: &str, value: Node) -> Result<NodeId, RequestError> {
        let mut last = self.node(parent).first;
        if self.appended.0 == parent {
            last = self.appended.1;
        } else if let Some(end) = self.members.get_mut().end_of(parent) {
            last = end;
        }
        let mut walked = 0;
        while last != NONE && self.node(last).next != NONE {
            last = self.node(last).next;
            walked += 1;
        }
        if walked > LOOKED_THROUGH_MAX {
            self.members.get_mut().keep_end(parent, last);
        }
        self.append_child_after(parent, last, key, value)
    }

    /// Works like [`Self::append_child`] when the last child is known ([`NONE`] when there is none).
    pub fn append_child_after(
        &mut self,
        parent: NodeId,
        last: NodeId,
        key: &str,
        value: Node,
    ) -> Result<NodeId, RequestError> {
        let mut value = Node { key: Key::default(), next: NONE, ..value };
        value.flags &= !flag::KEY_ESCAPED;
        self.check_room(key.len())?;
        if self.node(parent).kind == Kind::Object {
            // The comma is included because a member after the first is copied together with it.
            self.arena.push_str(",\"");
            let start = self.arena_start();
            if json::push_escaped(&mut self.arena, key) {
                value.flags |= flag::KEY_ESCAPED;
            }
            let text = Span { start, len: self.arena_start() - start };
            value.key = Key { text, tag: key_tag(key.as_bytes()) };
            self.arena.push_str("\":");
        }
        let child = self.add(value);
        if last == NONE {
            self.nodes[parent as usize].first = child;
        } else {
            self.nodes[last as usize].next = child;
        }
        self.appended = (parent, child);
        self.members.get_mut().appended(parent, key, child, last);
        self.mark_edited(parent);
        Ok(child)
    }

    /// Removes `child` from `parent`; `before` comes from [`Self::member`] or [`Self::element`].
    pub fn unlink(&mut self, parent: NodeId, child: NodeId, before: NodeId) {
        self.appended = (NONE, NONE);
        let next = self.node(child).next;
        if self.node(parent).kind == Kind::Array {
            self.members.get_mut().forget(parent);
        } else if !self.members.get_mut().is_empty() {
            let mut members = self.members.take();
            let name = self.key(child);
            let after = (next != NONE).then(|| (self.key(next), next));
            let after = after.as_ref().map(|(name, next)| (&**name, *next));
            members.removed(parent, (&*name, child), before, after);
            self.members.replace(members);
        }
        if before == NONE {
            self.nodes[parent as usize].first = next;
        } else {
            self.nodes[before as usize].next = next;
        }
        self.mark_edited(parent);
    }
}
