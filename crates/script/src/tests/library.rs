//! Calls every method, static function, constructor and operator of the library with extreme arguments. Each
//! call returns a value or an error of the script, in bounded time and memory, and never panics.
//!
//! The names are read from the library's own sources, so that a new method is tested automatically.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use crate::compile::{Script, Scripts};
use crate::error::Outcome;
use crate::language::{Compiled, ScriptContext};
use crate::library::{
    call_built_in, call_method, call_static, create_object, get_index, get_member, is_instance, set_index,
    set_member, static_returns,
};
use crate::run::{Frozen, Run};
use crate::types::{Binary, CLASSES, Type, Unary};
use crate::values::{Closure, DateValue, Kept, Origin, Settled, Value, each_new, is_of_one_script};

/// Maximum time of one call, in a build without optimisation on a busy machine.
const CALL_TIME_MAX: Duration = Duration::from_secs(30);
/// Maximum bytes of the result of one call: twice the memory limit of a script.
const RESULT_BYTES_MAX: usize = 64 << 20;

/// Makes the script that calls come from: it has lambdas of one and two parameters, and patterns.
fn script() -> std::sync::Arc<Compiled> {
    let source = "def l = []; l.removeIf(x -> x == 1); l.sort((a, b) -> 1); l.collect(x -> l.stream()); \
                  l.forEach(x -> null); def p = /a(b)?/; def q = /$/; 0";
    let script = Script::parse(&json!({"source": source})).expect("a script");
    Scripts::default().compile(&script, ScriptContext::Field).expect("compiles")
}

/// Returns a lambda of that script, by number.
fn lambda(number: u16) -> Value {
    Value::Lambda(Closure { number, call: 0 })
}

/// Returns the names that the library's sources mention: quoted words, both alone and with the prefixes that
/// its functions remove.
fn names() -> Vec<String> {
    let mut words = BTreeSet::new();
    read_words(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/library")), &mut words);
    let is_capital = |word: &&String| word.starts_with(char::is_uppercase) && word.len() < 12;
    let capital: Vec<String> = words.iter().filter(is_capital).cloned().collect();
    for prefix in ["plus", "minus", "with", "to", "of"] {
        words.extend(capital.iter().map(|word| format!("{prefix}{word}")));
    }
    words.into_iter().collect()
}

fn read_words(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_words(&path, words);
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a source");
        let is_name = |word: &&str| {
            !word.is_empty() && word.len() < 30 && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        words.extend(source.split('"').skip(1).step_by(2).filter(is_name).map(str::to_owned));
        // An odd number of quotes, for example in a character literal, swaps inside and outside.
        words.extend(source.split('"').step_by(2).filter(is_name).map(str::to_owned));
    }
}

/// A seeded generator of numbers, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count as u64) as usize
    }
}

fn started(script: &Compiled) -> Run<'_> {
    let mut run = Run::new(script, &Map::new());
    run.run(0).expect("runs");
    run
}

fn numbers() -> Vec<Value> {
    let mut numbers = Vec::new();
    for number in [0, 1, -1, 2, 10, 36, 366, i32::MAX, i32::MIN] {
        numbers.push(Value::Int(number));
    }
    for number in [i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, 1_000_000_000, 200_000, 32_768, -32_769] {
        numbers.push(Value::Long(number));
    }
    for number in [0.5, -0.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 1e308, -1e-308] {
        numbers.push(Value::Double(number));
    }
    numbers.extend([Value::Float(f32::MAX), Value::Char(0), Value::Char(0xD800), Value::Char(u16::MAX)]);
    numbers
}

