//! Static members and constructors of classes: `Math.log(x)`, `Integer.parseInt(text)`, `new ArrayList()`.

use std::cell::RefCell;
use std::rc::Rc;

use limber_mapping::geo::GeoPoint;
use limber_mapping::number;

use super::java;
use super::machine::Machine;
use super::methods::spend_on;
use super::order::{REVERSED, extreme, sort_values};
use super::store::{put_new, same};
use super::streams::{JOINING, TO_LIST, TO_SET};
use super::texts::{self, join_texts};
use super::{collection_statics, number_statics};
use crate::error::{Outcome, ScriptError, failed};
use crate::types::{Binary, Type};
use crate::values::{Builder, DateValue, MapOrder, MapValue, Value};

/// Returns a function of one double.
pub(crate) fn math(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "abs" => f64::abs,
        "acos" => f64::acos,
        "asin" => f64::asin,
        "atan" => f64::atan,
        "cbrt" => f64::cbrt,
        "ceil" => f64::ceil,
        "cos" => f64::cos,
        "cosh" => f64::cosh,
        "exp" => f64::exp,
        "expm1" => f64::exp_m1,
        "floor" => f64::floor,
        "log" => f64::ln,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "rint" => f64::round_ties_even,
        "signum" => |number| if number == 0.0 || number.is_nan() { number } else { number.signum() },
        "sin" => f64::sin,
        "sinh" => f64::sinh,
        "sqrt" => f64::sqrt,
        "tan" => f64::tan,
        "tanh" => f64::tanh,
        "toDegrees" => f64::to_degrees,
        "toRadians" => f64::to_radians,
        "ulp" => |number| number.abs().next_up() - number.abs(),
        _ => return None,
    })
}

/// Returns a function of two doubles.
pub(crate) fn math2(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "max" => |left, right| if left.is_nan() || right.is_nan() { f64::NAN } else { left.max(right) },
        "min" => |left, right| if left.is_nan() || right.is_nan() { f64::NAN } else { left.min(right) },
        "pow" => f64::powf,
        "atan2" => f64::atan2,
        "hypot" => f64::hypot,
        "IEEEremainder" => |left, right| left - right * (left / right).round_ties_even(),
        "copySign" => f64::copysign,
        _ => return None,
    })
}

/// Evaluates a function of `MovingFunctions`.
fn moving(name: &str, values: &[f64], rest: &[Value], at: u32) -> Outcome<f64> {
    use super::moving_functions as functions;
    Ok(match (name, rest) {
        ("max", []) => functions::max(values),
        ("min", []) => functions::min(values),
        ("sum", []) => functions::sum(values),
        ("unweightedAvg", []) => functions::unweighted_avg(values),
        ("linearWeightedAvg", []) => functions::linear_weighted_avg(values),
        ("stdDev", [avg]) => functions::std_dev(values, avg.f64()),
        ("ewma", [alpha]) => functions::ewma(values, alpha.f64()),
        ("holt", [alpha, beta]) => functions::holt(values, alpha.f64(), beta.f64()),
        ("holtWinters", [alpha, beta, gamma, period, multiplicative]) => {
            let period = usize::try_from(period.i64()).unwrap_or(0);
            if !values.is_empty() && values.len() < period.saturating_mul(2) {
                let reason = format!("Index {} out of bounds for length {}", values.len(), values.len());
                return Err(ScriptError::new(at, "array_index_out_of_bounds_exception", reason));
            }
            let multiplicative = matches!(multiplicative, Value::Bool(true));
            let (alpha, beta, gamma) = (alpha.f64(), beta.f64(), gamma.f64());
            functions::holt_winters(values, alpha, beta, gamma, period, multiplicative)
        }
        _ => return Err(ScriptError::argument(at, format!("no function [{name}] of these arguments"))),
    })
}

/// `Math.round`: halves are rounded up.
pub(crate) fn round(number: f64) -> i64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor as i64 + 1 } else { floor as i64 }
}

