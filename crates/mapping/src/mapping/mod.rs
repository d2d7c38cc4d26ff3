//! One index's mapping, compiled: "which field is this path, and what becomes of its values?"

mod compile;
mod lookup;
mod synthetic_plan;
pub(crate) mod tree;
mod visible;

pub use compile::Mapping;
pub use visible::shown_mapping;
