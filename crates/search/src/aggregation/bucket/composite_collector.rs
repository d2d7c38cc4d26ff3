//! Collects the combinations of several sources' values for one page of `composite`. Source: Elasticsearch's
//! `CompositeAggregator`.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use limber_segment::SegmentView;

use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::buckets::combinations::Combinations;
use super::super::buckets::combined_keys::CombinedKeys;
use super::super::buckets::entries::{Emitted, Entries, IdColumn, Pace};
use super::super::buckets::known_buckets::REFUSED;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::findings::Findings;
use super::composite_source::SourceReader;
use crate::error::Result;

/// How many combinations beyond the page are kept before those that cannot be on it are dropped.
const SPARE_COUNT: usize = 1 << 15;

/// The findings of one part of a shard's documents.
#[derive(Debug)]
pub struct CombinedFindings {
    /// The combinations that can be on the page: their numbers, cells and keys.
    numbers: Vec<u32>,
    cells: Vec<i64>,
    keys: Vec<Box<[Key]>>,
    /// Document counts by number of the combination.
    counts: Vec<u64>,
    below: Vec<Findings>,
}

/// The range of key indexes of the first source whose combinations can be on the page.
#[derive(Debug)]
struct Page {
    first: u32,
    last: u32,
}

impl Default for Page {
    fn default() -> Page {
        Page { first: 0, last: u32::MAX }
    }
}

impl Page {
    /// Makes the page between two keys. Each is given by its key index, or by that of the first key after it.
    fn between(least: FoundKeyIndex, most: FoundKeyIndex) -> Page {
        Page {
            first: least.map_or(0, |(Ok(key_index) | Err(key_index))| key_index),
            last: most.map_or(u32::MAX, |most| most.unwrap_or_else(|key_index| key_index.saturating_sub(1))),
        }
    }

    fn holds(&self, key_index: u32) -> bool {
        (self.first..=self.last).contains(&key_index)
    }
}

type FoundKeyIndex = Option<std::result::Result<u32, u32>>;

/// 2^`RECENT_BITS` combinations are cached.
const RECENT_BITS: u32 = 10;

