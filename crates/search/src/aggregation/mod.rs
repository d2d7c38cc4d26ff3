//! Aggregations: "what do the matching documents look like as a whole?"
//!
//! Parsed once a request ([`Aggregations`]), bound once a shard ([`BoundAggregations`]: fields, formats,
//! queries), fed with the matching documents window by window ([`ShardCollector`]), put together ([`reduce`])
//! and shown ([`ReducedAggregations::to_json`]).
//!
//! **Invariants**: columns are read for a whole batch of documents; buckets are numbers, and what is kept of
//! them are arrays by that number; memory is charged to the ledger as buckets are made, and the answer's
//! buckets are counted before they are.
//!
//! Adding one is a file with its request, which says in the four parts of a [`definition::Definition`] what
//! it asks for, how it collects, how findings are put together and how they are shown, and a line in
//! [`table::AGGREGATIONS`] (`CONTRIBUTING.md`, "An aggregation, step by step").

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

#[cfg(test)]
mod tests;

pub(crate) use answer::hit_reader::{HitReader, WantedHits};
pub(crate) use answer::reduce::reduce;
pub(crate) use budget::Budget;
pub(crate) use collector::{BoundAggregations, ShardAggregations, ShardCollector, ShardPart};
pub(crate) use profiled::AggregationTimes;
pub use table::names;
pub(crate) use tree::Aggregations;
