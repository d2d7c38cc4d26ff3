//! The metrics: "how good is this list of ratings?"
//!
//! Source: Elasticsearch's module `rank-eval`: `PrecisionAtK`, `RecallAtK`, `MeanReciprocalRank`,
//! `DiscountedCumulativeGain`, `ExpectedReciprocalRank`. The scores agree with 7.10.2 to the last digit.

use limber_engine::Result;
use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

/// Number of hits considered, unless the request says otherwise.
const K_DEFAULT: u32 = 10;

/// One metric with its parameters.
#[derive(Debug)]
pub struct Metric {
    kind: Kind,
    /// Number of hits considered.
    pub k: u32,
}

#[derive(Debug)]
enum Kind {
    Precision { threshold: i64, ignores_unlabeled: bool },
    Recall { threshold: i64 },
    MeanReciprocalRank { threshold: i64 },
    Dcg { unknown_rating: Option<i64>, normalizes: bool },
    ExpectedReciprocalRank { maximum: i64, unknown_rating: Option<i64> },
}

/// The score of one request and its details.
pub struct Score {
    pub value: f64,
    /// The metric's details, such as `{"precision": {...}}`.
    pub details: Value,
}

impl Metric {
    /// Parses a metric, such as `{"precision": {"k": 5, ...}}`.
    pub fn parse(value: &Value) -> Result<Metric> {
        let Some((name, Value::Object(members))) = value.as_object().and_then(|object| object.iter().next())
        else {
            return Err(RequestError::parsing("[metric] needs an object of one metric"));
        };
        let mut given = Given { name, members: members.clone() };
        let k = given.integer("k")?;
        let threshold = |given: &mut Given<'_>| {
            let threshold = given.integer("relevant_rating_threshold")?.unwrap_or(1);
            match threshold {
                0.. => Ok(threshold),
                _ => Err(given.failed("Relevant rating threshold for precision must be positive integer.")),
            }
        };
        let kind = match name.as_str() {
            "precision" => Kind::Precision {
                threshold: threshold(&mut given)?,
                ignores_unlabeled: given.flag("ignore_unlabeled")?,
            },
            "recall" => Kind::Recall { threshold: threshold(&mut given)? },
            "mean_reciprocal_rank" => Kind::MeanReciprocalRank { threshold: threshold(&mut given)? },
            "dcg" => Kind::Dcg {
                unknown_rating: given.integer("unknown_doc_rating")?,
                normalizes: given.flag("normalize")?,
            },
            "expected_reciprocal_rank" => Kind::ExpectedReciprocalRank {
                maximum: given
                    .integer("maximum_relevance")?
                    .ok_or_else(|| ObjectParser::required("maximum_relevance"))?,
                unknown_rating: given.integer("unknown_doc_rating")?,
            },
            other => {
                return Err(ObjectParser::no_named_object(other));
            }
        };
        if let Some(name_of) = given.members.keys().next() {
            return Err(ObjectParser::new(name).unknown(name_of));
        }
        match k {
            None => Ok(Metric { kind, k: K_DEFAULT }),
            Some(k) => match u32::try_from(k) {
                Ok(k) if k > 0 => Ok(Metric { kind, k }),
                _ => Err(given.failed("Window size k must be positive.")),
            },
        }
    }

    /// Computes the score. `ratings` are those of the hits, best hit first; `rated` are all ratings in the
    /// request.
    pub fn score(&self, ratings: &[Option<i64>], rated: &[i64]) -> Score {
        let unrated_count = ratings.iter().filter(|rating| rating.is_none()).count();
        match &self.kind {
            Kind::Precision { threshold, ignores_unlabeled } => {
                let relevant = ratings.iter().flatten().filter(|rating| *rating >= threshold).count();
                let retrieved = ratings.len() - if *ignores_unlabeled { unrated_count } else { 0 };
                let details = json!({"relevant_docs_retrieved": relevant, "docs_retrieved": retrieved});
                Score { value: share(relevant, retrieved), details: json!({"precision": details}) }
            }
            Kind::Recall { threshold } => {
                let found = ratings.iter().flatten().filter(|rating| *rating >= threshold).count();
                let relevant = rated.iter().filter(|rating| *rating >= threshold).count();
                let details = json!({"relevant_docs_retrieved": found, "relevant_docs": relevant});
                Score { value: share(found, relevant), details: json!({"recall": details}) }
            }
            Kind::MeanReciprocalRank { threshold } => {
                let is_relevant = |rating: &Option<i64>| rating.is_some_and(|rating| rating >= *threshold);
                let rank = ratings.iter().position(is_relevant).map(|at| at + 1);
                let shown = rank.map_or(json!(-1), |rank| json!(rank));
                Score {
                    value: rank.map_or(0.0, |rank| 1.0 / rank as f64),
                    details: json!({"mean_reciprocal_rank": {"first_relevant": shown}}),
                }
            }
            Kind::Dcg { unknown_rating, normalizes } => {
                let dcg = dcg(ratings.iter().map(|rating| rating.or(*unknown_rating)));
                let mut details = Map::from_iter([("dcg".to_owned(), json!(dcg))]);
                let mut value = dcg;
                if *normalizes {
                    let mut best = rated.to_vec();
                    best.sort_unstable_by(|left, right| right.cmp(left));
                    best.truncate(ratings.len());
                    let ideal = self::dcg(best.into_iter().map(Some));
                    value = if ideal == 0.0 { 0.0 } else { dcg / ideal };
                    if ideal != 0.0 {
                        details.insert("ideal_dcg".to_owned(), json!(ideal));
                        details.insert("normalized_dcg".to_owned(), json!(value));
                    }
                }
                details.insert("unrated_docs".to_owned(), unrated_count.into());
                Score { value, details: json!({"dcg": details}) }
            }
            Kind::ExpectedReciprocalRank { maximum, unknown_rating } => {
                let scale = 2f64.powi((*maximum).clamp(-1_000, 1_000) as i32);
                let (mut value, mut still_looking) = (0.0, 1.0);
                for (at, rating) in ratings.iter().enumerate() {
                    if let Some(rating) = rating.or(*unknown_rating) {
                        let stops = gain(rating) / scale;
                        value += still_looking * stops / (at + 1) as f64;
                        still_looking *= 1.0 - stops;
                    }
                }
                let details = json!({"unrated_docs": unrated_count});
                Score { value, details: json!({"expected_reciprocal_rank": details}) }
            }
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn gain(rating: i64) -> f64 {
    2f64.powi(rating.clamp(-1_000, 1_000) as i32) - 1.0
}

fn dcg(ratings: impl Iterator<Item = Option<i64>>) -> f64 {
    let discounted = |(at, rating): (usize, Option<i64>)| {
        rating.map_or(0.0, |rating| gain(rating) / (((at + 2) as f64).ln() / 2f64.ln()))
    };
    // `sum` would give negative zero for an empty list.
    ratings.enumerate().map(discounted).fold(0.0, |sum, part| sum + part)
}

/// Parameters of a metric that have not been read yet.
struct Given<'a> {
    name: &'a str,
    members: Map<String, Value>,
}

impl Given<'_> {
    fn integer(&mut self, name: &str) -> Result<Option<i64>> {
        match self.members.shift_remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_i64().filter(|number| i32::try_from(*number).is_ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(self.malformed(name)),
            },
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool> {
        match self.members.shift_remove(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(self.malformed(name)),
        }
    }

    fn malformed(&self, field: &str) -> RequestError {
        ObjectParser::new(self.name).malformed(field)
    }

    fn failed(&self, reason: &str) -> RequestError {
        // Elasticsearch's parser of this metric has another name.
        let name = if self.name == "mean_reciprocal_rank" { "reciprocal_rank" } else { self.name };
        ObjectParser::new(name).failed_to_build(RequestError::illegal_argument(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores recorded from Elasticsearch 7.10.2 for hits with the ratings 1, none, 3, 0, none.
    #[test]
    fn scores_are_elasticsearchs() {
        let ratings = [Some(1), None, Some(3), Some(0), None];
        for (metric, value) in [
            (json!({"precision": {}}), 0.4),
            (json!({"precision": {"k": 3, "relevant_rating_threshold": 2, "ignore_unlabeled": true}}), 0.5),
            (json!({"recall": {"k": 2}}), 0.5),
            (json!({"mean_reciprocal_rank": {"relevant_rating_threshold": 2}}), 0.333_333_333_333_333_3),
            (json!({"dcg": {}}), 4.5),
            (json!({"dcg": {"k": 3, "normalize": true}}), 0.589_705_336_744_043_8),
            (json!({"dcg": {"k": 4, "unknown_doc_rating": 2, "normalize": true}}), 0.837_747_098_605_172_5),
            (json!({"expected_reciprocal_rank": {"maximum_relevance": 3}}), 0.380_208_333_333_333_3),
            (
                json!({"expected_reciprocal_rank": {"maximum_relevance": 3, "unknown_doc_rating": 1, "k": 4}}),
                0.402_994_791_666_666_63,
            ),
        ] {
            let parsed = Metric::parse(&metric).expect("a metric");
            let seen = &ratings[..ratings.len().min(parsed.k as usize)];
            assert_eq!(parsed.score(seen, &[1, 3, 0]).value, value, "{metric}");
        }
        for nothing in ["precision", "recall", "mean_reciprocal_rank", "dcg"] {
            assert_eq!(Metric::parse(&json!({nothing: {}})).expect("a metric").score(&[], &[]).value, 0.0);
        }
    }
}
