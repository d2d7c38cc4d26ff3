//! `_terms_enum`: "which terms of a field start like this?", in order, without visiting documents.
//!
//! Source: `org.elasticsearch.xpack.core.termsenum.action.TransportTermsEnumAction`. As there, terms that
//! only deleted documents have are included until a merge.

use std::collections::BTreeSet;

use limber_mapping::{Flattened, TermCodec, ValueKind};
use limber_segment::terms::TermDictionary;

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::query::Query;

/// A `_terms_enum` request.
#[derive(Debug, Clone)]
pub struct TermsEnumRequest {
    /// The path of the field.
    pub field: String,
    /// The prefix of the terms; an empty one matches every term.
    pub prefix: String,
    /// Whether ASCII letters of the prefix match in either case.
    pub case_insensitive: bool,
    /// Only terms after this one are returned.
    pub search_after: Option<String>,
    /// Maximum number of terms to return.
    pub size: usize,
    /// Only shards in which something may match this query are asked; the caller selects them.
    pub index_filter: Option<Query>,
}

/// The answer of [`terms_enum`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TermsEnumResponse {
    /// The terms, ascending by their UTF-8 bytes.
    pub terms: Vec<String>,
    /// Whether the deadline passed before every segment was read.
    pub timed_out: bool,
}

/// Terms that are read between two checks of the clock.
const TERMS_BETWEEN_CHECKS: u32 = 1024;

/// Returns the first terms of all shards together. Only fields of keywords, addresses and versions have terms
/// here; other fields return none, like unmapped ones.
///
/// # Errors
/// Cancelled, corrupt data or a disk error.
pub fn terms_enum(
    shards: &[ShardSnapshot],
    request: &TermsEnumRequest,
    context: &SearchContext,
) -> Result<TermsEnumResponse> {
    let mut found = BTreeSet::new();
    for shard in shards {
        let field = shard.mapping.field(&request.field).filter(|field| {
            let is_root = matches!(field.flattened, Some(Flattened::Root { .. }));
            matches!(field.values, ValueKind::Keyword | ValueKind::Ip | ValueKind::Coded)
                && !is_root
                && (field.index || field.doc_values)
                && field.runtime.is_none()
        });
        let Some(field) = field else { continue };
        for view in &shard.segments {
            view.segment.intact()?;
            let nested = view.segment.nested_spaces().iter().map(|space| &space.segment);
            for segment in std::iter::once(&view.segment).chain(nested) {
                let Some(dictionary) = segment.terms(&field.path)? else { continue };
                let collected = match field.term_codec() {
                    Some(codec) => collect_decoded(dictionary, codec, request, context, &mut found),
                    None => collect(dictionary, request, context, &mut found),
                };
                match collected {
                    Err(Error::TimedOut) => {
                        shards.iter().try_for_each(ShardSnapshot::intact)?;
                        return Ok(TermsEnumResponse { terms: texts(found), timed_out: true });
                    }
                    other => other?,
                }
            }
        }
    }
    shards.iter().try_for_each(ShardSnapshot::intact)?;
    Ok(TermsEnumResponse { terms: texts(found), timed_out: false })
}

fn texts(found: BTreeSet<Vec<u8>>) -> Vec<String> {
    found.into_iter().map(|term| String::from_utf8_lossy(&term).into_owned()).collect()
}

fn collect(
    dictionary: &TermDictionary,
    request: &TermsEnumRequest,
    context: &SearchContext,
    found: &mut BTreeSet<Vec<u8>>,
) -> Result<()> {
    let prefix = Prefix { bytes: request.prefix.as_bytes(), ignores_case: request.case_insensitive };
    let after = request.search_after.as_deref().map(str::as_bytes);
    let mut cursor = dictionary.cursor();
    let mut target = prefix.least();
    if let Some(after) = after
        && after >= target.as_slice()
    {
        target = after.to_vec();
    }
    cursor.seek(&target)?;
    let mut read = 0;
    while cursor.advance()? {
        read += 1;
        if read % TERMS_BETWEEN_CHECKS == 1 {
            context.check()?;
        }
        let term = cursor.term();
        let is_full = found.len() >= request.size;
        if is_full && found.last().is_none_or(|last| term >= last.as_slice()) {
            return Ok(());
        }
        match prefix.place(term) {
            Place::Match if after.is_some_and(|after| term <= after) => {}
            Place::Match => keep_first(found, term.to_vec(), request.size),
            Place::Before(next) => cursor.seek(&next)?,
            Place::Behind => return Ok(()),
        }
    }
    Ok(())
}

