//! Compares synthetic source with a naive model: whatever is written, merged and recovered, a document is
//! returned in its normal form.

mod common;

use std::collections::BTreeMap;

use common::*;
use limber_engine::*;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone)]
struct Document {
    keywords: Vec<String>,
    numbers: Vec<i64>,
    text: Option<Vec<String>>,
    /// Mapped with `ignore_above: 2`.
    short: Vec<String>,
    unmapped: Option<i64>,
    objects: Vec<(Vec<i64>, Option<String>)>,
    nested: Vec<(Vec<i64>, Option<String>)>,
}

#[derive(Debug, Clone)]
enum Step {
    Index(u8, Document),
    Delete(u8),
    Refresh,
    Flush,
    Merge,
    Reopen,
}

fn documents() -> impl Strategy<Value = Document> {
    let words = || prop::collection::vec("[a-c]{1,3}", 0..4);
    let numbers = || prop::collection::vec(-2i64..4, 0..4);
    let objects = || prop::collection::vec((numbers(), prop::option::of("[x-z]{1,2}")), 0..3);
    let own = (words(), numbers(), prop::option::of(words()), words(), prop::option::of(0i64..5));
    (own, objects(), objects()).prop_map(|((keywords, numbers, text, short, unmapped), objects, nested)| {
        Document { keywords, numbers, text, short, unmapped, objects, nested }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => (0u8..12, documents()).prop_map(|(id, document)| Step::Index(id, document)),
        2 => (0u8..12).prop_map(Step::Delete),
        2 => Just(Step::Refresh),
        1 => Just(Step::Flush),
        1 => Just(Step::Merge),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..30)
}

fn put(members: &mut Map<String, Value>, name: &str, mut values: Vec<Value>) {
    match values.len() {
        0 => {}
        1 => drop(members.insert(name.to_owned(), values.remove(0))),
        _ => drop(members.insert(name.to_owned(), values.into())),
    }
}

impl Document {
    fn source(&self) -> Value {
        let object = |(numbers, word): &(Vec<i64>, Option<String>)| json!({"v": numbers, "w": word});
        let mut source = json!({"k": self.keywords, "l": self.numbers, "s": self.short, "u": self.unmapped,
            "o": self.objects.iter().map(object).collect::<Vec<_>>(), "n": self.nested.iter().map(object).collect::<Vec<_>>()});
        if let Some(text) = &self.text {
            source["t"] = json!(text);
        }
        source
    }

    /// Returns what is rebuilt from columns, and what is stored besides them.
    fn normal(&self) -> Value {
        let sorted = |numbers: &[i64]| {
            let mut numbers = numbers.to_vec();
            numbers.sort_unstable();
            numbers.into_iter().map(Value::from).collect::<Vec<_>>()
        };
        let distinct = |words: &mut dyn Iterator<Item = &String>| {
            let words: std::collections::BTreeSet<&String> = words.collect();
            words.into_iter().map(|word| Value::from(word.as_str())).collect::<Vec<_>>()
        };
        let mut source = Map::new();
        put(&mut source, "k", distinct(&mut self.keywords.iter()));
        put(&mut source, "l", sorted(&self.numbers));
        let texts = self.text.iter().flatten().map(|text| Value::from(text.as_str()));
        put(&mut source, "t", texts.collect());
        let mut short = distinct(&mut self.short.iter().filter(|word| word.len() <= 2));
        short.extend(self.short.iter().filter(|word| word.len() > 2).map(|word| Value::from(word.as_str())));
        put(&mut source, "s", short);
        put(&mut source, "u", self.unmapped.into_iter().map(Value::from).collect());
        let mut object = Map::new();
        let numbers: Vec<i64> = self.objects.iter().flat_map(|(numbers, _)| numbers.clone()).collect();
        put(&mut object, "v", sorted(&numbers));
        put(&mut object, "w", distinct(&mut self.objects.iter().filter_map(|(_, word)| word.as_ref())));
        if !object.is_empty() {
            source.insert("o".into(), object.into());
        }
        let nested = self.nested.iter().map(|(numbers, word)| {
            let mut object = Map::new();
            put(&mut object, "v", sorted(numbers));
            put(&mut object, "w", word.iter().map(|word| Value::from(word.as_str())).collect());
            Value::Object(object)
        });
        put(&mut source, "n", nested.collect());
        source.into()
    }
}

fn run(steps: &[Step], is_sorted: bool) {
    let folder = tempfile::tempdir().expect("tempdir");
    let mut node = open(folder.path());
    let mut body = json!({
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "mapping.source.mode": "synthetic", "merge.policy.segments_per_tier": 2},
        "mappings": {"dynamic": false, "properties": {
            "k": {"type": "keyword"}, "l": {"type": "long"}, "t": {"type": "text"}, "s": {"type": "keyword", "ignore_above": 2},
            "o": {"properties": {"v": {"type": "long"}, "w": {"type": "keyword"}}},
            "n": {"type": "nested", "properties": {"v": {"type": "long"}, "w": {"type": "keyword"}}},
        }},
    });
    if is_sorted {
        body["settings"]["sort"] = json!({"field": "l", "order": "desc"});
    }
    node.create_index("t", &body).expect("created");
    let mut model: BTreeMap<String, Value> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Index(id, document) => {
                let id = format!("id{id:02}");
                write(&node, index("t", &id, document.source().to_string().as_bytes())).expect("written");
                model.insert(id, document.normal());
            }
            Step::Delete(id) => {
                let id = format!("id{id:02}");
                write(&node, delete("t", &id)).expect("answers");
                model.remove(&id);
            }
            Step::Refresh => drop(node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes")),
            Step::Flush => drop(node.flush("t", IndicesOptions::BROADCAST, false).expect("flushes")),
            Step::Merge => {
                let request = ForceMergeRequest { max_num_segments: Some(1), ..ForceMergeRequest::default() };
                node.force_merge("t", IndicesOptions::BROADCAST, &request).expect("merges");
            }
            Step::Reopen => {
                drop(node);
                node = open(folder.path());
            }
        }
    }
    for (id, source) in model.iter().take(3) {
        assert_eq!(get(&node, "t", id).map(|(_, source)| source).as_ref(), Some(source), "realtime {id}");
    }
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    let expected: Vec<(String, Value)> = model.into_iter().collect();
    assert_eq!(search(&node, "t", json!({"match_all": {}})), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_come_back_in_normal_form(steps in steps(), is_sorted in any::<bool>()) {
        run(&steps, is_sorted);
    }
}

#[test]
fn what_cannot_be_taken_apart_is_refused() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    let body = json!({"settings": {"mapping.source.mode": "synthetic"}, "mappings": {"properties": {"o": {"type": "object", "enabled": false}}}});
    node.create_index("t", &body).expect("created");
    for (levels, is_taken) in [(100, true), (200, false)] {
        let source = format!("{{\"o\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
        let written = write(&node, index("t", "deep", source.as_bytes()));
        assert_eq!(written.is_ok(), is_taken, "{written:?}");
    }
}
