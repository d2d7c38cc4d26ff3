//! Runs the statements of a script for one document.

use super::flow::Flow;
use super::interpreter::Run;
use crate::error::{Outcome, ScriptError, exception_kind, failed};
use crate::language::{Expr, Stmt};
use crate::library::Machine;
use crate::types::Type;
use crate::values::Value;

impl<'a> Run<'a> {
    /// Runs statements one after another, until one of them leaves the block.
    pub(super) fn block(&mut self, body: &'a [Stmt]) -> Outcome<Flow> {
        for statement in body {
            match self.statement(statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'a Stmt) -> Outcome<Flow> {
        match statement {
            Stmt::Expr(expr) => {
                self.eval(expr)?;
            }
            Stmt::Declare(slot, ty, value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => Value::zero_of(*ty),
                };
                self.locals[self.base + usize::from(*slot)] = value;
            }
            Stmt::If(condition, yes, no) => {
                let body = if self.test(condition)? { yes } else { no };
                return self.nested(body, condition.at);
            }
            Stmt::Loop { condition, step, body, is_do, at } => {
                return self.repeat(condition.as_ref(), step.as_ref(), body, *is_do, *at);
            }
            Stmt::ForEach { slot, ty, items, body } => return self.for_each(*slot, *ty, items, body),
            Stmt::Return(None) => return Ok(Flow::Return(Value::Null)),
            Stmt::Return(Some(value)) => return Ok(Flow::Return(self.eval(value)?)),
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue(_) => return Ok(Flow::Continue),
            Stmt::Throw(thrown) => {
                let at = thrown.at;
                return Err(match self.eval(thrown)? {
                    Value::Exception(class, message) => {
                        ScriptError::new(at, exception_kind(class), message.as_ref())
                    }
                    other => ScriptError::cast(
                        at,
                        format!("Cannot cast from [{}] to [java.lang.Exception].", other.class()),
                    ),
                });
            }
            Stmt::Block(inner) => return self.block(inner),
            Stmt::Try(body, catches) => return self.attempt(body, catches),
        }
        Ok(Flow::Next)
    }

    /// Runs a block one level deeper.
    pub(crate) fn nested(&mut self, body: &'a [Stmt], at: u32) -> Outcome<Flow> {
        self.deeper(at)?;
        let flow = self.block(body)?;
        self.depth -= 1;
        Ok(flow)
    }

    fn repeat(
        &mut self,
        condition: Option<&'a Expr>,
        step: Option<&'a Expr>,
        body: &'a [Stmt],
        is_do: bool,
        at: u32,
    ) -> Outcome<Flow> {
        let mut is_first = is_do;
        loop {
            if !is_first
                && let Some(condition) = condition
                && !self.test(condition)?
            {
                return Ok(Flow::Next);
            }
            is_first = false;
            self.tick(at)?;
            match self.nested(body, at)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.eval(step)?;
            }
        }
    }

    fn for_each(&mut self, slot: u16, ty: Type, items: &'a Expr, body: &'a [Stmt]) -> Outcome<Flow> {
        let at = items.at;
        let list = self.eval(items)?;
        for item in self.items(&list, at)? {
            self.tick(at)?;
            let item = item.cast(ty).map_err(|failure| failed(failure, at))?;
            self.locals[self.base + usize::from(slot)] = item;
            match self.nested(body, at)? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    fn attempt(&mut self, body: &'a [Stmt], catches: &'a [(&'static str, u16, Vec<Stmt>)]) -> Outcome<Flow> {
        let depth = self.depth;
        let error = match self.block(body) {
            Err(error) if error.is_exception() => error,
            other => return other,
        };
        self.depth = depth;
        for (class, slot, caught) in catches {
            let is_caught = matches!(*class, "java.lang.Exception" | "java.lang.RuntimeException")
                || exception_kind(class) == error.kind
                || parents_of(error.kind).contains(&exception_kind(class));
            if is_caught {
                self.grow(error.reason.len(), error.at.unwrap_or(0))?;
                let exception = Value::Exception(class, error.reason.as_str().into());
                self.locals[self.base + usize::from(*slot)] = exception;
                return self.block(caught);
            }
        }
        Err(error)
    }
}

/// Returns Elasticsearch's names for the classes that an exception's class extends.
fn parents_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "array_index_out_of_bounds_exception" | "string_index_out_of_bounds_exception" => {
            &["index_out_of_bounds_exception"]
        }
        "number_format_exception" => &["illegal_argument_exception"],
        "missing_format_argument_exception"
        | "unknown_format_conversion_exception"
        | "illegal_format_conversion_exception" => {
            &["illegal_format_exception", "illegal_argument_exception"]
        }
        "date_time_parse_exception" | "unsupported_temporal_type_exception" | "zone_rules_exception" => {
            &["date_time_exception"]
        }
        _ => &[],
    }
}
