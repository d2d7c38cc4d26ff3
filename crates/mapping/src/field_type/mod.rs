//! Field types: "what does a field of this type take, keep and answer?"
//!
//! One file a type (or a family that differs in one number), one line of [`FIELD_TYPES`], one test in the
//! type's file. `CONTRIBUTING.md` adds one step by step. Nobody else knows types: a document's values are
//! read by [`crate::field::Reads`], everything else asks the field.

mod binary;
mod boolean;
mod completion;
mod constant_keyword;
mod date;
mod flat_object;
mod flattened;
mod floating;
mod geo_point;
mod geo_shape;
mod ip;
mod join;
mod keyword;
mod match_only_text;
mod percolator;
mod range;
mod rank_feature;
mod scaled_float;
mod search_as_you_type;
mod table;
mod text;
mod text_part;
mod token_count;
mod unsigned_long;
mod version;
mod whole;
mod wildcard;

pub(crate) use constant_keyword::ConstantKeyword;
pub(crate) use keyword::Keyword;
#[cfg(test)]
pub(crate) use table::bare_range;
pub(crate) use table::{MISSING, find};
pub(crate) use whole::Whole;
