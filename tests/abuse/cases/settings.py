"""Settings that would make the node large, slow or silent, and listings of everything that is kept."""

from case import OK, REFUSED, Case, Lines, several

BAD = (400, 413, 429)
HUGE = ("2147483647", "9223372036854775807", "-1", "-2147483648", "99999999999999999999", "1e9", "NaN", "", "null", "0x10", "100pb", "99999999d", "101%", "-5%", True, [], {}, ["a"] * 1_000)
INDEX_SETTINGS = ("number_of_shards", "number_of_replicas", "refresh_interval", "max_result_window", "max_ngram_diff", "mapping.total_fields.limit", "mapping.depth.limit",
                  "mapping.nested_objects.limit", "translog.flush_threshold_size", "translog.sync_interval", "max_terms_count", "max_regex_length", "max_script_fields", "top_metrics_max_size",
                  "max_docvalue_fields_search", "highlight.max_analyzed_offset", "analyze.max_token_count", "routing_partition_size", "soft_deletes.retention.operations",
                  "gc_deletes", "merge.policy.max_merged_segment", "search.slowlog.threshold.query.warn", "number_of_routing_shards", "query.default_field")
CLUSTER_SETTINGS = ("search.max_buckets", "indices.breaker.request.limit", "indices.breaker.total.limit", "search.max_open_scroll_context", "cluster.max_shards_per_node",
                    "indices.memory.index_buffer_size", "search.default_search_timeout", "indices.query.bool.max_clause_count", "script.max_compilations_rate", "http.max_content_length",
                    "search.keep_alive_interval", "search.max_keep_alive", "indices.queries.cache.size", "ingest.grok.watchdog.max_execution_time", "memory.limit", "logger._root",
                    "cluster.routing.allocation.disk.watermark.low", "indices.recovery.max_bytes_per_sec")

# More levels than a tree may have.
DOTTED = "a." * 100_000 + "b"

CASES = []
for setting in INDEX_SETTINGS:
    CASES.append(several(f"index_{setting}", [step for value in HUGE for step in (
        ("PUT", "/set", {"settings": {f"index.{setting}": value}}), ("PUT", "/set/_doc/1", {"a": "b"}), ("DELETE", "/set?ignore_unavailable=true"))], seconds=60))
for setting in CLUSTER_SETTINGS:
    CASES.append(several(f"cluster_{setting}", [step for value in HUGE for step in (
        ("PUT", "/_cluster/settings", {"transient": {setting: value}}), ("PUT", "/_cluster/settings", {"transient": {setting: None}}))], seconds=60))

META = {f"k{n}": ["v" * 100] * 20 for n in range(150)}
KEPT = [("PUT", f"/_index_template/kept{n}", {"index_patterns": [f"never{n}-*"], "priority": n + 10, "template": {"mappings": {"_meta": META}}}) for n in range(8)] + [
    ("PUT", f"/_component_template/kept{n}", {"template": {"mappings": {"_meta": META}}}) for n in range(3)] + [
    ("PUT", f"/kept{n}", {"settings": {"number_of_shards": 2, "number_of_replicas": 0}, "mappings": {"properties": {f"f{m}": {"type": "keyword"} for m in range(500)}}}) for n in range(12)] + [
    ("POST", "/_aliases", {"actions": [{"add": {"index": "kept*", "alias": f"alias{n}", "filter": {"term": {"f1": f"{n}"}}}} for n in range(200)]})]
GONE = [("DELETE", "/_index_template/kept*"), ("DELETE", "/_component_template/kept*")] + [("DELETE", f"/kept{n}") for n in range(12)]
LISTINGS = ("/_index_template", "/_component_template", "/_cluster/state", "/_mapping", "/_settings?include_defaults=true", "/_alias", "/_stats?level=shards", "/_nodes/stats?level=shards", "/*",
            "/_field_caps?fields=*", "/_cat/indices?v", "/_cat/aliases", "/_segments", "/_mapping/field/*?include_defaults=true", "/_resolve/index/*", "/_cluster/health?level=shards", "/_search_shards",
            "/_cat/shards", "/_index_template/_simulate_index/never1-a", "/_recovery", "/_cluster/stats", "/_nodes", "/_shard_stores", "/_cat/templates")
CASES.append(Case("kept", "GET", "/", None, setup=KEPT))
for path in LISTINGS:
    CASES.append(Case(f"listed{path.split('?')[0].replace('/', '_')}", "GET", path, None, clients=32, seconds=60))
    CASES.append(Case(f"listed_gone{path.split('?')[0].replace('/', '_')}", "GET", path, None, clients=32, hang_up=0.1))
