//! Expressions that create values: lambdas, lists, maps, arrays and objects.

use super::conversions::coerce;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::tree::{Expr, Kind, Lambda, LambdaBody, Reference};
use crate::error::ScriptError;
use crate::types::{CLASSES, Type, class_of, type_of};
use crate::values::Regex;

/// Maximum number of dimensions of an array. Source: section 4.10 of the specification of Java's machine.
const DIMENSIONS_MAX: usize = 255;

impl Parser {
    /// Compiles a regular expression, once per script.
    pub(crate) fn regex(&mut self, pattern: &str, flags: &str, at: u32) -> Result<Expr, ScriptError> {
        self.check_count(self.regexes.len(), "regular expressions")?;
        let regex = Regex::parse(pattern, flags).map_err(|reason| ScriptError::argument(at, reason))?;
        self.regexes.push(regex);
        let kind = Kind::Regex((self.regexes.len() - 1) as u16);
        Ok(Expr { kind, ty: Type::Object("java.util.regex.Pattern"), at })
    }

    pub(crate) fn is_lambda(&self) -> bool {
        match self.peek() {
            TokenKind::Name(_) => self.is_symbol_at(1, "->"),
            TokenKind::Symbol("(") => {
                let mut ahead = 1;
                while matches!(self.peek_at(ahead), TokenKind::Name(_))
                    || self.is_symbol_at(ahead, ",")
                    || self.is_symbol_at(ahead, "[")
                    || self.is_symbol_at(ahead, "]")
                {
                    ahead += 1;
                }
                self.is_symbol_at(ahead, ")") && self.is_symbol_at(ahead + 1, "->")
            }
            _ => false,
        }
    }

    /// Returns the number of tokens before `::` if a reference to a function comes next.
    fn reference_ahead(&self) -> Option<usize> {
        let mut ahead = 1;
        while self.is_symbol_at(ahead, ".") && matches!(self.peek_at(ahead + 1), TokenKind::Name(_)) {
            ahead += 2;
        }
        let is_name = matches!(self.peek(), TokenKind::Name(_));
        (is_name && self.is_symbol_at(ahead, "::")).then_some(ahead)
    }

    /// Whether a function comes next that is passed as a value.
    pub(crate) fn is_function_value(&self) -> bool {
        self.is_lambda() || self.reference_ahead().is_some()
    }

    /// Parses a lambda or a reference to a function.
    pub(crate) fn function_value(&mut self) -> Result<Expr, ScriptError> {
        match self.reference_ahead() {
            Some(length) => self.reference(length),
            None => self.lambda(),
        }
    }

    /// Parses `Integer::parseInt`, `ArrayList::new`, `this::add` or `text::concat`. `length` is the number of
    /// tokens before `::`.
    fn reference(&mut self, length: usize) -> Result<Expr, ScriptError> {
        let at = self.at();
        let mut owner = self.name()?;
        for _ in 0..length / 2 {
            self.expect(".")?;
            owner = format!("{owner}.{}", self.name()?);
        }
        self.expect("::")?;
        let name = self.name()?;
        let missing =
            || ScriptError::argument(at, format!("function reference [{owner}::{name}] cannot be resolved"));
        let class = match owner.as_str() {
            "String" => Some("java.lang.String"),
            owner => type_of(owner).and_then(|ty| match ty {
                Type::Object(class) => Some(class),
                _ => None,
            }),
        };
        let reference = match (self.lookup(&owner), class) {
            (Some((slot, ..)), _) => Reference::Bound(slot, name.as_str().into()),
            (None, Some(class)) if name == "new" => Reference::Constructor(class),
            (None, Some(class)) => Reference::Method(short_name(class), name.as_str().into()),
            (None, None) if owner == "this" => {
                let functions = self.functions.iter().enumerate();
                let named = functions.filter(|(_, function)| function.name == name);
                let found: Vec<_> =
                    named.map(|(number, function)| (number as u16, function.parameters.len())).collect();
                if found.is_empty() {
                    return Err(missing());
                }
                Reference::Functions(found)
            }
            (None, None) => return Err(missing()),
        };
        self.check_count(self.lambdas.len(), "lambdas")?;
        self.lambdas.push(Lambda::reference(reference));
        Ok(Expr { kind: Kind::Lambda((self.lambdas.len() - 1) as u16), ty: Type::Def, at })
    }

    /// Parses the parentheses after `Function.identity`.
    pub(super) fn identity(&mut self, at: u32) -> Result<Expr, ScriptError> {
        self.expect("(")?;
        self.expect(")")?;
        self.check_count(self.lambdas.len(), "lambdas")?;
        self.lambdas.push(Lambda::reference(Reference::Identity));
        Ok(Expr { kind: Kind::Lambda((self.lambdas.len() - 1) as u16), ty: Type::Def, at })
    }

