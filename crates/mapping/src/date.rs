//! Date formats and date math: "which instant is this text?"

/// A parsed `format` list such as `strict_date_optional_time||epoch_millis`.
#[derive(Debug, PartialEq)]
pub struct DateFormat {
    pub pattern: String,
}
