//! A compiled script: the one typed form that both languages become, made once and shared by all who run it.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value as Json};

use super::documents::BoundField;
use super::error::ScriptError;
use super::extract::Extractor;
use super::regex::Regex;

/// A constant of the source.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Str(Arc<str>),
}

/// What is known of an expression before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Known at run time alone.
    Def,
    Void,
    Bool,
    Byte,
    Short,
    Char,
    Int,
    Long,
    Float,
    Double,
    Str,
    /// A class, by its full name.
    Object(&'static str),
}

impl Type {
    /// Place among the numbers in the order of Java's promotion; `None`: no number.
    pub fn rank(self) -> Option<u8> {
        Some(match self {
            Type::Byte => 0,
            Type::Short => 1,
            Type::Char => 2,
            Type::Int => 3,
            Type::Long => 4,
            Type::Float => 5,
            Type::Double => 6,
            _ => return None,
        })
    }

    pub fn is_number(self) -> bool {
        self.rank().is_some()
    }

    /// As errors print it.
    pub fn name(self) -> &'static str {
        match self {
            Type::Def => "def",
            Type::Void => "void",
            Type::Bool => "boolean",
            Type::Byte => "byte",
            Type::Short => "short",
            Type::Char => "char",
            Type::Int => "int",
            Type::Long => "long",
            Type::Float => "float",
            Type::Double => "double",
            Type::Str => "java.lang.String",
            Type::Object(name) => name,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Binary {
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Binary::Equal
                | Binary::NotEqual
                | Binary::Less
                | Binary::LessEqual
                | Binary::Greater
                | Binary::GreaterEqual
        )
    }

    pub fn is_shift(self) -> bool {
        matches!(self, Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightUnsigned)
    }

