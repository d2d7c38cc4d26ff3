//! BM25 as Elasticsearch computes it.
//!
//! Source: Lucene's `BM25Similarity` under Elasticsearch's `LegacyBM25Similarity`, which keeps the factor
//! `k1 + 1` that Lucene dropped. The factor is applied as a boost of 2.2, in float, as the explanations of
//! a running Elasticsearch 8.19 show. All steps are rounded to float where Java rounds them.

use std::cell::RefCell;
use std::sync::Arc;

use limber_codec::norm;
use limber_mapping::{ScriptedSimilarity, Similarity};
use limber_segment::DocId;
use limber_segment::postings::{Impact, Strength};

use super::measured::{Measured, TermStatistics};
use super::scripted::ScriptedTerm;
use super::{Detail, Explanation};

/// Field statistics of a shard for BM25, summed over its segments, deleted documents included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldStatistics {
    /// Number of documents with the field.
    pub doc_count: u64,
    /// Total number of tokens of the field in all documents.
    pub sum_total_term_freq: u64,
    /// Total number of terms of the field in all documents, each counted once per document. Only scripted
    /// similarities use it.
    pub sum_doc_freq: u64,
}

thread_local! {
    /// See [`NormCache::recent`].
    static RECENT: RefCell<[Option<Arc<NormCache>>; 4]> = const { RefCell::new([const { None }; 4]) };
}

/// `1 / (k1 * ((1 - b) + b * length / average))` for each of the 256 norms; infinite where all matches have
/// the same score.
#[derive(Debug)]
pub(crate) struct NormCache {
    pub statistics: FieldStatistics,
    similarity: Similarity,
    average_length: f32,
    inverse: [f32; 256],
}

impl NormCache {
    /// Whether scores need the total term frequency of each term.
    pub fn counts_occurrences(&self) -> bool {
        !matches!(self.similarity, Similarity::Bm25 { .. } | Similarity::Boolean)
    }

    /// Returns the scripts that compute scores, if any do.
    pub fn scripted(&self) -> Option<&Arc<ScriptedSimilarity>> {
        match &self.similarity {
            Similarity::Scripted(scripted) => Some(scripted),
            _ => None,
        }
    }

    /// Returns the factors for these statistics, which stay the same while segments do. Each thread keeps
    /// those that it made last for BM25.
    pub(crate) fn recent(statistics: FieldStatistics, similarity: &Similarity) -> Arc<NormCache> {
        if !matches!(similarity, Similarity::Bm25 { .. }) {
            return Arc::new(NormCache::new(statistics, similarity.clone()));
        }
        RECENT.with_borrow_mut(|recent| {
            let same =
                |norms: &Arc<NormCache>| norms.statistics == statistics && norms.similarity == *similarity;
            if let Some(norms) = recent.iter().flatten().find(|norms| same(norms)) {
                return norms.clone();
            }
            let norms = Arc::new(NormCache::new(statistics, similarity.clone()));
            recent.rotate_right(1);
            recent[0] = Some(norms.clone());
            norms
        })
    }

    pub(crate) fn new(statistics: FieldStatistics, similarity: Similarity) -> NormCache {
        let average_length =
            (statistics.sum_total_term_freq as f64 / statistics.doc_count.max(1) as f64) as f32;
        let inverse = std::array::from_fn(|byte| {
            let length = norm::decode(byte as u8) as f32;
            match &similarity {
                Similarity::Bm25 { k1, b } => 1.0f32 / (k1 * ((1.0f32 - b) + b * length / average_length)),
                _ => f32::INFINITY,
            }
        });
        NormCache { statistics, similarity, average_length, inverse }
    }
}

/// The scorer of one term, or of a phrase (whose weight is the sum of the weights of its terms).
#[derive(Debug, Clone)]
pub(crate) struct Bm25 {
    weight: f32,
    norms: Arc<NormCache>,
    /// The boost, for explanations.
    boost: f32,
    /// Whether `boost` includes the factor `k1 + 1`.
    has_factor: bool,
    idf: f32,
    doc_freqs: Vec<(Box<[u8]>, u64)>,
    /// For a similarity other than BM25: the scorer of each term; otherwise empty.
    measured: Vec<OtherScorer>,
}

/// The scorer of one term with a similarity other than BM25.
#[derive(Debug, Clone)]
enum OtherScorer {
    Measured(Measured),
    Scripted(Arc<ScriptedTerm>),
}

impl OtherScorer {
    fn score(&self, freq: f32, norm: u8) -> f32 {
        match self {
            OtherScorer::Measured(measured) => measured.score(freq, norm),
            OtherScorer::Scripted(scripted) => scripted.score(freq, norm),
        }
    }

    fn explain(&self, freq: Explanation, norm: u8) -> Explanation {
        match self {
            OtherScorer::Measured(measured) => measured.explain(freq, norm),
            OtherScorer::Scripted(scripted) => scripted.explain(freq, norm),
        }
    }
}

