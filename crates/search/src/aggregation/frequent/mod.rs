//! `frequent_item_sets`: which values occur together in many documents?
//!
//! A document is a transaction, its values are items. Shards hand in their transactions, equal ones once ([`transactions`]); what all
//! shards found is mined for closed sets ([`miner`]).

mod collector;
mod database;
mod miner;
mod request;
mod transactions;

pub use request::FrequentItemSets;