    pub fn is_bitwise(self) -> bool {
        matches!(self, Binary::And | Binary::Or | Binary::Xor)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Minus,
    Plus,
    Not,
    BitNot,
}

/// What a `doc` field is asked for as one number, in both languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldPart {
    Latitude,
    Longitude,
    /// Expressions: the first value as a double; 0 without any.
    First,
    Count,
    Min,
    Max,
    Sum,
    Avg,
    Median,
    /// Expressions: 1 without a value, else 0.
    IsEmpty,
    /// Expressions: a part of the first date.
    Date(DatePart),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatePart {
    Year,
    /// From 1, or from 0 as `java.util.Calendar` has it.
    Month,
    Month0,
    DayOfMonth,
    DayOfYear,
    /// Monday is 1.
    DayOfWeek,
    Hour,
    Minute,
    Second,
}

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: Kind,
    pub ty: Type,
    /// Where in the source, in UTF-16 units.
    pub at: u32,
}

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
    /// One of the functions that a context offers without a class (`saturation`, `decayGeoGauss`, `field`).
    BuiltIn {
        name: &'static str,
        arguments: Vec<Expr>,
    },
    Function(u16, Vec<Expr>),
    New(&'static str, Vec<Expr>),
    NewArray(Type, Box<Expr>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Lambda(u16),
    /// A compiled `grok` or `dissect`, by number.
    Extractor(u16),
    /// A regular expression, by number.
    Regex(u16),
    /// `target op= value`; the old value is the result after `++` and `--` behind a name.
    Assign {
        target: Box<Expr>,
        op: Option<Binary>,
        value: Box<Expr>,
        gives_old: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    Ctx,
    /// The value of an aggregation's field.
    AggregatedValue,
}

#[derive(Debug, Clone)]
pub enum Stmt {
    Expr(Expr),
    Declare(u16, Type, Option<Expr>),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Condition, step, body; `true` tests after the body first.
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
    Continue,
    Throw(Expr),
    Block(Vec<Stmt>),
    /// Body, then (class, slot, body) of each `catch`.
    Try(Vec<Stmt>, Vec<(&'static str, u16, Vec<Stmt>)>),
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub parameters: Vec<Type>,
    pub returns: Type,
    pub body: Vec<Stmt>,
    pub slots: u16,
}

/// A lambda runs in the frame of the code around it: its parameters are slots there.
#[derive(Debug)]
pub struct Lambda {
    pub parameters: Vec<u16>,
    pub body: LambdaBody,
}

#[derive(Debug)]
pub enum LambdaBody {
    Expr(Expr),
    Block(Vec<Stmt>),
}

/// What a script is for: what it may name, and what it has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptContext {
    Score,
    Field,
    Filter,
    NumberSort,
    StringSort,
    Aggregation,
    Update,
    UpdateByQuery,
    Reindex,
    Ingest,
    IngestCondition,
    BucketScript,
    BucketSelector,
    /// The four scripts of `scripted_metric`.
    MetricInit,
    MetricMap,
    MetricCombine,
    MetricReduce,
    RuntimeField(Emits),
    /// Of a filter of intervals.
    Interval,
    /// Of a filter of tokens.
    TokenFilter,
    /// Tried out with its parameters alone.
    Test,
}

/// What the script of a runtime field emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Emits {
    Boolean,
    /// Values of any kind by name.
    Composite,
    Date,
    Double,
    GeoPoint,
    Ip,
    Keyword,
    Long,
}

impl ScriptContext {
    /// Elasticsearch's name.
    pub fn name(self) -> &'static str {
        match self {
            ScriptContext::Score => "score",
            ScriptContext::Field => "field",
            ScriptContext::Filter => "filter",
            ScriptContext::NumberSort => "number_sort",
            ScriptContext::StringSort => "string_sort",
            ScriptContext::Aggregation => "aggs",
            ScriptContext::Update => "update",
            ScriptContext::UpdateByQuery => "update_by_query",
            ScriptContext::Reindex => "reindex",
            ScriptContext::Ingest => "ingest",
            ScriptContext::IngestCondition => "processor_conditional",
            ScriptContext::BucketScript => "bucket_aggregation",
            ScriptContext::BucketSelector => "aggregation_selector",
            ScriptContext::MetricInit => "aggs_init",
            ScriptContext::MetricMap => "aggs_map",
            ScriptContext::MetricCombine => "aggs_combine",
            ScriptContext::MetricReduce => "aggs_reduce",
            ScriptContext::Interval => "interval",
            ScriptContext::TokenFilter => "analysis",
            ScriptContext::Test => "painless_test",
            ScriptContext::RuntimeField(emits) => match emits {
                Emits::Boolean => "boolean_field",
                Emits::Composite => "composite_field",
                Emits::Date => "date_field",
                Emits::Double => "double_field",
                Emits::GeoPoint => "geo_point_field",
                Emits::Ip => "ip_field",
                Emits::Keyword => "keyword_field",
                Emits::Long => "long_field",
            },
        }
    }

    pub fn returns(self) -> Type {
        match self {
            ScriptContext::Score | ScriptContext::NumberSort => Type::Double,
            ScriptContext::Filter
            | ScriptContext::Interval
            | ScriptContext::TokenFilter
            | ScriptContext::IngestCondition
            | ScriptContext::BucketSelector => Type::Bool,
            ScriptContext::StringSort => Type::Str,
            ScriptContext::Field
            | ScriptContext::Aggregation
            | ScriptContext::MetricCombine
            | ScriptContext::MetricReduce
            | ScriptContext::Test => Type::Def,
            ScriptContext::BucketScript => Type::Object("java.lang.Number"),
            ScriptContext::Update
            | ScriptContext::UpdateByQuery
            | ScriptContext::Reindex
            | ScriptContext::Ingest
            | ScriptContext::MetricInit
            | ScriptContext::MetricMap
            | ScriptContext::RuntimeField(_) => Type::Void,
        }
    }

    pub fn has_doc(self) -> bool {
        !matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
                | ScriptContext::IngestCondition
                | ScriptContext::BucketScript
                | ScriptContext::BucketSelector
                | ScriptContext::MetricInit
                | ScriptContext::MetricCombine
                | ScriptContext::MetricReduce
                | ScriptContext::Interval
                | ScriptContext::TokenFilter
                | ScriptContext::Test
        )
    }

    pub fn has_ctx(self) -> bool {
        matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
                | ScriptContext::IngestCondition
        )
    }

    /// A variable that the script is given in its first slot.
    pub fn given(self) -> Option<(&'static str, Type)> {
        match self {
            ScriptContext::MetricInit | ScriptContext::MetricMap | ScriptContext::MetricCombine => {
                Some(("state", Type::Object("java.util.Map")))
            }
            ScriptContext::MetricReduce => Some(("states", Type::Object("java.util.List"))),
            ScriptContext::Interval => Some(("interval", Type::Def)),
            ScriptContext::TokenFilter => Some(("token", Type::Def)),
            _ => None,
        }
    }

    /// Whether `script.max_compilations_rate` holds: not for pipelines, which are compiled when they are put and when the node starts.
    pub fn is_rate_limited(self) -> bool {
        !matches!(self, ScriptContext::Ingest | ScriptContext::IngestCondition | ScriptContext::TokenFilter)
    }

    pub fn has_score(self) -> bool {
        matches!(
            self,
            ScriptContext::Score
                | ScriptContext::NumberSort
                | ScriptContext::StringSort
                | ScriptContext::Aggregation
                | ScriptContext::MetricMap
        )
    }
}

