//! The document as text again: "what is in it now?"
//!
//! Whatever was not edited is copied, as few and as long ranges of the source as there are.

use limber_mapping::RequestError;

use super::document::{IngestDocument, check_depth, too_large};
use super::node::{Kind, NONE, Node, NodeId, Span, flag};

impl IngestDocument<'_> {
    /// Appends the JSON text of a value, copying whatever was not edited.
    pub fn write(&self, id: NodeId, out: &mut Vec<u8>) -> Result<(), RequestError> {
        out.reserve(self.source.len() + self.arena.len());
        let end_max = out.len() + self.source.len() + self.made_bytes_max();
        let mut copy =
            Copy { source: self.source.as_bytes(), arena: self.arena.as_bytes(), from: 0, to: 0, out };
        self.write_below(id, &mut copy, 0, end_max)?;
        copy.flush();
        Ok(())
    }

    fn write_below(
        &self,
        id: NodeId,
        copy: &mut Copy<'_>,
        depth: usize,
        end_max: usize,
    ) -> Result<(), RequestError> {
        let node = self.node(id);
        if !node.is(flag::EDITED) {
            copy.push_span(node.text);
            return Ok(());
        }
        check_depth(depth)?;
        let is_object = node.kind == Kind::Object;
        copy.push(if is_object { b'{' } else { b'[' });
        let mut child = node.first;
        while child != NONE {
            let member = self.node(child);
            if child != node.first {
                if is_object && copy.push_next(member) {
                    child = member.next;
                    continue;
                }
                copy.push(b',');
            }
            // Copies of a value share its text until they are written.
            if copy.end() > end_max {
                return Err(too_large());
            }
            if is_object {
                // With the quotes around it.
                copy.push_span(Span { start: member.key.start - 1, len: member.key.len + 2 });
                copy.push(b':');
            }
            if member.is(flag::EDITED) {
                self.write_below(child, copy, depth + 1, end_max)?;
            } else {
                copy.push_span(member.text);
            }
            child = member.next;
        }
        copy.push(if is_object { b'}' } else { b']' });
        Ok(())
    }

    /// The value as JSON text.
    pub fn json(&self, id: NodeId) -> Result<String, RequestError> {
        let mut out = Vec::new();
        self.write(id, &mut out)?;
        Ok(String::from_utf8(out).expect("nodes hold slices of valid UTF-8"))
    }
}

/// Text on its way out: what follows one another in the source (or the arena), punctuation included, is copied as one.
struct Copy<'o> {
    source: &'o [u8],
    arena: &'o [u8],
    /// Not copied yet: a range of either text, positions as in a [`Span`].
    from: usize,
    to: usize,
    out: &'o mut Vec<u8>,
}

impl<'o> Copy<'o> {
    /// Length of the output with what is not copied yet.
    fn end(&self) -> usize {
        self.out.len() + self.to - self.from
    }

    /// The text in which the pending range lies, and where that begins and ends.
    #[inline]
    fn pending(&self) -> (&'o [u8], usize, usize) {
        match self.from.checked_sub(self.source.len()) {
            None => (self.source, self.from, self.to),
            Some(from) => (self.arena, from, self.to - self.source.len()),
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        let (text, _, to) = self.pending();
        if text.get(to) == Some(&byte) {
            self.to += 1;
        } else {
            self.flush();
            self.out.push(byte);
        }
    }

    /// Appends `,"key":value` if that is what follows in the source; whether it was.
    #[inline]
    fn push_next(&mut self, member: &Node) -> bool {
        let (key, value) = (member.key, member.text);
        // No room for more than `,"` before the key and `":` behind it.
        let follows = key.start as usize == self.to + 2
            && value.start == key.start + key.len + 2
            && !member.is(flag::EDITED)
            && self.source.get(self.to) == Some(&b',')
            && (value.start as usize) < self.source.len();
        if follows {
            self.to = (value.start + value.len) as usize;
        }
        follows
    }

    #[inline]
    fn push_span(&mut self, span: Span) {
        let (from, to) = (span.start as usize, (span.start + span.len) as usize);
        // The arena begins where the source ends.
        if from != self.to || from == self.source.len() {
            self.flush();
            self.from = from;
        }
        self.to = to;
    }

    fn flush(&mut self) {
        let (text, from, to) = self.pending();
        self.out.extend_from_slice(&text[from..to]);
        self.from = self.to;
    }
}
