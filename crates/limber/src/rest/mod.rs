//! Elasticsearch's REST API: one file per endpoint family, each with its own table of routes. [`ROUTES`]
//! lists the tables.
//!
//! Question answered: "which engine call is this request, and how does Elasticsearch phrase the response?"

mod absent;
mod actions;
mod app;
mod automation;
mod bodies;
mod cat;
mod documents;
#[cfg(test)]
mod endpoints;
mod human;
mod indices;
mod options;
mod router;
mod searches;
mod security;
mod server;

pub use actions::action_of;
pub use app::{App, AppConfig};
pub use bodies::{check_body, is_stream};
pub use router::{Resolved, Route};
pub use server::info::build_hash;
pub use server::page::words_of_routes;

/// All routes of the server.
pub const ROUTES: &[&[Route]] = &[
    server::info::ROUTES,
    server::page::ROUTES,
    documents::bulk::ROUTES,
    documents::document::ROUTES,
    documents::mget::ROUTES,
    searches::search::ROUTES,
    searches::search_pipeline::ROUTES,
    searches::search_template::ROUTES,
    searches::msearch::ROUTES,
    searches::mvt::ROUTES,
    searches::async_search::ROUTES,
    searches::rank_eval::ROUTES,
    searches::scroll::ROUTES,
    searches::point_in_time::ROUTES,
    searches::pits::ROUTES,
    searches::count::ROUTES,
    indices::dangling::ROUTES,
    documents::by_query::ROUTES,
    documents::reindex::ROUTES,
    indices::index::ROUTES,
    indices::data_stream::ROUTES,
    indices::data_stream_lifecycle::ROUTES,
    indices::data_stream_overrides::ROUTES,
    indices::resize::ROUTES,
    indices::rollover::ROUTES,
    automation::ilm::ROUTES,
    automation::snapshot_repository::ROUTES,
    automation::snapshot::ROUTES,
    automation::snapshot_lifecycle::ROUTES,
    indices::mapping::ROUTES,
    indices::settings::ROUTES,
    indices::alias::ROUTES,
    indices::template::ROUTES,
    indices::upkeep::ROUTES,
    indices::stats::ROUTES,
    indices::disk_usage::ROUTES,
    indices::field_usage::ROUTES,
    server::cluster::ROUTES,
    server::cluster_info::ROUTES,
    server::cluster_stats::ROUTES,
    indices::migration::ROUTES,
    server::allocation::ROUTES,
    server::reroute::ROUTES,
    server::node_info::ROUTES,
    server::nodes::ROUTES,
    server::node_upkeep::ROUTES,
    server::usage::ROUTES,
    server::prometheus::ROUTES,
    server::license::ROUTES,
    server::certificates::ROUTES,
    server::health_report::ROUTES,
    server::tasks::ROUTES,
    automation::ingest::ROUTES,
    automation::enrich::ROUTES,
    automation::transform::ROUTES,
    automation::painless_execute::ROUTES,
    automation::script::ROUTES,
    indices::synonyms::ROUTES,
    searches::query_rules::ROUTES,
    automation::script_context::ROUTES,
    indices::analyze::ROUTES,
    searches::explain::ROUTES,
    searches::field_caps::ROUTES,
    documents::term_vectors::ROUTES,
    searches::terms_enum::ROUTES,
    searches::validate::ROUTES,
    server::decommission::ROUTES,
    server::voting::ROUTES,
    indices::placement::ROUTES,
    cat::ROUTES,
    security::ROUTES,
    absent::ROUTES,
    absent::FAMILIES,
];
