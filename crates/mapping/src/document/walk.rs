//! The walk over one document's bytes.
//!
//! Documents of an index repeat their keys in the same order, so the walker compares the bytes at hand with the key that
//! came next last time, and hashes only when they differ. UTF-8 is checked once for the whole document.

use super::error;
use super::json::{self, JsonError, JsonErrorKind};
use super::scan::{skip_space, string_stop};
use super::scratch::Scratch;
use crate::RequestError;
use crate::definition::Dynamic;
use crate::field::{FieldSink, FieldType};
use crate::ip;
use crate::mapping::Mapping;
use crate::reserved;
use crate::tree::{Copy, Leaf, ObjectNode, TERM_BYTES_MAX, Target, Tree};
use crate::typed::{Scalar, Shape, Typed, typed};

/// What became of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The sink has every value.
    Done,
    /// A field that the mapping does not know, where `dynamic` is true. The caller rolls the sink back, merges what
    /// [`super::infer`] proposes, and parses again.
    NeedsMapping,
}

/// Walks `source` (one JSON object, UTF-8) and hands every value of a mapped field to the sink, in document order.
///
/// On an error or on [`Parsed::NeedsMapping`] the sink has seen a part of the document and must be rolled back.
/// Errors: `document_parsing_exception` and `strict_dynamic_mapping_exception` in Elasticsearch's words; name the document
/// with [`Scratch::for_document`] for "in document with id".
pub fn parse<S: FieldSink>(
    mapping: &Mapping,
    source: &[u8],
    scratch: &mut Scratch,
    sink: &mut S,
) -> Result<Parsed, RequestError> {
    scratch.prepare(mapping);
    let text = match std::str::from_utf8(source) {
        Ok(text) => text,
        Err(invalid) => {
            let offset = invalid.valid_up_to();
            let error = json::error(offset, JsonErrorKind::InvalidUtf8);
            return Err(error::syntax(source, offset, &error));
        }
    };
    let mut walk = Walk { mapping, tree: mapping.tree(), text, bytes: source, scratch, sink, token: 0 };
    let outcome = walk.document();
    let parsed = match outcome {
        Ok(()) => Ok(Parsed::Done),
        Err(Stop::NeedsMapping) => Ok(Parsed::NeedsMapping),
        Err(Stop::Syntax(found)) => Err(error::syntax(source, walk.token, &found)),
        Err(Stop::Refused(found)) => Err(*found),
    };
    scratch.id.clear();
    parsed
}

/// Why the walk ends early.
enum Stop {
    NeedsMapping,
    Syntax(Box<JsonError>),
    Refused(Box<RequestError>),
}

impl From<JsonError> for Stop {
    #[cold]
    fn from(error: JsonError) -> Stop {
        Stop::Syntax(Box::new(error))
    }
}

impl From<RequestError> for Stop {
    #[cold]
    fn from(error: RequestError) -> Stop {
        Stop::Refused(Box::new(error))
    }
}

struct Walk<'a, S> {
    mapping: &'a Mapping,
    tree: &'a Tree,
    text: &'a str,
    bytes: &'a [u8],
    scratch: &'a mut Scratch,
    sink: &'a mut S,
    /// Start of the last token, for the location of syntax errors.
    token: usize,
}

/// Where a key that is not an entry of its object leads.
enum Stranger {
    Unmapped {
        dynamic: Dynamic,
        object: String,
        name: String,
    },
    /// Within an object whose contents are not looked at.
    Disabled,
    /// Below a leaf, as in `{"a.b": 1}` where `a` is a number.
    BelowLeaf {
        leaf: u32,
        rest: String,
    },
}

impl<'a, S: FieldSink> Walk<'a, S> {
    fn document(&mut self) -> Result<(), Stop> {
        let start = skip_space(self.bytes, 0);
        if self.bytes.get(start) != Some(&b'{') {
            return Err(self.not_an_object(start));
        }
        let root = &self.tree.objects[0];
        let end = if root.enabled {
            self.object(0, start + 1, 1)?
        } else {
            json::skip_value(self.bytes, start, 0, self.mapping.settings().limits.json_depth)?
        };
        let rest = skip_space(self.bytes, end);
        if rest < self.bytes.len() {
            return Err(self.extra_data(rest));
        }
        Ok(())
    }

