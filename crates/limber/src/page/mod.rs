//! The page for browsers: "what is in this server, and what is it doing?"
//!
//! It is one HTML document with inlined style and scripts, so that its policy can allow exactly these by
//! their hashes. It only calls the API, so the page cannot do anything that its user may not do.
//! Reading order: [`document`] assembles the page (`script/base.js` first), [`words`] lists what its console
//! proposes, [`races`] reads the races kept on this machine, and [`forward`] is the command `limber page`,
//! which serves the page for another server, such as Elasticsearch.

pub mod document;
pub mod forward;
pub mod races;
pub mod words;
