//! `percolate`: documents with a stored query that matches documents of the request.
//!
//! Source: Elasticsearch's `PercolateQueryBuilder`. A document that is given by `index` and `id` is looked up
//! when the query is bound.

use std::sync::Arc;

use limber_mapping::{Field, Mapping, ObjectParser, RequestError};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use super::answers::Answers;
use super::held_keys::keys_of;
use super::lookup::{OPTIONS, PARSER, named_document, wrong_type};
use super::stored::StoredQueries;
use crate::context::documents::DocumentName;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::held::{LABEL, hold};
use crate::matcher::{self, BoxedMatcher, BoxedScorer, Confirm, ConfirmedDocs, Scorer};
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, only_matching};
use crate::query::lookup::Lookup;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::Explanation;
use crate::values::json;

/// Largest number of documents in one query. Elasticsearch has no such limit.
const DOCUMENTS_MAX: usize = 10_000;

#[derive(Debug)]
struct Percolate {
    field: String,
    documents: Documents,
    name: Option<String>,
}

#[derive(Debug)]
enum Documents {
    Given(Arc<Vec<Vec<u8>>>),
    /// An indexed document. Source: Elasticsearch's `PercolateQueryBuilder#doRewrite`.
    Named {
        document: DocumentName,
        found: Lookup<Vec<Vec<u8>>>,
    },
}

/// Documents with a stored query that matches the percolated documents.
#[derive(Debug)]
pub(crate) struct PercolateNode {
    pub field: Arc<Field>,
    /// The mapping of the documents with the stored queries.
    pub mapping: Arc<Mapping>,
    /// The percolated documents, as the only segment.
    pub held: ShardSnapshot,
    /// The keys of the queries that may match, sorted.
    pub keys: Arc<[Box<[u8]>]>,
    /// The documents with these queries.
    pub candidates: Docs,
    /// The `name`, which distinguishes the slots of several `percolate` queries.
    pub name: Option<String>,
    pub now_millis: i64,
    pub answers: Answers,
    /// The search whose deadline is checked; `None` if the query is not bound for a search.
    pub context: Option<SearchContext>,
}

pub(crate) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut field, mut name) = (None, None);
    let mut documents = Vec::new();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("field", value) => field = Some(json::text(value)?),
            ("name", value) => name = Some(json::text(value)?),
            ("document" | "documents", Value::Object(_)) => documents.push(value.to_string().into_bytes()),
            ("documents", Value::Array(items)) => {
                items.iter().try_for_each(|item| check_document(item, key))?;
                documents.extend(items.iter().map(|item| item.to_string().into_bytes()));
            }
            ("document" | "documents", _) => check_document(value, key)?,
            (key, _) if OPTIONS.contains(&key) => {}
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(PARSER.unknown(key)),
        }
    }
    if let Some(document) = named_document(members)? {
        let field = field.ok_or_else(no_field)?;
        let documents = Documents::Named { document, found: Lookup::default() };
        return Ok(common.query(Percolate { field, documents, name }));
    }
    if documents.is_empty() {
        return Err(RequestError::illegal_argument(
            "Required one of fields [document, documents, id], but none were specified. ",
        ));
    }
    if documents.len() > DOCUMENTS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "[percolate] takes up to [{DOCUMENTS_MAX}] documents, but [{}] were given",
            documents.len()
        )));
    }
    let documents = Documents::Given(Arc::new(documents));
    Ok(common.query(Percolate { field: field.ok_or_else(no_field)?, documents, name }))
}

fn no_field() -> RequestError {
    ObjectParser::required("field")
}