/// Returns the type of a static method's result; `None` if there is no such method.
pub(crate) fn static_returns(class: &str, name: &str, count: usize) -> Option<Type> {
    Some(match (class, name, count) {
        ("Math", "random", 0) => Type::Double,
        ("System", "currentTimeMillis" | "nanoTime", 0) => Type::Long,
        ("Debug", "explain", 1) => Type::Void,
        ("Math", "round", 1) => Type::Long,
        ("Math", _, 1) if math(name).is_some() => Type::Double,
        ("Math", _, 2) if math2(name).is_some() => Type::Double,
        ("String", "valueOf" | "copyValueOf", 1) | ("String", "join", 2) => Type::Str,
        ("String", "format", 2 | 3) => Type::Str,
        ("Integer" | "Long" | "Double" | "Float" | "Boolean" | "Character", "toString", 1) => Type::Str,
        ("Integer", "parseInt" | "valueOf", 1) => Type::Int,
        ("Long", "parseLong" | "valueOf", 1) => Type::Long,
        ("Double", "parseDouble" | "valueOf", 1) => Type::Double,
        ("Float", "parseFloat" | "valueOf", 1) => Type::Float,
        ("Boolean", "parseBoolean" | "valueOf", 1) => Type::Bool,
        ("Double", "isNaN" | "isInfinite" | "isFinite", 1) => Type::Bool,
        ("Integer" | "Long" | "Double", "compare", 2) => Type::Int,
        ("Integer" | "Long" | "Double", "max" | "min" | "sum", 2) => Type::Def,
        ("Integer" | "Long", "bitCount", 1) => Type::Int,
        ("Integer" | "Long", "toHexString" | "toBinaryString", 1) => Type::Str,
        ("MovingFunctions", "max" | "min" | "sum" | "unweightedAvg" | "linearWeightedAvg", 1)
        | ("MovingFunctions", "stdDev" | "ewma", 2)
        | ("MovingFunctions", "holt", 3)
        | ("MovingFunctions", "holtWinters", 6) => Type::Double,
        ("Integer", "parseInt" | "valueOf", 2) => Type::Int,
        ("Long", "parseLong" | "valueOf", 2) => Type::Long,
        ("Integer" | "Long", "toString", 2) | ("Objects", "toString", 1) => Type::Str,
        ("Character", name, 1) if texts::character_returns(name).is_some() => texts::character_returns(name)?,
        ("Character", name, 2) if texts::pair_returns(name).is_some() => texts::pair_returns(name)?,
        ("Objects", "requireNonNull", 1) | ("Comparator", "naturalOrder" | "reverseOrder", 0) => Type::Def,
        ("Collections", "reverseOrder", 0) => Type::Def,
        ("Collections", "frequency", 2) => Type::Int,
        ("ZonedDateTime", "of", 8) | ("Month" | "DayOfWeek", "of", 1) => Type::Def,
        ("Objects", "equals", 2) | ("Objects", "isNull" | "nonNull", 1) => Type::Bool,
        ("Collectors", "toList" | "toSet", 0) | ("Collectors", "joining", 0 | 1) => Type::Def,
        ("Collections", "sort" | "reverse", 1) => Type::Def,
        (
            "Collections",
            "max" | "min" | "emptyList" | "emptyMap" | "singletonList" | "unmodifiableList",
            0 | 1,
        ) => Type::Def,
        ("Arrays", "asList", _) => Type::Def,
        ("ZonedDateTime" | "Instant" | "OffsetDateTime", "parse", 1) => Type::Def,
        ("ZonedDateTime" | "OffsetDateTime", "parse", 2) => Type::Def,
        ("OffsetDateTime", "of", 8) | ("OffsetDateTime", "ofInstant", 2) => Type::Def,
        ("Month" | "DayOfWeek", "valueOf" | "from", 1) => Type::Def,
        ("ZoneOffset", "ofHours" | "ofTotalSeconds", 1) | ("ZoneOffset", "ofHoursMinutes", 2) => Type::Def,
        ("DateTimeFormatter", "ofPattern", 2) => Type::Def,
        ("ZonedDateTime", "ofInstant", 2)
        | ("Instant", "ofEpochMilli" | "ofEpochSecond", 1)
        | ("Instant", "ofEpochSecond", 2) => Type::Def,
        ("ZoneId", "of", 1) | ("ZoneOffset", "of", 1) => Type::Def,
        ("DateTimeFormatter", "ofPattern", 1) => Type::Def,
        ("Matcher", "quoteReplacement", 1) | ("Pattern", "quote", 1) => Type::Str,
        _ if java::is_static(class, name, count) => Type::Def,
        _ => {
            let of_number = number_statics::returns(class, name, count);
            return of_number.or_else(|| collection_statics::returns(class, name, count));
        }
    })
}

