//! Parses Painless statements: blocks, branches, loops, declarations and the functions of a script.

use super::conversions::coerce;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::tree::{Expr, Function, Kind, Stmt};
use crate::error::ScriptError;
use crate::types::{Literal, Type};

impl Parser {
    /// Whether a function is declared here.
    pub(super) fn is_function(&self) -> bool {
        match self.type_ahead(0) {
            Some((_, length)) => {
                matches!(self.peek_at(length), TokenKind::Name(_)) && self.is_symbol_at(length + 1, "(")
            }
            None => false,
        }
    }

    /// Parses the declaration of a function.
    pub(super) fn function(&mut self) -> Result<(), ScriptError> {
        let (returns, length) = self.type_ahead(0).expect("a function starts with its type");
        self.skip(length);
        let name = self.name()?;
        self.expect("(")?;
        let outer = (std::mem::take(&mut self.slots), std::mem::replace(&mut self.scopes, vec![Vec::new()]));
        let mut parameters = Vec::new();
        while !self.accept(")") {
            if !parameters.is_empty() {
                self.expect(",")?;
            }
            let at = self.at();
            let Some((ty, length)) = self.type_ahead(0) else { return Err(self.unexpected("TYPE")) };
            self.skip(length);
            let parameter = self.name()?;
            self.declare(&parameter, ty, at)?;
            parameters.push(ty);
        }
        self.check_count(self.functions.len(), "functions")?;
        let number = self.functions.len();
        // The function is declared before its body is parsed, so that it can call itself.
        self.functions.push(Function { name, parameters, returns, body: Vec::new(), slots: 0 });
        let returned = std::mem::replace(&mut self.returns, returns);
        let mut body = self.block()?;
        self.return_last(&mut body)?;
        self.returns = returned;
        self.functions[number].body = body;
        self.functions[number].slots = self.slots;
        (self.slots, self.scopes) = outer;
        Ok(())
    }

