//! Highlighting: "which parts of this field's text show why the document matches?"
//!
//! The [`parts`] of a query that match a document are searched for ([`matches`]) in the [`tokens`] of a
//! field's values. Matches are collected into [`passages`], which end where sentences or words do
//! ([`breaks`]). The best passages are shown as [`fragments`], with tags around the matches. Source:
//! Lucene's `UnifiedHighlighter`. The two older highlighters work differently: [`plain`] and [`vectors`].

mod parts;

mod tokens;
mod units;

mod matches;
mod phrases;
mod placed;

mod breaks;
mod passages;

mod boundaries;
mod fragments;
mod plain;
mod spans;
mod vector_terms;
mod vectors;

pub(crate) use fragments::{FieldHighlight, OtherField};
pub(crate) use parts::{Choice, QueryParts};
pub(crate) use passages::content_length;
pub(crate) use vectors::MatchedField;
