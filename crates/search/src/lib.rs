//! From query JSON to hits and buckets over a snapshot of segments.
//!
//! Question answered: "which documents of these shards match this request, in which order, and what do they
//! look like?"
//!
//! A request passes through [`request`] (parse) -> [`query`] (bind to each shard) -> `matcher` and `score`
//! (open on each segment, by windows of 4,096 documents) -> `collect` (the best hits) -> reduce -> `fetch`
//! (only the best hits) -> response.
//!
//! **Invariant**: besides `mapping`, this is the only crate that parses user JSON. It knows nothing of
//! files or HTTP, and uses no threads but those of `workers`. A snapshot never changes while it is
//! searched.

#![deny(missing_docs)]

pub mod aggregation;
mod automaton;
mod bits;
mod bound_search;
mod cache;
mod cached_answer;
mod collect;
mod columns;
mod context;
mod documents;
mod error;
mod execute;
mod failures;
mod fetch;
mod fusion;
mod gather;
pub mod geo;
mod held;
mod highlight;
mod json;
mod limited;
mod matcher;
mod mode;
mod percolator;
mod primitives;
mod profile;
pub mod query;
mod query_phase;
pub mod request;
mod rescore;
mod response;
pub mod score;
mod script;
mod shard;
mod shard_hits;
mod sort_key;
mod source;
mod suggest;
mod term_vectors;
mod terms_enum;
mod timers;
mod workers;

pub use cache::{CacheCounters, QueryCache, RequestCache, ShardCaches};
pub use context::{IndexRef, SearchContext, ShardSettings, ShardSnapshot};
pub use documents::{DocumentName, NamedDocument, NamedDocuments, RuledDocuments};
pub use error::{Error, Result, ShardFailure, root_cause};
pub use execute::{count, execute, execute_page};
pub use fetch::{describe, stored_values};
pub use held::index_scripts;
pub use held::{emitted_by_name, hold_document};
pub use limited::only_matching;
pub use percolator::index_queries;
pub use query::can_match;
pub use request::{CountRequest, SearchRequest, TermVectorsRequest, UrlParameters};
pub use response::{
    CountResponse, Cursor, PendingJoins, Rendering, SearchHit, SearchResponse, ShardsSummary, TotalHits,
};
pub use script::check_scripts as check_runtime_scripts;
pub use source::{SourceFilter, filter_source};
pub use source::{shown_source, source_of_stored, stored_source};
pub use term_vectors::term_vectors;
pub use terms_enum::{TermsEnumRequest, TermsEnumResponse, terms_enum};
pub use workers::Workers;