    /// Makes the value of the last expression the result, also where it ends a branch of the last
    /// statement.
    pub fn return_last(&mut self, body: &mut [Stmt]) -> Result<(), ScriptError> {
        if self.returns == Type::Void {
            return Ok(());
        }
        let Some(last) = body.last_mut() else { return Ok(()) };
        match last {
            Stmt::Expr(expr) if expr.ty != Type::Void => {
                *last = Stmt::Return(Some(coerce(expr.clone(), self.returns, false)?));
            }
            Stmt::If(_, yes, no) => {
                self.return_last(yes)?;
                self.return_last(no)?;
            }
            Stmt::Try(body, catches) => {
                self.return_last(body)?;
                for (_, _, body) in catches {
                    self.return_last(body)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Parses `{ ... }`.
    pub fn block(&mut self) -> Result<Vec<Stmt>, ScriptError> {
        self.enter()?;
        self.expect("{")?;
        self.open_scope();
        let mut body = Vec::new();
        while !self.accept("}") {
            let at = self.at();
            if body.last().is_some_and(Stmt::ends) {
                return Err(ScriptError::argument(at, "invalid block: unreachable statement"));
            }
            body.push(self.statement()?);
        }
        self.close_scope();
        self.leave();
        Ok(body)
    }

    /// Parses a block, or one statement in its place.
    fn body(&mut self) -> Result<Vec<Stmt>, ScriptError> {
        if self.is("{") {
            return self.block();
        }
        if self.accept(";") {
            return Ok(Vec::new());
        }
        self.enter()?;
        self.open_scope();
        let statement = self.statement()?;
        self.close_scope();
        self.leave();
        Ok(vec![statement])
    }

    fn end_of_statement(&mut self) -> Result<(), ScriptError> {
        if self.accept(";") || self.peek() == &TokenKind::End || self.is("}") {
            return Ok(());
        }
        Err(self.unexpected("{<EOF>, ';'}"))
    }

    fn condition(&mut self) -> Result<Expr, ScriptError> {
        self.expect("(")?;
        let condition = self.expression()?;
        let condition = coerce(condition, Type::Bool, false)?;
        self.expect(")")?;
        Ok(condition)
    }

    /// Parses one statement, with the semicolon after it.
    ///
    /// # Errors
    /// No statement begins here, or its types do not fit.
    pub fn statement(&mut self) -> Result<Stmt, ScriptError> {
        let at = self.at();
        if self.accept_word("if") {
            let condition = self.condition()?;
            let yes = self.body()?;
            let no = if self.accept_word("else") { self.body()? } else { Vec::new() };
            return Ok(Stmt::If(condition, yes, no));
        }
        if self.accept_word("while") {
            let condition = self.condition()?;
            let body = self.looped()?;
            check_loop("while", Some(&condition), &body, at)?;
            return Ok(Stmt::Loop { condition: Some(condition), step: None, body, is_do: false, at });
        }
        if self.accept_word("do") {
            let body = self.looped()?;
            if !self.accept_word("while") {
                return Err(self.unexpected("'while'"));
            }
            let condition = self.condition()?;
            self.end_of_statement()?;
            check_loop("do-while", Some(&condition), &body, at)?;
            return Ok(Stmt::Loop { condition: Some(condition), step: None, body, is_do: true, at });
        }
        if self.accept_word("for") {
            return self.for_loop(at);
        }
        if self.accept_word("try") {
            return self.try_block();
        }
        if self.accept_word("return") {
            return self.return_statement(at);
        }
        for (word, statement) in [("break", Stmt::Break), ("continue", Stmt::Continue(at))] {
            if self.accept_word(word) {
                if self.loops == 0 {
                    let reason = format!("invalid {word} statement: not inside loop");
                    return Err(ScriptError::argument(at, reason));
                }
                self.end_of_statement()?;
                return Ok(statement);
            }
        }
        if self.accept_word("throw") {
            let thrown = self.expression()?;
            self.end_of_statement()?;
            return Ok(Stmt::Throw(thrown));
        }
        if self.is_declaration() {
            let declared = self.declaration()?;
            self.end_of_statement()?;
            return Ok(declared);
        }
        let expr = self.expression()?;
        self.end_of_statement()?;
        Ok(Stmt::Expr(expr))
    }

    fn looped(&mut self) -> Result<Vec<Stmt>, ScriptError> {
        self.loops += 1;
        let body = self.body()?;
        self.loops -= 1;
        Ok(body)
    }

    fn return_statement(&mut self, at: u32) -> Result<Stmt, ScriptError> {
        let value = if self.is(";") || self.is("}") || self.peek() == &TokenKind::End {
            if self.returns != Type::Void {
                let wanted = self.returns.name();
                return Err(ScriptError::cast(at, format!("cannot cast from [{wanted}] to [void]")));
            }
            None
        } else {
            let value = self.expression()?;
            if self.returns == Type::Void && value.ty != Type::Void {
                return Err(ScriptError::cast(
                    value.at,
                    format!("Cannot cast from [{}] to [void].", value.ty.name()),
                ));
            }
            Some(coerce(value, self.returns, false)?)
        };
        self.end_of_statement()?;
        Ok(Stmt::Return(value))
    }

    fn is_declaration(&self) -> bool {
        self.type_ahead(0).is_some_and(
            |(_, length)| matches!(self.peek_at(length), TokenKind::Name(name) if name != "instanceof"),
        )
    }

    /// Parses `int a = 1, b`.
    fn declaration(&mut self) -> Result<Stmt, ScriptError> {
        let (ty, length) = self.type_ahead(0).expect("a declaration starts with a type");
        self.skip(length);
        let mut declared = Vec::new();
        loop {
            let at = self.at();
            let name = self.name()?;
            if matches!(self.peek(), TokenKind::Name(_)) {
                return Err(self.unexpected("{<EOF>, ';'}"));
            }
            let value = match self.accept("=") {
                true => {
                    let value = self.expression()?;
                    Some(coerce(value, ty, false)?)
                }
                false => None,
            };
            let slot = self.declare(&name, ty, at)?;
            declared.push(Stmt::Declare(slot, ty, value));
            if !self.accept(",") {
                break;
            }
        }
        Ok(match declared.len() {
            1 => declared.swap_remove(0),
            _ => Stmt::Block(declared),
        })
    }

    fn for_loop(&mut self, at: u32) -> Result<Stmt, ScriptError> {
        self.expect("(")?;
        self.open_scope();
        let each = match (self.type_ahead(0), self.peek()) {
            (Some((ty, length)), _)
                if matches!(self.peek_at(length), TokenKind::Name(_))
                    && self.is_symbol_at(length + 1, ":") =>
            {
                Some((ty, length))
            }
            (_, TokenKind::Name(_)) if matches!(self.peek_at(1), TokenKind::Name(word) if word == "in") => {
                Some((Type::Def, 0))
            }
            _ => None,
        };
        if let Some((ty, length)) = each {
            self.skip(length);
            let name_at = self.at();
            let name = self.name()?;
            self.take();
            let items = self.expression()?;
            self.expect(")")?;
            let slot = self.declare(&name, ty, name_at)?;
            let body = self.looped()?;
            self.close_scope();
            check_loop("foreach", None, &body, at)?;
            return Ok(Stmt::ForEach { slot, ty, items, body });
        }
        let start = match self.is(";") {
            true => None,
            false if self.is_declaration() => Some(self.declaration()?),
            false => Some(Stmt::Expr(self.expression()?)),
        };
        self.expect(";")?;
        let condition = match self.is(";") {
            true => None,
            false => {
                let condition = self.expression()?;
                Some(coerce(condition, Type::Bool, false)?)
            }
        };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = self.looped()?;
        self.close_scope();
        check_loop("for", condition.as_ref(), &body, at)?;
        let mut block: Vec<Stmt> = start.into_iter().collect();
        block.push(Stmt::Loop { condition, step, body, is_do: false, at });
        Ok(if block.len() == 1 { block.swap_remove(0) } else { Stmt::Block(block) })
    }

    fn try_block(&mut self) -> Result<Stmt, ScriptError> {
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.accept_word("catch") {
            self.expect("(")?;
            let Some((Type::Object(class), length)) = self.type_ahead(0) else {
                return Err(self.unexpected("TYPE"));
            };
            self.skip(length);
            let at = self.at();
            let name = self.name()?;
            self.open_scope();
            let slot = self.declare(&name, Type::Def, at)?;
            self.expect(")")?;
            let caught = self.block()?;
            self.close_scope();
            catches.push((class, slot, caught));
        }
        if catches.is_empty() {
            return Err(self.unexpected("'catch'"));
        }
        Ok(Stmt::Try(body, catches))
    }
}

/// Refuses a loop that never repeats or never ends, and a `continue` at the end of its body.
///
/// Source: the messages of Elasticsearch 9.4.3.
fn check_loop(kind: &str, condition: Option<&Expr>, body: &[Stmt], at: u32) -> Result<(), ScriptError> {
    let constant = match condition.map(|condition| &condition.kind) {
        Some(Kind::Literal(Literal::Bool(flag))) => Some(*flag),
        _ => None,
    };
    if let Some(position) = last_continue(body) {
        return Err(ScriptError::argument(position, "extraneous continue statement"));
    }
    if body.is_empty() && constant == Some(true) && kind != "do-while" {
        return Err(ScriptError::argument(at, format!("no paths escape from {kind} loop")));
    }
    let is_empty = body.is_empty() && matches!(kind, "do-while" | "foreach");
    let always_leaves = leaves_loop(body) && !continues(body);
    if is_empty || always_leaves || constant == Some(false) {
        return Err(ScriptError::argument(at, format!("extraneous {kind} loop")));
    }
    Ok(())
}

/// Whether every path through a loop's body leaves the loop.
fn leaves_loop(body: &[Stmt]) -> bool {
    body.last().is_some_and(|statement| match statement {
        Stmt::Break | Stmt::Return(_) | Stmt::Throw(_) => true,
        Stmt::If(_, yes, no) => leaves_loop(yes) && leaves_loop(no),
        Stmt::Block(inner) => leaves_loop(inner),
        Stmt::Try(body, catches) => leaves_loop(body) && catches.iter().all(|(_, _, body)| leaves_loop(body)),
        _ => false,
    })
}

/// Whether a loop's body has a `continue` of this loop.
fn continues(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Continue(_) => true,
        Stmt::If(_, yes, no) => continues(yes) || continues(no),
        Stmt::Block(inner) => continues(inner),
        Stmt::Try(body, catches) => continues(body) || catches.iter().any(|(_, _, body)| continues(body)),
        _ => false,
    })
}

/// Returns the position of a `continue` after which nothing of a loop's body would run anyway.
fn last_continue(body: &[Stmt]) -> Option<u32> {
    match body.last()? {
        Stmt::Continue(at) => Some(*at),
        Stmt::If(_, yes, no) => last_continue(yes).or_else(|| last_continue(no)),
        Stmt::Block(inner) => last_continue(inner),
        Stmt::Try(body, catches) => {
            let caught = || catches.iter().find_map(|(_, _, body)| last_continue(body));
            last_continue(body).or_else(caught)
        }
        _ => None,
    }
}
