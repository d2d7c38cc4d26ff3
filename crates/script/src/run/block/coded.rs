//! Values of any class in a block of documents, each distinct one once: what no column of numbers, strings or
//! dates can hold, and calls of the library, which run once for each distinct value or combination of values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::Block;
use super::column::{Column, Data, Values};
use super::methods::is_usual;
use super::texts::Texts;
use crate::error::Outcome;
use crate::library::Machine;
use crate::run::interpreter::Run;
use crate::types::Type;
use crate::values::{DateValue, Value};

/// One value per row. Nothing changes a value: rows share it.
#[derive(Clone)]
pub(super) struct Coded {
    /// For each row, the index of its value in `values`.
    pub indexes: Values<u32>,
    /// The values, which need not be distinct.
    pub values: Rc<Vec<Value>>,
}

/// Width of a range of numbers whose distinct values are found in a table.
const TABLE_MAX: u64 = 1 << 12;

const UNKNOWN: u32 = u32::MAX;

/// Gives each distinct number an index, in the order of their first rows; returns the numbers and the index
/// of each row's.
fn distinct(numbers: &[i64]) -> (Vec<i64>, Vec<u32>) {
    let mut found = Vec::new();
    let (least, most) = numbers
        .iter()
        .fold((i64::MAX, i64::MIN), |(least, most), number| (least.min(*number), most.max(*number)));
    if least <= most && most.abs_diff(least) < TABLE_MAX {
        let mut table = vec![UNKNOWN; most.abs_diff(least) as usize + 1];
        let index = |number: &i64| {
            let place = &mut table[number.wrapping_sub(least) as usize];
            if *place == UNKNOWN {
                *place = found.len() as u32;
                found.push(*number);
            }
            *place
        };
        let indexes = numbers.iter().map(index).collect();
        return (found, indexes);
    }
    let mut table: HashMap<i64, u32, RandomState> = HashMap::default();
    let index = |number: &i64| {
        *table.entry(*number).or_insert_with(|| {
            found.push(*number);
            found.len() as u32 - 1
        })
    };
    let indexes = numbers.iter().map(index).collect();
    (found, indexes)
}

/// Whether rows may share a value of this class: nothing that a script may call on it changes it.
fn can_be_shared(value: &Value) -> bool {
    match value {
        Value::Field(_)
        | Value::FieldAccess(_)
        | Value::Doc
        | Value::Params
        | Value::Lambda(_)
        | Value::Matcher(_)
        | Value::Text(_)
        | Value::Exception(..) => false,
        Value::Object(object) => !object.is_mutable(),
        _ => true,
    }
}

impl Coded {
    /// Returns the same value for each of `count` rows, if rows may share it.
    pub fn same(value: Value, count: usize) -> Option<Coded> {
        can_be_shared(&value).then(|| Coded { indexes: Values::Same(0, count), values: Rc::new(vec![value]) })
    }

    /// Leaves out values that no row has.
    pub fn compact(self) -> Coded {
        let Values::Each(indexes) = self.indexes else {
            let Values::Same(index, count) = self.indexes else { return self };
            let values = Rc::new(vec![self.values[index as usize].clone()]);
            return Coded { indexes: Values::Same(0, count), values };
        };
        let mut known = vec![UNKNOWN; self.values.len()];
        let mut values = Vec::new();
        let compacted = indexes.into_iter().map(|index| {
            let place = &mut known[index as usize];
            if *place == UNKNOWN {
                *place = values.len() as u32;
                values.push(self.values[index as usize].clone());
            }
            *place
        });
        let indexes = Values::Each(compacted.collect());
        Coded { indexes, values: Rc::new(values) }
    }

    /// Returns the values as a column of the narrowest form. `None` if rows may not share them.
    pub fn column(self) -> Option<Column> {
        let Coded { indexes, values } = self.compact();
        let first = values.first()?;
        let is_alike = |value: &Value| std::mem::discriminant(value) == std::mem::discriminant(first);
        if !values.iter().all(is_alike) {
            let are_shared = values.iter().all(can_be_shared);
            return are_shared
                .then(|| Column { ty: Type::Def, data: Data::Other(Coded { indexes, values }) });
        }
        let whole = |indexes: Values<u32>| Data::Whole(indexes.map(|index| values[index as usize].i64()));
        let real = |indexes: Values<u32>| Data::Real(indexes.map(|index| values[index as usize].f64()));
        let (ty, data) = match first {
            Value::Bool(_) => {
                let is_true = |index: u32| matches!(values[index as usize], Value::Bool(true));
                (Type::Bool, Data::Flag(indexes.map(is_true)))
            }
            Value::Int(_) => (Type::Int, whole(indexes)),
            Value::Long(_) => (Type::Long, whole(indexes)),
            Value::Float(_) => (Type::Float, real(indexes)),
            Value::Double(_) => (Type::Double, real(indexes)),
            Value::Str(_) => {
                let word = |value: &Value| match value {
                    Value::Str(word) => Some(word.clone()),
                    _ => None,
                };
                let words = Rc::new(values.iter().filter_map(word).collect());
                (Type::Str, Data::Text(Texts { indexes, words }))
            }
            Value::Date(_) if values.iter().all(is_plain_date) => {
                let millis = |index: u32| match &values[index as usize] {
                    Value::Date(date) => date.millis(),
                    _ => 0,
                };
                return Some(Column::of_dates(indexes.map(millis)));
            }
            _ if values.iter().all(can_be_shared) => (Type::Def, Data::Other(Coded { indexes, values })),
            _ => return None,
        };
        Some(Column { ty, data })
    }
}

