//! User agents: "which program, system and device does this header name?"
//!
//! `regexes.yaml` is uap-core 0.18 (<https://github.com/ua-parser/uap-core>, Apache-2.0, see LICENSE): the
//! patterns that Elasticsearch ships too, from another day. Users' own files of the same form lie in
//! `config/ingest-user-agent` below the data folder.

mod details;
mod device_type;
mod parsers;

pub use parsers::{DEFAULT, Parsers, UserAgentParser};
