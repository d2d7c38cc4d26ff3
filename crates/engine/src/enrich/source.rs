//! What the processor `enrich` needs from the node.

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
