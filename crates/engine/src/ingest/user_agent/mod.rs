//! User agents: "which program, system and device does this header name?"
//!
//! `regexes.yaml` is uap-core 0.18 (<https://github.com/ua-parser/uap-core>, Apache-2.0, see LICENSE).
//! Elasticsearch uses another version of the same patterns. Users can put their own files of the same form
//! into `config/ingest-user-agent` in the data folder.

mod details;
mod device_type;
mod parsers;

pub use parsers::{DEFAULT, Parsers, UserAgentParser};
