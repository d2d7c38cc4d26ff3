//! Enrich policies: "which index do documents get further values from?"
//!
//! A policy names indices, a field that documents are matched by, and fields that are added. Executing it
//! copies these fields into an index of its own, [`Policy::alias`], which the processor `enrich` searches.
//! Source: Elasticsearch's plugin `enrich`.

mod policy;

pub(crate) use policy::{Kind, Policy, check_name};

use limber_mapping::RequestError;
use serde_json::Value;

/// What the processor `enrich` asks of the node.
pub trait EnrichSource: Send + Sync {
    /// Whether a policy was executed, so that there is something to look in.
    ///
    /// # Errors
    /// It was not, or there is no such policy.
    fn check_executed(&self, policy: &str) -> Result<(), RequestError>;

    /// Sources of at most `max_matches` documents that match `value`, as JSON.
    ///
    /// # Errors
    /// Those of the search.
    fn matches(
        &self,
        policy: &str,
        value: &Value,
        max_matches: u32,
        shape_relation: &str,
    ) -> Result<Vec<String>, RequestError>;
}
