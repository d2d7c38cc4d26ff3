"""Work of many documents at a time: by-query writes, reindex, bulks, many gets, term vectors."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)

SETUP = [
    ("PUT", "/many", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        "k": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text"}}}}),
    ("POST", "/many/_bulk?refresh=true", lambda: Lines([line for n in range(20_000) for line in (
        {"index": {"_id": str(n)}}, {"k": f"key{n}", "n": n, "t": "hello world " * 10})])),
    ("PUT", "/large", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"enabled": False}}),
    *[("PUT", f"/large/_doc/{n}?refresh=true", lambda: {"t": ["x" * 1_000] * 4_000}) for n in range(10)],
    ("PUT", "/vectors", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        "t": {"type": "text", "term_vector": "with_positions_offsets_payloads"}}}}),
    ("PUT", "/vectors/_doc/1?refresh=true", lambda: {"t": " ".join(f"word{n}" for n in range(100_000))}),
]
GROWS = "for (int i = 0; i < 17; i++) { ctx._source.t += ctx._source.t }"
LOOPS = "int c = 0; for (int i = 0; i < 999999; i++) { c += i }"


def reindex(name, body, query="", **more):
    return Case(f"reindex_{name}", "POST", f"/_reindex{query}", body, **{"cleanup": [("POST", "/_tasks/_cancel?actions=*reindex"), ("DELETE", "/copy*,remade*?expand_wildcards=all")],
                                                                           "seconds": 120, **more})


def by_query(name, what, body, query="", index="many", **more):
    return Case(f"{what}_{name}", "POST", f"/{index}/_{what}_by_query{query}", body, **{"cleanup": [("POST", "/_tasks/_cancel?actions=*byquery*")], "seconds": 120, **more})


def bulk(name, items, path="/bulked/_bulk", expect=OK + BAD, **more):
    return Case(f"bulk_{name}", "POST", path, (lambda: Lines(items())) if callable(items) else items, expect, **{
        "cleanup": [("DELETE", "/bulked")], "seconds": 60, **more})


def raw(name, text, path="/bulked/_bulk", expect=OK + BAD, **more):
    return Case(f"bulk_{name}", "POST", path, text, expect, headers={"Content-Type": "application/x-ndjson"}, **{"cleanup": [("DELETE", "/bulked")], "seconds": 60, **more})


CASES = [
    reindex("grows", {"source": {"index": "many", "size": 1_000}, "dest": {"index": "copy"}, "script": {"source": GROWS}}, hang_up=20.0),
    reindex("large_pages", {"source": {"index": "large", "size": 10_000}, "dest": {"index": "copy"}}),
    reindex("slices", {"source": {"index": "many"}, "dest": {"index": "copy"}}, "?slices=1024"),
    reindex("slices_many", {"source": {"index": "many"}, "dest": {"index": "copy"}}, "?slices=2147483647"),
    reindex("many_indices", {"source": {"index": "many"}, "dest": {"index": "copy"}, "script": {"source": "ctx._index = 'remade-' + ctx._id"}, "max_docs": 60}),
    reindex("ids", {"source": {"index": "many"}, "dest": {"index": "copy"}, "script": {"source": "String s = 'x'; for (int i = 0; i < 20; i++) { s += s } ctx._id = s"}}),
    reindex("routing", {"source": {"index": "many"}, "dest": {"index": "copy", "routing": "=" + "r" * 1_000_000}}),
    reindex("into_itself", {"source": {"index": "many"}, "dest": {"index": "many"}}, expect=REFUSED),
    reindex("loops", {"source": {"index": "many"}, "dest": {"index": "copy"}, "script": {"source": LOOPS}}, hang_up=1.0),
    reindex("loops_in_background", {"source": {"index": "many"}, "dest": {"index": "copy"}, "script": {"source": LOOPS}}, "?wait_for_completion=false", clients=20),
    reindex("pages_of_everything", {"source": {"index": "large", "size": 2_147_483_647}, "dest": {"index": "copy"}}),
    reindex("remote", {"source": {"remote": {"host": "http://127.0.0.1:9"}, "index": "many"}, "dest": {"index": "copy"}}, expect=REFUSED),
    reindex("remote_metadata", {"source": {"remote": {"host": "http://169.254.169.254:80/latest/meta-data"}, "index": "many"}, "dest": {"index": "copy"}}, expect=REFUSED),
    reindex("remote_file", {"source": {"remote": {"host": "file:///etc/passwd"}, "index": "many"}, "dest": {"index": "copy"}}, expect=REFUSED),
    reindex("query_names", lambda: {"source": {"index": ["many"] * 100_000}, "dest": {"index": "copy"}}),
    reindex("throttled", {"source": {"index": "many"}, "dest": {"index": "copy"}}, "?requests_per_second=0.0000001&wait_for_completion=false", clients=30),
    reindex("throttled_and_gone", {"source": {"index": "many"}, "dest": {"index": "copy"}}, "?requests_per_second=0.1", hang_up=0.3, clients=30),
    by_query("grows", "update", {"script": {"source": GROWS}}, "?conflicts=proceed", hang_up=20.0),
    by_query("loops", "update", {"script": {"source": LOOPS}}, "?conflicts=proceed", hang_up=1.0, clients=4),
    by_query("pages", "update", {"query": {"match_all": {}}}, "?scroll_size=10000&conflicts=proceed", index="large"),
    by_query("slices", "update", {"query": {"match_all": {}}}, "?slices=1000&conflicts=proceed", clients=4),
    by_query("conflicts", "update", {"query": {"match_all": {}}}, "", clients=8, expect=OK + REFUSED),
    by_query("never", "update", {"query": {"script": {"script": LOOPS + " return false"}}}, "?wait_for_completion=false", clients=20),
    by_query("terms", "delete", lambda: {"query": {"terms": {"k": [f"nokey{n}" for n in range(65_000)]}}}, clients=4),
    by_query("sort", "delete", {"query": {"match_none": {}}}, "?sort=n:desc&scroll_size=99999999"),
    bulk("items", lambda: [line for n in range(200_000) for line in ({"index": {}}, {"a": n})]),
    bulk("refused_items", lambda: [line for n in range(100_000) for line in ({"index": {"_index": "UPPER" + "x" * 200}}, {"a": n})]),
    bulk("failing_documents", lambda: [line for n in range(50_000) for line in ({"index": {}}, {"n": "not a number " + "x" * 200})], path="/many/_bulk"),
    bulk("failing_long", lambda: [line for n in range(500) for line in ({"index": {}}, {"n": "x" * 50_000})], path="/many/_bulk"),
    bulk("same_id", lambda: [line for n in range(50_000) for line in ({"index": {"_id": "1"}}, {"a": n})]),
    bulk("updates_of_one", lambda: [line for n in range(20_000) for line in ({"update": {"_id": "1"}}, {"doc": {f"k{n % 900}": n}, "doc_as_upsert": True})]),
    bulk("updates_that_grow", lambda: [line for n in range(60) for line in ({"update": {"_id": "1"}}, {
        "script": {"source": "if (ctx._source.t == null) { ctx._source.t = 'xxxxxxxx' } ctx._source.t += ctx._source.t"}, "upsert": {"a": 1}})]),
    bulk("updates_of_large", lambda: [line for n in range(5_000) for line in ({"update": {"_id": "1"}}, {"doc": {"n": n}})], path="/large/_bulk", seconds=120),
    bulk("sources_of_large", lambda: [line for n in range(500) for line in ({"update": {"_id": "2", "_source": True}}, {"doc": {}})], path="/large/_bulk"),
    bulk("scripts", lambda: [line for n in range(300) for line in ({"update": {"_id": str(n)}}, {"script": {"source": f"ctx._source.n = {n}; " + "int x = 1;" * 1}})], path="/many/_bulk"),
    bulk("pipelines", lambda: [line for n in range(5_000) for line in ({"index": {"pipeline": f"nowhere{n}"}}, {"a": n})]),
    bulk("routings", lambda: [line for n in range(2_000) for line in ({"index": {"routing": "r" * 10_000}}, {"a": n})]),
    bulk("dynamic_fields", lambda: [line for n in range(3_000) for line in ({"index": {}}, {f"f{n}": n})]),
    bulk("dynamic_objects", lambda: [line for n in range(500) for line in ({"index": {}}, {f"o{n % 50}": {f"f{m}": m for m in range(20)}})]),
    bulk("nulls", lambda: [line for n in range(1_000) for line in ({"index": {}}, {f"f{m}": None for m in range(900)})]),
    raw("line_long", lambda: '{"index":{}}\n{"a":"' + "x" * 80_000_000 + '"}\n'),
    raw("no_newline", '{"index":{}}\n{"a":1}', expect=OK + BAD),
    raw("empty_lines", lambda: "\n" * 5_000_000),
    raw("action_deep", lambda: '{"index":' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}\n{}\n"),
    raw("action_unknown", '{"explode":{}}\n{}\n', expect=BAD),
    raw("action_not_object", '[]\n{}\n', expect=BAD),
    raw("action_null", '{"index":null}\n{}\n'),
    raw("source_not_object", '{"index":{}}\n[1,2,3]\n'),
    raw("source_deep", lambda: '{"index":{}}\n' + '{"a":' * 200_000 + "1" + "}" * 200_000 + "\n"),
    raw("source_lists", lambda: '{"index":{}}\n{"a":' + "[" * 200_000 + "]" * 200_000 + "}\n"),
    raw("source_keys", lambda: '{"index":{}}\n{' + ",".join(f'"k{n}":1' for n in range(300_000)) + "}\n"),
    raw("source_same_key", lambda: '{"index":{}}\n{' + ",".join('"k":1' for n in range(500_000)) + "}\n"),
    raw("source_numbers", lambda: '{"index":{}}\n{"a":' + "9" * 5_000_000 + "}\n"),
    raw("source_exponent", '{"index":{}}\n{"a":1e999999999}\n{"index":{}}\n{"a":1e-999999999}\n'),
    raw("source_escapes", lambda: '{"index":{}}\n{"a":"' + "\\u0041" * 2_000_000 + '"}\n'),
    raw("source_surrogates", '{"index":{}}\n{"a":"\\ud800","\\udfff":"\\ud800\\ud800"}\n'),
    raw("source_not_utf8", b'{"index":{}}\n{"a":"\xff\xfe\xc0\x80"}\n'),
    raw("source_nul", '{"index":{}}\n{"a\\u0000b":"c\\u0000d"}\n'),
    raw("ids_of_every_kind", '{"index":{"_id":{"a":1}}}\n{}\n{"index":{"_id":[1]}}\n{}\n{"index":{"_id":1e400}}\n{}\n'),
    raw("id_long", '{"index":{"_id":"' + "x" * 513 + '"}}\n{}\n'),
    raw("if_seq_no", '{"index":{"_id":"1","if_seq_no":-5,"if_primary_term":99999999999999999999}}\n{}\n'),
    raw("version", '{"index":{"_id":"1","version":9223372036854775807,"version_type":"external"}}\n{}\n'),
    bulk("gone", lambda: [line for n in range(100_000) for line in ({"index": {}}, {"a": n, "t": "hello world"})], hang_up=0.2, clients=6),
    bulk("clients", lambda: [line for n in range(20_000) for line in ({"index": {}}, {"a": n, "t": "hello world " * 10})], clients=12, seconds=120),
    bulk("large_clients", lambda: [line for n in range(6) for line in ({"index": {}}, {"t": "x" * 1_000_000})], clients=24, seconds=120),
    bulk("refresh_each", lambda: [{"index": {}}, {"a": 1}], path="/bulked/_bulk?refresh=true", clients=100, seconds=60),
    Case("mget_many", "POST", "/large/_mget", lambda: {"ids": [str(n % 10) for n in range(10_000)]}, seconds=60),
    Case("mget_missing", "POST", "/large/_mget", lambda: {"ids": [f"nowhere{n}" for n in range(200_000)]}, seconds=60),
    Case("mget_indices", "POST", "/_mget", lambda: {"docs": [{"_index": "nowhere" + "x" * 200, "_id": str(n)} for n in range(50_000)]}, seconds=60),
    Case("mget_sources", "POST", "/large/_mget", lambda: {"docs": [{"_id": "1", "_source": [f"a{n}*" for n in range(2_000)]} for _ in range(200)]}, seconds=60),
    Case("mget_clients", "POST", "/large/_mget", lambda: {"ids": [str(n % 10) for n in range(20)]}, clients=16, seconds=60),
    Case("large_gets", "GET", "/large/_doc/1", None, clients=60),
    Case("large_pages", "POST", "/large/_search?size=10", {}, clients=16),
    Case("term_vectors", "POST", "/vectors/_termvectors/1", {"term_statistics": True, "field_statistics": True, "positions": True, "offsets": True, "payloads": True}, clients=4),
    Case("term_vectors_made", "POST", "/many/_termvectors", lambda: {"doc": {"t": " ".join(f"w{n}" for n in range(500_000))}}),
    Case("term_vectors_filter", "POST", "/vectors/_termvectors/1", {"filter": {"max_num_terms": 2_147_483_647, "min_doc_freq": 0}}),
    Case("mtermvectors", "POST", "/vectors/_mtermvectors", lambda: {"docs": [{"_id": "1", "term_statistics": True}] * 200}, seconds=60),
    Case("scroll_large", "POST", "/large/_search?scroll=1m&size=10", {}, clients=40, cleanup=[("DELETE", "/_search/scroll/_all")]),
    Case("scroll_slices", "POST", "/many/_search?scroll=1m", {"slice": {"id": 0, "max": 2_147_483_647}, "size": 10}, cleanup=[("DELETE", "/_search/scroll/_all")]),
    Case("pits", "POST", "/many/_pit?keep_alive=1m", None, clients=100),
    Case("export", "POST", "/many/_search", {"size": 10_000, "sort": ["_doc"], "track_total_hits": True}, clients=8),
    Case("from_far", "POST", "/many/_search", {"from": 2_147_483_647, "size": 1}, REFUSED),
    Case("from_and_size", "POST", "/many/_search", {"from": 9_000, "size": 2_000}, REFUSED),
    Case("size_negative", "POST", "/many/_search", {"size": -2_147_483_648}, REFUSED),
    Case("size_beyond", "POST", "/many/_search", {"size": 18_446_744_073_709_551_615}, REFUSED),
    Case("size_raised", "POST", "/many/_search", {"size": 2_000_000_000}, setup=[("PUT", "/many/_settings", {"index.max_result_window": 2_147_483_647})],
         cleanup=[("PUT", "/many/_settings", {"index.max_result_window": None})], clients=4),
    Case("from_raised", "POST", "/many/_search", {"from": 2_000_000_000, "size": 100_000_000}, setup=[("PUT", "/many/_settings", {"index.max_result_window": 2_147_483_647})],
         cleanup=[("PUT", "/many/_settings", {"index.max_result_window": None})]),
    Case("rescore_window", "POST", "/many/_search", {"rescore": {"window_size": 2_147_483_647, "query": {"rescore_query": {"match_all": {}}}}}, REFUSED),
    Case("rescore_many", "POST", "/many/_search", {"rescore": [{"window_size": 10_000, "query": {"rescore_query": {"match": {"t": "hello"}}}}] * 500, "query": {"match": {"t": "world"}}}, seconds=60),
    Case("rescore_raised", "POST", "/many/_search", {"rescore": {"window_size": 2_000_000_000, "query": {"rescore_query": {"match_all": {}}}}},
         setup=[("PUT", "/many/_settings", {"index.max_rescore_window": 2_147_483_647})], cleanup=[("PUT", "/many/_settings", {"index.max_rescore_window": None})]),
    Case("sorts_many", "POST", "/many/_search", {"size": 10_000, "sort": ["k", "n"] * 500}, seconds=60),
    Case("search_after_odd", "POST", "/many/_search", {"sort": ["k"], "search_after": ["x" * 5_000_000]}),
    Case("search_after_deep", "POST", "/many/_search", {"sort": ["k"], "search_after": [[[[{}]]]]}, REFUSED),
    Case("collapse_all", "POST", "/many/_search", {"size": 10_000, "collapse": {"field": "k", "inner_hits": {"name": "a", "size": 100, "from": 9_900}}}, seconds=120),
    Case("slice_large", "POST", "/many/_search", {"slice": {"id": 5, "max": 1_000_000}}, REFUSED),
]
