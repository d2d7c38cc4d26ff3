//! Compares random queries over random documents in several segments with deletes with a model that visits
//! every document.

mod support;

use std::sync::Arc;

use limber_search::{
    CacheCounters, Cursor, QueryCache, RequestCache, SearchRequest, ShardCaches, ShardSnapshot, UrlParameters,
};
use limber_store::Pool;
use serde_json::{Value, json};

/// xorshift64*; every run can be replayed from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

struct Doc {
    id: String,
    body: Vec<String>,
    tags: Vec<String>,
    numbers: Vec<i64>,
    double: Option<f64>,
    live: bool,
}

/// Returns a word; words have very different frequencies.
fn word(random: &mut Random) -> String {
    let bits = random.below(7);
    format!("w{}", random.below(1 << bits))
}

fn document(random: &mut Random, number: usize) -> (Doc, Value) {
    let body: Vec<String> = (0..random.below(12)).map(|_| word(random)).collect();
    let mut tags: Vec<String> = (0..random.below(3)).map(|_| format!("t{}", random.below(40))).collect();
    tags.dedup();
    // The numbers mostly ascend, like the time in a log; some documents have several, some none.
    let numbers: Vec<i64> = match random.below(10) {
        0 => Vec::new(),
        1 => vec![random.below(5000) as i64, random.below(5000) as i64],
        _ => vec![number as i64 + random.below(50) as i64],
    };
    let double = (!random.one_in(4)).then(|| random.below(1000) as f64 / 8.0 - 50.0);
    let id = format!("id{number}");
    let mut source = json!({});
    if !body.is_empty() {
        source["body"] = body.join(" ").into();
    }
    if !tags.is_empty() {
        source["tag"] = tags.clone().into();
    }
    if !numbers.is_empty() {
        source["n"] = numbers.clone().into();
    }
    if let Some(double) = double {
        source["d"] = double.into();
    }
    (Doc { id, body, tags, numbers, double, live: true }, source)
}

fn corpus(seed: u64, sizes: &[usize]) -> (support::Shards, ShardSnapshot, Vec<Doc>) {
    let mapping = json!({"properties": {
        "body": {"type": "text"}, "tag": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "double"}
    }});
    let mut random = Random(seed);
    let mut shards = support::Shards::new(&mapping);
    let (mut docs, mut views) = (Vec::new(), Vec::new());
    for size in sizes {
        let mut batch = Vec::new();
        let mut deleted = Vec::new();
        for at in 0..*size {
            let (mut doc, source) = document(&mut random, docs.len());
            if random.one_in(10) && *size > 1 {
                doc.live = false;
                deleted.push(at as u32);
            }
            batch.push((doc.id.clone(), source));
            docs.push(doc);
        }
        views.push(shards.segment(&batch, &deleted));
    }
    let shard = shards.shard(0, views);
    (shards, shard, docs)
}

/// A query's predicate in the model: whether a document matches.
type Model = Box<dyn Fn(&Doc) -> bool>;

