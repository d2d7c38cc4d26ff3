//! The terms of a field of queries, told apart by their first byte.

/// A document with this term matches.
pub(crate) const MATCHES: u8 = 1;
/// A document without any of these terms does not match.
pub(crate) const CANDIDATE: u8 = 2;
/// Nothing can be told of it without running it.
pub(crate) const UNKNOWN: u8 = 3;
/// The query is read from the source of its document: it is too long for a term.
pub(crate) const IN_SOURCE: u8 = 4;
/// The query as JSON.
pub(crate) const QUERY: u8 = 5;

/// A term of a field as a key of one kind.
pub(crate) fn key(kind: u8, path: &str, term: &[u8]) -> Vec<u8> {
    [&[kind], path.as_bytes(), &[0], term].concat()
}
