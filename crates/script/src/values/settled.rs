//! Values that outlive the scripts that made them: the states that the shards send to `reduce_script` of
//! `scripted_metric`.

use std::collections::HashSet;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::date::{Instant, Zone};
use limber_mapping::geo::GeoPoint;
use limber_work as work;

use super::containers::{dismantle, identity, is_container};
use super::date_value::DateValue;
use super::map::{MapOrder, MapValue};
use super::value::{STEPS_MAX, STEPS_PER_CHECK, Value};

/// Largest nesting of a value that is settled.
const DEPTH_MAX: usize = 200;

/// Bytes of a list, map or set without its items, and bytes of an item.
const CONTAINER_BYTES: u64 = 96;
const ITEM_BYTES: u64 = size_of::<Value>() as u64;

/// A value without shared parts.
#[derive(Debug, Clone)]
pub enum Settled {
    /// `null`.
    Null,
    /// A `boolean`.
    Bool(bool),
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
    /// A list.
    List(Vec<Settled>),
    /// A map: its entries in the order of insertion, and its order of iteration.
    Map(Vec<(Settled, Settled)>, MapOrder),
    /// A set: its items in the order of insertion, and its order of iteration.
    Set(Vec<Settled>, MapOrder),
    /// A `ZonedDateTime`.
    Date {
        /// The instant, to the nanosecond.
        instant: Instant,
        /// `None` is UTC.
        zone: Option<Box<Zone>>,
        /// Whether it is an `Instant`.
        is_instant: bool,
    },
    /// A `GeoPoint`.
    Point(GeoPoint),
}

/// The script that a value comes from, as errors name it.
#[derive(Debug, Clone, Copy)]
pub enum Origin {
    /// `init_script`.
    Init,
    /// `map_script`.
    Map,
    /// `combine_script`.
    Combine,
    /// `reduce_script`.
    Reduce,
}

impl Origin {
    fn name(self) -> &'static str {
        match self {
            Origin::Init => "Scripted metric aggs init script",
            Origin::Map => "Scripted metric aggs map script",
            Origin::Combine => "Scripted metric aggs combine script",
            Origin::Reduce => "reduce script",
        }
    }

    fn refused(self, class: &str) -> RequestError {
        RequestError::illegal_argument(match self {
            Origin::Reduce => format!("can not write type [class {class}]"),
            _ => format!("Cannot write type [{class}] to stream"),
        })
    }
}

/// Walks a value from the outside in.
struct Walk {
    origin: Origin,
    /// Identities of the lists and maps around the value.
    around: Vec<usize>,
    /// Identities of all lists and maps that have been visited.
    seen: HashSet<usize>,
    /// How many of the lists and maps in `around` had been seen before. Lists that share items can have more
    /// paths than there is time or memory to walk.
    around_again: u32,
    /// How many more values may be visited within lists and maps that had been seen before.
    again_left: u32,
    steps: u32,
}

impl Walk {
    fn new(origin: Origin) -> Walk {
        let (around, seen) = (Vec::new(), HashSet::new());
        Walk { origin, around, seen, around_again: 0, again_left: STEPS_MAX, steps: 0 }
    }

    fn step(&mut self) -> Result<(), RequestError> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_PER_CHECK) {
            work::check_beyond_deadline()?;
        }
        if self.around_again > 0 {
            self.again_left = self.again_left.checked_sub(1).ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "what the {} gives has more than {STEPS_MAX} values in lists that it has several times",
                    self.origin.name()
                ))
            })?;
        }
        Ok(())
    }

    fn inside<T>(
        &mut self,
        value: &Value,
        made: impl FnOnce(&mut Walk, bool) -> Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        let own = identity(value).unwrap_or_default();
        if self.around.contains(&own) {
            let reason = format!("Iterable object is self-referencing itself ({})", self.origin.name());
            return Err(RequestError::illegal_argument(reason));
        }
        if self.around.len() >= DEPTH_MAX {
            return Err(RequestError::illegal_argument(format!(
                "what the {} gives is nested deeper than {DEPTH_MAX} levels",
                self.origin.name()
            )));
        }
        let is_again = !self.seen.insert(own);
        self.around.push(own);
        self.around_again += u32::from(is_again);
        let made = made(self, is_again)?;
        self.around_again -= u32::from(is_again);
        self.around.pop();
        Ok(made)
    }

    fn check(&mut self, value: &Value) -> Result<(), RequestError> {
        self.step()?;
        self.inside(value, |walk, is_again| match value {
            _ if is_again => Ok(()),
            Value::List(items) => {
                items.borrow().iter().filter(|item| is_container(item)).try_for_each(|item| walk.check(item))
            }
            Value::Map(map) | Value::Set(map) => map
                .borrow()
                .entries()
                .iter()
                .filter(|(_, value)| is_container(value))
                .try_for_each(|(_, value)| walk.check(value)),
            _ => Ok(()),
        })
    }

    fn settle(&mut self, value: &Value) -> Result<Settled, RequestError> {
        self.step()?;
        Ok(match value {
            Value::Null => Settled::Null,
            Value::Bool(flag) => Settled::Bool(*flag),
            Value::Int(number) => Settled::Int(*number),
            Value::Long(number) => Settled::Long(*number),
            Value::Float(number) => Settled::Float(*number),
            Value::Double(number) => Settled::Double(*number),
            Value::Str(text) => Settled::Str(text.clone()),
            Value::Date(date) => {
                let zone = date.zone.as_deref().cloned().map(Box::new);
                Settled::Date { instant: date.instant, zone, is_instant: date.is_instant }
            }
            Value::Point(point) => Settled::Point(*point),
            Value::List(items) => self.inside(value, |walk, _| {
                let items = items.borrow();
                Ok(Settled::List(items.iter().map(|item| walk.settle(item)).collect::<Result<_, _>>()?))
            })?,
            Value::Map(map) => self.inside(value, |walk, _| {
                let map = map.borrow();
                let entry = |(key, value): &(Value, Value)| Ok((walk.settle(key)?, walk.settle(value)?));
                let entries = map.entries().iter().map(entry).collect::<Result<_, RequestError>>()?;
                Ok(Settled::Map(entries, map.order))
            })?,
            Value::Set(set) => self.inside(value, |walk, _| {
                let set = set.borrow();
                let items = set.entries().iter().map(|(item, _)| walk.settle(item));
                Ok(Settled::Set(items.collect::<Result<_, _>>()?, set.order))
            })?,
            other => return Err(self.origin.refused(other.class())),
        })
    }
}

