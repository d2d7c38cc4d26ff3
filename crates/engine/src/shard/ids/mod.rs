//! Which document is meant: "which id does it get, which shard holds that id, and which version of it
//! counts?"
//!
//! [`flake_id`] makes ids, [`routing`] finds the shard of an id, [`versions`] knows the newest operation on
//! each id since the last refresh, [`seq_nos`] knows which sequence numbers have come.

pub(super) mod flake_id;
pub(crate) mod routing;
pub(super) mod seq_nos;
pub(super) mod versions;
