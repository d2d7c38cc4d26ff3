//! Classes of Java's library whose objects are [`crate::values::JavaObject`]s: a file each, and a line here.

mod adjusters;
mod big_decimal;
mod big_integer;
mod date;
mod duration;
mod explain;
mod formatter;
mod iso_format;
mod iterator;
mod json;
mod local;
mod optional;
mod period;
mod random;
mod rounding;
mod text;
mod util;
mod uuid;
mod year;
mod zoned;

mod class;
pub(super) mod comparators;
pub(super) mod format;
pub(super) mod processors;

pub(super) use adjusters::adjuster;
pub(super) use class::Class;
pub(crate) use class::{construct, is_constant, is_static, static_call};
pub(super) use date::date_of;
pub(super) use duration::Duration;
pub(super) use explain::explained;
pub(super) use formatter::{formatter_of, parse_by, parse_iso};
pub(super) use iterator::{iterator, key_iterator, list_iterator, method as iterator_method};
pub(super) use local::{Local, LocalKind, zoned};
pub(super) use optional::{held_by, optional};
pub(super) use period::Period;
pub(super) use random::{of_outside, random_of};
pub(super) use rounding::MODES;
pub(super) use util::{joiner_method, queue_method, summarized};
pub(super) use zoned::zone_method;

/// Every class, by its short name.
pub(super) static CLASSES: &[Class] = &[
    adjusters::CLASS,
    big_decimal::CLASS,
    big_integer::CLASS,
    date::CLASS,
    duration::CLASS,
    iso_format::FORMATTER,
    iso_format::INSTANT,
    local::DATE,
    local::DATE_TIME,
    local::TIME,
    optional::CLASS,
    period::CLASS,
    random::CLASS,
    rounding::CONTEXT,
    text::decimal_format::CLASS,
    text::decimal_format::NUMBER_FORMAT,
    text::simple_date_format::CLASS,
    text::simple_date_format::TIME_ZONE,
    util::queues::PRIORITY_QUEUE,
    util::queues::STACK,
    util::statistics::DOUBLE,
    util::statistics::INT,
    util::statistics::LONG,
    util::string_joiner::CLASS,
    util::tokenizer::CLASS,
    uuid::CLASS,
    year::YEAR,
    year::YEAR_MONTH,
    zoned::OFFSET,
    zoned::ZONED,
];
