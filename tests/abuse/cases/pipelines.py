"""Search pipelines: what a processor makes of a hit, and what a verbose pipeline shows of a search."""

from case import Case, Lines, several

ONE = {"number_of_shards": 1, "number_of_replicas": 0}
SETUP = [
    ("PUT", "/odd", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}, "t": {"type": "text"}}}}),
    ("POST", "/odd/_bulk?refresh=true", lambda: Lines([line for n in range(500) for line in ({"index": {"_id": str(n)}}, {"k": f"key{n}", "t": "a b c d " * 6})])),
    ("PUT", "/big", {"settings": ONE, "mappings": {"properties": {"s": {"type": "text", "index": False}}}}),
    *[("PUT", f"/big/_doc/{n}?refresh=true", lambda: {"s": "a," * 1_500_000}) for n in range(3)],
]


def piped(name, request=(), response=(), index="odd", query="", body=None, **more):
    def full():
        inner = body() if body else {}
        processors = {"request_processors": request() if callable(request) else list(request), "response_processors": list(response)}
        return {**inner, "search_pipeline": processors}
    return Case(name, "POST", f"/{index}/_search{query}", full, **more)


def split(separator, **more):
    return {"split": {"field": "s", "separator": separator, "target_field": "y", **more}}


VERBOSE = "?verbose_pipeline=true"
CASES = [
    piped("split_characters", response=[split("")], index="big", clients=4, seconds=60),
    piped("split_and_sort", response=[split(","), {"sort": {"field": "y", "order": "desc"}}], index="big", clients=2, seconds=60),
    piped("split_fields", response=[{"split": {"field": "s", "separator": ""}}], index="big", body=lambda: {"_source": False, "fields": ["s"]}, seconds=60),
    piped("verbose_body", request=lambda: [{"filter_query": {"query": {"terms": {"k": [f"key{n}" for n in range(5_000)]}}}}] * 99, query=VERBOSE, clients=4, seconds=60),
    piped("verbose_wide", request=lambda: [{"oversample": {"sample_factor": 1.0}}] * 99, query=VERBOSE, body=lambda: {"ext": {"a": [[]] * 1_000_000}}, seconds=60),
    piped("verbose_hits", response=[{"truncate_hits": {"target_size": 10}}] * 60, index="big", query=VERBOSE, seconds=60),
    piped("truncate_negative", response=[{"truncate_hits": {"target_size": -5}}], expect=400, contains="target_size"),
    piped("truncate_without_size", response=[{"truncate_hits": {}}], expect=400, contains="Must specify target_size"),
    piped("collapse_several", response=[{"collapse": {"field": "t"}}], body=lambda: {"fields": ["t"]}),
    several("ingest_splits", [("POST", "/_ingest/pipeline/_simulate", lambda separator=separator: {
        "pipeline": {"processors": [{"split": {"field": "s", "separator": separator}}]}, "docs": [{"_source": {"s": "a," * 1_500_000}}]}) for separator in ("", ",")], seconds=60),
    several("ingest_pairs", [("POST", "/_ingest/pipeline/_simulate", lambda: {
        "pipeline": {"processors": [{"kv": {"field": "s", "field_split": ",", "value_split": "="}}]}, "docs": [{"_source": {"s": "a=b," * 500_000}}]})], seconds=60),
]
