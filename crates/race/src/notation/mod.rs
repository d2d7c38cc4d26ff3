//! "How is a number, a size, a time or a JSON document written?"
//!
//! `number` and `python_json` write as Python does, which Rally's files and tables show; `units` knows bytes and their names, `shown` is
//! what people read.

pub mod number;
pub mod python_json;
pub mod shown;
pub mod units;

pub use number::Number;
