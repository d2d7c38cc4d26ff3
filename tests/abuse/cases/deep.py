"""Names, rules, formats and texts of one level that become trees as deep as they are long."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 404, 413, 414, 429)
DEEP = 200_000
DOTTED = "a." * DEEP + "b"

SETUP = [
    ("PUT", "/d", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        "t": {"type": "text", "term_vector": "with_positions_offsets"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}, "f": {"type": "flattened"}, "c": {"type": "completion"}}}}),
    ("PUT", "/d/_doc/1?refresh=true", {"t": "hello world", "k": "a", "n": 1, "f": {"a": {"b": 1}}, "c": "hello"}),
]


def search(name, body, **more):
    return Case(name, "POST", "/d/_search", body, OK + BAD, **{"seconds": 30, **more})


def analyze(name, body, **more):
    return Case(f"analyze_{name}", "POST", "/_analyze", body, OK + BAD, **{"seconds": 30, **more})


def simulate(name, processor, source, **more):
    return Case(f"simulate_{name}", "POST", "/_ingest/pipeline/_simulate", lambda: {"pipeline": {"processors": [processor]}, "docs": [{"_source": source}]}, OK + BAD, **{"seconds": 30, **more})


def nested(depth, wrap, inner):
    for _ in range(depth):
        inner = wrap(inner)
    return inner


CASES = [
    search("source_includes", {"_source": [DOTTED]}),
    search("source_excludes", {"_source": {"excludes": [DOTTED, "*." * DEEP]}}),
    search("source_many", lambda: {"_source": ["a." * n + "b" for n in range(2_000)]}),
    search("fields", {"fields": [DOTTED, "*." * 10_000]}),
    search("docvalues", {"docvalue_fields": [DOTTED]}),
    search("stored", {"stored_fields": [DOTTED]}),
    search("sort", {"sort": [DOTTED]}),
    search("query", {"query": {"term": {DOTTED: 1}}}),
    search("flattened", {"query": {"term": {"f." + DOTTED: 1}}}),
    search("exists", {"query": {"exists": {"field": DOTTED}}}),
    search("aggregation", {"aggs": {"a": {"terms": {"field": DOTTED}}}}),
    search("buckets_path", {"aggs": {"a": {"sum_bucket": {"buckets_path": "a>" * DEEP + "b"}}}}),
    search("order", {"aggs": {"a": {"terms": {"field": "k", "order": {"a>" * DEEP + "b": "asc"}}}}}),
    search("runtime", {"runtime_mappings": {DOTTED: {"type": "long"}}}),
    search("highlight", {"query": {"match": {"t": "hello"}}, "highlight": {"fields": {DOTTED: {}}}}),
    search("phrase", {"query": {"match_phrase": {"t": "hello " * DEEP}}, "highlight": {"fields": {"t": {"type": "fvh"}}}}),
    search("phrase_unified", {"query": {"match_phrase": {"t": "hello " * DEEP}}, "highlight": {"fields": {"t": {}}}}),
    search("phrase_plain", {"query": {"match_phrase": {"t": "hello " * DEEP}}, "highlight": {"fields": {"t": {"type": "plain"}}}}),
    search("phrases_many", lambda: {"query": {"bool": {"should": [{"match_phrase": {"t": "hello " * n}} for n in range(1, 900)]}}, "highlight": {"fields": {"t": {"type": "fvh"}}}}),
    search("completion_regex", {"suggest": {"a": {"regex": "(" * DEEP + "a" + ")" * DEEP, "completion": {"field": "c"}}}}),
    search("completion_complement", {"suggest": {"a": {"regex": "~" * DEEP + "a", "completion": {"field": "c"}}}}),
    search("completion_repeats", {"suggest": {"a": {"regex": "a" + "*" * DEEP, "completion": {"field": "c"}}}}),
    search("completion_alternatives", {"suggest": {"a": {"regex": "a|" * DEEP + "b", "completion": {"field": "c"}}}}),
    search("include", {"aggs": {"a": {"terms": {"field": "k", "include": "(" * DEEP + "a" + ")" * DEEP}}}}),
    search("include_complement", {"aggs": {"a": {"terms": {"field": "k", "include": "~" * DEEP + "a"}}}}),
    search("include_repeats", {"aggs": {"a": {"terms": {"field": "k", "include": "a" + "+" * DEEP}}}}),
    search("intervals_regexp", {"query": {"intervals": {"t": {"regexp": {"pattern": "(" * DEEP + "a" + ")" * DEEP}}}}}),
    search("query_string_operators", {"query": {"query_string": {"query": "NOT " * DEEP + "a"}}}),
    search("query_string_signs", {"query": {"query_string": {"query": "+" * DEEP + "a"}}}),
    search("query_string_or", {"query": {"query_string": {"query": "a OR " * DEEP + "b"}}}),
    search("query_string_and", {"query": {"query_string": {"query": "a AND (b OR " * 50_000 + "c" + ")" * 50_000}}}),
    search("query_string_field", {"query": {"query_string": {"query": "a:" * DEEP + "b"}}}),
    search("query_string_boost", {"query": {"query_string": {"query": "(a)^2" * 50_000}}}),
    search("simple_query_string", {"query": {"simple_query_string": {"query": "(" * DEEP + "a | b" + ")" * DEEP}}}),
    search("simple_query_string_not", {"query": {"simple_query_string": {"query": "-" * DEEP + "a"}}}),
    search("simple_query_string_or", {"query": {"simple_query_string": {"query": "a | " * DEEP + "b"}}}),
    search("minimum_should_match", {"query": {"match": {"t": {"query": "a b", "minimum_should_match": "1<" * DEEP + "2"}}}}),
    search("minimum_should_match_rules", {"query": {"match": {"t": {"query": "a b", "minimum_should_match": "1<2 " * DEEP}}}}),
    search("date_math", {"query": {"range": {"d": {"gte": "now" + "+1d" * DEEP}}}}),
    search("date_math_rounds", {"query": {"range": {"d": {"gte": "now" + "/d" * DEEP}}}}),
    search("date_format", {"query": {"range": {"d": {"gte": "2020", "format": "[" * DEEP + "yyyy" + "]" * DEEP}}}}),
    search("number_format", {"aggs": {"a": {"max": {"field": "n", "format": "#," * DEEP + "0"}}}}),
    search("script_parentheses", {"script_fields": {"a": {"script": "(" * 30_000 + "1" + ")" * 30_000}}}),
    search("script_unary", {"script_fields": {"a": {"script": "!" * 60_000 + "true"}}}),
    search("script_negations", {"script_fields": {"a": {"script": "- " * 30_000 + "1"}}}),
    search("script_sums", {"script_fields": {"a": {"script": "1+" * 30_000 + "1"}}}),
    search("script_ternaries", {"script_fields": {"a": {"script": "true ? 1 : " * 5_000 + "2"}}}),
    search("script_elvis", {"script_fields": {"a": {"script": "null ?: " * 7_000 + "2"}}}),
    search("script_elses", {"script_fields": {"a": {"script": "if (false) { return 1 } else " * 2_000 + "{ return 2 }"}}}),
    search("script_calls", {"script_fields": {"a": {"script": "'a'" + ".trim()" * 8_000}}}),
    search("script_members", {"script_fields": {"a": {"script": "params" + ".a" * 30_000}}}),
    search("script_indexes", {"script_fields": {"a": {"script": "params" + "['a']" * 10_000}}}),
    search("script_lists", {"script_fields": {"a": {"script": "[" * 30_000 + "]" * 30_000}}}),
    search("script_maps", {"script_fields": {"a": {"script": "['a':" * 10_000 + "1" + "]" * 10_000}}}),
    search("script_lambdas", {"script_fields": {"a": {"script": "x -> " * 10_000 + "1"}}}),
    search("script_casts", {"script_fields": {"a": {"script": "(int)" * 12_000 + "1"}}}),
    search("script_blocks", {"script_fields": {"a": {"script": "{" * 30_000 + "}" * 30_000}}}),
    search("script_assignments", {"script_fields": {"a": {"script": "def a = " + "a = " * 15_000 + "1; return a"}}}),
    search("expression", {"sort": [{"_script": {"type": "number", "script": {"lang": "expression", "source": "(" * 30_000 + "1" + ")" * 30_000}}}]}),
    search("expression_minus", {"sort": [{"_script": {"type": "number", "script": {"lang": "expression", "source": "-" * 60_000 + "1"}}}]}),
    analyze("char_mapping", {"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": ["a" * DEEP + " => b"]}], "text": "a" * 1_000}),
    analyze("char_mappings", lambda: {"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": ["a" * n + "b => c" for n in range(1, 2_000)]}], "text": "a" * 100_000}),
    analyze("overrides", {"tokenizer": "keyword", "filter": [{"type": "stemmer_override", "rules": ["a" * DEEP + " => b"]}], "text": "a"}),
    analyze("decompounder", {"tokenizer": "keyword", "filter": [{"type": "dictionary_decompounder", "word_list": ["a" * DEEP]}], "text": "a" * DEEP}),
    analyze("synonyms", {"tokenizer": "standard", "filter": [{"type": "synonym", "synonyms": ["a " * DEEP + "=> b"]}], "text": "a " * 5_000}),
    analyze("synonyms_out", {"tokenizer": "standard", "filter": [{"type": "synonym_graph", "synonyms": ["a => " + "b " * DEEP]}], "text": "a " * 5_000}),
    analyze("common_grams", lambda: {"tokenizer": "standard", "filter": [{"type": "common_grams", "common_words": ["a" * n for n in range(2_000)]}], "text": "a " * 5_000}),
    analyze("simple_pattern", {"tokenizer": {"type": "simple_pattern", "pattern": "(" * DEEP + "a" + ")" * DEEP}, "text": "a"}),
    analyze("pattern", {"tokenizer": {"type": "pattern", "pattern": "(" * DEEP + "a" + ")" * DEEP}, "text": "a"}),
    analyze("pattern_alternatives", {"tokenizer": {"type": "pattern", "pattern": "a|" * DEEP + "b"}, "text": "a"}),
    analyze("pattern_classes", {"tokenizer": {"type": "pattern", "pattern": "[" * 50_000 + "a" + "]" * 50_000}, "text": "a"}),
    analyze("pattern_lookarounds", {"tokenizer": {"type": "pattern", "pattern": "(?=" * 20_000 + "a" + ")" * 20_000}, "text": "a"}),
    analyze("html", {"tokenizer": "keyword", "char_filter": ["html_strip"], "text": "<a>" * DEEP}),
    simulate("date_format", {"date": {"field": "a", "formats": ["[" * DEEP + "yyyy" + "]" * DEEP]}}, {"a": "2020"}),
    simulate("set_path", {"set": {"field": DOTTED, "value": 1}}, {}),
    simulate("rename_path", {"rename": {"field": "a", "target_field": DOTTED}}, {"a": 1}),
    simulate("remove_path", {"remove": {"field": DOTTED}}, {"a": 1}),
    simulate("dot_expander", {"dot_expander": {"field": "*"}}, {DOTTED: 1}),
    simulate("template", {"set": {"field": "b", "value": "{{#a}}" * 50_000 + "{{/a}}" * 50_000}}, {"a": 1}),
    simulate("template_path", {"set": {"field": "b", "value": "{{" + DOTTED + "}}"}}, {"a": 1}),
    simulate("grok", {"grok": {"field": "a", "patterns": ["(" * DEEP + "a" + ")" * DEEP]}}, {"a": "a"}),
    simulate("grok_definitions", {"grok": {"field": "a", "patterns": ["%{P0}"], "pattern_definitions": {f"P{n}": "%{P" + str(n + 1) + "}" for n in range(20_000)} | {"P20000": "a"}}}, {"a": "a"}),
    simulate("grok_doubling", {"grok": {"field": "a", "patterns": ["%{P0}"], "pattern_definitions": {f"P{n}": "%{P" + str(n + 1) + "}%{P" + str(n + 1) + "}" for n in range(40)} | {"P40": "a"}}}, {"a": "a"}),
    simulate("dissect", {"dissect": {"field": "a", "pattern": "%{a}" * DEEP}}, {"a": "a"}),
    simulate("json", {"json": {"field": "a"}}, {"a": "[" * DEEP + "]" * DEEP}),
    simulate("json_objects", {"json": {"field": "a", "add_to_root": True}}, {"a": "{\"a\":" * DEEP + "1" + "}" * DEEP}),
    simulate("foreach", nested(400, lambda inner: {"foreach": {"field": "a", "processor": inner}}, {"set": {"field": "b", "value": 1}}), {"a": [1]}),
    simulate("on_failure", nested(400, lambda inner: {"fail": {"message": "x", "on_failure": [inner]}}, {"set": {"field": "b", "value": 1}}), {"a": [1]}),
    simulate("reroute", {"reroute": {"dataset": ["{{a." + DOTTED + "}}"]}}, {"a": 1}),
    Case("document_name", "PUT", "/d/_doc/2", {DOTTED: 1}, OK + BAD),
    Case("document_flattened", "PUT", "/d/_doc/2", {"f": {DOTTED: 1}}, OK + BAD),
    Case("document_dates", "PUT", "/dated/_doc/2", {"d": "2020"}, OK + BAD, [("PUT", "/dated", {"mappings": {"dynamic_date_formats": ["yyyy"]}})]),
    Case("mapping_format", "PUT", "/formatted", {"mappings": {"properties": {"d": {"type": "date", "format": "[" * DEEP + "yyyy" + "]" * DEEP}}}}, OK + BAD, cleanup=[("DELETE", "/formatted")]),
    Case("mapping_name", "PUT", "/d/_mapping", {"properties": {DOTTED: {"type": "long"}}}, OK + BAD),
    Case("mapping_copy", "PUT", "/copied", lambda: {"mappings": {"properties": {f"c{n}": {"type": "keyword", "copy_to": f"c{n + 1}"} for n in range(900)}}}, OK + BAD, cleanup=[("DELETE", "/copied")]),
    Case("mapping_alias", "PUT", "/aliased", lambda: {"mappings": {"properties": {f"c{n}": {"type": "alias", "path": f"c{n + 1}"} for n in range(900)}}}, OK + BAD, cleanup=[("DELETE", "/aliased")]),
    Case("mapping_dynamic_template", "PUT", "/templated", {"mappings": {"dynamic_templates": [{"t": {"path_match": "*." * DEEP, "mapping": {"type": "long"}}}]}}, OK + BAD, cleanup=[("DELETE", "/templated")]),
    Case("setting_name", "PUT", "/d/_settings", {"index." + DOTTED: 1}, OK + BAD),
    Case("settings_nested", "PUT", "/d/_settings", "{\"a\":" * 50_000 + "1" + "}" * 50_000, BAD),
    Case("cluster_setting_name", "PUT", "/_cluster/settings", {"persistent": {DOTTED: 1}}, OK + BAD),
    Case("template_name", "POST", "/_render/template", {"source": "{{" + DOTTED + "}}", "params": {"a": 1}}, OK + BAD),
    Case("template_params", "POST", "/_render/template", "{\"source\": \"{{a}}\", \"params\": " + "{\"a\":" * 50_000 + "1" + "}" * 50_001, BAD),
    Case("update_script_path", "POST", "/d/_update/1", {"script": {"source": "ctx._source" + ".a" * 30_000 + " = 1"}}, OK + BAD),
    Case("filter_path", "GET", "/d/_search?filter_path=" + "a." * 1_900, None, OK + BAD),
    Case("field_caps", "POST", "/d/_field_caps?fields=" + "a." * 1_900, None, OK + BAD),
    Case("alias_filter", "POST", "/_aliases", lambda: {"actions": [{"add": {"index": "d", "alias": "deep", "filter": nested(900, lambda inner: {"bool": {"must": inner}}, {"match_all": {}})}}]}, OK + BAD),
    Case("api_cron", "PUT", "/_slm/policy/x", {"schedule": "0 " * DEEP, "name": "x", "repository": "r"}, OK + BAD),
    Case("role_query", "PUT", "/_security/role/x", "{\"indices\":[{\"names\":[\"a\"],\"privileges\":[\"read\"],\"query\":" + "{\"bool\":{\"must\":" * 20_000 + "1" + "}}" * 20_000 + "}]}", BAD + (405,)),
]
