//! Enrich policies: "from which index do documents get additional values?"
//!
//! A policy names source indices, a field that documents are matched on, and fields that are added to them.
//! Executing it copies these fields into an enrich index with the alias [`Policy::alias`], which the `enrich`
//! processor searches. Source: Elasticsearch's plugin `enrich`.

mod policy;

pub(crate) use policy::{Kind, Policy, check_name};

use limber_mapping::RequestError;
use serde_json::Value;

/// What the `enrich` processor needs from the node.
pub trait EnrichSource: Send + Sync {
    /// Checks that a policy was executed, so that there is an index to search.
    ///
    /// # Errors
    /// Fails when the policy was not executed or does not exist.
    fn check_executed(&self, policy: &str) -> Result<(), RequestError>;

    /// Returns the sources of at most `max_matches` documents that match `value`, as JSON.
    ///
    /// # Errors
    /// Fails like the search.
    fn matches(
        &self,
        policy: &str,
        value: &Value,
        max_matches: u32,
        shape_relation: &str,
    ) -> Result<Vec<String>, RequestError>;
}
