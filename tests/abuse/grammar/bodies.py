"""Bodies by the grammar of the server's tables: valid ones, with parts that are replaced, multiplied, nested and repeated."""

from . import tables
from .values import DATES, FIELDS, FLOATS, INTEGERS, PATTERNS, RAW, SCRIPTS, SHAPES, TEXTS, UNITS, Raw, text, value

NUMBERS = INTEGERS + FLOATS
# What a parameter of this name usually takes.
BY_NAME = {
    "field": FIELDS, "fields": [["t"], ["*"], ["t", "k", "n"] * 100, "t", ["t^3"], [f"x{n}*" for n in range(500)]], "format": ["yyyy", "yyyy" * 300, "||".join(["yyyy-MM-dd"] * 100), "epoch_millis", "0.000", "#" * 5_000, "'x'" * 2_000],
    "script": [{"source": source} for source in SCRIPTS] + SCRIPTS, "source": SCRIPTS, "time_zone": ["UTC", "Europe/Berlin", "+18:00", "-99:99", "x" * 999], "interval": NUMBERS + UNITS, "pattern": PATTERNS, "value": TEXTS + DATES,
    "fixed_interval": UNITS, "calendar_interval": ["month", "1M", "1ms", "year", "second", "99M"], "offset": UNITS + INTEGERS, "shape": SHAPES, "regexp": PATTERNS, "include": PATTERNS, "exclude": PATTERNS, "minimum_should_match": INTEGERS + ["100%", "-9999%", "3<90%", "2<-25% 9<-3"],
    "gte": DATES + NUMBERS, "lte": DATES + NUMBERS, "order": ["asc", {"_key": "desc"}, [{"m": "asc"}] * 50, {"nothing": "asc"}], "buckets_path": ["m", "_count", "x>y.z", {"a": "m"}, ">" * 500], "missing": [0, "x" * 5_000, None, NUMBERS[-1]],
}


def parameter(random, name):
    if name in BY_NAME and random.random() < 0.8:
        return random.choice(BY_NAME[name])
    if random.random() < 0.05:
        return Raw(random.choice(RAW))
    if any(part in name for part in ("size", "count", "limit", "max", "min", "window", "precision", "length", "slop", "buckets", "shard", "expansions", "edits", "boost", "from", "gram")) and random.random() < 0.7:
        return random.choice(NUMBERS)
    return value(random)


def with_parameters(random, body, words, chance=0.5):
    """Some of the words that the parsers know, with any value."""
    while random.random() < chance:
        name = random.choice(words)
        body[name] = parameter(random, name)
    return body


def field(random, *good):
    return random.choice(good) if good and random.random() < 0.85 else random.choice(FIELDS)


