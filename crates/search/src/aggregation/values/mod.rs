//! Values and how they are shown: types, formats, compensated sums, fields that are refused, texts of
//! sources.

pub(super) mod decimal_format;
pub(super) mod format;
pub(super) mod kahan;
pub(super) mod refused;
pub(super) mod source_texts;
pub(super) mod value_type;