fn query(random: &mut Random, depth: u32) -> (Value, Model) {
    let kinds = if depth == 0 { 12 } else { 16 };
    match random.below(kinds) {
        0 => (json!({"match_all": {}}), Box::new(|_| true)),
        1 => {
            let tag = format!("t{}", random.below(42));
            (json!({"term": {"tag": tag}}), Box::new(move |doc| doc.tags.contains(&tag)))
        }
        2 => {
            let word = word(random);
            (json!({"term": {"body": {"value": word}}}), Box::new(move |doc| doc.body.contains(&word)))
        }
        3 => {
            let count = random.below(30) + 1;
            let tags: Vec<String> = (0..count).map(|_| format!("t{}", random.below(42))).collect();
            (
                json!({"terms": {"tag": tags}}),
                Box::new(move |doc| doc.tags.iter().any(|tag| tags.contains(tag))),
            )
        }
        4 => {
            let numbers: Vec<i64> = (0..random.below(20)).map(|_| random.below(5000) as i64).collect();
            (
                json!({"terms": {"n": numbers}}),
                Box::new(move |doc| doc.numbers.iter().any(|n| numbers.contains(n))),
            )
        }
        5 => {
            let (low, width) = (random.below(5000) as i64, 1 << random.below(13));
            let (gt, lte) = (low, low + width);
            (
                json!({"range": {"n": {"gt": gt, "lte": lte}}}),
                Box::new(move |doc| doc.numbers.iter().any(|n| *n > gt && *n <= lte)),
            )
        }
        6 => {
            let low = random.below(100) as f64 - 50.0;
            (
                json!({"range": {"d": {"gte": low, "lt": low + 20.0}}}),
                Box::new(move |doc| doc.double.is_some_and(|d| d >= low && d < low + 20.0)),
            )
        }
        7 => match random.below(3) {
            0 => (json!({"exists": {"field": "body"}}), Box::new(|doc| !doc.body.is_empty())),
            1 => (json!({"exists": {"field": "tag"}}), Box::new(|doc| !doc.tags.is_empty())),
            _ => (json!({"exists": {"field": "n"}}), Box::new(|doc| !doc.numbers.is_empty())),
        },
        8 => {
            let ids: Vec<String> =
                (0..random.below(8)).map(|_| format!("id{}", random.below(6000))).collect();
            (json!({"ids": {"values": ids}}), Box::new(move |doc| ids.contains(&doc.id)))
        }
        9 => {
            let prefix = format!("t{}", random.below(5));
            match random.below(3) {
                0 => (
                    json!({"prefix": {"tag": prefix}}),
                    Box::new(move |doc| doc.tags.iter().any(|tag| tag.starts_with(&prefix))),
                ),
                1 => {
                    let low = prefix.clone();
                    (
                        json!({"range": {"tag": {"gt": prefix}}}),
                        Box::new(move |doc| doc.tags.iter().any(|tag| *tag > low)),
                    )
                }
                _ => {
                    let end = prefix[1..].to_owned();
                    (
                        json!({"wildcard": {"tag": format!("t?{end}*")}}),
                        Box::new(move |doc| {
                            doc.tags.iter().any(|tag| tag.len() > 2 && tag[2..].starts_with(&end))
                        }),
                    )
                }
            }
        }
        10 => {
            let words: Vec<String> = (0..random.below(5) + 1).map(|_| word(random)).collect();
            let mut distinct = words.clone();
            distinct.sort();
            distinct.dedup();
            let text = words.join(" ");
            match random.below(3) {
                0 => (
                    json!({"match": {"body": text}}),
                    Box::new(move |doc| words.iter().any(|word| doc.body.contains(word))),
                ),
                1 => (
                    json!({"match": {"body": {"query": text, "operator": "and"}}}),
                    Box::new(move |doc| words.iter().all(|word| doc.body.contains(word))),
                ),
                _ => (
                    json!({"match": {"body": {"query": distinct.join(" "), "minimum_should_match": 2}}}),
                    Box::new(move |doc| {
                        let found = distinct.iter().filter(|word| doc.body.contains(word)).count();
                        // A single clause is not a boolean query: the minimum does not apply.
                        if distinct.len() == 1 { found == 1 } else { found >= 2 }
                    }),
                ),
            }
        }
        11 => {
            let words: Vec<String> = (0..random.below(2) + 2).map(|_| word(random)).collect();
            (
                json!({"match_phrase": {"body": words.join(" ")}}),
                Box::new(move |doc| doc.body.windows(words.len()).any(|window| window == words.as_slice())),
            )
        }
        12 => {
            let (inner, model) = query(random, depth - 1);
            (json!({"constant_score": {"filter": inner, "boost": 2.5}}), model)
        }
        _ => boolean(random, depth - 1),
    }
}

