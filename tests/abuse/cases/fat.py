"""Few documents with many values: what a request multiplies by the values of one document."""

from case import OK, REFUSED, Case, Lines

ONE = {"number_of_shards": 1, "number_of_replicas": 0}
VALUES = 20_000

SETUP = [
    ("PUT", "/fat", {"settings": {**ONE, "index.mapping.nested_objects.limit": 20_000}, "mappings": {"properties": {
        "k": {"type": "keyword"}, "o": {"type": "keyword"}, "n": {"type": "long"}, "x": {"type": "double"}, "d": {"type": "date"}, "p": {"type": "geo_point"}, "t": {"type": "text", "fielddata": True},
        "r": {"type": "integer_range"}, "e": {"type": "date_range"}, "ip": {"type": "ip"}, "f": {"type": "flattened"}, "s": {"type": "geo_shape"}, "a": {"type": "ip_range"},
        "l": {"type": "nested", "properties": {"k": {"type": "keyword"}, "n": {"type": "long"}, "p": {"type": "geo_point"}}}}}}),
    *[("PUT", f"/fat/_doc/{n}?refresh=true", lambda n=n: {
        "k": [f"key{m}" for m in range(VALUES)], "o": [f"other{m}" for m in range(VALUES)], "n": list(range(VALUES)), "x": [m / 7 for m in range(VALUES)], "d": [m * 86_400_000 for m in range(VALUES)],
        "p": [[m % 180, m % 90] for m in range(VALUES)], "t": [f"some words{m}" for m in range(VALUES)], "ip": [f"10.{m // 250 % 250}.{m % 250}.1" for m in range(VALUES)],
        "r": [{"gte": -2_147_483_648, "lte": 2_147_483_647}] + [{"gte": m, "lte": 2_147_483_647} for m in range(3_000)], "e": [{"gte": -9_223_372_036_854_775_807, "lte": 9_223_372_036_854_775_807}],
        "f": {f"f{m}": m for m in range(5_000)}, "s": ["POLYGON ((-180 -85, 180 -85, 180 85, -180 85, -180 -85))"] * 20, "a": ["::/0"],
        "l": [{"k": f"i{m}", "n": m, "p": [m % 180, m % 90]} for m in range(10_000)]}) for n in range(3)],
]


def search(name, body, **more):
    return Case(name, "POST", "/fat/_search", body, **{"seconds": 60, **more})


def aggs(name, tree, **more):
    return search(name, lambda: {"size": 0, "aggs": {"a": tree() if callable(tree) else tree}}, **more)


def sources(count, kind="terms", **options):
    return [{f"s{n}": {kind: {"field": "k" if kind == "terms" else "n", **options}}} for n in range(count)]


LONG_TERMS = [
    ("PUT", "/long-terms", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}, "g": {"type": "keyword"}, "l": {"type": "nested", "properties": {"k": {"type": "keyword"}}}}}}),
    *[("POST", "/long-terms/_bulk?refresh=true", lambda part=part: Lines([line for n in range(300) for line in ({"index": {}}, {
        "k": "x" * 30_000 + f"{part}-{n}", "g": f"{n % 3}"})])) for part in range(5)],
]


def sorts(name, body, **more):
    """Sort values of 30 kB each."""
    return Case(f"sorts_{name}", "POST", "/long-terms/_search", {"size": 1_500, "_source": False, **body}, setup=LONG_TERMS, seconds=60, **more)


