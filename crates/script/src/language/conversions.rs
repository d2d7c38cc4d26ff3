//! Which casts Java allows: "may this expression stand where that type is wanted?"

use super::tree::{Expr, Kind};
use crate::error::ScriptError;
use crate::types::{Binary, Literal, Type, Unary};

fn boxed(class: &str) -> Option<Type> {
    Some(match class {
        "java.lang.Integer" => Type::Int,
        "java.lang.Long" => Type::Long,
        "java.lang.Double" => Type::Double,
        "java.lang.Float" => Type::Float,
        "java.lang.Boolean" => Type::Bool,
        _ => return None,
    })
}

/// Converts `expr` to type `to`, with a cast where one is needed. Implicit casts only widen.
pub(crate) fn coerce(expr: Expr, to: Type, is_explicit: bool) -> Result<Expr, ScriptError> {
    let from = expr.ty;
    let at = expr.at;
    let refuse =
        || Err(ScriptError::cast(at, format!("Cannot cast from [{}] to [{}].", from.name(), to.name())));
    let is_primitive = to.is_number() || to == Type::Bool;
    if is_primitive && matches!(expr.kind, Kind::Literal(Literal::Null)) {
        return Err(ScriptError::cast(at, format!("Cannot cast null to a primitive type [{}].", to.name())));
    }
    if let Type::Object(class) = to {
        let plain = boxed(class);
        let fits = match (from, plain) {
            (Type::Def | Type::Object(_), _) => true,
            (_, _) if class == "java.lang.Object" => true,
            (Type::Str, _) if matches!(class, "java.lang.CharSequence" | "java.lang.Comparable") => true,
            (_, None) if class == "java.lang.Number" => from.is_number(),
            (from, Some(plain)) => from == plain || matches!(expr.kind, Kind::Literal(Literal::Null)),
            (Type::Str, None) => false,
            _ => matches!(expr.kind, Kind::Literal(Literal::Null)),
        };
        return if fits {
            Ok(Expr { ty: if from == Type::Def { Type::Def } else { from }, ..expr })
        } else {
            refuse()
        };
    }
    match (from, to) {
        _ if from == to => Ok(expr),
        (_, Type::Void) => Ok(expr),
        (Type::Void, _) => refuse(),
        (_, Type::Def) => Ok(Expr { ty: Type::Def, ..expr }),
        (Type::Def, _) => Ok(cast(expr, to)),
        (Type::Object(class), _) if to != Type::Str || class == "java.lang.Object" => match boxed(class) {
            Some(plain) if plain == to || (plain.is_number() && to.is_number()) => Ok(cast(expr, to)),
            None if matches!(class, "java.lang.Object" | "java.lang.Number") && is_explicit => {
                Ok(cast(expr, to))
            }
            _ => refuse(),
        },
        (from, to) => match (from.rank(), to.rank()) {
            (Some(have), Some(want)) => {
                let widens = have <= want && to != Type::Char && !(from == Type::Char && want < 3);
                // A constant that fits counts as a value of the narrow type.
                let is_small = matches!(expr.kind, Kind::Literal(Literal::Int(_))) && want < 3;
                if widens || is_explicit || is_small { Ok(cast(expr, to)) } else { refuse() }
            }
            _ if from == Type::Str && to == Type::Char && is_explicit => Ok(cast(expr, to)),
            _ if from == Type::Char && to == Type::Str && is_explicit => Ok(cast(expr, to)),
            _ if matches!(expr.kind, Kind::Literal(Literal::Null)) && to == Type::Str => Ok(expr),
            _ => refuse(),
        },
    }
}

pub(crate) fn cast(expr: Expr, to: Type) -> Expr {
    let at = expr.at;
    let constant = match (&expr.kind, to) {
        (Kind::Literal(Literal::Int(number)), Type::Long) => Some(Literal::Long(i64::from(*number))),
        (Kind::Literal(Literal::Int(number)), Type::Float) => Some(Literal::Float(*number as f32)),
        (Kind::Literal(Literal::Int(number)), Type::Double) => Some(Literal::Double(f64::from(*number))),
        (Kind::Literal(Literal::Long(number)), Type::Double) => Some(Literal::Double(*number as f64)),
        (Kind::Literal(Literal::Float(number)), Type::Double) => Some(Literal::Double(f64::from(*number))),
        _ => None,
    };
    match constant {
        Some(constant) => Expr { kind: Kind::Literal(constant), ty: to, at },
        None => Expr { kind: Kind::Cast(to, Box::new(expr)), ty: to, at },
    }
}

