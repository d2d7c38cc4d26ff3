//! Classes and methods of Java's library, by their answers.

use serde_json::Value as Json;

use super::{cause, painless};

/// Returns what a script returns, or the cause of its error.
fn shown(source: &str) -> String {
    match painless(source) {
        Ok(Json::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => cause(source),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(shown(source), *expected, "{source}");
    }
}

#[test]
fn streams_have_statistics() {
    check(&[
        (
            "[3, 1, 2].stream().mapToInt(x -> x).summaryStatistics().toString()",
            "IntSummaryStatistics{count=3, sum=6, min=1, average=2.000000, max=3}",
        ),
        ("[1.5, 2.5].stream().mapToDouble(x -> x).summaryStatistics().getAverage()", "2.0"),
        (
            "[].stream().mapToDouble(x -> x).filter(x -> x > 1).summaryStatistics().toString()",
            "DoubleSummaryStatistics{count=0, sum=0.000000, min=Infinity, average=0.000000, max=-Infinity}",
        ),
        ("LongStream.range(0, 4).summaryStatistics().sum", "6"),
        ("['a', 'bb'].stream().collect(Collectors.summarizingInt(x -> x.length())).max", "2"),
        (
            "def s = new LongSummaryStatistics(); s.accept(5L); def t = new LongSummaryStatistics(); t.accept(2L); s.combine(t); s.min + ' ' + s.count",
            "2 2",
        ),
        ("new IntSummaryStatistics().min", "2147483647"),
    ]);
}

#[test]
fn streams_are_collected() {
    check(&[
        (
            "['b', 'a'].stream().collect(Collectors.toMap(x -> x, x -> 1, (a, b) -> a, () -> new TreeMap())).toString()",
            "{a=1, b=1}",
        ),
        ("[1, 2].stream().collect(ArrayList::new, ArrayList::add, ArrayList::addAll).toString()", "[1, 2]"),
        ("[1, 2].collect(new HashSet(), x -> x * 2).toString()", "[2, 4]"),
        ("['a': 1].collect([], (k, v) -> k + v).toString()", "[a1]"),
        ("[1, 2].stream().mapToInt(x -> x).asDoubleStream().sum()", "3.0"),
        ("[1, 2, 3].stream().reduce(0, (a, b) -> a + b, (a, b) -> a + b)", "6"),
        ("def n = []; [1, 2].stream().forEachOrdered(x -> n.add(x)); n.toString()", "[1, 2]"),
    ]);
}
