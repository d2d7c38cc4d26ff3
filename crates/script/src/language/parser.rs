//! Parses Painless tokens into a tree, with names resolved to slots and types checked as far as they are
//! known: the script as a whole, its tokens, its scopes.
//!
//! Source: Painless's language specification; the messages are those that the compiler of a running
//! Elasticsearch 8.19 gave.

use std::sync::Arc;

use super::compiled::Compiled;
use super::context::ScriptContext;
use super::lexer::{Token, TokenKind, tokens};
use super::operators::Height;
use super::tree::{Function, Lambda, Stmt};
use crate::error::ScriptError;
use crate::types::{Literal, Type, type_of};
use crate::values::{Extractor, Regex};

/// Largest nesting of expressions and blocks; deeper ones would need more stack than a thread has.
const DEPTH_MAX: u32 = 60;
/// Maximum number of variables of a script or function, and of functions, lambdas and fields of a script.
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
        doc_count: 0,
        returns: context.returns(),
        uses_score: false,
        ctx_count: 0,
        ctx_names: Vec::new(),
        depth: 0,
        height: Height::default(),
        loops: 0,
        lambda_depths: Vec::new(),
    };
    while parser.is_function() {
        parser.function()?;
    }
    if let Some((name, ty)) = context.given() {
        parser.declare(name, ty, 0)?;
    }
    for (name, ty) in context.given_numbers() {
        parser.declare(name, *ty, 0)?;
    }
    let mut body = Vec::new();
    while parser.peek() != &TokenKind::End {
        if body.last().is_some_and(Stmt::ends) {
            return Err(ScriptError::argument(0, "invalid block: unreachable statement"));
        }
        body.push(parser.statement()?);
    }
    if body.is_empty() {
        // A score script has one parameter in Elasticsearch: the holder of its explanation.
        let parameter_count = usize::from(context == ScriptContext::Score);
        let reason = format!(
            "invalid function definition: found no statements for function [execute] with [{parameter_count}] parameters"
        );
        return Err(ScriptError::argument(0, reason));
    }
    parser.return_last(&mut body)?;
    let computed_names = parser.computed_names();
    Ok(Compiled {
        source: source.into(),
        language: "painless",
        body,
        functions: parser.functions,
        lambdas: parser.lambdas,
        extractors: parser.extractors,
        regexes: parser.regexes,
        computed_names,
        fields: parser.fields,
        variables: Vec::new(),
        slots: parser.slots,
        uses_score: parser.uses_score,
        ctx_names: (parser.ctx_names.len() == parser.ctx_count).then(|| {
            parser.ctx_names.sort_unstable();
            parser.ctx_names.dedup();
            parser.ctx_names
        }),
        outside: None,
    })
}

pub(crate) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    pub context: ScriptContext,
    /// Variables by scope: name, slot, type.
    pub(super) scopes: Vec<Vec<(String, u16, Type)>>,
    pub(super) slots: u16,
    pub functions: Vec<Function>,
    pub lambdas: Vec<Lambda>,
    pub extractors: Vec<Extractor>,
    pub regexes: Vec<Regex>,
    pub fields: Vec<Arc<str>>,
    /// Type that `return` must return.
    pub returns: Type,
    pub uses_score: bool,
    /// How often the script uses `doc`, or `field`, with a name that is no constant.
    pub doc_count: usize,
    /// How often the script names `ctx`, and the members that it takes directly from `ctx`. If both counts
    /// are equal, it can reach no other member.
    pub ctx_count: usize,
    pub ctx_names: Vec<Arc<str>>,
    depth: u32,
    pub(super) height: Height,
    pub(super) loops: u32,
    /// Number of open scopes where each enclosing lambda began: variables from outside are read-only in it.
    pub lambda_depths: Vec<usize>,
}

impl Parser {
    /// Returns the strings that the script contains, if it computes names of fields.
    fn computed_names(&self) -> Option<Vec<Arc<str>>> {
        let texts = self.tokens.iter().filter_map(|token| match &token.kind {
            TokenKind::Literal(Literal::Str(text)) => Some(text.clone()),
            _ => None,
        });
        (self.doc_count > 0).then(|| texts.collect())
    }

    /// Returns the next token without taking it.
    pub fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    /// Returns the token that is `ahead` tokens after the next one, or the last token of the script if there
    /// are fewer.
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

    /// Gives back the token that was taken last.
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

    /// Returns the error for a next token that cannot begin anything here.
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

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
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

    /// Checks that a script that has `count` of `what` may have one more.
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
}
