//! Which document each entry of a log belongs to.

use crate::DocId;

/// Documents of the entries of a log, ascending. As long as entry `i` belongs to document `i`, nothing is stored.
#[derive(Default)]
pub struct DocLog {
    /// Entries, listed or not.
    len: usize,
    /// `Some` once an entry broke the rule.
    docs: Option<Vec<DocId>>,
    /// Some document has several entries.
    has_repeats: bool,
}

impl DocLog {
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn push(&mut self, doc: DocId) {
        match &mut self.docs {
            None if doc as usize == self.len => {}
            None => self.list(doc),
            Some(docs) => {
                self.has_repeats |= docs.last() == Some(&doc);
                docs.push(doc);
            }
        }
        self.len += 1;
    }

    #[cold]
    fn list(&mut self, doc: DocId) {
        self.has_repeats = (doc as usize) < self.len;
        let docs = (0..self.len as u32).chain([doc]).collect();
        self.docs = Some(docs);
    }

    pub fn truncate(&mut self, len: usize) {
        self.len = len;
        if let Some(docs) = &mut self.docs {
            docs.truncate(len);
        }
    }

    /// Whether some document has (or had, before a rollback) several entries.
    pub fn has_repeats(&self) -> bool {
        self.has_repeats
    }

    /// Documents by entry for a buffer of `doc_count` documents; `None` when entry `i` belongs to document `i` and every
    /// document has one.
    pub fn finish(&mut self, doc_count: u32) -> Option<&[DocId]> {
        if self.docs.is_none() && self.len < doc_count as usize {
            self.docs = Some((0..self.len as u32).collect());
        }
        self.docs.as_deref()
    }

    pub fn memory_bytes(&self) -> usize {
        self.docs.as_ref().map_or(0, |docs| docs.capacity() * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pushed: &[DocId], doc_count: u32, expected: Option<&[DocId]>, repeats: bool) {
        let mut log = DocLog::default();
        pushed.iter().for_each(|&doc| log.push(doc));
        assert_eq!(log.finish(doc_count), expected);
        assert_eq!((log.len(), log.has_repeats()), (pushed.len(), repeats));
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
