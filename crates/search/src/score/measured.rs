//! Similarities other than BM25: divergence from randomness and from independence, information-based ones,
//! and language models.
//!
//! Source: Lucene's `SimilarityBase` and its subclasses. Everything is computed in double and rounded to
//! float at the end.

use limber_codec::norm;
use limber_mapping::number::java_float;
use limber_mapping::{
    AfterEffect, BasicModel, Distribution, Independence, Lambda, Normalization, Similarity,
};

use super::bm25::FieldStatistics;
use super::{Explanation, explain_length};

/// The statistics of a term that such a similarity uses (`BasicStats`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermStatistics {
    pub doc_freq: u64,
    pub total_term_freq: u64,
}

/// The scorer of one term with such a similarity.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub similarity: Similarity,
    pub field: FieldStatistics,
    pub term: TermStatistics,
    pub boost: f32,
}

fn log2(value: f64) -> f64 {
    value.ln() / std::f64::consts::LN_2
}

impl Measured {
    /// Returns the score of a document from the term's frequency in it and its norm.
    pub fn score(&self, freq: f32, norm: u8) -> f32 {
        let (freq, length) = (f64::from(freq), f64::from(norm::decode(norm)));
        let score = match self.similarity {
            // Such a scorer is never made: see `ScriptedTerm`.
            Similarity::Scripted(_) => 0.0,
            Similarity::Dfr { model, effect, normalization } => {
                let tfn = self.normalized(normalization, freq, length);
                self.model(model, tfn) * self.effect(effect)
            }
            Similarity::Dfi(independence) => {
                let expected = self.expected(length);
                match freq <= expected {
                    true => 0.0,
                    false => log2(measure(independence, freq, expected) + 1.0),
                }
            }
            Similarity::Ib { distribution, lambda, normalization } => {
                let tfn = self.normalized(normalization, freq, length);
                distributed(distribution, tfn, f64::from(self.lambda(lambda)))
            }
            Similarity::LmDirichlet { mu } => {
                let mu = f64::from(mu);
                ((1.0 + freq / (mu * self.probability())).ln() + (mu / (length + mu)).ln()).max(0.0)
            }
            Similarity::LmJelinekMercer { lambda } => {
                let rest = f64::from(1.0f32 - lambda);
                (1.0 + (rest * freq / length) / (f64::from(lambda) * self.probability())).ln()
            }
            Similarity::Bm25 { .. } | Similarity::Boolean => 1.0,
        };
        (f64::from(self.boost) * score) as f32
    }

    fn docs(&self) -> f64 {
        self.field.doc_count as f64
    }

    fn total(&self) -> f64 {
        self.term.total_term_freq as f64
    }

    fn average_length(&self) -> f64 {
        f64::from((self.field.sum_total_term_freq as f64 / self.docs().max(1.0)) as f32)
    }

    /// Returns the probability that a token of the field is the term
    /// (`LMSimilarity.DefaultCollectionModel`).
    fn probability(&self) -> f64 {
        (self.total() + 1.0) / (self.field.sum_total_term_freq as f64 + 1.0)
    }

    fn expected(&self, length: f64) -> f64 {
        (self.total() + 1.0) * length / (self.field.sum_total_term_freq as f64 + 1.0)
    }

    fn normalized(&self, normalization: Normalization, freq: f64, length: f64) -> f64 {
        let average = self.average_length();
        match normalization {
            Normalization::No => freq,
            Normalization::H1(c) => freq * f64::from(c) * (average / length),
            Normalization::H2(c) => freq * log2(1.0 + f64::from(c) * average / length),
            Normalization::H3(mu) => {
                let share = (self.total() as f32 + 1.0) / (self.field.sum_total_term_freq as f32 + 1.0);
                let mu64 = f64::from(mu);
                (freq + f64::from(mu * share)) / (length + mu64) * mu64
            }
            Normalization::Z(z) => freq * (average / length).powf(f64::from(z)),
        }
    }

