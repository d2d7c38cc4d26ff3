//! Fetches the best hits: "what does this document look like?" Only the documents that are returned are
//! read.

pub(crate) mod highlight;
mod page;
mod plan;

mod hit;

mod aggregation_hits;
mod computed;
mod explain;
mod fields;
mod formats;
mod highlighted;
mod inner_hits;
mod lookup;
mod metadata;
mod nested;
mod opened;
mod percolated;
mod rescored;
mod script_fields;
mod timed;
mod unmapped;

pub(crate) use aggregation_hits::AggregationHits;
pub use explain::describe;
pub use fields::stored as stored_values;
pub(crate) use hit::Searched;
pub(crate) use page::{BestHits, check, fetch, fetch_hits};
pub(crate) use timed::FetchTimes;
