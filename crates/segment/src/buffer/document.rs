//! The buffer itself; documents are added one at a time.

use std::sync::Arc;

use limber_mapping::{Field, FieldId, FieldSink, Nested, SpaceId, reserved};
use limber_work as work;

use super::echo::{LastText, Role};
use super::field_table::FieldTable;
use super::fields::FieldBuffer;
use super::id_log::IdLog;
use super::nested::NestedBuffers;
use super::sources::Sources;
use super::text::KeywordOfText;
use crate::file::COMPOUND_BYTES_MAX;
use crate::stored::StoredCodec;
use crate::{DocId, Error, Result, SortField, TERM_BYTES_MAX, WriteIdentity};

/// Logs hold 32-bit offsets; a buffer that has grown beyond this size refuses further documents. Engines
/// write buffers out long before, at 64 to 128 MB.
pub const BUFFER_BYTES_MAX: usize = 1 << 30;

/// What belongs to a document besides its fields.
#[derive(Debug, Clone, Copy)]
pub struct DocumentMeta<'a> {
    /// `_id`.
    pub id: &'a [u8],
    /// `_routing`.
    pub routing: Option<&'a str>,
    /// The write that indexes the document.
    pub identity: WriteIdentity,
}

/// Documents in memory, until [`Buffer::write`] writes them as a segment.
///
/// Between [`Buffer::begin`] and [`Buffer::commit`] or [`Buffer::rollback`] the current document's values
/// arrive through [`FieldSink`]. No document object is built: each field has flat logs, from which columns,
/// terms and postings are made at the end.
pub struct Buffer {
    doc_count: u32,
    /// Documents deleted before they were written.
    pub(super) deleted: Vec<DocId>,
    /// The fields of the space that values currently go to.
    pub(super) fields: FieldTable,
    pub(super) nested: NestedBuffers,
    /// Field of the last text value.
    last_text: Option<FieldId>,
    last_analysed: LastText,
    pub(super) ids: IdLog,
    pub(super) stored: Sources,
    /// The order in which the documents are written; if empty, the order in which they were added.
    pub(super) sort: Arc<[SortField]>,
    pub(super) seq_no_bounds: Option<(u64, u64)>,
    current: Option<Current>,
    /// Routing of the current document; it moves to `stored` once the document is certain to stay.
    routing: Vec<u8>,
    log_bytes: usize,
}

struct Current {
    has_routing: bool,
    seq_no: u64,
    /// Length of the source, which is in `stored` already.
    source_bytes: usize,
    /// Length of the id, which is in `ids` already.
    id_bytes: usize,
    /// The first reason found why the document cannot be kept.
    fault: Option<Error>,
}

impl Buffer {
    /// Creates a buffer. `codec` is that of the stored documents, which are compressed as they arrive.
    pub fn new(codec: StoredCodec) -> Buffer {
        Buffer::sorted(codec, Arc::new([]))
    }

    /// Creates a buffer whose documents are written in the order of `sort`; ties keep the order in which they
    /// were added. Sources are compressed when they are written, and take their whole length until then.
    pub fn sorted(codec: StoredCodec, sort: Arc<[SortField]>) -> Buffer {
        Buffer {
            doc_count: 0,
            deleted: Vec::new(),
            fields: FieldTable::default(),
            nested: NestedBuffers::default(),
            last_text: None,
            last_analysed: LastText::default(),
            ids: IdLog::default(),
            stored: Sources::new(codec, !sort.is_empty()),
            sort,
            seq_no_bounds: None,
            current: None,
            routing: Vec::new(),
            log_bytes: 0,
        }
    }

    /// Starts a document. Its values follow, then [`Buffer::commit`] or [`Buffer::rollback`]. The preceding
    /// document must have ended.
    pub fn begin(&mut self, meta: &DocumentMeta<'_>, source: &[u8]) -> DocId {
        assert!(self.current.is_none(), "one document at a time");
        let doc = self.doc_count;
        self.stored.push_source(source);
        self.routing.clear();
        self.last_analysed.forget();
        self.ids.push(meta.id);
        self.log_bytes += meta.id.len();
        let is_immense = meta.id.len() > TERM_BYTES_MAX;
        self.current = Some(Current {
            has_routing: meta.routing.is_some(),
            seq_no: meta.identity.seq_no,
            source_bytes: source.len(),
            id_bytes: meta.id.len(),
            fault: is_immense.then(|| Error::immense_term("_id", meta.id.len())),
        });
        if let Some(routing) = meta.routing {
            self.routing.extend_from_slice(routing.as_bytes());
            self.add_term(reserved::ROUTING, "_routing", routing.as_bytes());
        }
        for (field, value) in [
            (reserved::SEQ_NO, meta.identity.seq_no),
            (reserved::PRIMARY_TERM, meta.identity.primary_term),
            (reserved::VERSION, meta.identity.version),
        ] {
            self.add_number(field, value as i64);
        }
        doc
    }

