//! One mapped leaf field as data.

use std::borrow::Cow;
use std::sync::Arc;

use super::described::FieldType;
use super::value_kind::ValueKind;
use crate::analysis::{Analyzer, Normalizer};
use crate::field::completion::Completion;
use crate::field::feature::RankFeature;
use crate::field::join::Relations;
use crate::similarity::Similarity;

/// Number of a leaf field within one index's mapping: dense, stable while the index is open, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// What a field's values become in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// Analysed tokens with positions and norms.
    Text,
    /// Whole terms: keyword as UTF-8, ip as 16 bytes big-endian (IPv4 mapped into IPv6), ranges as both ends.
    /// Column = ordinals over the terms.
    Terms,
    /// `i64` that sorts like the value: integers and dates (milliseconds, or nanoseconds) as they are,
    /// booleans 0/1, doubles by [`crate::number::sortable_from_f64`], floats and half floats as their value
    /// widened to f64, scaled floats as `round(value * scaling_factor)`. Index = points, column = numbers.
    Number,
    /// Bytes of shapes ([`crate::geo::GridShape::encode`]), always kept when there is an index or a column.
    /// Index = points, numbers of cells ([`crate::geo::ShapeCell`]).
    Shape,
}

/// One leaf field as mapped. Immutable; shared by `Arc`.
#[derive(Debug)]
pub struct Field {
    /// No identity for the keys of a flattened field, which all have that of its keyed terms, nor for runtime
    /// fields: compare paths.
    pub id: FieldId,
    /// Full dotted path, multi-field suffix included (`request.raw`).
    pub path: Arc<str>,
    /// Its type, which answers what depends on the type alone.
    pub(crate) of: &'static dyn FieldType,
    /// What its values are.
    pub values: ValueKind,
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
    /// Text: whether positions are written (`index_options: positions`, the default for text). Counts of
    /// tokens: whether removed tokens count (`enable_position_increments`).
    pub positions: bool,
    /// Text: whether an index of Elasticsearch would have offsets of its terms. Here they are made anew where
    /// they are needed.
    pub has_offsets: bool,
    /// Text: whether it would have them by document (`term_vector`).
    pub has_vector_offsets: bool,
    /// Text and keyword: whether frequencies are written.
    pub frequencies: bool,
    /// Text and completion: the analyzer of values.
    pub analyzer: Option<Arc<Analyzer>>,
    /// Text and completion: the analyzer of what is looked for.
    pub search_analyzer: Option<Arc<Analyzer>>,
    /// Text: the analyzer of phrases that are looked for, where it is not the `search_analyzer`.
    pub search_quote_analyzer: Option<Arc<Analyzer>>,
    /// Keyword: values and what is looked for are brought into its form.
    pub normalizer: Option<Arc<Normalizer>>,
    /// Keyword: whether a text that is looked for is cut at white space (`split_queries_on_whitespace`).
    pub splits_queries: bool,
    /// Text: positions left free between two values of one document (default 100).
    pub position_increment_gap: u32,
    /// Keyword: values longer than this many UTF-16 units are not indexed.
    pub ignore_above: Option<u32>,
    /// `null_value` in the field's own JSON form.
    pub null_value: Option<serde_json::Value>,
    /// Numbers, ranges and shapes: whether values of a wrong form are converted instead of refused
    /// (`coerce`).
    pub coerce: bool,
    /// Whether a value that cannot be read is left out instead of refused (`ignore_malformed`).
    pub ignore_malformed: bool,
    /// Points: whether third coordinates are passed over instead of refused.
    pub ignore_z: bool,
    /// Paths this field's values are copied to.
    pub copy_to: Vec<Arc<str>>,
    /// Multi-fields (`fields`), fed with the same values.
    pub multi_fields: Vec<FieldId>,
    /// Text: where the terms are that it has beside its own.
    pub parts: TextParts,
    /// Text: whether it holds terms that another text has beside its own.
    pub is_part: bool,
    /// Whether it is hidden: no name and no pattern finds it.
    pub is_hidden: bool,
    /// Which documents belong to which others: of a field of type `join`.
    pub relations: Option<Arc<Relations>>,
    /// What inputs there are, and under which contexts: of a field of type `completion`.
    pub completion: Option<Arc<Completion>>,
    /// What its terms say of features: of the types `rank_feature` and `rank_features`.
    pub feature: Option<RankFeature>,
    /// Part of a field of type `flattened`.
    pub flattened: Option<Flattened>,
    /// A field that no segment holds: its values are made while a search runs. Its id means nothing.
    pub runtime: Option<RuntimeScript>,
    /// Makes the values that a segment holds, when a document is written. Documents have none of their own.
    pub script: Option<RuntimeScript>,
}

/// The terms that a text has beside its own, each kind in a field of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextParts {
    /// The beginnings of terms.
    pub prefixes: Option<TextPrefixes>,
    /// Neighbouring terms as one; the shortest first.
    pub shingles: Vec<TextShingles>,
}

/// Beginnings of terms.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPrefixes {
    /// Path of the field that holds them.
    pub path: Arc<str>,
    /// Whether they are those of neighbouring terms, too (`search_as_you_type`).
    pub of_shingles: bool,
    /// Smallest number of characters that they have.
    pub least: usize,
    /// Largest number of characters that they have.
    pub most: usize,
}

impl TextPrefixes {
    /// Whether they hold every term that begins with `prefix`.
    pub fn hold(&self, prefix: &str) -> bool {
        (self.least..=self.most).contains(&prefix.chars().count())
    }
}

/// Neighbouring terms as one.
#[derive(Debug, Clone, PartialEq)]
pub struct TextShingles {
    /// Path of the field that holds them.
    pub path: Arc<str>,
    /// Number of terms in a shingle.
    pub size: usize,
}

/// Which part of a field of type `flattened` a field is. All are keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flattened {
    /// The field itself: the values of all keys. Objects in its objects are at most `depth_max` deep, itself
    /// counted.
    Root {
        /// The limit on depth.
        depth_max: u32,
    },
    /// The terms key, [`KEY_END`], value of all keys, at [`keyed_path`]. No name and no pattern finds it.
    Keyed,
    /// One key. No document feeds it: a segment shows it as the part of the keyed terms that begin with the
    /// key. Its id is theirs.
    Key,
}

/// Ends the key in the terms of [`Flattened::Keyed`].
pub const KEY_END: u8 = 0;

/// What is behind a flattened field's path in that of its keyed terms. The empty part makes it a path that no
/// mapping has, [`KEY_END`] one that no key has.
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
    /// A field of this type and these values with everything else off or absent, to be filled in by struct
    /// update.
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
            runtime: None,
            script: None,
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
            ..Field::bare(self.id, self.path.clone(), self.of, self.values.clone())
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
        let has_norms = self.norms && self.has_texts();
        let is_prefixes = self.is_part && !self.norms;
        (self.index || self.store) && !self.doc_values && !has_norms && !is_prefixes
    }
}
