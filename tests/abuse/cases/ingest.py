"""Pipelines: documents that multiply, patterns without end, trees of many processors."""

from case import OK, REFUSED, Case

BAD = (400, 413, 429)
SIMULATE = "/_ingest/pipeline/_simulate"


def simulate(processors, source, count=1, path=SIMULATE):
    return {"pipeline": {"processors": processors}, "docs": [{"_source": source}] * count}, path


def run(name, processors, source, expect=OK + BAD, count=1, verbose=False, **more):
    """The processors over a document, in a simulation."""
    body, path = simulate(processors, source, count)
    return Case(name, "POST", path + ("?verbose" if verbose else ""), body, expect, **more)


def written(name, processors, source, expect=BAD, **more):
    """The same on the way into an index, where the document's own answer is looked at."""
    setup = [("PUT", f"/_ingest/pipeline/{name}", {"processors": processors})]
    cleanup = [("DELETE", f"/_ingest/pipeline/{name}"), ("DELETE", "/ingested")]
    return Case(f"write_{name}", "PUT", f"/ingested/_doc/1?pipeline={name}", source, expect, setup, cleanup, **more)


def doubling(times):
    return [{"set": {"field": "a", "value": "{{{a}}}{{{a}}}"}}] * times


def gsub(pattern, replacement, times=1):
    return [{"gsub": {"field": "a", "pattern": pattern, "replacement": replacement}}] * times


QUADRATIC = [".*?x|.", "(?:a+)+b|a", "[a-z]*?[0-9]|.", "(?=a*b)a|a", "a*?$|a", "(?<=a)a*c|.", "(a|aa)*?d|."]
LONG = "a" * 300_000
KEYS = " ".join(f"k{number}={number}" for number in range(100_000))

