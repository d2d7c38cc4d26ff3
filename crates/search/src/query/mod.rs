//! Queries: which documents match, and with which score.
//!
//! A query is parsed once per request ([`parse_query`]), bound once per shard ([`bind`]: fields, statistics,
//! terms), and opened once per segment ([`crate::matcher`]). Each query is one file with its parser and its
//! binding, and one line in [`table::QUERIES`].
//!
//! The folders contain the queries, grouped as in Elasticsearch's reference; the files beside them are shared
//! by all queries.

mod compound;
mod full_text;
mod geography;
mod joining;
mod parse;
pub(crate) mod specialized;
mod table;
mod term_level;

mod lookup;
mod profiled;
mod runtime;
mod slice;
mod spans;
mod within;

mod bind;
mod bound;
mod bound_node;
mod cached;
mod can_match;
mod convert;
mod docs;
mod extract;
mod matching;
mod scoring;

pub(crate) use bind::{bind, bind_in, bind_to_mapped};
pub(crate) use bound::BoundQuery;
pub(crate) use bound_node::{CountedFrom, Part, WeightedPart, Whole};
pub(crate) use cached::cache_filters;
pub use can_match::can_match;
pub use extract::asked::{Asked, AskedVisitor, Occur};
pub(crate) use extract::required_terms::RequiredTerms;
pub(crate) use full_text::more_like_this::MoreLikeThisTerms;
pub use full_text::multi_match::weighted_fields;
pub(crate) use full_text::query_string::from_url;
pub use full_text::query_string::query_string;
pub(crate) use geography::geo_bounding_box::parse_corners;
pub(crate) use joining::inner_hits::InnerHitsRequest;
pub(crate) use joining::join::JoinedHits;
pub(crate) use joining::nested::{NestedMatches, no_nested_object};
pub(crate) use matching::MatchingDocs;
pub use parse::Query;
pub(crate) use parse::{QueryLimits, parse_query};
pub(crate) use profiled::{QueryTimes, profiled};
pub(crate) use slice::Slice;
pub(crate) use slice::within_slice;
pub(crate) use specialized::percolate::PercolateNode;
pub(crate) use specialized::percolate::{StoredQueries, matching_slots};
pub use table::names;
pub(crate) use term_level::fuzziness::Fuzziness;
pub use within::within;
pub(crate) use within::{only_filter, within_indices};
