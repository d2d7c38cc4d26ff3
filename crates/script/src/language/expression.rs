//! Lucene expressions: a single expression of double arithmetic over doc values, without statements.
//!
//! Source: the documentation of Lucene's `JavascriptCompiler` and of Elasticsearch's `expression` language.
//! Comparisons and `!`, `&&`, `||` give 1 or 0; a field without a value counts as 0.

use std::sync::Arc;

use super::compiled::Compiled;
use super::context::ScriptContext;
use super::lexer::{Token, TokenKind, tokens};
use super::operators::{CHAIN_MAX, Height, Level, Operands, Operator};
use super::tree::{Expr, Kind, Stmt, Variable};
use crate::error::ScriptError;
use crate::types::{Binary, DatePart, FieldPart, Literal, Type, Unary};

const DEPTH_MAX: u32 = 60;

/// Operators by precedence level, loosest first.
const LEVELS: &[Level] = &[
    &[("||", Operator::OrElse)],
    &[("&&", Operator::AndAlso)],
    &[("|", Operator::Binary(Binary::Or))],
    &[("^", Operator::Binary(Binary::Xor))],
    &[("&", Operator::Binary(Binary::And))],
    &[("==", Operator::Binary(Binary::Equal)), ("!=", Operator::Binary(Binary::NotEqual))],
    &[
        ("<=", Operator::Binary(Binary::LessEqual)),
        (">=", Operator::Binary(Binary::GreaterEqual)),
        ("<", Operator::Binary(Binary::Less)),
        (">", Operator::Binary(Binary::Greater)),
    ],
    &[
        (">>>", Operator::Binary(Binary::ShiftRightUnsigned)),
        ("<<", Operator::Binary(Binary::ShiftLeft)),
        (">>", Operator::Binary(Binary::ShiftRight)),
    ],
    &[("+", Operator::Binary(Binary::Add)), ("-", Operator::Binary(Binary::Sub))],
    &[
        ("*", Operator::Binary(Binary::Mul)),
        ("/", Operator::Binary(Binary::Div)),
        ("%", Operator::Binary(Binary::Rem)),
    ],
];

/// Compiles an expression.
pub(crate) fn compile_expression(source: &str, context: ScriptContext) -> Result<Compiled, ScriptError> {
    if !context.has_doc() || context.given().is_some() {
        return Err(ScriptError::argument(
            0,
            format!("expression engine does not know how to handle script context [{}]", context.name()),
        ));
    }
    let mut parser = Parser {
        tokens: tokens(source)?,
        next: 0,
        context,
        fields: Vec::new(),
        variables: Vec::new(),
        uses_score: false,
        depth: 0,
        height: Height::default(),
    };
    let value = parser.conditional()?;
    if parser.peek() != &TokenKind::End {
        return Err(parser.unexpected());
    }
    let value = match context.returns() {
        Type::Bool => truth(value),
        Type::Double | Type::Def => value,
        _ => return Err(ScriptError::argument(0, "an expression gives a number")),
    };
    Ok(Compiled {
        computed_names: None,
        source: source.into(),
        language: "expression",
        body: vec![Stmt::Return(Some(value))],
        functions: Vec::new(),
        lambdas: Vec::new(),
        extractors: Vec::new(),
        regexes: Vec::new(),
        fields: parser.fields,
        variables: parser.variables,
        slots: 0,
        uses_score: parser.uses_score,
        ctx_names: None,
        outside: None,
    })
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    context: ScriptContext,
    fields: Vec<Arc<str>>,
    variables: Vec<(Arc<str>, u32)>,
    uses_score: bool,
    depth: u32,
    height: Height,
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
        self.unary()
    }

    fn tested(&mut self, _: Expr) -> Result<Expr, ScriptError> {
        Err(self.unexpected())
    }

    fn operation(operator: Operator, left: Expr, right: Expr) -> Result<Expr, ScriptError> {
        Ok(joined_by(operator, left, right))
    }
}

fn number(value: f64, at: u32) -> Expr {
    Expr { kind: Kind::Literal(Literal::Double(value)), ty: Type::Double, at }
}

fn node(kind: Kind, ty: Type, at: u32) -> Expr {
    Expr { kind, ty, at }
}

/// Converts a number to a condition.
fn truth(value: Expr) -> Expr {
    let Expr { kind, ty, at } = value;
    let kind = match kind {
        // Undoes the conversion of a condition to a number.
        Kind::Conditional(condition, yes, no) if is_number(&yes, 1.0) && is_number(&no, 0.0) => {
            return *condition;
        }
        kind => kind,
    };
    let value = Box::new(Expr { kind, ty, at });
    node(Kind::Binary(Binary::NotEqual, value, Box::new(number(0.0, at))), Type::Bool, at)
}

