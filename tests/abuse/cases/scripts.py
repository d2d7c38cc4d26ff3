"""Painless in every place that runs it: what grows, what loops, what refers to itself."""

from case import OK, REFUSED, Case, Lines, abandoned

BAD = (400, 413, 429)
DOCUMENTS = 2000

SETUP = [
    ("PUT", "/scripted", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        "k": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text"}, "d": {"type": "date"}, "g": {"type": "geo_point"}}}}),
    ("POST", "/scripted/_bulk?refresh=true", lambda: Lines([line for n in range(DOCUMENTS) for line in (
        {"index": {"_id": str(n)}}, {"k": f"key{n}", "n": n, "t": "hello world " * 20, "d": n * 86_400_000, "g": [n % 180, n % 90]})])),
]

# Each doubles or multiplies something, or goes on for ever; `{}` is where a value is returned.
GROWING = {
    "concat": "String s = 'x'; for (int i = 0; i < 60; i++) { s = s + s } return s.length()",
    "concat_assign": "String s = 'x'; for (int i = 0; i < 60; i++) { s += s } return s.length()",
    "concat_many": "String s = 'xxxxxxxxxxxxxxxx'; String r = ''; for (int i = 0; i < 900000; i++) { r = r + s } return r.length()",
    "builder": "StringBuilder b = new StringBuilder('x'); for (int i = 0; i < 60; i++) { b.append(b.toString()) } return b.length()",
    "builder_insert": "StringBuilder b = new StringBuilder('x'); for (int i = 0; i < 900000; i++) { b.insert(0, 'xyz') } return b.length()",
    "builder_length": "StringBuilder b = new StringBuilder(); b.setLength(2000000000); return b.length()",
    "replace": "String s = 'aaaaaaaa'; for (int i = 0; i < 60; i++) { s = s.replace('a', 'aaaaaaaa') } return s.length()",
    "replace_empty": "String s = 'a'; for (int i = 0; i < 60; i++) { s = s.replace('', 'bb') } return s.length()",
    "replace_all": "String s = 'aaaa'; for (int i = 0; i < 60; i++) { s = s.replaceAll(/a/, m -> 'aaaaaaaa') } return s.length()",
    "matcher_replace": "String s = 'aaaa'; for (int i = 0; i < 60; i++) { s = /a/.matcher(s).replaceAll('aaaaaaaa') } return s.length()",
    "repeat": "String s = 'x'; return s.repeat(2000000000).length()",
    "join": "List l = new ArrayList(); for (int i = 0; i < 1000; i++) { l.add('x') } String s = String.join('yyyy', l); "
            "for (int i = 0; i < 60; i++) { s = String.join(s, [s, s]) } return s.length()",
    "split": "String s = 'x'; for (int i = 0; i < 24; i++) { s += s } return s.splitOnToken('').length",
    "split_pattern": "String s = 'x,'; for (int i = 0; i < 22; i++) { s += s } return /,/.split(s).length",
    "list_add": "List l = []; for (int i = 0; i < 999999; i++) { l.add('xxxxxxxxxxxxxxxx' + i) } return l.size()",
    "list_add_all": "List l = [1, 2, 3, 4]; for (int i = 0; i < 60; i++) { l.addAll(new ArrayList(l)) } return l.size()",
    "list_add_itself": "List l = [1]; for (int i = 0; i < 60; i++) { l.addAll(l) } return l.size()",
    "list_insert": "List l = []; for (int i = 0; i < 900000; i++) { l.add(0, i) } return l.size()",
    "list_remove": "List l = []; for (int i = 0; i < 400000; i++) { l.add(i) } for (int i = 0; i < 400000; i++) { l.remove(0) } return l.size()",
    "list_contains": "List l = []; for (int i = 0; i < 100000; i++) { l.add(i) } int c = 0; for (int i = 0; i < 800000; i++) { if (l.contains(-1)) { c++ } } return c",
    "list_sort": "List l = []; for (int i = 0; i < 300000; i++) { l.add(i % 977) } for (int i = 0; i < 600000; i++) { l.sort((a, b) -> a - b) } return l.size()",
    "list_of_lists": "List l = []; for (int i = 0; i < 999; i++) { List m = []; for (int j = 0; j < 999; j++) { m.add(j) } l.add(m) } return l.size()",
    "list_nested": "List l = []; for (int i = 0; i < 900000; i++) { List m = []; m.add(l); l = m } return l.size()",
    "list_nested_text": "List l = []; for (int i = 0; i < 200000; i++) { List m = []; m.add(l); l = m } return l.toString().length()",
    "list_nested_equal": "List a = []; List b = []; for (int i = 0; i < 200000; i++) { List m = []; m.add(a); a = m; List n = []; n.add(b); b = n } return a == b ? 1 : 0",
    "list_nested_hash": "List a = []; for (int i = 0; i < 200000; i++) { List m = []; m.add(a); a = m } return a.hashCode()",
    "list_itself_text": "List l = []; l.add(l); return l.toString().length()",
    "list_itself_hash": "List l = []; l.add(l); return l.hashCode()",
    "list_itself_equal": "List l = []; l.add(l); List m = []; m.add(m); return l == m ? 1 : 0",
    "list_itself_key": "List l = []; l.add(l); Map m = [:]; m.put(l, 1); return m.size()",
    "list_shared": "List l = ['xxxxxxxxxxxxxxxx']; for (int i = 0; i < 60; i++) { List m = []; m.add(l); m.add(l); l = m } return l.toString().length()",
    "list_shared_hash": "List l = ['x']; for (int i = 0; i < 60; i++) { List m = []; m.add(l); m.add(l); l = m } return l.hashCode()",
    "map_put": "Map m = [:]; for (int i = 0; i < 999999; i++) { m.put('key' + i, 'xxxxxxxxxxxxxxxx' + i) } return m.size()",
    "map_put_all": "Map m = [:]; for (int i = 0; i < 1000; i++) { m.put('k' + i, i) } for (int i = 0; i < 900000; i++) { Map n = new HashMap(m); m = n } return m.size()",
    "map_itself": "Map m = [:]; m.put('m', m); return m.toString().length()",
    "map_nested": "Map m = [:]; for (int i = 0; i < 400000; i++) { Map n = [:]; n.put('m', m); m = n } return m.size()",
    "map_colliding": "Map m = [:]; for (int i = 0; i < 200000; i++) { m.put(i * 4294967296L + i, i) } return m.size()",
    "set_add": "Set s = new HashSet(); for (int i = 0; i < 999999; i++) { s.add('xxxxxxxxxxxxxxxx' + i) } return s.size()",
    "array_large": "int[] a = new int[2000000000]; return a.length",
    "array_negative": "int[] a = new int[-1]; return a.length",
    "array_squared": "int[][] a = new int[50000][50000]; return a.length",
    "arrays": "List l = []; for (int i = 0; i < 100000; i++) { l.add(new long[100000]) } return l.size()",
    "array_texts": "def a = new String[100000000]; return a.length",
    "stream": "List l = []; for (int i = 0; i < 900000; i++) { l.add(i) } return l.stream().map(x -> 'xxxxxxxxxxxxxxxxxxxxxxxx' + x).collect(Collectors.toList()).size()",
    "stream_join": "List l = []; for (int i = 0; i < 900000; i++) { l.add('xxxxxxxxxxxxxxxxxxxxxxxx') } return l.stream().collect(Collectors.joining('yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy')).length()",
    "stream_group": "List l = []; for (int i = 0; i < 900000; i++) { l.add(i) } return l.stream().collect(Collectors.groupingBy(x -> x)).size()",
    "big_power": "BigInteger b = BigInteger.valueOf(9); return b.pow(2000000000).bitLength()",
    "big_multiply": "BigInteger b = BigInteger.valueOf(9); for (int i = 0; i < 60; i++) { b = b.multiply(b) } return b.bitLength()",
    "big_decimal": "BigDecimal b = new BigDecimal('1e2000000000'); return b.toPlainString().length()",
    "loop_while": "int i = 0; while (true) { i++ } return i",
    "loop_for": "int c = 0; for (int i = 0; i < 2000000000; i++) { c += i } return c",
    "loop_do": "int i = 0; do { i++ } while (i != -1); return i",
    "loop_nested": "int c = 0; for (int i = 0; i < 900; i++) { for (int j = 0; j < 900; j++) { for (int k = 0; k < 900; k++) { c++ } } } return c",
    "loop_in_function": "int f(int x) { int c = 0; for (int i = 0; i < 100000; i++) { c += i } return c } int s = 0; for (int i = 0; i < 100000; i++) { s += f(i) } return s",
    "loop_in_lambda": "List l = []; for (int i = 0; i < 1000; i++) { l.add(i) } l.forEach(x -> { int c = 0; for (int i = 0; i < 900000; i++) { c += i } }); return 1",
    "loop_each": "List l = [1]; for (def x : l) { l.add(x) } return l.size()",
    "recursion": "int f(int x) { return f(x + 1) } return f(0)",
    "recursion_two": "int f(int x) { return x <= 0 ? 1 : f(x - 1) + f(x - 1) } return f(60)",
    "recursion_mutual": "int f(int x) { return g(x + 1) } int g(int x) { return f(x + 1) } return f(0)",
    "recursion_text": "String f(String s) { return f(s + s) } return f('x').length()",
    "recursion_lambda": "Function f = null; List l = [null]; f = x -> ((Function) l[0]).apply(x); l[0] = f; return f.apply(1)",
    "divide_by_zero": "return 1 / 0",
    "remainder_overflow": "return Long.MIN_VALUE / -1L + Integer.MIN_VALUE % -1",
    "shift": "return 1L << 9999999",
    "substring": "return 'abc'.substring(2, 1).length()",
    "substring_far": "return 'abc'.substring(2000000000).length()",
    "char_at": "return 'abc'.charAt(-1)",
    "list_at": "return [1, 2].get(-5)",
    "null_call": "def x = null; return x.length()",
    "cast": "return (int) (Object) 'x'",
    "throw": "throw new Exception('x')",
    "surrogates": "String s = '😀'; return s.substring(0, 1).length() + s.substring(1).toUpperCase().length()",
    "format": "return String.format('%2000000000d', new def[] { 1 }).length()",
    "parse_date": "return ZonedDateTime.parse('9999999999-01-01T00:00:00Z').getYear()",
    "date_plus": "ZonedDateTime z = ZonedDateTime.parse('2020-01-01T00:00:00Z'); for (int i = 0; i < 900000; i++) { z = z.plusYears(999999999) } return z.getYear()",
    "date_format": "DateTimeFormatter f = DateTimeFormatter.ofPattern('" + "y" * 5000 + "'); return f.format(ZonedDateTime.parse('2020-01-01T00:00:00Z')).length()",
    "pattern_long": "return /" + "(a|b)?" * 2000 + "/.matcher('ab').matches() ? 1 : 0",
    "pattern_repeat": "return /((a{1,100}){1,100}){1,100}/.matcher('ab').matches() ? 1 : 0",
    "pattern_backtracking": "String s = 'a'; for (int i = 0; i < 14; i++) { s += s } return /(?=(a+)+b)a/.matcher(s).find() ? 1 : 0",
    "sandbox_class": "return Class.forName('java.lang.Runtime').getName().length()",
    "sandbox_runtime": "return Runtime.getRuntime().exec('id').waitFor()",
    "sandbox_reflection": "return ''.getClass().getClassLoader().toString().length()",
    "sandbox_file": "return new File('/etc/passwd').length()",
    "sandbox_system": "System.exit(1); return 1",
    "sandbox_thread": "Thread.sleep(100000000); return 1",
    "base64": "String s = 'x'; for (int i = 0; i < 60; i++) { s = s.encodeBase64() } return s.length()",
    "sha": "String s = 'x'; for (int i = 0; i < 20; i++) { s += s } for (int i = 0; i < 900000; i++) { s.sha256() } return 1",
}

LONG_SOURCES = {
    "terms": "return " + "1+" * 30_000 + "1",
    "parentheses": "return " + "(" * 30_000 + "1" + ")" * 30_000,
    "blocks": "{" * 30_000 + "}" * 30_000 + "return 1",
    "ifs": "if (true) " * 10_000 + "{ return 1 } return 2",
    "elses": "if (false) { return 1 } else " * 10_000 + "{ return 2 }",
    "ternaries": "return " + "true ? 1 : " * 15_000 + "2",
    "negations": "return " + "- " * 30_000 + "1",
    "nots": "return " + "!" * 30_000 + "true ? 1 : 0",
    "casts": "return " + "(int) " * 10_000 + "1",
    "calls": "String s = ''; return s" + ".trim()" * 8_000 + ".length()",
    "indices": "def l = []; return l" + "[0]" * 20_000,
    "lists": "return " + "[" * 30_000 + "]" * 30_000 + ".size()",
    "maps": "return " + "['a':" * 10_000 + "1" + "]" * 10_000 + ".size()",
    "lambdas": "return " + "x -> " * 10_000 + "1",
    "variables": "".join(f"int v{n} = {n};" for n in range(4_000)) + "return 1",
    "functions": "".join(f"int f{n}() {{ return {n} }}" for n in range(2_500)) + "return f1()",
    "literals": "return '" + "x" * 60_000 + "'.length()",
    "tries": "try { " * 5_000 + "return 1" + " } catch (Exception e) { return 2 }" * 5_000,
    "comment": "/*" + "*" * 60_000,
    "strings": "return " + "'x' + " * 10_000 + "'x'",
    "types": "List" + "[]" * 20_000 + " a = null; return 1",
    "too_long": "return 1;" + " " * 2_000_000,
}


def fields(source, size=1):
    return {"size": size, "script_fields": {"f": {"script": source}}}


def in_pipeline(source):
    """The same as a processor: what is returned becomes a member of the document."""
    return {"pipeline": {"processors": [{"script": {"source": source.replace("return ", "ctx.f = ")}}]}, "docs": [{"_source": {"a": 1}}]}


CASES = [Case(f"fields_{name}", "POST", "/scripted/_search", fields(source), seconds=15) for name, source in GROWING.items()]
CASES += [Case(f"fields_of_many_{name}", "POST", "/scripted/_search", fields(source, 20), seconds=40) for name, source in GROWING.items()]
CASES += [Case(f"pipeline_{name}", "POST", "/_ingest/pipeline/_simulate", in_pipeline(source), seconds=15) for name, source in GROWING.items()]
CASES += [Case(f"source_{name}", "POST", "/scripted/_search", fields(source), seconds=15) for name, source in LONG_SOURCES.items()]

GROWS = "String s = 'xxxxxxxx'; for (int i = 0; i < 17; i++) { s += s } "
LOOPS = "int c = 0; for (int i = 0; i < 999999; i++) { c += i } "
PLACES = {
    "filter": lambda script: {"query": {"script": {"script": script + "return true"}}},
    "score": lambda script: {"query": {"script_score": {"query": {"match_all": {}}, "script": script + "return 1"}}},
    "function_score": lambda script: {"query": {"function_score": {"script_score": {"script": script + "return 1"}}}},
    "sort": lambda script: {"sort": [{"_script": {"type": "number", "script": script + "return 1"}}]},
    "sort_text": lambda script: {"sort": [{"_script": {"type": "string", "script": script + "return 'x' + doc['n'].value"}}], "size": 2000},
    "terms_set": lambda script: {"query": {"terms_set": {"k": {"terms": ["key1"], "minimum_should_match_script": {"source": script + "return 1"}}}}},
    "terms_aggregation": lambda script: {"size": 0, "aggs": {"a": {"terms": {"script": script + "return 'x'"}}}},
    "stats_aggregation": lambda script: {"size": 0, "aggs": {"a": {"stats": {"script": script + "return 1"}}}},
    "runtime_field": lambda script: {"size": 0, "runtime_mappings": {"r": {"type": "keyword", "script": script + "emit('x')"}}, "aggs": {
        "a": {"terms": {"field": "r"}}}},
    "runtime_query": lambda script: {"runtime_mappings": {"r": {"type": "long", "script": script + "emit(1)"}}, "query": {"range": {"r": {"gt": 5}}}},
    "runtime_sort": lambda script: {"runtime_mappings": {"r": {"type": "keyword", "script": script + "emit('x')"}}, "sort": ["r"], "size": 2000},
    "metric_init": lambda script: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {"a": {"scripted_metric": {
        "init_script": script + "state.l = [];", "map_script": "state.l.add(1)", "combine_script": "return state.l.size()",
        "reduce_script": "return states.size()"}}}}}},
    "metric_map": lambda script: {"size": 0, "aggs": {"a": {"scripted_metric": {"init_script": "state.l = [];", "map_script": script + "state.l.add(1)",
        "combine_script": "return state.l.size()", "reduce_script": "return states.size()"}}}},
    "metric_combine": lambda script: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {"a": {"scripted_metric": {
        "init_script": "state.l = [];", "map_script": "state.l.add(1)", "combine_script": script + "return 1", "reduce_script": "return 1"}}}}}},
    "metric_reduce": lambda script: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {"a": {"scripted_metric": {
        "init_script": "state.l = [];", "map_script": "state.l.add(1)", "combine_script": "return 1", "reduce_script": script + "return 1"}}}}}},
    "bucket_script": lambda script: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {"a": {"bucket_script": {
        "buckets_path": {"c": "_count"}, "script": script + "return 1"}}}}}},
    "bucket_selector": lambda script: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {"a": {"bucket_selector": {
        "buckets_path": {"c": "_count"}, "script": script + "return true"}}}}}},
    "moving_fn": lambda script: {"size": 0, "aggs": {"b": {"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"max": {"field": "n"}}, "a": {"moving_fn": {
        "buckets_path": "m", "window": 10, "script": script + "return 1"}}}}}},
    "top_hits": lambda script: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {"a": {"top_hits": {
        "script_fields": {"f": {"script": script + "return 1"}}}}}}}},
    "fields": lambda script: {"size": 2000, "script_fields": {"f": {"script": script + "return 1"}}},
    "significant": lambda script: {"size": 0, "query": {"match": {"t": "hello"}}, "aggs": {"a": {"significant_terms": {"field": "k", "size": 1000, "script_heuristic": {
        "script": script + "return 1"}}}}},
    "intervals": lambda script: {"query": {"intervals": {"t": {"match": {"query": "hello", "filter": {"script": {"source": script + "return true"}}}}}}},
}
for name, body in PLACES.items():
    CASES.append(Case(f"place_{name}_grows", "POST", "/scripted/_search", body(GROWS), seconds=60))
    CASES.append(Case(f"place_{name}_gone", "POST", "/scripted/_search?request_cache=false", body(LOOPS), hang_up=0.5, clients=4))

