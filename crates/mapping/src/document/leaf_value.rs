//! Reads the values of leaves: scalars, and arrays of them.

use super::error;
use super::json::{self, JsonErrorKind};
use super::scan::{skip_space, string_stop};
use super::walk::{Stop, Walk};
use crate::field::{FieldSink, Reads, Scalar};
use crate::mapping::tree::{Copy, Leaf};

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the value of a key that refers to a leaf. In an acknowledged document, a value that the leaf
    /// refuses is skipped.
    #[inline(always)]
    pub(super) fn leaf_value(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        match self.value(leaf, at, depth) {
            Err(Stop::Refused(_) | Stop::NeedsMapping) if self.is_acknowledged => self.skip(at, depth),
            outcome => outcome,
        }
    }

    /// Returns the offset after a value that is not read.
    #[cold]
    pub(super) fn skip(&self, at: usize, depth: usize) -> Result<usize, Stop> {
        Ok(json::skip_value(self.bytes, at, depth, self.mapping.settings().limits.json_depth)?)
    }

    /// Reads a scalar, or an array of any depth.
    #[inline(always)]
    fn value(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        if self.bytes.get(at) == Some(&b'[') { self.array(leaf, at, depth) } else { self.scalar(leaf, at) }
    }

    #[inline(never)]
    fn array(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let node = &self.tree.leaves[leaf as usize];
        match node.reads {
            _ if node.is_scripted => {}
            Reads::Points => return self.points(leaf, at, depth),
            Reads::Shapes => return self.shapes(leaf, at, depth),
            _ => {}
        }
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
                self.pause(at);
                at = match self.scalar(leaf, at) {
                    Err(Stop::Refused(_)) if self.is_acknowledged => self.skip(at, depth + levels)?,
                    outcome => outcome?,
                };
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

    /// Reads one scalar of a leaf. Returns the offset after it.
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

    /// Reads a string with escapes.
    #[inline(never)]
    fn escaped(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = match json::string_end(self.bytes, at + 1) {
            Ok((end, _)) => end,
            // In Elasticsearch a string is read when the field asks for it, so the error names the field.
            Err(found) => {
                let field = &self.tree.leaves[leaf as usize].field;
                let cause = error::syntax_cause(self.bytes, &found);
                let path_and_kind = (&*field.path, field.type_name());
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
            Some(b'{') if node.is_scripted => Err(self.refuse_scripted(node, "{", at)),
            Some(b'{') if node.reads == Reads::Points => self.points(leaf, at, 1),
            Some(b'{') if node.reads == Reads::Shapes => self.shapes(leaf, at, 1),
            Some(b'{') if node.reads == Reads::Ranges => self.range(leaf, at),
            Some(b'{') if node.reads == Reads::Inputs => self.completion(leaf, at),
            Some(b'{') if node.reads == Reads::Relation => self.join(leaf, at),
            Some(b'{') if node.reads == Reads::Features => self.features(leaf, at),
            Some(b'{') if node.reads == Reads::Query => self.query(leaf, at),
            Some(b'{') if node.reads == Reads::Flattened => self.flattened(leaf, at),
            Some(b'{') if node.reads == Reads::Summary => self.summary(leaf, at),
            Some(b'{') if node.flat_in.is_some() => self.object_of_field(leaf, at),
            Some(b'{') if node.field.ignore_malformed => {
                let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
                self.note_ignored(leaf);
                Ok(end)
            }
            Some(b'{') => {
                let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
                let kind = node.field.type_name();
                let cause = error::object_for_scalar(self.bytes, at, kind);
                let preview = error::preview(&self.text[at..end]);
                let id = &self.scratch.id;
                Err(error::field(self.bytes, end - 1, (&node.field.path, kind), id, &preview, cause).into())
            }
            _ => Err(json::unexpected(self.bytes, at, json::VALUE).into()),
        }
    }

    /// Reads an explicit null: every field that the value reaches replaces it by its own `null_value`.
    fn null(&mut self, node: &'a Leaf, leaf: u32, at: usize) -> Result<(), Stop> {
        let tree = self.tree;
        if node.is_scripted {
            return Err(self.refuse_scripted(node, "null", at));
        }
        if node.reads == Reads::Points {
            return self.put_point(node, leaf, &serde_json::Value::Null, at);
        }
        if let Some(null) = &node.null {
            self.check_single_valued(node, leaf, at)?;
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
                    self.copy(node, target, |walk| walk.put(target, number, null.borrow(), at))?;
                }
            }
        }
        Ok(())
    }
}
