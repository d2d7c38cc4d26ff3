//! Additional terms of a text: prefixes of terms, and adjacent terms joined into one. Mappings cannot name
//! these types; they are used for fields that `index_prefixes`, `index_phrases` and `search_as_you_type`
//! create.
//!
//! Source: the `PrefixFieldMapper` and `PhraseFieldMapper` of Elasticsearch's `TextFieldMapper`, and the
//! `PrefixFieldMapper` and `ShingleFieldMapper` of its `SearchAsYouTypeFieldMapper`.

use std::sync::Arc;

use serde_json::Value;

use super::text::Text;
use crate::RequestError;
use crate::analysis::Analyzer;
use crate::field::{Check, Field, FieldType, KeptIn, Leaf, Param, SIMILARITY, TextPrefixes, Update, param};

/// Prefixes of terms, in a field that no name or pattern matches.
#[derive(Debug)]
pub(super) struct HiddenPrefixes;

/// Pairs of adjacent terms, in a field that no name or pattern matches.
#[derive(Debug)]
pub(super) struct HiddenPhrases;

/// Adjacent terms joined into one.
#[derive(Debug)]
pub(super) struct Shingles;

/// The prefixes of joined adjacent terms.
#[derive(Debug)]
pub(super) struct ShinglePrefixes;

/// The suffix that is appended to the path of the text.
pub(super) const PREFIXES: &str = "_index_prefix";
pub(super) const PHRASES: &str = "_index_phrase";

/// Number of terms of a phrase that are looked up as one.
pub(super) const PHRASE_SIZE: usize = 2;
/// Minimum and maximum length in characters of the prefixes that `search_as_you_type` indexes.
pub(super) const SHINGLE_PREFIX_CHARS: (usize, usize) = (1, 20);

const SIZE: &str = "shingle_size";
const MIN_CHARS: &str = "min_chars";
const MAX_CHARS: &str = "max_chars";

static PARAMS: &[Param] = &[
    param("index_options", Check::TextIndexOptions, Update::Never, "\"positions\""),
    param("norms", Check::Bool, Update::Off, "true"),
    param("analyzer", Check::Analyzer, Update::Never, ""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("position_increment_gap", Check::Count, Update::Never, ""),
    SIMILARITY,
];

/// Creates a part of `leaf`: it has the text's parameters for terms, and numbers of its own.
pub(super) fn part(kind: &'static dyn FieldType, leaf: &Leaf, own: &[(&'static str, usize)]) -> Leaf {
    let mut part = Leaf::of(kind);
    for param in PARAMS {
        if let Some(value) = leaf.params.get(param.name) {
            part.params.insert(param.name, value.clone());
        }
    }
    part.params.extend(own.iter().map(|(name, number)| (*name, Value::from(*number))));
    part
}

/// Returns the hidden field for the prefixes of a text with `index_prefixes`: the suffix of its name, and its
/// declaration.
pub(super) fn hidden_prefixes(leaf: &Leaf, least: usize, most: usize) -> (String, Leaf) {
    (PREFIXES.to_owned(), part(&HiddenPrefixes, leaf, &[(MIN_CHARS, least), (MAX_CHARS, most)]))
}

/// Returns the hidden field for the pairs of terms of a text with `index_phrases`.
pub(super) fn hidden_phrases(leaf: &Leaf) -> (String, Leaf) {
    (PHRASES.to_owned(), part(&HiddenPhrases, leaf, &[(SIZE, PHRASE_SIZE)]))
}

/// Returns the part of a `search_as_you_type` for shingles of `size` terms.
pub(super) fn shingles(leaf: &Leaf, size: usize) -> (String, Leaf) {
    (shingles_name(size), part(&Shingles, leaf, &[(SIZE, size)]))
}

pub(super) fn shingles_name(size: usize) -> String {
    format!("_{size}gram")
}

/// Returns the part of a `search_as_you_type` for the prefixes of its longest shingles, which have `size`
/// terms.
pub(super) fn shingle_prefixes(leaf: &Leaf, size: usize) -> (String, Leaf) {
    (PREFIXES.to_owned(), part(&ShinglePrefixes, leaf, &[(SIZE, size)]))
}

fn number(leaf: &Leaf, name: &str) -> usize {
    leaf.params.get(name).and_then(Value::as_u64).unwrap_or(1) as usize
}

fn derive(analyzer: &mut Option<Arc<Analyzer>>, make: impl Fn(&Analyzer) -> Analyzer) {
    if let Some(own) = analyzer.as_mut() {
        *own = Arc::new(make(own));
    }
}

/// The methods that all parts have in common.
macro_rules! like_text {
    ($name:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn params(&self) -> &'static [Param] {
            PARAMS
        }

        fn like(&self) -> Option<&'static dyn FieldType> {
            Some(&Text)
        }

        fn takes_script(&self) -> bool {
            false
        }

        fn kept_in(&self, _: &Field) -> KeptIn {
            KeptIn::Nothing
        }

        fn check_column(&self, field: &Field) -> Result<(), RequestError> {
            Err(no_fielddata(field))
        }
    };
}

/// Returns the error for a field that can never have a column.
pub(super) fn no_fielddata(field: &Field) -> RequestError {
    RequestError::illegal_argument(format!(
        "Fielddata is not supported on field [{}] of type [{}]",
        field.path,
        field.type_name()
    ))
}

impl FieldType for HiddenPrefixes {
    like_text!("prefix");

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        let (least, most) = (number(leaf, MIN_CHARS), number(leaf, MAX_CHARS));
        derive(&mut field.analyzer, |analyzer| analyzer.prefixes(least, most));
        (field.index, field.norms, field.is_part, field.is_hidden) = (true, false, true, true);
    }
}

impl FieldType for HiddenPhrases {
    like_text!("phrase");

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        let size = number(leaf, SIZE);
        derive(&mut field.analyzer, |analyzer| analyzer.shingled(size, "_"));
        (field.index, field.is_part, field.is_hidden) = (true, true, true);
    }
}

impl FieldType for Shingles {
    like_text!("search_as_you_type");

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        let size = number(leaf, SIZE);
        derive(&mut field.analyzer, |analyzer| analyzer.shingled(size, ""));
        derive(&mut field.search_analyzer, |analyzer| analyzer.shingled(size, ""));
        (field.index, field.is_part) = (true, true);
        if let Some((root, _)) = field.path.rsplit_once('.') {
            field.parts.prefixes = Some(shingle_prefixes_at(root));
        }
    }
}

/// Returns the location of the prefixes of the `search_as_you_type` at `root`.
pub(super) fn shingle_prefixes_at(root: &str) -> TextPrefixes {
    let (least, most) = SHINGLE_PREFIX_CHARS;
    TextPrefixes { path: format!("{root}.{PREFIXES}").into(), of_shingles: true, least, most }
}

impl FieldType for ShinglePrefixes {
    like_text!("prefix");

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        let size = number(leaf, SIZE);
        let (least, most) = SHINGLE_PREFIX_CHARS;
        derive(&mut field.analyzer, |analyzer| analyzer.shingle_prefixes(size, least, most));
        derive(&mut field.search_analyzer, |analyzer| analyzer.shingled(size, ""));
        (field.index, field.norms, field.is_part) = (true, false, true);
    }
}
