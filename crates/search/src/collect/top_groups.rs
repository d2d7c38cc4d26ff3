//! The best `k` groups of a shard, each represented by its best document.
//!
//! Source: Lucene's `FirstPassGroupingCollector` and `CollapsingTopDocsCollector`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use limber_mapping::RequestError;
use limber_segment::{DocId, Segment};

use super::best::keep_best;
use super::group::{BoundCollapse, GroupReader, LocalGroup};
use super::key::compare_keys;
use super::reader::KeyReader;
use super::sort::BoundSort;
use super::{Hit, Tie};
use crate::error::Result;
use crate::values::sort_key::SortKey;

/// The best groups so far. Segments come in order and the documents of each ascend, so the first of two
/// equal documents is the better one.
pub(crate) struct TopGroups<'a> {
    sorts: Arc<[BoundSort]>,
    collapse: BoundCollapse,
    count_max: usize,
    /// Only hits after these keys are wanted.
    after: Option<Box<[SortKey]>>,
    /// The best hit of each group in the segments before, best first.
    hits: Vec<Hit>,
    open: Option<SegmentGroups<'a>>,
}

impl<'a> TopGroups<'a> {
    pub(crate) fn new(
        sorts: Vec<BoundSort>,
        collapse: BoundCollapse,
        count_max: usize,
        after: Option<(Box<[SortKey]>, Tie)>,
    ) -> TopGroups<'a> {
        let after = after.map(|(keys, _)| keys);
        TopGroups { sorts: sorts.into(), collapse, count_max, after, hits: Vec::new(), open: None }
    }

    /// Returns the bytes of the nested filters that a segment's readers keep besides columns.
    pub fn filter_bytes(&self, segment: &Segment) -> u64 {
        let nested = self.sorts.iter().filter_map(|sort| sort.nested.as_ref());
        nested.map(|nested| nested.filter_bytes(segment)).sum()
    }

    /// Starts a segment, which the next documents belong to. `number` is its index among the shard's
    /// segments, `base` the number of its first document in the shard.
    pub fn begin_segment(&mut self, segment: &'a Segment, number: u32, base: u64) -> Result<()> {
        let worst = self.hits.last().filter(|_| self.hits.len() >= self.count_max);
        let bounds = [self.after.as_deref(), worst.map(|worst| &*worst.keys)];
        let readers = self.sorts.iter().map(|sort| KeyReader::open(sort, segment, base));
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let board = match self.sorts.iter().any(BoundSort::computes_terms) {
            true => {
                let [after, worst] = bounds
                    .map(|keys| keys.map(|keys| GlobalKeys { keys: keys.into(), sorts: self.sorts.clone() }));
                Board::Global(Groups::new(self.count_max, after, worst))
            }
            false => {
                let local = |keys: &[SortKey]| -> Result<Box<[i64]>> {
                    keys.iter().zip(&readers).map(|(key, reader)| reader.local(key)).collect()
                };
                let [after, worst] = bounds.map(|keys| keys.map(local).transpose());
                Board::Local(Groups::new(self.count_max, after?, worst?))
            }
        };
        let group = self.collapse.open(segment)?;
        let held = vec![i64::MAX; group.index_count()];
        self.open = Some(SegmentGroups {
            held,
            values: Vec::new(),
            readers,
            group,
            number,
            base,
            board,
            columns: Vec::new(),
            groups: Vec::new(),
            possible: Possible::default(),
        });
        Ok(())
    }

    /// Adds ascending documents of the current segment.
    ///
    /// # Errors
    /// A document that would be among the best has several values of the grouping field.
    pub fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        match &mut self.open {
            Some(open) if self.count_max > 0 => open.collect(docs, scores, &self.sorts),
            _ => Ok(()),
        }
    }

    /// Merges the best groups of the segment into those of the segments before.
    pub fn end_segment(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        open.finish(&mut self.hits)?;
        keep_best(&mut self.hits, &self.sorts, self.count_max);
        Ok(())
    }

    /// Returns the best hit of each group, best first.
    pub fn finish(self) -> Vec<Hit> {
        self.hits
    }
}

