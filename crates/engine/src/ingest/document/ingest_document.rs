//! One document while it passes through a pipeline: its source, its metadata (`_index`, `_id`, ...) and
//! `_ingest`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use limber_mapping::RequestError;
use limber_mapping::document::scan;
use limber_work as work;

use super::json::{self, Open};
use super::members::{Index, LOOKED_THROUGH_MAX, Members};
use super::node::{Kind, NONE, Node, NodeId, Span, flag, key_tag};

/// Limit in bytes for the source plus every string made during processing.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 30;

/// How much a pipeline may add to a document beyond twice its own size. Without a limit, a few processors
/// that double a field could make it arbitrarily large.
pub(in crate::ingest) const GROWTH_BYTES_MAX: usize = 32 << 20;

/// Values of one document, including every value made during processing. Each takes 32 bytes.
pub(in crate::ingest) const NODE_COUNT_MAX: usize = 4 << 20;

/// After how much growth of the document, in bytes, the request's memory is checked again.
pub(super) const ASK_EVERY_BYTES: usize = 256 << 10;

/// Nesting depth up to which a document is written. Parsing allows 1,000; edits may add more.
const WRITE_DEPTH_MAX: usize = 1200;

/// What a document has besides its source. Processors do not see absent members.
#[derive(Debug, Clone, Copy, Default)]
pub struct Metadata<'a> {
    /// `_index`.
    pub index: &'a str,
    /// `_id`.
    pub id: Option<&'a str>,
    /// `_routing`.
    pub routing: Option<&'a str>,
    /// The version. Elasticsearch uses `Versions.MATCH_ANY` (-3) when the request gives none.
    pub version: Option<i64>,
    /// `_version_type`.
    pub version_type: Option<&'a str>,
    /// `_if_seq_no`.
    pub if_seq_no: Option<i64>,
    /// `_if_primary_term`.
    pub if_primary_term: Option<i64>,
    /// `_op_type`.
    pub op_type: Option<&'a str>,
}

/// A document being processed. One value is reused for all documents of a request, so that its vectors grow
/// only once.
#[derive(Debug)]
pub struct IngestDocument<'a> {
    pub(in crate::ingest) source: &'a str,
    pub(in crate::ingest) nodes: Vec<Node>,
    /// Begins with the timestamp as a JSON string, followed by the strings made for this document.
    pub(in crate::ingest) arena: String,
    pub(super) stack: Vec<Open>,
    /// The size in bytes of nodes and arena at which the request's memory is checked again.
    pub(super) asked_again_at: usize,
    /// Container and child of the last call of [`Self::append_child`], so that appending to a long list does
    /// not walk it for every element.
    pub(super) appended: (NodeId, NodeId),
    /// Indices over the members of large objects that were searched.
    pub(super) members: RefCell<Members>,
    given: Metadata<'a>,
    timestamp: &'a str,
    /// Root of `_ingest`, made when a processor first uses it.
    ingest: NodeId,
    /// Root of the metadata, made when a processor first uses it.
    metadata: NodeId,
    /// Id of the pipeline being run; empty outside of one.
    pub(in crate::ingest) pipeline: &'a str,
}

/// The source's root object.
pub const ROOT: NodeId = 0;

impl<'a> IngestDocument<'a> {
    /// Makes an empty document. `timestamp` is the instant of `_ingest.timestamp`, without quotes.
    pub fn new(timestamp: &'a str) -> IngestDocument<'a> {
        IngestDocument {
            source: "",
            nodes: Vec::new(),
            arena: format!("\"{timestamp}\""),
            stack: Vec::new(),
            asked_again_at: ASK_EVERY_BYTES,
            appended: (NONE, NONE),
            members: RefCell::default(),
            given: Metadata::default(),
            timestamp,
            ingest: NONE,
            metadata: NONE,
            pipeline: "",
        }
    }

    /// Loads the document `source`. Errors are worded like Elasticsearch's `x_content_parse_exception`.
    pub fn load(&mut self, source: &'a [u8], given: Metadata<'a>) -> Result<(), RequestError> {
        if source.len() > TEXT_BYTES_MAX {
            return Err(RequestError::illegal_argument("the document is too large for an ingest pipeline"));
        }
        let text = match scan::utf8(source) {
            Ok(text) => text,
            Err(error) => return Err(syntax_error(source, error.valid_up_to(), "Invalid UTF-8")),
        };
        work::claim(nodes_bytes_max(source))?;
        self.nodes.clear();
        self.arena.truncate(self.timestamp.len() + 2);
        let parsed = json::parse(source, 0, 0, &mut self.nodes, &mut self.stack);
        let (root, end) = parsed.map_err(|error| syntax_error(source, error.offset, error.message))?;
        let end = json::skip_space(source, end);
        if end != source.len() {
            return Err(syntax_error(source, end, "unexpected text after the document"));
        }
        if self.nodes[root as usize].kind != Kind::Object {
            return Err(RequestError::bad_request("parsing_exception", "the document must be an object"));
        }
        self.source = text;
        self.asked_again_at = self.held_bytes() + ASK_EVERY_BYTES;
        self.given = given;
        self.appended = (NONE, NONE);
        self.members.get_mut().clear();
        (self.ingest, self.metadata) = (NONE, NONE);
        self.pipeline = "";
        Ok(())
    }

    /// Returns the value of `_ingest.timestamp` while no processor has used `_ingest`.
    pub fn given_timestamp(&self) -> Option<Node> {
        let text = Span { start: self.source.len() as u32, len: self.timestamp.len() as u32 + 2 };
        (self.ingest == NONE).then(|| Node::leaf(Kind::String, text))
    }

    /// Returns `_ingest.timestamp`, which is the same for all documents of a request.
    pub fn timestamp(&self) -> &'a str {
        self.timestamp
    }

