//! Compares the best hits of terms, conjunctions and phrases, for which documents are skipped, with a
//! search that visits every document.

mod support;

use limber_search::{SearchRequest, ShardSnapshot, UrlParameters, rank};
use serde_json::{Value, json};
use support::{Shards, context, search};

/// xorshift64*; every run can be replayed from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    }

    /// Returns a word; words have very different frequencies, and `w0` is in most documents.
    fn word(&mut self) -> String {
        let bits = self.below(9);
        format!("w{}", self.below(1 << bits))
    }
}

/// Returns the `text` of a document with `length` words.
fn text(random: &mut Random, length: u64) -> String {
    (0..length).map(|_| random.word()).collect::<Vec<_>>().join(" ")
}

struct Corpus {
    _shards: Shards,
    shard: ShardSnapshot,
    /// The texts of live documents.
    texts: Vec<String>,
}

/// Creates a corpus. `length` returns the length of a document, given its number.
fn corpus(seed: u64, sizes: &[usize], length: impl Fn(usize, &mut Random) -> u64) -> Corpus {
    let mut random = Random(seed);
    let mut shards = Shards::new(&json!({"properties": {"text": {"type": "text"}}}));
    let (mut texts, mut views, mut number) = (Vec::new(), Vec::new(), 0);
    for size in sizes {
        let (mut documents, mut deleted) = (Vec::new(), Vec::new());
        for at in 0..*size {
            let length = length(number, &mut random);
            let text = text(&mut random, length);
            documents.push((number.to_string(), json!({"text": text})));
            match random.below(20) {
                0 => deleted.push(at as u32),
                _ => texts.push(text),
            }
            number += 1;
        }
        views.push(shards.segment(&documents, &deleted));
    }
    let shard = shards.shard(0, views);
    Corpus { _shards: shards, shard, texts }
}

/// (id, bits of the score) of each hit, and the total with its relation.
type Found = (Vec<(String, u32)>, Option<(u64, bool)>);

fn found(shard: &ShardSnapshot, body: &Value) -> Found {
    let response = search(std::slice::from_ref(shard), body);
    let hit = |hit: &limber_search::SearchHit| {
        (hit.id.clone().expect("an id"), hit.score.expect("a score").to_bits())
    };
    let total = response.total.map(|total| (total.value, total.is_lower_bound));
    (response.hits.iter().map(hit).collect(), total)
}

/// Searches for the best hits with all ways of counting, and for all hits by a sort that visits every
/// document. `matching`: the number of live documents that match, if it is known from the texts.
#[track_caller]
fn check(corpus: &Corpus, query: &Value, matching: Option<u64>) {
    let sort = json!([{"_score": "desc"}, {"_doc": "asc"}]);
    let whole =
        json!({"query": query, "size": 120, "sort": sort, "track_scores": true, "track_total_hits": true});
    let (best, total) = found(&corpus.shard, &whole);
    let (count, _) = total.expect("counted");
    assert_eq!(matching.unwrap_or(count), count, "{query}");
    for size in [1, 10, 120] {
        for (tracks, limit) in
            [(json!(true), u64::MAX), (json!(false), 0), (json!(100), 100), (json!(4000), 4000)]
        {
            let body = json!({"query": query, "size": size, "track_total_hits": tracks});
            let (hits, total) = found(&corpus.shard, &body);
            assert_eq!(hits, best[..best.len().min(size)], "{body}");
            let expected = match limit {
                0 => None,
                limit if count > limit => Some((limit, true)),
                _ => Some((count, false)),
            };
            assert_eq!(total, expected, "{body}");
            check_ranking(&corpus.shard, &body, &hits, expected);
        }
    }
}

/// A ranking has the same scores as the hits, in the same order, and the same total.
#[track_caller]
fn check_ranking(shard: &ShardSnapshot, body: &Value, hits: &[(String, u32)], total: Option<(u64, bool)>) {
    let request = SearchRequest::parse(body, &UrlParameters::default()).expect("a sound request");
    let ranking = rank(std::slice::from_ref(shard), &request, &context()).expect("ranks");
    let scores = ranking.documents.iter().map(|document| document.score.to_bits());
    assert!(scores.eq(hits.iter().map(|(_, score)| *score)), "{body}");
    assert_eq!(ranking.total.map(|total| (total.value, total.is_lower_bound)), total, "{body}");
}

