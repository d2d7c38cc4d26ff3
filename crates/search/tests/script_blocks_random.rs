//! Random scripts must answer alike over whole blocks of documents and document by document. A loop that
//! never runs keeps a script from the former.

mod support;

use limber_search::{SearchRequest, ShardSnapshot, UrlParameters};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{context, recorded_shards};

const NO_BLOCK: &str = "for (int never = 0; never < 0; ++never) {} ";

/// Answers; an error counts as the same whatever its position in the source.
fn answer(shards: &[ShardSnapshot], body: &Value) -> Result<Value, ()> {
    let request = SearchRequest::parse(body, &UrlParameters::default()).map_err(|_| ())?;
    let response = limber_search::execute(shards, &request, &context()).map_err(|_| ())?;
    let sorts: Vec<String> = response.hits.iter().map(|hit| format!("{:?} {:?}", hit.id, hit.sort)).collect();
    Ok(
        json!({"aggregations": response.aggregations_to_json().expect("JSON"), "hits": sorts, "total": format!("{:?}", response.total)}),
    )
}

/// The documents of all tests, made once for each thread. How many scripts may be compiled in a minute is
/// limited, so each case has scripts of its own.
fn shards() -> Vec<ShardSnapshot> {
    thread_local! {
        static MADE: (Vec<support::Shards>, Vec<ShardSnapshot>) = made_shards();
    }
    let fresh = |shard: &ShardSnapshot| ShardSnapshot { scripts: Default::default(), ..shard.clone() };
    MADE.with(|(_, shards)| shards.iter().map(fresh).collect())
}

fn made_shards() -> (Vec<support::Shards>, Vec<ShardSnapshot>) {
    let mapping = json!({"properties": {
        "n": {"type": "long"}, "d": {"type": "scaled_float", "scaling_factor": 4}, "s": {"type": "double"},
        "k": {"type": "keyword"}, "w": {"type": "keyword"}, "t": {"type": "date"}, "b": {"type": "boolean"},
        "i": {"type": "integer"}
    }});
    let documents: Vec<Value> = (0..200)
        .map(|n: i64| {
            let key = ["a", "b", "cc"][n as usize % 3];
            let mut document = json!({
                "n": n * 37 % 41 - 3, "d": (n * 7 % 113) as f64 / 4.0, "k": key,
                "t": n * 7_919_773_331 - 400_000_000_000, "b": n % 5 < 2, "i": n % 7
            });
            match n % 4 {
                0 => {}
                1 => document["w"] = json!(format!("w{}", n % 11)),
                2 => document["w"] = json!(["x", format!("y{}", n % 3)]),
                _ => document["s"] = json!(n as f64 / 8.0),
            }
            document
        })
        .collect();
    recorded_shards(&mapping, &json!([documents]), 90)
}

/// (Number, condition, string) expressions, which refer to one another.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sort {
    Number,
    Condition,
    Text,
}

fn leaf(sort: Sort) -> BoxedStrategy<String> {
    let known: &[&str] = match sort {
        Sort::Number => &[
            "doc['n'].value",
            "doc['d'].value",
            "doc['i'].value",
            "3",
            "2.5",
            "7L",
            "-1",
            "doc['t'].value.getHour()",
            "doc['t'].value.toInstant().toEpochMilli()",
            "doc['t'].value.plusDays(40).getMonthValue()",
            "doc['t'].value.minus(3, ChronoUnit.HOURS).truncatedTo(ChronoUnit.DAYS).toInstant().toEpochMilli()",
            "doc['t'].value.plusMinutes(doc['i'].value).getMinute()",
            "doc['t'].value.getMonth().getValue()",
            "doc['t'].value.withZoneSameInstant(ZoneId.of('America/New_York')).getHour()",
            "doc['w'].size()",
            "(doc['s'].size() == 0 ? 0 : doc['s'].value)",
            "(doc['s'].empty ? 1.5 : doc['s'].value)",
            "params.p",
            "params.m[doc['k'].value]",
            "params.m.getOrDefault(doc['k'].value, 4)",
        ],
        Sort::Condition => &[
            "doc['b'].value",
            "true",
            "doc['w'].size() > 0",
            "doc['k'].value == 'a'",
            "params.l.contains(doc['k'].value)",
            "doc['t'].value.isBefore(ZonedDateTime.parse('1970-06-01T00:00:00Z'))",
        ],
        Sort::Text => &[
            "doc['k'].value",
            "'b'",
            "''",
            "(doc['w'].size() == 0 ? 'none' : doc['w'].value)",
            "doc['t'].value.dayOfWeekEnum.toString()",
            "doc['t'].value.getDayOfWeekEnum().getDisplayName(TextStyle.SHORT, Locale.ROOT)",
            "doc['t'].value.toLocalDate().toString()",
            "doc['t'].value.month.toString()",
            "(params.t.get(doc['k'].value) ?: 'other')",
        ],
    };
    prop::sample::select(known).prop_map(str::to_owned).boxed()
}

