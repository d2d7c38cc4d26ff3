//! Passes one scalar to the sink: common values on a fast path, others as their type reads them.

use super::walk::{Stop, Walk};
use super::{error, infer, json};
use crate::date::Resolution;
use crate::definition::Dynamic;
use crate::field::{FieldSink, Reads, Scalar, SpaceId, Typed};
use crate::mapping::tree::{Copy, Leaf, SingleValued, TERM_BYTES_MAX};
use crate::{RequestError, ip, reserved};
use limber_work as work;

/// Estimated bytes of a value's entry in a field's log, besides the value's own bytes.
const VALUE_BYTES: usize = 8;

/// Returns the multi-fields that are fed with the values of a leaf itself.
fn not_fed(node: &Leaf) -> &[u32] {
    if node.reads.feeds_multi_fields() { &[] } else { &node.multi_fields }
}

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Feeds a scalar to a leaf, its multi-fields and its copies.
    #[inline(always)]
    pub(super) fn feed(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        if node.is_fed && self.put_quickly(node, scalar) {
            if node.is_named {
                self.note_name(leaf);
            }
        } else {
            self.put(node, leaf, scalar, at)?;
        }
        if node.is_plain { Ok(()) } else { self.feed_others(node, leaf, scalar, at) }
    }

    /// Feeds the common value of each type. Returns false, without doing anything, if [`Walk::put`] must
    /// handle it.
    #[inline(always)]
    fn put_quickly(&mut self, node: &'a Leaf, scalar: Scalar<'_>) -> bool {
        let field = &*node.field;
        match (node.reads, scalar) {
            (Reads::Text, Scalar::Text(text)) => self.sink.text(field, text),
            (Reads::Keyword, Scalar::Text(text)) if text.len() <= node.quick_bytes_max => {
                self.sink.term(field, text.as_bytes())
            }
            (Reads::Integer(width), Scalar::Integer { value, .. }) => {
                let (low, high) = width.limits();
                if value < low || value > high {
                    return false;
                }
                self.sink.number(field, value)
            }
            (Reads::Ip, Scalar::Text(text)) => match ip::parse(text.as_bytes()) {
                Some(bytes) => self.sink.term(field, &bytes),
                None => return false,
            },
            (Reads::Date, scalar) => {
                let Some((format, resolution)) = field.date() else { return false };
                let stored = match (scalar, resolution) {
                    (Scalar::Text(text), Resolution::Millis) => format.parse_quickly(text),
                    (Scalar::Text(text), Resolution::Nanos) => {
                        format.parse_instant_quickly(text).and_then(|instant| instant.to_nanos().ok())
                    }
                    (Scalar::Integer { value, text }, Resolution::Millis) => {
                        format.parse_integer_quickly(value, text)
                    }
                    _ => None,
                };
                match stored {
                    Some(stored) => self.sink.number(field, stored),
                    None => return false,
                }
            }
            _ => return false,
        }
        true
    }

    #[inline(never)]
    fn feed_others(&mut self, node: &'a Leaf, leaf: u32, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        self.check_single_valued(node, leaf, at)?;
        let target_count = node.multi_fields.len() + node.copies.len();
        self.check_room(target_count * (scalar.text().len() + VALUE_BYTES))?;
        let tree = self.tree;
        for &number in not_fed(node) {
            let sub = &tree.leaves[number as usize];
            if !(sub.is_fed && !sub.is_named && self.put_quickly(sub, scalar)) {
                self.put(sub, number, scalar, at)?;
            }
        }
        for copy in &node.copies {
            match copy {
                Copy::Missing { .. } | Copy::Alias(_) | Copy::Object(_) if self.is_acknowledged => {}
                Copy::Leaf(number) => {
                    let target = &tree.leaves[*number as usize];
                    self.copy(node, target, |walk| {
                        walk.put(target, *number, scalar, at)?;
                        let mut subs = not_fed(target).iter();
                        subs.try_for_each(|&sub| walk.put(&tree.leaves[sub as usize], sub, scalar, at))
                    })?;
                }
                Copy::Alias(path) => {
                    let reason = format_args!("Cannot copy to a field alias [{path}].");
                    return Err(error::document(self.bytes, at, reason).into());
                }
                Copy::Object(number) => return Err(self.concrete_value(*number, at, false)),
                Copy::Missing { path, above } => {
                    self.copy_to_unmapped(path, *above, at)?;
                }
            }
        }
        Ok(())
    }

    /// Copies a value to a path that has no mapped field. If there is a runtime field, the value is not
    /// indexed.
    #[cold]
    fn copy_to_unmapped(&self, path: &str, above: u32, at: usize) -> Result<(), Stop> {
        let dynamic = self.tree.objects[above as usize].dynamic;
        match dynamic {
            Dynamic::True | Dynamic::Runtime if self.mapping.is_known(dynamic, path) => Ok(()),
            Dynamic::True | Dynamic::Runtime if !self.mapping.settings().limits.ignores_beyond => {
                Err(Stop::NeedsMapping)
            }
            Dynamic::False => Ok(()),
            Dynamic::Strict => {
                let (object, name) = path.rsplit_once('.').unwrap_or(("", path));
                Err(error::strict(self.bytes, at, dynamic, name, object).into())
            }
            _ => match infer::adds_copy(self.mapping, self.text, above, path, at)? {
                true => Err(Stop::NeedsMapping),
                false => Ok(()),
            },
        }
    }

    /// Checks that the document may produce `bytes` more than the length of its source.
    #[inline]
    pub(super) fn check_room(&self, bytes: usize) -> Result<(), Stop> {
        if bytes == 0 || self.is_acknowledged || work::state_bytes(bytes) {
            return Ok(());
        }
        Ok(work::end_document().map_err(RequestError::from)?)
    }

    /// Counts a value of a field that may have only one.
    pub(super) fn check_single_valued(&mut self, node: &Leaf, leaf: u32, at: usize) -> Result<(), Stop> {
        match node.single_valued {
            SingleValued::No => {}
            SingleValued::Timestamp => self.scratch.timestamps += 1,
            SingleValued::Dimension => {
                let last = &mut self.scratch.single[leaf as usize];
                if *last == self.scratch.document {
                    let cause = RequestError::illegal_argument(format!(
                        "Dimension field [{}] cannot be a multi-valued field.",
                        node.field.path
                    ));
                    let end = json::scalar_end(self.bytes, at)?.unwrap_or(at);
                    let preview = error::preview(&self.text[at..end]);
                    let path_and_kind = (&*node.field.path, node.field.type_name());
                    let id = &self.scratch.id;
                    return Err(error::field(self.bytes, at, path_and_kind, id, &preview, cause).into());
                }
                *last = self.scratch.document;
            }
        }
        Ok(())
    }

    /// Converts one scalar for one field and calls the sink.
    #[inline(never)]
    pub(super) fn put(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        if node.is_scripted {
            return Err(self.refuse_scripted(node, scalar.text(), at));
        }
        if node.reads.is_whole() {
            return self.put_whole(node, leaf, scalar, at);
        }
        let field = &*node.field;
        if !node.is_fed
            && let Some(constant) = field.constant()
        {
            return self.check_constant(node, leaf, constant, scalar, at);
        }
        let mut buffer = [0; 16];
        match field.of.read(field, scalar, &mut buffer) {
            Ok(Typed::Number(value)) => {
                if node.is_fed {
                    self.sink.number(field, value);
                }
            }
            Ok(Typed::Term(value)) => {
                if !self.put_keyword(node, leaf, value, scalar, at)? {
                    return Ok(());
                }
            }
            Ok(Typed::Coded(value)) => {
                if !self.put_term(node, &value, at)? {
                    return Ok(());
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
            Err(_) if self.is_acknowledged => return Ok(()),
            Err(cause) => return self.malformed(node, leaf, scalar, at, *cause),
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }

    /// Passes the string `value` of a scalar to the sink as a term, after the field's normalizer. Returns
    /// whether the field has it: it ignores strings that are too long.
    #[inline(always)]
    fn put_keyword(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        value: &[u8],
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<bool, Stop> {
        if value.len() > node.ignore_above as usize && utf16_length(value) > node.ignore_above as usize {
            self.note_ignored(leaf);
            return Ok(false);
        }
        match &node.field.normalizer {
            Some(normalizer) => self.put_term(node, normalizer.normalize(scalar.text()).as_bytes(), at),
            None => self.put_term(node, value, at),
        }
    }

    /// Passes a term to the sink; returns whether the field has it. A document that was acknowledged is kept
    /// without terms that are too long.
    #[inline(always)]
    fn put_term(&mut self, node: &'a Leaf, value: &[u8], at: usize) -> Result<bool, Stop> {
        if value.len() > TERM_BYTES_MAX {
            return match self.is_acknowledged {
                true => Ok(false),
                false => Err(self.immense(node, value, at)),
            };
        }
        if node.is_fed {
            self.sink.term(&node.field, value);
        }
        Ok(true)
    }

    /// Returns the error about a value, shown as `preview`, for a field whose values are computed by a
    /// script.
    #[cold]
    pub(super) fn refuse_scripted(&self, node: &Leaf, preview: &str, at: usize) -> Stop {
        let cause = RequestError::illegal_argument(
            "Cannot index data directly into a field with a [script] parameter",
        );
        let path_and_kind = (&*node.field.path, node.field.type_name());
        if node.field.is_point() {
            return error::field_without_preview(self.bytes, at, path_and_kind, cause).into();
        }
        error::field(self.bytes, at, path_and_kind, &self.scratch.id, preview, cause).into()
    }

    /// Refuses any value except the constant, which the first document sets.
    #[cold]
    #[inline(never)]
    fn check_constant(
        &mut self,
        node: &Leaf,
        leaf: u32,
        constant: Option<&str>,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        match constant {
            None => Err(Stop::NeedsMapping),
            Some(constant) if constant == scalar.text() => Ok(()),
            Some(constant) => {
                let cause = RequestError::illegal_argument(format!(
                    "[constant_keyword] field [{}] only accepts values that are equal to the value defined in the mappings \
                     [{constant}], but got [{}]",
                    node.field.path,
                    scalar.text()
                ));
                self.malformed(node, leaf, scalar, at, cause)
            }
        }
    }

    /// Handles an empty string that a number takes as null.
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
        // Fractions are shown as Java's double, integers unchanged.
        let preview = match scalar {
            Scalar::Number(text) if text.contains(['.', 'e', 'E']) => {
                text.parse().map_or_else(|_| text.to_owned(), crate::number::java_double)
            }
            other => other.text().to_owned(),
        };
        let path_and_kind = (&*node.field.path, node.field.type_name());
        Err(error::field(self.bytes, at, path_and_kind, &self.scratch.id, &preview, cause).into())
    }

    #[cold]
    fn immense(&self, node: &Leaf, value: &[u8], at: usize) -> Stop {
        let preview = String::from_utf8_lossy(value);
        let path_and_kind = (&*node.field.path, node.field.type_name());
        let cause = error::immense(&node.field.path, value);
        error::field(self.bytes, at, path_and_kind, &self.scratch.id, &preview, cause).into()
    }

    #[cold]
    #[inline(never)]
    pub(super) fn note_ignored(&mut self, leaf: u32) {
        let tree = self.tree;
        if self.including {
            return;
        }
        if std::mem::replace(&mut self.scratch.ignored[leaf as usize], self.scratch.document)
            != self.scratch.document
        {
            let field = self.mapping.field_by_id(reserved::IGNORED);
            let node = &tree.leaves[leaf as usize];
            // `_ignored` belongs to the top-level document, whichever nested document contains the value.
            let is_nested = node.space != SpaceId::ROOT;
            if is_nested {
                self.sink.turn_to(SpaceId::ROOT);
            }
            self.sink.term(field, node.field.path.as_bytes());
            if is_nested {
                self.sink.turn_to(node.space);
            }
        }
    }

    #[inline(never)]
    pub(super) fn note_name(&mut self, leaf: u32) {
        let tree = self.tree;
        if std::mem::replace(&mut self.scratch.named[leaf as usize], self.scratch.document)
            != self.scratch.document
        {
            let field = self.mapping.field_by_id(reserved::FIELD_NAMES);
            self.sink.term(field, tree.leaves[leaf as usize].field.path.as_bytes());
        }
    }
}

pub(super) fn utf16_length(utf8: &[u8]) -> usize {
    // One unit per character, two for characters of four bytes.
    utf8.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
        + utf8.iter().filter(|&&byte| byte >= 0xf0).count()
}
