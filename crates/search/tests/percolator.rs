//! Compares percolator queries that are found by their terms with running all queries one by one.

mod support;

use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_search::{SearchContext, SearchRequest, ShardSnapshot, UrlParameters, index_queries};
use limber_segment::{Buffer, DocumentMeta, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, Ledger, MemoryDirectory};
use serde_json::{Value, json};
use support::{NOW_MILLIS, Shards, context, ids, search, search_in};

const WORDS: [&str; 6] = ["amber", "birch", "cedar", "dune", "ember", "fjord"];

/// xorshift64*, so that every run uses the same queries.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    fn words(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }

    /// Returns a word whose second letter is replaced by another.
    fn misspelt(&mut self) -> String {
        let word = self.words(1);
        format!("{}x{}", &word[..1], &word[2..])
    }

    /// Returns words, the last of which is truncated.
    fn beginning(&mut self) -> String {
        let words = self.words(2);
        words[..words.len() - 1 - self.below(2)].to_owned()
    }

    fn rewrite(&mut self) -> &'static str {
        ["constant_score", "scoring_boolean", "top_terms_3"][self.below(3)]
    }

    fn query(&mut self, depth: u32) -> Value {
        match self.below(if depth == 0 { 15 } else { 18 }) {
            0 | 1 => json!({"match": {"body": self.words(3)}}),
            2 => json!({"match": {"body": {"query": self.words(3), "operator": "and"}}}),
            3 => json!({"match_phrase": {"body": self.words(2)}}),
            4 => json!({"term": {"tag": self.words(1)}}),
            5 => json!({"terms": {"tag": [self.words(1), self.words(1)]}}),
            6 => json!({"range": {"n": {"gte": self.below(9)}}}),
            7 => json!({"prefix": {"tag": self.beginning()}}),
            8 => json!({"fuzzy": {"tag": {"value": self.misspelt(), "rewrite": self.rewrite()}}}),
            9 => {
                json!({"match": {"body": {"query": format!("{} {}", self.words(1), self.misspelt()), "fuzziness": 1}}})
            }
            10 => json!({"match_phrase_prefix": {"body": self.beginning()}}),
            11 => {
                json!({"regexp": {"tag": {"value": format!("{}.*", &self.words(1)[..2]), "rewrite": self.rewrite()}}})
            }
            12 => {
                let kinds = ["best_fields", "most_fields", "phrase", "phrase_prefix", "bool_prefix"];
                let kind = kinds[self.below(kinds.len())];
                let fields = if kind.starts_with("phrase") { ["body", "title"] } else { ["body", "tag"] };
                json!({"multi_match": {"query": self.beginning(), "type": kind, "fields": fields}})
            }
            13 => {
                let (wanted, inside) = (self.words(2), self.words(2));
                json!({"intervals": {"body": {"match": {"query": wanted, "filter": {"not_containing": {"match": {"query": inside}}}}}}})
            }
            14 => {
                let near = json!({"span_near": {
                    "clauses": [{"span_term": {"body": self.words(1)}}, {"span_multi": {"match": {"prefix": {"body": self.beginning()}}}}],
                    "slop": self.below(3), "in_order": self.below(2) == 0,
                }});
                json!({"span_not": {"include": near, "exclude": {"span_term": {"body": self.words(1)}}}})
            }
            15 => json!({"constant_score": {"filter": self.query(depth - 1)}}),
            16 => json!({"dis_max": {"queries": [self.query(depth - 1), self.query(depth - 1)]}}),
            _ => {
                let mut clauses =
                    |most| -> Vec<Value> { (0..self.below(most)).map(|_| self.query(depth - 1)).collect() };
                let (must, should, filter, must_not) = (clauses(3), clauses(4), clauses(2), clauses(2));
                json!({"bool": {"must": must, "should": should, "filter": filter, "must_not": must_not}})
            }
        }
    }

    fn document(&mut self) -> Value {
        json!({"body": self.words(6), "title": self.words(2), "tag": [self.words(1), self.words(1)], "n": self.below(10)})
    }
}

fn properties() -> Value {
    json!({"properties": {"body": {"type": "text"}, "title": {"type": "text"}, "tag": {"type": "keyword"}, "n": {"type": "integer"},
                          "query": {"type": "percolator"}}})
}

fn queries_shard(queries: &[Value]) -> ShardSnapshot {
    let mapping = Arc::new(Mapping::parse(&properties(), &MappingSettings::default()).expect("sound"));
    let shard = ShardSnapshot { mapping: mapping.clone(), ..Shards::new(&properties()).shard(0, Vec::new()) };
    let (mut buffer, mut scratch) = (Buffer::new(StoredCodec::Lz4), Scratch::default());
    for (number, query) in queries.iter().enumerate() {
        let (id, source) = (number.to_string(), json!({"query": query}).to_string());
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no: number as u64, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, source.as_bytes());
        let parsed = document::parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("parses");
        assert!(matches!(parsed, Parsed::Done));
        index_queries(&shard, source.as_bytes(), NOW_MILLIS, &mut buffer).expect("a sound query");
        buffer.commit().expect("commits");
    }
    let directory: Arc<dyn Directory> = Arc::new(MemoryDirectory::new());
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    let segment = Segment::open(&directory, &meta, &TermIndexCache::native()).expect("opens");
    ShardSnapshot { segments: vec![SegmentView::new(Arc::new(segment))], ..shard }
}