    pub(crate) fn lambda(&mut self) -> Result<Expr, ScriptError> {
        let at = self.at();
        self.enter()?;
        self.lambda_depths.push(self.scope_count());
        self.open_scope();
        let first_slot = self.slots;
        let mut parameters = Vec::new();
        let is_list = self.accept("(");
        while !(is_list && self.is(")")) {
            if let Some((_, length)) = self.type_ahead(0)
                && matches!(self.peek_at(length), TokenKind::Name(_))
            {
                self.skip(length);
            }
            let name_at = self.at();
            let name = self.name()?;
            parameters.push(self.declare(&name, Type::Def, name_at)?);
            if !is_list || !self.accept(",") {
                break;
            }
        }
        if is_list {
            self.expect(")")?;
        }
        self.expect("->")?;
        let body = if self.is("{") {
            let outer = std::mem::replace(&mut self.returns, Type::Def);
            let mut body = self.block()?;
            self.return_last(&mut body)?;
            self.returns = outer;
            LambdaBody::Block(body)
        } else {
            LambdaBody::Expr(self.expression()?)
        };
        self.close_scope();
        self.lambda_depths.pop();
        self.leave();
        self.check_count(self.lambdas.len(), "lambdas")?;
        self.lambdas.push(Lambda { parameters, slots: first_slot..self.slots, body });
        let kind = Kind::Lambda((self.lambdas.len() - 1) as u16);
        Ok(Expr { kind, ty: Type::Def, at })
    }

    pub(crate) fn list_or_map(&mut self, at: u32) -> Result<Expr, ScriptError> {
        if self.accept(":") {
            self.expect("]")?;
            return Ok(Expr { kind: Kind::Map(Vec::new()), ty: Type::Object("java.util.HashMap"), at });
        }
        let (mut items, mut pairs) = (Vec::new(), Vec::new());
        while !self.accept("]") {
            if !items.is_empty() || !pairs.is_empty() {
                self.expect(",")?;
            }
            self.check_count(items.len() + pairs.len(), "items in a list")?;
            let item = self.expression()?;
            if items.is_empty() && self.accept(":") {
                pairs.push((item, self.expression()?));
            } else {
                items.push(item);
            }
        }
        Ok(match pairs.is_empty() {
            true => Expr { kind: Kind::List(items), ty: Type::Object("java.util.ArrayList"), at },
            false => Expr { kind: Kind::Map(pairs), ty: Type::Object("java.util.HashMap"), at },
        })
    }

    pub(crate) fn creation(&mut self, at: u32) -> Result<Expr, ScriptError> {
        let name = self.name()?;
        if self.accept("[") {
            let ty =
                type_of(&name).ok_or_else(|| ScriptError::argument(at, format!("Not a type [{name}].")))?;
            if self.accept("]") {
                self.expect("{")?;
                let mut items = Vec::new();
                while !self.accept("}") {
                    if !items.is_empty() {
                        self.expect(",")?;
                    }
                    self.check_count(items.len(), "items in a list")?;
                    items.push(coerce(self.expression()?, ty, false)?);
                }
                return Ok(Expr { kind: Kind::List(items), ty: Type::Object("java.util.List"), at });
            }
            let mut lengths = Vec::new();
            loop {
                if lengths.len() == DIMENSIONS_MAX {
                    return Err(ScriptError::argument(
                        at,
                        format!("an array has at most {DIMENSIONS_MAX} dimensions"),
                    ));
                }
                lengths.push(coerce(self.expression()?, Type::Int, false)?);
                self.expect("]")?;
                if !self.accept("[") {
                    break;
                }
            }
            let kind = Kind::NewArray(ty, lengths);
            return Ok(Expr { kind, ty: Type::Object("java.util.List"), at });
        }
        let Some(class) = class_of(&name) else {
            return Err(ScriptError::argument(at, format!("Not a type [{name}].")));
        };
        let arguments = self.arguments()?;
        // Most constructors take no argument or one argument. That of a whole number takes its radix as well,
        // and those of a UUID and a point take both of their halves.
        let count_max = match name.as_str() {
            "BigDecimal" | "BigInteger" | "GeoPoint" | "MathContext" | "SimpleDateFormat" | "UUID" => 2,
            "StringJoiner" | "StringTokenizer" => 3,
            _ => 1,
        };
        if arguments.len() > count_max {
            return Err(ScriptError::argument(
                at,
                format!("constructor [{class}, <init>/{}] not found", arguments.len()),
            ));
        }
        Ok(Expr { kind: Kind::New(class, arguments), ty: Type::Object(class), at })
    }
}

/// Returns the short name of a class by its full name.
fn short_name(class: &str) -> &'static str {
    let known = CLASSES.iter().find(|(_, full)| *full == class);
    known.map_or("String", |(short, _)| *short)
}
