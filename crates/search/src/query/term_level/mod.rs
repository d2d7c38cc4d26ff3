//! Queries for exact values without analysis (Elasticsearch's term-level queries), and their common parts.

pub(super) mod exists;
mod expansion;
pub(super) mod flattened;
pub(super) mod fuzziness;
pub(super) mod fuzzy;
pub(super) mod ids;
pub(super) mod prefix;
pub(super) mod range;
pub(super) mod regexp;
pub(super) mod rewrite;
pub(super) mod term;
pub(super) mod terms;
pub(super) mod terms_set;
pub(super) mod wildcard;
