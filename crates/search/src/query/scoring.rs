//! Makes the scorers of terms from their frequencies in the shard.

use std::sync::Arc;

use limber_mapping::{Field, Similarity};
use limber_script::SimilarityTerm;
use limber_segment::{DocId, Segment};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::parse::{QueryLimits, too_many_nested_clauses};
use crate::context::ShardSnapshot;
use crate::error::Error;
use crate::primitives::{Docs, TermNode};
use crate::score::{Bm25, FieldStatistics, NormCache, ScriptedTerm, SimilarityScripts, TermStatistics};

impl<'a> Binder<'a> {
    /// Returns every segment of the shard, including those of nested documents. A field that nested documents
    /// share with their parents (`include_in_parent`) has common statistics, as in Lucene.
    fn with_nested(&self) -> impl Iterator<Item = &'a Segment> {
        with_nested(std::slice::from_ref(self.shard))
    }

    /// Returns the segments whose terms count for scores; those of all shards if the search requires that.
    fn counted(&self) -> impl Iterator<Item = &'a Segment> {
        let own: &'a [ShardSnapshot] = std::slice::from_ref(self.shard);
        let all = self.context.and_then(|context| context.statistics.as_deref());
        with_nested(all.unwrap_or(own))
    }

    /// Returns the BM25 score of a boolean. Lucene indexes booleans as terms without frequencies and norms;
    /// here they are numbers.
    pub(super) fn boolean_score(&self, field: &Field, number: i64, boost: f32) -> Result<f32, Error> {
        let (mut statistics, mut doc_freq) = (FieldStatistics::default(), 0);
        for segment in self.counted() {
            if let Some(points) = segment.points(&field.path)? {
                statistics.doc_count += u64::from(points.doc_count_with_value());
                statistics.sum_total_term_freq += points.value_count();
                doc_freq += points.count(number..=number)?;
            }
        }
        let norms = Arc::new(NormCache::new(statistics, field.similarity.clone()));
        let scorer = self.bm25(boost, vec![(Box::default(), doc_freq)], norms);
        Ok(scorer.score(1.0, 1))
    }

    pub(super) fn bm25(&self, boost: f32, terms: Vec<(Box<[u8]>, u64)>, norms: Arc<NormCache>) -> Bm25 {
        match self.shard.settings.scores_as_lucene {
            true => Bm25::without_factor(boost, terms, norms),
            false => Bm25::new(boost, terms, norms),
        }
    }

    /// Makes the scorer of a field's terms, using the similarity of the field.
    pub(super) fn field_scorer(
        &self,
        field: &Field,
        boost: f32,
        terms: Vec<(Box<[u8]>, u64)>,
    ) -> Result<Bm25, Error> {
        let boost = boost * field.boost;
        let norms = self.norms(field)?;
        if !norms.counts_occurrences() {
            return Ok(self.bm25(boost, terms, norms));
        }
        let mut counted = Vec::with_capacity(terms.len());
        for (term, doc_freq) in terms {
            let total_term_freq = self.total_term_freq(field, &term)?;
            counted.push(TermStatistics { doc_freq, total_term_freq: total_term_freq.max(doc_freq) });
        }
        self.other_scorer(boost, &counted, norms)
    }

    /// Makes the scorer of synonyms: the document frequency is that of the most frequent term, and term
    /// frequencies are added.
    pub(super) fn synonym_scorer(
        &self,
        field: &Field,
        boost: f32,
        terms: &[Box<[u8]>],
        doc_freq: u64,
    ) -> Result<Bm25, Error> {
        let boost = boost * field.boost;
        let norms = self.norms(field)?;
        if !norms.counts_occurrences() {
            return Ok(self.bm25(boost, vec![(Box::default(), doc_freq)], norms));
        }
        let mut total_term_freq = 0;
        for term in terms {
            total_term_freq += self.total_term_freq(field, term)?;
        }
        let counted = TermStatistics { doc_freq, total_term_freq: total_term_freq.max(doc_freq) };
        self.other_scorer(boost, &[counted], norms)
    }

    /// Makes the scorer of terms with a similarity other than BM25.
    fn other_scorer(
        &self,
        boost: f32,
        terms: &[TermStatistics],
        norms: Arc<NormCache>,
    ) -> Result<Bm25, Error> {
        let Some(declared) = norms.scripted() else { return Ok(Bm25::measured(boost, terms, norms)) };
        let scripts = Arc::new(SimilarityScripts::compile(declared, &self.shard.scripts)?);
        let FieldStatistics { doc_count, sum_total_term_freq, sum_doc_freq } = norms.statistics;
        let scorer = |term: &TermStatistics| {
            let (doc_freq, total_term_freq) = (term.doc_freq, term.total_term_freq);
            let term = SimilarityTerm {
                boost,
                doc_count,
                sum_doc_freq,
                sum_total_term_freq,
                doc_freq,
                total_term_freq,
            };
            ScriptedTerm::new(scripts.clone(), term, self.failure.clone())
        };
        let scorers = terms.iter().map(scorer).collect::<Result<Vec<ScriptedTerm>, _>>()?;
        Ok(Bm25::scripted(boost, scorers, norms))
    }

    fn total_term_freq(&self, field: &Field, term: &[u8]) -> Result<u64, Error> {
        let mut total_term_freq = 0;
        for segment in self.counted() {
            if let Some(terms) = segment.terms(&field.path)?
                && let Some(info) = terms.get_recent(term)?
            {
                total_term_freq +=
                    if field.frequencies { info.total_term_freq } else { u64::from(info.doc_freq) };
            }
        }
        Ok(total_term_freq)
    }

    /// Makes a query for a term of a text or keyword field, scored by BM25.
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

    /// Does the same as [`Binder::scored_term`] with the given `doc_freq` instead of the actual one.
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

    /// Makes the scorer of a term in several fields that are searched as one; `statistics` are the combined
    /// ones.
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

    /// Fails with `too_many_nested_clauses` like Lucene's `IndexSearcher#rewrite`.
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
                doc_freq += terms.get_recent(term)?.map_or(0, |info| u64::from(info.doc_freq));
            }
        }
        Ok(doc_freq)
    }

    /// Returns the statistics of a field in the shard that BM25 needs.
    pub(crate) fn statistics(&self, field: &Field) -> Result<FieldStatistics, Error> {
        Ok(self.norms(field)?.statistics)
    }

    /// Returns the number of live documents in the shard, including nested ones.
    pub(crate) fn live_count(&self) -> u64 {
        let shard = self.shard;
        let whole = shard.nested.as_ref().map_or(&shard.segments[..], |scope| &scope.whole);
        let deleted: u64 = whole.iter().map(|view| u64::from(view.deleted_count())).sum();
        self.doc_count().saturating_sub(deleted)
    }

    /// Returns the number of documents in the shard, including nested and deleted ones, as Lucene counts
    /// them.
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
                statistics.sum_doc_freq += terms.sum_doc_freq();
                // Without frequencies Lucene counts one occurrence per document.
                statistics.sum_total_term_freq +=
                    if field.frequencies { terms.sum_total_term_freq() } else { terms.sum_doc_freq() };
            }
        }
        let norms = NormCache::recent(statistics, &field.similarity);
        self.norms.borrow_mut().insert(field.path.clone(), norms.clone());
        Ok(norms)
    }
}

/// Returns the segments of shards, including those of nested documents.
fn with_nested(shards: &[ShardSnapshot]) -> impl Iterator<Item = &Segment> {
    shards.iter().flat_map(|shard| {
        let whole = shard.nested.as_ref().map_or(&shard.segments[..], |scope| &scope.whole);
        whole.iter().flat_map(|view| {
            let nested = view.segment.nested_spaces().iter().map(|space| &*space.segment);
            std::iter::once(&*view.segment).chain(nested)
        })
    })
}

/// Returns the norm of a document in the field at `path`, if it has norms.
pub(super) fn norm_of(segment: &Segment, path: &str, doc: DocId) -> Result<Option<u8>, Error> {
    Ok(segment.norms(path)?.map(|norms| norms.get(doc)))
}
