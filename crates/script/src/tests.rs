//! What scripts must not do, and what the languages return without documents. Answers over documents are in
//! `tests/scores.rs`.

mod bounds;
mod classes;
mod document;
mod java;
mod library;
mod syntax;

use limber_mapping::{ErrorClass, RequestError};
use serde_json::{Map, Value as Json, json};

use crate::compile::{Script, ScriptLimits, Scripts, StoredScript};
use crate::contexts::run_on_context;
use crate::language::ScriptContext;
use crate::run::Run;

fn painless(source: &str) -> Result<Json, RequestError> {
    run("painless", source, &json!({}))
}

fn run(language: &str, source: &str, params: &Json) -> Result<Json, RequestError> {
    let scripts = Scripts::default();
    let script = Script::parse(&json!({"lang": language, "source": source, "params": params}))?;
    let compiled = scripts.compile(&script, ScriptContext::Field)?;
    let mut run = Run::new(&compiled, &script.params);
    match run.run(0) {
        Ok(value) => Ok(value.to_json(20).expect("flat")),
        Err(error) => Err(error.to_request_error("runtime", source, "painless")),
    }
}

fn cause(source: &str) -> String {
    let error = painless(source).expect_err(source);
    let cause = error.caused_by.expect("a script's error has a cause");
    format!("{}: {}", cause.kind, cause.reason)
}

#[test]
fn loops_recursion_and_growth_are_limited() {
    for (source, expected) in [
        ("int i = 0; while (i >= 0) { i = 1 } i", "The maximum number of statements"),
        ("for (;;) { if (false) break; }", "The maximum number of statements"),
        ("def f(int x) { return f(x + 1) } f(1)", "stack_overflow_error"),
        ("def l = []; while (l.size() >= 0) { l.addAll([1, 2, 3, 4, 5, 6, 7, 8]); l.addAll(l) } l", "memory"),
        ("String s = 'abcdefgh'; while (s.length() > 0) { s += s } s", "memory"),
        ("def l = []; for (int i = 0; i < 900000; i++) { l = [l] } l.size()", "memory"),
        ("def t = 'a'; for (int i = 0; i < 18; i++) { t += t } t.replace('a', t).length()", "memory"),
        (
            "def t = 'a'; for (int i = 0; i < 18; i++) { t += t } def l = []; for (int i = 0; i < 999; i++) { l.add(t) } l.join('')",
            "memory",
        ),
        ("def a = new int[2147483647]; a.length", "memory"),
    ] {
        assert!(cause(source).contains(expected), "{source}: {}", cause(source));
    }
}

