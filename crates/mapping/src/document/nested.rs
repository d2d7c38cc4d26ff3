//! Nested objects: "which document do these values belong to?"

use super::error;
use super::walk::{Stop, Walk};
use crate::field::{FieldSink, SpaceId};
use crate::mapping::tree::{Leaf, NestedNode};

/// Estimated bytes of a nested document's own entries.
const NESTED_BYTES: usize = 8;

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads an object with `walk` as a separate document, and once more for each enclosing document that
    /// includes its values. `at` is the start of the object.
    #[inline(never)]
    pub(super) fn nested_object(
        &mut self,
        node: &'a NestedNode,
        at: usize,
        mut walk: impl FnMut(&mut Self) -> Result<usize, Stop>,
    ) -> Result<usize, Stop> {
        let limit = self.mapping.settings().limits.nested_objects;
        self.scratch.nested_objects += 1;
        if self.scratch.nested_objects > limit && !self.is_acknowledged {
            let reason = format!(
                "The number of nested documents has exceeded the allowed limit of [{limit}]. This limit can be set by changing the \
                 [index.mapping.nested_objects.limit] index level setting."
            );
            return Err(error::document(self.bytes, at, reason).into());
        }
        self.check_room(NESTED_BYTES)?;
        let document = self.scratch.document;
        self.sink.begin_nested(&node.nested);
        self.scratch.next_document();
        let end = walk(self)?;
        self.sink.end_nested(&node.nested);
        for &space in &node.also {
            self.include(node.nested.parent, space, &mut walk)?;
        }
        self.scratch.document = document;
        Ok(end)
    }

    /// Reads a nested object again for an enclosing document. `from` is the space that receives values at the
    /// moment.
    fn include(
        &mut self,
        from: SpaceId,
        space: SpaceId,
        walk: &mut impl FnMut(&mut Self) -> Result<usize, Stop>,
    ) -> Result<(), Stop> {
        self.sink.turn_to(space);
        self.including = true;
        self.scratch.next_document();
        walk(self)?;
        self.including = false;
        self.sink.turn_to(from);
        Ok(())
    }

    /// Runs `put`, which copies a value of `from` to `to`, in the document to which `to` belongs.
    pub(super) fn copy(
        &mut self,
        from: &Leaf,
        to: &Leaf,
        put: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if from.space == to.space {
            return put(self);
        }
        // The first pass has copied it.
        if self.including {
            return Ok(());
        }
        self.sink.turn_to(to.space);
        let document = self.scratch.document;
        self.scratch.next_document();
        let outcome = put(self);
        self.scratch.document = document;
        self.sink.turn_to(from.space);
        outcome
    }
}
