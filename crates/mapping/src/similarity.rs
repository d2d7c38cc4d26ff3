//! How matches of a field are scored: the parameter `similarity` and the settings `index.similarity.*`.
//!
//! Source: Elasticsearch's `SimilarityService`, `SimilarityProviders`; error messages are those of 9.4.3.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::RequestError;
use crate::json::java::java_text;
use crate::number::java_float;

/// How a match is scored, with its parameters. The names and formulas are Lucene's
/// (`org.apache.lucene.search.similarities`).
#[derive(Debug, Clone, PartialEq)]
pub enum Similarity {
    /// `BM25`, the default.
    Bm25 {
        /// Term saturation.
        k1: f32,
        /// Length normalization, 0 to 1.
        b: f32,
    },
    /// Every match scores the query's boost.
    Boolean,
    /// Divergence from randomness.
    Dfr {
        /// How unlikely a term frequency is by chance.
        model: BasicModel,
        /// The gain of an additional occurrence.
        effect: AfterEffect,
        /// How the length of the document is taken into account.
        normalization: Normalization,
    },
    /// Divergence from independence.
    Dfi(Independence),
    /// Information-based models.
    Ib {
        /// The probability distribution of frequencies.
        distribution: Distribution,
        /// The mean of the distribution.
        lambda: Lambda,
        /// How the length of the document is taken into account.
        normalization: Normalization,
    },
    /// A language model smoothed by a Dirichlet prior.
    LmDirichlet {
        /// The weight of the prior, in words.
        mu: f32,
    },
    /// A language model mixed with that of the whole field.
    LmJelinekMercer {
        /// The weight of the field's model, 0 to 1.
        lambda: f32,
    },
    /// Scores are computed by scripts.
    Scripted(Arc<ScriptedSimilarity>),
}

/// The scripts of a similarity as the settings declare them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedSimilarity {
    /// Computes the score of a term in a document.
    pub script: Value,
    /// Computes what all scores of a term have in common, if it is declared.
    pub weight_script: Option<Value>,
}

/// How unlikely a term frequency is by chance (Lucene's `BasicModel`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasicModel {
    /// `BasicModelG`: geometric.
    G,
    /// `BasicModelIF`: inverse term frequency.
    If,
    /// `BasicModelIn`: inverse document frequency.
    In,
    /// `BasicModelIne`: inverse expected document frequency.
    Ine,
}

/// The gain of an additional occurrence (Lucene's `AfterEffect`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterEffect {
    /// `AfterEffectB`: ratio of two Bernoulli processes.
    B,
    /// `AfterEffectL`: Laplace's law of succession.
    L,
}

/// How a frequency is normalized by the document's length (Lucene's `Normalization`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Normalization {
    /// The frequency is used unchanged.
    No,
    /// `NormalizationH1` with its `c`: the frequency in proportion to the average length.
    H1(f32),
    /// `NormalizationH2` with its `c`: like H1, with a logarithm.
    H2(f32),
    /// `NormalizationH3` with its `mu`: a Dirichlet prior.
    H3(f32),
    /// `NormalizationZ` with its `z`: Pareto and Zipf.
    Z(f32),
}

/// Lucene's `Independence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Independence {
    /// `IndependenceStandardized`.
    Standardized,
    /// `IndependenceSaturated`.
    Saturated,
    /// `IndependenceChiSquared`.
    ChiSquared,
}

/// Lucene's `Distribution`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Log-logistic.
    Ll,
    /// Smoothed power law.
    Spl,
}

/// Lucene's `Lambda`: by documents or by occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lambda {
    /// `LambdaDF`: the share of documents that contain the term.
    Df,
    /// `LambdaTTF`: occurrences of the term per document.
    Ttf,
}

impl Default for Similarity {
    fn default() -> Similarity {
        Similarity::Bm25 { k1: 1.2, b: 0.75 }
    }
}

/// Maximum number of similarities that an index may declare.
const COUNT_MAX: usize = 1000;

/// The similarities of an index by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similarities {
    declared: BTreeMap<String, Similarity>,
}

