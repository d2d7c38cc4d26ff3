//! The parts that bucket aggregations are made of: tables of keys, batches of documents, lists of buckets.
//! The aggregations are in [`super::bucket`].

pub(super) mod bucket_table;
pub(super) mod combinations;
pub(super) mod combined_keys;
pub(super) mod deferred;
pub(super) mod entries;
pub(super) mod keyed_buckets;
pub(super) mod known_buckets;
pub(super) mod list;
pub(super) mod marked;
pub(super) mod nearest;
