"""What a search, its aggregations, its hits and their rendering make of a small request."""

from case import OK, REFUSED, Case, Lines

LONG_MAX = 9223372036854775807
KEYS = 20_000
ANSWERED_OR_REFUSED = OK + REFUSED
REFUSED_ONLY = (400, 429)


def documents():
    items = []
    for n in range(KEYS):
        items.append({"index": {"_id": str(n)}})
        items.append({"k": f"key{n}", "n": n, "d": n * 3_600_000, "t": f"hello world {n}", "g": f"group{n % 500}"})
    return Lines(items)


def long_texts():
    words = "a " * 150_000
    items = []
    for n in range(8):
        items += [{"index": {"_id": str(n)}}, {"t": words, "v": words}]
    return Lines(items)


SETUP = [
    ("PUT", "/i", {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0},
        "mappings": {"properties": {"k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}, "t": {"type": "text"},
                                    "g": {"type": "keyword"}, "p": {"type": "geo_point"}, "s": {"type": "geo_shape"}}}}),
    ("POST", "/i/_bulk?refresh=true", documents),
    ("PUT", "/long", {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0},
        "mappings": {"properties": {"t": {"type": "text"},
                                    "v": {"type": "text", "term_vector": "with_positions_offsets"}}}}),
    ("POST", "/long/_bulk?refresh=true", long_texts),
]


def search(name, body, expect=ANSWERED_OR_REFUSED, index="i", **more):
    return Case(name, "POST", f"/{index}/_search", body, expect, **more)


