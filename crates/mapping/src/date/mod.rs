//! Dates: "which instant is this text, and how is this instant written?"

mod civil;
mod format;
mod item;
mod math;
mod names;
mod pattern;
mod read;
mod write;
mod zone;

pub use civil::{Civil, MILLIS_PER_DAY, civil_from_days, days_from_civil};
pub use format::DateFormat;
pub use zone::Zone;
