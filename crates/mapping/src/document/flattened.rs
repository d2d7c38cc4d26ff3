//! The object of a field of type `flattened`: every scalar in it becomes two terms, one alone and one with
//! its key. Source: Elasticsearch's `FlattenedFieldParser`.

use super::scan::skip_space;
use super::walk::{Stop, Walk};
use super::{error, json};
use crate::RequestError;
use crate::field::{FieldSink, Flattened, KEY_END, Scalar};
use crate::mapping::tree::{Leaf, TERM_BYTES_MAX};

/// The walker's position: the keys below the field, joined by dots, and the number of enclosing objects.
struct KeyPath {
    key: String,
    depth: u32,
    depth_max: u32,
}

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the object at `at`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn flattened(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
        let Some((node, mut key_path)) = self.begin_flattened(leaf, String::new()) else { return Ok(end) };
        self.flattened_object(node, &mut key_path, at)?;
        Ok(end)
    }

    /// Reads the value at `at` of a key given as a dotted name, as in `{"labels.priority": "low"}`. Its
    /// grammar has been checked.
    pub(super) fn flattened_below(&mut self, leaf: u32, key: String, at: usize) -> Result<(), Stop> {
        let Some((node, mut key_path)) = self.begin_flattened(leaf, key) else { return Ok(()) };
        self.flattened_value(node, &mut key_path, at).map(drop)
    }

    /// Starts a flattened value. `None` if the sink needs no values of the field.
    fn begin_flattened(&mut self, leaf: u32, key: String) -> Option<(&'a Leaf, KeyPath)> {
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        let Some(Flattened::Root { depth_max }) = node.field.flattened else { return None };
        if node.is_named {
            self.note_name(leaf);
        }
        let depth = key.matches('.').count() as u32;
        node.is_fed.then_some((node, KeyPath { key, depth, depth_max }))
    }

    /// Reads the members of an object whose grammar has been checked. The limit on the depth of JSON bounds
    /// the recursion.
    fn flattened_object(&mut self, node: &'a Leaf, key_path: &mut KeyPath, at: usize) -> Result<usize, Stop> {
        let mut at = skip_space(self.bytes, at + 1);
        let outer = key_path.key.len();
        while self.bytes[at] == b'"' {
            let (key_end, _) = json::string_end(self.bytes, at + 1)?;
            if outer > 0 || key_path.depth > 0 {
                key_path.key.push('.');
            }
            json::unescape(&self.text[at + 1..key_end], &mut key_path.key);
            at = json::colon(self.bytes, key_end + 1)?;
            at = skip_space(self.bytes, self.flattened_value(node, key_path, at)?);
            key_path.key.truncate(outer);
            if self.bytes[at] == b',' {
                at = skip_space(self.bytes, at + 1);
            }
        }
        Ok(at + 1)
    }

    fn flattened_value(&mut self, node: &'a Leaf, key_path: &mut KeyPath, at: usize) -> Result<usize, Stop> {
        match self.bytes[at] {
            b'{' => {
                key_path.depth += 1;
                if key_path.depth >= key_path.depth_max {
                    return Err(self.too_deep(node, key_path, at));
                }
                let end = self.flattened_object(node, key_path, at)?;
                key_path.depth -= 1;
                Ok(end)
            }
            b'[' => {
                let mut at = skip_space(self.bytes, at + 1);
                while self.bytes[at] != b']' {
                    at = skip_space(self.bytes, self.flattened_value(node, key_path, at)?);
                    if self.bytes[at] == b',' {
                        at = skip_space(self.bytes, at + 1);
                    }
                }
                Ok(at + 1)
            }
            b'"' => {
                let (end, has_escapes) = json::string_end(self.bytes, at + 1)?;
                let raw = &self.text[at + 1..end];
                if has_escapes {
                    let mut text = String::new();
                    json::unescape(raw, &mut text);
                    self.put_key(node, key_path, &text, at)?;
                } else {
                    self.put_key(node, key_path, raw, at)?;
                }
                Ok(end + 1)
            }
            _ => {
                let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
                match (&self.text[at..end], &node.field.null_value) {
                    ("null", None) => self.check_key(node, key_path, "null", at)?,
                    ("null", Some(null)) => {
                        self.put_key(node, key_path, null.as_str().unwrap_or_default(), at)?
                    }
                    (text, _) => self.put_key(node, key_path, text, at)?,
                }
                Ok(end)
            }
        }
    }

    fn put_key(&mut self, node: &'a Leaf, key_path: &KeyPath, value: &str, at: usize) -> Result<(), Stop> {
        self.check_key(node, key_path, value, at)?;
        let is_long = value.len() > node.ignore_above as usize;
        if is_long && value.encode_utf16().count() > node.ignore_above as usize {
            return Ok(());
        }
        self.check_room(key_path.key.len())?;
        let mut term = Vec::with_capacity(key_path.key.len() + 1 + value.len());
        term.extend_from_slice(key_path.key.as_bytes());
        term.push(KEY_END);
        term.extend_from_slice(value.as_bytes());
        if term.len() > TERM_BYTES_MAX {
            let start: String = key_path.key.chars().take(50).collect();
            let cause = RequestError::illegal_argument(format!(
                "Flattened field [{}] contains one immense field whose keyed encoding is longer than the allowed max length of \
                 {TERM_BYTES_MAX} bytes. Key length: {}, value length: {} for key starting with [{start}]",
                node.field.path,
                key_path.key.encode_utf16().count(),
                value.encode_utf16().count(),
            ));
            return Err(self.flattened_refused(node, at, value, cause));
        }
        let tree = self.tree;
        if let Some(keyed) = node.keyed {
            self.sink.term(&tree.leaves[keyed as usize].field, &term);
        }
        self.sink.term(&node.field, value.as_bytes());
        Ok(())
    }

    fn check_key(&self, node: &Leaf, key_path: &KeyPath, value: &str, at: usize) -> Result<(), Stop> {
        if !key_path.key.as_bytes().contains(&KEY_END) {
            return Ok(());
        }
        let cause = RequestError::illegal_argument(format!(
            "Keys in [flattened] fields cannot contain the reserved character \\0. Offending key: [{}].",
            key_path.key
        ));
        Err(self.flattened_refused(node, at, value, cause))
    }

    #[cold]
    fn too_deep(&self, node: &Leaf, key_path: &KeyPath, at: usize) -> Stop {
        let cause = RequestError::illegal_argument(format!(
            "The provided [flattened] field [{}] exceeds the maximum depth limit of [{}].",
            node.field.path, key_path.depth_max
        ));
        let end =
            json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth).unwrap_or(at);
        self.flattened_refused(node, at, &error::preview(&self.text[at..end]), cause)
    }

    /// Returns the error about a scalar in place of an object.
    #[cold]
    pub(super) fn not_flattened(&self, node: &Leaf, scalar: Scalar<'_>, at: usize) -> Stop {
        let token = match scalar {
            Scalar::Text(_) => "VALUE_STRING",
            Scalar::Bool(_) => "VALUE_BOOLEAN",
            Scalar::Integer { .. } | Scalar::Number(_) | Scalar::Stored(_) => "VALUE_NUMBER",
        };
        let reason =
            format!("Failed to parse object: expecting token of type [START_OBJECT] but found [{token}]");
        self.flattened_refused(node, at, scalar.text(), RequestError::parsing(reason))
    }

    #[cold]
    fn flattened_refused(&self, node: &Leaf, at: usize, preview: &str, cause: RequestError) -> Stop {
        let path_and_kind = (&*node.field.path, node.field.type_name());
        error::field(self.bytes, at, path_and_kind, &self.scratch.id, preview, cause).into()
    }
}
