//! Scripts of several statements over a block of documents: declarations, assignments, conditions, `return`
//! and `emit`. Each statement runs on the rows that reach it.

use limber_mapping::geo::GeoPoint;
use limber_mapping::number::sortable_from_f64;

use super::coded::joined_values;
use super::emitted::{ByRow, DistinctTexts, DistinctValues, Emissions, EmittedBlock};
use super::operators::cast;
use super::places::is_state;
use super::states::{RowStates, apply};
use super::texts::{Words, joined_texts};
use super::updates::Updates;
use super::{Block, Column, Data, Values, only_expression, split};
use crate::language::{Compiled, Expr, Kind, Stmt};
use crate::library::Machine;
use crate::types::{Binary, Type};
use crate::values::Value;

/// Deepest nesting of calls of functions.
const DEPTH_MAX: u32 = 8;

/// What the statements of a script produce.
enum Results {
    /// The number that each row returned.
    Numbers(Vec<f64>),
    /// The answer that each row returned.
    Flags(Vec<bool>),
    /// The numbers that the rows emitted.
    Emitted(Emissions<i64>),
    /// What the rows did to their states.
    Updates(Updates),
    /// What rows returned is in this variable.
    Returned(u16),
    /// The values that rows returned.
    Values(Vec<(Vec<u32>, Column)>),
    /// The strings that the rows emitted, by their indexes.
    EmittedTexts(Words, Emissions<u32>),
}

impl Block<'_, '_> {
    /// Runs a script that consists only of conditions, variables and numeric `emit`s.
    pub fn emitted(&mut self, script: &Compiled) -> Option<EmittedBlock> {
        let rows = self.all_rows();
        if let [Stmt::Expr(Expr { kind: Kind::BuiltIn { name: "emit", arguments }, .. })] =
            script.body.as_slice()
        {
            return Some(EmittedBlock::Aligned(self.stored(arguments, &rows)?));
        }
        let mut results = Results::Emitted(Emissions::new());
        self.run_all(&script.body, rows, &mut results)?;
        let Results::Emitted(found) = results else { return None };
        let ByRow { rows, values } = found.by_row(self.count, i64::cmp)?;
        Some(match rows {
            None => EmittedBlock::Aligned(values),
            Some(positions) => EmittedBlock::Loose { positions, numbers: values },
        })
    }

    /// Returns the script's number for each document.
    pub fn numbers(&mut self, script: &Compiled) -> Option<Vec<f64>> {
        let rows = self.all_rows();
        if let Some(expr) = only_expression(script) {
            return self.eval(expr, &rows)?.into_real();
        }
        let mut results = Results::Numbers(Vec::new());
        let open = self.run_all(&script.body, rows, &mut results)?;
        match results {
            // A row that returns nothing is the interpreter's.
            Results::Numbers(numbers) if open.is_empty() => Some(numbers),
            _ => None,
        }
    }

    /// Returns the value that the script returns for each document. `None` if not all are constants or null.
    pub fn values(&mut self, script: &Compiled) -> Option<DistinctValues> {
        let rows = self.all_rows();
        let mut results = Results::Values(Vec::new());
        let open = self.run_all(&script.body, rows, &mut results)?;
        let Results::Values(mut runs) = results else { return None };
        if !open.is_empty() {
            let nothing = Column::same(&Value::Null, open.len())?;
            runs.push((open, nothing));
        }
        let (mut values, mut indexes) = (Vec::new(), vec![0; self.count]);
        for (rows, column) in runs {
            let coded = column.coded()?;
            let first = values.len() as u32;
            values.extend(coded.values.iter().cloned());
            let own = coded.indexes.into_vec();
            rows.iter().zip(own).for_each(|(row, index)| indexes[*row as usize] = first + index);
        }
        let are_settled =
            values.iter().all(|value| value.is_constant() || value.is_number() || value.is_null());
        are_settled.then_some(DistinctValues { values, indexes })
    }

