//! The compiled mapping of one index: "which field has this path, and how are its values treated?"

mod compile;
mod lookup;
mod synthetic_plan;
pub(crate) mod tree;
mod visible;

pub use compile::Mapping;
pub use visible::shown_mapping;
