//! Opens a segment: its files, its fields by path, its nested documents.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use limber_mapping::KEYED_PATH_END;
use limber_store::term_index::{TermIndexCache, next_segment_core_id};
use limber_store::{Charge, Directory, Pool};

use super::keys::Keys;
use super::nested::{NestedSpace, spaces_inside};
use crate::file::{Damage, NO_FIELD, SectionEntry, SectionKind, SegmentFile};
use crate::id_filter::IdFilter;
use crate::nested::{self, SpaceEntry};
use crate::norms::Norms;
use crate::postings::PostingsReader;
use crate::terms::TermDictionary;
use crate::{Error, FieldInfo, Result, SegmentMeta};

/// An open segment: mapped files and what was read from their directories. All snapshots that contain it
/// share it.
///
/// Accessors take a field's path and return `None` for a field that the segment does not have. They cost a
/// hash lookup and the reading of a footer, so call them once per query and segment, not once per document.
pub struct Segment {
    pub(super) meta: SegmentMeta,
    pub(super) core: u64,
    pub(super) file: Arc<SegmentFile>,
    /// Number of its first field in the file; its other fields follow.
    pub(super) first_field: u32,
    pub(super) nested: Vec<NestedSpace>,
    numbers: Arc<HashMap<Arc<str>, u32, foldhash::fast::RandomState>>,
    pub(super) fields: Arc<[FieldState]>,
    pub(super) id_filter: Option<Arc<IdFilter>>,
    pub(super) directory: Arc<dyn Directory>,
    pub(super) cache: Arc<TermIndexCache>,
    /// The keys of flattened fields that were requested; `None` if there is no such field.
    pub(super) keys: Option<Keys>,
    /// Charged for data that is built later.
    pub(super) pool: OnceLock<Arc<Pool>>,
    /// Charge of [`Segment::heap_bytes`].
    pub(super) charge: Option<Arc<Charge>>,
}

/// Data that is opened on first use.
#[derive(Default)]
pub(super) struct FieldState {
    pub(super) inverted: OnceLock<Inverted>,
    pub(super) norms: OnceLock<Norms>,
    /// Computed only for fields without a column.
    pub(super) presence: OnceLock<(Arc<[u64]>, u32)>,
    /// See [`Segment::note_fielddata`].
    pub(super) fielddata_bytes: AtomicU64,
}

pub(super) struct Inverted {
    pub(super) terms: TermDictionary,
    pub(super) postings: PostingsReader,
}

impl Segment {
    /// Maps the files and verifies headers, footers and the section table, but not the sections. Loads the
    /// term index if `cache` keeps it resident.
    pub fn open(
        directory: &Arc<dyn Directory>,
        meta: &SegmentMeta,
        cache: &Arc<TermIndexCache>,
    ) -> Result<Segment> {
        let file = Arc::new(SegmentFile::open(&**directory, meta)?);
        let table = match file.bytes(SectionKind::Nested, NO_FIELD) {
            Some(bytes) => nested::decode(bytes, file.doc_count, file.fields.len())
                .map_err(Error::in_section("nested spaces", 0))?,
            None => Vec::new(),
        };
        let in_spaces: u32 = table.iter().map(|space| space.field_count).sum();
        let field_count = file.fields.len() as u32 - in_spaces;
        let id_filter = IdFilter::of(&file)?.map(Arc::new);
        let mut this = Segment {
            meta: meta.clone(),
            core: next_segment_core_id(),
            file,
            first_field: 0,
            nested: Vec::new(),
            numbers: Arc::default(),
            fields: Arc::default(),
            id_filter,
            directory: directory.clone(),
            cache: cache.clone(),
            keys: None,
            pool: OnceLock::new(),
            charge: None,
        };
        this.take_fields(0, field_count);
        this.open_spaces(&table, field_count);
        if cache.loads_at_open() {
            this.load_term_index()?;
        }
        Ok(this)
    }