fn texts() -> Vec<Value> {
    let mut texts: Vec<Value> = [
        "",
        "a",
        "0",
        "-1",
        "\u{1F600}b\u{E9}",
        "aabab",
        "1e9",
        "1e-9223372036854775808",
        "1E9223372036854775807",
        "-9223372036854775808",
        "99999999999999999999",
        "0.5",
        "1.",
        "-",
        "P1Y2M3D",
        "P2147483647Y",
        "PT9223372036854775807S",
        "-PT0.000000001S",
        "2020-01-31",
        "2020-01-31T10:00:00Z",
        "23:59",
        "Z",
        "Europe/Berlin",
        "-05:00",
        "+18:00",
        "MONDAY",
        "JANUARY",
        "DAYS",
        "MONTHS",
        "YEARS",
        "NANOS",
        "FOREVER",
        "YEAR",
        "EPOCH_DAY",
        "HALF_EVEN",
        "UNNECESSARY",
        "FULL",
        "yyyy-MM-dd",
        "$1",
        "${x}",
        "YQ==",
        "java.util.stream.Collectors.toSet",
        "java.util.Collections$ReverseComparator",
    ]
    .into_iter()
    .map(Value::str)
    .collect();
    texts.push(Value::str("ab".repeat(5000)));
    texts.push(Value::str("9".repeat(40_000)));
    texts
}

/// Returns values that hold others: empty, mixed and long ones, some that contain themselves, and some that
/// share items so often that a walk would never end.
fn containers() -> Vec<Value> {
    let list = Value::list;
    let (shared, own, in_key) = (list(vec![Value::str("x")]), list(Vec::new()), Value::map(Vec::new(), true));
    // This is so deep that a walk of all paths would never end.
    let twice = (0..40).fold(shared, |inner, _| list(vec![inner.clone(), inner]));
    if let (Value::List(items), Value::Map(map)) = (&own, &in_key) {
        items.borrow_mut().push(own.clone());
        map.borrow_mut().put(list(vec![in_key.clone()]), Value::Int(1));
    }
    let many = |count: i32| (0..count).map(Value::Int).collect::<Vec<_>>();
    let entry = |key: Value| (key, Value::Int(7));
    vec![
        list(Vec::new()),
        list(vec![Value::Int(3), Value::Int(1), Value::Int(2)]),
        list(vec![Value::Null, Value::str("a"), Value::Double(f64::NAN), Value::Long(1)]),
        list(many(3000)),
        list((0..300).map(|number| list(vec![Value::Int(number)])).collect()),
        list(vec![Value::map(vec![], true), list(vec![Value::map(vec![], true)])]),
        own,
        Value::map(Vec::new(), true),
        Value::map(many(40).into_iter().map(entry).collect(), true),
        Value::map(vec![entry(Value::str("key")), entry(Value::Null), entry(Value::str("value"))], false),
        in_key,
        twice,
    ]
}

/// Returns values that no call changes; some take long to make.
fn constants(run: &mut Run<'_>) -> Vec<Value> {
    let mut all = vec![Value::Null, Value::Bool(true), Value::Doc, Value::Params, Value::Field(0)];
    all.extend([Value::FieldAccess(0), Value::Pattern(0), Value::Pattern(1)]);
    all.extend((0..4).map(lambda));
    for millis in [0, i64::MAX, i64::MIN, 1_580_000_000_123] {
        let date = DateValue::of_millis(millis);
        for zone in ["Europe/Berlin", "-05:00", "+18:00"] {
            all.extend(call_method(run, &Value::Date(date.clone()), "atZone", vec![Value::str(zone)], 0));
        }
        all.push(Value::Date(date));
    }
    all.push(Value::Point(limber_mapping::geo::GeoPoint { latitude: 90.0, longitude: -180.0 }));
    all.extend(objects(run));
    all.extend(numbers());
    all.extend(texts());
    all
}

