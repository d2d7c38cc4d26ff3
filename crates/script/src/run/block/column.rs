//! One value per document, and the operators on such columns.

use crate::types::{Binary, Type, Unary};
use crate::values::Value;

/// One value per row. `ty` is the Java type; arithmetic has its width.
#[derive(Clone)]
pub(crate) struct Column {
    pub(super) ty: Type,
    pub(super) data: Data,
}

/// The values of a column, by the form that arithmetic on them has.
#[derive(Clone)]
pub(super) enum Data {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
}

impl Column {
    /// Creates a column of whole numbers of the type `ty`, `int` or `long`.
    pub fn whole(ty: Type, data: Vec<i64>) -> Column {
        Column { ty, data: Data::Whole(data) }
    }

    /// Creates a column of doubles.
    pub fn real(data: Vec<f64>) -> Column {
        Column { ty: Type::Double, data: Data::Real(data) }
    }

    /// Creates a column of booleans.
    pub fn flag(data: Vec<bool>) -> Column {
        Column { ty: Type::Bool, data: Data::Flag(data) }
    }

    pub(super) fn into_real(self) -> Option<Vec<f64>> {
        match self.data {
            Data::Real(data) => Some(data),
            Data::Whole(data) => Some(data.into_iter().map(|number| number as f64).collect()),
            Data::Flag(_) => None,
        }
    }

