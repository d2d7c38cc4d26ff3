//! Keys of flattened fields: "which part of the keyed terms belongs to this key, and which documents have
//! which of its values?"
//!
//! The terms of all keys are one field (key, NUL, value), so that a thousand keys cost a segment no more
//! than one. The terms of one key are contiguous. A reader of a key gets them as a dictionary of their own,
//! and also a column of its own, which is built from the column of all keys at the first request. Both are
//! cached: for the first keys while the segment is open, for others during a request
//! ([`crate::SegmentView::for_request`]).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use limber_mapping::KEY_END;
use limber_store::Charge;

use super::open::Segment;
use crate::columns::{Batch, ColumnWriter, OrdinalColumn, Presence};
use crate::terms::TermDictionary;
use crate::{DocId, Error, Result};

/// Number of lists that keys are distributed over.
const LIST_COUNT: usize = 64;
/// Maximum number of distinct keys that a segment caches, so that columns of many keys do not fill the
/// memory of segments. Further keys are built anew for each request. Keys without terms do not count.
pub const KEYS_KEPT_MAX: usize = 2048;
/// Heap bytes of a key without its name: its record, its dictionary, and allocation headers.
const KEY_HEAP_BYTES: u64 = 320;
/// Number of documents that are read at once.
const WINDOW: u32 = 4096;

/// The keys of one open segment, or of one request's view of it.
#[derive(Default)]
pub(crate) struct Keys {
    /// The keys that were requested first, cached while the segment is open.
    kept: Arc<KeyParts>,
    /// Other keys, cached while this view is held.
    further: KeyParts,
}

/// Keys that were requested. None is ever removed, so readers need no lock.
struct KeyParts {
    lists: [OnceLock<Box<KeyPart>>; LIST_COUNT],
    count: AtomicUsize,
}

impl Default for KeyParts {
    fn default() -> KeyParts {
        KeyParts { lists: std::array::from_fn(|_| OnceLock::new()), count: AtomicUsize::new(0) }
    }
}

/// Drops one part at a time; the default would recurse as deep as the list is long.
impl Drop for KeyParts {
    fn drop(&mut self) {
        for list in &mut self.lists {
            let mut rest = list.take();
            while let Some(mut part) = rest {
                rest = part.next.take();
            }
        }
    }
}

/// One key.
pub(crate) struct KeyPart {
    path: Box<str>,
    /// Number of the field that holds all keys.
    pub(crate) number: u32,
    pub(crate) terms: TermDictionary,
    /// Bytes of the column; `None` if the field has no column.
    column: OnceLock<Option<Charged<Vec<u8>>>>,
    /// Used without a column: one bit per document, and the number of set bits.
    presence: OnceLock<Charged<(Arc<[u64]>, u32)>>,
    _charge: Option<Charge>,
    next: OnceLock<Box<KeyPart>>,
}

/// A value together with the memory charged for it.
struct Charged<T> {
    value: T,
    _charge: Option<Charge>,
}

impl Keys {
    /// Returns the key with this full path; `None` if no document has it. `number` is that of the field of
    /// all keys.
    ///
    /// # Errors
    /// Fails for a full memory pool and for corrupt terms.
    pub(crate) fn part(
        &self,
        segment: &Segment,
        path: &str,
        number: u32,
        key: &str,
    ) -> Result<Option<&KeyPart>> {
        if let Some(part) = self.kept.find(path).or_else(|| self.further.find(path)) {
            return Ok(Some(part));
        }
        let Some(part) = KeyPart::open(segment, path, number, key)? else { return Ok(None) };
        let parts = if self.is_full() { &self.further } else { &*self.kept };
        Ok(Some(parts.add(part)))
    }

    /// Whether keys that were not requested before are no longer cached.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.count.load(Ordering::Relaxed) >= KEYS_KEPT_MAX
    }

    /// Returns the cached keys together with an empty cache that lives as long as the result.
    pub(crate) fn for_request(&self) -> Keys {
        Keys { kept: self.kept.clone(), further: KeyParts::default() }
    }
}

impl KeyParts {
    fn list(&self, path: &str) -> &OnceLock<Box<KeyPart>> {
        &self.lists[limber_codec::hash64::hash64(path.as_bytes()) as usize % LIST_COUNT]
    }

