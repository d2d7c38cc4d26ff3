//! What the node does by itself because a policy says so: lifecycles, enrich policies, transforms.

pub(super) mod enrich;
pub(super) mod lifecycle;
pub(super) mod lifecycle_round;
pub(super) mod lifecycle_steps;
pub(super) mod transform_run;
pub(super) mod transforms;
