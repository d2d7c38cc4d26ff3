//! Compares `scripted_metric` with the answers of Elasticsearch 9.4.3 over four documents, recorded in
//! `data/scripted-metric-9.4.3.ndjson`.

mod support;

use limber_mapping::RequestError;
use limber_script::{AllowedScripts, ScriptLimits};
use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use limber_store::Ledger;
use serde_json::{Value, json};
use support::{NOW_MILLIS, context, recorded_shards};

fn shards(shards: Value, segment_documents: usize) -> (Vec<support::Shards>, Vec<ShardSnapshot>) {
    let mapping = json!({"properties": {
        "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "double"}, "t": {"type": "date"}
    }});
    recorded_shards(&mapping, &shards, segment_documents)
}

fn four_documents() -> Vec<Value> {
    vec![
        json!({"k": "a", "n": 1, "d": 1.5, "t": "2020-01-01"}),
        json!({"k": "a", "n": 2, "d": 2.5, "t": "2020-01-02"}),
        json!({"k": "b", "n": 3, "d": 0.5, "t": "2020-03-01"}),
        json!({"k": "c", "t": "2020-03-05"}),
    ]
}

fn answer(shards: &[ShardSnapshot], aggregations: &Value) -> Result<Value, RequestError> {
    let body = json!({"size": 0, "aggs": aggregations});
    let mut request = SearchRequest::parse(&body, &UrlParameters::default())?;
    request.typed_keys = true;
    match limber_search::execute(shards, &request, &context()) {
        Ok(response) => Ok(response.aggregations_to_json().expect("JSON")),
        Err(Error::AllShardsFailed { failures, .. }) => Err(failures[0].reason.clone()),
        Err(error) => match error.to_request_error() {
            RequestError { reason, caused_by: Some(cause), .. } if reason.is_empty() => Err(*cause),
            error => Err(error),
        },
    }
}

/// Returns the recorded part of an error, without `[1:26] `, the position of Elasticsearch's parser.
fn shown(error: &RequestError) -> Value {
    let mut out = json!({"type": error.kind, "reason": error.reason});
    if let Some(cause) = &error.caused_by {
        out["cause"] = json!({"type": cause.kind, "reason": cause.reason});
    }
    if let Some((_, position)) = error.metadata.iter().find(|(name, _)| *name == "position") {
        out["position"] = position["offset"].clone();
    }
    out
}

fn without_place(mut expected: Value) -> Value {
    for path in ["/reason", "/cause/reason"] {
        if let Some(reason) = expected.pointer_mut(path)
            && let Some((place, rest)) = reason.as_str().and_then(|reason| reason.split_once("] "))
            && place.starts_with('[')
            && place.contains(':')
        {
            *reason = rest.into();
        }
    }
    expected
}

