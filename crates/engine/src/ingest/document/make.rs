//! New values of a document: each is checked against the document's limits before it takes memory.

use limber_mapping::RequestError;
use limber_work as work;

use super::ingest_document::{
    ASK_EVERY_BYTES, GROWTH_BYTES_MAX, IngestDocument, NODE_COUNT_MAX, TEXT_BYTES_MAX, check_depth,
    nodes_bytes_max, too_large,
};
use super::json;
use super::node::{Key, Kind, NONE, Node, NodeId, Span, flag};

impl IngestDocument<'_> {
    pub(super) fn arena_start(&self) -> u32 {
        (self.source.len() + self.arena.len()) as u32
    }

    /// Checks the limits. **Invariant**: whatever makes a value or a string calls this first, so that no
    /// processor can grow a document without a check.
    #[inline]
    pub(super) fn check_room(&mut self, more_bytes: usize) -> Result<(), RequestError> {
        if self.held_bytes() + more_bytes > self.asked_again_at {
            self.ask_for_room(more_bytes)?;
        }
        self.check_limits(more_bytes)
    }

    /// Checks the limits before a processor makes a string of `length` bytes that may be much longer than its
    /// input.
    pub fn ask_for_text(&mut self, length: usize) -> Result<(), RequestError> {
        self.check_limits(length)?;
        Ok(work::claim(length as u64)?)
    }

    #[cold]
    fn ask_for_room(&mut self, more_bytes: usize) -> Result<(), RequestError> {
        // A full vector is copied to one of twice its size, so three times the size is needed for a moment.
        work::claim(3 * (self.held_bytes() + more_bytes) as u64)?;
        self.asked_again_at = self.held_bytes() + more_bytes + ASK_EVERY_BYTES.max(self.held_bytes() / 4);
        Ok(())
    }

    fn check_limits(&self, more_bytes: usize) -> Result<(), RequestError> {
        let made_bytes = self.arena.len() + more_bytes;
        if self.source.len() + made_bytes > TEXT_BYTES_MAX || made_bytes > self.made_bytes_max() {
            return Err(too_large());
        }
        if self.nodes.len() > NODE_COUNT_MAX {
            return Err(too_large());
        }
        Ok(())
    }

    pub(in crate::ingest) fn made_bytes_max(&self) -> usize {
        GROWTH_BYTES_MAX + 2 * self.source.len()
    }

    /// Adds a value that is not part of the tree yet.
    pub fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeId
    }

    /// Makes a string.
    pub fn make_string(&mut self, value: &str) -> Result<Node, RequestError> {
        self.make_string_with(value.len(), |out| json::push_escaped(out, value))
    }

    /// Makes a string whose escaped JSON `fill` appends; `fill` returns whether it contains escapes.
    #[inline]
    pub fn make_string_with(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut String) -> bool,
    ) -> Result<Node, RequestError> {
        self.check_room(bytes)?;
        let start = self.arena_start();
        self.arena.push('"');
        let escaped = fill(&mut self.arena);
        self.arena.push('"');
        // What `fill` appended may be longer than its input.
        if let Err(error) = self.check_room(0) {
            self.arena.truncate(start as usize - self.source.len());
            return Err(error);
        }
        let text = Span { start, len: self.arena_start() - start };
        let flags = if escaped { flag::TEXT_ESCAPED } else { 0 };
        Ok(Node { flags, ..Node::leaf(Kind::String, text) })
    }

    /// Makes a number, boolean or null from its JSON text.
    pub fn make_scalar(&mut self, kind: Kind, text: &str) -> Result<Node, RequestError> {
        self.check_room(text.len())?;
        let start = self.arena_start();
        self.arena.push_str(text);
        Ok(Node::leaf(kind, Span { start, len: text.len() as u32 }))
    }

    /// Makes a boolean.
    pub fn make_bool(&mut self, value: bool) -> Result<Node, RequestError> {
        if value { self.make_scalar(Kind::True, "true") } else { self.make_scalar(Kind::False, "false") }
    }

    /// Makes a value from JSON text, which may be followed by more text. Returns the offset of that too.
    pub fn make_json(
        &mut self,
        text: &str,
    ) -> Result<Result<(NodeId, usize), json::SyntaxError>, RequestError> {
        self.check_room(text.len())?;
        work::claim(nodes_bytes_max(text.as_bytes()))?;
        let node_count = self.nodes.len();
        let base = self.source.len() as u32;
        let offset = self.arena.len();
        self.arena.push_str(text);
        let parsed = json::parse(self.arena.as_bytes(), offset, base, &mut self.nodes, &mut self.stack);
        Ok(match parsed {
            Ok((node, end)) => Ok((node, end - offset)),
            Err(mut error) => {
                self.nodes.truncate(node_count);
                self.arena.truncate(offset);
                error.offset -= offset;
                Err(error)
            }
        })
    }

    /// Makes a value from text that is known to be JSON. The value is not part of the tree yet.
    ///
    /// # Errors
    /// Fails when the document has become too large.
    pub fn make_sound_json(&mut self, text: &str) -> Result<Node, RequestError> {
        match self.make_json(text)? {
            Ok((id, _)) => Ok(*self.node(id)),
            // The only possible error is that there are too many values.
            Err(_) => Err(too_large()),
        }
    }

    /// Makes a deep copy of a value, without a key and outside the tree.
    pub fn copy(&mut self, id: NodeId, depth: usize) -> Result<Node, RequestError> {
        check_depth(depth)?;
        self.check_room(0)?;
        let mut node = *self.node(id);
        let mut child = node.first;
        let mut last = NONE;
        (node.first, node.next, node.key) = (NONE, NONE, Key::default());
        node.flags &= !flag::KEY_ESCAPED;
        while child != NONE {
            let original = *self.node(child);
            let mut copied = self.copy(child, depth + 1)?;
            copied.key = original.key;
            copied.flags |= original.flags & flag::KEY_ESCAPED;
            let copied = self.add(copied);
            if last == NONE {
                node.first = copied;
            } else {
                self.nodes[last as usize].next = copied;
            }
            last = copied;
            child = original.next;
        }
        Ok(node)
    }
}
