//! Writes the document as text again: "what does it contain now?"
//!
//! Parts that were not edited are copied, in as few ranges of the source as possible.

use limber_mapping::RequestError;
use limber_work as work;

use super::node::{Kind, NONE, Node, NodeId, Span, flag};
use super::{IngestDocument, check_depth, too_large};

/// Documents up to this size are written without a memory check, because they need little memory.
const LARGE_BYTES: usize = 64 << 10;

impl IngestDocument<'_> {
    /// Appends the JSON text of a value, copying whatever was not edited.
    pub fn write(&self, id: NodeId, out: &mut Vec<u8>) -> Result<(), RequestError> {
        let made_bytes = self.source.len() + self.arena.len();
        if made_bytes > LARGE_BYTES {
            // A full vector is copied to one of twice its size.
            work::claim((2 * (out.len() + made_bytes)) as u64)?;
        }
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
            if copy.end() > end_max {
                // Copies of a value share its text, so the document can be larger than the limit that was
                // checked before.
                return Err(too_large());
            }
            let is_first = child == node.first;
            if is_object {
                copy.push_key(member, is_first);
            } else if !is_first {
                copy.push(b',');
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

    /// Returns the value as JSON text.
    pub fn json(&self, id: NodeId) -> Result<String, RequestError> {
        let mut out = Vec::new();
        self.write(id, &mut out)?;
        Ok(String::from_utf8(out).expect("nodes hold slices of valid UTF-8"))
    }
}

/// Copies text to the output. Ranges that are adjacent in the source (or the arena), including punctuation,
/// are copied in one piece.
struct Copy<'o> {
    source: &'o [u8],
    arena: &'o [u8],
    /// The range that is not copied yet, in either text, with positions as in a [`Span`].
    from: usize,
    to: usize,
    out: &'o mut Vec<u8>,
}

impl<'o> Copy<'o> {
    /// Returns the length of the output including the pending range.
    fn end(&self) -> usize {
        self.out.len() + self.to - self.from
    }

    /// Returns the text in which the pending range lies, and where in it the range begins and ends.
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

    /// Returns the byte at a position in either text.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        match at.checked_sub(self.source.len()) {
            None => self.source[at],
            Some(at) => self.arena[at],
        }
    }

    /// Appends `,"key":`, reusing the punctuation that already surrounds the key. The first member has no
    /// comma.
    #[inline]
    fn push_key(&mut self, member: &Node, is_first: bool) {
        let text = member.key.text;
        // Includes the quotes.
        let (mut from, mut to) = (text.start as usize - 1, (text.start + text.len) as usize + 1);
        if !is_first {
            if self.byte(from - 1) == b',' { from -= 1 } else { self.push(b',') }
        }
        let has_colon = self.byte(to) == b':';
        to += usize::from(has_colon);
        self.push_range(from, to);
        if !has_colon {
            self.push(b':');
        }
    }

    #[inline]
    fn push_span(&mut self, span: Span) {
        self.push_range(span.start as usize, (span.start + span.len) as usize);
    }

    #[inline]
    fn push_range(&mut self, from: usize, to: usize) {
        // A range must not cross from the source into the arena.
        if from != self.to || from == self.source.len() {
            self.flush();
            self.from = from;
        }
        self.to = to;
    }

    fn flush(&mut self) {
        if self.from == self.to {
            return;
        }
        let (text, from, to) = self.pending();
        self.out.extend_from_slice(&text[from..to]);
        self.from = self.to;
    }
}
