//! One mapped leaf field, and the sink that a parsed document is poured into.

use std::borrow::Cow;
use std::sync::Arc;

use crate::analysis::{Analyzer, Normalizer};
use crate::completion::Completion;
use crate::date::{DateFormat, Resolution};
use crate::join::Relations;
use crate::range::RangeKind;
use crate::similarity::Similarity;

/// Number of a leaf field within one index's mapping: dense, stable while the index is open, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// Elasticsearch's field type.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldType {
    Text,
    Keyword,
    Long,
    /// 0 to 2^64 - 1; stored by [`crate::number::sortable_from_u64`].
    UnsignedLong,
    Integer,
    Short,
    Byte,
    Double,
    Float,
    HalfFloat,
    ScaledFloat {
        scaling_factor: f64,
    },
    Boolean,
    /// `date`, or, to the nanosecond, `date_nanos`.
    Date {
        format: Arc<DateFormat>,
        resolution: Resolution,
    },
    Ip,
    /// Number column of [`crate::geo::GeoPoint::encode`]; points in Z order.
    GeoPoint,
    /// Shapes on the grid ([`crate::geo::GridShape`]); cells that they touch as points.
    GeoShape {
        /// `orientation`: how outer rings run.
        is_clockwise: bool,
    },
    /// Terms of two ends ([`RangeKind::encode`]).
    Range(RangeKind),
    /// Base64 in JSON; its bytes are in the column alone, and nothing searches them.
    Binary,
    /// What may follow what was typed; terms as [`Completion`] says.
    Completion(Arc<Completion>),
    /// Which other document a document belongs to.
    Join(Arc<Relations>),
    /// A query: what finds it (`limber_search::percolator`) and its JSON as terms, which whoever writes a document adds.
    Query,
}

/// What a field's values become in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// Analysed tokens with positions and norms.
    Text,
    /// Whole terms: keyword as UTF-8, ip as 16 bytes big-endian (IPv4 mapped into IPv6), ranges as both ends. Column = ordinals over the terms.
    Terms,
    /// `i64` that sorts like the value: integers and dates (milliseconds, or nanoseconds) as they are, booleans 0/1, doubles by
    /// [`crate::number::sortable_from_f64`], floats and half floats as their value widened to f64, scaled floats as
    /// `round(value * scaling_factor)`. Index = points, column = numbers.
    Number,
    /// Bytes of shapes ([`crate::geo::GridShape::encode`]), always kept when there is an index or a column. Index = points, numbers of cells
    /// ([`crate::geo::ShapeCell`]).
    Shape,
}

/// One leaf field as mapped. Immutable; shared by `Arc`.
#[derive(Debug)]
pub struct Field {
    /// No identity for the keys of a flattened field, which all have that of its keyed terms, nor for runtime fields: compare paths.
    pub id: FieldId,
    /// Full dotted path, multi-field suffix included (`request.raw`).
    pub path: Arc<str>,
    pub kind: FieldType,
    /// `index`: searchable by postings or points.
    pub index: bool,
    /// `doc_values`: has a column.
    pub doc_values: bool,
    /// `store` (kept for `GET _mapping`; stored fields are read from `_source`).
    pub store: bool,
    /// `match_only_text`: matches score alike, and phrases are looked for in the source.
    pub match_only: bool,
    /// `wildcard`: a keyword whose matches score alike.
    pub is_wildcard: bool,
    /// Text and keyword: whether norms are written.
    pub norms: bool,
    /// Text and keyword: how matches are scored.
    pub similarity: Similarity,
    /// Text: whether positions are written (`index_options: positions`, the default for text).
    pub positions: bool,
    /// Text: whether an index of Elasticsearch would have offsets of its terms. Here they are made anew where they are needed.
    pub has_offsets: bool,
    /// Text: whether it would have them by document (`term_vector`).
    pub has_vector_offsets: bool,
    /// Text and keyword: whether frequencies are written.
    pub frequencies: bool,
    /// Text and completion alone.
    pub analyzer: Option<Arc<Analyzer>>,
    pub search_analyzer: Option<Arc<Analyzer>>,
    /// Keyword: values and what is looked for are brought into its form.
    pub normalizer: Option<Arc<Normalizer>>,
    /// Keyword: a text that is looked for is several, with white space between them.
    pub splits_queries: bool,
    /// Text: positions left free between two values of one document (default 100).
    pub position_increment_gap: u32,
    /// Keyword: values longer than this many UTF-16 units are not indexed.
    pub ignore_above: Option<u32>,
    /// `null_value` in the field's own JSON form.
    pub null_value: Option<serde_json::Value>,
    pub coerce: bool,
    pub ignore_malformed: bool,
    /// Points: whether third coordinates are passed over instead of refused.
    pub ignore_z: bool,
    /// Paths this field's values are copied to.
    pub copy_to: Vec<Arc<str>>,
    /// Multi-fields (`fields`), fed with the same values.
    pub multi_fields: Vec<FieldId>,
    /// Part of a field of type `flattened`.
    pub flattened: Option<Flattened>,
    /// A field that no segment holds: its values are made while a search runs. Its id means nothing.
    pub runtime: Option<RuntimeScript>,
    /// Makes the values that a segment holds, when a document is written. Documents have none of their own.
    pub script: Option<RuntimeScript>,
}