def query(random, depth=0):
    words = tables.words("search", "src", "query")
    if depth > 4:
        return {"match_all": {}}
    name = random.choice(tables.queries())
    inner = lambda: query(random, depth + 1)
    several = lambda: [inner()] * random.choice([1, 2, 3, 300]) if random.random() < 0.5 else [inner() for _ in range(random.choice([1, 2, 5]))]
    word = random.choice(TEXTS)
    bodies = {
        "bool": lambda: {part: several() for part in random.sample(["must", "should", "filter", "must_not"], random.randint(1, 3))}, "boosting": lambda: {"positive": inner(), "negative": inner(), "negative_boost": 0.5},
        "constant_score": lambda: {"filter": inner()}, "dis_max": lambda: {"queries": several(), "tie_breaker": random.choice(FLOATS)}, "combined_fields": lambda: {"query": word, "fields": ["t"]},
        "distance_feature": lambda: {"field": field(random, "d", "p"), "origin": random.choice(DATES), "pivot": random.choice(UNITS)}, "exists": lambda: {"field": field(random)},
        "function_score": lambda: {"query": inner(), "functions": [random.choice([{"weight": random.choice(NUMBERS)}, {"script_score": {"script": random.choice(SCRIPTS)}}, {"random_score": {"seed": 1, "field": "n"}},
                                  {"field_value_factor": {"field": "n", "modifier": "ln", "factor": random.choice(NUMBERS)}}, {"gauss": {"d": {"origin": random.choice(DATES), "scale": random.choice(UNITS)}}}])] * random.choice([1, 3, 500])},
        "fuzzy": lambda: {field(random, "k", "t"): {"value": word[:300], "fuzziness": random.choice([0, 1, 2, "AUTO", 99])}}, "geo_bounding_box": lambda: {"p": {"top_left": "40,-70", "bottom_right": random.choice(["30,-60", "90,180", [1e308, 1]])}},
        "geo_distance": lambda: {"distance": random.choice(["1km", "1e300km", "-1m"]), "p": random.choice(["1,1", [0, 0], {"lat": 91, "lon": 1}])}, "geo_polygon": lambda: {"p": {"points": [[n % 9, n % 7] for n in range(random.choice([3, 2_000]))]}},
        "geo_shape": lambda: {"s": {"shape": random.choice(SHAPES), "relation": random.choice(["intersects", "within", "disjoint", "contains"])}}, "geo_grid": lambda: {"p": {"geotile": "6/32/50"}},
        "has_child": lambda: {"type": "child", "query": inner(), "score_mode": "sum"}, "has_parent": lambda: {"parent_type": "parent", "query": inner()}, "parent_id": lambda: {"type": "child", "id": word[:200]},
        "shape": lambda: {"s": {"shape": random.choice(SHAPES), "relation": random.choice(["intersects", "within"])}, "ignore_unmapped": True},
        "ids": lambda: {"values": [str(n) for n in range(random.choice([1, 10_000]))]}, "intervals": lambda: {"t": intervals(random, 0)}, "match_all": dict, "match_none": dict,
        "match": lambda: {field(random, "t", "k", "n"): {"query": word, "fuzziness": random.choice([0, 2, "AUTO"])}}, "multi_match": lambda: {"query": word, "fields": random.choice(BY_NAME["fields"]), "type": random.choice(
            ["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"])}, "more_like_this": lambda: {"fields": ["t"], "like": random.choice([word, [word] * 50, [{"_index": "g", "_id": "1"}] * 500]), "min_term_freq": 1},
        "nested": lambda: {"path": field(random, "c"), "query": inner(), "inner_hits": {}}, "percolate": lambda: {"field": "q", "document": {"t": word}}, "prefix": lambda: {field(random, "k", "t"): word[:500]},
        "query_string": lambda: {"query": random.choice([word, "t:(" + word[:2_000] + ")", "/" + random.choice(PATTERNS) + "/", word[:50] + "~2", "(" * 500, "k:[a TO z] " * 500, "_exists_:t"])},
        "simple_query_string": lambda: {"query": random.choice([word, word[:50] + "~2", "(" * 500, "\"a b\"~99999"]), "fields": ["t"]}, "range": lambda: {field(random, "n", "d", "k", "r", "ip"): {"gte": random.choice(DATES + NUMBERS), "lte": random.choice(DATES + NUMBERS)}},
        "regexp": lambda: {field(random, "k", "t"): {"value": random.choice(PATTERNS), "max_determinized_states": random.choice(INTEGERS)}}, "script": lambda: {"script": random.choice(SCRIPTS)}, "script_score": lambda: {"query": inner(), "script": {"source": random.choice(SCRIPTS)}},
        "span_near": lambda: {"clauses": [span(random, depth + 1)] * random.choice([2, 3, 200]), "slop": random.choice(INTEGERS), "in_order": False}, "span_or": lambda: {"clauses": [span(random, depth + 1)] * random.choice([1, 100])},
        "span_first": lambda: {"match": span(random, depth + 1), "end": 5}, "span_not": lambda: {"include": span(random, depth + 1), "exclude": span(random, depth + 1)}, "span_term": lambda: {"t": "hello"},
        "span_multi": lambda: {"match": {"wildcard": {"t": {"value": random.choice(PATTERNS)}}}}, "span_containing": lambda: {"big": span(random, depth + 1), "little": span(random, depth + 1)}, "span_within": lambda: {"big": span(random, depth + 1), "little": span(random, depth + 1)},
        "term": lambda: {field(random, "k", "n", "t", "d", "ip", "f.a"): random.choice(TEXTS + DATES + NUMBERS)}, "terms": lambda: {field(random, "k", "n"): [f"key{n}" for n in range(random.choice([1, 100, 60_000]))]},
        "terms_set": lambda: {"k": {"terms": ["key1"] * random.choice([1, 2_000]), "minimum_should_match_script": {"source": random.choice(SCRIPTS)}}}, "wildcard": lambda: {field(random, "k", "t"): {"value": random.choice(PATTERNS) * random.choice([1, 20])}},
        "wrapper": lambda: {"query": random.choice(["e30=", "x", "eyJtYXRjaF9hbGwiOnt9fQ=="])},
    }
    if name.startswith("match_"):
        body = bodies.get(name, lambda: {field(random, "t", "k"): {"query": word[:2_000]}})()
    else:
        body = bodies.get(name, dict)()
    if random.random() < 0.25:
        place = body
        inside = [member for member in body.values() if isinstance(member, dict)]
        if inside and random.random() < 0.6:
            place = random.choice(inside)
        with_parameters(random, place, words)
    return {name: body}


