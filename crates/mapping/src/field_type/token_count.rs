//! `token_count`: the number of tokens that an analyzer makes of a text, as an integer. Source:
//! Elasticsearch's `TokenCountFieldMapper`.

use serde_json::Value;

use super::integer::Whole;
use crate::RequestError;
use crate::analysis::Analyzer;
use crate::date::DateFormat;
use crate::field::{
    Cause, Check, DOC_VALUES, Field, FieldType, INDEX, IntegerWidth, KEEP, KeptIn, Leaf, Location, META,
    NULL_VALUE, OwnedScalar, Param, Reads, STORE, Scalar, Typed, Update, param,
};
use crate::json::java::{java_text, mapper_parsing};

#[derive(Debug)]
pub(super) struct TokenCount;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    param("analyzer", Check::Analyzer, Update::Always, ""),
    NULL_VALUE,
    param("enable_position_increments", Check::Bool, Update::Never, "true"),
    META,
    KEEP,
];

impl FieldType for TokenCount {
    fn name(&self) -> &'static str {
        "token_count"
    }

    fn searched_as(&self) -> &'static str {
        "integer"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Whole(IntegerWidth::Integer))
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        field.positions = leaf.flag("enable_position_increments");
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        match leaf.params.contains_key("analyzer") {
            true => Ok(()),
            false => {
                let name = place.name();
                Err(mapper_parsing(format!("Analyzer must be set for field [{name}] but wasn't.")))
            }
        }
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        let text = java_text(value);
        match text.parse::<i32>() {
            Ok(number) => Ok(number.into()),
            Err(_) if value.is_number() => {
                Err(RequestError::illegal_argument(format!("{text} is not an integer value")))
            }
            Err(_) => Err(RequestError::number_format(text)),
        }
    }

    fn null(&self, null: &Value) -> OwnedScalar {
        OwnedScalar::Stored(null.as_i64().unwrap_or(0))
    }

    fn reads(&self) -> Reads {
        Reads::Scalar
    }

    fn read<'a>(&self, field: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        Ok(Typed::Number(match scalar {
            Scalar::Stored(number) => number,
            scalar => count(field, scalar.text()),
        }))
    }

    /// A column has the number of tokens, not the tokens themselves.
    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }

    fn show_source(&self, field: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        field.doc_values.then(|| count(field, &text).into())
    }

    fn show_null(&self, field: &Field, null: &Value, _: Option<&DateFormat>) -> Option<Value> {
        field.doc_values.then(|| null.clone())
    }

    fn collapses(&self) -> bool {
        true
    }
}

fn count(field: &Field, text: &str) -> i64 {
    field.analyzer.as_ref().map_or(0, |analyzer| tokens_of(analyzer, text, field.positions))
}

/// Returns the number of tokens of a text, counting tokens at the same position once. With `with_removed`,
/// tokens that a filter removed are counted too.
fn tokens_of(analyzer: &Analyzer, text: &str, with_removed: bool) -> i64 {
    let (mut last, mut count) = (None, 0);
    let trailing = analyzer.tokens(text, |token| {
        count += i64::from(last != Some(token.position));
        last = Some(token.position);
    });
    match with_removed {
        true => last.map_or(0, |last| i64::from(last) + 1) + i64::from(trailing),
        false => count,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::fed;

    /// The counts are those of OpenSearch 3.8.
    #[test]
    fn counts_are_of_tokens_and_of_the_gaps_between_them() {
        let mapping = json!({"properties": {
            "t": {"type": "text", "fields": {
                "n": {"type": "token_count", "analyzer": "standard"},
                "p": {"type": "token_count", "analyzer": "stop", "enable_position_increments": false},
            }},
            "c": {"type": "token_count", "analyzer": "english", "null_value": 7},
            "d": {"type": "token_count", "analyzer": "stop"},
        }});
        let document = json!({
            "t": "The quick brown Fox", "c": [null, "the quick", ""], "d": ["the end is near", "the"],
        });
        assert_eq!(
            fed(&mapping, &document),
            ["t~The quick brown Fox", "t.n=4", "t.p=3", "c=7", "c=2", "c=0", "d=4", "d=1"]
        );
    }

    #[test]
    fn an_analyzer_must_be_named() {
        let mapping = json!({"properties": {"c": {"type": "token_count"}}});
        let error = crate::Mapping::parse(&mapping, &crate::MappingSettings::default()).unwrap_err();
        assert!(error.reason.ends_with("Analyzer must be set for field [c] but wasn't."), "{}", error.reason);
    }
}
