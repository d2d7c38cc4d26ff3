//! `rank_feature` and `rank_features`: numbers that raise scores. Source: Elasticsearch's
//! `RankFeatureFieldMapper` and `RankFeaturesFieldMapper`.

use serde_json::Value;

use super::floating::Floating;
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::feature::RankFeature as Feature;
use crate::field::{
    Check, DateContext, Field, FieldType, KEEP, KeptIn, Leaf, Location, META, NULL_VALUE, OwnedScalar, Param,
    Precision, Reads, Selection, Update, ValueKind, Wanted, param,
};

/// The type with one number.
#[derive(Debug)]
pub(super) struct RankFeature;

/// The type with several named numbers.
#[derive(Debug)]
pub(super) struct RankFeatures;

const POSITIVE: Param = param("positive_score_impact", Check::Bool, Update::Never, "true");

fn finish(leaf: &Leaf, field: &mut Field, is_named: bool) {
    (field.index, field.doc_values) = (true, false);
    field.feature = Some(Feature { is_named, is_positive: leaf.flag("positive_score_impact") });
}

fn not_searchable(name: &str) -> RequestError {
    RequestError::illegal_argument(format!("Queries on [{name}] fields are not supported"))
}

fn no_columns(name: &str) -> RequestError {
    let reason = format!("[{name}] fields do not support sorting, scripting or aggregating");
    RequestError::illegal_argument(reason)
}

impl FieldType for RankFeature {
    fn name(&self) -> &'static str {
        "rank_feature"
    }

    fn params(&self) -> &'static [Param] {
        &[POSITIVE, NULL_VALUE, META, KEEP]
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Bytes)
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        finish(leaf, field, false);
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        Floating(Precision::Float).null_value(value)
    }

    fn null(&self, null: &Value) -> OwnedScalar {
        OwnedScalar::from_json(null)
    }

    fn takes_script(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::Feature
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }

    fn select_term(&self, _: &Field, _: &Wanted<'_>, _: &DateContext<'_>) -> Result<Selection, RequestError> {
        Err(not_searchable(self.name()))
    }

    fn show_source(&self, field: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        Floating(Precision::Float).show_source(field, text, None)
    }

    fn check_column(&self, _: &Field) -> Result<(), RequestError> {
        Err(no_columns(self.name()))
    }

    fn is_searchable(&self, _: &Field) -> bool {
        true
    }

    fn is_aggregatable(&self, _: &Field, _: bool) -> bool {
        false
    }
}

impl FieldType for RankFeatures {
    fn name(&self) -> &'static str {
        "rank_features"
    }

    fn params(&self) -> &'static [Param] {
        &[POSITIVE, META, KEEP]
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Bytes)
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        finish(leaf, field, true);
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        place.refuse_copies(leaf)
    }

    fn takes_script(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::Features
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }

    fn select_term(&self, _: &Field, _: &Wanted<'_>, _: &DateContext<'_>) -> Result<Selection, RequestError> {
        Err(not_searchable(self.name()))
    }

    fn check_exists(&self, _: &Field) -> Result<(), RequestError> {
        let reason = format!("[{}] fields do not support [exists] queries", self.name());
        Err(RequestError::illegal_argument(reason))
    }

    fn check_column(&self, _: &Field) -> Result<(), RequestError> {
        Err(no_columns(self.name()))
    }

    fn is_searchable(&self, _: &Field) -> bool {
        false
    }

    fn is_aggregatable(&self, _: &Field, _: bool) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{fed, refused};

    fn mapping() -> serde_json::Value {
        json!({"properties": {
            "pr": {"type": "rank_feature", "null_value": 2},
            "ul": {"type": "rank_feature", "positive_score_impact": false},
            "ts": {"type": "rank_features"},
            "k": {"type": "float", "fields": {"rf": {"type": "rank_feature"}}},
        }})
    }

    #[test]
    fn numbers_become_terms_that_end_with_nine_bits_of_them() {
        let fed =
            fed(&mapping(), &json!({"pr": null, "ul": 4, "ts": [{"a": 1, "b": null}, {"c": "2"}], "k": 8}));
        let names: Vec<&str> = fed.iter().map(|one| one.split('=').next().unwrap_or(one)).collect();
        assert_eq!(names.iter().filter(|name| !name.starts_with('_')).count(), 6, "{fed:?}");
    }

    /// The causes are those of Elasticsearch 7.17.15.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (document, cause) in [
            (
                json!({"pr": [1, 2]}),
                "[rank_feature] fields do not support indexing multiple values for the same field [pr] in the same document",
            ),
            (json!({"pr": "x"}), "For input string: \"x\""),
            (
                json!({"ts": 3}),
                "[rank_features] fields must be json objects, expected a START_OBJECT but got: VALUE_NUMBER",
            ),
            (
                json!({"ts": {"a": [1]}}),
                "[rank_features] fields take hashes that map a feature to a strictly positive float, but got unexpected token START_ARRAY",
            ),
            (json!({"ts": {"a": "x"}}), "For input string: \"x\""),
            (
                json!({"ts": [{"a": 1}, {"a": 2}]}),
                "[rank_features] fields do not support indexing multiple values for the same rank feature [ts.a] in the same document",
            ),
            (
                json!({"ts": {"a": 0}}),
                "featureValue must be a positive normal float, got: 0.0 for feature a on field ts which is less than the minimum positive normal float: 1.1754944E-38",
            ),
        ] {
            assert_eq!(refused(&mapping(), &document).caused_by.unwrap().reason, cause);
        }
    }
}
