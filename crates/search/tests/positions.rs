//! Compares intervals, spans, `more_like_this` and the plain and fast vector highlighters with the answers
//! of Elasticsearch 9.4.3 (hits, scores, explanations, highlights, errors). Also compares intervals with a
//! model that lists every interval of a text.
//!
//! `data/*-9.4.3.ndjson`: a line with mapping and documents, then one recorded search per line.

mod support;

use limber_search::{Error, Rendering, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};

fn answer(shards: &[ShardSnapshot], body: &Value) -> Result<Vec<Value>, Error> {
    let request = SearchRequest::parse(body, &UrlParameters::default())?;
    let response = limber_search::execute(shards, &request, &support::context())?;
    let answer = response.to_json(&Rendering::default())?;
    Ok(answer["hits"]["hits"].as_array().cloned().unwrap_or_default())
}

/// Rounds the numbers of an answer to floats, and removes document numbers, which may differ, from
/// explanations.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!((number.as_f64().unwrap_or_default() as f32).to_string()),
        Value::Array(items) => items.iter().map(rounded).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), rounded(value))).collect()
        }
        Value::String(text) => match text.rsplit_once(" in ").filter(|(_, rest)| rest.contains(") [")) {
            Some((before, rest)) => {
                json!(format!("{before} in _{}", rest.trim_start_matches(char::is_numeric)))
            }
            None => value.clone(),
        },
        other => other.clone(),
    }
}

/// Removes the position of Elasticsearch's parser in the text.
fn without_place(reason: &str) -> &str {
    match reason.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((place, rest)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => rest,
        _ => reason,
    }
}

fn difference(case: &Value, answer: Result<Vec<Value>, Error>) -> Option<String> {
    match (case.get("error"), answer) {
        (None, Ok(hits)) => {
            let expected = case["hits"].as_array().expect("hits");
            let is_cut = case["body"]["explain"] == true;
            if (!is_cut && hits.len() != expected.len()) || hits.len() < expected.len() {
                return Some(format!("{} hits instead of {}", hits.len(), expected.len()));
            }
            expected.iter().zip(&hits).find_map(|(expected, found)| {
                ["_id", "_score", "highlight", "_explanation", "matched_queries"].into_iter().find_map(
                    |name| {
                        let (expected, found) = (rounded(&expected[name]), rounded(&found[name]));
                        (expected != found).then(|| format!("{name}: {expected}\n      is {found}"))
                    },
                )
            })
        }
        (Some(error), Ok(_)) => Some(format!("answered, expected {error}")),
        (None, Err(error)) => Some(format!("failed: {}", support::shown(&error))),
        (Some(expected), Err(error)) => {
            let found = support::shown(&error);
            let found = match found["error"]["failed_shards"][0].get("reason") {
                Some(reason) => reason.clone(),
                None => found["error"].clone(),
            };
            let reason =
                |value: &Value| without_place(value["reason"].as_str().unwrap_or_default()).to_owned();
            let sides = ((&expected["type"], reason(expected)), (&found["type"], reason(&found)));
            (sides.0 != sides.1).then(|| format!("{:?}\n      is {:?}", sides.0, sides.1))
        }
    }
}

#[test]
fn intervals_and_spans_are_elasticsearchs() {
    replay(include_str!("data/positions-9.4.3.ndjson"));
}

#[test]
fn highlighters_and_more_like_this_are_elasticsearchs() {
    replay(include_str!("data/like-and-highlight-9.4.3.ndjson"));
}

