//! Selects the terms of a `more_like_this` query and binds them to a shard.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use limber_work as work;

use super::candidates::{Candidates, Selection};
use super::counts::TermCounts;
use super::highlighted::{MoreLikeThisTerms, weights};
use super::parse::Examples;
use crate::error::Error;
use crate::primitives::java_order::in_java_order;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::bool_query::BoolNode;
use crate::query::compound::minimum_should_match;
use crate::query::parse::QueryNode;
use crate::query::term_level::ids::bind_ids;

/// Largest number of tokens of a text that are examined (`DEFAULT_MAX_NUM_TOKENS_PARSED`).
const TOKENS_MAX: usize = 5_000;

#[derive(Debug)]
pub(super) struct MoreLikeThis {
    /// `None` stands for the fields of the documents.
    pub fields: Option<Vec<String>>,
    pub like: Examples,
    pub unlike: Examples,
    pub selection: Selection,
    pub analyzer: Option<String>,
    pub minimum_should_match: String,
    /// 0 if the terms are not weighted.
    pub boost_terms: f32,
    /// Whether the documents themselves can be hits.
    pub includes: bool,
    pub fails_on_unsupported: bool,
}

/// Pairs of a field and a term that are never searched.
type Skipped = HashSet<(String, String)>;

impl QueryNode for MoreLikeThis {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(fields) = self.fields(binder)? else {
            return Ok(BoundQuery::nothing("No query left after rewrite."));
        };
        let skipped = self.skipped(&fields, binder)?;
        let mut candidates = match self.like.items.is_empty() {
            true => Vec::new(),
            false => self.of_documents(&skipped, binder)?,
        };
        let of_documents = candidates.len();
        if !self.like.texts.is_empty() {
            candidates.extend(self.of_texts(&fields, &skipped, binder)?);
        }
        let more_like_this = MoreLikeThisTerms {
            selection: self.selection.clone(),
            candidates,
            doc_count: binder.live_count(),
            boost,
            boost_terms: self.boost_terms,
        };
        let (documents, texts) = more_like_this.candidates.split_at(of_documents);
        let parts = [
            self.clauses(documents, &more_like_this, binder)?,
            self.clauses(texts, &more_like_this, binder)?,
        ];
        let mut node = BoolNode { min_should_match: 1, ..BoolNode::default() };
        for (clauses, needed) in parts {
            match clauses.len() {
                0 => {}
                // Alternatives inside alternatives are flattened, as in Lucene.
                _ if needed <= 1 => node.should.extend(clauses),
                _ => {
                    let part = BoolNode { should: clauses, min_should_match: needed, ..BoolNode::default() };
                    node.should.push(part.simplified());
                }
            }
        }
        let ids: Vec<String> = self.like.items.iter().filter_map(|item| item.id.clone()).collect();
        if !self.includes && !ids.is_empty() {
            node.must_not.push(bind_ids(ids, 1.0, binder)?);
        }
        let mut query = match (node.should.len(), node.must_not.len()) {
            (0, _) => BoundQuery::nothing("no term stands out"),
            (1, 0) => node.should.remove(0),
            _ => node.simplified(),
        };
        query.more_like_this = Some(Arc::new(more_like_this));
        Ok(query)
    }
}