KEPT = {
    "metric_states": {"init_script": "state.l = [];", "map_script": "for (int i = 0; i < 500; i++) { state.l.add('xxxxxxxxxxxxxxxx' + i) }",
                      "combine_script": "return state.l", "reduce_script": "return states"},
    "metric_doubling": {"init_script": "state.s = 'x';", "map_script": "state.s += state.s", "combine_script": "return state.s", "reduce_script": "return states"},
    "metric_itself": {"init_script": "state.s = state;", "map_script": "state.x = 1", "combine_script": "return state", "reduce_script": "return states"},
    "metric_params": {"init_script": "params.l = []; state.x = 1", "map_script": "for (int i = 0; i < 500; i++) { params.l.add('xxxxxxxxxxxxxxxx' + i) }",
                      "combine_script": "return 1", "reduce_script": "return 1"},
    "metric_shared": {"init_script": "state.l = ['xxxxxxxxxxxxxxxx'];", "map_script": "List m = []; m.add(state.l); m.add(state.l); state.l = m",
                      "combine_script": "return state.l", "reduce_script": "return states"},
}
for name, scripts in KEPT.items():
    CASES.append(Case(name, "POST", "/scripted/_search", {"size": 0, "aggs": {"a": {"scripted_metric": scripts}}}, seconds=60))
    CASES.append(Case(f"{name}_buckets", "POST", "/scripted/_search", {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": 2000}, "aggs": {
        "a": {"scripted_metric": scripts}}}}}, seconds=60))

