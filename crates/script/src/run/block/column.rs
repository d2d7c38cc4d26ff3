//! One value per document, and the operators on such columns.

use super::texts::{Texts, binary_of_texts};
use crate::types::{Binary, Type, Unary};
use crate::values::{DateValue, Value};

/// The class of dates.
const DATE: &str = "java.time.ZonedDateTime";

/// One value per row. `ty` is the Java type; arithmetic has its width.
#[derive(Clone)]
pub(crate) struct Column {
    pub(super) ty: Type,
    pub(super) data: Data,
}

/// The values of a column, by the form that arithmetic on them has.
#[derive(Clone)]
pub(super) enum Data {
    Whole(Values<i64>),
    Real(Values<f64>),
    Flag(Values<bool>),
    /// Dates in UTC, in milliseconds since 1970.
    Date(Values<i64>),
    Text(Texts),
}

/// The values of some rows.
#[derive(Clone)]
pub(super) enum Values<T> {
    /// The value of each row.
    Each(Vec<T>),
    /// The value of every row, and the number of rows.
    Same(T, usize),
}

impl<T: Copy> Values<T> {
    /// Returns the value of each row.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Values::Each(values) => values,
            Values::Same(value, count) => vec![value; count],
        }
    }

    /// Returns the values of some of the rows, by their indexes.
    pub fn gathered(&self, rows: &[u32]) -> Values<T> {
        match self {
            Values::Each(values) => Values::Each(rows.iter().map(|row| values[*row as usize]).collect()),
            Values::Same(value, _) => Values::Same(*value, rows.len()),
        }
    }

    /// Returns these values and then others.
    pub fn followed_by(self, others: Values<T>) -> Values<T> {
        let mut values = self.into_vec();
        values.extend(others.into_vec());
        Values::Each(values)
    }

    fn at(&self, row: usize) -> Option<T> {
        match self {
            Values::Each(values) => values.get(row).copied(),
            Values::Same(value, _) => Some(*value),
        }
    }

    /// Applies a function to each value.
    pub fn map<U>(self, function: impl Fn(T) -> U) -> Values<U> {
        match self {
            // The result takes the place of the values.
            Values::Each(values) => Values::Each(values.into_iter().map(function).collect()),
            Values::Same(value, count) => Values::Same(function(value), count),
        }
    }

    /// Applies a function of two numbers row by row.
    pub fn combined<U>(self, other: Values<T>, function: impl Fn(T, T) -> U) -> Values<U> {
        match (self, other) {
            (Values::Each(left), Values::Each(right)) => {
                Values::Each(left.into_iter().zip(right).map(|(left, right)| function(left, right)).collect())
            }
            (left, Values::Same(right, _)) => left.map(|left| function(left, right)),
            (Values::Same(left, _), right) => right.map(|right| function(left, right)),
        }
    }
}

impl Column {
    /// Creates a column of whole numbers of the type `ty`, `int` or `long`.
    pub fn whole(ty: Type, data: Vec<i64>) -> Column {
        Column { ty, data: Data::Whole(Values::Each(data)) }
    }

    /// Creates a column of doubles.
    pub fn real(data: Vec<f64>) -> Column {
        Column { ty: Type::Double, data: Data::Real(Values::Each(data)) }
    }

    /// Creates a column of booleans.
    pub fn flag(data: Vec<bool>) -> Column {
        Column { ty: Type::Bool, data: Data::Flag(Values::Each(data)) }
    }

    /// Creates a column of dates in UTC.
    pub fn dates(data: Vec<i64>) -> Column {
        Column { ty: Type::Object(DATE), data: Data::Date(Values::Each(data)) }
    }

    /// Creates a column of `count` times the same value; `None` if it is no number, boolean or string.
    pub fn same(value: &Value, count: usize) -> Option<Column> {
        let (ty, data) = match value {
            Value::Int(number) => (Type::Int, Data::Whole(Values::Same(i64::from(*number), count))),
            Value::Long(number) => (Type::Long, Data::Whole(Values::Same(*number, count))),
            Value::Float(number) => (Type::Float, Data::Real(Values::Same(f64::from(*number), count))),
            Value::Double(number) => (Type::Double, Data::Real(Values::Same(*number, count))),
            Value::Bool(flag) => (Type::Bool, Data::Flag(Values::Same(*flag, count))),
            Value::Str(text) => (Type::Str, Data::Text(Texts::same(text, count))),
            _ => return None,
        };
        Some(Column { ty, data })
    }

    /// Returns the value of a row, by its index.
    pub fn value(&self, row: usize) -> Option<Value> {
        Some(match (self.ty, &self.data) {
            (Type::Int, Data::Whole(data)) => Value::Int(data.at(row)? as i32),
            (_, Data::Whole(data)) => Value::Long(data.at(row)?),
            (Type::Float, Data::Real(data)) => Value::Float(data.at(row)? as f32),
            (_, Data::Real(data)) => Value::Double(data.at(row)?),
            (_, Data::Flag(data)) => Value::Bool(data.at(row)?),
            (_, Data::Text(data)) => Value::Str(data.words[data.indexes.at(row)? as usize].clone()),
            (_, Data::Date(data)) => Value::Date(DateValue::of_millis(data.at(row)?)),
        })
    }

    /// Converts to floating-point numbers; `None` for booleans.
    pub(super) fn into_reals(self) -> Option<Values<f64>> {
        match self.data {
            Data::Real(data) => Some(data),
            Data::Whole(data) => Some(data.map(|number| number as f64)),
            Data::Flag(_) | Data::Date(_) | Data::Text(_) => None,
        }
    }

    pub(super) fn into_real(self) -> Option<Vec<f64>> {
        self.into_reals().map(Values::into_vec)
    }

    pub(super) fn into_wholes(self) -> Option<Values<i64>> {
        match self.data {
            Data::Whole(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_dates(self) -> Option<Values<i64>> {
        match self.data {
            Data::Date(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_texts(self) -> Option<Texts> {
        match self.data {
            Data::Text(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_flag(self) -> Option<Values<bool>> {
        match self.data {
            Data::Flag(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_flags(self) -> Option<Vec<bool>> {
        self.into_flag().map(Values::into_vec)
    }
}

/// Merges the results of two branches: the next of `yes` where the flag is set, otherwise the next of `no`.
pub(super) fn joined<T: Copy>(flags: &[bool], yes: Values<T>, no: Values<T>) -> Vec<T> {
    match (yes, no) {
        (Values::Same(yes, _), Values::Same(no, _)) => {
            flags.iter().map(|flag| if *flag { yes } else { no }).collect()
        }
        (yes, no) => {
            let (mut yes, mut no) = (yes.into_vec().into_iter(), no.into_vec().into_iter());
            flags.iter().filter_map(|flag| if *flag { yes.next() } else { no.next() }).collect()
        }
    }
}

/// Returns a column of no rows.
pub(super) fn empty(ty: Type) -> Column {
    match ty {
        Type::Bool => Column::flag(Vec::new()),
        Type::Int | Type::Long => Column::whole(ty, Vec::new()),
        _ => Column::real(Vec::new()),
    }
}

/// Casts each value as Java does.
pub(super) fn cast(to: Type, column: Column) -> Option<Column> {
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
    if matches!((&left.data, &right.data), (Data::Text(_), Data::Text(_))) {
        return binary_of_texts(op, left.into_texts()?, right.into_texts()?);
    }
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