#[test]
fn the_least_whole_numbers_are_literals() {
    for (source, expected) in [
        ("-2147483648", json!(i32::MIN)),
        ("long l = -9223372036854775808L; return l", json!(i64::MIN)),
        ("-9223372036854775807L - 1L", json!(i64::MIN)),
        ("9223372036854775807l", json!(i64::MAX)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    for source in ["9223372036854775809L", "18446744073709551616L", "2147483649"] {
        assert!(cause(source).contains("constant"), "{source}");
    }
}

/// Java's `String#indexOf(String, int)` and `#lastIndexOf(String, int)`: positions are clamped to the
/// string, never refused.
#[test]
fn index_of_clamps_its_start_to_the_string() {
    for (source, expected) in [
        ("'a b c'.indexOf(' ', 2)", 3),
        ("'a b c'.indexOf(' ', -4)", 1),
        ("'a b c'.lastIndexOf(' ', 2)", 1),
        ("'a b c'.lastIndexOf(' ', 3)", 3),
        ("'a b c'.lastIndexOf(' ', 99)", 3),
        ("'a b c'.lastIndexOf(' ', 0)", -1),
        ("'a b c'.lastIndexOf(' ', -1)", -1),
        ("'abc'.lastIndexOf('', 9)", 3),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
}

#[test]
fn deep_and_long_sources_are_refused() {
    for source in [
        format!("{}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("{}1", "-".repeat(5000).replace("--", "- -")),
        format!("{}1{}", "[".repeat(5000), "]".repeat(5000)),
        format!("{}{}", "if (true) {".repeat(5000), "}".repeat(5000)),
        format!("1{}", "+1".repeat(5000)),
        // Chains within chains: none is long, all together are high.
        format!(
            "{}1{}",
            "(".repeat(20),
            format!("{}{}{})", "*1".repeat(100), "+1".repeat(100), "<<1".repeat(100)).repeat(20)
        ),
        format!("{}1{}", "max(".repeat(20), format!("{})", ",1".repeat(100)).repeat(20)),
        format!("'a'{}", ".trim()".repeat(5000)),
        format!("1{}", "?:1".repeat(5000)),
        format!("true{}", "?true:true".repeat(5000)),
        "x".repeat(70_000),
    ] {
        assert!(painless(&source).is_err(), "{}", &source[..20]);
        assert!(run("expression", &source, &json!({})).is_err(), "{}", &source[..20]);
    }
}

/// Thousands of conditions, as programs write them, and a chain that is as high as is allowed.
#[test]
fn long_conditions_and_chains_have_values() {
    for (source, expected) in [
        (format!("true{}", "&&true".repeat(10_000)), json!(true)),
        (format!("1 > 2{}", "||1>2".repeat(10_000)), json!(false)),
        (format!("1 > 2{} || 2 > 1", "||1>2".repeat(999)), json!(true)),
        (format!("2 > 1{} && 1 > 2", "&&2>1".repeat(999)), json!(false)),
    ] {
        assert_eq!(painless(&source).expect("long"), expected, "{}", &source[..20]);
        let number = json!(f64::from(u8::from(expected == json!(true))));
        assert_eq!(run("expression", &source, &json!({})).expect("long"), number, "{}", &source[..20]);
    }
    let chain = format!("(1{}){}", "+1".repeat(110), "*1".repeat(110));
    assert_eq!(painless(&chain).expect("a chain"), json!(111));
    assert_eq!(run("expression", &chain, &json!({})).expect("a chain"), json!(111.0));
}

/// Lists that contain themselves, that share items so often that walking them would never end, or that are
/// nested so deeply that dropping them would need a deep stack.
#[test]
fn cyclic_and_deep_lists_end() {
    for (source, expected) in [
        ("def l = []; l.add(l); def m = []; m.add(m); l.equals(m)", json!(false)),
        ("def l = []; l.add(l); l.toString().length() > 0", json!(true)),
        (
            "def l = ['x']; for (int i = 0; i < 40; i++) { l = [l, l] } l.toString().length() > 100",
            json!(true),
        ),
        ("def l = []; for (int i = 0; i < 200000; i++) { l = [l] } l.size()", json!(1)),
        ("def m = [:]; for (int i = 0; i < 100000; i++) { m = ['a': m] } m.size()", json!(1)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
}

#[test]
fn a_limit_cannot_be_caught() {
    let source = "try { int i = 0; while (i == 0) { i = 0 } } catch (Exception e) { return 1 }";
    assert!(cause(source).starts_with("painless_error"), "{}", cause(source));
}

#[test]
fn errors_show_the_place() {
    let error = painless("int a = 1; foo").expect_err("no such name").to_json();
    assert_eq!(error["type"], "script_exception");
    assert_eq!(error["reason"], "compile error");
    assert_eq!(error["script_stack"], json!(["int a = 1; foo", "           ^---- HERE"]));
    assert_eq!(error["position"], json!({"offset": 11, "start": 0, "end": 14}));
    assert_eq!(error["script"], "int a = 1; foo");
    assert_eq!(error["lang"], "painless");
    assert_eq!(error["caused_by"]["reason"], "cannot resolve symbol [foo]");
}

#[test]
fn next_to_an_open_type_the_value_decides_what_an_operator_means() {
    for (source, expected) in [
        ("def x = 'a'; x + true", json!("atrue")),
        ("def x = 'a'; (true + x) + 1", json!("truea1")),
        ("def x = 'a'; x += (1 < 2); x", json!("atrue")),
        ("def x = true; x & true", json!(true)),
        ("def x = true; false ^ x", json!(true)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    for (source, reason) in [
        (
            "def x = 'a'; x - true",
            "Cannot apply [-] operation to types [java.lang.String] and [java.lang.Boolean].",
        ),
        (
            "def x = 1; x * 'a'",
            "Cannot apply [*] operation to types [java.lang.Integer] and [java.lang.String].",
        ),
        (
            "def x = 'b'; x < 'c'",
            "Cannot apply [<] operation to types [java.lang.String] and [java.lang.String].",
        ),
    ] {
        let error = painless(source).expect_err(source).to_json();
        assert_eq!(error["reason"], "runtime error", "{source}");
        assert_eq!(error["caused_by"]["reason"], reason, "{source}");
    }
    assert_eq!(painless("int i = 2; i + true").expect_err("a boolean").to_json()["reason"], "compile error");
}

#[test]
fn expressions_count_in_double() {
    for (source, expected) in [
        ("1 + 2 * 3", 7.0),
        ("7 / 2", 3.5),
        ("1 < 2", 1.0),
        ("2 < 1", 0.0),
        ("!0 + !5", 1.0),
        ("1 < 2 && 3 < 2 || 1 == 1", 1.0),
        ("1 < 2 ? 10 : 20", 10.0),
        ("0 ? 10 : 20", 20.0),
        ("abs(ln(abs(-1) + 1) + 4)", 2.0f64.ln() + 4.0),
        ("max(1, 2, 3) + min(4, 5)", 7.0),
        ("pow(2, 10) % 1000", 24.0),
        ("5 & 3", 1.0),
        ("1 << 4", 16.0),
        ("~0", -1.0),
        ("a * 2", 5.0),
        ("1.5e2", 150.0),
    ] {
        let found = run("expression", source, &json!({"a": 2.5})).expect(source);
        assert_eq!(found, json!(expected), "{source}");
    }
    assert!(run("expression", "int a = 1; a", &json!({})).is_err());
    assert!(run("expression", "foo(1)", &json!({})).is_err());
}

#[test]
fn compilations_are_limited_but_known_scripts_are_not() {
    let scripts = Scripts::default();
    scripts.set_limits(ScriptLimits { rate: Some((3, 3600)), ..ScriptLimits::default() });
    let compile = |source: &str| {
        scripts.compile(&Script::parse(&json!(source)).expect("a script"), ScriptContext::Field).map(drop)
    };
    for source in ["1", "2", "3", "1", "2"] {
        compile(source).expect("within the limit");
    }
    let error = compile("4").expect_err("one too many");
    assert_eq!((error.class, error.kind), (ErrorClass::TooManyRequests, "circuit_breaking_exception"));
    assert!(error.reason.contains("max: [3/60m]"), "{}", error.reason);
    compile("3").expect("it is known");
    assert_eq!(scripts.statistics(), (3, 0, 1));
}

#[test]
fn the_cache_lets_go_of_what_was_not_used() {
    let scripts = Scripts::default();
    scripts.set_limits(ScriptLimits { cache_size: 2, ..ScriptLimits::default() });
    for source in ["1", "2", "1", "3", "1"] {
        let script = Script::parse(&json!(source)).expect("a script");
        scripts.compile(&script, ScriptContext::Field).expect("compiles");
    }
    assert_eq!(scripts.statistics(), (3, 1, 0));
}

#[test]
fn stored_scripts_are_found_by_id() {
    let scripts = Scripts::default();
    let stored = StoredScript::parse(&json!({"script": {"lang": "painless", "source": "1 + 1"}}));
    scripts.set_stored([("s".to_owned(), stored.expect("sound"))].into());
    let compile = |id: &str| {
        scripts.compile(&Script::parse(&json!({"id": id})).expect("a script"), ScriptContext::Field)
    };
    assert!(compile("s").is_ok());
    assert_eq!(compile("t").expect_err("unknown").kind, "resource_not_found_exception");
}

#[test]
fn an_update_changes_the_source() {
    let scripts = Scripts::default();
    let update = |source: &str| {
        let script = Script {
            params: Map::from_iter([("by".to_owned(), json!(4))]),
            ..Script::parse(&json!(source)).expect("a script")
        };
        let ctx = json!({"op": "index", "_source": {"n": 1, "tags": ["a"], "o": {"x": 1.0}}});
        run_on_context(&scripts, &script, ScriptContext::Update, &ctx)
    };
    let changed = update("ctx._source.n += params.by; ctx._source.tags.add('b'); ctx._source.o.remove('x')");
    assert_eq!(changed.expect("runs")["_source"], json!({"n": 5, "tags": ["a", "b"], "o": {}}));
    let changed = update("if (ctx._source.n == 1) { ctx.op = 'delete' } else { ctx.op = 'none' }");
    assert_eq!(changed.expect("runs")["op"], "delete");
    assert!(update("ctx._source.self = ctx._source").is_err(), "a map in itself");
    assert!(update("doc['n'].value").is_err(), "no documents here");
}

/// Answers of Elasticsearch 9.4.3 for regular expressions. For patterns that do not compile or take too
/// long, the messages are our own.
#[test]
fn regular_expressions_as_recorded() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/regex_recorded.ndjson").lines() {
        let case: Json = serde_json::from_str(line).expect("JSON");
        let source = case["source"].as_str().expect("a source");
        let found = match painless(source) {
            Ok(Json::String(text)) => json!(text),
            Ok(other) => json!(other.to_string()),
            Err(error) => match error.caused_by {
                Some(cause) => json!([error.reason, cause.kind, cause.reason]),
                None => json!([error.reason]),
            },
        };
        let expected = if case["error"].is_null() { &case["result"] } else { &case["error"] };
        if found != *expected {
            wrong.push(format!("{source}\n  is    {expected}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn regular_expressions_may_be_refused_and_end() {
    let scripts = Scripts::default();
    scripts.set_limits(ScriptLimits { allows_regex: false, ..ScriptLimits::default() });
    let script = Script::parse(&json!("'a' =~ /a/")).expect("a script");
    let error = scripts.compile(&script, ScriptContext::Field).expect_err("refused");
    let refused = error.caused_by.expect("a cause");
    assert_eq!(refused.kind, "illegal_state_exception");
    assert!(refused.reason.starts_with("Regexes are disabled."), "{}", refused.reason);

    assert!(
        cause_of_slow()
            .starts_with("circuit_breaking_exception: [scripting] Regular expression considered too many")
    );
    assert!(cause("/(/.matcher('a').find()").contains("could not compile regex constant [(] with flags []"));
    assert_eq!(
        painless("'a\u{1F600}b'.replaceAll(/b/, m -> m.start().toString())").expect("runs"),
        json!("a\u{1F600}3")
    );
    assert_eq!(
        painless("/(?<y>\\d{4})-(?<m>\\d\\d)/.matcher('on 2024-05').replaceAll('${m}/$1')").expect("runs"),
        json!("on 05/2024")
    );
    assert_eq!(
        painless("Matcher m = /(?<y>\\d+)/.matcher('on 2024'); m.find() ? m.namedGroup('y') : ''")
            .expect("runs"),
        json!("2024")
    );
    assert_eq!(
        painless("def n = 0; Matcher m = /a|$/.matcher('aba'); while (m.find()) n++; n").expect("runs"),
        json!(3)
    );
}

/// Returns the error of a slow pattern. A look-behind keeps it from running in linear time.
fn cause_of_slow() -> String {
    cause("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' =~ /(?<!x)(a|aa)+(?=c)$/")
}
