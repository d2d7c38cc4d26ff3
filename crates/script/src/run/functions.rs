//! Calls the functions and the lambdas of a script.
//!
//! A lambda reads and writes the slots of the call in which it was made. It may be called from another one,
//! which it was passed to, as long as its own call has not returned.

use super::flow::Flow;
use super::interpreter::{LOOPS_MAX, Run};
use crate::error::{Outcome, ScriptError};
use crate::language::{Lambda, LambdaBody, Reference};
use crate::library::{Machine, call_method, call_static, create_object, static_returns};
use crate::values::{Closure, Value};

/// The calls of a script's functions that have not returned. The script itself is call 0.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The call whose slots are in use.
    pub(super) running: u64,
    /// How many calls there have been, in all runs.
    count: u64,
    /// Each call with the index of its first slot.
    open: Vec<(u64, usize)>,
    /// The lambdas that run.
    lambdas: Vec<u16>,
}

impl Calls {
    /// Forgets all calls, before the script runs again.
    pub(super) fn restart(&mut self) {
        self.running = 0;
        self.open.clear();
        self.lambdas.clear();
    }

    fn enter(&mut self, base: usize) {
        self.count += 1;
        self.running = self.count;
        self.open.push((self.running, base));
    }

    fn leave(&mut self, running: u64) {
        self.open.pop();
        self.running = running;
    }

    /// Returns the index of a call's first slot; `None` if it has returned.
    fn base_of(&self, call: u64) -> Option<usize> {
        match call {
            0 => Some(0),
            call => self.open.iter().find(|(open, _)| *open == call).map(|(_, base)| *base),
        }
    }
}

impl<'a> Run<'a> {
    /// Makes a lambda of the running call.
    pub(super) fn closure(&self, number: u16) -> Value {
        Value::Lambda(Closure { number, call: self.calls.running })
    }

    pub(super) fn function(&mut self, number: u16, arguments: Vec<Value>, at: u32) -> Outcome<Value> {
        let function = &self.script.functions[usize::from(number)];
        self.deeper(at)?;
        self.check_time(at)?;
        let (base, loops_left, running) = (self.base, self.loops_left, self.calls.running);
        self.base = self.locals.len();
        self.calls.enter(self.base);
        self.loops_left = LOOPS_MAX;
        self.locals.extend(arguments);
        self.locals.resize(self.base + usize::from(function.slots), Value::Null);
        let flow = self.block(&function.body);
        self.locals.truncate(self.base);
        self.calls.leave(running);
        (self.base, self.loops_left) = (base, loops_left);
        let value = match flow? {
            Flow::Return(value) => value,
            _ => Value::zero_of(function.returns),
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Calls a lambda in the slots of the call that made it.
    pub(super) fn call_lambda(&mut self, closure: Closure, arguments: &[Value], at: u32) -> Outcome<Value> {
        let (base, running) = (self.base, self.calls.running);
        if closure.call != running {
            let returned = || ScriptError::unsupported(at, "a lambda of a function that has returned");
            self.base = self.calls.base_of(closure.call).ok_or_else(returned)?;
            self.calls.running = closure.call;
        }
        let script = self.script;
        let lambda = &script.lambdas[usize::from(closure.number)];
        let outcome = match &lambda.body {
            LambdaBody::Reference(reference) => self.call_reference(reference, arguments, at),
            _ => self.run_lambda(closure.number, lambda, arguments, at),
        };
        (self.base, self.calls.running) = (base, running);
        outcome
    }

    fn run_lambda(
        &mut self,
        number: u16,
        lambda: &'a Lambda,
        arguments: &[Value],
        at: u32,
    ) -> Outcome<Value> {
        if lambda.parameters.len() != arguments.len() {
            return Err(ScriptError::argument(
                at,
                format!(
                    "Incorrect number of parameters for lambda: expected {}, found {}",
                    arguments.len(),
                    lambda.parameters.len()
                ),
            ));
        }
        let slots = self.base + usize::from(lambda.slots.start)..self.base + usize::from(lambda.slots.end);
        // A lambda that calls itself gets its own values back afterwards.
        let is_again = self.calls.lambdas.contains(&number);
        let kept = if is_again { self.locals[slots.clone()].to_vec() } else { Vec::new() };
        for (slot, argument) in lambda.parameters.iter().zip(arguments) {
            self.locals[self.base + usize::from(*slot)] = argument.clone();
        }
        self.calls.lambdas.push(number);
        let outcome = match &lambda.body {
            LambdaBody::Expr(expr) => self.eval(expr),
            LambdaBody::Block(body) => self.nested(body, at).map(|flow| match flow {
                Flow::Return(value) => value,
                _ => Value::Null,
            }),
            LambdaBody::Reference(reference) => self.call_reference(reference, arguments, at),
        };
        self.calls.lambdas.pop();
        if is_again {
            self.locals[slots].clone_from_slice(&kept);
        }
        outcome
    }

    /// Calls a function that the script names instead of writing a lambda.
    fn call_reference(&mut self, reference: &Reference, arguments: &[Value], at: u32) -> Outcome<Value> {
        match reference {
            Reference::Identity => match arguments {
                [value] => Ok(value.clone()),
                _ => Err(ScriptError::argument(at, "[identity] takes one argument")),
            },
            Reference::Constructor(class) => create_object(self, class, arguments, at),
            Reference::Bound(slot, name) => {
                let target = self.locals[self.base + usize::from(*slot)].clone();
                call_method(self, &target, name, arguments.to_vec(), at)
            }
            Reference::Functions(functions) => {
                match functions.iter().find(|(_, count)| *count == arguments.len()) {
                    Some((number, _)) => self.function(*number, arguments.to_vec(), at),
                    None => Err(ScriptError::argument(
                        at,
                        format!("Incorrect number of parameters for a function: found {}", arguments.len()),
                    )),
                }
            }
            Reference::Method(class, name) => {
                if static_returns(class, name, arguments.len()).is_some() {
                    return call_static(self, class, name, arguments, at);
                }
                match arguments {
                    [target, rest @ ..] => call_method(self, target, name, rest.to_vec(), at),
                    [] => {
                        Err(ScriptError::argument(at, format!("static method [{class}, {name}/0] not found")))
                    }
                }
            }
        }
    }
}
