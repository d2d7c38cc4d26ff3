//! Sort keys of one segment, each as an `i64` that sorts ascending: numbers and documents as they are (or inverted), terms by their
//! ordinals.

use std::ops::RangeInclusive;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::number::{f64_from_sortable, sortable_from_f64};
use limber_segment::columns::{Batch, Cardinality, OrdinalColumn};
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment};

use super::distance::DistanceReader;
use super::nested::NestedReader;
use super::sort::{BoundSort, KeyKind, MissingTerms, Transform};
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::mode::Mode;
use crate::script::{BoundScript, NumberSource, RuntimeField, RuntimeTerms};
use crate::sort_key::SortKey;

/// Reads one key of documents as an `i64` that sorts ascending.
pub(crate) enum KeyReader<'a> {
    Score { descending: bool },
    Doc { descending: bool, base: u64 },
    Number(Box<NumberReader<'a>>),
    Term(Box<TermReader<'a>>),
    Distance(Box<DistanceReader<'a>>),
    Script(Box<ScriptReader<'a>>),
    Nested(Box<NestedReader<'a>>),
    Made(Box<MadeReader<'a>>),
}

pub(crate) struct ScriptReader<'a> {
    script: Arc<BoundScript>,
    segment: &'a Segment,
    mode: Mode,
    descending: bool,
    /// Key of documents without a nested one, already in order.
    missing: i64,
    numbers: Vec<f64>,
}

/// Terms that no dictionary holds, and which therefore have no number that sorts like them: they are kept as they are.
pub(crate) struct MadeReader<'a> {
    runtime: Option<Arc<RuntimeField>>,
    /// Of a sort by text.
    script: Option<Arc<BoundScript>>,
    segment: &'a Segment,
    mode: Mode,
    missing: Option<Arc<[u8]>>,
    /// Of the documents read last.
    keys: Vec<Option<Arc<[u8]>>>,
}

impl MadeReader<'_> {
    fn read(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        self.read_or(docs, scores, self.missing.clone())
    }

    /// One key for each of `count` owners: `docs[i]` belongs to `owners[i]`, both ascending.
    fn read_together(&mut self, docs: &[DocId], owners: &[u32], count: usize) -> Result<()> {
        let mut best: Vec<Option<Arc<[u8]>>> = vec![None; count];
        let mut owners = owners.iter();
        for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
            self.read_or(window, &[], None)?;
            for (key, owner) in self.keys.drain(..).zip(&mut owners) {
                let best = &mut best[*owner as usize];
                let is_better = match (&key, &*best) {
                    (Some(key), Some(best)) if self.mode == Mode::Max => key > best,
                    (Some(key), Some(best)) => key < best,
                    (key, _) => key.is_some(),
                };
                if is_better {
                    *best = key;
                }
            }
        }
        self.keys.clear();
        self.keys.extend(best.into_iter().map(|key| key.or_else(|| self.missing.clone())));
        Ok(())
    }

    /// `missing`: the key of documents without a term.
    fn read_or(&mut self, docs: &[DocId], scores: &[f32], missing: Option<Arc<[u8]>>) -> Result<()> {
        self.keys.clear();
        if let Some(script) = &self.script {
            return script.open(self.segment)?.values(docs, scores, |value| {
                self.keys.push(Some(value.text().into_bytes().into()));
                Ok(())
            });
        }
        self.keys.resize(docs.len(), missing);
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let mut terms = RuntimeTerms::default();
        runtime.open(self.segment)?.terms(docs, &mut terms)?;
        let mut previous = usize::MAX;
        for (position, term) in terms.iter() {
            // Terms of a document ascend.
            if position != previous || self.mode == Mode::Max {
                self.keys[position] = Some(term.into());
            }
            previous = position;
        }
        Ok(())
    }
}

pub(crate) struct NumberReader<'a> {
    column: Option<NumberSource<'a>>,
    mode: Mode,
    transform: Transform,
    kind: KeyKind,
    /// Key of documents without a number, already in order.
    missing: i64,
    descending: bool,
    batch: Batch<i64>,
}

/// Terms by their ordinals: `2 * ordinal + 1`, with room between them for terms that the segment does not have.
pub(crate) struct TermReader<'a> {
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
    /// The best key of the window.
    fn best_in(&self, start: DocId) -> Result<Option<i64>> {
        if !matches!(self.mode, Mode::Min | Mode::Max) {
            return Ok(None);
        }
        let Some(column) = &self.column else { return Ok(Some(self.missing)) };
        let Some((min, max)) = column.window_range((start / WINDOW) as usize)? else {
            return Ok(Some(self.missing));
        };
        let best = ordered(2 * i64::from(if self.descending { max } else { min }) + 1, self.descending);
        Ok(Some(if column.cardinality() == Cardinality::Single { best } else { best.min(self.missing) }))
    }

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
pub(super) fn ordered(key: i64, descending: bool) -> i64 {
    if descending { !key } else { key }
}

