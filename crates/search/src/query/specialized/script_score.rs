//! `script_score`: the documents of a query, scored by a script.
//!
//! Source: Elasticsearch's `ScriptScoreQueryBuilder`.

use limber_mapping::number::java_float;
use limber_mapping::{ObjectParser, RequestError};
use limber_script::{OpenScript, Script, ScriptContext};
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Map, Value};

use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::matcher::{BoxedMatcher, BoxedScorer, ScoredEnough, Scorer, SegmentBits, contenders};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, only_matching};
use crate::query::compound::function::script_name;
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::Explanation;
use crate::script::BoundScript;
use crate::values::json;

#[derive(Debug)]
struct ScriptScore {
    query: Query,
    script: Script,
    min_score: Option<f32>,
}

/// The documents of a query, scored by a script.
#[derive(Debug)]
pub(crate) struct ScriptScoreNode {
    pub query: BoundQuery,
    pub script: BoundScript,
    pub boost: f32,
    /// The minimum score of a matching document.
    pub min_score: Option<f32>,
}

const PARSER: ObjectParser<'_> = ObjectParser::new("script_score");

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut query, mut script, mut min_score) = (None, None, None);
    for (key, value) in members {
        let failed = |cause: RequestError| PARSER.failed(key, cause);
        match (key.as_str(), value) {
            ("query", Value::Object(_)) => query = Some(parser.query(value).map_err(failed)?),
            ("script", Value::Object(_)) => script = Some(Script::parse(value).map_err(failed)?),
            ("query" | "script", other) => {
                return Err(PARSER.unsupported(key, other));
            }
            ("min_score", value) => min_score = Some(json::float(value).map_err(failed)?),
            (key, value) if common.take(key, value).map_err(failed)? => {}
            (key, _) => {
                let known = ["query", "script", "min_score", "boost", "_name"];
                return Err(PARSER.unknown_among(key, &known));
            }
        }
    }
    match (query, script) {
        (Some(query), Some(script)) => Ok(common.query(ScriptScore { query, script, min_score })),
        (None, None) => Err(ObjectParser::required("query, script")),
        (None, _) => Err(ObjectParser::required("query")),
        (_, None) => Err(ObjectParser::required("script")),
    }
}

impl QueryNode for ScriptScore {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        binder.check_expensive("[script score] queries")?;
        let script = BoundScript::bind(&self.script, ScriptContext::Score, binder.shard())?;
        let query = binder.query(&self.query, 1.0)?;
        if query.is_nothing() {
            return Ok(query);
        }
        let node = ScriptScoreNode { query, script, boost, min_score: self.min_score };
        Ok(node.into())
    }
}

impl ScriptScoreNode {
    /// Scores documents that the query matches.
    fn scripted<'a>(&'a self, segment: &'a Segment) -> Result<BoxedScorer<'a>> {
        Ok(Box::new(ScriptScorer {
            bound: &self.script,
            script: self.script.open(segment)?,
            query: match self.script.uses_score() {
                true => Some(self.query.scorer(segment, true)?),
                false => None,
            },
            boost: self.boost,
            sums: Vec::new(),
            scores: Vec::new(),
            numbers: Vec::new(),
        }))
    }
}

impl BoundNode for ScriptScoreNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let query = self.query.matcher(segment)?;
        match self.min_score {
            None => Ok(query),
            Some(least) => {
                let seen = self.script.seen_in(segment);
                Ok(Box::new(ScoredEnough::new(query, self.scripted(segment)?, least, seen)))
            }
        }
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        only_matching(self.scripted(segment)?, self, segment, is_known)
    }

    /// Source: Elasticsearch's `ScriptScoreQuery`.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let mut numbers = Vec::new();
        let mut details = Vec::new();
        let mut score = 0.0;
        if self.script.uses_score() {
            let inner = self.query.explain(segment, doc)?;
            score = inner.value;
            details.push(Explanation::of(score, "_score: ", vec![inner]));
        }
        self.script.open(segment)?.numbers(&[doc], &[score], &mut numbers)?;
        let value = numbers.first().copied().unwrap_or(0.0) as f32;
        let text = format!("script score function, computed with script:\"{}\"", script_name(&self.script));
        let script = Explanation::of(value, text, details);
        if self.boost == 1.0 {
            return Ok(script);
        }
        let boost = Explanation::leaf(self.boost, "boost");
        Ok(Explanation::of(value * self.boost, "Boosted score, product of:", vec![boost, script]))
    }

    fn has_unbounded_scores(&self) -> bool {
        self.script.max_scores().is_none()
    }

    fn class(&self) -> &'static str {
        "ScriptScoreQuery"
    }

    fn text(&self) -> String {
        format!("ScriptScoreQuery({}, {})", self.query.text(), script_name(&self.script))
    }

    fn parts(&self) -> Vec<&BoundQuery> {
        vec![&self.query]
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        vec![&mut self.query]
    }

    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        self.query.node.can_match(shard)
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        if self.min_score.is_some() { Ok(None) } else { self.query.node.known_count(view) }
    }

    fn required_terms(&self) -> RequiredTerms {
        match self.min_score {
            None => self.query.node.required_terms(),
            Some(_) => RequiredTerms::Unknown,
        }
    }
}

/// Computes scores by a script, and multiplies them by the boost.
struct ScriptScorer<'a> {
    bound: &'a BoundScript,
    script: OpenScript<'a>,
    /// `None` if the script does not use the query's score.
    query: Option<BoxedScorer<'a>>,
    boost: f32,
    sums: Vec<f64>,
    scores: Vec<f32>,
    numbers: Vec<f64>,
}

impl Scorer for ScriptScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        self.scores.clear();
        if let Some(query) = &mut self.query {
            self.sums.clear();
            self.sums.resize(docs.len(), 0.0);
            query.score(docs, &mut self.sums)?;
            self.scores.extend(self.sums.iter().map(|sum| *sum as f32));
        }
        self.script.numbers(docs, &self.scores, &mut self.numbers)?;
        for ((doc, sum), number) in docs.iter().zip(sums).zip(&self.numbers) {
            let score = *number as f32;
            if score.is_nan() || score < 0.0 {
                return Err(RequestError::illegal_argument(format!(
                    "script_score script returned an invalid score [{}] for doc [{doc}]. Must be a non-negative score!",
                    java_float(score)
                ))
                .into());
            }
            *sum += f64::from(score * self.boost);
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(f32::INFINITY)
    }

    fn contenders(&self, score: f32, segment: &Segment) -> Result<Option<SegmentBits>> {
        match self.bound.max_scores() {
            Some(max_scores) => {
                contenders(&*max_scores, segment, |most| (most as f32 * self.boost).next_up() >= score)
            }
            None => Ok(None),
        }
    }
}