#[test]
fn recorded_answers() {
    for segment_documents in [1, 4] {
        let (_kept, shards) = shards(json!([four_documents()]), segment_documents);
        let mut wrong = Vec::new();
        for line in include_str!("data/scripted-metric-9.4.3.ndjson").lines() {
            let case: Value = serde_json::from_str(line).expect("a recorded answer");
            let (made, expected) = match answer(&shards, &case["aggs"]) {
                Ok(made) => (made, case["aggregations"].clone()),
                Err(error) => (shown(&error), without_place(case["error"].clone())),
            };
            if made != expected {
                wrong.push(format!(
                    "{}\n  got      {made}\n  expected {expected} {}",
                    case["aggs"], case["error"]
                ));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    }
}

#[test]
fn every_shard_hands_on_its_state() {
    let documents = four_documents();
    let (_kept, shards) = shards(json!([documents[..3], documents[3..], []]), 2);
    let asked = |reduce: &str| {
        json!({"m": {"scripted_metric": {
            "init_script": "state.seen = [:]",
            "map_script": "String k = doc['k'].value; state.seen[k] = state.seen.getOrDefault(k, 0) + 1",
            "combine_script": "return state.seen", "reduce_script": reduce}}})
    };
    let made = answer(&shards, &asked("return states")).expect("answers");
    assert_eq!(made["scripted_metric#m"]["value"], json!([{"a": 2, "b": 1}, {"c": 1}, {}]));
    let sum = "long sum = 0; for (s in states) { for (v in s.values()) { sum += v } } return sum";
    assert_eq!(answer(&shards, &asked(sum)).expect("answers")["scripted_metric#m"]["value"], 4);
}

#[test]
fn many_documents_and_buckets_keep_their_states() {
    let documents: Vec<Value> =
        (0..5000).map(|n| json!({"k": format!("k{}", n % 700), "n": n, "t": "2020-01-01"})).collect();
    let (_kept, shards) = shards(json!([documents]), 1700);
    let asked = json!({"k": {"terms": {"field": "k", "size": 1000, "order": {"_key": "asc"}}, "aggs": {"m": {"scripted_metric": {
        "init_script": "state.l = []; state.m = [:]",
        // Much of this is garbage, and some is kept.
        "map_script": "def junk = [1, 2, [3]]; state.l.add([doc['n'].value]); state.m.put('' + doc['n'].value, junk)",
        "combine_script": "long sum = 0; for (x in state.l) { sum += x[0] } return [sum, state.m.size()]",
        "reduce_script": "states[0]"}}}}});
    let made = answer(&shards, &asked).expect("answers");
    let buckets = made["sterms#k"]["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), 700);
    for bucket in buckets {
        let number: i64 = bucket["key"].as_str().expect("a key")[1..].parse().expect("a number");
        let own: Vec<i64> = (0..5000).filter(|n| n % 700 == number).collect();
        assert_eq!(bucket["scripted_metric#m"]["value"], json!([own.iter().sum::<i64>(), own.len()]));
    }
}

#[test]
fn states_are_charged_to_the_ledger() {
    let documents: Vec<Value> = (0..3000).map(|n| json!({"k": format!("{n:01000}")})).collect();
    let (_kept, shards) = shards(json!([documents]), 3000);
    let run = |map: &str, ledger_bytes: u64| {
        let body = json!({"size": 0, "aggs": {"m": {"scripted_metric": {
            "init_script": "state.l = []", "map_script": map, "combine_script": "state.l.size()", "reduce_script": "states[0]"}}}});
        let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("a sound request");
        let context = limber_search::SearchContext::new(Ledger::new(ledger_bytes), NOW_MILLIS);
        limber_search::execute(&shards, &request, &context)
            .map(|response| response.aggregations_to_json().expect("JSON")["m"]["value"].clone())
            .map_err(|error| format!("{error:?}"))
    };
    // Three million bytes, none of which is kept, or all.
    assert_eq!(run("def junk = [doc['k'].value + 'x']", 2 << 20).expect("fits"), 0);
    assert_eq!(run("state.l.add(doc['k'].value)", 64 << 20).expect("fits"), 3000);
    let refused = run("state.l.add(doc['k'].value)", 2 << 20).expect_err("too much");
    assert!(refused.contains("circuit_breaking_exception") || refused.contains("Limit"), "{refused}");
    let doubled = "state.l.addAll(state.l); state.l.add(1)";
    assert!(run(doubled, 8 << 20).is_err());
}

#[test]
fn only_allowed_scripts_run() {
    let (_kept, shards) = shards(json!([four_documents()]), 4);
    let asked = json!({"m": {"scripted_metric": {
        "map_script": "state.x = 1", "combine_script": "state.x", "reduce_script": {"id": "sum"}}}});
    let allow = |inline: &[&str], stored: &[&str]| {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let metric_scripts = Some(AllowedScripts { inline: texts(inline), stored: texts(stored) });
        shards[0].scripts.set_limits(ScriptLimits { metric_scripts, ..ScriptLimits::default() });
        answer(&shards, &asked).expect_err("refused").reason
    };
    assert_eq!(allow(&[], &[]), "[map_script] contains not allowed script: [m]");
    assert_eq!(allow(&["state.x = 1"], &[]), "[combine_script] contains not allowed script: [m]");
    assert_eq!(allow(&["state.x = 1", "state.x"], &[]), "[reduce_script] contains not allowed script: [m]");
    assert_eq!(allow(&["state.x = 1", "state.x"], &["sum"]), "unable to find script [sum] in cluster state");
}

/// Map scripts that run over whole blocks of documents must leave the states that they leave document by
/// document. A loop that never runs keeps a script from the former.
#[test]
fn blocks_update_states_like_single_documents() {
    let documents: Vec<Value> = (0..300)
        .map(|n: i64| {
            let (key, time) = (["a", "b", "c"][n as usize % 3], n * 86_400_000 * 11);
            let mut document = json!({"k": key, "n": n * 37 % 41, "t": time});
            if n != 250 {
                document["d"] = json!((n * 7 % 113) as f64 / 20.0);
            }
            document
        })
        .collect();
    let (_kept, shards) = shards(json!([documents]), 120);
    let maps = [
        "state.i += doc['n'].value",
        "state.d += doc['n'].value; state.i += 1",
        "state.i += doc['n'].value * 0.5; state['l'] -= 2",
        "state.l *= doc['n'].value; state.i *= 3",
        "if (doc['n'].value > 10) { state.l += 1L } else { state.l += doc['n'].value }",
        "state.list.add(doc['n'].value); if (doc['k'].value == 'b') { state.list.add(2L) }",
        "state.list.add(doc['n'].value); state.list.add(0.5)",
        "state.twin.add(1); state.list.add(2)",
        "state.d = Math.max(state.d, doc['n'].value); state.i = Math.min(doc['n'].value - 7, state.i)",
        "state.last = doc['n'].value; state.big = doc['n'].value > 20",
        "long n = doc['n'].value; if (n < 5) { return; } n *= 2; state.l += n; state.d /= 1.5",
        "state.l += doc['n'].value; state.l = 0",
        "state.i += 1; return 5",
        "state.new += 1",
        "state.list += 1",
        "state.l /= doc['n'].value - 3",
        "state.d += doc['d'].value",
        "state.list.add(doc['t'].value.getHour()); state.l += ChronoUnit.DAYS.between(doc['t'].value, doc['t'].value)",
        "state.list.add(doc['t'].value); state.i += doc['t'].value.dayOfWeekEnum.value",
        "if (doc['d'].size() > 0) { state.d += doc['d'].value; state.l += 1 }",
        "state.i += state.l",
        "state.l += 1; state.l += 2; state.d += 0.5; state.d += doc['n'].value",
        "if (doc['n'].value % 2 == 0) { state.l += 1; state.l += 2; state.d += 0.5; state.d += 1.25 }",
    ];
    let asked = |map: &str| {
        let metric = json!({"m": {"scripted_metric": {
            "init_script": "state.i = 1; state.l = 2L; state.d = 0.25; state.list = []; state.twin = state.list",
            "map_script": map,
            "combine_script": "return state", "reduce_script": "return states"}}});
        let aggs = json!({"m": metric["m"], "k": {"terms": {"field": "k"}, "aggs": metric}});
        answer(&shards, &aggs).map_err(|error| (error.kind, error.reason))
    };
    for map in maps {
        let one_by_one = asked(&format!("for (int never = 0; never < 0; ++never) {{}} {map}"));
        let at_once = asked(map);
        match (&at_once, &one_by_one) {
            (Ok(at_once), Ok(one_by_one)) => assert_eq!(at_once, one_by_one, "{map}"),
            (at_once, one_by_one) => assert_eq!(at_once.is_err(), one_by_one.is_err(), "{map}"),
        }
    }
}
