//! Scripts over `ctx` outside of a search: pipelines' processors and their conditions.
//!
//! The caller brings `ctx` as a tree of its own making ([`ContextValue`]) and looks afterwards at what the
//! script made of it ([`View`]), so that neither side needs the other's form of a document.

use std::sync::Arc;

use limber_mapping::analysis::{SeenToken, TokenPredicate};
use limber_mapping::number::{java_double, java_float};
use limber_mapping::{ErrorClass, RequestError};
use serde_json::{Map, Value as Json};

use crate::compile::{Script, Scripts};
use crate::error::ScriptError;
use crate::language::{Compiled, ScriptContext};
use crate::library::{Machine, TOKEN_MEMBERS};
use crate::run::{Frozen, Run};
use crate::values::{Asker, MapOrder, Settled, Value, identity};

/// A compiled script with its parameters.
#[derive(Debug, Clone)]
pub struct ContextScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
}

impl ContextScript {
    /// # Errors
    /// `script_exception` (compile error), `resource_not_found_exception`, `illegal_argument_exception`
    /// (language).
    pub fn compile(
        scripts: &Scripts,
        script: &Script,
        context: ScriptContext,
    ) -> Result<ContextScript, RequestError> {
        Ok(ContextScript { script: scripts.compile(script, context)?, params: script.params.clone() })
    }

    /// What was compiled.
    pub fn source(&self) -> &str {
        &self.script.source
    }

    /// The members of `ctx` that the script can reach; `None`: any.
    pub fn names(&self) -> Option<&[Arc<str>]> {
        self.script.ctx_names.as_deref()
    }

    /// The last script of `scripted_metric`: what it makes of what the shards found, as JSON.
    ///
    /// # Errors
    /// `script_exception`; `illegal_argument_exception` for a value that holds itself or has no JSON.
    pub fn reduce(&self, states: &[Settled]) -> Result<Json, RequestError> {
        let mut run = Run::new(&self.script, &self.params);
        let states = Value::list(states.iter().map(Settled::to_value).collect());
        run.given = Some(states.clone());
        let failed =
            |error: ScriptError| error.to_request_error("runtime", &self.script.source, self.script.language);
        let value = match run.run(0).map_err(failed)? {
            Value::Params => run.params.clone(),
            value => value,
        };
        Settled::of(&value, Asker::Reduce)?;
        value.to_json(JSON_DEPTH_MAX).map_err(|(kind, reason)| {
            let is_memory = kind == "circuit_breaking_exception";
            let class = if is_memory { ErrorClass::TooManyRequests } else { ErrorClass::BadRequest };
            RequestError::new(class, kind, reason)
        })
    }

    /// The script at work, with its parameters and no `ctx` yet.
    pub fn start(&self) -> ContextRun<'_> {
        ContextRun { script: &self.script, run: Run::new(&self.script, &self.params) }
    }

    /// `script_exception` (runtime error) for what was found wrong after the script had run.
    pub fn failed(&self, cause: RequestError) -> RequestError {
        ScriptError { at: None, kind: cause.kind, reason: cause.reason, foreign: None }.to_request_error(
            "runtime",
            &self.script.source,
            self.script.language,
        )
    }
}

impl TokenPredicate for ContextScript {
    fn accepts(&self, token: SeenToken<'_>) -> Result<bool, RequestError> {
        let number = |number: u32| Value::Int(number as i32);
        let value = |member: &str| match member {
            "term" => Value::str(token.term),
            "type" => Value::str(token.kind),
            "position" => number(token.position),
            "positionIncrement" => number(token.position_increment),
            "positionLength" => number(token.position_length),
            "startOffset" => number(token.start_offset),
            "endOffset" => number(token.end_offset),
            _ => Value::Bool(token.is_keyword),
        };
        let members = TOKEN_MEMBERS.iter().map(|(member, _)| (Value::str(*member), value(member)));
        let mut run = Run::new(&self.script, &self.params);
        run.given = Some(Value::map(members.collect(), true));
        match run.run(0) {
            Ok(value) => Ok(matches!(value, Value::Bool(true))),
            Err(error) => Err(error.to_request_error("runtime", &self.script.source, self.script.language)),
        }
    }
}

/// A script at work on one `ctx`. What it made lives as long as this does.
pub struct ContextRun<'a> {
    script: &'a Compiled,
    run: Run<'a>,
}

impl ContextRun<'_> {
    fn finished<T>(&self, outcome: Result<T, ScriptError>) -> Result<T, RequestError> {
        outcome.map_err(|error| error.to_request_error("runtime", &self.script.source, self.script.language))
    }

    /// Charges `count` values to the memory of the script, before they are made.
    pub fn charge_values(&mut self, count: usize) -> Result<(), RequestError> {
        let outcome = self.run.grow(count.saturating_mul(VALUE_CHARGE), 0);
        self.finished(outcome)
    }

    /// Runs the script, which may change `ctx`.
    pub fn change(&mut self, ctx: ContextValue) -> Result<(), RequestError> {
        self.run.ctx = ctx.0;
        let outcome = self.run.run(0);
        self.finished(outcome).map(drop)
    }

    /// Runs a condition, which may not change `ctx`.
    pub fn test(&mut self, ctx: ContextValue) -> Result<bool, RequestError> {
        self.run.ctx = ctx.0;
        self.run.frozen = Frozen::Whole;
        let outcome = self.run.run(0);
        Ok(matches!(self.finished(outcome)?, Value::Bool(true)))
    }
}

