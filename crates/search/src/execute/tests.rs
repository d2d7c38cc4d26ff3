//! "Do aggregations depend on who collected which documents?" The documents of a shard are divided at random,
//! collected apart as idle threads do, and absorbed; the answer must be that of one collector, which has seen
//! all of them in one segment.
//!
//! Here every part has a collector of its own. In `tests/parts.rs`, where threads claim parts, one thread may
//! take all of them.

use std::sync::{Arc, LazyLock};

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::{
    Buffer, DocId, DocumentMeta, LiveDocs, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity,
};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, Ledger, MemoryDirectory};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::aggregation::{self, Aggregations, BoundAggregations, Budget, ShardCollector};
use crate::context::{IndexRef, SearchContext, ShardSettings, ShardSnapshot};
use crate::fetch;

const DOC_COUNT: usize = 600;
const FIRST_MILLIS: u64 = 1_420_000_000_000;

/// The first document of each segment of a divided shard. One segment has a single document.
const STARTS: [usize; 5] = [0, 120, 250, 251, 400];

struct Shards {
    /// All documents in one segment; the same in several.
    whole: ShardSnapshot,
    cut: ShardSnapshot,
}

static ALL: LazyLock<Shards> = LazyLock::new(|| Shards::new(|_| false));

/// The last segment has no deletes.
static DELETED: LazyLock<Shards> =
    LazyLock::new(|| Shards::new(|number| number < STARTS[4] && number.is_multiple_of(7)));

impl Shards {
    fn new(is_deleted: fn(usize) -> bool) -> Shards {
        Shards { whole: shard(&[0], is_deleted), cut: shard(&STARTS, is_deleted) }
    }
}

/// Values of every type: single, missing, several, in some segments only, and one for each segment.
fn documents() -> Vec<Value> {
    let mut random = 11u64;
    let mut below = move |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let of_number = |number: u64| {
        let any = below(3_000_000_000);
        let mut document = json!({
            "at": FIRST_MILLIS + number * 600_000, "any": FIRST_MILLIS + any,
            "long": below(1 << 40) as i64 - (1 << 39), "few": below(6), "lead": number / 125, "same": 7,
            "many": (0..below(4)).map(|_| below(40)).collect::<Vec<u64>>(),
            "double": below(1_000_000) as f64 * 0.37 - 5e4, "price": below(9_000) as f64 / 100.0 - 5.0,
            "flag": below(3) == 0, "k": format!("k{}", below(5)), "zone": format!("z{}", number / 125),
            "tags": (0..below(3)).map(|_| format!("t{}", below(12))).collect::<Vec<String>>(),
            "id": format!("i{}", below(200)),
        });
        document["place"] = json!({ "lat": (any % 170) as f64 - 85.0, "lon": (any % 350) as f64 - 175.0 });
        if below(4) > 0 {
            document["some"] = json!(below(300));
        }
        if number > 450 && below(3) > 0 {
            document["late"] = json!(format!("l{}", below(9)));
            document["late_number"] = json!(below(50));
        }
        // Sparse minutes, and one instant in the last minute that is as far away as ten intervals allow.
        if number < 250 {
            document["near"] = json!(FIRST_MILLIS / 60_000 * 60_000 + number * 71_000);
        } else if number == DOC_COUNT as u64 - 1 {
            document["near"] = json!(FIRST_MILLIS / 60_000 * 60_000 + 18_010_000);
        }
        document
    };
    (0..DOC_COUNT as u64).map(of_number).collect()
}

