//! How values are written: "which duration, size, schedule or object is this text?"

pub(crate) mod body;
pub(crate) mod cron;
pub mod value;
