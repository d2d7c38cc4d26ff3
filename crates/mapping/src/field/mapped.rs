//! A leaf field of a mapping.

use std::borrow::Cow;
use std::sync::Arc;

use super::described::FieldType;
use super::summary::Summary;
use super::value_kind::ValueKind;
use crate::analysis::{Analyzer, Normalizer};
use crate::field::completion::Completion;
use crate::field::feature::RankFeature;
use crate::field::join::Relations;
use crate::similarity::Similarity;

/// Identifies a leaf field within one index's mapping: dense, stable while the index is open, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// The form of a field's values in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// Analyzed tokens with positions and norms.
    Text,
    /// Whole terms: keyword as UTF-8, ip as 16 bytes big-endian (IPv4 mapped into IPv6), ranges as both
    /// bounds. The column has ordinals of the terms.
    Terms,
    /// An `i64` that sorts like the value: integers and dates (milliseconds or nanoseconds) unchanged,
    /// booleans as 0/1, doubles by [`crate::number::sortable_from_f64`], floats and half floats widened to
    /// f64, scaled floats as `round(value * scaling_factor)`. The index has points, the column has numbers.
    Number,
    /// Bytes of shapes ([`crate::geo::GridShape::encode`]), which are stored if there is an index or a
    /// column. The index has points: numbers of cells ([`crate::geo::ShapeCell`]).
    Shape,
}

/// A leaf field as mapped. Immutable; shared by `Arc`.
#[derive(Debug)]
pub struct Field {
    /// Not unique for the keys of a flattened field, which all have the id of its keyed terms, nor for
    /// runtime fields: compare paths instead.
    pub id: FieldId,
    /// Full dotted path, including a multi-field's suffix (`request.raw`).
    pub path: Arc<str>,
    /// Its type, which answers everything that depends only on the type.
    pub(crate) of: &'static dyn FieldType,
    /// The kind of its values.
    pub values: ValueKind,
    /// `index`: searchable by postings or points.
    pub index: bool,
    /// `doc_values`: has a column.
    pub doc_values: bool,
    /// `store` (only for `GET _mapping`; stored fields are read from `_source`).
    pub store: bool,
    /// `match_only_text`: all matches have the same score, and phrases are verified with the source.
    pub match_only: bool,
    /// `wildcard`: a keyword whose matches all have the same score.
    pub is_wildcard: bool,
    /// Text and keyword: whether norms are written.
    pub norms: bool,
    /// Text and keyword: how matches are scored.
    pub similarity: Similarity,
    /// What scores of matches are multiplied by (`boost`).
    pub boost: f32,
    /// Text: whether positions are written (`index_options: positions`, the default for text). Token count:
    /// whether removed tokens are counted (`enable_position_increments`).
    pub positions: bool,
    /// Text: whether an index of Elasticsearch would store offsets of its terms. Here they are recomputed
    /// when they are needed.
    pub has_offsets: bool,
    /// Text: whether Elasticsearch would store offsets per document (`term_vector`).
    pub has_vector_offsets: bool,
    /// Text and keyword: whether frequencies are written.
    pub frequencies: bool,
    /// Text and completion: the analyzer of documents' values.
    pub analyzer: Option<Arc<Analyzer>>,
    /// Text and completion: the analyzer of query texts.
    pub search_analyzer: Option<Arc<Analyzer>>,
    /// Text: the analyzer of phrases in queries, if it differs from `search_analyzer`.
    pub search_quote_analyzer: Option<Arc<Analyzer>>,
    /// Keyword: normalizes values and query texts.
    pub normalizer: Option<Arc<Normalizer>>,
    /// Keyword: whether query texts are split at white space (`split_queries_on_whitespace`).
    pub splits_queries: bool,
    /// Text: number of positions left free between two values of a document (default 100).
    pub position_increment_gap: u32,
    /// Keyword: values longer than this many UTF-16 units are not indexed.
    pub ignore_above: Option<u32>,
    /// `null_value` in the field's own JSON form.
    pub null_value: Option<serde_json::Value>,
    /// Numbers, ranges and shapes: whether values of another form are converted instead of refused
    /// (`coerce`).
    pub coerce: bool,
    /// Whether an invalid value is left out instead of refused (`ignore_malformed`).
    pub ignore_malformed: bool,
    /// Points: whether a third coordinate is ignored instead of refused.
    pub ignore_z: bool,
    /// Paths this field's values are copied to.
    pub copy_to: Vec<Arc<str>>,
    /// Multi-fields (`fields`), fed with the same values.
    pub multi_fields: Vec<FieldId>,
    /// Text: the fields with its additional terms.
    pub parts: TextParts,
    /// Text: whether it contains additional terms of another text.
    pub is_part: bool,
    /// Whether it is hidden: no name or pattern matches it.
    pub is_hidden: bool,
    /// For type `join`: the parent and child relations.
    pub relations: Option<Arc<Relations>>,
    /// For type `completion`: its parameters and contexts.
    pub completion: Option<Arc<Completion>>,
    /// For types `rank_feature` and `rank_features`: how terms encode features.
    pub feature: Option<RankFeature>,
    /// Which part of a field of type `flattened` it is.
    pub flattened: Option<Flattened>,
    /// For a field whose values are summaries: their numbers.
    pub summary: Option<Arc<Summary>>,
    /// For a field that no segment contains: its values are computed during a search. Its id has no meaning.
    pub runtime: Option<RuntimeScript>,
    /// Computes the values that a segment contains when a document is written. Documents have no values of
    /// their own.
    pub script: Option<RuntimeScript>,
}