def buckets(name, subs, size=KEYS, expect=ANSWERED_OR_REFUSED, **more):
    """Aggregations inside of as many buckets as there are documents."""
    return search(name, lambda: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": size}, "aggs": subs()}}}, expect, **more)


def maxes(count, meta=None):
    meta = {"meta": meta} if meta else {}
    return {f"m{n}": {"max": {"field": "n"}, **meta} for n in range(count)}


AGGREGATIONS = [
    buckets("names", lambda: {"x" * 100_000: {"max": {"field": "n"}}}),
    buckets("names_of_several", lambda: {f"{n}" + "x" * 10_000: {"max": {"field": "n"}} for n in range(10)}),
    buckets("meta", lambda: maxes(1, {"m": "x" * 100_000})),
    buckets("meta_of_many_members", lambda: maxes(1, {f"m{n}": n for n in range(5_000)})),
    buckets("range_keys", lambda: {"r": {"range": {"field": "n", "ranges": [{"key": "x" * 50_000, "from": 0}]}}}),
    buckets("keyed_range_keys", lambda: {"r": {"range": {"field": "n", "keyed": True, "ranges": [{"key": "x" * 50_000, "to": 5}]}}}),
    buckets("filters_keys", lambda: {"f": {"filters": {"filters": {"x" * 50_000: {"match_all": {}}}}}}),
    buckets("filters_other_key", lambda: {"f": {"filters": {"other_bucket_key": "x" * 50_000, "filters": {"a": {"match_all": {}}}}}}),
    buckets("formats", lambda: {"m": {"max": {"field": "n", "format": "0" + "'x'" * 20_000}}}),
    buckets("date_formats", lambda: {"m": {"max": {"field": "d", "format": "yyyy'" + "x" * 50_000 + "'"}}}),
    buckets("percents", lambda: {"p": {"percentiles": {"field": "n", "percents": [n / 20 for n in range(1_000)]}}}),
    buckets("percents_as_list", lambda: {"p": {"percentiles": {"field": "n", "keyed": False, "percents": [n / 20 for n in range(1_000)]}}}),
    buckets("percentile_ranks", lambda: {"p": {"percentile_ranks": {"field": "n", "values": list(range(1_000))}}}),
    buckets("hdr", lambda: {"p": {"percentiles": {"field": "n", "hdr": {"number_of_significant_value_digits": 5}}}}),
    buckets("cardinality", lambda: {"c": {"cardinality": {"field": "k", "precision_threshold": 40_000}}}),
    buckets("many_metrics", lambda: maxes(1_000)),
    buckets("extended_stats", lambda: {f"e{n}": {"extended_stats": {"field": "n", "format": "0.000000000000"}} for n in range(50)}),
    buckets("top_hits", lambda: {"t": {"top_hits": {"size": 100}}}, seconds=120),
    buckets("top_hits_of_groups", lambda: {"t": {"top_hits": {"size": 10, "script_fields": {
        "x" * 10_000: {"script": "doc['k'].value"}}}}}),
    buckets("top_hits_explained", lambda: {"t": {"top_hits": {"size": 3, "explain": True}}}, seconds=120),
    buckets("top_hits_named", lambda: {"t": {"top_hits": {"size": 1, "sort": [{"n": "asc"}] * 50}}}),
    buckets("nested_filters", lambda: {"f": {"filters": {"filters": {f"f{n}": {"match_all": {}} for n in range(200)}}}}),
    buckets("adjacency", lambda: {"a": {"adjacency_matrix": {"filters": {f"f{n}": {"match_all": {}} for n in range(30)}}}}, seconds=120),
    buckets("missing_value", lambda: {"t": {"terms": {"field": "g", "missing": "x" * 30_000}}}),
    buckets("missing_field", lambda: {"t": {"terms": {"field": "nothing", "missing": "x" * 100_000}}}),
    buckets("scripted_metric", lambda: {"s": {"scripted_metric": {
        "init_script": "state.l = []", "map_script": "for (int i = 0; i < 1000; i++) { state.l.add('xxxxxxxxxxxxxxxx' + i) }",
        "combine_script": "return state.l", "reduce_script": "return states"}}}),
    search("scripted_metric_text", {"size": 0, "aggs": {"s": {"scripted_metric": {
        "init_script": "state.t = 'x'", "map_script": "state.t = state.t + state.t", "combine_script": "return state.t",
        "reduce_script": "return states"}}}}),
    search("scripted_metric_reduce", {"size": 0, "aggs": {"s": {"scripted_metric": {
        "map_script": "1", "combine_script": "1", "reduce_script": "int i = 0; while (true) { i++ }"}}}}, REFUSED_ONLY),
    search("composite_names", lambda: {"size": 0, "aggs": {"c": {"composite": {"size": 10_000, "sources": [
        {"x" * 100_000: {"terms": {"field": "k"}}}]}}}}),
    search("composite_sources", lambda: {"size": 0, "aggs": {"c": {"composite": {"size": 10_000, "sources": [
        {f"s{n}" + "x" * 1_000: {"terms": {"field": "k"}}} for n in range(100)]}}}}),
    search("composite_format", lambda: {"size": 0, "aggs": {"c": {"composite": {"size": 10_000, "sources": [
        {"s": {"date_histogram": {"field": "d", "fixed_interval": "1h", "format": "yyyy'" + "x" * 50_000 + "'"}}}]}}}}),
    search("histogram_format", lambda: {"size": 0, "aggs": {"h": {"date_histogram": {
        "field": "d", "fixed_interval": "1h", "format": "yyyy'" + "x" * 50_000 + "'"}}}}),
    search("histogram_format_keyed", lambda: {"size": 0, "aggs": {"h": {"date_histogram": {
        "field": "d", "fixed_interval": "1h", "keyed": True, "format": "yyyy-MM-dd'T'HH'" + "x" * 50_000 + "'"}}}}),
    search("gaps", {"size": 0, "aggs": {"h": {"histogram": {
        "field": "n", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": -1e15, "max": 1e15}}}}}, REFUSED_ONLY),
    search("gaps_of_dates", {"size": 0, "aggs": {"h": {"date_histogram": {
        "field": "d", "fixed_interval": "1ms", "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 4e12}}}}}, REFUSED_ONLY),
    search("gaps_with_subs", lambda: {"size": 0, "aggs": {"h": {"histogram": {
        "field": "n", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 60_000}},
        "aggs": {"x" * 100_000: {"max": {"field": "n"}}}}}}),
    search("gaps_with_filters", lambda: {"size": 0, "aggs": {"h": {"histogram": {
        "field": "n", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 60_000}},
        "aggs": {"f": {"filters": {"filters": {f"f{n}": {"match_all": {}} for n in range(100)}}}}}}}),
    search("multi_terms", lambda: {"size": 0, "aggs": {"m": {"multi_terms": {"size": KEYS, "terms": [{"field": "k"}] * 50}}}}),
    search("ranges", lambda: {"size": 0, "aggs": {"r": {"range": {"field": "n", "ranges": [
        {"from": n, "key": f"{n}" + "x" * 1_000} for n in range(10_000)]}}}}),
    search("ip_ranges", lambda: {"size": 0, "aggs": {"r": {"terms": {"field": "k", "size": 5_000}, "aggs": {"q": {"ip_range": {
        "field": "k", "ranges": [{"mask": "10.0.0.0/8"}]}}}}}}),
    search("significant", {"size": 0, "query": {"match_all": {}}, "aggs": {"s": {"significant_terms": {"field": "k", "size": KEYS,
        "min_doc_count": 1}, "aggs": {"x" * 20_000: {"max": {"field": "n"}}}}}}),
    search("pipelines", lambda: {"size": 0, "aggs": {"h": {"histogram": {"field": "n", "interval": 1, "min_doc_count": 0}, "aggs": {
        "m": {"max": {"field": "n"}},
        **{f"p{n}": {"moving_fn": {"buckets_path": "m", "window": 1_000, "script": "MovingFunctions.max(values)"}}
           for n in range(20)}}}}}, seconds=60),
    search("pipeline_scripts", lambda: {"size": 0, "aggs": {"h": {"histogram": {"field": "n", "interval": 1, "min_doc_count": 0}, "aggs": {
        "m": {"max": {"field": "n"}},
        "p": {"bucket_script": {"buckets_path": {"m": "m"}, "script": "int s = 0; for (int i = 0; i < 900000; i++) { s += i } return s"}}}}}},
        hang_up=1.0),
    search("pipeline_percents", lambda: {"size": 0, "aggs": {
        "h": {"terms": {"field": "g", "size": 500}, "aggs": {
            "d": {"date_histogram": {"field": "d", "fixed_interval": "100d"}, "aggs": {"m": {"max": {"field": "n"}}}},
            "p": {"percentiles_bucket": {"buckets_path": "d>m", "percents": [n / 20 for n in range(1_000)]}}}}}}),
    search("depth", lambda: {"size": 0, "aggs": deep_aggregations(50)}),
    search("sums_of_sums", lambda: {"size": 0, "aggs": {f"a{n}": {"terms": {"field": "k", "size": KEYS}} for n in range(500)}}, seconds=90),
    search("string_stats", {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": KEYS}, "aggs": {
        "s": {"string_stats": {"field": "k", "show_distribution": True}}}}}}),
    Case("max_buckets_raised", "POST", "/i/_search", lambda: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": KEYS}, "aggs": {
        "h": {"histogram": {"field": "n", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 1_000_000}}}}}}},
        ANSWERED_OR_REFUSED, setup=[("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": 2_000_000_000}})],
        cleanup=[("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": None}})]),
    Case("max_buckets_raised_dates", "POST", "/i/_search", {"size": 0, "aggs": {"h": {"date_histogram": {
        "field": "d", "fixed_interval": "1ms", "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 4e12}}}}},
        ANSWERED_OR_REFUSED, setup=[("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": 2_000_000_000}})],
        cleanup=[("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": None}})]),
    search("typed_keys", lambda: {"size": 0, "aggs": {"b": {"terms": {"field": "k", "size": KEYS}, "aggs": {
        "x" * 20_000: {"value_count": {"field": "k"}}}}}}),
]


