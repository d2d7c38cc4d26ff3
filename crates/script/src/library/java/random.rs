//! What comes from outside of the script: the time, and random numbers. `java.util.Random`.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use super::{Class, uuid};
use crate::error::{Outcome, ScriptError};
use crate::outside::Outside;
use crate::values::{JavaObject, Value};

pub(super) const CLASS: Class =
    Class { name: "Random", constants: &[], statics: &[], call: no_static, construct: Some(constructed) };

/// The numbers of Java's generator have 48 bits.
const MASK: u64 = (1 << 48) - 1;
const MULTIPLIER: u64 = 0x5_DEEC_E66D;

/// `java.util.Random`: the same numbers as Java's for the same seed.
#[derive(Debug)]
struct Random {
    state: Cell<u64>,
    /// The second of two numbers that are made at once.
    gaussian: Cell<Option<f64>>,
}

/// Makes a generator.
pub(in super::super) fn random_of(seed: u64) -> Value {
    Value::Object(Rc::new(Random { state: Cell::new(scrambled(seed)), gaussian: Cell::new(None) }))
}

/// Calls a static method without arguments that needs the outside; `None` if there is no such method.
pub(in super::super) fn of_outside(outside: &dyn Outside, class: &str, name: &str) -> Option<Value> {
    Some(match (class, name) {
        // 53 bits, as many as a double keeps.
        ("Math", "random") => Value::Double(fraction(outside.random_bits() >> 11)),
        ("System", "currentTimeMillis") => Value::Long(outside.now_millis()),
        ("System", "nanoTime") => Value::Long(outside.now_millis().saturating_mul(1_000_000)),
        ("UUID", "randomUUID") => uuid::random(outside.random_bits(), outside.random_bits()),
        _ => return None,
    })
}

/// Returns a number of 53 bits as a fraction of 2^53.
fn fraction(bits: u64) -> f64 {
    bits as f64 / (1u64 << 53) as f64
}

fn scrambled(seed: u64) -> u64 {
    (seed ^ MULTIPLIER) & MASK
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

fn constructed(_: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match arguments {
        [seed @ (Value::Int(_) | Value::Long(_))] => Some(random_of(seed.i64() as u64)),
        _ => None,
    })
}

/// Source: the documentation of `java.util.Random`.
impl Random {
    fn next(&self, bits: u32) -> i32 {
        let state = self.state.get().wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        self.state.set(state);
        (state >> (48 - bits)) as i32
    }

    fn below(&self, bound: i32, at: u32) -> Outcome<i32> {
        if bound <= 0 {
            return Err(ScriptError::argument(at, "bound must be positive"));
        }
        let mut bits = self.next(31);
        if bound & (bound - 1) == 0 {
            return Ok(((i64::from(bound) * i64::from(bits)) >> 31) as i32);
        }
        loop {
            let found = bits % bound;
            // The last numbers of 31 bits would make some results more likely than others.
            if bits.wrapping_sub(found).wrapping_add(bound - 1) >= 0 {
                return Ok(found);
            }
            bits = self.next(31);
        }
    }

    fn double(&self) -> f64 {
        let high = i64::from(self.next(26)) << 27;
        fraction((high + i64::from(self.next(27))) as u64)
    }

    fn gaussian(&self) -> f64 {
        if let Some(kept) = self.gaussian.take() {
            return kept;
        }
        loop {
            let (x, y) = (2.0 * self.double() - 1.0, 2.0 * self.double() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.gaussian.set(Some(y * factor));
                return x * factor;
            }
        }
    }
}

impl JavaObject for Random {
    fn class(&self) -> &'static str {
        "java.util.Random"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Random>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("nextInt", []) => Value::Int(self.next(32)),
            ("nextInt", [Value::Int(bound)]) => Value::Int(self.below(*bound, at)?),
            ("nextLong", []) => {
                let high = i64::from(self.next(32)) << 32;
                Value::Long(high.wrapping_add(i64::from(self.next(32))))
            }
            ("nextBoolean", []) => Value::Bool(self.next(1) != 0),
            ("nextFloat", []) => Value::Float(self.next(24) as f32 / (1u32 << 24) as f32),
            ("nextDouble", []) => Value::Double(self.double()),
            ("nextGaussian", []) => Value::Double(self.gaussian()),
            ("setSeed", [seed @ (Value::Int(_) | Value::Long(_))]) => {
                self.state.set(scrambled(seed.i64() as u64));
                self.gaussian.set(None);
                Value::Null
            }
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
