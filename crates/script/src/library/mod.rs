//! What scripts can call: "what does this method, static function or getter return for these values?"
//!
//! Each file has the signatures that the parser needs, and the functions themselves. A function reaches the
//! script that calls it only through its [`Machine`].
//!
//! **Invariant**: the library knows neither the tree of a script nor how it runs.

mod augmented;
mod calendar;
mod collection_statics;
mod collections;
mod collectors;
mod context;
mod dates;
mod geometry;
mod java;
mod machine;
mod methods;
pub mod moving_functions;
mod number_statics;
mod objects;
mod order;
mod patterns;
mod signatures;
mod sorted_maps;
mod statics;
mod store;
mod streams;
mod strings;
mod texts;
mod views;

use java::{comparators, format, processors};

pub(crate) use calendar::constant;
pub(crate) use context::{Decay, TOKEN_MEMBERS, call_built_in, field_items, token_member};
pub(crate) use dates::{DAYS, MONTHS, part_of_method, unit_nanos};
pub(crate) use java::is_constant;
pub(crate) use machine::Machine;
pub(crate) use methods::{call_method, field_named, get_index, get_member, is_change, set_index, set_member};
pub(crate) use number_statics::constant as number_constant;
pub(crate) use patterns::check_pattern_method;
pub(crate) use signatures::check_method;
pub(crate) use statics::{call_static, create_object, is_instance, math, math2, round, static_returns};
pub(crate) use streams::{statistics_of_stream, sum_of_stream};
pub(crate) use views::is_change_of_view;
