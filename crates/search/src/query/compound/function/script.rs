//! `script_score` in `function_score`: a number that is computed by a script.

use limber_mapping::RequestError;
use limber_mapping::number::java_double;
use limber_script::{OpenScript, Script, ScriptContext};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use super::{BoundFunction, FunctionReader, ScoreFunction};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::score::Explanation;
use crate::score::MaxScores;
use crate::script::BoundScript;

#[derive(Debug)]
struct ScriptScore {
    script: Script,
}

pub(super) fn parse(_: &str, members: &Map<String, Value>) -> Result<Box<dyn ScoreFunction>, RequestError> {
    let mut script = None;
    for (key, value) in members {
        match key.as_str() {
            "script" => script = Some(Script::parse(value)?),
            other => {
                return Err(RequestError::parsing(format!("script_score query does not support [{other}]")));
            }
        }
    }
    let script = script.ok_or_else(|| RequestError::parsing("script_score requires 'script' field"))?;
    Ok(Box::new(ScriptScore { script }))
}

impl ScoreFunction for ScriptScore {
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error> {
        Ok(Box::new(BoundScriptScore {
            script: BoundScript::bind(&self.script, ScriptContext::Score, binder.shard())?,
        }))
    }
}

#[derive(Debug)]
struct BoundScriptScore {
    script: BoundScript,
}

/// Returns the script as explanations print it.
pub(crate) fn script_name(script: &BoundScript) -> String {
    let params: Vec<String> = script.params().iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!(
        "Script{{type=inline, lang='{}', idOrCode='{}', options={{}}, params={{{}}}}}",
        script.language(),
        script.source(),
        params.join(", ")
    )
}

impl BoundFunction for BoundScriptScore {
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error> {
        Ok(Box::new(Reader { script: self.script.open(segment)?, numbers: Vec::new() }))
    }

    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error> {
        let value = self.open(segment)?.read_one(doc, score.value)?;
        let inner = Explanation::of(score.value, "_score: ", vec![score.clone()]);
        let text = format!("script score function, computed with script:\"{}\"", script_name(&self.script));
        Ok(Explanation::of(value as f32, text, vec![inner]))
    }

    fn needs_scores(&self) -> bool {
        self.script.uses_score()
    }

    fn max_scores(&self) -> Option<Box<dyn MaxScores + '_>> {
        self.script.max_scores()
    }
}

struct Reader<'a> {
    script: OpenScript<'a>,
    numbers: Vec<f64>,
}

impl FunctionReader for Reader<'_> {
    fn read(&mut self, docs: &[DocId], scores: &[f32], out: &mut [f64]) -> Result<(), Error> {
        self.script.numbers(docs, scores, &mut self.numbers)?;
        out.copy_from_slice(&self.numbers);
        // Without a branch for each number.
        if !out.iter().fold(false, |is_negative, number| is_negative | (*number < 0.0)) {
            return Ok(());
        }
        match out.iter().find(|number| **number < 0.0) {
            None => Ok(()),
            Some(negative) => Err(RequestError::illegal_argument(format!(
                "script score function must not produce negative scores, but got: [{}]",
                java_double(*negative)
            ))
            .into()),
        }
    }
}
