//! The memory of an open segment: its tables on the heap, and pages of the term index.

use std::sync::Arc;

use limber_store::Pool;
use limber_store::term_index::FieldPages;

use super::Segment;
use super::nested::NestedSpace;
use super::open::FieldState;
use crate::file::{NO_FIELD, SectionKind};
use crate::identity::ID_PATH;
use crate::uses::IDS;
use crate::{FieldInfo, Result};

/// Heap bytes of a file: its name (twice, since the commit lists it too) and the record of its mapping.
const FILE_HEAP_BYTES: usize = 256;
/// Heap bytes of a field: its entry in the table of names and allocation headers.
const FIELD_HEAP_BYTES: usize = 64;
/// Minimum size of a page of the term index; only the last page of a field may be smaller.
const PAGE_BYTES_LEAST: u64 = 128 << 10;
/// Heap bytes of a page that is not loaded: its row in the directory and its slot in the cache.
const PAGE_HEAP_BYTES: u64 = (48 + FieldPages::SLOT_BYTES) as u64;

impl Segment {
    /// Charges the segment's heap bytes to `pool` while it is open.
    pub fn charged_to(mut self, pool: &Arc<Pool>) -> Segment {
        self.charge = Some(Arc::new(pool.charge_always(self.heap_bytes())));
        self.charge_later(pool);
        self
    }

    fn charge_later(&self, pool: &Arc<Pool>) {
        let _ = self.pool.set(pool.clone());
        self.nested.iter().for_each(|space| space.segment.charge_later(pool));
    }

    pub(crate) fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.get()
    }

    /// Estimates the heap bytes of the open segment: its tables, and the page directories of all fields as
    /// if each had been used. Files are mapped and count as the system's page cache; pages of the term
    /// index count as the cache's.
    pub fn heap_bytes(&self) -> u64 {
        let sections = self.file.sections();
        let tables = size_of::<Segment>()
            + std::mem::size_of_val(sections)
            + self.meta.files.len() * FILE_HEAP_BYTES
            + self.file.fields.len() * (size_of::<FieldState>() + size_of::<FieldInfo>() + FIELD_HEAP_BYTES)
            + self.nested.len() * (size_of::<Segment>() + size_of::<NestedSpace>() + FIELD_HEAP_BYTES);
        let parent_bits: u64 = self.nested.iter().map(|space| space.bits.heap_bytes()).sum();
        let paths: usize = self.file.fields.iter().map(|field| field.path.len()).sum();
        let directories: u64 = sections
            .iter()
            .map(|section| match section.kind {
                SectionKind::TermDirectory => section.len,
                SectionKind::TermIndex => (section.len / PAGE_BYTES_LEAST + 1) * PAGE_HEAP_BYTES,
                _ => 0,
            })
            .sum();
        (tables + paths) as u64 + directories + parent_bits
    }

    /// Loads the term-index pages of every field that are not in memory, for a switch to the native scheme.
    pub fn load_term_index(&self) -> Result<()> {
        self.load_own_term_index()?;
        self.nested.iter().try_for_each(|space| space.segment.load_own_term_index())
    }

    fn load_own_term_index(&self) -> Result<()> {
        for number in (self.first_field..).take(self.fields.len()) {
            if let Some(inverted) = self.inverted(number)? {
                inverted.terms.load_pages()?;
            }
        }
        Ok(())
    }

    /// Returns each inverted field, those of nested documents included: its number in the segment, its path
    /// as statistics show it, and the bytes of its term index on disk. Reads nothing.
    pub fn term_index_sizes(&self) -> impl Iterator<Item = (u32, Arc<str>, u64)> {
        (0..).zip(&self.file.fields).filter_map(|(number, field)| {
            let index = self.file.entry(SectionKind::TermIndex, number)?;
            Some((number, field.shown_path(), index.len))
        })
    }

    /// Returns the path of the field with this number in [`crate::uses::Uses`], as statistics show it.
    pub fn used_path(&self, number: u32) -> Option<Arc<str>> {
        match number {
            NO_FIELD => Some("_source".into()),
            IDS => Some(ID_PATH.into()),
            number => self.file.fields.get(number as usize).map(FieldInfo::shown_path),
        }
    }

    /// Returns the heap bytes of the page directories of the fields that were used so far.
    pub fn term_index_directory_bytes(&self) -> u64 {
        let own = |segment: &Segment| -> u64 {
            let opened = segment.fields.iter().filter_map(|field| field.inverted.get());
            opened.map(|inverted| inverted.terms.resident_bytes()).sum()
        };
        own(self) + self.nested.iter().map(|space| own(&space.segment)).sum::<u64>()
    }
}
