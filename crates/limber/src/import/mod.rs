//! `limber import`: "here are my documents; bring them into this server".
//!
//! Documents come from a running Elasticsearch or OpenSearch ([`server`]) or from files ([`files`]: NDJSON,
//! bulk, CSV, access logs), are packed into bulk requests of bounded size ([`pack`]) and sent by a few
//! threads ([`sink`]). Only requests in flight are held in memory. The progress of an interrupted import is
//! kept ([`state`]). Documents from files get ids derived from their file and position, so that importing a
//! file again creates no duplicates. Reading order: [`command`], then the others in the order in which they
//! are named here.

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