fn shard(starts: &[usize], is_deleted: fn(usize) -> bool) -> ShardSnapshot {
    let mapping = json!({ "properties": {
        "at": { "type": "date" }, "any": { "type": "date" }, "near": { "type": "date" },
        "long": { "type": "long" }, "few": { "type": "integer" }, "lead": { "type": "integer" },
        "same": { "type": "byte" }, "many": { "type": "long" }, "double": { "type": "double" },
        "price": { "type": "scaled_float", "scaling_factor": 100 }, "flag": { "type": "boolean" },
        "k": { "type": "keyword" }, "zone": { "type": "keyword" }, "tags": { "type": "keyword" },
        "id": { "type": "keyword" }, "place": { "type": "geo_point" }, "some": { "type": "short" },
        "late": { "type": "keyword" }, "late_number": { "type": "long" }
    }});
    let mapping = Arc::new(Mapping::parse(&mapping, &MappingSettings::default()).expect("a sound mapping"));
    let documents = documents();
    let ends = starts.iter().skip(1).copied().chain([documents.len()]);
    let segments = starts.iter().zip(ends).map(|(&start, end)| {
        let view = segment(&mapping, start, &documents[start..end]);
        let mut live = LiveDocs::all(view.doc_count());
        let deleted = (0..view.doc_count()).filter(|doc| is_deleted(start + *doc as usize));
        let has_deletes = deleted.fold(false, |_, doc| live.delete(doc));
        SegmentView { live: has_deletes.then(|| Arc::new(live)), ..view }
    });
    ShardSnapshot {
        index: Arc::new(IndexRef { name: "t".to_owned(), uuid: "uuid".to_owned() }),
        shard: 0,
        segments: segments.collect(),
        mapping: mapping.clone(),
        settings: Arc::new(ShardSettings::default()),
        scripts: Default::default(),
        documents: None,
        caches: None,
        nested: None,
        hides_documents: false,
    }
}

/// Writes one segment; `first` is the number of the first document.
fn segment(mapping: &Arc<Mapping>, first: usize, documents: &[Value]) -> SegmentView {
    let directory: Arc<dyn Directory> = Arc::new(MemoryDirectory::new());
    let (mut buffer, mut scratch) = (Buffer::new(StoredCodec::Lz4), Scratch::default());
    for (number, source) in (first..).zip(documents) {
        let (id, bytes) = (number.to_string(), source.to_string());
        let identity = WriteIdentity { seq_no: number as u64, primary_term: 1, version: 1 };
        buffer.begin(&DocumentMeta { id: id.as_bytes(), routing: None, identity }, bytes.as_bytes());
        let parsed = document::parse(mapping, bytes.as_bytes(), &mut scratch, &mut buffer);
        assert!(matches!(parsed.expect("a sound document"), Parsed::Done), "the mapping names all fields");
        buffer.commit().expect("commits");
    }
    let (meta, _) = buffer.write(&*directory, SegmentId(first as u64 + 1), mapping).expect("writes");
    let segment = Segment::open(&directory, &meta, &TermIndexCache::native()).expect("opens");
    SegmentView { segment: Arc::new(segment), live: None }
}

/// Feeds the live documents that `is_own` accepts by their number in the shard. `rests`: for each segment,
/// the aggregations that still need its documents; `None` if all do.
fn feed(
    collector: &mut ShardCollector<'_>,
    shard: &ShardSnapshot,
    rests: &[Option<Vec<usize>>],
    is_own: impl Fn(usize) -> bool,
) {
    let mut first = 0;
    for (place, view) in shard.segments.iter().enumerate() {
        let is_fed = |doc: &DocId| view.is_live(*doc) && is_own(first + *doc as usize);
        let docs: Vec<DocId> = (0..view.doc_count()).filter(is_fed).collect();
        first += view.doc_count() as usize;
        collector.begin_segment(place).expect("begins");
        if let Some(rest) = &rests[place] {
            collector.feed_only(rest);
        }
        collector.collect(&docs, &[]).expect("collects");
    }
}

fn context() -> SearchContext {
    SearchContext { max_buckets: u32::MAX, ..SearchContext::new(Ledger::new(1 << 30), 0) }
}

