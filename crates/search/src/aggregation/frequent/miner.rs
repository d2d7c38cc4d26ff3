//! Closed sets of items: "which sets are in enough documents, and in more than every larger set around them?"
//!
//! Depth first over lists of transactions by item (Eclat: Zaki, "Scalable Algorithms for Association Mining",
//! 2000), each closed set once by extensions that keep its beginning (LCM: Uno, Kiyomi and Arimura, "LCM ver.
//! 2", 2004). Once as many sets are found as are wanted, the rarest of them is the bar for what follows.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::database::Database;
use crate::error::Result;

/// Items looked at between two calls of [`Watch::check`].
const CHECK_ITEMS: usize = 1 << 20;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Documents that a set needs.
    pub min_count: u64,
    /// Items that a set needs.
    pub min_size: usize,
    /// Sets of the answer.
    pub size: usize,
}

/// Who is told of the work.
pub trait Watch {
    /// Says what memory is held now, in bytes.
    fn hold(&mut self, bytes: u64) -> Result<()>;
    /// Whether to go on.
    fn check(&self) -> Result<()>;
}

/// Values that occur together, and in how many transactions they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemSet {
    /// Ranks, ascending.
    pub items: Vec<u32>,
    pub doc_count: u64,
}

impl ItemSet {
    /// The bits of the ranks in words, from bit 1 on.
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
    /// The greater is shown first: more documents, then more items, then more frequent ones in the order of
    /// Elasticsearch's `ItemSetBitSet`.
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

/// The best closed sets, the best first.
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
    /// Ascending.
    set: Vec<u32>,
    /// Ascending, none of `set`.
    candidates: Vec<u32>,
    /// Documents with `set` and the candidate.
    counts: Vec<u64>,
    /// Those with `set` and candidate `c` are `transactions[starts[c]..starts[c + 1]]`.
    starts: Vec<usize>,
    transactions: Vec<u32>,
    /// The candidate that is tried next.
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
    /// By item, of the transactions at hand: documents, and transactions; 0 between two scans.
    counts: Vec<u64>,
    occurrences: Vec<u32>,
    /// By item: its place among the candidates at hand; `u32::MAX`: none.
    places: Vec<u32>,
    /// Items that the transactions at hand have.
    touched: Vec<u32>,
    /// Items looked at since the last check.
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
            if level.counts[place] < self.bar() {
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

    /// Documents that a set needs now.
    fn bar(&self) -> u64 {
        match self.best.peek() {
            Some(Reverse(worst)) if self.best.len() >= self.wanted.size => worst.doc_count,
            _ => self.wanted.min_count,
        }
    }

    /// The closed set of these transactions, which have `count` documents and `before` and `core` in common:
    /// kept if it is wanted. `None` where it is found from another set: an item before `core` joined it.
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

    /// Counts the items of transactions.
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
        if set.len() < self.wanted.min_size || doc_count < self.bar() {
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

    /// What may extend `set`: items behind `core` that enough of the scanned transactions have.
    fn level(&mut self, transactions: &[u32], set: Vec<u32>, count: u64, core: Option<u32>) -> Level {
        let bar = self.bar();
        let from = core.map_or(0, |core| self.touched.partition_point(|&item| item <= core));
        let may_extend = |item: &u32| (bar..count).contains(&self.counts[*item as usize]);
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

    /// The transactions of each candidate, one list after the other.
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
