//! Values of a running script: Java's numbers, strings, collections and dates; how they print and compare.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use limber_codec::java_hash::java_hash;
use limber_mapping::RequestError;
use limber_mapping::geo::GeoPoint;
use limber_mapping::number::{java_double, java_float};

use super::builder::Builder;
use super::date_value::DateValue;
use super::map::{MapOrder, MapValue};
use super::object::JavaObject;
use super::regex::Matcher;
use crate::error::Failure;
use crate::types::{Literal, Type};

pub(crate) fn argument(reason: impl Into<String>) -> Failure {
    ("illegal_argument_exception", reason.into())
}

pub(super) fn cast_failure(reason: String) -> Failure {
    ("class_cast_exception", reason)
}

/// Maximum number of values that one comparison or rendering visits: lists that share items can have more
/// paths than there is time for.
pub(crate) const STEPS_MAX: u32 = 1_000_000;
/// Values that are written between two checks of the memory available: a list may contain another one many
/// times.
pub(super) const STEPS_PER_CHECK: u32 = 1 << 10;
/// How deeply values are compared.
pub(super) const EQUALS_DEPTH: u32 = 50;
/// How deeply lists are printed.
pub(crate) const TEXT_DEPTH: u32 = 20;
/// Longest string that a list is printed as, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// A lambda of a script, and the call of a function in which it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closure {
    /// Its number in the script.
    pub number: u16,
    /// The number of the call; 0 is the script itself.
    pub call: u64,
}

/// A value of a running script. Cheap to clone: lists, maps and builders are shared, as in Java.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`.
    Null,
    /// A `boolean`.
    Bool(bool),
    /// A `char`: one UTF-16 unit.
    Char(u16),
    /// A `byte`, `short` or `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A `String`.
    Str(Arc<str>),
    /// A `List` or an array.
    List(Rc<RefCell<Vec<Value>>>),
    /// A `Map`.
    Map(Rc<RefCell<MapValue>>),
    /// A `Set`: a map of its items.
    Set(Rc<RefCell<MapValue>>),
    /// A `ZonedDateTime`.
    Date(DateValue),
    /// A `GeoPoint`.
    Point(GeoPoint),
    /// The bounding box of points: its top left and its bottom right corner.
    Corners(Rc<[GeoPoint; 2]>),
    /// The doc values of a field of the script, by number.
    Field(u16),
    /// The same as `field(...)` returns it.
    FieldAccess(u16),
    /// `doc`.
    Doc,
    /// `params`.
    Params,
    /// A lambda of the script.
    Lambda(Closure),
    /// A `grok` or `dissect` pattern of the script, by number.
    Extractor(u16),
    /// A regular expression of the script, by number.
    Pattern(u16),
    /// A `java.util.regex.Matcher`.
    Matcher(Rc<RefCell<Matcher>>),
    /// A `StringBuilder`.
    Text(Rc<RefCell<Builder>>),
    /// An exception that was caught or created: class, message.
    Exception(&'static str, Arc<str>),
    /// A formatter of dates.
    Formatter(Arc<limber_mapping::date::DateFormat>),
    /// An object of another class, such as a `BigDecimal`.
    Object(Rc<dyn JavaObject>),
}

impl Value {
    /// Creates a string.
    pub fn str(text: impl Into<Arc<str>>) -> Value {
        Value::Str(text.into())
    }