CASES = [
    run("set_doubles", doubling(40), {"a": "x" * 1000}),
    written("set_doubles", doubling(40), {"a": "x" * 1000}),
    run("kv_trims", [{"kv": {"field": "a", "field_split": " ", "value_split": "=", "trim_value": "b" * 1_000_000 + "a", "trim_key": "b" * 1_000_000 + "a"}}],
        {"a": "a" * 500_000 + "=" + "a" * 500_000}, OK, seconds=20),
    run("keeps_many", [{"remove": {"keep": [f"k{n}.a" for n in range(50_000)]}}], {f"x{n}": 1 for n in range(50_000)}, OK, seconds=20),
    run("removes_by_patterns", [{"remove_by_pattern": {"field_pattern": [f"k*{n}" for n in range(2_000)]}}], {f"x{n}": 1 for n in range(20_000)}, OK + BAD, seconds=60),
    run("fingerprint_excludes", [{"fingerprint": {"exclude_fields": [f"k{n}" for n in range(50_000)], "hash_method": "MD5@2.16.0"}}], {f"x{n}": 1 for n in range(50_000)}, OK + BAD, seconds=20),
    run("json_repeats", [{"json": {"field": "a", "allow_duplicate_keys": True}}], {"a": "{" + ",".join(f'"k{n % 49_999}":1' for n in range(50_000)) + "}"}, OK + BAD, seconds=20),
    run("append_doubles", [{"append": {"field": "a", "value": ["{{{a}}}", "{{{a}}}"]}}] * 40, {"a": "x" * 1000}),
    run("copies", [{"set": {"field": "b.b", "copy_from": "b"}}] * 60, {"b": {"x": 1}}),
    run("gsub_multiplies", gsub("", "x" * 10_000, 9), {"a": "aaaa"}),
    written("gsub_multiplies", gsub("", "x" * 1000, 9), {"a": "aaaa"}),
    run("join", [{"join": {"field": "a", "separator": "s" * 100_000}}], {"a": list(range(20_000))}),
    run("split", [{"split": {"field": "a", "separator": ""}}], {"a": "x" * 5_000_000}),
    run("split_join", [{"split": {"field": "a", "separator": ""}}, {"join": {"field": "a", "separator": "--------"}}] * 30, {"a": "xyz" * 100}),
    run("json_in_json", [{"json": {"field": "a", "target_field": "b"}}] * 50, {"a": "[" + "0," * 500_000 + "0]"}),
    run("json_deep", [{"json": {"field": "a"}}], {"a": "[" * 100_000}),
    run("dissect", [{"dissect": {"field": "a", "pattern": " ".join(f"%{{k{n}}}" for n in range(5000))}}], {"a": "x " * 5000}),
    run("dot_expander", [{"dot_expander": {"field": "*"}}], {".".join(["a"] * 500) + str(n): n for n in range(300)}),
    run("dot_expander_many", [{"dot_expander": {"field": "*"}}], {f"a.k{n}": n for n in range(50_000)}),
    run("date_formats", [{"date": {"field": "a", "formats": ["yyyy-MM-dd'T'HH:mm:ss.SSS"] * 20_000}}], {"a": "x"}),
    run("user_agent", [{"user_agent": {"field": "a"}}] * 200, {"a": "Mozilla/5.0 (" + "x; " * 50_000}),
    run("geoip", [{"geoip": {"field": "a", "ignore_missing": True}}] * 2000, {"a": ["8.8.8.8"] * 1000}),
    run("urldecode", [{"urldecode": {"field": "a"}}] * 100, {"a": "%25" * 300_000}),
    run("uri_parts", [{"uri_parts": {"field": "a"}}] * 100, {"a": "http://" + "a/" * 200_000}),
    run("html_strip", [{"html_strip": {"field": "a"}}] * 100, {"a": "<" * 300_000}),
    run("html_strip_comments", [{"html_strip": {"field": "a"}}] * 20, {"a": "<!--" * 100_000}),
    run("bytes", [{"bytes": {"field": "a"}}], {"a": "9" * 1_000_000}),
    run("convert", [{"convert": {"field": "a", "type": "auto"}}], {"a": ["9" * 1000] * 5000}),
    run("sort", [{"sort": {"field": "a"}}] * 100, {"a": list(range(100_000, 0, -1))}),
    run("fingerprint", [{"fingerprint": {"fields": ["a"]}}] * 50, {"a": {f"k{n}": [n] * 20 for n in range(5000)}}),
    run("kv", [{"kv": {"field": "a", "field_split": " ", "value_split": "="}}], {"a": KEYS}, seconds=20),
    written("kv", [{"kv": {"field": "a", "field_split": " ", "value_split": "="}}], {"a": KEYS}, seconds=20),
    run("kv_one_key", [{"kv": {"field": "a", "field_split": " ", "value_split": "="}}], {"a": "k=v " * 100_000 + "k=v"}),
    run("kv_deep", [{"kv": {"field": "a", "field_split": " ", "value_split": "="}}], {"a": ".".join("k" * 2000) + "=1"}),
    run("csv", [{"csv": {"field": "a", "target_fields": [f"k{n}" for n in range(100_000)]}}], {"a": ",".join("x" * 100_000)}, seconds=20),
    run("remove_many", [{"remove": {"field": [f"k{n}" for n in range(50_000)]}}], {f"k{n}": n for n in range(50_000)}, seconds=20),
    run("rename_many", [{"rename": {"field": f"k{n}", "target_field": f"r{n}"}} for n in range(5000)], {f"k{n}": n for n in range(5000)}),
    run("append_unique", [{"append": {"field": "a", "value": list(range(100_000)), "allow_duplicates": False}}], {"a": []}, seconds=20),
    run("foreach", [{"foreach": {"field": "a", "processor": {"set": {"field": "_ingest._value", "value": "x" * 10_000}}}}], {"a": [1] * 100_000}),
    run("foreach_nested", [{"foreach": {"field": "a", "processor": {"foreach": {"field": "_ingest._value", "processor": {"append": {
        "field": "b", "value": "{{{_ingest._value}}}"}}}}}}], {"a": [list(range(1000))] * 100}),
    run("foreach_object", [{"foreach": {"field": "a", "processor": {"set": {"field": "b.{{{_ingest._key}}}", "value": 1}}}}],
        {"a": {f"k{n}": n for n in range(50_000)}}, seconds=20),
    run("processors_5000", doubling(1) + [{"set": {"field": f"k{n}", "value": n}} for n in range(5000)], {"a": 1}),
    run("verbose_5000", [{"set": {"field": f"k{n}", "value": "v" * 100}} for n in range(5000)], {"a": "x" * 10_000}, verbose=True),
    run("verbose_documents", [{"set": {"field": "a", "value": "x" * 1000}}] * 100, {"a": 1}, count=10_000, verbose=True),
    run("script_text", [{"script": {"source": "for (int i = 0; i < 40; i++) { ctx.a += ctx.a }"}}], {"a": "x" * 1000}),
    run("script_list", [{"script": {"source": "ctx.l = []; for (int i = 0; i < 900000; i++) { ctx.l.add(ctx.a) }"}}], {"a": "x" * 1000}),
    run("script_replace", [{"script": {"source": "ctx.b = /.*?x|./.matcher(ctx.a).replaceAll('yy')"}}], {"a": LONG}),
    run("on_failure", [{"fail": {"message": "{{{a}}}", "on_failure": [{"set": {"field": "a", "value": "{{{a}}}{{{_ingest.on_failure_message}}}"}}]}}] * 40,
        {"a": "x" * 1000}),
    run("ignored_failures", [{"gsub": {"field": "a", "pattern": ".*?x|.", "replacement": "b", "ignore_failure": True}}] * 50, {"a": LONG}, seconds=15),
    Case("groks_2000", "PUT", "/_ingest/pipeline/groks", lambda: {"processors": [
        {"grok": {"field": "a", "patterns": [f"%{{COMBINEDAPACHELOG}} %{{DATA:k{n}}}"]}} for n in range(2000)]}, OK + BAD,
        cleanup=[("DELETE", "/_ingest/pipeline/groks")], seconds=60),
    Case("groks_simulated", "POST", SIMULATE, lambda: simulate([
        {"grok": {"field": "a", "patterns": [f"%{{COMBINEDAPACHELOG}} %{{DATA:k{n}}}"]}} for n in range(2000)], {"a": "x"})[0], OK + BAD, seconds=60),
    Case("gsub_sizes", "PUT", "/_ingest/pipeline/sizes", lambda: {"processors": [
        {"gsub": {"field": "a", "pattern": f"(?:[a-z]{{1,200}}{n}){{1,50}}", "replacement": ""}} for n in range(500)]}, OK + BAD,
        cleanup=[("DELETE", "/_ingest/pipeline/sizes")], seconds=60),
    Case("cycle", "PUT", "/ingested/_doc/1?pipeline=a", {"x": 1}, 400,
         [("PUT", "/_ingest/pipeline/a", {"processors": [{"pipeline": {"name": "b"}}]}),
          ("PUT", "/_ingest/pipeline/b", {"processors": [{"pipeline": {"name": "a"}}]})],
         [("DELETE", "/_ingest/pipeline/a"), ("DELETE", "/_ingest/pipeline/b"), ("DELETE", "/ingested")]),
    Case("no_such_pipeline", "PUT", "/ingested/_doc/1?pipeline=c", {"x": 1}, 400,
         [("PUT", "/_ingest/pipeline/c", {"processors": [{"pipeline": {"name": "nowhere"}}]})],
         [("DELETE", "/_ingest/pipeline/c"), ("DELETE", "/ingested")]),
    Case("simulate_many", "POST", SIMULATE, lambda: simulate(gsub("a", "aaaaaaaaaa", 4), {"a": "a" * 100}, 300)[0], OK + BAD, clients=4),
    Case("deep_source", "POST", SIMULATE, "{\"docs\":[{\"_source\":" + "{\"a\":" * 5000 + "1" + "}" * 5000 + "}]}", BAD),
    Case("many_values", "POST", "/ingested/_doc?pipeline=values", lambda: {"a": [0] * 2_000_000}, OK + BAD,
         [("PUT", "/_ingest/pipeline/values", {"processors": [{"set": {"field": "b", "value": 1}}]})],
         [("DELETE", "/_ingest/pipeline/values"), ("DELETE", "/ingested")], clients=3),
]

for number, pattern in enumerate(QUADRATIC):
    CASES += [
        run(f"quadratic_{number}", gsub(pattern, "y"), {"a": LONG}, seconds=15),
        written(f"quadratic_{number}", gsub(pattern, "y"), {"a": LONG}, OK + BAD, seconds=15, clients=3),
        run(f"split_quadratic_{number}", [{"split": {"field": "a", "separator": pattern}}], {"a": LONG}, seconds=15),
    ]
CASES += [
    written("gone", gsub(QUADRATIC[0], "y", 20), {"a": LONG}, hang_up=0.3, clients=8),
    run("gone_simulation", gsub(QUADRATIC[0], "y", 20), {"a": LONG}, count=20, hang_up=0.3, clients=8),
]