    // Methods that read the document.

    /// Returns the node with this id.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Returns the source or the arena, and the range of the span in it.
    #[inline]
    fn place(&self, span: Span) -> (&str, Range<usize>) {
        let (start, len) = (span.start as usize, span.len as usize);
        match start.checked_sub(self.source.len()) {
            None => (self.source, start..start + len),
            Some(start) => (&self.arena, start..start + len),
        }
    }

    /// Returns the text of a span.
    #[inline]
    pub fn text(&self, span: Span) -> &str {
        let (text, range) = self.place(span);
        &text[range]
    }

    /// Returns the bytes of a span, without checking character boundaries.
    #[inline]
    fn bytes(&self, span: Span) -> &[u8] {
        let (text, range) = self.place(span);
        &text.as_bytes()[range]
    }

    /// Returns the text of a span so that it outlives later edits: borrowed from the source, or copied from
    /// the arena.
    pub fn text_kept(&self, span: Span) -> Cow<'a, str> {
        let (start, len) = (span.start as usize, span.len as usize);
        match start.checked_sub(self.source.len()) {
            None => Cow::Borrowed(&self.source[start..start + len]),
            Some(start) => Cow::Owned(self.arena[start..start + len].to_owned()),
        }
    }

    /// Returns the value of a string node.
    pub fn string(&self, id: NodeId) -> Cow<'a, str> {
        let node = self.node(id);
        let inside = Span { start: node.text.start + 1, len: node.text.len - 2 };
        if node.is(flag::TEXT_ESCAPED) {
            Cow::Owned(json::unescape(self.text(inside)))
        } else {
            self.text_kept(inside)
        }
    }

    /// Returns the name of an object's member, unescaped.
    pub fn key(&self, id: NodeId) -> Cow<'_, str> {
        let node = self.node(id);
        let text = self.text(node.key.text);
        if node.is(flag::KEY_ESCAPED) { Cow::Owned(json::unescape(text)) } else { Cow::Borrowed(text) }
    }

    /// Returns the direct children of a container, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = self.node(id).first;
        std::iter::from_fn(move || {
            let current = next;
            (current != NONE).then(|| {
                next = self.node(current).next;
                current
            })
        })
    }

    /// Returns the member called `name`, and the child before it ([`NONE`] for the first).
    #[inline]
    pub fn member(&self, object: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
        self.member_or_last(object, name).ok()
    }

    /// Works like [`Self::member`], but returns the object's last child as the error ([`NONE`] when it is
    /// empty) when there is no such member.
    pub fn member_or_last(&self, object: NodeId, name: &str) -> Result<(NodeId, NodeId), NodeId> {
        let nodes = &self.nodes[..];
        let tag = key_tag(name.as_bytes());
        let mut before = NONE;
        let mut child = nodes[object as usize].first;
        let mut looked_through = 0;
        while child != NONE {
            looked_through += 1;
            if looked_through == LOOKED_THROUGH_MAX {
                return self.member_by_index(object, name);
            }
            let node = &nodes[child as usize];
            if node.key.tag == tag && self.is_called(child, name) {
                return Ok((child, before));
            }
            before = child;
            child = node.next;
        }
        Err(before)
    }

    /// Does the work of [`Self::member_or_last`] for a large object.
    #[cold]
    fn member_by_index(&self, object: NodeId, name: &str) -> Result<(NodeId, NodeId), NodeId> {
        let mut members = self.members.borrow_mut();
        if members.of(object).is_none() {
            let mut index = Index::new(NONE);
            for child in self.children(object) {
                index.put(&self.key(child), child, index.last);
                index.last = child;
            }
            members.keep(object, index);
        }
        match members.of(object) {
            Some(index) => index.get(name).ok_or(index.last),
            None => Err(NONE),
        }
    }

    #[inline]
    fn is_called(&self, member: NodeId, name: &str) -> bool {
        let node = self.node(member);
        if node.is(flag::KEY_ESCAPED) {
            self.key(member) == name
        } else {
            self.bytes(node.key.text) == name.as_bytes()
        }
    }

    /// Returns the element at `index`, and the one before it.
    pub fn element(&self, array: NodeId, index: usize) -> Option<(NodeId, NodeId)> {
        let mut before = NONE;
        for (position, child) in self.children(array).enumerate() {
            if position == index {
                return Some((child, before));
            }
            before = child;
        }
        None
    }

    /// Returns the bytes of nodes and arena.
    pub(super) fn held_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.arena.len()
    }

    // Roots besides the source.

    /// Returns the root of `_ingest`, which the first call makes.
    pub fn ingest_root(&mut self) -> Result<NodeId, RequestError> {
        if let Some(timestamp) = self.given_timestamp() {
            self.ingest = self.add(Node::container(Kind::Object));
            self.append_child(self.ingest, "timestamp", timestamp)?;
        }
        if !self.pipeline.is_empty() {
            let name = self.make_string(self.pipeline)?;
            match self.member(self.ingest, "pipeline") {
                Some((place, _)) => self.replace(place, name),
                None => {
                    self.append_child(self.ingest, "pipeline", name)?;
                }
            }
        }
        Ok(self.ingest)
    }

    /// Returns the root of `_ingest` if a processor has used it. Otherwise `_ingest` holds only the timestamp
    /// and the pipeline.
    pub fn ingest_if_made(&self) -> Option<NodeId> {
        (self.ingest != NONE).then_some(self.ingest)
    }

    /// Returns `_index`, `_id` and so on as one object, which the first call makes.
    pub fn metadata_root(&mut self) -> Result<NodeId, RequestError> {
        if self.metadata != NONE {
            return Ok(self.metadata);
        }
        let given = self.given;
        self.metadata = self.add(Node::container(Kind::Object));
        let texts = [
            ("_index", Some(given.index)),
            ("_id", given.id),
            ("_routing", given.routing),
            ("_version_type", given.version_type),
            ("_op_type", given.op_type),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                let node = self.make_string(value)?;
                self.append_child(self.metadata, name, node)?;
            }
        }
        let numbers = [
            ("_version", given.version),
            ("_if_seq_no", given.if_seq_no),
            ("_if_primary_term", given.if_primary_term),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                let node = self.make_scalar(Kind::Number, &value.to_string())?;
                self.append_child(self.metadata, name, node)?;
            }
        }
        Ok(self.metadata)
    }

    /// Returns the metadata's root if a processor has used it. Otherwise the metadata is unchanged.
    pub fn metadata_if_made(&self) -> Option<NodeId> {
        (self.metadata != NONE).then_some(self.metadata)
    }

    /// Returns the metadata that the document was loaded with.
    pub fn given(&self) -> Metadata<'a> {
        self.given
    }
}

