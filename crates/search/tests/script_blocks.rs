//! Scripts that run over whole blocks of documents must answer like scripts that run document by document. A
//! loop that never runs keeps a script from the former.

mod support;

use limber_search::{SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};
use support::{context, recorded_shards};

const NO_BLOCK: &str = "for (int never = 0; never < 0; ++never) {} ";

/// Bodies that return a number.
const NUMBERS: [&str; 22] = [
    "double t = doc['d'].value; if (t > 3) { return t * 2; } return t - doc['n'].value;",
    "if (doc['n'].value % 2 == 0) return 1; else if (doc['n'].value > 20) return 2.5; else return doc['d'].value;",
    "long sum = 0; sum += doc['n'].value; sum *= 3; sum -= 1; return sum;",
    "int x = 7; x += doc['d'].value; return x;",
    "int x = 1; x++; ++x; x--; return x + doc['n'].value;",
    "def x = doc['n'].value; if (x > 10) { x = x - 10; } return x;",
    "def x = doc['n'].value; if (x > 10) { x = 0.5; } return x;",
    "double best; if (doc['n'].value > 5) { double a = 2; best = a; } else { long a = 3; best = a; } return best;",
    "boolean big = doc['d'].value > 2 && doc['n'].value < 30; if (!big) { return 0; } else { long y = doc['n'].value; return y; }",
    "float f = (float) doc['d'].value; f /= 3; return f;",
    "long n = doc['n'].value; long m = n / (n % 7 == 0 ? 1 : n % 7); return Math.max(m, 2);",
    "if (doc['s'].size() == 0) { return -1; } double s = doc['s'].value; return s + 1;",
    "double a = doc['d'].value; double b = a; a = 0; if (b > 1) { a = b; b = 2; } return a * 100 + b;",
    "if (doc['k'].value == 'b') { return 5; } return doc['n'].value;",
    "return (doc['t'].value.toInstant().toEpochMilli() - doc['u'].value.millis) / 1000000000;",
    "def t = doc['t'].value; def u = doc['u'].value; return t.isBefore(u) ? t.getHour() : u.getMinute();",
    "ZonedDateTime t = doc['t'].value; return t.dayOfWeekEnum.value * 100 + t.getMonth().getValue() + t.monthValue * 0.5;",
    "return ChronoUnit.MINUTES.between(doc['t'].value, doc['u'].value) % 1000 + ChronoUnit.MONTHS.between(doc['t'].value, doc['u'].value);",
    "return ChronoUnit.WEEKS.between(doc['t'].value, doc['u'].value) * 2;",
    "def t = doc['n'].value > 20 ? doc['t'].value : doc['u'].value; return t.year + t.dayOfYear + t.toEpochSecond() % 100;",
    "int a = 5; int b = a * 1000000; long c = b; return c * 1000000 + a / 2 + 7 % a;",
    "return 3 - 2.5 * (1 + 1) + (doc['n'].value > 3 ? 1 : 2);",
];

/// Bodies that return a boolean.
const FLAGS: [&str; 3] = [
    "if (doc['n'].value > 20) { return false; } return doc['d'].value > 1;",
    "boolean hit = doc['n'].value < 5; if (doc['k'].value == 'a') { hit = !hit; } return hit;",
    "long n = doc['n'].value; n *= n; return n > 300;",
];

/// Scripts that emit numbers.
const EMITTED: [&str; 3] = [
    "long n = doc['n'].value; if (n > 10) { emit(n); emit(n * 2); }",
    "long n = doc['n'].value; if (n < 3) { return; } n += 1; emit(n);",
    "if (doc['s'].size() > 0) { emit(1); } else { emit(2); }",
];

fn answer(shards: &[ShardSnapshot], body: &Value) -> Result<Value, String> {
    let request = SearchRequest::parse(body, &UrlParameters::default()).map_err(|error| error.reason)?;
    let response =
        limber_search::execute(shards, &request, &context()).map_err(|error| format!("{error:?}"))?;
    let hits: Vec<String> = support::ids(&response);
    Ok(
        json!({"aggregations": response.aggregations_to_json().expect("JSON"), "hits": hits, "sort": format!("{:?}", response.total)}),
    )
}

fn shards() -> (Vec<support::Shards>, Vec<ShardSnapshot>) {
    let mapping = json!({"properties": {
        "n": {"type": "long"}, "d": {"type": "scaled_float", "scaling_factor": 100}, "s": {"type": "double"},
        "k": {"type": "keyword"}, "t": {"type": "date"}, "u": {"type": "date"}
    }});
    let documents: Vec<Value> = (0..300)
        .map(|n: i64| {
            let key = ["a", "b", "c"][n as usize % 3];
            let (t, u) = (n * 7_919_773_331 - 400_000_000_000, n * 6_000_000_011);
            let mut document =
                json!({"n": n * 37 % 41, "d": (n * 7 % 113) as f64 / 20.0, "k": key, "t": t, "u": u});
            if n % 4 != 0 {
                document["s"] = json!(n as f64 / 3.0);
            }
            document
        })
        .collect();
    recorded_shards(&mapping, &json!([documents]), 150)
}

#[test]
fn blocks_answer_like_single_documents() {
    let (_kept, shards) = shards();
    let body = |kind: usize, source: &str| match kind {
        0 => json!({"size": 0, "aggs": {
            "sum": {"stats": {"script": {"source": source}}},
            "terms": {"histogram": {"interval": 1, "script": {"source": source}}}
        }}),
        1 => {
            json!({"size": 300, "track_total_hits": true, "query": {"script": {"script": {"source": source}}}})
        }
        _ => json!({"size": 0,
            "runtime_mappings": {"r": {"type": "long", "script": {"source": source}}},
            "aggs": {"stats": {"stats": {"field": "r"}}, "terms": {"terms": {"field": "r", "size": 200}}}
        }),
    };
    let cases = [NUMBERS.as_slice(), &FLAGS, &EMITTED];
    for (kind, sources) in cases.into_iter().enumerate() {
        for source in sources {
            let at_once = answer(&shards, &body(kind, source));
            let one_by_one = answer(&shards, &body(kind, &format!("{NO_BLOCK}{source}")));
            assert!(at_once.is_ok(), "{source}: {at_once:?}");
            assert_eq!(at_once, one_by_one, "{source}");
        }
    }
}

/// Terms that a script makes of a few strings are computed once each.
#[test]
fn repeated_strings_make_the_same_buckets() {
    let (_kept, shards) = shards();
    let terms = |source: &str| {
        answer(
            &shards,
            &json!({"size": 0, "aggs": {"k": {
                "terms": {"size": 100, "script": {"source": source}}, "aggs": {"n": {"sum": {"field": "n"}}}
            }}}),
        )
    };
    let source = "doc['k'].value + '/' + doc['k'].value";
    let at_once = terms(source);
    assert_eq!(at_once, terms(&format!("{NO_BLOCK}return {source};")));
    let keys = at_once.expect("an answer").to_string();
    assert!(keys.contains("a/a") && keys.contains("c/c"), "{keys}");
}

/// Memory that a script uses for one document does not count for the next one. All documents together use
/// more than a script may.
#[test]
fn each_document_has_the_memory_of_a_script_for_itself() {
    let (_kept, shards) = shards();
    let source = "String s = doc['k'].value; for (int i = 0; i < 17; ++i) { s += s; } return s.length();";
    let body = json!({"size": 0, "aggs": {"sum": {"sum": {"script": {"source": source}}}}});
    let found = answer(&shards, &body).expect("no document's script uses up its memory");
    assert_eq!(found["aggregations"]["sum"]["value"], json!(300.0 * 131_072.0));
}
