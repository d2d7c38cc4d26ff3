//! `frequent_item_sets`: finds values that occur together in many documents.
//!
//! A document is a transaction, and its values are items. A shard reports each distinct transaction once
//! ([`transactions`]); [`miner`] finds closed sets in the transactions of all shards.

mod collector;
mod database;
mod miner;
mod request;
mod transactions;

pub use request::FrequentItemSets;
