//! Aggregations: summaries of the documents that match a query.
//!
//! They are parsed once per request ([`Aggregations`]), bound once per shard ([`BoundAggregations`]: fields,
//! formats, queries), collect the matching documents window by window ([`ShardCollector`]), and are reduced
//! ([`reduce`]) and rendered ([`ReducedAggregations::to_json`]).
//!
//! **Invariants**: columns are read for a whole batch of documents. Buckets are numbered, and their state is
//! kept in arrays by that number. Memory is charged as buckets are made, and the buckets of the answer are
//! counted before they are made. The answer is written as text, member by member, without a tree of JSON.
//!
//! To add an aggregation, add a file with its request and the four parts of a [`definition::Definition`]
//! (request, collect, reduce, render), and a line in [`table::AGGREGATIONS`] (`CONTRIBUTING.md`, "An
//! aggregation, step by step").

mod answer;
mod bind;
mod bucket;
mod buckets;
mod budget;
mod categorize;
mod collector;
mod definition;
mod findings;
mod frequent;
mod in_request;
mod metric;
mod options;
mod pipeline;
mod profiled;
mod sampling;
mod significant;
mod source;
mod table;
mod terms;
mod tree;
mod values;
mod weighted;

#[cfg(test)]
mod tests;

pub(crate) use answer::hit_reader::{HitReader, WantedHits};
pub(crate) use answer::reduce::{in_reduce, reduce};
pub(crate) use budget::Budget;
pub(crate) use collector::{BoundAggregations, ShardAggregations, ShardCollector, ShardPart};
pub use metric::{EXTENDED_NAMES, PERCENTS, STATS_NAMES};
pub(crate) use profiled::AggregationTimes;
pub use table::names;
pub(crate) use tree::Aggregations;
pub(crate) use values::decimal_format::DecimalFormat;
