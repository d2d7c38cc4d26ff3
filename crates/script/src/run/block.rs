//! Numeric scripts over a whole block of documents: each node of the expression makes one array, so that
//! the cost of walking the tree is paid once per block.
//!
//! Only operations that cannot fail are done here. Any other operation, or a document without a value,
//! returns `None`: the interpreter then runs the block document by document, with Java's exact errors.

mod column;
mod methods;
mod statements;
mod states;
mod texts;

use std::borrow::Cow;
use std::sync::Arc;

use limber_codec::decimal::divided;
use limber_mapping::date::Resolution;
use limber_mapping::geo::GeoPoint;
use limber_mapping::number::f64_from_sortable;
use limber_mapping::{NumberForm, ValueKind};

use super::interpreter::Run;
use crate::language::{Compiled, Expr, Kind, Stmt};
use crate::library::{Decay, Machine, math, math2, round};
use crate::types::{Binary, FieldPart, Type};
use crate::values::{Value, part_of};
use column::{Column, Data, Values, binary, cast, empty, joined, unary};
use methods::{getter, is_usual, text_compared};
pub use states::RowStates;
use texts::joined_texts;

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
}

/// What the script of a numeric runtime field emits for a block of documents, as columns store it.
pub enum EmittedBlock {
    /// One number for each document, in order.
    Aligned(Vec<i64>),
    /// (Index of the document in the block, number), by index and then ascending.
    Loose(Vec<(u32, i64)>),
}

/// Strings that a script returns or emits for a block of documents.
pub struct DistinctTexts {
    /// The strings, each once.
    pub words: Vec<Arc<str>>,
    /// (Index of the document in the block, index of the string), by document and then by string.
    pub indexes: Vec<(u32, u32)>,
}

impl<'r, 'a> Block<'r, 'a> {
    /// Prepares a batch of `count` documents. `scores` has one entry per document, or none if the script uses
    /// no score.
    pub fn new(run: &'r mut Run<'a>, scores: &'r [f32], count: usize) -> Block<'r, 'a> {
        Block { run, scores, count, locals: Vec::new() }
    }
}

impl Block<'_, '_> {
    fn all_rows(&self) -> Vec<u32> {
        (0..self.count as u32).collect()
    }

    /// Evaluates like [`Block::eval`] where the result is converted to a double in any case, so that
    /// branches may differ in type.
    fn eval_loosely(&mut self, expr: &Expr, rows: &[u32]) -> Option<Column> {
        match &expr.kind {
            Kind::Cast(Type::Double, inner) => {
                let data = Data::Real(self.eval_loosely(inner, rows)?.into_reals()?);
                Some(Column { ty: Type::Double, data })
            }
            Kind::Conditional(condition, yes, no) => {
                let flags = self.eval(condition, rows)?.into_flags()?;
                let (yes_rows, no_rows) = split(rows, &flags);
                let yes = self.eval_loosely(yes, &yes_rows)?.into_reals()?;
                let no = self.eval_loosely(no, &no_rows)?.into_reals()?;
                Some(Column::real(joined(&flags, yes, no)))
            }
            _ => self.eval(expr, rows),
        }
    }

