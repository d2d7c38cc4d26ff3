//! "How is a number, a size, a time or a JSON document written?"
//!
//! `number` and `python_json` write as Python does, which Rally's files and tables show; `units` knows bytes
//! and their names, `shown` is what people read.

pub(crate) mod number;
pub(crate) mod python_json;
pub(crate) mod shown;
pub(crate) mod units;

pub(crate) use number::Number;
