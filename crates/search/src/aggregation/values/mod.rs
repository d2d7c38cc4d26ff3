//! Types and formats of values, texts that answers repeat, compensated sums, checks of field types, scripts
//! over numbers, and strings read from the source.

pub(super) mod claimed;
pub(super) mod decimal_format;
pub(super) mod format;
pub(super) mod given_script;
pub(super) mod kahan;
pub(super) mod refused;
pub(super) mod source_texts;
pub(super) mod value_type;
