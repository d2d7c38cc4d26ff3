//! Compares whole pipelines with Elasticsearch's answers (recorded from 8.19) and with a naive model over
//! `serde_json::Value`.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::document::NODE_COUNT_MAX;
use super::{Metadata, Outcome, Registry, Runner, simulate};

pub(super) const NOW: &str = "2025-10-16T10:00:00.123Z";

/// Returns the document's new source, or the error's reason; `dropped` for a dropped document.
pub(super) fn run(pipeline: &Value, source: &str) -> Result<Value, String> {
    let registry = Registry::default();
    registry.put("p", pipeline).map_err(|error| error.reason)?;
    let snapshot = registry.snapshot();
    let mut runner = Runner::new(&snapshot, NOW);
    let mut out = Vec::new();
    match runner.run(
        &["p"],
        Metadata { index: "i", id: Some("7"), ..Metadata::default() },
        source.as_bytes(),
        &mut out,
    ) {
        Outcome::Changed(_) | Outcome::Rerouted { .. } => {
            Ok(serde_json::from_slice(&out).expect("the output is JSON"))
        }
        Outcome::Dropped => Err("dropped".to_owned()),
        Outcome::Failed(error) => Err(error.reason),
    }
}

/// Runs one document. `processors` and `source` are JSON; `expected` is the new source, or `!` and the
/// error's reason.
pub(super) fn check(processors: &str, source: &str, expected: &str) {
    let processors: Value = serde_json::from_str(processors).expect("processors");
    let answer = run(&json!({ "processors": processors }), source);
    match (expected.strip_prefix('!'), answer) {
        (Some(reason), Err(error)) => assert_eq!(error, reason, "{processors}"),
        (None, Ok(document)) => {
            assert_eq!(document, serde_json::from_str::<Value>(expected).expect("expected"), "{processors}")
        }
        (_, answer) => panic!("{processors}: {answer:?} instead of {expected}"),
    }
}

#[test]
fn a_stored_pipeline_that_cannot_be_compiled_any_more_fails_its_own_documents() {
    let registry = Registry::default();
    let lost = json!({"processors": [{"user_agent": {"field": "a", "regex_file": "gone.yml"}}]});
    registry.restore(&json!({"lost": lost, "p": {"processors": []}}));
    assert_eq!(registry.to_json()["lost"], lost);
    let snapshot = registry.snapshot();
    let run = |id: &str| {
        let metadata = Metadata { index: "i", id: Some("7"), ..Metadata::default() };
        Runner::new(&snapshot, NOW).run(&[id], metadata, b"{}", &mut Vec::new())
    };
    let Outcome::Failed(error) = run("lost") else { panic!("its documents fail") };
    let why =
        "pipeline with id [lost] could not be loaded, caused by [[regex_file] regex file [gone.yml] doesn't";
    assert!(error.reason.starts_with(why), "{}", error.reason);
    assert!(matches!(run("p"), Outcome::Changed(_)));
}

