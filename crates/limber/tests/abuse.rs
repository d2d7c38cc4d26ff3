//! What an ill-meaning or broken client may send: the node lives, answers as Elasticsearch words it, and
//! keeps its memory.
//!
//! `abuses/` holds one file a kind of abuse; each abuses a server of its own.

mod abuses;
mod support;