/// Returns objects that scripts make by calls and cannot change; each call is a class, a name and arguments.
fn objects(run: &mut Run<'_>) -> Vec<Value> {
    let (int, long, text) = (Value::Int, Value::Long, |text: &str| Value::str(text));
    let mut all = Vec::new();
    for (class, name, arguments) in [
        ("BigInteger", "TEN", vec![]),
        ("BigInteger", "valueOf", vec![long(i64::MIN)]),
        ("BigInteger", "valueOf", vec![long(-6)]),
        ("BigDecimal", "ZERO", vec![]),
        ("BigDecimal", "valueOf", vec![long(i64::MAX), int(32_768)]),
        ("BigDecimal", "valueOf", vec![long(-7), int(-32_768)]),
        ("BigDecimal", "valueOf", vec![Value::Double(0.1)]),
        ("Duration", "ofSeconds", vec![long(i64::MAX), long(999_999_999)]),
        ("Duration", "ofSeconds", vec![long(i64::MIN)]),
        ("Duration", "ofNanos", vec![long(-1)]),
        ("Period", "of", vec![int(i32::MAX), int(i32::MIN), int(i32::MAX)]),
        ("Period", "ofDays", vec![int(1)]),
        ("LocalDate", "of", vec![int(2020), int(2), int(29)]),
        ("LocalDate", "of", vec![int(292_000_000), int(12), int(31)]),
        ("LocalDate", "of", vec![int(-292_000_000), int(1), int(1)]),
        ("LocalDateTime", "of", vec![int(-292_000_000), int(1), int(1), int(0), int(0)]),
        ("LocalTime", "MAX", vec![]),
        ("Optional", "empty", vec![]),
        ("Optional", "of", vec![int(1)]),
        ("DateTimeFormatter", "ofPattern", vec![text("yyyy-MM-dd")]),
    ] {
        all.push(call_static(run, class, name, &arguments, 0).expect(name));
    }
    for (class, arguments) in [
        ("java.math.BigInteger", vec![Value::str("7".repeat(39_000))]),
        ("java.math.BigInteger", vec![Value::str("1".to_owned() + &"0".repeat(39_000))]),
        ("java.math.BigDecimal", vec![Value::str("0.".to_owned() + &"3".repeat(32_000))]),
        ("java.lang.RuntimeException", vec![text("why")]),
    ] {
        all.push(create_object(run, class, &arguments, 0).expect(class));
    }
    all
}

/// Returns objects that scripts make by calls and may change.
fn made(run: &mut Run<'_>) -> Vec<Value> {
    let (int, text, mut all) = (Value::Int, |text: &str| Value::str(text), Vec::new());
    for (class, arguments) in [
        ("java.util.TreeMap", vec![]),
        ("java.util.TreeSet", vec![Value::list(vec![int(3), int(1)])]),
        ("java.util.HashSet", vec![Value::list(vec![int(3), text("a")])]),
        ("java.lang.StringBuilder", vec![text("a\u{1F600}b")]),
        ("java.util.StringJoiner", vec![text("-")]),
        ("java.util.Stack", vec![]),
        ("java.util.PriorityQueue", vec![]),
        ("java.util.LongSummaryStatistics", vec![]),
        ("java.util.Date", vec![Value::Long(i64::MAX)]),
        ("java.text.DecimalFormat", vec![text("#,##0.0#;(0)%")]),
        ("java.text.SimpleDateFormat", vec![text("yyyy-MM-dd")]),
        ("java.util.DoubleSummaryStatistics", vec![]),
    ] {
        all.push(create_object(run, class, &arguments, 0).expect(class));
    }
    let numbers = Value::list(vec![int(1), int(2)]);
    all.push(call_method(run, &numbers, "iterator", Vec::new(), 0).expect("an iterator"));
    let matched =
        call_method(run, &Value::Pattern(0), "matcher", vec![text("xabxab")], 0).expect("a matcher");
    call_method(run, &matched, "find", Vec::new(), 0).expect("found");
    all.push(matched);
    let mut nested = numbers;
    while let Ok(deeper) = call_static(run, "Optional", "of", &[nested.clone()], 0) {
        nested = deeper;
    }
    all.push(nested);
    all
}

