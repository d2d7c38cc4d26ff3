//! The terms of a percolator field. Their first byte is the kind of the term.

/// A document with this term matches.
pub(crate) const MATCHES: u8 = 1;
/// A document needs at least one of these terms to match.
pub(crate) const CANDIDATE: u8 = 2;
/// Nothing is known about the query without running it.
pub(crate) const UNKNOWN: u8 = 3;
/// The query is read from the source of its document, because it is too long for a term.
pub(crate) const IN_SOURCE: u8 = 4;
/// The query as JSON.
pub(crate) const QUERY: u8 = 5;

/// Makes the key of one kind from a term of a field.
pub(crate) fn key(kind: u8, path: &str, term: &[u8]) -> Vec<u8> {
    [&[kind], path.as_bytes(), &[0], term].concat()
}