pub(crate) fn call_static(
    machine: &mut impl Machine,
    class: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Value> {
    spend_on(machine, &Value::Null, arguments, at)?;
    let found = match (class, name, arguments) {
        ("MovingFunctions", _, [values, rest @ ..]) => {
            let values: Vec<f64> = machine.items(values, at)?.iter().map(Value::f64).collect();
            return Ok(Value::Double(moving(name, &values, rest, at)?));
        }
        ("Debug", "explain", [value]) => return Err(java::explained(machine, value, at)?),
        ("Math" | "System" | "UUID", _, []) => java::of_outside(machine.outside(), class, name),
        _ => number_statics::call(class, name, arguments, at)?,
    };
    let found = match found {
        None => collection_statics::call(machine, class, name, arguments, at)?,
        found => found,
    };
    let found = match found {
        None => call_of_number(machine, class, name, arguments, at)?,
        found => found,
    };
    let found = match found {
        None => call_of_collection(machine, class, name, arguments, at)?,
        found => found,
    };
    let found = match found {
        None => call_of_date_or_pattern(class, name, arguments, at)?,
        found => found,
    };
    let found = match found {
        None => texts::static_call(class, name, arguments, at)?,
        found => found,
    };
    let found = match found {
        None => java::static_call(class, name, arguments, at)?,
        found => found,
    };
    found.ok_or_else(|| {
        let classes: Vec<&str> = arguments.iter().map(Value::class).collect();
        ScriptError::cast(at, format!("[{class}.{name}] does not take [{}]", classes.join(", ")))
    })
}

/// Calls a static method of `Math` or of the classes of numbers, strings and booleans; `None` if it belongs
/// to another class.
fn call_of_number(
    machine: &mut impl Machine,
    class: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let parsed = || arguments.first().map(Value::text).unwrap_or_default();
    Ok(Some(match (class, name, arguments) {
        ("Math", "round", [number]) => Value::Long(round(number.f64())),
        ("Math", _, [number]) => match math(name) {
            Some(function) => Value::Double(function(number.f64())),
            None => return Err(ScriptError::argument(at, format!("no function [{name}]"))),
        },
        ("Math", _, [left, right]) => match math2(name) {
            Some(function) => Value::Double(function(left.f64(), right.f64())),
            None => return Err(ScriptError::argument(at, format!("no function [{name}]"))),
        },
        ("String", "join", [separator, list]) => {
            let items = machine.items(list, at)?;
            join_texts(machine, &items, &separator.text(), at)?
        }
        // Names and separators are English whatever the locale.
        ("String", "format", [pattern, arguments] | [_, pattern, arguments]) => {
            let arguments = machine.items(arguments, at)?;
            Value::str(super::format::format(&pattern.text(), &arguments, at)?)
        }
        (_, "toString" | "copyValueOf", [value]) | ("String", "valueOf", [value]) => Value::str(value.text()),
        ("Integer", "parseInt" | "valueOf", [_]) => {
            let text = parsed();
            Value::Int(text.parse().map_err(|_| ScriptError::number_format(at, &text))?)
        }
        ("Long", "parseLong" | "valueOf", [_]) => {
            let text = parsed();
            Value::Long(text.parse().map_err(|_| ScriptError::number_format(at, &text))?)
        }
        ("Double", "parseDouble" | "valueOf", [_]) => {
            let text = parsed();
            let number = number::double_from_text(&text);
            Value::Double(number.ok_or_else(|| ScriptError::number_format(at, &text))?)
        }
        ("Float", "parseFloat" | "valueOf", [_]) => {
            let text = parsed();
            let number = number::float_from_text(&text);
            Value::Float(number.ok_or_else(|| ScriptError::number_format(at, &text))?)
        }
        ("Boolean", _, [_]) => Value::Bool(parsed().eq_ignore_ascii_case("true")),
        ("Double", "isNaN", [number]) => Value::Bool(number.f64().is_nan()),
        ("Double", "isInfinite", [number]) => Value::Bool(number.f64().is_infinite()),
        ("Double", "isFinite", [number]) => Value::Bool(number.f64().is_finite()),
        (_, "compare", [left, right]) if class != "Character" => {
            Value::Int(left.compare(right).map_err(|failure| failed(failure, at))? as i32)
        }
        (_, "sum", [left, right]) => machine.binary(Binary::Add, left, right, at)?,
        ("Integer" | "Long" | "Double", "max" | "min", [left, right]) => {
            let is_less = left.compare(right).map_err(|failure| failed(failure, at))?.is_lt();
            if is_less == (name == "min") { left.clone() } else { right.clone() }
        }
        ("Integer", "bitCount", [number]) => Value::Int((number.i64() as i32).count_ones() as i32),
        ("Long", "bitCount", [number]) => Value::Int(number.i64().count_ones() as i32),
        ("Integer", "toHexString", [number]) => Value::str(format!("{:x}", number.i64() as i32)),
        ("Long", "toHexString", [number]) => Value::str(format!("{:x}", number.i64())),
        ("Integer", "toBinaryString", [number]) => Value::str(format!("{:b}", number.i64() as i32)),
        ("Long", "toBinaryString", [number]) => Value::str(format!("{:b}", number.i64())),
        _ => return Ok(None),
    }))
}

/// Calls a static method of `Collections`, `Collectors`, `Comparator`, `Arrays` or `Objects`; `None` if it
/// belongs to another class.
fn call_of_collection(
    machine: &mut impl Machine,
    class: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (class, name, arguments) {
        ("Objects", "requireNonNull", [Value::Null]) => {
            return Err(ScriptError::new(at, "null_pointer_exception", ""));
        }
        ("Objects", "requireNonNull", [value]) => value.clone(),
        // Null means the natural order of the values.
        ("Comparator", "naturalOrder", []) => Value::Null,
        ("Comparator" | "Collections", "reverseOrder", []) => Value::str(REVERSED),
        ("Collections", "frequency", [list, wanted]) => {
            let items = machine.items(list, at)?;
            let mut count = 0;
            for item in &items {
                count += i32::from(same(machine, item, wanted, at)?);
            }
            Value::Int(count)
        }
        ("Objects", "equals", [left, right]) => Value::Bool(same(machine, left, right, at)?),
        ("Objects", "isNull", [value]) => Value::Bool(value.is_null()),
        ("Objects", "nonNull", [value]) => Value::Bool(!value.is_null()),
        ("Collectors", "toList", []) => Value::str(TO_LIST),
        ("Collectors", "toSet", []) => Value::str(TO_SET),
        ("Collectors", "joining", separator) => {
            Value::str(format!("{JOINING}{}", separator.first().map(Value::text).unwrap_or_default()))
        }
        ("Collections", "sort", [sorted @ Value::List(list)]) => {
            machine.check_frozen(sorted, at)?;
            let mut items = list.borrow().clone();
            sort_values(machine, &mut items, None, at)?;
            *list.borrow_mut() = items;
            Value::Null
        }
        ("Collections", "reverse", [reversed @ Value::List(list)]) => {
            machine.check_frozen(reversed, at)?;
            list.borrow_mut().reverse();
            Value::Null
        }
        ("Collections", "max" | "min", [list]) => {
            let items = machine.items(list, at)?;
            let found = extreme(machine, items, None, name == "max", at)?;
            found.ok_or_else(|| ScriptError::new(at, "no_such_element_exception", ""))?
        }
        ("Collections", "emptyList", []) => Value::list(Vec::new()),
        ("Collections", "emptyMap", []) => Value::map(Vec::new(), true),
        ("Collections", "singletonList", [item]) => Value::list(vec![item.clone()]),
        ("Collections", "unmodifiableList", [list]) => list.clone(),
        ("Arrays", "asList", [one @ Value::List(_)]) => one.clone(),
        ("Arrays", "asList", items) => Value::list(items.to_vec()),
        _ => return Ok(None),
    }))
}