impl MoreLikeThis {
    /// Returns the fields of the query; `None` if none of them is supported. Names of unmapped fields are
    /// kept.
    fn fields(&self, binder: &Binder<'_>) -> Result<Option<Vec<String>>, Error> {
        let Some(names) = &self.fields else {
            let has_texts = !self.like.texts.is_empty() || !self.unlike.texts.is_empty();
            let reason = "[more_like_this] query cannot infer the field to analyze the free text, you should update the \
                          [index.query.default_field] index setting to a field that exists in the mapping or set the [fields] option in the query.";
            let defaults = &binder.settings().default_fields;
            if defaults.iter().any(|(name, _)| name == "*") {
                return match has_texts {
                    true => Err(RequestError::illegal_argument(reason).into()),
                    false => Ok(Some(Vec::new())),
                };
            }
            let supported = defaults.iter().filter_map(|(name, _)| match binder.field(name) {
                Some(field) => field.scores_by_frequency().then(|| field.path.to_string()),
                None => Some(name.clone()),
            });
            let supported: Vec<String> = supported.collect();
            return Ok((!supported.is_empty()).then_some(supported));
        };
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            work::check()?;
            let field = binder.field(name);
            let is_supported = field.as_ref().is_none_or(|field| field.scores_by_frequency());
            if is_supported {
                fields.push(field.map_or_else(|| name.clone(), |field| field.path.to_string()));
            } else if self.fails_on_unsupported {
                let reason = format!("more_like_this only supports text/keyword fields: [{name}]");
                return Err(RequestError::illegal_argument(reason).into());
            }
        }
        Ok((!fields.is_empty()).then_some(fields))
    }

    fn skipped(&self, fields: &[String], binder: &Binder<'_>) -> Result<Skipped, Error> {
        let mut skipped = Skipped::new();
        if let Some(first) = fields.first() {
            for text in &self.unlike.texts {
                work::check()?;
                self.tokens(first, text, binder, |term| {
                    skipped.insert((first.clone(), term.to_owned()));
                });
            }
        }
        // As in Elasticsearch, `unlike` documents only count if there are `like` documents.
        if !self.like.items.is_empty() {
            for item in &self.unlike.items {
                work::check()?;
                let counts = item.counts(self.fields.as_deref(), binder)?;
                for (path, terms) in counts.iter().flat_map(|counts| &counts.0) {
                    skipped.extend(terms.keys().map(|term| (path.clone(), term.clone())));
                }
            }
        }
        Ok(skipped)
    }

    /// Calls `found` with the tokens of a text in a field. Returns false if the field has no analyzer.
    fn tokens(&self, path: &str, text: &str, binder: &Binder<'_>, mut found: impl FnMut(&str)) -> bool {
        let named = self.analyzer.as_deref().and_then(|name| binder.analyzer(name));
        let field = binder.field(path);
        let own =
            || field.as_ref().and_then(|field| field.search_analyzer.clone().or(field.analyzer.clone()));
        match (named.or_else(own), field) {
            (Some(analyzer), _) => {
                let mut count = 0;
                analyzer.tokens(text, |token| {
                    count += 1;
                    if count <= TOKENS_MAX {
                        found(token.text);
                    }
                });
                true
            }
            (None, Some(field)) => {
                found(&field.normalize(text));
                true
            }
            (None, None) => false,
        }
    }

    /// Returns the terms of the texts; `None` if there is no field for them.
    fn of_texts(
        &self,
        fields: &[String],
        skipped: &Skipped,
        binder: &Binder<'_>,
    ) -> Result<Option<Candidates>, Error> {
        let Some(first) = fields.first() else { return Ok(None) };
        let mut terms: Vec<(String, u32)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for text in &self.like.texts {
            work::check()?;
            let has_analyzer = self.tokens(first, text, binder, |term| {
                if self.selection.is_noise(term) || skipped.contains(&(first.clone(), term.to_owned())) {
                    return;
                }
                match places.get(term) {
                    Some(place) => terms[*place].1 += 1,
                    None => {
                        places.insert(term.to_owned(), terms.len());
                        terms.push((term.to_owned(), 1));
                    }
                }
            });
            if !has_analyzer {
                let reason = format!("No analyzer configured for field {first}");
                return Err(RequestError::illegal_argument(reason).into());
            }
        }
        let fields: Vec<Arc<Field>> = fields.iter().filter_map(|path| binder.field(path)).collect();
        Candidates::of(terms, fields, &self.selection, binder).map(Some)
    }

    /// Returns the terms of the documents, field by field.
    fn of_documents(&self, skipped: &Skipped, binder: &Binder<'_>) -> Result<Vec<Candidates>, Error> {
        let counts = self.like.items.iter().map(|item| {
            // Each document is parsed and analysed.
            work::check()?;
            item.counts(self.fields.as_deref(), binder)
        });
        let found: Vec<Arc<Option<TermCounts>>> = counts.collect::<Result<_, Error>>()?;
        let documents: Vec<&TermCounts> = found.iter().filter_map(|counts| (**counts).as_ref()).collect();
        let (mut paths, mut seen): (Vec<&String>, HashSet<&String>) = (Vec::new(), HashSet::new());
        for path in documents.iter().flat_map(|counts| counts.0.keys()) {
            if seen.insert(path) {
                paths.push(path);
            }
        }
        let mut candidates = Vec::new();
        for path in in_java_order(paths, |path| path) {
            let Some(field) = binder.field(path) else { continue };
            let mut terms: Vec<(String, u32)> = Vec::new();
            let mut places: BTreeMap<&str, usize> = BTreeMap::new();
            for (term, count) in documents.iter().filter_map(|counts| counts.0.get(path)).flatten() {
                if self.selection.is_noise(term) || skipped.contains(&(path.clone(), term.clone())) {
                    continue;
                }
                match places.get(&**term) {
                    Some(place) => terms[*place].1 += count,
                    None => {
                        places.insert(term, terms.len());
                        terms.push((term.clone(), *count));
                    }
                }
            }
            candidates.push(Candidates::of(terms, vec![field], &self.selection, binder)?);
        }
        Ok(candidates)
    }

    /// Returns the selected terms as clauses, and how many of them a document must match.
    fn clauses(
        &self,
        candidates: &[Candidates],
        more_like_this: &MoreLikeThisTerms,
        binder: &Binder<'_>,
    ) -> Result<(Vec<BoundQuery>, usize), Error> {
        if self.boost_terms < 0.0 && !candidates.is_empty() {
            let shown = limber_mapping::number::java_float(self.boost_terms);
            let reason = format!("boost must be a positive float, got {shown}");
            return Err(RequestError::illegal_argument(reason).into());
        }
        let mut clauses = Vec::new();
        for one in candidates {
            let chosen = one.choose(&self.selection, more_like_this.doc_count, |_, _, of_shard| of_shard);
            let weights = weights(&chosen, more_like_this.boost, self.boost_terms);
            for (one, weight) in chosen.into_iter().zip(weights) {
                clauses.push(binder.scored_term(one.field, one.term.as_bytes(), weight)?);
            }
        }
        let needed = minimum_should_match::required(&self.minimum_should_match, clauses.len())?;
        Ok((clauses, needed))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::query::{QueryLimits, parse_query};

    /// Error messages recorded from Elasticsearch 9.4.3.
    #[test]
    fn what_is_wrong_is_told() {
        for (options, reason) in [
            (json!({}), "more_like_this requires 'like' to be specified"),
            (json!({"like": []}), "more_like_this requires 'like' to be specified"),
            (json!({"like": null}), "more_like_this requires 'like' to be specified"),
            (json!({"like": "x", "fields": []}), "more_like_this requires 'fields' to be non-empty"),
            (json!({"like": "x", "fields": "a"}), "[mlt] query does not support [fields]"),
            (json!({"like": "x", "stop_words": "a"}), "[mlt] query does not support [stop_words]"),
            (json!({"like": "x", "foo": 1}), "[mlt] query does not support [foo]"),
            (json!({"like": "x", "max_query_terms": 0}), "requires 'maxQueryTerms' to be greater than 0"),
            (json!({"like": [["x"]]}), "Content of 'like' parameter should either be a string or an object"),
            (
                json!({"like": {}}),
                "failed to parse More Like This item. neither [id] nor [doc] is specified!",
            ),
            (json!({"like": {"x": 1}}), "failed to parse More Like This item. unknown field [x]"),
            (
                json!({"like": {"_id": "1", "doc": {}}}),
                "failed to parse More Like This item. either [id] or [doc] can be specified, but not both!",
            ),
            (
                json!({"like": {"_id": "1", "fields": "a"}}),
                "failed to parse More Like This item. field [fields] must be an array",
            ),
            (json!({"like": {"_id": "1", "version": "x"}}), "For input string: \"x\""),
        ] {
            let error =
                parse_query(&json!({"more_like_this": options}), &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason, "{options}");
        }
    }
}
