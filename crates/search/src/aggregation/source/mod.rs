//! Readers of values for a batch of documents: as numbers, as ordinals, or as ids of keys.

mod accepts;
mod computed_terms;
mod field;
mod filled;
mod key_reader;
mod number_reader;
mod ordinal_reader;
mod summary;
mod weighted_reader;

pub use accepts::Accepts;
pub use computed_terms::ComputedTerms;
pub use field::Source;
pub use key_reader::KeyReader;
pub use number_reader::NumberReader;
pub use ordinal_reader::OrdinalReader;
pub use weighted_reader::WeightedReader;
