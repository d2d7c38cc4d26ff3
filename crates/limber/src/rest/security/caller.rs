//! The caller of a request.

use std::sync::Arc;

use limber_access::{Access, ClusterVerdict};
use limber_engine::Result;
use limber_mapping::RequestError;

/// Returns the access of this request, which is always set while security is on.
pub(super) fn caller() -> Result<Arc<Access>> {
    limber_access::current().ok_or_else(|| RequestError::internal("exception", "the request has no access"))
}

/// Refuses an action that the route does not require, but that this request needs.
///
/// # Errors
/// 403.
pub(super) fn check_may(access: &Access, action: &'static str) -> Result<()> {
    match access.rights.cluster(action) {
        ClusterVerdict::Allowed => Ok(()),
        _ => Access::grant(access.identity.clone(), access.rights.clone(), action).map(drop),
    }
}
