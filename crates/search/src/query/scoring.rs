//! Scorers of terms: "how frequent are they in this shard?"

use std::sync::Arc;

use limber_mapping::{Field, Similarity};
use limber_segment::{DocId, Segment};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::parse::{QueryLimits, too_many_nested_clauses};
use crate::context::ShardSnapshot;
use crate::error::Error;
use crate::primitives::{Docs, TermNode};
use crate::score::{Bm25, FieldStatistics, NormCache, TermStatistics};

impl<'a> Binder<'a> {
    /// Every segment of the shard and the nested ones in it: a field that nested documents share with those
    /// around them (`include_in_parent`) has one set of statistics, as in Lucene.
    fn with_nested(&self) -> impl Iterator<Item = &'a Segment> {
        with_nested(std::slice::from_ref(self.shard))
    }

    /// The segments whose terms count for scores: those of all shards where the search asks for that.
    fn counted(&self) -> impl Iterator<Item = &'a Segment> {
        let own: &'a [ShardSnapshot] = std::slice::from_ref(self.shard);
        let all = self.context.and_then(|context| context.statistics.as_deref());
        with_nested(all.unwrap_or(own))
    }

    /// What BM25 gives to a boolean, which Lucene holds as a term without frequencies and norms; here it is a
    /// number.
    pub(super) fn boolean_score(&self, field: &Field, number: i64, boost: f32) -> Result<f32, Error> {
        let (mut statistics, mut doc_freq) = (FieldStatistics::default(), 0);
        for segment in self.counted() {
            if let Some(points) = segment.points(&field.path)? {
                statistics.doc_count += u64::from(points.doc_count_with_value());
                statistics.sum_total_term_freq += points.value_count();
                doc_freq += points.count(number..=number)?;
            }
        }
        let norms = Arc::new(NormCache::new(statistics, field.similarity));
        let scorer = self.bm25(boost, vec![(Box::default(), doc_freq)], norms);
        Ok(scorer.score(1.0, 1))
    }

    pub(super) fn bm25(&self, boost: f32, terms: Vec<(Box<[u8]>, u64)>, norms: Arc<NormCache>) -> Bm25 {
        match self.shard.settings.scores_as_lucene {
            true => Bm25::without_factor(boost, terms, norms),
            false => Bm25::new(boost, terms, norms),
        }
    }

    /// The scorer of terms of a field, by its similarity.
    pub(super) fn field_scorer(
        &self,
        field: &Field,
        boost: f32,
        terms: Vec<(Box<[u8]>, u64)>,
    ) -> Result<Bm25, Error> {
        let norms = self.norms(field)?;
        if !norms.counts_occurrences() {
            return Ok(self.bm25(boost, terms, norms));
        }
        let mut counted = Vec::with_capacity(terms.len());
        for (term, doc_freq) in terms {
            let total_term_freq = self.total_term_freq(field, &term)?;
            counted.push(TermStatistics { doc_freq, total_term_freq: total_term_freq.max(doc_freq) });
        }
        Ok(Bm25::measured(boost, &counted, norms))
    }

    /// The scorer of terms that stand for each other: the one in most documents says how rare they are, all
    /// how frequent.
    pub(super) fn synonym_scorer(
        &self,
        field: &Field,
        boost: f32,
        terms: &[Box<[u8]>],
        doc_freq: u64,
    ) -> Result<Bm25, Error> {
        let norms = self.norms(field)?;
        if !norms.counts_occurrences() {
            return Ok(self.bm25(boost, vec![(Box::default(), doc_freq)], norms));
        }
        let mut total_term_freq = 0;
        for term in terms {
            total_term_freq += self.total_term_freq(field, term)?;
        }
        let counted = TermStatistics { doc_freq, total_term_freq: total_term_freq.max(doc_freq) };
        Ok(Bm25::measured(boost, &[counted], norms))
    }

    fn total_term_freq(&self, field: &Field, term: &[u8]) -> Result<u64, Error> {
        let mut total_term_freq = 0;
        for segment in self.counted() {
            if let Some(terms) = segment.terms(&field.path)?
                && let Some(info) = terms.get(term)?
            {
                total_term_freq +=
                    if field.frequencies { info.total_term_freq } else { u64::from(info.doc_freq) };
            }
        }
        Ok(total_term_freq)
    }

    /// A term of a text or keyword field, scored by BM25.
    pub(crate) fn scored_term(
        &self,
        field: &Arc<Field>,
        term: &[u8],
        boost: f32,
    ) -> Result<BoundQuery, Error> {
        self.count_terms(1)?;
        if !field.index || field.match_only || field.is_wildcard {
            let text = format!("{}:{}", field.path, String::from_utf8_lossy(term));
            return Ok(BoundQuery::constant(
                Docs::Terms { field: field.clone(), terms: [term.into()].into() },
                boost,
                text,
            ));
        }
        self.bm25_term(field, term, boost, self.doc_freq(field, term)?)
    }

    /// As [`Binder::scored_term`], as if the term were in `doc_freq` documents.
    pub(crate) fn scored_term_among(
        &self,
        field: &Arc<Field>,
        term: &[u8],
        boost: f32,
        doc_freq: Option<u64>,
    ) -> Result<BoundQuery, Error> {
        match doc_freq {
            None => self.scored_term(field, term, boost),
            Some(doc_freq) => {
                self.count_terms(1)?;
                self.bm25_term(field, term, boost, doc_freq)
            }
        }
    }

    fn bm25_term(
        &self,
        field: &Arc<Field>,
        term: &[u8],
        boost: f32,
        doc_freq: u64,
    ) -> Result<BoundQuery, Error> {
        let scorer = self.field_scorer(field, boost, vec![(term.into(), doc_freq)])?;
        Ok(TermNode { field: field.clone(), term: term.into(), scorer }.into())
    }

    /// The scorer of a term of so many fields that are taken for one, of which `statistics` tells.
    pub(crate) fn combined_scorer(
        &self,
        term: &[u8],
        field_count: usize,
        doc_freq: u64,
        statistics: FieldStatistics,
        boost: f32,
    ) -> Result<Bm25, Error> {
        self.count_terms(field_count)?;
        Ok(self.bm25(
            boost,
            vec![(term.into(), doc_freq)],
            Arc::new(NormCache::new(statistics, Similarity::default())),
        ))
    }

    /// Errors with `too_many_nested_clauses` as Lucene's `IndexSearcher#rewrite` does.
    pub(super) fn count_terms(&self, count: usize) -> Result<(), Error> {
        let clauses_max = QueryLimits::default().clauses_max;
        self.terms.set(self.terms.get().saturating_add(count as u32));
        if self.terms.get() > clauses_max {
            return Err(too_many_nested_clauses(clauses_max).into());
        }
        Ok(())
    }

    pub(crate) fn doc_freq(&self, field: &Field, term: &[u8]) -> Result<u64, Error> {
        let mut doc_freq = 0;
        for segment in self.counted() {
            if let Some(terms) = segment.terms(&field.path)? {
                doc_freq += terms.get(term)?.map_or(0, |info| u64::from(info.doc_freq));
            }
        }
        Ok(doc_freq)
    }

    /// What BM25 needs to know of a field in the shard.
    pub(crate) fn statistics(&self, field: &Field) -> Result<FieldStatistics, Error> {
        Ok(self.norms(field)?.statistics)
    }

    /// Documents of the shard, nested ones included, that are not deleted.
    pub(crate) fn live_count(&self) -> u64 {
        let shard = self.shard;
        let whole = shard.nested.as_ref().map_or(&shard.segments[..], |scope| &scope.whole);
        let deleted: u64 = whole.iter().map(|view| u64::from(view.deleted_count())).sum();
        self.doc_count().saturating_sub(deleted)
    }

    /// Documents of the shard, nested and deleted ones included, as Lucene counts them.
    pub(crate) fn doc_count(&self) -> u64 {
        self.with_nested().map(|segment| u64::from(segment.doc_count())).sum()
    }

    pub(super) fn norms(&self, field: &Field) -> Result<Arc<NormCache>, Error> {
        if let Some(norms) = self.norms.borrow().get(&field.path) {
            return Ok(norms.clone());
        }
        let mut statistics = FieldStatistics::default();
        for segment in self.counted() {
            if let Some(terms) = segment.terms(&field.path)? {
                statistics.doc_count += u64::from(terms.doc_count_with_field());
                // Without frequencies Lucene takes every occurrence for one.
                statistics.sum_total_term_freq +=
                    if field.frequencies { terms.sum_total_term_freq() } else { terms.sum_doc_freq() };
            }
        }
        let norms = Arc::new(NormCache::new(statistics, field.similarity));
        self.norms.borrow_mut().insert(field.path.clone(), norms.clone());
        Ok(norms)
    }
}

/// The segments of shards, and the nested ones in them.
fn with_nested(shards: &[ShardSnapshot]) -> impl Iterator<Item = &Segment> {
    shards.iter().flat_map(|shard| {
        let whole = shard.nested.as_ref().map_or(&shard.segments[..], |scope| &scope.whole);
        whole.iter().flat_map(|view| {
            let nested = view.segment.nested_spaces().iter().map(|space| &*space.segment);
            std::iter::once(&*view.segment).chain(nested)
        })
    })
}

/// The norm of a document in the field at `path`, if it has norms.
pub(super) fn norm_of(segment: &Segment, path: &str, doc: DocId) -> Result<Option<u8>, Error> {
    Ok(segment.norms(path)?.map(|norms| norms.get(doc)))
}
