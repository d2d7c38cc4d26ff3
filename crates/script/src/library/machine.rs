//! The interface between a library function and the script that calls it.

use std::sync::Arc;

use limber_mapping::date::DateFormat;

use crate::documents::FieldValues;
use crate::error::Outcome;
use crate::outside::Outside;
use crate::types::Binary;
use crate::values::{Extractor, Regex, Value};

/// A running script, as the library sees it. `at` is always the position in the source that errors name, in
/// UTF-16 units.
pub(crate) trait Machine {
    /// Accounts for memory that a call takes and that its result does not show: items added to a list, or
    /// text added to a builder. A text counts its bytes, an item about 16. The machine itself charges a
    /// returned value that nothing else refers to.
    ///
    /// # Errors
    /// `painless_error` when the script has made as much as it may.
    fn grow(&mut self, amount: usize, at: u32) -> Outcome<()>;

    /// Refuses a result that will not fit, before it is computed. Called for results that may be much larger
    /// than their inputs.
    ///
    /// # Errors
    /// As for [`Machine::grow`].
    fn check_room(&self, amount: usize, at: u32) -> Outcome<()>;

    /// Ends a script whose own time, or whose request's time, is used up.
    fn check_time(&self, at: u32) -> Outcome<()>;

    /// Counts work of some 10 nanoseconds a step, and checks the time after many steps.
    ///
    /// # Errors
    /// As for [`Machine::check_time`].
    fn spend(&mut self, steps: usize, at: u32) -> Outcome<()>;

    /// Records the lists, maps and sets that a value consists of, before the value is put into another one.
    /// The machine itself records a returned value. What is recorded is freed even if it contains itself.
    fn note_made(&mut self, value: &Value);

    /// Returns when the request began, as text, if the script may know it.
    fn timestamp(&self) -> Option<&Arc<str>>;

    /// Returns the clock and the random numbers of the script.
    fn outside(&self) -> &dyn Outside;

    /// Refuses to change a list or map that the script may not change.
    fn check_frozen(&mut self, target: &Value, at: u32) -> Outcome<()>;

    /// Refuses to store a function or pattern, which belongs to one script, in a value that several scripts
    /// see.
    fn check_kept(&self, value: &Value, at: u32) -> Outcome<()>;

    /// Calls a lambda, whose parameters are slots of the enclosing frame.
    fn lambda(&mut self, lambda: &Value, arguments: &[Value], at: u32) -> Outcome<Value>;

    /// Whether a lambda takes this number of arguments; a reference to a function may take any.
    fn takes(&self, lambda: &Value, count: usize) -> bool;

    /// Applies an operator to two values.
    fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: u32) -> Outcome<Value>;

    /// Returns the items of a value that can be iterated.
    fn items(&mut self, list: &Value, at: u32) -> Outcome<Vec<Value>>;

    /// Returns a parameter of the script; `_source` is the document's. [`Value::Null`] if there is none.
    fn param(&mut self, name: &str) -> Outcome<Value>;

    /// Returns all parameters, as a map.
    fn params(&self) -> &Value;

    /// Returns the value that the script is given in its first slot.
    fn given(&self) -> Option<&Value>;

    /// Returns the number of the field with this name; `None` if the script cannot read it.
    fn field_named(&self, name: &str) -> Option<u16>;

    /// Whether the mapping has a field of this name.
    fn is_mapped(&self, name: &str) -> bool;

    /// Whether the mapping has the field with this number of the script.
    fn field_is_mapped(&self, field: u16) -> bool;

    /// Returns the values of a field in the batch, and the current document's index in it.
    fn reader(&mut self, field: u16, at: u32) -> Outcome<(&mut dyn FieldValues, usize)>;

    /// Returns how many values the current document has.
    fn field_size(&mut self, field: u16, at: u32) -> Outcome<usize>;

    /// Returns value `nth` of the current document.
    fn field_value(&mut self, field: u16, nth: usize, at: u32) -> Outcome<Value>;

    /// Returns all values of the current document.
    fn field_values(&mut self, field: u16, at: u32) -> Outcome<Vec<Value>>;

    /// Returns `randomScore(seed)` of the current document; `None` if there is no document.
    fn random_by_doc(&self, seed: i32) -> Option<f64>;

    /// Returns `randomScore(seed, field)` for a value's bytes; `None` if there is no document.
    fn random_by_bytes(&self, bytes: &[u8], seed: i32) -> Option<f64>;

    /// Returns the format in which the script of a runtime field reads dates.
    fn date_format(&self) -> Option<&Arc<DateFormat>>;

    /// Returns a regular expression of the script, by number.
    fn regex(&self, number: u16) -> &Regex;

    /// Returns a `grok` or `dissect` of the script, by number.
    fn extractor(&self, number: u16) -> &Extractor;
}