/// Returns the type that both operands of an arithmetic operation are promoted to; `Def` when it is known
/// only at run time.
fn promoted(left: Type, right: Type) -> Type {
    match (left.rank(), right.rank()) {
        (Some(left_rank), Some(right_rank)) if left_rank.max(right_rank) <= 3 => Type::Int,
        (Some(left_rank), Some(right_rank)) => {
            if left_rank >= right_rank {
                left
            } else {
                right
            }
        }
        _ => Type::Def,
    }
}

/// Builds `left op right`, checked as far as the types are known.
pub(crate) fn binary(op: Binary, left: Expr, right: Expr) -> Result<Expr, ScriptError> {
    let at = left.at;
    let is_loose = |ty: Type| matches!(ty, Type::Def | Type::Object(_));
    // Next to a `def`, the value decides at run time what the operator means.
    let is_open = (left.ty == Type::Def || right.ty == Type::Def) && !op.is_shift();
    let ty = if op.is_comparison() {
        let is_order = !matches!(op, Binary::Equal | Binary::NotEqual);
        for side in [&left, &right] {
            if is_order && !is_open && !side.ty.is_number() && !is_loose(side.ty) {
                return Err(not_number(side));
            }
        }
        Type::Bool
    } else if op == Binary::Add && (left.ty == Type::Str || right.ty == Type::Str) {
        Type::Str
    } else if op.is_bitwise() && (left.ty == Type::Bool && (right.ty == Type::Bool || is_loose(right.ty))) {
        Type::Bool
    } else {
        for side in [&left, &right] {
            if !is_open && !side.ty.is_number() && !is_loose(side.ty) {
                return Err(not_number(side));
            }
        }
        match promoted(left.ty, right.ty) {
            Type::Float | Type::Double if op.is_bitwise() || op.is_shift() => {
                return Err(ScriptError::cast(
                    at,
                    format!(
                        "Cannot cast from [{}] to [long].",
                        if left.ty.rank() > Some(4) { left.ty } else { right.ty }.name()
                    ),
                ));
            }
            // A shift has the type of its left operand.
            ty if op.is_shift() && ty != Type::Def => promoted(left.ty, left.ty),
            ty => ty,
        }
    };
    if matches!(op, Binary::Div | Binary::Rem)
        && matches!(ty, Type::Int | Type::Long)
        && matches!(right.kind, Kind::Literal(Literal::Int(0) | Literal::Long(0)))
        && matches!(left.kind, Kind::Literal(_))
    {
        return Err(ScriptError::new(at, "arithmetic_exception", "/ by zero"));
    }
    Ok(Expr { kind: Kind::Binary(op, Box::new(left), Box::new(right)), ty, at })
}

fn not_number(side: &Expr) -> ScriptError {
    ScriptError::cast(side.at, format!("Cannot cast from [{}] to [int].", side.ty.name()))
}

pub(crate) fn unary(op: Unary, inner: Expr, at: u32) -> Result<Expr, ScriptError> {
    let ty = match op {
        Unary::Not => {
            let inner = coerce(inner, Type::Bool, false)?;
            return Ok(Expr { kind: Kind::Unary(op, Box::new(inner)), ty: Type::Bool, at });
        }
        _ if inner.ty.is_number() => promoted(inner.ty, inner.ty),
        _ if matches!(inner.ty, Type::Def | Type::Object(_)) => Type::Def,
        _ => {
            let (what, sign) = match op {
                Unary::Minus => ("subtraction", "-"),
                Unary::Plus => ("addition", "+"),
                _ => ("bitwise not", "~"),
            };
            return Err(ScriptError::cast(
                at,
                format!("cannot apply the {what} operator [{sign}] to the type [{}]", inner.ty.name()),
            ));
        }
    };
    let folded = match (op, &inner.kind) {
        (Unary::Minus, Kind::Literal(Literal::Int(number))) => Some(Literal::Int(number.wrapping_neg())),
        (Unary::Minus, Kind::Literal(Literal::Long(number))) => Some(Literal::Long(number.wrapping_neg())),
        (Unary::Minus, Kind::Literal(Literal::Float(number))) => Some(Literal::Float(-number)),
        (Unary::Minus, Kind::Literal(Literal::Double(number))) => Some(Literal::Double(-number)),
        _ => None,
    };
    Ok(match folded {
        Some(constant) => Expr { kind: Kind::Literal(constant), ty, at },
        None => Expr { kind: Kind::Unary(op, Box::new(inner)), ty, at },
    })
}

/// Returns both branches of `condition ? left : right`, converted where needed, and their type.
pub(crate) fn joined(left: Expr, right: Expr) -> (Expr, Expr, Type) {
    if left.ty == right.ty {
        let ty = left.ty;
        return (left, right, ty);
    }
    match promoted(left.ty, right.ty) {
        Type::Def => (left, right, Type::Def),
        ty => (cast(left, ty), cast(right, ty), ty),
    }
}