    #[cold]
    fn not_an_object(&self, start: usize) -> Stop {
        if start >= self.bytes.len() {
            return RequestError::new(400, "parse_exception", "request body is required").into();
        }
        match json::scalar_end(self.bytes, start) {
            Err(found) => self.outside(&found),
            Ok(_) => RequestError::new(
                400,
                "document_parsing_exception",
                "Malformed content, must start with an object",
            )
            .into(),
        }
    }

    #[cold]
    fn extra_data(&self, rest: usize) -> Stop {
        match json::scalar_end(self.bytes, rest) {
            Err(found) => self.outside(&found),
            Ok(_) => {
                let token = match self.bytes[rest] {
                    b'{' => "START_OBJECT",
                    b'[' => "START_ARRAY",
                    b'"' => "VALUE_STRING",
                    b't' => "VALUE_TRUE",
                    b'f' => "VALUE_FALSE",
                    b'n' => "VALUE_NULL",
                    _ => "VALUE_NUMBER",
                };
                RequestError::illegal_argument(format!(
                    "Malformed content, found extra data after parsing: {token}"
                ))
                .into()
            }
        }
    }

    /// Bytes before or behind the document that are not JSON.
    #[cold]
    fn outside(&self, found: &JsonError) -> Stop {
        let cause = error::syntax_cause(self.bytes, found);
        error::document(self.bytes, found.offset, &cause.reason).caused_by(cause).into()
    }

    /// Walks the object whose first byte after `{` is at `at`; returns the offset behind its `}`.
    fn object(&mut self, number: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        if depth > self.mapping.settings().limits.json_depth {
            return Err(
                json::error(at, JsonErrorKind::TooDeep(self.mapping.settings().limits.json_depth)).into()
            );
        }
        self.scratch.instance += 1;
        let instance = self.scratch.instance;
        let mut slot = self.tree.entries.len() + number as usize;
        let mut at = skip_space(self.bytes, at);
        if self.bytes.get(at) == Some(&b'}') {
            return Ok(at + 1);
        }
        loop {
            if self.bytes.get(at) != Some(&b'"') {
                return Err(json::unexpected(self.bytes, at, json::FIELD_NAME).into());
            }
            let quote = at;
            let predicted = self.scratch.next[slot];
            let (entry, key_end) = match self.tree.entries.get(predicted as usize) {
                Some(entry) if entry.starts(&self.bytes[at + 1..]) => {
                    (Some(predicted), at + 1 + entry.quoted.len())
                }
                _ => self.look_up(number, slot, at + 1, instance)?,
            };
            let Some(entry) = entry else {
                self.token = quote;
                at = json::colon(self.bytes, key_end)?;
                at = self.stranger(number, quote, key_end, at, depth)?;
                match self.after_value(at)? {
                    (next, true) => at = next,
                    (end, false) => return Ok(end),
                }
                continue;
            };
            let seen = &mut self.scratch.seen[entry as usize];
            if *seen == instance {
                return Err(self.duplicate(quote, key_end));
            }
            *seen = instance;
            self.token = quote;
            slot = entry as usize;
            at = json::colon(self.bytes, key_end)?;
            at = match self.tree.entries[slot].target {
                Target::Leaf(leaf) => self.value(leaf, at, depth)?,
                Target::Object(object) => self.object_value(object, at, depth)?,
            };
            match self.after_value(at)? {
                (next, true) => at = next,
                (end, false) => return Ok(end),
            }
        }
    }

    /// The start of the next key, or the offset behind the object.
    #[inline(always)]
    fn after_value(&self, at: usize) -> Result<(usize, bool), Stop> {
        let at = skip_space(self.bytes, at);
        match self.bytes.get(at) {
            Some(b',') => Ok((skip_space(self.bytes, at + 1), true)),
            Some(b'}') => Ok((at + 1, false)),
            _ => Err(json::unexpected(self.bytes, at, json::COMMA_IN_OBJECT).into()),
        }
    }

    #[cold]
    fn duplicate(&self, quote: usize, key_end: usize) -> Stop {
        let mut key = String::new();
        json::unescape(&self.text[quote + 1..key_end - 1], &mut key);
        json::error(key_end, JsonErrorKind::Duplicate(key)).into()
    }

