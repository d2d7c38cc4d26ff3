//! Painless expressions, by precedence.

use super::conversions::{binary, cast, coerce, joined, unary};
use super::lexer::TokenKind;
use super::parser::Parser;
use super::tree::{Expr, Kind};
use crate::error::ScriptError;
use crate::types::{Binary, CLASSES, Literal, Type, Unary, type_of};

/// Operators by precedence level, loosest first.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("===", Binary::Equal), ("!==", Binary::NotEqual), ("==", Binary::Equal), ("!=", Binary::NotEqual)],
    &[("<=", Binary::LessEqual), (">=", Binary::GreaterEqual), ("<", Binary::Less), (">", Binary::Greater)],
    &[(">>>", Binary::ShiftRightUnsigned), ("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];
const RELATIONAL: usize = 4;
/// `=~` and `==~` bind tighter than shifts and looser than sums, which are at this level.
const SUMS: usize = 6;

const ASSIGNMENTS: &[(&str, Option<Binary>)] = &[
    ("=", None),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Sub)),
    ("*=", Some(Binary::Mul)),
    ("/=", Some(Binary::Div)),
    ("%=", Some(Binary::Rem)),
    ("&=", Some(Binary::And)),
    ("|=", Some(Binary::Or)),
    ("^=", Some(Binary::Xor)),
    ("<<=", Some(Binary::ShiftLeft)),
    (">>=", Some(Binary::ShiftRight)),
    (">>>=", Some(Binary::ShiftRightUnsigned)),
];

impl Parser {
    /// Parses an expression: an assignment, or anything that binds tighter.
    ///
    /// # Errors
    /// No expression begins here, or its types do not fit.
    pub fn expression(&mut self) -> Result<Expr, ScriptError> {
        self.enter()?;
        let left = self.conditional()?;
        let assignment = match self.peek() {
            TokenKind::Symbol(symbol) => ASSIGNMENTS.iter().find(|(known, _)| known == symbol),
            _ => None,
        };
        let expr = match assignment {
            None => left,
            Some((_, op)) => {
                self.take();
                let value = self.expression()?;
                self.assign(left, *op, value, false)?
            }
        };
        self.leave();
        Ok(expr)
    }

    fn assign(
        &mut self,
        target: Expr,
        op: Option<Binary>,
        value: Expr,
        gives_old: bool,
    ) -> Result<Expr, ScriptError> {
        let (at, ty) = (target.at, target.ty);
        let value = match &target.kind {
            Kind::Local(_) => match op {
                None => coerce(value, ty, false)?,
                // `int += double` casts the result back implicitly.
                Some(op) => {
                    binary(op, target.clone(), value.clone())?;
                    value
                }
            },
            Kind::Member { .. } | Kind::Index(..) => value,
            _ => {
                return Err(ScriptError::argument(
                    at,
                    "cannot assign a value to something that is no variable",
                ));
            }
        };
        let kind = Kind::Assign { target: Box::new(target), op, value: Box::new(value), gives_old };
        Ok(Expr { kind, ty, at })
    }

