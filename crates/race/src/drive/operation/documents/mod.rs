//! Operations that write documents: bulk requests, their answers, and retries of rejected items.

pub(super) mod bulk;
pub(crate) mod bulk_result;
pub(crate) mod bulk_retry;
