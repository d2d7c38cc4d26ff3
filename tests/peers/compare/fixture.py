"""What every request of `every_request` meets, and which requests are made of an endpoint."""
import json, re

# Other products, or what would end the comparison.
SKIPPED = re.compile(r"^(ml|inference|connector|watcher|security|rollup|ccr|eql|esql|sql|graph|fleet|monitoring|text_structure|search_application|"
                     r"searchable_snapshots|autoscaling|logstash|shutdown|license|xpack|features|dangling|transform|enrich|slm|ilm)\b|hot_threads|"
                     r"voting_config|_with_|capabilities")
READS = re.compile(r"_search|_count|_msearch|_mget|_analyze|_explain|_validate|_field_caps|_render|_simulate|termvectors|_rank_eval|_terms_enum|"
                   r"_refresh|_flush|_execute|_health|_cache/clear|_resolve|_segments|_stats|_recovery|_pit|_execute|_reload")

BODIES = {
    "index": {"title": "new words", "n": 7}, "create": {"title": "new words", "n": 7}, "update": {"doc": {"n": 9}},
    "bulk": '{"index":{"_index":"books","_id":"b1"}}\n{"title":"bulk"}\n{"delete":{"_index":"books","_id":"nope"}}\n',
    "search": {"query": {"match_all": {}}}, "count": {"query": {"term": {"tag": "a"}}}, "explain": {"query": {"match": {"title": "quick"}}},
    "msearch": '{"index":"books"}\n{"query":{"match_all":{}}}\n', "mget": {"docs": [{"_index": "books", "_id": "1"}]},
    "mtermvectors": {"docs": [{"_index": "books", "_id": "1"}]}, "termvectors": {"fields": ["title"]},
    "delete_by_query": {"query": {"term": {"tag": "a"}}}, "update_by_query": {"query": {"term": {"tag": "a"}}},
    "reindex": {"source": {"index": "books"}, "dest": {"index": "made-copy"}}, "field_caps": {"index_filter": {"match_all": {}}},
    "terms_enum": {"field": "tag"}, "scroll": {"scroll_id": "nope"}, "clear_scroll": {"scroll_id": "nope"},
    "open_point_in_time": None, "close_point_in_time": {"id": "nope"}, "rank_eval": {"requests": [], "metric": {"precision": {}}},
    "put_script": {"script": {"lang": "painless", "source": "return 1"}}, "scripts_painless_execute": {"script": {"source": "1+1"}},
    "render_search_template": {"source": "{\"query\":{\"match_all\":{}}}"}, "search_template": {"source": "{\"query\":{\"match_all\":{}}}"},
    "msearch_template": '{"index":"books"}\n{"source":"{\\"query\\":{\\"match_all\\":{}}}"}\n', "knn_search": {"knn": {"field": "v", "query_vector": [1], "k": 1, "num_candidates": 1}},
    "indices.create": {"settings": {"number_of_replicas": 0}}, "indices.put_mapping": {"properties": {"more": {"type": "long"}}},
    "indices.put_settings": {"index": {"refresh_interval": "5s"}}, "indices.update_aliases": {"actions": [{"add": {"index": "books", "alias": "made"}}]},
    "indices.put_alias": {}, "indices.analyze": {"text": "Quick foxes"}, "indices.validate_query": {"query": {"match": {"title": "quick"}}},
    "indices.put_index_template": {"index_patterns": ["tmpl-*"], "template": {"settings": {"number_of_shards": 1}}},
    "indices.put_template": {"index_patterns": ["old-*"], "settings": {"number_of_shards": 1}},
    "cluster.put_component_template": {"template": {"settings": {"number_of_shards": 1}}},
    "cluster.put_settings": {"transient": {"cluster.routing.allocation.enable": None}}, "cluster.reroute": {"commands": []},
    "cluster.allocation_explain": {"index": "books", "shard": 0, "primary": True},
    "indices.simulate_template": {"index_patterns": ["sim-*"]}, "indices.rollover": {"conditions": {"max_docs": 1}},
    "indices.shrink": {}, "indices.split": {"settings": {"index.number_of_shards": 2}}, "indices.clone": {},
    "ingest.put_pipeline": {"processors": [{"set": {"field": "a", "value": 1}}]},
    "ingest.simulate": {"pipeline": {"processors": [{"set": {"field": "a", "value": 1}}]}, "docs": [{"_source": {"b": 2}}]},
    "simulate.ingest": {"docs": [{"_index": "books", "_source": {"b": 2}}]},
    "snapshot.create_repository": {"type": "fs", "settings": {"location": "made"}}, "snapshot.create": {"indices": "books"},
    "snapshot.restore": {"indices": "books", "rename_pattern": "(.+)", "rename_replacement": "r_$1"}, "snapshot.clone": {"indices": "books"},
}