/// Calls a static method of dates, of their zones and formats, or of regular expressions; `None` if it
/// belongs to another class.
fn call_of_date_or_pattern(class: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(Some(match (class, name, arguments) {
        ("ZonedDateTime" | "OffsetDateTime", "of", [date @ .., zone]) if date.len() == 7 => {
            super::dates::of(date, zone, at)?
        }
        ("Month" | "DayOfWeek", "valueOf" | "from", [value]) => {
            return super::calendar::constant_of(class, name, value, at);
        }
        ("ZoneOffset", "ofHours" | "ofTotalSeconds" | "ofHoursMinutes", [first, rest @ ..]) => {
            super::calendar::offset(name, first, rest.first(), at)?
        }
        ("Month" | "DayOfWeek", "of", [number]) => super::calendar::of_number(class, number.i64(), at)?,
        ("ZonedDateTime" | "OffsetDateTime", "parse", [text, format]) => {
            Value::Date(java::parse_by(text, format, at)?)
        }
        ("ZonedDateTime" | "OffsetDateTime", "parse", [text]) => {
            Value::Date(java::parse_iso(&text.text(), at)?)
        }
        ("Instant", "parse", [text]) => match super::dates::parse(&text.text(), at)? {
            Value::Date(date) => Value::Date(DateValue::of_instant(date.instant)),
            other => other,
        },
        ("Instant", "ofEpochMilli", [millis]) => {
            Value::Date(DateValue::of_instant(limber_mapping::date::Instant::of_millis(millis.i64())))
        }
        ("Instant", "ofEpochSecond", [seconds, nanos @ ..]) if nanos.len() <= 1 => {
            let nanos = nanos.first().map_or(0, Value::i64);
            Value::Date(DateValue::of_instant(super::dates::of_seconds(seconds.i64(), nanos, at)?.instant))
        }
        ("ZonedDateTime" | "OffsetDateTime", "ofInstant", [Value::Date(date), zone]) => {
            let zone = zone.clone();
            super::dates::date_method(date, "atZone", &[zone], at)?.unwrap_or(Value::Null)
        }
        ("ZoneId" | "ZoneOffset", "of", [zone]) => zone.clone(),
        ("Matcher", "quoteReplacement", [text]) => {
            Value::str(text.text().replace('\\', r"\\").replace('$', r"\$"))
        }
        ("Pattern", "quote", [text]) => {
            Value::str(format!(r"\Q{}\E", text.text().replace(r"\E", r"\E\\E\Q")))
        }
        // Names are English whatever the locale.
        ("DateTimeFormatter", "ofPattern", [pattern] | [pattern, _]) => {
            super::dates::formatter(&pattern.text(), at)?
        }
        _ => return Ok(None),
    }))
}

