//! Numeric scripts over a whole block of documents: each node of the expression makes one array, so that
//! the cost of walking the tree is paid once per block.
//!
//! Only operations that cannot fail are done here. Any other operation, or a document without a value,
//! returns `None`: the interpreter then runs the block document by document, with Java's exact errors.

mod coded;
mod column;
mod emitted;
mod folds;
mod join;
mod methods;
mod operators;
mod places;
mod statements;
mod states;
mod texts;
mod updates;

use std::borrow::Cow;

use limber_codec::decimal::divided;
use limber_mapping::date::Resolution;
use limber_mapping::geo::GeoPoint;
use limber_mapping::number::f64_from_sortable;
use limber_mapping::{Field, NumberForm, ValueKind};

use super::given_value::GivenValue;
use super::interpreter::Run;
use crate::error::failed;
use crate::language::{Compiled, Expr, Kind, Stmt, Variable};
use crate::library::{Decay, Machine, call_static, get_index, get_member, is_instance, math, math2, round};
use crate::types::{Binary, FieldPart, Type};
use crate::values::{Value, part_of};
use coded::Coded;
use column::{Column, Data, Values, empty};
pub use emitted::{DistinctTexts, DistinctValues, EmittedBlock};
use join::Join;
use methods::{getter, is_usual, text_compared};
use operators::{binary, cast, unary};
use places::Aliases;
pub use states::RowStates;

/// Returns the script's only expression, if it consists of one.
pub(crate) fn only_expression(script: &Compiled) -> Option<&Expr> {
    match script.body.as_slice() {
        [Stmt::Return(Some(expr))] => Some(expr),
        _ => None,
    }
}

/// A script over the documents of the batch that `run` began.
pub(crate) struct Block<'r, 'a> {
    run: &'r mut Run<'a>,
    scores: &'r [f32],
    count: usize,
    /// The script's variables by slot, each with one value per document of the batch. A variable is only
    /// valid in the rows that reached its declaration.
    locals: Vec<Option<Column>>,
    /// The variables that hold what a member of the state had.
    aliases: Aliases,
    /// The numbers of fields that the script reads several times, of all rows.
    read: Vec<(u16, Column)>,
    /// `_value` of each row.
    aggregated: Option<Column>,
    /// Number of calls of functions around the current statement.
    depth: u32,
}

impl<'r, 'a> Block<'r, 'a> {
    /// Prepares a batch of `count` documents. `scores` has one entry per document, or none if the script uses
    /// no score.
    pub fn new(run: &'r mut Run<'a>, scores: &'r [f32], count: usize) -> Block<'r, 'a> {
        Block {
            run,
            scores,
            count,
            locals: Vec::new(),
            aliases: Aliases::default(),
            read: Vec::new(),
            aggregated: None,
            depth: 0,
        }
    }
}

impl Block<'_, '_> {
    /// Gives each document `_value`, a stored number of a field in the given form.
    pub fn with_values(mut self, field: &Field, stored: &[i64], form: GivenValue) -> Self {
        self.aggregated = Some(match (form, field.number_form()) {
            (GivenValue::Long, _) => {
                let whole = |stored: &i64| match form.value(field, *stored) {
                    Value::Long(number) => number,
                    _ => 0,
                };
                Column::whole(Type::Long, stored.iter().map(whole).collect())
            }
            (GivenValue::Double, Some(NumberForm::Scaled(factor))) => {
                let mut numbers = Vec::with_capacity(stored.len());
                divided(stored, factor, &mut numbers);
                Column::real(numbers)
            }
            _ => Column::real(stored.iter().map(|stored| form.double(field, *stored)).collect()),
        });
        self
    }

    fn all_rows(&self) -> Vec<u32> {
        (0..self.count as u32).collect()
    }

