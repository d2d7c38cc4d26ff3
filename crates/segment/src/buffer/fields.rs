//! The values of one field until they are written.

use limber_mapping::FieldId;

use super::chunk_log::ChunkLog;
use super::doc_log::DocLog;
use super::echo::Role;
use super::shapes::ShapesBuffer;
use super::table::{TermTable, same};
use super::text::TextBuffer;
use super::waiting::{self, PendingTerms};
use crate::DocId;

/// The log of one field, by representation.
#[derive(Default)]
pub enum FieldBuffer {
    #[default]
    Absent,
    Terms(Box<TermsBuffer>),
    Numbers(Box<NumbersBuffer>),
    Text(Box<TextBuffer>),
    Shapes(Box<ShapesBuffer>),
}

/// A document number that no buffer uses: the field was not touched yet.
const NO_DOC: DocId = DocId::MAX;

/// Lengths of a field's logs before the current document.
#[derive(Clone, Copy)]
pub struct Mark {
    pub doc: DocId,
    pub entries: usize,
    pub values: usize,
}

impl Default for Mark {
    fn default() -> Mark {
        Mark { doc: NO_DOC, entries: 0, values: 0 }
    }
}

impl Mark {
    /// Records the lengths of the logs when `doc` touches the field first; returns whether it did.
    #[inline]
    pub fn touch(&mut self, doc: DocId, entries: usize, values: usize) -> bool {
        let first = self.doc != doc;
        if first {
            *self = Mark { doc, entries, values };
        }
        first
    }
}

/// Flag of a reference in a log of terms; term numbers and indexes are below it.
const ECHO: u32 = 1 << 31;

/// At this many terms a field decides whether its values repeat.
const TRIAL_TERMS: usize = 2048;
/// Values are taken not to repeat if this many of a hundred are new.
const NEW_PERCENT: usize = 90;

/// Whether values are looked up when they arrive: "does this term exist?"
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum LookupMode {
    /// They are looked up until it is known whether that pays.
    #[default]
    OnTrial,
    LooksUp,
    /// The first value of a document is appended without a lookup. Most names, messages and keys occur
    /// once, and equal ones are unified when the terms are sorted.
    Appends,
}

/// Values that are whole terms: keywords, addresses.
#[derive(Default)]
pub struct TermsBuffer {
    pub table: TermTable,
    /// Number in `table` of each value; 0 for a value that is still in `pending_terms`. With [`ECHO`], the
    /// index of the same value in the log of the field that this one echoes.
    pub values: ChunkLog<u32>,
    pub docs: DocLog,
    pub role: Role,
    lookup_mode: LookupMode,
    mark: Mark,
    pending_terms: PendingTerms,
}

impl TermsBuffer {
    /// Adds a value.
    #[inline]
    pub fn push(&mut self, doc: DocId, value: &[u8]) {
        // Further values of a document are looked up, because a few bytes of its source may repeat a long
        // value many times.
        if self.lookup_mode == LookupMode::Appends && self.mark.doc != doc {
            let number = self.append(value);
            return self.push_number(doc, number);
        }
        if waiting::suits(&self.table, value) {
            if self.lookup_mode == LookupMode::OnTrial && self.table.len() >= TRIAL_TERMS {
                self.end_trial();
            }
            self.mark.touch(doc, self.docs.len(), self.values.len());
            self.docs.push(doc);
            return self.pending_terms.put_off(&mut self.table, &mut self.values, value);
        }
        self.push_at_once(doc, value);
    }

    #[cfg(test)]
    pub(crate) fn look_up_always(&mut self) {
        self.lookup_mode = LookupMode::LooksUp;
    }

    #[cfg(test)]
    pub(crate) fn appends(&self) -> bool {
        self.lookup_mode == LookupMode::Appends
    }

    #[cold]
    fn end_trial(&mut self) {
        let are_new = self.table.len() * 100 >= self.values.len() * NEW_PERCENT;
        self.lookup_mode = if are_new { LookupMode::Appends } else { LookupMode::LooksUp };
    }

