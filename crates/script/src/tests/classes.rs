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

#[test]
fn functions_take_lambdas() {
    check(&[
        (
            "int twice(Function f, int x) { int a = 9; return f.apply(f.apply(x)) } int by = 5; twice(x -> x + by, 1)",
            "11",
        ),
        (
            "def all(Function f, List l) { return l.stream().map(f).collect(Collectors.toList()) } all(String::length, ['a', 'bb']).toString()",
            "[1, 2]",
        ),
        (
            "List order(List l, Comparator c) { l.sort(c); return l } order([1, 3, 2], (a, b) -> b - a).toString()",
            "[3, 2, 1]",
        ),
        (
            "int inner(Function f, int n) { return f.apply(n) } int outer(Function f, int n) { int z = 9; return inner(x -> f.apply(x) + z, n) } outer(x -> x * 2, 3)",
            "15",
        ),
        // A lambda that calls itself.
        (
            "int run(BiFunction f, int n) { return f.apply(f, n) } run((self, n) -> n == 0 ? 0 : self.apply(self, n - 1) + n, 4)",
            "10",
        ),
        (
            "def first(List l) { return l.get(0).apply(1) } int a = 5; int b = 6; List l = []; l.add(x -> x + b); first(l)",
            "7",
        ),
        (
            "List make() { List l = []; l.add(x -> x); return l } make().get(0).apply(1)",
            "illegal_argument_exception: a lambda of a function that has returned is not supported by Limber yet",
        ),
        (
            "int f(int x) { return x } f(x -> x)",
            "illegal_argument_exception: Cannot pass lambda to [int], not a functional interface",
        ),
        ("List l = ['ab', 'c']; l.removeIf(/a/.asPredicate()); l.toString()", "[c]"),
    ]);
}

#[test]
fn iterators_remove_items() {
    check(&[
        (
            "def l = [1, 2, 3, 4]; def i = l.iterator(); while (i.hasNext()) { if (i.next() % 2 == 0) i.remove() } l.toString()",
            "[1, 3]",
        ),
        (
            "def s = new TreeSet([1, 2, 3]); def i = s.iterator(); i.next(); i.remove(); i.next(); s.toString()",
            "[2, 3]",
        ),
        (
            "def m = ['a': 1, 'b': 2]; for (Iterator i = m.entrySet().iterator(); i.hasNext();) { if (i.next().getValue() == 1) { i.remove() } } m.toString()",
            "{b=2}",
        ),
        (
            "def m = ['a': 1, 'b': 2]; def i = m.values().iterator(); i.next(); i.remove(); m.toString()",
            "{b=2}",
        ),
        (
            "def i = [1, 2, 3].iterator(); i.next(); def l = []; i.forEachRemaining(x -> l.add(x)); l.toString()",
            "[2, 3]",
        ),
        ("[1].iterator().remove()", "illegal_state_exception: "),
        (
            "def l = [1]; def i = l.iterator(); i.next(); l.add(2); i.remove()",
            "concurrent_modification_exception: ",
        ),
        ("def i = [1].iterator(); i.next(); i.next()", "no_such_element_exception: "),
        (
            "def o = 1; for (int i = 0; i < 99; i++) { def m = [:]; m.put(o, 1); o = m.entrySet().iterator() } 1",
            "illegal_argument_exception: objects are nested deeper than 50 levels",
        ),
    ]);
}

#[test]
fn characters_and_small_numbers_are_converted() {
    check(&[
        ("Character.isISOControl(10) + ' ' + Character.isSpaceChar(160)", "true true"),
        ("Character.digit('f'.charAt(0), 16) + ' ' + Character.digit('g'.charAt(0), 16)", "15 -1"),
        ("Character.toString(Character.forDigit(11, 16))", "b"),
        ("Character.compare('a'.charAt(0), 'd'.charAt(0))", "-3"),
        ("Character.toCodePoint((char) 55357, (char) 56832) + ' ' + Character.charCount(128512)", "128512 2"),
        ("Byte.parseByte('-7') + Short.parseShort('7f', 16)", "120"),
        // Rounded to a double first, it would be 1.0.
        ("Float.parseFloat('1.000000059604644775390626') + ''", "1.0000001"),
        ("Float.valueOf('x')", "number_format_exception: For input string: \"x\""),
        ("Byte.parseByte('128')", "number_format_exception: For input string: \"128\""),
        ("Byte.toUnsignedInt((byte) -1) + ' ' + Short.compare((short) 1, (short) 3)", "255 -2"),
        (
            "Integer.parseUnsignedInt('ffffffff', 16) + ' ' + Long.toUnsignedString(-1L, 16)",
            "-1 ffffffffffffffff",
        ),
        ("StrictMath.sqrt(16.0)", "4.0"),
        ("'a\u{1F600}'.codePoints().toString()", "[97, 128512]"),
        ("new String() + new StringBuilder('a').append('bcde', 1, 3).appendCodePoint(33).toString()", "acd!"),
    ]);
}

