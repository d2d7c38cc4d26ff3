//! One immutable segment, open: "give me the terms, postings, columns, points, sources of its fields".

mod fields;
mod presence;

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use limber_mapping::keyed_path;
use limber_store::term_index::{FieldPages, TermIndexCache, next_segment_core_id};
use limber_store::{Charge, Directory, Pool};

use crate::file::{NO_FIELD, SectionEntry, SectionKind, SegmentFile};
use crate::id_filter::{IdFilter, id_hash};
use crate::keys::{KeyPart, KeyParts};
use crate::nested::{self, NestedSpace, SpaceEntry};
use crate::norms::Norms;
use crate::postings::{PostingsReader, Want};
use crate::stored::{Stored, StoredDocument, StoredReader};
use crate::terms::TermDictionary;
use crate::{DocId, Error, FieldInfo, LiveDocs, NO_MORE_DOCS, Result, SegmentMeta};

/// Path of the field whose terms are the documents' ids.
pub const ID_PATH: &str = "_id";

/// An open segment: mapped files and what was read of their directories. Shared by every snapshot that sees it.
///
/// Accessors take a field's path; a field that the segment does not have is `None`. They cost a hash look-up and the reading
/// of a footer: ask once a query and segment, not once a document.
pub struct Segment {
    meta: SegmentMeta,
    core: u64,
    file: Arc<SegmentFile>,
    /// Number of its first field in the file; the others follow.
    first_field: u32,
    nested: Vec<NestedSpace>,
    numbers: HashMap<Arc<str>, u32, foldhash::fast::RandomState>,
    fields: Vec<FieldState>,
    id_filter: Option<IdFilter>,
    directory: Arc<dyn Directory>,
    cache: Arc<TermIndexCache>,
    /// The keys of flattened fields that were asked for; `None`: there is no such field.
    keys: Option<KeyParts>,
    /// What is charged for what is made later.
    pool: OnceLock<Arc<Pool>>,
    /// Of [`Segment::heap_bytes`].
    charge: Option<Charge>,
}

/// Of a file: its name (twice, as the commit lists it too), the mapping's own record.
const FILE_HEAP_BYTES: usize = 256;
/// Of a field: its place in the table of names, allocations' heads.
const FIELD_HEAP_BYTES: usize = 64;
/// Pages of the term index are larger but for the last of a field.
const PAGE_BYTES_LEAST: u64 = 128 << 10;
/// Of a page that is not loaded: its row in the directory and its slot in the cache.
const PAGE_HEAP_BYTES: u64 = (48 + FieldPages::SLOT_BYTES) as u64;

/// What is opened when it is asked for first.
#[derive(Default)]
struct FieldState {
    inverted: OnceLock<Inverted>,
    norms: OnceLock<Norms>,
    /// Computed only for fields without a column.
    presence: OnceLock<(Arc<[u64]>, u32)>,
}

struct Inverted {
    terms: TermDictionary,
    postings: PostingsReader,
}

/// What a searcher holds: a segment and which of its documents are live.
#[derive(Clone)]
pub struct SegmentView {
    pub segment: Arc<Segment>,
    /// `None`: all of them.
    pub live: Option<Arc<LiveDocs>>,
}

impl SegmentView {
    pub fn new(segment: Arc<Segment>) -> SegmentView {
        SegmentView { segment, live: None }
    }

    /// Deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.segment.doc_count()
    }

    pub fn live_count(&self) -> u32 {
        self.live.as_ref().map_or(self.doc_count(), |live| live.live_count())
    }

    pub fn deleted_count(&self) -> u32 {
        self.doc_count() - self.live_count()
    }

    #[inline]
    pub fn is_live(&self, doc: DocId) -> bool {
        self.live.as_ref().is_none_or(|live| live.is_live(doc))
    }
}

