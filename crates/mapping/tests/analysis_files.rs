//! Analysis settings that name files, synonym sets and scripts, with a node that has some. The tokens are
//! those of Elasticsearch 8.19.13.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::analysis::{
    AnalysisLimits, AnalysisResources, Analyzers, FileFault, SeenToken, TokenPredicate, take_failure,
};
use serde_json::{Value, json};

#[derive(Debug)]
struct Node;

const FILES: &[(&str, &str)] = &[
    ("analysis/words.txt", "# comment\nthe\n  quick  \n\nfox # tail\n"),
    ("analysis/mappings.txt", "# c\na => b\n#x => y\nü => ue\n"),
    ("analysis/synonyms.txt", "# c\nfast, speedy\n\nfoo bar => baz\n"),
    ("analysis/rules.txt", "# c\nrunning, runs => run\n"),
    (
        "analysis/hyphens.xml",
        "<hyphenation-info><classes>aA eE fF kK n N oO sS tT</classes><patterns>t1t e1s</patterns></hyphenation-info>",
    ),
    ("hunspell/xx_XX/xx.aff", "SET UTF-8\nSFX A Y 1\nSFX A 0 s .\n"),
    ("hunspell/xx_XX/xx.dic", "1\ndog/A\n"),
];

#[derive(Debug)]
struct Long;

impl TokenPredicate for Long {
    fn accepts(&self, token: SeenToken<'_>) -> Result<bool, RequestError> {
        match token.term {
            "fails" => Err(RequestError::illegal_argument("it fails")),
            term => Ok(term.len() > 3),
        }
    }
}

impl AnalysisResources for Node {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFault> {
        let file = FILES.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or(FileFault::Missing)
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let names = FILES.iter().filter_map(|(name, _)| name.strip_prefix(folder)?.strip_prefix('/'));
        names.map(str::to_owned).collect()
    }

    fn synonyms(&self, set: &str) -> Option<Vec<String>> {
        (set == "s").then(|| vec!["fast, rapid".to_owned()])
    }

    fn predicate(&self, _: &Value) -> Result<Arc<dyn TokenPredicate>, RequestError> {
        Ok(Arc::new(Long))
    }
}

fn analyzer(parts: Value) -> Result<Analyzers, RequestError> {
    let mut analyzer = json!({"tokenizer": "whitespace"});
    for (section, names) in [("filter", "filter"), ("char_filter", "char_filter")] {
        if parts[section].is_object() {
            analyzer[names] = parts[section].as_object().unwrap().keys().cloned().collect();
        }
    }
    let mut analysis = parts;
    analysis["analyzer"] = json!({"a": analyzer});
    let node: Arc<dyn AnalysisResources> = Arc::new(Node);
    Analyzers::parse(&analysis, AnalysisLimits::default(), &node)
}

#[track_caller]
fn check(parts: Value, text: &str, expected: &[&str]) {
    let analyzers = analyzer(parts).unwrap();
    let mut found = Vec::new();
    analyzers.get("a").unwrap().tokens(text, |token| found.push(token.text.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn files_are_read() {
    let filter = |body: Value| json!({"filter": {"f": body}});
    let words = "analysis/words.txt";
    check(filter(json!({"type": "stop", "stopwords_path": words})), "the quick fox The", &["fox", "The"]);
    check(filter(json!({"type": "keep", "keep_words_path": words})), "the quick fox", &["the", "quick"]);
    check(
        filter(json!({"type": "synonym", "synonyms_path": "analysis/synonyms.txt"})),
        "fast foo bar",
        &["fast", "speedy", "baz"],
    );
    check(
        filter(json!({"type": "stemmer_override", "rules_path": "analysis/rules.txt"})),
        "runs running",
        &["run", "run"],
    );
    check(
        json!({"char_filter": {"m": {"type": "mapping", "mappings_path": "analysis/mappings.txt"}}}),
        "fast ü x",
        &["fbst", "ue", "x"],
    );
    check(filter(json!({"type": "hunspell", "locale": "xx_XX"})), "dogs cats", &["dog", "cats"]);
    check(
        filter(
            json!({"type": "hyphenation_decompounder", "hyphenation_patterns_path": "analysis/hyphens.xml",
            "word_list": ["kaffee", "tasse", "soft", "ton"], "min_subword_size": 3}),
        ),
        "softton",
        &["softton", "soft", "ton"],
    );
}

#[test]
fn sets_and_scripts_are_asked_for() {
    let set = json!({"filter": {"f": {"type": "synonym", "synonyms_set": "s", "updateable": true}}});
    check(set.clone(), "fast", &["fast", "rapid"]);
    let analyzers = analyzer(set).unwrap();
    assert_eq!(analyzers.reloadable(None), ["a"]);
    assert_eq!(analyzers.reloadable(Some("s")), ["a"]);
    assert!(analyzers.reloadable(Some("t")).is_empty());
    let missing = json!({"filter": {"f": {"type": "synonym", "synonyms_set": "t", "updateable": true}}});
    check(missing, "fast", &["fast"]);
    let script = json!({"source": "whatever"});
    let predicate = json!({"filter": {"f": {"type": "predicate_token_filter", "script": script}}});
    check(predicate.clone(), "one three", &["three"]);
    check(predicate, "three fails four", &["three"]);
    assert_eq!(take_failure().unwrap().reason, "it fails");
    let condition =
        json!({"filter": {"f": {"type": "condition", "filter": ["uppercase"], "script": script}}});
    check(condition, "one three", &["one", "THREE"]);
}

#[test]
fn paths_that_name_nothing_are_refused() {
    let reason = |path: &str| {
        let parts = json!({"filter": {"f": {"type": "stop", "stopwords_path": path}}});
        analyzer(parts).unwrap_err().reason
    };
    assert_eq!(reason("x.txt"), "IOException while reading stopwords_path: config/x.txt");
    for path in ["../x", "/etc/passwd", "analysis/../../x"] {
        assert_eq!(reason(path), format!("Access denied trying to read file stopwords_path: {path}"));
    }
    let hunspell = json!({"filter": {"f": {"type": "hunspell", "locale": "../xx_XX"}}});
    let error = analyzer(hunspell).unwrap_err();
    assert_eq!(error.reason, "failed to load hunspell dictionary for locale: ../xx_XX");
}
