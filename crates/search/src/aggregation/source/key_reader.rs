//! Reads a field's values as ids of keys: the value itself if it is a number, otherwise the number of the
//! term in a pool.

use std::cmp::Ordering;

use limber_segment::{DocId, Segment, SegmentView};

use super::super::answer::partial::Key;
use super::super::buckets::entries::Values;
use super::super::budget::Budget;
use super::super::terms::{TermFilter, TermPool};
use super::computed_terms::ComputedTerms;
use super::field::Source;
use super::number_reader::NumberReader;
use super::ordinal_reader::OrdinalReader;
use crate::error::Result;

/// Marks an ordinal of this segment that has not been looked up yet.
const UNKNOWN: i64 = -1;
/// Marks an ordinal whose term is excluded by the filter.
const REFUSED: i64 = -2;

#[derive(Debug)]
enum Reader<'s> {
    Numbers(Box<NumberReader<'s>>),
    Terms(Box<Terms<'s>>),
    Computed(Box<Computed<'s>>),
}

#[derive(Debug)]
struct Computed<'s> {
    terms: ComputedTerms<'s>,
    pool: TermPool,
    /// The number of each of the batch's terms in the pool, or [`UNKNOWN`] if it has not been looked up yet.
    known: Vec<i64>,
}

#[derive(Debug)]
struct Terms<'s> {
    reader: OrdinalReader<'s>,
    names: Names<'s>,
}

/// Maps ordinals to the numbers of their terms.
#[derive(Debug)]
struct Names<'s> {
    path: String,
    missing: Option<Vec<u8>>,
    missing_ordinal: Option<u32>,
    segment: Option<&'s Segment>,
    /// The number in the pool of each ordinal of the current segment.
    numbers: Vec<i64>,
    pool: TermPool,
    term: Vec<u8>,
}

impl Names<'_> {
    /// Returns the number of an ordinal's term, or [`REFUSED`].
    #[inline]
    fn id(&mut self, ordinal: u32, filter: Option<&TermFilter>, budget: &Budget) -> Result<i64> {
        match self.numbers[ordinal as usize] {
            UNKNOWN => self.new_id(ordinal, filter, budget),
            known => Ok(known),
        }
    }

    /// Replaces `ids` by the numbers of the terms of `ordinals`. Returns false if one is not known yet or
    /// refused.
    fn known_ids(&self, ordinals: &[u32], ids: &mut Vec<i64>) -> bool {
        // The marks are negative, so the sign of all ids together tells whether there is one.
        let mut all = 0;
        ids.clear();
        ids.extend(ordinals.iter().map(|&ordinal| {
            let id = self.numbers[ordinal as usize];
            all |= id;
            id
        }));
        all >= 0
    }

    fn new_id(&mut self, ordinal: u32, filter: Option<&TermFilter>, budget: &Budget) -> Result<i64> {
        let Names { path, missing, missing_ordinal, segment, numbers, pool, term } = self;
        if Some(ordinal) == *missing_ordinal {
            term.clear();
            term.extend_from_slice(missing.as_deref().unwrap_or_default());
        } else if let Some(segment) = segment
            && let Some(terms) = segment.terms(path)?
        {
            terms.term(u64::from(ordinal), term)?;
        }
        let id = match filter.is_none_or(|filter| filter.allows_term(term)) {
            true => i64::from(pool.number(term, budget)?),
            false => REFUSED,
        };
        numbers[ordinal as usize] = id;
        Ok(id)
    }
}

/// Reads the keys of one field, one segment at a time. Equal keys have equal ids in the whole shard.
#[derive(Debug)]
pub struct KeyReader<'s> {
    source: &'s Source,
    reader: Reader<'s>,
    filter: Option<&'s TermFilter>,
    ids: Vec<i64>,
    /// For each id, the position of its document.
    positions: Vec<u32>,
}