def span(random, depth):
    if depth > 5 or random.random() < 0.5:
        return random.choice([{"span_term": {"t": "hello"}}, {"span_multi": {"match": {"prefix": {"t": "w"}}}}])
    found = query(random, 4)
    return {"span_or": {"clauses": [span(random, depth + 1)]}} if not next(iter(found)).startswith("span") else found


def intervals(random, depth):
    if depth > 5 or random.random() < 0.4:
        return random.choice([{"match": {"query": random.choice(TEXTS)[:3_000]}}, {"prefix": {"prefix": "h"}}, {"wildcard": {"pattern": random.choice(PATTERNS)}}, {"fuzzy": {"term": "hello"}}])
    several = [intervals(random, depth + 1)] * random.choice([1, 2, 100])
    return random.choice([{"all_of": {"intervals": several, "max_gaps": random.choice(INTEGERS)}}, {"any_of": {"intervals": several, "filter": {"not_containing": intervals(random, depth + 1)}}}])


def aggregations(random, depth=0):
    count = random.choice([1, 1, 2, 100 if depth == 0 else 3])
    one = {f"a{n}": aggregation(random, depth) for n in range(min(count, 3))}
    for n in range(3, count):
        one[f"a{n}"] = one["a0"]
    one["m"] = {"max": {"field": "n"}}
    if random.random() < 0.03:
        one["x" * 50_000] = {"max": {"field": "n"}}
    return one


