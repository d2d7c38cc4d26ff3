//! Sorts documents into buckets by a key of their values, and passes them on to the sub-aggregations.

use super::bucket_table::BucketTable;
use super::entries::{Emitted, Entries, Values};
use super::known_buckets::{KnownBuckets, REFUSED};
use crate::aggregation::answer::partial::{Key, ListBucket, ListPartial, Partial};
use crate::aggregation::budget::Budget;
use crate::aggregation::collector::Subs;
use crate::aggregation::findings::Findings;
use crate::error::Result;

/// Buckets by key, with their sub-aggregations.
#[derive(Debug)]
pub struct KeyedBuckets<'s> {
    pub table: BucketTable,
    pub subs: Subs<'s>,
    has_subs: bool,
    known: KnownBuckets,
    /// Whether buckets are made before they are needed.
    reserves: bool,
    window: Window,
    /// Key indexes of the current batch, counted from the start of the window.
    key_indexes: Vec<u32>,
    /// The pairs of the current batch.
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

/// The range of keys that have key indexes.
#[derive(Debug)]
enum Window {
    /// The caller computes the key indexes, or there are none.
    Given,
    /// The keys from the first one, and how many. The range grows with the keys that are met.
    Met(i64, u64),
}

/// Largest range of keys that are met in batches: their slots take 1 MiB.
const WINDOW_MAX: u64 = 1 << 18;
/// Smallest one.
const WINDOW_MIN: u64 = 1 << 8;

impl Window {
    /// Widens the range so that it includes the keys from `least` to `most`. Returns whether it has changed.
    fn widen(&mut self, least: i64, most: i64) -> bool {
        let Window::Met(first, width) = *self else { return false };
        let is_in = |key: i64| (key.wrapping_sub(first) as u64) < width;
        if is_in(least) && is_in(most) {
            return false;
        }
        let end = first.saturating_add_unsigned(width.saturating_sub(1));
        let (least, most) = if width == 0 { (least, most) } else { (least.min(first), most.max(end)) };
        let needed = most.abs_diff(least).saturating_add(1);
        *self = match needed > WINDOW_MAX {
            true => Window::Given,
            // There is room for more keys on both sides.
            false => {
                let width = needed.next_power_of_two().max(WINDOW_MIN);
                Window::Met(least.saturating_sub_unsigned((width - needed) / 2), width)
            }
        };
        true
    }
}

