//! The first `k` hits by sort keys.
//!
//! Within a segment every key is one `i64` that sorts ascending (terms by ordinal), so that comparing costs no look-up; the few
//! that survive a segment get keys that compare everywhere.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use limber_segment::columns::{Batch, Cardinality, NumberColumn, OrdinalColumn};
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment};

use super::key::{SortKey, compare_keys};
use super::sort::{BoundSort, KeyKind, MissingTerms, Transform};
use super::Hit;
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::request::Mode;

/// The hits of a shard so far.
pub(crate) struct TopFields {
    pub sorts: Vec<BoundSort>,
    count_max: usize,
    hits: Vec<Hit>,
    /// Only hits after these keys are wanted.
    after: Option<(Box<[SortKey]>, Tie)>,
}

impl TopFields {
    pub fn new(sorts: Vec<BoundSort>, count_max: usize, after: Option<(Box<[SortKey]>, Tie)>) -> TopFields {
        TopFields { sorts, count_max, hits: Vec::new(), after }
    }

    /// Starts a segment; hand the result back to [`TopFields::absorb`].
    pub fn segment<'a>(&self, segment: &'a Segment, number: u32, base: u64) -> Result<SegmentTop<'a>> {
        let readers = self.sorts.iter().map(|sort| KeyReader::open(sort, segment, base)).collect::<Result<Vec<_>>>()?;
        let local = |keys: &[SortKey], readers: &[KeyReader<'a>]| -> Result<Box<[i64]>> {
            keys.iter().zip(readers).map(|(key, reader)| reader.local(key)).collect()
        };
        let worst = (self.hits.len() >= self.count_max).then(|| self.hits.last()).flatten();
        let cutoff = match worst {
            Some(worst) => Some((local(&worst.keys, &readers)?, number < worst.segment)),
            None => None,
        };
        let after = match &self.after {
            Some((keys, tie)) => Some((local(keys, &readers)?, *tie)),
            None => None,
        };
        Ok(SegmentTop {
            readers,
            number,
            base,
            count_max: self.count_max,
            heap: BinaryHeap::new(),
            cutoff,
            after,
            columns: Vec::new(),
        })
    }

    pub fn absorb(&mut self, segment: SegmentTop<'_>) -> Result<()> {
        let SegmentTop { readers, number, base, heap, .. } = segment;
        for entry in heap {
            let keys = entry.keys.iter().zip(&readers).map(|(key, reader)| reader.global(*key)).collect::<Result<_>>()?;
            let shard_doc = base + u64::from(entry.doc);
            self.hits.push(Hit { segment: number, doc: entry.doc, shard_doc, score: entry.score, keys });
        }
        let sorts = &self.sorts;
        self.hits.sort_by(|left, right| {
            compare_keys(sorts, &left.keys, &right.keys).then(left.shard_doc.cmp(&right.shard_doc))
        });
        self.hits.truncate(self.count_max);
        Ok(())
    }

    /// The hits, best first.
    pub fn finish(self) -> Vec<Hit> {
        self.hits
    }
}

/// Which documents with exactly the keys that a page starts after were on the pages before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tie {
    Seen,
    /// Those up to this number in the shard.
    SeenUpTo(u64),
    Unseen,
}

impl Tie {
    fn has_seen(self, shard_doc: u64) -> bool {
        match self {
            Tie::Seen => true,
            Tie::SeenUpTo(last) => shard_doc <= last,
            Tie::Unseen => false,
        }
    }
}

struct Entry {
    keys: Box<[i64]>,
    doc: DocId,
    score: f32,
}

/// Greatest is worst.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.keys.cmp(&other.keys).then(self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// The best hits of one segment while it is searched.
pub(crate) struct SegmentTop<'a> {
    readers: Vec<KeyReader<'a>>,
    number: u32,
    base: u64,
    count_max: usize,
    heap: BinaryHeap<Entry>,
    /// Keys of the worst hit of the segments before, and whether a tie with it wins.
    cutoff: Option<(Box<[i64]>, bool)>,
    after: Option<(Box<[i64]>, Tie)>,
    columns: Vec<Vec<i64>>,
}