    /// The entry of the key whose contents start at `start` (None: the object does not know it), and the offset behind
    /// its closing quote. Remembers the answer as the successor of `slot`.
    #[inline(never)]
    fn look_up(
        &mut self,
        object: u32,
        slot: usize,
        start: usize,
        instance: u32,
    ) -> Result<(Option<u32>, usize), Stop> {
        let (end, has_escapes) = json::string_end(self.bytes, start)?;
        let raw = &self.text[start..end];
        let object = &self.tree.objects[object as usize];
        let found = if has_escapes {
            self.scratch.unescaped.clear();
            json::unescape(raw, &mut self.scratch.unescaped);
            self.tree.find(object, self.scratch.unescaped.as_bytes())
        } else {
            self.tree.find(object, raw.as_bytes())
        };
        match found {
            Some(entry) => self.scratch.next[slot] = entry,
            None => {
                let is_known = |(other, range): &(u32, std::ops::Range<usize>)| {
                    *other == instance && self.text[range.clone()] == *raw
                };
                if self.scratch.strangers.iter().any(is_known) {
                    return Err(self.duplicate(start - 1, end + 1));
                }
                // Against quadratic time; beyond this, an unmapped duplicate is not refused.
                if self.scratch.strangers.len() < 256 {
                    self.scratch.strangers.push((instance, start..end));
                }
            }
        }
        Ok((found, end + 1))
    }

    /// The value at `at` of a key that its object does not know; returns the offset behind the value.
    #[cold]
    #[inline(never)]
    fn stranger(
        &mut self,
        object: u32,
        quote: usize,
        key_end: usize,
        at: usize,
        depth: usize,
    ) -> Result<usize, Stop> {
        let mut key = String::new();
        json::unescape(&self.text[quote + 1..key_end - 1], &mut key);
        let tree = self.tree;
        let node = &tree.objects[object as usize];
        if let Some(refused) = name_error(&key) {
            return Err(match refused {
                NameError::Wrapped(reason) => {
                    error::wrapped(self.bytes, quote, RequestError::illegal_argument(reason)).into()
                }
                NameError::Plain(reason) => error::document(self.bytes, quote, reason).into(),
            });
        }
        // Java's `split` drops empty parts at the end: `a.` is `a`.
        let key = key.trim_end_matches('.').to_owned();
        if let Some(entry) = tree.find(node, key.as_bytes()) {
            return match tree.entries[entry as usize].target {
                Target::Leaf(leaf) => self.value(leaf, at, depth),
                Target::Object(object) => self.object_value(object, at, depth),
            };
        }
        let end = json::skip_value(self.bytes, at, depth, self.mapping.settings().limits.json_depth)?;
        // Where the parser's last token starts.
        let last = if matches!(self.bytes[at], b'{' | b'[') { end - 1 } else { at };
        self.token = last;
        if node.path.is_empty() && METADATA_FIELDS.contains(&key.as_str()) {
            let inner = error::document(
                self.bytes,
                last,
                format_args!(
                    "Field [{key}] is a metadata field and cannot be added inside a document. Use the index API request parameters."
                ),
            );
            let preview = error::preview(&self.text[at..end]);
            return Err(
                error::field(self.bytes, last, (&key, &key), &self.scratch.id, &preview, inner).into()
            );
        }
        match self.resolve(node, &key) {
            Stranger::Disabled => Ok(end),
            Stranger::BelowLeaf { leaf, rest } => {
                let leaf = &self.tree.leaves[leaf as usize];
                let kind = leaf.field.kind.name();
                let cause = error::object_for_scalar(self.bytes, quote, kind);
                let preview = format!("{{{rest}={}}}", error::preview(&self.text[at..end]));
                Err(error::field(
                    self.bytes,
                    last,
                    (&leaf.field.path, kind),
                    &self.scratch.id,
                    &preview,
                    cause,
                )
                .into())
            }
            Stranger::Unmapped { dynamic: Dynamic::False, .. } => Ok(end),
            Stranger::Unmapped { dynamic: Dynamic::Strict, object, name } => {
                Err(error::strict(self.bytes, at, &name, &object).into())
            }
            Stranger::Unmapped { dynamic: Dynamic::True, .. } => {
                if holds_value(&self.bytes[at..end]) {
                    Err(Stop::NeedsMapping)
                } else {
                    Ok(end)
                }
            }
        }
    }