/// Computes `ln(1 + (N - n + 0.5) / (n + 0.5))` in double, then rounds to float.
fn idf(doc_freq: u64, doc_count: u64) -> f32 {
    (1.0 + (doc_count as f64 - doc_freq as f64 + 0.5) / (doc_freq as f64 + 0.5)).ln() as f32
}

impl Bm25 {
    /// Creates a scorer. `terms`: each with its document frequency.
    pub fn new(boost: f32, terms: Vec<(Box<[u8]>, u64)>, norms: Arc<NormCache>) -> Bm25 {
        match norms.similarity {
            Similarity::Bm25 { k1, .. } => {
                let scorer = Bm25::without_factor(boost * (1.0f32 + k1), terms, norms);
                Bm25 { has_factor: true, ..scorer }
            }
            _ => Bm25::without_factor(boost, terms, norms),
        }
    }

    /// Creates a scorer for a similarity other than BM25.
    pub fn measured(boost: f32, terms: &[TermStatistics], norms: Arc<NormCache>) -> Bm25 {
        let of = |&term| {
            let (similarity, field) = (norms.similarity.clone(), norms.statistics);
            OtherScorer::Measured(Measured { similarity, field, term, boost })
        };
        let scorers = terms.iter().map(of).collect();
        Bm25::other(boost, scorers, norms)
    }

    /// Creates a scorer whose scores scripts compute.
    pub fn scripted(boost: f32, terms: Vec<ScriptedTerm>, norms: Arc<NormCache>) -> Bm25 {
        let scorers = terms.into_iter().map(|term| OtherScorer::Scripted(Arc::new(term))).collect();
        Bm25::other(boost, scorers, norms)
    }

    fn other(boost: f32, measured: Vec<OtherScorer>, norms: Arc<NormCache>) -> Bm25 {
        // No upper bound is known for the scores of such similarities.
        let weight = f32::INFINITY;
        Bm25 { weight, norms, boost, has_factor: false, idf: 1.0, doc_freqs: Vec::new(), measured }
    }

    /// Creates a scorer without the factor `k1 + 1`, which Lucene has dropped and Elasticsearch keeps.
    pub fn without_factor(boost: f32, terms: Vec<(Box<[u8]>, u64)>, norms: Arc<NormCache>) -> Bm25 {
        if norms.similarity == Similarity::Boolean {
            let (doc_freqs, measured) = (terms, Vec::new());
            return Bm25 { weight: boost, norms, boost, has_factor: false, idf: 1.0, doc_freqs, measured };
        }
        let doc_count = norms.statistics.doc_count;
        let idf = match terms.as_slice() {
            [(_, doc_freq)] => idf(*doc_freq, doc_count),
            several => {
                several.iter().map(|(_, doc_freq)| f64::from(idf(*doc_freq, doc_count))).sum::<f64>() as f32
            }
        };
        let (doc_freqs, measured) = (terms, Vec::new());
        Bm25 { weight: boost * idf, norms, boost, has_factor: false, idf, doc_freqs, measured }
    }

    /// Returns the score of a document. `norm` is 1 for fields without norms.
    #[inline]
    pub fn score(&self, freq: f32, norm: u8) -> f32 {
        if !self.measured.is_empty() {
            return self.sum_of_measured(freq, norm);
        }
        self.weight - self.weight / (1.0f32 + freq * self.norms.inverse[norm as usize])
    }

    /// Computes [`Bm25::score`] for several documents: the same numbers, in loops without branches. `norm`
    /// returns the norm of the document at an index.
    #[inline]
    pub fn score_all(&self, freqs: &[u32], norm: impl Fn(usize) -> u8, scores: &mut [f32]) {
        let scores = &mut scores[..freqs.len()];
        if !self.measured.is_empty() {
            for (at, (freq, score)) in freqs.iter().zip(scores).enumerate() {
                *score = self.sum_of_measured(*freq as f32, norm(at));
            }
            return;
        }
        let (weight, inverse) = (self.weight, &self.norms.inverse);
        for (at, score) in scores.iter_mut().enumerate() {
            *score = inverse[norm(at) as usize];
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
            return unsafe { finish_avx2(weight, freqs, scores) };
        }
        finish(weight, freqs, scores);
    }

    #[cold]
    fn sum_of_measured(&self, freq: f32, norm: u8) -> f32 {
        match self.measured.as_slice() {
            [only] => only.score(freq, norm),
            several => several.iter().map(|term| term.score(freq, norm)).sum(),
        }
    }

    /// Returns the boost of the query, without the factor `k1 + 1`.
    pub fn boost(&self) -> f32 {
        match self.norms.similarity {
            Similarity::Bm25 { k1, .. } if self.has_factor => self.boost / (1.0f32 + k1),
            _ => self.boost,
        }
    }

    /// Returns the sum of the document frequencies of its terms; 0 if it is not BM25.
    pub fn doc_freq(&self) -> u64 {
        self.doc_freqs.iter().map(|(_, doc_freq)| doc_freq).sum()
    }

    /// Returns an upper bound of the scores.
    pub fn max_score(&self) -> f32 {
        self.weight
    }

