//! What a script must not do to the server with the values of the library: nest them too deeply, make more of
//! them than it may, take too long, or overflow.

use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use super::{cause, painless};
use crate::compile::{Script, Scripts};
use crate::language::ScriptContext;
use crate::run::{OpenScript, Run};
use crate::values::{Kept, Origin, Settled, Value, each_container};

/// The nesting of objects that hold others is limited, and the links of a chain of map entries are freed one
/// by one.
#[test]
fn nested_objects_end() {
    for source in [
        "def o = 1; for (int i = 0; i < 900000; i++) { o = Optional.of(o) } 1",
        "def o = [1].iterator(); for (int i = 0; i < 100000; i++) { o = [o].iterator() } 1",
        "def o = 1; for (int i = 0; i < 100000; i++) { o = [o].stream().findFirst(); o = [o].iterator() } 1",
    ] {
        assert!(cause(source).contains("nested deeper than 50"), "{source}: {}", cause(source));
    }
    for (source, expected) in [
        // A list in the chain is freed on its own.
        ("def o = 1; for (int i = 0; i < 100000; i++) { o = [Optional.of(o)] } o.size()", json!(1)),
        ("def o = 1; for (int i = 0; i < 100000; i++) { o = ['k': o].entrySet().get(0) } 1", json!(1)),
        (
            "def o = 1; for (int i = 0; i < 50000; i++) { o = ['k': o].entrySet().iterator().next() } 1",
            json!(1),
        ),
        ("def l = []; l.add(Optional.of(l)); l.toString().length() > 10", json!(true)),
        ("def l = []; l.add(Optional.of(l)); def m = []; m.add(Optional.of(m)); l.equals(m)", json!(false)),
        ("def l = []; l.add(l.iterator()); l.add(l.iterator()); l.toString().length() > 10", json!(true)),
        ("def l = []; l.add(l); l.removeAll([[1]]); l.size()", json!(1)),
        ("def m = [:]; m.put([m], 1); m.put([[:]], 2); m.put([m], 3); m.size()", json!(2)),
        ("def s = new HashSet(); s.add([s]); s.add([new HashSet()]); s.size()", json!(2)),
        ("Optional.of(Optional.of([1])).equals(Optional.of(Optional.of([1])))", json!(true)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
}

/// What a script puts into `ctx` and its parameters is freed with the run, even if it contains itself.
#[test]
fn circles_are_freed() {
    for source in [
        "ctx.self = ctx",
        "ctx.list.add(ctx.list)",
        "def l = ctx.list; l.add(l); ctx.remove('list')",
        "ctx.list.add(Optional.of(ctx))",
        "params.p.add(params.p); ctx.p = params.p",
        "params.p.add(ctx.list); ctx.list.add(params)",
    ] {
        let script = Script::parse(&json!({"source": source, "params": {"p": []}})).expect("a script");
        let compiled = Scripts::default().compile(&script, ScriptContext::Ingest).expect("compiles");
        let mut run = Run::new(&compiled, &script.params);
        run.give_ctx(Value::from_json(&json!({"list": [[1]], "map": {}})));
        let mut watched = Vec::new();
        for root in [&run.ctx, &run.params] {
            each_container(root, |container| {
                if let Value::List(items) = container {
                    watched.push(Rc::downgrade(items));
                }
            });
        }
        assert_eq!(watched.len(), 3);
        run.run(0).expect(source);
        drop(run);
        assert!(watched.iter().all(|list| list.strong_count() == 0), "{source}");
    }
}

fn compiled(source: &str, context: ScriptContext) -> std::sync::Arc<crate::language::Compiled> {
    let script = Script::parse(&json!({"source": source})).expect("a script");
    Scripts::default().compile(&script, context).expect("compiles")
}

/// Runs a script of `scripted_metric` on a state that is kept.
fn on_state(source: &str, state: &Value, kept: &mut Kept) -> Result<Value, String> {
    let script = compiled(source, ScriptContext::MetricMap);
    let mut open = OpenScript::new(&script, &Map::new());
    open.begin(&[]);
    let (value, _) = open.given(state, 0, 0.0, kept).map_err(|error| {
        let cause = error.caused_by.expect("a cause");
        cause.reason
    })?;
    Ok(value)
}

/// A kept state keeps the values that its objects hold.
#[test]
fn what_an_object_holds_is_kept() {
    let (state, mut kept) = (Value::map(Vec::new(), true), Kept::default());
    kept.made.push(state.clone());
    on_state("state.o = Optional.of([1, 2]); state.i = [[3]].iterator(); state.lost = 1", &state, &mut kept)
        .expect("runs");
    assert!(kept.sweep(std::iter::once(&state)) > 0);
    assert_eq!(kept.made.len(), 3, "the state, a list, and an item of another list: {:?}", kept.made);
    on_state("state.lost = state.o.get().size() + state.i.next().size()", &state, &mut kept).expect("runs");
    assert!(state.text().contains("lost=3"), "{}", state.text());
}

/// No value that other scripts see can contain a function or a pattern.
#[test]
fn functions_cannot_be_kept() {
    for source in [
        "state.p = /a/",
        "state['p'] = /a/",
        "state.p = Optional.of(/a/)",
        "state.p = [/a/]",
        "state.p = [1: /a/]",
        "state.merge('p', /a/, (a, b) -> a)",
        "state.p = 1; state.merge('p', 1, (a, b) -> /a/)",
        "state.computeIfAbsent('p', k -> /a/)",
        "state.p = [1].stream().map(x -> /a/).iterator()",
        "state.p = /a/.matcher('a')",
    ] {
        let (state, mut kept) = (Value::map(Vec::new(), true), Kept::default());
        kept.made.push(state.clone());
        let error = on_state(source, &state, &mut kept).expect_err(source);
        assert!(error.contains("a function in a list or map"), "{source}: {error}");
    }
}

/// Lists that share items can have more paths than there is time to walk.
#[test]
fn shared_states_are_refused() {
    let shared = (0..60).fold(Value::list(Vec::new()), |inner, _| Value::list(vec![inner.clone(), inner]));
    crate::values::check_references(&shared, Origin::Map).expect("it does not contain itself");
    let error = Settled::of(&shared, Origin::Combine).expect_err("too many");
    assert!(error.reason.contains("several times"), "{}", error.reason);
}

/// Reads the numbers of a value that contains itself, and of one that is nested deeply.
#[test]
fn numbers_of_nested_lists_end() {
    let own = Value::list(vec![Value::Int(1)]);
    if let Value::List(items) = &own {
        items.borrow_mut().push(own.clone());
    }
    let mut numbers = Vec::new();
    let _ = own.numbers(&mut numbers);
    assert_eq!(numbers, [1.0]);
    if let Value::List(items) = &own {
        items.borrow_mut().clear();
    }
}

/// Every result of a call is charged: a script that keeps the results runs out of memory, or before that out
/// of time.
#[test]
fn what_the_library_makes_is_charged() {
    for made in [
        "BigInteger.ONE.shiftLeft(130000 + i % 2)",
        "new BigDecimal(t)",
        "t.encodeBase64()",
        "t.encodeBase64().decodeBase64()",
        "t.concat('x')",
        "t.toUpperCase()",
        "t.toLowerCase()",
        "t.substring(1)",
        "t.replace('1', '2')",
        "(' ' + t).trim()",
        "l.toString()",
        "l.stream().collect(Collectors.joining(','))",
        "String.valueOf(l)",
        "t.splitOnToken('1')",
        "/1/.split(t)",
        "/1/.matcher(t).replaceAll('2')",
        "new StringBuilder(t)",
        "new RuntimeException(t + i)",
        "['k': 1, 'm': 2].entrySet()",
        "new ArrayList(l)",
        "l.subList(0, 9000)",
        "l.iterator()",
        "new HashSet(l)",
        "Optional.of(t.concat('x'))",
        "[t.concat('x')].stream().findFirst()",
    ] {
        let source = format!(
            "String t = '1'; for (int i = 0; i < 13; i++) {{ t += t }} def l = []; \
             for (int i = 0; i < 9000; i++) {{ l.add(i) }} def all = []; \
             for (int i = 0; i < 900000; i++) {{ all.add({made}) }} 1"
        );
        let cause = cause(&source);
        // On a busy machine the time for patterns may be over before the memory is used.
        let ends = ["may take has been", "may use has been", "take too long on this value"];
        assert!(ends.iter().any(|end| cause.contains(end)), "{made}: {cause}");
    }
}

/// The memory limit applies to each document separately, but the results count for all documents together.
#[test]
fn the_memory_is_that_of_a_document() {
    let source = "String t = 'abcdefgh'; for (int i = 0; i < 17; i++) { t += t } t.length()";
    let script = compiled(source, ScriptContext::Field);
    let mut open = OpenScript::new(&script, &Map::new());
    let docs: Vec<_> = (0..40).collect();
    let mut count = 0;
    let outcome = open.values(&docs, &[], |_| {
        count += 1;
        Ok::<_, limber_mapping::RequestError>(())
    });
    outcome.expect("runs");
    assert_eq!(count, 40);
    let script =
        compiled("String t = 'abcdefgh'; for (int i = 0; i < 17; i++) { t += t } t", ScriptContext::Field);
    let mut open = OpenScript::new(&script, &Map::new());
    let outcome = open.values(&docs, &[], |_| Ok::<_, limber_mapping::RequestError>(()));
    assert!(outcome.is_err(), "40 strings of a megabyte");
}

/// Scales are checked before anything is computed with them.
#[test]
fn extreme_numbers_are_refused() {
    for source in [
        "new BigDecimal('1').movePointRight(1000000000)",
        "new BigDecimal('1').movePointLeft(Long.MIN_VALUE)",
        "new BigDecimal('1').movePointRight(Long.MIN_VALUE)",
        "new BigDecimal('1e-9223372036854775808')",
        "new BigDecimal('1e9223372036854775807')",
        "BigDecimal.valueOf(1, Long.MIN_VALUE)",
        "new BigDecimal('1').setScale(Long.MIN_VALUE)",
        "new BigDecimal('1').setScale(Long.MIN_VALUE, 'UP')",
        "new BigDecimal('1').divide(new BigDecimal('3'), Long.MIN_VALUE, 'UP')",
        "new BigDecimal('1').scaleByPowerOfTen(Long.MIN_VALUE)",
        "BigDecimal.valueOf(1, 30000).pow(999999999)",
        "new BigInteger('1').shiftLeft(Long.MAX_VALUE)",
        "new BigInteger('1').shiftRight(Long.MIN_VALUE)",
    ] {
        assert!(cause(source).starts_with("arithmetic_exception"), "{source}: {}", cause(source));
    }
    for (source, expected) in [
        ("new BigInteger('-1').shiftLeft(Long.MIN_VALUE).toString()", "-1"),
        ("new BigInteger('7').shiftRight(Long.MAX_VALUE).toString()", "0"),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
    for source in [
        "Month.of(Long.MIN_VALUE)",
        "DayOfWeek.of(Long.MIN_VALUE)",
        "LocalDate.of(Long.MAX_VALUE, 1, 1)",
        "LocalDate.ofEpochDay(Long.MAX_VALUE)",
        "LocalDate.ofYearDay(2020, Long.MIN_VALUE)",
        "ZonedDateTime.parse('2020-01-01T00:00:00Z').minusDays(Long.MIN_VALUE)",
        "ZonedDateTime.parse('2020-01-01T00:00:00Z').minus(Long.MIN_VALUE, ChronoUnit.YEARS)",
    ] {
        assert!(cause(source).starts_with("date_time_exception"), "{source}: {}", cause(source));
    }
    let source = "Instant.ofEpochMilli(Long.MAX_VALUE).atZone(ZoneId.of('+18:00')).toString().length() > 0";
    assert_eq!(painless(source).expect(source), json!(true));
}

/// Calls whose time would naively be quadratic in the length of a text or number, or worse, end soon.
#[test]
fn long_values_take_no_long_time() {
    let text = "String t = 'a'; for (int i = 0; i < 20; i++) { t += t } ";
    for source in [
        "t.lastIndexOf(t.substring(0, 500000) + 'b', 600000)",
        "t.indexOf('b', 1000000)",
        "int n = 0; for (int i = 0; i < 20000; i++) { n += t.charAt(i) } n",
        "def b = new StringBuilder(t); int n = 0; for (int i = 0; i < 200000; i++) { n += b.charAt(i) + b.length() } n",
        "new BigDecimal('1' + t.substring(0, 30000).replace('a', '0')).stripTrailingZeros().scale()",
        "def b = new BigInteger('1' + t.substring(0, 39000).replace('a', '7')); b.gcd(b.subtract(BigInteger.ONE).shiftRight(1)).signum()",
    ] {
        let begun = Instant::now();
        painless(&format!("{text}{source}")).expect(source);
        // Quadratic time would be minutes.
        assert!(begun.elapsed() < Duration::from_secs(30), "{source}: {:?}", begun.elapsed());
    }
    // Each comparison of a sort in natural order counts, and so do calls on long numbers.
    for source in [
        "def b = new BigInteger('1' + t.substring(0, 39000).replace('a', '7')); for (int i = 0; i < 900000; i++) { b.toString().length() }",
        "for (int i = 0; i < 900000; i++) { t.equalsIgnoreCase(t) }",
    ] {
        let script = compiled(&format!("{text}{source} 1"), ScriptContext::Field);
        let mut run = crate::run::Run::new(&script, &Map::new());
        run.until = Instant::now() + Duration::from_millis(500);
        run.growth_left = u64::MAX;
        let error = run.run(0).expect_err(source);
        assert!(error.reason.contains("time"), "{source}: {}", error.reason);
    }
}