fn expression(sort: Sort, depth: u32) -> BoxedStrategy<String> {
    if depth == 0 {
        return leaf(sort);
    }
    let number = || expression(Sort::Number, depth - 1);
    let condition = || expression(Sort::Condition, depth - 1);
    let text = || expression(Sort::Text, depth - 1);
    let own = || expression(sort, depth - 1);
    let chosen = (condition(), own(), own()).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})"));
    match sort {
        Sort::Number => prop_oneof![
            3 => leaf(sort),
            2 => chosen,
            4 => (number(), prop::sample::select(&["+", "-", "*", "/", "%"][..]), number())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (prop::sample::select(&["Math.abs", "Math.floor", "Math.round", "(double)", "(long)", "(int)", "-"][..]), number())
                .prop_map(|(function, a)| format!("{function}({a})")),
            1 => (prop::sample::select(&["max", "min"][..]), number(), number())
                .prop_map(|(function, a, b)| format!("Math.{function}({a}, {b})")),
            1 => text().prop_map(|x| format!("{x}.length()")),
            1 => text().prop_map(|x| format!("{x}.indexOf('o')")),
        ]
        .boxed(),
        Sort::Condition => prop_oneof![
            2 => leaf(sort),
            4 => (number(), prop::sample::select(&["<", "<=", ">", ">=", "==", "!="][..]), number())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (condition(), prop::sample::select(&["&&", "||"][..]), condition())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => condition().prop_map(|a| format!("!({a})")),
            1 => (text(), text()).prop_map(|(x, y)| format!("({x} == {y})")),
            1 => text().prop_map(|x| format!("{x}.startsWith('a')")),
        ]
        .boxed(),
        Sort::Text => prop_oneof![
            3 => leaf(sort),
            2 => chosen,
            2 => (text(), text()).prop_map(|(x, y)| format!("({x} + {y})")),
            1 => (text(), number()).prop_map(|(x, a)| format!("({x} + {a})")),
            1 => text().prop_map(|x| format!("{x}.toUpperCase()")),
            1 => text().prop_map(|x| format!("{x}.substring(0, 1)")),
            1 => number().prop_map(|a| format!("String.valueOf({a})")),
        ]
        .boxed(),
    }
}

/// Statements that end with `last`, of which `VALUE` is replaced by an expression.
fn body(sort: Sort, last: &'static str) -> BoxedStrategy<String> {
    let value = || expression(sort, 2);
    let condition = || expression(Sort::Condition, 1);
    let end = move |value: String| last.replace("VALUE", &value);
    prop_oneof![
        value().prop_map(end),
        (condition(), value(), value()).prop_map(move |(c, a, b)| format!(
            "if ({c}) {{ {} }} else {{ {} }}",
            end(a),
            end(b)
        )),
        (condition(), condition(), value(), value(), value()).prop_map(move |(c, e, a, b, f)| {
            format!(
                "def x = {a}; if ({c}) {{ x = {b}; }} else if ({e}) {{ def y = x; x = {f}; }} {}",
                end("x".to_owned())
            )
        }),
        (value(), expression(Sort::Number, 1), value()).prop_map(move |(a, n, b)| {
            format!(
                "def x = {a}; def y = {n}; y += 2; if (y > 10) {{ {} }} else {{ {} }}",
                end("x".to_owned()),
                end(b)
            )
        }),
    ]
    .boxed()
}