/// The best groups of one segment while it is searched.
struct SegmentGroups<'a> {
    readers: Vec<KeyReader<'a>>,
    group: GroupReader<'a>,
    number: u32,
    base: u64,
    board: Board,
    columns: Vec<Vec<i64>>,
    groups: Vec<LocalGroup>,
    /// The value of each document of the current batch.
    values: Vec<i64>,
    /// The first key of the best document of each group, by the group's index; `i64::MAX` if there is none.
    /// Empty if groups have no indexes.
    held: Vec<i64>,
    possible: Possible,
}

/// The documents of a batch that their first key does not exclude, with their scores.
#[derive(Default)]
struct Possible {
    places: Vec<u32>,
    docs: Vec<DocId>,
    scores: Vec<f32>,
}

impl Possible {
    /// Keeps the documents whose first key is wanted, with their `keys` and `values`.
    fn keep(
        &mut self,
        (docs, scores): (&[DocId], &[f32]),
        (keys, values): (&mut Vec<i64>, &mut Vec<i64>),
        is_wanted: impl Fn(i64, i64) -> bool,
    ) {
        self.places.clear();
        self.places.resize(keys.len(), 0);
        let mut kept = 0;
        for (at, (&key, &value)) in (0..).zip(keys.iter().zip(values.iter())) {
            self.places[kept] = at;
            kept += usize::from(is_wanted(key, value));
        }
        self.places.truncate(kept);
        let places = self.places.iter().map(|place| *place as usize);
        for (to, from) in places.clone().enumerate() {
            (keys[to], values[to]) = (keys[from], values[from]);
        }
        keys.truncate(kept);
        values.truncate(kept);
        self.docs.clear();
        self.docs.extend(places.clone().map(|place| docs[place]));
        self.scores.clear();
        self.scores.extend(places.filter_map(|place| scores.get(place)));
    }
}

/// The groups of a segment, by the kind of their keys.
enum Board {
    /// Numbers that only compare within the segment; smaller ones are better.
    Local(Groups<Box<[i64]>>),
    /// Sort keys that compare across segments and shards: some are strings that no dictionary holds.
    Global(Groups<GlobalKeys>),
}