    pub(super) fn into_whole(self) -> Option<Vec<i64>> {
        match self.data {
            Data::Whole(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_flags(self) -> Option<Vec<bool>> {
        match self.data {
            Data::Flag(data) => Some(data),
            _ => None,
        }
    }
}

/// Merges the results of two branches: the next of `yes` where the flag is set, otherwise the next of `no`.
pub(super) fn joined<T>(flags: &[bool], yes: Vec<T>, no: Vec<T>) -> Vec<T> {
    let (mut yes, mut no) = (yes.into_iter(), no.into_iter());
    flags.iter().filter_map(|flag| if *flag { yes.next() } else { no.next() }).collect()
}

/// Returns a column of no rows.
pub(super) fn empty(ty: Type) -> Column {
    match ty {
        Type::Bool => Column::flag(Vec::new()),
        Type::Int | Type::Long => Column::whole(ty, Vec::new()),
        _ => Column::real(Vec::new()),
    }
}

/// Returns a column of `count` times the same value.
pub(super) fn splat(value: &Value, count: usize) -> Option<Column> {
    Some(match value {
        Value::Int(number) => Column::whole(Type::Int, vec![i64::from(*number); count]),
        Value::Long(number) => Column::whole(Type::Long, vec![*number; count]),
        Value::Float(number) => Column { ty: Type::Float, data: Data::Real(vec![f64::from(*number); count]) },
        Value::Double(number) => Column::real(vec![*number; count]),
        Value::Bool(flag) => Column::flag(vec![*flag; count]),
        _ => return None,
    })
}

/// Casts each value as Java does.
pub(super) fn cast(to: Type, column: Column) -> Option<Column> {
    match (to, column.data) {
        (Type::Bool, Data::Flag(data)) => Some(Column::flag(data)),
        (Type::Double, Data::Real(data)) => Some(Column::real(data)),
        (Type::Double, Data::Whole(data)) => {
            Some(Column::real(data.into_iter().map(|number| number as f64).collect()))
        }
        (Type::Float, Data::Real(data)) => {
            let data = data.into_iter().map(|number| f64::from(number as f32)).collect();
            Some(Column { ty: Type::Float, data: Data::Real(data) })
        }
        (Type::Float, Data::Whole(data)) => {
            let data = data.into_iter().map(|number| f64::from(number as f32)).collect();
            Some(Column { ty: Type::Float, data: Data::Real(data) })
        }
        (Type::Long, Data::Whole(data)) => Some(Column::whole(Type::Long, data)),
        (Type::Long, Data::Real(data)) => {
            Some(Column::whole(Type::Long, data.into_iter().map(|number| number as i64).collect()))
        }
        (Type::Int, Data::Whole(data)) => {
            Some(Column::whole(Type::Int, data.into_iter().map(|number| i64::from(number as i32)).collect()))
        }
        (Type::Int, Data::Real(data)) => {
            Some(Column::whole(Type::Int, data.into_iter().map(|number| i64::from(number as i32)).collect()))
        }
        _ => None,
    }
}

/// Applies a unary operator to each value.
pub(super) fn unary(op: Unary, column: Column) -> Option<Column> {
    let ty = column.ty;
    match (op, column.data) {
        (Unary::Not, Data::Flag(data)) => Some(Column::flag(data.into_iter().map(|flag| !flag).collect())),
        (Unary::Plus, data) => Some(Column { ty, data }),
        (Unary::Minus, Data::Real(data)) => {
            Some(Column { ty, data: Data::Real(data.into_iter().map(|number| -number).collect()) })
        }
        (Unary::Minus, Data::Whole(data)) => {
            Some(wrapped(ty, data.into_iter().map(|number| number.wrapping_neg()).collect()))
        }
        (Unary::BitNot, Data::Whole(data)) => {
            Some(Column::whole(ty, data.into_iter().map(|number| !number).collect()))
        }
        _ => None,
    }
}

/// Cuts results of 64-bit arithmetic to the width of the type.
fn wrapped(ty: Type, mut data: Vec<i64>) -> Column {
    if ty == Type::Int {
        data.iter_mut().for_each(|number| *number = i64::from(*number as i32));
    }
    Column::whole(ty, data)
}

/// Compares the values row by row.
fn compared<T: PartialOrd>(op: Binary, left: Vec<T>, right: Vec<T>) -> Column {
    let pairs = left.into_iter().zip(right);
    Column::flag(match op {
        Binary::Less => pairs.map(|(left, right)| left < right).collect(),
        Binary::LessEqual => pairs.map(|(left, right)| left <= right).collect(),
        Binary::Greater => pairs.map(|(left, right)| left > right).collect(),
        Binary::GreaterEqual => pairs.map(|(left, right)| left >= right).collect(),
        Binary::Equal => pairs.map(|(left, right)| left == right).collect(),
        _ => pairs.map(|(left, right)| left != right).collect(),
    })
}

/// Applies a binary operator row by row, with numbers promoted as in Java.
pub(super) fn binary(op: Binary, left: Column, right: Column) -> Option<Column> {
    let ty = match (left.ty, right.ty) {
        (Type::Bool, Type::Bool) => {
            let (left, right) = (left.into_flags()?, right.into_flags()?);
            let pairs = left.iter().copied().zip(right.iter().copied());
            return match op {
                Binary::And => Some(Column::flag(pairs.map(|(left, right)| left & right).collect())),
                Binary::Or => Some(Column::flag(pairs.map(|(left, right)| left | right).collect())),
                Binary::Xor => Some(Column::flag(pairs.map(|(left, right)| left ^ right).collect())),
                Binary::Equal | Binary::NotEqual => Some(compared(op, left, right)),
                _ => None,
            };
        }
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

/// Applies a binary operator to floating-point numbers, with results of the type `ty`.
fn binary_of_reals(op: Binary, ty: Type, left: Column, right: Column) -> Option<Column> {
    let (mut left, right) = (left.into_real()?, right.into_real()?);
    if op.is_comparison() {
        return Some(compared(op, left, right));
    }
    let pairs = left.iter_mut().zip(right);
    match op {
        Binary::Add => pairs.for_each(|(left, right)| *left += right),
        Binary::Sub => pairs.for_each(|(left, right)| *left -= right),
        Binary::Mul => pairs.for_each(|(left, right)| *left *= right),
        Binary::Div => pairs.for_each(|(left, right)| *left /= right),
        Binary::Rem => pairs.for_each(|(left, right)| *left %= right),
        _ => return None,
    }
    if ty == Type::Float {
        left.iter_mut().for_each(|number| *number = f64::from(*number as f32));
    }
    Some(Column { ty, data: Data::Real(left) })
}

/// Applies a binary operator to whole numbers, with results of the type `ty`.
fn binary_of_wholes(op: Binary, ty: Type, left: Column, right: Column) -> Option<Column> {
    let (mut left, right) = (left.into_whole()?, right.into_whole()?);
    if op.is_comparison() {
        return Some(compared(op, left, right));
    }
    // Division by zero is an error of one document, which the interpreter reports.
    if matches!(op, Binary::Div | Binary::Rem) && right.contains(&0) {
        return None;
    }
    let pairs = left.iter_mut().zip(right);
    match op {
        Binary::Add => pairs.for_each(|(left, right)| *left = left.wrapping_add(right)),
        Binary::Sub => pairs.for_each(|(left, right)| *left = left.wrapping_sub(right)),
        Binary::Mul => pairs.for_each(|(left, right)| *left = left.wrapping_mul(right)),
        Binary::Div => pairs.for_each(|(left, right)| *left = left.wrapping_div(right)),
        Binary::Rem => pairs.for_each(|(left, right)| *left = left.wrapping_rem(right)),
        Binary::And => pairs.for_each(|(left, right)| *left &= right),
        Binary::Or => pairs.for_each(|(left, right)| *left |= right),
        Binary::Xor => pairs.for_each(|(left, right)| *left ^= right),
        // Shifts are rare, and their width depends on the type.
        _ => return None,
    }
    Some(wrapped(ty, left))
}
