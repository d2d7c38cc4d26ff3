//! Scripts over `ctx` outside of a search: pipelines' processors and their conditions.
//!
//! The caller builds `ctx` as a tree ([`ContextValue`]) and reads what the script made of it afterwards
//! ([`View`]), so that neither side needs to know the other's representation of a document.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::analysis::{SeenToken, TokenPredicate};
use limber_mapping::number::{java_double, java_float};
use serde_json::{Map, Value as Json};

use crate::compile::{Script, Scripts};
use crate::error::{ScriptError, refused};
use crate::language::{Compiled, ScriptContext};
use crate::library::{Machine, TOKEN_MEMBERS};
use crate::run::{Frozen, Run};
use crate::values::{MapOrder, Origin, Settled, Value, identity};

/// A compiled script with its parameters.
#[derive(Debug, Clone)]
pub struct ContextScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
}

impl ContextScript {
    /// Compiles a script for a context.
    ///
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

    /// Returns the source that was compiled.
    pub fn source(&self) -> &str {
        &self.script.source
    }

    /// Returns the members of `ctx` that the script can reach; `None` if it can reach any.
    pub fn names(&self) -> Option<&[Arc<str>]> {
        self.script.ctx_names.as_deref()
    }

    /// Runs `reduce_script` of `scripted_metric` over the states of the shards; returns the result as JSON.
    ///
    /// # Errors
    /// `script_exception`; `illegal_argument_exception` for a value that contains itself or has no JSON
    /// form.
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
        Settled::of(&value, Origin::Reduce)?;
        value.to_json(JSON_DEPTH_MAX).map_err(refused)
    }

    /// Starts a run with the script's parameters and no `ctx` yet.
    pub fn start(&self) -> ContextRun<'_> {
        ContextRun { script: &self.script, run: Run::new(&self.script, &self.params) }
    }

    /// Returns a `script_exception` (runtime error) for an error that was found after the script had run.
    pub fn failed(&self, cause: RequestError) -> RequestError {
        let error = ScriptError { at: None, ..ScriptError::new(0, cause.kind, cause.reason) };
        error.to_request_error("runtime", &self.script.source, self.script.language)
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

/// A run of a script on one `ctx`. The values of `ctx`, and those that the script made, live as long as it.
pub struct ContextRun<'a> {
    script: &'a Compiled,
    run: Run<'a>,
}

impl ContextRun<'_> {
    fn finished<T>(&self, outcome: Result<T, ScriptError>) -> Result<T, RequestError> {
        outcome.map_err(|error| error.to_request_error("runtime", &self.script.source, self.script.language))
    }

    /// Charges `count` values to the script's memory before they are made.
    pub fn charge_values(&mut self, count: usize) -> Result<(), RequestError> {
        let outcome = self.run.grow(count.saturating_mul(VALUE_CHARGE), 0);
        self.finished(outcome)
    }

    /// Tells the script when its request began, as `ZonedDateTime#toString` writes it.
    pub fn begun_at(&mut self, timestamp: &str) {
        self.run.timestamp = Some(timestamp.into());
    }

    /// Runs the script, which may change `ctx`.
    pub fn change(&mut self, ctx: ContextValue) -> Result<(), RequestError> {
        self.run.give_ctx(ctx.0);
        let outcome = self.run.run(0);
        self.finished(outcome).map(drop)
    }

    /// Runs a condition, which may not change `ctx`.
    pub fn test(&mut self, ctx: ContextValue) -> Result<bool, RequestError> {
        self.run.give_ctx(ctx.0);
        self.run.frozen = Frozen::Whole;
        let outcome = self.run.run(0);
        Ok(matches!(self.finished(outcome)?, Value::Bool(true)))
    }
}

/// Largest nesting of the result of [`ContextScript::reduce`]; more than a settled value can have.
const JSON_DEPTH_MAX: u32 = 250;

/// Bytes that a value of `ctx` counts towards the memory of a script; the same as an item that the script
/// itself makes.
const VALUE_CHARGE: usize = 32;

/// Levels of lists and maps that [`ContextValue::written_count`] looks into. No document can hold more.
const WRITTEN_DEPTH_MAX: u32 = 1_500;

