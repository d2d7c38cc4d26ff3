//! Span queries, which find and score documents by the relative positions of terms.
//!
//! Each file parses one query and converts it to a [`crate::primitives::SpanTree`] on a shard; [`bind`]
//! scores the whole tree by all its terms. [`crate::matcher::text::spans`] evaluates the trees.

mod bind;
mod node;

mod contained;
mod first;
mod gap;
mod masked;
mod multi;
mod near;
mod not;
mod or;
mod term;

pub(in crate::query) use bind::{SpanQuery, bind_span};
pub(super) use contained::{parse_containing, parse_within};
pub(super) use first::parse as parse_first;
pub(super) use gap::parse as parse_gap;
pub(super) use masked::{parse as parse_masked, parse_by_former_name as parse_masked_by_former_name};
pub(super) use multi::parse as parse_multi;
pub(in crate::query) use multi::{Expansion, MultiTermQuery};
pub(super) use near::parse as parse_near;
pub(super) use not::parse as parse_not;
pub(super) use or::parse as parse_or;
pub(super) use term::parse as parse_term;