impl Segment {
    /// Maps the files and verifies headers, footers and the section table; no section's contents. Loads the term index when
    /// `cache` keeps it resident.
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
        let id_filter = file.sections().iter().find(|section| section.kind == SectionKind::IdFilter);
        let id_filter = match id_filter.and_then(|entry| file.shared(entry.kind, entry.field)) {
            Some(bytes) => Some(IdFilter::open(bytes)?),
            None => None,
        };
        let mut this = Segment {
            meta: meta.clone(),
            core: next_segment_core_id(),
            file,
            first_field: 0,
            nested: Vec::new(),
            numbers: HashMap::default(),
            fields: Vec::new(),
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

    /// The fields of the file that are its own.
    fn take_fields(&mut self, first: u32, count: u32) {
        let fields = &self.file.fields[first as usize..][..count as usize];
        self.first_field = first;
        self.numbers = (first..).zip(fields).map(|(number, field)| (field.path.clone(), number)).collect();
        self.fields = fields.iter().map(|_| FieldState::default()).collect();
        let has_keys = fields.iter().any(|field| field.path.ends_with(&keyed_path("")));
        self.keys = has_keys.then(KeyParts::default);
    }

    /// Opens the spaces from the last on, so that each has those inside of it. `first_field`: of the first space.
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
            segment.nested = nested::spaces_inside(table, Some(place), &segments);
            segments[place] = Some(Arc::new(segment));
        }
        self.nested = nested::spaces_inside(table, None, &segments);
    }

    /// A part of this segment's file as a segment of its own, without ids and sources.
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
            numbers: HashMap::default(),
            fields: Vec::new(),
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

    /// A segment of no documents, for a nested path that this one has nothing of.
    pub(crate) fn without_documents(&self) -> Segment {
        self.of_space(0, 0, 0)
    }

    /// Whether its documents are nested in those of another: they have neither ids nor sources.
    pub fn is_nested(&self) -> bool {
        self.meta.files.is_empty()
    }

    /// The nested documents inside of its own, path by path, parents first.
    pub fn nested_spaces(&self) -> &[NestedSpace] {
        &self.nested
    }

    fn info(&self, number: u32) -> &FieldInfo {
        &self.file.fields[number as usize]
    }

    fn state(&self, number: u32) -> &FieldState {
        &self.fields[(number - self.first_field) as usize]
    }

    /// Charges `pool` with what the segment holds on the heap for as long as it is open.
    pub fn charged_to(mut self, pool: &Arc<Pool>) -> Segment {
        self.charge = Some(pool.charge_always(self.heap_bytes()));
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

    /// The key of a flattened field that this path names.
    fn key(&self, path: &str) -> Result<Option<&KeyPart>> {
        let Some(keys) = &self.keys else { return Ok(None) };
        let parents = path.match_indices('.').map(|(dot, _)| (&path[..dot], &path[dot + 1..]));
        for (parent, key) in parents {
            if let Some(number) = self.number(&keyed_path(parent)) {
                return keys.part(self, path, number, key).map(Some);
            }
        }
        Ok(None)
    }

    /// Heap bytes of the open segment, about: its tables, and the page directories of all fields as if each had been asked. Files are
    /// mapped and count as the system's cache; pages of the term index are the cache's.
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

    /// Loads the term-index pages of every field that are not in memory: for a switch to the native scheme.
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

    pub fn meta(&self) -> &SegmentMeta {
        &self.meta
    }

    /// Each inverted field, those of nested documents included: its number in the segment, its path, and the bytes of its term index on
    /// disk. Reads nothing.
    pub fn term_index_sizes(&self) -> impl Iterator<Item = (u32, &Arc<str>, u64)> {
        (0..).zip(&self.file.fields).filter_map(|(number, field)| {
            let index = self.file.entry(SectionKind::TermIndex, number)?;
            Some((number, &field.path, index.len))
        })
    }

    /// Heap bytes of the page directories of the fields that were asked so far.
    pub fn term_index_directory_bytes(&self) -> u64 {
        let own = |segment: &Segment| -> u64 {
            let opened = segment.fields.iter().filter_map(|field| field.inverted.get());
            opened.map(|inverted| inverted.terms.resident_bytes()).sum()
        };
        own(self) + self.nested.iter().map(|space| own(&space.segment)).sum::<u64>()
    }

    /// Identity of this open segment within the process; never reused.
    pub fn core(&self) -> u64 {
        self.core
    }

    /// Deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.meta.doc_count
    }

    /// Bytes on disk.
    pub fn file_bytes(&self) -> u64 {
        self.meta.bytes
    }

    /// Every field of the segment's own documents.
    pub fn fields(&self) -> &[FieldInfo] {
        &self.file.fields[self.first_field as usize..][..self.fields.len()]
    }

    /// Number of its first field in the file; the others follow.
    pub(crate) fn first_field(&self) -> u32 {
        self.first_field
    }

    pub fn field(&self, path: &str) -> Option<&FieldInfo> {
        self.number(path).map(|number| self.info(number))
    }

    /// Every section and where it lies, for `limber check` and statistics.
    pub fn file_sections(&self) -> &[SectionEntry] {
        self.file.sections()
    }

    pub(crate) fn number(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    pub(crate) fn file(&self) -> &SegmentFile {
        &self.file
    }

    /// The document with this id; `None` when it is not here. The document may have been deleted.
    pub fn find_id(&self, id: &[u8]) -> Result<Option<DocId>> {
        self.find_id_hashed(id, id_hash(id))
    }

    /// As [`Segment::find_id`], the hash ([`id_hash`]) computed once for several segments.
    ///
    /// An id that is here several times (an update inside one buffer) answers the last document: the others are deleted.
    pub fn find_id_hashed(&self, id: &[u8], hash: u64) -> Result<Option<DocId>> {
        if self.id_filter.as_ref().is_some_and(|filter| !filter.may_contain(hash)) {
            return Ok(None);
        }
        let Some(number) = self.number(ID_PATH) else { return Ok(None) };
        let Some(inverted) = self.inverted(number)? else { return Ok(None) };
        let Some(info) = inverted.terms.get(id)? else { return Ok(None) };
        if info.doc_freq == 1 {
            return Ok(Some(info.location.single_doc));
        }
        let mut postings = inverted.postings.postings(&info, Want::Docs)?;
        let mut last = None;
        while postings.doc() != NO_MORE_DOCS {
            last = postings.block_docs().last().copied();
            postings.next_block();
        }
        postings.status()?;
        Ok(last)
    }

    fn stored(&self) -> Result<Stored<'_>> {
        let section = |kind| {
            self.file
                .bytes(kind, NO_FIELD)
                .ok_or_else(|| Error::corrupt("stored blocks", 0, "stored documents"))
        };
        Stored::open(section(SectionKind::StoredBlocks)?, section(SectionKind::StoredIndex)?)
    }

    /// Id, routing and source of a document.
    pub fn document<'r>(&self, doc: DocId, reader: &'r mut StoredReader) -> Result<StoredDocument<'r>> {
        self.stored()?.document(self.core, doc, reader)
    }

    /// `_source` of a document as it was sent.
    pub fn source<'r>(&self, doc: DocId, reader: &'r mut StoredReader) -> Result<&'r [u8]> {
        Ok(self.document(doc, reader)?.source)
    }

    /// Replaces `id` by the id of a document; cheaper than [`Segment::source`].
    pub fn id(&self, doc: DocId, reader: &mut StoredReader, id: &mut Vec<u8>) -> Result<()> {
        id.clear();
        id.extend_from_slice(self.stored()?.id(self.core, doc, reader)?.0);
        Ok(())
    }

    /// Id and routing of a document, without its source.
    pub fn id_and_routing<'r>(
        &self,
        doc: DocId,
        reader: &'r mut StoredReader,
    ) -> Result<(&'r [u8], Option<&'r [u8]>)> {
        self.stored()?.id(self.core, doc, reader)
    }

    pub(crate) fn stored_documents(&self) -> Result<Option<Stored<'_>>> {
        match self.file.entry(SectionKind::StoredBlocks, NO_FIELD) {
            Some(_) => self.stored().map(Some),
            None => Ok(None),
        }
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({}, {} documents)", self.meta.id, self.meta.doc_count)
    }
}
