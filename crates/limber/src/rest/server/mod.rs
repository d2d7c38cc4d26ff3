//! Endpoints for operating the node and its single-node cluster: health, statistics, tasks, licence, metrics,
//! the page.

pub(super) mod allocation;
pub(super) mod certificates;
pub(super) mod cluster;
pub(super) mod cluster_info;
pub(super) mod cluster_stats;
pub(super) mod decommission;
pub(super) mod health_report;
pub(super) mod info;
pub(super) mod license;
pub(super) mod node_info;
pub(super) mod node_sections;
pub(super) mod node_upkeep;
pub(super) mod nodes;
pub(super) mod open_search_sections;
pub(super) mod page;
pub(super) mod prometheus;
pub(super) mod reroute;
pub(super) mod tasks;
pub(super) mod usage;
pub(super) mod usage_names;
pub(super) mod voting;
pub(super) mod xpack_usage;
