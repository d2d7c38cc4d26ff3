//! Binds query trees to a shard.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use limber_mapping::analysis::Analyzer;
use limber_mapping::date::is_beyond_nanos;
use limber_mapping::{DateContext, Field, RequestError, Selection, SourceMode};
use serde_json::Value;

use super::bound::BoundQuery;
use super::convert;
use super::parse::Query;
use super::specialized::guarded::guarded;
use crate::context::{SearchContext, ShardSettings, ShardSnapshot};
use crate::error::{Error, check_request};
use crate::primitives::PhraseNode;
use crate::score::{NormCache, ScriptFailure};
use crate::values::json;

/// Binds a query to a shard. Wraps errors in `query_shard_exception` as Elasticsearch does.
pub fn bind(query: &Query, shard: &ShardSnapshot, now_millis: i64) -> Result<BoundQuery, Error> {
    bind_with(query, &Binder::new(shard, now_millis))
}

/// Does the same as [`bind`] for a search: the memory of the query is charged to it, and long work checks its
/// deadline.
pub(crate) fn bind_in(
    query: &Query,
    shard: &ShardSnapshot,
    context: &SearchContext,
) -> Result<BoundQuery, Error> {
    bind_with(query, &Binder { context: Some(context), ..Binder::new(shard, context.now_millis) })
}

/// Does the same as [`bind`] for a query that is stored and will be run on other documents than the shard's.
/// All its fields must be mapped, and clauses that match none of the shard's documents are kept.
pub(crate) fn bind_to_mapped(
    query: &Query,
    shard: &ShardSnapshot,
    now_millis: i64,
) -> Result<BoundQuery, Error> {
    let binder = Binder { is_to_be_kept: true, ..Binder::new(shard, now_millis) };
    let bound = bind_with(query, &binder)?;
    match binder.unmapped.take() {
        None => Ok(bound),
        Some(path) => {
            let reason = format!("No field mapping can be found for the field with name [{path}]");
            Err(shard.query_shard_exception(reason).into())
        }
    }
}

fn bind_with(query: &Query, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
    let shard = binder.shard;
    let bound = binder.query(query, 1.0).and_then(|mut bound| {
        super::runtime::attach(&mut bound, shard)?;
        Ok(guarded(bound, &binder.failure))
    });
    bound.map_err(|error| match error {
        Error::Request(error) => Error::Request(binder.failed_to_create(error)),
        other => other,
    })
}

/// The interface to the shard that query nodes use while they are bound.
#[derive(Debug)]
pub struct Binder<'a> {
    pub(super) shard: &'a ShardSnapshot,
    now_millis: i64,
    pub(super) norms: RefCell<BTreeMap<Arc<str>, Arc<NormCache>>>,
    /// Number of scored terms so far: many texts with few terms are as much work as one with many terms.
    pub(super) terms: Cell<u32>,
    /// The first requested field that is not mapped.
    unmapped: RefCell<Option<String>>,
    is_to_be_kept: bool,
    /// The first error of the scripts that compute scores.
    pub(super) failure: Arc<ScriptFailure>,
    pub(super) context: Option<&'a SearchContext>,
}