CASES = [
    sorts("once", {"sort": ["k"]}, clients=3),
    sorts("often", {"sort": ["k"] * 10}),
    sorts("groups", {"sort": ["k"] * 10, "collapse": {"field": "k", "inner_hits": {"name": "h", "sort": ["k"] * 10}}}),
    sorts("top_hits", {"size": 0, "aggs": {"g": {"terms": {"field": "g"}, "aggs": {"h": {"top_hits": {"size": 100, "sort": ["k"] * 10, "_source": False}}}}}}, clients=4),
    Case("sorts_scroll", "POST", "/long-terms/_search?scroll=10s", {"size": 1_500, "_source": False, "sort": ["k"] * 10}, setup=LONG_TERMS, seconds=60),
    # Combinations of the values of several fields.
    aggs("multi_terms", {"multi_terms": {"size": 10, "terms": [{"field": "k"}, {"field": "o"}, {"field": "n"}]}}),
    aggs("multi_terms_of_two", {"multi_terms": {"size": 10, "terms": [{"field": "k"}, {"field": "o"}]}}),
    aggs("composite", {"composite": {"size": 10, "sources": sources(3)}}),
    aggs("composite_of_histograms", {"composite": {"size": 10_000, "sources": sources(4, "histogram", interval=0.001)}}),
    aggs("composite_after", {"composite": {"size": 10, "sources": sources(3), "after": {f"s{n}": "key19998" for n in range(3)}}}),
    aggs("item_sets", {"frequent_item_sets": {"minimum_set_size": 2, "minimum_support": 0.001, "fields": [{"field": "k"}, {"field": "o"}, {"field": "n"}]}}),
    aggs("matrix", {"matrix_stats": {"fields": ["n", "x"] * 300, "mode": "median"}}),
    aggs("terms_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"o": {"terms": {"field": "o", "size": 10}}}}),
    aggs("terms_in_terms_in_terms", {"terms": {"field": "k", "size": 10}, "aggs": {"o": {"terms": {"field": "o", "size": 10}, "aggs": {"n": {"terms": {"field": "n", "size": 10}}}}}}),
    aggs("histograms_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"n": {"histogram": {"field": "x", "interval": 0.01}}}}),
    aggs("cardinalities_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"c": {"cardinality": {"field": "o", "precision_threshold": 40_000}}}}),
    aggs("percentiles_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"p": {"percentiles": {"field": "x", "tdigest": {"compression": 10_000}}}}}),
    aggs("string_stats_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"s": {"string_stats": {"field": "o", "show_distribution": True}}}}),
    aggs("hits_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"h": {"top_hits": {"size": 3, "docvalue_fields": ["*"]}}}}),
    aggs("metrics_in_terms", {"terms": {"field": "k", "size": VALUES}, "aggs": {"m": {"top_metrics": {"metrics": [{"field": "n"}], "sort": [{"x": {"order": "asc", "mode": "median"}}]}}}}),
    # Ranges by values.
    aggs("ranges", lambda: {"range": {"field": "n", "ranges": [{"from": n} for n in range(10_000)]}}),
    aggs("ranges_of_dates", lambda: {"date_range": {"field": "d", "ranges": [{"from": n} for n in range(5_000)]}}),
    aggs("ranges_of_ips", lambda: {"ip_range": {"field": "ip", "ranges": [{"from": "10.0.0.0", "to": f"10.{n % 250}.{n // 250}.0"} for n in range(5_000)]}}),
    aggs("ranges_of_distances", lambda: {"geo_distance": {"field": "p", "origin": [0, 0], "ranges": [{"from": n} for n in range(10_000)]}}),
    aggs("ranges_in_ranges", lambda: {"range": {"field": "n", "ranges": [{"from": n} for n in range(200)]}, "aggs": {"b": {"range": {"field": "x", "ranges": [{"from": n} for n in range(200)]}}}}),
    aggs("histogram_of_ranges", {"histogram": {"field": "r", "interval": 1}}),
    aggs("histogram_of_ranges_wide", {"histogram": {"field": "r", "interval": 10_000_000, "min_doc_count": 1}}),
    aggs("histogram_of_dates", {"date_histogram": {"field": "e", "fixed_interval": "1ms"}}),
    aggs("histogram_of_years", {"date_histogram": {"field": "e", "calendar_interval": "year", "time_zone": "Europe/Berlin"}}),
    aggs("histogram_of_days", {"date_histogram": {"field": "e", "calendar_interval": "day", "hard_bounds": {"min": "1970-01-01", "max": "2300-01-01"}}}),
    aggs("ranges_of_places", {"geotile_grid": {"field": "s", "precision": 29}}),
    aggs("hashes_of_places", {"geohash_grid": {"field": "s", "precision": 12}}),
    aggs("cardinality_of_ranges", {"cardinality": {"field": "r"}}),
    aggs("fine_histogram", {"histogram": {"field": "x", "interval": 1e-9}}),
    aggs("fine_histogram_filled", {"histogram": {"field": "x", "interval": 1e-9, "min_doc_count": 0}}),
    aggs("widths", {"variable_width_histogram": {"field": "x", "buckets": 5_000}}),
    aggs("significant", {"significant_terms": {"field": "k", "size": VALUES, "min_doc_count": 1, "background_filter": {"terms": {"k": ["key1"]}}}}),
    aggs("significant_text", {"significant_text": {"field": "t", "size": VALUES, "min_doc_count": 1, "filter_duplicate_text": True}}),
    aggs("categories", {"categorize_text": {"field": "t", "size": 10_000}}),
    aggs("nested_terms", {"nested": {"path": "l"}, "aggs": {"k": {"terms": {"field": "l.k", "size": 10_000}, "aggs": {"r": {"reverse_nested": {}, "aggs": {"k": {"terms": {"field": "k", "size": 10}}}}}}}}),
    aggs("nested_hits", {"nested": {"path": "l"}, "aggs": {"k": {"terms": {"field": "l.k", "size": 10_000}, "aggs": {"h": {"top_hits": {"size": 10}}}}}}),
    aggs("scripted", {"scripted_metric": {"init_script": "state.c = 0", "map_script": "for (a in doc['n']) { for (b in doc['n']) { state.c += a * b } }", "combine_script": "return state.c",
                                          "reduce_script": "return states"}}),
    aggs("terms_of_scripts", {"terms": {"script": "List l = []; for (a in doc['k']) { l.add(a + 'x'); l.add(a + 'y') } return l", "size": 100_000}}),
    aggs("lines", {"geo_line": {"point": {"field": "p"}, "sort": {"field": "d"}, "size": 10_000}}),
    # Values that are shown.
    search("docvalues_formatted", lambda: {"docvalue_fields": [{"field": "d", "format": "yyyy'" + "x" * 20_000 + "'"}]}),
    search("fields_formatted", lambda: {"fields": [{"field": "d", "format": "yyyy'" + "x" * 20_000 + "'"}]}),
    search("fields_often", lambda: {"fields": ["*"] * 500, "docvalue_fields": ["n", "k"] * 100}),
    search("sources_often", lambda: {"_source": ["*k*", "*n*"] * 1_000}),
    search("highlighted", lambda: {"query": {"match": {"t": "some"}}, "highlight": {"pre_tags": ["x" * 5_000], "number_of_fragments": 0, "fields": {"t": {}}}}),
    search("highlighted_plain", lambda: {"query": {"match": {"t": "some"}}, "highlight": {"pre_tags": ["x" * 5_000], "fields": {"t": {"type": "plain", "number_of_fragments": 100_000}}}}),
    search("highlighted_keywords", lambda: {"query": {"wildcard": {"k": "*e*"}}, "highlight": {"fields": {"k": {"number_of_fragments": 0}, "o": {"type": "plain"}}}}),
    search("highlighted_terms", lambda: {"query": {"terms": {"k": [f"key{n}" for n in range(60_000)]}}, "highlight": {"fields": {"k": {}}}}),
    search("inner_hits", lambda: {"query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"size": 100, "from": 0, "fields": ["*"], "docvalue_fields": ["l.n", "n"]}}}}, clients=2),
    search("inner_hits_all", lambda: {"query": {"nested": {"path": "l", "query": {"match_all": {}}, "inner_hits": {"size": 10_000}}}},
           setup=[("PUT", "/fat/_settings", {"index.max_inner_result_window": 10_000})], cleanup=[("PUT", "/fat/_settings", {"index.max_inner_result_window": None})], clients=2),
    search("explained", lambda: {"explain": True, "query": {"bool": {"should": [{"terms_set": {"k": {"terms": [f"key{n}" for n in range(5_000)], "minimum_should_match": 1}}},
                                                                                {"match": {"t": " ".join(f"words{n}" for n in range(900))}}]}}}),
    search("flattened", {"fields": ["f.*"] * 50, "query": {"query_string": {"query": "f.*:1"}}}),
    # Values by values of the request.
    search("distances", lambda: {"sort": [{"_geo_distance": {"p": [[n % 180, n % 90] for n in range(50_000)], "mode": "min", "distance_type": "arc"}}]}),
    search("distances_summed", lambda: {"sort": [{"_geo_distance": {"p": [[n % 180, n % 90] for n in range(50_000)], "mode": "sum", "order": "desc"}}]}),
    search("distances_nested", lambda: {"sort": [{"_geo_distance": {"l.p": [[n % 180, n % 90] for n in range(20_000)], "mode": "avg", "nested": {"path": "l"}}}]}),
    search("distances_often", lambda: {"sort": [{"_geo_distance": {"p": [[n % 180, m % 90] for n in range(500)], "mode": "median"}} for m in range(50)]}),
    search("distance_functions", lambda: {"query": {"function_score": {"functions": [{"gauss": {"p": {"origin": [n % 180, n % 90], "scale": "1km"}, "multi_value_mode": "avg"}} for n in range(3_000)]}}}),
    search("distance_features", lambda: {"query": {"bool": {"should": [{"distance_feature": {"field": "p", "origin": [n % 180, n % 90], "pivot": "1km"}} for n in range(1_000)]}}}),
    search("distance_filters", lambda: {"query": {"bool": {"should": [{"geo_distance": {"distance": "1m", "p": [n % 180 + 0.5, n % 90]}} for n in range(1_000)]}}}),
    search("polygons", lambda: {"query": {"geo_shape": {"p": {"shape": {"type": "polygon", "coordinates": [[[n * 179 / 20_000, (n % 2) * 40] for n in range(20_000)] + [[179, -80], [0, -80], [0, 0]]]}}}}}),
    search("sorts_nested", {"sort": [{"l.n": {"mode": "median", "nested": {"path": "l", "filter": {"range": {"l.n": {"gte": n}}}}}} for n in range(200)]}),
    search("sorts_by_scripts", {"sort": [{"_script": {"type": "number", "script": "long c = 0; for (a in doc['n']) { for (b in doc['n']) { c += a * b } } return c"}}]}, hang_up=1.0, clients=4),
    search("scripts_of_pairs", {"script_fields": {"f": {"script": "List l = []; for (a in doc['k']) { for (b in doc['k']) { l.add(a + b) } } return l"}}}),
    search("scripts_of_texts", {"script_fields": {"f": {"script": "String s = ''; for (a in doc['k']) { s += a } return s"}}}),
    search("scripts_of_sorted", {"script_fields": {"f": {"script": "doc['k'].stream().sorted().map(x -> x + doc['k'].toString()).collect(Collectors.toList())"}}}),
    search("more_like_this", {"query": {"more_like_this": {"fields": ["t", "k"], "like": [{"_id": "0"}], "min_term_freq": 1, "min_doc_freq": 1, "max_query_terms": 100_000}}}),
    search("terms_lookups", lambda: {"query": {"bool": {"should": [{"terms": {"k": {"index": "fat", "id": str(n % 3), "path": "k"}}} for n in range(500)]}}}),
    Case("term_vectors", "POST", "/fat/_mtermvectors", lambda: {"docs": [{"_id": str(n % 3), "fields": ["*"], "term_statistics": True, "positions": True, "offsets": True} for n in range(30)]}, seconds=60),
    Case("updates", "POST", "/fat/_bulk", lambda: Lines([line for n in range(60) for line in ({"update": {"_id": str(n % 3)}}, {"script": "ctx._source.n.sort((a, b) -> b <=> a)"})]), seconds=120),
    Case("updates_by_query", "POST", "/fat/_update_by_query?conflicts=proceed", {"script": "for (a in ctx._source.k) { if (ctx._source.o.contains(a)) { ctx._source.c = 1 } }"}, seconds=120),
    Case("copies", "POST", "/_reindex", {"source": {"index": "fat"}, "dest": {"index": "thin"}}, cleanup=[("DELETE", "/thin")], seconds=60, clients=2),
    Case("tiles", "POST", "/fat/_mvt/p/0/0/0", {"size": 10_000, "grid_precision": 8, "fields": ["*"], "exact_bounds": True}, seconds=60),
    Case("tiles_of_shapes", "POST", "/fat/_mvt/s/0/0/0", {"size": 10_000, "grid_precision": 8, "grid_type": "grid", "extent": 65_536}, seconds=60),
    Case("terms_listed", "POST", "/fat/_terms_enum", {"field": "k", "string": "K", "case_insensitive": True, "size": 10_000}, OK + REFUSED),
]