#[test]
fn finds_what_running_every_query_finds() {
    let mut random = Random(42);
    let queries: Vec<Value> = (0..400).map(|_| random.query(2)).collect();
    let shard = queries_shard(&queries);
    for _ in 0..12 {
        let document = random.document();
        let mut alone = Shards::new(&properties());
        let segment = alone.segment(&[("0".to_owned(), document.clone())], &[]);
        let held = [alone.shard(0, vec![segment])];
        let expected: Vec<String> = (0..queries.len())
            .filter(|&number| !search(&held, &json!({"query": queries[number]})).hits.is_empty())
            .map(|number| number.to_string())
            .collect();
        let percolate = json!({"percolate": {"field": "query", "document": document}});
        let shards = std::slice::from_ref(&shard);
        let body = json!({"size": 1000, "sort": ["_doc"], "query": percolate});
        assert_eq!(ids(&search(shards, &body)), expected, "{document}");
        let scored = search(shards, &json!({"size": 1000, "query": percolate}));
        assert_eq!(scored.hits.len(), expected.len(), "{document}");
    }
}

/// Whether such a clause matches can only be known with the documents, so it must be kept.
#[test]
fn clauses_that_match_nothing_without_documents_are_kept() {
    let queries = [
        json!({"dis_max": {"queries": [{"match": {"body": "fox"}}, {"fuzzy": {"body": "dgo"}}]}}),
        json!({"dis_max": {"queries": [{"match": {"body": "fox"}}, {"match": {"body": {"query": "dgo", "fuzziness": 1}}}]}}),
        json!({"dis_max": {"queries": [{"match": {"body": "fox"}}, {"match_phrase_prefix": {"body": "do"}}]}}),
        json!({"dis_max": {"queries": [{"match": {"body": "fox"}}, {"regexp": {"body": {"value": "d.*", "rewrite": "scoring_boolean"}}}]}}),
        json!({"multi_match": {"query": "do", "type": "phrase_prefix", "fields": ["title", "body"]}}),
        json!({"query_string": {"query": "dgo~1", "fields": ["title", "body"]}}),
        json!({"bool": {"should": [{"match": {"body": "fox"}}, {"fuzzy": {"body": "dgo"}}]}}),
        json!({"match": {"body": "fox"}}),
    ];
    let shard = [queries_shard(&queries)];
    let found = |word: &str| {
        let percolate = json!({"percolate": {"field": "query", "document": {"body": word}}});
        ids(&search(&shard, &json!({"sort": ["_doc"], "query": percolate})))
    };
    assert_eq!(found("dog"), ["0", "1", "2", "3", "4", "5", "6"]);
    assert_eq!(found("fox"), ["0", "1", "2", "3", "6", "7"]);
}

#[test]
fn documents_are_charged_while_they_are_held() {
    let shard = [queries_shard(&[json!({"match": {"body": "fox"}})])];
    let documents: Vec<Value> =
        (0..2_000).map(|number| json!({"body": format!("fox {number} of many")})).collect();
    let body = json!({"query": {"percolate": {"field": "query", "documents": documents}}});
    let roomy = context();
    assert_eq!(ids(&search_in(&roomy, &shard, &body)), ["0"]);
    assert_eq!(roomy.ledger.request.used_bytes(), 0);
    let narrow = SearchContext::new(Ledger::new(256 << 10), NOW_MILLIS);
    let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("a sound request");
    let error = limber_search::execute(&shard, &request, &narrow).expect_err("no room");
    assert!(format!("{error:?}").contains("<documents of a percolate query>"), "{error:?}");
    assert_eq!(narrow.ledger.request.used_bytes(), 0);
}

/// Recorded from Elasticsearch 7.17.15: scores are Lucene's, without the factor k1 + 1.
#[test]
fn scores_are_those_of_the_query_on_the_documents() {
    let queries = [
        json!({"match": {"body": "president bush"}}),
        json!({"match_all": {}}),
        json!({"constant_score": {"filter": {"term": {"tag": "a"}}, "boost": 3}}),
    ];
    let shard = [queries_shard(&queries)];
    let percolate = |documents: Value| json!({"percolate": {"field": "query", "documents": documents}});
    let found =
        search(&shard, &json!({"query": percolate(json!([{"body": "President Bush"}, {"tag": "a"}]))}));
    assert_eq!(ids(&found), ["2", "1", "0"]);
    let slots =
        |hit: usize| found.hits[hit].fields.as_ref().expect("slots")["_percolator_document_slot"].clone();
    assert_eq!([slots(0), slots(1), slots(2)], [json!([1]), json!([0, 1]), json!([0])]);
    let alone = search(&shard, &json!({"query": percolate(json!([{"body": "President Bush"}]))}));
    let scores: Vec<Option<f32>> = alone.hits.iter().map(|hit| hit.score).collect();
    assert_eq!(scores, [Some(1.0), Some(0.261_529_15)]);
}