impl Documents {
    fn read(&self, binder: &Binder<'_>) -> Result<Arc<Vec<Vec<u8>>>, Error> {
        match self {
            Documents::Given(documents) => Ok(documents.clone()),
            Documents::Named { document: name, found } => {
                binder.look_up(found, "[id] in [percolate]", name, |document| {
                    let DocumentName { index, id, .. } = name;
                    let document = document?.ok_or_else(|| {
                        let reason = format!("indexed document [{index}/{id}] couldn't be found");
                        RequestError::not_found("resource_not_found_exception", reason)
                    })?;
                    if document.source.is_empty() {
                        let reason = format!("indexed document [{index}/{id}] source disabled");
                        return Err(RequestError::illegal_argument(reason));
                    }
                    Ok(vec![document.source])
                })
            }
        }
    }
}

fn check_document(value: &Value, key: &str) -> Result<(), RequestError> {
    match value {
        Value::Object(_) => Ok(()),
        other => Err(wrong_type(key, other)),
    }
}

impl QueryNode for Percolate {
    fn bind(&self, _: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let shard = binder.shard();
        let documents = self.documents.read(binder)?;
        let Some(field) = binder.field(&self.field) else {
            let reason = format!("field [{}] does not exist", self.field);
            return Err(shard.query_shard_exception(reason).into());
        };
        if !field.has_queries() {
            let (path, found) = (&self.field, field.type_name());
            let reason =
                format!("expected field [{path}] to be of type [percolator], but is of type [{found}]");
            return Err(shard.query_shard_exception(reason).into());
        }
        if shard.nested.is_some() {
            return Err(RequestError::unsupported("query [percolate] on nested documents").into());
        }
        let parsed_bytes: u64 = documents.iter().map(|document| document.len() as u64).sum();
        let mut charge = match binder.context() {
            Some(context) => Some(context.ledger.request.charge(parsed_bytes, LABEL)?),
            None => None,
        };
        let held = hold(shard, &documents, &mut charge)?;
        let keys: Arc<[Box<[u8]>]> = keys_of(&held, &mut charge)?.into();
        let node = PercolateNode {
            field: field.clone(),
            mapping: shard.mapping.clone(),
            held,
            candidates: Docs::Terms { field: field.clone(), terms: keys.clone() },
            keys,
            name: self.name.clone(),
            now_millis: binder.now_millis(),
            answers: Answers::new(charge),
            context: binder.context().cloned(),
        };
        Ok(node.into())
    }
}

impl BoundQuery {
    /// Collects the `percolate` queries in this query.
    pub(crate) fn percolations<'a>(&'a self, out: &mut Vec<&'a PercolateNode>) {
        out.extend(self.node.as_percolate());
        self.node.parts().into_iter().for_each(|part| part.percolations(out));
    }
}

impl BoundNode for PercolateNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let candidates = matcher::set(&self.candidates, segment)?;
        Ok(Box::new(ConfirmedDocs { candidates, confirm: Percolated::open(self, segment)? }))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        only_matching(Box::new(Percolated::open(self, segment)?), self, segment, is_known)
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        Ok(Explanation::leaf(StoredQueries::open(self, segment)?.score(doc)?, self.text()))
    }

    fn class(&self) -> &'static str {
        "PercolateQuery"
    }

    fn text(&self) -> String {
        "PercolateQuery".to_owned()
    }

    fn bit_set_count(&self) -> u64 {
        1
    }

    fn as_percolate(&self) -> Option<&PercolateNode> {
        Some(self)
    }
}

/// Confirms candidates by running their queries.
struct Percolated<'a>(StoredQueries<'a>);

impl<'a> Percolated<'a> {
    fn open(node: &'a PercolateNode, segment: &'a Segment) -> Result<Percolated<'a>> {
        Ok(Percolated(StoredQueries::open(node, segment)?))
    }
}

impl Confirm for Percolated<'_> {
    /// For each candidate a query must be parsed, bound and run.
    const COST_FACTOR: u64 = 256;

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        self.0.matches(doc)
    }
}

impl Scorer for Percolated<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            *sum += f64::from(self.0.score(*doc)?);
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(f32::INFINITY)
    }
}
