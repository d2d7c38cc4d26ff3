//! Transactions: sets of items, each with the number of documents that have exactly these items.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::super::answer::partial::Key;

/// Bytes of a transaction without its items: owner, end, count and table entry.
const TRANSACTION_BYTES: u64 = 28;

/// One value of one of the aggregation's fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The index of the field in the request.
    pub field: u32,
    pub key: Key,
}

impl Item {
    /// Compares items by field, then by value.
    pub fn compare(&self, other: &Item) -> std::cmp::Ordering {
        self.field.cmp(&other.field).then_with(|| self.key.compare(&other.key))
    }

    /// Returns the memory of the item in bytes, for the memory charge.
    pub fn bytes(&self) -> u64 {
        let term = match &self.key {
            Key::Term(term) => term.len(),
            _ => 0,
        };
        (size_of::<Item>() + term) as u64
    }
}

/// Numbered sets of items of several owners (buckets). Each set occurs once per owner, with its document
/// count.
#[derive(Debug, Default)]
pub struct TransactionTable {
    /// Items of all transactions; those of transaction `t` are `cells[ends[t - 1]..ends[t]]`, ascending.
    cells: Vec<u32>,
    ends: Vec<usize>,
    owners: Vec<u32>,
    counts: Vec<u64>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl TransactionTable {
    /// Counts `count` documents of `owner` that have exactly these items (ascending, without duplicates).
    /// Returns the number of bytes that this takes.
    pub fn add(&mut self, owner: u32, items: &[u32], count: u64) -> u64 {
        let TransactionTable { cells, ends, owners, counts, table, hasher } = self;
        let hash = hasher.hash_one((owner, items));
        let is_it =
            |&number: &u32| owners[number as usize] == owner && slice(cells, ends, number as usize) == items;
        if let Some(&number) = table.find(hash, is_it) {
            counts[number as usize] += count;
            return 0;
        }
        let number = ends.len() as u32;
        cells.extend_from_slice(items);
        ends.push(cells.len());
        owners.push(owner);
        counts.push(count);
        let rehash =
            |&number: &u32| hasher.hash_one((owners[number as usize], slice(cells, ends, number as usize)));
        table.insert_unique(hash, number, rehash);
        TRANSACTION_BYTES + 4 * items.len() as u64
    }

    /// Returns the number of different transactions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the items of a transaction, ascending.
    pub fn items(&self, transaction: usize) -> &[u32] {
        slice(&self.cells, &self.ends, transaction)
    }

    /// Returns the parent bucket that a transaction belongs to.
    pub fn owner(&self, transaction: usize) -> u32 {
        self.owners[transaction]
    }

    /// Returns the number of documents with exactly these items.
    pub fn count(&self, transaction: usize) -> u64 {
        self.counts[transaction]
    }
}

fn slice<'c>(cells: &'c [u32], ends: &[usize], transaction: usize) -> &'c [u32] {
    let start = if transaction == 0 { 0 } else { ends[transaction - 1] };
    &cells[start..ends[transaction]]
}

/// The finding of one shard in one bucket.
#[derive(Debug, Clone, Default)]
pub struct Transactions {
    /// Number of documents, including those without items.
    pub total: u64,
    pub items: Vec<Item>,
    /// Indexes in `items`; those of transaction `t` are `cells[ends[t - 1]..ends[t]]`.
    cells: Vec<u32>,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl Transactions {
    /// Makes a finding of this many documents, without any transactions.
    pub fn of(total: u64) -> Transactions {
        Transactions { total, ..Transactions::default() }
    }

    /// Adds a transaction and returns the number of bytes that it takes.
    pub fn push(&mut self, items: impl Iterator<Item = u32>, count: u64) -> u64 {
        let before = self.cells.len();
        self.cells.extend(items);
        self.ends.push(self.cells.len());
        self.counts.push(count);
        16 + 4 * (self.cells.len() - before) as u64
    }

    /// Iterates over the transactions: their items as indexes in [`Transactions::items`], and their document
    /// counts.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], u64)> {
        self.counts
            .iter()
            .enumerate()
            .map(|(transaction, &count)| (slice(&self.cells, &self.ends, transaction), count))
    }
}
