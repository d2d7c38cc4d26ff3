//! The processors, one file each: "how does this step change the document?"
//!
//! To add a processor, add a file with a `parse` function and a line in [`PROCESSORS`].

mod append;
mod bytes;
mod circle;
mod community_id;
mod contract;
mod convert;
mod copy;
mod csv;
mod date;
mod date_index_name;
mod dissect;
mod dot_expander;
mod drop;
pub mod enrich;
pub(super) mod fail;
mod fingerprint;
mod flat_fingerprint;
pub mod geoip;
mod grok;
mod gsub;
mod html_strip;
mod join;
mod json;
mod kv;
mod letter_case;
mod network_direction;
mod redact;
mod registered_domain;
mod remove;
mod remove_by_pattern;
mod rename;
mod reroute;
mod routing_hash;
pub mod script;
mod set;
mod set_security_user;
mod sort;
mod split;
mod split_to_fields;
mod terminate;
mod text;
mod trim;
mod uri_parts;
mod urldecode;
pub mod user_agent;

pub use contract::{Flow, Parse, Processor};

pub(crate) use text::pieces;

/// The processors that [`crate::ingest`] parses itself: they run other processors or need resources of the
/// node.
pub const WITH_RESOURCES: [&str; 7] =
    ["enrich", "foreach", "geoip", "ip_location", "pipeline", "script", "user_agent"];

/// Every processor except those [with resources](WITH_RESOURCES).
pub const PROCESSORS: &[(&str, Parse)] = &[
    ("acl_routing", routing_hash::parse_acl),
    ("append", append::parse),
    ("bytes", bytes::parse),
    ("circle", circle::parse),
    ("community_id", community_id::parse),
    ("convert", convert::parse),
    ("copy", copy::parse),
    ("csv", csv::parse),
    ("date", date::parse),
    ("date_index_name", date_index_name::parse),
    ("dissect", dissect::parse),
    ("dot_expander", dot_expander::parse),
    ("drop", drop::parse),
    ("fail", fail::parse),
    ("fingerprint", fingerprint::parse),
    ("grok", grok::parse),
    ("gsub", gsub::parse),
    ("hierarchical_routing", routing_hash::parse_hierarchical),
    ("html_strip", html_strip::parse),
    ("join", join::parse),
    ("json", json::parse),
    ("kv", kv::parse),
    ("lowercase", letter_case::parse_lowercase),
    ("network_direction", network_direction::parse),
    ("redact", redact::parse),
    ("registered_domain", registered_domain::parse),
    ("remove", remove::parse),
    ("remove_by_pattern", remove_by_pattern::parse),
    ("rename", rename::parse),
    ("reroute", reroute::parse),
    ("set", set::parse),
    ("set_security_user", set_security_user::parse),
    ("sort", sort::parse),
    ("split", split::parse),
    ("split_to_fields", split_to_fields::parse),
    ("temporal_routing", routing_hash::parse_temporal),
    ("terminate", terminate::parse),
    ("trim", trim::parse),
    ("uppercase", letter_case::parse_uppercase),
    ("uri_parts", uri_parts::parse),
    ("urldecode", urldecode::parse),
];

/// Processors that Elasticsearch has and Limber has not. The error says so, so that users do not look for a
/// typing error.
pub const UNSUPPORTED: &[&str] = &["attachment", "cef", "geo_grid", "inference"];
