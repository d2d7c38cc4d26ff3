//! Mines closed item sets: sets that are in enough documents, and in more documents than each of their
//! supersets.
//!
//! The search is depth first over lists of transactions by item (Eclat: Zaki, "Scalable Algorithms for
//! Association Mining", 2000). Prefix-preserving extensions find each closed set once (LCM: Uno, Kiyomi and
//! Arimura, "LCM ver. 2", 2004). Once as many sets are found as are wanted, new sets must be at least as
//! frequent as the rarest of them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::database::Database;
use crate::error::Result;

/// Number of items that are scanned between two calls of [`Watch::check`].
const CHECK_ITEMS: usize = 1 << 20;

/// The requirements for item sets.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Least number of documents of a set.
    pub min_count: u64,
    /// Least number of items of a set.
    pub min_size: usize,
    /// Number of sets in the answer.
    pub size: usize,
}

/// Observes the work.
pub trait Watch {
    /// Reports the memory that is held now, in bytes.
    fn hold(&mut self, bytes: u64) -> Result<()>;
    /// Fails if the work should stop.
    fn check(&self) -> Result<()>;
}

/// Values that occur together, and the number of documents in which they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemSet {
    /// The ranks of the items, ascending.
    pub items: Vec<u32>,
    pub doc_count: u64,
}

impl ItemSet {
    /// Returns the bit set of the ranks as words, starting at bit 1.
    fn words(&self) -> Vec<i64> {
        let mut words = vec![0u64; self.items.last().map_or(0, |&last| (last as usize + 1) / 64 + 1)];
        for &rank in &self.items {
            words[(rank as usize + 1) / 64] |= 1 << ((rank + 1) % 64);
        }
        words.into_iter().map(|word| word as i64).collect()
    }

    fn bytes(&self) -> u64 {
        (size_of::<ItemSet>() + 4 * self.items.len()) as u64
    }
}

impl Ord for ItemSet {
    /// The greater set is shown first: the one with more documents, then with more items, then with more
    /// frequent items, in the order of Elasticsearch's `ItemSetBitSet`.
    fn cmp(&self, other: &ItemSet) -> Ordering {
        let sizes = || self.items.len().cmp(&other.items.len());
        self.doc_count.cmp(&other.doc_count).then_with(sizes).then_with(|| {
            let (own, others) = (self.words(), other.words());
            others.len().cmp(&own.len()).then_with(|| others.cmp(&own))
        })
    }
}

impl PartialOrd for ItemSet {
    fn partial_cmp(&self, other: &ItemSet) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the best closed sets, best first.
pub fn closed_sets(database: &Database, wanted: Wanted, watch: &mut impl Watch) -> Result<Vec<ItemSet>> {
    let mut miner = Miner {
        database,
        wanted,
        best: BinaryHeap::new(),
        best_bytes: 0,
        counts: vec![0; database.items.len()],
        occurrences: vec![0; database.items.len()],
        places: vec![u32::MAX; database.items.len()],
        touched: Vec::new(),
        scanned: 0,
    };
    miner.run(watch)?;
    Ok(miner.best.into_sorted_vec().into_iter().map(|Reverse(set)| set).collect())
}

/// A closed set and the items that may extend it.
#[derive(Debug)]
struct Level {
    /// The closed set, ascending.
    set: Vec<u32>,
    /// Ascending; none of them is in `set`.
    candidates: Vec<u32>,
    /// Number of documents that have `set` and the candidate.
    counts: Vec<u64>,
    /// The transactions with `set` and candidate `c` are `transactions[starts[c]..starts[c + 1]]`.
    starts: Vec<usize>,
    transactions: Vec<u32>,
    /// Index of the candidate that is tried next.
    next: usize,
}

impl Level {
    fn bytes(&self) -> u64 {
        let words = self.counts.len() + self.starts.len();
        (size_of::<Level>()
            + words * 8
            + (self.set.len() + self.candidates.len() + self.transactions.len()) * 4) as u64
    }
}

struct Miner<'d> {
    database: &'d Database,
    wanted: Wanted,
    best: BinaryHeap<Reverse<ItemSet>>,
    best_bytes: u64,
    /// For each item, the number of documents and of transactions in the current scan; 0 between two scans.
    counts: Vec<u64>,
    occurrences: Vec<u32>,
    /// For each item, its index among the current candidates; `u32::MAX` if it is none.
    places: Vec<u32>,
    /// The items that occur in the current scan.
    touched: Vec<u32>,
    /// Number of items scanned since the last check.
    scanned: usize,
}

