//! Applies the values of a block to those that members or entries of states have.

use super::column::{Column, Data, Values};
use super::updates::Way;
use crate::library::math2;
use crate::types::{Binary, Type};
use crate::values::Value;

/// From this number of values on, doubles are added in several lanes.
const LANES_FROM: usize = 512;
const LANES: usize = 8;

/// Most places whose values are added in lanes.
const LANE_PLACES_MAX: usize = 256;
const PLACE_LANES: usize = 4;

/// Applies values to old ones: those of row `i` to place `of_rows[i]`, all to the only one if `of_rows` is
/// empty. `cast`: the class that the old values must have. `None` if the results would have to be computed
/// one by one.
pub(super) fn folded_values(
    way: Way,
    old: &[Value],
    cast: Option<Type>,
    of_rows: &[u32],
    values: Column,
) -> Option<Vec<Value>> {
    let has_class = |old: &Value| match cast {
        None | Some(Type::Def) => old.is_number(),
        Some(ty) => type_of(old) == Some(ty),
    };
    if !old.iter().all(has_class) {
        return None;
    }
    match way {
        Way::Set | Way::Append | Way::Keep => None,
        Way::Call(function) => {
            let (name, function, values) = (function, math2(function)?, values.into_reals()?.into_vec());
            let numbers: Vec<f64> = old.iter().map(Value::f64).collect();
            let made = match (of_rows.is_empty(), extreme(name, &values), numbers.as_slice()) {
                (true, Some(extreme), [only]) => vec![function(*only, extreme)],
                _ => folded(numbers, of_rows, &values, function),
            };
            Some(made.into_iter().map(Value::Double).collect())
        }
        Way::Replace(op) => replaced(op, old, of_rows, values),
        Way::Operate(op) => operated(op, old, of_rows, values),
    }
}

fn type_of(value: &Value) -> Option<Type> {
    match value {
        Value::Int(_) => Some(Type::Int),
        Value::Long(_) => Some(Type::Long),
        Value::Float(_) => Some(Type::Float),
        Value::Double(_) => Some(Type::Double),
        _ => None,
    }
}

/// Replaces old values by new ones that compare with them.
fn replaced(op: Binary, old: &[Value], of_rows: &[u32], values: Column) -> Option<Vec<Value>> {
    let ty = values.ty;
    let types: Vec<Type> = old.iter().map(type_of).collect::<Option<_>>()?;
    let is_whole = |ty: &Type| matches!(ty, Type::Int | Type::Long);
    let is_least = matches!(op, Binary::Less | Binary::LessEqual);
    if types.iter().all(is_whole) && is_whole(&ty) {
        let values = values.into_wholes()?.into_vec();
        let extreme = match (of_rows.is_empty(), is_least) {
            (true, true) => values.iter().copied().min(),
            (true, false) => values.iter().copied().max(),
            (false, _) => None,
        };
        let best = best(op, old.iter().map(Value::i64).collect(), of_rows, &values, extreme);
        let made =
            |number: i64| if ty == Type::Int { Value::Int(number as i32) } else { Value::Long(number) };
        return Some(
            old.iter().zip(best).map(|(old, best)| best.map_or_else(|| old.clone(), made)).collect(),
        );
    }
    // Numbers of other types are compared as `float`s, or keep types of their own.
    if ty != Type::Double || types.contains(&Type::Float) {
        return None;
    }
    let values = values.into_reals()?.into_vec();
    let extreme = match (of_rows.is_empty(), is_least) {
        (true, true) => extreme("min", &values),
        (true, false) => extreme("max", &values),
        (false, _) => None,
    };
    let best = best(op, old.iter().map(Value::f64).collect(), of_rows, &values, extreme);
    Some(old.iter().zip(best).map(|(old, best)| best.map_or_else(|| old.clone(), Value::Double)).collect())
}

/// Returns the value that each place has in the end, if it was replaced. `extreme`: the value that no other
/// one wins against, if that is known.
fn best<T: PartialOrd + Copy>(
    op: Binary,
    old: Vec<T>,
    of_rows: &[u32],
    values: &[T],
    extreme: Option<T>,
) -> Vec<Option<T>> {
    match op {
        Binary::Less => best_by(|new, old| new < old, old, of_rows, values, extreme),
        Binary::LessEqual => best_by(|new, old| new <= old, old, of_rows, values, extreme),
        Binary::GreaterEqual => best_by(|new, old| new >= old, old, of_rows, values, extreme),
        _ => best_by(|new, old| new > old, old, of_rows, values, extreme),
    }
}

