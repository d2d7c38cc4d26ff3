//! What can a task do?
//!
//! One file an operation type, one line in [`KINDS`]: `plan` checks the parameters and builds the requests before the race.
//! Names, parameters and requests are Rally's (`esrally/driver/runner.py`, `esrally/track/params.py`). What is not in the
//! table is refused by name before the first request.

mod assertions;
mod bulk;
mod cluster_health;
mod contract;
mod create_index;
mod create_template;
mod delete_index;
mod delete_template;
mod destructive;
mod force_merge;
mod index_stats;
mod merge;
mod node_stats;
mod put_pipeline;
mod put_settings;
mod raw_request;
mod refresh;
mod requests;
mod retry;
mod scroll_search;
mod search;
mod sleep;
mod terms_search;

pub use contract::{Answer, ErrorNote, Failure, Operation, Outcome, Plan, Runner};

/// Builds an operation from its task, or says what is wrong with its parameters.
pub type PlanFn = fn(&Plan<'_>) -> Result<Box<dyn Operation>, String>;

/// Operation types and their planners; which of them reports leave out by default is `load::operations`' knowledge.
pub const KINDS: &[(&str, PlanFn)] = &[
    ("bulk", bulk::plan),
    ("search", search::plan),
    ("scroll-search", scroll_search::plan),
    ("raw-request", raw_request::plan),
    ("force-merge", force_merge::plan),
    ("index-stats", index_stats::plan),
    ("node-stats", node_stats::plan),
    ("sleep", sleep::plan),
    ("cluster-health", cluster_health::plan),
    ("refresh", refresh::plan),
    ("put-pipeline", put_pipeline::plan),
    ("put-settings", put_settings::plan),
    ("create-index", create_index::plan),
    ("delete-index", delete_index::plan),
    ("create-index-template", create_template::plan_index_template),
    ("delete-index-template", delete_template::plan_index_template),
    ("create-composable-template", create_template::plan_composable_template),
    ("delete-composable-template", delete_template::plan_composable_template),
    ("create-component-template", create_template::plan_component_template),
    ("delete-component-template", delete_template::plan_component_template),
];
