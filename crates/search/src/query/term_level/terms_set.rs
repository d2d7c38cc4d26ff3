//! `terms_set`: documents with a minimum number of terms, which a field or a script of the document gives.
//!
//! Source: Elasticsearch's `TermsSetQueryBuilder`, Lucene's `CoveringQuery`.

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::context::ShardSnapshot;
use crate::context::seen::Seen;
use crate::error::{Error, Result};
use crate::matcher::{BoolScorer, BoxedMatcher, BoxedScorer, CoveredDocs, OpenNeeded, Union};
use crate::primitives::BoundNeeded;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, only_matching};
use crate::query::compound::dis_max::any_can_match;
use crate::query::compound::minimum_should_match;
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode, check_clauses};
use crate::score::Explanation;
use crate::script::{BoundScript, RuntimeField};
use crate::values::json;

#[derive(Debug)]
struct TermsSet {
    field: String,
    terms: Vec<Value>,
    /// If it is missing, the shard reports the error.
    needed: Option<Needed>,
}

/// The minimum number of terms that a document must have.
#[derive(Debug)]
enum Needed {
    Field(String),
    Script(Script),
    Count(String),
}

/// Documents that match a minimum number of queries. The score is the sum of the scores of the matching ones.
#[derive(Debug)]
pub(crate) struct TermsSetNode {
    pub queries: Vec<BoundQuery>,
    pub needed: BoundNeeded,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let unknown_token = |token: &str| RequestError::parsing(format!("[terms_set] unknown token [{token}]"));
    let mut fields = members.iter();
    let (field, body) = fields.next().ok_or_else(|| unknown_token("END_OBJECT"))?;
    let Value::Object(options) = body else { return Err(unknown_token(json::token(body))) };
    let mut common = Common::default();
    let (mut by_field, mut by_script, mut count) = (None, None, None);
    let mut terms = Vec::new();
    for (key, value) in options {
        match (key.as_str(), value) {
            ("terms", Value::Array(items)) => terms = parse_terms(items)?,
            ("minimum_should_match_script", Value::Object(_)) => {
                by_script = Some(Needed::Script(Script::parse(value)?));
            }
            (key, Value::Null) => json::check_scalar("terms_set", key, value)?,
            ("minimum_should_match_field", Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                by_field = json::scalar_text(value).map(Needed::Field);
            }
            ("minimum_should_match", Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                count = json::scalar_text(value).map(Needed::Count);
            }
            (key, value) if !value.is_object() && !value.is_array() && common.take(key, value)? => {}
            (key, _) => {
                return Err(RequestError::parsing(format!("[terms_set] query does not support [{key}]")));
            }
        }
    }
    if fields.next().is_some() {
        return Err(unknown_token("FIELD_NAME"));
    }
    if by_field.is_some() && by_script.is_some() {
        return Err(RequestError::illegal_argument(
            "A field or value has already been specified. Cannot specify both a script and a field or value",
        ));
    }
    if count.is_some() && (by_field.is_some() || by_script.is_some()) {
        return Err(RequestError::illegal_argument(
            "A field or script has already been specified. Cannot specify both a value and a script or field",
        ));
    }
    let needed = by_field.or(by_script).or(count);
    Ok(common.query(TermsSet { field: field.clone(), terms, needed }))
}

fn parse_terms(items: &[Value]) -> Result<Vec<Value>, RequestError> {
    for item in items {
        match item {
            Value::Null => return Err(RequestError::parsing("No value specified for terms query")),
            Value::Array(_) | Value::Object(_) => {
                return Err(RequestError::parsing("[terms_set] unknown token [END_ARRAY] after [terms]"));
            }
            _ => {}
        }
    }
    Ok(items.to_vec())
}

impl QueryNode for TermsSet {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let count = self.terms.len();
        if count == 0 {
            return Ok(BoundQuery::nothing("No terms supplied for \"terms_set\" query."));
        }
        check_clauses(count)?;
        let terms = self.terms.iter().map(|term| binder.term(&self.field, term, boost));
        let queries = terms.collect::<Result<Vec<_>, Error>>()?;
        let needed = match &self.needed {
            Some(needed) => needed.bind(count, binder)?,
            None => {
                let reason = "No minimum should match has been specified";
                return Err(RequestError::bad_request("illegal_state_exception", reason).into());
            }
        };
        Ok(TermsSetNode { queries, needed }.into())
    }
}