impl Similarities {
    /// Parses the settings below `index.similarity`.
    ///
    /// # Errors
    /// `illegal_argument_exception` with Elasticsearch's message.
    pub fn parse(settings: &Value) -> Result<Similarities, RequestError> {
        let mut declared = BTreeMap::new();
        for (name, body) in settings.as_object().into_iter().flatten().take(COUNT_MAX) {
            if matches!(name.as_str(), "BM25" | "boolean") {
                return Err(RequestError::illegal_argument(format!(
                    "illegal value for [index.similarity.{name}] cannot redefine built-in similarity"
                )));
            }
            let body = body.as_object().cloned().unwrap_or_default();
            declared.insert(name.clone(), similarity(name, &body)?);
        }
        Ok(Similarities { declared })
    }

    /// Returns the similarity with this name. `BM25`, which is also the default of fields, means the declared
    /// similarity `default` if there is one.
    pub fn get(&self, name: &str) -> Option<Similarity> {
        match name {
            "boolean" => Some(Similarity::Boolean),
            "BM25" => Some(self.declared.get("default").cloned().unwrap_or_default()),
            _ => self.declared.get(name).cloned(),
        }
    }

    /// Returns the similarities with scripts, by name.
    pub fn scripted(&self) -> impl Iterator<Item = (&str, &Arc<ScriptedSimilarity>)> {
        self.declared.iter().filter_map(|(name, similarity)| match similarity {
            Similarity::Scripted(scripted) => Some((name.as_str(), scripted)),
            _ => None,
        })
    }
}

fn similarity(name: &str, body: &Map<String, Value>) -> Result<Similarity, RequestError> {
    let refused = |reason: String| Err(RequestError::illegal_argument(reason));
    let kind = match body.get("type") {
        Some(kind) => java_text(kind),
        None => return refused(format!("Similarity [{name}] must have an associated type")),
    };
    match kind.as_str() {
        "boolean" => return Ok(Similarity::Boolean),
        "BM25" => {}
        "DFR" | "DFI" | "IB" | "LMDirichlet" | "LMJelinekMercer" => return measured(name, &kind, body),
        "scripted" => return scripted(name, body),
        _ => return refused(format!("Unknown Similarity type [{kind}] for [{name}]")),
    }
    let Similarity::Bm25 { mut k1, mut b } = Similarity::default() else { return Ok(Similarity::Boolean) };
    let mut unknown = Vec::new();
    for (option, value) in body {
        let text = java_text(value);
        let number = || {
            text.parse::<f32>().map_err(|_| {
                let reason =
                    format!("Failed to parse value [{text}] for setting [index.similarity.{name}.{option}]");
                RequestError::illegal_argument(reason)
            })
        };
        match option.as_str() {
            // `discount_overlaps` has no effect: token filters here do not put tokens on top of others.
            "type" | "discount_overlaps" => {}
            "k1" => k1 = number()?,
            "b" => b = number()?,
            _ => unknown.push(option.as_str()),
        }
    }
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        return refused(format!("Unknown settings for similarity of type [BM25]: [{unknown}]"));
    }
    if !(k1.is_finite() && k1 >= 0.0) {
        let reason = format!("illegal k1 value: {}, must be a non-negative finite value", java_float(k1));
        return refused(reason);
    }
    if !(0.0..=1.0).contains(&b) {
        return refused(format!("illegal b value: {}, must be between 0 and 1", java_float(b)));
    }
    Ok(Similarity::Bm25 { k1, b })
}

/// Parses a similarity of scripts, which are objects.
fn scripted(name: &str, body: &Map<String, Value>) -> Result<Similarity, RequestError> {
    let (mut script, mut weight_script) = (None, None);
    let mut unknown = Vec::new();
    for (option, value) in body {
        match option.as_str() {
            "type" | "discount_overlaps" => {}
            "script" => script = Some(value.clone()),
            "weight_script" => weight_script = Some(value.clone()),
            _ => unknown.push(option.as_str()),
        }
    }
    let refused = |reason: String| Err(RequestError::illegal_argument(reason));
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        return refused(format!("Unknown settings for similarity of type [scripted]: [{unknown}]"));
    }
    match script {
        Some(script) => Ok(Similarity::Scripted(Arc::new(ScriptedSimilarity { script, weight_script }))),
        None => refused(format!("Similarity [{name}] of type [scripted] must have a [script]")),
    }
}

/// The options of a similarity, either flat (`normalization.h2.c`) or nested objects.
struct Options<'b> {
    name: &'b str,
    body: &'b Map<String, Value>,
    /// The options that the type knows, including those below them.
    known: Vec<&'static str>,
}

