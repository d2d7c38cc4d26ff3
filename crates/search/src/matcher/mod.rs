//! A bound query opened on one segment: "which documents of this window match?"
//!
//! Work goes by windows of 4,096 documents, one virtual call a window and node. A conjunction lets its rarest part choose the candidates
//! and the others cross them out; a disjunction ORs bit sets. Scores are a second, separate pass ([`Scorer`]) over the documents
//! that are left.

mod asked;
mod boolean;
mod cached;
mod column;
mod confirmed;
mod conjunction;
mod contenders;
mod definition;
mod disjunction;
mod exact_phrase;
pub(crate) mod intervals;
mod matching;
mod nested;
mod open;
mod phrase;
mod places;
mod points;
mod position_queue;
mod positions;
mod postings;
mod ranked;
mod runtime;
mod scored_term;
mod scorer;
mod shapes;
mod simple;
mod slice;
mod source_phrase;
pub(crate) mod spans;
mod terms_set;

pub(crate) use crate::bits::{Bits, SegmentBits, WINDOW};
pub(crate) use asked::{Ask, AskedDocs};
pub(crate) use boolean::BoolDocs;
pub(crate) use cached::{kept, read_all};
pub(crate) use confirmed::{Confirm, ConfirmedDocs};
pub(crate) use contenders::contenders;
pub(crate) use definition::{BoxedMatcher, Matcher};
pub(crate) use matching::{MatchingScorer, ScoredEnough};
pub(crate) use nested::{NestedDocs, NestedScorer, ScoredWindow};
pub(crate) use open::{each_term, open_postings, phrase, phrase_cursor, set, term, with_field};
pub(crate) use position_queue::PositionQueue;
pub(crate) use positions::{Leaf, Leaves, NO_MORE};
pub(crate) use ranked::Ranked;
pub(crate) use runtime::selects_constant;
pub(crate) use scorer::{
    BoolScorer, BoxedScorer, ConstantScorer, DisMaxScorer, PhraseScorer, Scorer, TermScorer, each_match,
};
pub(crate) use simple::{AllDocs, NoDocs, Union};
pub(crate) use terms_set::{CoveredDocs, OpenNeeded};
