//! Parses Painless tokens into statements, with names resolved to slots and types checked as far as they
//! are known.
//!
//! Source: Painless's language specification; the messages are those that the compiler of a running
//! Elasticsearch 8.19 gave.

use std::sync::Arc;

use super::compiled::Compiled;
use super::context::ScriptContext;
use super::conversions::coerce;
use super::lexer::{Token, TokenKind, tokens};
use super::tree::{Expr, Function, Kind, Lambda, Stmt};
use crate::error::ScriptError;
use crate::types::{Literal, Type, type_of};
use crate::values::{Extractor, Regex};

/// Largest nesting of expressions and blocks; deeper ones would need more stack than a thread has.
const DEPTH_MAX: u32 = 60;
/// Most variables of a script or function, and most functions, lambdas and fields of a script.
const COUNT_MAX: usize = 1000;

/// Compiles Painless for a context.
pub(crate) fn compile_painless(source: &str, context: ScriptContext) -> Result<Compiled, ScriptError> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        next: 0,
        context,
        scopes: vec![Vec::new()],
        slots: 0,
        functions: Vec::new(),
        lambdas: Vec::new(),
        extractors: Vec::new(),
        regexes: Vec::new(),
        fields: Vec::new(),
        returns: context.returns(),
        uses_score: false,
        ctx_count: 0,
        ctx_names: Vec::new(),
        depth: 0,
        loops: 0,
        lambda_depths: Vec::new(),
    };
    while parser.is_function() {
        parser.function()?;
    }
    if let Some((name, ty)) = context.given() {
        parser.declare(name, ty, 0)?;
    }
    let mut body = Vec::new();
    while parser.peek() != &TokenKind::End {
        if body.last().is_some_and(ends) {
            return Err(ScriptError::argument(0, "invalid block: unreachable statement"));
        }
        body.push(parser.statement()?);
    }
    if body.is_empty() {
        // A score script has one parameter in Elasticsearch: the holder of its explanation.
        let parameter_count = usize::from(context == ScriptContext::Score);
        return Err(ScriptError::argument(
            0,
            format!(
                "invalid function definition: found no statements for function [execute] with [{parameter_count}] parameters"
            ),
        ));
    }
    parser.return_last(&mut body)?;
    Ok(Compiled {
        source: source.into(),
        language: "painless",
        body,
        functions: parser.functions,
        lambdas: parser.lambdas,
        extractors: parser.extractors,
        regexes: parser.regexes,
        fields: parser.fields,
        variables: Vec::new(),
        slots: parser.slots,
        uses_score: parser.uses_score,
        ctx_names: (parser.ctx_names.len() == parser.ctx_count).then(|| {
            parser.ctx_names.sort_unstable();
            parser.ctx_names.dedup();
            parser.ctx_names
        }),
    })
}

/// Whether nothing after this statement is reachable.
fn ends(statement: &Stmt) -> bool {
    match statement {
        Stmt::Return(_) | Stmt::Throw(_) | Stmt::Break | Stmt::Continue => true,
        Stmt::If(_, yes, no) => yes.last().is_some_and(ends) && no.last().is_some_and(ends),
        Stmt::Block(inner) => inner.last().is_some_and(ends),
        _ => false,
    }
}

pub(crate) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    pub context: ScriptContext,
    /// Variables by scope: name, slot, type.
    scopes: Vec<Vec<(String, u16, Type)>>,
    slots: u16,
    pub functions: Vec<Function>,
    pub lambdas: Vec<Lambda>,
    pub extractors: Vec<Extractor>,
    pub regexes: Vec<Regex>,
    pub fields: Vec<Arc<str>>,
    /// Type that `return` must return.
    pub returns: Type,
    pub uses_score: bool,
    /// How often the script names `ctx`, and the members that it takes directly from `ctx`. If both counts
    /// are equal, it can reach no other member.
    pub ctx_count: usize,
    pub ctx_names: Vec<Arc<str>>,
    depth: u32,
    loops: u32,
    /// Number of open scopes where each enclosing lambda began: variables from outside are read-only in it.
    pub lambda_depths: Vec<usize>,
}

