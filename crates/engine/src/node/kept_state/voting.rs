//! Voting configuration exclusions: nodes that a client has excluded from elections. The only node of this
//! cluster always has a vote, so those are unknown ones. They are stored and shown until they are cleared.
//!
//! Source: `CoordinationMetadata#getVotingConfigExclusions`, `TransportAddVotingConfigExclusionsAction`.

use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::api::Result;
use crate::node::Node;

/// What is shown for the id or the name of a node that is not there.
const ABSENT: &str = "_absent_";
/// How many exclusions there may be. Source: `cluster.max_voting_config_exclusions`.
const EXCLUSIONS_MAX: usize = 10;

impl Node {
    /// Adds exclusions of unknown nodes, by id or by name.
    ///
    /// # Errors
    /// There would be too many of them, the cluster takes no changes, or the disk fails.
    pub fn add_voting_exclusions(&self, ids: &[String], names: &[String]) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let by_id = ids.iter().map(|id| json!({"node_id": id, "node_name": ABSENT}));
        let by_name = names.iter().map(|name| json!({"node_id": ABSENT, "node_name": name}));
        let mut all = self.state.load().voting_exclusions.clone();
        for one in by_id.chain(by_name) {
            if all.contains(&one) {
                continue;
            }
            if all.len() == EXCLUSIONS_MAX {
                let reason = format!("there may be at most [{EXCLUSIONS_MAX}] voting config exclusions");
                return Err(RequestError::illegal_argument(reason));
            }
            all.push(one);
        }
        all.sort_by_key(|one| (one["node_id"].to_string(), one["node_name"].to_string()));
        self.change_state(|state| state.voting_exclusions = all)
    }

    /// Removes all exclusions.
    ///
    /// # Errors
    /// The cluster takes no changes, or the disk fails.
    pub fn clear_voting_exclusions(&self) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        match self.state.load().voting_exclusions.is_empty() {
            true => Ok(()),
            false => self.change_state(|state| state.voting_exclusions.clear()),
        }
    }

    /// Returns `voting_config_exclusions` of the state of the cluster.
    pub(super) fn voting_exclusions(&self) -> Value {
        Value::Array(self.state.load().voting_exclusions.clone())
    }
}
