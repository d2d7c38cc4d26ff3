//! Scripts of several statements over a block of documents: declarations, assignments, conditions, `return`
//! and `emit`. Each statement runs on the rows that reach it.

use limber_mapping::number::sortable_from_f64;

use super::states::{RowStates, Update, apply, is_state};
use super::texts::{Texts, Words, joined_texts};
use super::{Block, Column, Data, DistinctTexts, EmittedBlock, Values, binary, cast, only_expression, split};
use crate::language::{Compiled, Expr, Kind, Stmt};
use crate::types::{Binary, Type};
use crate::values::Value;

/// What the statements of a script produce.
enum Results {
    /// The number that each row returned.
    Numbers(Vec<f64>),
    /// The answer that each row returned.
    Flags(Vec<bool>),
    /// (Row, number), as the rows emitted them.
    Emitted(Vec<(u32, i64)>),
    /// What the rows did to their states.
    Updates(Vec<Update>),
    /// The string that each row returned.
    Texts(Words, Vec<u32>),
    /// (Row, string), as the rows emitted them.
    EmittedTexts(Words, Vec<(u32, u32)>),
}

impl Block<'_, '_> {
    /// Runs a script that consists only of conditions, variables and numeric `emit`s.
    pub fn emitted(&mut self, script: &Compiled) -> Option<EmittedBlock> {
        let rows = self.all_rows();
        if let [Stmt::Expr(Expr { kind: Kind::BuiltIn { name: "emit", arguments }, .. })] =
            script.body.as_slice()
            && let [value] = arguments.as_slice()
        {
            return Some(EmittedBlock::Aligned(self.stored(value, &rows)?));
        }
        let mut results = Results::Emitted(Vec::new());
        self.run_all(&script.body, rows, &mut results)?;
        let Results::Emitted(mut found) = results else { return None };
        found.sort_unstable();
        Some(EmittedBlock::Loose(found))
    }

    /// Returns the script's number for each document.
    pub fn numbers(&mut self, script: &Compiled) -> Option<Vec<f64>> {
        let rows = self.all_rows();
        if let Some(expr) = only_expression(script) {
            return self.eval_loosely(expr, &rows)?.into_real();
        }
        let mut results = Results::Numbers(Vec::new());
        let open = self.run_all(&script.body, rows, &mut results)?;
        match results {
            // A row that returns nothing is the interpreter's.
            Results::Numbers(numbers) if open.is_empty() => Some(numbers),
            _ => None,
        }
    }

    /// Returns the string that the script returns for each document.
    pub fn texts(&mut self, script: &Compiled) -> Option<DistinctTexts> {
        let rows = self.all_rows();
        let mut results = Results::Texts(Words::default(), Vec::new());
        let open = self.run_all(&script.body, rows, &mut results)?;
        match results {
            Results::Texts(words, indexes) if open.is_empty() => {
                Some(DistinctTexts { words: words.words, indexes: (0..).zip(indexes).collect() })
            }
            _ => None,
        }
    }

    /// Runs a script that consists only of conditions, variables and `emit`s of strings.
    pub fn emitted_texts(&mut self, script: &Compiled) -> Option<DistinctTexts> {
        let rows = self.all_rows();
        let mut results = Results::EmittedTexts(Words::default(), Vec::new());
        self.run_all(&script.body, rows, &mut results)?;
        let Results::EmittedTexts(words, mut indexes) = results else { return None };
        // The rows of each statement ascend, so few runs are merged.
        indexes.sort_by(|left, right| {
            let word = |index: u32| &words.words[index as usize];
            left.0.cmp(&right.0).then_with(|| word(left.1).cmp(word(right.1)))
        });
        Some(DistinctTexts { words: words.words, indexes })
    }

    /// Returns the script's answer for each document.
    pub fn flags(&mut self, script: &Compiled) -> Option<Vec<bool>> {
        let rows = self.all_rows();
        if let Some(expr) = only_expression(script) {
            return self.eval(expr, &rows)?.into_flags();
        }
        let mut results = Results::Flags(Vec::new());
        let open = self.run_all(&script.body, rows, &mut results)?;
        match results {
            Results::Flags(flags) if open.is_empty() => Some(flags),
            _ => None,
        }
    }