fn pool(run: &mut Run<'_>, constants: &[Value]) -> Vec<Value> {
    let mut pool = constants.to_vec();
    pool.extend(made(run));
    pool.extend(containers());
    pool
}

/// Watches every call: counts the calls, and collects the failures.
#[derive(Default)]
struct Watch {
    calls: usize,
    values: usize,
    wrong: Vec<String>,
}

impl Watch {
    fn call(&mut self, what: &dyn Fn() -> String, call: impl FnOnce() -> Outcome<Value>) -> Option<Value> {
        self.calls += 1;
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let value = call()?;
            let mut bytes = 0;
            each_new(&value, |new| bytes += new.bytes());
            Ok((value, bytes))
        }));
        let took = begun.elapsed();
        if took > CALL_TIME_MAX {
            self.wrong.push(format!("{} takes {took:?}", what()));
        }
        match outcome {
            Err(_) => {
                eprintln!("{} panics", what());
                self.wrong.push(format!("{} panics", what()));
                None
            }
            Ok(Err::<_, crate::error::ScriptError>(_)) => None,
            Ok(Ok((value, bytes))) => {
                self.values += 1;
                if bytes > RESULT_BYTES_MAX {
                    self.wrong.push(format!("{} gives {bytes} bytes", what()));
                }
                Some(value)
            }
        }
    }

    fn end(&self) {
        let shown: Vec<&String> = self.wrong.iter().take(40).collect();
        assert!(self.wrong.is_empty(), "{} of {} calls: {shown:#?}", self.wrong.len(), self.calls);
    }
}

fn shown(value: &Value) -> String {
    let text: String = value.text().chars().take(40).collect();
    format!("({}) {text}", value.class())
}

fn call_shown(target: &str, name: &str, arguments: &[Value]) -> String {
    format!("{target}.{name}({})", arguments.iter().map(shown).collect::<Vec<_>>().join(", "))
}

/// Chooses an argument; numbers are more likely than other values. The value that takes long to print and
/// compare is the last of the pool and is chosen rarely.
fn argument(dice: &mut Dice, pool: &[Value], numbers: &[Value]) -> Value {
    match dice.below(400) {
        0 => pool[pool.len() - 1].clone(),
        1..200 => numbers[dice.below(numbers.len())].clone(),
        _ => pool[dice.below(pool.len() - 1)].clone(),
    }
}

/// Numbers of arguments, and how many argument lists of each length are tried.
const TRIES: [(usize, usize); 4] = [(0, 1), (1, 8), (2, 4), (3, 2)];

#[test]
fn every_method_of_every_value_ends() {
    let script = script();
    let (names, mut dice, mut watch) = (names(), Dice(0x9E37_79B9_7F4A_7C15), Watch::default());
    assert!(names.len() > 300, "{names:?}");
    let constants = constants(&mut started(&script));
    for name in &names {
        let mut run = started(&script);
        let (values, numbers) = (pool(&mut run, &constants), numbers());
        let (mut targets, mut place) = (values.clone(), 0);
        // Methods of the results are called, too.
        while place < targets.len() && place < 250 {
            let target = targets[place].clone();
            place += 1;
            for (count, tries) in TRIES {
                for _ in 0..tries {
                    let arguments: Vec<Value> =
                        (0..count).map(|_| argument(&mut dice, &values, &numbers)).collect();
                    run.renew(0);
                    let what = || call_shown(&shown(&target), name, &arguments);
                    let found =
                        watch.call(&what, || call_method(&mut run, &target, name, arguments.clone(), 0));
                    targets.extend(found.filter(|found| matches!(found, Value::Object(_) | Value::Date(_))));
                }
            }
        }
        if watch.wrong.len() > 40 {
            break;
        }
    }
    assert!(watch.values > 10_000, "{} values", watch.values);
    watch.end();
}