fn is_number(value: &Expr, wanted: f64) -> bool {
    matches!(&value.kind, Kind::Literal(Literal::Double(found)) if *found == wanted)
}

/// Converts a condition to a number.
fn measure(condition: Expr) -> Expr {
    let at = condition.at;
    let (one, zero) = (number(1.0, at), number(0.0, at));
    node(Kind::Conditional(Box::new(condition), Box::new(one), Box::new(zero)), Type::Double, at)
}

/// Returns the operation of `left` and `right`.
fn joined_by(operator: Operator, left: Expr, right: Expr) -> Expr {
    let at = left.at;
    match operator {
        Operator::OrElse => {
            let kind = Kind::OrElse(Box::new(truth(left)), Box::new(truth(right)));
            measure(node(kind, Type::Bool, at))
        }
        Operator::AndAlso => {
            let kind = Kind::AndAlso(Box::new(truth(left)), Box::new(truth(right)));
            measure(node(kind, Type::Bool, at))
        }
        Operator::Binary(op) if op.is_comparison() => {
            measure(node(Kind::Binary(op, Box::new(left), Box::new(right)), Type::Bool, at))
        }
        Operator::Binary(op) if op.is_bitwise() || op.is_shift() => {
            let kind = Kind::Binary(op, Box::new(to_long(left)), Box::new(to_long(right)));
            to_double(node(kind, Type::Long, at))
        }
        Operator::Binary(op) => node(Kind::Binary(op, Box::new(left), Box::new(right)), Type::Double, at),
        Operator::Matches(_) | Operator::InstanceOf => left,
    }
}

fn to_long(value: Expr) -> Expr {
    let at = value.at;
    node(Kind::Cast(Type::Long, Box::new(value)), Type::Long, at)
}

fn to_double(value: Expr) -> Expr {
    let at = value.at;
    node(Kind::Cast(Type::Double, Box::new(value)), Type::Double, at)
}

impl Parser {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    fn at(&self) -> u32 {
        self.tokens[self.next].at
    }

    fn take(&mut self) -> TokenKind {
        let kind = self.tokens[self.next].kind.clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        kind
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Symbol(known) if *known == symbol);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ScriptError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> ScriptError {
        let at = self.at();
        let shown = match self.peek() {
            TokenKind::End => {
                return ScriptError::new(at, "parse_exception", "unexpected end of expression");
            }
            TokenKind::Name(name) => name.clone(),
            TokenKind::Symbol(symbol) => (*symbol).to_owned(),
            TokenKind::Literal(_) => "constant".to_owned(),
            TokenKind::Regex(..) => "/".to_owned(),
        };
        ScriptError::new(
            at,
            "parse_exception",
            format!("unexpected token '{shown}' on line (1) position ({at})"),
        )
    }

