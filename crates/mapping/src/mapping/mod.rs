//! One index's mapping, compiled: "which field is this path, and what becomes of its values?"

mod build;
mod compile;
mod lookup;
mod visible;

pub(crate) use build::check_leaf;
pub use build::field_of_type;
pub use compile::Mapping;
pub use visible::shown_mapping;
