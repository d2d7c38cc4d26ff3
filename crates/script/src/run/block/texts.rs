//! Strings of a block of documents that has few distinct ones: each operation is done once for each distinct
//! string, or pair of strings.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::Block;
use super::column::{Column, Data, Values};
use crate::library::Machine;
use crate::types::{Binary, Type};
use crate::values::Value;

/// Largest number of possible pairs of strings for which a table is made.
const PAIRS_MAX: u64 = 1 << 12;

/// Ordinals below this are looked up in a table.
const TABLE_MAX: u32 = 1 << 14;

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

type Pair = (Arc<str>, Arc<str>);

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

    /// Returns the index of each row's pair of strings, and the pairs.
    fn pairs(self, other: Texts) -> (Values<u32>, Vec<Pair>) {
        let width = other.words.len() as u64;
        let product = self.words.len() as u64 * width;
        let mut table = vec![UNKNOWN; if product <= PAIRS_MAX { product as usize } else { 0 }];
        let mut known: HashMap<u64, u32, RandomState> = HashMap::default();
        let mut made = Vec::new();
        let (left, right) = (self.indexes.map(u64::from), other.indexes.map(u64::from));
        let pairs = left.combined(right, |left, right| left * width + right);
        let mut index_of = |pair: u64| {
            let place = match table.get_mut(pair as usize) {
                Some(place) => place,
                None => known.entry(pair).or_insert(UNKNOWN),
            };
            if *place == UNKNOWN {
                *place = made.len() as u32;
                let (left, right) = (pair / width, pair % width);
                made.push((self.words[left as usize].clone(), other.words[right as usize].clone()));
            }
            *place
        };
        let indexes = match pairs {
            Values::Each(pairs) => Values::Each(pairs.into_iter().map(index_of).collect()),
            Values::Same(pair, count) => Values::Same(index_of(pair), count),
        };
        (indexes, made)
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
    /// Applies a binary operator to strings. `None` if there is no memory for the results.
    pub(super) fn binary_of_texts(&mut self, op: Binary, left: Texts, right: Texts) -> Option<Column> {
        let (indexes, pairs) = left.pairs(right);
        match op {
            Binary::Equal | Binary::NotEqual => {
                let flags: Vec<bool> =
                    pairs.iter().map(|(left, right)| (left == right) == (op == Binary::Equal)).collect();
                Some(Column { ty: Type::Bool, data: Data::Flag(indexes.map(|index| flags[index as usize])) })
            }
            Binary::Add => {
                let mut words = Vec::with_capacity(pairs.len());
                for (left, right) in &pairs {
                    self.run.grow(left.len() + right.len(), 0).ok()?;
                    words.push(Arc::from([&**left, &**right].concat()));
                }
                Some(Texts { indexes, words: Rc::new(words) }.column())
            }
            _ => None,
        }
    }

    /// Returns the first string of each document.
    pub(super) fn field_texts(&mut self, field: u16, rows: &[u32]) -> Option<Column> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let ordinals = reader.first_ordinals(rows)?;
        let most = ordinals.iter().max()?;
        let mut table = vec![UNKNOWN; if *most < TABLE_MAX { *most as usize + 1 } else { 0 }];
        let mut known: HashMap<u32, u32, RandomState> = HashMap::default();
        let (mut first_rows, mut indexes) = (Vec::new(), Vec::with_capacity(rows.len()));
        for (row, ordinal) in rows.iter().zip(ordinals) {
            let place = match table.get_mut(ordinal as usize) {
                Some(place) => place,
                None => known.entry(ordinal).or_insert(UNKNOWN),
            };
            if *place == UNKNOWN {
                *place = first_rows.len() as u32;
                first_rows.push(*row);
            }
            indexes.push(*place);
        }
        let (mut words, mut bytes) = (Vec::with_capacity(first_rows.len()), 0);
        for row in first_rows {
            match reader.value(row as usize, 0).ok()? {
                Value::Str(word) => {
                    bytes += word.len();
                    words.push(word);
                }
                _ => return None,
            }
        }
        self.run.grow(bytes, 0).ok()?;
        Some(Texts { indexes: Values::Each(indexes), words: Rc::new(words) }.column())
    }
}
