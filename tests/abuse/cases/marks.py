"""Highlighted phrases and spans: a long text has as many of them as words."""

from case import Case

ONE = {"number_of_shards": 1, "number_of_replicas": 0}
SETUP = [
    ("PUT", "/long", {"settings": ONE, "mappings": {"properties": {"t": {"type": "text"}}}}),
    *[("PUT", f"/long/_doc/{n}?refresh=true", lambda: {"t": "a b c d e f g h " * 30_000}) for n in range(4)],
]


def marked(name, query, kind="plain", **options):
    field = {"type": kind, **options}
    return Case(name, "POST", "/long/_search", lambda: {"query": query(), "highlight": {"fields": {"t": field}, "max_analyzed_offset": 900_000}}, seconds=20)


def phrase(words, slop=1_000_000):
    return {"match_phrase": {"t": {"query": words, "slop": slop}}}


def span(words, slop):
    return {"span_near": {"clauses": [{"span_term": {"t": word}} for word in words], "slop": slop, "in_order": False}}


CASES = [
    marked("spans", lambda: span("abcdefgh", 100_000)),
    marked("spans_in_fragments", lambda: span("abcdefgh", 100_000), fragmenter="span"),
    marked("many_spans", lambda: {"bool": {"should": [span("ab", n) for n in range(50)]}}),
    marked("sloppy", lambda: phrase("a b", 100_000)),
    marked("sloppy_words", lambda: phrase("h g f e d c b a " * 3)),
    marked("sloppy_unified", lambda: phrase("h g f e d c b a " * 3), "unified", number_of_fragments=0),
    marked("sloppy_repeats_unified", lambda: phrase("a " * 30), "unified", number_of_fragments=0),
    marked("exact_repeats_unified", lambda: {"match_phrase": {"t": "a b c d e f g h " * 100}}, "unified", require_field_match=False),
]
