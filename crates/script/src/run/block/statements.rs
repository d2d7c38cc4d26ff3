//! Scripts of several statements over a block of documents: declarations, assignments, conditions, `return`
//! and `emit`. Each statement runs on the rows that reach it.

use limber_mapping::number::sortable_from_f64;

use super::{Block, Column, Data, EmittedBlock, binary, cast, only_expression, split};
use crate::language::{Compiled, Expr, Kind, Stmt};
use crate::types::{Binary, Type};

/// What the statements of a script produce.
enum Results {
    /// The number that each row returned.
    Numbers(Vec<f64>),
    /// The answer that each row returned.
    Flags(Vec<bool>),
    /// (Row, number), as the rows emitted them.
    Emitted(Vec<(u32, i64)>),
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
                        None => zeros(*ty, rows.len())?,
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
            (Kind::BuiltIn { name: "emit", arguments }, Results::Emitted(found)) => {
                let [value] = arguments.as_slice() else { return None };
                let stored = self.stored(value, rows)?;
                found.extend(rows.iter().copied().zip(stored));
                Some(())
            }
            (Kind::Assign { target, op, value, .. }, _) => {
                let Kind::Local(slot) = target.kind else { return None };
                self.assign(slot, target.ty, *op, value, rows)
            }
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
            (Results::Emitted(_), None) => Some(()),
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
            Data::Whole(data) => data,
            Data::Real(data) => data.into_iter().map(sortable_from_f64).collect(),
            Data::Flag(data) => data.into_iter().map(i64::from).collect(),
        })
    }

    /// Returns the values of a variable in some rows.
    pub(super) fn local(&self, slot: u16, rows: &[u32]) -> Option<Column> {
        let local = self.locals.get(usize::from(slot))?.as_ref()?;
        if rows.len() == self.count {
            return Some(local.clone());
        }
        let data = match &local.data {
            Data::Whole(all) => Data::Whole(gathered(all, rows)),
            Data::Real(all) => Data::Real(gathered(all, rows)),
            Data::Flag(all) => Data::Flag(gathered(all, rows)),
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
            None => local.insert(zeros(column.ty, count)?),
        };
        if local.ty != column.ty {
            return None;
        }
        match (&mut local.data, column.data) {
            (Data::Whole(all), Data::Whole(some)) => scatter(all, some, rows, count),
            (Data::Real(all), Data::Real(some)) => scatter(all, some, rows, count),
            (Data::Flag(all), Data::Flag(some)) => scatter(all, some, rows, count),
            _ => return None,
        }
        Some(())
    }
}

fn gathered<T: Copy>(all: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|row| all[*row as usize]).collect()
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
fn zeros(ty: Type, count: usize) -> Option<Column> {
    let data = match ty {
        Type::Bool => Data::Flag(vec![false; count]),
        Type::Int | Type::Long => Data::Whole(vec![0; count]),
        Type::Float | Type::Double => Data::Real(vec![0.0; count]),
        _ => return None,
    };
    Some(Column { ty, data })
}
