//! The walk over the bytes of one document.
//!
//! Documents of an index repeat their keys in the same order. So the walker compares the next bytes with the
//! key that followed last time, and computes a hash only if they differ. UTF-8 is checked once for the whole
//! document.

use super::error;
use super::json::{self, JsonError, JsonErrorKind};
use super::scan::{skip_space, utf8};
use super::scratch::Scratch;
use super::syntax_fault::scalar_token;
use crate::RequestError;
use crate::analysis::take_failure;
use crate::field::FieldSink;
use crate::mapping::Mapping;
use crate::mapping::tree::{Target, Tree};
use limber_work as work;

/// Bytes of a large document after which others may run. They take about a millisecond.
const PAUSE_BYTES: usize = 256 << 10;

/// The result of parsing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The sink has every value.
    Done,
    /// The document has an unmapped field where `dynamic` is true. The caller rolls the sink back, merges
    /// what [`super::infer`] proposes, and parses again.
    NeedsMapping,
}

/// Walks `source` (one JSON object, UTF-8) and passes every value of a mapped field to the sink, in document
/// order.
///
/// On an error or [`Parsed::NeedsMapping`] the sink has seen a part of the document and must be rolled back.
/// Errors: Elasticsearch's `document_parsing_exception` and `strict_dynamic_mapping_exception`. Set the
/// document's id with [`Scratch::for_document`] for "in document with id".
pub fn parse<S: FieldSink>(
    mapping: &Mapping,
    source: &[u8],
    scratch: &mut Scratch,
    sink: &mut S,
) -> Result<Parsed, RequestError> {
    work::begin_document(source.len());
    // Discards a failure that an earlier caller did not take.
    drop(take_failure());
    let parsed = walk_document(mapping, source, scratch, sink, false);
    // If something was refused on the way, the sink did not get the whole document.
    work::end_document()?;
    if let Some(error) = take_failure() {
        return Err(error);
    }
    parsed
}

/// Like [`parse`], for a document that was acknowledged under an earlier state of the mapping. A value that
/// the mapping now refuses or does not know is left out, and the rest of the document is passed to the sink.
///
/// Errors: the bytes are not a JSON object. The sink must be rolled back then.
pub fn parse_acknowledged<S: FieldSink>(
    mapping: &Mapping,
    source: &[u8],
    scratch: &mut Scratch,
    sink: &mut S,
) -> Result<(), RequestError> {
    work::suspended(|| walk_document(mapping, source, scratch, sink, true).map(drop))
}