impl<'s> KeyedBuckets<'s> {
    pub(crate) fn new(table: BucketTable, subs: Subs<'s>, budget: &'s Budget) -> KeyedBuckets<'s> {
        let has_subs = !subs.is_empty();
        let (known, emitted) = (KnownBuckets::default(), Emitted::default());
        let (window, key_indexes, starts) = (Window::Met(0, 0), Vec::new(), Vec::new());
        let reserves = false;
        KeyedBuckets { table, subs, has_subs, known, reserves, window, key_indexes, emitted, starts, budget }
    }

    /// Returns the buckets of each of `parents` with the keys that `keys_of` makes of a key in the table.
    pub(crate) fn finish_lists(
        &mut self,
        parents: &[u32],
        keys_of: impl Fn(i64) -> Box<[Key]>,
    ) -> Result<Vec<Partial>> {
        let table = &self.table;
        let lists = table.by_parent(parents);
        let mut subs = self.subs.finish(&lists.concat())?.into_iter();
        let mut made = |bucket: u32| {
            let (keys, count) = (keys_of(table.key(bucket)), table.counts[bucket as usize]);
            ListBucket::new(keys, count, subs.next().unwrap_or_default())
        };
        let lists = lists.into_iter().map(|list| ListPartial::of(list.into_iter().map(&mut made).collect()));
        Ok(lists.map(Partial::List).collect())
    }

    /// Forgets all key indexes (see [`super::known_buckets`]). From now on they are below `width`; 0 means
    /// that they are not known in advance.
    pub fn begin_key_indexes(&mut self, width: usize) {
        self.window = if width == 0 { Window::Met(0, 0) } else { Window::Given };
        self.known.begin(width);
    }

    /// Lets the buckets of all key indexes be made at once where there are few of them, so that a bucket is
    /// computed from the key index instead of looked up. Empty buckets are left out of the findings.
    pub fn reserve_buckets(&mut self) {
        self.reserves = true;
    }

    /// Whether [`Self::collect_key_indexes`] can collect a batch.
    pub fn takes_key_indexes(&mut self, entries: &Entries<'_>) -> Result<bool> {
        // A window has key indexes of its own.
        let is_given = matches!(self.window, Window::Given);
        Ok(is_given && entries.positions.is_none() && self.known.takes(entries, self.budget)?)
    }

    /// Collects documents that have at most one key each, by the key indexes of the keys: `key_indexes[i]`
    /// belongs to document `positions[i]`, or to document `i` without `positions`.
    /// `make(table, parent, key_index)` returns the bucket of a key index that is new, or `None` if it is in
    /// no bucket.
    ///
    /// Key indexes must be below the width, and [`Self::takes_key_indexes`] must have returned true for the
    /// batch.
    pub fn collect_key_indexes(
        &mut self,
        key_indexes: &[u32],
        positions: Option<&[u32]>,
        entries: &Entries<'_>,
        mut make: impl FnMut(&mut BucketTable, u32, u32) -> Result<Option<u32>>,
    ) -> Result<()> {
        let (known, table, reserves) = (&mut self.known, &mut self.table, self.reserves);
        table.omits_empty |= reserves;
        let fill = |buckets: &mut Vec<u32>| {
            let mut make = |parent, key_index| make(table, parent, key_index);
            if reserves && let Some(first) = known.reserve(entries, &mut make)? {
                buckets.extend(key_indexes.iter().map(|key_index| key_index + first));
                return Ok(false);
            }
            known.look_up(key_indexes, positions, entries, buckets, make)
        };
        self.emitted.fill(positions, fill, REFUSED)?;
        let is_counted =
            self.has_subs && self.subs.collect_counted(&self.emitted.batch(entries, self.table.len())?)?;
        if !is_counted {
            self.table.count(self.emitted.buckets());
        }
        Ok(())
    }

    /// Ends a segment.
    pub fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()?;
        self.subs.take_counts(&mut self.table.counts);
        Ok(())
    }

    /// Collects documents that have at most one key each, if all keys so far are close together; otherwise
    /// returns false. `positions` as in [`Values`]; `allows` tells whether a key has a bucket.
    pub fn collect_keys(
        &mut self,
        keys: &[i64],
        positions: Option<&[u32]>,
        entries: &Entries<'_>,
        allows: impl Fn(i64) -> bool,
    ) -> Result<bool> {
        if matches!(self.window, Window::Given) || entries.positions.is_some() || keys.is_empty() {
            return Ok(false);
        }
        let has_one_at_most = |positions: &[u32]| positions.is_sorted_by(|left, right| left < right);
        if !positions.is_none_or(has_one_at_most) {
            return Ok(false);
        }
        let (least, most) = limber_codec::column_block::bounds(keys);
        if self.window.widen(least, most) {
            self.known.begin(match self.window {
                Window::Given => 0,
                Window::Met(_, width) => width as usize,
            });
        }
        let Window::Met(first, _) = self.window else { return Ok(false) };
        if !self.known.takes(entries, self.budget)? {
            self.window = Window::Given;
            self.known.begin(0);
            return Ok(false);
        }
        let mut key_indexes = std::mem::take(&mut self.key_indexes);
        key_indexes.clear();
        key_indexes.extend(keys.iter().map(|key| key.wrapping_sub(first) as u32));
        let budget = self.budget;
        self.collect_key_indexes(&key_indexes, positions, entries, |table, parent, key_index| {
            let key = first.wrapping_add(i64::from(key_index));
            allows(key).then(|| table.bucket(parent, key, budget)).transpose()
        })?;
        self.key_indexes = key_indexes;
        Ok(true)
    }

    /// Collects all entries of a batch, which have one parent and one key.
    pub fn collect_one(&mut self, bucket: u32, entries: &Entries<'_>) -> Result<()> {
        self.table.counts[bucket as usize] += entries.len() as u64;
        match self.has_subs {
            true => {
                let bucket_count = self.table.len();
                self.subs.collect(&Entries { buckets: None, bucket, bucket_count, ..*entries })
            }
            false => Ok(()),
        }
    }

    /// Collects the values of a batch. `key_of(entry, value)` returns the key of a value's bucket, or `None`
    /// if the value is in no bucket.
    pub fn collect<T: Copy>(
        &mut self,
        values: &Values<'_, T>,
        entries: &Entries<'_>,
        mut key_of: impl FnMut(usize, T) -> Option<i64>,
    ) -> Result<()> {
        self.begin();
        let mut starts = std::mem::take(&mut self.starts);
        values.try_join(entries, &mut starts, |entry, parent, value| {
            let Some(key) = key_of(entry, value) else { return Ok(()) };
            let bucket = self.table.bucket(parent, key, self.budget)?;
            self.add(entry, bucket)
        })?;
        self.starts = starts;
        self.hand_on(entries)
    }

    /// Takes the findings; see [`Findings`].
    pub fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Keyed(Box::new(std::mem::take(&mut self.table)), self.subs.take_findings()?))
    }

    /// Adds the findings of another collector.
    pub fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Keyed(table, below) = findings else { unreachable!("findings of another collector") };
        let buckets = self.table.absorb(&table, bucket_of, Ok, self.budget)?;
        self.subs.absorb(below, &buckets)
    }

    /// Adds to the document count of a key, under the only parent and without sub-aggregations.
    pub fn count(&mut self, key: i64, doc_count: u64) -> Result<()> {
        let bucket = self.table.bucket(0, key, self.budget)?;
        self.table.counts[bucket as usize] += doc_count;
        Ok(())
    }

    /// Begins a batch whose entries are added one by one with [`Self::add`].
    pub fn begin(&mut self) {
        self.emitted.clear();
    }

    /// Adds the document of `entry` to `bucket`.
    #[inline]
    pub fn add(&mut self, entry: usize, bucket: u32) -> Result<()> {
        self.table.counts[bucket as usize] += 1;
        if self.has_subs {
            self.emitted.push(entry, bucket)?;
        }
        Ok(())
    }

    /// Ends the batch and passes it on to the sub-aggregations.
    pub fn hand_on(&mut self, entries: &Entries<'_>) -> Result<()> {
        if !self.has_subs {
            return Ok(());
        }
        self.subs.collect(&self.emitted.batch(entries, self.table.len())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grows_until_it_is_too_wide() {
        let mut window = Window::Met(0, 0);
        let mut holds = |least: i64, most: i64| {
            window.widen(least, most);
            match window {
                Window::Given => false,
                Window::Met(first, width) => {
                    let is_in = |key: i64| (key.wrapping_sub(first) as u64) < width;
                    assert!(is_in(least) && is_in(most));
                    true
                }
            }
        };
        assert!(holds(5, 9) && holds(-300, 7) && holds(100_000, 100_001) && holds(0, 0));
        assert!(!holds(i64::MIN, i64::MAX) && !holds(1, 1));
        for edge in [i64::MIN, i64::MAX] {
            let mut window = Window::Met(0, 0);
            assert!(window.widen(edge, edge));
            assert!(!window.widen(edge, edge));
        }
    }
}
