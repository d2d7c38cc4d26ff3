//! A mapped leaf field: "what are its values, and what can be done with it?"
//!
//! A [`Field`] has a type, which answers through `FieldType` (files of `field_type`), and a [`ValueKind`],
//! which describes its values to the code that reads them. The set of types is open: adding one changes
//! nothing here. The set of value kinds is closed.

pub(crate) mod completion;
mod declaration;
mod described;
pub(crate) mod feature;
mod frequency_filter;
pub(crate) mod join;
mod mapped;
mod number_range;
mod params;
mod query;
mod range_value;
mod scalar;
mod show;
mod sink;
mod summary;
mod value_kind;

pub(crate) use declaration::Leaf;
pub(crate) use described::{Dimension, FieldType, KeptIn, Location};
pub use frequency_filter::FrequencyFilter;
pub use mapped::{
    Field, FieldId, Flattened, KEY_END, KEYED_PATH_END, LookedUp, Representation, RuntimeScript, TextParts,
    TextPrefixes, TextShingles, keyed_path,
};
pub(crate) use number_range::{number_range, numbers};
pub(crate) use params::*;
pub use query::{DateContext, RangeEnd, Selection};
pub(crate) use query::{Wanted, double_of, for_input_string, text_of};
pub use range_value::{Ends, RangeKind, RangeRelation, RangesWanted};
pub(crate) use range_value::{RangeReader, block_of};
pub(crate) use scalar::{
    Cause, OwnedScalar, Reads, Scalar, Typed, cause, check_scalar, not_numeric, passed_as_string,
};
pub use show::TermCodec;
pub(crate) use show::float;
pub use show::scalar_text;
pub use sink::{FieldSink, Nested, SpaceId};
pub use summary::{Summary, SummaryColumn};
pub use value_kind::{IntegerWidth, NumberForm, Precision, ValueKind};
