//! A script bound to a shard, and opened on a segment.

use std::sync::Arc;

use limber_mapping::{Field, FieldType, RequestError};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value as Json};

use super::block::{Block, EmittedBlock};
use super::emit::Emitted;
use super::error::ScriptError;
use super::fields::BoundFields;
use super::run::Run;
use super::settled::Kept;
use super::spec::Script;
use super::tree::{Compiled, ScriptContext};
use super::value::Value;
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};

/// A script with its parameters on one shard.
#[derive(Debug, Clone)]
pub(crate) struct BoundScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
    fields: BoundFields,
}

impl BoundScript {
    pub fn bind(script: &Script, context: ScriptContext, shard: &ShardSnapshot) -> Result<BoundScript> {
        BoundScript::bind_below(script, context, shard, &[])
    }

    /// As [`BoundScript::bind`], for the last of a chain of runtime fields that are made from one another.
    pub fn bind_below(
        script: &Script,
        context: ScriptContext,
        shard: &ShardSnapshot,
        chain: &[&str],
    ) -> Result<BoundScript> {
        let compiled = shard.scripts.compile(script, context)?;
        let fields = BoundFields::bind(&compiled.fields, shard, chain);
        if compiled.language == "expression" {
            link(&compiled, &fields, &script.params)
                .map_err(|error| error.to_request_error("link", &compiled.source, compiled.language))?;
        }
        Ok(BoundScript { script: compiled, params: script.params.clone(), fields })
    }

    /// Makes reading a field an error.
    pub fn refuse_field(&mut self, name: &str, error: RequestError) {
        for field in self.fields.fields.iter_mut().filter(|field| *field.name == *name) {
            field.refused = Some(error.clone());
        }
    }

    pub(super) fn compiled(&self) -> &Compiled {
        &self.script
    }

    pub(super) fn fields(&self) -> &BoundFields {
        &self.fields
    }

    pub fn uses_score(&self) -> bool {
        self.script.uses_score
    }

    pub fn source(&self) -> &str {
        &self.script.source
    }

    pub fn language(&self) -> &'static str {
        self.script.language
    }

    pub fn params(&self) -> &Map<String, Json> {
        &self.params
    }

    pub fn open<'a>(&'a self, segment: &'a Segment) -> Result<OpenScript<'a>> {
        let run = Run::new(&self.script, &self.params).on_segment(&self.fields, segment)?;
        Ok(OpenScript { script: &self.script, run })
    }
}

impl BoundScript {
    /// The script without documents.
    pub fn start(&self) -> OpenScript<'_> {
        OpenScript { script: &self.script, run: Run::new(&self.script, &self.params) }
    }
}

