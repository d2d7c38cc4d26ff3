"""Every engine that takes a pattern from a request: Lucene's regular expressions, wildcards, edits, Java's, Oniguruma's, names, paths."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)
KEYS = 5_000

SETUP = [
    ("PUT", "/patterns", {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.max_regex_length": 100_000, "index.query.default_field": "*"},
                          "mappings": {"properties": {"k": {"type": "keyword"}, "t": {"type": "text"}, "w": {"type": "keyword", "normalizer": "lowercase"},
                                                      "f": {"type": "flattened"}, **{f"x{n}": {"type": "keyword"} for n in range(200)}}}}),
    ("POST", "/patterns/_bulk?refresh=true", lambda: Lines([line for n in range(KEYS) for line in (
        {"index": {}}, {"k": f"{'a' * (n % 200)}{n}", "w": "ab" * (n % 100), "t": f"{'a' * (n % 50)} b c d e f g {n}", "f": {f"k{n}": "a" * 50}})])),
    ("PUT", "/pattern_long", {"mappings": {"properties": {"k": {"type": "keyword"}}}}),
    ("POST", "/pattern_long/_bulk?refresh=true", lambda: Lines([line for n in range(200) for line in ({"index": {}}, {"k": "a" * 30_000 + str(n)})])),
]

REGEXPS = {
    "stars": "(a*)*b", "many_stars": ".*" * 300 + "x", "repeats": "((a{1,30}){1,30}){1,30}", "repeat_huge": "a{1,2147483647}", "repeat_wide": ".{0,900}a.{0,900}",
    "alternatives": "|".join(f"{'a' * 20}{n}" for n in range(4_000)), "intersections": "&".join(["(.*a.*)"] * 60), "complements": "~(" * 20 + "a" + ")" * 20,
    "complement_of_any": "~(.*a.{1,20}b.*)", "interval": "<0-99999999999999999999>", "intervals": "<1-1000000>" * 50, "classes": "[a-z]" * 5_000,
    "negated": "[^a]" * 5_000, "deep": "(" * 5_000 + "a" + ")" * 5_000, "optional": "a?" * 900 + "a" * 900, "exponential": "(a|b)*a(a|b){14}", "exponential_more": "(a|b)*a(a|b){24}",
    "empty": "", "any": "@", "nothing": "#", "unclosed": "(a", "surrogates": "[\ud83d\ude00-\ud83d\ude4f]{1,500}", "escapes": "\\" * 4_000, "quoted": "\"" + "a" * 9_000,
}
WILDCARDS = {
    "stars": "*" * 20_000, "alternating": "*a" * 5_000 + "*", "questions": "?" * 10_000, "questions_and_stars": "*?" * 3_000 + "b", "long": "a" * 50_000 + "*",
    "escapes": "\\*" * 10_000, "leading": "*" + "a" * 900, "almost": ("*" + "a" * 40) * 30 + "*b",
}


def deep_intervals(depth):
    inside = {"match": {"query": "a"}}
    for _ in range(depth):
        inside = {"all_of": {"intervals": [inside]}}
    return inside


def query(name, body, **more):
    return Case(name, "POST", "/patterns/_search", lambda: {"query": body}, **{"seconds": 60, **more})


CASES = []
for name, pattern in REGEXPS.items():
    CASES += [
        query(f"regexp_{name}", {"regexp": {"k": {"value": pattern, "flags": "ALL"}}}),
        query(f"regexp_states_{name}", {"regexp": {"k": {"value": pattern, "max_determinized_states": 2_147_483_647, "case_insensitive": True}}}),
        query(f"query_string_{name}", {"query_string": {"query": "/" + pattern.replace("/", "") + "/"}}),
        Case(f"include_{name}", "POST", "/patterns/_search", {"size": 0, "aggs": {"a": {"terms": {"field": "k", "include": pattern, "exclude": pattern}}}}, seconds=20),
    ]
CASES += [Case(f"regexp_long_{name}", "POST", "/pattern_long/_search", {"query": {"regexp": {"k": {"value": pattern}}}}, seconds=20)
          for name, pattern in REGEXPS.items() if name in ("stars", "many_stars", "exponential", "repeat_wide", "complement_of_any")]
for name, pattern in WILDCARDS.items():
    CASES += [
        query(f"wildcard_{name}", {"wildcard": {"k": {"value": pattern}}}),
        query(f"wildcard_insensitive_{name}", {"wildcard": {"k": {"value": pattern, "case_insensitive": True}}}),
        Case(f"wildcard_long_{name}", "POST", "/pattern_long/_search", {"query": {"wildcard": {"k": {"value": pattern}}}}, seconds=20),
        query(f"query_string_wildcard_{name}", {"query_string": {"query": pattern, "fields": ["*"], "analyze_wildcard": True}}),
        query(f"intervals_wildcard_{name}", {"intervals": {"t": {"wildcard": {"pattern": pattern}}}}),
        query(f"span_wildcard_{name}", {"span_near": {"clauses": [{"span_multi": {"match": {"wildcard": {"t": {"value": pattern}}}}}] * 20, "slop": 100}}),
        query(f"fields_{name}", {"multi_match": {"query": "a", "fields": [pattern]}}),
        Case(f"source_{name}", "POST", "/patterns/_search", {"size": 1000, "_source": [pattern] * 20}, seconds=20),
        Case(f"fields_of_hits_{name}", "POST", "/patterns/_search", {"size": 1000, "fields": [pattern] * 20}, seconds=20),
        Case(f"field_caps_{name}", "POST", "/patterns/_field_caps", {"fields": [pattern] * 20}, seconds=20),
        Case(f"filter_path_{name}", "GET", "/patterns/_search?size=1000&filter_path=" + ("**." + pattern[:800].replace("\\", "")).replace("?", "%3F"), None, seconds=20),
    ]
CASES += [
    Case("filter_path_any_depth", "GET", "/patterns/_search?size=5000&filter_path=" + "**.*a*." * 400 + "x", None, seconds=20),
    Case("filter_path_many", "GET", "/patterns/_search?size=5000&filter_path=" + ",".join(f"**.a{n}" for n in range(400)), None, seconds=20),
    Case("filter_path_minus", "GET", "/patterns/_search?size=5000&filter_path=" + ",".join(f"-**.a{n}" for n in range(400)), None, seconds=20),
    Case("index_names", "GET", "/" + "*a" * 1_500 + "*/_search", None),
    Case("index_names_many", "GET", "/" + ",".join(["*"] * 1_800) + "/_search", None, seconds=20),
    Case("index_names_minus", "GET", "/" + "*," + ",".join([f"-a{n}*" for n in range(500)]) + "/_search", None),
    Case("cat_columns", "GET", "/_cat/indices?h=" + ",".join(["*"] * 1_800), None, seconds=20),
    Case("cat_sort", "GET", "/_cat/shards?s=" + ",".join(["index:desc"] * 300), None),
    Case("templates_names", "GET", "/_index_template/" + "*a" * 1_500 + "*", None),
    Case("cluster_state", "GET", "/_cluster/state/" + ",".join(["metadata"] * 400) + "/" + "*a" * 500, None),
    Case("nodes_stats_fields", "GET", "/_nodes/stats/indices/fielddata?fields=" + "*a" * 1_500, None),
    query("fuzzy_transposed", {"fuzzy": {"k": {"value": "a" * 20_000, "fuzziness": 2, "prefix_length": 0, "max_expansions": 2_147_483_647}}}),
    query("fuzzy_expansions", {"match": {"t": {"query": "a " * 1_000, "fuzziness": 2, "max_expansions": 2_147_483_647}}}),
    query("prefix_all", {"bool": {"should": [{"prefix": {"k": {"value": ""}}}] * 1_000}}),
    query("prefix_rewritten", {"prefix": {"k": {"value": "", "rewrite": "top_terms_2147483647"}}}),
    query("wildcard_scored", {"wildcard": {"k": {"value": "*", "rewrite": "scoring_boolean"}}}),
    query("phrase_prefix", {"match_phrase_prefix": {"t": {"query": "a " * 1_000 + "a", "max_expansions": 2_147_483_647, "slop": 2_147_483_647}}}),
    query("phrase_prefixes", {"multi_match": {"query": "a b c a", "type": "phrase_prefix", "fields": ["*"] * 5, "slop": 2_147_483_647}}),
    query("phrase_slop", {"match_phrase": {"t": {"query": "a a a a a a a a b c d e f g " * 20, "slop": 2_147_483_647}}}, seconds=30),
    query("bool_prefix", {"match_bool_prefix": {"t": {"query": "a " * 5_000 + "a", "max_expansions": 2_147_483_647}}}),
    query("intervals_deep", {"intervals": {"t": deep_intervals(500)}}),
    query("intervals_any", {"intervals": {"t": {"any_of": {"intervals": [{"prefix": {"prefix": "a"}}] * 500}}}}),
    query("intervals_all", {"intervals": {"t": {"all_of": {"intervals": [{"match": {"query": "a b c d e f g", "ordered": False}}] * 100, "max_gaps": -1}}}}),
    query("intervals_fuzzy", {"intervals": {"t": {"fuzzy": {"term": "a" * 10_000, "fuzziness": 2}}}}),
    query("intervals_regexp", {"intervals": {"t": {"regexp": {"pattern": "(a*)*b"}}}}),
    query("spans_deep", {"span_or": {"clauses": [{"span_term": {"t": "a"}}] * 20_000}}),
    query("spans_near", {"span_near": {"clauses": [{"span_term": {"t": "a"}}] * 500, "slop": 2_147_483_647, "in_order": False}}),
    query("simple_query_string", {"simple_query_string": {"query": "(" * 20_000 + "a" + ")" * 20_000, "fields": ["*"]}}),
    query("simple_query_string_edits", {"simple_query_string": {"query": "aaaaaaaa~2 " * 3_000, "fields": ["t"]}}),
    query("simple_query_string_not", {"simple_query_string": {"query": "-" * 30_000 + "a", "fields": ["t"]}}),
    query("query_string_parentheses", {"query_string": {"query": "(" * 20_000 + "a" + ")" * 20_000}}),
    query("query_string_not", {"query_string": {"query": "NOT " * 20_000 + "a"}}),
    query("query_string_fields", {"query_string": {"query": "a b c d e f g h i j " * 100, "fields": ["*"], "type": "cross_fields"}}),
    query("query_string_ranges", {"query_string": {"query": "k:[a TO b] OR " * 5_000 + "a"}}),
    query("query_string_boosts", {"query_string": {"query": "a" + "^2" * 10_000}}),
    query("query_string_field_names", {"query_string": {"query": ("x" * 1_000 + "*:a ") * 100}}),
    query("query_string_slop", {"query_string": {"query": "\"a b c\"~999999999999999999999"}}),
    query("query_string_quotes", {"query_string": {"query": "\"" * 20_001}}),
    query("more_like_this", {"more_like_this": {"fields": ["t", "k"], "like": ["a b c d e f g " * 20_000] * 20, "min_term_freq": 0, "min_doc_freq": 0,
                                                "max_query_terms": 2_147_483_647}}),
    query("more_like_documents", {"more_like_this": {"fields": ["t"], "like": [{"_index": "patterns", "_id": str(n)} for n in range(20_000)]}}),
    query("more_like_artificial", {"more_like_this": {"fields": ["t"], "like": [{"doc": {"t": "a b c " * 50_000}}] * 50}}),
    Case("terms_enum_long", "POST", "/patterns/_terms_enum", {"field": "k", "string": "a" * 30_000, "size": 10_000}),
    Case("template_regexp", "PUT", "/matched/_doc/1", lambda: {"a" * 8_000 + str(n): n for n in range(20)}, OK + BAD, [("PUT", "/matched", {"mappings": {"dynamic_templates": [
        {f"t{n}": {"match_pattern": "regex", "match": f"(a|aa|a*)*{n}b", "mapping": {"type": "keyword"}}} for n in range(50)]}})], seconds=20),
    Case("template_regexps_large", "PUT", "/matched/_doc/1", lambda: {f"name{n}": n for n in range(900)}, OK + BAD, [("PUT", "/matched", {"mappings": {"dynamic_templates": [
        {f"t{n}": {"match_pattern": "regex", "match": f"x{n}((a{{30}}){{30}}){{3}}", "mapping": {"type": "keyword"}}} for n in range(200)]}})], seconds=20),
    Case("template_path_regexp", "PUT", "/matched2/_doc/1", lambda: {"a" * 60: {"b" * 60: {"c" * 500: 1}}}, OK + BAD, [("PUT", "/matched2", {"mappings": {"dynamic_templates": [
        {f"t{n}": {"path_match": "*a" * 400 + f"{n}", "mapping": {"type": "keyword"}}} for n in range(100)]}})], seconds=20),
    Case("grok_alternatives", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"grok": {"field": "a", "patterns": ["(" + "|".join(
        ["%{GREEDYDATA}"] * 200) + ")%{NUMBER}x"]}}]}, "docs": [{"_source": {"a": "a" * 50_000}}]}),
    Case("grok_circle", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"grok": {"field": "a", "patterns": ["%{A}"], "pattern_definitions": {
        "A": "%{B}", "B": "%{A}"}}}]}, "docs": [{"_source": {"a": "a"}}]}, 400),
    Case("grok_expands", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"grok": {"field": "a", "patterns": ["%{P20}"], "pattern_definitions": {
        "P0": "aaaaaaaa", **{f"P{n}": f"%{{P{n - 1}}}%{{P{n - 1}}}%{{P{n - 1}}}" for n in range(1, 21)}}}}]}, "docs": [{"_source": {"a": "a"}}]}, BAD),
    Case("grok_patterns", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"grok": {"field": "a", "patterns": [
        f"%{{DATA}} %{{DATA}} %{{DATA}} %{{DATA}} {n}$" for n in range(300)]}}]}, "docs": [{"_source": {"a": "a " * 5_000}}] * 20}),
    Case("dissect_keys", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"dissect": {"field": "a", "pattern": "%{+a}" + ",%{+a}" * 5_000}}]},
         "docs": [{"_source": {"a": ",".join(["x" * 100] * 5_001)}}] * 20}),
    Case("pattern_replace_backtracking", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": [{"type": "pattern_replace", "pattern": "(a|aa)+$", "replacement": "b"}],
         "text": "a" * 50_000 + "b"}),
    Case("pattern_replace_look", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": [{"type": "pattern_replace", "pattern": "(?=(a*)*b)a", "replacement": "b"}],
         "text": "a" * 300_000}),
    Case("pattern_replace_quadratic", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": [{"type": "pattern_replace", "pattern": ".*?x|.", "replacement": "b"}],
         "text": "a" * 300_000}, clients=6),
    Case("pattern_replace_groups", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": [{"type": "pattern_replace", "pattern": "(a)" * 500, "replacement": "$1$2$3" * 1_000}],
         "text": "a" * 300_000}),
    Case("mapping_filter_many", "POST", "/_analyze", lambda: {"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": [
        f"{'a' * n} => b" for n in range(1, 2_000)]}], "text": "a" * 300_000}),
    Case("mapping_filter_large", "POST", "/_analyze", lambda: {"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": [
        f"a{n} => {'b' * 50}" for n in range(300_000)]}], "text": "a"}),
    Case("analyze_filters", "POST", "/_analyze", {"tokenizer": "standard", "filter": ["lowercase"] * 200_000, "text": "a"}),
    Case("analyze_texts", "POST", "/_analyze", lambda: {"text": ["a b c"] * 300_000}),
    Case("analyze_stopwords", "POST", "/_analyze", lambda: {"tokenizer": "standard", "filter": [{"type": "stop", "stopwords": [f"w{n}" for n in range(500_000)]}], "text": "a"}),
    Case("analyze_combining", "POST", "/_analyze", {"tokenizer": "standard", "text": "a" + "\u0301" * 1_000_000, "filter": ["asciifolding", "uppercase"]}),
    Case("analyze_long_token", "POST", "/_analyze", {"tokenizer": {"type": "standard", "max_token_length": 1_000_000}, "text": "a" * 1_000_000, "filter": ["porter_stem"] * 50}),
    Case("analyze_uppercase", "POST", "/_analyze", {"tokenizer": "keyword", "text": "\u0390" * 500_000, "filter": ["uppercase", "lowercase"] * 100}),
    Case("analyze_token_limit", "POST", "/_analyze", {"text": "a " * 20_000}, REFUSED + OK),
    Case("analyze_html", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": ["html_strip"] * 200, "text": "&amp;" * 200_000}),
    Case("analyze_entities", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": ["html_strip"], "text": "&" * 500_000 + "&#99999999999999999999;"}),
    Case("analyze_html_tags", "POST", "/_analyze", {"tokenizer": "keyword", "char_filter": ["html_strip"], "text": "<a b='" * 200_000}),
]
