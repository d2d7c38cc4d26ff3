//! What the names of an expression refer to: variables, fields of documents, members, methods, functions,
//! classes with their constants and static methods.

use std::sync::Arc;

use super::context::ScriptContext;
use super::conversions::{binary, coerce};
use super::lexer::TokenKind;
use super::parse_expr::type_of_literal;
use super::parser::Parser;
use super::tree::{Expr, Kind, Variable};
use crate::error::ScriptError;
use crate::library::token_member;
use crate::types::{Binary, FieldPart, Literal, Type, class_of, is_functional, type_of};

/// Functions that contexts offer without a class: name, least and greatest number of arguments.
const BUILT_IN: &[(&str, usize, usize)] = &[
    ("field", 1, 1),
    ("$", 2, 2),
    ("saturation", 2, 2),
    ("sigmoid", 3, 3),
    ("randomScore", 1, 2),
    ("decayNumericLinear", 5, 5),
    ("decayNumericExp", 5, 5),
    ("decayNumericGauss", 5, 5),
    ("decayDateLinear", 5, 5),
    ("decayDateExp", 5, 5),
    ("decayDateGauss", 5, 5),
    ("decayGeoLinear", 5, 5),
    ("decayGeoExp", 5, 5),
    ("decayGeoGauss", 5, 5),
];

impl Parser {
    pub(super) fn named(&mut self, name: String, at: u32) -> Result<Expr, ScriptError> {
        if self.is("(") {
            return self.local_call(name, at);
        }
        let name = self.given_number(name)?;
        if let Some((slot, ty, scope)) = self.lookup(&name) {
            if self.context == ScriptContext::TokenFilter && name == "token" {
                self.check_token_member(at)?;
            }
            let is_outside = self.lambda_depths.last().is_some_and(|depth| scope < *depth);
            if (is_outside || name.contains('.')) && self.is_assigned() {
                return Err(ScriptError::argument(at, format!("Variable [{name}] is read-only.")));
            }
            return Ok(Expr { kind: Kind::Local(slot), ty, at });
        }
        let map = Type::Object("java.util.Map");
        let (kind, ty) = match name.as_str() {
            "params" => (Kind::Params, map),
            "doc" if self.context.has_doc() => {
                self.doc_count += 1;
                (Kind::Doc, map)
            }
            "_score" if self.context.has_score() => {
                self.uses_score = true;
                (Kind::Score, Type::Double)
            }
            "_value" if self.context == ScriptContext::Aggregation => {
                (Kind::Variable(Variable::AggregatedValue), Type::Def)
            }
            "ctx" if self.context.has_ctx() => {
                self.ctx_count += 1;
                (Kind::Variable(Variable::Ctx), map)
            }
            _ => match class_of(&name) {
                Some(class) if self.is(".") => return self.static_member(class, at),
                _ if self.is(".")
                    && matches!(self.peek_at(1), TokenKind::Name(_))
                    && name.starts_with(|first: char| first.is_ascii_lowercase()) =>
                {
                    return self.qualified(name, at);
                }
                _ => return Err(ScriptError::argument(at, format!("cannot resolve symbol [{name}]"))),
            },
        };
        Ok(Expr { kind, ty, at })
    }

    /// Takes the member after an object whose members are numbers that the script is given. Returns the name
    /// of the number, or the name itself if it is not such an object.
    fn given_number(&mut self, name: String) -> Result<String, ScriptError> {
        let numbers = self.context.given_numbers().iter().filter_map(|(number, _)| number.split_once('.'));
        let mut members = numbers.filter(|(object, _)| *object == name).map(|(_, member)| member).peekable();
        if members.peek().is_none() || self.lookup(&name).is_some() {
            return Ok(name);
        }
        let dot = self.expect(".")?;
        let asked = self.name()?;
        let is_getter = self.is("(");
        if is_getter && !self.arguments()?.is_empty() {
            return Err(ScriptError::argument(dot, format!("method [{name}, {asked}] takes no arguments")));
        }
        let fits = |member: &&str| match is_getter {
            false => *member == asked,
            // `getDocCount` reads `docCount`.
            true => asked.strip_prefix("get").is_some_and(|rest| {
                let (first, after) = member.split_at(1);
                rest.strip_prefix(first.to_uppercase().as_str()) == Some(after)
            }),
        };
        match members.find(fits) {
            Some(member) => Ok(format!("{name}.{member}")),
            None => Err(ScriptError::argument(dot, format!("field [{name}, {asked}] not found"))),
        }
    }

