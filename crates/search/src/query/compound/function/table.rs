//! The score functions by name.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::{ScoreFunction, decay, field_value, random, script};

/// Parses the object after a function's name.
pub(in crate::query) type ParseFunction =
    fn(&str, &Map<String, Value>) -> Result<Box<dyn ScoreFunction>, RequestError>;

pub(in crate::query) const FUNCTIONS: &[(&str, ParseFunction)] = &[
    ("exp", decay::parse),
    ("field_value_factor", field_value::parse),
    ("gauss", decay::parse),
    ("linear", decay::parse),
    ("random_score", random::parse),
    ("script_score", script::parse),
];