fn boolean(random: &mut Random, depth: u32) -> (Value, Model) {
    let part = |random: &mut Random, bound: u64| {
        let parts: Vec<(Value, Model)> = (0..random.below(bound)).map(|_| query(random, depth)).collect();
        let (queries, models): (Vec<Value>, Vec<Model>) = parts.into_iter().unzip();
        (queries, models)
    };
    let (must, must_models) = part(random, 3);
    let (filter, filter_models) = part(random, 3);
    let (should, should_models) = part(random, 5);
    let (must_not, must_not_models) = part(random, 2);
    let mut body = json!({"must": must, "filter": filter, "should": should, "must_not": must_not});
    let asked = random.below(4) as usize;
    if asked > 0 && !should_models.is_empty() {
        body["minimum_should_match"] = asked.into();
    }
    let is_optional = !must_models.is_empty() || !filter_models.is_empty();
    let model = move |doc: &Doc| {
        let all = |models: &[Model]| models.iter().all(|model| model(doc));
        let found = should_models.iter().filter(|model| model(doc)).count();
        let needed = match (should_models.is_empty(), is_optional) {
            (true, _) => 0,
            (false, true) => asked,
            (false, false) => asked.max(1),
        };
        all(&must_models)
            && all(&filter_models)
            && found >= needed
            && !must_not_models.iter().any(|model| model(doc))
    };
    (json!({"bool": body}), Box::new(model))
}

#[test]
fn hits_are_the_models() {
    let (_shards, shard, docs) = corpus(7, &[4300, 700, 1, 60]);
    let shard = [shard];
    let mut random = Random(99);
    for _ in 0..120 {
        let (query, model) = query(&mut random, 2);
        let mut expected: Vec<&str> =
            docs.iter().filter(|doc| doc.live && model(doc)).map(|doc| doc.id.as_str()).collect();
        let all = support::search(
            &shard,
            &json!({"query": query, "size": 10_000, "_source": false, "track_total_hits": true}),
        );
        let mut found = support::ids(&all);
        let by_score = found.clone();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{query}");
        assert_eq!(all.total.unwrap().value, expected.len() as u64, "{query}");
        let none = support::search(&shard, &json!({"query": query, "size": 0, "track_total_hits": true}));
        assert_eq!(none.total.unwrap().value, expected.len() as u64, "counting {query}");
        // Skipping documents that cannot be among the best changes neither the best hits nor their scores.
        for limit in [json!(false), json!(10), json!(10_000)] {
            let few = support::search(
                &shard,
                &json!({"query": query, "size": 7, "_source": false, "track_total_hits": limit}),
            );
            assert_eq!(support::ids(&few), by_score[..by_score.len().min(7)], "best of {query}");
            for (left, right) in few.hits.iter().zip(&all.hits) {
                assert_eq!(left.score, right.score, "{query}");
            }
        }
        let scores: Vec<f32> = all.hits.iter().map(|hit| hit.score.unwrap()).collect();
        assert!(scores.is_sorted_by(|left, right| left >= right), "{query}");
    }
}

/// Uses twenty windows, so that whole windows and blocks are skipped.
#[test]
fn skipping_changes_nothing() {
    let (_shards, shard, _) = corpus(11, &[18_000, 4_200]);
    let shard = [shard];
    let mut random = Random(31);
    for _ in 0..5 {
        let words: Vec<String> = (0..random.below(4) + 1).map(|_| word(&mut random)).collect();
        let query = match random.below(3) {
            0 => json!({"match": {"body": words.join(" ")}}),
            1 => {
                json!({"bool": {"must": {"match": {"body": words[0]}}, "should": {"match": {"body": words.join(" ")}}}})
            }
            _ => json!({"match_all": {}}),
        };
        let sorts = [
            json!(null),
            json!([{"n": "desc"}]),
            json!([{"n": "asc"}, {"d": "desc"}]),
            json!([{"d": {"order": "desc", "missing": "_first"}}]),
        ];
        for sort in sorts {
            let mut body = json!({"query": query, "size": 5, "_source": false, "track_total_hits": true});
            if !sort.is_null() {
                body["sort"] = sort;
            }
            let whole = support::search(&shard, &body);
            // The two requests differ only in whether documents are skipped.
            let mut exhaustive = body.clone();
            exhaustive["size"] = 300.into();
            assert_eq!(
                support::ids(&whole),
                support::ids(&support::search(&shard, &exhaustive))[..whole.hits.len()],
                "{body}"
            );
            for limit in [json!(false), json!(100), json!(10_000)] {
                body["track_total_hits"] = limit;
                let few = support::search(&shard, &body);
                assert_eq!(support::ids(&few), support::ids(&whole), "{body}");
                assert_eq!(few.max_score, whole.max_score, "{body}");
                if let (Some(few), Some(whole)) = (few.total, whole.total) {
                    let counted =
                        if few.is_lower_bound { few.value <= whole.value } else { few.value == whole.value };
                    assert!(counted, "{few:?} {whole:?} {body}");
                }
            }
        }
    }
}

