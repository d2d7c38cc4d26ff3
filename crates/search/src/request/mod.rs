//! A parsed search request: "what is asked for, before any index is used?"
//!
//! **Invariant**: besides `mapping`, this is the only module that parses user JSON; limits on depth, size
//! and count are checked first.

mod aggregations;
mod alias_filter;
mod body;
mod changed;
mod collapse;
mod count;
mod determinism;
mod fields;
mod highlight;
mod inner_hits;
mod point_in_time;
mod read_query;
mod rescore;
mod retriever;
mod rules;
mod script_fields;
mod slice;
mod sort;
mod stored_fields;
pub(crate) mod suggest;
mod term_vectors;
mod total_hits;
mod url;
mod value_kind;

pub use aggregations::AggregationsRequest;
pub use alias_filter::{AliasFilter, within_aliases};
pub(crate) use body::HIT_OPTIONS;
pub use body::{KEYS, SearchRequest};
pub use collapse::Collapse;
pub use count::CountRequest;
pub(crate) use determinism::is_deterministic;
pub use fields::FieldFormat;
pub use highlight::Highlight;
pub(crate) use highlight::{Boundaries, Fragmenter, HighlightField, Highlighter, Scanner};
pub(crate) use inner_hits::InnerHits;
pub use point_in_time::PointInTime;
pub use read_query::read_query;
pub use rescore::Rescore;
pub(crate) use rescore::RescoreMode;
pub use retriever::{Fusion, Ranking, Share};
pub use script_fields::ScriptField;
pub(crate) use sort::{GeoSort, NestedSort, SHARD_DOC};
pub use sort::{Missing, NumericType, Order, ScriptSort, Sort};
pub use stored_fields::StoredFields;
pub use suggest::Suggest;
pub use term_vectors::{TermFilter, TermVectorsRequest};
pub use total_hits::TrackTotalHits;
pub use url::UrlParameters;
