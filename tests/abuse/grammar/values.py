"""Values that multiply: deep, wide, long, huge, not a number, at the ends of time."""

import json

INTEGERS = [-1, 0, 1, 2, 10, 1_000, 10_000, 65_536, 2**31 - 1, 2**31, -2**31, 2**53, 2**63 - 1, -2**63, 2**64, 10**30]
FLOATS = [0.0, -0.0, 0.5, 1e-308, 5e-324, 1e308, -1e308, 1e15, 0.1]
RAW = ["NaN", "Infinity", "1e999", "-1e999", "01", "1.", "\"\\ud800\"", "\"\\u0000\"", "[" * 300 + "]" * 300, "{\"a\":" * 300 + "1" + "}" * 300]
DATES = ["now", "now/d", "now-1y", "0", "9223372036854775807", "-9223372036854775808", "1970-01-01", "9999-12-31T23:59:59.999Z", "-9999-01-01", "292278994-08-17",
         "now" + "+1d" * 200, "2020-02-30", "2016-12-31T23:59:60Z", "0000-00-00", "||/M", "2020-01-01||+1M/d"]
UNITS = ["1ms", "0ms", "-1ms", "1d", "999999999999d", "1.5h", "1", "1y", "1nanos", "9223372036854775807ms", "1b", "1pb", "99999999999pb", "-1b", "10%", "101%", "-1%", "NaN%"]
PATTERNS = ["*", "a*b*c*d*", "?" * 50, "(a|b)*a(a|b){12}", "((a{1,20}){1,20}){1,20}", "(a*)*b", ".*" * 40 + "x", "[a-z&&[^b]]", "(?=(a+)+b)a", "~(.*a.{1,9})", "<1-1000000>", "\\", "(", "[", "a{2147483647}", "@&~(x)"]
SHAPES = ["POINT (1 1)", "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))", "LINESTRING (" + ", ".join(f"{n % 180} {n % 80}" for n in range(500)) + ")", "BBOX (-180, 180, 90, -90)", "POINT EMPTY",
          "GEOMETRYCOLLECTION (" * 50, {"type": "envelope", "coordinates": [[-180, 90], [180, -90]]}, {"type": "circle", "coordinates": [0, 0], "radius": "1e9km"},
          {"type": "linestring", "coordinates": [[n % 360 - 180, n % 170 - 85] for n in range(2_000)]}]
SCRIPTS = ["1", "doc['n'].value", "int c = 0; while (true) { c++ } return c", "String s = 'x'; for (int i = 0; i < 60; i++) { s += s } return s", "def l = []; while (true) { l.add('xxxxxxxxxxxxxxxxxxxxxxxxxxxx') }",
           "/(a+)+b/.matcher('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').find()", "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2) } return f(60)", "int f(int n) { return f(n + 1) } return f(0)",
           "params.p", "1/0", "Double.NaN", "throw new Exception('x')", "def m = [:]; m.m = m; return m", "doc['nothing'].value", "return params._source", "((((((((((1))))))))))", "'a'.repeat(1000000000)",
           "new int[2147483647]", "List l = new ArrayList(2147483647); return l", "StringBuilder b = new StringBuilder(); while (true) { b.append('xxxxxxxxxxxx') }", "emit('a')", "for (int i = 0; i < 200; i++) { emit('a' + i) }"]
FIELDS = ["n", "k", "t", "d", "p", "s", "c", "c.x", "f", "f.a", "r", "ip", "b", "j", "sug", "q", "nothing", "*", "n*", "_id", "_source", "_index", "_score", "_doc", "", ".", "a..b", "u" * 300, "a." * 60 + "b", "a." * 50_000 + "b"]
TEXTS = ["", "a", "hello world", "hello " * 500, "x" * 10_000, "ab" * 20_000, "\u0000", "\U0001f600" * 500, "a b c d e f g h i j", "key1", "-", "AND OR NOT", "\"a b\"~9", "%{GREEDYDATA:a}", "{{a}}{{#a}}{{/a}}", "../../etc/passwd"]


def value(random, depth=0):
    """Anything."""
    kind = random.randrange(12)
    if kind == 0:
        return None
    if kind == 1:
        return random.choice([True, False])
    if kind <= 4:
        return random.choice(INTEGERS)
    if kind == 5:
        return random.choice(FLOATS)
    if kind <= 8:
        return text(random)
    if depth > 3:
        return random.choice(TEXTS)
    if kind == 9:
        return [value(random, depth + 1) for _ in range(random.choice([0, 1, 2, 5]))]
    if kind == 10:
        return {random.choice(FIELDS + ["a", "type", "query", "field"]): value(random, depth + 1) for _ in range(random.choice([0, 1, 3]))}
    return [value(random, 4)] * random.choice([10, 1_000, 20_000])


def text(random):
    return random.choice(random.choice([TEXTS, DATES, UNITS, PATTERNS, FIELDS, [shape for shape in SHAPES if isinstance(shape, str)]]))


class Raw:
    """JSON that `json` would not write."""

    def __init__(self, text):
        self.text = text


class TooLarge(Exception):
    """Parts that stand at many places make more of a tree than a body may have."""


CHARACTERS_MAX = 8 << 20


def characters(node, known):
    """About what a tree is as text; parts that stand at many places are looked at once."""
    if isinstance(node, str):
        return len(node) + 4
    if not isinstance(node, (dict, list)):
        return 20
    if id(node) not in known:
        if isinstance(node, dict):
            known[id(node)] = sum(len(str(name)) + 4 + characters(member, known) for name, member in node.items())
        elif node and all(member is node[0] for member in node):
            known[id(node)] = len(node) * characters(node[0], known)
        else:
            known[id(node)] = sum(characters(member, known) for member in node)
    return known[id(node)]


def dumps(tree, random):
    """JSON of a tree that may hold `Raw` parts, and names that repeat now and then."""
    marks = {}

    def plain(node):
        if isinstance(node, Raw):
            mark = f"@raw{len(marks)}@"
            marks[mark] = node.text
            return mark
        if isinstance(node, dict):
            return {str(name): plain(member) for name, member in node.items()}
        if isinstance(node, list):
            if len(node) > 100 and all(member is node[0] for member in node):
                one = plain(node[0])
                return [one] * len(node)
            return [plain(member) for member in node]
        return node

    if characters(tree, {}) > CHARACTERS_MAX:
        raise TooLarge
    body = json.dumps(plain(tree))
    for mark, raw in marks.items():
        body = body.replace(f'"{mark}"', raw)
    if random.random() < 0.03 and body.startswith("{") and len(body) > 2:
        body = "{" + body[1:-1] + "," + body[1:]
    return body