fn match_query(words: &[String], operator: &str) -> Value {
    json!({"match": {"text": {"query": words.join(" "), "operator": operator}}})
}

/// Counts live documents whose words satisfy `holds`.
fn with(corpus: &Corpus, holds: impl Fn(&[&str]) -> bool) -> u64 {
    let words = |text: &String| holds(&text.split(' ').collect::<Vec<_>>());
    corpus.texts.iter().filter(|text| words(text)).count() as u64
}

fn check_random(corpus: &Corpus, seed: u64, rounds: u64) {
    let mut random = Random(seed);
    for _ in 0..rounds {
        let words: Vec<String> = (0..random.below(3) + 1).map(|_| random.word()).collect();
        let has = |text: &[&str], word: &String| text.contains(&word.as_str());
        let any = with(corpus, |text| words.iter().any(|word| has(text, word)));
        check(corpus, &match_query(&words, "or"), Some(any));
        let all = with(corpus, |text| words.iter().all(|word| has(text, word)));
        check(corpus, &match_query(&words, "and"), Some(all));
        let phrase: Vec<String> = (0..random.below(2) + 2).map(|_| random.word()).collect();
        let stands = with(corpus, |text| text.windows(phrase.len()).any(|part| part == phrase));
        check(corpus, &json!({"match_phrase": {"text": phrase.join(" ")}}), Some(stands));
    }
}

#[test]
fn the_best_do_not_depend_on_what_is_skipped() {
    let corpus = corpus(5, &[9_000, 4_200, 3], |_, random| random.below(30) + 1);
    check_random(&corpus, 11, 12);
}

/// Bounds equal the best score: ties must be distinguished from better hits.
#[test]
fn documents_that_are_alike_come_in_their_order() {
    let corpus = corpus(6, &[14_000], |_, _| 4);
    check_random(&corpus, 12, 8);
    check(&corpus, &match_query(&["w0", "w1", "w0"].map(str::to_owned), "or"), None);
}

/// The best documents come last, so the threshold rises until the end.
#[test]
fn the_best_may_come_last() {
    let corpus = corpus(7, &[13_000], |number, random| random.below(40_000 / (number as u64 + 500) + 2) + 1);
    check_random(&corpus, 13, 8);
}

/// The weights are so far apart that sums are not exact.
#[test]
fn weights_may_lie_far_apart() {
    let corpus = corpus(8, &[9_000], |_, random| random.below(9) + 1);
    let boosted = |word: &str, boost: f64| json!({"term": {"text": {"value": word, "boost": boost}}});
    for (clause, least) in [("should", 1e-9), ("must", 1e-9), ("should", 0.0), ("must", 0.0)] {
        let terms = [boosted("w0", least), boosted("w1", 1.0), boosted("w2", 1e9)];
        check(&corpus, &json!({"bool": {clause: terms}}), None);
    }
}

/// Phrases that repeat a word, have gaps, or contain a word that does not occur.
#[test]
fn phrases_of_all_shapes() {
    let corpus = corpus(9, &[6_000, 500], |_, random| random.below(60) + 1);
    for phrase in ["w0 w0", "w0 w0 w0", "w0 w1 w0", "w1 w0 nowhere", "w3", "w0 w1 w2 w0 w1"] {
        let words: Vec<&str> = phrase.split(' ').collect();
        let stands = with(&corpus, |text| text.windows(words.len()).any(|part| part == words));
        check(&corpus, &json!({"match_phrase": {"text": phrase}}), Some(stands));
        let both = json!({"bool": {"must": [{"match_phrase": {"text": phrase}}, {"term": {"text": "w1"}}]}});
        check(&corpus, &both, None);
        let sloppy = json!({"match_phrase": {"text": {"query": phrase, "slop": 2}}});
        check(&corpus, &sloppy, None);
    }
}

