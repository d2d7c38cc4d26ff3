//! The row of the table for a type of token filter.

use super::super::chain::Filter;
use super::super::context::Context;
use super::super::settings::Settings;
use crate::RequestError;

/// A function that makes a filter from its settings.
pub(in crate::analysis) type Make = fn(&Settings<'_>, &Context<'_>) -> Result<Filter, RequestError>;

/// A type of token filter.
pub(in crate::analysis) struct FilterType {
    /// The name in `type`.
    pub name: &'static str,
    /// Whether it can be used by this name without being declared.
    pub is_ready: bool,
    /// Makes the filter.
    pub make: Make,
}

/// Makes the row of a filter that can be used without being declared.
pub(super) const fn ready(name: &'static str, make: Make) -> FilterType {
    FilterType { name, is_ready: true, make }
}

/// Makes the row of a filter that must be declared, because it does nothing without settings.
pub(super) const fn declared(name: &'static str, make: Make) -> FilterType {
    FilterType { name, is_ready: false, make }
}