/// Returns the most bytes that the nodes of a large text can take; 0 for a small text, whose nodes take
/// little. Every value but the first of its container follows a comma.
pub(super) fn nodes_bytes_max(text: &[u8]) -> u64 {
    const LARGE_BYTES: usize = 16 << 10;
    if text.len() < LARGE_BYTES {
        return 0;
    }
    let count = memchr::memchr3_iter(b',', b'[', b'{', text).count() + 1;
    // A growing vector exists twice for a moment.
    (count.min(NODE_COUNT_MAX) * size_of::<Node>() * 2) as u64
}

pub(in crate::ingest) fn check_depth(depth: usize) -> Result<(), RequestError> {
    if depth > WRITE_DEPTH_MAX {
        return Err(RequestError::illegal_argument(
            "the document became too deeply nested in an ingest pipeline",
        ));
    }
    Ok(())
}

pub(in crate::ingest) fn too_large() -> RequestError {
    RequestError::illegal_argument("the document grew too large in an ingest pipeline")
}

fn syntax_error(source: &[u8], offset: usize, message: &str) -> RequestError {
    let before = &source[..offset.min(source.len())];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + before.len() - before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let kind = if message == "Unexpected end of file" {
        "x_content_e_o_f_exception"
    } else {
        "x_content_parse_exception"
    };
    RequestError::bad_request(kind, format!("[{line}:{column}] {message}"))
}

/// Makes a [`syntax_error`] for a string inside a document.
pub(in crate::ingest) fn syntax_error_in(text: &str, error: &json::SyntaxError) -> RequestError {
    syntax_error(text.as_bytes(), error.offset, error.message)
}