def aggregation(random, depth):
    words = tables.words("search", "src", "aggregation")
    name = random.choice(tables.aggregations())
    one = field(random, "k", "n", "d", "p", "ip", "t", "f.a", "c.x")
    size = random.choice([1, 10, 1_000, 10_000, 2**31 - 1, -1, 0])
    bodies = {
        "terms": lambda: {"field": one, "size": size}, "multi_terms": lambda: {"terms": [{"field": "k"}, {"field": "n"}] * random.choice([1, 20]), "size": size}, "composite": lambda: {"size": size, "sources": [{f"s{n}": {"terms": {"field": "k"}}} for n in range(random.choice([1, 3, 50]))]},
        "histogram": lambda: {"field": "n", "interval": random.choice([1, 0.001, 1e-300, 1e300, 0, -1]), "min_doc_count": random.choice([0, 1])}, "date_histogram": lambda: {"field": "d", random.choice(["fixed_interval", "calendar_interval"]): random.choice(["1h", "1ms", "month", "1d"]), "time_zone": random.choice(BY_NAME["time_zone"])},
        "auto_date_histogram": lambda: {"field": "d", "buckets": size}, "variable_width_histogram": lambda: {"field": "n", "buckets": size}, "range": lambda: {"field": "n", "ranges": [{"from": n} for n in range(random.choice([1, 2_000]))]},
        "date_range": lambda: {"field": "d", "ranges": [{"from": random.choice(DATES), "to": random.choice(DATES)}] * random.choice([1, 500])}, "ip_range": lambda: {"field": "ip", "ranges": [{"mask": random.choice(["10.0.0.0/8", "::/0", "0.0.0.0/0", "1.2.3.4/99"])}]},
        "filter": lambda: query(random, 3), "filters": lambda: {"filters": {f"f{n}": query(random, 4) for n in range(3)}, "other_bucket_key": random.choice(TEXTS)}, "adjacency_matrix": lambda: {"filters": {f"f{n}": {"term": {"k": f"g{n}"}} for n in range(random.choice([2, 60]))}},
        "nested": lambda: {"path": field(random, "c")}, "reverse_nested": dict, "global": dict, "missing": lambda: {"field": one}, "sampler": lambda: {"shard_size": size}, "random_sampler": lambda: {"probability": random.choice([0.1, 1e-300, 1, 0])}, "diversified_sampler": lambda: {"field": "k", "shard_size": size},
        "geo_distance": lambda: {"field": "p", "origin": "1,1", "ranges": [{"to": 1e300}]}, "geohash_grid": lambda: {"field": "p", "precision": random.choice([1, 12, 99])}, "geotile_grid": lambda: {"field": "p", "precision": random.choice([1, 29, 30])}, "geohex_grid": lambda: {"field": "p", "precision": random.choice([0, 15])},
        "top_hits": lambda: {"size": size, "explain": True}, "top_metrics": lambda: {"metrics": {"field": "n"}, "sort": {"n": "asc"}, "size": size}, "percentiles": lambda: {"field": "n", "percents": [n / 10 for n in range(random.choice([5, 900]))]},
        "percentile_ranks": lambda: {"field": "n", "values": [random.choice(NUMBERS)] * random.choice([1, 900])}, "cardinality": lambda: {"field": one, "precision_threshold": size}, "scripted_metric": lambda: {"init_script": "state.l = []", "map_script": random.choice(SCRIPTS), "combine_script": "return state.l", "reduce_script": random.choice(SCRIPTS)},
        "significant_terms": lambda: {"field": "k", "size": size, "min_doc_count": 1}, "significant_text": lambda: {"field": "t", "size": size, "min_doc_count": 1}, "rare_terms": lambda: {"field": "k", "max_doc_count": size, "precision": random.choice(FLOATS)},
        "frequent_item_sets": lambda: {"fields": [{"field": "k"}, {"field": "n"}], "minimum_support": random.choice([0.5, 0.01, 1e-9]), "size": size}, "matrix_stats": lambda: {"fields": ["n"] * random.choice([1, 100])}, "t_test": lambda: {"a": {"field": "n"}, "b": {"field": "n"}},
        "weighted_avg": lambda: {"value": {"field": "n"}, "weight": {"field": "n"}}, "rate": lambda: {"unit": "month"}, "bucket_script": lambda: {"buckets_path": {"a": "m"}, "script": random.choice(SCRIPTS)}, "bucket_selector": lambda: {"buckets_path": {"a": "m"}, "script": random.choice(SCRIPTS)},
        "bucket_sort": lambda: {"sort": [{"m": "asc"}], "from": random.choice(INTEGERS), "size": size}, "moving_fn": lambda: {"buckets_path": "m", "window": size, "script": random.choice(["MovingFunctions.max(values)", *SCRIPTS])}, "serial_diff": lambda: {"buckets_path": "m", "lag": size},
        "bucket_correlation": lambda: {"buckets_path": "a0>_count", "function": {"count_correlation": {"indicator": {"expectations": [1] * random.choice([2, 10_000]), "doc_count": size}}}}, "bucket_count_ks_test": lambda: {"buckets_path": "a0>_count", "fractions": [1] * random.choice([2, 10_000])},
        "normalize": lambda: {"buckets_path": "m", "method": "softmax"}, "string_stats": lambda: {"field": "k", "show_distribution": True},
    }
    pipelines = ("cumulative_sum", "derivative", "moving_percentiles", "cumulative_cardinality")
    if name in pipelines or name.endswith("_bucket"):
        body = {"buckets_path": random.choice(["m", "a0>m", "a0", "_count", "nothing"])}
    else:
        body = bodies.get(name, lambda: {"field": one})()
    if random.random() < 0.3:
        with_parameters(random, body, words)
    found = {name: body}
    if random.random() < 0.05:
        found["meta"] = {"x": random.choice(TEXTS)}
    if depth < 4 and random.random() < 0.45:
        found["aggs"] = aggregations(random, depth + 1)
    return found


