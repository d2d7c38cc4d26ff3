//! Numeric scripts over a whole block of documents: each node of the expression makes one array, so that
//! the cost of walking the tree is paid once per block.
//!
//! Only operations that cannot fail are done here. Any other operation, or a document without a value,
//! returns `None`: the interpreter then runs the block document by document, with Java's exact errors.

mod methods;
mod statements;

use limber_mapping::geo::GeoPoint;
use limber_mapping::number::f64_from_sortable;
use limber_mapping::{NumberForm, ValueKind};

use super::interpreter::Run;
use crate::documents::divided;
use crate::language::{Compiled, Expr, Kind, Stmt};
use crate::library::{Decay, Machine, math, math2, round};
use crate::types::{Binary, FieldPart, Type, Unary};
use crate::values::{Value, part_of};
use methods::text_compared;

/// One value per row. `ty` is the Java type; arithmetic has its width.
#[derive(Clone)]
pub(crate) struct Column {
    ty: Type,
    data: Data,
}

#[derive(Clone)]
enum Data {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
}

impl Column {
    /// Creates a column of whole numbers of the type `ty`, `int` or `long`.
    pub fn whole(ty: Type, data: Vec<i64>) -> Column {
        Column { ty, data: Data::Whole(data) }
    }

    /// Creates a column of doubles.
    pub fn real(data: Vec<f64>) -> Column {
        Column { ty: Type::Double, data: Data::Real(data) }
    }

    /// Creates a column of booleans.
    pub fn flag(data: Vec<bool>) -> Column {
        Column { ty: Type::Bool, data: Data::Flag(data) }
    }

    fn into_real(self) -> Option<Vec<f64>> {
        match self.data {
            Data::Real(data) => Some(data),
            Data::Whole(data) => Some(data.into_iter().map(|number| number as f64).collect()),
            Data::Flag(_) => None,
        }
    }

    fn into_whole(self) -> Option<Vec<i64>> {
        match self.data {
            Data::Whole(data) => Some(data),
            _ => None,
        }
    }

