"""Queries that are kept and run over the documents of a request."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)
QUERIES = 2_000

MAPPING = {"q": {"type": "percolator"}, "t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "s": {"type": "geo_shape"},
           "c": {"type": "nested", "properties": {"x": {"type": "text"}}}}
SETUP = [
    ("PUT", "/alerts", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": MAPPING}}),
    ("POST", "/alerts/_bulk?refresh=true", lambda: Lines([line for n in range(QUERIES) for line in ({"index": {"_id": str(n)}}, {
        "k": f"key{n}", "q": [{"match": {"t": f"hello {n}"}}, {"range": {"n": {"gte": n}}}, {"wildcard": {"k": "*a*b*"}},
                              {"bool": {"must_not": [{"term": {"k": str(n)}}]}}, {"match_all": {}}][n % 5]})])),
]


def percolate(name, document, more=None, path="/alerts/_search", **options):
    return Case(name, "POST", path, lambda: {"query": {"percolate": {"field": "q", **(document() if callable(document) else document)}}, **(more or {})},
                **{"seconds": 60, **options})


def stored(name, query, expect=OK + BAD, **more):
    return Case(f"store_{name}", "PUT", f"/alerts/_doc/{name}", (lambda: {"q": query()}) if callable(query) else {"q": query}, expect, **more)


def nested_bool(depth):
    query = {"match_all": {}}
    for _ in range(depth):
        query = {"bool": {"must": [query]}}
    return query


CASES = [
    percolate("documents", lambda: {"documents": [{"t": f"hello {n}", "n": n, "k": "ab" * 20} for n in range(10_000)]}, {"size": 2_000}),
    percolate("documents_highlight", lambda: {"documents": [{"t": "hello world " * 100} for n in range(500)]}, {
        "size": 2_000, "highlight": {"pre_tags": ["x" * 10_000], "fields": {"t": {"number_of_fragments": 0}}}}),
    percolate("document_long", lambda: {"document": {"t": "hello " * 2_000_000}}),
    percolate("document_fields", lambda: {"document": {f"f{n}": n for n in range(50_000)}}),
    percolate("document_deep", lambda: {"document": {"a": deep(900)}}),
    percolate("document_nested", lambda: {"document": {"c": [{"x": "hello"}] * 100_000}}),
    percolate("document_shape", lambda: {"document": {"s": {"type": "linestring", "coordinates": [[n % 180, n % 170 - 85] for n in range(50_000)]}}}),
    percolate("document_itself", {"document": {"q": {"percolate": {"field": "q", "document": {"t": "x"}}}}}),
    percolate("names", lambda: {"documents": [{"t": "hello"}] * 100, "name": "x" * 100_000}, {"size": 2_000}),
    percolate("slots", lambda: {"documents": [{"t": "hello", "n": 5_000}] * 10_000}, {"size": 2_000}),
    percolate("of_a_percolate", {"document": {"t": "hello"}}, {"query": {"bool": {"should": [{"percolate": {"field": "q", "document": {"t": "hello"}}}] * 500}}}),
    percolate("lookups", {"index": "alerts", "id": "1"}, {"query": {"bool": {"should": [{"percolate": {"field": "q", "index": "alerts", "id": "1"}}] * 500}}}),
    percolate("lookup_missing", {"index": "alerts", "id": "nowhere"}, expect=REFUSED),
    percolate("gone", lambda: {"documents": [{"t": "hello world " * 200, "k": "ab" * 1_000} for n in range(3_000)]}, hang_up=0.5, clients=6),
    percolate("clients", lambda: {"documents": [{"t": "hello world " * 200} for n in range(500)]}, clients=8),
    Case("msearch", "POST", "/alerts/_msearch", lambda: Lines([line for n in range(300) for line in ({}, {"query": {"percolate": {
        "field": "q", "documents": [{"t": "hello"}] * 100}}, "size": 100})]), seconds=120),
    stored("terms", lambda: {"terms": {"k": [f"key{n}" for n in range(65_536)]}}),
    stored("clauses", lambda: {"bool": {"should": [{"term": {"k": f"key{n}"}} for n in range(20_000)]}}),
    stored("deep", lambda: nested_bool(900)),
    stored("wildcards", lambda: {"bool": {"should": [{"wildcard": {"k": "*a" * 500}}] * 500}}),
    stored("regexp", {"regexp": {"k": {"value": "((a{1,30}){1,30}){1,30}", "max_determinized_states": 2_147_483_647}}}),
    stored("script", {"script": {"script": "while (true) { }"}}),
    stored("function", {"function_score": {"functions": [{"script_score": {"script": "int c = 0; for (int i = 0; i < 999999; i++) { c += i } return c"}}]}}),
    stored("more_like_this", {"more_like_this": {"fields": ["t"], "like": ["a"]}}),
    stored("percolate", {"percolate": {"field": "q", "document": {"t": "x"}}}),
    stored("lookup", {"terms": {"k": {"index": "alerts", "id": "1", "path": "k"}}}),
    stored("spans", lambda: {"span_near": {"clauses": [{"span_term": {"t": "hello"}}] * 1_000, "slop": 2_147_483_647, "in_order": False}}),
    stored("shape", lambda: {"geo_shape": {"s": {"shape": {"type": "polygon", "coordinates": [comb(20_000)]}}}}),
    stored("text", lambda: {"match": {"t": "hello " * 500_000}}),
    stored("many", lambda: [{"match_all": {}}] * 1_000),
    stored("null", None),
    stored("of_nothing", {}),
    stored("of_null", {"bool": {"must": None, "filter": [None]}}),
    percolate("after_them", {"document": {"t": "hello world", "k": "a" * 500, "s": {"type": "point", "coordinates": [1, 1]}}}, {"size": 2_000}),
    percolate("after_them_gone", {"documents": [{"t": "hello world", "k": "a" * 500}] * 20}, hang_up=0.5, clients=4),
]


def deep(depth):
    inside = "x"
    for _ in range(depth):
        inside = {"a": inside}
    return inside


def comb(count):
    points = []
    for n in range(count):
        points += [[n * 170 / count, -80], [n * 170 / count + 85 / count, 80]]
    return [[-1, -81]] + points + [[171, -81], [-1, -81]]