    /// Explains the score of a document, as the weight of the query that prints as `query`. `norm` is the
    /// document's, if the field has norms.
    pub fn explain_weight(
        &self,
        query: &str,
        freq: Explanation,
        norm: Option<u8>,
        doc: DocId,
    ) -> Explanation {
        let score = self.explain(freq, norm.unwrap_or(1));
        let text = format!("weight({query} in {doc}) [PerFieldSimilarity], result of:");
        Explanation::of(score.value, text, vec![score])
    }

    /// Returns the details of `weight(...)`: `score(freq=…), computed as boost * idf * tf from:` and
    /// everything below.
    pub fn explain(&self, freq: Explanation, norm: u8) -> Explanation {
        match self.measured.as_slice() {
            [] => {}
            [only] => return only.explain(freq, norm),
            several => {
                let sum = self.score(freq.value, norm);
                let parts = several.iter().map(|term| term.explain(freq.clone(), norm)).collect();
                return Explanation::of(sum, "sum of:", parts);
            }
        }
        let Similarity::Bm25 { k1, b } = self.norms.similarity else {
            let boost = Explanation::leaf(self.boost, "boost, query boost");
            return Explanation::of(self.weight, "score(BooleanWeight), computed from:", vec![boost]);
        };
        let frequency = freq.value;
        let mut details = Vec::new();
        if self.boost != 1.0 {
            details.push(Explanation::leaf(self.boost, "boost"));
        }
        let doc_count = self.norms.statistics.doc_count;
        let single = |doc_freq: u64| {
            Explanation::of(
                idf(doc_freq, doc_count),
                "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:",
                vec![
                    Explanation::whole(doc_freq, "n, number of documents containing term"),
                    Explanation::whole(doc_count, "N, total number of documents with field"),
                ],
            )
        };
        details.push(match self.doc_freqs.as_slice() {
            [(_, doc_freq)] => single(*doc_freq),
            several => Explanation::of(
                self.idf,
                "idf, sum of:",
                several.iter().map(|(_, doc_freq)| single(*doc_freq)).collect(),
            ),
        });
        let inverse = self.norms.inverse[norm as usize];
        let tf = 1.0f32 - 1.0f32 / (1.0f32 + frequency * inverse);
        let mut parts = vec![
            freq,
            Explanation::leaf(k1, "k1, term saturation parameter"),
            Explanation::leaf(b, "b, length normalization parameter"),
        ];
        parts.push(explain_length(norm));
        parts.push(Explanation::leaf(self.norms.average_length, "avgdl, average length of field"));
        details.push(Explanation::of(
            tf,
            "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:",
            parts,
        ));
        Explanation::of(
            self.score(frequency, norm),
            format!(
                "score(freq={}), computed as boost * idf * tf from:",
                limber_mapping::number::java_float(frequency)
            ),
            details,
        )
    }
}

/// Explains a document's length, as far as its norm determines it.
pub(super) fn explain_length(norm: u8) -> Explanation {
    let length = norm::decode(norm);
    let text = match norm::encode(length) != norm || length >= 40 {
        true => "dl, length of field (approximate)",
        false => "dl, length of field",
    };
    Explanation::leaf(length as f32, text)
}

impl Explanation {
    pub(super) fn whole(value: u64, description: &str) -> Explanation {
        Explanation {
            value: value as f32,
            whole: Some(value),
            double: None,
            description: description.into(),
            details: Vec::<Detail>::new(),
        }
    }
}

/// Computes scores from the frequencies and the factors of the norms, which the scores replace.
#[inline(always)]
fn finish(weight: f32, freqs: &[u32], scores: &mut [f32]) {
    for (freq, score) in freqs.iter().zip(scores) {
        *score = weight - weight / (1.0f32 + *freq as f32 * *score);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn finish_avx2(weight: f32, freqs: &[u32], scores: &mut [f32]) {
    finish(weight, freqs, scores);
}

/// Scores increase with the product of the frequency and the inverse of the norm, so one division suffices
/// for the best of several impacts.
impl Strength for Bm25 {
    #[inline]
    fn strength(&self, impact: Impact) -> f32 {
        match self.measured.is_empty() {
            true => impact.freq as f32 * self.norms.inverse[impact.norm as usize],
            false => self.score(impact.freq as f32, impact.norm),
        }
    }

    #[inline]
    fn score(&self, strength: f32) -> f32 {
        match self.measured.is_empty() {
            true => self.weight - self.weight / (1.0f32 + strength),
            false => strength,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the explanations of Elasticsearch 8.19.13: five documents, three of them with the term,
    /// 41 tokens in total.
    #[test]
    fn idf_and_tf_are_elasticsearchs() {
        assert_eq!(idf(3, 5), 0.5389965);
        assert_eq!(idf(4, 5), 0.2876821);
        let norms = Arc::new(NormCache::new(
            FieldStatistics { doc_count: 5, sum_total_term_freq: 7, sum_doc_freq: 7 },
            Similarity::default(),
        ));
        let tag = Bm25::new(1.0, vec![(b"a".as_slice().into(), 3)], norms);
        assert_eq!(tag.score(1.0, 1), 0.6103343);
    }
}
