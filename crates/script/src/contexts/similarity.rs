//! The scripts of a scripted similarity: what a term in a document scores.
//!
//! Source: Elasticsearch's `ScriptedSimilarity`, `SimilarityScript`, `SimilarityWeightScript`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value as Json};

use crate::compile::{Code, Script, Scripts};
use crate::language::{Compiled, ScriptContext};
use crate::run::Run;
use crate::values::Value;

/// The numbers of a term that its scores depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarityTerm {
    /// `query.boost`.
    pub boost: f32,
    /// `field.docCount`.
    pub doc_count: u64,
    /// `field.sumDocFreq`.
    pub sum_doc_freq: u64,
    /// `field.sumTotalTermFreq`.
    pub sum_total_term_freq: u64,
    /// `term.docFreq`.
    pub doc_freq: u64,
    /// `term.totalTermFreq`.
    pub total_term_freq: u64,
}

/// A script of a similarity with its parameters.
#[derive(Debug, Clone)]
pub struct SimilarityScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
    /// The script as Elasticsearch prints it.
    text: Arc<str>,
}

impl SimilarityScript {
    /// Compiles a script for [`ScriptContext::Similarity`] or [`ScriptContext::SimilarityWeight`].
    ///
    /// # Errors
    /// `script_exception` (compile error), `resource_not_found_exception`, `illegal_argument_exception`.
    pub fn compile(
        scripts: &Scripts,
        script: &Json,
        context: ScriptContext,
    ) -> Result<SimilarityScript, RequestError> {
        let script = Script::parse(script)?;
        let compiled = scripts.compile(&script, context)?;
        let (kind, language) = match &script.code {
            Code::Inline { language, .. } => ("inline", format!("'{language}'")),
            Code::Stored(_) => ("stored", "null".to_owned()),
        };
        let params: Vec<String> =
            script.params.iter().map(|(name, value)| format!("{name}={}", printed(value))).collect();
        let text = format!(
            "Script{{type={kind}, lang={language}, idOrCode='{}', options={{}}, params={{{}}}}}",
            script.text(),
            params.join(", ")
        );
        Ok(SimilarityScript { script: compiled, params: script.params, text: text.into() })
    }

    /// Returns the script as Elasticsearch prints it (`Script#toString`).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the weight of a term.
    ///
    /// # Errors
    /// `script_exception` (runtime error).
    pub fn weight(&self, term: &SimilarityTerm) -> Result<f64, RequestError> {
        self.run(numbers_of(term))
    }

    /// Returns the score of a term that occurs `freq` times in a document of `length` tokens.
    ///
    /// # Errors
    /// `script_exception` (runtime error).
    pub fn score(
        &self,
        term: &SimilarityTerm,
        weight: f64,
        length: u32,
        freq: f32,
    ) -> Result<f64, RequestError> {
        let mut numbers = numbers_of(term);
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        numbers.extend([Value::Double(weight), Value::Int(length), Value::Float(freq)]);
        self.run(numbers)
    }

    fn run(&self, numbers: Vec<Value>) -> Result<f64, RequestError> {
        let mut run = Run::new(&self.script, &self.params);
        run.given_numbers = numbers;
        match run.run(0) {
            Ok(value) => Ok(value.f64()),
            Err(error) => Err(error.to_request_error("runtime", &self.script.source, self.script.language)),
        }
    }
}

/// Returns the numbers of a term, in the order of
/// [`ScriptContext::given_numbers`](crate::language::ScriptContext::given_numbers).
fn numbers_of(term: &SimilarityTerm) -> Vec<Value> {
    let whole = |number: u64| Value::Long(i64::try_from(number).unwrap_or(i64::MAX));
    let SimilarityTerm { boost, doc_count, sum_doc_freq, sum_total_term_freq, doc_freq, total_term_freq } =
        *term;
    vec![
        Value::Float(boost),
        whole(doc_count),
        whole(sum_doc_freq),
        whole(sum_total_term_freq),
        whole(doc_freq),
        whole(total_term_freq),
    ]
}

fn printed(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TERM: SimilarityTerm = SimilarityTerm {
        boost: 1.0,
        doc_count: 3,
        sum_doc_freq: 5,
        sum_total_term_freq: 6,
        doc_freq: 1,
        total_term_freq: 2,
    };

    fn compiled(source: &str, context: ScriptContext) -> Result<SimilarityScript, RequestError> {
        SimilarityScript::compile(
            &Scripts::default(),
            &json!({"source": source, "params": {"k": 2}}),
            context,
        )
    }

    #[test]
    fn scripts_read_the_numbers_of_terms_and_documents() {
        let check = |source: &str, expected: f64| {
            let script = compiled(source, ScriptContext::Similarity).expect("compiles");
            assert_eq!(script.score(&TERM, 1.5, 4, 2.0), Ok(expected), "{source}");
        };
        check("weight * doc.freq / doc.length", 0.75);
        check("field.docCount / term.totalTermFreq", 1.0);
        check("(field.docCount + 1.0) / term.totalTermFreq", 2.0);
        check("query.boost + field.sumDocFreq + field.getSumTotalTermFreq() + term.docFreq", 13.0);
        check("double tf = Math.sqrt(doc.getFreq() * params.k); return tf;", 2.0);
        let weight = compiled("10 * query.boost * term.docFreq", ScriptContext::SimilarityWeight);
        assert_eq!(weight.expect("compiles").weight(&TERM), Ok(10.0));
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let check = |source: &str, context, expected: &str| {
            let error = compiled(source, context).expect_err("refused");
            assert!(error.to_json().to_string().contains(expected), "{source}: {}", error.to_json());
        };
        check("doc.size", ScriptContext::Similarity, "field [doc, size] not found");
        check("doc.freq = 2", ScriptContext::Similarity, "is read-only");
        check("doc['a'].value", ScriptContext::Similarity, "unexpected token");
        check("weight * doc.freq", ScriptContext::SimilarityWeight, "cannot resolve symbol");
        check("_score", ScriptContext::Similarity, "cannot resolve symbol [_score]");
        let script = compiled("int a = 0; return 1 / a;", ScriptContext::Similarity).expect("compiles");
        assert_eq!(script.score(&TERM, 1.0, 1, 1.0).expect_err("fails").kind, "script_exception");
    }
}
