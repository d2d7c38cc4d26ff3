//! Classes of `java.text`: numbers and dates as texts.

pub(super) mod decimal_format;
mod decimal_pattern;
pub(super) mod simple_date_format;
pub(super) mod time_conversion;
