//! Texts and JSON that an answer or a pipeline aggregation makes of names, terms and other parts of the
//! request and of findings.
//!
//! A request chooses how long they are, and an answer repeats them: for each bucket, field, point or hit. So
//! every copy is made here (and every formatted value by [`super::format::Format`]), where the memory for it
//! is claimed first. The code that renders an aggregation clones no names, keys or trees of JSON itself;
//! `tests/architecture/tests/aggregations.rs` checks that.

use limber_mapping::{claim_tree, member_bytes};
use limber_work as work;
use serde_json::Value;

use crate::error::Result;

/// Copies a name of the request, or another text that an answer may repeat.
///
/// # Errors
/// Fails when there is no memory for the copy or for what was made before, or when the client has
/// disconnected.
pub fn name(name: &str) -> Result<String> {
    work::claim(name.len() as u64)?;
    Ok(name.to_owned())
}

/// Converts a term that is text; bytes that are none are replaced.
///
/// # Errors
/// As for [`name`].
pub fn term(term: &[u8]) -> Result<String> {
    work::claim(term.len() as u64)?;
    Ok(String::from_utf8_lossy(term).into_owned())
}

/// Joins texts.
///
/// # Errors
/// As for [`name`].
pub fn joined(texts: &[String], separator: &str) -> Result<String> {
    let bytes: usize = texts.iter().map(|text| text.len() + separator.len()).sum();
    work::claim(bytes as u64)?;
    Ok(texts.join(separator))
}

/// Copies JSON.
///
/// # Errors
/// As for [`name`].
pub fn value(value: &Value) -> Result<Value> {
    claim_tree(value)?;
    Ok(value.clone())
}

/// Claims the memory of `times` objects whose members have these names, before any of them is made.
///
/// # Errors
/// As for [`name`].
pub fn objects<'n>(times: usize, names: impl Iterator<Item = &'n str>) -> Result<()> {
    let bytes: u64 = names.map(member_bytes).sum();
    Ok(work::claim(bytes.saturating_mul(times as u64))?)
}
