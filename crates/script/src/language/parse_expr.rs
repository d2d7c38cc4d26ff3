//! Painless expressions, by precedence.

use super::conversions::{binary, cast, coerce, joined, unary};
use super::lexer::TokenKind;
use super::operators::{CHAIN_MAX, Height, Level, Operands, Operator};
use super::parser::Parser;
use super::tree::{Expr, Kind};
use crate::error::ScriptError;
use crate::types::{Binary, CLASSES, Literal, Type, Unary, type_of};

/// Operators that stand between two operands, by precedence level, loosest first.
const LEVELS: &[Level] = &[
    &[("||", Operator::OrElse)],
    &[("&&", Operator::AndAlso)],
    &[("|", Operator::Binary(Binary::Or))],
    &[("^", Operator::Binary(Binary::Xor))],
    &[("&", Operator::Binary(Binary::And))],
    &[
        ("===", Operator::Binary(Binary::Equal)),
        ("!==", Operator::Binary(Binary::NotEqual)),
        ("==", Operator::Binary(Binary::Equal)),
        ("!=", Operator::Binary(Binary::NotEqual)),
    ],
    &[
        ("<=", Operator::Binary(Binary::LessEqual)),
        (">=", Operator::Binary(Binary::GreaterEqual)),
        ("<", Operator::Binary(Binary::Less)),
        (">", Operator::Binary(Binary::Greater)),
        ("instanceof", Operator::InstanceOf),
    ],
    &[
        (">>>", Operator::Binary(Binary::ShiftRightUnsigned)),
        ("<<", Operator::Binary(Binary::ShiftLeft)),
        (">>", Operator::Binary(Binary::ShiftRight)),
    ],
    &[("=~", Operator::Matches("=~")), ("==~", Operator::Matches("==~"))],
    &[("+", Operator::Binary(Binary::Add)), ("-", Operator::Binary(Binary::Sub))],
    &[
        ("*", Operator::Binary(Binary::Mul)),
        ("/", Operator::Binary(Binary::Div)),
        ("%", Operator::Binary(Binary::Rem)),
    ],
];

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
        let left = self.operators()?;
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
        self.height.raise(at)?;
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
            length += 1;
            if length > CHAIN_MAX {
                let reason = format!("an expression has at most {CHAIN_MAX} calls in a row");
                return Err(ScriptError::argument(at, reason));
            }
            self.height.raise(at)?;
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

impl Operands for Parser {
    const LEVELS: &'static [Level] = LEVELS;

    fn ahead(&self) -> (&TokenKind, u32) {
        (self.peek(), self.at())
    }

    fn skip_one(&mut self) {
        self.take();
    }

    fn height(&mut self) -> &mut Height {
        &mut self.height
    }

    fn operand(&mut self) -> Result<Expr, ScriptError> {
        self.unary_level()
    }

    fn tested(&mut self, left: Expr) -> Result<Expr, ScriptError> {
        let class = self.class_name()?;
        let at = left.at;
        Ok(Expr { kind: Kind::InstanceOf(Box::new(left), class), ty: Type::Bool, at })
    }

    fn operation(operator: Operator, left: Expr, right: Expr) -> Result<Expr, ScriptError> {
        joined_by(operator, left, right)
    }
}

/// Returns the operation of `left` and `right`.
fn joined_by(operator: Operator, left: Expr, right: Expr) -> Result<Expr, ScriptError> {
    let at = left.at;
    match operator {
        Operator::Binary(op) => {
            let is_null = |side: &Expr| matches!(side.kind, Kind::Literal(Literal::Null));
            if matches!(op, Binary::Equal | Binary::NotEqual) && is_null(&left) && is_null(&right) {
                return Err(ScriptError::argument(at, "extraneous comparison of [null] constants"));
            }
            binary(op, left, right)
        }
        Operator::OrElse | Operator::AndAlso => {
            let right = Box::new(coerce(right, Type::Bool, false)?);
            let left = Box::new(coerce(left, Type::Bool, false)?);
            let kind = match operator {
                Operator::OrElse => Kind::OrElse(left, right),
                _ => Kind::AndAlso(left, right),
            };
            Ok(Expr { kind, ty: Type::Bool, at })
        }
        Operator::Matches(name) => matching(name, left, right),
        Operator::InstanceOf => Err(ScriptError::argument(at, "[instanceof] has no operand")),
    }
}

/// Returns `text =~ /pattern/` or `text ==~ /pattern/` as a call of the pattern.
fn matching(name: &str, mut text: Expr, right: Expr) -> Result<Expr, ScriptError> {
    let pattern = Type::Object("java.util.regex.Pattern");
    let at = text.at;
    if matches!(text.kind, Kind::Literal(Literal::Null)) {
        let reason = "Cannot cast from [java.lang.Object] to [java.lang.String].";
        return Err(ScriptError::cast(at, reason.to_owned()));
    }
    if !matches!(text.ty, Type::Def | Type::Object(_)) {
        text = coerce(text, Type::Str, false)?;
    }
    if right.ty != pattern && right.ty != Type::Def {
        let reason = format!("Cannot cast from [{}] to [{}].", right.ty.name(), pattern.name());
        return Err(ScriptError::cast(right.at, reason));
    }
    let kind =
        Kind::Call { target: Box::new(right), name: name.into(), arguments: vec![text], null_safe: false };
    Ok(Expr { kind, ty: Type::Bool, at })
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
