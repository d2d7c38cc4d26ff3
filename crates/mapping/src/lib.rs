//! Converts JSON to typed fields and tokens.
//!
//! Question answered: "what does this document, or this query term, mean under this index's mapping?"
//!
//! **Invariant**: does not access the disk. Parses user JSON with limits on depth, size and count; bad input
//! is a [`RequestError`], never a panic.

#![deny(missing_docs)]

pub mod analysis;
pub mod date;
mod definition;
pub mod document;
mod error;
mod error_class;
mod field;
mod field_type;
pub mod geo;
pub mod ip;
mod json;
mod mapping;
pub mod number;
pub mod reserved;
mod settings;
mod similarity;
mod synthetic;
pub mod testing;

pub use definition::data_stream::add_timestamp;
pub use definition::defaults::with_defaults;
pub use definition::derived::runtime_of_derived;
pub use definition::field_build::field_of_type;
pub use definition::{Dynamic, SourceRule, field_count};
pub use error::{RequestError, token, token_of_text, validation_failed};
pub use error_class::ErrorClass;
pub use field::completion::{
    CONTEXT_END, Completion, CompletionContext, ContextKind, Entry, GEO_PRECISION_DEFAULT,
    KEY_END as COMPLETION_KEY_END, TOKEN_END, geohash as geohash_of, precision as geohash_precision,
};
pub use field::feature::RankFeature;
pub use field::join::Relations;
pub use field::{
    DateContext, Ends, Field, FieldId, FieldSink, Flattened, FrequencyFilter, IntegerWidth, KEY_END,
    KEYED_PATH_END, LookedUp, Nested, NumberForm, Precision, RangeEnd, RangeKind, RangeRelation,
    RangesWanted, Representation, RuntimeScript, Selection, SpaceId, Summary, SummaryColumn, TermCodec,
    TextParts, TextPrefixes, TextShingles, ValueKind, keyed_path, scalar_text,
};
pub use json::copied::{claim_tree, copied_bytes, member_bytes};
pub use json::java::{java_class, java_text};
pub use json::object_parser::{ObjectParser, Subject};
pub use json::parsed::{claim_parsed, parse_source, tree_bytes};
pub use json::plain::plain_text;
pub use json::unique_keys::{SeenMembers, duplicate, duplicate_key, parse_leading, parse_unique};
pub use mapping::tree::ObjectNode;
pub use mapping::{Mapping, TSID, shown_mapping};
pub use settings::{IndexMode, Keep, Limits, MappingSettings, SourceMode};
pub use similarity::{
    AfterEffect, BasicModel, Distribution, Independence, Lambda, Normalization, ScriptedSimilarity,
    Similarities, Similarity,
};
pub use synthetic::{Rebuilt, Residue, SyntheticPlan, one_or_all};
