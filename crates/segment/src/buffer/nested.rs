//! Nested documents of a buffer: "which space do values go to, and which one did they go to before?"

use limber_mapping::SpaceId;

use super::field_table::FieldTable;
use crate::DocId;

/// The fields of every space except the current one, whose fields are in the buffer itself meanwhile.
/// Documents without nested objects never use this.
#[derive(Default)]
pub struct NestedBuffers {
    /// The space that values currently go to.
    pub space: SpaceId,
    /// Indexed by space; the current one is empty.
    pub spaces: Vec<SpaceBuffer>,
    /// Spaces in which the current document has nested documents, and their document counts before it.
    begun: Vec<(SpaceId, u32)>,
}

/// The documents of one space.
#[derive(Default)]
pub struct SpaceBuffer {
    pub doc_count: u32,
    pub fields: FieldTable,
    /// The parent of each document; always kept here, even for the current space. Empty for the root.
    pub parents: Vec<DocId>,
}

impl NestedBuffers {
    /// Stores the current fields and replaces them by those of `space`.
    pub fn exchange(&mut self, space: SpaceId, fields: &mut FieldTable, doc_count: &mut u32) {
        let wanted = space.0.max(self.space.0) as usize;
        if wanted >= self.spaces.len() {
            self.spaces.resize_with(wanted + 1, SpaceBuffer::default);
        }
        for place in [self.space, space] {
            let other = &mut self.spaces[place.0 as usize];
            std::mem::swap(&mut other.fields, fields);
            std::mem::swap(&mut other.doc_count, doc_count);
        }
        self.space = space;
    }

    /// Records the parent of the document `doc` of `space`, which must be the current space.
    pub fn begin(&mut self, space: SpaceId, parent: DocId, doc: DocId) {
        if self.begun.iter().all(|(begun, _)| *begun != space) {
            self.begun.push((space, doc));
        }
        self.spaces[space.0 as usize].parents.push(parent);
    }

    /// Keeps the nested documents of the current document.
    pub fn settle(&mut self) {
        self.begun.clear();
    }

    /// Drops the nested documents of the current document; the root must be the current space.
    pub fn roll_back(&mut self) {
        for (space, doc_count) in self.begun.drain(..) {
            let space = &mut self.spaces[space.0 as usize];
            space.doc_count = doc_count;
            space.parents.truncate(doc_count as usize);
            space.fields.iter_mut().for_each(|field| field.roll_back_from(doc_count));
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let of_space =
            |space: &SpaceBuffer| space.fields.memory_bytes() + space.parents.capacity() * size_of::<DocId>();
        let spaces: usize = self.spaces.iter().map(of_space).sum();
        spaces + self.spaces.capacity() * size_of::<SpaceBuffer>()
    }
}
