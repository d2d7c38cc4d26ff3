//! Requests of a malicious or broken client: the node survives, responds with Elasticsearch's errors, and
//! stays within its memory.
//!
//! `abuses/` has one file per kind of abuse; each has its own server.

mod abuses;
mod support;
