//! The model of a track: tracks, their parameters, and Rally's operation types. All other modules use it.

pub(crate) mod operations;
mod task_params;
mod track;

pub(crate) use task_params::{InvalidTask, ignore_response_error_level, target_throughput};
pub(crate) use track::*;
