//! Infers new fields of flat objects (`subobjects: false`), whose names contain dots.

use super::unmapped::name_of;
use super::{Inference, ObjectContext};
use crate::RequestError;
use crate::definition::{self, Dynamic};
use crate::mapping::tree::Target;

impl Inference<'_> {
    /// Reads the value at `at` of the key `rest` in an object of `context` at `path`.
    pub(super) fn flat_member(
        &mut self,
        context: ObjectContext,
        path: &str,
        rest: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        let tree = self.mapping.tree();
        if rest.split('.').any(|part| part.trim().is_empty()) {
            let reason = "field name cannot contain only whitespaces";
            return Err(RequestError::illegal_argument(reason));
        }
        let full = definition::joined(path, rest);
        let target = context.object.and_then(|object| {
            let entry = tree.find(&tree.objects[object as usize], rest.as_bytes())?;
            Some(tree.entries[entry as usize].target)
        });
        match target {
            Some(Target::Leaf(leaf)) if self.takes_all(leaf, at) => self.mapped(leaf, &full, at, level),
            Some(Target::Leaf(leaf)) => {
                if self.bytes.get(at) == Some(&b'[') {
                    self.mapped(leaf, &full, at, level)?;
                }
                let inside = ObjectContext { object: tree.leaves[leaf as usize].beginning, ..context };
                self.flat_value(inside, &full, at, level)
            }
            // The walk refuses it.
            None if tree.aliases.contains_key(full.as_str()) => self.skip(at),
            None if context.dynamic == Dynamic::Runtime => self.runtime(context, &full, at, level),
            Some(Target::Object(object)) => {
                let inside = ObjectContext { object: Some(object), ..context };
                self.flat_value(inside, &full, at, level)
            }
            None => self.flat_value(ObjectContext { object: None, ..context }, &full, at, level),
        }
    }

    /// Whether the value at `at` is the field's own, and contains no objects with fields whose names begin
    /// with its name.
    fn takes_all(&self, leaf: u32, at: usize) -> bool {
        let leaf = &self.mapping.tree().leaves[leaf as usize];
        leaf.is_scripted || leaf.reads.takes_objects() || !matches!(self.bytes.get(at), Some(b'{' | b'['))
    }

    /// Reads the value at `at` of a name that is not a field yet. `inside` is the context of its members, if
    /// it is an object.
    fn flat_value(
        &mut self,
        inside: ObjectContext,
        path: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        match self.bytes.get(at) {
            Some(b'{') => self.object(inside, path, at, level + 1),
            Some(b'[') => self.array(at, &mut |this, at| this.flat_value(inside, path, at, level)),
            Some(_) if inside.dynamic == Dynamic::True => {
                self.new_field(inside.dynamic, name_of(path, inside.names_from), path, at)
            }
            Some(_) if inside.dynamic == Dynamic::Runtime => self.runtime(inside, path, at, level),
            _ => self.skip(at),
        }
    }
}