fn replay(recorded: &str) {
    let mut lines = recorded.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line
    });
    let made_of = lines.next().expect("mapping and documents");
    let cases: Vec<Value> = lines.collect();
    for segment_documents in [100, 7] {
        let (_kept, shards) =
            support::recorded_shards(&made_of["mapping"], &json!([made_of["documents"]]), segment_documents);
        let mut wrong = Vec::new();
        for case in &cases {
            // Documents are numbered from 1 here.
            let renumbered = answer(&shards, &case["body"]).map(|mut hits| {
                for hit in &mut hits {
                    let id: u32 = hit["_id"].as_str().and_then(|id| id.parse().ok()).expect("a number");
                    hit["_id"] = json!((id - 1).to_string());
                }
                hits
            });
            if let Some(difference) = difference(case, renumbered) {
                wrong.push(format!("{}\n   {difference}", case["body"]["query"]));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    }
}

/// Returns every minimal interval that contains all `terms`, in order or not, by testing all ranges of the
/// text.
fn minimal_intervals(words: &[usize], terms: &[usize], ordered: bool) -> Vec<(usize, usize)> {
    let holds = |start: usize, end: usize| {
        let stretch = &words[start..=end];
        if !ordered {
            return terms.iter().all(|term| stretch.contains(term));
        }
        let mut rest = stretch.iter();
        terms.iter().all(|term| rest.any(|word| word == term))
    };
    let all: Vec<(usize, usize)> = (0..words.len())
        .flat_map(|start| (start..words.len()).map(move |end| (start, end)))
        .filter(|(start, end)| holds(*start, *end))
        .collect();
    let is_minimal =
        |one: &(usize, usize)| !all.iter().any(|other| other != one && one.0 <= other.0 && other.1 <= one.1);
    all.iter().copied().filter(is_minimal).collect()
}

#[test]
fn intervals_are_those_of_a_model() {
    let mut state = 11u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let texts: Vec<Vec<usize>> = (0..60).map(|_| (0..1 + next(14)).map(|_| next(5)).collect()).collect();
    let text = |words: &[usize]| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let documents: Vec<Value> = texts.iter().map(|words| json!({"t": text(words)})).collect();
    let (_kept, shards) =
        support::recorded_shards(&json!({"properties": {"t": {"type": "text"}}}), &json!([documents]), 25);
    for _ in 0..300 {
        let mut terms: Vec<usize> = (0..5).collect();
        (0..5).for_each(|at| terms.swap(at, next(5)));
        terms.truncate(2 + next(3));
        let (ordered, gaps_max) = (next(2) == 0, next(6) as i64 - 1);
        let body = json!({"size": 100, "query": {"intervals": {"t": {"match": {
            "query": text(&terms), "ordered": ordered, "max_gaps": gaps_max
        }}}}});
        let mut expected: Vec<(usize, f32)> = Vec::new();
        for (number, words) in texts.iter().enumerate() {
            let mut freq = 0.0f32;
            for (start, end) in minimal_intervals(words, &terms, ordered) {
                let gaps = end - start + 1 - terms.len();
                if gaps_max == -1 || gaps as i64 <= gaps_max {
                    freq = (f64::from(freq) + 1.0 / (gaps + 1) as f64) as f32;
                }
            }
            if freq > 0.0 {
                expected.push((number + 1, 1.0 - 1.0 / (1.0 + freq)));
            }
        }
        let mut found: Vec<(usize, f32)> = support::search(&shards, &body)
            .hits
            .iter()
            .map(|hit| (hit.id.as_deref().unwrap().parse().unwrap(), hit.score.unwrap()))
            .collect();
        found.sort_by_key(|(id, _)| *id);
        assert_eq!(found, expected, "{body}");
    }
}

/// Testing every pair of positions would take 10^10 steps.
#[test]
fn long_texts_take_time_in_proportion() {
    let words = "a b ".repeat(50_000);
    let (_kept, shards) = support::recorded_shards(
        &json!({"properties": {"t": {"type": "text"}}}),
        &json!([[{"t": words}]]),
        1,
    );
    for query in [
        json!({"intervals": {"t": {"match": {"query": "a b"}}}}),
        json!({"intervals": {"t": {"match": {"query": "a b a b", "max_gaps": 0, "ordered": true}}}}),
        json!({"intervals": {"t": {"any_of": {"intervals": [{"prefix": {"prefix": "a"}}, {"match": {"query": "b a"}}],
            "filter": {"not_overlapping": {"match": {"query": "b b b"}}}}}}}),
        json!({"span_near": {"clauses": [{"span_term": {"t": "b"}}, {"span_term": {"t": "a"}}], "slop": 5}}),
        json!({"span_near": {"clauses": [{"span_term": {"t": "b"}}, {"span_term": {"t": "a"}}], "slop": 5, "in_order": false}}),
        json!({"span_not": {"include": {"span_term": {"t": "b"}}, "exclude": {"span_term": {"t": "a"}}}}),
    ] {
        support::search(&shards, &json!({"query": query, "highlight": {"fields": {"t": {}}}}));
    }
}