    /// Keeps the current document.
    ///
    /// Fails for a term longer than [`TERM_BYTES_MAX`] and for a full buffer ([`BUFFER_BYTES_MAX`]); the
    /// document is then rolled back.
    pub fn commit(&mut self) -> Result<()> {
        let mut current = self.current.take().expect("a document was begun");
        let source_bytes = current.source_bytes;
        let fault = match current.fault.take() {
            Some(fault) => Some(fault),
            None if self.log_bytes + source_bytes > BUFFER_BYTES_MAX => {
                Some(Error::LimitExceeded { what: "bytes of a buffer", limit: BUFFER_BYTES_MAX as u64 })
            }
            None => None,
        };
        if let Some(fault) = fault {
            self.forget(&current);
            return Err(fault);
        }
        debug_assert_eq!(self.nested.space, SpaceId::ROOT, "nested documents end before theirs");
        self.nested.settle();
        let routing = current.has_routing.then_some(&*self.routing);
        self.stored.end_document(self.ids.newest(current.id_bytes), routing, source_bytes)?;
        self.log_bytes += source_bytes;
        let (min, max) = self.seq_no_bounds.unwrap_or((u64::MAX, 0));
        self.seq_no_bounds = Some((min.min(current.seq_no), max.max(current.seq_no)));
        self.doc_count += 1;
        Ok(())
    }

    /// Drops the current document. Only interned terms remain of it, and they are not written.
    pub fn rollback(&mut self) {
        let current = self.current.take().expect("a document was begun");
        self.forget(&current);
    }

    fn forget(&mut self, current: &Current) {
        self.turn_to(SpaceId::ROOT);
        self.nested.roll_back();
        self.stored.drop_source(current.source_bytes);
        let doc = self.doc_count;
        self.fields.iter_mut().for_each(|field| field.roll_back(doc));
        self.ids.pop();
    }

    /// Deletes a committed document of this buffer: it is written, but it is not live and its `_id` is not
    /// found.
    pub fn delete(&mut self, doc: DocId) {
        assert!(doc < self.doc_count, "a committed document");
        self.deleted.push(doc);
    }

    /// Returns the number of committed documents, deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Whether no document was committed.
    pub fn is_empty(&self) -> bool {
        self.doc_count == 0
    }

    /// Returns the `_id` of a committed document.
    pub fn id(&self, doc: DocId) -> &[u8] {
        self.ids.get(doc)
    }

    /// Returns the heap bytes. It asks every field, so call it once per request or once per few hundred
    /// documents.
    pub fn memory_bytes(&self) -> usize {
        self.fields.memory_bytes()
            + self.nested.memory_bytes()
            + self.ids.memory_bytes()
            + self.stored.memory_bytes()
            + self.last_analysed.memory_bytes()
            + self.deleted.capacity() * 4
    }

    /// Estimates the heap bytes that writing takes in addition to the buffer's. Inverting the fields takes
    /// about as much as the fields do, uncompressed sources are compressed, and a small segment is held in
    /// memory until it is complete.
    pub fn writing_bytes(&self) -> usize {
        let (all, sources) = (self.memory_bytes(), self.stored.memory_bytes());
        let compressed = match self.stored {
            Sources::Compressed(_) => sources,
            Sources::Plain(_) => 0,
        };
        let held = if compressed > COMPOUND_BYTES_MAX { 0 } else { all.min(COMPOUND_BYTES_MAX) };
        all - compressed + held
    }

    #[inline]
    fn field(&mut self, field: FieldId) -> &mut FieldBuffer {
        if !self.fields.has(field) {
            self.add_field(field);
        }
        self.fields.get(field).expect("it was added if it was missing")
    }