    /// Returns the basic model times `1 + tfn`; the after effect has the inverse factor.
    fn model(&self, model: BasicModel, tfn: f64) -> f64 {
        let (docs, total) = (self.docs(), self.total());
        let rising = |most: f64| most * (1.0 - 1.0 / (1.0 + tfn));
        match model {
            BasicModel::G => {
                let lambda = (total + 1.0) / (docs + total + 1.0);
                let (least, most) = (log2(lambda + 1.0), log2((1.0 + lambda) / lambda));
                most - (most - least) / (1.0 + tfn)
            }
            BasicModel::If => rising(log2(1.0 + (docs + 1.0) / (total + 0.5))),
            BasicModel::In => rising(log2((docs + 1.0) / (self.term.doc_freq as f64 + 0.5))),
            BasicModel::Ine => {
                let expected = docs * (1.0 - ((docs - 1.0) / docs).powf(total));
                rising(log2((docs + 1.0) / (expected + 0.5)))
            }
        }
    }

    /// Returns the after effect without its factor `1 / (1 + tfn)`.
    fn effect(&self, effect: AfterEffect) -> f64 {
        match effect {
            AfterEffect::B => (self.total() + 2.0) / (self.term.doc_freq as f64 + 1.0),
            AfterEffect::L => 1.0,
        }
    }

    fn lambda(&self, lambda: Lambda) -> f32 {
        let value = |count: f64| ((count + 1.0) / (self.docs() + 1.0)) as f32;
        match lambda {
            Lambda::Df => match value(self.term.doc_freq as f64) {
                1.0 => 1.0f32.next_down(),
                other => other,
            },
            Lambda::Ttf => match value(self.total()) {
                1.0 => 1.0f32.next_up(),
                other => other,
            },
        }
    }

    /// Explains a score: the similarity's name, its formula and the parts of it.
    pub fn explain(&self, freq: Explanation, norm: u8) -> Explanation {
        let (name, formula) = match self.similarity {
            Similarity::Dfr { .. } => {
                ("DFRSimilarity", "boost * basicModel.score(stats, tfn) * afterEffect.score(stats, tfn)")
            }
            Similarity::Dfi(_) => ("DFISimilarity", "boost * log2(measure + 1)"),
            Similarity::Ib { .. } => (
                "IBSimilarity",
                "boost * distribution.score(stats, normalization.tfn(stats, freq, docLen), lambda.lambda(stats))",
            ),
            Similarity::LmDirichlet { .. } => {
                ("LMDirichletSimilarity", "boost * (term weight + document norm)")
            }
            Similarity::LmJelinekMercer { .. } => {
                ("LMJelinekMercerSimilarity", "boost * log(1 + ((1 - lambda) * freq / dl) /(lambda * P))")
            }
            Similarity::Bm25 { .. } | Similarity::Boolean | Similarity::Scripted(_) => {
                ("Similarity", "boost")
            }
        };
        let value = self.score(freq.value, norm);
        let text = format!("score({name}, freq={}), computed as {formula} from:", java_float(freq.value));
        let mut details = Vec::new();
        if self.boost != 1.0 || matches!(self.similarity, Similarity::Dfi(_)) {
            details.push(Explanation::leaf(self.boost, "boost, query boost"));
        }
        self.explain_parts(f64::from(freq.value), f64::from(norm::decode(norm)), &mut details);
        details.push(freq);
        details.push(explain_length(norm));
        let count = |count: u64, text: &str| Explanation::whole(count, text);
        details.push(count(self.term.doc_freq, "n, number of documents containing term"));
        details.push(count(
            self.term.total_term_freq,
            "F, total number of occurrences of term across all documents",
        ));
        details.push(count(self.field.doc_count, "N, total number of documents with field"));
        details.push(count(self.field.sum_total_term_freq, "T, total number of tokens in the field"));
        Explanation::of(value, text, details)
    }

    /// Collects the numbers in the formula.
    fn explain_parts(&self, freq: f64, length: f64, out: &mut Vec<Explanation>) {
        let mut part = |value: f64, text: &str| out.push(Explanation::leaf(value as f32, text));
        match self.similarity {
            Similarity::Dfr { model, effect, normalization } => {
                let tfn = self.normalized(normalization, freq, length);
                part(tfn, "tfn, normalized term frequency");
                part(self.model(model, tfn) * (1.0 + tfn), "basicModel.score(stats, tfn)");
                part(self.effect(effect) / (1.0 + tfn), "afterEffect.score(stats, tfn)");
            }
            Similarity::Dfi(independence) => {
                let expected = self.expected(length);
                part(
                    measure(independence, freq, expected),
                    "measure, computed as independence.score(freq, expected)",
                );
                part(expected, "expected, computed as (F + 1) * dl / (T + 1)");
            }
            Similarity::Ib { lambda, normalization, .. } => {
                part(self.normalized(normalization, freq, length), "tfn, normalized term frequency");
                part(f64::from(self.lambda(lambda)), "lambda");
            }
            Similarity::LmDirichlet { mu } => {
                part(f64::from(mu), "mu");
                part(
                    self.probability(),
                    "P, probability that the current term is generated by the collection",
                );
            }
            Similarity::LmJelinekMercer { lambda } => {
                part(f64::from(lambda), "lambda");
                part(
                    self.probability(),
                    "P, probability that the current term is generated by the collection",
                );
            }
            Similarity::Bm25 { .. } | Similarity::Boolean | Similarity::Scripted(_) => {}
        }
    }
}