fn written_count(value: &Value, known: &mut HashMap<usize, u64>, depth: u32) -> u64 {
    let Some(identity) = identity(value).filter(|_| depth < WRITTEN_DEPTH_MAX) else { return 1 };
    if let Some(&count) = known.get(&identity) {
        return count;
    }
    // What is found below a list that contains itself.
    known.insert(identity, 1);
    let mut count = 1u64;
    let mut add = |value: &Value| count = count.saturating_add(written_count(value, known, depth + 1));
    match value {
        Value::List(items) => items.borrow().iter().for_each(&mut add),
        Value::Map(map) | Value::Set(map) => map.borrow().entries().iter().for_each(|(key, value)| {
            add(key);
            add(value);
        }),
        Value::Object(object) => object.list().into_iter().for_each(&mut add),
        _ => {}
    }
    known.insert(identity, count);
    count
}

/// A value of `ctx`.
#[derive(Debug, Clone)]
pub struct ContextValue(Value);

/// The content of a [`ContextValue`].
#[derive(Debug)]
pub enum View {
    /// `null`.
    Null,
    /// A `boolean`.
    Bool(bool),
    /// The number as JSON.
    Number(String),
    /// A string; also dates, and numbers that JSON cannot express, as Java prints them.
    Text(Arc<str>),
    /// The items of a list or set, in order.
    List(Vec<ContextValue>),
    /// The entries of a map, in order.
    Map(Vec<(ContextValue, ContextValue)>),
    /// A value of this Java class, which no document can hold.
    Other(&'static str),
}

impl ContextValue {
    /// Creates `null`.
    pub fn null() -> ContextValue {
        ContextValue(Value::Null)
    }

    /// Creates a `boolean`.
    pub fn bool(flag: bool) -> ContextValue {
        ContextValue(Value::Bool(flag))
    }

    /// Creates a `long`.
    pub fn long(number: i64) -> ContextValue {
        ContextValue(Value::Long(number))
    }

    /// Creates a `float`.
    pub fn float(number: f32) -> ContextValue {
        ContextValue(Value::Float(number))
    }

    /// Creates a `String`.
    pub fn text(text: &str) -> ContextValue {
        ContextValue(Value::str(text))
    }

    /// Creates a number from its JSON: `int` or `long` where it fits, else `double`.
    pub fn number(text: &str) -> ContextValue {
        let whole = text.parse::<i64>().ok();
        ContextValue(match whole {
            Some(whole) => i32::try_from(whole).map_or(Value::Long(whole), Value::Int),
            None => Value::Double(text.parse().unwrap_or(f64::NAN)),
        })
    }

    /// Creates a list.
    pub fn list(items: impl Iterator<Item = ContextValue>) -> ContextValue {
        ContextValue(Value::list(items.map(|item| item.0).collect()))
    }

    /// Creates a `java.util.HashMap`. The keys must be distinct.
    pub fn map(members: impl Iterator<Item = (Arc<str>, ContextValue)>) -> ContextValue {
        let entries = members.map(|(key, value)| (Value::Str(key), value.0)).collect();
        ContextValue(Value::map(entries, true))
    }

    /// `Object#equals`.
    pub fn equals(&self, other: &ContextValue) -> bool {
        self.0.equals(&other.0)
    }

    /// Returns the string, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the whole number, if this is one.
    pub fn as_whole(&self) -> Option<i64> {
        matches!(self.0, Value::Int(_) | Value::Long(_)).then(|| self.0.i64())
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Whether this is a number; characters do not count.
    pub fn is_number(&self) -> bool {
        self.0.is_number() && !matches!(self.0, Value::Char(_))
    }

    /// Returns the full name of the Java class.
    pub fn class(&self) -> &'static str {
        self.0.class()
    }

    /// `Object#toString`.
    pub fn java_text(&self) -> String {
        self.0.text()
    }

    /// Returns an identity that differs between any two lists or maps, even equal ones; `None` for other
    /// values.
    pub fn identity(&self) -> Option<usize> {
        identity(&self.0)
    }

    /// Returns how many values this is when it is written out: a list or map that occurs twice counts twice.
    /// Looks into each list and map only once, and not into those that contain themselves or are nested more
    /// than [`WRITTEN_DEPTH_MAX`] deep.
    pub fn written_count(&self) -> u64 {
        written_count(&self.0, &mut HashMap::new(), 0)
    }

    /// Returns the content, one level deep.
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
            Value::Object(object) => match object.list() {
                Some(list) => ContextValue(list.clone()).view(),
                None => View::Other(self.class()),
            },
            _ => View::Other(self.class()),
        }
    }
}
