//! How numbers, sizes, times and JSON documents are written.
//!
//! `number` and `python_json` write as Python does, for Rally's files and tables; `units` has bytes and their
//! names; `shown` formats figures for people.

pub(crate) mod number;
pub(crate) mod python_json;
pub(crate) mod shown;
pub(crate) mod units;

pub(crate) use number::Number;
