//! The container of a segment: "which bytes belong to which part of which field, and are they intact?"
//!
//! [`SegmentWriter`] takes sections, [`SegmentFile`] returns them; their contents are the business of other
//! modules.

mod fields;
pub mod format;
mod meta;
mod reader;
mod verify;
mod writer;

pub(crate) use format::COMPOUND_BYTES_MAX;
pub use format::{Lane, SectionKind};
pub use meta::{FieldInfo, FileMeta, SegmentId, SegmentMeta};
pub use reader::{SectionEntry, SegmentFile};
pub(crate) use reader::{check_version, corrupt_file};
pub use verify::Damage;
pub(crate) use verify::Follower;
pub use writer::{NO_FIELD, Progress, SectionWriter, SegmentWriter};
