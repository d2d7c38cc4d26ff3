//! `java.util.UUID`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::Class;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

pub(super) const CLASS: Class = Class {
    name: "UUID",
    constants: &[],
    statics: &[("fromString", 1), ("randomUUID", 0)],
    call: static_call,
    construct: Some(construct),
};

/// Longest text of a UUID.
const TEXT_LENGTH: usize = 36;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Uuid {
    most: i64,
    least: i64,
}

fn made(most: i64, least: i64) -> Value {
    Value::Object(Rc::new(Uuid { most, least }))
}

/// Makes a UUID of random bits (version 4).
pub(super) fn random(most: u64, least: u64) -> Value {
    made((most & !0xf000 | 0x4000) as i64, (least >> 2 | 1 << 63) as i64)
}

fn construct(_: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match arguments {
        [most, least] if most.is_number() && least.is_number() => Some(made(most.i64(), least.i64())),
        _ => None,
    })
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    match (name, arguments) {
        ("fromString", [Value::Str(text)]) => parse(text, at).map(Some),
        _ => Ok(None),
    }
}

/// Reads five groups of hexadecimal digits, which may be shorter than they are shown.
fn parse(text: &str, at: u32) -> Outcome<Value> {
    let refused = |why: String| ScriptError::argument(at, why);
    if text.len() > TEXT_LENGTH {
        return Err(refused("UUID string too large".to_owned()));
    }
    let group = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => i64::from_str_radix(digits, 16).ok(),
        false => None,
    };
    let parts: Vec<&str> = text.split('-').collect();
    if parts.len() != 5 || parts.iter().any(|part| part.is_empty()) {
        return Err(refused(format!("Invalid UUID string: {text}")));
    }
    let groups: Option<Vec<i64>> = parts.into_iter().map(group).collect();
    match groups.as_deref() {
        Some([first, second, third, fourth, fifth]) => {
            let short = |group: &i64| group & 0xffff;
            let most = (first & 0xffff_ffff) << 32 | short(second) << 16 | short(third);
            Ok(made(most, short(fourth) << 48 | (fifth & 0xffff_ffff_ffff)))
        }
        _ => {
            let reason = format!("Error at index 0 in: \"{text}\"");
            Err(ScriptError::new(at, "number_format_exception", reason))
        }
    }
}

impl Uuid {
    fn version(self) -> i64 {
        self.most >> 12 & 0xf
    }

    /// `UUID#variant`: the number of its highest bits that give the layout depends on those bits.
    fn variant(self) -> i64 {
        let least = self.least as u64;
        (least.checked_shr((64 - (least >> 62)) as u32).unwrap_or(0) as i64) & (self.least >> 63)
    }

    /// Returns a part that only UUIDs with a time have.
    fn timed(self, part: i64, at: u32) -> Outcome<Value> {
        match self.version() {
            1 => Ok(Value::Long(part)),
            _ => {
                let reason = "Not a time-based UUID";
                Err(ScriptError::new(at, "unsupported_operation_exception", reason))
            }
        }
    }
}

impl JavaObject for Uuid {
    fn class(&self) -> &'static str {
        "java.util.UUID"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        let (most, least) = (self.most as u64, self.least as u64);
        out.push_str(&format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            most >> 32,
            most >> 16 & 0xffff,
            most & 0xffff,
            least >> 48,
            least & 0xffff_ffff_ffff
        ));
    }

    fn hash(&self) -> i32 {
        let both = self.most ^ self.least;
        (both >> 32) as i32 ^ both as i32
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Uuid>() == Some(self)
    }

    /// Compares the halves as signed numbers, as Java does.
    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        let other = other.as_any().downcast_ref::<Uuid>()?;
        Some((self.most, self.least).cmp(&(other.most, other.least)))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if !arguments.is_empty() {
            return Ok(None);
        }
        Ok(Some(match name {
            "getMostSignificantBits" => Value::Long(self.most),
            "getLeastSignificantBits" => Value::Long(self.least),
            "version" => Value::Int(self.version() as i32),
            "variant" => Value::Int(self.variant() as i32),
            "timestamp" => {
                let most = self.most as u64;
                let time = (most & 0xfff) << 48 | (most >> 16 & 0xffff) << 32 | most >> 32;
                self.timed(time as i64, at)?
            }
            "clockSequence" => match self.timed(((self.least as u64) >> 48 & 0x3fff) as i64, at)? {
                Value::Long(number) => Value::Int(number as i32),
                other => other,
            },
            "node" => self.timed(self.least & 0xffff_ffff_ffff, at)?,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
