//! All processors of search pipelines, by name.

use std::sync::Arc;

use limber_script::Scripts;
use limber_search::{SearchRequest, SearchResponse};

use super::{
    collapse, filter_query, oversample, rename_field, routing_search, script, sort, split, truncate_hits,
};
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::verbose::ShownBody;

/// A processor that runs before the search.
pub(crate) trait ChangesRequest {
    /// Changes the search, or fails with the reason.
    fn change(&self, request: &mut SearchRequest, run: &mut PipelineRun) -> Result<()>;

    /// Makes the same change in the body that a verbose pipeline shows, after [`ChangesRequest::change`] made
    /// it in `request`.
    fn show(&self, request: &SearchRequest, shown: &mut ShownBody);
}

/// A processor that runs after the search.
pub(crate) trait ChangesResponse {
    /// Changes the response, or fails with the reason.
    fn change(&self, response: &mut SearchResponse, run: &mut PipelineRun) -> Result<()>;
}

/// Parses a processor's own options.
pub(crate) type Parse<P> = fn(&mut Options, &Arc<Scripts>) -> Result<Box<P>>;

/// Processors of `request_processors`.
pub(crate) const REQUEST: &[(&str, Parse<dyn ChangesRequest>)] = &[
    ("acl_routing_search", routing_search::parse_acl),
    ("filter_query", filter_query::parse),
    ("hierarchical_routing_search", routing_search::parse_hierarchical),
    ("oversample", oversample::parse),
    ("script", script::parse),
    ("temporal_routing_search", routing_search::parse_temporal),
];

/// Processors of `response_processors`.
pub(crate) const RESPONSE: &[(&str, Parse<dyn ChangesResponse>)] = &[
    ("collapse", collapse::parse),
    ("rename_field", rename_field::parse),
    ("sort", sort::parse),
    ("split", split::parse),
    ("truncate_hits", truncate_hits::parse),
];

/// Processors that OpenSearch and its plugins have and Limber has not. The error says so, so that users do
/// not look for a typing error.
pub(crate) const UNSUPPORTED: &[&str] = &[
    "agentic_context",
    "agentic_query_translator",
    "explanation-response-processor",
    "hybrid_score_explanation",
    "ml_inference",
    "neural_query_enricher",
    "neural_sparse_two_phase_processor",
    "normalization-processor",
    "personalize_search_ranking",
    "rerank",
    "retrieval_augmented_generation",
    "score-ranker-processor",
    "semantic-highlighter",
];