/// Which part of a field of type `flattened` a field is. All are keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flattened {
    /// The field itself: the values of all keys. Objects in its objects are at most `depth_max` deep, itself counted.
    Root { depth_max: u32 },
    /// The terms key, [`KEY_END`], value of all keys, at [`keyed_path`]. No name and no pattern finds it.
    Keyed,
    /// One key. No document feeds it: a segment shows it as the part of the keyed terms that begin with the key. Its id is theirs.
    Key,
}

/// Ends the key in the terms of [`Flattened::Keyed`].
pub const KEY_END: u8 = 0;

/// What is behind a flattened field's path in that of its keyed terms. The empty part makes it a path that no mapping has, [`KEY_END`] one
/// that no key has.
pub const KEYED_PATH_END: &str = "..\0";

/// Where the keyed terms of the flattened field at `root` are.
pub fn keyed_path(root: &str) -> String {
    format!("{root}{KEYED_PATH_END}")
}

/// What makes the values of a runtime field, or of one that is made when documents are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuntimeScript {
    /// `{"source", "lang", "params"}`; `None`: the values in `_source`.
    pub script: Option<serde_json::Value>,
    /// `on_script_error: continue`: a document on which the script fails has no value.
    pub continues_on_error: bool,
    /// The name under which a `composite` script emits this field.
    pub part: Option<Arc<str>>,
    /// `constant_keyword`: the value of every document, as soon as it is known.
    pub constant: Option<Option<Arc<str>>>,
}

impl Field {
    /// A field of `kind` with everything else off or absent, to be filled in by struct update.
    pub(crate) fn bare(id: FieldId, path: Arc<str>, kind: FieldType) -> Field {
        Field {
            id,
            path,
            kind,
            index: false,
            doc_values: false,
            store: false,
            match_only: false,
            is_wildcard: false,
            norms: false,
            similarity: Similarity::default(),
            positions: false,
            has_offsets: false,
            has_vector_offsets: false,
            frequencies: false,
            analyzer: None,
            search_analyzer: None,
            normalizer: None,
            splits_queries: false,
            position_increment_gap: 0,
            ignore_above: None,
            null_value: None,
            coerce: false,
            ignore_malformed: false,
            ignore_z: false,
            copy_to: Vec::new(),
            multi_fields: Vec::new(),
            flattened: None,
            runtime: None,
            script: None,
        }
    }

    pub fn representation(&self) -> Representation {
        match self.kind {
            FieldType::Text => Representation::Text,
            FieldType::Keyword
            | FieldType::Ip
            | FieldType::Range(_)
            | FieldType::Binary
            | FieldType::Completion(_)
            | FieldType::Join(_)
            | FieldType::Query => Representation::Terms,
            FieldType::GeoShape { .. } => Representation::Shape,
            _ => Representation::Number,
        }
    }

