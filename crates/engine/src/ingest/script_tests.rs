//! Compares the `script` processor and conditions with Elasticsearch's answers (recorded from 9.4).

use limber_mapping::ErrorClass;
use serde_json::{Value, json};

use super::tests::{NOW, check, run};
use super::{Metadata, Outcome, Registry, Runner, simulate};

#[test]
fn scripts_change_documents() {
    let script = |source: &str| json!([{ "script": { "source": source } }]).to_string();
    let document = r#"{"a":1,"l":[1,2],"o":{"x":"y"},"d":1.50,"big":12345678901234567890}"#;
    for (source, expected) in [
        ("ctx.b = ctx.a + 1", r#"{"a":1,"l":[1,2],"o":{"x":"y"},"d":1.50,"big":12345678901234567890,"b":2}"#),
        (
            "ctx.remove('a'); ctx.remove('big'); ctx.o.remove('x'); ctx.l.remove(0); ctx.l.add(7); ctx.l.add(0, 5); ctx.d += 1",
            r#"{"l":[5,2,7],"o":{},"d":2.5}"#,
        ),
        // These names are not constants, unlike those in most scripts.
        ("for (k in ['a', 'd', 'big', 'o']) { ctx.remove(k) } ctx.l = null", r#"{"l":null}"#),
        (
            "def all = ctx; all.n = ['k': [1, ['z': 2L]], 'f': 3.5f, 'e': 1.0/0]; ctx.remove('big')",
            r#"{"a":1,"l":[1,2],"o":{"x":"y"},"d":1.5,"n":{"k":[1,{"z":2}],"f":3.5,"e":"Infinity"}}"#,
        ),
        (
            "field('o.x').append('z'); field('d').remove(); field('p.q').set($('big', 0) > $('no.pe', 1))",
            r#"{"a":1,"l":[1,2],"o":{"x":["y","z"]},"big":12345678901234567890,"p":{"q":true}}"#,
        ),
        ("ctx.self = ctx", "!Iterable object is self-referencing itself"),
        ("ctx.l.add(ctx.l)", "!Iterable object is self-referencing itself"),
        ("ctx.l = (char)65", "!unexpected value type [class java.lang.Character]"),
        ("ctx.o = [1: 2]", "!class java.lang.Integer cannot be cast to class java.lang.String"),
        ("while (true) { if (ctx.a == 2) break }", "!runtime error"),
        ("ctx.nope.x = 1", "!runtime error"),
        ("ctx.x = ", "!compile error"),
    ] {
        check(&script(source), document, expected);
    }
    check(r#"[{"script":"ctx.q = params.size()"}]"#, "{}", r#"{"q":0}"#);
    check(r#"[{"script":{"source":"ctx.q = params.v","params":{"v":[1]}}}]"#, "{}", r#"{"q":[1]}"#);
    // Changes that a script made before it failed stay.
    check(r#"[{"script":{"source":"ctx.q = 1; ctx.n.b = 1","ignore_failure":true}}]"#, "{}", r#"{"q":1}"#);
}

#[test]
fn scripts_change_metadata() {
    for (source, expected) in [
        (
            "ctx._version = 'x'",
            "_version [x] is wrong type, expected assignable to [java.lang.Number], not [java.lang.String]",
        ),
        (
            "ctx._version = 1.5",
            "_version may only be set to an int or a long but was [1.5] with type [java.lang.Double]",
        ),
        ("ctx._version = null", "_version cannot be null"),
        ("ctx.clear()", "_version cannot be removed"),
        ("ctx.remove('_version')", "_version cannot be removed"),
        (
            "ctx._index = 3",
            "_index [3] is wrong type, expected assignable to [java.lang.String], not [java.lang.Integer]",
        ),
        (
            "ctx._version_type = 'foo'",
            "_version_type must be a null or one of [internal, external, external_gte] but was [foo] with type [java.lang.String]",
        ),
        ("ctx._type = 'x'", "_type cannot be updated"),
        (
            "ctx._dynamic_templates = 3",
            "_dynamic_templates [3] is wrong type, expected assignable to [java.util.Map], not [java.lang.Integer]",
        ),
    ] {
        let registry = Registry::default();
        registry.put("p", &json!({ "processors": [{ "script": source }] })).expect("it compiles");
        let snapshot = registry.snapshot();
        let mut runner = Runner::new(&snapshot, NOW);
        let metadata = Metadata { index: "i", version: Some(-3), ..Metadata::default() };
        let outcome = runner.run(&["p"], metadata, b"{}", &mut Vec::new());
        let Outcome::Failed(error) = outcome else { panic!("{source}: {outcome:?}") };
        assert_eq!(error.caused_by.expect("a cause").reason, expected, "{source}");
    }
    let registry = Registry::default();
    for source in [
        "ctx.was = ctx._index; ctx._index = 'j'; ctx._routing = ctx._id; ctx._id = null; ctx._version = 5; ctx._op_type = 'x'",
        "def m = metadata(); ctx.was = m.index; m.index = 'j'; m.routing = m.id; m.id = null; m.version = 5; ctx._op_type = m.versionType == null ? 'x' : 'y'",
    ] {
        registry.put("p", &json!({ "processors": [{ "script": source }] })).expect("it compiles");
        let snapshot = registry.snapshot();
        let mut runner = Runner::new(&snapshot, NOW);
        let metadata = Metadata { index: "i", id: Some("7"), version: Some(-3), ..Metadata::default() };
        let mut out = Vec::new();
        let outcome = runner.run(&["p"], metadata, b"{}", &mut out);
        let Outcome::Changed(Some(changed)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (changed.index.as_deref(), changed.id, changed.routing.as_deref(), changed.version),
            (Some("j"), None, Some("7"), Some(5))
        );
        assert_eq!(out, br#"{"was":"i","_op_type":"x"}"#);
    }
    let stamp = r#"[{"set":{"field":"t","value":"{{_ingest.timestamp}}"}},{"script":"ctx.t = ctx.t == metadata().now.toString()"}]"#;
    check(stamp, "{}", r#"{"t":true}"#);
}

#[test]
fn conditions() {
    let set = |condition: &str| json!([{ "set": { "field": "z", "value": 1, "if": condition } }]).to_string();
    const FROZEN: &str = "Mutating ingest documents in conditionals is not supported";
    for (condition, expected) in [
        ("ctx.a == 1", Ok(true)),
        ("ctx?.o?.x == 'y'", Ok(true)),
        ("ctx.n?.b == 1", Ok(false)),
        ("ctx._index == 'i' && ctx['a'] > 0 && ctx.l.contains(2)", Ok(true)),
        ("ctx._ingest == null && ctx._type == null", Ok(true)),
        ("Map m = ctx; return m.a == 2", Ok(false)),
        ("def l = [1]; l.add(2); return l.size() == 2", Ok(true)),
        ("ctx.n.b == 1", Err("cannot access method/field [b] from a null def reference")),
        ("field('o.x').get('z') == 'y' && $('no.pe', 3) == 3 && field('l').size() == 2", Ok(true)),
        ("field('x').set(1) == null", Err(FROZEN)),
        ("field('l').append(1) == null", Err(FROZEN)),
        ("ctx.x = 1", Err(FROZEN)),
        ("ctx.l.add(1)", Err(FROZEN)),
        ("ctx.o.put('a', 'b')", Err(FROZEN)),
        ("ctx.remove('a') == 1", Err(FROZEN)),
        ("def o = ctx.o; o.clear(); return true", Err(FROZEN)),
        ("ctx.l[0] = 3; return true", Err(FROZEN)),
        ("Collections.sort(ctx.l); return true", Err(FROZEN)),
        ("for (e in ctx.entrySet()) { e.setValue(1) } return true", Err(FROZEN)),
        ("def i = ctx.l.iterator(); i.next(); i.remove(); return true", Err(FROZEN)),
        ("def i = ctx.entrySet().iterator(); i.next(); i.remove(); return true", Err(FROZEN)),
        ("ctx.l.removeIf(x -> x == 1)", Err(FROZEN)),
    ] {
        let pipeline: Value =
            json!({ "processors": serde_json::from_str::<Value>(&set(condition)).expect("JSON") });
        let registry = Registry::default();
        registry.put("p", &pipeline).expect("it compiles");
        let snapshot = registry.snapshot();
        let mut runner = Runner::new(&snapshot, NOW);
        let metadata = Metadata { index: "i", ..Metadata::default() };
        let mut out = Vec::new();
        let found = match runner.run(&["p"], metadata, br#"{"a":1,"l":[1,2],"o":{"x":"y"}}"#, &mut out) {
            Outcome::Failed(error) => Err(error.caused_by.expect("a cause").reason),
            // A condition that only reads metadata creates none in the document.
            Outcome::Changed(metadata) => Ok((metadata.is_none(), out.ends_with(br#","z":1}"#))),
            Outcome::Rerouted { .. } => panic!("nothing reroutes"),
            Outcome::Dropped => panic!("nothing drops"),
        };
        assert_eq!(found, expected.map(|holds| (true, holds)).map_err(str::to_owned), "{condition}");
    }
    // The processor's `ignore_failure` does not cover its condition.
    let body = json!({
        "processors": [{ "set": { "field": "z", "value": 1, "if": "ctx.n.b", "tag": "t", "ignore_failure": true } }],
        "on_failure": [
            { "set": { "field": "kind", "copy_from": "_ingest.on_failure_processor_type" } },
            { "set": { "field": "tag", "copy_from": "_ingest.on_failure_processor_tag" } },
        ],
    });
    assert_eq!(run(&body, "{}"), Ok(json!({ "kind": "conditional", "tag": "t" })));
}

#[test]
fn wrong_scripts_are_refused_when_put() {
    let put = |processor: Value| {
        Registry::default().put("p", &json!({ "processors": [processor] })).map_err(|error| {
            let error = error.to_json();
            (
                error["type"].to_string(),
                error["reason"].to_string(),
                error["processor_type"].to_string(),
                error["processor_tag"].to_string(),
            )
        })
    };
    let refused = |kind: &str, reason: &str, processor: &str, tag: &str| {
        let tag = if tag.is_empty() { Value::Null } else { tag.into() };
        let processor = if processor.is_empty() { Value::Null } else { processor.into() };
        Err((json!(kind).to_string(), json!(reason).to_string(), processor.to_string(), tag.to_string()))
    };
    let set = |condition: Value| json!({ "set": { "field": "z", "value": 1, "if": condition, "tag": "t" } });
    assert_eq!(
        put(json!({ "script": { "source": "ctx.x = ", "tag": "t" } })),
        refused("script_exception", "compile error", "script", "t")
    );
    assert_eq!(put(set(json!("1"))), refused("script_exception", "compile error", "set", "t"));
    assert_eq!(
        put(set(json!(3))),
        refused(
            "parse_exception",
            "[script] property isn't a map or string, but of type [java.lang.Integer]",
            "conditional",
            ""
        )
    );
    assert_eq!(
        put(set(json!({ "source": "true", "lang": "foo" }))),
        refused(
            "exception",
            "java.lang.IllegalArgumentException: script_lang not supported [foo]",
            "set",
            "t"
        )
    );
    assert_eq!(
        put(set(json!({ "foo": 1 }))),
        refused("x_content_parse_exception", "[script] unknown field [foo]", "", "")
    );
    assert_eq!(put(set(json!(""))), refused("script_exception", "compile error", "set", "t"));
    assert_eq!(put(set(json!({ "id": "nope" }))), Ok(()));
    assert_eq!(
        put(json!({ "script": { "id": "nope" } })),
        refused(
            "resource_not_found_exception",
            "unable to find script [nope] in cluster state",
            "script",
            ""
        )
    );
    assert_eq!(
        put(json!({ "script": {} })),
        refused(
            "exception",
            "java.lang.IllegalArgumentException: must specify either [source] for an inline script or [id] for a stored script",
            "script",
            ""
        )
    );
    assert_eq!(
        put(json!({ "script": { "source": "1", "lang": "expression" } })),
        refused("script_exception", "compile error", "script", "")
    );
    assert_eq!(
        put(json!({ "set": "ctx.q = 1" })),
        refused("parse_exception", "property isn't a map, but of type [java.lang.String]", "set", "")
    );
}

#[test]
fn pipelines_are_restored_without_their_stored_scripts() {
    let registry = Registry::default();
    registry.restore(&json!({ "p": { "processors": [{ "script": { "id": "gone" } }] } }));
    let snapshot = registry.snapshot();
    let mut runner = Runner::new(&snapshot, NOW);
    let outcome = runner.run(&["p"], Metadata::default(), b"{}", &mut Vec::new());
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        (error.class, error.reason.as_str()),
        (ErrorClass::NotFound, "unable to find script [gone] in cluster state")
    );
}

#[test]
fn simulations_tell_conditions() {
    let registry = Registry::default();
    let body = json!({
        "pipeline": { "processors": [
            { "set": { "field": "x", "value": 1, "tag": "t", "description": "d", "if": "ctx.a == 2" } },
            { "drop": { "if": { "source": "ctx.a == params.v", "params": { "v": 1 } } } },
        ] },
        "docs": [{ "_source": { "a": 1 } }],
    });
    let answer = simulate(&registry.snapshot(), None, &body, true, NOW).expect("valid");
    assert_eq!(
        answer,
        json!({ "docs": [{ "processor_results": [
        { "processor_type": "set", "status": "skipped", "description": "d", "tag": "t", "if": { "condition": "ctx.a == 2", "result": false } },
        { "processor_type": "drop", "status": "dropped", "if": { "condition": "ctx.a == params.v", "result": true } },
    ] }] })
    );
}