fn best_by<T: Copy>(
    wins: impl Fn(T, T) -> bool,
    old: Vec<T>,
    of_rows: &[u32],
    values: &[T],
    extreme: Option<T>,
) -> Vec<Option<T>> {
    // If there is only one place, the last value that replaces its value is the extreme.
    if let (true, Some(extreme), [only]) = (of_rows.is_empty(), extreme, old.as_slice()) {
        return vec![wins(extreme, *only).then_some(extreme)];
    }
    let mut is_new = vec![false; old.len()];
    let mut best = old;
    for (at, value) in values.iter().enumerate() {
        let place = of_rows.get(at).map_or(0, |place| *place as usize);
        if wins(*value, best[place]) {
            best[place] = *value;
            is_new[place] = true;
        }
    }
    best.into_iter().zip(is_new).map(|(best, is_new)| is_new.then_some(best)).collect()
}

/// Applies `op` to old values and to new ones, with the types that Java gives the results.
fn operated(op: Binary, old: &[Value], of_rows: &[u32], values: Column) -> Option<Vec<Value>> {
    let own = match values.ty {
        // Whatever the type of a number, adding it to a `double` makes one.
        Type::Def if old.iter().all(|old| matches!(old, Value::Double(_))) => Type::Double.rank()?,
        ty => ty.rank()?,
    };
    let mut ranks = old.iter().map(|value| Some(type_of(value)?.rank()?.max(own)));
    let common = ranks.next()??;
    if ranks.any(|rank| rank != Some(common)) {
        return None;
    }
    if Some(common) == Type::Double.rank() {
        let values = values.into_reals()?.into_vec();
        let old = old.iter().map(Value::f64).collect();
        let made = match op {
            Binary::Add if of_rows.is_empty() && values.len() >= LANES_FROM => summed(old, &values),
            Binary::Add if values.len() >= LANES_FROM && old.len() <= LANE_PLACES_MAX => {
                summed_by_place(old, of_rows, &values)
            }
            Binary::Add => folded(old, of_rows, &values, |old, new| old + new),
            Binary::Sub => folded(old, of_rows, &values, |old, new| old - new),
            Binary::Mul => folded(old, of_rows, &values, |old, new| old * new),
            Binary::Div => folded(old, of_rows, &values, |old, new| old / new),
            _ => return None,
        };
        return Some(made.into_iter().map(Value::Double).collect());
    }
    let is_int = Some(common) == Type::Int.rank();
    if !is_int && Some(common) != Type::Long.rank() {
        return None;
    }
    let value = |number: i64| if is_int { Value::Int(number as i32) } else { Value::Long(number) };
    if let (Binary::Add, Data::Whole(Values::Same(number, count))) = (op, &values.data) {
        let mut counts = vec![0i64; old.len()];
        match of_rows.is_empty() {
            true => counts.fill(*count as i64),
            false => of_rows.iter().for_each(|place| counts[*place as usize] += 1),
        }
        let added = |(old, count): (&Value, i64)| old.i64().wrapping_add(number.wrapping_mul(count));
        return Some(old.iter().zip(counts).map(added).map(value).collect());
    }
    let values = values.into_wholes()?.into_vec();
    let old = old.iter().map(Value::i64).collect();
    // Other operators do not give the same result if only the last one is cut to 32 bits.
    let made = match op {
        Binary::Add => folded(old, of_rows, &values, i64::wrapping_add),
        Binary::Sub => folded(old, of_rows, &values, i64::wrapping_sub),
        Binary::Mul => folded(old, of_rows, &values, i64::wrapping_mul),
        _ => return None,
    };
    Some(made.into_iter().map(value).collect())
}

fn folded<T: Copy>(mut old: Vec<T>, of_rows: &[u32], values: &[T], function: impl Fn(T, T) -> T) -> Vec<T> {
    match (of_rows.is_empty(), old.as_mut_slice()) {
        (true, [only]) => *only = values.iter().fold(*only, |old, new| function(old, *new)),
        (_, all) => {
            for (place, value) in of_rows.iter().zip(values) {
                let old = &mut all[*place as usize];
                *old = function(*old, *value);
            }
        }
    }
    old
}

/// Adds many values to one. The last digit can differ from that of adding one by one.
fn summed(old: Vec<f64>, values: &[f64]) -> Vec<f64> {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
    }
    let sum = sums.iter().chain(rest).sum::<f64>();
    old.into_iter().map(|old| old + sum).collect()
}

