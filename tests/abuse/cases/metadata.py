"""What is kept of requests: mappings, templates, aliases, scripts, settings; and documents that a mapping multiplies."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)


def tree(depth, width):
    """Nested objects, `width` members on each level."""
    inside = {}
    for _ in range(depth):
        inside = {f"k{n}": (inside if n == 0 else "v" * 20) for n in range(width)}
    return inside


def fields(count, kind="keyword"):
    return {f"f{n}": {"type": kind} for n in range(count)}


def multiplying(filters=9):
    """An analyzer of character filters each of which makes ten characters of one."""
    names = [f"m{n}" for n in range(filters)]
    declared = {name: {"type": "pattern_replace", "pattern": "(.)", "replacement": "$1" * 10} for name in names}
    return {"analysis": {"char_filter": declared, "analyzer": {"m": {"tokenizer": "standard", "char_filter": names}}}}


LIMITS = {"index.mapping.total_fields.limit": 1_000_000, "number_of_shards": 1, "number_of_replicas": 0}
META = {f"k{n}": ["v" * 100] * 20 for n in range(3000)}

CASES = [
    Case("analyze_multiplies", "POST", "/_analyze", {"text": "abcdefgh", "tokenizer": "standard", "char_filter": [
        {"type": "pattern_replace", "pattern": "(.)", "replacement": "$1" * 10}] * 9}, BAD),
    Case("analyze_spaces", "POST", "/_analyze", {"text": "abcdefgh", "tokenizer": "whitespace", "char_filter": [
        {"type": "pattern_replace", "pattern": "(.)", "replacement": "a b c d e f g h i "}] * 8}, BAD),
    Case("analyze_explained", "POST", "/_analyze", {"text": "abc " * 1000, "tokenizer": "standard", "explain": True, "filter": ["lowercase"] * 500}, OK + BAD),
    Case("analyze_mapping", "POST", "/_analyze", {"text": "a" * 1000, "tokenizer": "keyword", "char_filter": [
        {"type": "mapping", "mappings": ["a => " + "a" * 1000]}] * 4}, BAD),
    Case("analyze_long", "POST", "/_analyze", lambda: {"text": "a " * 10_000_000}, OK + BAD),
    Case("twelve_bytes", "PUT", "/multiplied/_doc/1", "{\"t\":\"abcd\"}", BAD,
         [("PUT", "/multiplied", {"settings": multiplying(), "mappings": {"properties": {"t": {"type": "text", "analyzer": "m"}}}})]),
    Case("twelve_bytes_bulk", "POST", "/multiplied2/_bulk", Lines([{"index": {}}, {"t": "abcd"}] * 50), OK + BAD,
         [("PUT", "/multiplied2", {"settings": multiplying(7), "mappings": {"properties": {"t": {"type": "text", "analyzer": "m"}}}})]),
    Case("multi_fields", "PUT", "/fields/_doc/1", lambda: {"t": "word number one " * 100_000}, OK + BAD,
         [("PUT", "/fields", {"settings": multiplying(1), "mappings": {"properties": {"t": {"type": "text", "fields": {
             f"f{n}": {"type": "text", "analyzer": ["standard", "simple", "whitespace", "english", "m"][n % 5]} for n in range(900)}}}}})]),
    Case("copy_to", "PUT", "/copied/_doc/1", lambda: {"t": "word number one " * 100_000}, OK + BAD,
         [("PUT", "/copied", {"mappings": {"properties": {**{f"c{n}": {"type": "text"} for n in range(900)}, "t": {
             "type": "text", "copy_to": [f"c{n}" for n in range(900)]}}}})]),
    Case("copy_to_values", "PUT", "/copied2/_doc/1", lambda: {"t": ["word" + str(n) for n in range(100_000)]}, OK + BAD,
         [("PUT", "/copied2", {"mappings": {"properties": {**{f"c{n}": {"type": "keyword"} for n in range(900)}, "t": {
             "type": "keyword", "copy_to": [f"c{n}" for n in range(900)]}}}})]),
    Case("fields_200000", "PUT", "/many", lambda: {"mappings": {"properties": fields(200_000)}}, BAD),
    Case("fields_200000_allowed", "PUT", "/many", lambda: {"settings": LIMITS, "mappings": {"properties": fields(200_000)}}, OK + BAD, seconds=60,
         cleanup=[("DELETE", "/many")]),
    Case("fields_dynamic", "PUT", "/dynamic/_doc/1", lambda: {f"f{n}": n for n in range(100_000)}, BAD, cleanup=[("DELETE", "/dynamic")]),
    Case("fields_dynamic_allowed", "PUT", "/dynamic2/_doc/1", lambda: {f"f{n}": n for n in range(50_000)}, OK + BAD,
         [("PUT", "/dynamic2", {"settings": LIMITS})], seconds=60),
    Case("nested_fields_5000", "PUT", "/nested/_doc/1", lambda: {f"n{n}": [{"a": n}] for n in range(5000)}, OK + BAD,
         [("PUT", "/nested", {"settings": {**LIMITS, "index.mapping.nested_fields.limit": 10_000},
                              "mappings": {"properties": {f"n{n}": {"type": "nested", "properties": {"a": {"type": "long"}}} for n in range(5000)}}})],
         seconds=60),
    Case("nested_types", "PUT", "/nested2", {"mappings": {"properties": {f"n{n}": {"type": "nested"} for n in range(200)}}}, BAD),
    Case("depth", "PUT", "/deep", lambda: {"mappings": tree_mapping(100)}, BAD),
    Case("dotted", "PUT", "/dotted", {"mappings": {"properties": {".".join(["a"] * 5000): {"type": "keyword"}}}}, BAD),
    Case("long_name", "PUT", "/named", {"mappings": {"properties": {"n" * 5_000_000: {"type": "keyword"}}}}, OK + BAD, cleanup=[("DELETE", "/named")]),
    Case("mapping_meta", "PUT", "/meta", lambda: {"mappings": {"_meta": META}}, OK + BAD, cleanup=[("DELETE", "/meta")]),
    Case("mapping_metas", "PUT", "/meta2", lambda: {"mappings": {"_meta": META}}, OK + BAD, cleanup=[("DELETE", "/meta2")], clients=8),
    Case("dynamic_templates", "PUT", "/templated", lambda: {"mappings": {"dynamic_templates": [
        {f"t{n}": {"match": f"*{n}*", "match_pattern": "regex", "match": f".*{n}(a|b){{1,50}}.*", "mapping": {"type": "keyword"}}} for n in range(500)]}},
        OK + BAD, cleanup=[("DELETE", "/templated")], seconds=60),
    Case("runtime_fields", "PUT", "/runtime", lambda: {"mappings": {"runtime": {
        f"r{n}": {"type": "long", "script": {"source": f"emit({n})"}} for n in range(20_000)}}}, OK + BAD, cleanup=[("DELETE", "/runtime")], seconds=60),
    Case("flattened", "PUT", "/flat/_doc/1", lambda: {"f": tree(19, 2000)}, OK + BAD,
         [("PUT", "/flat", {"mappings": {"properties": {"f": {"type": "flattened"}}}})]),
    Case("analyzers", "PUT", "/analyzers", lambda: {"settings": {"analysis": {"filter": {
        f"s{n}": {"type": "stop", "stopwords": [f"w{w}" for w in range(1000)]} for n in range(500)}, "analyzer": {
        f"a{n}": {"tokenizer": "standard", "filter": [f"s{n}"]} for n in range(500)}}}}, OK + BAD, cleanup=[("DELETE", "/analyzers")], seconds=60),
    Case("alias_own_name", "PUT", "/own", {"aliases": {"own": {}}}, 400),
    Case("alias_of_an_index", "PUT", "/own1/_alias/own1", None, 400, [("PUT", "/own1", {})]),
    Case("alias_actions_3000", "POST", "/_aliases", lambda: {"actions": [{"add": {"index": "aliased", "alias": f"a{n}"}} for n in range(3000)]},
         OK + BAD, [("PUT", "/aliased", {})], seconds=20),
    Case("alias_actions_back_and_forth", "POST", "/_aliases", lambda: {"actions": [
        {("add" if n % 2 == 0 else "remove"): {"index": "aliased2", "alias": "a"}} for n in range(8000)]}, OK + BAD, [("PUT", "/aliased2", {})], seconds=20),
    Case("alias_filters", "POST", "/_aliases", lambda: {"actions": [{"add": {"index": "filtered", "alias": f"f{n}", "filter": {
        "terms": {"k": [f"{n}-{t}" for t in range(1000)]}}}} for n in range(500)]}, OK + BAD, [("PUT", "/filtered", {})], seconds=30),
    Case("two_write_indices", "POST", "/_aliases", {"actions": [
        {"add": {"index": "write1", "alias": "w", "is_write_index": True}}, {"add": {"index": "write2", "alias": "w", "is_write_index": True}}]}, 400,
        [("PUT", "/write1", {}), ("PUT", "/write2", {})]),
    Case("settings_tree", "PUT", "/_cluster/settings", lambda: {"persistent": tree(20, 200)}, OK + BAD),
    Case("cluster_metadata", "PUT", "/_cluster/settings", lambda: {"persistent": {f"cluster.metadata.k{n}": "v" * 1000 for n in range(500)}}, OK + BAD,
         cleanup=[("PUT", "/_cluster/settings", {"persistent": {"cluster.metadata.*": None}})]),
    Case("script_long", "PUT", "/_scripts/long", lambda: {"script": {"lang": "painless", "source": "1+" * 2_000_000 + "1"}}, BAD),
    Case("script_deep", "PUT", "/_scripts/deep", lambda: {"script": {"lang": "painless", "source": "(" * 30_000 + "1" + ")" * 30_000}}, OK + BAD, cleanup=[("DELETE", "/_scripts/deep")]),
    Case("pipeline_meta", "PUT", "/_ingest/pipeline/meta", lambda: {"_meta": META, "processors": []}, OK + BAD,
         cleanup=[("DELETE", "/_ingest/pipeline/meta")]),
    Case("wkt_unreadable", "PUT", "/shapes/_doc/1", {"s": "POLYGON ((1 2, 3"}, 400,
         [("PUT", "/shapes", {"mappings": {"properties": {"s": {"type": "geo_shape"}, "p": {"type": "geo_point"}}}})]),
    Case("bulk_items", "POST", "/items/_bulk", Lines([{"delete": {"_id": "a"}}] * 200_000), OK + BAD, cleanup=[("DELETE", "/items")], seconds=60),
    Case("bulk_indices", "POST", "/_bulk", Lines([line for n in range(200) for line in ({"index": {"_index": f"made-{n}"}}, {"a": 1})]), OK + BAD,
         cleanup=[("DELETE", f"/made-{n}") for n in range(200)], seconds=120),
    Case("bulk_metadata", "POST", "/items2/_bulk", lambda: "{\"index\":{" + "\"_id\":\"a\"," * 300_000 + "\"_id\":\"b\"}}\n{}\n", OK + BAD,
         cleanup=[("DELETE", "/items2")]),
]

for kind, path, wrap in (
    ("template", "/_index_template/t{n}", lambda body: {"index_patterns": ["never-*"], "priority": 1, **body}),
    ("component", "/_component_template/c{n}", lambda body: {"template": {}, **body}),
    ("legacy", "/_template/l{n}", lambda body: {"index_patterns": ["never-*"], "mappings": body}),
):
    for number in range(4):
        CASES.append(Case(f"{kind}_meta_{number}", "PUT", path.format(n=number), (lambda wrap: lambda: wrap({"_meta": META}))(wrap), OK + BAD))
    CASES.append(Case(f"{kind}_meta_gone", "DELETE", path.format(n="*"), None, OK + REFUSED))

for number, text in enumerate((
    "POINT", "POINT (", "POINT (1", "POINT (a b)", "POINT (1 2 3 4)", "LINESTRING (1 2)", "POLYGON ((1 2, 3 4, 5 6))", "CIRCLE (1 2 3)",
    "GEOMETRYCOLLECTION (" * 1000, "MULTIPOLYGON (((", "BBOX (1, 2, 3)", "POINT (1e400 2)", "", " ", "\x00", "POINT EMPTY", "POLYGON ((NaN NaN, 1 1, 2 2, NaN NaN))",
    "MULTIPOINT ((1 2), 3)", "ENVELOPE (1, 2)", "LINESTRING (1 2, 3 4" + ", 5 6" * 200_000,
)):
    for field in ("s", "p"):
        CASES.append(Case(f"wkt_{field}_{number}", "PUT", f"/shapes{number}{field}/_doc/1", {field: text}, OK + (400,),
                          [("PUT", f"/shapes{number}{field}", {"mappings": {"properties": {"s": {"type": "geo_shape"}, "p": {"type": "geo_point"}}}})]))


def tree_mapping(depth):
    inside = {"type": "keyword"}
    for _ in range(depth):
        inside = {"properties": {"a": inside}}
    return inside
