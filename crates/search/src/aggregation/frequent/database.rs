//! The transactions of all shards, without the items that are too rare.

use super::super::answer::partial::Key;
use super::transactions::{Item, TransactionTable, Transactions};
use crate::error::Result;

/// The input of the miner.
#[derive(Debug, Default)]
pub struct Database {
    /// Number of documents of all shards, including those without items.
    pub total: u64,
    /// The items by rank: the most frequent item first, ties by field and value.
    pub items: Vec<Item>,
    /// Sets of ranks, ascending.
    pub transactions: TransactionTable,
}

impl Database {
    /// Merges the transactions of shards. `charge` is called with the bytes of what is made.
    ///
    /// An item stays if more documents have it than `minimum_support` times the total, rounded down: strictly
    /// more, as in Elasticsearch's `HashBasedTransactionStore`, so that an item that just reaches the support
    /// is in no set.
    pub fn new(
        parts: &[Transactions],
        minimum_support: f64,
        mut charge: impl FnMut(u64) -> Result<()>,
    ) -> Result<Database> {
        let total = parts.iter().map(|part| part.total).sum();
        let (merged, numbers) = merge_items(parts, &mut charge)?;
        let mut weights = vec![0u64; merged.len()];
        let mut mapped = Vec::new();
        for (part, numbers) in parts.iter().zip(&numbers) {
            for (items, count) in part.iter() {
                translate(items, |item| Some(numbers[item as usize]), &mut mapped);
                mapped.iter().for_each(|&item| weights[item as usize] += count);
            }
        }
        let too_rare = (minimum_support * total as f64) as u64;
        let mut kept: Vec<u32> =
            (0..merged.len() as u32).filter(|&item| weights[item as usize] > too_rare).collect();
        // The sort is stable: equally frequent items stay in the order of fields and values.
        kept.sort_by_key(|&item| std::cmp::Reverse(weights[item as usize]));
        let mut ranks = vec![None; merged.len()];
        for (rank, &item) in kept.iter().enumerate() {
            ranks[item as usize] = Some(rank as u32);
        }
        let mut transactions = TransactionTable::default();
        for (part, numbers) in parts.iter().zip(&numbers) {
            for (items, count) in part.iter() {
                translate(items, |item| ranks[numbers[item as usize] as usize], &mut mapped);
                if !mapped.is_empty() {
                    charge(transactions.add(0, &mapped, count))?;
                }
            }
        }
        let items = kept.into_iter().map(|item| merged[item as usize].clone()).collect();
        Ok(Database { total, items, transactions })
    }

    /// Returns the smallest document count of a set that is frequent enough.
    pub fn min_count(&self, minimum_support: f64) -> u64 {
        (self.total as f64 * minimum_support).ceil() as u64
    }
}

/// Renumbers items; the result is ascending and without duplicates.
fn translate(items: &[u32], number: impl Fn(u32) -> Option<u32>, out: &mut Vec<u32>) {
    out.clear();
    out.extend(items.iter().filter_map(|&item| number(item)));
    out.sort_unstable();
    out.dedup();
}

/// Merges the items of all parts, in order and without duplicates. Also returns, for each part, the indexes
/// of its items among them.
fn merge_items(
    parts: &[Transactions],
    charge: &mut impl FnMut(u64) -> Result<()>,
) -> Result<(Vec<Item>, Vec<Vec<u32>>)> {
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.items.len()]).collect();
    let mut places: Vec<(u32, u32)> = Vec::new();
    for (part, transactions) in parts.iter().enumerate() {
        places.extend((0..transactions.items.len() as u32).map(|place| (part as u32, place)));
    }
    let item = |(part, place): (u32, u32)| &parts[part as usize].items[place as usize];
    places.sort_by(|&left, &right| item(left).compare(item(right)));
    let mut merged: Vec<Item> = Vec::new();
    for place in places {
        let item = item(place);
        if merged.last().is_none_or(|last| last.compare(item).is_ne()) {
            charge(item.bytes() + 24)?;
            merged.push(item.clone());
        }
        numbers[place.0 as usize][place.1 as usize] = merged.len() as u32 - 1;
    }
    Ok((merged, numbers))
}

/// Makes an item from a value. Doubles are truncated, as Elasticsearch reads integers from all numeric
/// fields.
pub fn item_key(key: Key) -> Key {
    match key {
        Key::Double(value) => Key::Long(value as i64),
        other => other,
    }
}