RETURNED = {
    "list": "List l = []; for (int i = 0; i < 20000; i++) { l.add('xxxxxxxxxxxxxxxx') } return l",
    "map": "Map m = [:]; for (int i = 0; i < 20000; i++) { m.put('key' + i, i) } return m",
    "shared": "List l = ['x']; for (int i = 0; i < 40; i++) { List m = []; m.add(l); m.add(l); l = m } return l",
    "deep": "List l = []; for (int i = 0; i < 100000; i++) { List m = []; m.add(l); l = m } return l",
    "itself": "List l = []; l.add(l); return l",
    "itself_map": "Map m = [:]; m.put('a', [m]); return m",
    "source": "return [params._source, params._source, params._source, params._source]",
    "doc_values": "List l = []; for (int i = 0; i < 5000; i++) { l.add(doc['k']) } return l",
}
for name, source in RETURNED.items():
    CASES.append(Case(f"returned_{name}", "POST", "/scripted/_search", fields(source, 2000), seconds=60))
    CASES.append(Case(f"updated_{name}", "POST", "/scripted/_update/1", {"script": {"source": source.replace("params._source", "ctx._source").replace("return ", "ctx._source.f = ")}},
                      seconds=60))
    CASES.append(Case(f"stored_{name}", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"script": {"source":
                      source.replace("params._source", "ctx").replace("doc['k']", "ctx").replace("return ", "ctx.f = ")}}]}, "docs": [{"_source": {"a": 1}}] * 20}, seconds=60))

