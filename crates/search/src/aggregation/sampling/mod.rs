//! Aggregations over a part of the documents: which documents speak for all?

mod best;
mod diversified;
mod random;
mod sampler;

pub use diversified::DiversifiedSampler;
pub use random::{RandomSampler, scaled};
pub use sampler::Sampler;