    /// Refuses a member that tokens do not have.
    fn check_token_member(&self, at: u32) -> Result<(), ScriptError> {
        let (true, TokenKind::Name(member)) = (self.is("."), self.peek_at(1)) else { return Ok(()) };
        if token_member(member).is_some() {
            return Ok(());
        }
        const TOKEN: &str = "org.elasticsearch.analysis.common.AnalysisPredicateScript.Token";
        Err(ScriptError::argument(at + 5, format!("field [{TOKEN}, {member}] not found")))
    }

    /// Parses a class by its full name (`java.time.ZonedDateTime.parse(...)`).
    fn qualified(&mut self, first: String, at: u32) -> Result<Expr, ScriptError> {
        let mut full = first;
        while self.is(".")
            && let TokenKind::Name(part) = self.peek_at(1)
        {
            full = format!("{full}.{part}");
            self.skip(2);
            if let Some(Type::Object(class)) = type_of(&full) {
                return self.static_member(class, at);
            }
        }
        Err(ScriptError::argument(at, format!("cannot resolve symbol [{full}]")))
    }

    fn static_member(&mut self, class: &'static str, at: u32) -> Result<Expr, ScriptError> {
        let dot = self.expect(".")?;
        let name = self.name()?;
        let short = short_of(class);
        if short == "Map" && name == "Entry" && self.is(".") {
            return self.static_member("java.util.Map$Entry", at);
        }
        if name == "identity" && is_functional(class) && self.is("(") {
            return self.identity(at);
        }
        if !self.is("(") {
            let constant = match (short, name.as_str()) {
                ("Math", "PI") => Literal::Double(std::f64::consts::PI),
                ("Math", "E") => Literal::Double(std::f64::consts::E),
                ("Integer", "MAX_VALUE") => Literal::Int(i32::MAX),
                ("Integer", "MIN_VALUE") => Literal::Int(i32::MIN),
                ("Long", "MAX_VALUE") => Literal::Long(i64::MAX),
                ("Long", "MIN_VALUE") => Literal::Long(i64::MIN),
                ("Double", "MAX_VALUE") => Literal::Double(f64::MAX),
                ("Double", "MIN_VALUE") => Literal::Double(f64::from_bits(1)),
                ("Double", "POSITIVE_INFINITY") => Literal::Double(f64::INFINITY),
                ("Double", "NEGATIVE_INFINITY") => Literal::Double(f64::NEG_INFINITY),
                ("Double", "NaN") => Literal::Double(f64::NAN),
                ("Float", "MAX_VALUE") => Literal::Float(f32::MAX),
                ("ZoneOffset", "UTC") => Literal::Str("Z".into()),
                (class, name) if crate::library::number_constant(class, name).is_some() => {
                    crate::library::number_constant(class, name).unwrap_or(Literal::Null)
                }
                (class, name) if crate::library::constant(class, name).is_some() => {
                    let kind = Kind::Literal(Literal::Str(name.into()));
                    return Ok(Expr { kind, ty: Type::Def, at });
                }
                ("Collections", constant) if let Some(name) = empty_of(constant).map(Arc::from) => {
                    let kind = Kind::Static { class: "Collections", name, arguments: Vec::new() };
                    return Ok(Expr { kind, ty: Type::Def, at });
                }
                (class, constant) if crate::library::is_constant(class, constant) => {
                    let class = short_static(class);
                    let kind = Kind::Static { class, name: Arc::from(name), arguments: Vec::new() };
                    return Ok(Expr { kind, ty: Type::Def, at });
                }
                _ => {
                    return Err(ScriptError::argument(
                        dot,
                        format!("static field [{class}, {name}] not found"),
                    ));
                }
            };
            let ty = type_of_literal(&constant);
            return Ok(Expr { kind: Kind::Literal(constant), ty, at });
        }
        let mut arguments = self.arguments()?;
        let Some(returns) = crate::library::static_returns(short, &name, arguments.len()) else {
            return Err(ScriptError::argument(
                dot,
                format!("static method [{class}, {name}/{}] not found", arguments.len()),
            ));
        };
        if short == "Math" {
            arguments = arguments
                .into_iter()
                .map(|argument| coerce(argument, Type::Double, false))
                .collect::<Result<_, _>>()?;
        }
        let kind = Kind::Static { class: short_static(short), name: Arc::from(name), arguments };
        Ok(Expr { kind, ty: returns, at: dot })
    }

