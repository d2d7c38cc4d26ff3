//! Sets of documents: the fixed set of forms that most queries are bound to.

use std::ops::Range;
use std::sync::Arc;

use limber_mapping::Field;
use limber_segment::SegmentId;
use limber_text::automaton::TermAutomaton;

use super::term_pattern::TermPattern;
use crate::geo::{Relation, Shape, ShapeRelation, Target};
use crate::script::RuntimeField;

/// One end of a range of terms, and whether the end is included.
pub(crate) type TermEnd = Option<(Vec<u8>, bool)>;

/// A set of documents, by their values.
#[derive(Debug)]
pub(crate) enum Docs {
    /// Documents whose runtime field has a value that `docs` selects.
    Runtime {
        field: Arc<RuntimeField>,
        docs: Box<Docs>,
    },
    /// Documents with any of these terms (sorted, distinct).
    Terms {
        field: Arc<Field>,
        terms: Arc<[Box<[u8]>]>,
    },
    TermRange {
        field: Arc<Field>,
        lower: TermEnd,
        upper: TermEnd,
    },
    Pattern {
        field: Arc<Field>,
        lower: TermEnd,
        upper: TermEnd,
        pattern: Arc<TermPattern>,
    },
    /// Documents with a term that an automaton accepts.
    Automaton {
        field: Arc<Field>,
        automaton: Arc<dyn TermAutomaton>,
    },
    /// Documents with any of these numbers (sorted, distinct).
    Numbers {
        field: Arc<Field>,
        numbers: Vec<i64>,
    },
    /// Documents with a number in the range, both ends included.
    NumberRange {
        field: Arc<Field>,
        min: i64,
        max: i64,
    },
    /// Documents whose points have a relation to a shape.
    Places {
        field: Arc<Field>,
        shape: Arc<Shape>,
        relation: Relation,
    },
    /// Documents whose shapes have a relation to another shape.
    Shapes {
        field: Arc<Field>,
        target: Arc<Target>,
        relation: ShapeRelation,
    },
    /// The intersection of several sets.
    AllOf(Vec<Docs>),
    Exists {
        path: Arc<str>,
    },
    /// Documents by `_id` (sorted, distinct).
    Ids(Vec<String>),
    AnyOf(Vec<Docs>),
    /// Ranges of documents by segment; segments that do not exist are ignored.
    Ranges(Vec<(SegmentId, Range<u32>)>),
    /// Slice `part` of `parts`, by the hash of `_id`.
    IdSlice {
        part: u32,
        parts: u32,
    },
    /// Slice `part` of `parts`, by the hash of a number.
    NumberSlice {
        field: Arc<Field>,
        part: u32,
        parts: u32,
    },
}

impl Docs {
    /// Returns the documents with a term between two ends.
    pub fn term_range(field: &Arc<Field>, lower: TermEnd, upper: TermEnd) -> Docs {
        Docs::TermRange { field: field.clone(), lower, upper }
    }

    /// Whether finding the documents a second time is cheap.
    pub fn is_quick(&self) -> bool {
        match self {
            Docs::Terms { .. }
            | Docs::TermRange { .. }
            | Docs::Numbers { .. }
            | Docs::NumberRange { .. }
            | Docs::Exists { .. }
            | Docs::Ids(_)
            | Docs::Ranges(_) => true,
            Docs::AllOf(parts) | Docs::AnyOf(parts) => parts.iter().all(Docs::is_quick),
            _ => false,
        }
    }
}
