//! The library's classes return what Java's return.

use serde_json::{Value as Json, json};

use super::{cause, painless};

/// Answers of Java 25. An error is named by its class.
#[test]
fn the_library_answers_as_java_does() {
    let mut wrong = Vec::new();
    for line in include_str!("java_recorded.ndjson").lines() {
        let case: Json = serde_json::from_str(line).expect("JSON");
        let source = case["source"].as_str().expect("a source");
        let (found, expected) = match case["error"].as_str() {
            Some(class) => match painless(source) {
                Ok(found) => (found.to_string(), kind_of(class)),
                Err(_) => (cause(source).split(':').next().unwrap_or_default().to_owned(), kind_of(class)),
            },
            None => {
                let found = match painless(source) {
                    Ok(Json::String(text)) => text,
                    Ok(other) => other.to_string(),
                    Err(_) => cause(source),
                };
                (found, case["result"].as_str().expect("a result").to_owned())
            }
        };
        if found != expected {
            wrong.push(format!("{source}\n  is    {expected}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns Elasticsearch's name for a class of exceptions: `date_time_exception`.
fn kind_of(class: &str) -> String {
    let mut kind = String::new();
    for letter in class.chars() {
        if letter.is_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.extend(letter.to_lowercase());
    }
    kind
}

/// Among equal items, Java's streams and collections find the first one.
#[test]
fn of_equals_the_first_is_found() {
    for (source, expected) in [
        ("['bb', 'aa', 'c'].stream().max((a, b) -> a.length() - b.length()).get()", "bb"),
        ("['bb', 'aa', 'c', 'd'].stream().min((a, b) -> a.length() - b.length()).get()", "c"),
        (
            "Collections.max([new BigDecimal('1.0'), new BigDecimal('1.00'), new BigDecimal('0')]).toString()",
            "1.0",
        ),
        ("Collections.min([new BigDecimal('1.0'), new BigDecimal('1.00')]).toString()", "1.0"),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
}

/// `TreeMap` and `TreeSet` compare their keys, and accept only keys that have an order.
#[test]
fn sorted_maps_compare_their_keys() {
    for (source, expected) in [
        ("def m = new TreeMap(); m.put('b', 1); m.put('a', 2); m.put('b', 3); m.toString()", "{a=2, b=3}"),
        ("def s = new TreeSet([3, 1, 2]); s.remove(1); s.add(0); s.add(2); s.toString()", "[0, 2, 3]"),
        (
            "def s = new TreeSet(); s.add(new BigDecimal('1.0')); s.add(new BigDecimal('1.00')); s.toString()",
            "[1.0]",
        ),
        ("new TreeMap(['z': 1, 'y': 2]).get('z').toString()", "1"),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
    for source in [
        "def s = new TreeSet(); for (int i = 0; i < 50; i++) { s.add(i % 2 == 0 ? i : (def) ('' + i)) } s.size()",
        "new TreeSet([1, 2L])",
        "def s = new TreeSet([1]); s.add('a'); s",
        "new TreeSet([[1], [2]])",
        "def m = new TreeMap(); m.put(true, 1); m[1] = 2; m",
    ] {
        assert!(cause(source).starts_with("class_cast_exception"), "{source}: {}", cause(source));
    }
    assert!(cause("def s = new TreeSet(); s.add(null); s").starts_with("null_pointer_exception"));
}

#[test]
fn dates_show_their_own_offset() {
    for (source, expected) in [
        ("ZonedDateTime.parse('2020-01-01T00:00:00-05:00')", "2020-01-01T00:00:00.000-05:00"),
        ("ZonedDateTime.parse('2020-01-01T00:00:00+05:30')", "2020-01-01T00:00:00.000+05:30"),
        ("ZonedDateTime.parse('2020-01-01T00:00:00Z')", "2020-01-01T00:00:00.000Z"),
        (
            "ZonedDateTime.parse('2020-07-01T00:00:00Z').withZoneSameInstant(ZoneId.of('Europe/Zurich'))",
            "2020-07-01T02:00:00.000+02:00",
        ),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
}

/// A method needs its parentheses, and a constant has none.
#[test]
fn constants_are_no_methods() {
    assert_eq!(painless("BigInteger.TEN.toString()").expect("a constant"), json!("10"));
    for source in ["Optional.empty", "Collections.emptyList", "BigInteger.ZERO()", "Period.ZERO()"] {
        let error = painless(source).expect_err(source);
        assert_eq!(error.reason, "compile error", "{source}");
    }
}