    fn eval(&mut self, expr: &Expr, rows: &[u32]) -> Option<Column> {
        if rows.is_empty() && !matches!(expr.kind, Kind::Literal(_)) {
            // There is nothing to read, so any type will do.
            return Some(empty(expr.ty));
        }
        let count = rows.len();
        Some(match &expr.kind {
            Kind::Literal(literal) => Column::same(&Value::of(literal), count)?,
            Kind::Param(_) => Column::same(&self.constant(expr)?, count)?,
            Kind::Score => Column::real(
                rows.iter()
                    .map(|row| self.scores.get(*row as usize).map(|score| f64::from(*score)))
                    .collect::<Option<_>>()?,
            ),
            Kind::Local(slot) => self.local(*slot, rows)?,
            Kind::FieldValue(field) => self.field_value(*field, rows)?,
            Kind::FieldSize(field) => {
                let (reader, _) = self.run.reader(*field, expr.at).ok()?;
                Column::whole(Type::Int, rows.iter().map(|row| reader.count(*row as usize) as i64).collect())
            }
            Kind::FieldPart(field, part) => self.field_part(*field, *part, rows)?,
            Kind::Member { target, name, .. }
                if let (Kind::Field(field), "empty") = (&target.kind, &**name) =>
            {
                let (reader, _) = self.run.reader(*field, expr.at).ok()?;
                Column::flag(rows.iter().map(|row| reader.count(*row as usize) == 0).collect())
            }
            Kind::Variable(Variable::AggregatedValue) => match self.aggregated.as_ref()? {
                all if rows.len() == self.count => all.clone(),
                all => all.gathered(rows),
            },
            Kind::Binary(op @ (Binary::Equal | Binary::NotEqual), left, right)
                if let Some((field, text)) = text_compared(left, right)
                    && let Some(mut flags) = self.is_text(field, text, rows) =>
            {
                if *op == Binary::NotEqual {
                    flags.iter_mut().for_each(|flag| *flag = !*flag);
                }
                Column::flag(flags)
            }
            Kind::Binary(op, left, right) => {
                let left = self.eval(left, rows)?;
                let right = self.eval(right, rows)?;
                self.binary(*op, left, right)?
            }
            Kind::Unary(op, inner) => unary(*op, self.eval(inner, rows)?)?,
            Kind::AndAlso(left, right) => self.short_circuit(left, right, rows, true)?,
            Kind::OrElse(left, right) => self.short_circuit(left, right, rows, false)?,
            Kind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, rows)?,
            Kind::Cast(ty, inner) => self.cast(*ty, inner, rows)?,
            _ => self.eval_call(expr, rows)?,
        })
    }

    /// Evaluates expressions that call something.
    fn eval_call(&mut self, expr: &Expr, rows: &[u32]) -> Option<Column> {
        let count = rows.len();
        Some(match &expr.kind {
            Kind::Call { target, name, arguments, null_safe } => {
                match self.call(target, name, arguments, rows) {
                    Some(column) => column,
                    None => self.call_any(target, name, (arguments, *null_safe), rows)?,
                }
            }
            Kind::Member { target, name, null_safe } => match self.call(target, &getter(name), &[], rows) {
                Some(column) => column,
                None => {
                    let target = self.eval(target, rows)?;
                    self.call_each(vec![target], |run, values| match &values[0] {
                        Value::Null if *null_safe => Ok(Value::Null),
                        target => get_member(run, target, name, 0),
                    })?
                }
            },
            Kind::Index(target, index) => {
                let parts = vec![self.eval(target, rows)?, self.eval(index, rows)?];
                self.call_each(parts, |run, values| get_index(run, &values[0], &values[1], 0))?
            }
            Kind::InstanceOf(inner, class) => {
                let inner = self.eval(inner, rows)?;
                self.call_each(vec![inner], |_, values| Ok(Value::Bool(is_instance(&values[0], class))))?
            }
            Kind::Regex(number) => Column::same(&Value::Pattern(*number), count)?,
            Kind::Extractor(number) => Column::same(&Value::Extractor(*number), count)?,
            Kind::Elvis(left, right) => self.elvis(left, right, rows)?,
            Kind::Function(number, arguments) => self.call_function(*number, arguments, rows)?,
            Kind::Static { class: "Math", name, arguments } if matches!(arguments.len(), 1 | 2) => {
                self.math_call(name, arguments, rows)?
            }
            Kind::Static { class, name, arguments } if is_pure(class, name) => {
                let parts = arguments.iter().map(|argument| self.eval(argument, rows));
                let parts = parts.collect::<Option<Vec<Column>>>()?;
                self.call_each(parts, |run, values| call_static(run, class, name, &values, 0))?
            }
            Kind::BuiltIn { name, arguments } => self.built_in(name, arguments, rows)?,
            _ => return None,
        })
    }

    fn cast(&mut self, ty: Type, inner: &Expr, rows: &[u32]) -> Option<Column> {
        let inner = self.eval(inner, rows)?;
        match &inner.data {
            Data::Text(_) if ty == Type::Str => Some(inner),
            Data::Text(_) | Data::Other(_) => self.call_each(vec![inner], |_, values| {
                let value = values.into_iter().next().unwrap_or(Value::Null);
                value.cast(ty).map_err(|failure| failed(failure, 0))
            }),
            _ => cast(ty, inner),
        }
    }

    /// Evaluates both branches: on all rows where that is cheaper than to divide them, otherwise each on its
    /// own rows.
    fn conditional(&mut self, condition: &Expr, yes: &Expr, no: &Expr, rows: &[u32]) -> Option<Column> {
        let flags = match self.eval(condition, rows)?.into_flag()? {
            Values::Same(flag, _) => return self.eval(if flag { yes } else { no }, rows),
            Values::Each(flags) => flags,
        };
        // A branch that fails in a row that does not take it is evaluated again below.
        if is_quick(yes, &mut { QUICK_MAX })
            && is_quick(no, &mut { QUICK_MAX })
            && let (Some(yes), Some(no)) = (self.eval(yes, rows), self.eval(no, rows))
        {
            return Join::Whole(&flags).columns(yes, no);
        }
        let (yes_rows, no_rows) = split(rows, &flags);
        let yes = self.eval(yes, &yes_rows)?;
        let no = self.eval(no, &no_rows)?;
        if yes_rows.is_empty() {
            return Some(no);
        }
        if no_rows.is_empty() {
            return Some(yes);
        }
        Join::Parts(&flags).columns(yes, no)
    }

    /// Evaluates the second expression in the rows in which the first one is null.
    fn elvis(&mut self, left: &Expr, right: &Expr, rows: &[u32]) -> Option<Column> {
        let left = self.eval(left, rows)?;
        let Data::Other(Coded { indexes, values }) = left.data else { return Some(left) };
        let is_null = indexes.clone().map(|index| values[index as usize].is_null()).into_vec();
        let (open, known) = split(rows, &is_null);
        if open.is_empty() {
            return Some(Column { ty: left.ty, data: Data::Other(Coded { indexes, values }) });
        }
        let right = self.eval(right, &open)?;
        if known.is_empty() {
            return Some(right);
        }
        let places: Vec<u32> =
            (0..).zip(&is_null).filter(|(_, is_null)| !**is_null).map(|(at, _)| at).collect();
        let left = Coded { indexes: indexes.gathered(&places), values }.column()?;
        Join::Parts(&is_null).columns(right, left)
    }

    /// Applies a binary operator row by row.
    fn binary(&mut self, op: Binary, left: Column, right: Column) -> Option<Column> {
        match (&left.data, &right.data) {
            (Data::Text(_), Data::Text(_)) => {
                self.binary_of_texts(op, left.into_texts()?, right.into_texts()?)
            }
            (Data::Text(_) | Data::Other(_) | Data::Date(_), _)
            | (_, Data::Text(_) | Data::Other(_) | Data::Date(_)) => self
                .call_each(vec![left, right], |_, values| {
                    Value::binary(op, &values[0], &values[1]).map_err(|failure| failed(failure, 0))
                }),
            _ => binary(op, left, right),
        }
    }

    /// Calls a function of `Math`.
    fn math_call(&mut self, name: &str, arguments: &[Expr], rows: &[u32]) -> Option<Column> {
        Some(match arguments {
            [one] if name == "round" => {
                let numbers = self.eval(one, rows)?.into_real()?;
                Column::whole(Type::Long, numbers.into_iter().map(round).collect())
            }
            [one] => {
                let function = math(name)?;
                let mut numbers = self.eval(one, rows)?.into_real()?;
                numbers.iter_mut().for_each(|number| *number = function(*number));
                Column::real(numbers)
            }
            [left, right] => {
                let function = math2(name)?;
                let left = self.eval(left, rows)?.into_reals()?;
                let right = self.eval(right, rows)?.into_reals()?;
                Column { ty: Type::Double, data: Data::Real(left.combined(right, function)) }
            }
            _ => return None,
        })
    }

    fn field_value(&mut self, field: u16, rows: &[u32]) -> Option<Column> {
        if let Some((_, known)) = self.read.iter().find(|(known, _)| *known == field) {
            return Some(if rows.len() == self.count { known.clone() } else { known.gathered(rows) });
        }
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let mapped = reader.field()?;
        if !reader.is_numeric() {
            return self.field_texts(field, rows);
        }
        let first: Cow<'_, [i64]> = match reader.aligned() {
            Some(all) if all.len() == rows.len() => Cow::Borrowed(all),
            Some(all) => rows.iter().map(|row| all[*row as usize]).collect(),
            None => {
                rows.iter().map(|row| reader.stored(*row as usize).first().copied()).collect::<Option<_>>()?
            }
        };
        let (column, bytes) = (numbers_of(mapped, &first)?, size_of_val(&*first));
        let is_whole = rows.len() == self.count;
        if is_whole && self.is_read_again(field) && self.run.grow(bytes, 0).is_ok() {
            self.read.push((field, column.clone()));
        }
        Some(column)
    }

    /// Whether the script seems to read a field more than once.
    fn is_read_again(&self, field: u16) -> bool {
        let script = self.run.script;
        let name = script.fields.get(usize::from(field));
        name.is_some_and(|name| script.source.match_indices(&**name).nth(1).is_some())
    }

    fn field_part(&mut self, field: u16, part: FieldPart, rows: &[u32]) -> Option<Column> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let mapped = reader.field()?;
        let is_coordinate = matches!(part, FieldPart::Latitude | FieldPart::Longitude);
        if is_coordinate && !mapped.is_point() {
            return None;
        }
        if !reader.is_numeric() {
            return None;
        }
        let mut numbers = Vec::with_capacity(rows.len());
        for row in rows {
            let stored = reader.stored(*row as usize);
            if is_coordinate && stored.is_empty() {
                return None;
            }
            numbers.push(part_of(part, stored, mapped.resolution(), |stored| mapped.decode_f64(stored)));
        }
        Some(Column::real(numbers))
    }

    fn short_circuit(&mut self, left: &Expr, right: &Expr, rows: &[u32], goes_on: bool) -> Option<Column> {
        let mut flags = self.eval(left, rows)?.into_flags()?;
        let open: Vec<u32> =
            rows.iter().zip(&flags).filter(|(_, flag)| **flag == goes_on).map(|(row, _)| *row).collect();
        let mut decided = self.eval(right, &open)?.into_flags()?.into_iter();
        for flag in &mut flags {
            if *flag == goes_on {
                *flag = decided.next()?;
            }
        }
        Some(Column::flag(flags))
    }

    fn built_in(&mut self, name: &str, arguments: &[Expr], rows: &[u32]) -> Option<Column> {
        match (name, arguments) {
            ("saturation", [value, k]) => {
                let values = self.eval(value, rows)?.into_real()?;
                let k = self.eval(k, rows)?.into_real()?;
                Some(Column::real(values.into_iter().zip(k).map(|(value, k)| value / (k + value)).collect()))
            }
            ("randomScore", [seed]) => {
                let seed = self.constant(seed)?.i64() as i32;
                let (documents, docs) = self.run.batch()?;
                let number = |row: &u32| documents.random_by_doc(docs[*row as usize], seed);
                Some(Column::real(rows.iter().map(number).collect()))
            }
            ("randomScore", [seed, Expr { kind: Kind::Field(field), .. }]) => {
                let seed = self.constant(seed)?.i64() as i32;
                let values = self.field_value(*field, rows)?.into_wholes()?.into_vec();
                let (documents, _) = self.run.batch()?;
                let number = |value: &i64| documents.random_by_bytes(value.to_string().as_bytes(), seed);
                Some(Column::real(values.iter().map(number).collect()))
            }
            (decay, [origin, scale, offset, factor, value]) if decay.starts_with("decay") => {
                let parameters = [origin, scale, offset, factor]
                    .into_iter()
                    .map(|parameter| self.constant(parameter))
                    .collect::<Option<Vec<Value>>>()?;
                let Decay(falloff) = Decay::new(name, &parameters, 0).ok()?;
                let Kind::FieldValue(field) = value.kind else {
                    let mut numbers = self.eval(value, rows)?.into_real()?;
                    numbers.iter_mut().for_each(|number| *number = falloff.of_number(*number));
                    return Some(Column::real(numbers));
                };
                let (reader, _) = self.run.reader(field, 0).ok()?;
                let mapped = reader.field()?;
                if !reader.is_numeric() {
                    return None;
                }
                let is_point = mapped.is_point();
                let mut numbers = Vec::with_capacity(rows.len());
                for row in rows {
                    let stored = *reader.stored(*row as usize).first()?;
                    numbers.push(match is_point {
                        true => falloff.of_point(GeoPoint::decode(stored)),
                        false => falloff.of_number(mapped.decode_f64(stored)),
                    });
                }
                Some(Column::real(numbers))
            }
            _ => None,
        }
    }

    /// Returns a value that is the same for all documents.
    fn constant(&mut self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            Kind::Literal(literal) => Some(Value::of(literal)),
            // The source is that of one document.
            Kind::Param(name) if **name != *"_source" => self.run.param(name).ok(),
            _ => None,
        }
    }
}