# A search ends at its timeout, with what it found, however slow its scripts are.
SLOW = "int s = 0; for (int i = 0; i < 900000; i++) { s += i } "
IN_TIME = {
    "query": {"query": {"script": {"script": SLOW + "return s > 0"}}},
    "score": {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW + "return s > 0 ? 1 : 0"}}}},
    "function": {"query": {"function_score": {"script_score": {"script": SLOW + "return s > 0 ? 1 : 0"}}}},
    "sort": {"sort": [{"_script": {"type": "number", "script": SLOW + "return s"}}]},
    "metric": {"size": 0, "aggs": {"a": {"scripted_metric": {"init_script": "state.s = 0", "map_script": SLOW + "state.s += 1", "combine_script": SLOW + "return state.s",
                                                             "reduce_script": "return states"}}}},
    "terms": {"size": 0, "aggs": {"a": {"terms": {"script": {"source": SLOW + "return doc['n'].value + s"}}}}},
    "runtime": {"runtime_mappings": {"r": {"type": "long", "script": SLOW + "emit(s)"}}, "query": {"term": {"r": 5}}},
    "runtime_counted": {"size": 0, "runtime_mappings": {"r": {"type": "keyword", "script": SLOW + "emit('a' + s)"}}, "aggs": {"a": {"terms": {"field": "r"}}}},
    "fields": {"size": 2_000, "script_fields": {"f": {"script": SLOW + "return s"}}},
    "filter": {"size": 0, "aggs": {"a": {"filter": {"script": {"script": SLOW + "return s > 0"}}}}},
}
for name, body in IN_TIME.items():
    CASES.append(Case(f"in_time_{name}", "POST", "/scripted/_search?request_cache=false", {"timeout": "500ms", **body}, 200, seconds=6, contains='"timed_out":true'))