    /// Adds a value; returns its term number.
    #[inline]
    pub fn push_at_once(&mut self, doc: DocId, value: &[u8]) -> u32 {
        let number = self.table.intern(value);
        self.push_number(doc, number);
        number
    }

    /// Returns the number of a new term, or that of the newest term if it is the same.
    fn append(&mut self, value: &[u8]) -> u32 {
        let newest = self.table.len() as u32 - 1;
        match same(self.table.term(newest), value) {
            true => newest,
            false => self.table.append(value),
        }
    }

    /// Adds the value with this term number.
    #[inline]
    pub fn push_number(&mut self, doc: DocId, number: u32) {
        self.mark.touch(doc, self.docs.len(), self.values.len());
        self.docs.push(doc);
        self.values.push(number);
    }

    /// Adds a value as a reference to index `place` in the log of `source`; returns `false` if that is not
    /// allowed.
    #[inline]
    pub fn push_echo(&mut self, doc: DocId, source: FieldId, place: u32) -> bool {
        let may = self.role.become_echo_of(source);
        if may {
            self.push_number(doc, ECHO | place);
        }
        may
    }

    /// Replaces references by the numbers of `source`; from then on all numbers are those of the table of
    /// `source`.
    pub fn resolve(&mut self, source: &mut TermsBuffer) {
        self.settle();
        source.settle();
        let numbers = source.table.intern_table(&std::mem::take(&mut self.table));
        for at in 0..self.values.len() {
            let number = match self.values.get(at) {
                value if value & ECHO != 0 => source.values.get((value & !ECHO) as usize),
                value => numbers[value as usize],
            };
            self.values.set(at, number);
        }
    }

    /// Looks up the values whose term numbers are pending.
    pub fn settle(&mut self) {
        self.pending_terms.settle(&mut self.table, &mut self.values);
    }

    fn roll_back(&mut self) {
        self.values.truncate(self.mark.values);
        self.docs.truncate(self.mark.entries);
        self.pending_terms.truncate(self.mark.values);
        self.mark = Mark::default();
    }

    fn memory_bytes(&self) -> usize {
        let log = self.values.memory_bytes() + self.docs.memory_bytes() + self.pending_terms.memory_bytes();
        self.table.memory_bytes() + log
    }
}

/// Numbers. While all are equal (`_version`, `_primary_term`, most flags) only one is kept. While all are
/// near the first, each takes four bytes: this holds for all sequence numbers, the milliseconds of one
/// month, and most counts and sizes.
#[derive(Default)]
pub struct NumbersBuffer {
    first: i64,
    values: Numbers,
    pub docs: DocLog,
    mark: Mark,
}

enum Numbers {
    /// Distance of each from the first; empty while all are equal.
    Near(ChunkLog<i32>),
    Far(ChunkLog<i64>),
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers::Near(ChunkLog::default())
    }
}

impl NumbersBuffer {
    /// Adds a value.
    #[inline]
    pub fn push(&mut self, doc: DocId, value: i64) {
        let len = self.docs.len();
        self.mark.touch(doc, len, len);
        self.docs.push(doc);
        match &mut self.values {
            Numbers::Near(_) if len == 0 => self.first = value,
            Numbers::Near(distances) if value == self.first && distances.is_empty() => {}
            Numbers::Near(distances) => match near(self.first, value) {
                Some(distance) if !distances.is_empty() => distances.push(distance),
                distance => self.spell_out(len, value, distance),
            },
            Numbers::Far(values) => values.push(value),
        }
    }

    /// Changes the representation of the `len` values if it cannot hold `value`, then adds `value`.
    #[cold]
    fn spell_out(&mut self, len: usize, value: i64, distance: Option<i32>) {
        let Numbers::Near(distances) = &mut self.values else { return };
        if let Some(distance) = distance {
            (0..len).for_each(|_| distances.push(0));
            return distances.push(distance);
        }
        let mut values = ChunkLog::default();
        (0..len - distances.len()).for_each(|_| values.push(self.first));
        distances.iter().for_each(|distance| values.push(self.first + i64::from(distance)));
        values.push(value);
        self.values = Numbers::Far(values);
    }