/// Returns the documents in the model's order for a sort.
fn sorted<'d>(docs: &'d [Doc], sort: &Value, model: &Model) -> Vec<&'d str> {
    let (field, options) = sort.as_object().unwrap().iter().next().unwrap();
    let descending = options["order"] == "desc";
    let pick = |values: Vec<f64>| {
        let values = values.into_iter();
        if descending { values.reduce(f64::max) } else { values.reduce(f64::min) }
    };
    let missing_first = options["missing"] == "_first";
    let mut keyed: Vec<(bool, f64, String, &str)> = docs
        .iter()
        .filter(|doc| doc.live && model(doc))
        .map(|doc| {
            let mut term = String::new();
            let key = match field.as_str() {
                "n" => pick(doc.numbers.iter().map(|n| *n as f64).collect()),
                "d" => doc.double,
                _ => {
                    let found = if descending { doc.tags.iter().max() } else { doc.tags.iter().min() };
                    term = found.cloned().unwrap_or_default();
                    found.map(|_| 0.0)
                }
            };
            (key.is_none(), key.unwrap_or(0.0), term, doc.id.as_str())
        })
        .collect();
    keyed.sort_by(|left, right| {
        let missing = if missing_first { right.0.cmp(&left.0) } else { left.0.cmp(&right.0) };
        let key = left.1.total_cmp(&right.1).then(left.2.cmp(&right.2));
        missing.then(if descending { key.reverse() } else { key })
    });
    keyed.into_iter().map(|(.., id)| id).collect()
}

#[test]
fn sorted_hits_and_pages_are_the_models() {
    let (_shards, shard, docs) = corpus(21, &[4300, 300, 1, 200]);
    let shard = [shard];
    let mut random = Random(5);
    for round in 0..36 {
        let field = ["n", "d", "tag"][round % 3];
        let order = ["asc", "desc"][random.below(2) as usize];
        let missing = ["_last", "_first"][random.below(2) as usize];
        let sort = json!({field: {"order": order, "missing": missing}});
        let (query, model) = query(&mut random, 1);
        let expected = sorted(&docs, &sort, &model);
        let size = 1 + random.below(20);
        let body = json!({"query": query, "sort": [sort], "size": size, "_source": false, "track_total_hits": random.one_in(2)});
        let first = support::search(&shard, &body);
        assert_eq!(support::ids(&first), expected[..expected.len().min(size as usize)], "{body}");
        if let Some(total) = first.total {
            assert_eq!(total.value, expected.len() as u64);
        }
        // Pages with `search_after`, with document order as the last key.
        let mut seen = Vec::new();
        let mut after: Option<Vec<Value>> = None;
        let size = 1 + expected.len() as u64 / 4;
        loop {
            let mut body = json!({"query": query, "sort": [sort, "_doc"], "size": size, "_source": false, "track_total_hits": false});
            if let Some(after) = &after {
                body["search_after"] = after.clone().into();
            }
            let page = support::search(&shard, &body);
            seen.extend(support::ids(&page));
            match page.hits.last() {
                Some(last) => after = last.sort.clone(),
                None => break,
            }
        }
        assert_eq!(seen, expected, "search_after {sort} {query}");
    }
}