/// Collects a shard's documents: with one collector for each of the numbers in `parts`, which has the number
/// of each document's part, if `parts` is not empty; otherwise with one collector.
fn collected(shard: &ShardSnapshot, request: &Value, parts: &[u8]) -> Value {
    let context = context();
    let request = Aggregations::parse(request).expect("a sound request");
    let bound = BoundAggregations::bind(&request, shard, None, &context, &fetch::AggregationHits);
    let bound = bound.expect("binds");
    let budget = Budget::new(&context).expect("there is room");
    let mut whole = ShardCollector::new(shard, &bound, &budget).expect("starts");
    if parts.is_empty() {
        feed(&mut whole, shard, &vec![None; shard.segments.len()], |_| true);
    } else {
        assert!(whole.can_split(), "an aggregation of the request cannot be divided");
        let mut rests = Vec::new();
        for (place, view) in shard.segments.iter().enumerate() {
            whole.begin_segment(place).expect("begins");
            // What the segment knows about itself is read once.
            let knows = view.deleted_count() == 0;
            rests.push(knows.then(|| whole.collect_whole_segment().expect("collects").to_vec()));
        }
        let mut numbers = parts.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        // The parts that end last are absorbed first.
        for &part in numbers.iter().rev() {
            let budget = Budget::new(&context).expect("there is room");
            let mut own = ShardCollector::new(shard, &bound, &budget).expect("starts");
            feed(&mut own, shard, &rests, |number| parts[number] == part);
            whole.absorb(own.into_part().expect("ends")).expect("absorbs");
        }
    }
    let found = whole.finish().expect("finishes");
    let reduced = aggregation::reduce(&request, vec![found], &context).expect("reduces");
    let text = reduced.to_json(&request, false, "node").expect("renders");
    serde_json::from_slice(&text).expect("JSON")
}

/// Checks that two answers agree; sums of doubles may differ in their last digits.
fn check_alike(left: &Value, right: &Value, way: &str) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>(), "{way}");
            left.iter().for_each(|(key, value)| check_alike(value, &right[key], &format!("{way}.{key}")));
        }
        (Value::Array(left), Value::Array(right)) => {
            assert_eq!(left.len(), right.len(), "{way}");
            left.iter().zip(right).for_each(|(left, right)| check_alike(left, right, way));
        }
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
            let size = left.abs().max(right.abs()).max(1.0);
            assert!((left - right).abs() <= 1e-9 * size, "{way}: {left} and {right}");
        }
        _ => assert_eq!(left, right, "{way}"),
    }
}

/// Metrics that can be divided below every bucket aggregation.
fn metrics() -> Value {
    json!({
        "sum": { "sum": { "field": "price" } }, "avg": { "avg": { "field": "some", "missing": 7 } },
        "least": { "min": { "field": "double" } }, "most": { "max": { "field": "long" } },
        "late_stats": { "stats": { "field": "late_number" } },
        "stats": { "extended_stats": { "field": "many" } }, "count": { "value_count": { "field": "tags" } },
        "ids": { "cardinality": { "field": "id" } }, "prices": { "cardinality": { "field": "price" } },
        "string": { "string_stats": { "field": "k", "show_distribution": true } },
        "strings": { "string_stats": { "field": "tags" } },
        "weighted": { "weighted_avg": { "value": { "field": "price" }, "weight": { "field": "few" } } },
        "matrix": { "matrix_stats": { "fields": ["few", "price"] } },
        "t_test": { "t_test": {
            "a": { "field": "price" }, "b": { "field": "few" }, "type": "heteroscedastic"
        } },
        "top": { "top_metrics": { "metrics": { "field": "long" }, "sort": { "price": "desc" }, "size": 2 } },
        "hits": { "top_hits": {
            "size": 2, "_source": false, "sort": [{ "price": "desc" }, { "long": "asc" }]
        } },
        "bounds": { "geo_bounds": { "field": "place" } }, "centroid": { "geo_centroid": { "field": "place" } }
    })
}

