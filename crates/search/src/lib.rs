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
mod cache;
mod collect;
mod context;
mod error;
mod execute;
mod fetch;
pub mod geo;
mod held;
mod limited;
mod matcher;
mod percolator;
mod primitives;
pub mod query;
pub mod request;
mod response;
pub mod score;
mod script;
mod shard;
mod source;
mod suggest;
mod terms;
mod values;

pub use cache::{CacheCounters, QueryCache, RequestCache, ShardCaches};
pub use context::documents::{DocumentName, NamedDocument, NamedDocuments, RuledDocuments};
pub use context::version_type::VersionType;
pub use context::workers::Workers;
pub use context::{IndexRef, SearchContext, ShardSettings, ShardSnapshot};
pub use error::{CONTEXT_MISSING, Error, Result, ShardFailure, root_cause, store_error};
pub use execute::{RankedDocument, RankedDocuments, count, execute, execute_page, rank};
pub use fetch::{describe, stored_values};
pub use held::{emitted_by_name, hold_document, index_scripts};
pub use limited::only_matching;
pub use percolator::index_queries;
pub use query::{can_match, weighted_fields};
pub use request::{CountRequest, SearchRequest, TermVectorsRequest, UrlParameters};
pub use response::{
    CountResponse, Cursor, PendingJoins, Rendering, SearchHit, SearchResponse, ShardsSummary, TotalHits,
};
pub use score::check_similarity_scripts;
pub use script::check_scripts as check_runtime_scripts;
pub use source::{
    SourceFilter, filter_parsed, filter_source, read_document, shown_source, source_of_stored, stored_source,
};
pub use terms::term_vectors::term_vectors;
pub use terms::terms_enum::{TermsEnumRequest, TermsEnumResponse, terms_enum};
