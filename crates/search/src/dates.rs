//! Dates in requests: "which instant is this text, and how is that instant shown?"

use std::sync::{Arc, LazyLock};

use limber_mapping::RequestError;
use limber_mapping::date::{DateFormat, Zone};

static DEFAULT_FORMAT: LazyLock<Arc<DateFormat>> = LazyLock::new(|| {
    Arc::new(DateFormat::parse_list("strict_date_optional_time||epoch_millis").expect("a built-in format"))
});

/// `strict_date_optional_time||epoch_millis`, the default of date fields.
pub(crate) fn default_format() -> Arc<DateFormat> {
    DEFAULT_FORMAT.clone()
}

/// Milliseconds of a text with date math; `zone` is the request's `time_zone`.
pub(crate) fn parse(format: &DateFormat, text: &str, now_millis: i64, round_up: bool, zone: Option<&str>) -> Result<i64, RequestError> {
    let zone = match zone {
        Some(zone) => Zone::parse(zone)?,
        None => Zone::Utc,
    };
    format.parse_with_math(text, now_millis, round_up, &zone)
}