    fn local_call(&mut self, name: String, at: u32) -> Result<Expr, ScriptError> {
        let arguments = self.arguments()?;
        let found = self
            .functions
            .iter()
            .position(|function| function.name == name && function.parameters.len() == arguments.len());
        if let Some(number) = found {
            let (parameters, returns) =
                (self.functions[number].parameters.clone(), self.functions[number].returns);
            let arguments = arguments
                .into_iter()
                .zip(parameters)
                .map(|(argument, ty)| match argument.kind {
                    Kind::Lambda(_) => passed_lambda(argument, ty),
                    _ => coerce(argument, ty, false),
                })
                .collect::<Result<_, _>>()?;
            return Ok(Expr { kind: Kind::Function(number as u16, arguments), ty: returns, at });
        }
        if self.is_document_call(&name, arguments.len()) {
            return self.document_call(&name, arguments, at);
        }
        let built_in = BUILT_IN
            .iter()
            .find(|(known, fewest, most)| *known == name && (*fewest..=*most).contains(&arguments.len()));
        match built_in {
            Some((known, ..)) if matches!(*known, "field" | "$") && self.context.has_doc() => {
                let Kind::Literal(Literal::Str(path)) = &arguments[0].kind else {
                    self.doc_count += 1;
                    return Ok(Expr { kind: Kind::BuiltIn { name: known, arguments }, ty: Type::Def, at });
                };
                let field = Expr { kind: Kind::Field(self.field(path)?), ty: Type::Def, at };
                let rest = arguments.into_iter().skip(1);
                let arguments = std::iter::once(field).chain(rest).collect();
                Ok(Expr { kind: Kind::BuiltIn { name: known, arguments }, ty: Type::Def, at })
            }
            None if matches!(self.context, ScriptContext::RuntimeField(_)) => {
                self.runtime_field_call(&name, arguments, at)
            }
            Some((known, ..)) if self.context == ScriptContext::Score => {
                let mut arguments = arguments;
                if *known == "randomScore"
                    && let Some(field) = arguments.get_mut(1)
                {
                    let Kind::Literal(Literal::Str(path)) = field.kind.clone() else {
                        return Err(ScriptError::unsupported(
                            at,
                            "[randomScore] with a field that is no constant",
                        ));
                    };
                    field.kind = Kind::Field(self.field(&path)?);
                }
                Ok(Expr { kind: Kind::BuiltIn { name: known, arguments }, ty: Type::Double, at })
            }
            _ => Err(ScriptError::argument(
                at,
                format!("Unknown call [{name}] with [{}] arguments.", arguments.len()),
            )),
        }
    }

    pub(super) fn index(&mut self, target: Expr, index: Expr) -> Result<Expr, ScriptError> {
        let at = index.at;
        if let Kind::Literal(Literal::Str(name)) = &index.kind {
            match target.kind {
                Kind::Doc => {
                    self.doc_count -= 1;
                    let kind = Kind::Field(self.field(name)?);
                    return Ok(Expr { kind, ty: Type::Def, at });
                }
                Kind::Params => return Ok(self.param(name.clone(), at)),
                Kind::Variable(Variable::Ctx) => self.ctx_names.push(name.clone()),
                _ => {}
            }
        }
        Ok(Expr { kind: Kind::Index(Box::new(target), Box::new(index)), ty: Type::Def, at })
    }

    fn param(&mut self, name: Arc<str>, at: u32) -> Expr {
        Expr { kind: Kind::Param(name), ty: Type::Def, at }
    }

