//! Which document each entry of a log belongs to.

use super::chunk_log::ChunkLog;
use crate::DocId;

/// Documents of the entries of a log, ascending. While every entry `i` belongs to document `i`, nothing is
/// stored.
#[derive(Default)]
pub struct DocLog {
    /// Number of entries, whether `docs` lists them or not.
    len: usize,
    /// `Some` once an entry `i` did not belong to document `i`.
    docs: Option<ChunkLog<DocId>>,
    /// Whether some document has several entries.
    has_repeats: bool,
}

impl DocLog {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, doc: DocId) {
        match &mut self.docs {
            None if doc as usize == self.len => {}
            None => self.list(doc),
            Some(docs) => {
                self.has_repeats |= docs.last() == Some(doc);
                docs.push(doc);
            }
        }
        self.len += 1;
    }

    #[cold]
    fn list(&mut self, doc: DocId) {
        self.has_repeats = (doc as usize) < self.len;
        let docs = self.docs.insert(ChunkLog::default());
        (0..self.len as u32).chain([doc]).for_each(|doc| docs.push(doc));
    }

    /// Returns the document of an entry.
    #[inline]
    pub fn get(&self, entry: usize) -> DocId {
        self.docs.as_ref().map_or(entry as DocId, |docs| docs.get(entry))
    }

    /// Returns where the entries of each of `doc_count` documents start, and where those of the last one
    /// end: `[doc_count + 1]`.
    pub fn starts(&self, doc_count: usize) -> Vec<u32> {
        let mut starts = vec![0; doc_count + 1];
        (0..self.len).for_each(|entry| starts[self.get(entry) as usize + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        starts
    }

    /// Returns the first entry of a document at or after `doc`.
    pub fn first_from(&self, doc: DocId) -> usize {
        let Some(docs) = &self.docs else { return self.len.min(doc as usize) };
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if docs.get(middle) < doc { low = middle + 1 } else { high = middle }
        }
        low
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len;
        if let Some(docs) = &mut self.docs {
            docs.truncate(len);
        }
    }

    /// Whether some document has (or had, before a rollback) several entries.
    pub fn has_repeats(&self) -> bool {
        self.has_repeats
    }

    /// Whether each of `doc_count` documents has exactly one entry; [`DocLog::finish`] then returns `None`.
    pub fn is_one_a_document(&self, doc_count: u32) -> bool {
        self.docs.is_none() && self.len >= doc_count as usize
    }

    /// Returns the document of each entry for a buffer of `doc_count` documents; `None` if entry `i`
    /// belongs to document `i` and every document has one entry.
    pub fn finish(self, doc_count: u32) -> Option<Vec<DocId>> {
        let one_a_document = self.is_one_a_document(doc_count);
        match self.docs {
            Some(docs) => Some(docs.into_vec()),
            None => (!one_a_document).then(|| (0..self.len as u32).collect()),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.docs.as_ref().map_or(0, ChunkLog::memory_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pushed: &[DocId], doc_count: u32, expected: Option<&[DocId]>, repeats: bool) {
        let mut log = DocLog::default();
        pushed.iter().for_each(|&doc| log.push(doc));
        assert_eq!((log.len(), log.has_repeats()), (pushed.len(), repeats));
        (0..doc_count + 2).for_each(|doc| {
            assert_eq!(log.first_from(doc), pushed.iter().filter(|&&other| other < doc).count());
        });
        assert_eq!(log.is_one_a_document(doc_count), expected.is_none());
        assert_eq!(log.finish(doc_count).as_deref(), expected);
    }

    #[test]
    fn lists_only_what_is_not_one_a_document() {
        check(&[0, 1, 2], 3, None, false);
        check(&[0, 1], 3, Some(&[0, 1]), false);
        check(&[0, 2], 3, Some(&[0, 2]), false);
        check(&[0, 0, 1], 2, Some(&[0, 0, 1]), true);
        check(&[1, 3, 3], 4, Some(&[1, 3, 3]), true);
        check(&[], 2, Some(&[]), false);
    }
}
