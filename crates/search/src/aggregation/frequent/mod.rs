//! `frequent_item_sets`: which values occur together in many documents?
//!
//! A document is a transaction, its values are items. Shards hand in each distinct transaction once
//! ([`transactions`]); [`miner`] looks for closed sets in the transactions of all shards.

mod collector;
mod database;
mod miner;
mod request;
mod transactions;

pub use request::FrequentItemSets;
