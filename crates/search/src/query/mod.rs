//! Queries: "which documents, with which score?"
//!
//! A query is parsed once a request ([`parse_query`]), bound once a shard ([`bind`]: fields, statistics, terms), and opened once a
//! segment ([`crate::matcher`]). Each query is one file with its parser and its binding, and one line in [`table::QUERIES`].

mod parse;
mod table;

mod bool_query;
mod boosting;
mod combined_fields;
mod constant_score;
mod cross_fields;
mod dis_max;
mod distance_feature;
mod exists;
mod flattened;
mod function;
mod function_score;
mod fuzzy;
mod geo;
mod geo_bounding_box;
mod geo_distance;
mod geo_grid;
mod geo_polygon;
mod geo_shape;
mod ids;
mod intervals;
mod join;
mod lenient;
mod lookup;
mod match_all;
mod match_phrase;
mod match_text;
mod more_like_this;
mod multi_match;
mod nested;
pub(crate) mod percolate;
mod phrase_parts;
mod pinned;
mod prefix;
mod profiled;
mod query_string;
mod query_string_syntax;
mod range;
mod rank_feature;
mod regexp;
mod runtime;
mod script;
mod script_score;
mod simple_query_string;
mod simple_query_string_syntax;
mod slice;
mod spans;
mod synonym;
mod term;
mod terms;
mod terms_set;
mod token_graph;
mod wildcard;
mod within;
mod wrapper;

mod bind;
mod bound;
mod bound_node;
mod cached;
mod can_match;
mod convert;
mod docs;
mod fuzziness;
mod matching;
mod minimum_should_match;
mod required_terms;
mod rewrite;
mod scoring;

/// Names of the queries there are, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    table::QUERIES.iter().map(|(name, _)| *name)
}

pub use bind::{Binder, bind};
pub(crate) use bind::{Occasion, bind_in, bind_on, bind_to_mapped};
pub use bound::BoundQuery;
pub(crate) use bound_node::{Part, WeightedPart, Whole};
pub(crate) use cached::cache_filters;
pub use can_match::can_match;
pub(crate) use fuzziness::Fuzziness;
pub(crate) use geo_bounding_box::parse_corners;
pub(crate) use join::JoinedHits;
pub use matching::MatchingDocs;
pub(crate) use more_like_this::Likeness;
pub(crate) use nested::{NestedNode, no_nested_object};
pub use parse::{Query, QueryLimits, QueryNode, parse_query};
pub(crate) use percolate::PercolateNode;
pub(crate) use percolate::{StoredQueries, matching_slots};
pub(crate) use profiled::{QueryTimes, profiled};
pub use query_string::from_url;
pub(crate) use required_terms::RequiredTerms;
pub(crate) use slice::within_slice;
pub use within::{AliasFilter, within, within_aliases};
