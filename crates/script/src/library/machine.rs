//! What a function of the library may ask of the script that calls it.

use std::sync::Arc;

use limber_mapping::date::DateFormat;

use crate::documents::FieldValues;
use crate::error::Outcome;
use crate::types::Binary;
use crate::values::{Extractor, Regex, Value};

/// A running script, as its library sees it. `at` is always the place in the source that errors name, in
/// UTF-16 units.
pub(crate) trait Machine {
    /// Accounts for what is about to be made: bytes of texts, and about 16 for an item.
    ///
    /// # Errors
    /// `painless_error` when the script has made as much as it may.
    fn grow(&mut self, amount: usize, at: u32) -> Outcome<()>;

    /// Ends a script whose time is used up, or whose request is.
    fn check_time(&self, at: u32) -> Outcome<()>;

    /// Refuses the change of a list or map that the script may not change.
    fn check_frozen(&mut self, target: &Value, at: u32) -> Outcome<()>;

    /// Refuses to put functions and patterns, which belong to one script, into what several scripts see.
    /// `name`: of the method.
    fn check_kept(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<()>;

    /// Calls a lambda, whose parameters are slots of the frame around.
    fn lambda(&mut self, lambda: &Value, arguments: &[Value], at: u32) -> Outcome<Value>;

    /// What an operator makes of two values.
    fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: u32) -> Outcome<Value>;

    /// The items of what can be walked.
    fn items(&mut self, list: &Value, at: u32) -> Outcome<Vec<Value>>;

    /// A parameter of the script; `_source` is the document's; [`Value::Null`] where there is none.
    fn param(&mut self, name: &str) -> Outcome<Value>;

    /// All parameters, as a map.
    fn params(&self) -> &Value;

    /// What the script is given in its first slot.
    fn given(&self) -> Option<&Value>;

    /// Whether the mapping has a field of this name.
    fn is_mapped(&self, name: &str) -> bool;

    /// Whether the mapping has the field with this number of the script.
    fn field_is_mapped(&self, field: u16) -> bool;

    /// The values of a field, and the place of the current document among theirs.
    fn reader(&mut self, field: u16, at: u32) -> Outcome<(&mut dyn FieldValues, usize)>;

    /// How many values the current document has.
    fn field_size(&mut self, field: u16, at: u32) -> Outcome<usize>;

    /// The value at place `nth` of the current document's.
    fn field_value(&mut self, field: u16, nth: usize, at: u32) -> Outcome<Value>;

    /// All values of the current document.
    fn field_values(&mut self, field: u16, at: u32) -> Outcome<Vec<Value>>;

    /// `randomScore(seed)` of the current document; `None`: there is none.
    fn random_by_place(&self, seed: i32) -> Option<f64>;

    /// `randomScore(seed, field)` for a value's bytes; `None`: there is no document.
    fn random_by_bytes(&self, bytes: &[u8], seed: i32) -> Option<f64>;

    /// How the script of a runtime field reads dates.
    fn date_format(&self) -> Option<&Arc<DateFormat>>;

    /// A regular expression of the script, by number.
    fn regex(&self, number: u16) -> &Regex;

    /// A `grok` or `dissect` of the script, by number.
    fn extractor(&self, number: u16) -> &Extractor;
}