CASES += [
    Case("listed_pretty_yaml", "GET", "/_cluster/state?pretty&format=yaml", None, clients=16, seconds=60),
    Case("listed_filtered", "GET", "/_cluster/state?filter_path=**.type", None, clients=16, seconds=60),
    Case("search_all", "POST", "/_search", {"size": 100, "aggs": {f"a{n}": {"terms": {"field": f"f{n}"}} for n in range(300)}}, clients=4, seconds=60),
    Case("aliases_filtered", "POST", "/" + ",".join(f"alias{n}" for n in range(200)) + "/_search", {"query": {"match_all": {}}}, seconds=60),
    Case("kept_gone", "GET", "/", None, cleanup=GONE),
    Case("shards_1024", "PUT", "/shards", {"settings": {"number_of_shards": 1024, "number_of_replicas": 0}}, cleanup=[("DELETE", "/shards")], seconds=90),
    Case("split_far", "PUT", "/ordinary/_split/ordinary2", {"settings": {"index.number_of_shards": 2_147_483_647}}, REFUSED),
    Case("clone_itself", "PUT", "/ordinary/_clone/ordinary", {}, REFUSED),
    Case("settings_unknown", "PUT", "/ordinary/_settings", lambda: {f"index.unknown{n}": n for n in range(100_000)}, BAD),
    Case("settings_deep", "PUT", "/ordinary/_settings", "{\"index\":" + "{\"a\":" * 900 + "1" + "}" * 901, BAD),
    Case("settings_dotted", "PUT", "/ordinary/_settings", {".".join(["a"] * 100_000): 1}, BAD),
    *[several(f"settings_dotted_{name}", [(method, path, body), ("GET", "/_cluster/settings"), ("GET", "/_settings"), ("GET", "/_index_template")], OK + BAD, cleanup=[("DELETE", "/dotted"), ("DELETE", "/_index_template/dotted")])
      for name, method, path, body in [
        ("metadata", "PUT", "/_cluster/settings", {"persistent": {"cluster.metadata." + DOTTED: "x"}}),
        ("logger", "PUT", "/_cluster/settings", {"transient": {"logger." + DOTTED: "debug"}}),
        ("attribute", "PUT", "/ordinary/_settings", {"index.routing.allocation.include." + DOTTED: "x"}),
        ("index", "PUT", "/dotted", {"settings": {"index.routing.allocation.require." + DOTTED: "x"}}),
        ("filter", "PUT", "/dotted", {"settings": {"index.analysis.filter." + DOTTED + ".type": "lowercase"}}),
        ("similarity", "PUT", "/dotted", {"settings": {"index.similarity." + DOTTED + ".type": "BM25"}}),
        ("template", "PUT", "/_index_template/dotted", {"index_patterns": ["dotted*"], "template": {"settings": {"index.routing.allocation.require." + DOTTED: "x"}}}),
        ("component", "PUT", "/_component_template/dotted", {"template": {"settings": {"index.analysis.analyzer." + DOTTED + ".type": "standard"}}})]],
    several("template_patterns", [("PUT", f"/_index_template/{letter}", lambda letter=letter: {"index_patterns": [f"*{letter}{n}" + "b*c*" * 100 for n in range(1_000)]}) for letter in "pqrst"],
            OK + BAD, cleanup=[("DELETE", f"/_index_template/{letter}") for letter in "pqrst"]),
    Case("template_components_ignored", "PUT", "/_index_template/ignoring", lambda: {"index_patterns": ["ignoring-*"], "composed_of": [f"none{n}" for n in range(60_000)],
         "ignore_missing_component_templates": [f"none{n}" for n in range(60_000)]}, REFUSED, cleanup=[("DELETE", "/_index_template/ignoring")]),
    Case("settings_of_cluster_many", "PUT", "/_cluster/settings", lambda: {"persistent": {f"logger.a.b.c{n}": "debug" for n in range(20_000)}},
         cleanup=[("PUT", "/_cluster/settings", {"persistent": {"logger.*": None}})]),
    Case("logger_level_odd", "PUT", "/_cluster/settings", {"transient": {"logger.org.x": "shout"}}, REFUSED),
    Case("breaker_zero", "PUT", "/_cluster/settings", {"transient": {"indices.breaker.request.limit": "0b"}}, cleanup=[("PUT", "/_cluster/settings", {
        "transient": {"indices.breaker.request.limit": None}})]),
    Case("template_mapping_lists", "PUT", "/_index_template/listed", lambda: {"index_patterns": [f"p{n}-*" for n in range(100_000)], "priority": 3}, cleanup=[("DELETE", "/_index_template/listed")]),
    Case("template_components", "PUT", "/_index_template/composed", {"index_patterns": ["composed-*"], "composed_of": [f"kept{n}" for n in range(50_000)]}, REFUSED),
    Case("component_of_many", "PUT", "/of_many", {}, setup=[("PUT", "/_component_template/of_many", {"template": {"mappings": {"properties": {f"f{n}": {"type": "keyword"} for n in range(900)}}}}),
         ("PUT", "/_index_template/of_many", {"index_patterns": ["of_many*"], "priority": 900, "composed_of": ["of_many"] * 1_000})], seconds=60,
         cleanup=[("DELETE", "/of_many"), ("DELETE", "/_index_template/of_many"), ("DELETE", "/_component_template/of_many")]),
    Case("templates_legacy_many", "PUT", "/legacy-1", {}, setup=[("PUT", f"/_template/legacy{n}", {"index_patterns": ["legacy-*"], "order": n, "mappings": {"properties": {
        f"f{m}": {"type": "keyword"} for m in range(900)}}}) for n in range(20)], cleanup=[("DELETE", "/_template/legacy*"), ("DELETE", "/legacy-1")], seconds=60),
    Case("analysis_circle", "PUT", "/circle", {"settings": {"analysis": {"analyzer": {"a": {"type": "custom", "tokenizer": "a", "filter": ["a"]}}, "filter": {
        "a": {"type": "multiplexer", "filters": ["a"]}, "b": {"type": "condition", "filter": ["b"], "script": {"source": "true"}}}, "tokenizer": {"a": {"type": "a"}}}}}, BAD),
    Case("analysis_analyzers", "PUT", "/analysis", lambda: {"settings": {"analysis": {"analyzer": {f"a{n}": {"tokenizer": "standard", "filter": ["lowercase"] * 50} for n in range(5_000)}}}},
         cleanup=[("DELETE", "/analysis")], seconds=60),
    Case("analysis_shared_filter", "PUT", "/analysis2", lambda: {"settings": {"analysis": {"filter": {"s": {"type": "stop", "stopwords": [f"word{n}" for n in range(20_000)]}}, "analyzer": {
        f"a{n}": {"tokenizer": "standard", "filter": ["s"] * 20} for n in range(500)}}}}, cleanup=[("DELETE", "/analysis2")], seconds=60),
    Case("mapping_multi_fields", "PUT", "/multi", lambda: {"mappings": {"properties": {"a": multi(900)}}}, cleanup=[("DELETE", "/multi")]),
    Case("mapping_null_values", "PUT", "/nulls", lambda: {"mappings": {"properties": {f"f{n}": {"type": "keyword", "null_value": "x" * 30_000} for n in range(900)}}},
         cleanup=[("DELETE", "/nulls")]),
    Case("mapping_null_values_document", "POST", "/nulls2/_bulk", lambda: Lines([line for _ in range(500) for line in ({"index": {}}, {f"f{n}": None for n in range(200)})]), OK + BAD,
         [("PUT", "/nulls2", {"mappings": {"properties": {f"f{n}": {"type": "keyword", "null_value": "x" * 5_000} for n in range(200)}}})], seconds=60),
    Case("mapping_formats", "PUT", "/formats", lambda: {"mappings": {"properties": {f"f{n}": {"type": "date", "format": "||".join(["yyyy-MM-dd'T'HH:mm:ss.SSSZ"] * 200)} for n in range(900)}}},
         cleanup=[("DELETE", "/formats")]),
    Case("mapping_format_long", "PUT", "/formats2/_doc/1", lambda: {"d": "9" * 100_000}, OK + BAD, [("PUT", "/formats2", {"mappings": {"properties": {
        "d": {"type": "date", "format": "||".join(["yyyy" * 50, "epoch_millis", "strict_date_optional_time"] * 300)}}}})]),
    Case("mapping_alias_circle", "PUT", "/circled", {"mappings": {"properties": {"a": {"type": "alias", "path": "b"}, "b": {"type": "alias", "path": "a"}}}}, BAD),
    Case("mapping_copy_circle", "PUT", "/circled2/_doc/1", {"a": "x"}, OK + BAD, [("PUT", "/circled2", {"mappings": {"properties": {
        "a": {"type": "keyword", "copy_to": "b"}, "b": {"type": "keyword", "copy_to": "a"}}}})]),
    Case("mapping_passthrough", "PUT", "/passed", {"mappings": {"properties": {"a": {"type": "passthrough", "priority": 1, "properties": {"a": {"type": "passthrough", "priority": 2,
         "properties": {"a": {"type": "keyword"}}}}}}}}, cleanup=[("DELETE", "/passed")]),
    Case("mapping_runtime_circle", "POST", "/ordinary/_search", {"runtime_mappings": {"a": {"type": "long", "script": "emit(doc['b'].value)"}, "b": {"type": "long", "script": "emit(doc['a'].value)"}},
         "fields": ["a"]}),
    Case("mapping_runtime_itself", "POST", "/ordinary/_search", {"runtime_mappings": {"a": {"type": "long", "script": "emit(doc['a'].value)"}}, "query": {"range": {"a": {"gt": 1}}}}),
    Case("mapping_grows", "PUT", "/grows/_mapping", lambda: {"properties": {f"f{n}": {"type": "text", "fields": {"k": {"type": "keyword"}}} for n in range(400)}}, setup=[("PUT", "/grows", {})]),
    Case("mapping_vectors", "PUT", "/vectored", {"mappings": {"properties": {"v": {"type": "dense_vector", "dims": 2_147_483_647}}}}, BAD),
    Case("mapping_scaling", "PUT", "/scaled/_doc/1", {"f": 1e308}, OK + BAD, [("PUT", "/scaled", {"mappings": {"properties": {"f": {"type": "scaled_float", "scaling_factor": 1e300}}}})]),
    Case("range_values", "POST", "/ranged/_search", {"size": 0, "aggs": {"h": {"histogram": {"field": "r", "interval": 1e-9}}}}, setup=[
        ("PUT", "/ranged", {"mappings": {"properties": {"r": {"type": "double_range"}, "i": {"type": "ip_range"}, "d": {"type": "date_range"}}}}),
        ("PUT", "/ranged/_doc/1?refresh=true", {"r": {"gte": -1e308, "lte": 1e308}, "i": "::/0", "d": {"gte": -9_000_000_000_000_000, "lte": 9_000_000_000_000_000}})]),
    Case("range_values_dates", "POST", "/ranged2/_search", {"size": 0, "aggs": {"h": {"date_histogram": {"field": "d", "fixed_interval": "1ms"}}}}, setup=[
        ("PUT", "/ranged2", {"mappings": {"properties": {"d": {"type": "date_range"}}}}),
        ("PUT", "/ranged2/_doc/1?refresh=true", {"d": {"gte": -9_000_000_000_000_000, "lte": 9_000_000_000_000_000}})]),
    Case("range_values_months", "POST", "/ranged3/_search", {"size": 0, "aggs": {"h": {"date_histogram": {"field": "d", "calendar_interval": "month", "time_zone": "Europe/Berlin"}}}}, setup=[
        ("PUT", "/ranged3", {"mappings": {"properties": {"d": {"type": "date_range"}}}}),
        ("PUT", "/ranged3/_doc/1?refresh=true", {"d": {"gte": -9_000_000_000_000_000_000, "lte": 9_000_000_000_000_000_000}})]),
    Case("policies", "PUT", "/_ilm/policy/large", lambda: {"policy": {"_meta": META, "phases": {"hot": {"actions": {}}}}}, cleanup=[("DELETE", "/_ilm/policy/large")]),
    Case("slm_schedule", "PUT", "/_slm/policy/odd", {"schedule": "0 0 0 31 2 ? 2099-" + "9" * 100, "name": "<x-{now/d}>", "repository": "nowhere", "config": {}}, REFUSED),
    Case("slm_schedule_far", "PUT", "/_slm/policy/odd", {"schedule": "59 59 23 31 12 ? " + ",".join(str(n) for n in range(1970, 2400)), "name": "x", "repository": "nowhere"}, REFUSED),
    Case("stream_many", "PUT", "/_data_stream/" + "x" * 300, None, REFUSED),
    Case("rollover_dates", "POST", "/ordinary/_rollover/" + "%3Cx-%7Bnow%2Fd%7D%3E" * 50, {}, REFUSED),
]


def multi(count):
    return {"type": "keyword", "fields": {f"f{n}": {"type": "keyword"} for n in range(count)}}