/// Whether all that an expression names is there.
fn link(
    compiled: &Compiled,
    fields: &BoundFields,
    params: &Map<String, Json>,
) -> std::result::Result<(), ScriptError> {
    let refused = |at: u32, reason: String| Err(ScriptError::new(at, "parse_exception", reason));
    for (name, at) in &compiled.variables {
        match params.get(&**name) {
            Some(Json::Number(_)) => {}
            None => return refused(*at, format!("Unknown variable [{name}]")),
            Some(_) => {
                return refused(*at, format!("Parameter [{name}] must be a numeric type"));
            }
        }
    }
    for bound in &fields.fields {
        if let Some(error) = &bound.refused {
            return Err(ScriptError::new(0, error.kind, error.reason.clone()));
        }
        match &bound.field {
            None => return refused(0, format!("Field [{}] does not exist in mappings", bound.name)),
            Some(field) if !field.is_numeric() => {
                return refused(0, format!("Field [{}] must be numeric, date, or geopoint", bound.name));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A script on one segment.
pub(crate) struct OpenScript<'a> {
    script: &'a Compiled,
    run: Run<'a>,
}

impl OpenScript<'_> {
    /// The script as that of a runtime field, in whose format it reads dates.
    pub fn for_field(mut self, field: &Field) -> Self {
        self.run.field_name = field.path.clone();
        if let FieldType::Date { format, .. } = &field.kind {
            self.run.date_format = Some(format.clone());
        }
        self
    }

    fn failed(&self, error: ScriptError) -> Error {
        Error::Request(error.to_request_error("runtime", &self.script.source, self.script.language))
    }

    /// The script's number for each of `docs`, which ascend. `scores` is empty where the script asks for none.
    pub fn numbers(&mut self, docs: &[DocId], scores: &[f32], out: &mut Vec<f64>) -> Result<()> {
        out.clear();
        self.run.begin(docs);
        if let Some(numbers) = (Block { run: &mut self.run, scores }).numbers(self.script, docs.len()) {
            *out = numbers;
            return Ok(());
        }
        self.each(docs.len(), scores, |value| {
            out.push(value.f64());
            Ok(())
        })
    }

    /// The script's number for each of `docs` where the whole block has one; `false` where it must run document by document.
    pub fn block(&mut self, docs: &[DocId], out: &mut Vec<f64>) -> bool {
        self.run.begin(docs);
        match (Block { run: &mut self.run, scores: &[] }).numbers(self.script, docs.len()) {
            Some(numbers) => {
                *out = numbers;
                true
            }
            None => false,
        }
    }

    /// Adds what the script makes of one value of a document, its `_value`.
    pub fn value_of(&mut self, doc: DocId, field: &Field, stored: i64, out: &mut Vec<f64>) -> Result<()> {
        self.run.aggregated = match field.kind {
            FieldType::Date { resolution, .. } => Value::Long(resolution.millis(stored)),
            _ => super::fields::number(field, stored),
        };
        self.values(&[doc], &[], |value| {
            value.numbers(out);
            Ok(())
        })
    }

    /// The script's answer for each of `docs`, which ascend.
    pub fn flags(&mut self, docs: &[DocId], out: &mut Vec<bool>) -> Result<()> {
        out.clear();
        self.run.begin(docs);
        if let Some(flags) = (Block { run: &mut self.run, scores: &[] }).flags(self.script, docs.len()) {
            *out = flags;
            return Ok(());
        }
        self.each(docs.len(), &[], |value| {
            out.push(matches!(value, Value::Bool(true)));
            Ok(())
        })
    }

    /// The script's value for each of `docs`, which ascend; lists for fields.
    pub fn values(
        &mut self,
        docs: &[DocId],
        scores: &[f32],
        found: impl FnMut(Value) -> Result<()>,
    ) -> Result<()> {
        self.run.begin(docs);
        self.each(docs.len(), scores, found)
    }

    /// What the script of a runtime field emits for each of `docs`, which ascend: place in `docs` and values. `goes_on`: a document
    /// on which the script fails has what it emitted before.
    pub fn emitted(
        &mut self,
        docs: &[DocId],
        goes_on: bool,
        mut found: impl FnMut(usize, &[Emitted]) -> Result<()>,
    ) -> Result<()> {
        self.run.begin(docs);
        for at in 0..docs.len() {
            self.run.emitted.clear();
            if let Err(error) = self.run.run(at)
                && (!goes_on || error.foreign.is_some())
            {
                return Err(self.failed(error));
            }
            match found(at, &self.run.emitted) {
                // What a field cannot take is a failure of its script.
                Err(Error::Request(cause)) if !goes_on => {
                    return Err(self.failed(ScriptError::new(0, cause.kind, cause.reason)));
                }
                Err(Error::Request(_)) => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// What a numeric script emits for a whole block: (place in `docs`, stored number), or all numbers in order where each document
    /// has exactly one. `None` where it must run document by document.
    pub fn emitted_numbers(&mut self, docs: &[DocId]) -> Option<EmittedBlock> {
        self.run.begin(docs);
        (Block { run: &mut self.run, scores: &[] }).emitted(self.script, docs.len())
    }

    /// Documents for [`OpenScript::given`], ascending.
    pub fn begin(&mut self, docs: &[DocId]) {
        self.run.begin(docs);
    }

    /// Runs the script for document `at` of those begun, given `value` in its variable. What it makes is kept in `kept`; gives its
    /// value and what that counts.
    pub fn given(&mut self, value: &Value, at: usize, score: f32, kept: &mut Kept) -> Result<(Value, u64)> {
        self.run.score = f64::from(score);
        self.run.given = Some(value.clone());
        let outcome = self.run.run(at);
        let grown = self.run.hand_over(&mut kept.made);
        match outcome {
            Ok(value) => Ok((value, grown)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Whether a script of [`ScriptContext::Interval`] says `true` of an interval, both of whose ends belong to it.
    pub fn accepts_interval(&mut self, start: i64, end: i64, gaps: i64) -> Result<bool> {
        let member = |name: &str, number: i64| (Value::str(name), Value::Int(number as i32));
        let interval = vec![member("start", start), member("end", end), member("gaps", gaps)];
        self.run.given = Some(Value::map(interval, true));
        match self.run.run(0) {
            Ok(value) => Ok(matches!(value, Value::Bool(true))),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn each(
        &mut self,
        count: usize,
        scores: &[f32],
        mut found: impl FnMut(Value) -> Result<()>,
    ) -> Result<()> {
        for at in 0..count {
            self.run.score = f64::from(scores.get(at).copied().unwrap_or(0.0));
            let outcome = self.run.run(at).and_then(|value| self.run.settle(value));
            match outcome {
                Ok(value) => found(value)?,
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(())
    }
}

/// A script that sees nothing but its parameters.
#[derive(Debug)]
pub(crate) struct DetachedScript {
    script: Compiled,
    params: Map<String, Json>,
}

impl DetachedScript {
    /// # Errors
    /// `script_exception` (compile error); stored scripts and other languages are refused by name.
    pub fn compile(
        script: Script,
        context: ScriptContext,
    ) -> std::result::Result<DetachedScript, limber_mapping::RequestError> {
        let compiled = super::compiler::compile_detached(&script, context)?;
        Ok(DetachedScript { script: compiled, params: script.params })
    }

    pub fn start(&self) -> DetachedRun<'_> {
        DetachedRun { script: &self.script, run: Run::new(&self.script, &self.params) }
    }
}

/// A detached script at work.
pub(crate) struct DetachedRun<'a> {
    script: &'a Compiled,
    run: Run<'a>,
}

impl DetachedRun<'_> {
    /// The script's value with these numbers as further parameters.
    pub fn run(&mut self, values: &[(&str, f64)]) -> Result<Value> {
        for (name, value) in values {
            self.run.set_param(name, Value::Double(*value));
        }
        self.run.begin(&[]);
        self.run.run(0).map_err(|error| {
            Error::Request(error.to_request_error("runtime", &self.script.source, self.script.language))
        })
    }
}

/// Runs a script that changes `ctx`, and gives what it made of it: `_update`.
///
/// # Errors
/// `script_exception` and what else compiling or running a script meets.
pub fn run_on_context(
    scripts: &super::Scripts,
    script: &Script,
    context: ScriptContext,
    ctx: &Json,
) -> std::result::Result<Json, limber_mapping::RequestError> {
    let compiled = scripts.compile(script, context)?;
    let failed = |error: ScriptError| error.to_request_error("runtime", &compiled.source, compiled.language);
    let mut run = Run::new(&compiled, &script.params);
    run.ctx = Value::from_json(ctx);
    run.run(0).map_err(failed)?;
    run.ctx.to_json(CONTEXT_DEPTH_MAX).map_err(|(kind, reason)| failed(ScriptError::new(0, kind, reason)))
}

/// Nesting of what a script leaves in `ctx`.
const CONTEXT_DEPTH_MAX: u32 = 200;