/// Required terms together with terms that only add to the score, and filters that accept many, few or no
/// documents.
#[test]
fn optional_terms_and_filters() {
    let sizes = [9_000, 4_200, 3];
    let corpus = corpus(10, &sizes, |_, random| random.below(30) + 1);
    let mut random = Random(14);
    for _ in 0..4 {
        let mut term = || json!({"term": {"text": random.word()}});
        let (first, second, third) = (term(), term(), term());
        let any = json!({"bool": {"should": [first, second]}});
        for query in [
            json!({"must": first, "should": second}),
            json!({"must": first, "should": [second, third]}),
            json!({"must": [first, second], "should": third}),
            json!({"must": first, "must_not": second}),
            json!({"must": [first, second], "must_not": third}),
            json!({"must": [first, second], "filter": third}),
            json!({"should": [first, second], "must_not": third}),
            json!({"should": [first, second], "filter": third}),
            json!({"should": [first, second], "filter": third, "minimum_should_match": 1}),
            json!({"should": [first, second, third], "minimum_should_match": 2}),
            json!({"must": any, "filter": third}),
            json!({"must": any, "must_not": third, "should": first}),
            json!({"must": {"bool": {"must": any, "filter": {"exists": {"field": "text"}}}}, "must_not": third}),
            json!({"should": any, "must_not": [third, {"range": {"_seq_no": {"lt": 3_000}}}]}),
        ] {
            check(&corpus, &json!({"bool": query}), None);
        }
    }
}

/// A term that contributes nearly all of the score becomes required as soon as enough documents have it.
#[test]
fn an_optional_term_that_is_worth_most() {
    let corpus = corpus(15, &[14_000, 900], |_, random| random.below(60) + 1);
    let rare = |boost: f64| json!({"term": {"text": {"value": "w200", "boost": boost}}});
    for boost in [0.0, 0.5, 1.0, 40.0] {
        for frequent in ["w0", "w1", "w9"] {
            let both = json!({"must": {"term": {"text": frequent}}, "should": rare(boost)});
            check(&corpus, &json!({"bool": both}), None);
        }
    }
}

/// Far more terms than blocks can be skipped for.
#[test]
fn many_terms() {
    let corpus = corpus(17, &[6_000, 300], |_, random| random.below(40) + 1);
    let words: Vec<String> = (0..120).map(|number| format!("w{number}")).collect();
    check(&corpus, &match_query(&words, "or"), None);
    for count in [1, 16, 17, 60] {
        let optional: Vec<Value> =
            words[..count].iter().map(|word| json!({"term": {"text": word}})).collect();
        check(&corpus, &json!({"bool": {"must": {"term": {"text": "w1"}}, "should": optional}}), None);
    }
}

#[test]
fn phrases_with_filters() {
    let corpus = corpus(16, &[8_000, 500], |_, random| random.below(60) + 1);
    let phrase = json!({"match_phrase": {"text": "w0 w1"}});
    for word in ["w0", "w2", "w90", "nowhere"] {
        let term = json!({"term": {"text": word}});
        for guard in ["filter", "must_not"] {
            check(&corpus, &json!({"bool": {"must": phrase, guard: term}}), None);
        }
        check(
            &corpus,
            &json!({"bool": {"should": phrase, "must_not": term, "filter": {"term": {"text": "w1"}}}}),
            None,
        );
    }
}

/// Excluded terms: frequent, rare, missing and several, below a required term, several, and a phrase.
#[test]
fn excluded_terms() {
    let corpus = corpus(18, &[9_000, 4_200, 3], |_, random| random.below(30) + 1);
    let mut random = Random(19);
    let term = |word: &str| json!({"term": {"text": word}});
    for round in 0..10 {
        let required: Vec<String> = (0..random.below(2) + 1).map(|_| random.word()).collect();
        let mut excluded: Vec<String> = (0..random.below(3) + 1).map(|_| random.word()).collect();
        if round % 4 == 0 {
            excluded.push("nowhere".to_owned());
        }
        let terms = |words: &[String]| words.iter().map(|word| term(word)).collect::<Vec<_>>();
        let has = |text: &[&str], word: &String| text.contains(&word.as_str());
        let none = |text: &[&str]| !excluded.iter().any(|word| has(text, word));
        let matching = with(&corpus, |text| required.iter().all(|word| has(text, word)) && none(text));
        let must_not = terms(&excluded);
        let query = json!({"must": terms(&required), "must_not": must_not});
        check(&corpus, &json!({"bool": query}), Some(matching));
        let with_optional = json!({"must": terms(&required), "must_not": must_not, "should": term("w3")});
        check(&corpus, &json!({"bool": with_optional}), Some(matching));
        let stands = with(&corpus, |text| text.windows(2).any(|part| part == ["w0", "w1"]) && none(text));
        let phrase = json!({"must": {"match_phrase": {"text": "w0 w1"}}, "must_not": must_not});
        check(&corpus, &json!({"bool": phrase}), Some(stands));
    }
}
