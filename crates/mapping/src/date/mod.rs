//! Dates: "which instant does this text mean, and how is an instant formatted?"

mod civil;
mod defaults;
mod format;
mod instant;
mod item;
mod local;
mod locale;
mod math;
mod names;
mod pattern;
mod quick;
mod read;
mod write;
mod zone;

pub use civil::{Civil, MILLIS_PER_DAY, civil_from_days, days_from_civil, days_in_month, is_leap};
pub use defaults::{default_format, default_nanos_format};
pub use format::DateFormat;
pub use instant::{Instant, NANOS_PER_MILLI, Resolution, fraction_by_threes, is_beyond_nanos};
pub use locale::Locale;
pub use zone::Zone;

/// The default format of `date`.
pub const MILLIS_FORMAT: &str = "strict_date_optional_time||epoch_millis";
/// The default format of `date_nanos`.
pub const NANOS_FORMAT: &str = "strict_date_optional_time_nanos||epoch_millis";