impl<'a> KeyReader<'a> {
    /// Opens the keys of `sort` on a segment. `base`: the shard's number of its first document.
    pub fn open(sort: &BoundSort, segment: &'a Segment, base: u64) -> Result<KeyReader<'a>> {
        match &sort.nested {
            Some(nested) => Ok(KeyReader::Nested(Box::new(NestedReader::open(sort, nested, segment)?))),
            None => KeyReader::open_plain(sort, segment, base),
        }
    }

    /// As [`KeyReader::open`], on the documents that have the values.
    pub fn open_plain(sort: &BoundSort, segment: &'a Segment, base: u64) -> Result<KeyReader<'a>> {
        let descending = sort.descending;
        if let Some(script) = &sort.script
            && sort.kind != KeyKind::Term
        {
            return Ok(KeyReader::Script(Box::new(ScriptReader {
                script: script.clone(),
                segment,
                mode: sort.mode,
                descending,
                missing: ordered(sort.missing_number, descending),
                numbers: Vec::new(),
            })));
        }
        let path = sort.field.as_ref().map(|field| field.path.clone());
        Ok(match sort.kind {
            KeyKind::Score => KeyReader::Score { descending },
            KeyKind::Doc => KeyReader::Doc { descending, base: base + sort.doc_base },
            KeyKind::Term if sort.makes_terms() => KeyReader::Made(Box::new(MadeReader {
                runtime: sort.runtime.clone(),
                script: sort.script.clone(),
                segment,
                mode: sort.mode,
                missing: match &sort.missing_terms {
                    MissingTerms::Term(term) => Some(term.clone()),
                    _ => None,
                },
                keys: Vec::new(),
            })),
            KeyKind::Term => {
                let (mut column, mut dictionary) = (None, None);
                if let Some(path) = path {
                    column = segment.ordinals(&path)?;
                    dictionary = segment.terms(&path)?;
                }
                let (missing, missing_term) = match &sort.missing_terms {
                    MissingTerms::First => (i64::MIN, None),
                    MissingTerms::Last => (i64::MAX, None),
                    MissingTerms::Term(term) => {
                        (ordered(TermReader::position(dictionary, term)?, descending), Some(term.clone()))
                    }
                };
                let mode = sort.mode;
                KeyReader::Term(Box::new(TermReader {
                    column,
                    dictionary,
                    mode,
                    descending,
                    missing,
                    missing_term,
                    batch: Batch::default(),
                }))
            }
            kind => {
                let column = match path {
                    Some(path) => NumberSource::open(segment, &path, sort.runtime.as_ref())?,
                    None => None,
                };
                if let Some(origins) = &sort.origins {
                    let missing = ordered(sort.missing_number, descending);
                    let reader = DistanceReader::new(column, origins.clone(), sort.mode, descending, missing);
                    return Ok(KeyReader::Distance(Box::new(reader)));
                }
                KeyReader::Number(Box::new(NumberReader {
                    column,
                    mode: sort.mode,
                    transform: sort.transform,
                    kind,
                    missing: ordered(sort.missing_number, descending),
                    descending,
                    batch: Batch::default(),
                }))
            }
        })
    }

    /// Replaces `out` by one key for each of `docs`, which ascend; `scores` are theirs.
    pub fn read(&mut self, docs: &[DocId], scores: &[f32], out: &mut Vec<i64>) -> Result<()> {
        out.clear();
        match self {
            KeyReader::Score { descending } => {
                out.extend(scores.iter().map(|score| ordered(SortKey::score_order(*score), *descending)))
            }
            KeyReader::Doc { descending, base } => {
                out.extend(docs.iter().map(|doc| ordered(*base as i64 + i64::from(*doc), *descending)));
            }
            KeyReader::Script(reader) => {
                let ScriptReader { script, segment, descending, numbers, .. } = &mut **reader;
                script.open(segment)?.numbers(docs, scores, numbers)?;
                out.extend(numbers.iter().map(|number| ordered(sortable_from_f64(*number), *descending)));
            }
            KeyReader::Nested(reader) => reader.read(docs, out)?,
            KeyReader::Number(reader) => {
                let NumberReader { column, mode, transform, kind, missing, descending, batch } =
                    &mut **reader;
                let Some(column) = column else {
                    out.resize(docs.len(), *missing);
                    return Ok(());
                };
                column.gather(docs, batch)?;
                transform.check(&batch.values)?;
                if batch.is_aligned() {
                    out.extend(
                        batch.values.iter().map(|value| ordered(transform.apply(*value), *descending)),
                    );
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
            KeyReader::Distance(reader) => reader.read(docs, None, docs.len(), out)?,
            KeyReader::Made(reader) => {
                reader.read(docs, scores)?;
                // Its place among the keys read last.
                out.extend(0..docs.len() as i64);
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

    /// One key for each of `count` owners, from the values of all its documents: `docs[i]` belongs to `owners[i]`, both ascending.
    pub fn read_together(
        &mut self,
        docs: &[DocId],
        owners: &[u32],
        count: usize,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        out.clear();
        match self {
            KeyReader::Number(reader) => {
                out.resize(count, reader.missing);
                let NumberReader { column, mode, transform, kind, descending, batch, .. } = &mut **reader;
                let Some(column) = column else { return Ok(()) };
                column.gather(docs, batch)?;
                transform.check(&batch.values)?;
                let mut values = Vec::new();
                let mut found = batch.iter().map(|(position, value)| (owners[position], value)).peekable();
                while let Some((owner, first)) = found.next() {
                    values.clear();
                    values.push(first);
                    while let Some((_, value)) = found.next_if(|(other, _)| *other == owner) {
                        values.push(value);
                    }
                    values.sort_unstable();
                    out[owner as usize] = ordered(pick(&values, *mode, *transform, *kind), *descending);
                }
            }
            KeyReader::Term(reader) => {
                out.resize(count, reader.missing);
                let Some(column) = &reader.column else { return Ok(()) };
                column.gather(docs, &mut reader.batch)?;
                let mut best: Option<(u32, u32)> = None;
                let (mode, descending) = (reader.mode, reader.descending);
                let mut settle = |best: Option<(u32, u32)>| {
                    if let Some((owner, ordinal)) = best {
                        out[owner as usize] = ordered(2 * i64::from(ordinal) + 1, descending);
                    }
                };
                for (position, ordinal) in reader.batch.iter() {
                    let owner = owners[position];
                    best = match best {
                        Some((same, other)) if same == owner => {
                            let ordinal =
                                if mode == Mode::Max { other.max(ordinal) } else { other.min(ordinal) };
                            Some((owner, ordinal))
                        }
                        other => {
                            settle(other);
                            Some((owner, ordinal))
                        }
                    };
                }
                settle(best);
            }
            KeyReader::Script(reader) => {
                let ScriptReader { script, segment, mode, descending, missing, numbers } = &mut **reader;
                out.resize(count, *missing);
                let mut all: Vec<f64> = Vec::with_capacity(docs.len());
                for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
                    script.open(segment)?.numbers(window, &[], numbers)?;
                    all.extend_from_slice(numbers);
                }
                let mut rest = &mut all[..];
                for same in owners.chunk_by(|left, right| left == right) {
                    let (own, others) = rest.split_at_mut(same.len());
                    rest = others;
                    own.sort_unstable_by(f64::total_cmp);
                    out[same[0] as usize] = ordered(sortable_from_f64(mode.pick(own)), *descending);
                }
            }
            KeyReader::Distance(reader) => reader.read(docs, Some(owners), count, out)?,
            KeyReader::Made(reader) => {
                reader.read_together(docs, owners, count)?;
                out.extend(0..count as i64);
            }
            KeyReader::Score { .. } | KeyReader::Doc { .. } | KeyReader::Nested(_) => {
                return Err(RequestError::unsupported(
                    "[nested] in a sort by score or by place in the index",
                )
                .into());
            }
        }
        Ok(())
    }

    /// The place of a key from elsewhere among this segment's.
    pub fn local(&self, key: &SortKey) -> Result<i64> {
        Ok(match (self, key) {
            (KeyReader::Score { descending }, SortKey::Score(score)) => {
                ordered(SortKey::score_order(*score), *descending)
            }
            (KeyReader::Doc { descending, .. }, SortKey::Number(number)) => ordered(*number, *descending),
            (KeyReader::Number(reader), SortKey::Number(number)) => ordered(*number, reader.descending),
            (KeyReader::Distance(reader), SortKey::Number(number)) => ordered(*number, reader.descending()),
            (KeyReader::Script(reader), SortKey::Number(number)) => ordered(*number, reader.descending),
            (KeyReader::Nested(reader), key) => reader.local(key)?,
            (KeyReader::Term(reader), SortKey::Term(None)) if reader.missing_term.is_none() => reader.missing,
            (KeyReader::Term(_), SortKey::Term(None)) => i64::MAX,
            (KeyReader::Term(reader), SortKey::Term(Some(term))) => {
                ordered(TermReader::position(reader.dictionary, term)?, reader.descending)
            }
            _ => 0,
        })
    }

    /// A key of this segment as one that compares everywhere.
    pub fn global(&self, key: i64) -> Result<SortKey> {
        Ok(match self {
            KeyReader::Score { descending } => {
                let order = ordered(key, *descending) as i32;
                SortKey::Score(f32::from_bits((order ^ ((order >> 31) & i32::MAX)) as u32))
            }
            KeyReader::Doc { descending, .. } => SortKey::Number(ordered(key, *descending)),
            KeyReader::Number(reader) => SortKey::Number(ordered(key, reader.descending)),
            KeyReader::Distance(reader) => SortKey::Number(ordered(key, reader.descending())),
            KeyReader::Script(reader) => SortKey::Number(ordered(key, reader.descending)),
            KeyReader::Nested(reader) => reader.global(key)?,
            KeyReader::Made(reader) => SortKey::Term(reader.keys.get(key as usize).cloned().flatten()),
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
    pub fn best_in(&self, start: DocId) -> Result<Option<i64>> {
        match self {
            KeyReader::Doc { descending: false, base } => Ok(Some(*base as i64 + i64::from(start))),
            KeyReader::Number(reader) => Ok(reader.range_in(start)?.map(|(best, _)| best)),
            KeyReader::Term(reader) => reader.best_in(start),
            _ => Ok(None),
        }
    }

    /// The stored numbers whose keys lie in this range, where keys are stored numbers of which every document has one.
    pub fn numbers_of(&self, keys: RangeInclusive<i64>) -> Option<RangeInclusive<i64>> {
        let KeyReader::Number(reader) = self else { return None };
        let column = reader.column.as_ref()?.column()?;
        if reader.transform != Transform::None || column.cardinality() != Cardinality::Single {
            return None;
        }
        Some(match reader.descending {
            true => !*keys.end()..=!*keys.start(),
            false => keys,
        })
    }

    /// The worst key a document of the window can have; `None` when that is not known.
    pub fn worst_in(&self, start: DocId) -> Result<Option<i64>> {
        match self {
            KeyReader::Number(reader) => Ok(reader.range_in(start)?.map(|(_, worst)| worst)),
            _ => Ok(None),
        }
    }

    /// Clears the bits of blocks of which no document's key is better than `bound` (or as good, with `ties`).
    pub fn mask(&self, start: DocId, bound: i64, ties: bool, bits: &mut Bits) -> Result<()> {
        match self {
            KeyReader::Number(reader) => reader.mask(start, bound, ties, bits),
            _ => Ok(()),
        }
    }

    /// Whether the bounds of windows are known.
    pub fn has_bounds(&self) -> bool {
        match self {
            KeyReader::Number(reader) => {
                reader.column.as_ref().is_some_and(|source| source.column().is_some())
            }
            KeyReader::Term(reader) => reader.column.is_some(),
            _ => false,
        }
    }
}

impl NumberReader<'_> {
    fn best_of(&self, min: i64, max: i64) -> i64 {
        ordered(self.transform.apply(if self.descending { max } else { min }), self.descending)
    }

    fn worst_of(&self, min: i64, max: i64) -> i64 {
        ordered(self.transform.apply(if self.descending { min } else { max }), self.descending)
    }

    /// The best and the worst key of the window.
    fn range_in(&self, start: DocId) -> Result<Option<(i64, i64)>> {
        if !matches!(self.mode, Mode::Min | Mode::Max) {
            return Ok(None);
        }
        let Some(source) = &self.column else { return Ok(Some((self.missing, self.missing))) };
        let Some(column) = source.column() else { return Ok(None) };
        let Some((min, max)) = column.window_range((start / WINDOW) as usize)? else {
            return Ok(Some((self.missing, self.missing)));
        };
        let (best, worst) = (self.best_of(min, max), self.worst_of(min, max));
        Ok(Some(match column.cardinality() {
            Cardinality::Single => (best, worst),
            _ => (best.min(self.missing), worst.max(self.missing)),
        }))
    }

    fn mask(&self, start: DocId, bound: i64, ties: bool, bits: &mut Bits) -> Result<()> {
        let Some(column) = self.column.as_ref().and_then(NumberSource::column) else { return Ok(()) };
        if column.cardinality() != Cardinality::Single {
            return Ok(());
        }
        let first = u64::from(start) / 128;
        for block in first..(first + 32).min(column.block_count()) {
            let (min, max) = column.block_range(block)?;
            let best = self.best_of(min, max);
            if best > bound || (best == bound && !ties) {
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