impl Settled {
    /// Copies a value out of its script.
    ///
    /// # Errors
    /// `illegal_argument_exception` for a value that contains itself or cannot be settled.
    pub fn of(value: &Value, origin: Origin) -> Result<Settled, RequestError> {
        Walk::new(origin).settle(value)
    }

    /// Converts back to a value, with new lists and maps.
    pub fn to_value(&self) -> Value {
        match self {
            Settled::Null => Value::Null,
            Settled::Bool(flag) => Value::Bool(*flag),
            Settled::Int(number) => Value::Int(*number),
            Settled::Long(number) => Value::Long(*number),
            Settled::Float(number) => Value::Float(*number),
            Settled::Double(number) => Value::Double(*number),
            Settled::Str(text) => Value::Str(text.clone()),
            Settled::List(items) => Value::list(items.iter().map(Settled::to_value).collect()),
            Settled::Map(entries, order) => {
                let entries = entries.iter().map(|(key, value)| (key.to_value(), value.to_value()));
                Value::Map(MapValue::of(entries.collect(), *order).shared())
            }
            Settled::Set(items, order) => {
                let items = items.iter().map(|item| (item.to_value(), Value::Null));
                Value::Set(MapValue::of(items.collect(), *order).shared())
            }
            Settled::Date { instant, zone, is_instant } => {
                let zone = zone.as_deref().cloned().map(std::rc::Rc::new);
                Value::Date(DateValue { instant: *instant, zone, is_instant: *is_instant })
            }
            Settled::Point(point) => Value::Point(*point),
        }
    }

    /// Returns the approximate memory of the value, in bytes.
    pub fn bytes(&self) -> u64 {
        let own = size_of::<Settled>() as u64;
        match self {
            Settled::Str(text) => own + text.len() as u64,
            Settled::List(items) | Settled::Set(items, _) => {
                own + items.iter().map(Settled::bytes).sum::<u64>()
            }
            Settled::Map(entries, _) => {
                own + entries.iter().map(|(key, value)| key.bytes() + value.bytes()).sum::<u64>()
            }
            _ => own,
        }
    }
}

/// Refuses a value that contains itself.
pub fn check_references(value: &Value, origin: Origin) -> Result<(), RequestError> {
    Walk::new(origin).check(value)
}

/// Lists, maps and sets that scripts made for values that are kept from one run to the next.
#[derive(Debug, Default)]
pub struct Kept {
    /// The lists, maps and sets, each once.
    pub made: Vec<Value>,
}

impl Kept {
    /// Frees the lists, maps and sets that cannot be reached from `roots`; returns the approximate bytes of
    /// those that can.
    pub fn sweep<'v>(&mut self, roots: impl Iterator<Item = &'v Value>) -> u64 {
        let mut known = HashSet::new();
        let mut bytes = 0;
        let mut rest: Vec<Value> = roots.cloned().collect();
        while let Some(value) = rest.pop() {
            bytes += ITEM_BYTES;
            if !is_container(&value) {
                bytes += value.bytes() as u64;
            }
            if identity(&value).is_none_or(|own| !known.insert(own)) {
                continue;
            }
            bytes += CONTAINER_BYTES;
            value.each_held(|held| rest.push(held.clone()));
        }
        let is_known = |value: &Value| identity(value).is_some_and(|own| known.contains(&own));
        let (kept, mut lost) = std::mem::take(&mut self.made).into_iter().partition(is_known);
        self.made = kept;
        dismantle(&mut lost);
        bytes
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        dismantle(&mut self.made);
    }
}