def deep_aggregations(depth):
    inner = {"m": {"max": {"field": "n"}}}
    for level in range(depth - 1):
        inner = {f"a{level}" + "x" * 1_000: {"terms": {"field": "g", "size": 500}, "aggs": inner}}
    return inner


POISONED = [("PUT", "/poisoned", {"settings": {"number_of_shards": 1, "number_of_replicas": 0},
                                  "mappings": {"properties": {"d": {"type": "date"}, "x": {"type": "date_range"}}}}),
            ("PUT", "/poisoned/_doc/1?refresh=true", {"d": LONG_MAX}),
            ("PUT", "/poisoned/_doc/2?refresh=true", {"d": 0}),
            ("PUT", "/poisoned/_doc/3?refresh=true", {"d": -LONG_MAX})]

DATES = [
    search(f"{kind}_{interval}_{zone.replace('/', '_')}", {"size": 0, "aggs": {"h": {kind: {
        "field": "d", **({"buckets": 10} if kind == "auto_date_histogram" else {"calendar_interval": interval}),
        "time_zone": zone}}}}, ANSWERED_OR_REFUSED, index="poisoned", setup=POISONED, seconds=5)
    for kind in ("date_histogram", "auto_date_histogram")
    for interval in ("month", "year", "day", "week")
    for zone in ("Europe/Berlin", "UTC", "+05:30")
    if kind == "date_histogram" or interval == "month"
] + [
    search("only_the_last_instant", {"size": 0, "query": {"term": {"d": LONG_MAX}}, "aggs": {"h": {"date_histogram": {
        "field": "d", "calendar_interval": "month", "time_zone": "Europe/Berlin"}}}}, ANSWERED_OR_REFUSED, index="poisoned",
        setup=[POISONED[0], POISONED[1]], seconds=5),
    search("offset", {"size": 0, "aggs": {"h": {"date_histogram": {
        "field": "d", "calendar_interval": "month", "offset": "-100000000d"}}}}, index="poisoned", setup=POISONED, seconds=5),
]

