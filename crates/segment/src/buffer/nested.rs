//! Nested documents of a buffer: "where do the values go now, and where were we before?"

use limber_mapping::SpaceId;

use super::fields::FieldBuffer;
use crate::DocId;

/// The fields of every space but the one that values go to, which are the buffer's own meanwhile: documents
/// without nested objects never come here.
#[derive(Default)]
pub struct NestedBuffers {
    /// What values go to now.
    pub space: SpaceId,
    /// By space; the one in use is empty.
    pub spaces: Vec<SpaceBuffer>,
    /// Spaces that the current document has nested documents in, and how many there were before.
    begun: Vec<(SpaceId, u32)>,
}

/// The documents of one space.
#[derive(Default)]
pub struct SpaceBuffer {
    pub doc_count: u32,
    /// By field.
    pub fields: Vec<FieldBuffer>,
    /// The parent of each document; always here. Empty for the root.
    pub parents: Vec<DocId>,
}

impl NestedBuffers {
    /// Puts the fields in use aside and takes those of `space` in their place.
    pub fn exchange(&mut self, space: SpaceId, fields: &mut Vec<FieldBuffer>, doc_count: &mut u32) {
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

    /// Notes the parent of the document `doc` of `space`, which is in use.
    pub fn begin(&mut self, space: SpaceId, parent: DocId, doc: DocId) {
        if self.begun.iter().all(|(begun, _)| *begun != space) {
            self.begun.push((space, doc));
        }
        self.spaces[space.0 as usize].parents.push(parent);
    }

    /// The current document stays.
    pub fn settle(&mut self) {
        self.begun.clear();
    }

    /// Forgets the nested documents of the current document; the root is in use.
    pub fn roll_back(&mut self) {
        for (space, doc_count) in self.begun.drain(..) {
            let space = &mut self.spaces[space.0 as usize];
            space.doc_count = doc_count;
            space.parents.truncate(doc_count as usize);
            space.fields.iter_mut().for_each(|field| field.roll_back_from(doc_count));
        }
    }

    pub fn memory_bytes(&self) -> usize {
        let of_space = |space: &SpaceBuffer| {
            let fields: usize = space.fields.iter().map(FieldBuffer::memory_bytes).sum();
            fields
                + space.fields.capacity() * size_of::<FieldBuffer>()
                + space.parents.capacity() * size_of::<DocId>()
        };
        self.spaces.iter().map(of_space).sum()
    }
}
