//! The queries by name, and those that Elasticsearch has but Limber does not.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::compound::{
    bool_query, boosting, constant_score, dis_max, function_score, match_all, pinned, rule, template, wrapper,
};
use super::full_text::{
    combined_fields, common_terms, intervals, match_phrase, match_text, more_like_this, multi_match,
    query_string, simple_query_string,
};
use super::geography::{geo_bounding_box, geo_distance, geo_grid, geo_polygon, geo_shape, shape};
use super::joining::{join, nested};
use super::parse::{Parser, Query};
use super::spans;
use super::specialized::{distance_feature, percolate, rank_feature, script, script_score};
use super::term_level::{exists, fuzzy, ids, prefix, range, regexp, term, terms, terms_set, wildcard};

/// Parses the object after a query's name.
pub(super) type Parse = fn(&Map<String, Value>, &mut Parser<'_>) -> Result<Query, RequestError>;

pub(super) const QUERIES: &[(&str, Parse)] = &[
    ("bool", bool_query::parse),
    ("boosting", boosting::parse),
    ("combined_fields", combined_fields::parse),
    ("common", common_terms::parse),
    ("constant_score", constant_score::parse),
    ("dis_max", dis_max::parse),
    ("distance_feature", distance_feature::parse),
    ("exists", exists::parse),
    ("field_masking_span", spans::parse_masked_by_former_name),
    ("function_score", function_score::parse),
    ("fuzzy", fuzzy::parse),
    ("geo_bounding_box", geo_bounding_box::parse),
    ("geo_distance", geo_distance::parse),
    ("geo_grid", geo_grid::parse),
    ("geo_polygon", geo_polygon::parse),
    ("geo_shape", geo_shape::parse),
    ("has_child", join::parse_has_child),
    ("has_parent", join::parse_has_parent),
    ("ids", ids::parse),
    ("intervals", intervals::parse),
    ("match", match_text::parse),
    ("match_all", match_all::parse),
    ("match_bool_prefix", match_text::parse_bool_prefix),
    ("match_none", match_all::parse_none),
    ("match_phrase", match_phrase::parse),
    ("match_phrase_prefix", match_phrase::parse_prefix),
    ("more_like_this", more_like_this::parse),
    ("multi_match", multi_match::parse),
    ("nested", nested::parse),
    ("parent_id", join::parse_parent_id),
    ("percolate", percolate::parse),
    ("pinned", pinned::parse),
    ("prefix", prefix::parse),
    ("query_string", query_string::parse),
    ("range", range::parse),
    ("rank_feature", rank_feature::parse),
    ("regexp", regexp::parse),
    ("rule", rule::parse),
    ("script", script::parse),
    ("script_score", script_score::parse),
    ("shape", shape::parse),
    ("simple_query_string", simple_query_string::parse),
    ("span_containing", spans::parse_containing),
    ("span_field_masking", spans::parse_masked),
    ("span_first", spans::parse_first),
    ("span_gap", spans::parse_gap),
    ("span_multi", spans::parse_multi),
    ("span_near", spans::parse_near),
    ("span_not", spans::parse_not),
    ("span_or", spans::parse_or),
    ("span_term", spans::parse_term),
    ("span_within", spans::parse_within),
    ("template", template::parse),
    ("term", term::parse),
    ("terms", terms::parse),
    ("terms_set", terms_set::parse),
    ("wildcard", wildcard::parse),
    ("wrapper", wrapper::parse),
];

/// Elasticsearch's other queries, which are refused by name.
pub(super) const UNSUPPORTED: &[&str] =
    &["knn", "semantic", "sparse_vector", "text_expansion", "weighted_tokens"];

/// Returns the names of all queries, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    QUERIES.iter().map(|(name, _)| *name)
}