HITS = [
    search("inner_hits_names", lambda: {"size": 5_000, "collapse": {"field": "k", "inner_hits": {"name": "x" * 100_000, "size": 1}}}, seconds=90),
    search("inner_hits_of_many", lambda: {"size": 500, "collapse": {"field": "g", "inner_hits": [
        {"name": f"i{n}", "size": 40} for n in range(4)]}}, seconds=120),
    search("explain", lambda: {"size": 10_000, "explain": True, "query": {"bool": {"should": [
        {"match": {"t": "hello"}} for _ in range(500)]}}}, seconds=60),
    search("named_queries", lambda: {"size": 10_000, "query": {"bool": {"should": [
        {"match_all": {"_name": f"{n}" + "x" * 10_000}} for n in range(50)]}}}, seconds=60),
    search("script_fields", lambda: {"size": 10_000, "script_fields": {"x" * 50_000: {"script": "1"}}}),
    search("script_field_values", {"size": 10_000, "script_fields": {"f": {"script":
        "String s = 'x'; for (int i = 0; i < 14; i++) { s += s } return s"}}}),
    search("fields_formats", lambda: {"size": 10_000, "fields": [{"field": "d", "format": "yyyy'" + "x" * 50_000 + "'"}]}),
    search("docvalue_formats", lambda: {"size": 10_000, "docvalue_fields": [{"field": "d", "format": "yyyy'" + "x" * 50_000 + "'"}]}),
    search("fields_patterns", lambda: {"size": 10_000, "fields": [f"*{'*'.join('abcdefghij')}{n}*" for n in range(5_000)]}, seconds=60),
    search("docvalue_patterns", lambda: {"size": 100, "docvalue_fields": ["*"] * 100}),
    search("source_patterns", lambda: {"size": 10_000, "_source": {"includes": [f"*a*b*c{n}*" for n in range(500)]}}, seconds=60),
    search("source_excludes", lambda: {"size": 10_000, "_source": {"excludes": ["*" + "a*" * 100] * 1_000}}, seconds=60),
    search("stored_fields", lambda: {"size": 10_000, "stored_fields": [f"f{n}" for n in range(500)]}),
    search("sort_values", lambda: {"size": 10_000, "sort": [{"k": {"order": "asc", "missing": "x" * 1_000}}] * 200}),
    search("sort_missing", lambda: {"size": 10_000, "sort": [{"nothing": {"unmapped_type": "keyword", "missing": "x" * 100_000}}]}),
    search("sort_formats", lambda: {"size": 10_000, "sort": [{"d": {"order": "asc", "format": "yyyy'" + "x" * 50_000 + "'"}}]}),
    search("runtime_fields", lambda: {"size": 10_000, "fields": ["r"], "runtime_mappings": {"r": {"type": "keyword", "script":
        "for (int i = 0; i < 90; i++) { emit('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' + i) }"}}}, seconds=60),
    search("sort_by_script", {"size": 10, "sort": [{"_script": {"type": "number", "script":
        "int s = 0; for (int i = 0; i < 900000; i++) { s += i } return s"}}]}, hang_up=1.0),
    search("highlight_tags", lambda: {"size": 8, "query": {"match": {"t": "a"}}, "highlight": {
        "pre_tags": ["x" * 100_000], "post_tags": ["y"], "fields": {"t": {"number_of_fragments": 0}}}}, index="long", seconds=60),
    search("highlight_tags_plain", lambda: {"size": 8, "query": {"match": {"t": "a"}}, "highlight": {
        "pre_tags": ["x" * 100_000], "post_tags": ["y"], "fields": {"t": {"type": "plain", "number_of_fragments": 0}}}}, index="long", seconds=60),
    search("highlight_tags_vectors", lambda: {"size": 8, "query": {"match": {"v": "a"}}, "highlight": {
        "pre_tags": ["x" * 100_000], "post_tags": ["y"], "fields": {"v": {"type": "fvh", "number_of_fragments": 0}}}}, index="long", seconds=60),
    search("highlight_fragments", {"size": 8, "query": {"match": {"t": "a"}}, "highlight": {
        "fields": {"t": {"type": "plain", "fragment_size": 1, "number_of_fragments": 1_000_000}}}}, index="long", seconds=60),
    search("highlight_no_match", {"size": 8, "highlight": {"fields": {"t": {"no_match_size": 2_000_000_000}}}}, index="long"),
    search("highlight_patterns", lambda: {"size": 8, "query": {"match": {"t": "a"}}, "highlight": {
        "fields": {"*" * n: {} for n in range(1, 20)}}}, index="long", seconds=60),
]