    /// Returns the value of an entry.
    #[inline]
    pub fn get(&self, entry: usize) -> i64 {
        match &self.values {
            Numbers::Near(distances) if distances.is_empty() => self.first,
            Numbers::Near(distances) => self.first + i64::from(distances.get(entry)),
            Numbers::Far(values) => values.get(entry),
        }
    }

    /// Returns all values and the document of each.
    pub fn into_parts(self) -> (Vec<i64>, DocLog) {
        let values = match self.values {
            Numbers::Near(distances) if distances.is_empty() => vec![self.first; self.docs.len()],
            Numbers::Near(distances) => {
                let mut values = Vec::with_capacity(distances.len());
                for chunk in distances.chunks() {
                    values.extend(chunk.iter().map(|&distance| self.first + i64::from(distance)));
                }
                values
            }
            Numbers::Far(values) => values.into_vec(),
        };
        (values, self.docs)
    }

    fn roll_back(&mut self) {
        match &mut self.values {
            Numbers::Near(distances) => distances.truncate(self.mark.values),
            Numbers::Far(values) => values.truncate(self.mark.values),
        }
        self.docs.truncate(self.mark.entries);
        self.mark = Mark::default();
    }

    /// Drops what `doc`, the current document, added.
    pub fn roll_back_document(&mut self, doc: DocId) {
        if self.mark.doc == doc {
            self.roll_back();
        }
    }

    /// Drops what the documents from `doc` on added.
    pub fn roll_back_from(&mut self, doc: DocId) {
        let entries = self.docs.first_from(doc);
        self.mark = Mark { doc: NO_DOC, entries, values: entries };
        self.roll_back();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let values = match &self.values {
            Numbers::Near(distances) => distances.memory_bytes(),
            Numbers::Far(values) => values.memory_bytes(),
        };
        values + self.docs.memory_bytes()
    }
}

/// Returns the distance of `value` from `first` if it fits into 32 bits.
#[inline]
fn near(first: i64, value: i64) -> Option<i32> {
    value.checked_sub(first).and_then(|distance| i32::try_from(distance).ok())
}

impl FieldBuffer {
    /// Returns the field's logs as terms; creates them on first use.
    #[inline]
    pub fn terms(&mut self) -> &mut TermsBuffer {
        if let FieldBuffer::Absent = self {
            *self = FieldBuffer::Terms(Box::default());
        }
        match self {
            FieldBuffer::Terms(terms) => terms,
            _ => unreachable!("a field keeps its representation as long as an index lives"),
        }
    }

    #[inline]
    pub(crate) fn numbers(&mut self) -> &mut NumbersBuffer {
        if let FieldBuffer::Absent = self {
            *self = FieldBuffer::Numbers(Box::default());
        }
        match self {
            FieldBuffer::Numbers(numbers) => numbers,
            _ => unreachable!("a field keeps its representation as long as an index lives"),
        }
    }

    #[inline]
    pub(crate) fn text(&mut self) -> &mut TextBuffer {
        if let FieldBuffer::Absent = self {
            *self = FieldBuffer::Text(Box::default());
        }
        match self {
            FieldBuffer::Text(text) => text,
            _ => unreachable!("a field keeps its representation as long as an index lives"),
        }
    }

    #[inline]
    pub(crate) fn shapes(&mut self) -> &mut ShapesBuffer {
        if let FieldBuffer::Absent = self {
            *self = FieldBuffer::Shapes(Box::default());
        }
        match self {
            FieldBuffer::Shapes(shapes) => shapes,
            _ => unreachable!("a field keeps its representation as long as an index lives"),
        }
    }

    /// Drops what `doc`, the current document, added.
    pub fn roll_back(&mut self, doc: DocId) {
        match self {
            FieldBuffer::Terms(terms) if terms.mark.doc == doc => terms.roll_back(),
            FieldBuffer::Numbers(numbers) => numbers.roll_back_document(doc),
            FieldBuffer::Text(text) => text.roll_back_document(doc),
            FieldBuffer::Shapes(shapes) => shapes.roll_back(doc),
            _ => {}
        }
    }