    /// Follows a dotted name as far as the mapping goes.
    fn resolve(&self, object: &ObjectNode, key: &str) -> Stranger {
        let mut object = object;
        let mut rest = key;
        loop {
            if !object.enabled {
                return Stranger::Disabled;
            }
            let (head, tail) = match rest.split_once('.') {
                Some((head, tail)) => (head, Some(tail)),
                None => (rest, None),
            };
            let target =
                self.tree.find(object, head.as_bytes()).map(|entry| self.tree.entries[entry as usize].target);
            match (target, tail) {
                (Some(Target::Object(inner)), Some(tail)) => {
                    object = &self.tree.objects[inner as usize];
                    rest = tail;
                }
                (Some(Target::Object(_)), None) => return Stranger::Disabled,
                (Some(Target::Leaf(leaf)), tail) => {
                    return Stranger::BelowLeaf { leaf, rest: tail.unwrap_or_default().to_owned() };
                }
                (None, _) => {
                    return Stranger::Unmapped {
                        dynamic: object.dynamic,
                        object: object.path.to_string(),
                        name: head.to_owned(),
                    };
                }
            }
        }
    }

    /// The value of a key that leads to an object.
    fn object_value(&mut self, number: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let object = &self.tree.objects[number as usize];
        let json_depth = self.mapping.settings().limits.json_depth;
        if !object.enabled {
            return Ok(json::skip_value(self.bytes, at, depth, json_depth)?);
        }
        self.token = at;
        match self.bytes.get(at) {
            Some(b'{') => self.object(number, at + 1, depth + 1),
            Some(b'n') => Ok(json::literal(self.bytes, at, b"null")?),
            Some(b'[') => {
                let mut levels = 1;
                let mut at = skip_space(self.bytes, at + 1);
                let mut value_due = self.bytes.get(at) != Some(&b']');
                loop {
                    if value_due {
                        self.token = at;
                        match self.bytes.get(at) {
                            Some(b'{') => at = self.object(number, at + 1, depth + levels + 1)?,
                            Some(b'n') => at = json::literal(self.bytes, at, b"null")?,
                            Some(b'[') => {
                                levels += 1;
                                if depth + levels > json_depth {
                                    return Err(json::error(at, JsonErrorKind::TooDeep(json_depth)).into());
                                }
                                at = skip_space(self.bytes, at + 1);
                                value_due = self.bytes.get(at) != Some(&b']');
                                continue;
                            }
                            _ => return Err(self.concrete_value(number, at, true)),
                        }
                    }
                    at = skip_space(self.bytes, at);
                    match self.bytes.get(at) {
                        Some(b',') if value_due || self.bytes[at - 1] != b'[' => {
                            at = skip_space(self.bytes, at + 1);
                            value_due = true;
                        }
                        Some(b']') => {
                            at += 1;
                            levels -= 1;
                            value_due = false;
                            if levels == 0 {
                                return Ok(at);
                            }
                        }
                        _ => return Err(json::unexpected(self.bytes, at, json::COMMA_IN_ARRAY).into()),
                    }
                }
            }
            _ => Err(self.concrete_value(number, at, false)),
        }
    }

    #[cold]
    fn concrete_value(&self, number: u32, at: usize, in_array: bool) -> Stop {
        if let Err(found) = json::scalar_end(self.bytes, at) {
            return found.into();
        }
        let path = &self.tree.objects[number as usize].path;
        let name = if in_array { "null" } else { path.rsplit('.').next().unwrap_or(path) };
        error::document(
            self.bytes,
            at,
            format_args!(
                "object mapping for [{path}] tried to parse field [{name}] as object, but found a concrete value"
            ),
        )
        .into()
    }

    /// The value of a key that leads to a leaf: a scalar, or an array of any depth.
    #[inline(always)]
    fn value(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        if self.bytes.get(at) == Some(&b'[') { self.array(leaf, at, depth) } else { self.scalar(leaf, at) }
    }

    #[inline(never)]
    fn array(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let json_depth = self.mapping.settings().limits.json_depth;
        let mut levels = 1;
        let mut at = skip_space(self.bytes, at + 1);
        let mut value_due = self.bytes.get(at) != Some(&b']');
        loop {
            if value_due {
                if self.bytes.get(at) == Some(&b'[') {
                    levels += 1;
                    if depth + levels > json_depth {
                        return Err(json::error(at, JsonErrorKind::TooDeep(json_depth)).into());
                    }
                    at = skip_space(self.bytes, at + 1);
                    value_due = self.bytes.get(at) != Some(&b']');
                    continue;
                }
                at = self.scalar(leaf, at)?;
            }
            at = skip_space(self.bytes, at);
            match self.bytes.get(at) {
                Some(b',') => {
                    at = skip_space(self.bytes, at + 1);
                    value_due = true;
                }
                Some(b']') => {
                    at += 1;
                    levels -= 1;
                    value_due = false;
                    if levels == 0 {
                        return Ok(at);
                    }
                }
                _ => return Err(json::unexpected(self.bytes, at, json::COMMA_IN_ARRAY).into()),
            }
        }
    }