impl SegmentTop<'_> {
    pub fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        if self.count_max == 0 {
            return Ok(());
        }
        self.columns.resize_with(self.readers.len(), Vec::new);
        for (reader, out) in self.readers.iter_mut().zip(&mut self.columns) {
            reader.read(docs, scores, out)?;
        }
        for (at, doc) in docs.iter().enumerate() {
            if let Some((after, tie)) = &self.after {
                match self.compare_at(at, after) {
                    Ordering::Less => continue,
                    Ordering::Equal if tie.has_seen(self.base + u64::from(*doc)) => continue,
                    _ => {}
                }
            }
            if let Some((cutoff, tie_wins)) = &self.cutoff {
                match self.compare_at(at, cutoff) {
                    Ordering::Greater => continue,
                    Ordering::Equal if !tie_wins => continue,
                    _ => {}
                }
            }
            if self.heap.len() >= self.count_max
                && let Some(worst) = self.heap.peek()
                && self.compare_at(at, &worst.keys).then(doc.cmp(&worst.doc)) != Ordering::Less
            {
                continue;
            }
            let keys = self.columns.iter().map(|column| column[at]).collect();
            self.heap.push(Entry { keys, doc: *doc, score: scores.get(at).copied().unwrap_or(0.0) });
            if self.heap.len() > self.count_max {
                self.heap.pop();
            }
        }
        Ok(())
    }

    #[inline]
    fn compare_at(&self, at: usize, keys: &[i64]) -> Ordering {
        for (column, key) in self.columns.iter().zip(keys) {
            match column[at].cmp(key) {
                Ordering::Equal => {}
                other => return other,
            }
        }
        Ordering::Equal
    }

    /// The first key that the worst wanted hit has, and whether a document with the same first key can still be wanted.
    fn bound(&self) -> Option<(i64, bool)> {
        if self.count_max == 0 {
            return Some((i64::MIN, false));
        }
        let single = self.readers.len() == 1;
        let own = match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.count_max => Some((worst.keys[0], !single)),
            _ => None,
        };
        let before = self.cutoff.as_ref().map(|(keys, tie_wins)| (keys[0], !single || *tie_wins));
        match (own, before) {
            (Some(own), Some(before)) => Some(if own.0 <= before.0 { own } else { before }),
            (own, before) => own.or(before),
        }
    }

    /// The first document that can be wanted at all: pages in document order start there.
    pub fn first_doc(&self) -> DocId {
        match (&self.readers[0], &self.after) {
            (KeyReader::Doc { descending: false, base }, Some((after, _))) => {
                (after[0] - *base as i64).clamp(0, i64::from(u32::MAX - WINDOW)) as DocId
            }
            _ => 0,
        }
    }

    /// Whether no document of the window at `start` can be wanted any more.
    pub fn can_skip(&self, start: DocId) -> Result<bool> {
        let Some((bound, ties)) = self.bound() else { return Ok(false) };
        let Some(best) = self.readers[0].best_in(start)? else { return Ok(false) };
        Ok(if ties { best > bound } else { best >= bound })
    }

    /// Clears the bits of blocks of which no document can be wanted any more.
    pub fn mask(&self, start: DocId, bits: &mut Bits) -> Result<()> {
        match self.bound() {
            Some((bound, ties)) => self.readers[0].mask(start, bound, ties, bits),
            None => Ok(()),
        }
    }
}

/// Reads one key of documents as an `i64` that sorts ascending.
enum KeyReader<'a> {
    Score { descending: bool },
    Doc { descending: bool, base: u64 },
    Number { column: Option<NumberColumn<'a>>, mode: Mode, transform: Transform, kind: KeyKind, missing: i64, descending: bool, batch: Batch<i64> },
    Term(Box<TermReader<'a>>),
}

/// Terms by their ordinals: `2 * ordinal + 1`, with room between them for terms that the segment does not have.
struct TermReader<'a> {
    column: Option<OrdinalColumn<'a>>,
    dictionary: Option<&'a TermDictionary>,
    mode: Mode,
    descending: bool,
    /// Key of documents without a term, already in order.
    missing: i64,
    missing_term: Option<Arc<[u8]>>,
    batch: Batch<u32>,
}