#[test]
fn processors_are_those_of_ingest() {
    check(&[
        ("Processors.bytes('1.5KB') + Processors.bytes('-1')", "1535"),
        (
            "Processors.bytes('manyMB')",
            "parse_exception: failed to parse setting [Ingest Field] with value [manyMB]",
        ),
        ("Processors.urlDecode('a%20b+%C3%A9')", "a b é"),
        (
            "Processors.urlDecode('a%2')",
            "illegal_argument_exception: URLDecoder: Incomplete trailing escape (%) pattern",
        ),
        (
            "Processors.urlDecode('%+1')",
            "illegal_argument_exception: URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal digit: \"+\" = 43",
        ),
    ]);
}

#[test]
fn collections_are_copied_and_searched() {
    check(&[
        ("List l = [1, 2]; List m = l.clone(); m.add(3); l.size() + m.size()", "5"),
        ("def m = ['a': 1]; def n = m.clone(); n.put('b', 2); m.size() + n.size()", "3"),
        ("def q = new ArrayDeque([1, 2, 1]); q.removeLastOccurrence(1); q.toString()", "[1, 2]"),
        ("List l = [1, 2, 3]; Collections.copy(l, [7, 8]); l.toString()", "[7, 8, 3]"),
        (
            "List l = [1, 2, 3, 4, 5]; Collections.shuffle(l, new Random(42)); l.size() + ' ' + l.sum()",
            "5 15.0",
        ),
        ("def e = Collections.enumeration([1]); e.nextElement() + ' ' + e.hasMoreElements()", "1 false"),
        ("Optional.of(1).orElseThrow(() -> new IllegalStateException('none'))", "1"),
        (
            "Optional.empty().orElseThrow(() -> new IllegalStateException('none'))",
            "illegal_state_exception: none",
        ),
    ]);
}

#[test]
fn texts_are_joined() {
    check(&[
        (
            "def j = new StringJoiner(', ', '[', ']'); j.add('a').add('b'); j.toString() + j.length()",
            "[a, b]6",
        ),
        ("def j = new StringJoiner('-'); j.setEmptyValue('none'); j.toString()", "none"),
        ("def j = new StringJoiner('-'); j.add('a'); j.merge(j); j.toString()", "a-a"),
    ]);
    let source = "def j = new StringJoiner('-'); def t = 'abcdefgh'; for (int i = 0; i < 99; i++) { j.add(t); t += t } 1";
    assert!(cause(source).contains("memory"), "{}", cause(source));
}

#[test]
fn stacks_and_priority_queues_order_their_items() {
    check(&[
        (
            "Stack s = new Stack(); s.push(1); s.push(2); s.push(3); s.pop() + ' ' + s.peek() + ' ' + s.search(1) + ' ' + s + s.empty()",
            "3 2 2 [1, 2]false",
        ),
        ("new Stack().pop()", "empty_stack_exception: "),
        ("def s = new Stack(); s.addAll([1, 2]); int n = 0; for (x in s) { n += x } n + s.size()", "5"),
        (
            "def q = new PriorityQueue(); q.addAll([5, 1, 4, 2, 3]); q.remove(4); def l = []; while (!q.isEmpty()) { l.add(q.poll()) } l.toString()",
            "[1, 2, 3, 5]",
        ),
        (
            "def q = new PriorityQueue((a, b) -> b - a); q.add(1); q.offer(3); q.add(2); q.peek() + ' ' + q",
            "3 [3, 1, 2]",
        ),
        ("new PriorityQueue().element()", "no_such_element_exception: "),
        ("def s = new Stack(); s.push(7); [s, 1]", "[[7],1]"),
    ]);
}