#[test]
fn every_static_function_and_constructor_ends() {
    let script = script();
    let (names, mut dice, mut watch) = (names(), Dice(0x2545_F491_4F6C_DD1D), Watch::default());
    let mut run = started(&script);
    let constants = constants(&mut run);
    let (values, numbers) = (pool(&mut run, &constants), numbers());
    for (short, class) in CLASSES {
        for count in 0..9 {
            let known = names.iter().filter(|name| static_returns(short, name, count).is_some());
            for name in known.map(String::as_str).chain(["new"]) {
                for _ in 0..if count == 0 { 1 } else { 100 } {
                    let arguments: Vec<Value> =
                        (0..count).map(|_| argument(&mut dice, &values, &numbers)).collect();
                    run.renew(0);
                    let what = || call_shown(short, name, &arguments);
                    watch.call(&what, || match name {
                        "new" => create_object(&mut run, class, &arguments, 0),
                        _ => call_static(&mut run, short, name, &arguments, 0),
                    });
                }
            }
        }
    }
    for name in names {
        for count in 0..6 {
            for _ in 0..6 {
                let arguments: Vec<Value> =
                    (0..count).map(|_| argument(&mut dice, &values, &numbers)).collect();
                let what = || call_shown("", &name, &arguments);
                watch.call(&what, || call_built_in(&mut run, &name, &arguments, 0));
            }
        }
    }
    watch.end();
}

#[test]
fn every_operator_and_form_of_every_value_ends() {
    let script = script();
    let mut watch = Watch::default();
    let mut run = started(&script);
    let constants = constants(&mut run);
    let values = pool(&mut run, &constants);
    let forms = |value: &Value| {
        let mut numbers = Vec::new();
        let _ = value.numbers(&mut numbers);
        let json = value.to_json(100).map(|json| json.to_string().len()).unwrap_or_default();
        let settled = Settled::of(value, Origin::Combine).map(|settled| settled.bytes()).unwrap_or_default();
        let kept = Kept { made: Vec::new() }.sweep(std::iter::once(value));
        let casts = [Type::Bool, Type::Byte, Type::Char, Type::Int, Type::Long, Type::Float, Type::Str];
        let casts = casts.into_iter().filter(|to| value.clone().cast(*to).is_ok()).count();
        let unary = [Unary::Not, Unary::Minus, Unary::Plus, Unary::BitNot];
        let unary = unary.into_iter().filter(|op| value.clone().unary(*op).is_ok()).count();
        let classes = CLASSES.iter().filter(|(short, _)| is_instance(value, short)).count();
        let sum = numbers.len() as u64 + json as u64 + settled + kept + (casts + unary + classes) as u64;
        Ok(Value::Long((sum + u64::from(value.hash() as u32)) as i64))
    };
    let binary = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::Rem,
        Binary::And,
        Binary::Xor,
        Binary::ShiftLeft,
        Binary::ShiftRight,
        Binary::ShiftRightUnsigned,
        Binary::Equal,
        Binary::Less,
    ];
    for (place, left) in values.iter().enumerate() {
        watch.call(&|| format!("forms of {}", shown(left)), || forms(left));
        // The value that takes long to print is the last.
        let rights = if place % 20 == 0 { values.len() } else { values.len() - 1 };
        for right in &values[..rights] {
            let what = |op: &str| format!("{} {op} {}", shown(left), shown(right));
            for op in binary {
                run.renew(0);
                watch.call(&|| what(&format!("{op:?}")), || {
                    crate::library::Machine::binary(&mut run, op, left, right, 0)
                });
            }
            watch.call(&|| what("[]"), || get_index(&mut run, left, right, 0));
            let compared = || left.compare(right).map(|_| Value::Null);
            watch.call(&|| what("compareTo"), || {
                compared().map_err(|failure| crate::error::failed(failure, 0))
            });
        }
    }
    for left in &values {
        for name in ["length", "0", "-1", "99999999999", "x", "empty", "year"] {
            watch.call(&|| call_shown(&shown(left), name, &[]), || get_member(&mut run, left, name, 0));
        }
    }
    for left in &values {
        for right in &values[..values.len() - 1] {
            run.renew(0);
            let stored = || set_index(&mut run, left, right, right.clone(), 0).map(|()| Value::Null);
            watch.call(&|| format!("{}[{}] = ", shown(left), shown(right)), stored);
        }
        let stored = || set_member(&mut run, left, "x", left.clone(), 0).map(|()| Value::Null);
        watch.call(&|| format!("{}.x = ", shown(left)), stored);
    }
    watch.end();
}

