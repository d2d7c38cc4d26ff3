//! `_cluster/voting_config_exclusions`: which nodes have no vote. The only node always has one.

use limber_engine::Result;
use limber_mapping::RequestError;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::nodes::selects;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_cluster`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(
        &[Method::Post],
        "/_cluster/voting_config_exclusions",
        &["node_ids", "node_names", "timeout", "master_timeout"],
        add,
    ),
    route(
        &[Method::Delete],
        "/_cluster/voting_config_exclusions",
        &["wait_for_removal", "master_timeout"],
        clear,
    ),
];

/// The nodes that a client has excluded: unknown ones, which have no vote anyway. They are shown in the state
/// of the cluster until they are cleared, or the server ends.
#[derive(Debug, Default)]
pub struct VotingExclusions(Mutex<Vec<(String, String)>>);

/// What is shown for the id or the name of a node that is not there.
const ABSENT: &str = "_absent_";
/// How many exclusions there may be. Source: `cluster.max_voting_config_exclusions`.
const EXCLUSIONS_MAX: usize = 10;

impl VotingExclusions {
    /// Returns `voting_config_exclusions` of the state of the cluster.
    pub fn to_json(&self) -> Value {
        let shown = |(id, name): &(String, String)| json!({"node_id": id, "node_name": name});
        self.0.lock().iter().map(shown).collect()
    }

    fn add(&self, ids: Vec<String>, names: Vec<String>) -> Result<()> {
        let ids = ids.into_iter().map(|id| (id, ABSENT.to_owned()));
        let names = names.into_iter().map(|name| (ABSENT.to_owned(), name));
        let mut excluded = self.0.lock();
        let mut all = excluded.clone();
        all.extend(ids.chain(names).filter(|one| !excluded.contains(one)));
        all.sort();
        all.dedup();
        if all.len() > EXCLUSIONS_MAX {
            let reason = format!("there may be at most [{EXCLUSIONS_MAX}] voting config exclusions");
            return Err(RequestError::illegal_argument(reason));
        }
        *excluded = all;
        Ok(())
    }
}

/// Accepts exclusions of unknown nodes, which have no vote anyway.
fn add(app: &App, request: &Request) -> Result<Response> {
    let (ids, names) = (request.list("node_ids"), request.list("node_names"));
    if ids.is_empty() == names.is_empty() {
        return Err(RequestError::illegal_argument("You must set [node_names] or [node_ids] but not both"));
    }
    request.time_ms("timeout")?;
    let is_own = |id: &String| id == app.node.node_id() || id == "*" || id == "_all" || selects(app, id);
    if ids.iter().chain(&names).any(is_own) {
        return Err(RequestError::illegal_argument(format!(
            "the voting configuration has only the node [{}], which cannot be excluded",
            app.node.config().node_name
        )));
    }
    app.voting_exclusions.add(ids, names)?;
    Ok(Response::empty(200))
}

fn clear(app: &App, request: &Request) -> Result<Response> {
    // The excluded nodes are not there, so none of them is left to wait for.
    request.flag_or("wait_for_removal", true)?;
    app.voting_exclusions.0.lock().clear();
    Ok(Response::empty(200))
}
