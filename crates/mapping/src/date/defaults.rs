//! The default formats of date fields.

use std::sync::{Arc, LazyLock};

use super::{DateFormat, MILLIS_FORMAT, NANOS_FORMAT};

static DEFAULT_FORMAT: LazyLock<Arc<DateFormat>> =
    LazyLock::new(|| Arc::new(DateFormat::parse_list(MILLIS_FORMAT).expect("a built-in format")));

static DEFAULT_NANOS_FORMAT: LazyLock<Arc<DateFormat>> =
    LazyLock::new(|| Arc::new(DateFormat::parse_list(NANOS_FORMAT).expect("a built-in format")));

/// Returns `strict_date_optional_time||epoch_millis`, the default of `date` fields.
pub fn default_format() -> Arc<DateFormat> {
    DEFAULT_FORMAT.clone()
}

/// Returns `strict_date_optional_time_nanos||epoch_millis`, the default of `date_nanos` fields.
pub fn default_nanos_format() -> Arc<DateFormat> {
    DEFAULT_NANOS_FORMAT.clone()
}