QUERIES = [
    search("fuzzy_100k", lambda: {"query": {"fuzzy": {"k": {"value": "ab" * 50_000, "fuzziness": 2}}}}),
    search("fuzzy_match_100k", lambda: {"query": {"match": {"t": {"query": "ab" * 50_000, "fuzziness": 2}}}}),
    search("fuzzy_30k", lambda: {"query": {"fuzzy": {"k": {"value": "ab" * 15_000, "fuzziness": 2}}}}, seconds=60),
    search("fuzzy_many", lambda: {"query": {"bool": {"should": [
        {"fuzzy": {"k": {"value": f"key{n}" + "x" * 200, "fuzziness": 2}}} for n in range(1_000)]}}}, seconds=120),
    search("query_string_fuzzy", lambda: {"query": {"query_string": {"default_field": "t", "query": "ab" * 50_000 + "~2"}}}),
    search("terms_many", lambda: {"query": {"terms": {"k": [f"key{n}" for n in range(65_536)]}}}),
    search("terms_too_many", lambda: {"query": {"terms": {"k": [f"key{n}" for n in range(65_537)]}}}, REFUSED_ONLY),
    search("terms_long", lambda: {"query": {"terms": {"k": ["x" * 30_000 + str(n) for n in range(100)]}}}),
    search("ids", lambda: {"query": {"ids": {"values": [str(n) for n in range(300_000)]}}}),
    search("bool_tree", lambda: {"query": tree(10)}, seconds=60),
    search("clauses", lambda: {"query": {"bool": {"should": [{"term": {"k": f"key{n}"}} for n in range(1_024)]}}}),
    search("too_many_clauses", lambda: {"query": {"bool": {"should": [{"term": {"k": f"key{n}"}} for n in range(100_000)]}}}),
    search("query_string_long", lambda: {"query": {"query_string": {"query": "a OR " * 50_000 + "a"}}}),
    search("query_string_stars", lambda: {"query": {"query_string": {"default_field": "k", "query": "*" + "a*" * 500}}}),
    search("wildcard", lambda: {"query": {"wildcard": {"k": {"value": "*a" * 2_000 + "*"}}}}),
    search("regexp", {"query": {"regexp": {"k": {"value": "(.*a){1,50}.{1,200}", "max_determinized_states": 2_000_000_000}}}}),
    search("error_text", lambda: {"query": {"x" * 1_000_000: {}}}, REFUSED_ONLY),
    search("error_text_field", lambda: {"query": {"range": {"n": {"gte": "x" * 1_000_000}}}}, REFUSED_ONLY),
    search("error_text_query_string", lambda: {"query": {"query_string": {"query": "(" + "x" * 1_000_000}}}),
    search("scores_nan", {"query": {"script_score": {"query": {"match_all": {}}, "script": "Double.NaN"}}}, REFUSED_ONLY),
    search("scores_negative", {"query": {"script_score": {"query": {"match_all": {}}, "script": "-1"}}}, REFUSED_ONLY),
    search("scores_function_nan", {"query": {"function_score": {"script_score": {"script": "0.0 / 0.0"}}}}, REFUSED_ONLY),
    search("field_value_missing", {"query": {"function_score": {"field_value_factor": {"field": "n", "modifier": "ln"}}}}),
    search("wkt", {"query": {"geo_shape": {"s": {"shape": "POLYGON ((0 0, x"}}}}, REFUSED_ONLY),
    search("wkt_of_nothing", {"query": {"geo_shape": {"s": {"shape": "x" * 100_000}}}}, REFUSED_ONLY),
    search("tall_edges", lambda: {"query": {"geo_shape": {"s": {"shape": {"type": "linestring", "coordinates": [
        [n * 170 / 100_000, (n % 2) * 170 - 85] for n in range(100_000)]}}}}}),
    search("tall_polygon", lambda: {"query": {"geo_shape": {"p": {"shape": {"type": "polygon", "coordinates": [zigzag(100_000)]}}}}}),
    search("many_polygons", lambda: {"query": {"geo_shape": {"s": {"shape": {"type": "multipolygon", "coordinates": [
        [[[0, 0], [n / 1e4, 0], [n / 1e4, 1], [0, 0]]] for n in range(1, 30_000)]}}}}}),
    search("equal_points", lambda: {"query": {"geo_shape": {"s": {"shape": {"type": "polygon", "coordinates": [
        [[0, 0], [1, 0]] + [[1, 1]] * 100_000 + [[0, 0]]]}}}}}),
    search("script_replace_all", {"size": 8, "script_fields": {"f": {"script":
        "/a*b|a/.matcher(params._source.t.replace(' ', '')).replaceAll('c')"}}}, index="long", seconds=60),
    search("script_backtracking", {"size": 8, "script_fields": {"f": {"script":
        "/(?=(a+)+b)a/.matcher(params._source.t.replace(' ', '')).replaceAll('c')"}}}, index="long", seconds=60),
    search("script_growth", {"size": 8, "script_fields": {"f": {"script":
        "/a/.matcher(params._source.t).replaceAll('" + "x" * 1_000 + "')"}}}, index="long", seconds=60),
    search("script_loops", {"size": 1_000, "script_fields": {"f": {"script":
        "int s = 0; for (int i = 0; i < 999999; i++) { s += i } return s"}}}, hang_up=1.0),
    Case("script_cache", "POST", "/_msearch", lambda: Lines([
        line for n in range(60)
        for line in ({"index": "ordinary"}, {"size": 1, "script_fields": {"f": {
            "script": f"/(?:[a-z]{{1,60}}){{1,60}}{n}/.matcher('abc').find()"}}})]), seconds=120),
]