    /// Elasticsearch's name of the type it was mapped with.
    pub fn type_name(&self) -> &'static str {
        match &self.runtime {
            Some(RuntimeScript { constant: Some(_), .. }) => "constant_keyword",
            _ if self.match_only => "match_only_text",
            _ if self.is_wildcard => "wildcard",
            _ if self.flattened.is_some() => "flattened",
            _ => self.kind.name(),
        }
    }

    /// The value that all documents have, or, `Some(None)`, that the first one will tell.
    pub fn constant(&self) -> Option<Option<&str>> {
        let constant = self.runtime.as_ref()?.constant.as_ref()?;
        Some(constant.as_deref())
    }

    /// The same field as one that a script makes while a search runs.
    pub fn made_at_search(&self, script: Option<RuntimeScript>) -> Field {
        Field {
            doc_values: true,
            coerce: true,
            ignore_malformed: true,
            ignore_z: true,
            runtime: script,
            ..Field::bare(self.id, self.path.clone(), self.kind.clone())
        }
    }

    /// A text as the field has it: in the form of its normalizer.
    pub fn normalize<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.normalizer {
            Some(normalizer) => normalizer.normalize(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Whether documents name it in `_field_names`: nothing else tells which have it.
    pub fn is_named(&self) -> bool {
        let has_norms = self.norms && matches!(self.kind, FieldType::Text | FieldType::Keyword);
        (self.index || self.store) && !self.doc_values && !has_norms
    }

    /// Format and resolution of a date.
    pub fn date(&self) -> Option<(&Arc<DateFormat>, Resolution)> {
        match &self.kind {
            FieldType::Date { format, resolution } => Some((format, *resolution)),
            _ => None,
        }
    }

    /// What its stored dates count; milliseconds where it is no date.
    pub fn resolution(&self) -> Resolution {
        self.date().map_or(Resolution::Millis, |(_, resolution)| resolution)
    }

    /// Whether a segment writes its points by place instead of by value.
    pub fn is_spatial(&self) -> bool {
        self.index && self.kind == FieldType::GeoPoint
    }
}

/// Receives the typed values of one document, field by field, in document order. Implemented by the segment's buffer; the
/// walker is generic over it, so that nothing is boxed on the way.
///
/// A field may be fed several times per document (arrays, `copy_to`).
pub trait FieldSink {
    /// A value of a field whose representation is [`Representation::Terms`].
    fn term(&mut self, field: &Field, value: &[u8]);
    /// A value of a field whose representation is [`Representation::Number`].
    fn number(&mut self, field: &Field, value: i64);
    /// A value of a text field; the sink runs `field.analyzer` over it and applies `position_increment_gap`.
    fn text(&mut self, field: &Field, value: &str);
    /// A shape of a field whose representation is [`Representation::Shape`]: its bytes, and the cells that it touches (none where the field has
    /// no index).
    fn shape(&mut self, field: &Field, cells: &[i64], bytes: &[u8]);
    /// A nested document begins: the values that follow are its own, until its [`FieldSink::end_nested`]. Its parent is the document
    /// that is open in `nested.parent`.
    fn begin_nested(&mut self, nested: &Nested);
    /// The nested document that was begun last ends; values are again those of its parent.
    fn end_nested(&mut self, nested: &Nested);
    /// The values that follow are of the document that is open in `space`, one of those that are open.
    fn turn_to(&mut self, space: SpaceId);
}

/// Which documents values belong to: [`SpaceId::ROOT`] for the documents themselves, else those of the nested objects of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SpaceId(pub u32);

impl SpaceId {
    pub const ROOT: SpaceId = SpaceId(0);
}

/// The nested objects of one path. Each is a document of its own, in a space of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    /// Dense from 1, stable while the index is open, never reused; greater than its parent's.
    pub space: SpaceId,
    /// Full dotted path.
    pub path: Arc<str>,
    /// The nested objects around, or the root.
    pub parent: SpaceId,
    /// As declared; values may come to the root through parents as well.
    pub include_in_root: bool,
}

impl FieldType {
    /// The types that their names alone describe.
    const PLAIN: [FieldType; 14] = [
        FieldType::Text,
        FieldType::Keyword,
        FieldType::Long,
        FieldType::UnsignedLong,
        FieldType::Integer,
        FieldType::Short,
        FieldType::Byte,
        FieldType::Double,
        FieldType::Float,
        FieldType::HalfFloat,
        FieldType::Boolean,
        FieldType::Ip,
        FieldType::GeoPoint,
        FieldType::Binary,
    ];

    /// The type of this name; `None` where there is none, or where a name says too little: dates have formats.
    pub fn plain(name: &str) -> Option<FieldType> {
        FieldType::PLAIN.into_iter().find(|kind| kind.name() == name)
    }

    /// Elasticsearch's name of the type.
    pub fn name(&self) -> &'static str {
        match self {
            FieldType::Text => "text",
            FieldType::Keyword => "keyword",
            FieldType::Long => "long",
            FieldType::UnsignedLong => "unsigned_long",
            FieldType::Integer => "integer",
            FieldType::Short => "short",
            FieldType::Byte => "byte",
            FieldType::Double => "double",
            FieldType::Float => "float",
            FieldType::HalfFloat => "half_float",
            FieldType::ScaledFloat { .. } => "scaled_float",
            FieldType::Boolean => "boolean",
            FieldType::Date { resolution: Resolution::Millis, .. } => "date",
            FieldType::Date { resolution: Resolution::Nanos, .. } => "date_nanos",
            FieldType::Ip => "ip",
            FieldType::GeoPoint => "geo_point",
            FieldType::GeoShape { .. } => "geo_shape",
            FieldType::Range(kind) => kind.name(),
            FieldType::Binary => "binary",
            FieldType::Completion(_) => "completion",
            FieldType::Join(_) => "join",
            FieldType::Query => "percolator",
        }
    }
}
