//! The best hits of a shard: "which of the matching documents come first?"

mod best;
mod bind;
mod computed_term_reader;
mod computed_top;
mod contenders;
mod distance;
mod group;
mod index_order;
mod key;
mod nested;
mod number_reader;
mod reader;
mod script_reader;
mod sort;
mod term_reader;
mod top_fields;
mod top_groups;
mod top_scores;

pub(crate) use best::{Best, MinCompetitive, keep_best};
pub(crate) use bind::{bind_sorts, widened};
pub(crate) use contenders::Contenders;
pub(crate) use group::{BoundCollapse, GroupKey};
pub(crate) use key::compare_keys;
pub(crate) use reader::KeyReader;
pub(crate) use sort::{BoundSort, KeyKind};
pub(crate) use top_fields::{SegmentTop, Tie, TopFields, best_first_key};
pub(crate) use top_groups::TopGroups;
pub(crate) use top_scores::TopScores;

use limber_segment::DocId;

use crate::values::sort_key::SortKey;

/// A hit of a shard, before it is fetched.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    /// Index of the segment in the snapshot.
    pub segment: u32,
    pub doc: DocId,
    /// Number of the document in the shard, counted across its segments.
    pub shard_doc: u64,
    pub score: f32,
    /// One key for each sort; empty when sorted by score.
    pub keys: Box<[SortKey]>,
    /// The hit's group, if hits are collapsed.
    pub group: Option<GroupKey>,
}