impl Parser {
    /// Returns the next token without taking it.
    pub fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    /// Returns the token `ahead` tokens after the next one; the last one of the script if there are fewer.
    pub fn peek_at(&self, ahead: usize) -> &TokenKind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + ahead).min(last)].kind
    }

    /// Returns the position of the next token, in UTF-16 units.
    pub fn at(&self) -> u32 {
        self.tokens[self.next].at
    }

    /// Takes the next token. The end of the script can be taken any number of times.
    pub fn take(&mut self) -> Token {
        let token = self.tokens[self.next].clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// Gives the token that was taken last back.
    pub fn step_back(&mut self) {
        self.next = self.next.saturating_sub(1);
    }

    /// Whether the next token is this symbol.
    pub fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(found) if *found == symbol)
    }

    /// Whether the token `ahead` tokens after the next one is this symbol.
    pub fn is_symbol_at(&self, ahead: usize, symbol: &str) -> bool {
        matches!(self.peek_at(ahead), TokenKind::Symbol(found) if *found == symbol)
    }

    /// Takes the next token if it is this symbol; returns whether it is.
    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.take();
        }
        found
    }

    /// Takes this symbol; returns its position.
    ///
    /// # Errors
    /// The next token is another one.
    pub fn expect(&mut self, symbol: &str) -> Result<u32, ScriptError> {
        let at = self.at();
        if self.accept(symbol) { Ok(at) } else { Err(self.unexpected(&format!("'{symbol}'"))) }
    }

    /// Returns the error for the next token where one of `wanted` should be.
    pub fn unexpected(&self, wanted: &str) -> ScriptError {
        let found = match self.peek() {
            TokenKind::End => return ScriptError::argument(self.at(), "unexpected end of script."),
            TokenKind::Name(name) => name.clone(),
            TokenKind::Symbol(symbol) => (*symbol).to_owned(),
            TokenKind::Regex(pattern, flags) => format!("/{pattern}/{flags}"),
            TokenKind::Literal(literal) => match literal {
                Literal::Str(text) => format!("'{text}'"),
                Literal::Int(number) => number.to_string(),
                Literal::Long(number) => number.to_string(),
                Literal::Double(number) => number.to_string(),
                Literal::Float(number) => number.to_string(),
                Literal::Bool(flag) => flag.to_string(),
                Literal::Null => "null".to_owned(),
            },
        };
        ScriptError::argument(
            self.at(),
            format!("unexpected token ['{found}'] was expecting one of [{wanted}]."),
        )
    }

    /// Returns the error for the next token where nothing that begins with it could be.
    pub fn invalid_near(&self) -> ScriptError {
        match self.unexpected("") {
            error if error.reason.starts_with("unexpected end") => error,
            error => {
                let shown = error.reason.split('[').nth(1).and_then(|rest| rest.split(']').next());
                let shown = shown.unwrap_or_default().to_owned();
                ScriptError::argument(self.at(), format!("invalid sequence of tokens near [{shown}]."))
            }
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(name) if name == word)
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    /// Takes a name.
    ///
    /// # Errors
    /// The next token is no name.
    pub fn name(&mut self) -> Result<String, ScriptError> {
        match self.peek() {
            TokenKind::Name(name) => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => Err(self.unexpected("ID")),
        }
    }

    /// Enters one more level of nesting; every call is followed by [`Parser::leave`] unless parsing fails.
    pub fn enter(&mut self) -> Result<(), ScriptError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ScriptError::argument(
                self.at(),
                format!("the script is nested deeper than {DEPTH_MAX} levels"),
            ));
        }
        Ok(())
    }

    /// Leaves the level of nesting that [`Parser::enter`] entered.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Checks that a script with `count` of `what` may have one more.
    ///
    /// # Errors
    /// It has [`COUNT_MAX`] of them.
    pub fn check_count(&self, count: usize, what: &str) -> Result<(), ScriptError> {
        if count >= COUNT_MAX {
            return Err(ScriptError::argument(self.at(), format!("a script has at most {COUNT_MAX} {what}")));
        }
        Ok(())
    }

    /// Declares a variable in the innermost scope; returns its slot.
    ///
    /// # Errors
    /// The name is taken, or there are too many variables.
    pub fn declare(&mut self, name: &str, ty: Type, at: u32) -> Result<u16, ScriptError> {
        if self.lookup(name).is_some() {
            return Err(ScriptError::argument(at, format!("variable [{name}] is already defined")));
        }
        self.check_count(usize::from(self.slots), "variables")?;
        let slot = self.slots;
        self.slots += 1;
        self.scopes.last_mut().expect("a scope is open").push((name.to_owned(), slot, ty));
        Ok(slot)
    }

    /// Returns the slot and type of a variable, and the index of the scope that declares it.
    pub fn lookup(&self, name: &str) -> Option<(u16, Type, usize)> {
        self.scopes.iter().enumerate().rev().find_map(|(number, scope)| {
            scope.iter().rev().find(|(known, _, _)| known == name).map(|(_, slot, ty)| (*slot, *ty, number))
        })
    }

    /// Opens a scope: variables that are declared from here on end with it.
    pub fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope. Its slots are not used again.
    pub fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// Returns the number of open scopes.
    pub fn scope_count(&self) -> usize {
        self.scopes.len()
    }

    /// Returns the number of a field of documents among those that the script names.
    ///
    /// # Errors
    /// There are too many fields.
    pub fn field(&mut self, name: &str) -> Result<u16, ScriptError> {
        if let Some(found) = self.fields.iter().position(|known| &**known == name) {
            return Ok(found as u16);
        }
        self.check_count(self.fields.len(), "fields")?;
        self.fields.push(name.into());
        Ok((self.fields.len() - 1) as u16)
    }

    /// Returns the type that starts here, with its brackets, and its length in tokens; `None` if no type
    /// starts here.
    pub fn type_ahead(&self, ahead: usize) -> Option<(Type, usize)> {
        let TokenKind::Name(name) = self.peek_at(ahead) else { return None };
        // A class inside of a class.
        let inner = match self.peek_at(ahead + 2) {
            TokenKind::Name(inner) if self.is_symbol_at(ahead + 1, ".") => {
                type_of(&format!("{name}.{inner}"))
            }
            _ => None,
        };
        let (mut ty, mut length) = match inner {
            Some(ty) => (ty, 3),
            None => (type_of(name)?, 1),
        };
        while self.is_symbol_at(ahead + length, "[") && self.is_symbol_at(ahead + length + 1, "]") {
            ty = Type::Object("java.util.List");
            length += 2;
        }
        Some((ty, length))
    }

    /// Takes this many tokens.
    pub fn skip(&mut self, tokens: usize) {
        (0..tokens).for_each(|_| {
            self.take();
        });
    }

    fn is_function(&self) -> bool {
        match self.type_ahead(0) {
            Some((_, length)) => {
                matches!(self.peek_at(length), TokenKind::Name(_)) && self.is_symbol_at(length + 1, "(")
            }
            None => false,
        }
    }

    fn function(&mut self) -> Result<(), ScriptError> {
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
            if body.last().is_some_and(ends) {
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
            if is_true(&condition) && !has_escape(&body) {
                return Err(ScriptError::argument(at, "no paths escape from while loop"));
            }
            return Ok(Stmt::Loop { condition: Some(condition), step: None, body, is_do: false, at });
        }
        if self.accept_word("do") {
            let body = self.looped()?;
            if !self.accept_word("while") {
                return Err(self.unexpected("'while'"));
            }
            let condition = self.condition()?;
            self.end_of_statement()?;
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
        for (word, statement) in [("break", Stmt::Break), ("continue", Stmt::Continue)] {
            if self.accept_word(word) {
                if self.loops == 0 {
                    return Err(ScriptError::argument(at, format!("{word} statement outside of a loop")));
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
        if condition.as_ref().is_none_or(is_true) && !has_escape(&body) {
            return Err(ScriptError::argument(at, "no paths escape from for loop"));
        }
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

fn is_true(condition: &Expr) -> bool {
    matches!(condition.kind, Kind::Literal(Literal::Bool(true)))
}

/// Whether a loop's body can end the loop in another way than by its condition.
fn has_escape(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Break | Stmt::Return(_) | Stmt::Throw(_) => true,
        Stmt::If(_, yes, no) => has_escape(yes) || has_escape(no),
        Stmt::Block(inner) => has_escape(inner),
        Stmt::Loop { body, .. } | Stmt::ForEach { body, .. } => {
            body.iter().any(|statement| matches!(statement, Stmt::Return(_) | Stmt::Throw(_)))
                || has_escape(body)
        }
        Stmt::Try(body, catches) => has_escape(body) || catches.iter().any(|(_, _, body)| has_escape(body)),
        _ => false,
    })
}