def tree(depth):
    query = {"term": {"k": "key1"}}
    for _ in range(depth):
        query = {"bool": {"should": [query, query]}}
    return query


def zigzag(count):
    ring = [[n * 90 / count, (n % 2) * 100 - 50] for n in range(count)]
    return ring + [[91, -60], [0, -60], ring[0]]


def large_document():
    return {"v": [f"value{n}" for n in range(100_000)]}


LOOKUPS = [("PUT", "/lookups", {"mappings": {"properties": {"v": {"type": "keyword", "index": False, "doc_values": False}}}}),
           ("PUT", "/lookups/_doc/1?refresh=true", large_document)]

MANY = [
    search("terms_lookups", lambda: {"query": {"bool": {"should": [
        {"terms": {"k": {"index": "lookups", "id": "1", "path": "v"}}} for _ in range(1_000)]}}}, setup=LOOKUPS, seconds=60),
    Case("msearch_many", "POST", "/_msearch", lambda: Lines([
        line for _ in range(5_000) for line in ({"index": "i"}, {"size": 100})]), seconds=120),
    Case("msearch_errors", "POST", "/_msearch", lambda: Lines([
        line for _ in range(5_000) for line in ({"index": "i"}, {"query": {"x" * 2_000: {}}})]), seconds=90),
    Case("msearch_missing", "POST", "/_msearch", lambda: Lines([
        line for _ in range(9_000) for line in ({"index": "x" * 200}, {})])),
    search("large_page", {"size": 10_000, "_source": True, "version": True, "seq_no_primary_term": True}),
    Case("large_pages", "POST", "/i/_search", {"size": 10_000}, clients=16),
    Case("pretty", "POST", "/i/_search?pretty", {"size": 10_000}, clients=8),
    Case("yaml", "POST", "/i/_search?format=yaml", {"size": 10_000}, clients=4),
    Case("filter_path", "POST", "/i/_search?filter_path=**.k", {"size": 10_000}, clients=4),
    Case("scrolls", "POST", "/i/_search?scroll=1m", {"size": 1, "query": {"terms": {"k": [f"key{n}" for n in range(1_000)]}}}, clients=64,
         cleanup=[("DELETE", "/_search/scroll/_all")]),
    Case("async_searches", "POST", "/i/_async_search?keep_on_completion=true&keep_alive=10s", {"size": 5_000}, clients=32),
    Case("hang_ups", "POST", "/i/_search", {"size": 0, "query": {"script_score": {"query": {"match_all": {}}, "script":
        "int s = 0; for (int i = 0; i < 2000; i++) { s += i } return s"}}}, hang_up=0.3, clients=300),
    Case("cat_sort", "GET", "/_cat/indices?s=nothing", None, 400),
    Case("terms_enum", "POST", "/i/_terms_enum", {"field": "k", "string": "k", "size": 10_000}),
    Case("explain_api", "POST", "/i/_explain/1", lambda: {"query": {"bool": {"should": [
        {"match": {"t": "hello " * 100}} for _ in range(200)]}}}),
    Case("validate", "POST", "/i/_validate/query?explain=true", lambda: {"query": {"terms": {"k": ["x" * 1_000] * 5_000}}}),
    Case("count", "POST", "/i/_count", lambda: {"query": {"terms": {"k": [f"key{n}" for n in range(60_000)]}}}),
    Case("rank_eval", "POST", "/i/_rank_eval", lambda: {
        "requests": [{"id": f"r{n}", "request": {"query": {"match_all": {}}}, "ratings": []} for n in range(500)],
        "metric": {"precision": {"k": 10}}}),
]

CASES = AGGREGATIONS + DATES + HITS + QUERIES + MANY
