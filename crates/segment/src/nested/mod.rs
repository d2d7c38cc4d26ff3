//! Nested documents: "which documents are inside this one, and which document encloses that one?"
//!
//! The nested objects of one path are documents of a space of their own. They are numbered from 0 in the
//! order of their parents and have their own fields, terms, columns and norms; the space of the enclosing
//! documents contains nothing of them. A segment without nested objects has no such space.
//!
//! **Invariant**: the children of a parent are consecutive, and the parents of ascending children ascend.

mod lineage;
mod parent_bits;
mod table;

pub use lineage::{ChildrenCursor, Lineage, LineageCursor};
pub(crate) use parent_bits::ParentBitsBuilder;
pub use parent_bits::{ChildCursor, ParentBits, ParentCursor};
pub(crate) use table::{SpaceEntry, decode, encode};
