//! Classes of `java.util` that collect or part values: a file each.

pub(super) mod queues;
pub(super) mod statistics;
pub(super) mod string_joiner;
pub(super) mod tokenizer;

pub(in super::super) use queues::method as queue_method;
pub(in super::super) use statistics::summarized;
pub(in super::super) use string_joiner::method as joiner_method;
