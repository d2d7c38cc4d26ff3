//! Nested documents: "which documents inside this one, and inside which one is that?"
//!
//! The nested objects of one path are documents of a space of their own: numbered from 0 in the order of
//! their parents, with fields, terms, columns and norms of their own, and nothing of them in the space of the
//! documents around. A segment without nested objects has nothing of all this.
//!
//! **Invariant**: the children of a parent are consecutive, and parents ascend with their children.

mod lineage;
mod parent_bits;
mod table;

pub use lineage::{ChildrenCursor, Lineage, LineageCursor};
pub(crate) use parent_bits::ParentBitsBuilder;
pub use parent_bits::{ChildCursor, ParentBits, ParentCursor};
pub(crate) use table::{SpaceEntry, decode, encode};
