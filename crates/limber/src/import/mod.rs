//! `limber import`: "here are my documents; bring them into this server".
//!
//! Documents come from a running Elasticsearch or OpenSearch ([`server`]) or from files ([`files`]: NDJSON,
//! bulk, CSV, access logs), are packed into bulk requests of bounded size ([`pack`]) and sent by a few
//! threads ([`sink`]). What is in flight is all that memory holds. What an interrupted import had done is
//! kept ([`state`]); documents of files get ids made of their file and place, so that importing a file again
//! adds nothing twice. Reading order: [`command`], then the others as named.

mod access_log;
mod cluster;
pub mod command;
mod csv_rows;
mod files;
mod lines;
mod pack;
mod server;
mod sink;
mod state;