    fn find(&self, path: &str) -> Option<&KeyPart> {
        let mut slot = self.list(path);
        while let Some(part) = slot.get() {
            if *part.path == *path {
                return Some(part);
            }
            slot = &part.next;
        }
        None
    }

    /// Adds the part, or returns the equal one that another thread added first.
    fn add(&self, part: KeyPart) -> &KeyPart {
        let mut slot = self.list(&part.path);
        let mut part = Some(Box::new(part));
        loop {
            let there = slot.get_or_init(|| {
                self.count.fetch_add(1, Ordering::Relaxed);
                part.take().expect("put at one place")
            });
            match &part {
                Some(part) if part.path != there.path => slot = &there.next,
                _ => return there,
            }
        }
    }
}

impl KeyPart {
    /// Opens a key; `None` if no document has it.
    fn open(segment: &Segment, path: &str, number: u32, key: &str) -> Result<Option<KeyPart>> {
        let missing = || Error::corrupt("section table", 0, "the terms of a flattened field");
        let prefix = [key.as_bytes(), &[KEY_END]].concat();
        let terms = segment.terms_of(number)?.ok_or_else(missing)?.part(&prefix)?;
        if terms.is_empty() {
            return Ok(None);
        }
        Ok(Some(KeyPart {
            path: path.into(),
            number,
            terms,
            column: OnceLock::new(),
            presence: OnceLock::new(),
            _charge: charge(segment, KEY_HEAP_BYTES + (path.len() + prefix.len()) as u64)?,
            next: OnceLock::new(),
        }))
    }

    /// Returns ordinals into [`KeyPart::terms`] by document.
    pub(crate) fn column(&self, segment: &Segment) -> Result<Option<OrdinalColumn<'_>>> {
        if self.column.get().is_none() {
            let made = self.make_column(segment)?;
            let _ = self.column.set(made);
        }
        match self.column.get().and_then(Option::as_ref) {
            Some(bytes) => OrdinalColumn::open(&bytes.value).map(Some),
            None => Ok(None),
        }
    }

    fn make_column(&self, segment: &Segment) -> Result<Option<Charged<Vec<u8>>>> {
        let Some(all) = segment.ordinals_of(self.number)? else { return Ok(None) };
        let own = self.terms.ordinals_of_whole();
        let (mut writer, mut bytes) = (ColumnWriter::new(), Vec::new());
        let (mut docs, mut batch, mut values): (Vec<DocId>, Batch<u32>, Vec<i64>) = Default::default();
        for start in (0..segment.doc_count()).step_by(WINDOW as usize) {
            docs.clear();
            docs.extend(start..segment.doc_count().min(start.saturating_add(WINDOW)));
            all.gather(&docs, &mut batch)?;
            let mut entries =
                batch.iter().filter(|(_, ordinal)| own.contains(&u64::from(*ordinal))).peekable();
            while let Some((place, ordinal)) = entries.next() {
                values.clear();
                values.push((u64::from(ordinal) - own.start) as i64);
                while let Some((_, more)) = entries.next_if(|(other, _)| *other == place) {
                    values.push((u64::from(more) - own.start) as i64);
                }
                writer.push(docs[place], &values, &mut bytes)?;
            }
        }
        writer.finish(segment.doc_count(), &mut bytes)?;
        bytes.shrink_to_fit();
        let _charge = charge(segment, bytes.len() as u64)?;
        Ok(Some(Charged { value: bytes, _charge }))
    }

    /// Returns the documents that have the key.
    pub(crate) fn presence(&self, segment: &Segment) -> Result<Presence<'_>> {
        if let Some(column) = self.column(segment)? {
            return Ok(column.presence());
        }
        if self.presence.get().is_none() {
            let mut words = vec![0; segment.doc_count().div_ceil(64) as usize];
            segment.mark_all(self.number, &self.terms, &mut words)?;
            let count = words.iter().map(|word: &u64| word.count_ones()).sum();
            let _charge = charge(segment, words.len() as u64 * 8)?;
            let _ = self.presence.set(Charged { value: (words.into(), count), _charge });
        }
        let (words, count) = &self.presence.get().expect("set above").value;
        Ok(Presence::Bits(words.clone(), *count))
    }
}

fn charge(segment: &Segment, bytes: u64) -> Result<Option<Charge>> {
    Ok(segment.pool().map(|pool| pool.charge(bytes, "key of a flattened field")).transpose()?)
}