impl Options<'_> {
    fn value(&mut self, option: &'static str) -> Option<String> {
        self.known.push(option.split('.').next().unwrap_or(option));
        if let Some(flat) = self.body.get(option) {
            return (!flat.is_object() && !flat.is_null()).then(|| java_text(flat));
        }
        let mut parts = option.split('.');
        let mut found = self.body.get(parts.next()?)?;
        for part in parts {
            found = found.get(part)?;
        }
        (!found.is_object() && !found.is_null()).then(|| java_text(found))
    }

    /// Returns the option as a string; like Elasticsearch, `null` if it is absent.
    fn text(&mut self, option: &'static str) -> String {
        self.value(option).unwrap_or_else(|| "null".to_owned())
    }

    fn number(&mut self, option: &'static str, default: f32) -> Result<f32, RequestError> {
        let Some(text) = self.value(option) else { return Ok(default) };
        text.parse::<f32>().map_err(|_| {
            let name = self.name;
            let reason =
                format!("Failed to parse value [{text}] for setting [index.similarity.{name}.{option}]");
            RequestError::illegal_argument(reason)
        })
    }

    /// Parses the basic model of information content of divergence from randomness.
    fn basic_model(&mut self) -> Result<BasicModel, RequestError> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        Ok(match self.text("basic_model").as_str() {
            "g" => BasicModel::G,
            "if" => BasicModel::If,
            "in" => BasicModel::In,
            "ine" => BasicModel::Ine,
            gone @ ("be" | "d" | "p") => {
                return refused(format!(
                    "Basic model [{gone}] isn't supported anymore, please use another model."
                ));
            }
            other => {
                return refused(format!(
                    "Unsupported BasicModel [{other}], expected one of [g, in, if, ine]"
                ));
            }
        })
    }

    /// Parses the after effect of divergence from randomness.
    fn after_effect(&mut self) -> Result<AfterEffect, RequestError> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        Ok(match self.text("after_effect").as_str() {
            "b" => AfterEffect::B,
            "l" => AfterEffect::L,
            "no" => {
                return refused(
                    "After effect [no] isn't supported anymore, please use another effect.".to_owned(),
                );
            }
            other => {
                return refused(format!("Unsupported AfterEffect [{other}], expected one of [b, l]"));
            }
        })
    }

    fn normalization(&mut self) -> Result<Normalization, RequestError> {
        Ok(match self.text("normalization").as_str() {
            "no" => Normalization::No,
            "h1" => Normalization::H1(self.number("normalization.h1.c", 1.0)?),
            "h2" => Normalization::H2(self.number("normalization.h2.c", 1.0)?),
            "h3" => Normalization::H3(self.number("normalization.h3.c", 800.0)?),
            "z" => Normalization::Z(self.number("normalization.z.z", 0.3)?),
            other => {
                return Err(RequestError::illegal_argument(format!("Unsupported Normalization [{other}]")));
            }
        })
    }

    /// Refuses options that the type does not know.
    fn finish(&self, kind: &str) -> Result<(), RequestError> {
        let is_known = |option: &str| {
            let first = option.split('.').next().unwrap_or(option);
            matches!(option, "type" | "discount_overlaps") || self.known.contains(&first)
        };
        let unknown: Vec<&str> =
            self.body.keys().map(String::as_str).filter(|option| !is_known(option)).collect();
        match unknown.is_empty() {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "Unknown settings for similarity of type [{kind}]: [{}]",
                unknown.join(", ")
            ))),
        }
    }
}

