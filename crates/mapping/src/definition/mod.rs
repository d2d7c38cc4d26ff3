//! The mapping as written: "what did the user declare, and may this update change it?"
//!
//! A definition is the tree that `PUT _mapping` sends and `GET _mapping` returns, validated and without
//! defaults. [`crate::Mapping`] is compiled from it.

mod additions;
mod check;
mod count;
pub mod data_stream;
pub mod defaults;
pub mod derived;
pub(crate) mod field_build;
pub(crate) mod field_script;
mod flat;
mod lookup;
mod merge;
mod parse;
mod properties;
mod render;
pub(crate) mod runtime;
mod source;
mod templates;
mod time_series;
mod tree;

pub(crate) use additions::check_additions;
pub(crate) use count::{
    dimension_fields_exceeded, nested_fields_exceeded, nested_parents_exceeded, total_fields_exceeded,
};
pub use count::{field_count, path_bytes};
pub(crate) use merge::merge;
pub(crate) use parse::{depth_exceeded, dynamic, joined, names_from, parse, wrapped};
pub(crate) use render::render;
pub(crate) use runtime::RuntimeFields;
pub use source::SourceRule;
pub(crate) use templates::Template;
pub(crate) use time_series::{series_keys, tsid};
pub use tree::Dynamic;
pub(crate) use tree::{Includes, Node, Object, Root};
