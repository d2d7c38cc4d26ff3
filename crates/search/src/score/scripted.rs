//! Scores that scripts compute (`scripted` similarities).
//!
//! Source: Elasticsearch's `ScriptedSimilarity`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use limber_codec::norm;
use limber_mapping::{RequestError, ScriptedSimilarity, Similarities};
use limber_script::{ScriptContext, Scripts, SimilarityScript, SimilarityTerm};

use super::Explanation;

/// Maximum number of scores of a term that are kept. Scores depend only on the frequency of the term and the
/// length of the document, so that most documents share theirs with others.
const KEPT_MAX: usize = 4_096;

/// The compiled scripts of a similarity.
#[derive(Debug)]
pub(crate) struct SimilarityScripts {
    script: SimilarityScript,
    weight: Option<SimilarityScript>,
}

/// The first error of the scripts of a query. Scores are computed where no error can be returned, so it is
/// returned after the documents of a window have been scored.
#[derive(Debug, Default)]
pub(crate) struct ScriptFailure {
    is_watched: AtomicBool,
    error: Mutex<Option<RequestError>>,
}

/// The scorer of one term with a scripted similarity.
#[derive(Debug)]
pub(crate) struct ScriptedTerm {
    scripts: Arc<SimilarityScripts>,
    term: SimilarityTerm,
    weight: f64,
    failure: Arc<ScriptFailure>,
    /// Scores by the bits of the frequency and by the norm.
    kept: Mutex<HashMap<(u32, u8), f32>>,
}

impl SimilarityScripts {
    /// # Errors
    /// `script_exception` (compile error) and the other errors of compiling a script.
    pub fn compile(
        declared: &ScriptedSimilarity,
        scripts: &Scripts,
    ) -> Result<SimilarityScripts, RequestError> {
        let compile = |script, context| SimilarityScript::compile(scripts, script, context);
        let weight = declared.weight_script.as_ref();
        Ok(SimilarityScripts {
            script: compile(&declared.script, ScriptContext::Similarity)?,
            weight: weight.map(|script| compile(script, ScriptContext::SimilarityWeight)).transpose()?,
        })
    }

    fn weight(&self, term: &SimilarityTerm) -> Result<f64, RequestError> {
        self.weight.as_ref().map_or(Ok(1.0), |script| script.weight(term))
    }

    fn text(&self) -> String {
        let weight = self.weight.as_ref().map_or("null", |script| script.text());
        format!("ScriptedSimilarity(weightScript=[{weight}], script=[{}])", self.script.text())
    }
}

impl ScriptFailure {
    /// Whether a script is part of the query.
    pub fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// # Errors
    /// Fails with the first error, if there was one.
    pub fn check(&self) -> Result<(), RequestError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    fn note(&self, error: RequestError) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl ScriptedTerm {
    /// # Errors
    /// `script_exception` (runtime error) of the weight.
    pub fn new(
        scripts: Arc<SimilarityScripts>,
        term: SimilarityTerm,
        failure: Arc<ScriptFailure>,
    ) -> Result<ScriptedTerm, RequestError> {
        failure.is_watched.store(true, Ordering::Relaxed);
        let weight = scripts.weight(&term)?;
        Ok(ScriptedTerm { scripts, term, weight, failure, kept: Mutex::default() })
    }

    /// Returns the score of a document; 0 if the script failed.
    pub fn score(&self, freq: f32, norm: u8) -> f32 {
        let key = (freq.to_bits(), norm);
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(score) = kept().get(&key) {
            return *score;
        }
        let score = match self.scripts.script.score(&self.term, self.weight, norm::decode(norm), freq) {
            Ok(score) => score as f32,
            Err(error) => {
                self.failure.note(error);
                return 0.0;
            }
        };
        let mut kept = kept();
        if kept.len() < KEPT_MAX {
            kept.insert(key, score);
        }
        score
    }

    /// Explains a score by the numbers that the script sees.
    pub fn explain(&self, freq: Explanation, norm: u8) -> Explanation {
        let score = self.score(freq.value, norm);
        let whole = Explanation::whole;
        let details = vec![
            Explanation::leaf(self.weight as f32, "weight"),
            Explanation::leaf(self.term.boost, "query.boost"),
            whole(self.term.doc_count, "field.docCount"),
            whole(self.term.sum_doc_freq, "field.sumDocFreq"),
            whole(self.term.sum_total_term_freq, "field.sumTotalTermFreq"),
            whole(self.term.doc_freq, "term.docFreq"),
            whole(self.term.total_term_freq, "term.totalTermFreq"),
            Explanation { description: "doc.freq".into(), ..freq },
            whole(u64::from(norm::decode(norm)), "doc.length"),
        ];
        Explanation::of(score, format!("score from {} computed from:", self.scripts.text()), details)
    }
}

/// Checks the scripts of an index's similarities: that they compile, and that scores are not negative, do not
/// decrease with the frequency of a term and do not increase with the length of a document.
///
/// Source: `SimilarityService#validateSimilarity`, with its statistics.
///
/// # Errors
/// `script_exception`; `illegal_argument_exception` for such scores.
pub fn check_similarity_scripts(similarities: &Similarities, scripts: &Scripts) -> Result<(), RequestError> {
    similarities.scripted().try_for_each(|(_, declared)| {
        let scripts = Arc::new(SimilarityScripts::compile(declared, scripts)?);
        let term = SimilarityTerm {
            boost: 2.0,
            doc_count: 1_100,
            sum_doc_freq: 2_000,
            sum_total_term_freq: 3_000,
            doc_freq: 100,
            total_term_freq: 130,
        };
        let failure = Arc::new(ScriptFailure::default());
        let scorer = ScriptedTerm::new(scripts, term, failure.clone())?;
        let refused = |what: &str, freq: f32, norm: u8| {
            let found = scorer.explain(Explanation::leaf(freq, "freq"), norm);
            let reason = format!("{what}:\n{} = {}", found.value, found.description);
            Err(RequestError::illegal_argument(reason))
        };
        let mut before = 0.0;
        for freq in (1..=10u8).map(f32::from) {
            let norm = norm::encode(20);
            let score = scorer.score(freq, norm);
            failure.check()?;
            if score < 0.0 {
                return refused("Similarities should not return negative scores", freq, norm);
            }
            if score < before {
                let what = "Similarity scores should not decrease when term frequency increases";
                return refused(what, freq, norm);
            }
            before = score;
        }
        before = f32::MAX;
        for norm in (1..=255u8).step_by(10) {
            let score = scorer.score(1.0, norm);
            failure.check()?;
            if score > before {
                return refused("Similarity scores should not increase when norm increases", 1.0, norm);
            }
            before = score;
        }
        Ok(())
    })
}
