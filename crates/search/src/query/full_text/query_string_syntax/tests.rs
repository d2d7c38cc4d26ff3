use super::*;
use Occur::{Must, MustNot, Should};

#[test]
fn operators_decide_what_their_neighbours_are() {
    for (text, default_is_and, expected) in [
        ("a f:b", false, vec![Should, Should]),
        ("a f:b", true, vec![Must, Must]),
        ("a b", true, vec![Must]),
        ("a b c AND d", false, vec![Should, Must, Must]),
        ("a AND b", false, vec![Must, Must]),
        ("a OR b AND c", false, vec![Should, Must, Must]),
        ("a OR b", true, vec![Should, Should]),
        ("+a -b c", false, vec![Must, MustNot, Should]),
        ("NOT a", false, vec![MustNot]),
        ("!a b", true, vec![MustNot, Must]),
        ("a && b || c", false, vec![Must, Must, Should]),
        ("- a", false, vec![Should, Should]),
        ("a!b", false, vec![Should, MustNot]),
    ] {
        assert_eq!(read(text).expect(text).occurs(default_is_and), expected, "{text}");
    }
}

#[test]
fn clauses() {
    let check = |text: &str, expected: Clause| {
        let mut tree = read(text).expect(text);
        assert_eq!(tree.clauses.len(), 1, "{text}");
        assert_eq!(tree.clauses.remove(0).1, expected, "{text}");
    };
    let leaf =
        |field: &str, leaf: Leaf| Clause::Leaf { field: (!field.is_empty()).then(|| field.to_owned()), leaf };
    check("a", leaf("", Leaf::Word("a".into())));
    check("f:a", leaf("f", Leaf::Word("a".into())));
    check("f.g: a-b", leaf("f.g", Leaf::Word("a-b".into())));
    check("f\\:g:a", leaf("f:g", Leaf::Word("a".into())));
    check("f:a*", leaf("f", Leaf::Pattern("a*".into())));
    check("f:a\\*", leaf("f", Leaf::Word("a\\*".into())));
    check("*:*", Clause::Everything);
    check("*", leaf("", Leaf::Pattern("*".into())));
    check("a b \\*c", leaf("", Leaf::Word("a b \\*c".into())));
    check("f:*", leaf("f", Leaf::Pattern("*".into())));
    check("\"a b\"~2", leaf("", Leaf::Phrase { text: "a b".into(), slop: Some(2) }));
    check("a^2", Clause::Boosted(Box::new(leaf("", Leaf::Word("a".into()))), 2.0));
    check("a~1", leaf("", Leaf::Fuzzy { text: "a".into(), edits: Some("1".into()) }));
    check("\"a\"~", leaf("", Leaf::Phrase { text: "a".into(), slop: None }));
    check("a^2~", Clause::Boosted(Box::new(leaf("", Leaf::Fuzzy { text: "a".into(), edits: None })), 2.0));
    check("a ~x", leaf("", Leaf::Fuzzy { text: "a".into(), edits: Some("x".into()) }));
    check("f : a*~", leaf("f", Leaf::Pattern("a*".into())));
    check("- ", leaf("", Leaf::Word("-".into())));
    check("/a b/", leaf("", Leaf::Expression("a b".into())));
    let end = |text: &str, included| Some((text.to_owned(), included));
    check("n:[1 TO 5}", leaf("n", Leaf::Range { lower: end("1", true), upper: end("5", false) }));
    check("n:[* TO \"2 3\"]", leaf("n", Leaf::Range { lower: None, upper: end("2 3", true) }));
    check("n:>=3", leaf("n", Leaf::Range { lower: end("3", true), upper: None }));
    check("n:<3", leaf("n", Leaf::Range { lower: None, upper: end("3", false) }));
}

#[test]
fn broken_texts_are_refused_and_never_panic() {
    for text in [
        "f:(",
        "(a",
        "a)",
        "\"a",
        "[1 TO",
        "n:[1 5]",
        "a^",
        "/a",
        "()",
        "f:",
        "+",
        "\\",
        "AND",
        "OR a",
        "&&",
        "a OR OR b",
        "a AND OR b",
        "a && || b",
        "a!",
        "b\\",
        "NOT NOT a",
        "+AND",
        "AND:a",
        "a^2^3",
        "\\u00",
        "\"\\u00g0\"",
        "n:[1 TO 2]~",
        "(a)~",
    ] {
        let outcome = read(text);
        assert!(outcome.is_err(), "{text}: {outcome:?}");
    }
    let deep = "(".repeat(100_000);
    assert!(read(&deep).is_err());
    assert!(read(&"+a ".repeat(5000)).is_err());
}