fn check(shards: &[ShardSnapshot], source: &str, of: impl Fn(&Value) -> Value) -> Result<(), TestCaseError> {
    let params = json!({"p": 5, "m": {"a": 1, "b": 2.5, "cc": 3}, "l": ["a", "z"], "t": {"a": "one"}});
    let script = |source: String| json!({"source": source, "params": params});
    let at_once = answer(shards, &of(&script(source.to_owned())));
    let start = source.rfind("return twice").unwrap_or(0);
    let slow = format!("{}{NO_BLOCK}{}", &source[..start], &source[start..]);
    let one_by_one = answer(shards, &of(&script(slow)));
    prop_assert_eq!(at_once, one_by_one, "{}", source);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn numbers(source in body(Sort::Number, "return VALUE;")) {
        let shards = shards();
        check(&shards, &source, |script| json!({"size": 0, "aggs": {
            "t": {"terms": {"script": script, "size": 500}}, "m": {"max": {"script": script}}
        }}))?;
        check(&shards, &source, |script| json!({"size": 5, "sort": [
            {"_script": {"type": "number", "order": "desc", "script": script}}, "_doc"
        ]}))?;
    }

    #[test]
    fn changed_values(source in expression(Sort::Number, 2)) {
        let shards = shards();
        let source = source.replace("doc['n'].value", "_value").replace("doc['d'].value", "_value");
        for field in ["n", "d", "s", "t", "b"] {
            check(&shards, &format!("return {source};"), |script| json!({"size": 0, "aggs": {
                "s": {"stats": {"field": field, "script": script}}
            }}))?;
        }
    }

    #[test]
    fn functions(source in expression(Sort::Number, 2), condition in expression(Sort::Condition, 1)) {
        let shards = shards();
        let body = source.replace("doc['n'].value", "a").replace("doc['d'].value", "b");
        let source = format!(
            "double twice(double x) {{ if (x > 3) {{ return x; }} return x * 2; }} \
             def f(def a, def b) {{ if ({condition}) {{ def c = a; return c; }} return {body}; }} \
             return twice(f(doc['n'].value, 2.5)) + f(doc['i'].value, doc['d'].value);"
        );
        check(&shards, &source, |script| json!({"size": 0, "aggs": {"t": {"terms": {"script": script, "size": 500}}}}))?;
    }

    #[test]
    fn conditions(source in body(Sort::Condition, "return VALUE;")) {
        let shards = shards();
        check(&shards, &source, |script| {
            json!({"size": 300, "track_total_hits": true, "query": {"script": {"script": script}}})
        })?;
    }

    #[test]
    fn texts(source in body(Sort::Text, "return VALUE;")) {
        let shards = shards();
        check(&shards, &source, |script| json!({"size": 0, "aggs": {"t": {"terms": {"script": script, "size": 500}}}}))?;
        check(&shards, &source, |script| json!({"size": 5, "sort": [
            {"_script": {"type": "string", "order": "desc", "script": script}}, "_doc"
        ]}))?;
    }

    #[test]
    fn runtime_numbers(source in body(Sort::Number, "emit(VALUE);"), kind in prop::sample::select(&["double", "long", "date"][..])) {
        let shards = shards();
        check(&shards, &source, |script| json!({
            "size": 4, "sort": [{"r": {"order": "desc", "missing": 3}}, "_doc"], "track_total_hits": true,
            "runtime_mappings": {"r": {"type": kind, "script": script}},
            "query": {"bool": {"must_not": {"terms": {"r": [1, 3]}}, "filter": {"range": {"r": {"gte": -2, "lt": 50000}}}}},
            "aggs": {"t": {"terms": {"field": "r", "size": 500}}}
        }))?;
    }

    #[test]
    fn runtime_texts(source in body(Sort::Text, "emit(VALUE);")) {
        let shards = shards();
        let queries = [
            json!({"prefix": {"r": "a"}}), json!({"wildcard": {"r": "*o*"}}), json!({"exists": {"field": "r"}}),
            json!({"bool": {"must_not": {"terms": {"r": ["a", "b", "B"]}}}}), json!({"range": {"r": {"gte": "b", "lt": "n"}}}),
        ];
        for query in queries {
            check(&shards, &source, |script| json!({
                "size": 4, "sort": [{"r": "desc"}, "_doc"], "track_total_hits": true, "query": query,
                "runtime_mappings": {"r": {"type": "keyword", "script": script}},
                "aggs": {"t": {"terms": {"field": "r", "size": 500}}}
            }))?;
        }
    }

    #[test]
    fn several_values(
        a in expression(Sort::Number, 1), c in expression(Sort::Condition, 1),
        b in expression(Sort::Number, 1), d in expression(Sort::Text, 1),
    ) {
        let shards = shards();
        let numbers = format!("emit((double) {a}); if ({c}) {{ emit((double) {b}); return; }} emit(2.5);");
        let texts = format!("emit({d}); if ({c}) {{ emit('x'); }} else if ({a} > 4) {{ return; }} emit(doc['k'].value);");
        for (kind, source) in [("double", numbers), ("keyword", texts)] {
            check(&shards, &source, |script| json!({
                "size": 4, "sort": [{"r": "desc"}, "_doc"], "track_total_hits": true,
                "runtime_mappings": {"r": {"type": kind, "script": script}}, "query": {"range": {"r": {"gte": "1"}}},
                "aggs": {"t": {"terms": {"field": "r", "size": 500}}, "n": {"value_count": {"field": "r"}}}
            }))?;
        }
    }

    #[test]
    fn states(map in state_script()) {
        let shards = shards();
        let (key, value, condition, form) = map;
        let source = form.replace("KEY", &key).replace("VALUE", &value).replace("COND", &condition);
        check(&shards, &source, |script| {
            let mut map = script.clone();
            map["params"] = json!({"p": 5, "m": {"a": 1, "b": 2.5, "cc": 3}, "l": ["a", "z"], "t": {"a": "one"}});
            let metric = json!({"scripted_metric": {
                "init_script": "state.m = [:]; state.n = 0; state.x = 0.0; state.l = []",
                "map_script": map, "combine_script": "return state", "reduce_script": "return states"
            }});
            json!({"size": 0, "aggs": {"s": metric, "k": {"terms": {"field": "k"}, "aggs": {"s": metric}}}})
        })?;
    }
}

