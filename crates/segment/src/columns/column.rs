//! One field's values by document: "what are the values of these documents?" Layout: [`super::format`].

use limber_codec::Reader;

use super::batch::Batch;
use super::doc_set::DocSet;
use super::format::{BLOCK, FOOTER_BYTES, GROUP};
use super::packed::{ColumnValue, Packed, corrupt};
use super::presence::Presence;
use crate::{DocId, Error, Result};

/// How many values documents have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Cardinality {
    /// Every document has exactly one.
    Single = 0,
    /// Every document has at most one.
    Optional = 1,
    /// Some document has several (sorted ascending).
    Multi = 2,
}

/// A column of sortable numbers ([`limber_mapping::Representation::Number`]); duplicate values of a
/// document are kept.
pub type NumberColumn<'a> = Column<'a, i64>;
/// A column of ordinals in the field's own term dictionary; sorted and distinct within a document.
pub type OrdinalColumn<'a> = Column<'a, u32>;

/// Reader of a column; a view, free to copy.
///
/// *Documents* are numbered in the segment, *values* in the column. With [`Cardinality::Single`] both
/// numbers are the same, and blocks of values are blocks of documents.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a, T> {
    values: Packed<'a, T>,
    /// Number of the first value of each document that has values; multi-valued columns only.
    offsets: Option<Packed<'a, i64>>,
    /// Documents with a value; `None` if every document has one.
    docs: Option<DocSet<'a>>,
    cardinality: Cardinality,
    sorted: bool,
    doc_count: u32,
    doc_count_with_value: u32,
    min: i64,
    max: i64,
}

impl<'a, T: ColumnValue> Column<'a, T> {
    /// Reads the footer of a column section and nothing else.
    pub fn open(bytes: &'a [u8]) -> Result<Column<'a, T>> {
        let footer_at = bytes.len().checked_sub(FOOTER_BYTES).ok_or_else(|| corrupt(0, "a footer"))?;
        let (rest, footer) = bytes.split_at(footer_at);
        let at = Error::in_section("column", footer_at as u64);
        let mut reader = Reader::new(footer);
        let mut next = || reader.u64().map_err(&at);
        let (value_count, values_body, offsets_len, offsets_body) = (next()?, next()?, next()?, next()?);
        let (presence_len, min, max) = (next()?, next()? as i64, next()? as i64);
        let (doc_count, doc_count_with_value) = (reader.u32().map_err(&at)?, reader.u32().map_err(&at)?);
        let cardinality = match reader.u8().map_err(&at)? {
            0 => Cardinality::Single,
            1 => Cardinality::Optional,
            2 => Cardinality::Multi,
            _ => return Err(corrupt(footer_at as u64 + 64, "a cardinality")),
        };
        let sorted = match reader.u8().map_err(&at)? {
            0 => false,
            1 => true,
            _ => return Err(corrupt(footer_at as u64 + 65, "known flags")),
        };
        let unfit = || corrupt(footer_at as u64, "lengths that fit the column");
        let cut = |bytes: &'a [u8], len: u64| {
            let at = (bytes.len() as u64).checked_sub(len).ok_or_else(unfit)?;
            Ok::<_, Error>(bytes.split_at(at as usize))
        };
        let (rest, presence) = cut(rest, presence_len)?;
        let (values, offsets) = cut(rest, offsets_len)?;
        let docs = match presence_len {
            0 => None,
            _ => Some(DocSet::new(presence, doc_count)?),
        };
        let offsets = match cardinality {
            Cardinality::Multi => {
                let count = u64::from(doc_count_with_value) + 1;
                Some(Packed::new(offsets, offsets_body, count).ok_or_else(unfit)?)
            }
            _ => None,
        };
        let with_value = u64::from(doc_count_with_value);
        let counts_fit = match cardinality {
            Cardinality::Single => docs.is_none() && value_count == with_value,
            Cardinality::Optional => docs.is_some() && value_count == with_value,
            Cardinality::Multi => value_count > with_value,
        };
        if !counts_fit
            || doc_count_with_value > doc_count
            || (docs.is_none() && doc_count_with_value != doc_count)
        {
            return Err(unfit());
        }
        let values = Packed::new(values, values_body, value_count).ok_or_else(unfit)?;
        Ok(Column { values, offsets, docs, cardinality, sorted, doc_count, doc_count_with_value, min, max })
    }

