//! Aggregations that run on a sample of the documents.

mod best;
mod diversified;
mod random;
mod sampler;

pub use diversified::DiversifiedSampler;
pub use random::{RandomSampler, scaled};
pub use sampler::Sampler;
