//! Casts and operators on columns, with Java's types.

use super::column::{Column, Data, Values};
use crate::types::{Binary, Type, Unary};

/// Casts each value as Java does.
pub(super) fn cast(to: Type, column: Column) -> Option<Column> {
    // A whole number of either width becomes a `long`, and any number a `double`.
    let is_safe = match &column.data {
        Data::Whole(_) => matches!(to, Type::Long | Type::Double),
        _ => to == Type::Double,
    };
    if column.ty == Type::Def && !is_safe {
        return None;
    }
    let data = match (to, column.data) {
        (Type::Bool, Data::Flag(data)) => Data::Flag(data),
        (Type::Double, Data::Real(data)) => Data::Real(data),
        (Type::Double, Data::Whole(data)) => Data::Real(data.map(|number| number as f64)),
        (Type::Float, Data::Real(data)) => Data::Real(data.map(|number| f64::from(number as f32))),
        (Type::Float, Data::Whole(data)) => Data::Real(data.map(|number| f64::from(number as f32))),
        (Type::Long, Data::Whole(data)) => Data::Whole(data),
        (Type::Long, Data::Real(data)) => Data::Whole(data.map(|number| number as i64)),
        (Type::Int, Data::Whole(data)) => Data::Whole(data.map(|number| i64::from(number as i32))),
        (Type::Int, Data::Real(data)) => Data::Whole(data.map(|number| i64::from(number as i32))),
        _ => return None,
    };
    Some(Column { ty: to, data })
}

/// Applies a unary operator to each value.
pub(super) fn unary(op: Unary, column: Column) -> Option<Column> {
    let ty = column.ty;
    if ty == Type::Def {
        return None;
    }
    let data = match (op, column.data) {
        (Unary::Not, Data::Flag(data)) => Data::Flag(data.map(|flag| !flag)),
        (Unary::Plus, data) => data,
        (Unary::Minus, Data::Real(data)) => Data::Real(data.map(|number| -number)),
        (Unary::Minus, Data::Whole(data)) => wrapped(ty, data.map(i64::wrapping_neg)),
        (Unary::BitNot, Data::Whole(data)) => Data::Whole(data.map(|number| !number)),
        _ => return None,
    };
    Some(Column { ty, data })
}

/// Cuts results of 64-bit arithmetic to the width of the type.
fn wrapped(ty: Type, data: Values<i64>) -> Data {
    Data::Whole(match ty {
        Type::Int => data.map(|number| i64::from(number as i32)),
        _ => data,
    })
}

/// Compares the values row by row.
fn compared<T: PartialOrd + Copy>(op: Binary, left: Values<T>, right: Values<T>) -> Column {
    let flags = match op {
        Binary::Less => left.combined(right, |left, right| left < right),
        Binary::LessEqual => left.combined(right, |left, right| left <= right),
        Binary::Greater => left.combined(right, |left, right| left > right),
        Binary::GreaterEqual => left.combined(right, |left, right| left >= right),
        Binary::Equal => left.combined(right, |left, right| left == right),
        _ => left.combined(right, |left, right| left != right),
    };
    Column { ty: Type::Bool, data: Data::Flag(flags) }
}

/// Applies a binary operator row by row, with numbers promoted as in Java.
pub(super) fn binary(op: Binary, left: Column, right: Column) -> Option<Column> {
    let ty = match (left.ty, right.ty) {
        (Type::Bool, Type::Bool) => {
            let (left, right) = (left.into_flag()?, right.into_flag()?);
            let flags = match op {
                Binary::And => left.combined(right, |left, right| left & right),
                Binary::Or => left.combined(right, |left, right| left | right),
                Binary::Xor => left.combined(right, |left, right| left ^ right),
                Binary::Equal | Binary::NotEqual => return Some(compared(op, left, right)),
                _ => return None,
            };
            return Some(Column { ty: Type::Bool, data: Data::Flag(flags) });
        }
        (Type::Def, _) | (_, Type::Def) => return binary_of_any(op, left, right),
        (left, right) if op.is_shift() => {
            right.rank()?;
            left
        }
        (left, right) => {
            if left.rank()? >= right.rank()? {
                left
            } else {
                right
            }
        }
    };
    match ty {
        Type::Float | Type::Double => binary_of_reals(op, ty, left, right),
        _ => binary_of_wholes(op, ty, left, right),
    }
}

/// Applies a binary operator where rows have types of their own. `None` if the result depends on them.
fn binary_of_any(op: Binary, left: Column, right: Column) -> Option<Column> {
    if op.is_bitwise() || op.is_shift() {
        return None;
    }
    if [left.ty, right.ty].contains(&Type::Double) {
        return binary_of_reals(op, Type::Double, left, right);
    }
    if ![&left, &right].iter().all(|side| matches!(side.data, Data::Whole(_))) {
        return None;
    }
    let is_long = [left.ty, right.ty].contains(&Type::Long);
    let mut made = binary_of_wholes(op, Type::Long, left, right)?;
    if let (Data::Whole(numbers), false) = (&made.data, is_long) {
        // Results that fit an `int` are the same in either width.
        let fits = |number: &i64| i32::try_from(*number).is_ok();
        let are_small = match numbers {
            Values::Each(numbers) => numbers.iter().all(fits),
            Values::Same(number, _) => fits(number),
        };
        if !are_small {
            return None;
        }
        made.ty = Type::Def;
    }
    Some(made)
}

/// Applies a binary operator to floating-point numbers, with results of the type `ty`.
fn binary_of_reals(op: Binary, ty: Type, left: Column, right: Column) -> Option<Column> {
    let (left, right) = (left.into_reals()?, right.into_reals()?);
    if op.is_comparison() {
        return Some(compared(op, left, right));
    }
    let data = match op {
        Binary::Add => left.combined(right, |left, right| left + right),
        Binary::Sub => left.combined(right, |left, right| left - right),
        Binary::Mul => left.combined(right, |left, right| left * right),
        Binary::Div => left.combined(right, |left, right| left / right),
        Binary::Rem => left.combined(right, |left, right| left % right),
        _ => return None,
    };
    let data = match ty {
        Type::Float => data.map(|number| f64::from(number as f32)),
        _ => data,
    };
    Some(Column { ty, data: Data::Real(data) })
}

/// Applies a binary operator to whole numbers, with results of the type `ty`.
fn binary_of_wholes(op: Binary, ty: Type, left: Column, right: Column) -> Option<Column> {
    let (left, right) = (left.into_wholes()?, right.into_wholes()?);
    if op.is_comparison() {
        return Some(compared(op, left, right));
    }
    // Division by zero is an error of one document, which the interpreter reports.
    if matches!(op, Binary::Div | Binary::Rem) {
        let has_zero = match &right {
            Values::Each(values) => values.contains(&0),
            Values::Same(value, _) => *value == 0,
        };
        if has_zero {
            return None;
        }
    }
    let data = match op {
        Binary::Add => left.combined(right, i64::wrapping_add),
        Binary::Sub => left.combined(right, i64::wrapping_sub),
        Binary::Mul => left.combined(right, i64::wrapping_mul),
        Binary::Div => left.combined(right, i64::wrapping_div),
        Binary::Rem => left.combined(right, i64::wrapping_rem),
        Binary::And => left.combined(right, |left, right| left & right),
        Binary::Or => left.combined(right, |left, right| left | right),
        Binary::Xor => left.combined(right, |left, right| left ^ right),
        // Shifts are rare, and their width depends on the type.
        _ => return None,
    };
    Some(Column { ty, data: wrapped(ty, data) })
}
