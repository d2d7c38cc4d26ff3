//! Strings of a block of documents that has few distinct ones: each operation is done once for each distinct
//! string, or pair of strings.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use limber_mapping::ValueKind;

use super::Block;
use super::column::{Column, Data, Values};
use crate::language::Expr;
use crate::library::{Machine, call_method};
use crate::types::{Binary, Type};
use crate::values::Value;

/// Largest number of pairs of distinct strings.
const PAIRS_MAX: usize = 1 << 12;

/// Marks a string or pair that was not met yet.
const UNKNOWN: u32 = u32::MAX;

/// One string per row.
#[derive(Clone)]
pub(super) struct Texts {
    /// For each row, the index of its string in `words`.
    pub indexes: Values<u32>,
    /// The strings, which need not be distinct.
    pub words: Rc<Vec<Arc<str>>>,
}

/// Collects strings, each distinct one once.
#[derive(Default)]
pub(super) struct Words {
    pub words: Vec<Arc<str>>,
    known: HashMap<Arc<str>, u32, RandomState>,
}

impl Words {
    /// Returns the index of a string.
    pub fn index(&mut self, word: &Arc<str>) -> u32 {
        *self.known.entry(word.clone()).or_insert_with(|| {
            self.words.push(word.clone());
            self.words.len() as u32 - 1
        })
    }

    /// Returns the index of each row's string.
    pub fn indexes(&mut self, texts: Texts) -> Values<u32> {
        let own: Vec<u32> = texts.words.iter().map(|word| self.index(word)).collect();
        texts.indexes.map(|index| own[index as usize])
    }
}

impl Texts {
    /// Returns `count` times the same string.
    pub fn same(word: &Arc<str>, count: usize) -> Texts {
        Texts { indexes: Values::Same(0, count), words: Rc::new(vec![word.clone()]) }
    }

    fn column(self) -> Column {
        Column { ty: Type::Str, data: Data::Text(self) }
    }

    /// Returns a value for each row that `of_pair` computes from the strings of both, once for each pair.
    fn combined<U: Copy>(self, other: Texts, mut of_pair: impl FnMut(&str, &str) -> U) -> Option<Values<U>> {
        let width = other.words.len();
        if self.words.len() * width > PAIRS_MAX {
            return None;
        }
        let mut known = vec![UNKNOWN; self.words.len() * width];
        let mut made = Vec::new();
        let pairs = self.indexes.combined(other.indexes, |left, right| left * width as u32 + right);
        let mut value_of = |pair: u32| {
            let place = &mut known[pair as usize];
            if *place == UNKNOWN {
                *place = made.len() as u32;
                let (left, right) = (pair as usize / width, pair as usize % width);
                made.push(of_pair(&self.words[left], &other.words[right]));
            }
            made[*place as usize]
        };
        Some(match pairs {
            Values::Each(pairs) => Values::Each(pairs.into_iter().map(value_of).collect()),
            Values::Same(pair, count) => Values::Same(value_of(pair), count),
        })
    }
}

/// Applies a binary operator to strings.
pub(super) fn binary_of_texts(op: Binary, left: Texts, right: Texts) -> Option<Column> {
    match op {
        Binary::Equal | Binary::NotEqual => {
            let flags = left.combined(right, |left, right| (left == right) == (op == Binary::Equal))?;
            Some(Column { ty: Type::Bool, data: Data::Flag(flags) })
        }
        Binary::Add => {
            let mut words = Vec::new();
            let indexes = left.combined(right, |left, right| {
                words.push(Arc::from([left, right].concat()));
                words.len() as u32 - 1
            })?;
            Some(Texts { indexes, words: Rc::new(words) }.column())
        }
        _ => None,
    }
}

/// Merges the strings of two branches.
pub(super) fn joined_texts(
    yes: Texts,
    no: Texts,
    join: impl FnOnce(Values<u32>, Values<u32>) -> Vec<u32>,
) -> Texts {
    let mut words = Words::default();
    let (yes, no) = (words.indexes(yes), words.indexes(no));
    Texts { indexes: Values::Each(join(yes, no)), words: Rc::new(words.words) }
}

impl Block<'_, '_> {
    /// Returns the only string of each document, if the field has few distinct ones.
    pub(super) fn field_texts(&mut self, field: u16, rows: &[u32]) -> Option<Column> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        // Other strings are not shown as they are stored.
        if !matches!(reader.field()?.values, ValueKind::Keyword) {
            return None;
        }
        let ordinals = reader.ordinals()?;
        let most = rows.iter().map(|row| ordinals[*row as usize]).max()?;
        let mut known = vec![UNKNOWN; most as usize + 1];
        let (mut first_rows, mut indexes) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            let place = &mut known[ordinals[*row as usize] as usize];
            if *place == UNKNOWN {
                *place = first_rows.len() as u32;
                first_rows.push(*row);
            }
            indexes.push(*place);
        }
        let mut words = Vec::with_capacity(first_rows.len());
        for row in first_rows {
            match reader.value(row as usize, 0).ok()? {
                Value::Str(word) => words.push(word),
                _ => return None,
            }
        }
        Some(Texts { indexes: Values::Each(indexes), words: Rc::new(words) }.column())
    }

    /// Calls a method of strings with constant arguments.
    pub(super) fn text_method(&mut self, texts: Texts, name: &str, arguments: &[Expr]) -> Option<Column> {
        let arguments = arguments.iter().map(|argument| self.constant(argument));
        let arguments = arguments.collect::<Option<Vec<Value>>>()?;
        let call =
            |word: &Arc<str>| call_method(self.run, &Value::Str(word.clone()), name, arguments.clone(), 0);
        let results = texts.words.iter().map(call).collect::<Result<Vec<Value>, _>>().ok()?;
        let first = results.first()?;
        let is_alike = |value: &Value| std::mem::discriminant(value) == std::mem::discriminant(first);
        if !results.iter().all(is_alike) {
            return None;
        }
        let Texts { indexes, .. } = texts;
        let of_index = |index: u32| &results[index as usize];
        let (ty, data) = match first {
            Value::Bool(_) => {
                (Type::Bool, Data::Flag(indexes.map(|index| matches!(of_index(index), Value::Bool(true)))))
            }
            Value::Int(_) => (Type::Int, Data::Whole(indexes.map(|index| of_index(index).i64()))),
            Value::Long(_) => (Type::Long, Data::Whole(indexes.map(|index| of_index(index).i64()))),
            Value::Str(_) => {
                let word = |value: &Value| match value {
                    Value::Str(word) => Some(word.clone()),
                    _ => None,
                };
                let words = Rc::new(results.iter().filter_map(word).collect());
                (Type::Str, Data::Text(Texts { indexes, words }))
            }
            _ => return None,
        };
        Some(Column { ty, data })
    }
}