impl SegmentGroups<'_> {
    fn collect(&mut self, docs: &[DocId], scores: &[f32], sorts: &Arc<[BoundSort]>) -> Result<()> {
        self.columns.resize_with(self.readers.len(), Vec::new);
        if matches!(self.board, Board::Local(_)) && self.group.read_values(docs, &mut self.values)? {
            return self.collect_single(docs, scores);
        }
        for (reader, out) in self.readers.iter_mut().zip(&mut self.columns) {
            reader.read(docs, scores, out)?;
        }
        self.collect_any(docs, scores, sorts)
    }

    /// Collects documents that have exactly one value each. For most of them the first key shows that
    /// they are not the best of their group, or that they come after the worst wanted group. The other keys
    /// are only read of the rest.
    fn collect_single(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        let SegmentGroups {
            readers,
            group,
            board: Board::Local(groups),
            columns,
            values,
            held,
            possible,
            ..
        } = self
        else {
            return Ok(());
        };
        let (Some((reader, readers)), Some((first_keys, others))) =
            (readers.split_first_mut(), columns.split_first_mut())
        else {
            return Ok(());
        };
        reader.read(docs, scores, first_keys)?;
        let first_value = group.first_value();
        let index = |value: i64| value.wrapping_sub(first_value) as usize;
        // The first of several documents with equal keys is the best.
        let is_only = readers.is_empty();
        let beyond = |bound: i64| if is_only { bound } else { bound.saturating_add(1) };
        let mut bound = beyond(groups.worst().map_or(i64::MAX, |keys| keys[0]));
        let bound_of = |held: &[i64], bound: i64, value: i64| match held.is_empty() {
            true => bound,
            false => beyond(held[index(value)]).min(bound),
        };
        let is_possible = |first_key: i64, own: i64| first_key < own || own == i64::MAX;
        let (docs, scores) = if is_only {
            (docs, scores)
        } else {
            possible.keep((docs, scores), (&mut *first_keys, &mut *values), |first_key, value| {
                is_possible(first_key, bound_of(held.as_slice(), bound, value))
            });
            (possible.docs.as_slice(), possible.scores.as_slice())
        };
        if docs.is_empty() {
            return Ok(());
        }
        for (reader, out) in readers.iter_mut().zip(others) {
            reader.read(docs, scores, out)?;
        }
        for (at, (&first_key, &value)) in columns[0].iter().zip(values.iter()).enumerate() {
            if !is_possible(first_key, bound_of(held.as_slice(), bound, value)) {
                continue;
            }
            let compare = |keys: &[i64]| columns.iter().map(|column| column[at]).cmp(keys.iter().copied());
            let own = LocalGroup::Value(value);
            if !groups.is_wanted(|keys| compare(keys)) || !groups.is_best_of(own, |keys| compare(keys)) {
                continue;
            }
            let keys = columns.iter().map(|column| column[at]).collect();
            let dropped = groups.offer(own, keys, docs[at], scores.get(at).copied().unwrap_or(0.0));
            if !held.is_empty() {
                held[index(value)] = first_key;
                if let Some(LocalGroup::Value(dropped)) = dropped {
                    held[index(dropped)] = i64::MAX;
                }
            }
            bound = beyond(groups.worst().map_or(i64::MAX, |keys| keys[0]));
        }
        Ok(())
    }

    fn collect_any(&mut self, docs: &[DocId], scores: &[f32], sorts: &Arc<[BoundSort]>) -> Result<()> {
        self.group.read(docs, &mut self.groups)?;
        let (columns, readers) = (&self.columns, &self.readers);
        for (at, (&doc, &group)) in docs.iter().zip(&self.groups).enumerate() {
            let score = scores.get(at).copied().unwrap_or(0.0);
            match &mut self.board {
                Board::Local(groups) => {
                    let compare =
                        |keys: &[i64]| columns.iter().map(|column| column[at]).cmp(keys.iter().copied());
                    if groups.is_wanted(|keys| compare(keys))
                        && groups.is_best_of(group, |keys| compare(keys))
                    {
                        let keys = columns.iter().map(|column| column[at]).collect();
                        groups.offer(single(group, doc)?, keys, doc, score);
                    }
                }
                Board::Global(groups) => {
                    let keys = readers.iter().zip(columns).map(|(reader, column)| reader.global(column[at]));
                    let keys = GlobalKeys { keys: keys.collect::<Result<_>>()?, sorts: sorts.clone() };
                    if groups.is_wanted(|other| keys.cmp(other)) {
                        groups.offer(single(group, doc)?, keys, doc, score);
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(self, hits: &mut Vec<Hit>) -> Result<()> {
        let SegmentGroups { readers, group, number, base, board, .. } = self;
        let mut add = |keys: Box<[SortKey]>, doc: DocId, (own, score): (LocalGroup, f32)| -> Result<()> {
            let (shard_doc, group) = (base + u64::from(doc), Some(group.global(own)?));
            hits.push(Hit { segment: number, doc, shard_doc, score, keys, group });
            Ok(())
        };
        match board {
            Board::Local(groups) => groups.by_rank.into_iter().try_for_each(|((keys, doc), own)| {
                let keys = keys.iter().zip(&readers).map(|(key, reader)| reader.global(*key));
                add(keys.collect::<Result<_>>()?, doc, own)
            }),
            Board::Global(groups) => {
                groups.by_rank.into_iter().try_for_each(|((keys, doc), own)| add(keys.keys, doc, own))
            }
        }
    }
}

/// Returns the group of a wanted document; refuses several values.
fn single(group: LocalGroup, doc: DocId) -> Result<LocalGroup> {
    match group {
        LocalGroup::Several => Err(RequestError::illegal_argument(format!(
            "failed to extract doc:{doc}, the grouping field must be single valued"
        ))
        .into()),
        single => Ok(single),
    }
}

/// The best document of each of the best groups. `K` is the type of the keys; the smallest is the best.
struct Groups<K> {
    count_max: usize,
    /// Keys up to this one were on the pages before.
    after: Option<K>,
    /// Keys from this one on are not wanted: the segments before have `count_max` better groups.
    worst_before: Option<K>,
    /// The groups, best first, by keys and document.
    by_rank: BTreeMap<(K, DocId), (LocalGroup, f32)>,
    by_group: HashMap<LocalGroup, (K, DocId), RandomState>,
}

impl<K: Ord + Clone> Groups<K> {
    fn new(count_max: usize, after: Option<K>, worst_before: Option<K>) -> Groups<K> {
        Groups { count_max, after, worst_before, by_rank: BTreeMap::new(), by_group: HashMap::default() }
    }

    /// Returns the keys of the worst group that is held, if no more groups are wanted than are held.
    fn worst(&self) -> Option<&K> {
        let is_full = self.by_rank.len() >= self.count_max;
        self.by_rank.last_key_value().filter(|_| is_full).map(|((keys, _), _)| keys)
    }

    /// Whether a document may be the best of one of the best groups. `compare` compares its keys with the
    /// given ones.
    fn is_wanted(&self, compare: impl Fn(&K) -> Ordering) -> bool {
        let worst = self.worst();
        self.after.as_ref().is_none_or(|after| compare(after) == Ordering::Greater)
            && self.worst_before.iter().chain(worst).all(|worst| compare(worst) == Ordering::Less)
    }

    /// Whether no better document of the group was offered. Most documents fail this test, before their
    /// keys are even assembled.
    #[inline]
    fn is_best_of(&self, group: LocalGroup, compare: impl Fn(&K) -> Ordering) -> bool {
        self.by_group.get(&group).is_none_or(|(held, _)| compare(held) == Ordering::Less)
    }

    /// Offers a document; returns the group that is no longer among the best.
    fn offer(&mut self, group: LocalGroup, keys: K, doc: DocId, score: f32) -> Option<LocalGroup> {
        if let Some(held) = self.by_group.get(&group) {
            if keys >= held.0 {
                return None;
            }
            self.by_rank.remove(held);
        }
        self.by_group.insert(group, (keys.clone(), doc));
        self.by_rank.insert((keys, doc), (group, score));
        if self.by_rank.len() <= self.count_max {
            return None;
        }
        let (_, (worst, _)) = self.by_rank.pop_last()?;
        self.by_group.remove(&worst);
        Some(worst)
    }
}

/// Keys that compare across segments and shards.
#[derive(Clone)]
struct GlobalKeys {
    keys: Box<[SortKey]>,
    sorts: Arc<[BoundSort]>,
}

impl Ord for GlobalKeys {
    fn cmp(&self, other: &GlobalKeys) -> Ordering {
        compare_keys(&self.sorts, &self.keys, &other.keys)
    }
}

impl PartialOrd for GlobalKeys {
    fn partial_cmp(&self, other: &GlobalKeys) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for GlobalKeys {
    fn eq(&self, other: &GlobalKeys) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for GlobalKeys {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Compares with a model that ranks all documents and takes the first of each group.
    #[test]
    fn the_best_groups_are_those_of_the_best_documents() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let count_max = 1 + random(6) as usize;
            let docs: Vec<(i64, LocalGroup)> = (0..random(60))
                .map(|_| {
                    let key = random(9) as i64;
                    let group = match random(8) {
                        0 => LocalGroup::Missing,
                        value => LocalGroup::Value(value as i64),
                    };
                    (key, group)
                })
                .collect();
            let mut groups: Groups<i64> = Groups::new(count_max, None, None);
            for (doc, (key, group)) in docs.iter().enumerate() {
                if groups.is_wanted(|other| key.cmp(other)) {
                    groups.offer(*group, *key, doc as DocId, 0.0);
                }
            }
            let mut ranked: Vec<(i64, usize, LocalGroup)> =
                docs.iter().enumerate().map(|(doc, (key, group))| (*key, doc, *group)).collect();
            ranked.sort_by_key(|(key, doc, _)| (*key, *doc));
            let mut seen = HashSet::new();
            ranked.retain(|(.., group)| seen.insert(*group));
            ranked.truncate(count_max);
            let found: Vec<(i64, usize, LocalGroup)> =
                groups.by_rank.iter().map(|((key, doc), (group, _))| (*key, *doc as usize, *group)).collect();
            assert_eq!(found, ranked);
        }
    }
}
