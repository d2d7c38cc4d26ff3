//! Search templates: "which text does this template give for these parameters?"
//!
//! Mustache with sections, inverted sections, comments and changed delimiters, and the functions that
//! Elasticsearch adds to it: `toJson`, `join` and `url`. Partials are refused by name, as there. `parse`
//! makes a tree of a text, `render` a text of the tree.
//!
//! Source: Elasticsearch's module `lang-mustache`.

mod parse;
mod render;

pub use parse::{Escape, Template};