/// Merges the values of two branches.
pub(super) fn joined_values(
    yes: Coded,
    no: Coded,
    join: impl FnOnce(Values<u32>, Values<u32>) -> Vec<u32>,
) -> Coded {
    let first_of_no = yes.values.len() as u32;
    let values = yes.values.iter().chain(no.values.iter()).cloned().collect();
    let indexes = Values::Each(join(yes.indexes, no.indexes.map(|index| index + first_of_no)));
    Coded { indexes, values: Rc::new(values) }
}

/// Whether a column of dates can hold this date: one in UTC, to the millisecond.
fn is_plain_date(value: &Value) -> bool {
    matches!(value, Value::Date(DateValue { instant, zone: None, is_instant: false }) if instant.nanos == 0 && is_usual(&instant.millis))
}

impl Column {
    /// Returns the values with their classes, only those that a row has. `None` if the classes are not known.
    pub(super) fn distinct(self) -> Option<Coded> {
        let is_made_so = matches!(self.data, Data::Whole(_) | Data::Real(_) | Data::Date(_));
        let coded = self.coded()?;
        Some(if is_made_so { coded } else { coded.compact() })
    }

    /// Returns the values with their classes. `None` if these are not known.
    pub(super) fn coded(self) -> Option<Coded> {
        let ty = self.ty;
        let numbers = |data: Values<i64>, value: &dyn Fn(i64) -> Value| match data {
            Values::Same(number, count) => {
                Coded { indexes: Values::Same(0, count), values: Rc::new(vec![value(number)]) }
            }
            Values::Each(numbers) => {
                let (found, indexes) = distinct(&numbers);
                let values = Rc::new(found.into_iter().map(value).collect());
                Coded { indexes: Values::Each(indexes), values }
            }
        };
        Some(match self.data {
            Data::Other(coded) => coded,
            _ if ty == Type::Def => return None,
            Data::Text(Texts { indexes, words }) => {
                let values = Rc::new(words.iter().map(|word| Value::Str(word.clone())).collect());
                Coded { indexes, values }
            }
            Data::Flag(flags) => {
                let values = Rc::new(vec![Value::Bool(false), Value::Bool(true)]);
                Coded { indexes: flags.map(u32::from), values }
            }
            Data::Date(dates) => numbers(dates, &|millis| Value::Date(DateValue::of_millis(millis))),
            Data::Whole(data) => numbers(data, &|number| match ty {
                Type::Int => Value::Int(number as i32),
                _ => Value::Long(number),
            }),
            Data::Real(data) => numbers(data.map(|number| number.to_bits() as i64), &|bits| {
                let number = f64::from_bits(bits as u64);
                if ty == Type::Float { Value::Float(number as f32) } else { Value::Double(number) }
            }),
        })
    }
}

/// Combinations of values, each distinct one once.
struct Tuples {
    indexes: Values<u32>,
    tuples: Vec<Vec<Value>>,
}

impl Tuples {
    fn with(self, part: Coded) -> Tuples {
        let Tuples { indexes, mut tuples } = self;
        if let [only] = part.values.as_slice() {
            tuples.iter_mut().for_each(|tuple| tuple.push(only.clone()));
            return Tuples { indexes, tuples };
        }
        let (own, other) = (indexes.into_vec(), part.indexes.into_vec());
        let mut known: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
        let mut combined = Vec::new();
        let mut last = None;
        let pairs = own.into_iter().zip(other).map(|pair| {
            if let Some((known, index)) = last
                && known == pair
            {
                return index;
            }
            let index = match known.entry(pair) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let mut tuple = tuples[pair.0 as usize].clone();
                    tuple.push(part.values[pair.1 as usize].clone());
                    combined.push(tuple);
                    *entry.insert(combined.len() as u32 - 1)
                }
            };
            last = Some((pair, index));
            index
        });
        let indexes = Values::Each(pairs.collect());
        Tuples { indexes, tuples: combined }
    }
}

impl<'a> Block<'_, 'a> {
    /// Calls a function without side effects on the values of each row, once for each distinct combination of
    /// them. `None` if it fails for one.
    pub(super) fn call_each(
        &mut self,
        parts: Vec<Column>,
        mut call: impl FnMut(&mut Run<'a>, Vec<Value>) -> Outcome<Value>,
    ) -> Option<Column> {
        let mut parts = parts.into_iter();
        let first = parts.next()?.distinct()?;
        let tuples = first.values.iter().map(|value| vec![value.clone()]).collect();
        let mut all = Tuples { indexes: first.indexes, tuples };
        for part in parts {
            all = all.with(part.distinct()?);
        }
        let mut values = Vec::with_capacity(all.tuples.len());
        for tuple in all.tuples {
            let value = call(self.run, tuple).ok()?;
            self.run.grow(value.bytes(), 0).ok()?;
            values.push(value);
        }
        Coded { indexes: all.indexes, values: Rc::new(values) }.column()
    }
}
