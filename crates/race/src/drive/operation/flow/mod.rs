//! Operations that run other operations or none: composites, repetitions, pauses, and requests as the track
//! writes them.

pub(super) mod assertions;
pub(super) mod composite;
pub(super) mod condition;
pub(super) mod raw_request;
pub(super) mod retry;
pub(super) mod run_until;
pub(super) mod sleep;
