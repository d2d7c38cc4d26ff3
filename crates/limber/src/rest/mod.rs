//! Elasticsearch's REST API: one file an endpoint family, each with its own table of routes; [`ROUTES`] lists the tables.
//!
//! Question answered: "which engine call is this request, and how does Elasticsearch word the answer?"

mod absent;
mod actions;
mod alias;
mod allocation;
mod analyze;
mod app;
mod async_search;
mod bodies;
mod bulk;
mod by_query;
mod cat;
mod cluster;
mod cluster_info;
mod cluster_stats;
mod count;
mod dangling;
mod data_stream;
mod data_stream_lifecycle;
mod disk_usage;
mod document;
#[cfg(test)]
mod endpoints;
mod enrich;
mod explain;
mod field_caps;
mod health_report;
mod ilm;
mod index;
mod info;
mod ingest;
mod license;
mod mapping;
mod mget;
mod migration;
mod msearch;
mod node_sections;
mod node_upkeep;
mod nodes;
mod options;
mod page;
mod painless_execute;
mod placement;
mod point_in_time;
mod prometheus;
mod query_rules;
mod rank_eval;
mod reindex;
mod resize;
mod rollover;
mod router;
mod script;
mod script_context;
mod scroll;
mod search;
mod search_pipeline;
mod search_template;
mod search_usage;
mod security;
mod settings;
mod snapshot;
mod snapshot_lifecycle;
mod snapshot_repository;
mod source_filter;
mod stats;
mod synonyms;
mod tasks;
mod template;
mod term_vectors;
mod terms_enum;
mod transform;
mod upkeep;
mod usage;
mod usage_names;
mod validate;
mod voting;

pub use actions::action_of;
pub use app::{App, AppConfig};
pub use bodies::check_body;
pub use cat::human_bytes;
pub use info::build_hash;
pub use page::words_of_routes;
pub use router::{Resolved, Route};

/// Every route of the server.
pub const ROUTES: &[&[Route]] = &[
    info::ROUTES,
    page::ROUTES,
    bulk::ROUTES,
    document::ROUTES,
    mget::ROUTES,
    search::ROUTES,
    search_pipeline::ROUTES,
    search_template::ROUTES,
    msearch::ROUTES,
    async_search::ROUTES,
    rank_eval::ROUTES,
    scroll::ROUTES,
    point_in_time::ROUTES,
    count::ROUTES,
    dangling::ROUTES,
    by_query::ROUTES,
    reindex::ROUTES,
    index::ROUTES,
    data_stream::ROUTES,
    data_stream_lifecycle::ROUTES,
    resize::ROUTES,
    rollover::ROUTES,
    ilm::ROUTES,
    snapshot_repository::ROUTES,
    snapshot::ROUTES,
    snapshot_lifecycle::ROUTES,
    mapping::ROUTES,
    settings::ROUTES,
    alias::ROUTES,
    template::ROUTES,
    upkeep::ROUTES,
    stats::ROUTES,
    disk_usage::ROUTES,
    cluster::ROUTES,
    cluster_info::ROUTES,
    cluster_stats::ROUTES,
    migration::ROUTES,
    allocation::ROUTES,
    nodes::ROUTES,
    node_upkeep::ROUTES,
    usage::ROUTES,
    prometheus::ROUTES,
    license::ROUTES,
    health_report::ROUTES,
    tasks::ROUTES,
    ingest::ROUTES,
    enrich::ROUTES,
    transform::ROUTES,
    painless_execute::ROUTES,
    script::ROUTES,
    synonyms::ROUTES,
    query_rules::ROUTES,
    script_context::ROUTES,
    analyze::ROUTES,
    explain::ROUTES,
    field_caps::ROUTES,
    term_vectors::ROUTES,
    terms_enum::ROUTES,
    validate::ROUTES,
    voting::ROUTES,
    placement::ROUTES,
    cat::ROUTES,
    security::ROUTES,
    absent::ROUTES,
    absent::FAMILIES,
];