/// A script, ready to run.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) source: Arc<str>,
    pub(crate) language: &'static str,
    pub(crate) body: Vec<Stmt>,
    pub(crate) functions: Vec<Function>,
    pub(crate) lambdas: Vec<Lambda>,
    pub(crate) extractors: Vec<Extractor>,
    pub(crate) regexes: Vec<Regex>,
    /// Names of the fields in `doc`, by number.
    pub(crate) fields: Vec<Arc<str>>,
    /// Expressions: names that have to be parameters, each with its place.
    pub(crate) variables: Vec<(Arc<str>, u32)>,
    pub(crate) slots: u16,
    pub(crate) uses_score: bool,
    /// The members of `ctx` that the script can reach; `None`: any.
    pub(crate) ctx_names: Option<Vec<Arc<str>>>,
}

impl Compiled {
    /// What was compiled.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// `painless` or `expression`.
    pub fn language(&self) -> &'static str {
        self.language
    }

    /// Names of the fields that the script reads, by number.
    pub fn fields(&self) -> &[Arc<str>] {
        &self.fields
    }

    /// Whether the script asks for the score.
    pub fn uses_score(&self) -> bool {
        self.uses_score
    }

    /// Checks that all that an expression names is there. Painless asks when it runs.
    ///
    /// # Errors
    /// `script_exception` (link error).
    pub fn link(&self, fields: &[BoundField], params: &Map<String, Json>) -> Result<(), RequestError> {
        match self.language {
            "expression" => self
                .check_names(fields, params)
                .map_err(|error| error.to_request_error("link", &self.source, self.language)),
            _ => Ok(()),
        }
    }

    fn check_names(&self, fields: &[BoundField], params: &Map<String, Json>) -> Result<(), ScriptError> {
        let refused = |at: u32, reason: String| Err(ScriptError::new(at, "parse_exception", reason));
        for (name, at) in &self.variables {
            match params.get(&**name) {
                Some(Json::Number(_)) => {}
                None => return refused(*at, format!("Unknown variable [{name}]")),
                Some(_) => {
                    return refused(*at, format!("Parameter [{name}] must be a numeric type"));
                }
            }
        }
        for bound in fields {
            if let Some(error) = &bound.refused {
                return Err(ScriptError::new(0, error.kind, error.reason.clone()));
            }
            match &bound.field {
                None => return refused(0, format!("Field [{}] does not exist in mappings", bound.name)),
                Some(field) if !field.is_numeric() => {
                    return refused(0, format!("Field [{}] must be numeric, date, or geopoint", bound.name));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}