    fn eval(&mut self, expr: &Expr, rows: &[u32]) -> Option<Column> {
        if rows.is_empty() && !matches!(expr.kind, Kind::Literal(_)) {
            // There is nothing to read, so any type will do.
            return Some(empty(expr.ty));
        }
        let count = rows.len();
        Some(match &expr.kind {
            Kind::Literal(literal) => Column::same(&Value::of(literal), count)?,
            Kind::Param(name) => Column::same(&self.run.param(name).ok()?, count)?,
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
            Kind::Call { target, name, arguments, null_safe: false } => {
                self.call(target, name, arguments, rows)?
            }
            Kind::Member { target, name, null_safe: false } => self.call(target, &getter(name), &[], rows)?,
            Kind::Binary(op @ (Binary::Equal | Binary::NotEqual), left, right)
                if let Some((field, text)) = text_compared(left, right) =>
            {
                let mut flags = self.is_text(field, text, rows)?;
                if *op == Binary::NotEqual {
                    flags.iter_mut().for_each(|flag| *flag = !*flag);
                }
                Column::flag(flags)
            }
            Kind::Binary(op, left, right) => {
                let left = self.eval(left, rows)?;
                let right = self.eval(right, rows)?;
                binary(*op, left, right)?
            }
            Kind::Unary(op, inner) => unary(*op, self.eval(inner, rows)?)?,
            Kind::AndAlso(left, right) => self.short_circuit(left, right, rows, true)?,
            Kind::OrElse(left, right) => self.short_circuit(left, right, rows, false)?,
            Kind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, rows)?,
            Kind::Cast(ty, inner) => cast(*ty, self.eval(inner, rows)?)?,
            Kind::Static { class: "Math", name, arguments } => self.math_call(name, arguments, rows)?,
            Kind::BuiltIn { name, arguments } => self.built_in(name, arguments, rows)?,
            _ => return None,
        })
    }

    /// Evaluates both branches, each on its own rows.
    fn conditional(&mut self, condition: &Expr, yes: &Expr, no: &Expr, rows: &[u32]) -> Option<Column> {
        let flags = self.eval(condition, rows)?.into_flags()?;
        let (yes_rows, no_rows) = split(rows, &flags);
        let yes = self.eval(yes, &yes_rows)?;
        let no = self.eval(no, &no_rows)?;
        if yes_rows.is_empty() {
            return Some(no);
        }
        if no_rows.is_empty() {
            return Some(yes);
        }
        if yes.ty != no.ty {
            return None;
        }
        let ty = yes.ty;
        let data = match (yes.data, no.data) {
            (Data::Whole(yes), Data::Whole(no)) => Data::Whole(Values::Each(joined(&flags, yes, no))),
            (Data::Real(yes), Data::Real(no)) => Data::Real(Values::Each(joined(&flags, yes, no))),
            (Data::Flag(yes), Data::Flag(no)) => Data::Flag(Values::Each(joined(&flags, yes, no))),
            (Data::Date(yes), Data::Date(no)) => Data::Date(Values::Each(joined(&flags, yes, no))),
            (Data::Text(yes), Data::Text(no)) => {
                Data::Text(joined_texts(yes, no, |yes, no| joined(&flags, yes, no)))
            }
            _ => return None,
        };
        Some(Column { ty, data })
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
        Some(match mapped.values {
            ValueKind::Long(_) => Column::whole(Type::Long, first.into_owned()),
            ValueKind::Date { resolution: Resolution::Millis, .. } if first.iter().all(is_usual) => {
                Column::dates(first.into_owned())
            }
            ValueKind::Bool => Column::flag(first.iter().map(|stored| *stored != 0).collect()),
            ValueKind::Double(_) | ValueKind::Scaled(_) => Column::real(match mapped.number_form() {
                // The number form is checked once per block.
                Some(NumberForm::Scaled(factor)) => {
                    let mut numbers = Vec::with_capacity(first.len());
                    divided(&first, factor, &mut numbers);
                    numbers
                }
                Some(NumberForm::Double | NumberForm::Float) => {
                    first.iter().map(|stored| f64_from_sortable(*stored)).collect()
                }
                _ => first.iter().map(|stored| mapped.decode_f64(*stored)).collect(),
            }),
            _ => return None,
        })
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
            Kind::Param(name) => self.run.param(name).ok(),
            _ => None,
        }
    }
}

fn split(rows: &[u32], flags: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let pick = |wanted: bool| {
        rows.iter().zip(flags).filter(|(_, flag)| **flag == wanted).map(|(row, _)| *row).collect()
    };
    (pick(true), pick(false))
}
