//! Dates in requests: "which instant is this text, in which format?"

use std::sync::{Arc, LazyLock};

use limber_mapping::date::{DateFormat, MILLIS_FORMAT, NANOS_FORMAT};

static DEFAULT_FORMAT: LazyLock<Arc<DateFormat>> =
    LazyLock::new(|| Arc::new(DateFormat::parse_list(MILLIS_FORMAT).expect("a built-in format")));

static DEFAULT_NANOS_FORMAT: LazyLock<Arc<DateFormat>> =
    LazyLock::new(|| Arc::new(DateFormat::parse_list(NANOS_FORMAT).expect("a built-in format")));

/// `strict_date_optional_time||epoch_millis`, the default of date fields.
pub(crate) fn default_format() -> Arc<DateFormat> {
    DEFAULT_FORMAT.clone()
}

/// `strict_date_optional_time_nanos||epoch_millis`, the default of `date_nanos` fields.
pub(crate) fn default_nanos_format() -> Arc<DateFormat> {
    DEFAULT_NANOS_FORMAT.clone()
}
