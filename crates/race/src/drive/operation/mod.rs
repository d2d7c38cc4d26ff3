//! What can a task do?
//!
//! One file an operation type, one line in [`KINDS`]: `plan` checks the parameters and builds the requests before the race.
//! Names, parameters and requests are Rally's (`esrally/driver/runner.py`, `esrally/track/params.py`). What is not in the
//! table is refused by name before the first request.

use crate::error::Error;
mod assertions;
mod async_search;
mod bulk;
pub(super) mod bulk_result;
pub(super) mod bulk_retry;
mod cluster_health;
mod composite;
mod composite_agg;
mod condition;
mod contract;
mod create_index;
mod create_template;
mod data_stream;
mod delete_index;
mod delete_template;
mod destructive;
mod downsample;
mod enrich_policy;
mod esql;
mod field_caps;
mod force_merge;
mod ilm_policy;
mod index_stats;
mod merge;
mod ml;
mod node_stats;
mod paginated_search;
mod paging;
mod planned;
mod point_in_time;
mod put_pipeline;
mod put_settings;
mod raw_request;
mod refresh;
mod requests;
mod retry;
mod run_until;
mod scroll_search;
mod search;
mod shrink_index;
mod sleep;
mod snapshot;
mod snapshot_repository;
mod sql;
pub(crate) mod terms_search;
mod transform;
mod wait_for_recovery;
mod wait_for_snapshot;
mod wait_for_transform;

pub(crate) use contract::{Answer, Failure, Operation, Outcome, Pending, Plan, Runner};

pub(crate) use planned::planned;

/// Builds an operation from its task, or says what is wrong with its parameters.
pub(crate) type PlanFn = fn(&Plan<'_>) -> Result<Box<dyn Operation>, Error>;

/// Operation types and their planners; which of them reports leave out by default is `model::operations`' knowledge.
pub(crate) const KINDS: &[(&str, PlanFn)] = &[
    ("bulk", bulk::plan),
    ("search", search::plan),
    ("scroll-search", scroll_search::plan),
    ("paginated-search", paginated_search::plan),
    ("composite-agg", composite_agg::plan),
    ("composite", composite::plan),
    ("open-point-in-time", point_in_time::plan_open),
    ("close-point-in-time", point_in_time::plan_close),
    ("submit-async-search", async_search::plan_submit),
    ("get-async-search", async_search::plan_get),
    ("delete-async-search", async_search::plan_delete),
    ("sql", sql::plan),
    ("esql", esql::plan),
    ("esql-profile", esql::plan_profile),
    ("field-caps", field_caps::plan),
    ("downsample", downsample::plan),
    ("run-until", run_until::plan),
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
    ("create-data-stream", data_stream::plan_create),
    ("delete-data-stream", data_stream::plan_delete),
    ("create-ilm-policy", ilm_policy::plan_create),
    ("delete-ilm-policy", ilm_policy::plan_delete),
    ("shrink-index", shrink_index::plan),
    ("enrich-policy", enrich_policy::plan),
    ("create-snapshot-repository", snapshot_repository::plan_create),
    ("delete-snapshot-repository", snapshot_repository::plan_delete),
    ("create-snapshot", snapshot::plan_create),
    ("restore-snapshot", snapshot::plan_restore),
    ("wait-for-snapshot-create", wait_for_snapshot::plan),
    ("wait-for-current-snapshots-create", wait_for_snapshot::plan_current),
    ("wait-for-recovery", wait_for_recovery::plan),
    ("create-transform", transform::plan_create),
    ("start-transform", transform::plan_start),
    ("wait-for-transform", wait_for_transform::plan),
    ("delete-transform", transform::plan_delete),
    ("transform-stats", transform::plan_stats),
    ("create-ml-datafeed", ml::plan_create_datafeed),
    ("delete-ml-datafeed", ml::plan_delete_datafeed),
    ("start-ml-datafeed", ml::plan_start_datafeed),
    ("stop-ml-datafeed", ml::plan_stop_datafeed),
    ("create-ml-job", ml::plan_create_job),
    ("delete-ml-job", ml::plan_delete_job),
    ("open-ml-job", ml::plan_open_job),
    ("close-ml-job", ml::plan_close_job),
];
