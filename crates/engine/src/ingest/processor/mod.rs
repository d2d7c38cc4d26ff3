//! The processors, one file each: "how does this step change the document?"
//!
//! Adding one is a file with a `parse` function and a line in [`PROCESSORS`].

mod append;
mod bytes;
mod convert;
mod csv;
mod date;
mod drop;
mod fail;
mod fingerprint;
mod grok;
mod gsub;
mod join;
mod json;
mod letter_case;
mod network_direction;
mod remove;
mod rename;
pub mod script;
mod set;
mod split;
mod text;
mod trim;
mod uri_parts;
mod urldecode;

use limber_mapping::RequestError;

use super::document::IngestDocument;
use super::options::Options;

/// What becomes of the document after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// The document is not indexed, and that is no failure.
    Dropped,
}

/// One compiled step.
pub trait Processor: Send + Sync + std::fmt::Debug {
    /// Changes the document or says why not, in Elasticsearch's words.
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError>;
}

/// Reads a processor's own options.
pub type Parse = fn(&mut Options) -> Result<Box<dyn Processor>, RequestError>;

/// Every processor but `pipeline`, which the runner itself executes, and `script`, which needs the scripts of the node.
pub const PROCESSORS: &[(&str, Parse)] = &[
    ("append", append::parse),
    ("bytes", bytes::parse),
    ("convert", convert::parse),
    ("csv", csv::parse),
    ("date", date::parse),
    ("drop", drop::parse),
    ("fail", fail::parse),
    ("fingerprint", fingerprint::parse),
    ("grok", grok::parse),
    ("gsub", gsub::parse),
    ("join", join::parse),
    ("json", json::parse),
    ("lowercase", letter_case::parse_lowercase),
    ("network_direction", network_direction::parse),
    ("remove", remove::parse),
    ("rename", rename::parse),
    ("set", set::parse),
    ("split", split::parse),
    ("trim", trim::parse),
    ("uppercase", letter_case::parse_uppercase),
    ("uri_parts", uri_parts::parse),
    ("urldecode", urldecode::parse),
];

/// Processors that Elasticsearch has and this server does not: refused by name, so that nobody thinks of a typing error.
pub const KNOWN_ELSEWHERE: &[&str] = &[
    "attachment",
    "circle",
    "community_id",
    "date_index_name",
    "dissect",
    "dot_expander",
    "enrich",
    "foreach",
    "geo_grid",
    "geoip",
    "html_strip",
    "inference",
    "ip_location",
    "kv",
    "redact",
    "registered_domain",
    "reroute",
    "set_security_user",
    "sort",
    "terminate",
    "user_agent",
];
