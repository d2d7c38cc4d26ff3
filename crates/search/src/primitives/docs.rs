//! Sets of documents: the closed set of forms that most queries are bound to.

use std::ops::Range;
use std::sync::Arc;

use limber_mapping::Field;
use limber_segment::SegmentId;
use limber_text::automaton::TermAutomaton;

use super::term_pattern::TermPattern;
use crate::geo::{Relation, Shape, ShapeRelation, Target};
use crate::script::RuntimeField;

/// One end of a range of terms, and whether it belongs to it.
pub(crate) type TermEnd = Option<(Vec<u8>, bool)>;

/// Sets of documents, by what they hold.
#[derive(Debug)]
pub(crate) enum Docs {
    /// Of documents whose runtime field has a value that these select.
    Runtime {
        field: Arc<RuntimeField>,
        docs: Box<Docs>,
    },
    /// Any of these terms (sorted, distinct).
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
    /// Terms that an automaton accepts.
    Automaton {
        field: Arc<Field>,
        automaton: Arc<dyn TermAutomaton>,
    },
    /// Any of these numbers (sorted, distinct).
    Numbers {
        field: Arc<Field>,
        numbers: Vec<i64>,
    },
    /// Both ends included.
    NumberRange {
        field: Arc<Field>,
        min: i64,
        max: i64,
    },
    /// Places by what they have to do with a shape.
    Places {
        field: Arc<Field>,
        shape: Arc<Shape>,
        relation: Relation,
    },
    /// Shapes by what they have to do with another.
    Shapes {
        field: Arc<Field>,
        target: Arc<Target>,
        relation: ShapeRelation,
    },
    /// In all of several.
    AllOf(Vec<Docs>),
    Exists {
        path: Arc<str>,
    },
    /// By `_id` (sorted, distinct).
    Ids(Vec<String>),
    AnyOf(Vec<Docs>),
    /// By segment; none of those that are not there.
    Ranges(Vec<(SegmentId, Range<u32>)>),
    /// Part `part` of `parts` by the hash of `_id`.
    IdSlice {
        part: u32,
        parts: u32,
    },
    /// Part `part` of `parts` by the hash of a number.
    NumberSlice {
        field: Arc<Field>,
        part: u32,
        parts: u32,
    },
}

impl Docs {
    /// Documents with a term between two ends.
    pub fn term_range(field: &Arc<Field>, lower: TermEnd, upper: TermEnd) -> Docs {
        Docs::TermRange { field: field.clone(), lower, upper }
    }

    /// Whether looking for the documents twice costs little.
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