impl<'s> KeyReader<'s> {
    pub(crate) fn new(source: &'s Source, filter: Option<&'s TermFilter>) -> Result<KeyReader<'s>> {
        let path = source.path();
        let reader = if source.is_numeric() {
            Reader::Numbers(Box::new(NumberReader::new(source)?))
        } else if source.computes_terms() {
            let terms = ComputedTerms::new(source)?;
            Reader::Computed(Box::new(Computed { terms, pool: TermPool::default(), known: Vec::new() }))
        } else {
            Reader::Terms(Box::new(Terms {
                reader: OrdinalReader::new(path, source.missing.is_some()),
                names: Names {
                    path: path.to_owned(),
                    missing: source.missing_term()?,
                    missing_ordinal: None,
                    segment: None,
                    numbers: Vec::new(),
                    pool: TermPool::default(),
                    term: Vec::new(),
                },
            }))
        };
        let filter = filter.filter(|filter| !filter.allows_all());
        Ok(KeyReader { source, reader, filter, ids: Vec::new(), positions: Vec::new() })
    }

    /// Starts a segment, whose documents come next. The memory kept for the segment's terms is charged to
    /// `budget`.
    pub fn begin(&mut self, view: &'s SegmentView, budget: &Budget) -> Result<()> {
        let is_mapped = self.source.is_mapped();
        match &mut self.reader {
            Reader::Numbers(reader) => reader.begin(&view.segment, is_mapped),
            Reader::Computed(made) => made.terms.begin(&view.segment),
            Reader::Terms(terms) => {
                let count = terms.reader.begin(&view.segment, is_mapped)?;
                let names = &mut terms.names;
                names.segment = Some(&*view.segment);
                names.missing_ordinal = terms.reader.missing_ordinal();
                budget.spend((count.saturating_sub(names.numbers.capacity()) * 8) as u64)?;
                names.numbers.clear();
                names.numbers.resize(count, UNKNOWN);
                Ok(())
            }
        }
    }

    /// Returns an upper bound of the key indexes in the current segment; 0 if keys have no indexes.
    pub fn key_index_count(&self) -> usize {
        if self.filter.is_some() {
            return 0;
        }
        match &self.reader {
            Reader::Numbers(reader) => reader.key_index_range().map_or(0, |(_, width)| width),
            Reader::Terms(terms) => terms.names.numbers.len(),
            Reader::Computed(_) => 0,
        }
    }

    /// Appends the key index of each document's key. Returns false if a document does not have exactly one
    /// key.
    pub fn load_key_indexes(&mut self, docs: &[DocId], out: &mut Vec<u32>) -> Result<bool> {
        match &mut self.reader {
            Reader::Numbers(reader) => {
                let Some((first, _)) = reader.key_index_range() else { return Ok(false) };
                let values = reader.load(docs)?;
                if values.positions.is_some() {
                    return Ok(false);
                }
                out.extend(values.values.iter().map(|value| value.wrapping_sub(first) as u32));
            }
            Reader::Terms(terms) => {
                let values = terms.reader.load(docs)?;
                if values.positions.is_some() {
                    return Ok(false);
                }
                out.extend_from_slice(values.values);
            }
            Reader::Computed(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the id of the key with this index.
    pub fn id_at(&mut self, key_index: u32, budget: &Budget) -> Result<i64> {
        match &mut self.reader {
            Reader::Numbers(reader) => {
                Ok(reader.key_index_range().map_or(0, |(first, _)| first + i64::from(key_index)))
            }
            Reader::Terms(terms) => terms.names.id(key_index, self.filter, budget),
            Reader::Computed(_) => Ok(UNKNOWN),
        }
    }

    /// Looks up the key of an id among the terms of the current segment: returns its key index, or as the
    /// error the key index of the first greater term. `None` if keys are not sorted terms.
    pub fn key_index_of(&self, id: i64) -> Result<Option<std::result::Result<u32, u32>>> {
        let Reader::Terms(terms) = &self.reader else { return Ok(None) };
        let Names { missing, segment, path, pool, .. } = &terms.names;
        let (Some(segment), None) = (segment, missing) else { return Ok(None) };
        let Some(dictionary) = segment.terms(path)? else { return Ok(None) };
        let key_index = dictionary.ordinal(pool.term(id as u32))?;
        Ok(Some(key_index.map(|key_index| key_index as u32).map_err(|key_index| key_index as u32)))
    }

    /// Returns the ids of `docs`. An id occurs once in a document; the ids of a document are in the order of
    /// the column.
    pub fn load(&mut self, docs: &[DocId], budget: &Budget) -> Result<Values<'_, i64>> {
        self.ids.clear();
        self.positions.clear();
        let (ids, positions, filter) = (&mut self.ids, &mut self.positions, self.filter);
        match &mut self.reader {
            Reader::Numbers(reader) => {
                let values = reader.load(docs)?;
                if values.positions.is_none() && filter.is_none() {
                    ids.extend_from_slice(values.values);
                    return Ok(Values { values: &self.ids, positions: None });
                }
                for (at, &value) in values.values.iter().enumerate() {
                    let position = values.positions.map_or(at as u32, |positions| positions[at]);
                    let is_repeated = positions.last() == Some(&position) && ids.last() == Some(&value);
                    if !is_repeated && filter.is_none_or(|filter| filter.allows_number(value)) {
                        ids.push(value);
                        positions.push(position);
                    }
                }
            }
            Reader::Computed(made) => {
                let Computed { terms, pool, known } = &mut **made;
                let terms = terms.load(docs)?.terms;
                known.clear();
                known.resize(terms.len(), UNKNOWN);
                let mut last = None;
                for (at, &position) in terms.positions.iter().enumerate() {
                    let id = &mut known[terms.first_of(at)];
                    if *id == UNKNOWN {
                        let term = terms.term(at);
                        *id = match filter.is_none_or(|filter| filter.allows_term(term)) {
                            true => i64::from(pool.number(term, budget)?),
                            false => REFUSED,
                        };
                    }
                    // The terms of a document are sorted, so equal ones are adjacent.
                    let own = Some((position, *id));
                    if *id != REFUSED && last != own {
                        ids.push(*id);
                        positions.push(position);
                    }
                    last = own;
                }
                // Every document has exactly one key.
                if ids.len() == docs.len() && positions.is_sorted_by(|left, right| left < right) {
                    return Ok(Values { values: &self.ids, positions: None });
                }
            }
            Reader::Terms(terms) => {
                let Terms { reader, names } = &mut **terms;
                let values = reader.load(docs)?;
                let is_single = values.positions.is_none();
                if is_single && names.known_ids(values.values, ids) && ids.len() == docs.len() {
                    return Ok(Values { values: &self.ids, positions: None });
                }
                ids.clear();
                for (at, &ordinal) in values.values.iter().enumerate() {
                    let id = names.id(ordinal, filter, budget)?;
                    if id != REFUSED {
                        ids.push(id);
                        positions.push(values.positions.map_or(at as u32, |positions| positions[at]));
                    }
                }
                if is_single && ids.len() == docs.len() {
                    return Ok(Values { values: &self.ids, positions: None });
                }
            }
        }
        Ok(Values { values: &self.ids, positions: Some(&self.positions) })
    }

    /// Takes the terms by id, of which there are none if the keys are numbers. No key may be read afterwards.
    pub fn take_terms(&mut self) -> TermPool {
        match &mut self.reader {
            Reader::Computed(made) => std::mem::take(&mut made.pool),
            Reader::Terms(terms) => std::mem::take(&mut terms.names.pool),
            Reader::Numbers(_) => TermPool::default(),
        }
    }

    /// Returns the id of a key that has the id `id` in another reader, whose terms are in `pool`.
    pub fn absorbed_id(&mut self, id: i64, pool: &TermPool, budget: &Budget) -> Result<i64> {
        let own = match &mut self.reader {
            Reader::Numbers(_) => return Ok(id),
            Reader::Terms(terms) => &mut terms.names.pool,
            Reader::Computed(made) => &mut made.pool,
        };
        Ok(i64::from(own.number(pool.term(id as u32), budget)?))
    }

    /// Returns the key of an id that this reader has returned.
    pub fn key(&self, id: i64) -> Key {
        match &self.reader {
            Reader::Numbers(_) if self.source.is_floating() => Key::Double(self.source.decode(id)),
            Reader::Numbers(_) => Key::Long(id),
            Reader::Terms(terms) => Key::Term(terms.names.pool.term(id as u32).into()),
            Reader::Computed(made) => Key::Term(made.pool.term(id as u32).into()),
        }
    }

    /// Compares two keys by their ids.
    pub fn compare(&self, left: i64, right: i64) -> Ordering {
        match &self.reader {
            Reader::Numbers(_) => left.cmp(&right),
            Reader::Terms(terms) => {
                terms.names.pool.term(left as u32).cmp(terms.names.pool.term(right as u32))
            }
            Reader::Computed(made) => made.pool.term(left as u32).cmp(made.pool.term(right as u32)),
        }
    }

    /// Returns the id of a key, which need not have occurred yet.
    pub fn id(&mut self, key: &Key, budget: &Budget) -> Result<Option<i64>> {
        Ok(match (&mut self.reader, key) {
            (Reader::Numbers(_), Key::Long(value)) => Some(*value),
            (Reader::Terms(terms), Key::Term(term)) => {
                Some(i64::from(terms.names.pool.number(term, budget)?))
            }
            (Reader::Computed(made), Key::Term(term)) => Some(i64::from(made.pool.number(term, budget)?)),
            _ => None,
        })
    }
}