/// Returns stored numbers of a field as scripts see them.
fn numbers_of(field: &Field, stored: &[i64]) -> Option<Column> {
    Some(match field.values {
        ValueKind::Long(_) => Column::whole(Type::Long, stored.to_vec()),
        ValueKind::Date { resolution: Resolution::Millis, .. } if stored.iter().all(is_usual) => {
            Column::dates(stored.to_vec())
        }
        ValueKind::Bool => Column::flag(stored.iter().map(|stored| *stored != 0).collect()),
        ValueKind::Double(_) | ValueKind::Scaled(_) => Column::real(match field.number_form() {
            // The number form is checked once per block.
            Some(NumberForm::Scaled(factor)) => {
                let mut numbers = Vec::with_capacity(stored.len());
                divided(stored, factor, &mut numbers);
                numbers
            }
            Some(NumberForm::Double | NumberForm::Float) => {
                stored.iter().map(|stored| f64_from_sortable(*stored)).collect()
            }
            _ => stored.iter().map(|stored| field.decode_f64(*stored)).collect(),
        }),
        _ => return None,
    })
}

/// Whether a static method has no effect but its result.
fn is_pure(class: &str, name: &str) -> bool {
    match class {
        "Collections" => matches!(name, "max" | "min" | "frequency"),
        "Math" => name != "random",
        "UUID" => name != "randomUUID",
        _ => class != "System",
    }
}

