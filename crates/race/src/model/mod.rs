//! "What is a track, once it is read?" The words that all rooms share: tracks, their parameters, Rally's
//! operation types.

pub(crate) mod operations;
mod task_params;
mod track;

pub(crate) use task_params::{InvalidTask, ignore_response_error_level, target_throughput};
pub(crate) use track::*;
