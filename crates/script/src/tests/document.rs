//! What scripts that write a document do with its fields and its metadata.

use serde_json::{Value as Json, json};

use crate::compile::{Script, Scripts};
use crate::contexts::run_on_context;
use crate::language::ScriptContext;

/// Runs a script on `ctx`; returns `ctx` afterwards, or the cause of the error.
fn changed(context: ScriptContext, source: &str, ctx: &Json) -> Result<Json, String> {
    let script = Script::parse(&json!({"source": source})).expect("a script");
    run_on_context(&Scripts::default(), &script, context, ctx)
        .map_err(|error| error.caused_by.map_or(error.reason, |cause| cause.reason))
}

#[test]
fn fields_are_read_and_changed() {
    let document = json!({"a": {"b": [1, 2, 2], "s": "x"}, "c.d": 5, "n": null});
    let check = |source: &str, expected: Json| {
        let found = changed(ScriptContext::Ingest, source, &document).expect(source);
        assert_eq!(found, expected, "{source}");
    };
    let with = |path: &[&str], value: Json| {
        let mut expected = document.clone();
        let (last, before) = path.split_last().expect("a path");
        before.iter().fold(&mut expected, |object, key| &mut object[*key])[*last] = value;
        expected
    };
    check("field('a.b').append(3)", with(&["a", "b"], json!([1, 2, 2, 3])));
    check("field('a.s').append('y')", with(&["a", "s"], json!(["x", "y"])));
    check("field('n').append(1)", with(&["n"], json!([1])));
    check("field('c.d').set(6)", with(&["c.d"], json!(6)));
    check("field('x.y.z').set(1)", with(&["x"], json!({"y": {"z": 1}})));
    check("field('a.b').transform(v -> v + 1)", with(&["a", "b"], json!([2, 3, 3])));
    check("field('c.d').transform(v -> v * 2)", with(&["c.d"], json!(10)));
    check("field('a.b').deduplicate()", with(&["a", "b"], json!([1, 2])));
    check("field('a.b').removeValuesIf(v -> v == 2)", with(&["a", "b"], json!([1])));
    check("field('a.b').removeValue(0)", with(&["a", "b"], json!([2, 2])));
    check("field('a.b').removeValue(9)", document.clone());
    check("field('nope').remove(); field('no.pe').removeValue(0)", document.clone());
    check(
        "field('c.d').move('e.f').append(7)",
        json!({"a": {"b": [1, 2, 2], "s": "x"}, "n": null, "e": {"f": [5, 7]}}),
    );
    check("field('no').overwrite('n')", json!({"a": {"b": [1, 2, 2], "s": "x"}, "c.d": 5}));
    check("field('a').remove(); field('n').set(field('c.d').get(0))", json!({"c.d": 5, "n": 5}));
    check("field('a.s').set($('a.b', [9]).size() + $('no.pe', 4))", with(&["a", "s"], json!(7)));
    check(
        "def f = field('a.b'); f.set([f.size(), f.get(1, 0), f.get(7, 9), f.exists(), f.isEmpty(), f.getName(), f.hasValue(v -> v == 2)])",
        with(&["a", "b"], json!([3, 2, 9, true, false, "a.b", true])),
    );
    check("int n = 0; for (v in field('a.b')) { n += v } field('n').set(n)", with(&["n"], json!(5)));
    for (source, expected) in [
        ("field('c.d').move('a.s')", "Cannot move to non-empty destination [a.s]"),
        (
            "field('c.d').move(3)",
            "Cannot call move with [3], must be String or WriteField, not [java.lang.Integer]",
        ),
        ("field('a.s.t').set(1)", "Segment [1:'s'] has value [x] of type [java.lang.String]"),
        (
            "field('a.s').doc()",
            "Unexpected value [x] of type [java.lang.String] at path [a.s], expected Map or List of Map",
        ),
        ("field('a.b').get(-1, 0)", "Index -1 out of bounds for length 3"),
        ("field('a').nope()", "dynamic method [org.elasticsearch.script.field.WriteField, nope/0] not found"),
    ] {
        assert_eq!(changed(ScriptContext::Ingest, source, &document), Err(expected.to_owned()), "{source}");
    }
}