/// No method changes a value that a condition of a pipeline must not change.
#[test]
fn no_method_changes_what_is_frozen() {
    let script = script();
    let mut dice = Dice(7);
    let small = [0, 1, 7].map(Value::Int).into_iter().chain((0..4).map(lambda));
    let list = Value::list(vec![Value::Int(1)]);
    let small: Vec<Value> = small.chain([Value::Null, Value::str("key"), list]).collect();
    for name in names() {
        let mut run = started(&script);
        let items = Value::list(vec![Value::Int(2), Value::Int(1)]);
        let set =
            create_object(&mut run, "java.util.TreeSet", std::slice::from_ref(&items), 0).expect("a set");
        let entry = Value::map(vec![(Value::str("key"), Value::Int(1))], false);
        let parts = [items, set, entry];
        let ctx = parts.iter().enumerate().map(|(at, part)| (Value::Int(at as i32), part.clone())).collect();
        run.ctx = Value::map(ctx, false);
        let before = run.ctx.text();
        run.frozen = Frozen::Whole;
        for target in parts.iter().chain([&run.ctx.clone()]) {
            for (count, tries) in TRIES {
                for _ in 0..tries {
                    let arguments: Vec<Value> =
                        (0..count).map(|_| small[dice.below(small.len())].clone()).collect();
                    run.renew(0);
                    let statics = [target.clone()];
                    let _ = call_method(&mut run, target, &name, arguments, 0);
                    if static_returns("Collections", &name, 1).is_some() {
                        let _ = call_static(&mut run, "Collections", &name, &statics, 0);
                    }
                    assert_eq!(run.ctx.text(), before, "{name} of {}", shown(target));
                }
            }
        }
    }
}

/// No call puts a function or a pattern, which belong to one script, into a state that several scripts see,
/// or into a value that could be put there.
#[test]
fn no_method_stores_what_belongs_to_one_script() {
    let script = script();
    let (mut dice, names) = (Dice(11), names());
    let own = [lambda(0), lambda(1), Value::Pattern(0), lambda(3), Value::Int(0)];
    for name in &names {
        let mut run = started(&script);
        let state = Value::map(vec![(Value::str("l"), Value::list(vec![Value::Int(1)]))], true);
        run.given = Some(state.clone());
        let list = get_member(&mut run, &state, "l", 0).expect("the list");
        let set =
            create_object(&mut run, "java.util.HashSet", std::slice::from_ref(&list), 0).expect("a set");
        set_member(&mut run, &state, "s", set.clone(), 0).expect("stored");
        for target in [&state, &list, &set] {
            for (count, tries) in TRIES {
                for _ in 0..tries {
                    let arguments: Vec<Value> =
                        (0..count).map(|_| own[dice.below(own.len())].clone()).collect();
                    run.renew(0);
                    let _ = call_method(&mut run, target, name, arguments, 0);
                }
            }
            let _ = set_member(&mut run, target, "x", Value::Pattern(0), 0);
            let _ = set_index(&mut run, target, &Value::Int(0), Value::Pattern(0), 0);
        }
        let mut rest = vec![state];
        while let Some(value) = rest.pop() {
            assert!(!is_of_one_script(&value), "{name} stores {}", shown(&value));
            value.each_held(|held| rest.push(held.clone()));
        }
    }
}