fn walk_document<S: FieldSink>(
    mapping: &Mapping,
    source: &[u8],
    scratch: &mut Scratch,
    sink: &mut S,
    is_acknowledged: bool,
) -> Result<Parsed, RequestError> {
    scratch.prepare(mapping);
    let text = match utf8(source) {
        Ok(text) => text,
        Err(invalid) => {
            let offset = invalid.valid_up_to();
            let error = json::error(offset, JsonErrorKind::InvalidUtf8);
            return Err(error::syntax(source, offset, &error));
        }
    };
    let mut walk = Walk {
        mapping,
        tree: mapping.tree(),
        text,
        bytes: source,
        scratch,
        sink,
        token: 0,
        next_pause: PAUSE_BYTES,
        including: false,
        is_acknowledged,
    };
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
pub(super) enum Stop {
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

pub(super) struct Walk<'a, S> {
    pub(super) mapping: &'a Mapping,
    pub(super) tree: &'a Tree,
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) scratch: &'a mut Scratch,
    pub(super) sink: &'a mut S,
    /// Start of the last token, for the position in syntax errors.
    pub(super) token: usize,
    /// The offset at which others may run next.
    next_pause: usize,
    /// A nested object is being read again for the enclosing documents.
    pub(super) including: bool,
    /// The document was acknowledged earlier: values that the mapping now refuses are left out of the index.
    pub(super) is_acknowledged: bool,
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
        match self.scratch.timestamps {
            1 => Ok(()),
            count if self.mapping.has_timestamp() && !self.is_acknowledged => {
                Err(self.timestamps(count, end - 1))
            }
            _ => Ok(()),
        }
    }

    /// Lets other requests run from time to time within a large document, of which `at` was reached.
    #[inline(always)]
    pub(super) fn pause(&mut self, at: usize) {
        if at >= self.next_pause {
            self.next_pause = at + PAUSE_BYTES;
            work::let_others_run();
        }
    }

    /// Returns the error about a data stream's document with no timestamp or several.
    #[cold]
    fn timestamps(&self, count: u32, at: usize) -> Stop {
        let what = if count == 0 { "is missing" } else { "encountered multiple values" };
        let cause =
            RequestError::illegal_argument(format!("data stream timestamp field [@timestamp] {what}"));
        error::wrapped(self.bytes, at, cause).into()
    }

    #[cold]
    fn not_an_object(&self, start: usize) -> Stop {
        if start >= self.bytes.len() {
            let reason = "[0:0] failed to parse, document is empty";
            return RequestError::bad_request("document_parsing_exception", reason).into();
        }
        match json::scalar_end(self.bytes, start) {
            Err(found) => self.outside(&found),
            Ok(_) => RequestError::bad_request(
                "document_parsing_exception",
                "Malformed content, must start with an object",
            )
            .into(),
        }
    }

    #[cold]
    fn extra_data(&self, rest: usize) -> Stop {
        let token = match self.bytes[rest] {
            b'{' => "START_OBJECT",
            b'[' => "START_ARRAY",
            mark @ (b'}' | b']') => {
                return self.outside(&json::error(rest, json::JsonErrorKind::CloseMarker(mark)));
            }
            first => match json::scalar_end(self.bytes, rest) {
                Err(found) => return self.outside(&found),
                Ok(_) => scalar_token(first),
            },
        };
        RequestError::illegal_argument(format!("Malformed content, found extra data after parsing: {token}"))
            .into()
    }

    /// Returns the error about bytes before or after the document that are not JSON.
    #[cold]
    fn outside(&self, found: &JsonError) -> Stop {
        let cause = error::syntax_cause(self.bytes, found);
        error::document(self.bytes, found.offset, &cause.reason).caused_by(cause).into()
    }

    /// Walks the object whose first byte after `{` is at `at`. Returns the offset after its `}`.
    pub(super) fn object(&mut self, number: u32, at: usize, depth: usize) -> Result<usize, Stop> {
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
            self.pause(at);
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
                at = self.unknown_key(number, quote, key_end, at, depth)?;
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
                Target::Leaf(leaf) => self.leaf_value(leaf, at, depth)?,
                Target::Object(object) => self.object_value(object, at, depth)?,
            };
            match self.after_value(at)? {
                (next, true) => at = next,
                (end, false) => return Ok(end),
            }
        }
    }

    /// Returns the start of the next key, or the offset after the object.
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

    /// Returns the entry of the key whose contents start at `start` (`None` if the object does not know it),
    /// and the offset after its closing quote. Remembers the entry as the successor of `slot`.
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
                if self.scratch.unmapped_keys.iter().any(is_known) {
                    return Err(self.duplicate(start - 1, end + 1));
                }
                // Avoids quadratic time: beyond this number, an unmapped duplicate is not refused.
                if self.scratch.unmapped_keys.len() < 256 {
                    self.scratch.unmapped_keys.push((instance, start..end));
                }
            }
        }
        Ok((found, end + 1))
    }

    /// Reads the value of a key that refers to an object.
    pub(super) fn object_value(&mut self, number: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let object = &self.tree.objects[number as usize];
        let json_depth = self.mapping.settings().limits.json_depth;
        if !object.enabled || (self.including && object.nested.is_some()) {
            return Ok(json::skip_value(self.bytes, at, depth, json_depth)?);
        }
        if object.begins_names_of.is_some() && !self.leads_to_object(at) {
            return self.beginning_as_field(number, at, depth);
        }
        self.token = at;
        match self.bytes.get(at) {
            Some(b'{') => self.instance(number, at + 1, depth + 1),
            Some(b'n') => Ok(json::literal(self.bytes, at, b"null")?),
            Some(b'[') => {
                let mut levels = 1;
                let mut at = skip_space(self.bytes, at + 1);
                let mut value_due = self.bytes.get(at) != Some(&b']');
                loop {
                    if value_due {
                        self.token = at;
                        match self.bytes.get(at) {
                            Some(b'{') => at = self.instance(number, at + 1, depth + levels + 1)?,
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
                            _ if self.is_acknowledged => at = self.skip(at, depth)?,
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
            _ if self.is_acknowledged => self.skip(at, depth),
            _ => Err(self.concrete_value(number, at, false)),
        }
    }

    /// Reads one object of a key, either in place or as a nested document.
    #[inline]
    fn instance(&mut self, number: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        match &self.tree.objects[number as usize].nested {
            None => self.object(number, at, depth),
            Some(node) => self.nested_object(node, at - 1, |walk| walk.object(number, at, depth)),
        }
    }

    #[cold]
    pub(super) fn concrete_value(&self, number: u32, at: usize, in_array: bool) -> Stop {
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
}