/// Parses a similarity other than BM25. Source: `SimilarityProviders`.
fn measured(name: &str, kind: &str, body: &Map<String, Value>) -> Result<Similarity, RequestError> {
    let refused = |reason: String| Err(RequestError::illegal_argument(reason));
    let mut options = Options { name, body, known: Vec::new() };
    let similarity = match kind {
        "DFR" => {
            let (model, effect) = (options.basic_model()?, options.after_effect()?);
            Similarity::Dfr { model, effect, normalization: options.normalization()? }
        }
        "DFI" => Similarity::Dfi(match options.text("independence_measure").as_str() {
            "standardized" => Independence::Standardized,
            "saturated" => Independence::Saturated,
            "chisquared" => Independence::ChiSquared,
            other => {
                return refused(format!(
                    "Unsupported IndependenceMeasure [{other}], expected one of [standardized, chisquared, saturated]"
                ));
            }
        }),
        "IB" => {
            let distribution = match options.text("distribution").as_str() {
                "ll" => Distribution::Ll,
                "spl" => Distribution::Spl,
                other => return refused(format!("Unsupported Distribution [{other}]")),
            };
            let lambda = match options.text("lambda").as_str() {
                "df" => Lambda::Df,
                "ttf" => Lambda::Ttf,
                other => return refused(format!("Unsupported Lambda [{other}]")),
            };
            Similarity::Ib { distribution, lambda, normalization: options.normalization()? }
        }
        "LMDirichlet" => {
            let mu = options.number("mu", 2000.0)?;
            if !(mu.is_finite() && mu >= 0.0) {
                return refused(format!(
                    "illegal mu value: {}, must be a non-negative finite value",
                    java_float(mu)
                ));
            }
            Similarity::LmDirichlet { mu }
        }
        _ => {
            let lambda = options.number("lambda", 0.1)?;
            if !(lambda > 0.0 && lambda <= 1.0) {
                return refused("lambda must be in the range (0 .. 1]".to_owned());
            }
            Similarity::LmJelinekMercer { lambda }
        }
    };
    options.finish(kind)?;
    Ok(similarity)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_as_elasticsearch_takes_them() {
        let refused = |body: Value| Similarities::parse(&json!({"mine": body})).expect_err("refused").reason;
        assert_eq!(
            refused(json!({"type": "BM25", "k1": "-1"})),
            "illegal k1 value: -1.0, must be a non-negative finite value"
        );
        assert_eq!(
            refused(json!({"type": "BM25", "b": "2"})),
            "illegal b value: 2.0, must be between 0 and 1"
        );
        assert_eq!(
            refused(json!({"type": "BM25", "zz": 2})),
            "Unknown settings for similarity of type [BM25]: [zz]"
        );
        assert_eq!(refused(json!({"type": "nope"})), "Unknown Similarity type [nope] for [mine]");
        assert_eq!(refused(json!({"k1": 1})), "Similarity [mine] must have an associated type");
        assert!(refused(json!({"type": "scripted"})).contains("must have a [script]"));
        assert!(refused(json!({"type": "scripted", "script": {}, "k1": 1})).contains("[k1]"));
        for (body, reason) in [
            (
                json!({"type": "DFR", "basic_model": "x"}),
                "Unsupported BasicModel [x], expected one of [g, in, if, ine]",
            ),
            (
                json!({"type": "DFR", "basic_model": "d"}),
                "Basic model [d] isn't supported anymore, please use another model.",
            ),
            (
                json!({"type": "DFR", "basic_model": "g", "after_effect": "no"}),
                "After effect [no] isn't supported anymore, please use another effect.",
            ),
            (
                json!({"type": "DFR", "basic_model": "g", "after_effect": "l"}),
                "Unsupported Normalization [null]",
            ),
            (
                json!({"type": "DFR", "basic_model": "g", "after_effect": "l", "normalization": "h2", "z": 1}),
                "Unknown settings for similarity of type [DFR]: [z]",
            ),
            (
                json!({"type": "DFI", "independence_measure": "x"}),
                "Unsupported IndependenceMeasure [x], expected one of [standardized, chisquared, saturated]",
            ),
            (json!({"type": "IB", "distribution": "x"}), "Unsupported Distribution [x]"),
            (
                json!({"type": "LMDirichlet", "mu": -1}),
                "illegal mu value: -1.0, must be a non-negative finite value",
            ),
            (json!({"type": "LMJelinekMercer", "lambda": 0}), "lambda must be in the range (0 .. 1]"),
        ] {
            assert_eq!(refused(body), reason);
        }
        let dfr = json!({"mine": {"type": "DFR", "basic_model": "g", "after_effect": "l", "normalization": "h2",
            "normalization.h2.c": "3.0"}});
        assert_eq!(
            Similarities::parse(&dfr).expect("reads").get("mine"),
            Some(Similarity::Dfr {
                model: BasicModel::G,
                effect: AfterEffect::L,
                normalization: Normalization::H2(3.0)
            })
        );
        let own =
            Similarities::parse(&json!({"default": {"type": "BM25", "k1": "3", "b": "0"}})).expect("reads");
        assert_eq!(own.get("BM25"), Some(Similarity::Bm25 { k1: 3.0, b: 0.0 }));
        assert_eq!((own.get("boolean"), own.get("classic")), (Some(Similarity::Boolean), None));
    }
}
