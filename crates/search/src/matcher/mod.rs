//! Bound queries opened on one segment, which match the documents of a window.
//!
//! Documents are processed in windows of 4,096, with one virtual call per window and node. In a conjunction
//! the rarest clause proposes candidates and the others remove those that do not match; a disjunction is the
//! union of bit sets. Scores are computed in a separate second pass ([`Scorer`]) over the remaining
//! documents.

pub(crate) mod automaton;
mod bits;
mod boolean;
mod cached;
mod clauses;
mod confirmed;
mod definition;
mod enough;
mod matching;
mod nested;
mod open;
mod scored;
mod scorer;
mod simple;
mod slice;
pub(crate) mod text;
mod values;

pub(crate) use bits::{Bits, SegmentBits, WINDOW};
pub(crate) use boolean::BoolDocs;
pub(crate) use cached::{kept, read_all};
pub(crate) use confirmed::{Confirm, ConfirmedDocs};
pub(crate) use definition::{BoxedMatcher, Matcher};
pub(crate) use enough::{CoveredDocs, OpenNeeded};
pub(crate) use matching::{MatchingScorer, ScoredEnough};
pub(crate) use nested::{NestedDocs, NestedScorer, ScoredWindow};
pub(crate) use open::{each_term, open_postings, phrase, phrase_cursor, set, term, with_field};
pub(crate) use scored::conjunction::Conjunction;
pub(crate) use scored::contenders::contenders;
pub(crate) use scored::guards::Guards;
pub(crate) use scored::keeper::{Gathered, Keeper};
pub(crate) use scored::ranked::Ranked;
pub(crate) use scorer::{
    BoolScorer, BoxedScorer, ConstantScorer, DisMaxScorer, PhraseScorer, Scorer, TermScorer, each_match,
};
pub(crate) use simple::{AllDocs, NoDocs, Union};
pub(crate) use text::position_queue::PositionQueue;
pub(crate) use text::positions::{Leaf, Leaves, NO_MORE};
pub(crate) use values::asked::{AskedDocs, ValueTest};
pub(crate) use values::runtime::selects_constant;