impl TermReader<'_> {
    fn position(dictionary: Option<&TermDictionary>, term: &[u8]) -> Result<i64> {
        Ok(match dictionary {
            None => 0,
            Some(dictionary) => match dictionary.ordinal(term)? {
                Ok(ordinal) => 2 * ordinal as i64 + 1,
                Err(ordinal) => 2 * ordinal as i64,
            },
        })
    }
}

#[inline]
fn ordered(key: i64, descending: bool) -> i64 {
    if descending { !key } else { key }
}

impl<'a> KeyReader<'a> {
    fn open(sort: &BoundSort, segment: &'a Segment, base: u64) -> Result<KeyReader<'a>> {
        let descending = sort.descending;
        let path = sort.field.as_ref().map(|field| field.path.clone());
        Ok(match sort.kind {
            KeyKind::Score => KeyReader::Score { descending },
            KeyKind::Doc => KeyReader::Doc { descending, base },
            KeyKind::Term => {
                let (mut column, mut dictionary) = (None, None);
                if let Some(path) = path {
                    column = segment.ordinals(&path)?;
                    dictionary = segment.terms(&path)?;
                }
                let (missing, missing_term) = match &sort.missing_terms {
                    MissingTerms::First => (i64::MIN, None),
                    MissingTerms::Last => (i64::MAX, None),
                    MissingTerms::Term(term) => (ordered(TermReader::position(dictionary, term)?, descending), Some(term.clone())),
                };
                let mode = sort.mode;
                KeyReader::Term(Box::new(TermReader { column, dictionary, mode, descending, missing, missing_term, batch: Batch::default() }))
            }
            kind => {
                let column = match path {
                    Some(path) => segment.numbers(&path)?,
                    None => None,
                };
                KeyReader::Number {
                    column,
                    mode: sort.mode,
                    transform: sort.transform,
                    kind,
                    missing: ordered(sort.missing_number, descending),
                    descending,
                    batch: Batch::default(),
                }
            }
        })
    }

    fn read(&mut self, docs: &[DocId], scores: &[f32], out: &mut Vec<i64>) -> Result<()> {
        out.clear();
        match self {
            KeyReader::Score { descending } => out.extend(scores.iter().map(|score| ordered(SortKey::score_order(*score), *descending))),
            KeyReader::Doc { descending, base } => {
                out.extend(docs.iter().map(|doc| ordered(*base as i64 + i64::from(*doc), *descending)));
            }
            KeyReader::Number { column, mode, transform, kind, missing, descending, batch } => {
                let Some(column) = column else {
                    out.resize(docs.len(), *missing);
                    return Ok(());
                };
                column.gather(docs, batch)?;
                if batch.is_aligned() {
                    out.extend(batch.values.iter().map(|value| ordered(transform.apply(*value), *descending)));
                    return Ok(());
                }
                out.resize(docs.len(), *missing);
                let mut at = 0;
                while at < batch.values.len() {
                    let position = batch.positions[at];
                    let count = batch.positions[at..].iter().take_while(|other| **other == position).count();
                    let key = pick(&batch.values[at..at + count], *mode, *transform, *kind);
                    out[position as usize] = ordered(key, *descending);
                    at += count;
                }
            }
            KeyReader::Term(reader) => {
                out.resize(docs.len(), reader.missing);
                let Some(column) = &reader.column else { return Ok(()) };
                column.gather(docs, &mut reader.batch)?;
                let mut previous = usize::MAX;
                for (position, ordinal) in reader.batch.iter() {
                    // Ordinals of a document ascend: the first is its least term, the last its greatest.
                    if position != previous || reader.mode == Mode::Max {
                        out[position] = ordered(2 * i64::from(ordinal) + 1, reader.descending);
                    }
                    previous = position;
                }
            }
        }
        Ok(())
    }

    /// The place of a key from elsewhere among this segment's.
    fn local(&self, key: &SortKey) -> Result<i64> {
        Ok(match (self, key) {
            (KeyReader::Score { descending }, SortKey::Score(score)) => ordered(SortKey::score_order(*score), *descending),
            (KeyReader::Doc { descending, .. } | KeyReader::Number { descending, .. }, SortKey::Number(number)) => ordered(*number, *descending),
            (KeyReader::Term(reader), SortKey::Term(term)) => match term {
                None if reader.missing_term.is_none() => reader.missing,
                None => i64::MAX,
                Some(term) => ordered(TermReader::position(reader.dictionary, term)?, reader.descending),
            },
            _ => 0,
        })
    }

    /// A key of this segment as one that compares everywhere.
    fn global(&self, key: i64) -> Result<SortKey> {
        Ok(match self {
            KeyReader::Score { descending } => {
                let order = ordered(key, *descending) as i32;
                SortKey::Score(f32::from_bits((order ^ ((order >> 31) & i32::MAX)) as u32))
            }
            KeyReader::Doc { descending, .. } | KeyReader::Number { descending, .. } => SortKey::Number(ordered(key, *descending)),
            KeyReader::Term(reader) => {
                if key == i64::MAX || key == i64::MIN {
                    return Ok(SortKey::Term(None));
                }
                let position = ordered(key, reader.descending);
                match reader.dictionary {
                    Some(dictionary) if position % 2 == 1 => {
                        let mut term = Vec::new();
                        dictionary.term(position as u64 / 2, &mut term)?;
                        SortKey::Term(Some(term.into()))
                    }
                    _ => SortKey::Term(reader.missing_term.clone()),
                }
            }
        })
    }

    /// The best key a document of the window can have; `None` when that is not known.
    fn best_in(&self, start: DocId) -> Result<Option<i64>> {
        match self {
            KeyReader::Doc { descending: false, base } => Ok(Some(*base as i64 + i64::from(start))),
            KeyReader::Number { column, mode: Mode::Min | Mode::Max, transform, missing, descending, .. } => {
                let Some(column) = column else { return Ok(Some(*missing)) };
                let Some((min, max)) = column.window_range((start / WINDOW) as usize)? else { return Ok(Some(*missing)) };
                let best = ordered(transform.apply(if *descending { max } else { min }), *descending);
                Ok(Some(if column.cardinality() == Cardinality::Single { best } else { best.min(*missing) }))
            }
            _ => Ok(None),
        }
    }

    fn mask(&self, start: DocId, bound: i64, ties: bool, bits: &mut Bits) -> Result<()> {
        let KeyReader::Number { column: Some(column), transform, descending, .. } = self else { return Ok(()) };
        if column.cardinality() != Cardinality::Single {
            return Ok(());
        }
        let first = u64::from(start) / 128;
        for block in first..(first + 32).min(column.block_count()) {
            let (min, max) = column.block_range(block)?;
            let best = ordered(transform.apply(if *descending { max } else { min }), *descending);
            if if ties { best > bound } else { best >= bound } {
                let word = (block - first) as usize * 2;
                bits.0[word..word + 2].fill(0);
            }
        }
        Ok(())
    }
}

/// The one value that counts out of several, ascending. Source: Elasticsearch's `MultiValueMode`.
fn pick(values: &[i64], mode: Mode, transform: Transform, kind: KeyKind) -> i64 {
    let (first, last) = (values[0], values[values.len() - 1]);
    match mode {
        Mode::Min => return transform.apply(first),
        Mode::Max => return transform.apply(last),
        _ => {}
    }
    let count = values.len();
    if kind == KeyKind::Long {
        let value = |at: usize| transform.apply(values[at]);
        let rounded = |value: f64| (value + 0.5).floor() as i64;
        return match mode {
            Mode::Median if count % 2 == 1 => value(count / 2),
            Mode::Median => rounded((value(count / 2 - 1) as f64 + value(count / 2) as f64) / 2.0),
            _ => {
                let sum = (0..count).fold(0i64, |sum, at| sum.wrapping_add(value(at)));
                match mode {
                    Mode::Avg if count > 1 => rounded(sum as f64 / count as f64),
                    _ => sum,
                }
            }
        };
    }
    use limber_mapping::number::{f64_from_sortable, sortable_from_f64};
    let value = |at: usize| f64_from_sortable(transform.apply(values[at]));
    sortable_from_f64(match mode {
        Mode::Median if count % 2 == 1 => value(count / 2),
        Mode::Median => (value(count / 2 - 1) + value(count / 2)) / 2.0,
        _ => {
            let sum = (0..count).fold(0.0, |sum, at| sum + value(at));
            if mode == Mode::Avg { sum / count as f64 } else { sum }
        }
    })
}