/// Key, value, condition, and what is done with them.
fn state_script() -> BoxedStrategy<(String, String, String, &'static str)> {
    let forms = [
        "state.m[KEY] = state.m.getOrDefault(KEY, 0) + 1",
        "def k = KEY; state.m[k] = state.m.getOrDefault(k, 0.0) + VALUE; state.n += 1",
        "def k = KEY; state.m.put(k, VALUE + state.m.getOrDefault(k, 0.5))",
        "def k = KEY; if (state.m.containsKey(k)) { state.m[k] += VALUE } else { state.m[k] = VALUE }",
        "def k = KEY; if (!state.m.containsKey(k)) { state.m[k] = 0.0 } state.m[k] += VALUE;",
        "def k = KEY; state.m.putIfAbsent(k, 0); state.m[k] += 1; state.x += VALUE",
        "def k = KEY; state.m.computeIfAbsent(k, z -> 0L); state.m[k] += 2L",
        "state.m.merge(KEY, VALUE, (a, b) -> a + b)",
        "state.m.merge(KEY, VALUE, (a, b) -> Math.max(a, b))",
        "def k = KEY; def old = state.m.get(k); state.m[k] = old == null ? 1 : old + 1;",
        "def k = KEY; int old = state.m.getOrDefault(k, 0); state.m[k] = old + 1;",
        "def k = KEY; state.m[k] = state.m.containsKey(k) ? Math.min(state.m[k], VALUE) : VALUE;",
        "def k = KEY; state.m[k] = VALUE;",
        "def v = VALUE; if (v > state.x) { state.x = v }",
        "def v = VALUE; if (state.n <= v) { state.n = v }",
        "def v = VALUE; state.n = v < state.n ? v : state.n;",
        "if (COND) { state.m.a = VALUE; state.n++ } else { state.n += 3 }",
        "if (COND) { state.m[KEY] = state.m.getOrDefault(KEY, 0) + 1 } else { state.m.other = state.m.getOrDefault('other', 0) + 1 }",
        "if (COND) return; state.l.add(KEY); state.x = Math.max(state.x, VALUE)",
        "def n = state.n; state.n = n + 1; state.m[KEY] = n;",
        "state.n += 1; state.n *= 2; state.m.z = state.n",
        "def k = KEY; if (COND) { k = 'z' } state.m[k] = state.m.getOrDefault(k, 0) + 1; state.m[k] = state.m.getOrDefault(k, 0) + 1",
    ];
    let keys = [
        "doc['k'].value",
        "doc['i'].value",
        "doc['t'].value.getHour()",
        "(doc['w'].size() == 0 ? null : doc['w'].value)",
        "'one'",
    ];
    let values = [
        "1",
        "2.5",
        "doc['n'].value",
        "doc['d'].value",
        "doc['i'].value * 2",
        "(doc['b'].value ? doc['d'].value : 0)",
    ];
    let strings =
        |known: &[&str]| prop::sample::select(known.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    (strings(&keys), strings(&values), expression(Sort::Condition, 1), prop::sample::select(forms.to_vec()))
        .boxed()
}