fn scroll(shards: &[ShardSnapshot], body: &Value) -> Vec<String> {
    let request = SearchRequest::parse(body, &UrlParameters::default()).unwrap();
    let mut cursor: Option<Cursor> = None;
    let mut seen = Vec::new();
    loop {
        let page =
            limber_search::execute_page(shards, &request, cursor.as_ref(), &support::context()).unwrap();
        seen.extend(page.hits.iter().map(|hit| format!("{}/{}", hit.shard, hit.id.clone().unwrap())));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return seen,
        }
    }
}

#[test]
fn scrolls_return_every_hit_once_and_in_order() {
    let (_one, first, _) = corpus(3, &[4200, 100]);
    let (_two, mut second, _) = corpus(4, &[150, 150]);
    second.shard = 1;
    let shards = [first, second];
    let mut random = Random(17);
    for sort in [json!(["_doc"]), json!([{"n": "desc"}]), json!([{"tag": "asc"}]), json!([])] {
        for _ in 0..4 {
            let (query, _) = query(&mut random, 1);
            let mut body = json!({"query": query, "size": 10_000, "_source": false});
            if sort != json!([]) {
                body["sort"] = sort.clone();
            }
            let whole = scroll(&shards, &body);
            body["size"] = (1 + whole.len() / 5).into();
            assert_eq!(scroll(&shards, &body), whole, "{body}");
        }
    }
}

/// Collapsed hits are all hits except those whose group came before.
#[test]
fn collapsed_hits_are_the_best_of_each_group() {
    let (_one, first, _) = corpus(31, &[4300, 300, 1, 200]);
    let (_two, mut second, _) = corpus(32, &[150, 150]);
    second.shard = 1;
    let shards = [first, second];
    let mut random = Random(37);
    let hits = |body: &Value| -> Vec<(String, String)> {
        let found = support::search(&shards, body).hits.into_iter();
        let group =
            |fields: Option<Box<Value>>| fields.map_or_else(String::new, |fields| fields["d"].to_string());
        found.map(|hit| (format!("{}/{}", hit.shard, hit.id.unwrap()), group(hit.fields))).collect()
    };
    let sorts = [
        json!([]),
        json!([{"n": "desc"}]),
        json!([{"tag": {"order": "asc", "missing": "_first"}}, "n"]),
        json!([{"d": "asc"}]),
        json!(["_doc"]),
        json!([{"_script": {"type": "string", "script": "doc['n'].size() == 0 ? 'a' : 'b'"}}, {"tag": "desc"}]),
    ];
    for round in 0..30 {
        let (query, _) = query(&mut random, 1);
        let mut body = json!({"query": query, "size": 5000, "_source": false, "docvalue_fields": ["d"]});
        let sort = &sorts[round % sorts.len()];
        if *sort != json!([]) {
            body["sort"] = sort.clone();
        }
        let mut expected = hits(&body);
        let mut seen = std::collections::HashSet::new();
        expected.retain(|(_, group)| seen.insert(group.clone()));
        let (from, size) = (random.below(5) as usize, 1 + random.below(300) as usize);
        body["collapse"] = json!({"field": "d"});
        body["docvalue_fields"] = json!([]);
        (body["from"], body["size"]) = (from.into(), size.into());
        let page: Vec<_> = expected.into_iter().skip(from).take(size).collect();
        assert_eq!(hits(&body), page, "{body}");
    }
}