impl<'a> Binder<'a> {
    fn new(shard: &'a ShardSnapshot, now_millis: i64) -> Binder<'a> {
        let (norms, unmapped) = (RefCell::default(), RefCell::default());
        let (terms, is_to_be_kept, context) = (Cell::new(0), false, None);
        let failure = Arc::default();
        Binder { shard, now_millis, norms, terms, unmapped, is_to_be_kept, failure, context }
    }

    pub(crate) fn query(&self, query: &Query, boost: f32) -> Result<BoundQuery, Error> {
        check_request()?;
        let is_measured = self.context.is_some_and(|context| context.profiles);
        let started = is_measured.then(Instant::now);
        let mut bound = query.node.bind(boost * query.boost, self)?;
        bound.bind_nanos = started.map_or(0, |started| started.elapsed().as_nanos() as u64);
        if query.name.is_some() {
            // If the node already has a name, that belongs to a wrapper that has no node of its own.
            bound.name = query.name.clone();
        }
        Ok(bound)
    }

    pub(crate) fn settings(&self) -> &ShardSettings {
        &self.shard.settings
    }

    /// Returns `fields`, or if there are none the index's default fields.
    pub(crate) fn or_default_fields<'f>(&'f self, fields: &'f [(String, f32)]) -> &'f [(String, f32)] {
        if fields.is_empty() { &self.shard.settings.default_fields } else { fields }
    }

    pub(crate) fn shard(&self) -> &ShardSnapshot {
        self.shard
    }

    /// Returns the search that the query is bound for, if any.
    pub(crate) fn context(&self) -> Option<&SearchContext> {
        self.context
    }

    /// Makes the binder of a query on nested documents; `shard` is the [`ShardSnapshot::within`] of this
    /// one's shard.
    pub(crate) fn inside<'b>(&'b self, shard: &'b ShardSnapshot) -> Binder<'b> {
        let (terms, is_to_be_kept, context) = (self.terms.clone(), self.is_to_be_kept, self.context);
        let failure = self.failure.clone();
        Binder { terms, is_to_be_kept, failure, context, ..Binder::new(shard, self.now_millis) }
    }

    /// Whether a clause can be left out of a disjunction because it never matches anything.
    pub(crate) fn is_idle(&self, clause: &BoundQuery) -> bool {
        clause.is_nothing() && !self.is_to_be_kept
    }

    pub(crate) fn now_millis(&self) -> i64 {
        self.now_millis
    }

    /// Returns the setting `search.allow_expensive_queries`.
    pub(crate) fn allows_expensive(&self) -> bool {
        self.context.is_none_or(|context| context.allow_expensive_queries)
    }

    /// Refuses a query of a kind that may examine a great number of terms or documents, if those are not
    /// allowed.
    pub(crate) fn check_expensive(&self, kind: &str) -> Result<(), Error> {
        if self.allows_expensive() {
            return Ok(());
        }
        let hint = match kind {
            "[prefix] queries" => {
                " For optimised prefix queries on text fields please enable [index_prefixes]."
            }
            _ => "",
        };
        Err(expensive(format!(
            "{kind} cannot be executed when 'search.allow_expensive_queries' is set to false.{hint}"
        ))
        .into())
    }

    /// Does the same as [`Binder::check_expensive`] for queries that need the values of a runtime field.
    pub(crate) fn check_runtime_field(&self, field: &Field) -> Result<(), Error> {
        match self.allows_expensive() || field.runtime.is_none() || field.constant().is_some() {
            true => Ok(()),
            false => Err(on_runtime_fields().into()),
        }
    }

    /// Refuses fields without doc values.
    pub(crate) fn check_column(&self, field: &Field) -> Result<(), Error> {
        crate::context::columns::check_column(field, self.shard)
    }

    /// Refuses fields without numeric doc values.
    pub(crate) fn check_numeric_column(&self, field: &Field, what: &str) -> Result<(), Error> {
        self.check_column(field)?;
        if field.number_form().is_none() {
            return Err(RequestError::illegal_argument(format!(
                "[{what}] needs numbers, but field [{}] is of type [{}]",
                field.path,
                field.type_name()
            ))
            .into());
        }
        Ok(())
    }

    /// Returns the field if it is mapped. Fails if it can be searched neither by index nor by doc values.
    pub(crate) fn searchable_field(&self, path: &str) -> Result<Option<Arc<Field>>, Error> {
        let Some(field) = self.field(path) else { return Ok(None) };
        if !self.allows_expensive() {
            if field.runtime.is_some() && field.constant().is_none() {
                return Err(on_runtime_fields().into());
            }
            if !field.index && field.doc_values && field.flattened.is_none() {
                return Err(expensive(format!(
                    "Cannot search on field [{path}] since it is not indexed and 'search.allow_expensive_queries' is set to false."
                ))
                .into());
            }
        }
        if !field.index && (!field.doc_values || field.flattened.is_some()) {
            let is_by_index = field.is_analyzed() || field.flattened.is_some();
            let why = if is_by_index { "" } else { " nor has doc values" };
            return Err(RequestError::illegal_argument(format!(
                "Cannot search on field [{path}] since it is not indexed{why}."
            ))
            .into());
        }
        Ok(Some(field))
    }

    /// Returns the paths of the fields that `exists` on `path` tests: the field itself, all fields of an
    /// object, or those that match a pattern.
    pub(crate) fn paths_with_values(&self, path: &str) -> Vec<Arc<str>> {
        let mapping = &self.shard.mapping;
        let below =
            |pattern: &str| mapping.matching_distinct(pattern).map(|field| field.path.clone()).collect();
        if path.contains('*') {
            return below(path);
        }
        if let Some(field) = mapping.field(path) {
            return vec![field.path.clone()];
        }
        below(&format!("{path}.*"))
    }

    /// Expands names and patterns to fields with boosts. A pattern stands for the searchable fields that
    /// match it; a name stands for itself, mapped or not.
    pub(crate) fn expand_fields(&self, wanted: &[(String, f32)]) -> Result<Vec<(Arc<str>, f32)>, Error> {
        /// `indices.query.bool.max_clause_count` of a small Elasticsearch node.
        const FIELDS_MAX: usize = 1024;
        /// More are not even counted.
        const COUNTED_MAX: usize = 100_000;
        let (mut found, mut count): (Vec<(Arc<str>, f32)>, usize) = (Vec::new(), 0);
        for (name, boost) in wanted {
            check_request()?;
            if count > COUNTED_MAX {
                break;
            }
            if !name.contains('*') {
                found.push((Arc::from(name.as_str()), *boost));
                count += 1;
                continue;
            }
            let searchable = self.shard.mapping.matching_distinct(name).filter(|field| {
                let is_own = field.id.0 as usize >= limber_mapping::reserved::COUNT;
                is_own && (field.index || field.doc_values) && field.is_searchable()
            });
            for field in searchable {
                count += 1;
                // Those beyond the limit are only counted.
                if found.len() <= FIELDS_MAX {
                    found.push((field.path.clone(), *boost));
                }
            }
        }
        if count > FIELDS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "field expansion matches too many fields, limit: {FIELDS_MAX}, got: {count}"
            ))
            .into());
        }
        Ok(found)
    }

    /// Returns the field if it is mapped.
    pub(crate) fn field(&self, path: &str) -> Option<Arc<Field>> {
        let field = self.shard.mapping.field(path);
        if field.is_none() {
            self.unmapped.borrow_mut().get_or_insert_with(|| path.to_owned());
        }
        field
    }

    /// Returns what a `term` query with this value selects.
    pub(crate) fn select_term(&self, field: &Field, value: &Value) -> Result<Selection, Error> {
        let selection = field.select_term(value, &self.dates()).map_err(|error| match error.kind {
            // A range query passes these errors on unchanged; a term query wraps them.
            "parse_exception" => self.wrapped(error),
            _ if is_beyond_nanos(&error) => self.wrapped(error),
            _ => error,
        });
        Ok(selection?)
    }

    /// Binds Elasticsearch's `term` query on a field of any type.
    pub(crate) fn term(&self, path: &str, value: &Value, boost: f32) -> Result<BoundQuery, Error> {
        if path == "_id" {
            return super::term_level::ids::bind_ids(
                json::scalar_text(value).into_iter().collect(),
                boost,
                self,
            );
        }
        if matches!(path, "_source" | "_version") {
            return Err(self.query_shard(format!("The {path} field is not searchable")).into());
        }
        let Some(field) = self.searchable_field(path)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
        };
        let selection = self.select_term(&field, value)?;
        let constant_boost = boost * field.boost;
        match selection {
            Selection::Term(term) if field.index && field.has_patterns() => {
                self.scored_term(&field, &term, boost)
            }
            Selection::Number(number) if field.index && field.is_bool() => {
                let boost = self.boolean_score(&field, number, boost)?;
                Ok(convert::constant(&field, Selection::Number(number), boost))
            }
            other => Ok(convert::constant(&field, other, constant_boost)),
        }
    }

    pub(crate) fn phrase(
        &self,
        field: &Arc<Field>,
        slots: Vec<(u32, Vec<Box<[u8]>>)>,
        slop: u32,
        boost: f32,
    ) -> Result<PhraseNode, Error> {
        let mut terms: Vec<(Box<[u8]>, u64)> = Vec::new();
        self.count_terms(slots.len())?;
        let is_plain = slots.iter().all(|(_, alternatives)| alternatives.len() == 1);
        for term in slots.iter().flat_map(|(_, alternatives)| alternatives) {
            let doc_freq = self.doc_freq(field, term)?;
            // A phrase with alternatives counts each term that the index has once (Lucene's
            // `MultiPhraseWeight`).
            if is_plain || (doc_freq > 0 && !terms.iter().any(|(seen, _)| seen == term)) {
                terms.push((term.clone(), doc_freq));
            }
        }
        let scorer = self.field_scorer(field, boost, terms)?;
        if field.match_only && self.shard.nested.is_some() {
            return Err(RequestError::unsupported(format_args!(
                "a phrase on field [{}] of type [match_only_text] in a nested document",
                field.path
            ))
            .into());
        }
        if field.match_only && self.shard.mapping.source().mode == SourceMode::Disabled {
            return Err(RequestError::illegal_argument(format!(
                "Field [{}] of type [match_only_text] cannot run positional queries since [_source] is disabled.",
                field.path
            ))
            .into());
        }
        let confirms_by = field.match_only.then(|| self.shard.mapping.clone());
        Ok(PhraseNode { field: field.clone(), slots, slop, scorer, confirms_by })
    }

    /// Returns the context in which dates without a zone or format of their own are parsed.
    pub(crate) fn dates(&self) -> DateContext<'static> {
        DateContext::at(self.now_millis)
    }

    pub(crate) fn analyzer(&self, name: &str) -> Option<Arc<Analyzer>> {
        self.shard.mapping.settings().analyzers.get(name).cloned()
    }

    pub(crate) fn type_name(&self, field: &Field) -> &'static str {
        match &*field.path {
            "_id" => "_id",
            "_index" => "_index",
            _ => field.type_name(),
        }
    }

    /// Makes a `query_shard_exception` of this index.
    pub(crate) fn query_shard(&self, reason: impl Into<String>) -> RequestError {
        self.shard.query_shard_exception(reason)
    }

    fn failed_to_create(&self, error: RequestError) -> RequestError {
        match error.kind {
            "query_shard_exception" | "parsing_exception" | "parse_exception" => error,
            // This is the error of a range; others have already been wrapped.
            _ if is_beyond_nanos(&error) => error,
            _ => self.wrapped(error),
        }
    }

    pub(crate) fn wrapped(&self, error: RequestError) -> RequestError {
        self.query_shard(format!("failed to create query: {}", error.reason)).caused_by(error)
    }
}

fn expensive(reason: String) -> RequestError {
    RequestError::bad_request("exception", reason)
}

fn on_runtime_fields() -> RequestError {
    expensive(
        "queries cannot be executed against runtime fields while [search.allow_expensive_queries] is set to [false]."
            .to_owned(),
    )
}
