//! The compiled mapping of one index: "which field has this path, and how are its values treated?"

mod compile;
mod lookup;
mod series_plan;
mod synthetic_plan;
pub(crate) mod tree;
mod visible;

pub use compile::Mapping;
pub(crate) use series_plan::SeriesPlan;
pub use series_plan::TSID;
pub use visible::shown_mapping;
