//! The library's classes return what Java's return.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{cause, painless};
use crate::compile::{Script, Scripts};
use crate::language::ScriptContext;
use crate::outside::Outside;
use crate::run::Run;

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

/// Dates are read by formatters, made of others and moved. Sources: the page on dates of Painless's
/// documentation, and that of `java.time`.
#[test]
fn dates_are_read_made_and_moved_as_in_java() {
    let spring = "ZonedDateTime.parse('2024-03-09T12:00:00-05:00[America/New_York]')";
    for (source, expected) in [
        (
            "ZonedDateTime.parse('Thu, 13 Oct 1983 22:15:30 GMT', DateTimeFormatter.RFC_1123_DATE_TIME)",
            "1983-10-13T22:15:30Z",
        ),
        (
            "ZonedDateTime.parse('1983-10-13T22:15:30+02:00').format(DateTimeFormatter.RFC_1123_DATE_TIME)",
            "Thu, 13 Oct 1983 22:15:30 +0200",
        ),
        (
            "DateTimeFormatter f = DateTimeFormatter.ofPattern(\"'custom' 'y' yyyy 'm' MM 'd' dd HH:mm:ss VV\"); ZonedDateTime.parse('custom y 1983 m 10 d 13 22:15:30 Z', f)",
            "1983-10-13T22:15:30Z",
        ),
        (
            "ZonedDateTime.parse('2020-01-01 10:00 +0200', DateTimeFormatter.ofPattern('yyyy-MM-dd HH:mm Z')).getHour()",
            "10",
        ),
        (
            "DateTimeFormatter.ofPattern('yyyy-MM-dd HH:mm').withZone(ZoneId.of('Europe/Zurich')).format(Instant.ofEpochMilli(0L))",
            "1970-01-01 01:00",
        ),
        (
            "ZonedDateTime.parse('2020-07-01 10:00', DateTimeFormatter.ofPattern('yyyy-MM-dd HH:mm').withZone(ZoneId.of('Europe/Zurich')))",
            "2020-07-01T10:00+02:00[Europe/Zurich]",
        ),
        ("LocalDate.parse('20200229', DateTimeFormatter.BASIC_ISO_DATE)", "2020-02-29"),
        ("LocalDate.parse('2020-02-29', DateTimeFormatter.ISO_LOCAL_DATE).plusDays(1)", "2020-03-01"),
        (
            "LocalDateTime.parse('2020-02-29T10:00:00+02:00', DateTimeFormatter.ISO_OFFSET_DATE_TIME)",
            "2020-02-29T10:00",
        ),
        ("LocalTime.parse('10:30', DateTimeFormatter.ofPattern('HH:mm'))", "10:30"),
        ("LocalDate.from(ZonedDateTime.parse('2020-01-01T00:30:00+02:00'))", "2020-01-01"),
        ("LocalDate.of(2024, 2, 29).format(DateTimeFormatter.ISO_WEEK_DATE)", "2024-W09-4"),
        ("LocalDate.of(2024, 2, 29).format(DateTimeFormatter.ISO_ORDINAL_DATE)", "2024-060"),
        (
            "ZonedDateTime.of(LocalDateTime.of(2020, 7, 1, 10, 0), ZoneId.of('Europe/Zurich'))",
            "2020-07-01T10:00+02:00[Europe/Zurich]",
        ),
        (
            "ZonedDateTime.of(LocalDate.of(2020, 7, 1), LocalTime.MIDNIGHT, ZoneOffset.UTC)",
            "2020-07-01T00:00Z",
        ),
        (
            "ZonedDateTime.parse('2020-07-01T00:00:00Z').withZoneSameLocal(ZoneId.of('Europe/Zurich')).toInstant()",
            "2020-06-30T22:00:00Z",
        ),
        ("ZonedDateTime.parse('2020-07-01T10:20:30Z').with(LocalTime.NOON)", "2020-07-01T12:00Z"),
        (
            "ZonedDateTime.parse('2020-07-01T10:20:30Z').with(ChronoField.DAY_OF_WEEK, 1)",
            "2020-06-29T10:20:30Z",
        ),
        ("ZonedDateTime.parse('2020-07-01T00:00:00Z').withDayOfYear(60)", "2020-02-29T00:00Z"),
        ("LocalDate.of(2020, 1, 15).until(LocalDate.of(2021, 3, 1))", "P1Y1M14D"),
        (
            "YearMonth.from(LocalDate.of(2024, 2, 29)).format(DateTimeFormatter.ofPattern('MM/yyyy'))",
            "02/2024",
        ),
        ("YearMonth.parse('02/2024', DateTimeFormatter.ofPattern('MM/yyyy')).atEndOfMonth()", "2024-02-29"),
        ("Year.from(ZonedDateTime.parse('2020-01-01T00:30:00+02:00'))", "2020"),
        ("LocalTime.NOON.atDate(LocalDate.of(2020, 7, 1))", "2020-07-01T12:00"),
        ("ZoneId.of('Europe/Zurich').getId()", "Europe/Zurich"),
        // Days are those of the clock, of which one has 23 hours.
        (&*format!("{spring}.plusDays(1)"), "2024-03-10T12:00-04:00[America/New_York]"),
        (&*format!("ChronoUnit.DAYS.between({spring}, {spring}.plusHours(23))"), "1"),
    ] {
        let script = format!("def run() {{ {} }} run().toString()", returning(source));
        assert_eq!(painless(&script).expect(source), json!(expected), "{source}");
    }
}