/// `terms` of fields of every kind, without sub-aggregations.
fn every_terms() -> Value {
    let terms = |field: &str| json!({ "terms": { "field": field, "size": 400 } });
    json!({
        "few": terms("few"), "k": terms("k"), "tags": terms("tags"), "flag": terms("flag"),
        "some": terms("some"), "zone": terms("zone"), "late": terms("late"), "same": terms("same"),
        "late_number": terms("late_number"), "many": terms("many"),
        "id": { "terms": { "field": "id", "size": 7 } }, "long": { "terms": { "field": "long", "size": 3 } },
        "kept": { "terms": { "field": "k", "include": ["k1", "k2"] } },
        "none": { "terms": { "field": "tags", "missing": "none", "size": 30 } },
        "all": { "terms": { "field": "tags", "size": 30, "min_doc_count": 0 } },
        "computed": { "terms": { "script": "doc['k'].value + doc['few'].value", "size": 50 } },
        "rare": { "rare_terms": { "field": "id", "max_doc_count": 2 } },
        "rare_tags": { "rare_terms": { "field": "tags", "max_doc_count": 40 } },
        "rare_numbers": { "rare_terms": { "field": "some", "max_doc_count": 2 } },
        "multi": { "multi_terms": { "terms": [{ "field": "k" }, { "field": "few" }], "size": 50 } },
        "multi_tags": { "multi_terms": { "terms": [{ "field": "zone" }, { "field": "tags" }], "size": 90 } }
    })
}

/// The other bucket aggregations that can be divided.
fn other_buckets() -> Value {
    let filters = json!({ "a": { "term": { "k": "k1" } }, "b": { "range": { "price": { "gte": 40 } } } });
    json!({
        "hours": { "date_histogram": { "field": "at", "fixed_interval": "12h", "min_doc_count": 1 } },
        "days": { "date_histogram": { "field": "any", "fixed_interval": "9d", "min_doc_count": 1 } },
        "months": { "date_histogram": { "field": "any", "calendar_interval": "month", "min_doc_count": 1 } },
        "dates": { "auto_date_histogram": { "field": "any", "buckets": 4 } },
        "near": { "auto_date_histogram": { "field": "near", "buckets": 10 } },
        "tiles": { "geotile_grid": { "field": "place", "precision": 1 } },
        "histogram": { "histogram": { "field": "price", "interval": 10, "min_doc_count": 1 } },
        "histogram_of_many": { "histogram": { "field": "many", "interval": 4, "min_doc_count": 1 } },
        "histogram_of_long": { "histogram": { "field": "long", "interval": 1e11, "min_doc_count": 1 } },
        "range": { "range": { "field": "some", "ranges": [{ "to": 50 }, { "from": 40 }] } },
        "filter": { "filter": { "term": { "k": "k3" } } }, "missing": { "missing": { "field": "some" } },
        "filters": { "filters": { "filters": filters, "other_bucket": true } },
        "adjacency": { "adjacency_matrix": { "filters": filters } }
    })
}

/// All bucket aggregations that can be divided.
fn buckets() -> Value {
    let objects = [every_terms(), other_buckets()];
    let all = objects.iter().filter_map(Value::as_object).flatten();
    Value::Object(all.map(|(name, request)| (name.clone(), request.clone())).collect())
}

/// Bucket aggregations that others can be below.
fn parents() -> Vec<Value> {
    let names = [
        "k",
        "tags",
        "zone",
        "few",
        "late",
        "hours",
        "days",
        "months",
        "dates",
        "tiles",
        "multi",
        "histogram",
        "histogram_of_many",
        "range",
        "filter",
        "missing",
        "filters",
        "adjacency",
    ];
    let all = buckets();
    let mut parents: Vec<Value> = names.iter().map(|name| all[*name].clone()).collect();
    parents.extend([
        json!({ "terms": { "field": "id", "size": 3 } }),
        json!({ "terms": { "field": "some", "size": 4 } }),
        json!({ "histogram": { "field": "lead", "interval": 1, "min_doc_count": 1 } }),
        json!({ "composite": { "sources": [
            { "zone": { "terms": { "field": "zone" } } }, { "tags": { "terms": { "field": "tags" } } }
        ], "size": 5 } }),
    ]);
    parents
}

