//! `IntSummaryStatistics`, `LongSummaryStatistics` and `DoubleSummaryStatistics`.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use super::super::{Class, format};
use crate::error::Outcome;
use crate::values::{JavaObject, Value};

pub(in super::super) const INT: Class = Class {
    name: "IntSummaryStatistics",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(|_, arguments, _| Ok(made(Numbers::Int, arguments))),
};

pub(in super::super) const LONG: Class = Class {
    name: "LongSummaryStatistics",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(|_, arguments, _| Ok(made(Numbers::Long, arguments))),
};

pub(in super::super) const DOUBLE: Class = Class {
    name: "DoubleSummaryStatistics",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(|_, arguments, _| Ok(made(Numbers::Double, arguments))),
};

/// The type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Numbers {
    Int,
    Long,
    Double,
}

/// Sum, least and greatest of the numbers so far.
#[derive(Debug, Clone, Copy)]
struct Whole {
    sum: i64,
    min: i64,
    max: i64,
}

/// The same of doubles. Like Java's, the sum keeps what it lost by rounding.
#[derive(Debug, Clone, Copy)]
struct Fractional {
    sum: f64,
    lost: f64,
    plain_sum: f64,
    min: f64,
    max: f64,
}

#[derive(Debug)]
struct Statistics {
    of: Numbers,
    count: Cell<i64>,
    whole: Cell<Whole>,
    fractional: Cell<Fractional>,
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

/// Makes statistics of no numbers; `None` if there are arguments.
fn made(of: Numbers, arguments: &[Value]) -> Option<Value> {
    arguments.is_empty().then(|| Value::Object(Rc::new(Statistics::new(of))))
}

impl Statistics {
    fn new(of: Numbers) -> Statistics {
        let (min, max) = match of {
            Numbers::Int => (i64::from(i32::MAX), i64::from(i32::MIN)),
            _ => (i64::MAX, i64::MIN),
        };
        let fractional =
            Fractional { sum: 0.0, lost: 0.0, plain_sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        Statistics {
            of,
            count: Cell::new(0),
            whole: Cell::new(Whole { sum: 0, min, max }),
            fractional: Cell::new(fractional),
        }
    }

    fn add(&self, number: &Value) {
        self.count.set(self.count.get().wrapping_add(1));
        let (whole, fractional) = (number.i64(), number.f64());
        self.merge_whole(Whole { sum: whole, min: whole, max: whole });
        self.fractional.set(self.fractional.get().with(fractional));
    }

    fn merge_whole(&self, other: Whole) {
        let own = self.whole.get();
        let sum = own.sum.wrapping_add(other.sum);
        self.whole.set(Whole { sum, min: own.min.min(other.min), max: own.max.max(other.max) });
    }

    fn combine(&self, other: &Statistics) {
        self.count.set(self.count.get().wrapping_add(other.count.get()));
        self.merge_whole(other.whole.get());
        let (own, other) = (self.fractional.get(), other.fractional.get());
        let summed = own.with_summand(other.sum).with_summand(-other.lost);
        self.fractional.set(Fractional {
            plain_sum: own.plain_sum + other.plain_sum,
            min: least(own.min, other.min),
            max: greatest(own.max, other.max),
            ..summed
        });
    }

    fn average(&self) -> f64 {
        let count = self.count.get();
        match self.of {
            _ if count == 0 => 0.0,
            Numbers::Double => self.fractional.get().total() / count as f64,
            _ => self.whole.get().sum as f64 / count as f64,
        }
    }

    /// Returns the sum, the least and the greatest number.
    fn totals(&self) -> [Value; 3] {
        let (whole, fractional) = (self.whole.get(), self.fractional.get());
        match self.of {
            Numbers::Int => {
                [Value::Long(whole.sum), Value::Int(whole.min as i32), Value::Int(whole.max as i32)]
            }
            Numbers::Long => [Value::Long(whole.sum), Value::Long(whole.min), Value::Long(whole.max)],
            Numbers::Double => [fractional.total(), fractional.min, fractional.max].map(Value::Double),
        }
    }
}

fn least(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() { f64::NAN } else { left.min(right) }
}

fn greatest(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() { f64::NAN } else { left.max(right) }
}

impl Fractional {
    fn with(self, number: f64) -> Fractional {
        Fractional {
            plain_sum: self.plain_sum + number,
            min: least(self.min, number),
            max: greatest(self.max, number),
            ..self.with_summand(number)
        }
    }

    fn with_summand(self, number: f64) -> Fractional {
        let added = number - self.lost;
        let sum = self.sum + added;
        Fractional { sum, lost: (sum - self.sum) - added, ..self }
    }

    fn total(self) -> f64 {
        let total = self.sum - self.lost;
        if total.is_nan() && self.plain_sum.is_infinite() { self.plain_sum } else { total }
    }
}

fn kind_of(class: &str) -> Option<Numbers> {
    match class {
        "IntSummaryStatistics" => Some(Numbers::Int),
        "LongSummaryStatistics" => Some(Numbers::Long),
        "DoubleSummaryStatistics" => Some(Numbers::Double),
        _ => None,
    }
}

/// Returns the statistics of numbers as an object of a class; `None` if this is another class.
pub(in super::super::super) fn summarized(class: &str, numbers: &[Value]) -> Option<Value> {
    let statistics = Statistics::new(kind_of(class)?);
    numbers.iter().for_each(|number| statistics.add(number));
    Some(Value::Object(Rc::new(statistics)))
}

impl JavaObject for Statistics {
    fn class(&self) -> &'static str {
        match self.of {
            Numbers::Int => "java.util.IntSummaryStatistics",
            Numbers::Long => "java.util.LongSummaryStatistics",
            Numbers::Double => "java.util.DoubleSummaryStatistics",
        }
    }

    fn write_text(&self, out: &mut String, _: u32) {
        let number = if self.of == Numbers::Double { "%f" } else { "%d" };
        let name = self.class().trim_start_matches("java.util.");
        let pattern = format!("{name}{{count=%d, sum={number}, min={number}, average=%f, max={number}}}");
        let [sum, min, max] = self.totals();
        let arguments = [Value::Long(self.count.get()), sum, min, Value::Double(self.average()), max];
        if let Ok(text) = format::format(&pattern, &arguments, 0) {
            out.push_str(&text);
        }
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Statistics>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
        let [sum, min, max] = self.totals();
        Ok(Some(match (name, arguments) {
            ("getCount", []) => Value::Long(self.count.get()),
            ("getSum", []) => sum,
            ("getMin", []) => min,
            ("getMax", []) => max,
            ("getAverage", []) => Value::Double(self.average()),
            ("accept", [number]) if number.is_number() => {
                self.add(number);
                Value::Null
            }
            ("combine", [other]) => match other.object::<Statistics>() {
                Some(other) if other.of == self.of => {
                    self.combine(other);
                    Value::Null
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