    /// One scalar of a leaf; returns the offset behind it.
    #[inline(always)]
    fn scalar(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let tree = self.tree;
        let leaf_node = &tree.leaves[leaf as usize];
        match self.bytes.get(at) {
            Some(b'"') => {
                self.token = at;
                let end = string_stop(self.bytes, at + 1);
                if self.bytes.get(end) == Some(&b'"') {
                    self.feed(leaf_node, leaf, Scalar::Text(&self.text[at + 1..end]), at)?;
                    Ok(end + 1)
                } else {
                    self.escaped(leaf, at)
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let token = json::number(self.bytes, at)?;
                self.token = at;
                let text = &self.text[at..token.end];
                let scalar = match token.integer {
                    Some(value) => Scalar::Integer { text, value },
                    None => Scalar::Number(text),
                };
                self.feed(leaf_node, leaf, scalar, at)?;
                Ok(token.end)
            }
            _ => self.word_or_object(leaf, at),
        }
    }

    /// A string with escapes.
    #[inline(never)]
    fn escaped(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = match json::string_end(self.bytes, at + 1) {
            Ok((end, _)) => end,
            // Strings are read when the field asks for them, so the field is to blame.
            Err(found) => {
                let field = &self.tree.leaves[leaf as usize].field;
                let cause = error::syntax_cause(self.bytes, &found);
                let path_and_kind = (&*field.path, field.kind.name());
                return Err(error::field(self.bytes, at, path_and_kind, &self.scratch.id, "", cause).into());
            }
        };
        let mut unescaped = std::mem::take(&mut self.scratch.unescaped);
        unescaped.clear();
        json::unescape(&self.text[at + 1..end], &mut unescaped);
        let tree = self.tree;
        let fed = self.feed(&tree.leaves[leaf as usize], leaf, Scalar::Text(&unescaped), at);
        self.scratch.unescaped = unescaped;
        fed.map(|()| end + 1)
    }

    #[inline(never)]
    fn word_or_object(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        match self.bytes.get(at) {
            Some(b't') => {
                let end = json::literal(self.bytes, at, b"true")?;
                self.token = at;
                self.feed(node, leaf, Scalar::Bool(true), at)?;
                Ok(end)
            }
            Some(b'f') => {
                let end = json::literal(self.bytes, at, b"false")?;
                self.token = at;
                self.feed(node, leaf, Scalar::Bool(false), at)?;
                Ok(end)
            }
            Some(b'n') => {
                let end = json::literal(self.bytes, at, b"null")?;
                self.token = at;
                self.null(node, leaf, at)?;
                Ok(end)
            }
            Some(b'{') => {
                let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
                let kind = node.field.kind.name();
                let cause = error::object_for_scalar(self.bytes, at, kind);
                let preview = error::preview(&self.text[at..end]);
                let id = &self.scratch.id;
                Err(error::field(self.bytes, end - 1, (&node.field.path, kind), id, &preview, cause).into())
            }
            _ => Err(json::unexpected(self.bytes, at, json::VALUE).into()),
        }
    }

    /// An explicit null: every field that the value reaches puts its own `null_value` in its place.
    fn null(&mut self, node: &'a Leaf, leaf: u32, at: usize) -> Result<(), Stop> {
        let tree = self.tree;
        if let Some(null) = &node.null {
            self.put(node, leaf, null.borrow(), at)?;
        }
        for &number in &node.multi_fields {
            let sub = &tree.leaves[number as usize];
            if let Some(null) = &sub.null {
                self.put(sub, number, null.borrow(), at)?;
            }
        }
        for copy in &node.copies {
            if let &Copy::Leaf(number) = copy {
                let target = &tree.leaves[number as usize];
                if let Some(null) = &target.null {
                    self.put(target, number, null.borrow(), at)?;
                }
            }
        }
        Ok(())
    }

    /// Hands a scalar to a leaf, its multi-fields and its copies.
    #[inline(always)]
    fn feed(&mut self, node: &'a Leaf, leaf: u32, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        if node.is_fed && self.put_quickly(node, scalar) {
            if node.is_named {
                self.note_name(leaf);
            }
        } else {
            self.put(node, leaf, scalar, at)?;
        }
        if node.is_plain { Ok(()) } else { self.feed_others(node, scalar, at) }
    }