    /// Runs a script that only updates states; returns by how much these have grown at most. If it returns
    /// `None`, no state has changed.
    pub fn update_states(&mut self, script: &Compiled, states: &RowStates<'_>) -> Option<u64> {
        let rows = self.all_rows();
        let mut results = Results::Updates(Vec::new());
        self.run_all(&script.body, rows, &mut results)?;
        match results {
            Results::Updates(updates) => apply(updates, states),
            _ => None,
        }
    }

    /// Runs statements on `rows`; returns the rows that continue after them.
    fn run_all(&mut self, body: &[Stmt], mut rows: Vec<u32>, results: &mut Results) -> Option<Vec<u32>> {
        for statement in body {
            if rows.is_empty() {
                break;
            }
            match statement {
                Stmt::Expr(expr) => self.run_expression(expr, &rows, results)?,
                Stmt::Declare(slot, ty, value) => {
                    let column = match value {
                        Some(value) => self.eval(value, &rows)?,
                        None => Column::same(&zero_of(*ty)?, rows.len())?,
                    };
                    if *ty != Type::Def && column.ty != *ty {
                        return None;
                    }
                    self.declare(*slot, column, &rows)?;
                }
                Stmt::If(condition, yes, no) => {
                    let flags = self.eval(condition, &rows)?.into_flags()?;
                    let (yes_rows, no_rows) = split(&rows, &flags);
                    rows = self.run_all(yes, yes_rows, results)?;
                    rows.extend(self.run_all(no, no_rows, results)?);
                    rows.sort_unstable();
                }
                Stmt::Block(inner) => rows = self.run_all(inner, rows, results)?,
                Stmt::Return(value) => {
                    self.return_value(value.as_ref(), &rows, results)?;
                    rows.clear();
                }
                _ => return None,
            }
        }
        Some(rows)
    }

    /// Runs an expression whose value nobody reads.
    fn run_expression(&mut self, expr: &Expr, rows: &[u32], results: &mut Results) -> Option<()> {
        match (&expr.kind, results) {
            (Kind::BuiltIn { name: "emit", arguments }, Results::EmittedTexts(words, found)) => {
                let [value] = arguments.as_slice() else { return None };
                let indexes = words.indexes(self.eval(value, rows)?.into_texts()?).into_vec();
                found.extend(rows.iter().copied().zip(indexes));
                Some(())
            }
            (Kind::BuiltIn { name: "emit", arguments }, Results::Emitted(found)) => {
                let [value] = arguments.as_slice() else { return None };
                let stored = self.stored(value, rows)?;
                found.extend(rows.iter().copied().zip(stored));
                Some(())
            }
            (Kind::Assign { target, .. }, Results::Updates(_)) if is_state(target) => None,
            (Kind::Assign { target, op, value, .. }, results) => match (&target.kind, results) {
                (Kind::Local(slot), _) => self.assign(*slot, target.ty, *op, value, rows),
                (_, Results::Updates(updates)) => self.update(expr, rows, updates),
                _ => None,
            },
            (_, Results::Updates(updates)) => self.update(expr, rows, updates),
            _ => None,
        }
    }

    fn assign(&mut self, slot: u16, ty: Type, op: Option<Binary>, value: &Expr, rows: &[u32]) -> Option<()> {
        let column = match op {
            None => self.eval(value, rows)?,
            Some(op) => {
                let old = self.local(slot, rows)?;
                let new = binary(op, old, self.eval(value, rows)?)?;
                // A variable keeps its type.
                if ty == Type::Def { new } else { cast(ty, new)? }
            }
        };
        self.set_local(slot, column, rows)
    }

    fn return_value(&mut self, value: Option<&Expr>, rows: &[u32], results: &mut Results) -> Option<()> {
        match (results, value) {
            (Results::Emitted(_) | Results::EmittedTexts(..) | Results::Updates(_), None) => Some(()),
            (Results::Texts(words, all), Some(value)) => {
                let indexes = words.indexes(self.eval(value, rows)?.into_texts()?).into_vec();
                scatter(all, indexes, rows, self.count);
                Some(())
            }
            // Nobody reads what a script that updates states returns.
            (results @ Results::Updates(_), Some(value)) => self.run_expression(value, rows, results),
            (Results::Numbers(all), Some(value)) => {
                let numbers = self.eval_loosely(value, rows)?.into_real()?;
                scatter(all, numbers, rows, self.count);
                Some(())
            }
            (Results::Flags(all), Some(value)) => {
                let flags = self.eval(value, rows)?.into_flags()?;
                scatter(all, flags, rows, self.count);
                Some(())
            }
            _ => None,
        }
    }

