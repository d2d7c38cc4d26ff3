//! Highlighting: "which parts of this field's text show why the document matches?"
//!
//! The [`parts`] of a query that match a document are looked for ([`matches`]) among the [`tokens`] of a
//! field's values; matches are gathered into [`passages`], which end where sentences or words do
//! ([`breaks`]); the best of these are shown as [`fragments`], with tags around the matches. Source: Lucene's
//! `UnifiedHighlighter`. Two older highlighters have ways of their own: [`plain`] and [`vectors`].

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
mod vector_terms;
mod vectors;

pub(crate) use fragments::{FieldHighlight, OtherField};
pub(crate) use parts::{Choice, QueryParts};
pub(crate) use passages::content_length;
pub(crate) use vectors::MatchedField;