    /// The common value of each type; false leaves everything to [`Walk::put`].
    #[inline(always)]
    fn put_quickly(&mut self, node: &'a Leaf, scalar: Scalar<'_>) -> bool {
        let field = &*node.field;
        match (node.shape, scalar) {
            (Shape::Text, Scalar::Text(text)) => self.sink.text(field, text),
            (Shape::Keyword, Scalar::Text(text)) if text.len() <= node.quick_bytes_max => {
                self.sink.term(field, text.as_bytes())
            }
            (Shape::Integer(width), Scalar::Integer { value, .. }) => {
                let (low, high) = width.limits();
                if value < low || value > high {
                    return false;
                }
                self.sink.number(field, value)
            }
            (Shape::Ip, Scalar::Text(text)) => match ip::parse(text.as_bytes()) {
                Some(bytes) => self.sink.term(field, &bytes),
                None => return false,
            },
            (Shape::Date, scalar) => {
                let FieldType::Date { format } = &field.kind else { return false };
                let millis = match scalar {
                    Scalar::Text(text) => format.parse_quickly(text),
                    Scalar::Integer { value, text } => format.parse_integer_quickly(value, text),
                    _ => None,
                };
                match millis {
                    Some(millis) => self.sink.number(field, millis),
                    None => return false,
                }
            }
            _ => return false,
        }
        true
    }

    #[inline(never)]
    fn feed_others(&mut self, node: &'a Leaf, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        let tree = self.tree;
        for &number in &node.multi_fields {
            let sub = &tree.leaves[number as usize];
            if !(sub.is_fed && !sub.is_named && self.put_quickly(sub, scalar)) {
                self.put(sub, number, scalar, at)?;
            }
        }
        for copy in &node.copies {
            match copy {
                Copy::Leaf(number) => {
                    let target = &tree.leaves[*number as usize];
                    self.put(target, *number, scalar, at)?;
                    for &sub in &target.multi_fields {
                        self.put(&tree.leaves[sub as usize], sub, scalar, at)?;
                    }
                }
                Copy::Missing { dynamic: Dynamic::True, .. } => return Err(Stop::NeedsMapping),
                Copy::Missing { dynamic: Dynamic::False, .. } => {}
                Copy::Missing { path, dynamic: Dynamic::Strict } => {
                    let (object, name) = path.rsplit_once('.').unwrap_or(("", path));
                    return Err(error::strict(self.bytes, at, name, object).into());
                }
            }
        }
        Ok(())
    }

