//! Field types: "what does a field of this type accept, store and return?"
//!
//! One file per type (or per family of types that differ in one number), one line in [`FIELD_TYPES`], one
//! test in the type's file. `CONTRIBUTING.md` shows step by step how to add one. No other code knows types:
//! [`crate::field::Reads`] determines how a document's values are read, and everything else asks the field.

mod aggregate_metric_double;
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
mod histogram;
mod integer;
mod ip;
mod join;
mod keyword;
mod lookup;
mod match_only_text;
mod percolator;
mod point;
mod range;
mod rank_feature;
mod scaled_float;
mod search_as_you_type;
mod shape;
mod summary_part;
mod table;
mod text;
mod text_part;
mod token_count;
mod unsigned_long;
mod version;
mod wildcard;

pub(crate) use constant_keyword::ConstantKeyword;
pub(crate) use integer::Whole;
pub(crate) use keyword::Keyword;
pub(crate) use lookup::Lookup;
#[cfg(test)]
pub(crate) use table::bare_range;
pub(crate) use table::{MISSING, find};