/// Numbers of parts for the documents: runs of documents, each of which belongs to a part at random.
fn parts_of(random: u64, run: usize, part_count: u64) -> Vec<u8> {
    let mut random = random;
    let part = |run: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        vec![((random >> 33) % part_count) as u8; run]
    };
    let mut parts: Vec<u8> = (0..DOC_COUNT.div_ceil(run)).map(|_| run).flat_map(part).collect();
    parts.truncate(DOC_COUNT);
    parts
}

/// Checks a request on all shards, however their documents are divided.
fn check(request: &Value, divisions: &[Vec<u8>]) {
    for shards in [&*ALL, &*DELETED] {
        let expected = collected(&shards.whole, request, &[]);
        check_alike(&expected, &collected(&shards.cut, request, &[]), "segments ");
        for parts in divisions {
            check_alike(&expected, &collected(&shards.cut, request, parts), "parts ");
        }
    }
}

/// The last document is a part of its own: its value of `near` is absorbed by itself.
fn last_alone() -> Vec<u8> {
    let mut parts = vec![0; DOC_COUNT];
    parts[DOC_COUNT - 1] = 1;
    parts
}

#[test]
fn the_top_level_does_not_depend_on_the_division() {
    let divisions = [parts_of(1, 125, 5), parts_of(2, 40, 4), parts_of(3, 1, 3), last_alone()];
    check(&metrics(), &divisions);
    check(&buckets(), &divisions);
}

#[test]
fn what_is_below_buckets_does_not_depend_on_the_division() {
    // In the first division, most parts have documents of one bucket of `zone` and `lead` only.
    let divisions = [parts_of(4, 125, 5), parts_of(5, 30, 4)];
    for mut parent in parents() {
        for below in [metrics(), buckets()] {
            parent["aggs"] = below;
            check(&json!({ "b": parent }), &divisions);
        }
    }
}

/// A document that matches several filters is in several buckets, which may get a window one after the other.
#[test]
fn what_is_below_filters_is_what_is_below_each_of_them() {
    let filters = json!({
        "a": { "term": { "k": "k1" } }, "b": { "range": { "price": { "gte": 40 } } }, "c": { "match_all": {} }
    });
    let single = |subs: &Value| -> Vec<Value> {
        subs.as_object().expect("an object").iter().map(|(name, sub)| json!({ name: sub })).collect()
    };
    for below in [single(&metrics()), single(&buckets())].concat() {
        let together = json!({ "f": { "filters": { "filters": filters }, "aggs": below } });
        let found = collected(&ALL.cut, &together, &[]);
        for (name, filter) in filters.as_object().expect("an object") {
            let alone = json!({ "f": { "filter": filter, "aggs": below } });
            let expected = collected(&ALL.cut, &alone, &[]);
            check_alike(&expected["f"], &found["f"]["buckets"][name], &format!("{below} {name}"));
        }
    }
}

/// The names of all metrics and bucket aggregations.
fn names() -> Vec<String> {
    let objects = [metrics(), buckets()];
    objects.iter().filter_map(Value::as_object).flat_map(|object| object.keys().cloned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn three_levels_do_not_depend_on_the_division(
        first in 0..parents().len(),
        second in prop::sample::select(vec!["k", "tags", "zone", "hours", "histogram", "filters", "dates"]),
        names in prop::sample::subsequence(names(), 1..5),
        (random, run, part_count) in (any::<u64>(), 1usize..150, 2u64..7),
    ) {
        let all = [metrics(), buckets()];
        let below: Map<String, Value> = all
            .iter()
            .filter_map(Value::as_object)
            .flatten()
            .filter(|(name, _)| names.contains(name))
            .map(|(name, request)| (name.clone(), request.clone()))
            .collect();
        let (mut parent, mut inner) = (parents().swap_remove(first), buckets()[second].clone());
        inner["aggs"] = Value::Object(below);
        parent["aggs"] = json!({ "inner": inner, "count": { "value_count": { "field": "id" } } });
        check(&json!({ "b": parent }), &[parts_of(random, run, part_count)]);
    }
}