    /// Converts one scalar for one field and calls the sink.
    #[inline(never)]
    fn put(&mut self, node: &'a Leaf, leaf: u32, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        let mut buffer = [0; 16];
        match typed(node.shape, field, scalar, &mut buffer) {
            Ok(Typed::Number(value)) => {
                if node.is_fed {
                    self.sink.number(field, value);
                }
            }
            Ok(Typed::Term(value)) => {
                if value.len() > node.ignore_above as usize
                    && utf16_length(value) > node.ignore_above as usize
                {
                    self.note_ignored(leaf);
                    return Ok(());
                }
                if value.len() > TERM_BYTES_MAX {
                    return Err(self.immense(node, value, at));
                }
                if node.is_fed {
                    self.sink.term(field, value);
                }
            }
            Ok(Typed::Text(value)) => {
                if node.is_fed {
                    self.sink.text(field, value);
                }
            }
            Ok(Typed::Nothing) => {
                if let Some(null) = &node.null
                    && !matches!(scalar, Scalar::Text("") if null.borrow() == scalar)
                {
                    return self.put_null(node, leaf, at);
                }
                return Ok(());
            }
            Err(cause) => return self.malformed(node, leaf, scalar, at, *cause),
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }

    /// An empty string that a number takes for null.
    #[cold]
    #[inline(never)]
    fn put_null(&mut self, node: &'a Leaf, leaf: u32, at: usize) -> Result<(), Stop> {
        match &node.null {
            Some(null) => self.put(node, leaf, null.borrow(), at),
            None => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    fn malformed(
        &mut self,
        node: &Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
        cause: RequestError,
    ) -> Result<(), Stop> {
        if node.field.ignore_malformed {
            self.note_ignored(leaf);
            return Ok(());
        }
        // Fractions are shown as Java's double, integers as they stand.
        let preview = match scalar {
            Scalar::Number(text) if text.contains(['.', 'e', 'E']) => {
                text.parse().map_or_else(|_| text.to_owned(), crate::number::java_double)
            }
            other => other.text().to_owned(),
        };
        let path_and_kind = (&*node.field.path, node.field.kind.name());
        Err(error::field(self.bytes, at, path_and_kind, &self.scratch.id, &preview, cause).into())
    }

    #[cold]
    fn immense(&self, node: &Leaf, value: &[u8], at: usize) -> Stop {
        let path = &node.field.path;
        let prefix: Vec<String> = value.iter().take(30).map(|&byte| (byte as i8).to_string()).collect();
        let reason = format!(
            "Document contains at least one immense term in field=\"{path}\" (whose UTF8 encoding is longer than the max \
             length {TERM_BYTES_MAX}), all of which were skipped. Please correct the analyzer to not produce such terms. \
             The prefix of the first immense term is: '[{}]...'",
            prefix.join(", ")
        );
        let preview = String::from_utf8_lossy(value);
        let path_and_kind = (&**path, node.field.kind.name());
        let cause = RequestError::illegal_argument(reason);
        error::field(self.bytes, at, path_and_kind, &self.scratch.id, &preview, cause).into()
    }

    #[cold]
    #[inline(never)]
    fn note_ignored(&mut self, leaf: u32) {
        let tree = self.tree;
        if std::mem::replace(&mut self.scratch.ignored[leaf as usize], self.scratch.document)
            != self.scratch.document
        {
            let field = self.mapping.field_by_id(reserved::IGNORED);
            self.sink.term(field, tree.leaves[leaf as usize].field.path.as_bytes());
        }
    }

    #[inline(never)]
    fn note_name(&mut self, leaf: u32) {
        let tree = self.tree;
        if std::mem::replace(&mut self.scratch.named[leaf as usize], self.scratch.document)
            != self.scratch.document
        {
            let field = self.mapping.field_by_id(reserved::FIELD_NAMES);
            self.sink.term(field, tree.leaves[leaf as usize].field.path.as_bytes());
        }
    }
}

/// Names that a document may not use at its root.
const METADATA_FIELDS: [&str; 14] = [
    "_id",
    "_index",
    "_source",
    "_routing",
    "_ignored",
    "_ignored_source",
    "_field_names",
    "_seq_no",
    "_version",
    "_nested_path",
    "_tier",
    "_doc_count",
    "_data_stream_timestamp",
    "_feature",
];

fn utf16_length(utf8: &[u8]) -> usize {
    // One unit a character, two for those of four bytes.
    utf8.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
        + utf8.iter().filter(|&&byte| byte >= 0xf0).count()
}

/// Whether a value that the grammar accepts holds any scalar other than null, or any object.
pub(super) fn holds_value(value: &[u8]) -> bool {
    let mut rest = value;
    while let [first, tail @ ..] = rest {
        match first {
            b'[' | b']' | b',' | b' ' | b'\n' | b'\t' | b'\r' => rest = tail,
            b'n' => rest = &rest[4..],
            _ => return true,
        }
    }
    false
}

enum NameError {
    Plain(String),
    Wrapped(String),
}

/// Why a document's key cannot name a field.
fn name_error(key: &str) -> Option<NameError> {
    let is_blank = |text: &str| text.chars().all(char::is_whitespace);
    if key.is_empty() {
        return Some(NameError::Wrapped("field name cannot be an empty string".to_owned()));
    }
    if is_blank(key) {
        return Some(NameError::Plain(format!("Field name cannot contain only whitespace: [{key}]")));
    }
    if key.bytes().all(|byte| byte == b'.') {
        return Some(NameError::Wrapped("field name cannot contain only dots".to_owned()));
    }
    // As Java's `split`: empty parts at the end do not count.
    let trimmed = key.trim_end_matches('.');
    if trimmed.split('.').any(|part| !part.is_empty() && is_blank(part)) {
        return Some(NameError::Wrapped(format!(
            "field name starting or ending with a [.] makes object resolution ambiguous: [{key}]"
        )));
    }
    if trimmed.split('.').any(str::is_empty) {
        return Some(NameError::Wrapped(format!("field name cannot contain only whitespace: ['{key}']")));
    }
    None
}