    fn conditional(&mut self) -> Result<Expr, ScriptError> {
        let condition = self.elvis()?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let at = condition.at;
        let condition = coerce(condition, Type::Bool, false)?;
        let yes = self.expression()?;
        self.expect(":")?;
        let no = self.expression()?;
        let (yes, no, ty) = joined(yes, no);
        Ok(Expr { kind: Kind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)), ty, at })
    }

    fn elvis(&mut self) -> Result<Expr, ScriptError> {
        let left = self.or_else()?;
        if !self.accept("?:") {
            return Ok(left);
        }
        if let Kind::Literal(literal) = &left.kind {
            let what = if matches!(literal, Literal::Null) { "null" } else { "a constant" };
            return Err(ScriptError::argument(left.at, format!("Extraneous elvis operator. LHS is {what}.")));
        }
        self.enter()?;
        let right = self.elvis()?;
        self.leave();
        let at = left.at;
        let ty = if left.ty == right.ty { left.ty } else { Type::Def };
        Ok(Expr { kind: Kind::Elvis(Box::new(left), Box::new(right)), ty, at })
    }

    fn or_else(&mut self) -> Result<Expr, ScriptError> {
        let mut left = self.and_also()?;
        while self.accept("||") {
            let right = coerce(self.and_also()?, Type::Bool, false)?;
            let at = left.at;
            let left_side = coerce(left, Type::Bool, false)?;
            left = Expr { kind: Kind::OrElse(Box::new(left_side), Box::new(right)), ty: Type::Bool, at };
        }
        Ok(left)
    }

    fn and_also(&mut self) -> Result<Expr, ScriptError> {
        let mut left = self.level(0)?;
        while self.accept("&&") {
            let right = coerce(self.level(0)?, Type::Bool, false)?;
            let at = left.at;
            let left_side = coerce(left, Type::Bool, false)?;
            left = Expr { kind: Kind::AndAlso(Box::new(left_side), Box::new(right)), ty: Type::Bool, at };
        }
        Ok(left)
    }

    fn level(&mut self, level: usize) -> Result<Expr, ScriptError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary_level() };
        let mut left = if level + 1 == SUMS { self.matching()? } else { self.level(level + 1)? };
        let mut length = 0;
        loop {
            if level == RELATIONAL && matches!(self.peek(), TokenKind::Name(word) if word == "instanceof") {
                self.take();
                let class = self.class_name()?;
                let at = left.at;
                left = Expr { kind: Kind::InstanceOf(Box::new(left), class), ty: Type::Bool, at };
                continue;
            }
            let found = match self.peek() {
                TokenKind::Symbol(symbol) => operators.iter().find(|(known, _)| known == symbol),
                _ => None,
            };
            let Some((_, op)) = found else { return Ok(left) };
            // A long chain makes a deep tree.
            length += 1;
            if length > 200 {
                return Err(ScriptError::argument(
                    self.at(),
                    "an expression has at most 200 operators in a row",
                ));
            }
            self.take();
            let right = if level + 1 == SUMS { self.matching()? } else { self.level(level + 1)? };
            let is_null = |side: &Expr| matches!(side.kind, Kind::Literal(Literal::Null));
            if matches!(op, Binary::Equal | Binary::NotEqual) && is_null(&left) && is_null(&right) {
                return Err(ScriptError::argument(left.at, "extraneous comparison of [null] constants"));
            }
            left = binary(*op, left, right)?;
        }
    }

    /// Parses the name of a type. Returns the short name of its class, that of a list for an array.
    fn class_name(&mut self) -> Result<String, ScriptError> {
        let at = self.at();
        let mut name = self.name()?;
        while self.accept(".") {
            name = format!("{name}.{}", self.name()?);
        }
        let Some(ty) = type_of(&name) else {
            return Err(ScriptError::argument(at, format!("Not a type [{name}].")));
        };
        let mut is_array = false;
        while self.is("[") && self.is_symbol_at(1, "]") {
            self.skip(2);
            is_array = true;
        }
        Ok(match ty {
            _ if is_array => "List".to_owned(),
            Type::Object(full) => {
                let known = CLASSES.iter().find(|(_, known)| *known == full);
                known.map_or(name, |(short, _)| (*short).to_owned())
            }
            _ => name,
        })
    }

    /// Parses `text =~ /pattern/` and `text ==~ /pattern/` as a call of the pattern.
    fn matching(&mut self) -> Result<Expr, ScriptError> {
        let mut left = self.level(SUMS)?;
        loop {
            let name = match self.peek() {
                TokenKind::Symbol(symbol @ ("=~" | "==~")) => *symbol,
                _ => return Ok(left),
            };
            self.take();
            let right = self.level(SUMS)?;
            let pattern = Type::Object("java.util.regex.Pattern");
            let at = left.at;
            if matches!(left.kind, Kind::Literal(Literal::Null)) {
                let reason = "Cannot cast from [java.lang.Object] to [java.lang.String].";
                return Err(ScriptError::cast(at, reason.to_owned()));
            }
            if !matches!(left.ty, Type::Def | Type::Object(_)) {
                left = coerce(left, Type::Str, false)?;
            }
            if right.ty != pattern && right.ty != Type::Def {
                let reason = format!("Cannot cast from [{}] to [{}].", right.ty.name(), pattern.name());
                return Err(ScriptError::cast(right.at, reason));
            }
            let arguments = vec![left];
            let kind = Kind::Call { target: Box::new(right), name: name.into(), arguments, null_safe: false };
            left = Expr { kind, ty: Type::Bool, at };
        }
    }

    fn unary_level(&mut self) -> Result<Expr, ScriptError> {
        self.enter()?;
        let at = self.at();
        let expr = if self.accept("-") {
            unary(Unary::Minus, self.unary_level()?, at)?
        } else if self.accept("+") {
            unary(Unary::Plus, self.unary_level()?, at)?
        } else if self.accept("!") {
            unary(Unary::Not, self.unary_level()?, at)?
        } else if self.accept("~") {
            unary(Unary::BitNot, self.unary_level()?, at)?
        } else if self.is("++") || self.is("--") {
            let op = if self.accept("++") {
                Binary::Add
            } else {
                self.take();
                Binary::Sub
            };
            let target = self.unary_level()?;
            self.assign(target, Some(op), one(at), false)?
        } else if let Some(ty) = self.cast_ahead() {
            self.take();
            let (_, length) = self.type_ahead(0).expect("a cast names a type");
            self.skip(length);
            self.expect(")")?;
            let inner = self.unary_level()?;
            match ty {
                // A cast to a class has no effect at run time: methods check the class of their target
                // themselves.
                Type::Object(_) => {
                    Expr { ty: if inner.ty == Type::Def { Type::Def } else { inner.ty }, ..inner }
                }
                Type::Str if inner.ty == Type::Def => cast(inner, Type::Str),
                _ => coerce(inner, ty, true)?,
            }
        } else {
            let inner = self.postfix()?;
            if self.is("++") || self.is("--") {
                let op = if self.accept("++") {
                    Binary::Add
                } else {
                    self.take();
                    Binary::Sub
                };
                self.assign(inner, Some(op), one(at), true)?
            } else {
                inner
            }
        };
        self.leave();
        Ok(expr)
    }

    /// Returns the type of a cast, if `(type)` and an operand follow.
    fn cast_ahead(&self) -> Option<Type> {
        if !self.is("(") {
            return None;
        }
        let (ty, length) = self.type_ahead(1)?;
        if !self.is_symbol_at(1 + length, ")") {
            return None;
        }
        let is_operand = match self.peek_at(2 + length) {
            TokenKind::Name(word) => word != "instanceof",
            TokenKind::Literal(_) | TokenKind::Regex(..) => true,
            TokenKind::Symbol(symbol) => {
                matches!(*symbol, "(" | "!" | "~" | "[")
                    || (matches!(*symbol, "+" | "-" | "++" | "--") && ty.is_number())
            }
            TokenKind::End => false,
        };
        is_operand.then_some(ty)
    }

    fn postfix(&mut self) -> Result<Expr, ScriptError> {
        let mut expr = self.primary()?;
        let mut length = 0;
        loop {
            let at = self.at();
            length += 1;
            if length > 200 {
                return Err(ScriptError::argument(at, "an expression has at most 200 calls in a row"));
            }
            let null_safe = self.is("?.");
            if self.accept(".") || self.accept("?.") {
                let name = self.name()?;
                expr = if self.is("(") {
                    let arguments = self.arguments()?;
                    self.call(expr, name, arguments, null_safe, at)?
                } else {
                    self.member(expr, name, null_safe, at)?
                };
            } else if self.accept("[") {
                let index = self.expression()?;
                self.expect("]")?;
                expr = self.index(expr, index)?;
            } else {
                return Ok(expr);
            }
        }
    }

    pub(crate) fn arguments(&mut self) -> Result<Vec<Expr>, ScriptError> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.accept(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            self.check_count(arguments.len(), "arguments in a call")?;
            arguments.push(match self.is_function_value() {
                true => self.function_value()?,
                false => self.expression()?,
            });
        }
        Ok(arguments)
    }

    fn primary(&mut self) -> Result<Expr, ScriptError> {
        if self.peek() == &TokenKind::End {
            return Err(self.invalid_near());
        }
        let token = self.take();
        let at = token.at;
        match token.kind {
            TokenKind::Literal(literal) => {
                Ok(Expr { ty: type_of_literal(&literal), kind: Kind::Literal(literal), at })
            }
            TokenKind::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Regex(pattern, flags) => self.regex(&pattern, &flags, at),
            TokenKind::Symbol("[") => self.list_or_map(at),
            TokenKind::Name(name) if name == "new" => self.creation(at),
            TokenKind::Name(name) => self.named(name, at),
            _ => {
                self.step_back();
                Err(self.invalid_near())
            }
        }
    }

    /// Whether the next token is an assignment operator.
    pub(super) fn is_assigned(&self) -> bool {
        match self.peek() {
            TokenKind::Symbol(symbol) => {
                matches!(*symbol, "++" | "--") || ASSIGNMENTS.iter().any(|(known, _)| known == symbol)
            }
            _ => false,
        }
    }
}

fn one(at: u32) -> Expr {
    Expr { kind: Kind::Literal(Literal::Int(1)), ty: Type::Int, at }
}

pub(super) fn type_of_literal(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Def,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Long(_) => Type::Long,
        Literal::Float(_) => Type::Float,
        Literal::Double(_) => Type::Double,
        Literal::Str(_) => Type::Str,
    }
}
