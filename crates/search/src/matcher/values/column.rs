//! Matches documents by the values of a column: numbers in a range or a list, terms by their ordinals.

use limber_segment::columns::{Batch, Cardinality, Column, ColumnValue};
use limber_segment::{DocId, NO_MORE_DOCS};

use crate::error::Result;
use crate::matcher::{Bits, Matcher, WINDOW};

/// The wanted values.
pub(in crate::matcher) enum Wanted<T> {
    /// Both ends are included.
    Range(T, T),
    /// Sorted and distinct.
    Any(Vec<T>),
}

impl<T: ColumnValue> Wanted<T> {
    fn ends(&self) -> Option<(T, T)> {
        match self {
            Wanted::Range(min, max) => Some((*min, *max)),
            Wanted::Any(values) => Some((*values.first()?, *values.last()?)),
        }
    }

    #[inline]
    fn holds(&self, value: T) -> bool {
        match self {
            Wanted::Range(min, max) => *min <= value && value <= *max,
            Wanted::Any(values) => values.binary_search(&value).is_ok(),
        }
    }
}

pub(in crate::matcher) struct ColumnDocs<'a, T> {
    column: Column<'a, T>,
    wanted: Wanted<T>,
    cost: u64,
    docs: Vec<DocId>,
    batch: Batch<T>,
}

impl<'a, T: ColumnValue> ColumnDocs<'a, T> {
    pub(crate) fn new(column: Column<'a, T>, wanted: Wanted<T>) -> ColumnDocs<'a, T> {
        let cost = u64::from(column.doc_count_with_value());
        ColumnDocs { column, wanted, cost, docs: Vec::new(), batch: Batch::default() }
    }

    /// Replaces the estimated cost by a better one from an index.
    pub fn with_cost(mut self, cost: u64) -> ColumnDocs<'a, T> {
        self.cost = cost;
        self
    }

    /// Whether a window can contain wanted values, and whether it certainly contains no other values.
    fn look(&self, start: DocId) -> Result<(bool, bool)> {
        let Some((low, high)) = self.wanted.ends() else { return Ok((false, false)) };
        let Some((min, max)) = self.column.window_range((start / WINDOW) as usize)? else {
            return Ok((false, false));
        };
        let all = matches!(self.wanted, Wanted::Range(..)) && low <= min && max <= high;
        Ok((min <= high && low <= max, all))
    }

    fn fill_single(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut values = [T::default(); 128];
        let first = u64::from(start) / 128;
        let ends = self.wanted.ends();
        for block in first..(first + 32).min(self.column.block_count()) {
            let (min, max) = self.column.block_range(block)?;
            if ends.is_none_or(|(low, high)| max < low || high < min) {
                continue;
            }
            let count = self.column.read_block(block, &mut values)?;
            let word = (block - first) as usize * 2;
            for (half, chunk) in values[..count].chunks(64).enumerate() {
                let mut mask = 0u64;
                match &self.wanted {
                    Wanted::Range(low, high) => {
                        for (bit, value) in chunk.iter().enumerate() {
                            mask |= u64::from((*low <= *value) & (*value <= *high)) << bit;
                        }
                    }
                    any => {
                        for (bit, value) in chunk.iter().enumerate() {
                            mask |= u64::from(any.holds(*value)) << bit;
                        }
                    }
                }
                bits.0[word + half] |= mask;
            }
        }
        Ok(())
    }

    /// Sets the bits of those of `self.docs` that have a wanted value.
    fn gather(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.column.gather(&self.docs, &mut self.batch)?;
        for (position, value) in self.batch.iter() {
            if self.wanted.holds(value) {
                bits.set(self.docs[position] - start);
            }
        }
        Ok(())
    }
}

impl<T: ColumnValue> Matcher for ColumnDocs<'_, T> {
    fn cost(&self) -> u64 {
        self.cost
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut target = target;
        while target < self.column.doc_count() {
            if self.look(target)?.0 {
                return Ok(target);
            }
            target = (target / WINDOW + 1) * WINDOW;
        }
        Ok(NO_MORE_DOCS)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match self.look(start)? {
            (false, _) => return Ok(()),
            (true, true) => {
                let mut window = Bits::default();
                self.column.presence().fill_window((start / WINDOW) as usize, &mut window.0)?;
                bits.or(&window);
                return Ok(());
            }
            (true, false) => {}
        }
        if self.column.cardinality() == Cardinality::Single {
            return self.fill_single(start, bits);
        }
        let mut window = Bits::default();
        self.column.presence().fill_window((start / WINDOW) as usize, &mut window.0)?;
        self.docs.clear();
        window.append_to(start, &mut self.docs);
        self.gather(start, bits)
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let (some, all) = self.look(start)?;
        if !some {
            bits.clear();
            return Ok(());
        }
        if all && self.column.cardinality() == Cardinality::Single {
            return Ok(());
        }
        let mut matches = Bits::default();
        if all || bits.count() > WINDOW / 4 {
            self.fill(start, &mut matches)?;
        } else {
            self.docs.clear();
            bits.append_to(start, &mut self.docs);
            self.gather(start, &mut matches)?;
        }
        bits.and(&matches);
        Ok(())
    }
}
