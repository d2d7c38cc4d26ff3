"""What a client can make the server keep: scrolls, points in time, async searches, tasks, snapshots, copies of indices, streams, policies."""

from concurrent.futures import ThreadPoolExecutor

from case import OK, REFUSED, Case, Lines, acts, several

BAD = (400, 403, 404, 409, 413, 429)
SETUP = [
    ("PUT", "/h", {"settings": {"number_of_shards": 2, "number_of_replicas": 0}, "mappings": {"properties": {"k": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text"}}}}),
    ("POST", "/h/_bulk?refresh=true", lambda: Lines([line for n in range(20_000) for line in ({"index": {"_id": str(n)}}, {"k": f"key{n}", "n": n, "t": "hello world " * 10})])),
    ("PUT", "/wide", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"enabled": False}}),
    *[("PUT", f"/wide/_doc/{n}?refresh=true", lambda: {"t": ["x" * 1_000] * 3_000}) for n in range(8)],
]
EVERYTHING = [("DELETE", "/_search/scroll/_all")]


def hoard(name, count, method, path, body=None, cleanup=(), **more):
    """The same request over and over, answers thrown away."""

    def act(server):
        for _ in range(count):
            status, answer = server.send(method, path, body)
            yield status, answer[:200]

    return acts(name, act, OK + BAD, cleanup=cleanup, **{"seconds": 120, **more})


def nested_fields(count, depth):
    """A mapping of nested objects, each within the one before, with fields before and after it."""
    inside = {"last": {"type": "keyword"}}
    for _ in range(depth):
        inside = {"n": {"type": "nested", "properties": inside}}
    return {"properties": {**{f"f{number}": {"type": "keyword"} for number in range(count)}, **inside}}


def nested_document(depth):
    inside = {"last": "x"}
    for _ in range(depth):
        inside = {"n": inside}
    return inside


def listed(name, method, path, body, listing, removal):
    """As many large definitions as the server keeps, then the list of all of them, eight times at once."""

    def act(server):
        for number in range(400):
            status, answer = server.send(method, path.format(number), body(number))
            yield status, answer[:200]
            if status >= 400:
                break
        with ThreadPoolExecutor(8) as clients:
            for status, answer in clients.map(lambda _: server.send("GET", listing), range(8)):
                yield status, answer[:200]

    return acts(name, act, OK + BAD, cleanup=[(*removal[:1], removal[1].format(number)) for number in range(400)], seconds=240)


LONG_LIST = [f"word{number}" for number in range(15_000)]
INDICES_OF_A_SET = [
    ("PUT", "/_synonyms/large", lambda: {"synonyms_set": [{"synonyms": f"word{number}, other{number}, third{number}"} for number in range(9_000)]}),
    *[("PUT", f"/synonymous-{number}", {"settings": {"number_of_shards": 1, "analysis": {"filter": {"s": {"type": "synonym", "synonyms_set": "large", "updateable": True}},
        "analyzer": {"a": {"tokenizer": "standard", "filter": ["s"]}}}}, "mappings": {"properties": {"t": {"type": "text", "analyzer": "standard", "search_analyzer": "a"}}}})
      for number in range(60)],
]
FIELDS_MANY = {"settings": {"number_of_shards": 1}, "mappings": {"properties": {f"f{number}": {"type": "text", "fields": {"k": {"type": "keyword"}}} for number in range(480)}}}
NESTED_MANY = {"settings": {"number_of_shards": 1, "index.mapping.nested_fields.limit": 1_000, "index.mapping.total_fields.limit": 10_000},
               "mappings": {"properties": {f"n{number}": {"type": "nested", "properties": {f"f{member}": {"type": "keyword"} for member in range(8)}} for number in range(900)}}}


CASES = [
    listed("list_of_index_templates", "PUT", "/_index_template/long{}", lambda number: {"index_patterns": [f"long{number}-*"], "_meta": {"l": LONG_LIST}}, "/_index_template", ("DELETE", "/_index_template/long{}")),
    listed("list_of_component_templates", "PUT", "/_component_template/long{}", lambda number: {"template": {}, "_meta": {"l": LONG_LIST}}, "/_component_template", ("DELETE", "/_component_template/long{}")),
    listed("list_of_lifecycle_policies", "PUT", "/_ilm/policy/long{}", lambda number: {"policy": {"phases": {}, "_meta": {"l": LONG_LIST}}}, "/_ilm/policy", ("DELETE", "/_ilm/policy/long{}")),
    listed("list_of_enrich_policies", "PUT", "/_enrich/policy/long{}", lambda number: {"match": {"indices": "h", "match_field": "k", "enrich_fields": LONG_LIST}}, "/_enrich/policy", ("DELETE", "/_enrich/policy/long{}")),
    listed("list_of_transforms", "PUT", "/_transform/long{}?defer_validation=true", lambda number: {"source": {"index": "h"}, "dest": {"index": "made"}, "_meta": {"l": LONG_LIST},
        "pivot": {"group_by": {"k": {"terms": {"field": "k"}}}, "aggregations": {"m": {"max": {"field": "n"}}}}}, "/_transform?size=1000", ("DELETE", "/_transform/long{}")),
    listed("cluster_state_of_meta", "PUT", "/meta-{}", lambda number: {"mappings": {"_meta": {"l": LONG_LIST}}}, "/_cluster/state", ("DELETE", "/meta-{}")),
    several("indices_of_a_synonym_set", INDICES_OF_A_SET, OK + BAD, cleanup=[("DELETE", "/synonymous-*"), ("DELETE", "/_synonyms/large")], seconds=120),
    several("indices_of_many_fields", [("PUT", f"/fields-{number}", FIELDS_MANY) for number in range(120)], OK + BAD, cleanup=[("DELETE", "/fields-*")], seconds=120),
    several("indices_of_many_nested", [step for number in range(20) for step in (
        ("PUT", f"/nested-{number}", NESTED_MANY), ("POST", f"/nested-{number}/_doc", lambda: {f"n{member}": {"f7": "x"} for member in range(900)}))],
        OK + BAD, cleanup=[("DELETE", "/nested-*")], seconds=120),
    several("nested_refused", [
        ("PUT", "/refused", lambda: {"settings": {"number_of_shards": 1, "index.mapping.depth.limit": 60, "index.mapping.total_fields.limit": 10_000}, "mappings": nested_fields(5_000, 45)}),
        *[("POST", "/refused/_doc", lambda: {**nested_document(45), "f1": "x" * 40_000}) for _ in range(200)]],
        OK + BAD, cleanup=[("DELETE", "/refused")], seconds=120),
    hoard("scrolls", 700, "POST", "/h/_search?scroll=5m&size=1", {"sort": ["k"]}, EVERYTHING),
    hoard("scrolls_with_aggs", 100, "POST", "/h/_search?scroll=5m&size=1", {"aggs": {"a": {"terms": {"field": "k", "size": 10_000}}}}, EVERYTHING),
    hoard("scrolls_of_large_queries", 100, "POST", "/h/_search?scroll=5m&size=1", lambda: {"query": {"terms": {"k": [f"key{n}" for n in range(20_000)]}}}, EVERYTHING),
    hoard("scrolls_pages", 20, "POST", "/wide/_search?scroll=5m&size=8", {}, EVERYTHING),
    hoard("pits", 700, "POST", "/h/_pit?keep_alive=5m"),
    hoard("pits_of_all", 200, "POST", "/*/_pit?keep_alive=5m"),
    hoard("asyncs", 200, "POST", "/h/_async_search?keep_on_completion=true&wait_for_completion_timeout=10s&keep_alive=1m", {"size": 1_000}),
    hoard("asyncs_large", 40, "POST", "/wide/_async_search?keep_on_completion=true&wait_for_completion_timeout=10s&keep_alive=1m", {"size": 8}),
    hoard("asyncs_running", 100, "POST", "/h/_async_search?keep_on_completion=true&wait_for_completion_timeout=1ms&keep_alive=1m", {
        "query": {"script": {"script": "int c = 0; for (int i = 0; i < 999999; i++) { c += i } return c > 0"}}}),
    Case("asyncs_cancelled", "POST", "/_tasks/_cancel?actions=*async*,*search*", None, OK + BAD),
    hoard("asyncs_of_large_bodies", 60, "POST", "/h/_async_search?keep_on_completion=true&wait_for_completion_timeout=1ms&keep_alive=1m", lambda: {"query": {"terms": {"k": [f"key{n}" for n in range(60_000)]}}}),
    hoard("asyncs_of_aggs", 60, "POST", "/h/_async_search?keep_on_completion=true&wait_for_completion_timeout=10s&keep_alive=1m", {"size": 0, "aggs": {"a": {"terms": {"field": "k", "size": 20_000}, "aggs": {"s": {"extended_stats": {"field": "n"}}}}}}),
    hoard("tasks", 100, "POST", "/h/_update_by_query?wait_for_completion=false&requests_per_second=0.01&conflicts=proceed", {"query": {"match_all": {}}}, [("POST", "/_tasks/_cancel?actions=*byquery")]),
    hoard("tasks_done", 300, "POST", "/h/_delete_by_query?wait_for_completion=false", {"query": {"match_none": {}}}),
    hoard("tasks_failed", 60, "POST", "/h/_update_by_query?wait_for_completion=false", {"script": {"source": "throw new Exception('" + "x" * 50_000 + "')"}}),
    hoard("tasks_of_large_bodies", 60, "POST", "/_reindex?wait_for_completion=false&requests_per_second=0.01", lambda: {"source": {"index": "h", "query": {"terms": {"k": [f"key{n}" for n in range(60_000)]}}}, "dest": {"index": "copied"}},
          [("POST", "/_tasks/_cancel?actions=*reindex"), ("DELETE", "/copied")]),
    Case("tasks_detailed", "GET", "/_tasks?detailed=true&group_by=parents", None, OK + BAD, clients=16),
    Case("task_header", "POST", "/h/_search", {"size": 1}, OK + BAD, headers={"X-Opaque-Id": "x" * 12_000}, clients=20),
    several("indices_many", [("PUT", f"/many-{n}", {"settings": {"number_of_shards": 4, "number_of_replicas": 0}}) for n in range(80)], OK + BAD, cleanup=[("DELETE", "/many-*?expand_wildcards=all")], seconds=200),
    Case("shards", "PUT", "/sharded", {"settings": {"number_of_shards": 1_024}}, OK + BAD, cleanup=[("DELETE", "/sharded")], seconds=120),
    Case("shards_too_many", "PUT", "/sharded", {"settings": {"number_of_shards": 2_147_483_647, "number_of_routing_shards": 2_147_483_647}}, BAD),
    Case("split", "PUT", "/h/_split/h2", {"settings": {"index.number_of_shards": 1_024}}, OK + BAD, [("PUT", "/h/_settings", {"index.blocks.write": True})], [("DELETE", "/h2"), ("PUT", "/h/_settings", {"index.blocks.write": None})], seconds=120),
    Case("split_odd", "PUT", "/h/_split/h2", {"settings": {"index.number_of_shards": -4, "index.routing_partition_size": 2_147_483_647}}, BAD, [("PUT", "/h/_settings", {"index.blocks.write": True})],
         [("DELETE", "/h2"), ("PUT", "/h/_settings", {"index.blocks.write": None})]),
    Case("shrink_odd", "PUT", "/h/_shrink/h2", {"settings": {"index.number_of_shards": 0}, "max_primary_shard_size": "1b"}, OK + BAD, [("PUT", "/h/_settings", {"index.blocks.write": True})],
         [("DELETE", "/h2"), ("PUT", "/h/_settings", {"index.blocks.write": None})]),
    several("clones", [("PUT", "/h/_settings", {"index.blocks.write": True}), *[("PUT", f"/h/_clone/clone-{n}", {"settings": {"index.blocks.write": None}}) for n in range(40)]], OK + BAD,
            cleanup=[("DELETE", "/clone-*?expand_wildcards=all"), ("PUT", "/h/_settings", {"index.blocks.write": None})], seconds=120),
    Case("rollover_odd", "POST", "/h/_rollover", {"conditions": {"max_docs": -1, "max_age": "99999999999d", "max_size": "99999999999999999999pb"}}, BAD),
    Case("template_simulated", "POST", "/_index_template/_simulate", lambda: {"index_patterns": ["x-*"], "template": {"mappings": {"properties": {f"f{n}": {"type": "keyword"} for n in range(100_000)}}}}, OK + BAD, seconds=60),
    Case("template_composed", "POST", "/_index_template/_simulate", lambda: {"index_patterns": ["x-*"], "composed_of": [f"c{n}" for n in range(200_000)], "ignore_missing_component_templates": [f"c{n}" for n in range(200_000)]}, OK + BAD),
    Case("template_priorities", "PUT", "/_index_template/p", lambda: {"index_patterns": [f"p{n}-*" for n in range(200_000)], "priority": 9_223_372_036_854_775_807}, OK + BAD, cleanup=[("DELETE", "/_index_template/p")]),
    Case("template_stars", "PUT", "/_index_template/p", {"index_patterns": ["*a" * 20_000], "priority": 5}, OK + BAD, cleanup=[("DELETE", "/_index_template/p")]),
    several("template_stars_used", [("PUT", "/_index_template/p", {"index_patterns": ["*a" * 100 + "*b"], "priority": 5}), ("PUT", "/" + "a" * 250, {}), ("DELETE", "/" + "a" * 250), ("DELETE", "/_index_template/p")], OK + BAD),
    Case("policy", "PUT", "/_ilm/policy/p", lambda: {"policy": {"_meta": {f"k{n}": "x" * 100 for n in range(50_000)}, "phases": {"hot": {"actions": {"rollover": {"max_docs": 1}}}}}}, OK + BAD, cleanup=[("DELETE", "/_ilm/policy/p")]),
    Case("policy_deep", "PUT", "/_ilm/policy/p", "{\"policy\":" + "{\"phases\":" * 100_000 + "1" + "}" * 100_001, BAD),
    Case("policy_ages", "PUT", "/_ilm/policy/p", {"policy": {"phases": {"hot": {"min_age": "-99999999999999999999d", "actions": {}}, "delete": {"min_age": "1" * 100_000 + "d", "actions": {"delete": {}}}}}}, BAD),
    Case("slm", "PUT", "/_slm/policy/p", {"schedule": "* * * * * ?" + " *" * 100_000, "name": "<x-{now/d}>", "repository": "r"}, BAD),
    Case("slm_cron", "PUT", "/_slm/policy/p", {"schedule": "0 0 0 31 2 ?", "name": "<x-{now/d}>", "repository": "r"}, OK + BAD, cleanup=[("DELETE", "/_slm/policy/p")]),
    Case("slm_cron_far", "PUT", "/_slm/policy/p", {"schedule": "0 0 0 1 1 ? 2999999999", "name": "<x-{now/d}>", "repository": "r"}, OK + BAD, cleanup=[("DELETE", "/_slm/policy/p")]),
    Case("slm_cron_lists", "PUT", "/_slm/policy/p", {"schedule": "0/1 " + ",".join(["0-59/1"] * 50_000) + " * * * ?", "name": "<x-{now/d}>", "repository": "r"}, OK + BAD, cleanup=[("DELETE", "/_slm/policy/p")]),
    several("streams", [("PUT", "/_index_template/ds", {"index_patterns": ["ds-*"], "data_stream": {}, "priority": 9}), *[("PUT", f"/_data_stream/ds-{n}") for n in range(40)]], OK + BAD,
            cleanup=[("DELETE", "/_data_stream/ds-*"), ("DELETE", "/_index_template/ds")], seconds=120),
    Case("stream_actions", "POST", "/_data_stream/_modify", lambda: {"actions": [{"add_backing_index": {"data_stream": "x" * 200, "index": f"i{n}"}} for n in range(100_000)]}, BAD),
    Case("stream_lifecycle", "PUT", "/_data_stream/*/_lifecycle", {"data_retention": "9" * 100_000 + "d"}, BAD),
    Case("repository_settings", "PUT", "/_snapshot/r", lambda: {"type": "fs", "settings": {f"k{n}": "x" * 100 for n in range(50_000)}}, REFUSED + (500,)),
    Case("snapshot_names", "PUT", "/_snapshot/nowhere/x", lambda: {"indices": ["h"] * 500_000, "metadata": {f"k{n}": "x" for n in range(100_000)}}, REFUSED),
    Case("snapshot_list", "GET", "/_snapshot/*/*?size=2147483647&offset=2147483647&sort=name&verbose=false", None, OK + REFUSED),
    Case("restore_pattern", "POST", "/_snapshot/nowhere/x/_restore", {"rename_pattern": "((a+)+)+$", "rename_replacement": "$1" * 100_000}, REFUSED),
    Case("reindex_remote_headers", "POST", "/_reindex", lambda: {"source": {"remote": {"host": "http://127.0.0.1:1", "headers": {f"h{n}": "x" * 1_000 for n in range(5_000)}}, "index": "x"}, "dest": {"index": "y"}}, REFUSED),
    Case("reindex_remote_timeout", "POST", "/_reindex", {"source": {"remote": {"host": "http://10.255.255.1:9200", "connect_timeout": "99999d", "socket_timeout": "99999d"}, "index": "x"}, "dest": {"index": "y"}}, REFUSED),
    Case("aliases", "POST", "/_aliases", lambda: {"actions": [{"add": {"index": "h", "aliases": [f"a{n}-{m}" for m in range(50)], "filter": {"term": {"k": f"key{n}"}}, "routing": "r" * 1_000}} for n in range(100)]}, OK + BAD,
         cleanup=[("DELETE", "/h/_alias/a*")], seconds=60),
    Case("cluster_state", "GET", "/_cluster/state", None, OK + BAD, clients=16),
    Case("nodes_stats", "GET", "/_nodes/stats?level=shards&fields=*", None, OK + BAD, clients=16),
    Case("indices_stats", "GET", "/_stats?level=shards&fields=*&groups=*", None, OK + BAD, clients=16),
    Case("hot_threads", "GET", "/_nodes/hot_threads?interval=99999d&snapshots=2147483647&threads=2147483647", None, OK + BAD, seconds=60),
    Case("hot_threads_many", "GET", "/_nodes/hot_threads?interval=5s", None, hang_up=0.3, clients=40),
    Case("forcemerge", "POST", "/h/_forcemerge?max_num_segments=-2147483648", None, OK + BAD),
    Case("forcemerge_many", "POST", "/h/_forcemerge?max_num_segments=1", None, OK + BAD, clients=30, seconds=60),
    Case("flushes", "POST", "/_flush?force=true&wait_if_ongoing=true", None, OK + BAD, clients=60, seconds=60),
    Case("closes", "POST", "/h/_close", None, OK + BAD, cleanup=[("POST", "/h/_open"), ("GET", "/_cluster/health/h?wait_for_status=yellow&timeout=10s")], clients=10),
    Case("metrics", "GET", "/_prometheus/metrics", None, OK + BAD, clients=20),
    Case("page", "GET", "/_page/words", None, OK + REFUSED, clients=20),
    Case("page_races", "GET", "/_page/races/..%2f..%2f..%2fetc%2fpasswd/report", None, REFUSED),
    Case("update_grows", "POST", "/h/_update/1", {"script": {"source": "for (int i = 0; i < 30; i++) { ctx._source.t += ctx._source.t }"}}, BAD),
    Case("update_list", "POST", "/h/_update/1", {"script": {"source": "ctx._source.l = []; for (int i = 0; i < 999999; i++) { ctx._source.l.add(ctx._source) }"}}, BAD),
    Case("update_itself", "POST", "/h/_update/1", {"script": {"source": "ctx._source.a = ctx._source"}}, BAD),
    Case("update_params", "POST", "/h/_update/1", lambda: {"script": {"source": "ctx._source.p = params.p", "params": {"p": [[["x" * 100] * 100] * 100] * 20}}}, OK + BAD),
    Case("update_upsert", "POST", "/h/_update/new?retry_on_conflict=2147483647", lambda: {"scripted_upsert": True, "script": "while (true) { }", "upsert": {"a": 1}}, BAD),
    Case("update_retries", "POST", "/h/_update/1?retry_on_conflict=2147483647", {"script": {"source": "int c = 0; for (int i = 0; i < 99999; i++) { c += i } ctx._source.n = c"}}, OK + BAD, clients=30, seconds=60),
    Case("update_deep", "POST", "/h/_update/1", lambda: {"doc": deep(3_000)}, OK + BAD),
    Case("update_merged_deep", "POST", "/h/_update/1?_source=true", lambda: {"doc": {f"k{n}": {"a": {"b": n}} for n in range(400)}}, OK + BAD, clients=8),
    Case("painless_execute", "POST", "/_scripts/painless/_execute", {"script": {"source": "String s = 'x'; for (int i = 0; i < 40; i++) { s += s } return s"}}, BAD),
    Case("painless_context", "POST", "/_scripts/painless/_execute", {"script": {"source": "while (true) { }"}, "context": "filter", "context_setup": {"index": "h", "document": {"n": 1}}}, BAD),
    Case("painless_document", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "1"}, "context": "score", "context_setup": {"index": "h", "document": {"t": "hello " * 2_000_000}, "query": {"match_all": {}}}}, OK + BAD),
    Case("painless_deep", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "1", "params": deep(100_000)} if False else {"source": "[" * 20_000 + "]" * 20_000}}, BAD),
    Case("sources", "GET", "/wide/_source/1?_source_includes=" + "a*b*," * 1_000, None, OK + BAD, clients=16),
    several("segments_never_merged", [
        ("PUT", "/never", {"settings": {"number_of_shards": 1, "index.merge.policy": {"max_merged_segment": "1b", "segments_per_tier": 1e9}}}),
        *[("POST", f"/never/_doc/{n}?refresh=true", {f"f{m}": "x" for m in range(450)}) for n in range(150)],
    ], OK, cleanup=[("DELETE", "/never")], seconds=120),
    Case("bulk_of_large_updates", "POST", "/wide/_bulk?_source=true", lambda: Lines([line for n in range(300) for line in ({"update": {"_id": str(n % 8), "_source": True}}, {"doc": {"n": n}})]), OK + BAD, clients=3, seconds=90),
]


def deep(depth):
    inside = 1
    for _ in range(depth):
        inside = {"a": inside}
    return inside
