//! `text`: analysed into terms. Source: Elasticsearch's `TextFieldMapper`.

use serde_json::Value;

use super::text_part::{PHRASE_SIZE, PHRASES, PREFIXES, hidden_phrases, hidden_prefixes};
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    BOOST, Cause, Check, DateContext, EAGER_ORDINALS, Field, FieldType, INDEX, KEEP, KeptIn, Leaf, Location,
    META, Param, RangeEnd, Reads, SIMILARITY, STORE, Scalar, Selection, TextPrefixes, TextShingles, Typed,
    Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct Text;

static PARAMS: &[Param] = &[
    INDEX,
    STORE,
    param("index_options", Check::TextIndexOptions, Update::Never, "\"positions\""),
    param("norms", Check::Bool, Update::Off, "true"),
    // Vectors are not stored, because `_termvectors` analyzes the text again. The parameter determines which
    // fields are shown by default, and with which details.
    param("term_vector", Check::TermVector, Update::Never, "\"no\""),
    param("analyzer", Check::Analyzer, Update::Never, ""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("search_quote_analyzer", Check::Analyzer, Update::Always, ""),
    SIMILARITY,
    param("position_increment_gap", Check::Count, Update::Never, "100"),
    EAGER_ORDINALS,
    // Stored and returned by `Mapping::parameter`. Code that aggregates over text must check it.
    param("fielddata", Check::Bool, Update::Always, "false"),
    param("fielddata_frequency_filter", Check::FrequencyFilter, Update::Always, "null"),
    param("index_prefixes", Check::Prefixes, Update::Never, "null"),
    param("index_phrases", Check::Bool, Update::Never, "false"),
    BOOST,
    META,
    KEEP,
];

impl FieldType for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        let refuse = |what: &str, why: &str| {
            let reason = format!("Cannot set {what} on {why}");
            Err(RequestError::illegal_argument(reason))
        };
        let name = place.name();
        if leaf.flag("fielddata") && !leaf.flag("index") {
            let reason = format!("Cannot enable fielddata on a [text] field that is not indexed: [{name}]");
            return Err(RequestError::illegal_argument(reason));
        }
        for what in ["index_prefixes", "index_phrases"] {
            if leaf.params.contains_key(what) && !leaf.flag("index") {
                return refuse(what, &format!("unindexed field [{name}]"));
            }
        }
        let has_positions = matches!(leaf.param("index_options").as_str(), Some("positions" | "offsets"));
        match leaf.flag("index_phrases") && !has_positions {
            true => refuse("index_phrases", &format!("field [{name}] if positions are not enabled")),
            false => Ok(()),
        }
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        let path = &field.path;
        field.parts.prefixes = prefix_chars(leaf).map(|(least, most)| TextPrefixes {
            path: format!("{path}.{PREFIXES}").into(),
            of_shingles: false,
            least,
            most,
        });
        if leaf.flag("index_phrases") {
            let path = format!("{path}.{PHRASES}").into();
            field.parts.shingles.push(TextShingles { path, size: PHRASE_SIZE });
        }
    }

    fn parts(&self, leaf: &Leaf) -> Vec<(String, Leaf)> {
        let prefixes = prefix_chars(leaf).map(|(least, most)| hidden_prefixes(leaf, least, most));
        let phrases = leaf.flag("index_phrases").then(|| hidden_phrases(leaf));
        prefixes.into_iter().chain(phrases).collect()
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Text)
    }

    fn reads(&self) -> Reads {
        Reads::Text
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        Ok(Typed::Text(scalar.text()))
    }

    /// A field with `store` only has its values in the source; others also have them in the column of a
    /// keyword multi-field.
    fn kept_in(&self, field: &Field) -> KeptIn {
        if field.store { KeptIn::Shown } else { KeptIn::Keyword }
    }

    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Ok(Selection::Term(field.normalize(wanted.text).as_bytes().to_vec()))
    }

    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        field.select_texts(lower, upper)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        Some(text.into())
    }

    fn is_searchable(&self, field: &Field) -> bool {
        field.index
    }

    fn is_aggregatable(&self, _: &Field, has_fielddata: bool) -> bool {
        has_fielddata
    }
}

/// Returns the minimum and maximum length in characters of indexed prefixes (`index_prefixes`).
fn prefix_chars(leaf: &Leaf) -> Option<(usize, usize)> {
    let given = leaf.params.get("index_prefixes")?;
    Some((given["min_chars"].as_u64()? as usize, given["max_chars"].as_u64()? as usize))
}