    fn into_flags(self) -> Option<Vec<bool>> {
        match self.data {
            Data::Flag(data) => Some(data),
            _ => None,
        }
    }
}

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
                self.eval_loosely(inner, rows).and_then(Column::into_real).map(Column::real)
            }
            Kind::Conditional(condition, yes, no) => {
                let flags = self.eval(condition, rows)?.into_flags()?;
                let (yes_rows, no_rows) = split(rows, &flags);
                let yes = self.eval_loosely(yes, &yes_rows)?.into_real()?;
                let no = self.eval_loosely(no, &no_rows)?.into_real()?;
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
            Kind::Literal(literal) => splat(&Value::of(literal), count)?,
            Kind::Param(name) => splat(&self.run.param(name).ok()?, count)?,
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
            Kind::Conditional(condition, yes, no) => {
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
                    (Data::Whole(yes), Data::Whole(no)) => Data::Whole(joined(&flags, yes, no)),
                    (Data::Real(yes), Data::Real(no)) => Data::Real(joined(&flags, yes, no)),
                    (Data::Flag(yes), Data::Flag(no)) => Data::Flag(joined(&flags, yes, no)),
                    _ => return None,
                };
                Column { ty, data }
            }
            Kind::Cast(ty, inner) => cast(*ty, self.eval(inner, rows)?)?,
            Kind::Static { class: "Math", name, arguments } => match arguments.as_slice() {
                [one] if &**name == "round" => {
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
                    let mut left = self.eval(left, rows)?.into_real()?;
                    let right = self.eval(right, rows)?.into_real()?;
                    left.iter_mut().zip(right).for_each(|(left, right)| *left = function(*left, right));
                    Column::real(left)
                }
                _ => return None,
            },
            Kind::BuiltIn { name, arguments } => self.built_in(name, arguments, rows)?,
            _ => return None,
        })
    }

    fn field_value(&mut self, field: u16, rows: &[u32]) -> Option<Column> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let mapped = reader.field()?;
        if !reader.is_numeric() {
            return None;
        }
        let first: Vec<i64> = match reader.aligned() {
            Some(all) if all.len() == rows.len() => all.to_vec(),
            Some(all) => rows.iter().map(|row| all[*row as usize]).collect(),
            None => {
                rows.iter().map(|row| reader.stored(*row as usize).first().copied()).collect::<Option<_>>()?
            }
        };
        Some(match mapped.values {
            ValueKind::Long(_) => Column::whole(Type::Long, first),
            ValueKind::Bool => Column::flag(first.into_iter().map(|stored| stored != 0).collect()),
            ValueKind::Double(_) | ValueKind::Scaled(_) => Column::real(match mapped.number_form() {
                // The number form is checked once per block.
                Some(NumberForm::Scaled(factor)) => {
                    let mut numbers = Vec::with_capacity(first.len());
                    divided(&first, factor, &mut numbers);
                    numbers
                }
                Some(NumberForm::Double | NumberForm::Float) => {
                    first.into_iter().map(f64_from_sortable).collect()
                }
                _ => first.into_iter().map(|stored| mapped.decode_f64(stored)).collect(),
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
                let values = self.field_value(*field, rows)?.into_whole()?;
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

fn joined<T>(flags: &[bool], yes: Vec<T>, no: Vec<T>) -> Vec<T> {
    let (mut yes, mut no) = (yes.into_iter(), no.into_iter());
    flags.iter().filter_map(|flag| if *flag { yes.next() } else { no.next() }).collect()
}

fn empty(ty: Type) -> Column {
    match ty {
        Type::Bool => Column::flag(Vec::new()),
        Type::Int | Type::Long => Column::whole(ty, Vec::new()),
        _ => Column::real(Vec::new()),
    }
}

fn splat(value: &Value, count: usize) -> Option<Column> {
    Some(match value {
        Value::Int(number) => Column::whole(Type::Int, vec![i64::from(*number); count]),
        Value::Long(number) => Column::whole(Type::Long, vec![*number; count]),
        Value::Float(number) => Column { ty: Type::Float, data: Data::Real(vec![f64::from(*number); count]) },
        Value::Double(number) => Column::real(vec![*number; count]),
        Value::Bool(flag) => Column::flag(vec![*flag; count]),
        _ => return None,
    })
}

fn cast(to: Type, column: Column) -> Option<Column> {
    match (to, column.data) {
        (Type::Bool, Data::Flag(data)) => Some(Column::flag(data)),
        (Type::Double, Data::Real(data)) => Some(Column::real(data)),
        (Type::Double, Data::Whole(data)) => {
            Some(Column::real(data.into_iter().map(|number| number as f64).collect()))
        }
        (Type::Float, Data::Real(data)) => {
            let data = data.into_iter().map(|number| f64::from(number as f32)).collect();
            Some(Column { ty: Type::Float, data: Data::Real(data) })
        }
        (Type::Float, Data::Whole(data)) => {
            let data = data.into_iter().map(|number| f64::from(number as f32)).collect();
            Some(Column { ty: Type::Float, data: Data::Real(data) })
        }
        (Type::Long, Data::Whole(data)) => Some(Column::whole(Type::Long, data)),
        (Type::Long, Data::Real(data)) => {
            Some(Column::whole(Type::Long, data.into_iter().map(|number| number as i64).collect()))
        }
        (Type::Int, Data::Whole(data)) => {
            Some(Column::whole(Type::Int, data.into_iter().map(|number| i64::from(number as i32)).collect()))
        }
        (Type::Int, Data::Real(data)) => {
            Some(Column::whole(Type::Int, data.into_iter().map(|number| i64::from(number as i32)).collect()))
        }
        _ => None,
    }
}

fn unary(op: Unary, column: Column) -> Option<Column> {
    let ty = column.ty;
    match (op, column.data) {
        (Unary::Not, Data::Flag(data)) => Some(Column::flag(data.into_iter().map(|flag| !flag).collect())),
        (Unary::Plus, data) => Some(Column { ty, data }),
        (Unary::Minus, Data::Real(data)) => {
            Some(Column { ty, data: Data::Real(data.into_iter().map(|number| -number).collect()) })
        }
        (Unary::Minus, Data::Whole(data)) => {
            Some(wrapped(ty, data.into_iter().map(|number| number.wrapping_neg()).collect()))
        }
        (Unary::BitNot, Data::Whole(data)) => {
            Some(Column::whole(ty, data.into_iter().map(|number| !number).collect()))
        }
        _ => None,
    }
}

/// Cuts results of 64-bit arithmetic to the width of the type.
fn wrapped(ty: Type, mut data: Vec<i64>) -> Column {
    if ty == Type::Int {
        data.iter_mut().for_each(|number| *number = i64::from(*number as i32));
    }
    Column::whole(ty, data)
}

fn compared<T: PartialOrd>(op: Binary, left: Vec<T>, right: Vec<T>) -> Column {
    let pairs = left.into_iter().zip(right);
    Column::flag(match op {
        Binary::Less => pairs.map(|(left, right)| left < right).collect(),
        Binary::LessEqual => pairs.map(|(left, right)| left <= right).collect(),
        Binary::Greater => pairs.map(|(left, right)| left > right).collect(),
        Binary::GreaterEqual => pairs.map(|(left, right)| left >= right).collect(),
        Binary::Equal => pairs.map(|(left, right)| left == right).collect(),
        _ => pairs.map(|(left, right)| left != right).collect(),
    })
}

fn binary(op: Binary, left: Column, right: Column) -> Option<Column> {
    let ty = match (left.ty, right.ty) {
        (Type::Bool, Type::Bool) => {
            let (left, right) = (left.into_flags()?, right.into_flags()?);
            let pairs = left.iter().copied().zip(right.iter().copied());
            return match op {
                Binary::And => Some(Column::flag(pairs.map(|(left, right)| left & right).collect())),
                Binary::Or => Some(Column::flag(pairs.map(|(left, right)| left | right).collect())),
                Binary::Xor => Some(Column::flag(pairs.map(|(left, right)| left ^ right).collect())),
                Binary::Equal | Binary::NotEqual => Some(compared(op, left, right)),
                _ => None,
            };
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
    if matches!(ty, Type::Float | Type::Double) {
        let (mut left, right) = (left.into_real()?, right.into_real()?);
        if op.is_comparison() {
            return Some(compared(op, left, right));
        }
        let pairs = left.iter_mut().zip(right);
        match op {
            Binary::Add => pairs.for_each(|(left, right)| *left += right),
            Binary::Sub => pairs.for_each(|(left, right)| *left -= right),
            Binary::Mul => pairs.for_each(|(left, right)| *left *= right),
            Binary::Div => pairs.for_each(|(left, right)| *left /= right),
            Binary::Rem => pairs.for_each(|(left, right)| *left %= right),
            _ => return None,
        }
        if ty == Type::Float {
            left.iter_mut().for_each(|number| *number = f64::from(*number as f32));
        }
        return Some(Column { ty, data: Data::Real(left) });
    }
    let (mut left, right) = (left.into_whole()?, right.into_whole()?);
    if op.is_comparison() {
        return Some(compared(op, left, right));
    }
    // Division by zero is an error of one document, which the interpreter reports.
    if matches!(op, Binary::Div | Binary::Rem) && right.contains(&0) {
        return None;
    }
    let pairs = left.iter_mut().zip(right);
    match op {
        Binary::Add => pairs.for_each(|(left, right)| *left = left.wrapping_add(right)),
        Binary::Sub => pairs.for_each(|(left, right)| *left = left.wrapping_sub(right)),
        Binary::Mul => pairs.for_each(|(left, right)| *left = left.wrapping_mul(right)),
        Binary::Div => pairs.for_each(|(left, right)| *left = left.wrapping_div(right)),
        Binary::Rem => pairs.for_each(|(left, right)| *left = left.wrapping_rem(right)),
        Binary::And => pairs.for_each(|(left, right)| *left &= right),
        Binary::Or => pairs.for_each(|(left, right)| *left |= right),
        Binary::Xor => pairs.for_each(|(left, right)| *left ^= right),
        // Shifts are rare, and their width depends on the type.
        _ => return None,
    }
    Some(wrapped(ty, left))
}
