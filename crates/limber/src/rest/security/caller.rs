//! Whose request it is.

use std::sync::Arc;

use limber_access::{Access, ClusterVerdict};
use limber_engine::Result;
use limber_mapping::RequestError;

/// The access of this request: there is one wherever security is on.
pub(super) fn caller() -> Result<Arc<Access>> {
    limber_access::current().ok_or_else(|| RequestError::internal("exception", "the request has no access"))
}

/// Refuses what the route itself lets everybody do, but not to everything.
///
/// # Errors
/// 403.
pub(super) fn check_may(access: &Access, action: &'static str) -> Result<()> {
    match access.rights.cluster(action) {
        ClusterVerdict::Allowed => Ok(()),
        _ => Access::grant(access.identity.clone(), access.rights.clone(), action).map(drop),
    }
}