/// Collects the combinations of one page.
#[derive(Debug)]
pub struct CompositeCollector<'s> {
    size: usize,
    readers: Vec<SourceReader<'s>>,
    columns: Vec<IdColumn>,
    /// Number of cells of a combination: a bit set of the sources without a value, then one id for each
    /// source.
    width: usize,
    after: Option<Vec<i64>>,
    /// The last combination that can be on the page; `None` until there are enough.
    worst: Option<Vec<i64>>,
    /// The cells of the combinations, by number.
    cells: Vec<i64>,
    counts: Vec<u64>,
    /// The numbers of the combinations that can be on the page.
    table: HashTable<u32>,
    kept_count: usize,
    /// See [`CompositeCollector::aside`].
    aside: Option<u32>,
    combined: CombinedKeys,
    /// Key indexes of the current batch, by source.
    key_indexes: Vec<Vec<u32>>,
    /// Outside these key indexes of the first source, no combination can be on the page.
    page: Page,
    /// The numbers of combinations without missing values that occurred recently, by a hash of their ids.
    recent: Vec<Option<u32>>,
    hasher: FixedState,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl<'s> CompositeCollector<'s> {
    pub(crate) fn new(
        size: usize,
        readers: Vec<SourceReader<'s>>,
        after: Option<Vec<i64>>,
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> CompositeCollector<'s> {
        let width = readers.len() + 1;
        CompositeCollector {
            size,
            columns: readers.iter().map(|_| IdColumn::default()).collect(),
            width,
            readers,
            after,
            worst: None,
            cells: Vec::new(),
            counts: Vec::new(),
            table: HashTable::new(),
            kept_count: 0,
            aside: None,
            combined: CombinedKeys::default(),
            key_indexes: vec![Vec::new(); width - 1],
            page: Page::default(),
            recent: vec![None; 1 << RECENT_BITS],
            hasher: FixedState::default(),
            subs,
            emitted: Emitted::default(),
            budget,
        }
    }

    fn compare(&self, left: &[i64], right: &[i64]) -> Ordering {
        for (key_index, reader) in self.readers.iter().enumerate() {
            let is_missing = |cells: &[i64]| cells[0] >> key_index & 1 == 1;
            let (left_id, right_id) = (left[key_index + 1], right[key_index + 1]);
            let ordering = reader
                .request
                .compare(is_missing(left), is_missing(right), || reader.compare(left_id, right_id));
            if ordering.is_ne() {
                return ordering;
            }
        }
        Ordering::Equal
    }

    fn combination(&self, number: u32) -> &[i64] {
        &self.cells[number as usize * self.width..(number as usize + 1) * self.width]
    }

    /// Returns the number of a combination, or `None` if it is not on the page.
    fn number(&mut self, wanted: &[i64]) -> Result<Option<u32>> {
        let hash = self.hasher.hash_one(wanted);
        let (cells, width) = (&self.cells, self.width);
        // For a few cells a loop is faster than a call of `memcmp`.
        let is_it = |number: &u32| {
            let found = &cells[*number as usize * width..(*number as usize + 1) * width];
            found.iter().zip(wanted).all(|(found, wanted)| found == wanted)
        };
        if let Some(&number) = self.table.find(hash, is_it) {
            return Ok(Some(number));
        }
        if self.after.as_ref().is_some_and(|after| self.compare(wanted, after).is_le())
            || self.worst.as_ref().is_some_and(|worst| self.compare(wanted, worst).is_gt())
        {
            return Ok(None);
        }
        self.budget.spend(width as u64 * 8 + 24)?;
        let number = self.counts.len() as u32;
        self.cells.extend_from_slice(wanted);
        self.counts.push(0);
        let (cells, hasher) = (&self.cells, &self.hasher);
        self.table.insert_unique(hash, number, |&number| {
            hasher.hash_one(&cells[number as usize * width..(number as usize + 1) * width])
        });
        self.kept_count += 1;
        Ok(Some(number))
    }

    /// Collects documents that have exactly one value in every source, if all sources have key indexes.
    /// Returns false otherwise.
    fn collect_key_indexes(&mut self, entries: &Entries<'_>) -> Result<bool> {
        for (reader, key_indexes) in self.readers.iter_mut().zip(&mut self.key_indexes) {
            if reader.key_index_count() == 0 || !reader.load_key_indexes(entries.docs, key_indexes)? {
                return Ok(false);
            }
        }
        let (mut combined, key_indexes) =
            (std::mem::take(&mut self.combined), std::mem::take(&mut self.key_indexes));
        let mut combination = vec![0i64; self.width];
        let budget = self.budget;
        let numbers = combined.look_up(&key_indexes, entries, budget, |_, key_indexes| {
            if !self.page.holds(key_indexes[0]) {
                return Ok(None);
            }
            for ((cell, reader), &key_index) in
                combination[1..].iter_mut().zip(&mut self.readers).zip(key_indexes)
            {
                *cell = reader.id_at(key_index, budget)?;
            }
            self.number(&combination)
        })?;
        let is_taken = numbers.is_some();
        if let Some(numbers) = numbers {
            let fill = |out: &mut Vec<u32>| {
                out.extend_from_slice(numbers);
                Ok(numbers.iter().fold(false, |any, number| any | (*number == REFUSED)))
            };
            self.emitted.fill(None, fill, REFUSED)?;
            let counts = &mut self.counts;
            self.emitted.buckets().iter().for_each(|&number| counts[number as usize] += 1);
        }
        (self.combined, self.key_indexes) = (combined, key_indexes);
        if is_taken {
            self.collect_subs(entries)?;
        }
        Ok(is_taken)
    }

    /// Forgets what is known about key indexes: either the segment has changed, or combinations have left the
    /// page.
    fn begin_key_indexes(&mut self) -> Result<()> {
        self.combined.begin(self.readers.iter().map(SourceReader::key_index_count));
        self.page = Page::default();
        let Some(first) = self.readers.first().filter(|first| first.key_index_count() > 0) else {
            return Ok(());
        };
        let key_index = |combination: &Option<Vec<i64>>| match combination {
            Some(cells) if cells[0] & 1 == 0 => first.key_index_of(cells[1]),
            _ => Ok(None),
        };
        let (after, worst) = (key_index(&self.after)?, key_index(&self.worst)?);
        self.page = match first.request.descending {
            false => Page::between(after, worst),
            true => Page::between(worst, after),
        };
        Ok(())
    }

    /// Collects documents that have exactly one value in every source.
    fn collect_single(&mut self, entries: &Entries<'_>) -> Result<()> {
        let columns = std::mem::take(&mut self.columns);
        let mut combination = vec![0i64; self.width];
        for entry in 0..entries.len() {
            let is_here = |ids: &[i64]| columns.iter().zip(ids).all(|(column, id)| column.ids[entry] == *id);
            let mixed = columns.iter().fold(0u64, |mixed, column| {
                (mixed ^ column.ids[entry] as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            });
            let recent = (mixed >> (64 - RECENT_BITS)) as usize;
            // Most documents repeat a combination that occurred recently.
            let known = self.recent[recent].filter(|number| is_here(&self.combination(*number)[1..]));
            let number = match known {
                Some(number) => Some(number),
                None => {
                    for (cell, column) in combination[1..].iter_mut().zip(&columns) {
                        *cell = column.ids[entry];
                    }
                    let number = self.number(&combination)?;
                    self.recent[recent] = number.or(self.recent[recent]);
                    number
                }
            };
            if let Some(number) = number {
                self.counts[number as usize] += 1;
                self.emitted.push(entry, number)?;
            }
        }
        self.columns = columns;
        self.collect_subs(entries)
    }

    /// Collects documents that may have several values, or none, of a source, and counts every combination.
    fn collect_combinations(&mut self, entries: &Entries<'_>) -> Result<()> {
        let mut combination = vec![0i64; self.width];
        let mut combinations = Combinations::new(self.columns.len());
        let mut pace = Pace::default();
        // Neighbours often repeat a combination.
        let (mut last, mut last_number) = (Vec::new(), None);
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            let missing = |source: usize| usize::from(self.readers[source].request.missing_bucket);
            let ids = &mut combination[1..];
            let count = combinations.begin(&self.columns, position, ids, missing, "composite")?;
            combination[0] = self.missing_sources(position);
            pace.step(count)?;
            for _ in 0..count {
                if last != combination {
                    last.clone_from(&combination);
                    last_number = self.number(&combination)?;
                }
                if let Some(number) = last_number {
                    self.counts[number as usize] += 1;
                    self.emitted.push(entry, number)?;
                }
                combinations.advance(&self.columns, position, &mut combination[1..]);
            }
        }
        self.collect_subs(entries)
    }

    /// Returns the bit set of the sources in which the document at `position` has no value.
    fn missing_sources(&self, position: usize) -> i64 {
        let missing = self.columns.iter().enumerate().filter(|(_, column)| column.range(position).is_empty());
        missing.fold(0, |bits, (source, _)| bits | 1 << source)
    }

    fn collect_subs(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.subs.is_empty() || self.counts.is_empty() {
            return Ok(());
        }
        self.subs.collect(&self.emitted.batch(entries, self.counts.len())?)
    }

    /// Returns the numbers of the page's combinations so far, in order.
    fn best(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.table.iter().copied().collect();
        let compare =
            |left: &u32, right: &u32| self.compare(self.combination(*left), self.combination(*right));
        if numbers.len() > self.size {
            numbers.select_nth_unstable_by(self.size - 1, compare);
            numbers.truncate(self.size);
        }
        numbers.sort_unstable_by(compare);
        numbers
    }

    fn keys_of(&self, number: u32) -> Box<[Key]> {
        let combination = self.combination(number);
        let key = |(key_index, reader): (usize, &SourceReader<'_>)| match combination[0] >> key_index & 1 {
            1 => Key::Missing,
            _ => reader.key(combination[key_index + 1]),
        };
        self.readers.iter().enumerate().map(key).collect()
    }

    /// Returns a number that belongs to no combination, for the findings of combinations that are not on the
    /// page.
    fn aside(&mut self) -> Result<u32> {
        if let Some(aside) = self.aside {
            return Ok(aside);
        }
        self.budget.spend(self.width as u64 * 8 + 24)?;
        let number = self.counts.len() as u32;
        self.cells.extend(std::iter::repeat_n(0, self.width));
        self.counts.push(0);
        self.aside = Some(number);
        Ok(number)
    }

    /// Drops the combinations that can no longer be on the page.
    fn drop_rest(&mut self) -> Result<()> {
        if self.kept_count < 2 * self.size + SPARE_COUNT {
            return Ok(());
        }
        let best = self.best();
        self.worst = best.last().map(|&last| self.combination(last).to_vec());
        let mut table = HashTable::with_capacity(best.len() * 2);
        let (cells, width, hasher) = (&self.cells, self.width, &self.hasher);
        let hash =
            |number: u32| hasher.hash_one(&cells[number as usize * width..(number as usize + 1) * width]);
        for &number in &best {
            table.insert_unique(hash(number), number, |&number| hash(number));
        }
        self.kept_count = best.len();
        self.table = table;
        self.recent.fill(None);
        self.begin_key_indexes()
    }
}