pub(crate) fn create_object(
    machine: &mut impl Machine,
    class: &'static str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Value> {
    spend_on(machine, &Value::Null, arguments, at)?;
    let short = class.rsplit('.').next().unwrap_or(class);
    if let Some(made) = java::construct(short, arguments, at)? {
        return Ok(made);
    }
    let order = match short {
        "HashMap" | "HashSet" => MapOrder::Hashed,
        "TreeMap" | "TreeSet" => MapOrder::Sorted,
        _ => MapOrder::Inserted,
    };
    Ok(match (short, arguments) {
        ("Date", []) => java::date_of(machine.outside().now_millis()),
        ("Random", []) => java::random_of(machine.outside().random_bits()),
        ("GeoPoint", []) => Value::Point(GeoPoint { latitude: 0.0, longitude: 0.0 }),
        ("GeoPoint", [latitude, longitude]) => {
            Value::Point(GeoPoint { latitude: latitude.f64(), longitude: longitude.f64() })
        }
        ("ArrayList" | "LinkedList" | "ArrayDeque", []) => Value::list(Vec::new()),
        ("ArrayList" | "LinkedList" | "ArrayDeque", [more]) => Value::list(machine.items(more, at)?),
        ("HashMap" | "LinkedHashMap" | "TreeMap", []) => Value::Map(MapValue::new(order).shared()),
        ("HashMap" | "LinkedHashMap" | "TreeMap", [Value::Map(more)]) => {
            let entries = more.borrow().entries().to_vec();
            let made = MapValue::new(order).shared();
            for entry in entries {
                put_new(machine, &made, entry, at)?;
            }
            Value::Map(made)
        }
        ("HashSet" | "LinkedHashSet" | "TreeSet", items) if items.len() <= 1 => {
            let made = MapValue::new(order).shared();
            if let Some(more) = items.first() {
                for item in machine.items(more, at)? {
                    put_new(machine, &made, (item, Value::Null), at)?;
                }
            }
            Value::Set(made)
        }
        ("String", []) => Value::str(""),
        ("StringBuilder" | "StringBuffer", []) => Value::Text(Rc::default()),
        ("StringBuilder" | "StringBuffer", [text]) => {
            Value::Text(Rc::new(RefCell::new(Builder::of(&text.text()))))
        }
        (exception, []) if exception.ends_with("Exception") => Value::Exception(class, "".into()),
        (exception, [message]) if exception.ends_with("Exception") => {
            Value::Exception(class, message.text().into())
        }
        _ => {
            return Err(ScriptError::argument(
                at,
                format!("constructor [{class}, <init>/{}] not found", arguments.len()),
            ));
        }
    })
}