/// Divides rows by their flags, without a branch, as flags come in no order.
fn split(rows: &[u32], flags: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let (mut yes, mut no) = (vec![0; rows.len()], vec![0; rows.len()]);
    let (mut yes_count, mut no_count) = (0, 0);
    for (row, flag) in rows.iter().zip(flags) {
        yes[yes_count] = *row;
        no[no_count] = *row;
        yes_count += usize::from(*flag);
        no_count += usize::from(!*flag);
    }
    yes.truncate(yes_count);
    no.truncate(no_count);
    (yes, no)
}

/// Largest number of nodes of an expression that is evaluated in rows that do not need it.
const QUICK_MAX: u32 = 8;

/// Whether an expression is so quick to evaluate that dividing rows would take longer.
fn is_quick(expr: &Expr, left: &mut u32) -> bool {
    *left = left.saturating_sub(1);
    *left > 0
        && match &expr.kind {
            Kind::Literal(_) | Kind::Param(_) | Kind::Local(_) | Kind::FieldValue(_) | Kind::Score => true,
            Kind::Variable(Variable::AggregatedValue) => true,
            Kind::Unary(_, inner) | Kind::Cast(_, inner) => is_quick(inner, left),
            Kind::Binary(_, one, other) => is_quick(one, left) && is_quick(other, left),
            _ => false,
        }
}