#[test]
fn fields_and_paths() {
    let upper = r#"[{"uppercase":{"field":"a"}}]"#;
    check(upper, r#"{}"#, "!field [a] not present as part of path [a]");
    check(upper, r#"{"a":1}"#, "!field [a] of type [java.lang.Integer] cannot be cast to [java.lang.String]");
    check(upper, r#"{"a":null}"#, "!field [a] is null, cannot process it.");
    check(
        upper,
        r#"{"a":["x",1]}"#,
        "!value [1] of type [java.lang.Integer] in list field [a] cannot be cast to [java.lang.String]",
    );
    check(upper, r#"{"a":["x","ß\n"],"b":1}"#, r#"{"a":["X","SS\n"],"b":1}"#);
    let nested = r#"[{"uppercase":{"field":"a.b"}}]"#;
    check(nested, r#"{"a":null}"#, "!cannot resolve [b] from null as part of path [a.b]");
    check(
        nested,
        r#"{"a":"x"}"#,
        "!cannot resolve [b] from object of type [java.lang.String] as part of path [a.b]",
    );
    check(nested, r#"{"a":[]}"#, "![b] is not an integer, cannot be used as an index as part of path [a.b]");
    check(nested, r#"{ "a" : { "b" : "x" , "c" : 1.50 } }"#, r#"{"a":{"b":"X","c":1.50}}"#);
    check(
        r#"[{"uppercase":{"field":"a.5"}}]"#,
        r#"{"a":["x"]}"#,
        "![5] is out of bounds for array with length [1] as part of path [a.5]",
    );
    check(r#"[{"uppercase":{"field":"a.1"}}]"#, r#"{"a":["x","y"]}"#, r#"{"a":["x","Y"]}"#);
    check(r#"[{"uppercase":{"field":"é\"x"}}]"#, r#"{"\u00e9\"x":"y"}"#, r#"{"é\"x":"Y"}"#);
    check(upper, r#"{"a":"x""#, "![1:9] Unexpected end of file");
}

/// Runs the documents of one request, one after another. The new source is compared byte by byte; `!` means
/// that there is none.
#[test]
fn text_of_what_was_not_edited_stays() {
    let processors = json!([
        { "set": { "field": "t", "copy_from": "_ingest.timestamp" } },
        { "uppercase": { "field": "o.u", "ignore_missing": true } },
        { "remove": { "field": ["r", "o.r"], "ignore_missing": true } },
    ]);
    let registry = Registry::default();
    registry.put("p", &json!({ "processors": processors })).expect("a pipeline");
    let snapshot = registry.snapshot();
    let mut runner = Runner::new(&snapshot, "2025");
    for (source, expected) in [
        ("{}", r#"{"t":"2025"}"#),
        (r#"{"r":1}"#, r#"{"t":"2025"}"#),
        (r#"{"r":1,"a":[1, 2],"b":{}}"#, r#"{"a":[1, 2],"b":{},"t":"2025"}"#),
        (r#"{"a":1"#, "!"),
        (r#"{"a":1,"r":{"x":[]},"b":2,"c":"\"\u00e9"}"#, r#"{"a":1,"b":2,"c":"\"\u00e9","t":"2025"}"#),
        (
            r#"{"a":1,"o":{"r":0,"u":"x","v":"y"},"b":2,"r":3}"#,
            r#"{"a":1,"o":{"u":"X","v":"y"},"b":2,"t":"2025"}"#,
        ),
        (r#"{"o":{"u":"x","r":0},"t":"old","z":1}"#, r#"{"o":{"u":"X"},"t":"2025","z":1}"#),
        (r#" { "a" : { "b" : 1 } , "r" : 2 , "c":3,"d" :4} "#, r#"{"a":{ "b" : 1 },"c":3,"d":4,"t":"2025"}"#),
        (r#"{"o":{"r":{}},"é":"é","":0}"#, r#"{"o":{},"é":"é","":0,"t":"2025"}"#),
    ] {
        let mut out = b"before".to_vec();
        match runner.run(&["p"], Metadata { index: "i", ..Metadata::default() }, source.as_bytes(), &mut out)
        {
            Outcome::Changed(None) => assert_eq!(String::from_utf8_lossy(&out[6..]), expected, "{source}"),
            Outcome::Failed(_) => assert!(expected == "!" && out == b"before", "{source}"),
            other => panic!("{source}: {other:?}"),
        }
    }
}

/// The documents are those of Elasticsearch 9.4.3.
fn append_of_copies_and_of_empty_values() {
    let copy = r#"[{"append":{"field":"a","copy_from":"b"}}]"#;
    check(copy, r#"{"b":[1,2],"a":0}"#, r#"{"b":[1,2],"a":[0,1,2]}"#);
    check(copy, r#"{"b":null,"a":0}"#, r#"{"b":null,"a":[0,null]}"#);
    check(copy, r#"{"a":0}"#, "!field [b] not present as part of path [b]");
    check(
        r#"[{"append":{"field":"a","copy_from":"b"}},{"set":{"field":"b.c","value":1}}]"#,
        r#"{"b":{"c":5},"a":0}"#,
        r#"{"b":{"c":1},"a":[0,{"c":5}]}"#,
    );
    let without_empty = r#"[{"append":{"field":"a","copy_from":"b","ignore_empty_values":true}}]"#;
    for (source, expected) in [
        (r#"{"b":["x","",null],"a":0}"#, r#"{"b":["x","",null],"a":[0,"x"]}"#),
        (r#"{"b":[[],{},""]}"#, r#"{"b":[[],{},""],"a":[[],{}]}"#),
        (r#"{"b":["",null],"a":0}"#, r#"{"b":["",null],"a":0}"#),
        (r#"{"b":"","a":0}"#, r#"{"b":"","a":0}"#),
        (r#"{"b":null}"#, r#"{"b":null}"#),
        (r#"{"a":0}"#, r#"{"a":0}"#),
    ] {
        check(without_empty, source, expected);
    }
    check(r#"[{"append":{"field":"a","value":[]}}]"#, r#"{"a":0}"#, r#"{"a":0}"#);
    check(r#"[{"append":{"field":"a","value":[]}}]"#, "{}", "{}");
}

#[test]
fn set_and_append() {
    check(
        r#"[{"set":{"field":"a.b.c","value":{"x":[1,2.50]}}}]"#,
        "{}",
        r#"{"a":{"b":{"c":{"x":[1,2.50]}}}}"#,
    );
    check(
        r#"[{"set":{"field":"a.b","value":1}}]"#,
        r#"{"a":null}"#,
        "!cannot set [b] with null parent as part of path [a.b]",
    );
    check(
        r#"[{"set":{"field":"a.0","value":1}}]"#,
        r#"{"a":[]}"#,
        "![0] is out of bounds for array with length [0] as part of path [a.0]",
    );
    check(
        r#"[{"set":{"field":"t","value":"{{_ingest.timestamp}}"}}]"#,
        "{}",
        r#"{"t":"2025-10-16T10:00:00.123Z"}"#,
    );
    check(
        r#"[{"set":{"field":"f-{{a.b}}","value":"<{{a.b}}|{{{a.b}}}|{{nope}}>"}}]"#,
        r#"{"a":{"b":"q\""}}"#,
        r#"{"a":{"b":"q\""},"f-q\\\"":"<q\\\"|q\"|>"}"#,
    );
    check(
        r#"[{"set":{"field":"x","value":["{{a}}",{"k{{a}}":"{{b}}"}]}}]"#,
        r#"{"a":1.0,"b":[1,null,{"c":"d"}]}"#,
        r#"{"a":1.0,"b":[1,null,{"c":"d"}],"x":["1.0",{"k1.0":"[1, null, {c=d}]"}]}"#,
    );
    check(r#"[{"set":{"field":"x","value":"{{a}}","ignore_empty_value":true}}]"#, "{}", "{}");
    check(r#"[{"set":{"field":"a","value":2,"override":false}}]"#, r#"{"a":1}"#, r#"{"a":1}"#);
    check(r#"[{"set":{"field":"a","value":2,"override":false}}]"#, r#"{"a":null}"#, r#"{"a":2}"#);
    check(
        r#"[{"set":{"field":"b","copy_from":"a"}},{"set":{"field":"b.x","value":2}}]"#,
        r#"{"a":{"x":1}}"#,
        r#"{"a":{"x":1},"b":{"x":2}}"#,
    );
    check(
        r#"[{"set":{"field":"b","copy_from":"zz"}}]"#,
        "{}",
        "!field [zz] not present as part of path [zz]",
    );
    check(
        r#"[{"set":{"field":"_source.x","copy_from":"_id"}},{"set":{"field":"y","copy_from":"_ingest.pipeline"}}]"#,
        "{}",
        r#"{"x":"7","y":"p"}"#,
    );
    check(
        r#"[{"set":{"field":"_version","value":"x"}}]"#,
        "{}",
        "!_version [x] is wrong type, expected assignable to [java.lang.Number], not [java.lang.String]",
    );
    check(
        r#"[{"append":{"field":"a","value":[1,2,3],"allow_duplicates":false}}]"#,
        r#"{"a":3}"#,
        r#"{"a":[3,1,2]}"#,
    );
    check(r#"[{"append":{"field":"a","value":1}}]"#, r#"{"a":null}"#, r#"{"a":[null,1]}"#);
    append_of_copies_and_of_empty_values();
    check(r#"[{"append":{"field":"a.b","value":"{{c}}"}}]"#, r#"{"c":1}"#, r#"{"c":1,"a":{"b":["1"]}}"#);
}

#[test]
fn remove_and_rename() {
    check(
        r#"[{"remove":{"field":["b","a.c"]}}]"#,
        r#"{"b":1,"a":{}}"#,
        "!field [c] not present as part of path [a.c]",
    );
    check(r#"[{"remove":{"field":"a.0"}}]"#, r#"{"a":[1,2]}"#, r#"{"a":[2]}"#);
    check(
        r#"[{"remove":{"field":"a.0.b"}}]"#,
        r#"{"a":[1]}"#,
        "!cannot remove [b] from object of type [java.lang.Integer] as part of path [a.0.b]",
    );
    check(
        r#"[{"remove":{"keep":["a","c.d"]}}]"#,
        r#"{"b":1,"a":{},"c":{"d":1,"e":2}}"#,
        r#"{"a":{},"c":{"d":1}}"#,
    );
    check(
        r#"[{"remove":{"keep":["b.c","a-b","a.b.c","a"]}}]"#,
        r#"{"a-b":1,"a":{"x":1},"ab":2,"b":{"c":3,"d":4},"b-":5}"#,
        r#"{"a-b":1,"a":{"x":1},"b":{"c":3}}"#,
    );
    check(r#"[{"remove":{"field":"x","ignore_missing":true}}]"#, r#"{"a":1}"#, r#"{"a":1}"#);
    check(
        r#"[{"rename":{"field":"a","target_field":"b"}}]"#,
        r#"{"b":1,"a":2}"#,
        "!field [b] already exists",
    );
    check(r#"[{"rename":{"field":"a","target_field":"b"}}]"#, r#"{}"#, "!field [a] doesn't exist");
    check(
        r#"[{"rename":{"field":"a","target_field":"b","override":true}}]"#,
        r#"{"b":1,"a":2}"#,
        r#"{"b":2}"#,
    );
    check(
        r#"[{"rename":{"field":"a","target_field":"a.b"}}]"#,
        r#"{"a":{"x":[1]}}"#,
        r#"{"a":{"b":{"x":[1]}}}"#,
    );
}

#[test]
fn conversions() {
    let convert = |kind: &str, from: &str, to: &str| {
        check(
            &format!(r#"[{{"convert":{{"field":"a","type":"{kind}"}}}}]"#),
            &format!(r#"{{"a":{from}}}"#),
            to,
        );
    };
    convert("integer", r#""0x10""#, r#"{"a":16}"#);
    convert("integer", "200", r#"{"a":200}"#);
    convert("integer", r#"["1","+5"]"#, r#"{"a":[1,5]}"#);
    convert("integer", "99999999999", "!unable to convert [99999999999] to integer");
    convert("integer", "1.50", "!unable to convert [1.5] to integer");
    convert("integer", "null", "!Field [a] is null, cannot be converted to type [integer]");
    convert("long", "1e20", "!unable to convert [1.0E20] to long");
    convert("long", r#"{"a":1}"#, "!unable to convert [{a=1}] to long");
    convert("float", r#""1.1""#, r#"{"a":1.1}"#);
    convert("float", "99999999999", r#"{"a":1.0E11}"#);
    convert("double", r#""NaN""#, r#"{"a":"NaN"}"#);
    convert("double", r#""5e-324""#, r#"{"a":4.9E-324}"#);
    convert("boolean", r#""TRUE""#, r#"{"a":true}"#);
    convert("boolean", "1", "![1] is not a boolean value, cannot convert to boolean");
    convert("string", "1.50", r#"{"a":"1.5"}"#);
    convert("ip", r#""::1""#, r#"{"a":"::1"}"#);
    convert("ip", r#""x""#, "!'x' is not an IP string literal.");
    convert("auto", r#""1.0d""#, r#"{"a":1.0}"#);
    convert("auto", r#""1e400""#, r#"{"a":"Infinity"}"#);
    convert("auto", r#""-0X7f""#, r#"{"a":"-0X7f"}"#);
}

#[test]
fn texts() {
    check(
        r#"[{"gsub":{"field":"a","pattern":"(\\d)","replacement":"<$1>"}}]"#,
        r#"{"a":["a1","2\n"]}"#,
        r#"{"a":["a<1>","<2>\n"]}"#,
    );
    check(
        r#"[{"gsub":{"field":"a","pattern":"(","replacement":""}}]"#,
        "{}",
        "![pattern] Invalid regex pattern. Parsing error at position 1: Opening parenthesis without closing parenthesis near\n(",
    );
    for (text, separator, expected) in [
        ("1,2,,", ",", r#"{"a":["1","2"]}"#),
        (",1", ",", r#"{"a":["","1"]}"#),
        ("abc", "", r#"{"a":["a","b","c"]}"#),
        ("axbc", "x*", r#"{"a":["a","","b","c"]}"#),
        ("", ",", r#"{"a":[""]}"#),
        ("abc", ",", r#"{"a":["abc"]}"#),
    ] {
        check(
            &format!(r#"[{{"split":{{"field":"a","separator":"{separator}"}}}}]"#),
            &format!(r#"{{"a":"{text}"}}"#),
            expected,
        );
    }
    check(
        r#"[{"split":{"field":"a","separator":",","preserve_trailing":true}}]"#,
        r#"{"a":"1,,"}"#,
        r#"{"a":["1","",""]}"#,
    );
    check(
        r#"[{"join":{"field":"a","separator":"-"}}]"#,
        r#"{"a":["x",1,2.50,true,{"b":1},[1,"z"]]}"#,
        r#"{"a":"x-1-2.5-true-{b=1}-[1, z]"}"#,
    );
    check(
        r#"[{"join":{"field":"a","separator":"-"}}]"#,
        r#"{"a":"x"}"#,
        "!field [a] of type [java.lang.String] cannot be cast to [java.util.List]",
    );
    check(r#"[{"trim":{"field":"a"}}]"#, "{\"a\":\"  x\u{a0} \\t\"}", "{\"a\":\"x\u{a0}\"}");
    check(r#"[{"lowercase":{"field":"a","target_field":"b"}}]"#, r#"{"a":"ÀB"}"#, r#"{"a":"ÀB","b":"àb"}"#);
}

#[test]
fn json_and_date() {
    check(r#"[{"json":{"field":"a"}}]"#, r#"{"a":"{\"x\":[1,2.0,\"z\"]}"}"#, r#"{"a":{"x":[1,2.0,"z"]}}"#);
    check(
        r#"[{"json":{"field":"a"}},{"set":{"field":"a.x.0","value":9}}]"#,
        r#"{"a":"{\"x\":[1]}"}"#,
        r#"{"a":{"x":[9]}}"#,
    );
    check(
        r#"[{"json":{"field":"a"}}]"#,
        r#"{"a":"1 2"}"#,
        "!The input 1 2 is not valid JSON and the strict_json_parsing parameter is true",
    );
    check(r#"[{"json":{"field":"a","strict_json_parsing":false}}]"#, r#"{"a":"1 2"}"#, r#"{"a":1}"#);
    check(
        r#"[{"json":{"field":"a","add_to_root":true}}]"#,
        r#"{"a":"3"}"#,
        "!cannot add non-map fields to root of document",
    );
    check(
        r#"[{"json":{"field":"a","add_to_root":true,"add_to_root_conflict_strategy":"merge"}}]"#,
        r#"{"a":"{\"x\":{\"y\":1}}","x":{"z":1}}"#,
        r#"{"a":"{\"x\":{\"y\":1}}","x":{"z":1,"y":1}}"#,
    );
    check(
        r#"[{"json":{"field":"a","allow_duplicate_keys":true}}]"#,
        r#"{"a":"[{\"x\":1,\"x\":2}]"}"#,
        r#"{"a":[{"x":2}]}"#,
    );
    check(
        r#"[{"json":{"field":"a","allow_duplicate_keys":true}}]"#,
        r#"{"a":"{\"x\":1,\"y\":2,\"x\":3,\"z\":4,\"y\":5,\"x\":6}"}"#,
        r#"{"a":{"z":4,"y":5,"x":6}}"#,
    );
    check(
        r#"[{"date":{"field":"a","formats":["yyyy","UNIX"],"target_field":"b"}}]"#,
        r#"{"a":"1600000000.5"}"#,
        r#"{"a":"1600000000.5","b":"2020-09-13T12:26:40.500Z"}"#,
    );
    check(
        r#"[{"date":{"field":"a","formats":["ISO8601"],"timezone":"Europe/Amsterdam","target_field":"a"}}]"#,
        r#"{"a":"2020-01-01T10:00:00"}"#,
        r#"{"a":"2020-01-01T10:00:00.000+01:00"}"#,
    );
    check(
        r#"[{"date":{"field":"a","formats":["MMM dd HH:mm:ss"],"target_field":"a"}}]"#,
        r#"{"a":"Oct 16 10:00:00"}"#,
        r#"{"a":"2025-10-16T10:00:00.000Z"}"#,
    );
    check(r#"[{"date":{"field":"a","formats":["ISO8601"]}}]"#, r#"{"a":"x"}"#, "!unable to parse date [x]");
}

#[test]
fn grok_fields() {
    let grok = |patterns: &str, text: &str, expected: &str| {
        check(
            &format!(
                r#"[{{"grok":{{"field":"a","patterns":["{patterns}"]}}}},{{"remove":{{"field":"a"}}}}]"#
            ),
            &json!({ "a": text }).to_string(),
            expected,
        );
    };
    grok(
        "%{WORD:w:long} %{NUMBER:f:float} %{WORD:b.c:boolean}",
        "12 1.5 true",
        r#"{"w":12,"f":1.5,"b":{"c":true}}"#,
    );
    grok("%{WORD:w} %{WORD:w}", "a b", r#"{"w":["a","b"]}"#);
    grok("%{WORD:w}|%{NUMBER:n}", "-1", r#"{"n":"-1"}"#);
    grok("%{WORD:w}", "é1 b", r#"{"w":"b"}"#);
    grok("%{IPV4:ip}", "x1.2.3.4.5", r#"{"ip":"1.2.3.4"}"#);
    grok("%{IPV4:ip}", "11.2.3.4444", "!Provided Grok expressions do not match field value: [11.2.3.4444]");
    grok("%{DATA:m}$", "line1\nline2", r#"{"m":"line1"}"#);
    grok(
        "%{COMMONAPACHELOG}",
        r#"1.2.3.4 - - [16/Oct/2016:11:53:49 +0000] "GET /f.ico HTTP/1.1" 200 3638"#,
        r#"{"clientip":"1.2.3.4","ident":"-","auth":"-","timestamp":"16/Oct/2016:11:53:49 +0000","verb":"GET","request":"/f.ico","httpversion":"1.1","response":"200","bytes":"3638"}"#,
    );
    grok(
        "%{SYSLOGLINE}",
        "Oct 16 11:53:49 host sshd[123]: hello world",
        r#"{"timestamp":"Oct 16 11:53:49","logsource":"host","program":"sshd","pid":"123","message":"hello world"}"#,
    );
    grok(
        "%{NOPE}",
        "x",
        "![patterns] Invalid regex pattern found in: [%{NOPE}]. Unable to find pattern [NOPE] in Grok's pattern dictionary",
    );
    check(
        r#"[{"grok":{"field":"a","patterns":["%{FOO:i}"],"pattern_definitions":{"FOO":"%{BAR}","BAR":"%{FOO}"}}}]"#,
        "{}",
        "![patterns] Invalid regex pattern found in: [%{FOO:i}]. circular reference detected: FOO->BAR->FOO",
    );
}

/// Checks lines of many kinds with both libraries. The expected fields are those that Elasticsearch 8.19
/// finds (null means no match).
#[test]
fn grok_library_as_recorded() {
    let recorded: Value = serde_json::from_str(include_str!("grok_recorded.json")).expect("recorded answers");
    let mut wrong = Vec::new();
    for case in recorded.as_array().expect("cases") {
        let processors = json!([{ "grok": { "field": "in", "patterns": [case["pattern"]], "ecs_compatibility": case["ecs"] } }]);
        let made = run(&json!({ "processors": processors }), &json!({ "in": case["line"] }).to_string());
        if made.as_ref().ok() != (!case["fields"].is_null()).then_some(&case["fields"]) {
            wrong.push(format!(
                "{} {} on {}\n  got      {made:?}\n  expected {}",
                case["pattern"], case["ecs"], case["line"], case["fields"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn failures() {
    check(r#"[{"fail":{"message":"bad {{a}}"}}]"#, r#"{"a":1}"#, "!bad 1");
    check(r#"[{"drop":{}}]"#, "{}", "!dropped");
    check(
        r#"[{"fail":{"message":"m","ignore_failure":true}},{"set":{"field":"q","value":1}}]"#,
        "{}",
        r#"{"q":1}"#,
    );
    check(
        r#"[{"convert":{"field":"a","type":"integer","tag":"t","on_failure":[{"set":{"field":"m","copy_from":"_ingest.on_failure_message"}},{"set":{"field":"k","value":"{{_ingest.on_failure_processor_type}}/{{_ingest.on_failure_processor_tag}}/{{_ingest.on_failure_pipeline}}"}}]}},{"set":{"field":"z","value":"{{_ingest.on_failure_message}}"}}]"#,
        r#"{"a":"x"}"#,
        r#"{"a":"x","m":"For input string: \"x\"","k":"convert/t/p","z":""}"#,
    );
    check(r#"[{"uppercase":{"field":"m","on_failure":[{"fail":{"message":"inner"}}]}}]"#, "{}", "!inner");
    check(r#"[{"pipeline":{"name":"p"}}]"#, "{}", "!Cycle detected for pipeline: p");
    check(
        r#"[{"pipeline":{"name":"q"}}]"#,
        "{}",
        "!Pipeline processor configured for non-existent pipeline [q]",
    );
    check(r#"[{"pipeline":{"name":"q","ignore_missing_pipeline":true}}]"#, r#"{"a":1}"#, r#"{"a":1}"#);
    let handled = json!({ "processors": [{ "fail": { "message": "m" } }], "on_failure": [{ "set": { "field": "e", "copy_from": "_ingest.on_failure_message" } }] });
    assert_eq!(run(&handled, "{}"), Ok(json!({ "e": "m" })));
}

#[test]
fn wrong_configurations() {
    check(r#"[{"uppercase":{}}]"#, "{}", "![field] required property is missing");
    check(
        r#"[{"uppercase":{"field":"a","x":1,"y":2}}]"#,
        "{}",
        "!processor [uppercase] doesn't support one or more provided configuration parameters [x, y]",
    );
    check(
        r#"[{"uppercase":{"field":1}}]"#,
        "{}",
        "![field] property isn't a string, but of type [java.lang.Integer]",
    );
    check(r#"[{"foo":{}}]"#, "{}", "!No processor type exists with name [foo]");
    check(
        r#"[{"attachment":{"field":"a"}}]"#,
        "{}",
        "!processor type [attachment] is not supported by Limber yet",
    );
    check(
        r#"[{"fail":{"message":"m","on_failure":[]}}]"#,
        "{}",
        "![on_failure] processors list cannot be empty",
    );
    let registry = Registry::default();
    let error = registry
        .put("p", &json!({ "processors": [{ "foo": { "tag": "t" } }] }))
        .expect_err("an unknown processor");
    assert_eq!(
        error.to_json(),
        json!({ "type": "parse_exception", "reason": "No processor type exists with name [foo]", "processor_type": "foo", "processor_tag": "t" })
    );
    let error =
        registry.put("p", &json!({ "processors": [], "invalid_field": {} })).expect_err("an unknown option");
    assert_eq!(
        error.reason,
        "pipeline [p] doesn't support one or more provided configuration parameters [invalid_field]"
    );
    assert_eq!(
        registry.put("p", &json!({})).expect_err("no processors").reason,
        "[processors] required property is missing"
    );
    assert_eq!(registry.delete("zz*").expect_err("missing").reason, "pipeline [zz*] is missing");
}

#[test]
fn statistics_and_metadata() {
    let registry = Registry::default();
    registry
        .put("q", &json!({ "processors": [{ "uppercase": { "field": "a", "tag": "t" } }] }))
        .expect("valid");
    registry.put("p", &json!({ "processors": [{ "set": { "field": "_index", "value": "other" } }, { "pipeline": { "name": "q" } }] })).expect("valid");
    let snapshot = registry.snapshot();
    let mut runner = Runner::new(&snapshot, NOW);
    let mut out = Vec::new();
    for source in [br#"{"a":"x"}"#.as_slice(), b"{}"] {
        let outcome = runner.run(&["p"], Metadata { index: "i", ..Metadata::default() }, source, &mut out);
        if let Outcome::Changed(metadata) = outcome {
            assert_eq!(metadata.expect("named").index.as_deref(), Some("other"));
        }
    }
    drop(runner);
    // A replaced pipeline keeps its statistics.
    registry
        .put("q", &json!({ "processors": [{ "uppercase": { "field": "a", "tag": "t" } }] }))
        .expect("valid");
    let stats = registry.snapshot().stats();
    let counts =
        |value: &Value| (value["count"].as_u64(), value["failed"].as_u64(), value["current"].as_u64());
    assert_eq!(counts(&stats["total"]), (Some(2), Some(1), Some(0)));
    assert_eq!(counts(&stats["pipelines"]["q"]), (Some(2), Some(1), Some(0)));
    assert_eq!(
        counts(&stats["pipelines"]["q"]["processors"][0]["uppercase:t"]["stats"]),
        (Some(2), Some(1), Some(0))
    );
    assert_eq!(
        counts(&stats["pipelines"]["p"]["processors"][1]["pipeline:q"]["stats"]),
        (Some(2), Some(1), Some(0))
    );
    assert_eq!(stats["pipelines"]["p"]["ingested_as_first_pipeline_in_bytes"], 11);
}

#[test]
fn simulations() {
    let registry = Registry::default();
    let body = json!({
        "pipeline": { "processors": [
            { "set": { "field": "x", "value": 1, "tag": "t1", "description": "dd" } },
            { "fail": { "message": "m", "ignore_failure": true } },
            { "drop": {} },
        ] },
        "docs": [{ "_index": "i", "_id": "q", "_routing": "r", "_version": 3, "_source": { "a": 1 } }],
    });
    let answer = simulate(&registry.snapshot(), None, &body, true, NOW).expect("valid");
    let document = json!({ "_index": "i", "_id": "q", "_routing": "r", "_version": "3", "_source": { "a": 1, "x": 1 }, "_ingest": { "timestamp": NOW, "pipeline": "_simulate_pipeline" } });
    assert_eq!(
        answer,
        json!({ "docs": [{ "processor_results": [
        { "processor_type": "set", "status": "success", "description": "dd", "tag": "t1", "doc": document },
        { "processor_type": "fail", "status": "error_ignored", "ignored_error": { "error": { "root_cause": [{ "type": "fail_processor_exception", "reason": "m" }], "type": "fail_processor_exception", "reason": "m" } }, "doc": document },
        { "processor_type": "drop", "status": "dropped" },
    ] }] })
    );
    let body = json!({ "pipeline": { "processors": [] }, "docs": [{ "_source": { "a": 1 } }] });
    let answer = simulate(&registry.snapshot(), None, &body, false, NOW).expect("valid");
    assert_eq!(
        answer,
        json!({ "docs": [{ "doc": { "_index": "_index", "_id": "_id", "_version": "-3", "_source": { "a": 1 }, "_ingest": { "timestamp": NOW } } }] })
    );
    let error = simulate(&registry.snapshot(), Some("nope"), &body, false, NOW).expect_err("missing");
    assert_eq!(error.reason, "pipeline [nope] does not exist");
}

/// One random processor: its JSON, and its effect in the naive model (`None` when it fails).
#[derive(Debug, Clone)]
enum Operation {
    Set(Vec<String>, Value),
    Remove(Vec<String>),
    Rename(Vec<String>, Vec<String>),
    Append(Vec<String>, Value),
    Uppercase(Vec<String>),
    Copy(Vec<String>, Vec<String>),
}

impl Operation {
    fn to_json(&self) -> Value {
        let path = |path: &[String]| path.join(".");
        match self {
            Operation::Set(field, value) => json!({ "set": { "field": path(field), "value": value } }),
            Operation::Remove(field) => json!({ "remove": { "field": path(field) } }),
            Operation::Rename(field, target) => {
                json!({ "rename": { "field": path(field), "target_field": path(target) } })
            }
            Operation::Append(field, value) => json!({ "append": { "field": path(field), "value": value } }),
            Operation::Uppercase(field) => json!({ "uppercase": { "field": path(field) } }),
            Operation::Copy(field, from) => {
                json!({ "set": { "field": path(field), "copy_from": path(from) } })
            }
        }
    }

    fn apply(&self, document: &mut Value) -> Option<()> {
        match self {
            Operation::Set(field, value) => set(document, field, value.clone()),
            Operation::Remove(field) => remove(document, field).map(drop),
            Operation::Rename(field, target) => {
                get(document, field)?;
                if get(document, target).is_some() {
                    return None;
                }
                let value = remove(document, field)?;
                set(document, target, value)
            }
            // As in Elasticsearch 9.4.3, nothing is appended then, not even a list.
            Operation::Append(_, Value::Array(values)) if values.is_empty() => Some(()),
            Operation::Append(field, value) => {
                let mut list = match get(document, field) {
                    Some(Value::Array(list)) => list.clone(),
                    Some(single) => vec![single.clone()],
                    None => Vec::new(),
                };
                match value {
                    Value::Array(values) => list.extend(values.iter().cloned()),
                    single => list.push(single.clone()),
                }
                set(document, field, Value::Array(list))
            }
            Operation::Uppercase(field) => {
                let upper = match get(document, field)? {
                    Value::String(text) => Value::String(text.to_uppercase()),
                    Value::Array(list) => list
                        .iter()
                        .map(|value| value.as_str().map(str::to_uppercase))
                        .collect::<Option<Vec<_>>>()?
                        .into(),
                    _ => return None,
                };
                set(document, field, upper)
            }
            Operation::Copy(field, from) => {
                let value = get(document, from)?.clone();
                set(document, field, value)
            }
        }
    }
}

fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(part),
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    }
}

fn get<'v>(document: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(document, |value, part| step(value, part))
}

fn set(document: &mut Value, path: &[String], new: Value) -> Option<()> {
    let (first, rest) = path.split_first()?;
    let place = match document {
        Value::Object(map) if rest.is_empty() => {
            map.insert(first.clone(), new);
            return Some(());
        }
        Value::Object(map) => map.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())),
        Value::Array(list) => list.get_mut(first.parse::<usize>().ok()?)?,
        _ => return None,
    };
    if rest.is_empty() {
        *place = new;
        return Some(());
    }
    set(place, rest, new)
}

fn remove(document: &mut Value, path: &[String]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    get(document, path)?;
    let mut at = document;
    for part in parents {
        at = match at {
            Value::Object(map) => map.get_mut(part)?,
            Value::Array(list) => list.get_mut(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match at {
        Value::Object(map) => map.shift_remove(last),
        Value::Array(list) => Some(list.remove(last.parse::<usize>().ok()?)),
        _ => None,
    }
}

fn value_strategy() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1000i32..1000).prop_map(|value| json!(f64::from(value) / 8.0)),
        "[a-cé\"\\\\\n \u{1}ß]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[abé\"]", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn path_strategy() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[abé\"01]", 1..4)
}

fn operation_strategy() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (path_strategy(), value_strategy().prop_filter("null is no value", |value| !value.is_null()))
            .prop_map(|(path, value)| Operation::Set(path, value)),
        path_strategy().prop_map(Operation::Remove),
        (path_strategy(), path_strategy()).prop_map(|(from, to)| Operation::Rename(from, to)),
        (path_strategy(), value_strategy().prop_filter("null is no value", |value| !value.is_null()))
            .prop_map(|(path, value)| Operation::Append(path, value)),
        path_strategy().prop_map(Operation::Uppercase),
        (path_strategy(), path_strategy()).prop_map(|(path, from)| Operation::Copy(path, from)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn documents_change_as_in_the_naive_model(
        members in prop::collection::vec(("[abé\"01]", value_strategy()), 0..5),
        operations in prop::collection::vec(operation_strategy(), 0..8),
        is_pretty in any::<bool>(),
    ) {
        let document = Value::Object(members.into_iter().collect());
        let source = if is_pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.expect("JSON");
        let mut expected = document;
        let mut failed = false;
        for operation in &operations {
            // A failed processor may have created objects on its path. It ends the model's run as it ends a
            // pipeline.
            if operation.apply(&mut expected).is_none() {
                failed = true;
                break;
            }
        }
        let processors: Vec<Value> = operations.iter().map(Operation::to_json).collect();
        let answer = run(&json!({ "processors": processors }), &source);
        match answer {
            Ok(made) => {
                prop_assert!(!failed, "{:?} from {}", operations, source);
                prop_assert_eq!(made, expected, "{:?} from {}", operations, source);
            }
            Err(reason) => prop_assert!(failed, "{}: {:?} from {}", reason, operations, source),
        }
    }

    #[test]
    fn no_document_panics(source in "[{}\\[\\]\",:a0-9.e\\\\ -]{0,40}") {
        let processors = json!([{ "set": { "field": "a.0", "value": "{{a}}" } }, { "json": { "field": "a" } }, { "append": { "field": "a", "value": [1] } }]);
        let _ = run(&json!({ "processors": processors }), &source);
    }
}

/// A document with nearly the maximum number of values is refused, whichever processor would make more.
#[test]
fn values_beyond_the_limit_are_refused() {
    let zeros = |count: usize| vec!["0"; count].join(",");
    let room = 50;
    let source = format!(
        r#"{{"pad":[{}],"circle":{{"type":"circle","radius":"1km","coordinates":[30,10]}},"csv":","}}"#,
        zeros(NODE_COUNT_MAX - room)
    );
    for processors in [
        r#"[{"circle":{"field":"circle","error_distance":0,"shape_type":"geo_shape"}}]"#.to_owned(),
        format!(r#"[{{"set":{{"field":"a","value":[{}]}}}}]"#, zeros(2 * room)),
        format!(r#"[{{"csv":{{"field":"csv","target_fields":["a"],"empty_value":[{}]}}}}]"#, zeros(2 * room)),
    ] {
        check(&processors, &source, "!the document grew too large in an ingest pipeline");
    }
}

#[test]
fn lists_that_a_script_shares_many_times_are_counted_before_they_are_written() {
    let share = |times: usize| {
        format!(
            r#"[{{"script":{{"source":"List l = ['x']; for (int i = 0; i < {times}; i++) {{ l = [l, l] }} ctx.l = l"}}}}]"#
        )
    };
    check(&share(40), r#"{"a":1}"#, "!the document grew too large in an ingest pipeline");
    check(&share(2), r#"{"a":1}"#, r#"{"a":1,"l":[[["x"],["x"]],[["x"],["x"]]]}"#);
}

/// Pipelines that each have many levels, and call each other.
#[test]
fn levels_of_processors_are_limited() {
    let registry = Registry::default();
    for number in 0..10 {
        let call = json!({"pipeline": {"name": format!("p{}", number + 1)}});
        let each = (0..30).fold(call, |inner, _| json!({"foreach": {"field": "a", "processor": inner}}));
        registry.put(&format!("p{number}"), &json!({"processors": [each]})).expect("a pipeline");
    }
    registry.put("p10", &json!({"processors": []})).expect("a pipeline");
    std::thread::scope(|scope| {
        // As much stack as the threads of a server have.
        let thread = std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, || {
            let snapshot = registry.snapshot();
            let run = |id: &str| {
                let metadata = Metadata { index: "i", id: Some("7"), ..Metadata::default() };
                Runner::new(&snapshot, NOW).run(&[id], metadata, br#"{"a":[1]}"#, &mut Vec::new())
            };
            let Outcome::Failed(error) = run("p0") else { panic!("there are 311 levels") };
            assert_eq!(error.reason, "more than [250] levels of processors run within each other");
            assert!(matches!(run("p5"), Outcome::Changed(_)));
        });
        thread.expect("a thread").join().expect("no panic");
    });
}
