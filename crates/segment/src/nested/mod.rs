//! Nested documents: "which documents inside this one, and inside which one is that?"
//!
//! The nested objects of one path are documents of a space of their own: numbered from 0 in the order of their parents, with fields,
//! terms, columns and norms of their own, and nothing of them in the space of the documents around. A segment without nested objects
//! has nothing of all this.
//!
//! **Invariant**: the children of a parent are consecutive, and parents ascend with their children.

mod parent_bits;
mod space;
mod table;

pub(crate) use parent_bits::ParentBitsBuilder;
pub use parent_bits::{ChildCursor, ParentBits, ParentCursor};
pub(crate) use space::spaces_inside;
pub use space::{ChildrenCursor, Lineage, LineageCursor, NestedSpace};
pub(crate) use table::{SpaceEntry, decode, encode};