    /// Runs a script that consists only of conditions, variables and `emit`s of strings.
    pub fn emitted_texts(&mut self, script: &Compiled) -> Option<DistinctTexts> {
        let rows = self.all_rows();
        let mut results = Results::EmittedTexts(Words::default(), Emissions::new());
        self.run_all(&script.body, rows, &mut results)?;
        let Results::EmittedTexts(Words { words, .. }, found) = results else { return None };
        let word = |index: &u32| &words[*index as usize];
        let ByRow { rows, values } = found.by_row(self.count, |left, right| word(left).cmp(word(right)))?;
        Some(DistinctTexts { words, positions: rows, indexes: values })
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
        let mut results = Results::Updates(Updates::default());
        self.run_all(&script.body, rows, &mut results)?;
        match results {
            Results::Updates(updates) => apply(updates.all, states),
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
                Stmt::Declare(slot, _, value)
                    if matches!(results, Results::Updates(_))
                        && self.aliases.declare(*slot, value.as_ref()) =>
                {
                    if let Some(local) = self.locals.get_mut(usize::from(*slot)) {
                        *local = None;
                    }
                }
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
                Stmt::If(condition, yes, no)
                    if let Results::Updates(updates) = &mut *results
                        && self.update_if(condition, (yes, no), &rows, updates).is_some() => {}
                Stmt::If(condition, yes, no) => {
                    let flags = self.eval(condition, &rows)?.into_flags()?;
                    let (yes_rows, no_rows) = split(&rows, &flags);
                    let yes_rows = self.run_all(yes, yes_rows, results)?;
                    let no_rows = self.run_all(no, no_rows, results)?;
                    // Usually all rows go on, or those of one branch.
                    if yes_rows.len() + no_rows.len() < rows.len() {
                        rows = self.merged_rows(yes_rows, no_rows);
                    }
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

    /// Returns the rows of both branches, ascending.
    fn merged_rows(&self, yes: Vec<u32>, no: Vec<u32>) -> Vec<u32> {
        if no.is_empty() {
            return yes;
        }
        if yes.is_empty() {
            return no;
        }
        let mut is_open = vec![false; self.count];
        yes.iter().chain(&no).for_each(|row| is_open[*row as usize] = true);
        (0..).zip(is_open).filter(|(_, is_open)| *is_open).map(|(row, _)| row).collect()
    }

    /// Calls a function of the script: its statements run on the rows, with variables of their own.
    pub(super) fn call_function(&mut self, number: u16, arguments: &[Expr], rows: &[u32]) -> Option<Column> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        let script = self.run.script;
        let function = &script.functions[usize::from(number)];
        let mut own = Vec::new();
        for argument in arguments {
            own.push(self.eval(argument, rows)?);
        }
        // The variable after its own takes what the function returns.
        let returned = function.slots;
        let locals = std::mem::replace(&mut self.locals, vec![None; usize::from(returned) + 1]);
        let aliases = std::mem::take(&mut self.aliases);
        self.depth += 1;
        let mut results = Results::Returned(returned);
        let set = (0..).zip(own).try_for_each(|(slot, column)| self.set_local(slot, column, rows));
        let open = set.and_then(|()| self.run_all(&function.body, rows.to_vec(), &mut results));
        // A function that ends without a value returns that of its type.
        let column = open.filter(Vec::is_empty).and_then(|_| self.local(returned, rows));
        self.depth -= 1;
        (self.locals, self.aliases) = (locals, aliases);
        column
    }

    /// Runs an expression whose value nobody reads.
    fn run_expression(&mut self, expr: &Expr, rows: &[u32], results: &mut Results) -> Option<()> {
        match (&expr.kind, results) {
            (Kind::BuiltIn { name: "emit", arguments }, Results::EmittedTexts(words, found)) => {
                let [value] = arguments.as_slice() else { return None };
                let (rows, column) = without_nulls(rows, self.eval(value, rows)?);
                if !rows.is_empty() {
                    self.run.grow(rows.len() * size_of::<(u32, u32)>(), 0).ok()?;
                    found.push(&rows, words.indexes(column.into_texts()?).into_vec());
                }
                Some(())
            }
            (Kind::BuiltIn { name: "emit", arguments }, Results::Emitted(found)) => {
                self.run.grow(rows.len() * size_of::<(u32, i64)>(), 0).ok()?;
                found.push(rows, self.stored(arguments, rows)?);
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
        if self.aliases.has(slot) {
            return None;
        }
        let column = match op {
            None => self.eval(value, rows)?,
            Some(op) => {
                let old = self.local(slot, rows)?;
                let value = self.eval(value, rows)?;
                let new = self.binary(op, old, value)?;
                // A variable keeps its type.
                if ty == Type::Def { new } else { cast(ty, new)? }
            }
        };
        self.set_local(slot, column, rows)
    }

    fn return_value(&mut self, value: Option<&Expr>, rows: &[u32], results: &mut Results) -> Option<()> {
        match (results, value) {
            (Results::Emitted(_) | Results::EmittedTexts(..) | Results::Updates(_), None) => Some(()),
            (Results::Returned(slot), Some(value)) => {
                let (slot, column) = (*slot, self.eval(value, rows)?);
                self.set_local(slot, column, rows)
            }
            (Results::Values(runs), Some(value)) => {
                let column = self.eval(value, rows)?;
                runs.push((rows.to_vec(), column));
                Some(())
            }
            // Nobody reads what a script that updates states returns.
            (results @ Results::Updates(_), Some(value)) => self.run_expression(value, rows, results),
            (Results::Numbers(all), Some(value)) => {
                let numbers = self.eval(value, rows)?.into_real()?;
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

    /// Evaluates a number, or the coordinates of a point, as columns store them.
    fn stored(&mut self, values: &[Expr], rows: &[u32]) -> Option<Vec<i64>> {
        let value = match values {
            [value] => value,
            [latitude, longitude] if latitude.ty == Type::Double && longitude.ty == Type::Double => {
                let latitudes = self.eval(latitude, rows)?.into_real()?;
                let longitudes = self.eval(longitude, rows)?.into_real()?;
                let point = |(latitude, longitude)| GeoPoint { latitude, longitude }.normalized().encode();
                return Some(latitudes.into_iter().zip(longitudes).map(point).collect());
            }
            _ => return None,
        };
        Some(match self.eval(value, rows)?.data {
            Data::Whole(data) => data.into_vec(),
            Data::Real(data) => data.into_vec().into_iter().map(sortable_from_f64).collect(),
            Data::Flag(data) => data.into_vec().into_iter().map(i64::from).collect(),
            Data::Date(_) | Data::Text(_) | Data::Other(_) => return None,
        })
    }

    /// Returns the values of a variable in some rows.
    pub(super) fn local(&self, slot: u16, rows: &[u32]) -> Option<Column> {
        let local = self.locals.get(usize::from(slot))?.as_ref()?;
        if rows.len() == self.count {
            return Some(local.clone());
        }
        Some(local.gathered(rows))
    }

    /// Declares a variable. Its slot may have been that of another one, whose scope has ended.
    fn declare(&mut self, slot: u16, column: Column, rows: &[u32]) -> Option<()> {
        let slot_index = usize::from(slot);
        // A script may have many variables.
        self.run.grow(rows.len() * size_of::<i64>(), 0).ok()?;
        if self.locals.len() <= slot_index {
            self.locals.resize(slot_index + 1, None);
        }
        self.locals[slot_index] = self.locals[slot_index].take().filter(|local| local.ty == column.ty);
        self.set_local(slot, column, rows)
    }

    /// Sets a variable in some rows. `None` if its values then had nothing in common.
    fn set_local(&mut self, slot: u16, column: Column, rows: &[u32]) -> Option<()> {
        let count = self.count;
        let local = self.locals.get_mut(usize::from(slot))?;
        if rows.len() == count {
            *local = Some(column);
            return Some(());
        }
        // Nobody reads the rows that have not reached the variable.
        let old = local.take().unwrap_or_else(|| Column::unset(&column, count));
        let (old, column) = old.alike(column)?;
        let local = local.insert(old);
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
            (Data::Other(all), Data::Other(some)) => {
                *all = joined_values(all.clone(), some, |mut all, some| {
                    set_some(&mut all, some, rows);
                    all.into_vec()
                });
            }
            _ => return None,
        }
        Some(())
    }
}

/// Leaves out the rows whose value is null.
fn without_nulls(rows: &[u32], column: Column) -> (Vec<u32>, Column) {
    let Data::Other(coded) = &column.data else { return (rows.to_vec(), column) };
    let is_null = coded.indexes.clone().map(|index| coded.values[index as usize].is_null()).into_vec();
    let places: Vec<u32> = (0..).zip(&is_null).filter(|(_, is_null)| !**is_null).map(|(at, _)| at).collect();
    let kept = places.iter().map(|place| rows[*place as usize]).collect();
    (kept, column.gathered(&places))
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
