//! Sort keys of one segment, each an `i64` that sorts ascending: numbers and document numbers themselves
//! (or inverted), and ordinals of terms.

use std::ops::RangeInclusive;

use limber_mapping::RequestError;
use limber_mapping::number::sortable_from_f64;
use limber_segment::columns::{Batch, Cardinality};
use limber_segment::{DocId, Segment};
use limber_work as work;

use super::computed_term_reader::ComputedTermReader;
use super::distance::DistanceReader;
use super::key::ordered;
use super::nested::NestedReader;
use super::number_reader::NumberReader;
use super::script_reader::ScriptReader;
use super::sort::{BoundSort, KeyKind, MissingTerms, Transform};
use super::term_reader::TermReader;
use crate::error::Result;
use crate::matcher::Bits;
use crate::script::NumberSource;
use crate::values::sort_key::SortKey;

/// Reads one key per document, an `i64` that sorts ascending.
pub(crate) enum KeyReader<'a> {
    Score { descending: bool },
    Doc { descending: bool, base: u64 },
    Number(Box<NumberReader<'a>>),
    Term(Box<TermReader<'a>>),
    Distance(Box<DistanceReader<'a>>),
    Script(Box<ScriptReader<'a>>),
    Nested(Box<NestedReader<'a>>),
    Computed(Box<ComputedTermReader<'a>>),
}

impl<'a> KeyReader<'a> {
    /// Opens the keys of `sort` on a segment. `base` is the number of its first document in the shard.
    pub fn open(sort: &BoundSort, segment: &'a Segment, base: u64) -> Result<KeyReader<'a>> {
        match &sort.nested {
            Some(nested) => Ok(KeyReader::Nested(Box::new(NestedReader::open(sort, nested, segment)?))),
            None => KeyReader::open_plain(sort, segment, base),
        }
    }

    /// Opens the keys as [`KeyReader::open`] does, on the segment whose documents themselves have the
    /// values.
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
            KeyKind::Term if sort.computes_terms() => KeyReader::Computed(Box::new(ComputedTermReader {
                runtime: sort.runtime.clone(),
                script: sort.script.clone(),
                segment,
                mode: sort.mode,
                missing: match &sort.missing_terms {
                    MissingTerms::Term(term) => Some(term.clone()),
                    _ => None,
                },
                terms: Vec::new(),
                of_docs: Vec::new(),
            })),
            KeyKind::Term => KeyReader::Term(Box::new(TermReader::open(sort, segment)?)),
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

    /// Replaces `out` by one key for each of `docs`, which ascend; `scores` are their scores.
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
            KeyReader::Number(reader) => reader.read(docs, out)?,
            KeyReader::Distance(reader) => reader.read(docs, None, docs.len(), out)?,
            KeyReader::Computed(reader) => {
                reader.read(docs, scores)?;
                // The key is the index among the strings that were read last.
                out.extend(0..docs.len() as i64);
            }
            KeyReader::Term(reader) => reader.read(docs, out)?,
        }
        Ok(())
    }

    /// Computes one key for each of `count` owners, from the values of all its documents: `docs[i]` belongs
    /// to `owners[i]`, both ascending.
    pub fn read_together(
        &mut self,
        docs: &[DocId],
        owners: &[u32],
        count: usize,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        out.clear();
        match self {
            KeyReader::Number(reader) => reader.read_together(docs, owners, count, out)?,
            KeyReader::Term(reader) => reader.read_together(docs, owners, count, out)?,
            KeyReader::Script(reader) => reader.read_together(docs, owners, count, out)?,
            KeyReader::Distance(reader) => reader.read(docs, Some(owners), count, out)?,
            KeyReader::Computed(reader) => {
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

    /// Returns the positions of those of `docs` that have a value, ascending. `None` if that is not known of
    /// documents apart from their keys.
    pub fn valued(&mut self, docs: &[DocId]) -> Result<Option<Vec<usize>>> {
        let mut positions: Vec<usize> = match self {
            KeyReader::Number(reader) => reader.valued(docs)?,
            KeyReader::Term(reader) => reader.valued(docs)?,
            KeyReader::Distance(reader) => reader.valued(docs)?,
            KeyReader::Script(_) => (0..docs.len()).collect(),
            KeyReader::Computed(reader) => reader.valued(docs)?,
            KeyReader::Score { .. } | KeyReader::Doc { .. } | KeyReader::Nested(_) => return Ok(None),
        };
        positions.dedup();
        Ok(Some(positions))
    }

    /// Returns the position of a shard-wide key in the order of this segment's keys.
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

    /// Converts a key of this segment to one that compares across segments and shards.
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
            KeyReader::Computed(reader) => SortKey::Term(reader.key(key as usize).cloned()),
            KeyReader::Term(reader) => {
                if key == i64::MAX || key == i64::MIN {
                    return Ok(SortKey::Term(None));
                }
                let position = ordered(key, reader.descending);
                match reader.dictionary {
                    Some(dictionary) if position % 2 == 1 => {
                        let mut term = Vec::new();
                        dictionary.term(position as u64 / 2, &mut term)?;
                        // A term may be 32 KB long, and every hit has a copy.
                        work::claim(term.len() as u64)?;
                        SortKey::Term(Some(term.into()))
                    }
                    _ => SortKey::Term(reader.missing_term.clone()),
                }
            }
        })
    }

    /// Returns the best key that a document of the window can have; `None` if that is not known.
    pub fn best_in(&self, start: DocId) -> Result<Option<i64>> {
        match self {
            KeyReader::Doc { descending: false, base } => Ok(Some(*base as i64 + i64::from(start))),
            KeyReader::Number(reader) => Ok(reader.range_in(start)?.map(|(best, _)| best)),
            KeyReader::Term(reader) => reader.best_in(start),
            _ => Ok(None),
        }
    }

    /// Returns the stored numbers whose keys are in this range, if keys are stored numbers and every
    /// document has exactly one.
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

    /// Returns the worst key that a document of the window can have; `None` if that is not known.
    pub fn worst_in(&self, start: DocId) -> Result<Option<i64>> {
        match self {
            KeyReader::Number(reader) => Ok(reader.range_in(start)?.map(|(_, worst)| worst)),
            _ => Ok(None),
        }
    }

    /// Clears the bits of blocks in which no document has a key better than `bound` (or equal to it, if
    /// `ties`).
    pub fn mask(&self, start: DocId, bound: i64, ties: bool, bits: &mut Bits) -> Result<()> {
        match self {
            KeyReader::Number(reader) => reader.mask(start, bound, ties, bits),
            _ => Ok(()),
        }
    }

    /// Whether bounds of the keys in each window are known.
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