    /// Creates a list.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(RefCell::new(items)))
    }

    /// Creates a map. `is_hashed`: it is iterated like a `HashMap`, otherwise in the order of its entries.
    pub fn map(entries: Vec<(Value, Value)>, is_hashed: bool) -> Value {
        let order = if is_hashed { MapOrder::Hashed } else { MapOrder::Inserted };
        Value::Map(MapValue::of(entries, order).shared())
    }

    /// Returns the value of a constant.
    pub fn of(literal: &Literal) -> Value {
        match literal {
            Literal::Null => Value::Null,
            Literal::Bool(flag) => Value::Bool(*flag),
            Literal::Int(number) => Value::Int(*number),
            Literal::Long(number) => Value::Long(*number),
            Literal::Float(number) => Value::Float(*number),
            Literal::Double(number) => Value::Double(*number),
            Literal::Str(text) => Value::Str(text.clone()),
        }
    }

    /// Returns the value that a variable of this type has before one is assigned.
    pub(crate) fn zero_of(ty: Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Char => Value::Char(0),
            Type::Byte | Type::Short | Type::Int => Value::Int(0),
            Type::Long => Value::Long(0),
            Type::Float => Value::Float(0.0),
            Type::Double => Value::Double(0.0),
            _ => Value::Null,
        }
    }

    /// Returns the full name of the Java class, `null` for [`Value::Null`].
    pub fn class(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "java.lang.Boolean",
            Value::Char(_) => "java.lang.Character",
            Value::Int(_) => "java.lang.Integer",
            Value::Long(_) => "java.lang.Long",
            Value::Float(_) => "java.lang.Float",
            Value::Double(_) => "java.lang.Double",
            Value::Str(_) => "java.lang.String",
            Value::List(_) => "java.util.ArrayList",
            Value::Map(_) => "java.util.HashMap",
            Value::Set(_) => "java.util.HashSet",
            Value::Date(date) if date.is_instant => "java.time.Instant",
            Value::Date(_) => "java.time.ZonedDateTime",
            Value::Point(_) => "org.elasticsearch.common.geo.GeoPoint",
            Value::Corners(_) => "org.elasticsearch.common.geo.GeoBoundingBox",
            Value::Field(_) => "org.elasticsearch.index.fielddata.ScriptDocValues",
            Value::FieldAccess(_) => "org.elasticsearch.script.field.Field",
            Value::Doc => "org.elasticsearch.search.lookup.LeafDocLookup",
            Value::Params => "java.util.Map",
            Value::Lambda(_) => "java.util.function.Function",
            Value::Extractor(_) => "org.elasticsearch.xpack.runtimefields.NamedGroupExtractor",
            Value::Pattern(_) => "java.util.regex.Pattern",
            Value::Matcher(_) => "java.util.regex.Matcher",
            Value::Text(_) => "java.lang.StringBuilder",
            Value::Exception(class, _) => class,
            Value::Formatter(_) => "java.time.format.DateTimeFormatter",
            Value::Object(object) => object.class(),
        }
    }

    /// Prints as Java does. Nested lists are cut off where a script could have made more of them than there
    /// is memory for.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text, TEXT_DEPTH);
        text
    }

    /// Appends what [`Value::text`] prints; lists go `depth` levels deep.
    pub(crate) fn write_text(&self, out: &mut String, depth: u32) {
        let scalar = match self {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Char(unit) => String::from_utf16_lossy(&[*unit]),
            Value::Int(number) => number.to_string(),
            Value::Long(number) => number.to_string(),
            Value::Float(number) => java_float(*number),
            Value::Double(number) => java_double(*number),
            Value::Str(text) => return out.push_str(text),
            Value::Text(text) => text.borrow().text(),
            Value::List(_) | Value::Set(_) | Value::Map(_) => return self.write_items(out, depth),
            Value::Date(date) => date.text(),
            Value::Point(point) => {
                format!("{}, {}", java_double(point.latitude), java_double(point.longitude))
            }
            Value::Exception(class, message) => format!("{class}: {message}"),
            Value::Object(_) if depth == 0 => "...".to_owned(),
            Value::Object(object) => return object.write_text(out, depth),
            other => other.class().to_owned(),
        };
        out.push_str(&scalar);
    }

    fn write_items(&self, out: &mut String, depth: u32) {
        let (entries, ends) = match self {
            Value::List(items) => {
                let items = items.borrow();
                (items.iter().map(|item| (item.clone(), Value::Null)).collect(), "[]")
            }
            Value::Set(set) => (set.borrow().walk(), "[]"),
            Value::Map(map) => (map.borrow().walk(), "{}"),
            _ => return,
        };
        out.push_str(&ends[..1]);
        for (at, (key, value)) in entries.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            if depth == 0 || out.len() > TEXT_BYTES_MAX {
                out.push_str("...");
                break;
            }
            key.write_text(out, depth - 1);
            if ends == "{}" {
                out.push('=');
                value.write_text(out, depth - 1);
            }
        }
        out.push_str(&ends[1..]);
    }

    /// Returns `Object#hashCode` of values that can be keys of maps; 0 for lists, maps and sets, whose number
    /// would change with their items.
    pub fn hash(&self) -> i32 {
        match self {
            Value::Str(text) => java_hash(text),
            Value::Bool(flag) => {
                if *flag {
                    1231
                } else {
                    1237
                }
            }
            Value::Char(unit) => i32::from(*unit),
            Value::Int(number) => *number,
            Value::Long(number) => (*number ^ ((*number as u64) >> 32) as i64) as i32,
            Value::Double(number) => {
                let bits = number.to_bits() as i64;
                (bits ^ ((bits as u64) >> 32) as i64) as i32
            }
            Value::Float(number) => number.to_bits() as i32,
            Value::Object(object) => object.hash(),
            // Java computes a different number here. This one, too, differs between moments.
            Value::Date(date) => Value::Long(date.millis()).hash(),
            Value::Point(point) => Value::Double(point.latitude + point.longitude * 31.0).hash(),
            _ => 0,
        }
    }

    /// Returns `Object#hashCode`.
    pub fn hash_code(&self) -> i32 {
        self.hash_within(EQUALS_DEPTH, &mut { STEPS_MAX })
    }

    /// Works like [`Value::hash_code`]. Values that are nested deeper than `depth`, or that are visited after
    /// `steps` others, count as 0.
    fn hash_within(&self, depth: u32, steps: &mut u32) -> i32 {
        *steps = steps.saturating_sub(1);
        if depth == 0 || *steps == 0 {
            return 0;
        }
        let mut of = |value: &Value| value.hash_within(depth - 1, steps);
        match self {
            Value::List(items) => {
                items.borrow().iter().fold(1, |hash: i32, item| hash.wrapping_mul(31).wrapping_add(of(item)))
            }
            Value::Map(map) => map
                .borrow()
                .entries()
                .iter()
                .fold(0, |hash: i32, (key, value)| hash.wrapping_add(of(key) ^ of(value))),
            Value::Set(set) => {
                set.borrow().entries().iter().fold(0, |hash: i32, (item, _)| hash.wrapping_add(of(item)))
            }
            other => other.hash(),
        }
    }

    /// `Object#equals`. Values that are nested too deeply or shared too often count as different.
    pub fn equals(&self, other: &Value) -> bool {
        self.equals_by(other, &mut { STEPS_MAX })
    }

    /// Works like [`Value::equals`], and subtracts the number of visited values from `steps`.
    pub(crate) fn equals_by(&self, other: &Value, steps: &mut u32) -> bool {
        self.equals_within(other, EQUALS_DEPTH, steps)
    }

    /// Works like [`Value::equals_by`], but compares at most `depth` levels.
    pub(crate) fn equals_within(&self, other: &Value, depth: u32, steps: &mut u32) -> bool {
        *steps = steps.saturating_sub(1);
        if depth == 0 || *steps == 0 {
            return false;
        }
        match (self, other) {
            (Value::Null, Value::Null) | (Value::Doc, Value::Doc) | (Value::Params, Value::Params) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Char(left), Value::Char(right)) => left == right,
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Long(left), Value::Long(right)) => left == right,
            (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
            (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
            (Value::Str(left), Value::Str(right)) => left == right,
            (Value::List(left), Value::List(right)) => {
                Rc::ptr_eq(left, right) || {
                    let (left, right) = (left.borrow(), right.borrow());
                    left.len() == right.len()
                        && left
                            .iter()
                            .zip(right.iter())
                            .all(|(left, right)| left.equals_within(right, depth - 1, steps))
                }
            }
            (Value::Map(left), Value::Map(right)) | (Value::Set(left), Value::Set(right)) => {
                Rc::ptr_eq(left, right) || {
                    let (left, right) = (left.borrow(), right.borrow());
                    left.len() == right.len()
                        && left.entries().iter().all(|(key, value)| {
                            let found = right.get_within(key, depth - 1, steps);
                            found.is_some_and(|other| value.equals_within(other, depth - 1, steps))
                        })
                }
            }
            (Value::Date(left), Value::Date(right)) => left == right,
            (Value::Point(left), Value::Point(right)) => left == right,
            (Value::Field(left), Value::Field(right)) => left == right,
            (Value::Object(left), Value::Object(right)) => left.equals(&**right, depth, steps),
            _ => false,
        }
    }

    /// `==` of the language: compares numbers by value, whatever their types.
    pub fn same(&self, other: &Value) -> bool {
        match (self.number_type(), other.number_type()) {
            (Some(left), Some(right)) => match left.max(right) {
                6 => self.f64() == other.f64(),
                5 => self.f64() as f32 == other.f64() as f32,
                _ => self.i64() == other.i64(),
            },
            _ => self.equals(other),
        }
    }

    /// `Comparable#compareTo`.
    pub fn compare(&self, other: &Value) -> Result<Ordering, Failure> {
        if let (Value::Object(left), Value::Object(right)) = (self, other)
            && let Some(order) = left.compare(&**right)
        {
            return Ok(order);
        }
        match (self, other) {
            (Value::Str(left), Value::Str(right)) => Ok(left.encode_utf16().cmp(right.encode_utf16())),
            (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
            (Value::Date(left), Value::Date(right)) => Ok(left.instant.cmp(&right.instant)),
            _ => match (self.number_type(), other.number_type()) {
                (Some(left), Some(right)) if left.max(right) >= 5 => Ok(self.f64().total_cmp(&other.f64())),
                (Some(_), Some(_)) => Ok(self.i64().cmp(&other.i64())),
                _ => Err(cast_failure(format!(
                    "class {} cannot be cast to class {}",
                    self.class(),
                    other.class()
                ))),
            },
        }
    }

    /// Returns the rank of a number's type ([`Type::rank`]).
    pub(super) fn number_type(&self) -> Option<u8> {
        Some(match self {
            Value::Char(_) => 2,
            Value::Int(_) => 3,
            Value::Long(_) => 4,
            Value::Float(_) => 5,
            Value::Double(_) => 6,
            _ => return None,
        })
    }

    /// Converts to a double; 0 for a value that is not a number.
    pub fn f64(&self) -> f64 {
        match self {
            Value::Char(unit) => f64::from(*unit),
            Value::Int(number) => f64::from(*number),
            Value::Long(number) => *number as f64,
            Value::Float(number) => f64::from(*number),
            Value::Double(number) => *number,
            Value::Object(object) => object.number().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// Converts to a long by Java's cast; 0 for a value that is not a number.
    pub fn i64(&self) -> i64 {
        match self {
            Value::Char(unit) => i64::from(*unit),
            Value::Int(number) => i64::from(*number),
            Value::Long(number) => *number,
            Value::Float(number) => *number as i64,
            Value::Double(number) => *number as i64,
            _ => 0,
        }
    }

    /// Appends the number that this is, or the numbers of a list or set; `true` counts as 1, `false` as 0,
    /// `null` as nothing.
    ///
    /// # Errors
    /// Something is no number.
    pub fn numbers(&self, out: &mut Vec<f64>) -> Result<(), RequestError> {
        let mut add = |item: &Value| match item.number() {
            Some(number) => {
                out.push(number);
                Ok(())
            }
            None if item.is_null() => Ok(()),
            None => {
                let item = item.text();
                let reason =
                    format!("Unsupported script value [{item}], expected a number, date, or boolean");
                Err(RequestError::illegal_argument(reason))
            }
        };
        match self {
            Value::List(items) => items.borrow().iter().try_for_each(add),
            Value::Set(items) => items.borrow().walk().iter().try_for_each(|(item, _)| add(item)),
            other => add(other),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            Value::Date(date) => Some(date.millis() as f64),
            Value::Object(object) => object.number(),
            number => number.is_number().then(|| number.f64()),
        }
    }

    /// Whether this is one of Java's numbers; characters count as numbers.
    pub fn is_number(&self) -> bool {
        self.number_type().is_some()
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether it is a string, a number or a boolean, which nobody can change.
    pub fn is_constant(&self) -> bool {
        matches!(self, Value::Str(_) | Value::Bool(_) | Value::Int(_) | Value::Long(_) | Value::Double(_))
    }

    /// Returns the name of the primitive type if there is one, otherwise of the class.
    pub fn plain_class(&self) -> &'static str {
        match self {
            Value::Int(_) => "int",
            Value::Long(_) => "long",
            Value::Double(_) => "double",
            Value::Float(_) => "float",
            Value::Bool(_) => "boolean",
            other => other.class(),
        }
    }
}