#[test]
fn numbers_have_formats() {
    check(&[
        ("new DecimalFormat('0.00').format(2.675)", "2.67"),
        ("new DecimalFormat('0.00').format(0.125) + new DecimalFormat('0.00').format(-0.001)", "0.12-0.00"),
        (
            "new DecimalFormat('#.##').format(0.912385) + new DecimalFormat('#.00').format(0.912385)",
            "0.91.91",
        ),
        ("new DecimalFormat('#,##0.0#').format(1234567.0)", "1,234,567.0"),
        ("new DecimalFormat().format(1234.56789)", "1,234.568"),
        ("new DecimalFormat('000').format(7) + new DecimalFormat('#').format(0)", "0070"),
        ("new DecimalFormat('0.0%').format(0.1234)", "12.3%"),
        ("new DecimalFormat(\"0.00;(0.00)'x'\").format(-1)", "(1.00)x"),
        (
            "new DecimalFormat('0.00').format(new BigDecimal('12345678901234567890.125'))",
            "12345678901234567890.12",
        ),
        ("def f = new DecimalFormat('0.0'); f.setRoundingMode(RoundingMode.HALF_UP); f.format(0.25)", "0.3"),
        ("def f = NumberFormat.getInstance(); f.setMaximumFractionDigits(1); f.format(12.34)", "12.3"),
        ("NumberFormat.getPercentInstance().format(0.5)", "50%"),
        ("def f = new DecimalFormat('#,##0.##'); f.parse('1,234.5') + f.parse('7.0 kg')", "1241.5"),
        ("new DecimalFormat('0').parse('x')", "parse_exception: Unparseable number: \"x\""),
        (
            "new DecimalFormat('0.0E0')",
            "illegal_argument_exception: exponents in a DecimalFormat are not supported by Limber yet",
        ),
        ("new DecimalFormat('#0#')", "illegal_argument_exception: Malformed pattern \"#0#\""),
        (
            "new DecimalFormat('0').format('a')",
            "illegal_argument_exception: Cannot format given Object as a Number",
        ),
    ]);
}

#[test]
fn dates_have_formats_and_can_be_set() {
    check(&[
        (
            "new SimpleDateFormat('yyyy-MM-dd HH:mm:ss.SSS').format(new Date(1700000000123L))",
            "2023-11-14 22:13:20.123",
        ),
        ("new SimpleDateFormat('yyyy-MM-dd').parse('2024-02-29').getTime()", "1709164800000"),
        (
            "def f = new SimpleDateFormat('HH:mm'); f.setTimeZone(TimeZone.getTimeZone('Europe/Berlin')); f.format(new Date(0L))",
            "01:00",
        ),
        ("new SimpleDateFormat('yyyy').parse('x')", "parse_exception: Unparseable date: \"x\""),
        (
            "new SimpleDateFormat('YYYY')",
            "illegal_argument_exception: [Y] in a SimpleDateFormat is not supported by Limber yet",
        ),
        ("def d = new Date(0L); d.setTime(5L); d.time = d.time + 1; d.getTime()", "6"),
    ]);
}

#[test]
fn decimals_are_rounded_in_contexts() {
    check(&[
        ("new BigDecimal('1').divide(new BigDecimal('3'), MathContext.DECIMAL32).toString()", "0.3333333"),
        ("new BigDecimal('2').divide(new BigDecimal('3'), new MathContext(3)).toString()", "0.667"),
        ("new BigDecimal('1').divide(new BigDecimal('8'), MathContext.DECIMAL64).toString()", "0.125"),
        ("new BigDecimal('100').divide(new BigDecimal('4'), new MathContext(1)).toString()", "3E+1"),
        ("new BigDecimal('1').divide(new BigDecimal('0.9999'), new MathContext(2)).toString()", "1.0"),
        ("new BigDecimal('9.996').round(new MathContext(3)).toString()", "10.0"),
        ("new BigDecimal('1.25', new MathContext(2, RoundingMode.HALF_EVEN)).toString()", "1.2"),
        ("new BigDecimal('1.5').multiply(new BigDecimal('1.5'), new MathContext(2)).toString()", "2.3"),
        ("MathContext.DECIMAL64.toString()", "precision=16 roundingMode=HALF_EVEN"),
        ("new MathContext(-1)", "illegal_argument_exception: Digits < 0"),
        (
            "new BigDecimal('1').divide(new BigDecimal('0'), MathContext.DECIMAL32)",
            "arithmetic_exception: Division by zero",
        ),
    ]);
}

#[test]
fn entries_change_their_map() {
    check(&[
        (
            "def m = ['a': 1, 'b': 2]; for (e in m.entrySet()) { e.setValue(e.getValue() * 10) } m.toString()",
            "{a=10, b=20}",
        ),
        (
            "def m = ['a': 1]; def e = m.entrySet().iterator().next(); def old = e.setValue(5); old + ' ' + e.getValue() + ' ' + m",
            "1 5 {a=5}",
        ),
        ("def m = ['a': 1]; m.put('e', m.entrySet().get(0)); m.entrySet().get(0).setValue(m); m.size()", "2"),
        (
            "['key': 1, 'value': 2].setValue(3)",
            "illegal_argument_exception: dynamic method [java.util.HashMap, setValue/1] not found",
        ),
    ]);
}
