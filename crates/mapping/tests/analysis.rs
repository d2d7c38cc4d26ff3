//! Compares analyzers with the responses of Elasticsearch 8.19.13 to `_analyze`.

use std::sync::Arc;
use std::time::Instant;

use limber_mapping::analysis::{AnalysisLimits, Analyzers};
use limber_work::{Stop, Work, begin_document, end_document};
use serde_json::{Value, json};

#[test]
fn tokens_are_elasticsearchs() {
    let analyzers = Analyzers::built_in();
    let mut wrong = Vec::new();
    for line in include_str!("analysis.ndjson").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["analyzer"].as_str().unwrap();
        let tokens: Vec<Value> = analyzers
            .get(name)
            .unwrap()
            .analyze(case["text"].as_str().unwrap())
            .tokens
            .into_iter()
            .map(|token| {
                json!([token.token, token.start_offset, token.end_offset, token.kind, token.position])
            })
            .collect();
        let expected = case["tokens"].as_array().unwrap();
        if tokens != *expected {
            let place = (0..).find(|&at| tokens.get(at) != expected.get(at)).unwrap();
            wrong.push(format!(
                "{name} {}: token {place} is {:?}, found {:?}",
                case["text"],
                expected.get(place).map(Value::to_string),
                tokens.get(place).map(Value::to_string)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_prefix_has_the_tokens_of_its_text() {
    let analyzers = Analyzers::built_in();
    for name in ["standard", "english", "whitespace", "simple", "keyword"] {
        let analyzer = analyzers.get(name).unwrap();
        for text in
            ["a b", "can't 3.5 x", "Fuß läuft\tweiter\u{2003}ß ", &format!("{} b", "a".repeat(600)), "", "  "]
        {
            for start_max in 0..=text.len() + 1 {
                let tokens = |text: &str| {
                    let mut found = Vec::new();
                    analyzer
                        .tokens(text, |token| found.push((token.text.to_owned(), token.start, token.end)));
                    found.retain(|(_, start, _)| *start as usize <= start_max);
                    found
                };
                let prefix = analyzer.prefix(text, start_max);
                assert_eq!(tokens(prefix), tokens(text), "{name} {text:?} {start_max}");
            }
        }
    }
}

#[test]
fn analyzers_of_an_index() {
    let settings = json!({
        "filter": {"few": {"type": "stop", "stopwords": ["of", "the"], "ignore_case": true}, "long": {"type": "length", "min": 3}},
        "tokenizer": {"short": {"type": "standard", "max_token_length": 4}},
        "analyzer": {
            "mine": {"type": "custom", "tokenizer": "whitespace", "filter": ["few", "lowercase", "long"]},
            "stems": {"tokenizer": "standard", "filter": ["lowercase", "porter_stem"]},
            "pieces": {"tokenizer": "short", "filter": []},
            "quiet": {"type": "standard", "stopwords": "_english_"},
        },
    });
    let analyzers =
        Analyzers::parse(&settings, AnalysisLimits::default(), Analyzers::built_in().resources()).unwrap();
    let check = |name: &str, text: &str, expected: &[(&str, u32)]| {
        let mut found = Vec::new();
        analyzers
            .get(name)
            .unwrap()
            .tokens(text, |token| found.push((token.text.to_owned(), token.position)));
        let expected: Vec<(String, u32)> =
            expected.iter().map(|(text, at)| ((*text).to_owned(), *at)).collect();
        assert_eq!(found, expected, "{name} {text}");
    };
    check("mine", "The Lord OF a Rings", &[("lord", 1), ("rings", 4)]);
    check("stems", "running dogs", &[("run", 0), ("dog", 1)]);
    // What is left of the last word is no word.
    check("pieces", "Abcdefghij é́́́́́", &[("Abcd", 0), ("efgh", 1), ("ij", 2), ("é́́́", 3)]);
    check("quiet", "Of mice and men", &[("mice", 1), ("men", 3)]);
    check("standard", "a", &[("a", 0)]);
}

/// A document of a request that has ended is refused, since it would be indexed with a part of its tokens.
#[test]
fn analysis_that_ends_early_refuses_its_document() {
    let settings = json!({
        "char_filter": {"c": {"type": "html_strip"}},
        "tokenizer": {
            "s": {"type": "simple_pattern", "pattern": "a*b"}, "g": {"type": "edge_ngram", "max_gram": 5000},
        },
        "filter": {
            "p": {"type": "phonetic", "encoder": "metaphone"}, "m": {"type": "min_hash", "hash_count": 5000},
            "d": {"type": "dictionary_decompounder", "word_list": ["aaa"]},
            "e": {"type": "edge_ngram", "min_gram": 1, "max_gram": 1000},
            "b": {"type": "min_hash", "bucket_count": 100_000},
            "x": {"type": "multiplexer", "filters": ["reverse", "uppercase"]},
            "none": {"type": "length", "min": 100_000},
        },
        "analyzer": {
            "char_filter": {"tokenizer": "keyword", "char_filter": ["c"]}, "simple_pattern": {"tokenizer": "s"},
            "classic": {"tokenizer": "classic"}, "thai": {"tokenizer": "thai"},
            "phonetic": {"tokenizer": "keyword", "filter": ["p"]}, "min_hash": {"tokenizer": "keyword", "filter": ["m"]},
            "decompounder": {"tokenizer": "keyword", "filter": ["d"]},
            "dropped": {"tokenizer": "keyword", "filter": ["e", "none"]},
            "dropped_grams": {"tokenizer": "g", "filter": ["none"]},
            "dropped_hashes": {"tokenizer": "keyword", "filter": ["b", "none"]},
            "long_token": {"tokenizer": "keyword", "filter": ["reverse", "none"]},
            "long_token_parts": {"tokenizer": "keyword", "filter": ["x", "none"]},
        },
    });
    let analyzers =
        Analyzers::parse(&settings, AnalysisLimits::default(), Analyzers::built_in().resources()).unwrap();
    let refused = |name: &str, work: Work| {
        let _entered = work.enter();
        begin_document(0);
        let text = match name {
            "classic" | "simple_pattern" => "a b ".repeat(300_000),
            "phonetic" => "word".to_owned(),
            _ => "a".repeat(5_000),
        };
        analyzers.get(name).unwrap().tokens(&text, |_| {});
        end_document()
    };
    let past = || Work { deadline: Some(Instant::now()), ..Work::default() };
    for name in [
        "char_filter",
        "simple_pattern",
        "classic",
        "thai",
        "phonetic",
        "min_hash",
        "decompounder",
        "dropped",
        "dropped_grams",
        "dropped_hashes",
        "long_token",
        "long_token_parts",
    ] {
        let cancelled = Work { cancelled: Arc::new(true.into()), ..Work::default() };
        assert!(matches!(refused(name, cancelled), Err(Stop::Cancelled)), "{name}");
        assert!(refused(name, Work::default()).is_ok(), "{name}");
        assert!(refused(name, past()).is_ok(), "{name}: a search reports its deadline itself");
    }
}

/// A chain of many thousands of filters would overflow the stack; an index that has one is opened.
#[test]
fn chains_are_short() {
    let parse = |count: usize| {
        let settings = json!({"analyzer": {"a": {"tokenizer": "keyword", "filter": vec!["unique"; count]}}});
        Analyzers::parse(&settings, AnalysisLimits::default(), Analyzers::built_in().resources())
    };
    assert!(parse(1_001).is_ok());
    let _entered = Work::default().enter();
    assert!(parse(1_000).is_ok());
    let reason = "a chain has [1001] token filters, but at most [1000] are supported";
    assert_eq!(parse(1_001).unwrap_err().reason, reason);
}

#[test]
fn analysis_that_is_refused() {
    let check = |settings: Value, reason: &str| {
        assert_eq!(
            Analyzers::parse(&settings, AnalysisLimits::default(), Analyzers::built_in().resources())
                .unwrap_err()
                .reason,
            reason
        )
    };
    check(
        json!({"analyzer": {"a": {"type": "nori"}}}),
        "analyzer type [nori] of analyzer [a] is not supported by Limber yet",
    );
    check(json!({"analyzer": {"a": {"type": "nope"}}}), "Unknown analyzer type [nope] for [a]");
    check(json!({"tokenizer": {"t": {"type": "nope"}}}), "Unknown tokenizer type [nope] for [t]");
    check(json!({"filter": {"f": {"type": "nope"}}}), "Unknown filter type [nope] for [f]");
    check(
        json!({"analyzer": {"a": {"tokenizer": "nori_tokenizer"}}}),
        "tokenizer [nori_tokenizer] is not supported by Limber yet",
    );
    check(
        json!({"analyzer": {"a": {"tokenizer": "standard", "filter": "icu_transform"}}}),
        "token filter [icu_transform] is not supported by Limber yet",
    );
    check(
        json!({"analyzer": {"a": {"tokenizer": "standard", "filter": "none"}}}),
        "Custom Analyzer [a] failed to find filter under name [none]",
    );
    check(
        json!({"char_filter": {"m": {"type": "kuromoji_iteration_mark"}}}),
        "char filter [kuromoji_iteration_mark] is not supported by Limber yet",
    );
    check(
        json!({"normalizer": {"n": {"type": "custom", "filter": ["shingle"]}}}),
        "Custom normalizer [n] may not use filter [shingle]",
    );
    check(
        json!({"filter": {"f": {"type": "ngram", "min_gram": 1, "max_gram": 9}}}),
        "The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [1] but was [8]. This limit can be set by changing the [index.max_ngram_diff] index level setting.",
    );
    check(
        json!({"filter": {"f": {"type": "multiplexer", "filters": ["f"]}}}),
        "filter [f] is within more than [8] filters that name others",
    );
    check(
        json!({"analyzer": {"a": {}}}),
        "analyzer [a] must specify either an analyzer type, or a tokenizer",
    );
}
