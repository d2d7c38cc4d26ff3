"""What a fourth attacker found on 30 November 2026: one text of a request that is taken apart, into pieces or trees of many times its size; names that are compared with all others; and tasks that nobody waits for."""

import atexit
import shutil
import tempfile
import time

from case import OK, REFUSED, Case, Lines, abandoned, acts, rested, several

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
MB = 1 << 20
FOLDER = tempfile.mkdtemp(prefix="abuse-pieces-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SETTINGS = [f"path.repo={FOLDER}"]
PARTS = {"analyzer": {"parts": {"tokenizer": "keyword", "filter": ["word_delimiter_graph"]}}}
SETUP = [
    ("PUT", "/p", {"settings": {**ONE, "analysis": PARTS}, "mappings": {"properties": {
        "k": {"type": "keyword"}, "t": {"type": "text"}, "w": {"type": "wildcard"}, "d": {"type": "date"}, "s": {"type": "geo_shape"}, "c": {"type": "completion"}, "rf": {"type": "rank_features"},
        "r": {"type": "long_range"}, "j": {"type": "join", "relations": {"a": "b"}}, "long": {"type": "text", "analyzer": "parts"},
        "in": {"type": "completion", "contexts": [{"name": "x", "type": "category", "path": "k"}]}}}}),
    ("POST", "/p/_bulk?refresh=true", lambda: Lines([line for n in range(1_000) for line in ({"index": {"_id": str(n)}}, {"k": f"key{n}", "t": f"some words {n}"})])),
    ("PUT", "/_snapshot/r", {"type": "fs", "settings": {"location": f"{FOLDER}/r"}}),
    ("PUT", "/_snapshot/r/s?wait_for_completion=true", {"indices": "p", "include_global_state": False}),
]
FORMATS = "y||" * (3 * MB) + "y"
LINES = "(1 1,2 2)," * MB + "(1 1,2 2)"
ACROSS = "(-180 -90,180 90)," * (MB // 2) + "(-180 -90,180 90)"


def commas(mb=10):
    return "a," * (mb * MB // 2)


def lists(mb=8):
    return "[" + "[]," * (mb * MB // 3) + "[]]"


def search(name, body, **more):
    return rested(name, "POST", "/p/_search", body, **more)


def query(name, of, **more):
    return search(name, lambda: {"query": of()}, **more)


def document(name, source):
    return rested(f"document_{name}", "PUT", "/p/_doc/x?routing=1", source)


def analyzed(name, part, text=lambda: "a", **more):
    return rested(f"analyze_{name}", "POST", "/_analyze", lambda: {"tokenizer": "keyword", "filter": [part()], "text": text()}, **more)


def composite(count):
    return {"c": {"type": "composite", "script": {"source": "emit('f0', 1)", "params": {"p": "x" * MB}}, "fields": {f"f{n}": {"type": "long"} for n in range(count)}}}


def bulk(count):
    return "".join('{"index":{"_index":"A%d"}}\n{}\n' % n for n in range(count))


def tasks(name, count, body):
    """Tasks that nobody waits for."""
    def act(server):
        for _ in range(count):
            yield server.send("POST", "/p/_update_by_query?wait_for_completion=false&requests_per_second=0.01&scroll_size=10&conflicts=proceed", body)
        server.send("POST", "/_tasks/_cancel?actions=*byquery")
        time.sleep(1)
    return acts(name, act, ANY, seconds=120)


CASES = [
    # Names of a bulk: each was compared with all before it.
    Case("bulk_names", "POST", "/_bulk", lambda: bulk(100_000), ANY, seconds=30, headers={"Content-Type": "application/x-ndjson"}),
    abandoned("bulk_names_gone", "POST", "/_bulk", lambda: bulk(60_000)),
    # Each task has a thread, and holds what its request parsed.
    tasks("tasks", 1_500, {}),
    tasks("tasks_with_queries", 200, {"query": {"bool": {"should": [{"match_all": {}}, {"terms": {"k": [f"k{n}" for n in range(20_000)]}}]}}}),
    # Each shard has the names of groups for itself.
    several("groups", [("POST", "/sharded/_search", {"size": 0, "stats": [f"{n}-{m}" + "x" * 500 for m in range(100)]}) for n in range(10)],
            setup=[("PUT", "/sharded", {"settings": {"number_of_shards": 800, "number_of_replicas": 0}})], seconds=60),
    # Lists in a text, and lines.
    rested("msearch_lines", "POST", "/_msearch", lambda: b"{}" + b"\n" * (16 * MB)),
    rested("restore_indices", "POST", "/_snapshot/r/s/_restore?wait_for_completion=true", lambda: {"indices": commas()}),
    rested("restore_ignored", "POST", "/_snapshot/r/s/_restore?wait_for_completion=true", lambda: {"rename_pattern": "p", "rename_replacement": "q", "ignore_index_settings": commas()}),
    rested("alias", "POST", "/_aliases", lambda: {"actions": [{"add": {"index": "p", "alias": commas() + "a"}}]}),
    rested("sort_fields", "PUT", "/sorted", lambda: {"settings": {"index.sort.field": commas()}}),
    rested("dimensions", "PUT", "/dims", lambda: {"mappings": {"properties": {"f": {"type": "flattened", "time_series_dimensions": commas()}}}}),
    analyzed("stopwords", lambda: {"type": "stop", "stopwords": commas()}),
    analyzed("synonyms", lambda: {"type": "synonym", "synonyms": [commas() + "b"]}),
    rested("formats_mapped", "PUT", "/fmt", lambda: {"mappings": {"properties": {"d": {"type": "date", "format": FORMATS}}}}),
    query("formats", lambda: {"range": {"d": {"gte": "2020", "format": FORMATS}}}),
    search("formats_shown", lambda: {"docvalue_fields": [{"field": "d", "format": FORMATS}]}),
    # Words and characters of queries.
    query("brackets", lambda: {"simple_query_string": {"query": "(" * (14 * MB), "fields": ["t"]}}),
    query("words_of_query_string", lambda: {"query_string": {"query": "a " * (7 * MB), "fields": ["t"]}}),
    query("stars", lambda: {"wildcard": {"k": "a*" * (7 * MB)}}),
    query("stars_of_wildcard", lambda: {"wildcard": {"w": "a*" * (7 * MB)}}),
    query("words", lambda: {"match": {"t": "a " * (7 * MB)}}),
    query("phrase", lambda: {"match_phrase": {"t": "a " * (7 * MB)}}),
    query("words_of_fields", lambda: {"multi_match": {"query": "a " * (7 * MB), "fields": ["t", "k"], "type": "cross_fields"}}),
    query("intervals", lambda: {"intervals": {"t": {"match": {"query": "a " * (7 * MB)}}}}),
    search("completion_regex", lambda: {"suggest": {"s": {"regex": "a" * (14 * MB), "completion": {"field": "c"}}}}),
    # Long tokens.
    analyzed("grams", lambda: {"type": "ngram", "min_gram": 5, "max_gram": 6}, lambda: "ab1-" * (2 * MB)),
    analyzed("parts", lambda: {"type": "word_delimiter_graph"}, lambda: "ab1-" * (2 * MB)),
    analyzed("parts_flat", lambda: {"type": "word_delimiter"}, lambda: "ab1-" * (2 * MB)),
    document("parts", lambda: {"long": "ab1-" * (4 * MB)}),
    # Values of documents that are read as trees.
    document("shape", lambda: '{"s":{"type":"multipoint","coordinates":[' + ",".join(["[1,1]"] * 1_500_000) + "]}}"),
    document("lines", lambda: {"s": f"MULTILINESTRING ({LINES})"}),
    document("lines_across", lambda: {"s": f"MULTILINESTRING ({ACROSS})"}),
    document("completion", lambda: '{"c":{"input":' + lists() + "}}"),
    document("contexts", lambda: '{"in":"a","k":"x","z":' + lists() + "}"),
    document("join", lambda: '{"j":{"name":' + lists() + "}}"),
    document("range", lambda: '{"r":{"gte":' + lists() + "}}"),
    document("features", lambda: '{"rf":{' + ",".join(f'"a{n}":1' for n in range(700_000)) + "}}"),
    rested("mapping_as_text", "PUT", "/_template/x", lambda: {"index_patterns": ["x-*"], "mappings": '{"properties":' + lists() + "}"}),
    # Lists of short items, each of which becomes something large.
    search("sorts", lambda: {"sort": ["k"] * 1_500_000}),
    query("functions", lambda: {"function_score": {"functions": [{"weight": 1}] * 500_000}}),
    query("examples", lambda: {"more_like_this": {"fields": ["t"], "like": [{"_id": "1"}] * 500_000}}),
    rested("dynamic_templates", "PUT", "/dynamic", lambda: {"mappings": {"dynamic_templates": [{"a": {"mapping": {}}}] * 300_000}}),
    rested("dynamic_formats", "PUT", "/dynamic", lambda: {"mappings": {"dynamic_date_formats": ["y"] * 1_000_000}}),
    rested("grok_patterns", "PUT", "/_ingest/pipeline/x", lambda: {"processors": [{"grok": {"field": "a", "patterns": ["%{IP:a}"] * 100_000}}]}, cleanup=[("DELETE", "/_ingest/pipeline/x")]),
    rested("date_patterns", "PUT", "/_ingest/pipeline/x", lambda: {"processors": [{"date": {"field": "a", "formats": ["y"] * 1_000_000}}]}, cleanup=[("DELETE", "/_ingest/pipeline/x")]),
    rested("levels", "PUT", "/_ingest/pipeline/x", lambda: {"processors": [{"set": {"field": "a." * (6 * MB), "value": 1}}]}),
    # A script that each part of a field had for itself.
    search("composite", lambda: {"runtime_mappings": composite(2_000)}),
    rested("composite_mapped", "PUT", "/rc", lambda: {"mappings": {"runtime": composite(900)}}, cleanup=[("DELETE", "/rc")]),
    # Each reference was looked for in all of the rest.
    abandoned("grok", "POST", "/_ingest/pipeline/_simulate", lambda: {"pipeline": {"processors": [{"grok": {"field": "a", "patterns": ["%{WORD:b}" * 300_000]}}]}, "docs": [{"_source": {"a": "a"}}]}),
]