/// Adds a term to the first `size` ones.
fn keep_first(found: &mut BTreeSet<Vec<u8>>, term: Vec<u8>, size: usize) {
    found.insert(term);
    if found.len() > size {
        found.pop_last();
    }
}

/// Does the same as [`collect`] for terms that are not strings: all of them are decoded and compared, since
/// their order says nothing about their prefixes.
fn collect_decoded(
    dictionary: &TermDictionary,
    codec: TermCodec,
    request: &TermsEnumRequest,
    context: &SearchContext,
    found: &mut BTreeSet<Vec<u8>>,
) -> Result<()> {
    let prefix = Prefix { bytes: request.prefix.as_bytes(), ignores_case: request.case_insensitive };
    let after = request.search_after.as_deref().map(str::as_bytes);
    let mut cursor = dictionary.cursor();
    cursor.seek(&[])?;
    let mut read = 0;
    while cursor.advance()? {
        read += 1;
        if read % TERMS_BETWEEN_CHECKS == 1 {
            context.check()?;
        }
        let text = codec.decode(cursor.term()).into_bytes();
        if prefix.place(&text) == Place::Match && after.is_none_or(|after| text.as_slice() > after) {
            keep_first(found, text, request.size);
        }
    }
    Ok(())
}

/// The prefix of the terms to find.
#[derive(Clone, Copy)]
struct Prefix<'a> {
    bytes: &'a [u8],
    ignores_case: bool,
}

/// The position of a term relative to those with the prefix.
#[derive(Debug, PartialEq)]
enum Place {
    Match,
    /// No term from this one up to the given bytes has the prefix; the bytes are greater than the term.
    Before(Vec<u8>),
    /// Neither this term nor any later one has the prefix.
    Behind,
}

impl Prefix<'_> {
    /// Returns the bytes that match at an index of the prefix, the smaller one first.
    fn variants(&self, at: usize) -> [u8; 2] {
        let byte = self.bytes[at];
        if self.ignores_case { [byte.to_ascii_uppercase(), byte.to_ascii_lowercase()] } else { [byte; 2] }
    }

    /// Appends the smallest matching bytes from an index on.
    fn extend_least(&self, start: usize, out: &mut Vec<u8>) {
        out.extend((start..self.bytes.len()).map(|at| self.variants(at)[0]));
    }

    fn least(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len());
        self.extend_least(0, &mut out);
        out
    }

    fn place(&self, term: &[u8]) -> Place {
        let fits = |at: usize| term.get(at).is_some_and(|byte| self.variants(at).contains(byte));
        let Some(differs) = (0..self.bytes.len()).find(|at| !fits(*at)) else { return Place::Match };
        if differs == term.len() {
            let mut next = term.to_vec();
            self.extend_least(differs, &mut next);
            return Place::Before(next);
        }
        // The last index where a byte greater than the term's matches.
        for at in (0..=differs).rev() {
            let greater = self.variants(at).into_iter().find(|byte| *byte > term[at]);
            if let Some(greater) = greater {
                let mut next = term[..at].to_vec();
                next.push(greater);
                self.extend_least(at + 1, &mut next);
                return Place::Before(next);
            }
        }
        Place::Behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn starts(term: &[u8], prefix: &Prefix<'_>) -> bool {
        let head = term.get(..prefix.bytes.len());
        head.is_some_and(|head| match prefix.ignores_case {
            true => head.eq_ignore_ascii_case(prefix.bytes),
            false => head == prefix.bytes,
        })
    }

    proptest! {
        /// Skipping finds the same terms as testing every term.
        #[test]
        fn jumps_miss_nothing(
            terms in prop::collection::btree_set("[aAbB1é]{0,5}", 0..40),
            bytes in "[aAbB1é]{0,3}",
            ignores_case: bool,
        ) {
            let prefix = Prefix { bytes: bytes.as_bytes(), ignores_case };
            let wanted: Vec<&[u8]> =
                terms.iter().map(|term| term.as_bytes()).filter(|term| starts(term, &prefix)).collect();
            let sorted: Vec<&[u8]> = terms.iter().map(|term| term.as_bytes()).collect();
            let mut found = Vec::new();
            let mut at = sorted.partition_point(|term| *term < prefix.least().as_slice());
            while let Some(term) = sorted.get(at) {
                match prefix.place(term) {
                    Place::Match => {
                        found.push(*term);
                        at += 1;
                    }
                    Place::Before(next) => {
                        prop_assert!(next.as_slice() > *term && starts(&next, &prefix));
                        at = sorted.partition_point(|term| *term < next.as_slice());
                    }
                    Place::Behind => break,
                }
            }
            prop_assert_eq!(found, wanted);
        }
    }
}