CASES += [
    abandoned("update_by_slow_query", "POST", "/scripted/_update_by_query?conflicts=proceed", {"query": {"script": {"script": SLOW + "return s > 0"}}}),
    abandoned("delete_by_slow_query", "POST", "/scripted/_delete_by_query?conflicts=proceed", {"query": {"script": {"script": SLOW + "return s < 0"}}}),
]

CASES += [
    Case("params_large", "POST", "/scripted/_search", lambda: {"size": 2000, "script_fields": {"f": {"script": {
        "source": "return params.l", "params": {"l": ["x" * 100] * 5000}}}}}, seconds=60),
    Case("params_deep", "POST", "/scripted/_search", "{\"script_fields\":{\"f\":{\"script\":{\"source\":\"1\",\"params\":{\"a\":" + "[" * 900 + "]" * 900 + "}}}}}"),
    Case("many_scripts", "POST", "/scripted/_search", lambda: {"size": 1, "script_fields": {f"f{n}": {"script": f"return {n}"} for n in range(32)}}),
    Case("too_many_scripts", "POST", "/scripted/_search", lambda: {"size": 1, "script_fields": {f"f{n}": {"script": f"return {n}"} for n in range(5_000)}}, REFUSED),
    Case("compiled_one_by_one", "POST", "/_msearch", lambda: Lines([line for n in range(2_000) for line in ({"index": "scripted"}, {
        "size": 1, "query": {"script": {"script": f"{'int x = 1; ' * 1} String s = '{'y' * 10_000}'; return {n} > 1"}}})]), seconds=60),
    Case("expression", "POST", "/scripted/_search", {"size": 1, "script_fields": {"f": {"script": {"lang": "expression", "source": "1+" * 5_000 + "1"}}}}),
    Case("expression_deep", "POST", "/scripted/_search", {"size": 1, "script_fields": {"f": {"script": {"lang": "expression", "source": "(" * 8_000 + "1" + ")" * 8_000}}}}),
    Case("expression_calls", "POST", "/scripted/_search", {"size": 1, "script_fields": {"f": {"script": {"lang": "expression", "source": "abs(" * 8_000 + "1" + ")" * 8_000}}}}),
    Case("mustache", "POST", "/_search/template", {"source": "{{#a}}" * 20_000 + "x" + "{{/a}}" * 20_000, "params": {"a": True}}, REFUSED),
    Case("mustache_lists", "POST", "/_render/template", {"source": "{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}xxxxxxxxxx{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}", "params": {"a": [1] * 100}},
         REFUSED + OK),
    Case("ingest_template_deep", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"set": {"field": "a", "value":
         "{{#b}}" * 5_000 + "x" + "{{/b}}" * 5_000}}]}, "docs": [{"_source": {"b": True}}]}),
    Case("ingest_template_lists", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"set": {"field": "a", "value":
         "{{#b}}" * 12 + "xxxxxxxxxx" + "{{/b}}" * 12}}]}, "docs": [{"_source": {"b": [1] * 100}}]}),
    Case("update_loops", "POST", "/scripted/_update/2", {"script": LOOPS * 8 + "ctx.op = 'none'"}, clients=16, seconds=60),
    Case("update_loops_gone", "POST", "/scripted/_update/2?retry_on_conflict=1000", {"script": LOOPS * 8}, hang_up=0.5, clients=16),
    Case("update_grows", "POST", "/scripted/_update/3", {"script": "ctx._source.t += ctx._source.t"}, clients=30, seconds=60),
    Case("update_by_query_grows", "POST", "/scripted/_update_by_query?conflicts=proceed&max_docs=50", {"script": {"source":
         "for (int i = 0; i < 16; i++) { ctx._source.t += ctx._source.t }"}}, seconds=120),
    Case("update_by_query_loops", "POST", "/scripted/_update_by_query?conflicts=proceed", {"script": {"source": LOOPS}}, hang_up=1.0),
]