def search(random):
    words = tables.words("search", "src", "request")
    body = {}
    if random.random() < 0.8:
        body["query"] = query(random)
    if random.random() < 0.45:
        body["aggs"] = aggregations(random)
    if random.random() < 0.5:
        body["size"] = random.choice([0, 1, 10, 1_000, 10_000, 10_001, -1, 2**31])
    parts = {
        "sort": lambda: random.choice([["n"], [{"k": {"order": "desc", "missing": "_first"}}] * 50, [{"_script": {"type": "number", "script": random.choice(SCRIPTS)}}], [{"c.x": {"nested": {"path": "c"}}}], [{"_geo_distance": {"p": [0, 0]}}]]),
        "highlight": lambda: {"fields": {random.choice(["t", "*", "k"]): {"type": random.choice(["unified", "plain", "fvh"]), "number_of_fragments": random.choice(INTEGERS), "fragment_size": random.choice(INTEGERS)}}, "pre_tags": [random.choice(TEXTS)]},
        "suggest": lambda: {"a": {"text": random.choice(TEXTS), random.choice(["term", "phrase", "completion"]): {"field": field(random, "t", "sug"), "size": random.choice(INTEGERS)}}}, "collapse": lambda: {"field": field(random, "k", "n"), "inner_hits": {"name": "a", "size": random.choice([1, 100, 10_000])}},
        "rescore": lambda: {"window_size": random.choice([10, 10_000, -1]), "query": {"rescore_query": query(random, 3)}}, "script_fields": lambda: {"a": {"script": random.choice(SCRIPTS)}}, "fields": lambda: random.choice(BY_NAME["fields"]), "docvalue_fields": lambda: ["*"] * random.choice([1, 50]),
        "runtime_mappings": lambda: {"r": {"type": random.choice(["long", "keyword", "date", "geo_point", "composite"]), "script": random.choice(SCRIPTS)}}, "_source": lambda: random.choice([True, False, ["a*b*c*"] * 500, {"excludes": ["*"]}]), "search_after": lambda: [random.choice(NUMBERS)],
        "retriever": lambda: {"rrf": {"retrievers": [{"standard": {"query": query(random, 3)}}] * random.choice([2, 50]), "rank_window_size": random.choice([10, 10_000])}}, "explain": lambda: True, "slice": lambda: {"id": 0, "max": random.choice(INTEGERS)}, "post_filter": lambda: query(random, 3),
        "track_total_hits": lambda: random.choice([True, False, 5]), "timeout": lambda: random.choice(UNITS), "terminate_after": lambda: random.choice(INTEGERS), "min_score": lambda: random.choice(FLOATS), "stored_fields": lambda: ["*"],
    }
    for name in random.sample(sorted(parts), random.choice([0, 1, 1, 2, 4])):
        body[name] = parts[name]()
    if random.random() < 0.1:
        with_parameters(random, body, words)
    return body


