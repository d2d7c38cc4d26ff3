"""What a sixth attacker found by reading on 30 November 2026: trees as high as a flat text is long, one client with many names, and lists that are compared with lists."""

from case import OK, REFUSED, Case

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
SETUP = [
    ("PUT", "/h", {"settings": ONE, "mappings": {"properties": {"t": {"type": "text"}, "n": {"type": "long"}}}}),
    ("PUT", "/h/_doc/1?refresh=true", {"t": "a b", "n": 1}),
]


def search(name, body, **more):
    return Case(name, "POST", "/h/_search", body, **{"expect": ANY, **more})


CASES = [
    # Each change of operators puts everything before it one level deeper.
    search("operators_in_turn", {"query": {"simple_query_string": {"query": "a + b | " * 2_000, "fields": ["t"]}}}, expect=400),
    search("operators_explained", {"explain": True, "query": {"simple_query_string": {"query": "a + b | " * 2_000, "fields": ["t"]}}}, expect=400),
]