    /// The logs up to the field's are charged to the request, because many spaces of many fields take much
    /// memory. The request fails at its next nested object if that is too much.
    #[cold]
    fn add_field(&mut self, field: FieldId) {
        work::state_bytes(self.fields.missing_bytes(field) / 2);
        self.fields.add(field);
    }

    #[inline]
    fn add_term(&mut self, field: FieldId, path: &str, value: &[u8]) {
        if value.len() > TERM_BYTES_MAX {
            return self.note_fault(Error::immense_term(path, value.len()));
        }
        let doc = self.doc_count;
        self.log_bytes += 4;
        let Some((text, twin)) = self.twin_of_last_text(field, value) else {
            return self.add_other_term(doc, field, value);
        };
        match twin {
            KeywordOfText::Known(number) => self.field(field).terms().push_number(doc, number),
            KeywordOfText::UnknownAt(place) => {
                let number = self.field(field).terms().push_at_once(doc, value);
                self.field(text).text().set_twin(place, number);
            }
        }
    }

    /// Adds a term that the memo of the last text does not know.
    #[inline]
    fn add_other_term(&mut self, doc: DocId, field: FieldId, value: &[u8]) {
        if !self.last_analysed.is(value) {
            return self.field(field).terms().push(doc, value);
        }
        if let Some((source, place)) = self.last_analysed.term.filter(|(source, _)| *source != field)
            && self.field(field).terms().push_echo(doc, source, place)
        {
            self.field(source).terms().role = Role::Source;
            return;
        }
        let terms = self.field(field).terms();
        let place = terms.values.len() as u32;
        terms.push(doc, value);
        if terms.role.may_be_source() && self.sort.is_empty() {
            self.last_analysed.term.get_or_insert((field, place));
        }
    }

    /// If `value` has the same bytes as the last text, returns the text's field and its twin.
    #[inline]
    fn twin_of_last_text(&mut self, field: FieldId, value: &[u8]) -> Option<(FieldId, KeywordOfText)> {
        let text = self.last_text?;
        let FieldBuffer::Text(buffer) = self.fields.get(text)? else { return None };
        buffer.twin_of_last(field, value).map(|twin| (text, twin))
    }

    #[inline]
    fn add_number(&mut self, field: FieldId, value: i64) {
        let doc = self.doc_count;
        self.log_bytes += 8;
        self.field(field).numbers().push(doc, value);
    }

    #[cold]
    fn note_fault(&mut self, fault: Error) {
        if let Some(current) = &mut self.current {
            current.fault.get_or_insert(fault);
        }
    }
}

impl FieldSink for Buffer {
    #[inline]
    fn term(&mut self, field: &Field, value: &[u8]) {
        if field.index || field.doc_values {
            self.add_term(field.id, &field.path, value);
        }
    }

    #[inline]
    fn number(&mut self, field: &Field, value: i64) {
        if field.index || field.doc_values {
            self.add_number(field.id, value);
        }
    }

    #[inline]
    fn text(&mut self, field: &Field, value: &str) {
        if !field.index {
            return;
        }
        let doc = self.doc_count;
        self.log_bytes += value.len();
        let mut fault = None;
        self.last_text = Some(field.id);
        if let Some((source, logged)) = self.last_analysed.tokens_of(field, value)
            && self.field(field.id).text().push_echo(doc, source, logged)
        {
            self.field(source).text().role = Role::Source;
            return;
        }
        let text = self.field(field.id).text();
        let logged = text.push(doc, field, value, &mut fault);
        // Neither terms nor norms show that such a document has the field.
        if text.lacks_tokens() {
            return self.add_term(reserved::FIELD_NAMES, "_field_names", field.path.as_bytes());
        }
        // Only without an index sort: sorted documents are reordered before the references could be resolved.
        if let Some(logged) = logged
            && self.sort.is_empty()
        {
            self.last_analysed.keep(field, value, logged);
        }
        if let Some(fault) = fault {
            self.note_fault(fault.of(&field.path));
        }
    }

    fn shape(&mut self, field: &Field, cells: &[i64], bytes: &[u8]) {
        let doc = self.doc_count;
        self.log_bytes += bytes.len() + size_of_val(cells);
        self.field(field.id).shapes().push(doc, cells, bytes);
    }

    fn begin_nested(&mut self, nested: &Nested) {
        let parent = self.doc_count;
        self.log_bytes += size_of::<DocId>();
        self.turn_to(nested.space);
        self.nested.begin(nested.space, parent, self.doc_count);
    }

