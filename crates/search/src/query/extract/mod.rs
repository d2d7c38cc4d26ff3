//! What can be told of a query without running it: "what must a document have?"
//!
//! [`asked`] tells it of the request, [`required_terms`] of the query as it is bound to a mapping.

pub(super) mod asked;
pub(super) mod required_terms;