PARTS = {"index": "books", "id": "1", "name": "made", "target": "made-target", "alias": "logs", "fields": "title", "field": "title", "metric": None, "node_id": "_local",
         "new_index": "made-new", "repository": "repo", "snapshot": "snap", "scroll_id": "nope", "task_id": "nope:1", "block": "write",
         "context": "score", "type": "_doc", "target_snapshot": "snap2", "thread_pool_patterns": "search", "data_stream": "made", "index_uuid": "x"}
PARTS_OF = {
    "indices.get_template": {"name": "old"}, "indices.delete_template": {"name": "old"}, "indices.exists_template": {"name": "old"},
    "indices.get_index_template": {"name": "tmpl"}, "indices.delete_index_template": {"name": "tmpl"}, "indices.exists_index_template": {"name": "tmpl"},
    "indices.simulate_index_template": {"name": "tmpl-1"}, "indices.simulate_template": {"name": "tmpl"},
    "cluster.get_component_template": {"name": "part"}, "cluster.delete_component_template": {"name": "part"}, "cluster.exists_component_template": {"name": "part"},
    "indices.get_alias": {"name": "shelf"}, "indices.exists_alias": {"name": "shelf"}, "indices.delete_alias": {"name": "shelf"},
    "cat.aliases": {"name": "shelf"}, "cat.component_templates": {"name": "part"}, "cat.templates": {"name": "tmpl"},
    "indices.rollover": {"alias": "shelf"}, "indices.resolve_index": {"name": "books"},
    "ingest.get_pipeline": {"id": "pipe"}, "ingest.delete_pipeline": {"id": "pipe"}, "ingest.put_pipeline": {"id": "made"}, "ingest.simulate": {"id": "pipe"},
    "get_script": {"id": "script"}, "delete_script": {"id": "script"}, "put_script": {"id": "made"},
    "indices.open": {"index": "shut"}, "create": {"id": "new"}, "index": {"id": "1"}, "synonyms": {"id": "made"},
    "nodes.info": {"metric": "os"}, "nodes.stats": {"metric": "indices", "index_metric": "docs"}, "nodes.usage": {"metric": "rest_actions"},
    "indices.stats": {"metric": "docs"}, "cluster.state": {"metric": "metadata"}, "cluster.info": {"target": "http"},
    "snapshot.create_repository": {"repository": "made"}, "snapshot.create": {"snapshot": "made"}, "indices.shrink": {"index": "ro"}, "indices.split": {"index": "ro"}, "indices.clone": {"index": "ro"},
}


