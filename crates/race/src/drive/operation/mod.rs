//! The operations that a task can run.
//!
//! There is one file for each operation type and one line in [`KINDS`]: `plan` checks the parameters and
//! builds the requests before the race. Names, parameters and requests are Rally's
//! (`esrally/driver/runner.py`, `esrally/track/params.py`). A type that is not in the table is refused by
//! name before the first request.

use crate::error::Error;
mod contract;
pub(super) mod documents;
mod flow;
mod indices;
mod planned;
mod requests;
pub(crate) mod searches;
mod upkeep;

pub(crate) use contract::{Answer, Failure, Operation, Outcome, Pending, Plan, Runner};

pub(crate) use planned::planned;

/// Builds an operation from its task, or returns what is wrong with its parameters.
pub(crate) type PlanFn = fn(&Plan<'_>) -> Result<Box<dyn Operation>, Error>;

/// Operation types and their planners. `model::operations` says which of them reports leave out by default.
pub(crate) const KINDS: &[(&str, PlanFn)] = &[
    ("bulk", documents::bulk::plan),
    ("search", searches::search::plan),
    ("scroll-search", searches::scroll_search::plan),
    ("paginated-search", searches::paginated_search::plan),
    ("composite-agg", searches::composite_agg::plan),
    ("composite", flow::composite::plan),
    ("open-point-in-time", searches::point_in_time::plan_open),
    ("close-point-in-time", searches::point_in_time::plan_close),
    ("submit-async-search", searches::async_search::plan_submit),
    ("get-async-search", searches::async_search::plan_get),
    ("delete-async-search", searches::async_search::plan_delete),
    ("sql", searches::sql::plan),
    ("esql", searches::esql::plan),
    ("esql-profile", searches::esql::plan_profile),
    ("field-caps", searches::field_caps::plan),
    ("downsample", indices::downsample::plan),
    ("run-until", flow::run_until::plan),
    ("raw-request", flow::raw_request::plan),
    ("force-merge", upkeep::force_merge::plan),
    ("index-stats", upkeep::index_stats::plan),
    ("node-stats", upkeep::node_stats::plan),
    ("sleep", flow::sleep::plan),
    ("cluster-health", upkeep::cluster_health::plan),
    ("refresh", upkeep::refresh::plan),
    ("put-pipeline", indices::put_pipeline::plan),
    ("put-settings", indices::put_settings::plan),
    ("create-index", indices::create_index::plan),
    ("delete-index", indices::delete_index::plan),
    ("create-index-template", indices::create_template::plan_index_template),
    ("delete-index-template", indices::delete_template::plan_index_template),
    ("create-composable-template", indices::create_template::plan_composable_template),
    ("delete-composable-template", indices::delete_template::plan_composable_template),
    ("create-component-template", indices::create_template::plan_component_template),
    ("delete-component-template", indices::delete_template::plan_component_template),
    ("create-data-stream", indices::data_stream::plan_create),
    ("delete-data-stream", indices::data_stream::plan_delete),
    ("create-ilm-policy", indices::ilm_policy::plan_create),
    ("delete-ilm-policy", indices::ilm_policy::plan_delete),
    ("shrink-index", indices::shrink_index::plan),
    ("enrich-policy", indices::enrich_policy::plan),
    ("create-snapshot-repository", upkeep::snapshot_repository::plan_create),
    ("delete-snapshot-repository", upkeep::snapshot_repository::plan_delete),
    ("create-snapshot", upkeep::snapshot::plan_create),
    ("restore-snapshot", upkeep::snapshot::plan_restore),
    ("wait-for-snapshot-create", upkeep::wait_for_snapshot::plan),
    ("wait-for-current-snapshots-create", upkeep::wait_for_snapshot::plan_current),
    ("wait-for-recovery", upkeep::wait_for_recovery::plan),
    ("create-transform", indices::transform::plan_create),
    ("start-transform", indices::transform::plan_start),
    ("wait-for-transform", upkeep::wait_for_transform::plan),
    ("delete-transform", indices::transform::plan_delete),
    ("transform-stats", indices::transform::plan_stats),
    ("create-ml-datafeed", upkeep::ml::plan_create_datafeed),
    ("delete-ml-datafeed", upkeep::ml::plan_delete_datafeed),
    ("start-ml-datafeed", upkeep::ml::plan_start_datafeed),
    ("stop-ml-datafeed", upkeep::ml::plan_stop_datafeed),
    ("create-ml-job", upkeep::ml::plan_create_job),
    ("delete-ml-job", upkeep::ml::plan_delete_job),
    ("open-ml-job", upkeep::ml::plan_open_job),
    ("close-ml-job", upkeep::ml::plan_close_job),
];