def analysis(random):
    words = tables.words("mapping", "src", "analysis")
    filters = [with_parameters(random, {"type": random.choice(tables.filters())}, words, 0.7) for _ in range(random.choice([1, 2, 5]))]
    for one in filters:
        kind = str(one["type"])
        if kind in ("ngram", "edge_ngram"):
            one.update(min_gram=random.choice([1, 2, 0]), max_gram=random.choice([1, 2, 10, 2**31 - 1]))
        if kind == "shingle":
            one.update(max_shingle_size=random.choice([2, 5, 100]))
        if kind.startswith("synonym"):
            one.update(synonyms=["a => b, c d e"] * random.choice([1, 500]) + [" ".join(["a"] * random.choice([1, 900])) + " => b"])
        if kind == "multiplexer":
            one.update(filters=["lowercase", "reverse"] * random.choice([1, 50]))
    tokenizers = [name for pair in tables.tokenizers() for name in pair if name] or ["standard"]
    return {"tokenizer": random.choice([random.choice(tokenizers), with_parameters(random, {"type": random.choice(tokenizers)}, words, 0.6)]), "filter": filters * random.choice([1, 1, 10]),
            "text": random.choice(TEXTS), "explain": random.random() < 0.3}


def properties(random, depth=0):
    words = tables.words("mapping", "src", "field_type") + tables.words("mapping", "src", "field")
    found = {}
    for n in range(random.choice([1, 3, 10, 200 if depth == 0 else 2])):
        kind = random.choice(tables.field_types())
        one = {"type": kind}
        if kind in ("nested", "object") and depth < 20:
            one["properties"] = properties(random, depth + 1)
        if kind == "join":
            one["relations"] = {"parent": ["child"] * random.choice([1, 2])}
        if kind == "scaled_float":
            one["scaling_factor"] = random.choice(NUMBERS)
        if kind == "completion":
            one["contexts"] = [{"name": f"c{m}", "type": random.choice(["category", "geo"]), "precision": random.choice(INTEGERS)} for m in range(random.choice([0, 1, 20]))]
        if random.random() < 0.4:
            with_parameters(random, one, words)
        if random.random() < 0.1:
            one["fields"] = {f"m{m}": {"type": "keyword"} for m in range(random.choice([1, 100]))}
        found[random.choice(FIELDS + [f"f{n}"])] = one
    return found


def mapping(random):
    body = {"properties": properties(random)}
    with_parameters(random, body, tables.words("mapping", "src", "definition"), 0.3)
    return body


def transform(random):
    groups = {random.choice(FIELDS): {random.choice(["terms", "histogram", "date_histogram", "geotile_grid"]): {"field": random.choice(FIELDS), "interval": random.choice(INTEGERS)}} for _ in range(random.choice([1, 3]))}
    metrics = {random.choice(FIELDS): {random.choice(["max", "avg", "top_metrics", "scripted_metric", "terms", "percentiles"]): {"field": random.choice(FIELDS)}} for _ in range(random.choice([1, 5]))}
    return {"source": {"index": "g", "query": query(random)}, "pivot": {"group_by": groups, "aggregations": metrics}, "settings": {"max_page_search_size": random.choice(INTEGERS)}}


def settings(random):
    found = {}
    for _ in range(random.choice([1, 2, 5])):
        name = random.choice(tables.index_settings())
        if name.endswith("*") or random.random() < 0.1:
            name = name.rstrip("*.") + "." + random.choice(FIELDS)
        found[name] = random.choice([random.choice(UNITS), random.choice(INTEGERS), value(random)])
    return found


def index(random):
    return {"settings": settings(random) if random.random() < 0.5 else {}, "mappings": mapping(random)}