    /// Takes its own fields from those of the file.
    fn take_fields(&mut self, first: u32, count: u32) {
        let fields = &self.file.fields[first as usize..][..count as usize];
        self.first_field = first;
        let numbers = (first..).zip(fields).map(|(number, field)| (field.path.clone(), number));
        self.numbers = Arc::new(numbers.collect());
        self.fields = fields.iter().map(|_| FieldState::default()).collect();
        let has_keys = fields.iter().any(|field| field.path.ends_with(KEYED_PATH_END));
        self.keys = has_keys.then(Keys::default);
    }

    /// Opens the spaces from the last to the first, so that the spaces inside each one are open already.
    /// `first_field` is that of the first space.
    fn open_spaces(&mut self, table: &[SpaceEntry], first_field: u32) {
        let first_fields = table.iter().scan(first_field, |next, entry| {
            let first = *next;
            *next += entry.field_count;
            Some(first)
        });
        let first_fields: Vec<u32> = first_fields.collect();
        let mut segments: Vec<Option<Arc<Segment>>> = vec![None; table.len()];
        for (place, entry) in table.iter().enumerate().rev() {
            let mut segment = self.of_space(entry.bits.child_count(), first_fields[place], entry.field_count);
            segment.nested = spaces_inside(table, Some(place), &segments);
            segments[place] = Some(Arc::new(segment));
        }
        self.nested = spaces_inside(table, None, &segments);
    }

    /// Returns a part of this segment's file as a segment of its own, without ids and sources.
    fn of_space(&self, doc_count: u32, first_field: u32, field_count: u32) -> Segment {
        let meta = SegmentMeta {
            doc_count,
            files: Vec::new(),
            bytes: 0,
            min_seq_no: None,
            max_seq_no: None,
            ..self.meta
        };
        let mut this = Segment {
            meta,
            core: self.core,
            file: self.file.clone(),
            first_field: 0,
            nested: Vec::new(),
            numbers: Arc::default(),
            fields: Arc::default(),
            id_filter: None,
            directory: self.directory.clone(),
            cache: self.cache.clone(),
            keys: None,
            pool: OnceLock::new(),
            charge: None,
        };
        this.take_fields(first_field, field_count);
        this
    }

    /// Returns a segment without documents, for a nested path that this segment lacks.
    pub(crate) fn without_documents(&self) -> Segment {
        self.of_space(0, 0, 0)
    }

    /// Whether it caches no further keys of flattened fields.
    pub(super) fn is_full_of_keys(&self) -> bool {
        let is_full = |segment: &Segment| segment.keys.as_ref().is_some_and(Keys::is_full);
        is_full(self) || self.nested.iter().any(|space| is_full(&space.segment))
    }

    /// Returns the same open segment with its own cache for keys of flattened fields that the segment does
    /// not cache.
    pub(super) fn for_request(&self) -> Segment {
        let mut spaces: Vec<NestedSpace> = Vec::with_capacity(self.nested.len());
        // Parents are listed first, so from the last to the first each space finds those inside it.
        for space in self.nested.iter().rev() {
            let segment = Arc::new(space.segment.beside(&spaces));
            spaces.push(NestedSpace { segment, ..space.clone() });
        }
        self.beside(&spaces)
    }

    /// Returns a copy of the segment that shares its data; `spaces` are the copies of the spaces inside it.
    fn beside(&self, spaces: &[NestedSpace]) -> Segment {
        let space = |old: &NestedSpace| {
            let new = spaces.iter().find(|new| new.path == old.path).unwrap_or(old);
            NestedSpace { segment: new.segment.clone(), ..old.clone() }
        };
        Segment {
            meta: self.meta.clone(),
            core: self.core,
            file: self.file.clone(),
            first_field: self.first_field,
            nested: self.nested.iter().map(space).collect(),
            numbers: self.numbers.clone(),
            fields: self.fields.clone(),
            id_filter: self.id_filter.clone(),
            directory: self.directory.clone(),
            cache: self.cache.clone(),
            keys: self.keys.as_ref().map(Keys::for_request),
            pool: self.pool.clone(),
            charge: self.charge.clone(),
        }
    }

    /// Whether its documents are nested in those of another segment; they then have neither ids nor sources.
    pub fn is_nested(&self) -> bool {
        self.meta.files.is_empty()
    }