/// Whether a value is of a class, of one that extends it, or of one that implements it. `class` is its short
/// name.
pub(crate) fn is_instance(value: &Value, class: &str) -> bool {
    let has_order = |orders: &[MapOrder]| match value {
        Value::Map(map) | Value::Set(map) => orders.contains(&map.borrow().order),
        _ => false,
    };
    let (is_map, is_set) = (matches!(value, Value::Map(_)), matches!(value, Value::Set(_)));
    let is_list = matches!(value, Value::List(_) | Value::Field(_));
    match class {
        "def" | "Object" => !value.is_null(),
        "List" | "AbstractList" => is_list,
        "Collection" | "AbstractCollection" | "Iterable" => is_list || is_set,
        "Map" | "AbstractMap" => is_map || matches!(value, Value::Params | Value::Doc),
        "Set" | "AbstractSet" => is_set,
        "HashMap" => is_map && has_order(&[MapOrder::Hashed, MapOrder::Inserted]),
        "HashSet" => is_set && has_order(&[MapOrder::Hashed, MapOrder::Inserted]),
        "LinkedHashMap" => is_map && has_order(&[MapOrder::Inserted]),
        "LinkedHashSet" => is_set && has_order(&[MapOrder::Inserted]),
        "TreeMap" | "SortedMap" | "NavigableMap" => is_map && has_order(&[MapOrder::Sorted]),
        "TreeSet" | "SortedSet" | "NavigableSet" => is_set && has_order(&[MapOrder::Sorted]),
        "CharSequence" => matches!(value, Value::Str(_) | Value::Text(_)),
        "Comparable" => match value {
            Value::Object(object) => object.compare(&**object).is_some(),
            Value::Bool(_) | Value::Char(_) | Value::Str(_) | Value::Date(_) => true,
            value => value.is_number(),
        },
        "Temporal" | "TemporalAccessor" => super::dates::moment_of(value).is_some(),
        "Exception" => matches!(value, Value::Exception(..)),
        "RuntimeException" => matches!(value, Value::Exception(class, _) if *class != "java.lang.Exception"),
        "Number" => match value {
            Value::Object(object) => object.number().is_some(),
            value => value.is_number() && !matches!(value, Value::Char(_)),
        },
        "int" => matches!(value, Value::Int(_)),
        "long" => matches!(value, Value::Long(_)),
        "double" => matches!(value, Value::Double(_)),
        "float" => matches!(value, Value::Float(_)),
        "boolean" => matches!(value, Value::Bool(_)),
        _ => value.class().rsplit('.').next() == Some(class),
    }
}