    fn end_nested(&mut self, nested: &Nested) {
        self.doc_count += 1;
        self.turn_to(nested.parent);
    }

    fn turn_to(&mut self, space: SpaceId) {
        if space == self.nested.space {
            return;
        }
        self.last_text = None;
        self.last_analysed.forget();
        self.nested.exchange(space, &mut self.fields, &mut self.doc_count);
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::{Mapping, MappingSettings};
    use limber_store::Directory;

    use super::*;
    use crate::file::SegmentId;

    /// Texts, each followed by the values of two keyword fields; every seventh document is refused.
    #[test]
    fn a_term_that_is_the_text_before_it_is_the_same_term() {
        let keyword = || serde_json::json!({ "type": "keyword" });
        let text = serde_json::json!({ "type": "text", "fields": { "raw": keyword(), "more": keyword() } });
        let body = serde_json::json!({ "properties": { "t": text, "k": keyword() } });
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping");
        let field = |path: &str| mapping.field(path).expect("mapped");
        let (text, raw, more, other) = (field("t"), field("t.raw"), field("t.more"), field("k"));
        let mut buffer = Buffer::new(StoredCodec::Lz4);
        let mut expected = Vec::new();
        for round in 0..5000u64 {
            let value = format!("value {}", round * round % 37);
            let meta = DocumentMeta {
                id: value.as_bytes(),
                routing: None,
                identity: WriteIdentity { seq_no: round, primary_term: 1, version: 1 },
            };
            buffer.begin(&meta, b"{}");
            if round % 3 == 0 {
                buffer.term(&other, value.as_bytes());
            }
            buffer.text(&text, &value);
            buffer.term(&raw, value.as_bytes());
            buffer.term(&more, value.as_bytes());
            buffer.term(&other, b"value 0");
            if round % 7 == 0 {
                buffer.rollback();
                continue;
            }
            buffer.commit().expect("a sound document");
            let of_other = if round % 3 == 0 { vec![value.clone()] } else { Vec::new() };
            expected.push((value, of_other));
        }
        let mut values = |field: &Field| {
            let terms = buffer.field(field.id).terms();
            terms.settle();
            let value = |number| String::from_utf8(terms.table.term(number).to_vec()).expect("text");
            terms.values.iter().map(value).collect::<Vec<_>>()
        };
        let of_text: Vec<String> = expected.iter().map(|(value, _)| value.clone()).collect();
        assert_eq!((values(&raw), values(&more)), (of_text.clone(), of_text));
        let of_other =
            expected.into_iter().flat_map(|(_, of_other)| of_other.into_iter().chain(["value 0".into()]));
        assert_eq!(values(&other), of_other.collect::<Vec<_>>());
    }

    /// Returns the segment files by name, preceded by the number of texts and terms that were added as
    /// references. The fields of the documents often have each other's texts; every ninth document is refused
    /// and every fifth has nested ones. With `alone`, each text is analysed as if it were the only one.
    fn segment_files(rounds: u64, alone: bool) -> (u64, Vec<(String, Vec<u8>)>) {
        let text = |analyzer: &str| serde_json::json!({ "type": "text", "analyzer": analyzer, "fields": { "raw": { "type": "keyword" } } });
        let nested = serde_json::json!({ "type": "nested", "properties": { "x": text("standard"), "y": text("standard") } });
        let properties = serde_json::json!({ "c": text("standard"), "a": text("standard"), "b": text("standard"),
            "w": text("whitespace"), "n": nested });
        let body = serde_json::json!({ "properties": properties });
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping");
        let mut buffer = Buffer::new(StoredCodec::Lz4);
        let mut echoes = 0;
        let mut add = |buffer: &mut Buffer, path: &str, value: &str| {
            if alone {
                buffer.last_analysed.forget();
            }
            let field = mapping.field(path).expect("mapped");
            buffer.text(&field, value);
            if alone {
                buffer.last_analysed.forget();
            }
            let raw = mapping.field(&format!("{path}.raw")).expect("mapped");
            buffer.term(&raw, value.as_bytes());
            let (text, raw) = (buffer.field(field.id).text().role, buffer.field(raw.id).terms().role);
            echoes += [text, raw].iter().filter(|role| matches!(role, Role::EchoOf(_))).count() as u64;
        };
        let mut state = 1u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for round in 0..rounds {
            let id = format!("{round}");
            let meta = DocumentMeta {
                id: id.as_bytes(),
                routing: None,
                identity: WriteIdentity { seq_no: round, primary_term: 1, version: 1 },
            };
            buffer.begin(&meta, b"{}");
            let value = |number: u64| match number {
                0 => String::new(),
                1 => "x".repeat(300),
                _ => format!("Place {number}, w{}", number % 40),
            };
            let shared = value(below(1_000_000) / below(30).max(1));
            for path in ["a", "b", "c", "w"] {
                for place in 0..below(5).saturating_sub(1) {
                    let own = value(below(100_000));
                    let picked = if place == 0 && below(5) > 0 { &shared } else { &own };
                    add(&mut buffer, path, picked);
                }
            }
            if round % 5 == 0 {
                let nested = &mapping.nested_objects()[0];
                for _ in 0..below(3) {
                    buffer.begin_nested(nested);
                    let value = value(below(100_000));
                    ["n.x", "n.y"].iter().for_each(|path| add(&mut buffer, path, &value));
                    buffer.end_nested(nested);
                }
            }
            match round % 9 {
                4 => buffer.rollback(),
                _ => buffer.commit().expect("a sound document"),
            }
        }
        for (_, field) in buffer.fields.iter() {
            if let FieldBuffer::Text(text) = field {
                text.check_echoed_tokens();
            }
        }
        (echoes, files_of(buffer, &mapping))
    }

    /// Returns the files of the buffer's segment by name.
    fn files_of(buffer: Buffer, mapping: &Mapping) -> Vec<(String, Vec<u8>)> {
        let directory = limber_store::MemoryDirectory::default();
        buffer.write(&directory, SegmentId(1), mapping).expect("memory takes all");
        let mut names = directory.list().expect("its files");
        names.sort_unstable();
        let files = names.into_iter().map(|name| {
            let len = directory.len(&name).expect("a file") as usize;
            let bytes = directory.read(&name, 0, len).expect("a file");
            (name, bytes)
        });
        files.collect()
    }

    #[test]
    fn a_text_that_two_fields_have_is_written_as_if_each_had_it_alone() {
        let ((echoes, files), (none, expected)) = (segment_files(9000, false), segment_files(9000, true));
        assert!(echoes > 9000 && none == 0, "{echoes} and {none}");
        assert!(files == expected, "a file differs");
    }

    /// Adds documents whose keywords are mostly new; some repeat and some are refused. With `look_up`, each
    /// keyword is looked up when it arrives.
    fn files_of_new_keywords(sort: Arc<[SortField]>, look_up: bool) -> Vec<(String, Vec<u8>)> {
        let body =
            serde_json::json!({ "properties": { "k": { "type": "keyword" }, "l": { "type": "keyword" } } });
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping");
        let fields = ["k", "l"].map(|path| mapping.field(path).expect("mapped"));
        let mut buffer = Buffer::sorted(StoredCodec::Lz4, sort);
        for round in 0..9000u64 {
            let id = format!("{round}");
            let meta = DocumentMeta {
                id: id.as_bytes(),
                routing: None,
                identity: WriteIdentity { seq_no: round, primary_term: 1, version: 1 },
            };
            buffer.begin(&meta, b"{}");
            for field in &fields {
                for value in 0..1 + round % 3 {
                    let number = if round % 17 == 0 { round / 100 * 50 } else { round };
                    let text = format!("{}{}", number * 7919 % 9001, "x".repeat((value * 9) as usize));
                    if look_up {
                        buffer.field(field.id).terms().look_up_always();
                    }
                    buffer.term(field, text.as_bytes());
                }
            }
            match round % 9 {
                4 => buffer.rollback(),
                _ => buffer.commit().expect("a sound document"),
            }
        }
        assert!(fields.iter().all(|field| buffer.field(field.id).terms().appends() != look_up));
        files_of(buffer, &mapping)
    }

    #[test]
    fn keywords_that_are_not_looked_up_are_written_as_if_they_were() {
        let by_k = SortField { path: "k".into(), descending: true, takes_max: false, missing_first: false };
        for sort in [Arc::new([]) as Arc<[SortField]>, Arc::new([by_k])] {
            let [appended, looked_up] =
                [false, true].map(|look_up| files_of_new_keywords(sort.clone(), look_up));
            assert!(appended == looked_up, "a file differs, sorted by {sort:?}");
        }
    }
}
