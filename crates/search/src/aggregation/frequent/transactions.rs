//! Transactions: which items documents have, and how many documents have exactly these. Equal ones are kept
//! once.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::super::answer::partial::Key;

/// Bytes that a transaction takes beside its items: owner, end, count and place in the table.
const TRANSACTION_BYTES: u64 = 28;

/// One value of one of the aggregation's fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The field's place in the request.
    pub field: u32,
    pub key: Key,
}

impl Item {
    /// By field, then by value.
    pub fn compare(&self, other: &Item) -> std::cmp::Ordering {
        self.field.cmp(&other.field).then_with(|| self.key.compare(&other.key))
    }

    /// What it holds, in bytes, to be charged.
    pub fn bytes(&self) -> u64 {
        let term = match &self.key {
            Key::Term(term) => term.len(),
            _ => 0,
        };
        (size_of::<Item>() + term) as u64
    }
}

/// Sets of items by number, of several owners (buckets): each once an owner, with its count of documents.
#[derive(Debug, Default)]
pub struct TransactionTable {
    /// Items, ascending: those of transaction `t` are `cells[ends[t - 1]..ends[t]]`.
    cells: Vec<u32>,
    ends: Vec<usize>,
    owners: Vec<u32>,
    counts: Vec<u64>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl TransactionTable {
    /// Counts `count` documents of `owner` with exactly these items (ascending, each once). Gives the bytes
    /// that it takes.
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

    /// The number of different transactions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The items of a transaction, ascending.
    pub fn items(&self, transaction: usize) -> &[u32] {
        slice(&self.cells, &self.ends, transaction)
    }

    /// The bucket of the parent that a transaction belongs to.
    pub fn owner(&self, transaction: usize) -> u32 {
        self.owners[transaction]
    }

    /// How many documents the transaction stands for.
    pub fn count(&self, transaction: usize) -> u64 {
        self.counts[transaction]
    }
}

fn slice<'c>(cells: &'c [u32], ends: &[usize], transaction: usize) -> &'c [u32] {
    let start = if transaction == 0 { 0 } else { ends[transaction - 1] };
    &cells[start..ends[transaction]]
}

/// What one shard found in one bucket.
#[derive(Debug, Clone, Default)]
pub struct Transactions {
    /// Documents, those without items included.
    pub total: u64,
    pub items: Vec<Item>,
    /// Places in `items`: those of transaction `t` are `cells[ends[t - 1]..ends[t]]`.
    cells: Vec<u32>,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl Transactions {
    /// Of as many documents, none with items yet.
    pub fn of(total: u64) -> Transactions {
        Transactions { total, ..Transactions::default() }
    }

    /// Adds a transaction; gives the bytes that it takes.
    pub fn push(&mut self, items: impl Iterator<Item = u32>, count: u64) -> u64 {
        let before = self.cells.len();
        self.cells.extend(items);
        self.ends.push(self.cells.len());
        self.counts.push(count);
        16 + 4 * (self.cells.len() - before) as u64
    }

    /// Each transaction's items, as places in [`Transactions::items`], and its count of documents.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], u64)> {
        self.counts
            .iter()
            .enumerate()
            .map(|(transaction, &count)| (slice(&self.cells, &self.ends, transaction), count))
    }
}