/// Values are instances of the interfaces and classes that theirs implement and extend.
#[test]
fn values_are_instances_of_their_classes() {
    for (source, expected) in [
        ("new HashSet() instanceof Collection", true),
        ("[1] instanceof Iterable", true),
        ("[1] instanceof java.util.List", true),
        ("new int[] {1} instanceof int[]", true),
        ("new TreeMap() instanceof HashMap", false),
        ("new TreeMap() instanceof SortedMap", true),
        ("[:] instanceof HashMap", true),
        ("new StringBuilder() instanceof CharSequence", true),
        ("5 instanceof Comparable", true),
        ("[1] instanceof Comparable", false),
        ("LocalDate.of(2020, 1, 1) instanceof Temporal", true),
        ("params instanceof Map", true),
        ("'a' instanceof String", true),
        ("null instanceof Object", false),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
    assert!(cause("1 instanceof Nothing").contains("Not a type [Nothing]."));
}

#[test]
fn numbers_have_the_methods_of_their_boxes() {
    for (source, expected) in [
        ("Math.floor(2.9).intValue()", json!(2)),
        ("double d = 3.7; d.longValue()", json!(3)),
        ("int i = 300; i.byteValue()", json!(44)),
        ("def i = 70000; i.shortValue()", json!(4464)),
        ("double d = 0.0 / 0.0; d.isNaN()", json!(true)),
        ("def d = 1.0 / 0.0; d.isInfinite()", json!(true)),
        ("boolean b = true; b.booleanValue()", json!(true)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    for source in ["int i = 1; i.isNaN()", "def i = 1; i.isNaN()", "boolean b = true; b.intValue()"] {
        assert!(painless(source).is_err(), "{source}");
    }
}

/// `Json`, as the page on the ingest context lists it.
#[test]
fn json_is_read_and_written() {
    for (source, expected) in [
        ("Json.load('{\"a\": [1, 2.5, null, true]}').a[1]", json!(2.5)),
        ("Json.load('7')", json!(7)),
        ("Json.dump(['a': ['x\"', null, 1.5]])", json!("{\"a\":[\"x\\\"\",null,1.5]}")),
        ("Json.dump([])", json!("[]")),
        ("Json.dump(params)", json!("{}")),
        (
            "Json.dump(new LinkedHashMap([:]), true) + Json.dump([1, [:]], true)",
            json!("{ }[\n  1,\n  { }\n]"),
        ),
        ("Map m = new TreeMap(); m.a = [1]; Json.dump(m, true)", json!("{\n  \"a\" : [\n    1\n  ]\n}")),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    assert!(cause("List l = []; l.add(l); Json.dump(l)").contains("self-referencing"));
    assert!(painless("Json.load('{')").is_err());
}

#[test]
fn texts_are_split_by_tokenizers() {
    let joined = |made: &str| {
        format!(
            "def t = {made}; def s = t.countTokens() + ':'; while (t.hasMoreTokens()) {{ s += t.nextToken() + '|' }} s"
        )
    };
    for (made, expected) in [
        ("new StringTokenizer(' a b\tc ')", "3:a|b|c|"),
        ("new StringTokenizer('a, b,,c', ', ')", "3:a|b|c|"),
        ("new StringTokenizer('1+é-3', '+-', true)", "5:1|+|é|-|3|"),
        ("new StringTokenizer('', ',')", "0:"),
        ("new StringTokenizer('aéb本c-d', '本-é')", "4:a|b|c|d|"),
    ] {
        assert_eq!(painless(&joined(made)).expect(made), json!(expected), "{made}");
    }
    let source = "def t = new StringTokenizer('a,b;c', ','); t.nextToken() + t.nextToken(';')";
    assert_eq!(painless(source).expect(source), json!("a,b"));
    assert!(cause("new StringTokenizer('').nextToken()").contains("no_such_element_exception"));
}

/// The numbers are those of Java's generator.
#[test]
fn random_numbers_follow_from_their_seed() {
    for (source, expected) in [
        ("new Random(42).nextInt()", json!(-1_170_105_035)),
        ("new Random(42).nextInt(16)", json!(11)),
        ("new Random(42L).nextDouble()", json!(0.7275636800328681)),
        ("new Random(42).nextLong()", json!(-5_025_562_857_975_149_833_i64)),
        ("Random r = new Random(1); r.setSeed(42); r.nextBoolean()", json!(true)),
        (
            "Random r = new Random(42); List l = []; for (int i = 0; i < 6; i++) { l.add(r.nextInt(10)) } l",
            json!([0, 3, 8, 4, 0, 5]),
        ),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    assert!(cause("new Random(1).nextInt(0)").contains("bound must be positive"));
}

/// A clock that stands still at the end of the first day, and always the same number.
#[derive(Debug)]
struct Still;

impl Outside for Still {
    fn now_millis(&self) -> i64 {
        86_400_000
    }

    fn random_bits(&self) -> u64 {
        1 << 63
    }
}

#[test]
fn scripts_know_the_time_and_random_numbers() {
    let scripts = Scripts::with_outside(Arc::new(Still));
    for (source, expected) in [
        ("System.currentTimeMillis()", json!(86_400_000)),
        ("System.nanoTime() / 1000000", json!(86_400_000)),
        ("new Date().getTime()", json!(86_400_000)),
        ("Math.random()", json!(0.5)),
        ("UUID.randomUUID().toString()", json!("80000000-0000-4000-a000-000000000000")),
        ("new Random().nextInt(3) < 3", json!(true)),
        ("new Date(0L).toString()", json!("Thu Jan 01 00:00:00 UTC 1970")),
        ("new Date(0L)", json!("1970-01-01T00:00:00.000Z")),
        ("Date d = new Date(); new Date(0L).before(d)", json!(true)),
        ("Date.from(Instant.ofEpochMilli(5L)).getTime()", json!(5)),
    ] {
        let script = Script::parse(&json!({"source": source})).expect("a script");
        let compiled = scripts.compile(&script, ScriptContext::Field).expect(source);
        let mut run = Run::new(&compiled, &script.params);
        let value = run.run(0).expect(source);
        assert_eq!(value.to_json(20).expect("flat"), expected, "{source}");
    }
    let now = painless("System.currentTimeMillis()").expect("the machine's time");
    assert!(now.as_i64().is_some_and(|now| now > 1_700_000_000_000));
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

/// What Painless adds to lists and maps, queues, sorted maps, collectors and functions of `Optional`.
/// Sources: Painless' `Augmentation`, and Java's documentation.
#[test]
fn collections_have_the_methods_of_painless() {
    for (source, expected) in [
        ("[1, 2, 3].containsAll([1, 2])", "true"),
        ("List l = [1, 2, 3]; l.retainAll([1, 3, 4]); l", "[1, 3]"),
        ("List l = [1, 2, 3]; l.replaceAll(x -> x * 2); l", "[2, 4, 6]"),
        ("[1, 2, 3].groupBy(x -> x % 2)", "{1=[1, 3], 0=[2]}"),
        ("[1, 2, 3].split(x -> x > 1)", "[[2, 3], [1]]"),
        ("[1, 2, 3].findResult(x -> x > 1 ? x * 10 : null)", "20"),
        ("[1, 2, 3].findResult('none', x -> null)", "none"),
        ("[1, 2, 3].findResults(x -> x > 1 ? x : null)", "[2, 3]"),
        ("def n = [0]; [5, 6].eachWithIndex((x, i) -> n.add(x * i)); n", "[0, 0, 6]"),
        ("['a': 1].any((k, v) -> v > 0)", "true"),
        ("['a': 1].every((k, v) -> v > 1)", "false"),
        ("['a': 1, 'b': 2].count((k, v) -> v > 1)", "1"),
        ("['a': 1, 'b': 2].collect((k, v) -> k + v)", "[a1, b2]"),
        ("['a': 1, 'b': 2].find((k, v) -> v > 1).getKey()", "b"),
        ("['a': 1, 'b': 2].findAll((k, v) -> v > 1)", "{b=2}"),
        ("['a': 1, 'b': 2].groupBy((k, v) -> v > 1 ? 'more' : 'one')", "{one={a=1}, more={b=2}}"),
        ("['a': ['b': [7, 8]]].getByPath('a.b.1')", "8"),
        ("['a': 1].getByPath('b', 5)", "5"),
        (
            "Map m = ['a': 1]; m.compute('a', (k, v) -> v + 1); m.compute('b', (k, v) -> v == null ? 5 : 6); m",
            "{a=2, b=5}",
        ),
        (
            "Map m = ['a': 1]; m.computeIfPresent('a', (k, v) -> null); m.computeIfPresent('b', (k, v) -> 1); m",
            "{}",
        ),
        ("Map m = ['a': 1]; m.replace('a', 2); m.replace('b', 2); m.replace('a', 2, 3); m", "{a=3}"),
        (
            "Map m = ['a': 1, 'b': 2]; m.remove('a', 5); m.remove('b', 2); m.replaceAll((k, v) -> v + 1); m",
            "{a=2}",
        ),
        ("Set s = new HashSet([1, 2, 3]); s.removeAll([1]); s.retainAll([1, 2]); s", "[2]"),
        (
            "TreeMap m = new TreeMap(['b': 1, 'a': 2, 'd': 3]); m.firstKey() + m.floorKey('c') + m.higherKey('b')",
            "abd",
        ),
        (
            "TreeMap m = new TreeMap(['b': 1, 'a': 2, 'd': 3]); [m.headMap('b'), m.tailMap('b'), m.subMap('a', false, 'd', true)]",
            "[{a=2}, {b=1, d=3}, {b=1, d=3}]",
        ),
        (
            "TreeMap m = new TreeMap(['b': 1, 'a': 2]); m.pollFirstEntry().getValue() + m.descendingMap().toString()",
            "2{b=1}",
        ),
        (
            "TreeSet s = new TreeSet([3, 1, 2]); [s.first(), s.ceiling(2), s.lower(1), s.descendingSet()]",
            "[1, 2, null, [3, 2, 1]]",
        ),
        (
            "Deque d = new ArrayDeque(); d.push(1); d.addLast(2); d.offerFirst(0); [d.peekLast(), d.pop(), d.poll(), d]",
            "[2, 0, 1, [2]]",
        ),
        (
            "Queue q = new LinkedList(); q.add(1); q.offer(2); [q.peek(), q.remove(), q.poll(), q.poll()]",
            "[1, 1, 2, null]",
        ),
        ("Optional.of(1).map(x -> x + 1).filter(x -> x > 1).get()", "2"),
        ("Optional.empty().orElseGet(() -> 5)", "5"),
        ("[1, 2, 3].stream().collect(Collectors.toMap(x -> 'k' + x, x -> x))", "{k1=1, k2=2, k3=3}"),
        ("[1, 2, 3].stream().collect(Collectors.toMap(x -> x % 2, x -> x, (a, b) -> a + b))", "{0=2, 1=4}"),
        (
            "[1, 2, 3].stream().collect(Collectors.groupingBy(x -> x % 2, Collectors.counting()))",
            "{0=1, 1=2}",
        ),
        ("[1, 2, 3].stream().collect(Collectors.partitioningBy(x -> x > 1))", "{false=[1], true=[2, 3]}"),
        ("[1, 2, 3].stream().collect(Collectors.averagingInt(x -> x))", "2.0"),
        ("[1, 2, 3].stream().collect(Collectors.summingLong(x -> x))", "6"),
        ("[1, 2].stream().map(x -> x.toString()).collect(Collectors.joining(',', '<', '>'))", "<1,2>"),
        ("[1, 2].stream().collect(Collectors.mapping(x -> x * 2, Collectors.toList()))", "[2, 4]"),
        ("IntStream.range(0, 3).map(x -> x * x).sum()", "5"),
        ("[1, 2].sum()", "3.0"),
        ("[].sum()", "0.0"),
        ("['a', 'b'].sum(x -> x.length())", "2.0"),
        ("[1, 2].stream().mapToInt(x -> x).filter(x -> x > 1).sum()", "2"),
        ("'abc'.chars().sum()", "294"),
        ("'abc'.sha1()", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("'abc'.sha512().substring(0, 8) + 'abc'.sha512().length()", "ddaf35a1128"),
        ("new GeoPoint(48.0, 11.5).getLon() + new GeoPoint().getLat()", "11.5"),
        ("List l = [1, 4]; l.addAll(1, [2, 3]); l", "[1, 2, 3, 4]"),
        ("Collections.EMPTY_LIST.size() + Collections.EMPTY_MAP.size()", "0"),
        ("1.5.hashCode()", "1073217536"),
        ("int x = 5; x.compareTo(6)", "-1"),
        (
            "List l = [3, 1, 2]; Collections.swap(l, 0, 2); Collections.rotate(l, 1); Collections.addAll(l, [9]); l",
            "[3, 2, 1, 9]",
        ),
        (
            "int[] a = new int[] {3, 1, 2}; Arrays.sort(a); Arrays.toString(Arrays.copyOf(a, 4))",
            "[1, 2, 3, 0]",
        ),
        ("Arrays.copyOfRange(new int[] {1, 2, 3}, 1, 3)", "[2, 3]"),
        ("Arrays.hashCode(new int[] {1, 2})", "994"),
        ("Objects.hash(new Object[] {1, 'a'})", "1089"),
        ("StringBuilder b = new StringBuilder('abc'); b.setCharAt(0, (char) 'x'); b.toString()", "xbc"),
        (
            "DateTimeFormatter.ofPattern('yyyy-MM', Locale.ROOT).format(LocalDate.parse('2024-01-31'))",
            "2024-01",
        ),
    ] {
        let found = match painless(&format!("def run() {{ {} }} run().toString()", returning(source))) {
            Ok(Json::String(text)) => text,
            Ok(other) => other.to_string(),
            Err(_) => cause(&format!("def run() {{ {} }} run().toString()", returning(source))),
        };
        assert_eq!(found, expected, "{source}");
    }
    for (source, kind) in [
        ("['a': 1].getByPath('b')", "illegal_argument_exception"),
        ("new ArrayDeque().pop()", "no_such_element_exception"),
        ("new TreeSet().first()", "no_such_element_exception"),
        ("[1, 1].stream().collect(Collectors.toMap(x -> x, x -> x))", "illegal_state_exception"),
        ("Collections.nCopies(2000000000, 1)", "painless_error"),
        ("IntStream.range(0, 2000000000).count()", "painless_error"),
    ] {
        assert!(cause(source).starts_with(kind), "{source}: {}", cause(source));
    }
}

/// Makes the last statement return its value.
fn returning(source: &str) -> String {
    let (before, last) = source.rsplit_once("; ").unwrap_or(("", source));
    let separator = if before.is_empty() { "" } else { "; " };
    format!("{before}{separator}return {last};")
}
