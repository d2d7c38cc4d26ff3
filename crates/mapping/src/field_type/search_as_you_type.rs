//! `search_as_you_type`: a text with additional fields that match while the user types. Source:
//! Elasticsearch's `SearchAsYouTypeFieldMapper`.

use super::text::Text;
use super::text_part::{no_fielddata, shingle_prefixes, shingle_prefixes_at, shingles, shingles_name};
use crate::RequestError;
use crate::field::{
    Check, Field, FieldType, INDEX, KEEP, KeptIn, Leaf, Location, META, Param, SIMILARITY, STORE,
    TextShingles, Update, param,
};
use crate::json::java::mapper_parsing;

#[derive(Debug)]
pub(super) struct SearchAsYouType;

static PARAMS: &[Param] = &[
    INDEX,
    STORE,
    param("doc_values", Check::OnlyDefault, Update::Never, "false"),
    param("max_shingle_size", Check::Count, Update::Never, "3"),
    param("analyzer", Check::Analyzer, Update::Never, ""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("search_quote_analyzer", Check::Analyzer, Update::Always, ""),
    SIMILARITY,
    param("index_options", Check::TextIndexOptions, Update::Never, "\"positions\""),
    param("norms", Check::Bool, Update::Off, "true"),
    param("term_vector", Check::TermVector, Update::Never, "\"no\""),
    META,
    KEEP,
];

/// Number of terms in a shingle (Elasticsearch's `MAX_SHINGLE_SIZE_LOWER_BOUND` and `..._UPPER_BOUND`).
const SIZES: std::ops::RangeInclusive<u64> = 2..=4;

/// Returns the number of terms in the longest shingles.
fn size_max(leaf: &Leaf) -> usize {
    leaf.param("max_shingle_size").as_u64().unwrap_or(3) as usize
}

impl FieldType for SearchAsYouType {
    fn name(&self) -> &'static str {
        "search_as_you_type"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Text)
    }

    fn check(&self, leaf: &Leaf, _: &Location<'_>) -> Result<(), RequestError> {
        let size = leaf.param("max_shingle_size").as_u64().unwrap_or_default();
        match SIZES.contains(&size) {
            true => Ok(()),
            false => Err(mapper_parsing(format!(
                "[max_shingle_size] must be at least [{}] and at most [{}], got [{size}]",
                SIZES.start(),
                SIZES.end()
            ))),
        }
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        if !field.index {
            return;
        }
        field.parts.prefixes = Some(shingle_prefixes_at(&field.path));
        field.parts.shingles = (2..=size_max(leaf))
            .map(|size| TextShingles { size, path: format!("{}.{}", field.path, shingles_name(size)).into() })
            .collect();
    }

    fn parts(&self, leaf: &Leaf) -> Vec<(String, Leaf)> {
        if !leaf.flag("index") {
            return Vec::new();
        }
        let size_max = size_max(leaf);
        let shingles = (2..=size_max).map(|size| shingles(leaf, size));
        shingles.chain([shingle_prefixes(leaf, size_max)]).collect()
    }

    fn always_shown(&self) -> &'static [&'static str] {
        &["doc_values", "max_shingle_size"]
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

    fn is_aggregatable(&self, _: &Field, _: bool) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::fed;
    use crate::{Mapping, MappingSettings};

    #[test]
    fn a_text_is_fed_to_its_parts() {
        let mapping = json!({"properties": {"t": {"type": "search_as_you_type"}, "x": {
            "type": "keyword",
            "fields": {"s": {"type": "text", "index_prefixes": {}, "index_phrases": true}},
        }}});
        assert_eq!(
            fed(&mapping, &json!({"t": "a b"})),
            ["t~a b", "t._2gram~a b", "t._3gram~a b", "t._index_prefix~a b"]
        );
        assert_eq!(
            fed(&mapping, &json!({"x": "a b"})),
            ["x=a b", "x.s~a b", "x.s._index_prefix~a b", "x.s._index_phrase~a b"]
        );
    }

    /// The defaults are those that Elasticsearch 7.17.15 shows.
    #[test]
    fn defaults_are_shown() {
        let declared = json!({"properties": {"t": {"type": "search_as_you_type"}}});
        let mapping = Mapping::parse(&declared, &MappingSettings::default()).unwrap();
        assert_eq!(
            mapping.to_json()["properties"]["t"].to_string(),
            r#"{"type":"search_as_you_type","doc_values":false,"max_shingle_size":3}"#
        );
        assert_eq!(mapping.field("t._3gram").unwrap().type_name(), "search_as_you_type");
        for (size, is_taken) in [(1, false), (2, true), (4, true), (5, false)] {
            let declared =
                json!({"properties": {"t": {"type": "search_as_you_type", "max_shingle_size": size}}});
            assert_eq!(Mapping::parse(&declared, &MappingSettings::default()).is_ok(), is_taken, "{size}");
        }
    }

    #[test]
    fn parts_of_a_text_have_no_names() {
        let declared =
            json!({"properties": {"x": {"type": "text", "index_prefixes": {}, "index_phrases": true}}});
        let mapping = Mapping::parse(&declared, &MappingSettings::default()).unwrap();
        assert!(mapping.field("x._index_prefix").is_none());
        assert_eq!(mapping.matching("x*").count(), 1);
        assert!(mapping.mapped_field("x._index_phrase").is_some());
    }
}
