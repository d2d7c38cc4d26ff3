//! Search templates: "what does this template render to with these parameters?"
//!
//! Mustache with sections, inverted sections, comments and changed delimiters, and the functions that
//! Elasticsearch adds to it: `toJson`, `join` and `url`. Partials are refused by name, as in Elasticsearch.
//! `parse` turns a template into a tree, `render` turns the tree into a string.
//!
//! Source: Elasticsearch's module `lang-mustache`.

mod parse;
mod render;

pub use parse::{Escape, Template, invalid};