    /// Drops what the documents from `doc` on added.
    pub fn roll_back_from(&mut self, doc: DocId) {
        match self {
            FieldBuffer::Absent => {}
            FieldBuffer::Terms(terms) => {
                let entries = terms.docs.first_from(doc);
                terms.mark = Mark { doc: NO_DOC, entries, values: entries };
                terms.roll_back();
            }
            FieldBuffer::Numbers(numbers) => numbers.roll_back_from(doc),
            FieldBuffer::Shapes(shapes) => shapes.roll_back_from(doc),
            FieldBuffer::Text(text) => text.roll_back_from(doc),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            FieldBuffer::Absent => 0,
            FieldBuffer::Terms(terms) => size_of::<TermsBuffer>() + terms.memory_bytes(),
            FieldBuffer::Numbers(numbers) => size_of::<NumbersBuffer>() + numbers.memory_bytes(),
            FieldBuffer::Text(text) => size_of::<TextBuffer>() + text.memory_bytes(),
            FieldBuffer::Shapes(shapes) => size_of::<ShapesBuffer>() + shapes.memory_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_numbers(pushed: &[(DocId, i64)], roll_back: bool, expected: &[i64]) {
        let mut numbers = NumbersBuffer::default();
        for &(doc, value) in pushed {
            numbers.push(doc, value);
        }
        if roll_back {
            numbers.roll_back();
        }
        assert!((0..expected.len()).all(|entry| numbers.get(entry) == expected[entry]));
        let (values, docs) = numbers.into_parts();
        assert_eq!((&values[..], docs.len()), (expected, expected.len()));
    }

    #[test]
    fn values_put_off_are_settled_unless_their_document_is_refused() {
        let mut terms = TermsBuffer::default();
        let mut expected: Vec<String> = Vec::new();
        for doc in 0..4000 {
            let values: Vec<String> = (0..1 + doc % 5).map(|i| format!("{}", (doc * 5 + i) % 3001)).collect();
            values.iter().for_each(|value| {
                terms.push(doc, value.as_bytes());
            });
            if doc % 7 == 3 {
                terms.roll_back();
            } else {
                expected.extend(values);
            }
        }
        assert!(!terms.pending_terms.is_empty());
        terms.settle();
        assert!(
            terms
                .values
                .iter()
                .map(|number| terms.table.term(number))
                .eq(expected.iter().map(String::as_bytes))
        );
        assert_eq!(terms.docs.len(), expected.len());
    }

    #[test]
    fn equal_numbers_are_kept_once_until_they_differ() {
        check_numbers(&[(0, 5), (1, 5), (2, 5)], false, &[5, 5, 5]);
        check_numbers(&[(0, 5), (1, 5), (2, 6), (3, 5)], false, &[5, 5, 6, 5]);
        check_numbers(&[(0, 5), (1, 5), (2, 6), (2, 7)], true, &[5, 5]);
        check_numbers(&[(0, 5), (1, 5), (1, 5)], true, &[5]);
        check_numbers(&[(3, 5), (3, 6)], true, &[]);
    }

    #[test]
    fn numbers_far_from_the_first_are_kept_whole() {
        let far = [i64::MAX, i64::MIN, 1 << 31, -(1 << 31) - 1];
        for value in far {
            check_numbers(&[(0, 0), (1, value), (2, 3)], false, &[0, value, 3]);
            check_numbers(&[(0, 0), (1, 2), (2, value), (3, 0)], false, &[0, 2, value, 0]);
            check_numbers(&[(0, 0), (1, 2), (1, value), (1, 4)], true, &[0]);
            check_numbers(&[(0, value), (1, 0), (1, 2)], true, &[value]);
        }
        let near = [(1 << 31) - 1, -(1 << 31)];
        check_numbers(&[(0, 0), (1, near[0]), (2, near[1])], false, &[0, near[0], near[1]]);
        check_numbers(&[(0, -1), (1, near[1]), (2, near[0])], false, &[-1, near[1], near[0]]);
    }
}