    fn conditional(&mut self) -> Result<Expr, ScriptError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ScriptError::argument(
                self.at(),
                format!("the script is nested deeper than {DEPTH_MAX} levels"),
            ));
        }
        let condition = self.operators()?;
        let value = if self.accept("?") {
            let at = condition.at;
            let yes = self.conditional()?;
            self.expect(":")?;
            let no = self.conditional()?;
            let kind = Kind::Conditional(Box::new(truth(condition)), Box::new(yes), Box::new(no));
            node(kind, Type::Double, at)
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn unary(&mut self) -> Result<Expr, ScriptError> {
        let at = self.at();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ScriptError::argument(
                at,
                format!("the script is nested deeper than {DEPTH_MAX} levels"),
            ));
        }
        let value = if self.accept("-") {
            node(Kind::Unary(Unary::Minus, Box::new(self.unary()?)), Type::Double, at)
        } else if self.accept("+") {
            self.unary()?
        } else if self.accept("!") {
            measure(node(Kind::Unary(Unary::Not, Box::new(truth(self.unary()?))), Type::Bool, at))
        } else if self.accept("~") {
            to_double(node(Kind::Unary(Unary::BitNot, Box::new(to_long(self.unary()?))), Type::Long, at))
        } else {
            self.primary()?
        };
        self.depth -= 1;
        self.height.raise(at)?;
        Ok(value)
    }

    fn primary(&mut self) -> Result<Expr, ScriptError> {
        let at = self.at();
        match self.peek().clone() {
            TokenKind::Literal(literal) => {
                let value = match literal {
                    Literal::Int(number) => f64::from(number),
                    Literal::Long(number) => number as f64,
                    Literal::Float(number) => f64::from(number),
                    Literal::Double(number) => number,
                    Literal::Bool(flag) => f64::from(u8::from(flag)),
                    Literal::Null | Literal::Str(_) => return Err(self.unexpected()),
                };
                self.take();
                Ok(number(value, at))
            }
            TokenKind::Symbol("(") => {
                self.take();
                let inner = self.conditional()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Name(name) => {
                self.take();
                self.named(name, at)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn named(&mut self, name: String, at: u32) -> Result<Expr, ScriptError> {
        if self.accept("(") {
            let mut arguments = Vec::new();
            while !self.accept(")") {
                if !arguments.is_empty() {
                    self.expect(",")?;
                }
                if arguments.len() == CHAIN_MAX {
                    let reason = format!("a function has at most {CHAIN_MAX} arguments");
                    return Err(ScriptError::argument(self.at(), reason));
                }
                arguments.push(self.conditional()?);
            }
            for _ in 2..arguments.len() {
                self.height.raise(at)?;
            }
            return function(&name, arguments, at);
        }
        match name.as_str() {
            "doc" => self.field(at),
            "_score" if self.context.has_score() => {
                self.uses_score = true;
                Ok(node(Kind::Score, Type::Double, at))
            }
            "_value" if self.context == ScriptContext::Aggregation => {
                Ok(to_double(node(Kind::Variable(Variable::AggregatedValue), Type::Def, at)))
            }
            _ => {
                let name: Arc<str> = name.into();
                self.variables.push((name.clone(), at));
                Ok(to_double(node(Kind::Param(name), Type::Def, at)))
            }
        }
    }

    /// Parses `doc['name'].part` or `doc['name'].method()`.
    fn field(&mut self, at: u32) -> Result<Expr, ScriptError> {
        self.expect("[")?;
        let TokenKind::Literal(Literal::Str(path)) = self.take() else { return Err(self.unexpected()) };
        self.expect("]")?;
        let mut member = "value".to_owned();
        while self.accept(".") {
            let TokenKind::Name(name) = self.take() else { return Err(self.unexpected()) };
            if self.accept("(") {
                self.expect(")")?;
            }
            // `doc['d'].date.year` names a part of the date.
            if name != "date" {
                member = name;
            }
        }
        let part = match member.as_str() {
            "value" | "getValue" => FieldPart::First,
            "empty" | "isEmpty" => FieldPart::IsEmpty,
            "length" | "count" | "size" => FieldPart::Count,
            "min" => FieldPart::Min,
            "max" => FieldPart::Max,
            "sum" => FieldPart::Sum,
            "avg" => FieldPart::Avg,
            "median" => FieldPart::Median,
            "lat" => FieldPart::Latitude,
            "lon" => FieldPart::Longitude,
            "year" | "getYear" => FieldPart::Date(DatePart::Year),
            "getMonth" => FieldPart::Date(DatePart::Month0),
            "monthOfYear" => FieldPart::Date(DatePart::Month),
            "dayOfMonth" | "getDayOfMonth" => FieldPart::Date(DatePart::DayOfMonth),
            "dayOfYear" => FieldPart::Date(DatePart::DayOfYear),
            "dayOfWeek" => FieldPart::Date(DatePart::DayOfWeek),
            "hourOfDay" | "getHourOfDay" => FieldPart::Date(DatePart::Hour),
            "minuteOfHour" | "getMinutes" => FieldPart::Date(DatePart::Minute),
            "secondOfMinute" | "getSeconds" => FieldPart::Date(DatePart::Second),
            other => {
                return Err(ScriptError::argument(
                    at,
                    format!("Member variable or method [{other}] does not exist for field [{path}]."),
                ));
            }
        };
        let found = self.fields.iter().position(|known| *known == path);
        let number = found.unwrap_or(self.fields.len());
        if found.is_none() {
            self.fields.push(path);
        }
        Ok(node(Kind::FieldPart(number as u16, part), Type::Double, at))
    }
}

fn function(name: &str, mut arguments: Vec<Expr>, at: u32) -> Result<Expr, ScriptError> {
    let java = match name {
        "ln" => "log",
        "logn" | "haversin" => {
            return Err(ScriptError::unsupported(at, format_args!("the function [{name}]")));
        }
        other => other,
    };
    let is_known = match arguments.len() {
        1 => crate::library::math(java).is_some(),
        2 => crate::library::math2(java).is_some(),
        _ => false,
    };
    if is_known {
        return Ok(node(Kind::Static { class: "Math", name: java.into(), arguments }, Type::Double, at));
    }
    if matches!(name, "max" | "min") && arguments.len() > 2 {
        // More than two arguments are folded from the left.
        let mut rest = arguments.split_off(2).into_iter();
        let mut value = function(name, arguments, at)?;
        for next in rest.by_ref() {
            value = function(name, vec![value, next], at)?;
        }
        return Ok(value);
    }
    Err(ScriptError::new(
        at,
        "illegal_argument_exception",
        format!("Unrecognized function call ({name}) with {} arguments.", arguments.len()),
    ))
}