    pub(super) fn member(
        &mut self,
        target: Expr,
        name: String,
        null_safe: bool,
        at: u32,
    ) -> Result<Expr, ScriptError> {
        if matches!(target.kind, Kind::Variable(Variable::Ctx)) {
            self.ctx_names.push(name.as_str().into());
        }
        let (kind, ty) = match (&target.kind, name.as_str()) {
            (Kind::Doc, _) => {
                self.doc_count -= 1;
                (Kind::Field(self.field(&name)?), Type::Def)
            }
            (Kind::Params, _) => return Ok(self.param(name.into(), at)),
            (Kind::Field(field), "value") => (Kind::FieldValue(*field), Type::Def),
            (Kind::Field(field), "length") => (Kind::FieldSize(*field), Type::Int),
            (Kind::Field(field), "lat") => (Kind::FieldPart(*field, FieldPart::Latitude), Type::Double),
            (Kind::Field(field), "lon") => (Kind::FieldPart(*field, FieldPart::Longitude), Type::Double),
            (Kind::FieldValue(field), "lat") => (Kind::FieldPart(*field, FieldPart::Latitude), Type::Double),
            (Kind::FieldValue(field), "lon") => (Kind::FieldPart(*field, FieldPart::Longitude), Type::Double),
            (Kind::Literal(Literal::Null), _) => {
                return Err(ScriptError::argument(at, format!("field [java.lang.Object, {name}] not found")));
            }
            _ => (Kind::Member { target: Box::new(target), name: name.into(), null_safe }, Type::Def),
        };
        Ok(Expr { kind, ty, at })
    }

    pub(super) fn call(
        &mut self,
        target: Expr,
        name: String,
        arguments: Vec<Expr>,
        null_safe: bool,
        at: u32,
    ) -> Result<Expr, ScriptError> {
        if let (
            Kind::Variable(Variable::Ctx),
            "containsKey" | "get" | "getOrDefault" | "put" | "putIfAbsent" | "remove",
            [Expr { kind: Kind::Literal(Literal::Str(member)), .. }, ..],
        ) = (&target.kind, name.as_str(), arguments.as_slice())
        {
            self.ctx_names.push(member.clone());
        }
        if let Some((map, name)) = changed_view(&target, &name) {
            return Ok(called(map, name, arguments, null_safe, at));
        }
        if let Some(sum) = sum_of_stream(&target, &name, &arguments) {
            return Ok(called(Box::new(target), sum.into(), arguments, null_safe, at));
        }
        let arguments = match (name.as_str(), arguments.as_slice()) {
            ("summaryStatistics", []) => statistics_class(&target, at).into_iter().collect(),
            _ => arguments,
        };
        let (kind, ty) = match (&target.kind, name.as_str(), arguments.as_slice()) {
            (Kind::Field(field), "size" | "getLength", []) => (Kind::FieldSize(*field), Type::Int),
            (Kind::Field(field), "getValue", []) => (Kind::FieldValue(*field), Type::Def),
            (Kind::Field(field), "get", [Expr { kind: Kind::Literal(Literal::Int(0)), .. }]) => {
                (Kind::FieldValue(*field), Type::Def)
            }
            (Kind::Field(field), "isEmpty", []) => {
                let size = Expr { kind: Kind::FieldSize(*field), ty: Type::Int, at };
                let zero = Expr { kind: Kind::Literal(Literal::Int(0)), ty: Type::Int, at };
                return binary(Binary::Equal, size, zero);
            }
            (Kind::Doc, "get", [Expr { kind: Kind::Literal(Literal::Str(path)), .. }]) => {
                self.doc_count -= 1;
                (Kind::Field(self.field(&path.clone())?), Type::Def)
            }
            (Kind::Doc, "containsKey", [_]) => {
                self.doc_count -= 1;
                (Kind::Call { target: Box::new(target), name: name.into(), arguments, null_safe }, Type::Bool)
            }
            (Kind::Params, _, _) => {
                (Kind::Call { target: Box::new(target), name: name.into(), arguments, null_safe }, Type::Def)
            }
            _ => {
                let (returns, argument) = match target.ty {
                    Type::Object(class) => {
                        crate::library::check_pattern_method(class, &name, arguments.len())
                    }
                    _ => None,
                }
                .unwrap_or_else(|| {
                    crate::library::check_method(target.ty, &name, arguments.len())
                        .map(|returns| (returns, Type::Def))
                })
                .map_err(|reason| ScriptError::argument(at, reason))?;
                let arguments = match argument {
                    Type::Def => arguments,
                    wanted => coerced(arguments, wanted)?,
                };
                (Kind::Call { target: Box::new(target), name: name.into(), arguments, null_safe }, returns)
            }
        };
        Ok(Expr { kind, ty, at })
    }
}