    /// Evaluates to numbers as columns store them.
    fn stored(&mut self, value: &Expr, rows: &[u32]) -> Option<Vec<i64>> {
        Some(match self.eval(value, rows)?.data {
            Data::Whole(data) => data.into_vec(),
            Data::Real(data) => data.into_vec().into_iter().map(sortable_from_f64).collect(),
            Data::Flag(data) => data.into_vec().into_iter().map(i64::from).collect(),
            Data::Date(_) | Data::Text(_) => return None,
        })
    }

    /// Returns the values of a variable in some rows.
    pub(super) fn local(&self, slot: u16, rows: &[u32]) -> Option<Column> {
        let local = self.locals.get(usize::from(slot))?.as_ref()?;
        if rows.len() == self.count {
            return Some(local.clone());
        }
        let data = match &local.data {
            Data::Whole(all) => Data::Whole(all.gathered(rows)),
            Data::Real(all) => Data::Real(all.gathered(rows)),
            Data::Flag(all) => Data::Flag(all.gathered(rows)),
            Data::Date(all) => Data::Date(all.gathered(rows)),
            Data::Text(all) => {
                Data::Text(Texts { indexes: all.indexes.gathered(rows), words: all.words.clone() })
            }
        };
        Some(Column { ty: local.ty, data })
    }

    /// Declares a variable. Its slot may have been that of another one, whose scope has ended.
    fn declare(&mut self, slot: u16, column: Column, rows: &[u32]) -> Option<()> {
        let slot_index = usize::from(slot);
        if self.locals.len() <= slot_index {
            self.locals.resize(slot_index + 1, None);
        }
        if self.locals[slot_index].as_ref().is_some_and(|local| local.ty != column.ty) {
            self.locals[slot_index] = None;
        }
        self.set_local(slot, column, rows)
    }

    /// Sets a variable in some rows. `None` if it would then have values of two types.
    fn set_local(&mut self, slot: u16, column: Column, rows: &[u32]) -> Option<()> {
        let count = self.count;
        let local = self.locals.get_mut(usize::from(slot))?;
        if rows.len() == count {
            *local = Some(column);
            return Some(());
        }
        let local = match local {
            Some(local) => local,
            None => {
                // Nobody reads the rows that have not reached the variable.
                let unset = if column.ty == Type::Str { Value::str("") } else { zero_of(column.ty)? };
                local.insert(Column::same(&unset, count)?)
            }
        };
        if local.ty != column.ty {
            return None;
        }
        match (&mut local.data, column.data) {
            (Data::Whole(all), Data::Whole(some)) => set_some(all, some, rows),
            (Data::Real(all), Data::Real(some)) => set_some(all, some, rows),
            (Data::Flag(all), Data::Flag(some)) => set_some(all, some, rows),
            (Data::Date(all), Data::Date(some)) => set_some(all, some, rows),
            (Data::Text(all), Data::Text(some)) => {
                *all = joined_texts(all.clone(), some, |mut all, some| {
                    set_some(&mut all, some, rows);
                    all.into_vec()
                });
            }
            _ => return None,
        }
        Some(())
    }
}

/// Sets the values of some rows.
fn set_some<T: Copy>(all: &mut Values<T>, some: Values<T>, rows: &[u32]) {
    if let Values::Same(value, count) = all {
        *all = Values::Each(vec![*value; *count]);
    }
    let Values::Each(all) = all else { return };
    match some {
        Values::Each(some) => rows.iter().zip(some).for_each(|(row, value)| all[*row as usize] = value),
        Values::Same(value, _) => rows.iter().for_each(|row| all[*row as usize] = value),
    }
}

/// Writes the values of some rows into those of all `count` rows.
fn scatter<T: Copy + Default>(all: &mut Vec<T>, some: Vec<T>, rows: &[u32], count: usize) {
    if rows.len() == count {
        *all = some;
        return;
    }
    all.resize(count, T::default());
    rows.iter().zip(some).for_each(|(row, value)| all[*row as usize] = value);
}

/// Returns what a variable of this type holds before anything is assigned to it.
fn zero_of(ty: Type) -> Option<Value> {
    match ty {
        Type::Bool | Type::Int | Type::Long | Type::Float | Type::Double => Some(Value::zero_of(ty)),
        _ => None,
    }
}