    /// Returns how many values documents have.
    pub fn cardinality(&self) -> Cardinality {
        self.cardinality
    }

    /// Returns the number of documents of the segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Documents that have a value.
    pub fn doc_count_with_value(&self) -> u32 {
        self.doc_count_with_value
    }

    /// Returns the number of values of all documents, deleted ones included.
    pub fn value_count(&self) -> u64 {
        self.values.count()
    }

    /// Returns the smallest value; `None` if there are no values.
    pub fn min(&self) -> Option<T> {
        (self.values.count() > 0).then_some(T::from_i64(self.min))
    }

    /// Returns the largest value; `None` if there are no values.
    pub fn max(&self) -> Option<T> {
        (self.values.count() > 0).then_some(T::from_i64(self.max))
    }

    /// Whether values never descend in document order (a log's timestamps).
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// Returns which documents have a value.
    pub fn presence(&self) -> Presence<'a> {
        match self.docs {
            Some(set) => Presence::Set(set),
            None => Presence::All(self.doc_count),
        }
    }

    /// Returns the number of blocks of 128 *values*.
    pub fn block_count(&self) -> u64 {
        self.values.count().div_ceil(BLOCK as u64)
    }

    /// Decodes the values `[128 * block, 128 * block + n)` and returns `n`; the rest of `out` is unspecified.
    #[inline]
    pub fn read_block(&self, block: u64, out: &mut [T; BLOCK]) -> Result<usize> {
        self.values.read_block(block, out)
    }

    /// Decodes the values `[4096 * group, ...)` and returns their number; cheaper than 32 calls of
    /// [`Column::read_block`].
    pub fn read_group(&self, group: usize, out: &mut [T; GROUP]) -> Result<usize> {
        let view = self.values.group(group)?;
        let (blocks, _) = out.as_chunks_mut::<BLOCK>();
        for (block, out) in blocks.iter_mut().enumerate().take(view.block_count()) {
            view.read_block(block, out)?;
        }
        Ok((self.values.count() - (group * GROUP) as u64).min(GROUP as u64) as usize)
    }

    /// Returns the smallest and largest value of a block of 128 *values*.
    #[inline]
    pub fn block_range(&self, block: u64) -> Result<(T, T)> {
        self.values.block_range(block)
    }

    /// Returns the smallest and largest value of a group of 4,096 *values*.
    #[inline]
    pub fn group_range(&self, group: usize) -> Result<(T, T)> {
        let (min, max) = self.values.group_range(group)?;
        Ok((T::from_i64(min), T::from_i64(max)))
    }

    /// Returns bounds of all values of the *documents* `[4096 * window, 4096 * (window + 1))`; `None` if
    /// none of them has a value. Exact with [`Cardinality::Single`], otherwise possibly wider.
    pub fn window_range(&self, window: usize) -> Result<Option<(T, T)>> {
        let first_doc = (window as u64).saturating_mul(GROUP as u64).min(u64::from(self.doc_count)) as u32;
        let end_doc = (u64::from(first_doc) + GROUP as u64).min(u64::from(self.doc_count)) as u32;
        let (start, end) = match self.docs {
            Some(set) => (set.before_window(window)?, set.before_window(window + 1)?),
            None => (first_doc, end_doc),
        };
        if start >= end {
            return Ok(None);
        }
        let (start, end) = match &self.offsets {
            Some(offsets) => (offsets.get(u64::from(start))? as u64, offsets.get(u64::from(end))? as u64),
            None => (u64::from(start), u64::from(end)),
        };
        if start >= end {
            return Err(corrupt(start, "offsets that ascend"));
        }
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        for group in start / GROUP as u64..=(end - 1) / GROUP as u64 {
            let (low, high) = self.values.group_range(group as usize)?;
            (min, max) = (min.min(low), max.max(high));
        }
        Ok(Some((T::from_i64(min), T::from_i64(max))))
    }

    /// Returns the range of the numbers of a document's values.
    #[inline]
    fn value_range(&self, doc: DocId) -> Result<Option<(u64, u64)>> {
        let rank = match &self.docs {
            Some(set) => match set.rank(doc)? {
                Some(rank) => rank,
                None => return Ok(None),
            },
            None if doc < self.doc_count => doc,
            None => return Ok(None),
        };
        self.range_of_rank(rank).map(Some)
    }

    #[inline]
    fn range_of_rank(&self, rank: u32) -> Result<(u64, u64)> {
        let rank = u64::from(rank);
        match &self.offsets {
            Some(offsets) => {
                let (start, end) = (offsets.get(rank)? as u64, offsets.get(rank + 1)? as u64);
                if start >= end || end > self.values.count() {
                    return Err(corrupt(rank, "offsets that ascend"));
                }
                Ok((start, end))
            }
            None => Ok((rank, rank + 1)),
        }
    }

    /// Returns the first (smallest) value of a document; `None` if it has none.
    #[inline]
    pub fn get(&self, doc: DocId) -> Result<Option<T>> {
        match self.value_range(doc)? {
            Some((start, _)) => self.values.get(start).map(Some),
            None => Ok(None),
        }
    }

    /// Replaces `out` by all values of a document, ascending.
    pub fn values(&self, doc: DocId, out: &mut Vec<T>) -> Result<()> {
        match self.value_range(doc)? {
            Some((start, end)) => {
                out.resize((end - start) as usize, T::default());
                self.values.read_range(start, out)
            }
            None => {
                out.clear();
                Ok(())
            }
        }
    }

    /// Reads all values of `docs`, which ascend strictly. Fast for runs of documents and for many of one
    /// block.
    pub fn gather(&self, docs: &[DocId], batch: &mut Batch<T>) -> Result<()> {
        batch.positions.clear();
        batch.ranks.clear();
        batch.aligned = false;
        match (&self.docs, &self.offsets) {
            (None, None) => {
                batch.aligned = true;
                batch.values.resize(docs.len(), T::default());
                self.values.gather(docs, &mut batch.values, &mut batch.decoded)
            }
            (Some(set), None) => {
                set.ranks(docs, &mut batch.positions, &mut batch.ranks)?;
                if batch.positions.len() == docs.len() {
                    batch.positions.clear();
                    batch.aligned = true;
                }
                batch.values.resize(batch.ranks.len(), T::default());
                self.values.gather(&batch.ranks, &mut batch.values, &mut batch.decoded)
            }
            (None, Some(offsets)) => {
                batch.ranks.extend_from_slice(docs);
                batch.present.clear();
                batch.present.extend(0..docs.len() as u32);
                self.gather_multi(offsets, batch)
            }
            (Some(set), Some(offsets)) => {
                batch.present.clear();
                set.ranks(docs, &mut batch.present, &mut batch.ranks)?;
                self.gather_multi(offsets, batch)
            }
        }
    }

    /// Reads the values of `batch.ranks`, which belong to the documents at `batch.present`.
    fn gather_multi(&self, offsets: &Packed<'a, i64>, batch: &mut Batch<T>) -> Result<()> {
        batch.starts.resize(batch.ranks.len(), 0);
        batch.ends.resize(batch.ranks.len(), 0);
        let mut decoded = Vec::new();
        offsets.gather(&batch.ranks, &mut batch.starts, &mut decoded)?;
        batch.ranks.iter_mut().for_each(|rank| *rank += 1);
        offsets.gather(&batch.ranks, &mut batch.ends, &mut decoded)?;
        batch.values.clear();
        // Adjacent ranks have adjacent values, so each run of them is read at once.
        let (mut run_start, mut run_end) = (0u64, 0u64);
        for ((position, start), end) in batch.present.iter().zip(&batch.starts).zip(&batch.ends) {
            let (start, end) = (*start as u64, *end as u64);
            if start < run_end || start >= end || end > self.values.count() {
                return Err(corrupt(start, "offsets that ascend"));
            }
            if start != run_end {
                self.append_range(run_start, run_end, &mut batch.values)?;
                run_start = start;
            }
            run_end = end;
            batch.positions.extend(std::iter::repeat_n(*position, (end - start) as usize));
        }
        self.append_range(run_start, run_end, &mut batch.values)
    }

    fn append_range(&self, start: u64, end: u64, out: &mut Vec<T>) -> Result<()> {
        let at = out.len();
        out.resize(at + (end - start) as usize, T::default());
        self.values.read_range(start, &mut out[at..])
    }

    pub(super) fn parts(&self) -> (&Packed<'a, T>, Option<&Packed<'a, i64>>, Option<&DocSet<'a>>) {
        (&self.values, self.offsets.as_ref(), self.docs.as_ref())
    }
}