/// Nesting of what [`ContextScript::reduce`] gives; more than a settled value has.
const JSON_DEPTH_MAX: u32 = 250;

/// What a value of `ctx` counts against the memory of a script; as much as an item that the script makes
/// itself.
const VALUE_CHARGE: usize = 32;

/// A value of `ctx`.
#[derive(Debug, Clone)]
pub struct ContextValue(Value);

/// What a value of `ctx` is.
#[derive(Debug)]
pub enum View {
    /// `null`.
    Null,
    /// A `boolean`.
    Bool(bool),
    /// Its JSON text.
    Number(String),
    /// A text; dates, and numbers that JSON has none for, as they are printed.
    Text(Arc<str>),
    /// The items of a list or set, in order.
    List(Vec<ContextValue>),
    /// The entries of a map, in order.
    Map(Vec<(ContextValue, ContextValue)>),
    /// What no document can hold.
    Other(&'static str),
}

impl ContextValue {
    /// `null`.
    pub fn null() -> ContextValue {
        ContextValue(Value::Null)
    }

    /// A `boolean`.
    pub fn bool(flag: bool) -> ContextValue {
        ContextValue(Value::Bool(flag))
    }

    /// A `long`.
    pub fn long(number: i64) -> ContextValue {
        ContextValue(Value::Long(number))
    }

    /// A `float`.
    pub fn float(number: f32) -> ContextValue {
        ContextValue(Value::Float(number))
    }

    /// A `String`.
    pub fn text(text: &str) -> ContextValue {
        ContextValue(Value::str(text))
    }

    /// A number by its JSON text: `int` or `long` where it fits, else a double.
    pub fn number(text: &str) -> ContextValue {
        let whole = text.parse::<i64>().ok();
        ContextValue(match whole {
            Some(whole) => i32::try_from(whole).map_or(Value::Long(whole), Value::Int),
            None => Value::Double(text.parse().unwrap_or(f64::NAN)),
        })
    }

    /// A new list.
    pub fn list(items: impl Iterator<Item = ContextValue>) -> ContextValue {
        ContextValue(Value::list(items.map(|item| item.0).collect()))
    }

    /// A `java.util.HashMap`. Keys are distinct.
    pub fn map(members: impl Iterator<Item = (Arc<str>, ContextValue)>) -> ContextValue {
        let entries = members.map(|(key, value)| (Value::Str(key), value.0)).collect();
        ContextValue(Value::map(entries, true))
    }

    /// `Object#equals`.
    pub fn equals(&self, other: &ContextValue) -> bool {
        self.0.equals(&other.0)
    }

    /// The text, where this is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, where this is one.
    pub fn as_whole(&self) -> Option<i64> {
        matches!(self.0, Value::Int(_) | Value::Long(_)).then(|| self.0.i64())
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Whether it is a number, characters aside.
    pub fn is_number(&self) -> bool {
        self.0.is_number() && !matches!(self.0, Value::Char(_))
    }

    /// Full name of the Java class.
    pub fn class(&self) -> &'static str {
        self.0.class()
    }

    /// `Object#toString`.
    pub fn java_text(&self) -> String {
        self.0.text()
    }

    /// Tells one list or map from another, however alike they are; `None` for what holds nothing.
    pub fn identity(&self) -> Option<usize> {
        identity(&self.0)
    }

    /// What it is, one level deep.
    pub fn view(&self) -> View {
        match &self.0 {
            Value::Null => View::Null,
            Value::Bool(flag) => View::Bool(*flag),
            Value::Int(number) => View::Number(number.to_string()),
            Value::Long(number) => View::Number(number.to_string()),
            Value::Float(number) if number.is_finite() => View::Number(java_float(*number)),
            Value::Float(number) => View::Text(java_float(*number).into()),
            Value::Double(number) if number.is_finite() => View::Number(java_double(*number)),
            Value::Double(number) => View::Text(java_double(*number).into()),
            Value::Str(text) => View::Text(text.clone()),
            Value::List(items) => View::List(items.borrow().iter().cloned().map(ContextValue).collect()),
            Value::Set(items) => {
                View::List(items.borrow().walk().into_iter().map(|(item, _)| ContextValue(item)).collect())
            }
            Value::Map(map) => {
                let map = map.borrow();
                let entries = if map.order == MapOrder::Sorted { map.walk() } else { map.entries().to_vec() };
                View::Map(
                    entries
                        .into_iter()
                        .map(|(key, value)| (ContextValue(key), ContextValue(value)))
                        .collect(),
                )
            }
            Value::Date(_) => match self.0.to_json(1) {
                Ok(Json::String(text)) => View::Text(text.into()),
                _ => View::Other(self.class()),
            },
            _ => View::Other(self.class()),
        }
    }
}