def processor(random, depth=0):
    words = tables.words("engine", "src", "ingest", "processor")
    name = random.choice(tables.processors() + ["script", "foreach", "pipeline"])
    body = {"field": random.choice(["a", "b", "l", "o", "nothing", "_index", "{{a}}"])}
    extra = {
        "set": {"value": random.choice(TEXTS)}, "append": {"value": [random.choice(TEXTS)] * random.choice([1, 500])}, "gsub": {"pattern": random.choice(PATTERNS), "replacement": random.choice(["", "$0$0$0", "x" * 500])}, "split": {"separator": random.choice(PATTERNS)},
        "grok": {"patterns": random.choice([["%{GREEDYDATA:a}" * 20], ["%{COMBINEDAPACHELOG}"], ["(?<a>(a+)+)b"], ["%{" * 50]])}, "dissect": {"pattern": random.choice(["%{a} %{b}", "%{+a}" * 500, "%{*k}%{&k}"])}, "kv": {"field_split": random.choice(PATTERNS), "value_split": "="},
        "csv": {"target_fields": [f"c{n}" for n in range(random.choice([1, 5_000]))]}, "date": {"formats": random.choice([["yyyy"], ["ISO8601"] * 200, ["yyyy" * 200]])}, "convert": {"type": random.choice(["long", "auto", "ip", "string"])}, "rename": {"target_field": random.choice(["x", "a.b.c" * 100])},
        "script": {"source": random.choice(["ctx.a += ctx.a", "for (int i = 0; i < 60; i++) { ctx.a += ctx.a }", "ctx.l = []; while (true) { ctx.l.add(ctx.a) }", "ctx.o = ctx"])}, "pipeline": {"name": random.choice(["g", "nothing", "{{a}}"])}, "join": {"separator": random.choice(TEXTS)},
        "reroute": {"destination": random.choice(["g", "..", "x" * 300])}, "fingerprint": {"fields": ["a", "l"] * random.choice([1, 500])}, "fail": {"message": random.choice(TEXTS)}, "date_index_name": {"date_rounding": "d"},
    }.get(name, {})
    if name in ("script", "pipeline", "reroute", "fail"):
        body = {}
    if name == "foreach" and depth < 8:
        body = {"field": "l", "processor": processor(random, depth + 1)}
    body.update(extra)
    if random.random() < 0.2:
        with_parameters(random, body, words)
    if random.random() < 0.15 and depth < 5:
        body["on_failure"] = [processor(random, depth + 1)]
    if random.random() < 0.1:
        body["if"] = random.choice(SCRIPTS)
    return {name: body}


def pipeline(random):
    count = random.choice([1, 2, 5, 5])
    processors = [processor(random) for _ in range(count)]
    return {"processors": processors * random.choice([1, 1, 1, 50])}


def document(random):
    return {"n": random.choice(NUMBERS), "k": random.choice(TEXTS), "t": random.choice(TEXTS), "d": random.choice(DATES + INTEGERS), "p": random.choice(["1,1", [1, 1], {"lat": 1, "lon": 1}, "POINT (1 1)", 5]), "s": random.choice(SHAPES), "c": [{"x": "a"}] * random.choice([1, 5_000]),
            "f": {"a": random.choice(TEXTS)}, "r": {"gte": random.choice(NUMBERS), "lte": random.choice(NUMBERS)}, "ip": random.choice(["1.1.1.1", "::1", "x"]), "j": random.choice(["parent", {"name": "child", "parent": "1"}]), "sug": random.choice([random.choice(TEXTS), {"input": ["a"] * 500}]),
            "q": query(random, 2) if random.random() < 0.3 else None, "l": [random.choice(NUMBERS)] * random.choice([1, 2_000]), "o": {"a": {"b": value(random)}}, **({random.choice(TEXTS)[:500]: value(random)} if random.random() < 0.2 else {})}


def security(random):
    words = tables.words("access", "src")
    role = {"cluster": random.choice([["all"], ["x" * 500], [random.choice(PATTERNS)] * 500]), "indices": [{"names": random.choice([["*"], ["/" + random.choice(PATTERNS) + "/"], ["a*"] * 2_000]), "privileges": ["read"],
            "query": random.choice([None, query(random, 2), {"template": {"source": random.choice(TEXTS)}}]), "field_security": {"grant": random.choice([["*"], ["a*b*c*"] * 500])}}] * random.choice([1, 50])}
    return with_parameters(random, role, words, 0.2)


def template(random):
    return {"source": random.choice(["{{a}}", "{{#a}}" * 5 + "x" * 50 + "{{/a}}" * 5, "{{#toJson}}a{{/toJson}}" * 100, "{{#join}}a{{/join}}", search(random), random.choice(TEXTS)]), "params": {"a": random.choice([[1] * 30, "x" * 5_000, {"b": 1}, True])}}