fn measure(independence: Independence, freq: f64, expected: f64) -> f64 {
    match independence {
        Independence::Standardized => (freq - expected) / expected.sqrt(),
        Independence::Saturated => (freq - expected) / expected,
        Independence::ChiSquared => (freq - expected) * (freq - expected) / expected,
    }
}

fn distributed(distribution: Distribution, tfn: f64, lambda: f64) -> f64 {
    match distribution {
        Distribution::Ll => -(lambda / (tfn + lambda)).ln(),
        Distribution::Spl => {
            let share = match 1.0 - 1.0 / (tfn + 1.0) {
                1.0 => 1.0f64.next_down(),
                share => share,
            };
            let mut power = lambda.powf(share);
            if power == lambda {
                power = if lambda < 1.0 { lambda.next_up() } else { lambda.next_down() };
            }
            -((power - lambda) / (1.0 - lambda)).ln()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of Elasticsearch 8.19.13 for `quick`, which occurs twice in nine words and once in about
    /// sixty. It is in four of six documents of 85 words, five times in total.
    #[test]
    fn scores_are_those_of_lucene() {
        let dfr = |model, effect, normalization| Similarity::Dfr { model, effect, normalization };
        let h2 = Normalization::H2(3.0);
        let g = |normalization| dfr(BasicModel::G, AfterEffect::L, normalization);
        let ib = |distribution, lambda| Similarity::Ib {
            distribution,
            lambda,
            normalization: Normalization::H2(1.0),
        };
        for (similarity, score) in [
            (dfr(BasicModel::G, AfterEffect::B, h2), 1.9868963),
            (g(h2), 1.4192116),
            (dfr(BasicModel::If, AfterEffect::B, h2), 1.3833473),
            (dfr(BasicModel::In, AfterEffect::L, h2), 0.53177536),
            (dfr(BasicModel::Ine, AfterEffect::L, h2), 0.6471275),
            (g(Normalization::No), 1.2516291),
            (g(Normalization::H1(1.0)), 1.343891),
            (g(Normalization::H3(800.0)), 1.5677718),
            (g(Normalization::Z(0.3)), 1.2811582),
            (Similarity::Dfi(Independence::Standardized), 1.4497217),
            (ib(Distribution::Ll, Lambda::Df), 1.572639),
            (ib(Distribution::Spl, Lambda::Ttf), 1.3732206),
            (Similarity::LmDirichlet { mu: 2000.0 }, 0.009741677),
            (Similarity::LmDirichlet { mu: 5.0 }, 0.8774509),
            (Similarity::LmJelinekMercer { lambda: 0.1 }, 3.390024),
        ] {
            let term = TermStatistics { doc_freq: 4, total_term_freq: 5 };
            let field = FieldStatistics { doc_count: 6, sum_total_term_freq: 85, sum_doc_freq: 0 };
            let measured = Measured { similarity: similarity.clone(), field, term, boost: 1.0 };
            let found = measured.score(2.0, norm::encode(9));
            assert!((found - score).abs() <= score * 2e-7, "{similarity:?}: {found} for {score}");
        }
    }

    #[test]
    fn no_score_is_negative() {
        let term = TermStatistics { doc_freq: 4, total_term_freq: 5 };
        let field = FieldStatistics { doc_count: 6, sum_total_term_freq: 85, sum_doc_freq: 0 };
        for similarity in [Similarity::LmDirichlet { mu: 2000.0 }, Similarity::Dfi(Independence::ChiSquared)]
        {
            let measured = Measured { similarity, field, term, boost: 1.0 };
            assert_eq!(measured.score(1.0, norm::encode(60)), 0.0);
        }
    }
}
