"""Texts that one finding or one pipeline aggregation repeats: keys, formats, names of fields, terms; and windows that overlap."""

import random

from case import OK, REFUSED, Case, Lines

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}


def documents():
    return Lines([line for n in range(20_000) for line in ({"index": {"_id": str(n)}}, {"k": f"key{n}", "n": n})])


def long_items():
    chance, names = random.Random(2), ["%02d" % n + "x" * 10_000 for n in range(14)]
    return Lines([line for _ in range(200) for line in ({"index": {}}, {"l": [name for name in names if chance.random() < 0.6]})])


SETUP = [
    ("PUT", "/i", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}, "n": {"type": "long"}}}}),
    ("POST", "/i/_bulk?refresh=true", documents),
    ("PUT", "/l", {"settings": ONE, "mappings": {"properties": {"l": {"type": "keyword"}}}}),
    ("POST", "/l/_bulk?refresh=true", long_items),
]


def search(name, aggs, index="i", **more):
    return Case(name, "POST", f"/{index}/_search", lambda: {"size": 0, "aggs": aggs()}, ANY, **more)


def pattern(length):
    return "0'" + "x" * (length - 3) + "'"


def beside(name, buckets, own):
    """A pipeline aggregation beside the aggregation whose buckets it reads."""
    return search(name, lambda: {"h": {**buckets, "aggs": {"m": {"max": {"field": "n"}}}}, "p": own})


def inside(name, own, metric=None, **more):
    """A pipeline aggregation in each bucket of a histogram."""
    histogram = {"field": "n", "interval": 1, "format": pattern(512)}
    return search(name, lambda: {"h": {"histogram": histogram, "aggs": {"m": metric or {"max": {"field": "n"}}, "p": own()}}}, **more)


def ranges(length):
    return {"range": {"field": "n", "format": pattern(length), "ranges": [{"from": n, "to": n + 5} for n in range(9_000)]}}


POINTS = [n / 100 for n in range(10_000)]
MAX_BUCKET = {"max_bucket": {"buckets_path": "h>m"}}
CASES = [
    # The keys of buckets, with the longest format that is allowed and with longer ones.
    *[beside(f"max_bucket_{name}_{length}", buckets, MAX_BUCKET) for length in (512, 50_000) for name, buckets in (
        ("histogram", {"histogram": {"field": "n", "interval": 1, "format": pattern(length)}}),
        ("terms", {"terms": {"field": "n", "size": 20_000, "format": pattern(length)}}),
        ("range", ranges(length)))],
    search("max_bucket_equal", lambda: {"h": {"terms": {"field": "n", "size": 20_000, "format": pattern(512)}, "aggs": {
        "m": {"value_count": {"field": "n"}}}}, **{f"p{n}": MAX_BUCKET for n in range(100)}}),
    *[inside(name, lambda own=own: own) for name, own in (
        ("derivative", {"derivative": {"buckets_path": "m", "format": pattern(512)}}),
        ("cumulative_sum", {"cumulative_sum": {"buckets_path": "m", "format": pattern(512)}}),
        ("bucket_sort", {"bucket_sort": {"size": 1}}),
        ("bucket_script", {"bucket_script": {"buckets_path": {"m": "m"}, "script": "params.m"}}))],
    # The points of one finding.
    *[search(f"{name}_{length}", lambda own=own, length=length: {"p": {own["type"]: {"field": "n", "format": pattern(length), **own["with"]}}})
        for length in (512, 100_000) for name, own in (
            ("percentiles", {"type": "percentiles", "with": {"percents": POINTS}}),
            ("percentiles_list", {"type": "percentiles", "with": {"percents": POINTS, "keyed": False}}),
            ("ranks", {"type": "percentile_ranks", "with": {"values": POINTS}}))],
    *[beside(f"percentiles_bucket_{length}", {"histogram": {"field": "n", "interval": 1}},
        {"percentiles_bucket": {"buckets_path": "h>m", "percents": POINTS, "format": pattern(length)}}) for length in (512, 100_000)],
    inside("moving_percentiles_formats", lambda: {"moving_percentiles": {"buckets_path": "m", "window": 10}},
        {"percentiles": {"field": "n", "percents": POINTS[::100], "format": pattern(512)}}),
    # The names of fields.
    search("matrix_stats", lambda: {"m": {"matrix_stats": {"fields": (names := [f"f{n}" + "x" * 50_000 for n in range(100)]),
        "missing": {name: 1.0 for name in names}}}}),
    search("top_metrics", lambda: {"m": {"top_metrics": {"size": 10, "sort": {"n": "desc"}, "metrics": [
        {"field": f"{n}" + "x" * 200_000} for n in range(100)]}}}),
    # The terms of sets.
    search("item_sets", lambda: {"f": {"frequent_item_sets": {"fields": [{"field": "l"}], "size": 20_000, "minimum_support": 0.001}}}, "l"),
    # Windows that overlap, and the same values again and again.
    *[inside(f"moving_percentiles_{name}", lambda: {"moving_percentiles": {"buckets_path": "m", "window": 100_000}},
        {"percentiles": {"field": "n", **method}}) for name, method in (
            ("digest", {}), ("hdr", {"hdr": {"number_of_significant_value_digits": 5}}))],
    search("change_points", lambda: {"h": {"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"max": {"field": "n"}}}},
        **{f"p{n}": {"change_point": {"buckets_path": "h>m"}} for n in range(100)}}, clients=8, seconds=30),
]
