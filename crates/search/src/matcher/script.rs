//! Documents and scores by scripts.

use limber_mapping::RequestError;
use limber_mapping::number::java_float;
use limber_script::OpenScript;
use limber_segment::{DocId, Segment};

use super::asked::Ask;
use super::contenders::contenders;
use super::scorer::{BoxedScorer, Scorer};
use super::{Bits, SegmentBits};
use crate::error::Result;
use crate::script::BoundScript;

/// Documents for which a script says `true`.
pub(crate) struct ScriptDocs<'a> {
    pub script: OpenScript<'a>,
    pub flags: Vec<bool>,
}

impl Ask for ScriptDocs<'_> {
    fn ask(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()> {
        self.script.flags(docs, &mut self.flags)?;
        for (doc, flag) in docs.iter().zip(&self.flags) {
            if *flag {
                bits.set(doc - start);
            }
        }
        Ok(())
    }
}

/// Scores by a script, times the boost.
pub(crate) struct ScriptScorer<'a> {
    pub bound: &'a BoundScript,
    pub script: OpenScript<'a>,
    /// `None` where the script asks for no score.
    pub query: Option<BoxedScorer<'a>>,
    pub boost: f32,
    pub sums: Vec<f64>,
    pub scores: Vec<f32>,
    pub numbers: Vec<f64>,
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
        match self.bound.ceiling() {
            Some(ceiling) => {
                contenders(&*ceiling, segment, |most| (most as f32 * self.boost).next_up() >= score)
            }
            None => Ok(None),
        }
    }
}
