//! The typed tree that both languages become: expressions, statements, functions.

use std::ops::Range;
use std::sync::Arc;

use crate::types::{Binary, FieldPart, Literal, Type, Unary};

/// An expression with its type.
#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: Kind,
    pub ty: Type,
    /// Position in the source, in UTF-16 units.
    pub at: u32,
}

/// What an expression does.
#[derive(Debug, Clone)]
pub enum Kind {
    Literal(Literal),
    Local(u16),
    Score,
    Params,
    /// `params.name`.
    Param(Arc<str>),
    Doc,
    /// `doc['name']`, by number among [`Compiled::fields`].
    Field(u16),
    /// `doc['name'].value`.
    FieldValue(u16),
    /// `doc['name'].size()`.
    FieldSize(u16),
    FieldPart(u16, FieldPart),
    /// A variable of the context such as `ctx` or `_value`.
    Variable(Variable),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Unary(Unary, Box<Expr>),
    AndAlso(Box<Expr>, Box<Expr>),
    OrElse(Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Elvis(Box<Expr>, Box<Expr>),
    Cast(Type, Box<Expr>),
    InstanceOf(Box<Expr>, String),
    Member {
        target: Box<Expr>,
        name: Arc<str>,
        null_safe: bool,
    },
    Index(Box<Expr>, Box<Expr>),
    Call {
        target: Box<Expr>,
        name: Arc<str>,
        arguments: Vec<Expr>,
        null_safe: bool,
    },
    Static {
        class: &'static str,
        name: Arc<str>,
        arguments: Vec<Expr>,
    },
    /// A function that a context offers without a class (`saturation`, `decayGeoGauss`, `field`).
    BuiltIn {
        name: &'static str,
        arguments: Vec<Expr>,
    },
    Function(u16, Vec<Expr>),
    New(&'static str, Vec<Expr>),
    /// `new int[2][3]`: the type of the items, and a length for each dimension.
    NewArray(Type, Vec<Expr>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Lambda(u16),
    /// A compiled `grok` or `dissect`, by number.
    Extractor(u16),
    /// A regular expression, by number.
    Regex(u16),
    /// `target op= value`. For the postfix operators `++` and `--` the result is the old value.
    Assign {
        target: Box<Expr>,
        op: Option<Binary>,
        value: Box<Expr>,
        gives_old: bool,
    },
}

/// A variable that the context gives the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    Ctx,
    /// `_value`: the value of an aggregation's field.
    AggregatedValue,
}

/// A statement.
#[derive(Debug, Clone)]
pub enum Stmt {
    Expr(Expr),
    Declare(u16, Type, Option<Expr>),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Condition, step and body; `true` runs the body before the first test.
    Loop {
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Vec<Stmt>,
        is_do: bool,
        at: u32,
    },
    ForEach {
        slot: u16,
        ty: Type,
        items: Expr,
        body: Vec<Stmt>,
    },
    Return(Option<Expr>),
    Break,
    /// With its position in the source.
    Continue(u32),
    Throw(Expr),
    Block(Vec<Stmt>),
    /// Body, then (class, slot, body) of each `catch`.
    Try(Vec<Stmt>, Vec<(&'static str, u16, Vec<Stmt>)>),
}

impl Stmt {
    /// Whether nothing after this statement is reachable.
    pub fn ends(&self) -> bool {
        match self {
            Stmt::Return(_) | Stmt::Throw(_) | Stmt::Break | Stmt::Continue(_) => true,
            Stmt::If(_, yes, no) => yes.last().is_some_and(Stmt::ends) && no.last().is_some_and(Stmt::ends),
            Stmt::Block(inner) => inner.last().is_some_and(Stmt::ends),
            Stmt::Loop { condition, body, .. } => {
                let is_true = |condition: &Expr| matches!(condition.kind, Kind::Literal(Literal::Bool(true)));
                condition.as_ref().is_none_or(is_true) && !body.iter().any(Stmt::breaks)
            }
            _ => false,
        }
    }

    /// Whether the statement may end the loop around it by `break`.
    fn breaks(&self) -> bool {
        match self {
            Stmt::Break => true,
            Stmt::If(_, yes, no) => yes.iter().chain(no).any(Stmt::breaks),
            Stmt::Block(inner) => inner.iter().any(Stmt::breaks),
            Stmt::Try(body, catches) => {
                body.iter().chain(catches.iter().flat_map(|(_, _, body)| body)).any(Stmt::breaks)
            }
            _ => false,
        }
    }
}

/// A function that the script declares.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub parameters: Vec<Type>,
    pub returns: Type,
    pub body: Vec<Stmt>,
    pub slots: u16,
}

/// A lambda runs in the frame of the enclosing code: its parameters are slots of that frame.
#[derive(Debug)]
pub struct Lambda {
    pub parameters: Vec<u16>,
    /// The slots of its parameters and of the variables that it declares.
    pub slots: Range<u16>,
    pub body: LambdaBody,
}

impl Lambda {
    /// Makes a lambda that refers to a function.
    pub fn reference(reference: Reference) -> Lambda {
        Lambda { parameters: Vec::new(), slots: 0..0, body: LambdaBody::Reference(reference) }
    }
}

/// What a lambda does: the value of an expression, or statements.
#[derive(Debug)]
pub enum LambdaBody {
    Expr(Expr),
    Block(Vec<Stmt>),
    /// `Integer::parseInt` and the like, which take as many arguments as they are called with.
    Reference(Reference),
}

/// A function that a script names instead of writing a lambda.
#[derive(Debug)]
pub enum Reference {
    /// `ArrayList::new`.
    Constructor(&'static str),
    /// A static method of the class with this short name, or a method of the first argument.
    Method(&'static str, Arc<str>),
    /// `Function.identity()`.
    Identity,
    /// `text::concat`: a method of a variable.
    Bound(u16, Arc<str>),
    /// `this::add`: the functions of the script with this name, and the numbers of their parameters.
    Functions(Vec<(u16, usize)>),
}
