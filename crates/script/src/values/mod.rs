//! Values of a running script: "what is this in Java, how does it print, compare, cast?"
//!
//! **Invariant**: values do not know their script. A value that is a function, a pattern or a field is a
//! number that only a running script can resolve.

mod builder;
mod containers;
mod date_value;
mod extract;
mod field_part;
mod json;
mod map;
mod object;
mod operators;
mod regex;
mod settled;
mod value;

pub use builder::Builder;
pub(crate) use containers::{dismantle, each_container, each_new, identity, is_container, is_of_one_script};
pub use date_value::DateValue;
pub(crate) use extract::Extractor;
pub(crate) use field_part::{date_part, part_of};
pub(crate) use map::{MapOrder, MapValue, put, remove};
pub use object::JavaObject;
pub(crate) use object::nesting_of;
pub(crate) use regex::{Matcher, Regex, after, byte_of};
pub use settled::{Kept, Origin, Settled, check_references};
pub(crate) use value::STEPS_MAX;
pub use value::{Closure, Value};