/// Checks that a parameter of this type can hold a function.
fn passed_lambda(lambda: Expr, ty: Type) -> Result<Expr, ScriptError> {
    match ty {
        Type::Object(class) if is_functional(class) => Ok(lambda),
        _ => {
            let reason = format!("Cannot pass lambda to [{}], not a functional interface", ty.name());
            Err(ScriptError::argument(lambda.at, reason))
        }
    }
}

/// Converts arguments to the type that a method takes.
fn coerced(arguments: Vec<Expr>, wanted: Type) -> Result<Vec<Expr>, ScriptError> {
    let coerced = arguments.into_iter().map(|own| match own.kind {
        Kind::Lambda(_) => {
            let reason = "Cannot pass lambda to [java.lang.String], not a functional interface";
            Err(ScriptError::argument(own.at, reason))
        }
        _ => coerce(own, wanted, false),
    });
    coerced.collect()
}

/// Makes a call of which only its run tells what it returns.
fn called(target: Box<Expr>, name: Arc<str>, arguments: Vec<Expr>, null_safe: bool, at: u32) -> Expr {
    Expr { kind: Kind::Call { target, name, arguments, null_safe }, ty: Type::Def, at }
}

/// Returns the name of the call, if `sum` is called on a stream of numbers.
fn sum_of_stream(target: &Expr, method: &str, arguments: &[Expr]) -> Option<&'static str> {
    if method != "sum" || !arguments.is_empty() {
        return None;
    }
    match &target.kind {
        Kind::Call { name, .. } => crate::library::sum_of_stream(name),
        Kind::Static { class, .. } => crate::library::sum_of_stream(class),
        _ => None,
    }
}

/// Returns the class of the statistics of a stream, if the calls that made it tell which numbers it has.
fn statistics_class(stream: &Expr, at: u32) -> Option<Expr> {
    let mut stream = stream;
    loop {
        let method = match &stream.kind {
            Kind::Call { name, .. } => &**name,
            Kind::Static { class, .. } => *class,
            _ => return None,
        };
        if let Some(class) = crate::library::statistics_of_stream(method) {
            return Some(Expr { kind: Kind::Literal(Literal::Str(class.into())), ty: Type::Str, at });
        }
        let Kind::Call { target, .. } = &stream.kind else { return None };
        stream = target;
    }
}

/// Returns the map and the name of the call, if a method changes a map through one of its views.
fn changed_view(target: &Expr, method: &str) -> Option<(Box<Expr>, Arc<str>)> {
    let Kind::Call { target: map, name: view, arguments, .. } = &target.kind else { return None };
    let is_change = arguments.is_empty() && crate::library::is_change_of_view(view, method);
    is_change.then(|| (map.clone(), format!("{view}.{method}").into()))
}

/// Returns the method of `Collections` that makes what a constant is.
fn empty_of(constant: &str) -> Option<&'static str> {
    match constant {
        "EMPTY_LIST" => Some("emptyList"),
        "EMPTY_MAP" => Some("emptyMap"),
        "EMPTY_SET" => Some("emptySet"),
        _ => None,
    }
}

/// Returns the name under which the library knows the static members of a class.
fn short_of(class: &'static str) -> &'static str {
    match class {
        "java.util.Map$Entry" => "Map.Entry",
        "java.lang.StrictMath" => "Math",
        class => class.rsplit('.').next().unwrap_or(class),
    }
}

fn short_static(short: &str) -> &'static str {
    crate::types::CLASSES.iter().map(|(known, _)| *known).find(|known| *known == short).unwrap_or("String")
}