impl Needed {
    /// `count` is the number of terms.
    fn bind(&self, count: usize, binder: &Binder<'_>) -> Result<BoundNeeded, Error> {
        Ok(match self {
            Needed::Field(path) => {
                let Some(field) = binder.field(path) else {
                    let reason = format!("failed to find minimum_should_match field [{path}]");
                    return Err(binder.query_shard(reason).into());
                };
                binder.check_numeric_column(&field, "minimum_should_match_field")?;
                let runtime = RuntimeField::bind(&field, binder.shard())?;
                BoundNeeded::Field { field, runtime }
            }
            Needed::Script(script) => {
                let mut script = script.clone();
                script.params.insert("num_terms".to_owned(), count.into());
                // The script returns a value, and has no access to scores.
                BoundNeeded::Script(BoundScript::bind(&script, ScriptContext::Field, binder.shard())?)
            }
            Needed::Count(spec) => BoundNeeded::Count(minimum_should_match::required(spec, count)? as u64),
        })
    }
}

impl BoundNode for TermsSetNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let parts = self.queries.iter().map(|query| query.matcher(segment)).collect::<Result<_>>()?;
        let seen = match &self.needed {
            BoundNeeded::Script(script) => script.seen_in(segment),
            BoundNeeded::Field { runtime: Some(field), .. } => field.seen_in(segment),
            BoundNeeded::Field { runtime: None, .. } | BoundNeeded::Count(_) => Seen::All,
        };
        Ok(Box::new(CoveredDocs::new(Union { parts }, OpenNeeded::open(&self.needed, segment)?, seen)))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        let parts = self.queries.iter().map(|query| query.scorer(segment, false));
        let sum = BoolScorer::sum_of(parts.collect::<Result<_>>()?);
        only_matching(Box::new(sum), self, segment, is_known)
    }

    /// Source: Lucene's `CoveringQuery.CoveringWeight#explain`.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let mut details = Vec::new();
        for query in &self.queries {
            if query.matches_doc(segment, doc)? {
                details.push(query.explain(segment, doc)?);
            }
        }
        let sum: f64 = details.iter().map(|detail| f64::from(detail.value)).sum();
        let text = match self.needed {
            // Elasticsearch makes an ordinary disjunction in this case.
            BoundNeeded::Count(_) => "sum of:".to_owned(),
            _ => {
                let mut needed = Vec::new();
                OpenNeeded::open(&self.needed, segment)?.read(&[doc], &mut needed)?;
                format!("{} matches for {} required matches, sum of:", details.len(), needed[0])
            }
        };
        Ok(Explanation::of(sum as f32, text, details))
    }

    fn class(&self) -> &'static str {
        "CoveringQuery"
    }

    fn text(&self) -> String {
        let queries: Vec<String> = self.queries.iter().map(BoundQuery::text).collect();
        format!("CoveringQuery(queries=[{}])", queries.join(", "))
    }

    fn parts(&self) -> Vec<&BoundQuery> {
        self.queries.iter().collect()
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        self.queries.iter_mut().collect()
    }

    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        any_can_match(&self.queries, shard)
    }

    fn required_terms(&self) -> RequiredTerms {
        RequiredTerms::any_of(&self.queries).inexact()
    }
}

#[cfg(test)]
mod tests {
    use crate::query::parse::{QueryLimits, parse_query};
    use serde_json::json;

    /// Error messages recorded from Elasticsearch 9.4.3.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (body, reason) in [
            (json!({}), "[terms_set] unknown token [END_OBJECT]"),
            (json!({"a": 5}), "[terms_set] unknown token [VALUE_NUMBER]"),
            (json!({"a": ["b"]}), "[terms_set] unknown token [START_ARRAY]"),
            (json!({"a": {"terms": "b"}}), "[terms_set] query does not support [terms]"),
            (json!({"a": {"terms": ["b"], "foo": 1}}), "[terms_set] query does not support [foo]"),
            (json!({"a": {"terms": [null]}}), "No value specified for terms query"),
            (
                json!({"a": {"terms": ["b"], "minimum_should_match_script": "1"}}),
                "[terms_set] query does not support [minimum_should_match_script]",
            ),
            (json!({"a": {"terms": ["b"]}, "c": {}}), "[terms_set] unknown token [FIELD_NAME]"),
            (
                json!({"a": {"minimum_should_match": 1, "minimum_should_match_field": "n"}}),
                "A field or script has already been specified. Cannot specify both a value and a script or field",
            ),
        ] {
            let error = parse_query(&json!({"terms_set": body}), &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason, "{body}");
        }
    }
}