impl Miner<'_> {
    fn run(&mut self, watch: &mut impl Watch) -> Result<()> {
        let everything: Vec<u32> = (0..self.database.transactions.len() as u32).collect();
        let total: u64 = everything.iter().map(|&own| self.database.transactions.count(own as usize)).sum();
        if total < self.wanted.min_count.max(1) {
            return Ok(());
        }
        let mut stack: Vec<Level> = self.extended(&everything, total, &[], None).into_iter().collect();
        let mut held: u64 = stack.iter().map(Level::bytes).sum();
        while let Some(level) = stack.last_mut() {
            let place = level.next;
            if place >= level.candidates.len() {
                held -= level.bytes();
                stack.pop();
                continue;
            }
            level.next += 1;
            if level.counts[place] < self.min_doc_count() {
                continue;
            }
            let level = &stack[stack.len() - 1];
            let transactions = &level.transactions[level.starts[place]..level.starts[place + 1]];
            let (count, core) = (level.counts[place], level.candidates[place]);
            if let Some(below) = self.extended(transactions, count, &level.set, Some(core)) {
                held += below.bytes();
                watch.hold(held + self.best_bytes)?;
                stack.push(below);
            }
            if self.scanned >= CHECK_ITEMS {
                self.scanned = 0;
                watch.check()?;
            }
        }
        Ok(())
    }

    /// Returns the least number of documents that a new set needs at this time.
    fn min_doc_count(&self) -> u64 {
        match self.best.peek() {
            Some(Reverse(worst)) if self.best.len() >= self.wanted.size => worst.doc_count,
            _ => self.wanted.min_count,
        }
    }

    /// Computes the closed set of these transactions, which have `count` documents and have `before` and
    /// `core` in common, and keeps the set if it is wanted. Returns `None` if an item before `core` was added
    /// to the set, because then the set is found on another path.
    fn extended(
        &mut self,
        transactions: &[u32],
        count: u64,
        before: &[u32],
        core: Option<u32>,
    ) -> Option<Level> {
        self.scan(transactions);
        let set: Vec<u32> =
            self.touched.iter().copied().filter(|&item| self.counts[item as usize] == count).collect();
        let is_first = |items: &[u32]| core.map_or(0, |core| items.partition_point(|&item| item < core));
        let level = (is_first(&set) == is_first(before)).then(|| {
            self.keep(&set, count);
            self.level(transactions, set, count, core)
        });
        for item in self.touched.drain(..) {
            self.counts[item as usize] = 0;
            self.occurrences[item as usize] = 0;
        }
        level
    }

    /// Counts the items of the transactions.
    fn scan(&mut self, transactions: &[u32]) {
        let table = &self.database.transactions;
        for &transaction in transactions {
            let count = table.count(transaction as usize);
            let items = table.items(transaction as usize);
            self.scanned += items.len();
            for &item in items {
                if self.occurrences[item as usize] == 0 {
                    self.touched.push(item);
                }
                self.occurrences[item as usize] += 1;
                self.counts[item as usize] += count;
            }
        }
        self.touched.sort_unstable();
    }

    fn keep(&mut self, set: &[u32], doc_count: u64) {
        if set.len() < self.wanted.min_size || doc_count < self.min_doc_count() {
            return;
        }
        let set = Reverse(ItemSet { items: set.to_vec(), doc_count });
        self.best_bytes += set.0.bytes();
        self.best.push(set);
        if self.best.len() > self.wanted.size
            && let Some(Reverse(worst)) = self.best.pop()
        {
            self.best_bytes -= worst.bytes();
        }
    }

    /// Makes the level of the items that may extend `set`: those after `core` that enough of the scanned
    /// transactions have.
    fn level(&mut self, transactions: &[u32], set: Vec<u32>, count: u64, core: Option<u32>) -> Level {
        let min_doc_count = self.min_doc_count();
        let from = core.map_or(0, |core| self.touched.partition_point(|&item| item <= core));
        let may_extend = |item: &u32| (min_doc_count..count).contains(&self.counts[*item as usize]);
        let candidates: Vec<u32> = self.touched[from..].iter().copied().filter(may_extend).collect();
        let counts = candidates.iter().map(|&item| self.counts[item as usize]).collect();
        let mut starts = Vec::with_capacity(candidates.len() + 1);
        starts.push(0);
        for &item in &candidates {
            starts.push(starts[starts.len() - 1] + self.occurrences[item as usize] as usize);
        }
        let own = self.lists(transactions, &candidates, &starts);
        Level { set, candidates, counts, starts, transactions: own, next: 0 }
    }

    /// Makes the lists of transactions of the candidates, one list after the other.
    fn lists(&mut self, transactions: &[u32], candidates: &[u32], starts: &[usize]) -> Vec<u32> {
        let mut lists = vec![0u32; starts[candidates.len()]];
        let mut ends = starts[..candidates.len()].to_vec();
        for (place, &item) in candidates.iter().enumerate() {
            self.places[item as usize] = place as u32;
        }
        for &transaction in transactions {
            for &item in self.database.transactions.items(transaction as usize) {
                if let Some(end) = ends.get_mut(self.places[item as usize] as usize) {
                    lists[*end] = transaction;
                    *end += 1;
                }
            }
        }
        candidates.iter().for_each(|&item| self.places[item as usize] = u32::MAX);
        lists
    }
}
