"""What a third attacker found on 30 November 2026: the name of an object is part of the path of everything in it, patterns of paths, names that one request gives many things, and lists compared with themselves."""

import random

from case import OK, REFUSED, Case, Lines

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
MB = 1 << 20
CHANCE = random.Random(3)
OFF = {"settings": ONE, "mappings": {"enabled": False}}
ALL_STARS = ".".join(["**"] + ["a", "**"] * 25) + ".x"
WORDS_4000 = [f"w{n}" for n in range(4_000)]


def wide(name, count):
    """An object with a long name and many members."""
    return {name: {f"a{n}": 1 for n in range(count)}}


def keywords(count, name="a"):
    return {f"{name}{n}": {"type": "keyword"} for n in range(count)}


def letters():
    return "".join(chr(0x4e00 + CHANCE.randrange(20_000)) for _ in range(2))


SETUP = [
    ("PUT", "/off", {"settings": ONE, "mappings": {"dynamic": False, "properties": {"k": {"type": "keyword"}}}}),
    ("PUT", "/off/_doc/wide?refresh=true", lambda: wide("x" * MB, 600)),
    *[("PUT", f"/{index}", OFF) for index in ("few", "dots", "keys")],
    ("PUT", "/few/_doc/1?refresh=true", {".".join(["a"] * 60): {"b": 1}}),
    ("PUT", "/dots/_doc/1?refresh=true", lambda: {".".join(["a"] * 500_000): 1}),
    ("PUT", "/keys/_doc/1?refresh=true", lambda: {f"key{n}" + "x" * 200: {"b": 1} for n in range(20_000)}),
    ("PUT", "/plain", {"settings": ONE, "mappings": {"properties": {"t": {"type": "match_only_text"}}}}),
    ("PUT", "/plain/_doc/1?refresh=true", lambda: {"t": " ".join(f"w{n % 4000}" for n in range(1_000_000))}),
    *[("PUT", f"/m{n}", {"settings": ONE}) for n in range(60)],
    ("PUT", "/wide", lambda: {"settings": ONE, "mappings": {"properties": {**keywords(900, "k"), "t": {"type": "text"}}}}),
    ("PUT", "/wide/_doc/1?refresh=true", lambda: {f"k{n}": f"v{n}" for n in range(900)}),
    ("POST", "/wide/_bulk?refresh=true", lambda: Lines([line for _ in range(50) for line in ({"index": {}}, {"t": " ".join(f"w{m}" for m in range(5_000))})])),
    ("PUT", "/words", {"settings": {"number_of_shards": 20, "number_of_replicas": 0}, "mappings": {"properties": {"t": {"type": "text", "analyzer": "whitespace"}}}}),
    ("POST", "/words/_bulk?refresh=true", lambda: Lines([line for _ in range(2_000) for line in ({"index": {}}, {"t": " ".join("ab" + letters() for _ in range(60))})])),
]


def search(name, index, body, **more):
    return Case(name, "POST", f"/{index}/_search", body, ANY, **{"seconds": 30, **more})


def simulated(name, processor, source, **more):
    body = lambda: {"pipeline": {"processors": [processor()]}, "docs": [{"_source": source()}]}  # noqa: E731
    return Case(name, "POST", "/_ingest/pipeline/_simulate", body, ANY, **{"seconds": 30, **more})


def inferred(name, mappings, **settings):
    """A document whose new fields have long paths."""
    return Case(f"inferred_{name}", "PUT", "/inferred/_doc/1", lambda: wide("x" * MB, 2_000), ANY, seconds=30, cleanup=[("DELETE", "/inferred")],
                setup=[("PUT", "/inferred", {"settings": settings, "mappings": mappings})])


def more_like(fields, like):
    return lambda: {"query": {"more_like_this": {"fields": fields(), "like": like(), "min_term_freq": 1, "min_doc_freq": 1}}}


EXAMPLE = {"_index": "wide", "_id": "1"}
PATTERNS = more_like(lambda: [f"k*x{n}*" for n in range(5_000)], lambda: [EXAMPLE])
SAME_FIELDS = more_like(lambda: ["t"] * 20_000, lambda: [" ".join(f"w{m}" for m in range(5_000))])
UNMAPPED = {"fields": [{"field": "*", "include_unmapped": True}], "_source": False}
UNMAPPED_NAMED = {"fields": [{"field": "*a", "include_unmapped": True}], "_source": False}
BY_MAPS = {"_source": {"includes": ["*.b"], "excludes": ["c*"]}}
TERMS = {"field": "t", "size": 10_000, "shard_size": 10_000, "suggest_mode": "always", "prefix_length": 2, "min_word_length": 1, "accuracy": 0.0, "max_inspections": 1_000}
POLICIES = [
    ("PUT", "/_component_template/bigc", lambda: {"template": {"mappings": {"properties": keywords(900)}}}),
    *[("PUT", f"/_index_template/it{n}", {"index_patterns": [f"it{n}-*"], "composed_of": ["bigc"] * 300, "priority": n + 10}) for n in range(10)],
    *[("PUT", f"/_ilm/policy/p{n}", {"policy": {"phases": {"hot": {"actions": {}}}}}) for n in range(30)]]