/// Adds values to the places `of_rows`. Values of a place often follow one another, and each addition would
/// wait for the one before, so consecutive values go to different lanes. The last digit can differ from that
/// of adding one by one.
fn summed_by_place(mut old: Vec<f64>, of_rows: &[u32], values: &[f64]) -> Vec<f64> {
    let count = old.len();
    let mut lanes = vec![0.0; PLACE_LANES * count];
    let ((chunks, rest), (place_chunks, rest_places)) =
        (values.as_chunks::<PLACE_LANES>(), of_rows.as_chunks::<PLACE_LANES>());
    for (values, places) in chunks.iter().zip(place_chunks) {
        for (lane, (place, value)) in places.iter().zip(values).enumerate() {
            lanes[lane * count + *place as usize] += value;
        }
    }
    for lane in lanes.chunks(count.max(1)) {
        old.iter_mut().zip(lane).for_each(|(old, sum)| *old += sum);
    }
    rest_places.iter().zip(rest).for_each(|(place, value)| old[*place as usize] += value);
    old
}

/// Returns the least or the greatest number, as `Math.min` or `Math.max` find it one by one. `None` for other
/// functions, and where the order of the numbers matters.
fn extreme(function: &str, values: &[f64]) -> Option<f64> {
    let found = match function {
        "max" => in_lanes(values, |new, old| new > old),
        "min" => in_lanes(values, |new, old| new < old),
        _ => return None,
    }?;
    // Zeros have two signs.
    (found != 0.0 && !values.iter().fold(false, |is_nan, value| is_nan | value.is_nan())).then_some(found)
}

/// Returns a value than which no other is better, if there is no NaN.
fn in_lanes(values: &[f64], is_better: impl Fn(f64, f64) -> bool) -> Option<f64> {
    let pick = |old: f64, new: f64| if is_better(new, old) { new } else { old };
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut best = [*values.first()?; LANES];
    for chunk in chunks {
        best.iter_mut().zip(chunk).for_each(|(best, value)| *best = pick(*best, *value));
    }
    best.iter().chain(rest).copied().reduce(pick)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_place_are_those_of_adding_one_by_one() {
        let values: Vec<f64> = (0..777).map(|i| f64::from(i % 31) * 0.5).collect();
        let places: Vec<u32> = (0..777).map(|i| (i / 3) % 5).collect();
        let old = vec![1.0, -2.5, 0.0, 8.0, 0.5];
        let expected = folded(old.clone(), &places, &values, |old, new| old + new);
        assert_eq!(summed_by_place(old, &places, &values), expected);
    }

    #[test]
    fn a_replaced_value_is_that_of_comparing_one_by_one() {
        let values: Vec<f64> = (0..101).map(|i| f64::from((i * 37) % 101) - 50.5).collect();
        let wholes: Vec<i64> = values.iter().map(|value| *value as i64).collect();
        for op in [Binary::Less, Binary::LessEqual, Binary::Greater, Binary::GreaterEqual] {
            for old in [-60, -50, 0, 49, 60] {
                for len in 1..values.len() {
                    let (reals, wholes) = (&values[..len], &wholes[..len]);
                    let of_each = best(op, vec![f64::from(old)], &[], reals, None);
                    let real = replaced(op, &[Value::Double(old.into())], &[], Column::real(reals.to_vec()));
                    let real: Vec<f64> = real.expect("doubles").iter().map(Value::f64).collect();
                    assert_eq!(real, [of_each[0].unwrap_or(old.into())]);
                    let of_each = best(op, vec![i64::from(old)], &[], wholes, None);
                    let column = Column::whole(Type::Long, wholes.to_vec());
                    let whole = replaced(op, &[Value::Long(old.into())], &[], column);
                    let whole: Vec<i64> = whole.expect("integers").iter().map(Value::i64).collect();
                    assert_eq!(whole, [of_each[0].unwrap_or(old.into())]);
                }
            }
        }
    }

    #[test]
    fn extremes_are_those_of_math() {
        let values: Vec<f64> = (0..101).map(|i| f64::from((i * 37) % 101) - 0.5).collect();
        for name in ["max", "min"] {
            let function = math2(name).expect("a function");
            for len in 1..values.len() {
                let expected = values[..len].iter().copied().reduce(function);
                assert_eq!(extreme(name, &values[..len]), expected);
            }
        }
        assert_eq!(extreme("max", &[1.0, f64::NAN, 2.0]), None);
        assert_eq!(extreme("max", &[f64::NAN, 2.0]), None);
        // Which zero it is depends on their order.
        assert_eq!(extreme("max", &[-0.0, 0.0, -1.0]), None);
        assert_eq!(extreme("pow", &[1.0]), None);
        assert_eq!(extreme("min", &[]), None);
    }
}
