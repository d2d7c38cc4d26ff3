//! Classes of Java's library whose objects are [`crate::values::JavaObject`]s: a file each, and a line here.

mod adjusters;
mod big_decimal;
mod big_integer;
mod duration;
mod iso_format;
mod iterator;
mod local;
mod optional;
mod period;
mod rounding;
mod uuid;
mod year;

mod class;
pub(super) mod comparators;
pub(super) mod format;
pub(super) mod processors;

pub(super) use adjusters::adjuster;
pub(super) use class::Class;
pub(crate) use class::{construct, is_constant, is_static, static_call};
pub(super) use duration::Duration;
pub(super) use iso_format::iso_format;
pub(super) use iterator::iterator;
pub(super) use local::{Local, LocalKind, zoned};
pub(super) use optional::{held_by, optional};
pub(super) use period::Period;
pub(super) use rounding::MODES;

/// Every class, by its short name.
pub(super) static CLASSES: &[Class] = &[
    adjusters::CLASS,
    big_decimal::CLASS,
    big_integer::CLASS,
    duration::CLASS,
    iso_format::FORMATTER,
    iso_format::INSTANT,
    local::DATE,
    local::DATE_TIME,
    local::TIME,
    optional::CLASS,
    period::CLASS,
    uuid::CLASS,
    year::YEAR,
    year::YEAR_MONTH,
];
