//! How matches of a field are scored: the parameter `similarity` and the settings `index.similarity.*`.
//!
//! Source: Elasticsearch's `SimilarityService`, `SimilarityProviders`; errors as 9.4.3 worded them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::RequestError;
use crate::java::java_text;
use crate::number::java_float;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Similarity {
    Bm25 {
        /// Term saturation.
        k1: f32,
        /// Length normalization, 0 to 1.
        b: f32,
    },
    /// Every match has the query's boost.
    Boolean,
}

impl Default for Similarity {
    fn default() -> Similarity {
        Similarity::Bm25 { k1: 1.2, b: 0.75 }
    }
}

/// Types of Elasticsearch that are not here.
const TYPES_MISSING: &[&str] = &["DFI", "DFR", "IB", "LMDirichlet", "LMJelinekMercer", "scripted"];

/// Similarities that an index declares at most.
const COUNT_MAX: usize = 1000;

/// The similarities of an index by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similarities {
    declared: BTreeMap<String, Similarity>,
}

impl Similarities {
    /// Reads the settings below `index.similarity`.
    ///
    /// # Errors
    /// `illegal_argument_exception` in Elasticsearch's words.
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

    /// `default` stands for `BM25`, which fields have that name none.
    pub fn get(&self, name: &str) -> Option<Similarity> {
        match name {
            "boolean" => Some(Similarity::Boolean),
            "BM25" => Some(self.declared.get("default").copied().unwrap_or_default()),
            _ => self.declared.get(name).copied(),
        }
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
        missing if TYPES_MISSING.contains(&missing) => {
            return Err(RequestError::unsupported(format!("similarity [{name}] of type [{missing}]")));
        }
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
            // No filter here puts a token on another, so that there are no overlaps to be discounted.
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
        assert!(refused(json!({"type": "DFR"})).contains("of type [DFR] is not supported"));
        let own =
            Similarities::parse(&json!({"default": {"type": "BM25", "k1": "3", "b": "0"}})).expect("reads");
        assert_eq!(own.get("BM25"), Some(Similarity::Bm25 { k1: 3.0, b: 0.0 }));
        assert_eq!((own.get("boolean"), own.get("classic")), (Some(Similarity::Boolean), None));
    }
}
