"""Suggesters, completions, enumerations and vectors of terms, and explanations."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)
SETUP = [
    ("PUT", "/s", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        "t": {"type": "text", "fields": {"g": {"type": "text", "analyzer": "simple"}}}, "k": {"type": "keyword"}, "n": {"type": "long"},
        "c": {"type": "completion", "max_input_length": 500, "contexts": [{"name": "kind", "type": "category"}, {"name": "place", "type": "geo", "precision": 12}]},
        "d": {"type": "completion"}}}}),
    ("POST", "/s/_bulk?refresh=true", lambda: Lines([line for n in range(20_000) for line in ({"index": {"_id": str(n)}}, {
        "t": f"hello world number{n} again{n % 300}", "k": f"key{n}", "n": n, "d": {"input": [f"hello{n}", f"world {n}"], "weight": n % 100},
        "c": {"input": f"hello {n}", "contexts": {"kind": [f"k{n % 10}"], "place": {"lat": n % 80, "lon": n % 170}}}})])),
]


def suggest(name, suggesters, expect=OK + BAD, **more):
    return Case(f"suggest_{name}", "POST", "/s/_search", lambda: {"size": 0, "suggest": suggesters() if callable(suggesters) else suggesters}, expect, **{"seconds": 30, **more})


def term(text, **options):
    return {"text": text, "term": {"field": "t", **options}}


def phrase(text, **options):
    return {"text": text, "phrase": {"field": "t", **options}}


def completion(prefix, field="d", **options):
    return {"prefix": prefix, "completion": {"field": field, **options}}


def document(name, body, path="/s/_doc/x", **more):
    return Case(f"write_{name}", "PUT", path, body, OK + BAD, **{"seconds": 30, **more})


CASES = [
    suggest("term", {"a": term("numbr " * 5_000, suggest_mode="always", max_edits=2, size=1_000, shard_size=100_000, prefix_length=0)}),
    suggest("term_sizes", {"a": term("helo", suggest_mode="always", size=2_147_483_647, shard_size=2_147_483_647)}),
    suggest("term_negative", {"a": term("helo", size=-5, shard_size=-1, min_word_length=-1, prefix_length=-3)}),
    suggest("term_inspections", {"a": term("numbrr1", suggest_mode="always", max_inspections=2_147_483_647, prefix_length=0, min_word_length=1, size=10_000)}),
    suggest("term_long", {"a": term("ab" * 500_000, suggest_mode="always")}),
    suggest("term_long_word", {"a": term("number" * 50, suggest_mode="always", max_edits=2, prefix_length=0)}, clients=4),
    suggest("term_frequency", {"a": term("hello", max_term_freq=1e308, min_doc_freq=1e308)}),
    suggest("term_many", lambda: {f"s{n}": term(f"numbr{n}", suggest_mode="always", prefix_length=0) for n in range(2_000)}, seconds=60),
    suggest("term_names", lambda: {f"s{n}" + "x" * 10_000: term("helo") for n in range(200)}),
    suggest("term_distance", {"a": term("number1 " * 500, suggest_mode="always", string_distance="ngram", size=1_000, prefix_length=0)}, seconds=60),
    suggest("term_jaro", {"a": term("number1 " * 500, suggest_mode="always", string_distance="jaro_winkler", size=1_000, sort="frequency", prefix_length=0)}, seconds=60),
    suggest("term_field", {"a": {"text": "a", "term": {"field": "x" * 1_000_000}}}),
    suggest("term_null", {"a": {"text": None, "term": {"field": None}}}),
    suggest("term_of_list", {"a": [{"text": "a"}]}, BAD),
    suggest("global_text", {"text": "helo wrld " * 5_000, **{f"s{n}": {"term": {"field": "t"}} for n in range(50)}}, seconds=60),
    suggest("phrase", {"a": phrase("helo wrld numbr agin " * 20, size=100, max_errors=20, confidence=0, direct_generator=[
        {"field": "t", "suggest_mode": "always", "min_word_length": 1, "prefix_length": 0, "size": 1_000}])}, seconds=60),
    suggest("phrase_long", {"a": phrase("helo wrld " * 50_000, max_errors=0.99, confidence=0)}, seconds=60),
    suggest("phrase_generators", {"a": phrase("helo wrld numbr", direct_generator=[{"field": "t", "suggest_mode": "always"}] * 5_000)}, seconds=60),
    suggest("phrase_grams", {"a": phrase("helo wrld numbr agin", gram_size=2_147_483_647)}),
    suggest("phrase_separator", {"a": phrase("helo wrld", separator="x" * 1_000_000, confidence=0)}),
    suggest("phrase_tags", {"a": phrase("helo wrld numbr " * 5, size=1_000, confidence=0, highlight={"pre_tag": "x" * 1_000_000, "post_tag": "y" * 1_000_000})}),
    suggest("phrase_collate", {"a": phrase("helo wrld", size=1_000, confidence=0, collate={"query": {"source": {"match": {"t": "{{suggestion}}"}}}, "prune": True})}),
    suggest("phrase_collate_bomb", {"a": phrase("helo wrld", size=100, confidence=0, collate={"query": {"source": "{{#a}}{{#a}}{{suggestion}}{{/a}}{{/a}}"}, "params": {"a": list(range(3_000))}})}),
    suggest("phrase_smoothing", {"a": phrase("helo wrld", smoothing={"linear_interpolation": {"trigram_lambda": 1e308, "bigram_lambda": -1e308, "unigram_lambda": 1}})}),
    suggest("phrase_laplace", {"a": phrase("helo wrld", smoothing={"laplace": {"alpha": -1e308}}, confidence=-1e308, real_word_error_likelihood=1e308)}),
    suggest("phrase_limit", {"a": phrase("helo wrld", token_limit=2_147_483_647, shard_size=2_147_483_647, size=2_147_483_647)}),
    suggest("phrase_gone", {"a": phrase("helo wrld numbr agin " * 20, size=100, max_errors=20, confidence=0)}, hang_up=0.3, clients=10),
    suggest("completion_all", {"a": completion("", size=2_147_483_647)}),
    suggest("completion_fuzzy", {"a": completion("hello" * 40, fuzzy={"fuzziness": 2, "prefix_length": 0, "min_length": 0, "transpositions": True, "unicode_aware": True}, size=10_000)}),
    suggest("completion_long", {"a": completion("ab" * 1_000_000, fuzzy={"fuzziness": 2})}),
    suggest("completion_regex", {"a": {"regex": "((a|b|.){1,50}){1,50}.*", "completion": {"field": "d", "regex": {"max_determinized_states": 2_147_483_647}}}}),
    suggest("completion_regex_long", {"a": {"regex": "(h|e|l|o)*" * 2_000, "completion": {"field": "d"}}}),
    suggest("completion_contexts", lambda: {"a": completion("h", "c", size=1_000, contexts={"kind": [{"context": f"k{n}", "boost": n} for n in range(50_000)]})}),
    suggest("completion_places", lambda: {"a": completion("h", "c", contexts={"kind": "k1", "place": [{"context": {"lat": n % 90, "lon": n % 180}, "precision": 12, "neighbours": list(range(1, 13))} for n in range(5_000)]})}),
    suggest("completion_place_odd", {"a": completion("h", "c", contexts={"kind": "k1", "place": {"context": {"lat": 1e308, "lon": "NaN"}, "precision": -1}})}),
    suggest("completion_duplicates", {"a": completion("h", skip_duplicates=True, size=10_000)}),
    suggest("completion_many", lambda: {f"s{n}": completion("h", size=1_000) for n in range(300)}, seconds=60),
    suggest("completion_clients", {"a": completion("h", size=10_000)}, clients=12),
    suggest("deep", {"a": {"text": "a", "term": {"field": "t", "x": [[[[[[[[]]]]]]]]}}}, BAD),
    suggest("unknown", {"a": {"text": "a", "x" * 1_000_000: {}}}, BAD),
    document("inputs", lambda: {"d": {"input": [f"hello{n}" for n in range(100_000)], "weight": 1}}),
    document("input_long", {"d": {"input": "x" * 5_000_000}}),
    document("weight", {"d": {"input": "a", "weight": 9_223_372_036_854_775_807}}),
    document("weight_negative", {"d": {"input": "a", "weight": -1}}),
    document("weight_text", {"d": {"input": "a", "weight": "1" * 100_000}}),
    *[document(f"contexts_ten_{path}", lambda: {"c": {"input": [f"a{n}" for n in range(1_000)], "contexts": {f"x{m}": [f"k{n}" for n in range(1_000)] for m in range(10)}}},
               f"/contexts/_doc/{path}", clients=clients, setup=[("PUT", "/contexts", {"mappings": {"properties": {"c": {
                   "type": "completion", "contexts": [{"name": f"x{m}", "type": "category"} for m in range(10)], "fields": {"again": {
                       "type": "completion", "contexts": [{"name": f"x{m}", "type": "category"} for m in range(10)]}} if path == "again" else {}}}}})])
      for path, clients in (("one", 1), ("eight", 8), ("again", 1))],
    document("contexts", lambda: {"c": {"input": [f"a{n}" for n in range(1_000)], "contexts": {"kind": [f"k{n}" for n in range(2_000)], "place": {"lat": 1, "lon": 1}}}}),
    document("contexts_places", lambda: {"c": {"input": [f"a{n}" for n in range(500)], "contexts": {"kind": ["a"], "place": [{"lat": n % 80, "lon": n % 170} for n in range(2_000)]}}}),
    document("contexts_missing", {"c": {"input": "a"}}),
    document("inputs_odd", {"d": [{"input": None}, {"input": []}, 5, True, {"input": [[["a"]]]}]}),
    document("inputs_separators", {"d": "a\u001eb\u001fc\u0000d"}),
    Case("completion_mapping", "PUT", "/contexts", lambda: {"mappings": {"properties": {"c": {"type": "completion", "max_input_length": 2_147_483_647, "contexts": [
        {"name": f"c{n}", "type": "category"} for n in range(10_000)]}}}}, OK + BAD, cleanup=[("DELETE", "/contexts")]),
    Case("terms_enum_long", "POST", "/s/_terms_enum", {"field": "k", "string": "k" * 1_000_000, "search_after": "k" * 1_000_000}, OK + BAD),
    Case("terms_enum_size", "POST", "/s/_terms_enum", {"field": "k", "size": 2_147_483_647}, OK + BAD),
    Case("terms_enum_filter", "POST", "/s/_terms_enum", {"field": "k", "size": 10_000, "timeout": "99999d", "index_filter": {"script": {"script": "while (true) {}"}}}, OK + BAD, clients=4),
    Case("termvectors_artificial", "POST", "/s/_termvectors", lambda: {"doc": {"t": " ".join(f"hello{n}" for n in range(100_000)), "k": ["key1"] * 10_000}, "fields": ["*"], "term_statistics": True,
        "field_statistics": True}, OK + BAD, seconds=60),
    Case("termvectors_fields", "POST", "/s/_termvectors/1", lambda: {"fields": [f"*t{n}*" for n in range(100_000)]}, OK + BAD),
    Case("termvectors_analyzers", "POST", "/s/_termvectors", lambda: {"doc": {"t": "hello " * 1_000}, "per_field_analyzer": {f"f{n}": "standard" for n in range(100_000)}}, OK + BAD),
    Case("termvectors_filter", "POST", "/s/_termvectors/1", {"filter": {"max_num_terms": -1, "min_term_freq": -5, "max_doc_freq": 99_999_999_999, "min_word_length": 2_147_483_648}}, OK + BAD),
    Case("termvectors_fields_made", "POST", "/s/_termvectors", lambda: {"doc": {f"f{n}": "hello" for n in range(50_000)}}, OK + BAD),
    Case("termvectors_deep", "POST", "/s/_termvectors", "{\"doc\":" + "{\"a\":" * 50_000 + "1" + "}" * 50_001, BAD),
    Case("mtermvectors_ids", "POST", "/s/_mtermvectors", lambda: {"ids": [str(n % 20_000) for n in range(200_000)], "parameters": {"fields": ["*"], "term_statistics": True}}, OK + BAD, seconds=60),
    Case("mtermvectors_docs", "POST", "/s/_mtermvectors", lambda: {"docs": [{"doc": {"t": "hello world " * 100}, "term_statistics": True}] * 5_000}, OK + BAD, seconds=60),
    Case("mtermvectors_gone", "POST", "/s/_mtermvectors", lambda: {"docs": [{"doc": {"t": "hello world " * 100}, "term_statistics": True}] * 5_000}, hang_up=0.3, clients=6),
    Case("explain_wide", "POST", "/s/_explain/1", lambda: {"query": {"dis_max": {"queries": [{"multi_match": {"query": "hello world again1", "fields": ["t", "t.g", "k"] * 100, "type": kind}}
        for kind in ("best_fields", "most_fields", "cross_fields")] * 50}}}, OK + BAD),
    Case("explain_functions", "POST", "/s/_explain/1", lambda: {"query": {"function_score": {"functions": [{"weight": n, "filter": {"match_all": {"_name": "x" * 1_000}}} for n in range(3_000)]}}}, OK + BAD),
    Case("explain_script", "POST", "/s/_explain/1", {"query": {"script_score": {"query": {"match_all": {}}, "script": "int c = 0; while (true) { c++ } return c"}}}, BAD),
    Case("explain_text", "POST", "/s/_explain/1", lambda: {"query": {"match": {"t": "hello " * 500_000}}}, OK + BAD),
    Case("validate_long", "POST", "/s/_validate/query?explain=true&rewrite=true", lambda: {"query": {"match": {"t": "hello" + "x" * 30_000 + " a" * 100_000}}}, OK + BAD),
    Case("validate_prefix", "POST", "/s/_validate/query?explain=true&rewrite=true&all_shards=true", {"query": {"prefix": {"k": "k"}}}, OK + BAD),
    Case("validate_wide", "POST", "/s/_validate/query?explain=true", lambda: {"query": {"bool": {"should": [{"terms": {"k": ["x" * 500] * 1_000}}] * 200}}}, OK + BAD),
    Case("validate_clients", "POST", "/s/_validate/query?explain=true", lambda: {"query": {"terms": {"k": ["x" * 1_000] * 10_000}}}, OK + BAD, clients=8),
    Case("field_caps", "POST", "/s/_field_caps?fields=" + "*,t*,k," * 1_000, None, OK + BAD),
    Case("field_caps_runtime", "POST", "/s/_field_caps?fields=*", lambda: {"runtime_mappings": {f"r{n}": {"type": "long"} for n in range(100_000)}}, OK + BAD),
    Case("field_caps_filter", "POST", "/s/_field_caps?fields=*", {"index_filter": {"script": {"script": "while (true) {}"}}}, OK + BAD),
    Case("more_like_this", "POST", "/s/_search", lambda: {"query": {"more_like_this": {"fields": ["t"], "like": [{"_index": "s", "_id": str(n)} for n in range(20_000)], "min_term_freq": 1, "min_doc_freq": 1,
        "max_query_terms": 2_147_483_647}}}, OK + BAD, seconds=60),
    Case("more_like_documents", "POST", "/s/_search", lambda: {"query": {"more_like_this": {"fields": ["t"], "like": [{"_index": "s", "doc": {"t": "hello world " * 1_000}}] * 1_000, "min_term_freq": 1}}}, OK + BAD, seconds=60),
    Case("more_like_text", "POST", "/s/_search", lambda: {"query": {"more_like_this": {"fields": ["t"], "like": ["hello " * 1_000_000], "minimum_should_match": "9" * 100_000 + "%"}}}, OK + BAD),
]
