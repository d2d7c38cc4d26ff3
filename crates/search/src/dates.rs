//! Dates in requests: "which instant is this text, in which format?"

use std::sync::{Arc, LazyLock};

use limber_mapping::date::DateFormat;

static DEFAULT_FORMAT: LazyLock<Arc<DateFormat>> = LazyLock::new(|| {
    Arc::new(DateFormat::parse_list("strict_date_optional_time||epoch_millis").expect("a built-in format"))
});

/// `strict_date_optional_time||epoch_millis`, the default of date fields.
pub(crate) fn default_format() -> Arc<DateFormat> {
    DEFAULT_FORMAT.clone()
}