    /// Returns the spaces of nested documents inside its own documents, parents first.
    pub fn nested_spaces(&self) -> &[NestedSpace] {
        &self.nested
    }

    pub(super) fn info(&self, number: u32) -> &FieldInfo {
        &self.file.fields[number as usize]
    }

    pub(super) fn state(&self, number: u32) -> &FieldState {
        &self.fields[(number - self.first_field) as usize]
    }

    /// Returns what the commit lists about it.
    pub fn meta(&self) -> &SegmentMeta {
        &self.meta
    }

    /// Returns the identity of this open segment within the process; never reused.
    pub fn core(&self) -> u64 {
        self.core
    }

    /// Returns the number of documents, deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.meta.doc_count
    }

    /// Returns the bytes on disk.
    pub fn file_bytes(&self) -> u64 {
        self.meta.bytes
    }

    /// Returns every field of the segment's own documents.
    pub fn fields(&self) -> &[FieldInfo] {
        &self.file.fields[self.first_field as usize..][..self.fields.len()]
    }

    /// Returns the number of its first field in the file; its other fields follow.
    pub(crate) fn first_field(&self) -> u32 {
        self.first_field
    }

    /// Returns the field of the segment's own documents at this path.
    pub fn field(&self, path: &str) -> Option<&FieldInfo> {
        self.number(path).map(|number| self.info(number))
    }

    /// Returns every section and where it is, for `limber check` and statistics.
    pub fn file_sections(&self) -> &[SectionEntry] {
        self.file.sections()
    }

    /// Returns the name of the file that holds one of [`Segment::file_sections`].
    pub fn section_file(&self, section: &SectionEntry) -> String {
        self.file.file_name(section).to_string()
    }

    /// Fails if any access to its files has failed so far. Call it after reading from a segment and before
    /// using the result, because an unreadable page reads as zeros ([`limber_store::mapped`]).
    #[inline]
    pub fn intact(&self) -> Result<()> {
        self.file.intact()
    }

    /// Whether any damage of its files is known.
    #[inline]
    pub fn is_damaged(&self) -> bool {
        self.file.is_damaged()
    }

    /// Returns the known damage of its files, found by merges, scrubs and readers.
    pub fn damage(&self) -> Vec<Damage> {
        self.file.damage()
    }

    /// Records that the contents are wrong although the checksums are right, which means a bug.
    pub fn note_unsound(&self, place: &str, message: &str) {
        self.file.note_unsound(place, message);
    }

    /// Reads every byte of its files from the disk, not from maps, and compares it with the checksums.
    /// Records damage in [`Segment::damage`]. `pace` is called with a number of bytes before they are read,
    /// and may sleep; its error ends the scrub, as do disk errors that say nothing about the bytes.
    pub fn scrub(&self, pace: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        self.file.scrub(&*self.directory, &self.meta, pace)
    }

    /// Checks the lengths of its files. If one differs from the commit's, nothing of the segment can be
    /// read any more.
    pub fn verify_lengths(&self) -> Result<()> {
        self.file.verify_lengths(&*self.directory, &self.meta)
    }

    /// Returns the number of its files.
    pub fn file_count(&self) -> usize {
        self.meta.files.len()
    }

    /// Verifies the lengths of files and the sections that belong to no field.
    pub(crate) fn verify_whole(&self) -> Result<()> {
        self.file.verify_whole(&*self.directory, &self.meta)
    }

    pub(crate) fn number(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    /// Notes how many bytes a request's table of the terms of a field by document took (`fielddata`).
    pub fn note_fielddata(&self, path: &str, bytes: u64) {
        if let Some(number) = self.number(path) {
            self.state(number).fielddata_bytes.store(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the bytes that were noted last for a field; 0 if no request needed a table.
    pub fn fielddata_bytes(&self, path: &str) -> u64 {
        self.number(path).map_or(0, |number| self.state(number).fielddata_bytes.load(Ordering::Relaxed))
    }

    pub(crate) fn file(&self) -> &SegmentFile {
        &self.file
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({}, {} documents)", self.meta.id, self.meta.doc_count)
    }
}