def make(base, ask):
    """Deletes everything and makes the indices, aliases, templates and the rest anew."""
    ask(base, "PUT", "/_cluster/settings", {"persistent": {"action.destructive_requires_name": False}})
    status, _, text = ask(base, "GET", "/_cluster/state/metadata?filter_path=metadata.indices.*.state", None)
    names = list((json.loads(text).get("metadata") or {}).get("indices", {}))
    for start in range(0, len(names), 30):
        ask(base, "DELETE", "/" + ",".join(names[start:start + 30]) + "?expand_wildcards=all", None)
    for path in ("/_index_template/tmpl", "/_index_template/made", "/_template/old", "/_template/made", "/_component_template/part", "/_component_template/made",
                 "/_ingest/pipeline/pipe", "/_ingest/pipeline/made", "/_scripts/script", "/_scripts/made", "/_snapshot/repo/snap2", "/_snapshot/repo/made", "/_snapshot/made", "/_search/scroll/_all"):
        ask(base, "DELETE", path, None)
    mapping = {"properties": {"title": {"type": "text", "fields": {"raw": {"type": "keyword"}}}, "tag": {"type": "keyword"}, "n": {"type": "long"},
                              "when": {"type": "date"}, "where": {"type": "geo_point"}, "sub": {"type": "nested", "properties": {"x": {"type": "long"}}}}}
    one = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": mapping}
    ask(base, "PUT", "/books", {**one, "aliases": {"shelf": {}, "filtered": {"filter": {"term": {"tag": "a"}}, "routing": "1"}}})
    ask(base, "PUT", "/logs-1", one), ask(base, "PUT", "/shut", one)
    ask(base, "PUT", "/.hid", {**one, "settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.hidden": True}})
    lines = []
    for number in range(1, 6):
        lines += [{"index": {"_index": "books", "_id": str(number)}},
                  {"title": f"the quick fox {number}", "tag": "ab"[number % 2], "n": number, "when": f"2024-01-0{number}", "where": {"lat": number, "lon": number}, "sub": [{"x": number}]}]
    lines += [{"index": {"_index": "logs-1", "_id": "1"}}, {"title": "a log", "tag": "c", "n": 1}]
    ask(base, "POST", "/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))
    ask(base, "PUT", "/ro", one), ask(base, "PUT", "/ro/_settings", {"index.blocks.write": True})
    ask(base, "POST", "/shut/_close", None)
    ask(base, "PUT", "/_component_template/part", {"template": {"settings": {"number_of_replicas": 0}}})
    ask(base, "PUT", "/_index_template/tmpl", {"index_patterns": ["tmpl-*"], "composed_of": ["part"], "template": {"settings": {"number_of_shards": 1}}})
    ask(base, "PUT", "/_template/old", {"index_patterns": ["old-*"], "settings": {"number_of_shards": 1}})
    ask(base, "PUT", "/_ingest/pipeline/pipe", {"processors": [{"set": {"field": "a", "value": 1}}]})
    ask(base, "PUT", "/_scripts/script", {"script": {"lang": "painless", "source": "return 1"}})
    if ask(base, "GET", "/_snapshot/repo/snap", None)[0] != 200:
        ask(base, "PUT", "/_snapshot/repo", {"type": "fs", "settings": {"location": "repo"}})
        ask(base, "PUT", "/_snapshot/repo/snap?wait_for_completion=true", {"indices": "books"})


# What each server counts, or names, for itself.
IGNORED = re.compile(r"xpack\.installed|relocation_failure_info|_tier_preference")


def ignored(key):
    return bool(IGNORED.search(key))


def filled(endpoint, path):
    own = {**PARTS, **PARTS_OF.get(endpoint.api, {})}
    out = path
    for part in re.findall(r"\{(\w+)\}", path):
        value = own.get(part)
        if value is None:
            return None
        out = out.replace("{%s}" % part, value)
    return out


def values(name, kind):
    """Valid and invalid values of a parameter."""
    literals = re.findall(r"'([\w.-]+)'", "".join(re.findall(r"Literal\[([^\]]*)\]", kind)))
    if name == "expand_wildcards":
        return ["all", "open", "closed", "hidden", "none", "open,closed", "bad"]
    if literals:
        return list(dict.fromkeys(literals)) + ["bad"]
    if "bool" in kind:
        return ["true", "false", "", "bad"]
    if "int" in kind or "float" in kind:
        return ["1", "0", "-1", "bad", ""]
    if "timeout" in name or name in ("keep_alive", "scroll", "interval", "delay"):
        return ["30s", "-1", "1", "bad"]
    special = {"h": ["*", "nope"], "s": ["index", "nope:desc"], "sort": ["n:asc", "nope", "n:bad", "_score"], "q": ["title:quick", "title:(", "n:abc"], "df": ["title", "nope"], "fields": ["title", "nope", "*"],
               "routing": ["1", "a,b"], "preference": ["_local", "_shards:0", "_bad"], "pipeline": ["pipe", "nope"], "_source": ["true", "false", "title", "n*"],
               "stored_fields": ["title", "_none_"], "filter_path": ["**", "-x"], "metric": ["_all", "nope"], "level": ["indices", "shards", "bad"], "slices": ["2", "auto", "0", "bad"],
               "refresh": ["true", "false", "wait_for", "bad", ""], "version": ["1", "5", "bad"], "wait_for_active_shards": ["1", "all", "0", "5", "bad"], "format": ["json", "yaml", "text", "bad"], "op_type": ["index", "create", "bad"]}
    return special.get(name, ["1", "nope", ""])


# What waits for something that does not come, on one server at least.
WAITS = {"wait_for_nodes", "wait_for_completion", "wait_for_status", "wait_for_active_shards", "wait_for_events"}


def requests(endpoint, parts):
    """Yields (method, path, body, label)."""
    body = BODIES.get(endpoint.api)
    paths = [full for full in (filled(endpoint, path) for path in endpoint.paths) if full]
    for path in paths:
        if "plain" in parts:
            yield endpoint.method, path, body, "plain"
            if endpoint.method == "GET":
                yield "HEAD", path, None, "method"
    if not paths:
        return
    path = paths[0]
    if "parameters" in parts:
        for name, kind in endpoint.parameters.items():
            for value in values(name, kind) if name not in WAITS else ["bad"]:
                yield endpoint.method, f"{path}?{name}={value}", body, "parameter"
        for query in ("nope=1", "filter_path=*.nope", "human", "human=bad", "pretty=bad", "error_trace=bad", "format=yaml", "format=bad", "error_trace=false&nope=1&nope2=2"):
            yield endpoint.method, f"{path}?{query}", body, "parameter"
    if "methods" in parts:
        for path in paths:
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
                if method == endpoint.method or (method == "DELETE" and path.count("/") == 1):
                    continue
                yield method, path, None, "method"
    if "bodies" in parts and body is not None or endpoint.method in ("POST", "PUT"):
        for bad in (None, "", "{}", "[]", "{", "[1]", "null", "\"text\"", '{"nope":1}', '{"nope":{"a":1}}', "nope"):
            yield endpoint.method, paths[0], bad, "body"
        yield from (( endpoint.method, paths[0], wrong, "body") for wrong in wrong_members(body))
    if "names" in parts:
        for other in endpoint.paths:
            for part in re.findall(r"\{(\w+)\}", other):
                for value in ("nope", "nope*", "shut", "shelf", "_all", "*", "books,nope", "books,shut", "-books", "Bad", "%3Ckept-%7Bnow%2Fd%7D%3E", "a%20b", ".hid", "_bad"):
                    full = filled(endpoint, other.replace("{%s}" % part, value))
                    if full and not (endpoint.method == "DELETE" and value in ("_all", "*") and full.count("/") == 1):
                        yield endpoint.method, full, body, "name"
                        if part == "index":
                            for query in ("ignore_unavailable=true", "allow_no_indices=false", "expand_wildcards=all"):
                                if query.split("=")[0] in endpoint.parameters:
                                    yield endpoint.method, f"{full}?{query}", body, "name"


def wrong_members(body):
    """The body with each member once of another type."""
    if not isinstance(body, dict):
        return
    for name, value in body.items():
        for wrong in (1, "text", [], {}, None, True):
            if type(wrong) is not type(value):
                yield {**body, name: wrong}
    yield {**body, "nope": {"a": 1}}
    yield {**body, "nope": 1}