/// The additional terms of a text; each kind is in a separate field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextParts {
    /// Prefixes of terms.
    pub prefixes: Option<TextPrefixes>,
    /// Adjacent terms joined into one; the shortest first.
    pub shingles: Vec<TextShingles>,
}

/// Prefixes of terms.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPrefixes {
    /// Path of the field that contains them.
    pub path: Arc<str>,
    /// Whether they include prefixes of joined adjacent terms (`search_as_you_type`).
    pub of_shingles: bool,
    /// Minimum length in characters.
    pub least: usize,
    /// Maximum length in characters.
    pub most: usize,
}

impl TextPrefixes {
    /// Whether every term that begins with `prefix` can be found by that prefix as a term.
    pub fn hold(&self, prefix: &str) -> bool {
        (self.least..=self.most).contains(&prefix.chars().count())
    }
}

/// Adjacent terms joined into one.
#[derive(Debug, Clone, PartialEq)]
pub struct TextShingles {
    /// Path of the field that contains them.
    pub path: Arc<str>,
    /// Number of terms in a shingle.
    pub size: usize,
}

/// The part of a field of type `flattened` that a field is. All parts are keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flattened {
    /// The field itself: the values of all keys. Objects may be nested at most `depth_max` levels deep,
    /// counting the field itself.
    Root {
        /// The maximum depth.
        depth_max: u32,
    },
    /// For all keys the terms key, [`KEY_END`], value, at [`keyed_path`]. No name or pattern matches it.
    Keyed,
    /// One key. No document feeds it: a segment exposes it as the range of keyed terms that begin with the
    /// key. Its id is that of the keyed terms.
    Key,
}

/// Follows the key in the terms of [`Flattened::Keyed`].
pub const KEY_END: u8 = 0;

/// The suffix of a flattened field's path in the path of its keyed terms. Its empty part occurs in no path of
/// a mapping, and [`KEY_END`] occurs in no key.
pub const KEYED_PATH_END: &str = "..\0";

/// Returns the path of the keyed terms of the flattened field at `root`.
pub fn keyed_path(root: &str) -> String {
    format!("{root}{KEYED_PATH_END}")
}

/// Computes the values of a runtime field, or of a field that is computed when documents are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuntimeScript {
    /// `{"source", "lang", "params"}`; `None` if the values come from `_source`. The parts of a `composite`
    /// field share it.
    pub script: Option<Arc<serde_json::Value>>,
    /// `on_script_error: continue`: if the script fails, the document has no value.
    pub continues_on_error: bool,
    /// The name under which a `composite` script emits this field.
    pub part: Option<Arc<str>>,
    /// `constant_keyword`: the value of all documents; the inner `None` if it is not known yet.
    pub constant: Option<Option<Arc<str>>>,
    /// `lookup`: the documents of another index that are shown.
    pub lookup: Option<Arc<LookedUp>>,
}

/// What a runtime field of type `lookup` shows: fields of the document of another index whose field has the
/// value of a field of this document.
#[derive(Debug, Clone, PartialEq)]
pub struct LookedUp {
    /// The other index.
    pub target_index: String,
    /// The field of this document.
    pub input_field: String,
    /// The field of the other document.
    pub target_field: String,
    /// The fields to show, as `fields` of a search names them.
    pub fetch_fields: Vec<serde_json::Value>,
}

impl Field {
    /// Creates a field with this type and these values and everything else off or absent, to be completed by
    /// struct update syntax.
    pub(crate) fn bare(id: FieldId, path: Arc<str>, of: &'static dyn FieldType, values: ValueKind) -> Field {
        Field {
            id,
            path,
            of,
            values,
            index: false,
            doc_values: false,
            store: false,
            match_only: false,
            is_wildcard: false,
            norms: false,
            similarity: Similarity::default(),
            boost: 1.0,
            positions: false,
            has_offsets: false,
            has_vector_offsets: false,
            frequencies: false,
            analyzer: None,
            search_analyzer: None,
            search_quote_analyzer: None,
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
            parts: TextParts::default(),
            is_part: false,
            is_hidden: false,
            relations: None,
            completion: None,
            feature: None,
            flattened: None,
            summary: None,
            runtime: None,
            script: None,
        }
    }

    /// Returns the value that all documents have, or `Some(None)` if the first document will set it.
    pub fn constant(&self) -> Option<Option<&str>> {
        let constant = self.runtime.as_ref()?.constant.as_ref()?;
        Some(constant.as_deref())
    }

    /// Returns the same field as one that is computed during a search.
    pub fn made_at_search(&self, script: Option<RuntimeScript>) -> Field {
        Field {
            doc_values: true,
            coerce: true,
            ignore_malformed: true,
            ignore_z: true,
            runtime: script,
            ..Field::bare(self.id, self.path.clone(), self.of, self.values.clone())
        }
    }

    /// Applies the field's normalizer to a string.
    pub fn normalize<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.normalizer {
            Some(normalizer) => normalizer.normalize(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Whether documents list it in `_field_names`, because nothing else shows which documents have it.
    pub fn is_named(&self) -> bool {
        let has_norms = self.norms && self.has_texts();
        let is_prefixes = self.is_part && !self.norms;
        (self.index || self.store) && !self.doc_values && !has_norms && !is_prefixes
    }
}
