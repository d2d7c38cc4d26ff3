//! Classes of `java.util` that collect values: a file each.

pub(super) mod statistics;

pub(in super::super) use statistics::summarized;