#[test]
fn fields_have_documents() {
    let document = json!({"a": {"x": 1}, "l": [{"x": 1}, {"x": 2}], "s": "t"});
    let check = |source: &str, member: &str, expected: Json| {
        let found = changed(ScriptContext::Ingest, source, &document).expect(source);
        assert_eq!(found[member], expected, "{source}");
    };
    check("field('l').doc(1).field('x').set(5)", "l", json!([{"x": 1}, {"x": 5}]));
    check("field('l').doc().field('y.z').set(3)", "l", json!([{"x": 1}, {"x": 2}, {"y": {"z": 3}}]));
    check("field('a').doc(2).field('x').set(0)", "a", json!([{"x": 1}, {}, {"x": 0}]));
    check("field('new').doc().field('x').set(1)", "new", json!({"x": 1}));
    check(
        "for (d in field('l').docs()) { d.field('x').transform(v -> v * 10) }",
        "l",
        json!([{"x": 10}, {"x": 20}]),
    );
    check("field('l').doc(0).remove()", "l", json!([{"x": 2}]));
    check(
        "def d = field('l').doc(0); field('s').set([d.size(), d.isEmpty(), d.exists()])",
        "s",
        json!([1, false, true]),
    );
    check(
        "field('l').doc(0).field('x').move(field('l').doc(1).field('y'))",
        "l",
        json!([{}, {"x": 2, "y": 1}]),
    );
    for (source, expected) in [
        ("field('s').docs()", "Unexpected value [t] of type [java.lang.String] at [s] for docs()"),
        ("field('l').set(field('a').doc())", "cannot set NestedDocument [{}] as path [l]"),
        ("field('l').doc(2147483647)", "The memory that a script may use has been used up."),
    ] {
        assert_eq!(changed(ScriptContext::Ingest, source, &document), Err(expected.to_owned()), "{source}");
    }
}

/// In updates, `ctx` has the document as `_source`.
#[test]
fn fields_of_updates_are_in_the_source() {
    let ctx = json!({"op": "index", "_source": {"a": {"b": 1}}});
    for context in [ScriptContext::Update, ScriptContext::UpdateByQuery, ScriptContext::Reindex] {
        let found = changed(context, "field('a.b').append($('a.c', 2))", &ctx).expect("it runs");
        assert_eq!(found, json!({"op": "index", "_source": {"a": {"b": [1, 2]}}}));
    }
}

#[test]
fn metadata_is_read_and_written() {
    let ctx = json!({
        "op": "index", "_index": "i", "_id": "7", "_version": 3,
        "_routing": null, "_now": 1000, "_source": {},
    });
    let check = |context: ScriptContext, source: &str, member: &str, expected: Result<Json, &str>| {
        let found = changed(context, source, &ctx).map(|found| found[member].clone());
        assert_eq!(found, expected.map_err(str::to_owned), "{source}");
    };
    let all =
        "def m = metadata(); ctx._source.m = [m.index, m.id, m.routing, m.version, m.op, m.now.toString()]";
    let read = json!({"m": ["i", "7", null, 3, "index", "1970-01-01T00:00:01Z"]});
    for context in [ScriptContext::Update, ScriptContext::UpdateByQuery, ScriptContext::Reindex] {
        check(context, all, "_source", Ok(read.clone()));
        check(context, "metadata().op = 'noop'", "op", Ok(json!("noop")));
        check(context, "metadata().setOp('delete')", "op", Ok(json!("delete")));
    }
    let reindex = ScriptContext::Reindex;
    check(reindex, "metadata().index = metadata().index + 'j'", "_index", Ok(json!("ij")));
    check(reindex, "metadata().setRouting('r')", "_routing", Ok(json!("r")));
    check(reindex, "metadata().version += 2", "_version", Ok(json!(5)));
    check(reindex, "metadata().setVersionToInternal()", "_version", Ok(json!(null)));
    check(
        reindex,
        "def m = metadata(); m.setVersionToInternal(); ctx._source = [m.isVersionInternal(), m.version]",
        "_source",
        Ok(json!([true, i64::MIN])),
    );
    for (context, source, reason) in [
        (reindex, "metadata().index = null", "_index cannot be null"),
        (reindex, "metadata().id = 5", "Cannot cast from [java.lang.Integer] to [java.lang.String]."),
        (reindex, "metadata().version = 'x'", "Cannot cast from [java.lang.String] to [long]."),
        (reindex, "metadata().op = 'no'", "[op] must be one of delete, index, noop, not [no]"),
        (ScriptContext::Update, "metadata().op = 'none'", "'none' is not allowed, use 'noop' instead"),
        (ScriptContext::Update, "metadata().op = 'x'", "op must be one of [delete, index, noop], not [x]"),
        (
            ScriptContext::Update,
            "metadata().id = 'x'",
            "dynamic setter [org.elasticsearch.script.Metadata, id] not found",
        ),
        (ScriptContext::IngestCondition, "metadata() == null", "Unknown call [metadata] with [0] arguments."),
    ] {
        check(context, source, "op", Err(reason));
    }
    let upsert = json!({"op": "create", "_id": "7", "_source": {}});
    let source = "ctx._source.was = metadata().op; metadata().op = 'noop'";
    let found = changed(ScriptContext::Update, source, &upsert);
    assert_eq!(found, Ok(json!({"op": "noop", "_id": "7", "_source": {"was": "create"}})));
}
