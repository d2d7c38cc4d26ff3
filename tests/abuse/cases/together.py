"""Two features at a time: what one multiplies, the other multiplies again."""

from case import OK, REFUSED, Case, Lines, acts, several

ONE = {"number_of_shards": 1, "number_of_replicas": 0}
BAD = (400, 404, 409, 413, 429)
DOCUMENTS = 5_000

SETUP = [
    ("PUT", "/two", {"settings": ONE, "mappings": {"properties": {
        "k": {"type": "keyword"}, "g": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}, "t": {"type": "text", "term_vector": "with_positions_offsets"},
        "p": {"type": "geo_point"}, "q": {"type": "percolator"}, "f": {"type": "flattened"}, "c": {"type": "completion"},
        "ip": {"type": "ip"},
        "l": {"type": "nested", "properties": {"k": {"type": "keyword"}, "t": {"type": "text"}, "n": {"type": "integer"},
                                                "m": {"type": "nested", "properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}}}}}}}),
    ("POST", "/two/_bulk?refresh=true", lambda: Lines([line for n in range(DOCUMENTS) for line in (
        {"index": {"_id": str(n)}}, {"k": f"key{n}", "g": f"group{n % 200}", "n": n, "d": n * 86_400_000, "t": "some words number%d of a text " % n * 5, "p": [n % 180, n % 85],
                                     "f": {f"a{n % 300}": f"b{n}"}, "c": f"some{n}", "ip": f"10.{n % 250}.{n % 200}.1",
                                     "l": [{"k": f"i{m}", "t": "inner words", "n": m, "m": [{"k": f"j{o}", "n": o} for o in range(3)]} for m in range(6)]})])),
]
PADDED = "x" * 50_000
INNER = {"name": "i", "size": 100}


def search(name, body, index="two", query="", **more):
    return Case(name, "POST", f"/{index}/_search{query}", body, **{"seconds": 60, **more})


def aggs(name, tree, **more):
    return search(name, lambda: {"size": 0, **tree()}, **more)


def chain(count, kind="long", last="emit(1)"):
    """Runtime fields of which each reads the next one."""
    fields = {f"r{n}": {"type": kind, "script": f"emit(doc['r{n + 1}'].value)"} for n in range(count)}
    fields[f"r{count}"] = {"type": kind, "script": last}
    return fields


INNER_HITS = [
    search("collapse_highlight_tags", {"size": 200, "query": {"match": {"t": "words"}}, "collapse": {"field": "g", "inner_hits": {**INNER, "highlight": {
        "pre_tags": [PADDED], "post_tags": [PADDED], "fields": {"t": {"number_of_fragments": 0}}}}}}, clients=2),
    search("collapse_inner_fields", {"size": 200, "collapse": {"field": "g", "inner_hits": [{**INNER, "name": f"i{n}", "fields": ["*"], "docvalue_fields": [
        {"field": "d", "format": "yyyy'" + "x" * 5_000 + "'"}]} for n in range(10)]}}, clients=2),
    search("collapse_twice", {"size": 200, "collapse": {"field": "g", "inner_hits": {**INNER, "collapse": {"field": "k"}, "script_fields": {PADDED: {"script": "1"}}}}}),
    search("collapse_concurrent", {"size": 200, "collapse": {"field": "g", "max_concurrent_group_searches": 2_147_483_647, "inner_hits": INNER}}, clients=8),
    search("collapse_runtime", {"size": 1_000, "runtime_mappings": {"r": {"type": "keyword", "script": "for (int i = 0; i < 90; i++) { emit('x' + i) }"}}, "collapse": {"field": "r"}}),
    search("collapse_search_after", {"size": 100, "sort": ["k"], "search_after": ["x" * 1_000_000], "collapse": {"field": "k"}}),
    search("nested_inner_names", {"size": 5_000, "query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"name": PADDED, "size": 6}}}}, clients=2),
    search("nested_inner_of_nested", {"size": 5_000, "query": {"nested": {"path": "l", "inner_hits": {"size": 100, "explain": True, "version": True}, "query": {
        "nested": {"path": "l.m", "inner_hits": {"size": 100, "explain": True}, "query": {"match_all": {"_name": "n" * 3_000}}}}}}}, clients=2),
    search("nested_inner_highlights", {"size": 2_000, "query": {"nested": {"path": "l", "inner_hits": {"size": 6, "highlight": {"pre_tags": ["t" * 5_000], "fields": {"l.t": {"type": "plain"}}}},
                                                                       "query": {"match": {"l.t": "inner words"}}}}}, clients=2),
    search("nested_inner_many", lambda: {"size": 1_000, "query": {"bool": {"should": [
        {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"name": f"i{n}", "size": 6}}} for n in range(300)]}}}, clients=2),
    search("nested_inner_sorts", {"size": 1_000, "query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"size": 6, "sort": [{"l.n": {"order": "desc", "nested": {"path": "l"}}}] * 100}}}}),
    search("nested_inner_sources", {"size": 5_000, "query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"size": 6, "_source": ["*a*b*c*d*" + str(n) for n in range(300)]}}}}),
    search("nested_sort_filters", lambda: {"size": 100, "sort": [{"l.n": {"nested": {"path": "l", "filter": {"terms": {"l.k": [f"i{n}" for n in range(20_000)]}}}}}] * 20}),
    search("nested_inner_seconds", {"size": 5_000, "query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"size": 6, "script_fields": {"s": {
        "script": "String s = 'x'; for (int i = 0; i < 12; i++) { s += s } return s"}}}}}}, clients=2),
]

RUNTIME = [
    search("runtime_chain", lambda: {"runtime_mappings": chain(5_000), "fields": ["r0"], "size": 1}),
    search("runtime_chain_short", lambda: {"runtime_mappings": chain(60), "fields": ["r0"], "size": 1}),
    search("runtime_cycle", {"runtime_mappings": {"a": {"type": "long", "script": "emit(doc['b'].value)"}, "b": {"type": "long", "script": "emit(doc['a'].value)"}},
                             "query": {"range": {"a": {"gte": 0}}}}),
    search("runtime_itself", {"runtime_mappings": {"a": {"type": "long", "script": "emit(doc['a'].value)"}}, "size": 0, "aggs": {"a": {"terms": {"field": "a"}}}}),
    search("runtime_tree", lambda: {"runtime_mappings": {**{f"r{n}": {"type": "long", "script": f"emit(doc['r{n + 1}'].value + doc['r{n + 1}'].value)"} for n in range(60)},
                                                         "r60": {"type": "long", "script": "emit(1)"}}, "fields": ["r0"], "size": 10}),
    search("runtime_fan", lambda: {"runtime_mappings": {**{f"r{n}": {"type": "long", "script": f"for (int i = 0; i < 100; i++) {{ for (x in doc['r{n + 1}']) {{ emit(x) }} }}"} for n in range(20)},
                                                        "r20": {"type": "long", "script": "emit(1)"}}, "query": {"range": {"r0": {"gte": 0}}}, "size": 10}),
    search("runtime_terms", {"size": 0, "runtime_mappings": {"r": {"type": "keyword", "script": "for (int i = 0; i < 99; i++) { emit(doc['k'].value + 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' + i) }"}},
                             "aggs": {"a": {"terms": {"field": "r", "size": 100_000, "shard_size": 2_147_483_647}}}}, clients=2),
    search("runtime_composite", {"size": 0, "runtime_mappings": {"r": {"type": "composite", "script": "for (int i = 0; i < 99; i++) { emit(['a': i, 'b': 'xxxxxxxxxx' + i]) }",
                                                                       "fields": {"a": {"type": "long"}, "b": {"type": "keyword"}}}},
                                 "aggs": {"c": {"composite": {"size": 10_000, "sources": [{"a": {"terms": {"field": "r.a"}}}, {"b": {"terms": {"field": "r.b"}}}]}}}}),
    search("runtime_significant", {"size": 0, "query": {"term": {"g": "group1"}}, "runtime_mappings": {"r": {"type": "keyword", "script": "for (int i = 0; i < 99; i++) { emit(doc['k'].value + i) }"}},
                                   "aggs": {"s": {"significant_terms": {"field": "r", "size": 100_000, "min_doc_count": 1}}}}),
    search("runtime_cardinalities", {"size": 0, "runtime_mappings": {"r": {"type": "keyword", "script": "for (int i = 0; i < 50; i++) { emit(doc['k'].value + i) }"}},
                                     "aggs": {"b": {"terms": {"field": "k", "size": 5_000}, "aggs": {"c": {"cardinality": {"field": "r", "precision_threshold": 40_000}}}}}}, clients=2),
    search("runtime_patterns", lambda: {"runtime_mappings": {f"r{n}": {"type": "keyword", "script": "emit('" + "a" * 5_000 + "')"} for n in range(200)},
                                        "query": {"bool": {"should": [{"regexp": {f"r{n}": "(a|b)*c"}} for n in range(200)]}}}, hang_up=3.0),
    search("runtime_names", lambda: {"runtime_mappings": {f"r{n}" + ".x" * 400: {"type": "keyword", "script": "emit('x')"} for n in range(1_000)}, "fields": ["*"], "size": 500}),
    search("runtime_scripts_kept", lambda: {"runtime_mappings": {f"r{n}": {"type": "keyword", "script": f"emit(/({'a|' * 500}b){n}/.matcher('x').find() + '')"} for n in range(200)}, "fields": ["*"], "size": 1}),
    search("runtime_points", {"size": 0, "runtime_mappings": {"r": {"type": "geo_point", "script": "for (int i = 0; i < 99; i++) { emit(i % 80, doc['n'].value % 170) }"}},
                              "aggs": {"g": {"geotile_grid": {"field": "r", "precision": 29, "size": 100_000, "shard_size": 2_147_483_647}}}}),
    search("runtime_ips", {"size": 0, "runtime_mappings": {"r": {"type": "ip", "script": "for (int i = 0; i < 99; i++) { emit('10.0.' + doc['n'].value % 255 + '.' + i) }"}},
                           "aggs": {"g": {"ip_prefix": {"field": "r", "prefix_length": 32}}}}),
    search("runtime_lookup", {"runtime_mappings": {"r": {"type": "lookup", "target_index": "two", "input_field": "k", "target_field": "k", "fetch_fields": ["*"]}}, "fields": ["r"], "size": 1_000}, clients=2),
    Case("runtime_field_caps", "POST", "/two/_field_caps?fields=*", lambda: {"runtime_mappings": {f"r{n}": {"type": "long"} for n in range(50_000)}, "index_filter": {"match_all": {}}}),
    search("runtime_sorts", lambda: {"size": 100, "runtime_mappings": {f"r{n}": {"type": "double", "script": "double c = 0; for (int i = 0; i < 999; i++) { c += i } emit(c)"} for n in range(50)},
                                     "sort": [f"r{n}" for n in range(50)]}, hang_up=1.0, clients=8),
]

BUCKETS = [
    aggs("composite_missing_orders", lambda: {"aggs": {"c": {"composite": {"size": 10_000, "sources": [
        {f"s{n}" + "x" * 500: {"terms": {"field": f"nothing{n}", "missing_bucket": True, "missing_order": "last"}}} for n in range(200)]}}}}),
    aggs("composite_after_long", lambda: {"aggs": {"c": {"composite": {"size": 10_000, "after": {"k": "x" * 1_000_000, "d": "9" * 100_000}, "sources": [
        {"k": {"terms": {"field": "k"}}}, {"d": {"date_histogram": {"field": "d", "calendar_interval": "month", "format": "yyyy" * 5_000}}}]}}}}),
    aggs("composite_of_nested", lambda: {"aggs": {"n": {"nested": {"path": "l"}, "aggs": {"c": {"composite": {"size": 65_535, "sources": [
        {"k": {"terms": {"field": "l.k"}}}, {"n": {"histogram": {"field": "l.n", "interval": 5e-324}}}]}}}}}}),
    aggs("composite_grid_bounds", lambda: {"aggs": {"c": {"composite": {"size": 65_535, "sources": [{"g": {"geotile_grid": {"field": "p", "precision": 29}}}, {"k": {"terms": {"field": "k"}}}]},
                                                     "aggs": {"h": {"top_hits": {"size": 100, "_source": ["*"]}}}}}}),
    aggs("terms_missing_formats", lambda: {"aggs": {"a": {"terms": {"field": "n", "missing": 9_223_372_036_854_775_807, "format": "0" * 50_000, "size": 5_000}}}}),
    aggs("terms_partitions", lambda: {"aggs": {"a": {"terms": {"field": "k", "include": {"partition": 2_147_483_646, "num_partitions": 2_147_483_647}, "size": 5_000}}}}),
    aggs("terms_includes", lambda: {"aggs": {"a": {"terms": {"field": "k", "include": [f"key{n}" + "x" * 100 for n in range(200_000)], "exclude": [f"key{n}" for n in range(200_000)]}}}}),
    aggs("terms_include_pattern", lambda: {"aggs": {"a": {"terms": {"field": "k", "include": "(" + "|".join(f"key{n}.*" for n in range(20_000)) + ")"}}}}),
    aggs("terms_orders", lambda: {"aggs": {"a": {"terms": {"field": "k", "size": 5_000, "order": [{f"m{n}": "asc"} for n in range(500)]}, "aggs": {f"m{n}": {"avg": {"field": "n"}} for n in range(500)}}}}),
    aggs("rare_terms", lambda: {"aggs": {f"a{n}": {"rare_terms": {"field": "k", "max_doc_count": 100, "precision": 1e-5}} for n in range(100)}}),
    aggs("variable_widths", lambda: {"aggs": {"a": {"variable_width_histogram": {"field": "n", "buckets": 10_000, "shard_size": 2_147_483_647, "initial_buffer": 2_147_483_647}}}}),
    aggs("variable_widths_nested", lambda: {"aggs": {"b": {"terms": {"field": "k", "size": 5_000}, "aggs": {"a": {"variable_width_histogram": {"field": "n", "buckets": 50, "initial_buffer": 100_000}}}}}}),
    aggs("digest_compressions", lambda: {"aggs": {"b": {"terms": {"field": "k", "size": 5_000}, "aggs": {
        "p": {"percentiles": {"field": "n", "tdigest": {"compression": 1e308}}}, "m": {"median_absolute_deviation": {"field": "n", "compression": 1e308}},
        "x": {"boxplot": {"field": "n", "compression": 1e308}}}}}}),
    aggs("matrix_fields", lambda: {"aggs": {"m": {"matrix_stats": {"fields": [f"n{n}" for n in range(3_000)], "missing": {f"n{n}": 1 for n in range(3_000)}}}}}),
    aggs("matrix_buckets", lambda: {"aggs": {"b": {"terms": {"field": "k", "size": 5_000}, "aggs": {"m": {"matrix_stats": {"fields": ["n", "d"] * 100}}}}}}),
    aggs("item_sets", lambda: {"aggs": {"a": {"frequent_item_sets": {"minimum_set_size": 1, "minimum_support": 1e-9, "size": 2_147_483_647, "fields": [
        {"field": "k"}, {"field": "g"}, {"field": "n"}, {"field": "d"}, {"field": "ip"}]}}}}),
    aggs("categorize", lambda: {"aggs": {"a": {"categorize_text": {"field": "t", "max_matched_tokens": 100, "similarity_threshold": 100, "max_unique_tokens": 2_147_483_647,
                                                                     "categorization_filters": ["(a+)+b"] * 200}}}}),
    aggs("significant_texts", lambda: {"query": {"match": {"t": "words"}}, "aggs": {"a": {"sampler": {"shard_size": 2_147_483_647}, "aggs": {
        "s": {"significant_text": {"field": "t", "filter_duplicate_text": True, "size": 100_000, "min_doc_count": 1, "source_fields": ["*"] * 100}}}}}}),
    aggs("top_metrics", lambda: {"aggs": {"b": {"terms": {"field": "k", "size": 5_000}, "aggs": {"t": {"top_metrics": {"metrics": [{"field": "n"}] * 500, "sort": [{"n": "desc"}], "size": 10}}}}}}),
    aggs("adjacency_separator", lambda: {"aggs": {"a": {"adjacency_matrix": {"separator": "x" * 10_000, "filters": {f"{n}" + "y" * 1_000: {"match_all": {}} for n in range(100)}}}}}),
    aggs("diversified", lambda: {"aggs": {"a": {"diversified_sampler": {"field": "k", "shard_size": 2_147_483_647, "max_docs_per_value": 2_147_483_647}}}}),
    aggs("random_samplers", lambda: {"aggs": {"a": {"random_sampler": {"probability": 1e-300, "seed": -9_223_372_036_854_775_808}, "aggs": {"k": {"terms": {"field": "k"}}}}}}),
    aggs("distances", lambda: {"aggs": {"a": {"geo_distance": {"field": "p", "origin": [0, 90], "ranges": [{"from": n, "key": f"{n}" + "k" * 500} for n in range(10_000)]}}}}),
    aggs("auto_dates_nested", lambda: {"aggs": {"b": {"terms": {"field": "k", "size": 5_000}, "aggs": {"a": {"auto_date_histogram": {"field": "d", "buckets": 10_000, "format": "yyyy'" + "x" * 20_000 + "'"}}}}}}),
    aggs("windows", lambda: {"aggs": {"h": {"date_histogram": {"field": "d", "fixed_interval": "1d"}, "aggs": {
        "m": {"max": {"field": "n"}}, **{f"f{n}": {"moving_fn": {"buckets_path": "m", "window": 2_147_483_647, "shift": -2_147_483_648, "script": "MovingFunctions.stdDev(values, 1)"}} for n in range(20)},
        **{f"s{n}": {"serial_diff": {"buckets_path": "m", "lag": 2_147_483_647}} for n in range(20)}}}}}),
    aggs("moving_percentiles", lambda: {"aggs": {"h": {"date_histogram": {"field": "d", "fixed_interval": "1d"}, "aggs": {
        "p": {"percentiles": {"field": "n"}}, **{f"f{n}": {"moving_percentiles": {"buckets_path": "p", "window": 5_000}} for n in range(10)}}}}}),
    aggs("bucket_scripts", lambda: {"aggs": {"h": {"terms": {"field": "k", "size": 5_000}, "aggs": {"m": {"max": {"field": "n"}}, **{f"s{n}": {"bucket_script": {
        "buckets_path": {f"v{o}" + "x" * 100: "m" for o in range(200)}, "script": "1", "format": "0" * 10_000}} for n in range(50)}}}}}),
    aggs("bucket_sorts", lambda: {"aggs": {"h": {"terms": {"field": "k", "size": 5_000}, "aggs": {**{f"m{n}": {"max": {"field": "n"}} for n in range(20)}, **{f"s{n}": {"bucket_sort": {
        "sort": [f"m{o}" for o in range(20)], "from": 2_147_483_647, "size": 2_147_483_647}} for n in range(100)}}}}}),
    aggs("pipelines_wide", lambda: {"aggs": {"h": {"terms": {"field": "k", "size": 5_000}, "aggs": {"m": {"max": {"field": "n"}}, **{f"c{n}": {"bucket_script": {
        "buckets_path": {"a": "m" if n == 0 else f"c{n - 1}"}, "script": "params.a + 1"}} for n in reversed(range(199))}}}}}),
    aggs("reverse_nested", lambda: {"aggs": {"n": {"nested": {"path": "l.m"}, "aggs": {"k": {"terms": {"field": "l.m.k"}, "aggs": {"r": {"reverse_nested": {}, "aggs": {
        "k": {"terms": {"field": "k", "size": 5_000}, "aggs": {"n": {"nested": {"path": "l"}, "aggs": {"t": {"top_hits": {"size": 100}}}}}}}}}}}}}}),
    aggs("flattened_keys", lambda: {"aggs": {f"a{n}": {"terms": {"field": "f." + "a" * 2_000 + str(n)}} for n in range(1_000)}}),
    aggs("parents_of_nothing", lambda: {"aggs": {f"a{n}": {"children": {"type": "x" * 5_000}} for n in range(1_000)}}),
    aggs("profiled_deep", lambda: {"profile": True, "aggs": nested_terms(20)}),
]


def nested_terms(depth):
    inner = {"m": {"max": {"field": "n"}}}
    for level in range(depth):
        inner = {f"{level}" + "y" * 2_000: {"terms": {"field": "g", "size": 200}, "aggs": inner}}
    return inner


def percolators(body):
    return [("PUT", "/stored", {"settings": ONE, "mappings": {"properties": {
        "q": {"type": "percolator"}, "k": {"type": "keyword"}, "t": {"type": "text"}, "n": {"type": "long"},
        "l": {"type": "nested", "properties": {"k": {"type": "keyword"}, "t": {"type": "text"}}}}}}),
        ("POST", "/stored/_bulk?refresh=true", lambda: Lines([line for n in range(2_000) for line in ({"index": {"_id": str(n)}}, {"q": body(n)})]))]


def percolate(name, stored, document, body=None, **more):
    return search(name, lambda: {"size": 2_000, "query": {"percolate": {"field": "q", **document()}}, **(body or {})}, index="stored", setup=percolators(stored), **more)


PERCOLATORS = [
    percolate("percolate_nested", lambda n: {"nested": {"path": "l", "query": {"term": {"l.k": f"i{n % 50}"}}}},
              lambda: {"document": {"l": [{"k": f"i{n}", "t": "words " * 20} for n in range(9_000)]}}),
    percolate("percolate_nested_inner", lambda n: {"nested": {"path": "l", "inner_hits": {"name": "x" * 1_000, "size": 100}, "query": {"term": {"l.k": f"i{n % 50}"}}}},
              lambda: {"document": {"l": [{"k": f"i{n % 50}", "t": "words"} for n in range(2_000)]}}),
    percolate("percolate_highlights", lambda n: {"match": {"t": "words"}}, lambda: {"documents": [{"t": "words " * 2_000} for _ in range(20)]},
              {"highlight": {"pre_tags": ["x" * 200], "fields": {"t": {"number_of_fragments": 0}}}}),
    percolate("percolate_scripts", lambda n: {"script": {"script": f"int c = {n}; for (int i = 0; i < 90000; i++) {{ c += i }} return c != 0"}},
              lambda: {"documents": [{"n": n} for n in range(50)]}, hang_up=2.0, clients=4),
    percolate("percolate_ranges", lambda n: {"bool": {"should": [{"range": {"n": {"gte": m}}} for m in range(30)]}}, lambda: {"documents": [{"n": n} for n in range(5_000)]}),
    percolate("percolate_explained", lambda n: {"match": {"t": "words"}}, lambda: {"documents": [{"t": "words"} for _ in range(500)]}, {"explain": True, "profile": True}),
    percolate("percolate_many", lambda n: {"match_all": {}}, lambda: {"documents": [{"t": "words"} for _ in range(20_000)]}),
    search("percolate_clauses", lambda: {"query": {"bool": {"should": [{"percolate": {"field": "q", "name": f"p{n}", "document": {"t": "words " * 500}}} for n in range(500)]}}}, index="stored",
           setup=percolators(lambda n: {"match": {"t": "words"}})),
    Case("percolate_stored_wide", "PUT", "/stored/_doc/wide", lambda: {"q": {"bool": {"should": [{"match": {"t": "w" * 1_000 + str(n)}} for n in range(50_000)]}}}, setup=percolators(lambda n: {"match_all": {}})),
    Case("percolate_stored_patterns", "PUT", "/stored/_doc/patterns", lambda: {"q": {"bool": {"should": [{"regexp": {"k": "(a|b)*" * 100 + str(n)}} for n in range(900)]}}},
         setup=percolators(lambda n: {"match_all": {}})),
    Case("percolate_stored_dates", "PUT", "/stored/_doc/dates", {"q": {"range": {"d": {"gte": "now" + "-1d" * 100_000}}}}, setup=percolators(lambda n: {"match_all": {}})),
]

SUGGEST = [
    search("suggest_fuzzy_terms", lambda: {"suggest": {"text": " ".join(f"wrods{n}" for n in range(5_000)), **{f"s{n}" + "x" * 1_000: {"term": {
        "field": "t", "suggest_mode": "always", "max_edits": 2, "prefix_length": 0, "min_word_length": 1, "max_inspections": 2_147_483_647, "shard_size": 2_147_483_647, "size": 1_000}} for n in range(20)}}}),
    search("suggest_completion_fuzzy", lambda: {"suggest": {f"s{n}": {"prefix": "s" * 200, "completion": {"field": "c", "size": 10_000, "fuzzy": {
        "fuzziness": 2, "prefix_length": 0, "min_length": 1, "unicode_aware": True}}} for n in range(200)}}),
    search("suggest_completion_sources", lambda: {"suggest": {f"s{n}": {"prefix": "s", "completion": {"field": "c", "size": 5_000}} for n in range(30)}}, clients=2),
    search("suggest_phrase_highlights", lambda: {"suggest": {"text": "soem wrods nubmer", **{f"s{n}": {"phrase": {"field": "t", "size": 1_000, "max_errors": 3, "confidence": 0, "gram_size": 1, "highlight": {
        "pre_tag": "x" * 50_000, "post_tag": "y" * 50_000}}} for n in range(5)}}}),
    search("suggest_separators", lambda: {"suggest": {"text": "soem wrods nubmer", "s": {"phrase": {"field": "t", "size": 1_000, "confidence": 0, "separator": "z" * 100_000, "max_errors": 3}}}}),
    search("fuzzy_rewrites", lambda: {"query": {"bool": {"should": [{"fuzzy": {"k": {"value": f"key{n}", "fuzziness": 2, "prefix_length": 0, "max_expansions": 2_147_483_647,
                                                                                     "rewrite": "top_terms_2147483647"}}} for n in range(200)]}}}),
    search("fuzzy_highlights", lambda: {"size": 5_000, "query": {"match": {"t": {"query": "smoe wrosd numebr1 ttext", "fuzziness": 2, "max_expansions": 10_000}}},
                                        "highlight": {"fields": {"t": {}, "*": {"type": "plain"}}}}, clients=2),
    search("fuzzy_explained", lambda: {"size": 5_000, "explain": True, "query": {"match": {"k": {"query": "key1", "fuzziness": 2, "max_expansions": 10_000, "fuzzy_rewrite": "scoring_boolean"}}}}),
    search("fields_of_queries", lambda: {"query": {"multi_match": {"query": "some words " * 200, "fields": ["t^2", "k", "l.t"] * 300, "type": "cross_fields"}}}),
    search("fields_fuzzy", lambda: {"query": {"multi_match": {"query": "smoe wrosd " * 50, "fields": ["*"] * 50, "fuzziness": 2, "lenient": True, "max_expansions": 1_000}}}),
    search("combined_fields", lambda: {"query": {"combined_fields": {"query": "some words " * 500, "fields": [f"t^{n + 1}" for n in range(500)]}}}),
    search("minimum_should_match", lambda: {"query": {"bool": {"should": [{"term": {"k": f"key{n}"}} for n in range(500)], "minimum_should_match": " ".join(f"{n}<{n}%" for n in range(50_000))}}}),
    search("terms_set", {"query": {"terms_set": {"k": {"terms": [f"key{n}" for n in range(5_000)], "minimum_should_match_script": {
        "source": "int c = 0; for (int i = 0; i < 99999; i++) { c += i } return 1"}}}}}, hang_up=1.0, clients=6),
    search("more_like_many", lambda: {"query": {"more_like_this": {"fields": ["t", "k"], "like": [{"_index": "two", "_id": str(n % DOCUMENTS)} for n in range(20_000)], "min_term_freq": 1,
                                                                   "min_doc_freq": 1, "max_query_terms": 2_147_483_647, "minimum_should_match": "1%"}}}),
    search("spans_nested", lambda: {"query": spans(120)}),
    search("intervals_wide", lambda: {"query": {"intervals": {"t": {"all_of": {"ordered": False, "intervals": [{"any_of": {"intervals": [
        {"match": {"query": "some words", "max_gaps": 2_147_483_647}}, {"prefix": {"prefix": "n"}}, {"wildcard": {"pattern": "*o*"}}, {"fuzzy": {"term": "wrods"}}]}}] * 60}}}}}),
    search("intervals_repeated", {"query": {"intervals": {"t": {"match": {"query": "some " * 20_000, "max_gaps": -1, "ordered": False}}}}}),
]


def spans(depth):
    inner = {"span_term": {"t": "words"}}
    for _ in range(depth):
        inner = {"span_near": {"slop": 2_147_483_647, "in_order": False, "clauses": [inner, {"span_term": {"t": "some"}}]}}
    return inner


def pipeline(name, processors, expect=OK + BAD, **more):
    return several(name, [("PUT", "/_ingest/pipeline/two", lambda: {"processors": processors() if callable(processors) else processors}),
                          ("POST", "/two/_update_by_query?pipeline=two&conflicts=proceed&max_docs=300", {}),
                          ("POST", "/_reindex", {"source": {"index": "two", "size": 2_000}, "dest": {"index": "copied", "pipeline": "two"}, "max_docs": 300})],
                   expect, **{"cleanup": [("DELETE", "/_ingest/pipeline/two"), ("DELETE", "/copied"), ("DELETE", "/_enrich/policy/two")], "seconds": 120, **more})


ENRICH = [("PUT", "/_enrich/policy/two", {"match": {"indices": "two", "match_field": "g", "enrich_fields": ["k", "t", "l"]}}), ("PUT", "/_enrich/policy/two/_execute")]

PIPELINES = [
    pipeline("pipeline_enriches", [{"enrich": {"policy_name": "two", "field": "g", "target_field": f"e{n}", "max_matches": 128}} for n in range(8)], setup=ENRICH),
    pipeline("pipeline_foreach_enrich", [{"foreach": {"field": "l", "processor": {"enrich": {"policy_name": "two", "field": "g", "target_field": "_ingest._value.e", "max_matches": 128}}}}], setup=ENRICH),
    pipeline("pipeline_grows", [{"script": {"source": "for (int i = 0; i < 12; i++) { ctx.t += ctx.t }"}}]),
    pipeline("pipeline_reversed_keys", lambda: [{"script": {"source": "Map m = new HashMap(); for (int i = 0; i < 60000; i++) { m.put('k' + i, i) } ctx.o = m"}}, {"script": {
        "source": "List l = new ArrayList(ctx.o.keySet()); Map m = new LinkedHashMap(); for (int i = l.size() - 1; i >= 0; i--) { m.put(l.get(i), 1) } ctx.o = m"}}, {"remove": {"field": "o"}}]),
    pipeline("pipeline_shared_lists", [{"script": {"source": "List l = ['x']; for (int i = 0; i < 40; i++) { l = [l, l] } ctx.s = l"}}]),
    pipeline("pipeline_shared_names", [{"script": {"source": "List l = ['x']; for (int i = 0; i < 40; i++) { l = [l, l] } ctx._routing = l"}}]),
    pipeline("pipeline_shared_ids", [{"script": {"source": "Map l = ['x': 1]; for (int i = 0; i < 40; i++) { l = ['a': l, 'b': l] } ctx._id = l"}}]),
    pipeline("pipeline_appends", [{"append": {"field": "a", "value": [f"v{n}" for n in range(30_000)], "allow_duplicates": False}}] * 2),
    pipeline("pipeline_user_agents", [{"set": {"field": "u", "value": "Mozilla/5.0 (" + "a;" * 50_000 + ") Chrome/" + "1." * 50_000}}, {"user_agent": {"field": "u"}}]),
    pipeline("pipeline_dates", lambda: [{"date": {"field": "k", "formats": [f"yyyy-MM-dd'{n}'" for n in range(2_000)], "ignore_failure": True}}]),
    pipeline("pipeline_networks", lambda: [{"network_direction": {"source_ip": "ip", "destination_ip": "ip", "internal_networks": [f"10.{n % 250}.{n // 250}.0/24" for n in range(50_000)]}}]),
    pipeline("pipeline_fingerprints", [{"fingerprint": {"fields": ["t", "l", "f"], "method": "SHA-512", "target_field": f"p{n}"}} for n in range(300)]),
    pipeline("pipeline_html", [{"set": {"field": "h", "value": "<" * 100_000}}, {"html_strip": {"field": "h"}}]),
    pipeline("pipeline_json", [{"set": {"field": "j", "value": "[" * 400 + "]" * 400}}, {"json": {"field": "j"}}]),
    pipeline("pipeline_json_wide", [{"set": {"field": "j", "value": "[" + ",".join(["[]"] * 100_000) + "]"}}, {"json": {"field": "j"}}]),
    pipeline("pipeline_dots", lambda: [{"set": {"field": "d" + ".a" * 900, "value": 1}}, {"dot_expander": {"field": "*", "override": True}}]),
    pipeline("pipeline_redact", [{"set": {"field": "r", "value": "1.1.1.1 " * 20_000}}, {"redact": {"field": "r", "patterns": ["%{IP:client}"] * 50, "prefix": "x" * 1_000}}]),
    pipeline("pipeline_domains", [{"set": {"field": "r", "value": "a." * 50_000 + "co.uk"}}, {"registered_domain": {"field": "r"}}, {"uri_parts": {"field": "r"}}]),
    # Elasticsearch's status of what a pipeline fails by itself.
    pipeline("pipeline_failures", [{"fail": {"message": "x" * 20_000 + "{{t}}"}}], expect=OK + BAD + (500,)),
    pipeline("pipeline_failure_chain", [{"fail": {"message": "{{_ingest.on_failure_message}}" * 10, "on_failure": [{"set": {"field": "m", "value": "{{_ingest.on_failure_message}}" * 1_000}}] * 3}}]),
    pipeline("pipeline_templates", [{"set": {"field": "x", "value": "{{t}}" * 2_000}}] * 3),
    pipeline("pipeline_reroutes", [{"reroute": {"destination": "{{k}}-" + "r" * 200}}]),
]


def hoarded(name, requests, cleanup=(), **more):
    """What a function of the server does, judged request by request."""
    return acts(name, requests, OK + BAD, **{"seconds": 120, "cleanup": list(cleanup), **more})


def pits_of_versions(server):
    """A point in time after each change: each holds segments that nothing else needs."""
    for n in range(80):
        server.send("POST", "/two/_bulk?refresh=true", Lines([line for m in range(50) for line in ({"update": {"_id": str(m)}}, {"doc": {"n": n * 100 + m}})]))
        yield server.send("POST", "/two/_pit?keep_alive=20s")


def pits_of_deleted(server):
    for n in range(30):
        server.send("PUT", f"/gone-{n}/_doc/1?refresh=true", {"t": "x" * 500_000})
        yield server.send("POST", f"/gone-{n}/_pit?keep_alive=20s")
        yield server.send("DELETE", f"/gone-{n}")


def asyncs_polled(server):
    import json
    status, answer = server.send("POST", "/two/_async_search?keep_on_completion=true&wait_for_completion_timeout=1ms&keep_alive=20s", {
        "size": 0, "aggs": {"k": {"terms": {"field": "k", "size": 5_000}, "aggs": {"t": {"top_hits": {"size": 1}}}}}})
    yield status, answer[:100]
    ident = json.loads(answer).get("id")
    for _ in range(100):
        if ident:
            status, answer = server.send("GET", f"/_async_search/{ident}?wait_for_completion_timeout=0&typed_keys=true")
            yield status, answer[:100]


def pit_everything(server):
    import json
    status, answer = server.send("POST", "/two/_pit?keep_alive=20s")
    yield status, answer
    ident = json.loads(answer).get("id")
    for n in range(20):
        yield server.send("POST", "/_search", {"pit": {"id": ident, "keep_alive": "20s"}, "slice": {"id": n, "max": 1_024}, "size": 100, "collapse": {"field": "g"}, "sort": ["k"],
                                               "search_after": [f"key{n}"], "rescore": []})
        yield server.send("POST", "/_async_search?keep_on_completion=true&keep_alive=20s", {"pit": {"id": ident}, "size": 500, "aggs": {"k": {"terms": {"field": "k", "size": 5_000}}}})
        yield server.send("POST", "/_search?scroll=1m", {"pit": {"id": ident}})


def scrolls_beside_deletes(server):
    for _ in range(40):
        yield server.send("POST", "/two/_search?scroll=20s&size=500", {"sort": ["_doc"], "query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"size": 6}}}})


KEPT = [
    hoarded("pits_of_versions", pits_of_versions),
    hoarded("pits_of_deleted", pits_of_deleted, [("DELETE", "/gone-*?expand_wildcards=all")]),
    hoarded("asyncs_polled", asyncs_polled),
    hoarded("pit_everything", pit_everything),
    hoarded("scrolls_inner", scrolls_beside_deletes, [("DELETE", "/_search/scroll/_all")]),
]

CASES = INNER_HITS + RUNTIME + BUCKETS + PERCOLATORS + SUGGEST + PIPELINES + KEPT