CASES = [
    # Values of no field, by their paths.
    search("unmapped", "off", UNMAPPED),
    search("unmapped_named", "off", UNMAPPED_NAMED, clients=4, seconds=60),
    # Filters of sources: `**` in as many ways as there are, more levels than a stack has room, patterns times paths.
    search("source_by_maps", "off", BY_MAPS, clients=4),
    search("source_stars", "few", {"_source": [ALL_STARS]}, clients=4),
    Case("source_stars_get", "GET", f"/few/_doc/1?_source_includes={ALL_STARS}", None, ANY, clients=4),
    search("source_levels", "dots", {"_source": ["**.x"]}),
    search("source_levels_many", "dots", lambda: {"_source": [".".join(["a"] * 400_000)]}),
    search("source_long_pattern", "keys", {"_source": {"excludes": ["key*" + "y" * 5_000]}}),
    search("source_patterns", "keys", lambda: {"_source": {"excludes": [f"k{n}*y" for n in range(1_000)]}}, clients=3, seconds=60),
    # Mappings, settings and aliases.
    inferred("dynamic", {}),
    inferred("runtime", {"dynamic": "runtime"}),
    inferred("unlimited", {}, **{"index.mapping.total_fields.limit": 1_000_000}),
    inferred("ignored", {}, **{"index.mapping.total_fields.ignore_dynamic_beyond_limit": True}),
    Case("mapped", "PUT", "/mapped", lambda: {"mappings": {"properties": {"x" * 100_000: {"properties": keywords(900)}}}}, ANY, cleanup=[("DELETE", "/mapped")]),
    Case("mapped_aliases", "PUT", "/mapped", lambda: {"mappings": {"properties": {"k": {"type": "keyword"}, "x" * MB: {
        "properties": {f"a{n}": {"type": "alias", "path": "k"} for n in range(900)}}}}}, ANY, cleanup=[("DELETE", "/mapped")]),
    Case("settings", "PUT", "/set", lambda: {"settings": {"index": {"routing": {"allocation": {"include": {"x" * MB: {f"a{n}": "v" for n in range(5_000)}}}}}}}, ANY),
    Case("aliases", "POST", "/_aliases", lambda: {"actions": [{"add": {"indices": ["m*"], "aliases": [f"al{n}" for n in range(50_000)]}}]}, ANY),
    Case("aliases_filtered", "POST", "/_aliases", lambda: {"actions": [{"add": {"indices": ["m*"], "aliases": [f"al{n}" for n in range(1_000)], "filter": {
        "terms": {"k": [f"k{m}" for m in range(20_000)]}}}}]}, ANY),
    Case("aliases_removed", "POST", "/_aliases", lambda: {"actions": [{"remove": {"indices": ["m*"], "aliases": [f"*a*{n}x" for n in range(200_000)]}}]}, ANY,
         setup=[("POST", "/_aliases", {"actions": [{"add": {"indices": ["m*"], "aliases": [f"al{n}" for n in range(200)]}}]})],
         cleanup=[("POST", "/_aliases", {"actions": [{"remove": {"index": "m*", "alias": "al*"}}]})]),
    Case("policies", "GET", "/_ilm/policy", None, ANY, setup=POLICIES, clients=2,
         cleanup=[("DELETE", f"/_ilm/policy/p{n}") for n in range(30)] + [("DELETE", f"/_index_template/it{n}") for n in range(10)] + [("DELETE", "/_component_template/bigc")]),
    # Queries and suggestions.
    search("phrase_of_source", "plain", lambda: {"query": {"match_phrase": {"t": " ".join(WORDS_4000)}}}, clients=4),
    search("examples_patterns", "wide", PATTERNS, clients=4),
    search("examples_fields", "wide", SAME_FIELDS, clients=4),
    search("query_string_fuzzy", "wide", lambda: {"query": {"query_string": {"fields": ["k*"], "query": " ".join(f"{word}~" for word in WORDS_4000)}}}),
    search("query_string_words", "wide", lambda: {"query": {"query_string": {"fields": ["k*"], "type": "most_fields", "query": " ".join(f"\"{word}\"" for word in WORDS_4000)}}}, clients=2),
    search("simple_query_string", "wide", lambda: {"query": {"simple_query_string": {"fields": ["k*"], "query": " ".join(f"{word}~1" for word in WORDS_4000)}}}, clients=2),
    search("suggested_terms", "words", {"suggest": {"s": {"text": "abcd", "term": TERMS}}}, clients=4),
    # A list that was copied for each item of another one.
    Case("contains_all", "POST", "/_scripts/painless/_execute", {"script": {"source": "def l = []; for (int i = 0; i < 100000; i++) { l.add(1) } return l.containsAll(l)"}}, ANY, clients=4),
    # Pipelines.
    simulated("dissect_pairs", lambda: {"dissect": {"field": "a", "pattern": ",".join(f"%{{*a{n}}},%{{&a{n}}}" for n in range(60_000))}}, lambda: {"a": "x"}),
    simulated("dissect_parts", lambda: {"dissect": {"field": "a", "pattern": "%{+z}," + ",".join(f"%{{a{n}}}" for n in range(120_000))}}, lambda: {"a": "x," * 120_010}, clients=4),
    simulated("remove_long_key", lambda: {"remove_by_pattern": {"field_pattern": ["*" + "a" * 100_000 + "b"]}}, lambda: {"a" * 2_000_000: 1}, clients=4),
    simulated("date_formats", lambda: {"date": {"field": "a", "formats": ["ISO8601"] * 20_000}}, lambda: {"a": "x" * 1_000_000}, clients=4),
]
