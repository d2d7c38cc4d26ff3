//! Keys that are not entries of their object: dotted names, unmapped fields, and invalid field names.

use std::ops::Range;

use super::doc_count::DOC_COUNT;
use super::walk::{Stop, Walk};
use super::{error, infer, json, key_name};
use crate::definition::{Dynamic, joined};
use crate::field::FieldSink;
use crate::mapping::tree::{ObjectNode, Target};
use crate::reserved;

/// What a key that is not an entry of its object refers to.
enum UnknownKey {
    Unmapped {
        dynamic: Dynamic,
        object: String,
        name: String,
    },
    /// A field within an object whose contents are not read.
    Disabled,
    /// An alias, or a name below it.
    Alias {
        path: String,
        is_below: bool,
    },
    /// A name below a leaf, as in `{"a.b": 1}` where `a` is a number.
    BelowLeaf {
        leaf: u32,
        rest: String,
    },
}

impl<S: FieldSink> Walk<'_, S> {
    /// Reads the value at `at` of a key that its object does not know. Returns the offset after the value.
    #[cold]
    #[inline(never)]
    pub(super) fn unknown_key(
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
        if let Some(refused) = key_name::refused(self.bytes, quote, &key) {
            return if self.is_acknowledged { self.skip(at, depth) } else { Err(refused.into()) };
        }
        // Java's `split` drops trailing empty parts: `a.` is `a`.
        let key = key.trim_end_matches('.').to_owned();
        if let Some(entry) = tree.find(node, key.as_bytes()) {
            return match tree.entries[entry as usize].target {
                Target::Leaf(leaf) => self.leaf_value(leaf, at, depth),
                Target::Object(object) => self.object_value(object, at, depth),
            };
        }
        if let Some((object, rest)) = self.way_into_nested(node, &key) {
            return self.dotted(object, rest, quote, at, depth);
        }
        let end = json::skip_value(self.bytes, at, depth, self.mapping.settings().limits.json_depth)?;
        // The start of the parser's last token.
        let last = if matches!(self.bytes[at], b'{' | b'[') { end - 1 } else { at };
        self.token = last;
        if node.path.is_empty() && key == DOC_COUNT {
            return self.doc_count(at, end);
        }
        if node.path.is_empty() && is_metadata(&key) && !self.is_acknowledged {
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
        self.unresolved(node, &key, quote, at, end)
    }

    /// Handles the value from `at` to `end` of a key that refers to no field of `node`.
    fn unresolved(
        &mut self,
        node: &ObjectNode,
        key: &str,
        quote: usize,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let resolved = self.resolve(node, key);
        if !matches!(resolved, UnknownKey::Alias { .. })
            && let Some((flat, rest)) = self.way_into_flat(node, key, at)
        {
            return self.objects_of_names(flat, rest, at, end);
        }
        match resolved {
            UnknownKey::Disabled => Ok(end),
            UnknownKey::BelowLeaf { leaf, rest } if self.tree.leaves[leaf as usize].keyed.is_some() => {
                match self.flattened_below(leaf, rest, at) {
                    Err(Stop::Refused(_)) if self.is_acknowledged => Ok(end),
                    outcome => outcome.map(|()| end),
                }
            }
            _ if self.is_acknowledged => Ok(end),
            UnknownKey::Alias { path, is_below } => {
                self.refuse_alias(&path, is_below.then_some(quote), at, end)
            }
            UnknownKey::BelowLeaf { leaf, rest } => Err(self.refuse_below(leaf, &rest, quote, at..end)),
            UnknownKey::Unmapped { dynamic: Dynamic::False, .. } => Ok(end),
            UnknownKey::Unmapped { dynamic: Dynamic::Strict, object, name } => {
                Err(error::strict(self.bytes, at, Dynamic::Strict, &name, &object).into())
            }
            UnknownKey::Unmapped {
                dynamic: Dynamic::StrictAllowTemplates | Dynamic::FalseAllowTemplates,
                ..
            } => match infer::adds_member(self.mapping, self.text, node, key, (quote, at))? {
                true => Err(Stop::NeedsMapping),
                false => Ok(end),
            },
            UnknownKey::Unmapped { dynamic: Dynamic::Runtime, .. } => {
                match self.are_all_known(Dynamic::Runtime, joined(&node.path, key), at)
                    || self.is_left_out(node, key, key, (quote, at))?
                {
                    true => Ok(end),
                    false => Err(Stop::NeedsMapping),
                }
            }
            UnknownKey::Unmapped { dynamic: Dynamic::True, object, name } => {
                let path = joined(&node.path, key);
                // Checks every beginning of the path, from the first object on that dynamic mapping would
                // add. None that is deeper than fields may be is known.
                let unmapped_from = joined(&object, &name).len();
                let mut ends = (unmapped_from..=path.len())
                    .filter(|&end| end == path.len() || path.as_bytes()[end] == b'.')
                    .take(self.mapping.settings().limits.depth.saturating_add(1));
                let mut is_known = || ends.any(|end| self.mapping.is_known(Dynamic::True, &path[..end]));
                if !holds_value(&self.bytes[at..end]) || is_known() {
                    return Ok(end);
                }
                match self.is_left_out(node, key, &joined(&object, &name), (quote, at))? {
                    true => Ok(end),
                    false => Err(Stop::NeedsMapping),
                }
            }
        }
    }

    /// Whether there is no room in the mapping for a member and the index leaves such members out. It is then
    /// listed in `_ignored` under `path`. `places`: the offsets of its key and of its value.
    fn is_left_out(
        &mut self,
        node: &ObjectNode,
        key: &str,
        path: &str,
        places: (usize, usize),
    ) -> Result<bool, Stop> {
        if !self.mapping.settings().limits.ignores_beyond
            || infer::adds_member(self.mapping, self.text, node, key, places)?
        {
            return Ok(false);
        }
        if !self.including && self.mapping.nested_around(path).is_none() {
            self.sink.term(self.mapping.field_by_id(reserved::IGNORED), path.as_bytes());
        }
        Ok(true)
    }

    /// Returns the end of a value whose key is an alias or a name below an alias. `key` is the position of
    /// such a name.
    ///
    /// # Errors
    /// The value is not an empty list.
    #[cold]
    fn refuse_alias(&self, path: &str, key: Option<usize>, at: usize, end: usize) -> Result<usize, Stop> {
        let lists =
            self.bytes[at..end].iter().take_while(|&&byte| byte == b'[' || byte.is_ascii_whitespace());
        let first = at + lists.count();
        if self.bytes[first] == b']' {
            return Ok(end);
        }
        let reason = format_args!("Cannot write to a field alias [{path}].");
        Err(error::document(self.bytes, key.unwrap_or(first), reason).into())
    }

    /// Returns the error for the value of a name below a leaf.
    #[cold]
    fn refuse_below(&self, leaf: u32, rest: &str, quote: usize, value: Range<usize>) -> Stop {
        let last = if matches!(self.bytes[value.start], b'{' | b'[') { value.end - 1 } else { value.start };
        let leaf = &self.tree.leaves[leaf as usize];
        let kind = leaf.field.type_name();
        let cause = error::object_for_scalar(self.bytes, quote, kind);
        let preview = format!("{{{rest}={}}}", error::preview(&self.text[value]));
        error::field(self.bytes, last, (&leaf.field.path, kind), &self.scratch.id, &preview, cause).into()
    }

    /// Whether the value at `at` is an object, an array that begins with one, or nothing.
    pub(super) fn leads_to_object(&self, at: usize) -> bool {
        let mut rest = self.bytes[at..].iter().filter(|byte| **byte != b'[' && !byte.is_ascii_whitespace());
        matches!(rest.next(), Some(b'{' | b'n' | b']'))
    }

    /// Reads a scalar whose key is a complete name, where the mapping has only longer names that begin with
    /// it.
    #[cold]
    pub(super) fn beginning_as_field(&mut self, number: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let tree = self.tree;
        let node = &tree.objects[number as usize];
        let Some(owner) = node.begins_names_of else { return self.skip(at, depth) };
        let end = self.skip(at, depth)?;
        let owner = &tree.objects[owner as usize];
        self.unresolved(owner, owner.name_of(&node.path), at, at, end)
    }

    /// Returns the flat object into which a name leads, and the rest of the name there. Returns `None` if
    /// there is none, or if the value at `at` is not an object.
    fn way_into_flat<'k>(
        &self,
        object: &'k ObjectNode,
        key: &'k str,
        at: usize,
    ) -> Option<(&'k ObjectNode, &'k str)>
    where
        Self: 'k,
    {
        if !self.leads_to_object(at) || self.bytes[at] == b'n' {
            return None;
        }
        let (mut object, mut rest) = (object, key);
        while !object.is_flat {
            let (head, tail) = rest.split_once('.').filter(|_| object.enabled)?;
            let entry = self.tree.find(object, head.as_bytes())?;
            let Target::Object(inner) = self.tree.entries[entry as usize].target else { return None };
            object = &self.tree.objects[inner as usize];
            rest = tail;
        }
        Some((object, rest))
    }

    /// Checks an object from `at` to `end` in a flat object. The names of its members begin with `key`, and
    /// the mapping has no field with such a name.
    fn objects_of_names(
        &mut self,
        node: &ObjectNode,
        key: &str,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let (owner, name) = self.tree.name_in_flat(node, key);
        let is_passed_over = matches!(owner.dynamic, Dynamic::False | Dynamic::FalseAllowTemplates);
        if self.is_acknowledged || !owner.enabled || is_passed_over {
            return Ok(end);
        }
        match owner.dynamic {
            // Templates are not asked for in flat objects: see `definition::flat`.
            dynamic @ (Dynamic::Strict | Dynamic::StrictAllowTemplates) => {
                Err(error::strict(self.bytes, at, dynamic, &name, &owner.path).into())
            }
            dynamic if self.are_all_known(dynamic, joined(&owner.path, &name), at) => Ok(end),
            _ => match self.is_left_out(owner, &name, &joined(&owner.path, &name), (at, at))? {
                true => Ok(end),
                false => Err(Stop::NeedsMapping),
            },
        }
    }

    /// Reads the object at `at` of a field of a flat object that does not take objects. The names of its
    /// members begin with the field's name.
    #[cold]
    pub(super) fn object_of_field(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let tree = self.tree;
        let leaf = &tree.leaves[leaf as usize];
        if let Some(beginning) = leaf.beginning {
            return self.object(beginning, at + 1, 1);
        }
        let owner = &tree.objects[leaf.flat_in.unwrap_or_default() as usize];
        let end = self.skip(at, 1)?;
        self.objects_of_names(owner, owner.name_of(&leaf.field.path), at, end)
    }

    /// Returns the first nested object into which a dotted name leads, and the rest of the name.
    fn way_into_nested<'k>(&self, object: &ObjectNode, key: &'k str) -> Option<(u32, &'k str)> {
        let mut object = object;
        let mut rest = key;
        while let Some((head, tail)) = rest.split_once('.') {
            if !object.enabled {
                return None;
            }
            let entry = self.tree.find(object, head.as_bytes())?;
            let Target::Object(inner) = self.tree.entries[entry as usize].target else { return None };
            object = &self.tree.objects[inner as usize];
            rest = tail;
            if object.nested.is_some() {
                return object.enabled.then_some((inner, rest));
            }
        }
        None
    }

    /// Reads `{"n.a": 1}` where `n` is nested: an instance of `n` that contains nothing else.
    fn dotted(
        &mut self,
        object: u32,
        rest: &str,
        quote: usize,
        at: usize,
        depth: usize,
    ) -> Result<usize, Stop> {
        let tree = self.tree;
        let node = &tree.objects[object as usize];
        let Some(nested) = &node.nested else { return Ok(at) };
        if self.including {
            return Ok(json::skip_value(self.bytes, at, depth, self.mapping.settings().limits.json_depth)?);
        }
        self.nested_object(nested, quote, |walk| {
            if let Some(entry) = tree.find(node, rest.as_bytes()) {
                return match tree.entries[entry as usize].target {
                    Target::Leaf(leaf) => walk.leaf_value(leaf, at, depth),
                    Target::Object(object) => walk.object_value(object, at, depth),
                };
            }
            match walk.way_into_nested(node, rest) {
                Some((object, rest)) => walk.dotted(object, rest, quote, at, depth),
                None => {
                    let limit = walk.mapping.settings().limits.json_depth;
                    let end = json::skip_value(walk.bytes, at, depth, limit)?;
                    walk.unresolved(node, rest, quote, at, end)
                }
            }
        })
    }

    /// Follows a dotted name as far as it is mapped.
    fn resolve(&self, object: &ObjectNode, key: &str) -> UnknownKey {
        let mut object = object;
        let mut rest = key;
        loop {
            if !object.enabled {
                return UnknownKey::Disabled;
            }
            if object.is_flat {
                let (owner, name) = self.tree.name_in_flat(object, rest);
                let path = joined(&owner.path, &name);
                return match self.tree.aliases.contains_key(path.as_str()) {
                    true => UnknownKey::Alias { path, is_below: false },
                    false => {
                        UnknownKey::Unmapped { dynamic: owner.dynamic, object: owner.path.to_string(), name }
                    }
                };
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
                (Some(Target::Object(_)), None) => return UnknownKey::Disabled,
                (Some(Target::Leaf(leaf)), tail) => {
                    return UnknownKey::BelowLeaf { leaf, rest: tail.unwrap_or_default().to_owned() };
                }
                (None, tail) => {
                    let path = joined(&object.path, head);
                    if self.tree.aliases.contains_key(path.as_str()) {
                        return UnknownKey::Alias { path, is_below: tail.is_some() };
                    }
                    return UnknownKey::Unmapped {
                        dynamic: object.dynamic,
                        object: object.path.to_string(),
                        name: head.to_owned(),
                    };
                }
            }
        }
    }
}

/// Whether a document may not have a member of this name at its root.
fn is_metadata(name: &str) -> bool {
    reserved::METADATA.contains(&name) || name == "_feature"
}

/// Whether a syntactically valid value contains any scalar except null, or any object.
fn holds_value(value: &[u8]) -> bool {
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