impl<'s> Collector<'s> for CompositeCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.readers.iter_mut().try_for_each(|reader| reader.begin(view, self.budget))?;
        self.begin_key_indexes()?;
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.only_bucket() == Some(0) && self.collect_key_indexes(entries)? {
            return self.drop_rest();
        }
        let mut is_single = entries.positions.is_none();
        for (reader, column) in self.readers.iter_mut().zip(&mut self.columns) {
            let values = reader.load(entries.docs, self.budget)?;
            is_single &= values.positions.is_none();
            column.fill(&values, entries.docs.len());
        }
        self.emitted.clear();
        match is_single {
            true => self.collect_single(entries)?,
            false => self.collect_combinations(entries)?,
        }

        self.drop_rest()
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let best = self.best();
        let keys = best.iter().map(|&number| self.keys_of(number)).collect();
        let cells = best.iter().flat_map(|&number| self.combination(number)).copied().collect();
        let (counts, below) = (std::mem::take(&mut self.counts), self.subs.take_findings()?);
        Ok(Findings::Combined(Box::new(CombinedFindings { numbers: best, cells, keys, counts, below })))
    }

    fn absorb(&mut self, findings: Findings, _: &[u32]) -> Result<()> {
        let Findings::Combined(found) = findings else { unreachable!("findings of another collector") };
        let CombinedFindings { numbers, cells, keys, counts, below } = *found;
        let mut own = vec![self.aside()?; counts.len()];
        let mut combination = vec![0i64; self.width];
        for ((&number, cells), keys) in numbers.iter().zip(cells.chunks_exact(self.width)).zip(&keys) {
            combination.copy_from_slice(cells);
            let cells = combination[1..].iter_mut();
            for ((reader, key), cell) in self.readers.iter_mut().zip(keys).zip(cells) {
                // The ids of terms are local to a collector, so the id is looked up again from the key.
                if matches!(key, Key::Term(_)) {
                    *cell = reader.id(key, self.budget)?;
                }
            }
            if let Some(bucket) = self.number(&combination)? {
                self.counts[bucket as usize] += counts[number as usize];
                own[number as usize] = bucket;
            }
        }
        self.subs.absorb(below, &own)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        // The parents are single buckets only, so there is just one.
        let best = self.best();
        let (cells, width) = (&self.cells, self.width);
        let subs = match self.readers.iter().position(|reader| reader.request.is_dates()) {
            Some(key_index) => {
                self.subs.finish_keyed(&best, |number| cells[number as usize * width + key_index + 1])?
            }
            None => self.subs.finish(&best)?,
        };
        let bucket = |(&number, subs): (&u32, Vec<Partial>)| {
            ListBucket::new(self.keys_of(number), self.counts[number as usize], subs)
        };
        let buckets = best.iter().zip(subs).map(bucket).collect();
        let mut partials = vec![Partial::List(ListPartial::of(buckets))];
        partials.resize_with(parents.len(), || Partial::List(ListPartial::default()));
        Ok(partials)
    }
}
