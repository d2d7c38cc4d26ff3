//! The page for browsers: "what is in this server, and what is it doing?"
//!
//! One HTML document, its style and its scripts written into it, so that its policy allows these alone by
//! their hashes. It only calls the API, so that what a user may not do there, the page cannot do either.
//! Reading order: [`document`] makes the page of its parts (`script/base.js` first), [`words`] is what its
//! console proposes, [`races`] what is kept of races on this machine, [`forward`] the command `limber page`,
//! which serves the page for another server, such as Elasticsearch.

pub mod document;
pub mod forward;
pub mod races;
pub mod words;
