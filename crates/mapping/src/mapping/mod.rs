//! One index's mapping, compiled: "which field is this path, and what becomes of its values?"

mod build;
mod compile;
mod lookup;

pub(crate) use build::check_leaf;
pub use build::field_of_type;
pub use compile::Mapping;
