"""Search templates, retrievers, ratings, joins, nested hits and further aggregations."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)
MAPPING = {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "j": {"type": "join", "relations": {"parent": ["child", "other"], "child": "grandchild"}},
           "c": {"type": "nested", "properties": {"x": {"type": "keyword"}, "m": {"type": "long"}, "d": {"type": "nested", "properties": {"y": {"type": "long"}}}}},
           "f": {"type": "flattened"}, "p": {"type": "geo_point"}, "ip": {"type": "ip"}, "r": {"type": "long_range"}, "date": {"type": "date"}}
COUNT = 10_000


def family():
    lines = []
    for n in range(COUNT):
        parent = n % 10 != 0
        lines += [{"index": {"_id": str(n), "routing": "r"}}, {
            "t": f"hello world {n}", "k": [f"key{n}", f"g{n % 50}"], "n": n, "date": n * 3_600_000, "j": {"name": "child", "parent": str(n - n % 10)} if parent else "parent",
            "c": [{"x": f"x{m}", "m": m, "d": [{"y": m}]} for m in range(3)], "f": {f"a{n % 100}": f"v{n}"}, "p": {"lat": n % 80, "lon": n % 170}, "ip": f"10.0.{n % 250}.{n % 200}",
            "r": {"gte": n, "lte": n + 10}}]
    return Lines(lines)


SETUP = [
    ("PUT", "/j", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": MAPPING}}),
    ("POST", "/j/_bulk?refresh=true", family),
]


def template(name, source, params=None, path="/j/_search/template", expect=OK + BAD, **more):
    return Case(f"template_{name}", "POST", path, lambda: {"source": source() if callable(source) else source, "params": params() if callable(params) else params or {}}, expect, **{"seconds": 30, **more})


def render(name, source, params=None, **more):
    return template(f"render_{name}", source, params, "/_render/template", **more)


def search(name, body, expect=OK + BAD, path="/j/_search", **more):
    return Case(name, "POST", path, body, expect, **{"seconds": 60, **more})


def aggregation(name, aggs, expect=OK + BAD, **more):
    return search(f"agg_{name}", lambda: {"size": 0, "aggs": aggs() if callable(aggs) else aggs}, expect, **more)


def nest(kind, depth, inner, **more):
    for _ in range(depth):
        inner = {kind: {"query": inner, **more}}
    return inner


def retrievers(depth):
    inner = {"standard": {"query": {"match_all": {}}}}
    for _ in range(depth):
        inner = {"rrf": {"retrievers": [inner, inner]}}
    return inner


SECTIONS = "{{#a}}" * 5 + "xxxxxxxxxx" + "{{/a}}" * 5

CASES = [
    render("sections", SECTIONS, {"a": list(range(100))}),
    render("sections_deep", "{{#a}}" * 50_000 + "{{/a}}" * 50_000, {"a": True}),
    render("sections_open", "{{#a}}" * 100_000),
    render("sections_closed", "{{/a}}" * 100_000),
    render("values", "{{a}}" * 50_000, {"a": "x" * 10_000}),
    render("values_in_sections", "{{#l}}{{a}}{{/l}}", lambda: {"l": list(range(100_000)), "a": "x" * 10_000}),
    render("to_json", "{{#toJson}}a{{/toJson}}" * 10_000, lambda: {"a": {f"k{n}": n for n in range(2_000)}}),
    render("join", "{{#join delimiter='xxxxxxxxxxxxxxxxxxxxxxxxxxx'}}a{{/join delimiter='xxxxxxxxxxxxxxxxxxxxxxxxxxx'}}" * 500, lambda: {"a": list(range(50_000))}),
    render("join_nested", "{{#join}}{{#join}}a{{/join}}{{/join}}" * 10_000, {"a": [1, 2]}),
    render("url", "{{#url}}{{a}}{{/url}}" * 5_000, {"a": "\u00e9 " * 10_000}),
    render("partials", "{{> ../../etc/passwd}}{{>x}}"),
    render("delimiters", "{{=<% %>=}}" * 20_000 + "<%a%>", {"a": 1}),
    render("delimiters_odd", "{{=" + "x" * 100_000 + " y=}}"),
    render("names", "{{" + "a." * 50_000 + "b}}", {"a": 1}),
    render("name_long", "{{" + "x" * 5_000_000 + "}}"),
    render("comments", "{{!" + "x" * 5_000_000 + "}}{}"),
    render("inverted", "{{^a}}" * 10_000 + "x" + "{{/a}}" * 10_000),
    render("numbers", "{\"size\": {{a}}}", {"a": 1e308}),
    render("unbalanced", "{{#a}}{{#b}}{{/a}}{{/b}}", {"a": 1}),
    render("braces", "{" * 1_000_000),
    render("triple", "{{{a}}}" * 100_000, {"a": "\"\\\n\u0000" * 100}),
    render("params", "{{a}}", lambda: {f"p{n}": "x" * 100 for n in range(100_000)}),
    render("params_deep", "{\"source\": \"{}\", \"params\": 1}", {"a": 1}),
    render("escapes", "{{a}}", {"a": "\"" * 5_000_000}),
    render("gone", SECTIONS, lambda: {"a": list(range(300))}, hang_up=0.3, clients=8),
    render("clients", "{{#l}}{{a}}{{/l}}", lambda: {"l": list(range(10_000)), "a": "x" * 1_000}, clients=8),
    template("injected", "{\"query\": {\"match\": {\"t\": \"{{a}}\"}}}", {"a": "\"}}, \"size\": 100000000, \"x\": {\"y\": {\"z\": \""}),
    template("injected_raw", "{\"query\": {\"match\": {\"t\": \"{{{a}}}\"}}}", {"a": "\"}}, \"size\": 100000000, \"_source\": [\"" + "x" * 100_000 + "\"]}"}),
    template("rendered_deep", lambda: "{{#a}}{\"bool\":{\"must\":{{/a}}", lambda: {"a": list(range(100_000))}),
    template("rendered_query", "{\"query\": {\"bool\": {\"should\": [{{#a}}{\"match\": {\"t\": \"hello {{.}}\"}},{{/a}}{\"match_all\": {}}]}}}", lambda: {"a": list(range(100_000))}),
    template("explained", "{\"size\": 10000}", path="/j/_search/template?explain=true&profile=true"),
    Case("template_stored", "POST", "/j/_search/template", {"id": "big", "params": {"a": list(range(200))}}, OK + BAD,
         [("PUT", "/_scripts/big", {"script": {"lang": "mustache", "source": "{{#a}}{{#a}}{{#a}}{\"a\":1}{{/a}}{{/a}}{{/a}}"}})], [("DELETE", "/_scripts/big")]),
    Case("template_stored_long", "PUT", "/_scripts/long", lambda: {"script": {"lang": "mustache", "source": "{{a}}" * 200_000}}, OK + BAD, cleanup=[("DELETE", "/_scripts/long")]),
    Case("template_stored_object", "PUT", "/_scripts/deep", lambda: {"script": {"lang": "mustache", "source": nest("bool", 5_000, {"match_all": {}})}}, OK + BAD, cleanup=[("DELETE", "/_scripts/deep")]),
    Case("template_id", "POST", "/j/_search/template", {"id": "../" * 100_000}, REFUSED),
    Case("msearch_template", "POST", "/_msearch/template", lambda: Lines([line for _ in range(2_000) for line in ({"index": "j"}, {
        "source": "{\"size\": 100, \"query\": {\"match\": {\"t\": \"{{#a}}{{.}} {{/a}}\"}}}", "params": {"a": list(range(200))}})]), OK + BAD, seconds=120),
    Case("msearch_template_bombs", "POST", "/_msearch/template", lambda: Lines([line for _ in range(200) for line in ({"index": "j"}, {"source": SECTIONS, "params": {"a": list(range(30))}})]), OK + BAD, seconds=120),
    search("retrievers_deep", lambda: {"retriever": retrievers(14)}),
    search("retrievers_wide", lambda: {"retriever": {"rrf": {"retrievers": [{"standard": {"query": {"match": {"t": "hello"}}}}] * 2_000}}}),
    search("retriever_window", {"retriever": {"rrf": {"rank_window_size": 2_147_483_647, "rank_constant": 2_147_483_647, "retrievers": [{"standard": {"query": {"match_all": {}}}}] * 2}}}),
    search("retriever_window_raised", {"size": 10_000, "retriever": {"rrf": {"rank_window_size": 10_000, "retrievers": [{"standard": {"query": {"match_all": {}}}}] * 100}}}),
    search("retriever_filters", lambda: {"retriever": {"standard": {"query": {"match_all": {}}, "filter": [{"terms": {"k": [f"key{n}" for n in range(60_000)]}}] * 20}}}),
    search("retriever_constants", {"retriever": {"rrf": {"rank_constant": -1, "rank_window_size": 0, "retrievers": [{"standard": {}}] * 2}}}),
    search("retriever_null", {"retriever": {"rrf": {"retrievers": None}}}),
    search("retriever_of_nothing", {"retriever": {}}),
    search("retriever_collapse", {"retriever": {"standard": {"query": {"match_all": {}}, "collapse": {"field": "n", "inner_hits": {"name": "x" * 10_000, "size": 100}}}}, "size": 1_000}),
    Case("rank_eval", "POST", "/j/_rank_eval", lambda: {"requests": [{"id": f"q{n}" + "x" * 1_000, "request": {"query": {"match": {"t": "hello"}}}, "ratings": [{"_index": "j", "_id": str(m), "rating": 1}
        for m in range(100)]} for n in range(500)], "metric": {"precision": {"k": 1_000}}}, OK + BAD, seconds=60),
    Case("rank_eval_k", "POST", "/j/_rank_eval", {"requests": [{"id": "q", "request": {"query": {"match_all": {}}}, "ratings": []}], "metric": {"dcg": {"k": 2_147_483_647, "normalize": True}}}, OK + BAD),
    Case("rank_eval_templates", "POST", "/j/_rank_eval", lambda: {"templates": [{"id": "t", "template": {"source": SECTIONS}}], "requests": [{"id": f"q{n}", "template_id": "t", "params": {"a": list(range(30))},
        "ratings": []} for n in range(50)], "metric": {"recall": {}}}, OK + BAD, seconds=60),
    Case("rank_eval_gone", "POST", "/j/_rank_eval", lambda: {"requests": [{"id": f"q{n}", "request": {"size": 1_000, "query": {"match": {"t": "hello"}}}, "ratings": []} for n in range(5_000)],
        "metric": {"precision": {}}}, hang_up=0.3, clients=6),
    search("joins_deep", lambda: {"query": nest("has_child", 200, {"match_all": {}}, type="child")}),
    search("joins_wide", lambda: {"query": {"bool": {"should": [{"has_child": {"type": "child", "query": {"match": {"t": f"hello {n}"}}}} for n in range(500)]}}}),
    search("joins_inner", {"size": 1_000, "query": {"has_child": {"type": "child", "query": {"match_all": {}}, "inner_hits": {"size": 100, "name": "x" * 50_000, "_source": True}}}}),
    search("joins_parents", {"size": 10_000, "query": {"has_parent": {"parent_type": "parent", "score": True, "query": {"match_all": {}}, "inner_hits": {"name": "x" * 20_000}}}}),
    search("joins_script", {"query": {"has_child": {"type": "child", "score_mode": "sum", "query": {"script_score": {"query": {"match_all": {}}, "script": "int c = 0; for (int i = 0; i < 999999; i++) { c += i } return c"}}}}}, hang_up=0.5),
    search("joins_children", {"query": {"has_child": {"type": "child", "min_children": 2_147_483_647, "max_children": -1, "query": {"match_all": {}}}}}),
    search("joins_unknown", lambda: {"query": {"has_child": {"type": "x" * 1_000_000, "query": {"match_all": {}}}}}, BAD),
    Case("join_relations", "PUT", "/relations", lambda: {"mappings": {"properties": {"j": {"type": "join", "relations": {f"p{n}": [f"c{n}x{m}" for m in range(100)] for n in range(1_000)}}}}}, OK + BAD, cleanup=[("DELETE", "/relations")]),
    Case("join_cycle", "PUT", "/relations", {"mappings": {"properties": {"j": {"type": "join", "relations": {"a": "b", "b": "a"}}}}}, OK + BAD, cleanup=[("DELETE", "/relations")]),
    Case("join_values", "PUT", "/j/_doc/q?routing=r", {"j": {"name": "x" * 1_000_000, "parent": "y" * 1_000_000}}, BAD),
    search("nested_inner", {"size": 1_000, "query": {"nested": {"path": "c", "query": {"match_all": {}}, "inner_hits": {"name": "x" * 50_000, "size": 100}}}}),
    search("nested_inner_deep", {"size": 1_000, "query": {"nested": {"path": "c", "inner_hits": {"size": 100, "highlight": {"fields": {"*": {}}}}, "query": {"nested": {"path": "c.d", "inner_hits": {"size": 100},
        "query": {"match_all": {}}}}}}}),
    search("nested_inner_many", lambda: {"size": 1_000, "query": {"bool": {"should": [{"nested": {"path": "c", "query": {"match_all": {}}, "inner_hits": {"name": f"i{n}"}}} for n in range(200)]}}}),
    search("nested_sorts", lambda: {"size": 100, "sort": [{"c.m": {"nested": {"path": "c", "filter": {"range": {"c.m": {"gte": n}}}, "max_children": n}}} for n in range(500)]}),
    search("nested_sort_deep", lambda: {"sort": [{"c.m": {"nested": deep_path(5_000)}}]}),
    search("nested_fields", {"size": 10_000, "fields": ["c.*", "*"], "docvalue_fields": ["*"]}),
    aggregation("frequent", {"a": {"frequent_item_sets": {"minimum_support": 1e-9, "minimum_set_size": 1, "size": 2_147_483_647, "fields": [{"field": "k"}, {"field": "n"}, {"field": "c.x"}]}}}),
    aggregation("frequent_many", {"a": {"frequent_item_sets": {"minimum_support": 0.0001, "size": 10_000, "fields": [{"field": "k"}] * 50}}}),
    aggregation("frequent_gone", {"a": {"frequent_item_sets": {"minimum_support": 1e-9, "size": 100_000, "fields": [{"field": "k"}, {"field": "n"}, {"field": "ip"}]}}}, hang_up=0.5, clients=4),
    aggregation("significant_text", {"a": {"significant_text": {"field": "t", "size": 100_000, "min_doc_count": 0, "shard_min_doc_count": 0, "filter_duplicate_text": True}}}),
    aggregation("significant_script", {"a": {"significant_terms": {"field": "k", "size": 10_000, "min_doc_count": 1, "script_heuristic": {"script": "int c = 0; while (true) { c++ } return c"}}}}, hang_up=0.5),
    aggregation("rare", {"a": {"rare_terms": {"field": "k", "max_doc_count": 100, "precision": 1e-300}}}),
    aggregation("rare_nested", {"t": {"terms": {"field": "n", "size": COUNT}, "aggs": {"a": {"rare_terms": {"field": "k", "precision": 0.00001}}}}}),
    aggregation("variable_width", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"variable_width_histogram": {"field": "n", "buckets": 50_000, "shard_size": 2_147_483_647, "initial_buffer": 2_147_483_647}}}}}),
    aggregation("variable_width_sizes", {"a": {"variable_width_histogram": {"field": "n", "buckets": 2_147_483_647}}}),
    aggregation("auto_dates", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"auto_date_histogram": {"field": "date", "buckets": 100_000}}}}}),
    aggregation("t_test", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"t_test": {"a": {"field": "n"}, "b": {"field": "n"}, "type": "heteroscedastic"}}}}}),
    aggregation("matrix", lambda: {"a": {"matrix_stats": {"fields": ["n"] * 1 + [f"x{n}" for n in range(5_000)]}}}),
    aggregation("matrix_missing", lambda: {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"matrix_stats": {"fields": [f"x{n}" for n in range(200)], "missing": {f"x{n}": 1 for n in range(200)}}}}}}),
    aggregation("geohash", {"a": {"geohash_grid": {"field": "p", "precision": 12, "size": 2_147_483_647, "shard_size": 2_147_483_647}}}),
    aggregation("geotile_bounds", {"a": {"geotile_grid": {"field": "p", "precision": 29, "size": 100_000, "bounds": {"top_left": "90, -180", "bottom_right": "-90, 180"}}}}),
    aggregation("geohex", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"geohex_grid": {"field": "p", "precision": 15}}}}}),
    aggregation("top_metrics", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"top_metrics": {"size": 10, "metrics": [{"field": "n"}] * 500, "sort": {"n": "asc"}}}}}}),
    aggregation("top_metrics_size", {"a": {"top_metrics": {"size": 2_147_483_647, "metrics": {"field": "n"}, "sort": {"n": "asc"}}}}),
    aggregation("median", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"median_absolute_deviation": {"field": "n", "compression": 1e308}}}}}),
    aggregation("boxplots", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"boxplot": {"field": "n", "compression": 1_000_000_000}}}}}),
    aggregation("digests", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"percentiles": {"field": "n", "tdigest": {"compression": 2_000_000_000}}}}}}),
    aggregation("ip_prefixes", {"a": {"ip_prefix": {"field": "ip", "prefix_length": 32, "append_prefix_length": True, "keyed": True}}}),
    aggregation("ip_ranges", lambda: {"t": {"terms": {"field": "k", "size": 1_000}, "aggs": {"a": {"ip_range": {"field": "ip", "ranges": [{"mask": f"10.0.{n % 256}.0/24", "key": f"{n}" + "x" * 500} for n in range(1_000)]}}}}}),
    aggregation("categorize", {"a": {"categorize_text": {"field": "t"}}}),
    aggregation("time_series", {"a": {"time_series": {}}}),
    aggregation("children", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"children": {"type": "child"}, "aggs": {"x" * 10_000: {"max": {"field": "n"}}}}}}}),
    aggregation("nested_buckets", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"c": {"nested": {"path": "c"}, "aggs": {"x": {"terms": {"field": "c.x"}, "aggs": {"r": {"reverse_nested": {}, "aggs": {
        "h": {"top_hits": {"size": 100}}}}}}}}}}}),
    aggregation("global", {"t": {"global": {}, "aggs": {"a": {"terms": {"field": "k", "size": COUNT}, "aggs": {"b": {"terms": {"field": "n", "size": COUNT}}}}}}}),
    aggregation("filters_of_terms", lambda: {"a": {"filters": {"filters": [{"terms": {"k": [f"key{n}" for n in range(2_000)]}}] * 300}}}),
    aggregation("adjacency_wide", lambda: {"a": {"adjacency_matrix": {"separator": "x" * 10_000, "filters": {f"f{n}": {"range": {"n": {"gte": n}}} for n in range(100)}}}}),
    aggregation("sampler", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"a": {"sampler": {"shard_size": 2_147_483_647}, "aggs": {"b": {"terms": {"field": "k"}}}}}}}),
    aggregation("diversified", {"a": {"diversified_sampler": {"field": "k", "shard_size": 2_147_483_647, "max_docs_per_value": 2_147_483_647}, "aggs": {"b": {"terms": {"field": "k"}}}}}),
    aggregation("random_sampler", {"a": {"random_sampler": {"probability": 1e-308, "seed": -9_223_372_036_854_775_808}, "aggs": {"b": {"terms": {"field": "k"}}}}}),
    aggregation("moving_percentiles", {"a": {"histogram": {"field": "n", "interval": 1}, "aggs": {"p": {"percentiles": {"field": "n", "tdigest": {"compression": 1_000}}},
        "m": {"moving_percentiles": {"buckets_path": "p", "window": 2_147_483_647}}}}}),
    aggregation("serial_diff", {"a": {"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"max": {"field": "n"}}, "d": {"serial_diff": {"buckets_path": "m", "lag": 2_147_483_647}}}}}),
    aggregation("bucket_sort", {"a": {"terms": {"field": "k", "size": COUNT}, "aggs": {"m": {"max": {"field": "n"}}, "s": {"bucket_sort": {"sort": ["m"] * 1_000, "from": 2_147_483_647, "size": 2_147_483_647}}}}}),
    aggregation("paths", lambda: {"a": {"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"max": {"field": "n"}}, "s": {"bucket_script": {"buckets_path": {f"p{n}": "m" for n in range(2_000)}, "script": "1"}}}}}),
    aggregation("path_long", {"a": {"avg_bucket": {"buckets_path": "x>" * 100_000 + "y"}}}, BAD),
    aggregation("rates", {"a": {"date_histogram": {"field": "date", "calendar_interval": "month"}, "aggs": {"r": {"rate": {"unit": "second", "mode": "value_count", "field": "n"}}}}}),
    aggregation("include_many", lambda: {"a": {"terms": {"field": "k", "include": [f"key{n}" for n in range(300_000)]}}}),
    aggregation("include_pattern", {"a": {"terms": {"field": "k", "include": "((k|e|y|.){1,60}){1,60}.*", "exclude": "(.*1){1,50}.{1,100}"}}}),
    aggregation("partitions", {"a": {"terms": {"field": "k", "include": {"partition": 0, "num_partitions": 2_147_483_647}}}}),
    aggregation("order_deep", lambda: {"a": {"terms": {"field": "k", "order": [{"m": "asc"}] * 20_000}, "aggs": {"m": {"max": {"field": "n"}}}}}),
    aggregation("runtime", {"a": {"terms": {"script": "String s = ''; for (int i = 0; i < 1000; i++) { s += 'xxxxxxxxxx' } return s + doc['n'].value", "size": COUNT}}}),
    aggregation("flattened_keys", lambda: {f"a{n}": {"terms": {"field": f"f.a{n}", "size": 1_000}} for n in range(2_000)}),
    aggregation("clients", {"t": {"terms": {"field": "k", "size": COUNT}, "aggs": {"c": {"cardinality": {"field": "k", "precision_threshold": 40_000}}}}}, clients=12),
    aggregation("order_of_sub", {"t": {"terms": {"field": "k", "size": 2_147_483_647, "shard_size": 2_147_483_647, "order": {"_key": "desc"}, "min_doc_count": 0}}}),
    Case("mvt", "GET", "/j/_mvt/p/29/0/0?grid_precision=8&size=10000", None, OK + REFUSED),
    Case("mvt_percents", "POST", "/j/_mvt/p/0/0/0", lambda: {"aggs": {"a": {"percentiles": {"field": "n", "percents": [n / 20_000 for n in range(2_000_000)]}}}}, OK + BAD),
    Case("mvt_ranks", "POST", "/j/_mvt/p/0/0/0", lambda: {"aggs": {"a" * 1_000_000: {"percentile_ranks": {"field": "n", "values": list(range(4_000))}}}}, OK + BAD),
    Case("profile", "POST", "/j/_search", lambda: {"profile": True, "query": {"bool": {"should": [{"match": {"t": f"hello {n}" + " x" * 500}} for n in range(1_000)]}}}, OK + BAD, seconds=60),
    Case("profile_aggs", "POST", "/j/_search", lambda: {"profile": True, "size": 0, "aggs": {f"a{n}" + "x" * 5_000: {"terms": {"field": "k"}} for n in range(300)}}, OK + BAD, seconds=60),
    Case("suggest_and_all", "POST", "/j/_search", lambda: {"profile": True, "explain": True, "size": 1_000, "query": {"match": {"t": "hello"}}, "highlight": {"fields": {"*": {}}}, "fields": ["*"],
        "docvalue_fields": ["n", "k"], "script_fields": {"s": {"script": "doc['n'].value"}}, "rescore": {"window_size": 1_000, "query": {"rescore_query": {"match": {"t": "world"}}}},
        "aggs": {"t": {"terms": {"field": "k", "size": 1_000}}}, "stats": ["g" * 1_000] * 1_000}, OK + BAD, clients=4, seconds=60),
    Case("stats_groups", "POST", "/j/_search", lambda: {"stats": [f"group{n}" for n in range(100_000)]}, OK + BAD, clients=3),
    Case("indices_boost", "POST", "/j/_search", lambda: {"indices_boost": [{f"j{n}*": 1} for n in range(100_000)]}, OK + BAD),
    Case("collapse_second", "POST", "/j/_search", {"size": 500, "collapse": {"field": "n", "inner_hits": {"name": "a", "size": 100, "collapse": {"field": "n"}}, "max_concurrent_group_searches": 2_147_483_647}}, OK + BAD, seconds=90),
    Case("runtime_chain", "POST", "/j/_search", lambda: {"runtime_mappings": {f"r{n}": {"type": "long", "script": f"emit(doc['r{n + 1}'].value)"} for n in range(500)} | {"r500": {"type": "long", "script": "emit(1)"}},
        "fields": ["r0"], "size": 1}, OK + BAD),
    Case("runtime_cycle", "POST", "/j/_search", {"runtime_mappings": {"a": {"type": "long", "script": "emit(doc['b'].value)"}, "b": {"type": "long", "script": "emit(doc['a'].value)"}}, "fields": ["a"]}, OK + BAD),
    Case("runtime_lookup", "POST", "/j/_search", {"runtime_mappings": {"l": {"type": "lookup", "target_index": "j", "input_field": "k", "target_field": "k", "fetch_fields": ["*"]}}, "fields": ["l"], "size": 10_000}, OK + BAD),
    Case("runtime_composite", "POST", "/j/_search", lambda: {"runtime_mappings": {"c": {"type": "composite", "script": "emit(['a': 'x'])", "fields": {f"f{n}": {"type": "keyword"} for n in range(20_000)}}}, "fields": ["c.*"]}, OK + BAD),
    Case("runtime_grok", "POST", "/j/_search", {"size": 10_000, "runtime_mappings": {"g": {"type": "keyword", "script": "emit(grok('%{GREEDYDATA:a}%{GREEDYDATA:b}%{GREEDYDATA:c}x').extract(doc['k'].value)?.a ?: '')"}},
        "fields": ["g"]}, OK + BAD),
]


def deep_path(depth):
    inner = {"path": "c"}
    for _ in range(depth):
        inner = {"path": "c", "nested": inner}
    return inner