/// Every hit is in exactly one slice, whether by document, by id or by a number.
#[test]
fn slices_share_out_the_hits() {
    let (_one, first, _) = corpus(5, &[700, 4200]);
    let (_two, mut second, _) = corpus(6, &[150, 150]);
    second.shard = 1;
    let shards = [first, second];
    let mut random = Random(23);
    for field in [json!("by place"), json!(null), json!("_id"), json!("_seq_no")] {
        for max in [2, 3, 7, 40] {
            let (query, _) = query(&mut random, 1);
            let mut body = json!({"query": query, "size": 500, "_source": false, "sort": ["_doc"]});
            let mut whole = scroll(&shards, &body);
            let mut sliced = Vec::new();
            for id in 0..max {
                body["slice"] = json!({"id": id, "max": max});
                if field == json!("by place") {
                    body["pit"] = json!({"id": "as the caller knows"});
                } else if field != json!(null) {
                    body["slice"]["field"] = field.clone();
                }
                let part = scroll(&shards, &body);
                let request = SearchRequest::parse(&body, &UrlParameters::default()).unwrap();
                let counted = limber_search::execute_page(&shards, &request, None, &support::context());
                assert_eq!(counted.unwrap().total.unwrap().value, part.len() as u64, "{body}");
                sliced.extend(part);
            }
            whole.sort_unstable();
            sliced.sort_unstable();
            assert_eq!(sliced, whole, "{body}");
        }
    }
}

/// Repeats searches with cache budgets that hold everything worth caching, or hardly anything.
#[test]
fn caches_change_nothing() {
    let (_kept, plain, _) = corpus(7, &[12_000, 500]);
    let mut random = Random(29);
    let queries: Vec<Value> = (0..14).map(|_| query(&mut random, 2).0).collect();
    let body = |random: &mut Random| {
        let first = &queries[random.below(queries.len() as u64) as usize];
        let second = &queries[random.below(4) as usize];
        let third = &queries[random.below(4) as usize];
        let mut body = match random.below(4) {
            0 => json!({"query": first}),
            1 => json!({"query": {"bool": {"must": [first], "filter": [second], "must_not": [third]}}}),
            2 => json!({"query": {"constant_score": {"filter": {"bool": {"should": [second, third]}}}}}),
            _ => json!({"query": {"bool": {"filter": [second, third]}}, "sort": ["_doc"]}),
        };
        body["size"] = [0, 0, 3, 50][random.below(4) as usize].into();
        body["track_total_hits"] = true.into();
        body["aggs"] =
            json!({"a": {"terms": {"field": "tag", "size": 3}, "aggs": {"s": {"sum": {"field": "n"}}}}});
        body
    };
    let bodies: Vec<Value> = (0..30).map(|_| body(&mut random)).collect();
    for budget_bytes in [1 << 30, 6_000, 0] {
        let pool = || Pool::new("cache", budget_bytes);
        let (requests, queries_cache) = (RequestCache::new(pool()), QueryCache::new(pool()));
        let counters = Arc::new(CacheCounters::default());
        let mut cached = plain.clone();
        cached.caches = Some(ShardCaches {
            shard_uid: 1,
            version: 1,
            counters: counters.clone(),
            requests: Arc::new(requests),
            keeps_requests: true,
            queries: Some(Arc::new(queries_cache)),
        });
        let (plain, cached) = ([plain.clone()], [cached]);
        for round in 0..150 {
            let body = &bodies[random.below(30) as usize];
            let url: UrlParameters = match random.one_in(3) {
                true => [("request_cache", "true")].into_iter().collect(),
                false => UrlParameters::default(),
            };
            let request = SearchRequest::parse(body, &url).unwrap();
            let answer = |shards: &[ShardSnapshot]| {
                let mut found = limber_search::execute(shards, &request, &support::context()).unwrap();
                found.took_millis = 0;
                found.to_json(&Default::default()).unwrap()
            };
            assert_eq!(answer(&cached), answer(&plain), "round {round}: {body}");
        }
        let (requests, queries) = (&counters.requests, &counters.queries);
        assert!(requests.misses() > 0 && queries.misses() > 0);
        assert_eq!(requests.entries(), requests.added() - requests.evictions());
        let is_ample = budget_bytes == 1 << 30;
        assert_eq!((requests.hits() > 0, queries.hits() > 0), (budget_bytes > 0, budget_bytes > 0));
        let makes_room = budget_bytes > 0 && !is_ample;
        assert_eq!((requests.evictions() > 0, queries.evictions() > 0), (makes_room, makes_room));
        assert!(requests.bytes() <= budget_bytes && queries.bytes() <= budget_bytes);
    }
}
