//! What the node does on its own because of policies: lifecycles, enrich policies, transforms.

pub(super) mod enrich;
pub(super) mod lifecycle;
pub(super) mod lifecycle_round;
pub(super) mod lifecycle_steps;
pub(super) mod transform_run;
pub(super) mod transform_state;
pub(super) mod transforms;
