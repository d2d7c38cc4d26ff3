"""Phrases of words that occur very often, and merges of very many small segments."""

from case import OK, REFUSED, Case, Lines

ONE = {"number_of_shards": 1, "number_of_replicas": 0}
WORDS = "h g f e d c b a "


def long_texts():
    items = []
    for n in range(2):
        items += [{"index": {"_index": "reps", "_id": str(n)}}, {"t": "a " * 400_000 + "b", "mt": "a b c d " * 20_000}]
        items += [{"index": {"_index": "words", "_id": str(n)}}, {"t": WORDS * 30_000}]
    return Lines(items)


SETUP = [
    *[("PUT", f"/{index}", {"settings": ONE, "mappings": {"properties": {"t": {"type": "text"}, "mt": {"type": "match_only_text"}}}}) for index in ("reps", "words")],
    ("POST", "/_bulk?refresh=true", long_texts),
]


def search(name, body, index="reps", **more):
    return Case(name, "POST", f"/{index}/_search", body, OK + REFUSED, **{"seconds": 60, **more})


def phrase(text, slop=0, field="t"):
    return {"match_phrase": {field: {"query": text, "slop": slop}}}


CASES = [
    search("exact_1000", lambda: {"query": phrase("a " * 1_000)}),
    search("exact_5000", lambda: {"timeout": "2s", "query": phrase("a " * 5_000)}),
    search("exact_1000_clients", lambda: {"timeout": "2s", "query": phrase("a " * 1_000)}, clients=6),
    search("sloppy_300_clients", lambda: {"timeout": "2s", "query": phrase("b " + "a " * 300, 1)}, clients=6),
    search("sloppy_480", lambda: {"timeout": "2s", "query": phrase(WORDS * 60, 1_000_000)}, "words"),
    search("sloppy_480_gone", lambda: {"query": phrase(WORDS * 60, 1_000_000)}, "words", hang_up=1.0, clients=4),
    search("sloppy_rescored", lambda: {"timeout": "2s", "query": {"match_all": {}}, "rescore": {"window_size": 100, "query": {"rescore_query": phrase(WORDS * 60, 1_000_000)}}}, "words"),
    search("sloppy_clauses", lambda: {"timeout": "2s", "query": {"bool": {"should": [phrase("b " + "a " * 100, n) for n in range(1, 31)]}}}),
    search("without_positions", lambda: {"timeout": "2s", "query": phrase("a b c d a b c d d c b a", 1_000, "mt")}),
    search("spans_1000_clients", lambda: {"timeout": "2s", "query": {"span_near": {"clauses": [{"span_term": {"t": "a"}}] * 900, "slop": 1, "in_order": False}}}, clients=6),
    search("intervals_clients", lambda: {"timeout": "2s", "query": {"intervals": {"t": {"match": {"query": "a " * 900, "ordered": True}}}}}, clients=6),
]
