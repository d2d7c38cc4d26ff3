//! Operations that write documents: bulks, what their answers say, and the writes that are tried again.

pub(super) mod bulk;
pub(crate) mod bulk_result;
pub(crate) mod bulk_retry;
