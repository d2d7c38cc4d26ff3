//! Scripts without documents: those that compute from a request's numbers, and those that change `ctx`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value as Json};

use crate::compile::{Script, Scripts, compile_detached};
use crate::error::ScriptError;
use crate::language::{Compiled, ScriptContext};
use crate::run::Run;
use crate::values::Value;

/// A script that sees only its parameters.
#[derive(Debug)]
pub struct DetachedScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
}

impl DetachedScript {
    /// Compiles a script that sees no documents.
    ///
    /// # Errors
    /// `script_exception` (compile error); stored scripts and other languages are refused by name.
    pub fn compile(script: Script, context: ScriptContext) -> Result<DetachedScript, RequestError> {
        let compiled = compile_detached(&script, context)?;
        Ok(DetachedScript { script: Arc::new(compiled), params: script.params })
    }

    /// Finds a stored script that sees no documents.
    ///
    /// # Errors
    /// `resource_not_found_exception`; `script_exception` (compile error).
    pub fn find(
        scripts: &Scripts,
        script: &Script,
        context: ScriptContext,
    ) -> Result<DetachedScript, RequestError> {
        Ok(DetachedScript { script: scripts.compile(script, context)?, params: script.params.clone() })
    }

    /// Starts a run with the script's parameters.
    pub fn start(&self) -> DetachedRun<'_> {
        DetachedRun { script: &self.script, run: Run::new(&self.script, &self.params) }
    }
}

/// A run of a detached script.
pub struct DetachedRun<'a> {
    script: &'a Compiled,
    run: Run<'a>,
}

impl DetachedRun<'_> {
    /// Returns the script's value with these numbers as further parameters.
    pub fn run(&mut self, values: &[(&str, f64)]) -> Result<Value, RequestError> {
        for (name, value) in values {
            self.run.set_param(name, Value::Double(*value));
        }
        self.value()
    }

    /// Returns the script's value with these whole numbers as further parameters.
    pub fn run_whole(&mut self, values: &[(&str, i64)]) -> Result<Value, RequestError> {
        for (name, value) in values {
            self.run.set_param(name, Value::Long(*value));
        }
        self.value()
    }

    /// Returns the script's value with these numbers in the variable that its context defines.
    pub fn run_over(&mut self, values: &[f64]) -> Result<Value, RequestError> {
        self.run.given = Some(Value::list(values.iter().map(|value| Value::Double(*value)).collect()));
        self.value()
    }

    fn value(&mut self) -> Result<Value, RequestError> {
        self.run.begin(&[]);
        self.run
            .run(0)
            .map_err(|error| error.to_request_error("runtime", &self.script.source, self.script.language))
    }
}

/// Runs a script that changes `ctx` (`_update`) and returns the changed `ctx`.
///
/// # Errors
/// `script_exception` and other errors of compiling or running a script.
pub fn run_on_context(
    scripts: &Scripts,
    script: &Script,
    context: ScriptContext,
    ctx: &Json,
) -> Result<Json, RequestError> {
    let compiled = scripts.compile(script, context)?;
    let failed = |error: ScriptError| error.to_request_error("runtime", &compiled.source, compiled.language);
    let mut run = Run::new(&compiled, &script.params);
    run.give_ctx(Value::from_json(ctx));
    run.run(0).map_err(failed)?;
    run.ctx.to_json(CONTEXT_DEPTH_MAX).map_err(|(kind, reason)| failed(ScriptError::new(0, kind, reason)))
}

/// Largest nesting of the `ctx` that a script leaves.
const CONTEXT_DEPTH_MAX: u32 = 200;
