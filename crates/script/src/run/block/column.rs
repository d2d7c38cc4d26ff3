//! One value per document.

use super::coded::{Coded, joined_values};
use super::texts::{Texts, joined_texts};
use crate::types::Type;
use crate::values::{DateValue, Value};

/// The class of dates.
const DATE: &str = "java.time.ZonedDateTime";

/// One value per row. `ty` is the Java type; arithmetic has its width. `Type::Def`: each row has a type of
/// its own, of which only the number is kept, and operations whose results depend on the type are refused.
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
    /// Values of other classes, or of several.
    Other(Coded),
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
        Column::of_dates(Values::Each(data))
    }

    /// Creates a column of dates in UTC.
    pub(super) fn of_dates(data: Values<i64>) -> Column {
        Column { ty: Type::Object(DATE), data: Data::Date(data) }
    }

    /// Creates a column of `count` times the same value; `None` if rows may not share it.
    pub fn same(value: &Value, count: usize) -> Option<Column> {
        let (ty, data) = match value {
            Value::Int(number) => (Type::Int, Data::Whole(Values::Same(i64::from(*number), count))),
            Value::Long(number) => (Type::Long, Data::Whole(Values::Same(*number, count))),
            Value::Float(number) => (Type::Float, Data::Real(Values::Same(f64::from(*number), count))),
            Value::Double(number) => (Type::Double, Data::Real(Values::Same(*number, count))),
            Value::Bool(flag) => (Type::Bool, Data::Flag(Values::Same(*flag, count))),
            Value::Str(text) => (Type::Str, Data::Text(Texts::same(text, count))),
            other => (Type::Def, Data::Other(Coded::same(other.clone(), count)?)),
        };
        Some(Column { ty, data })
    }

    /// Creates a column of `count` rows that nobody reads, with values like those of another column.
    pub fn unset(like: &Column, count: usize) -> Column {
        let data = match &like.data {
            Data::Whole(_) => Data::Whole(Values::Same(0, count)),
            Data::Real(_) => Data::Real(Values::Same(0.0, count)),
            Data::Flag(_) => Data::Flag(Values::Same(false, count)),
            Data::Date(_) => Data::Date(Values::Same(0, count)),
            Data::Text(_) => Data::Text(Texts::same(&"".into(), count)),
            Data::Other(other) => {
                Data::Other(Coded { indexes: Values::Same(0, count), values: other.values.clone() })
            }
        };
        Column { ty: like.ty, data }
    }

    /// Makes two columns have one type: each row's own if they differ. `None` if that cannot be done.
    pub fn alike(self, other: Column) -> Option<(Column, Column)> {
        if self.ty == other.ty && std::mem::discriminant(&self.data) == std::mem::discriminant(&other.data) {
            return Some((self, other));
        }
        if ![&self, &other].iter().all(|side| matches!(side.data, Data::Whole(_) | Data::Real(_))) {
            let coded = |column: Column| Some(Column { ty: Type::Def, data: Data::Other(column.coded()?) });
            return Some((coded(self)?, coded(other)?));
        }
        let (left, right) = match (self.data, other.data) {
            (Data::Whole(left), Data::Whole(right)) => (Data::Whole(left), Data::Whole(right)),
            (left, right) => {
                let real = |data| Column { ty: Type::Def, data }.into_reals().map(Data::Real);
                (real(left)?, real(right)?)
            }
        };
        Some((Column { ty: Type::Def, data: left }, Column { ty: Type::Def, data: right }))
    }

    /// Returns the value of all rows, if it is known to be the same.
    pub fn constant(&self) -> Option<Value> {
        let is_same = match &self.data {
            Data::Whole(data) | Data::Date(data) => matches!(data, Values::Same(..)),
            Data::Real(data) => matches!(data, Values::Same(..)),
            Data::Flag(data) => matches!(data, Values::Same(..)),
            Data::Text(texts) => matches!(texts.indexes, Values::Same(..)),
            Data::Other(coded) => matches!(coded.indexes, Values::Same(..)),
        };
        if is_same { self.value(0) } else { None }
    }

    /// Returns the values of some of the rows, by their indexes.
    pub fn gathered(&self, rows: &[u32]) -> Column {
        let data = match &self.data {
            Data::Whole(all) => Data::Whole(all.gathered(rows)),
            Data::Real(all) => Data::Real(all.gathered(rows)),
            Data::Flag(all) => Data::Flag(all.gathered(rows)),
            Data::Date(all) => Data::Date(all.gathered(rows)),
            Data::Text(all) => {
                Data::Text(Texts { indexes: all.indexes.gathered(rows), words: all.words.clone() })
            }
            Data::Other(all) => {
                Data::Other(Coded { indexes: all.indexes.gathered(rows), values: all.values.clone() })
            }
        };
        Column { ty: self.ty, data }
    }

    /// Returns these values and then others. `None` if they have nothing in common.
    pub fn followed_by(self, others: Column) -> Option<Column> {
        let (first, then) = self.alike(others)?;
        let ty = first.ty;
        let data = match (first.data, then.data) {
            (Data::Whole(first), Data::Whole(then)) => Data::Whole(first.followed_by(then)),
            (Data::Real(first), Data::Real(then)) => Data::Real(first.followed_by(then)),
            (Data::Flag(first), Data::Flag(then)) => Data::Flag(first.followed_by(then)),
            (Data::Date(first), Data::Date(then)) => Data::Date(first.followed_by(then)),
            (Data::Text(first), Data::Text(then)) => {
                Data::Text(joined_texts(first, then, |first, then| first.followed_by(then).into_vec()))
            }
            (Data::Other(first), Data::Other(then)) => {
                Data::Other(joined_values(first, then, |first, then| first.followed_by(then).into_vec()))
            }
            _ => return None,
        };
        Some(Column { ty, data })
    }

    /// Returns the value of a row, by its index.
    pub fn value(&self, row: usize) -> Option<Value> {
        Some(match (self.ty, &self.data) {
            (_, Data::Other(other)) => other.values[other.indexes.at(row)? as usize].clone(),
            (Type::Def, _) => return None,
            (Type::Int, Data::Whole(data)) => Value::Int(data.at(row)? as i32),
            (_, Data::Whole(data)) => Value::Long(data.at(row)?),
            (Type::Float, Data::Real(data)) => Value::Float(data.at(row)? as f32),
            (_, Data::Real(data)) => Value::Double(data.at(row)?),
            (_, Data::Flag(data)) => Value::Bool(data.at(row)?),
            (_, Data::Text(data)) => Value::Str(data.words[data.indexes.at(row)? as usize].clone()),
            (_, Data::Date(data)) => Value::Date(DateValue::of_millis(data.at(row)?)),
        })
    }

    /// Brings values of other classes to a narrower form, if there is one.
    fn narrowed(self) -> Data {
        match self.data {
            Data::Other(coded) => match coded.clone().column() {
                Some(column) if column.ty != Type::Def => column.data,
                _ => Data::Other(coded),
            },
            data => data,
        }
    }

    /// Converts to floating-point numbers; `None` for booleans.
    pub(super) fn into_reals(self) -> Option<Values<f64>> {
        match self.narrowed() {
            Data::Real(data) => Some(data),
            Data::Whole(data) => Some(data.map(|number| number as f64)),
            Data::Flag(_) | Data::Date(_) | Data::Text(_) | Data::Other(_) => None,
        }
    }

    pub(super) fn into_real(self) -> Option<Vec<f64>> {
        self.into_reals().map(Values::into_vec)
    }

    pub(super) fn into_wholes(self) -> Option<Values<i64>> {
        match self.narrowed() {
            Data::Whole(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_dates(self) -> Option<Values<i64>> {
        match self.narrowed() {
            Data::Date(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_texts(self) -> Option<Texts> {
        match self.narrowed() {
            Data::Text(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_flag(self) -> Option<Values<bool>> {
        match self.narrowed() {
            Data::Flag(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn into_flags(self) -> Option<Vec<bool>> {
        self.into_flag().map(Values::into_vec)
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
