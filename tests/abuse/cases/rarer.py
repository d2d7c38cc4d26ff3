"""APIs that clients use rarely: what a small request multiplies there."""

from case import OK, REFUSED, Case, Lines, acts, several

BAD = (400, 404, 413, 429)
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
HTML = "{{#a}}" * 400 + "x" + "{{/a}}" * 400

SETUP = [
    ("PUT", "/rare", {"settings": ONE, "mappings": {"properties": {
        "k": {"type": "keyword"}, "n": {"type": "integer"}, "t": {"type": "text"}, "p": {"type": "geo_point"}, "f": {"type": "rank_feature"},
        "fs": {"type": "rank_features"}, "d": {"type": "date"}, "j": {"type": "join", "relations": {"q": ["a", "b"], "a": "c"}},
        "c": {"type": "completion", "contexts": [{"name": "x", "type": "category"}]}, "q": {"type": "percolator"},
        "l": {"type": "nested", "properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}}}}}),
    ("POST", "/rare/_bulk?refresh=true", lambda: Lines([line for n in range(4_000) for line in (
        {"index": {"_id": f"{n}", "routing": "1"}}, {"k": f"key{n}", "n": n, "t": f"some words number{n} and word{n % 50}", "p": [n % 180, n % 85], "f": n + 1,
                                                     "fs": {f"a{n % 500}": n + 1}, "d": 1_600_000_000_000 + n, "j": "q" if n % 2 else {"name": "a", "parent": f"{n + 1}"},
                                                     "l": [{"k": f"i{m}", "n": m} for m in range(10)]})])),
]


def search(name, body, **more):
    return Case(name, "POST", "/rare/_search", body, **{"seconds": 60, **more})


def repeated(name, method, path, body, times, **more):
    """The same again and again, as `path` with a number."""

    def act(server):
        for number in range(times):
            status, answer = server.send(method, path.format(n=number), body(number) if callable(body) else body)
            yield status, answer[:300]

    return acts(name, act, OK + REFUSED, **{"seconds": 120, **more})


def simulate_ingest(**more):
    return {"docs": [{"_index": "rare", "_id": "1", "_source": {"t": "x"}}], **more}


def retriever(depth, inside):
    for _ in range(depth):
        inside = {"rescorer": {"retriever": inside, "rescore": {"window_size": 10, "query": {"rescore_query": {"match_all": {}}}}}}
    return inside


STANDARD = {"standard": {"query": {"match_all": {}}}}

CASES = [
    # Simulated ingest: documents by substitutions.
    Case("simulate_ingest_documents", "POST", "/_ingest/_simulate", lambda: {"docs": [{"_index": "rare", "_id": f"{n}", "_source": {"t": "x" * 100}} for n in range(9_000)]}, seconds=60),
    Case("simulate_ingest_fields", "POST", "/_ingest/_simulate", lambda: {"docs": [
        {"_index": "rare", "_id": f"{n}", "_source": {f"f{n}_{m}": m for m in range(100)}} for n in range(300)]}, seconds=60),
    Case("simulate_ingest_mappings", "POST", "/_ingest/_simulate", lambda: simulate_ingest(mapping_addition={"properties": {f"f{n}": {"type": "text"} for n in range(20_000)}})),
    Case("simulate_ingest_templates", "POST", "/_ingest/_simulate", lambda: simulate_ingest(component_template_substitutions={f"c{n}": {
        "template": {"mappings": {"properties": {f"f{n}_{m}": {"type": "keyword"} for m in range(100)}}}} for n in range(100)}), seconds=60),
    Case("simulate_ingest_pipelines", "POST", "/_ingest/_simulate", lambda: simulate_ingest(pipeline_substitutions={f"p{n}": {
        "processors": [{"grok": {"field": "t", "patterns": ["%{COMBINEDAPACHELOG}"]}}] * 10} for n in range(300)}), seconds=60),
    Case("simulate_ingest_grows", "POST", "/_ingest/_simulate?pipeline=p", lambda: {"docs": [{"_index": "rare", "_id": f"{n}", "_source": {"a": "a" * 100}} for n in range(500)],
         "pipeline_substitutions": {"p": {"processors": [{"gsub": {"field": "a", "pattern": "a", "replacement": "a" * 10}}] * 4}}}, clients=3, seconds=60),
    Case("simulate_verbose", "POST", "/_ingest/pipeline/_simulate?verbose=true", lambda: {"pipeline": {"processors": [{"set": {"field": f"f{n}", "value": "x" * 1_000}} for n in range(300)]},
                                                                                       "docs": [{"_source": {}}] * 100}, seconds=60),
    # Copies of indices.
    repeated("create_from", "PUT", "/_create_from/rare/from{n}", {"settings_override": {"index.number_of_shards": 1}}, 20,
             cleanup=[("DELETE", "/" + ",".join(f"from{n}" for n in range(20)))]),
    Case("create_from_fields", "PUT", "/_create_from/rare/fromfields", lambda: {"mappings_override": {"properties": {f"f{n}": {"type": "text"} for n in range(20_000)}}},
         cleanup=[("DELETE", "/fromfields")]),
    Case("create_from_shards", "PUT", "/_create_from/rare/fromshards", {"settings_override": {"index.number_of_shards": 1_024}}, cleanup=[("DELETE", "/fromshards")]),
    # Enrich.
    Case("enrich_policy_fields", "PUT", "/_enrich/policy/many", lambda: {"match": {"indices": "rare", "match_field": "k", "enrich_fields": [f"f{n}" for n in range(100_000)]}},
         cleanup=[("DELETE", "/_enrich/policy/many")]),
    Case("enrich_policy_indices", "PUT", "/_enrich/policy/wide", lambda: {"match": {"indices": ["rare"] * 50_000, "match_field": "k", "enrich_fields": ["n"]}},
         cleanup=[("DELETE", "/_enrich/policy/wide")]),
    several("enrich_executed", [("PUT", "/_enrich/policy/twice", {"match": {"indices": ["rare"] * 20, "match_field": "k", "enrich_fields": ["t", "l"]}}),
                                ("PUT", "/_enrich/policy/twice/_execute"), ("POST", "/_ingest/pipeline/_simulate", lambda: {
                                    "pipeline": {"processors": [{"enrich": {"policy_name": "twice", "field": "k", "target_field": f"e{n}", "max_matches": 128}} for n in range(500)]},
                                    "docs": [{"_source": {"k": f"key{n}"}} for n in range(200)]}), ("DELETE", "/_enrich/policy/twice")], seconds=120),
    Case("enrich_policy_deep", "PUT", "/_enrich/policy/deep", lambda: {"match": {"indices": "rare", "match_field": "a." * 100_000 + "b", "enrich_fields": ["c"]}}, 400),
    # Transforms.
    *[Case(f"transform_deep_{name}", "POST", "/_transform/_preview", lambda group=group, value=value: {"source": {"index": "rare"}, "pivot": {
        "group_by": {group: {"terms": {"field": "k"}}}, "aggregations": value}}, 400) for name, group, value in (
            ("group", "a." * 100_000 + "b", {"m": {"max": {"field": "n"}}}), ("value", "g", {"a." * 100_000 + "b": {"max": {"field": "n"}}}),
            ("inside", "g", {"m": {"filter": {"match_all": {}}, "aggs": {"a." * 100_000 + "b": {"max": {"field": "n"}}}}}))],
    Case("transform_preview_many", "POST", "/_transform/_preview", lambda: {"source": {"index": "rare"}, "pivot": {
        "group_by": {"g": {"terms": {"field": "k"}}}, "aggregations": {f"m{n}": {"max": {"field": "n"}} for n in range(150_000)}}}, (400, 429), clients=3, seconds=20),
    Case("transform_preview_groups", "POST", "/_transform/_preview", lambda: {"source": {"index": "rare"}, "pivot": {
        "group_by": {f"g{n}": {"terms": {"field": "k"}} for n in range(300)}, "aggregations": {"m": {"max": {"field": "n"}}}}}),
    Case("transform_preview_names", "POST", "/_transform/_preview", lambda: {"source": {"index": "rare"}, "pivot": {
        "group_by": {"g": {"terms": {"field": "k"}}}, "aggregations": {"m" * 3_000 + str(n): {"max": {"field": "n"}} for n in range(300)}}}, clients=3),
    Case("transform_preview_script", "POST", "/_transform/_preview", lambda: {"source": {"index": "rare"}, "pivot": {"group_by": {"g": {"terms": {"field": "k"}}}, "aggregations": {
        "m": {"scripted_metric": {"init_script": "state.l = []", "map_script": "for (int i = 0; i < 10000; i++) { state.l.add('xxxxxxxxxx' + i) }", "combine_script": "return state.l",
                                  "reduce_script": "return states"}}}}}, seconds=60),
    repeated("transforms", "PUT", "/_transform/t{n}?defer_validation=true", lambda n: {"source": {"index": "rare"}, "dest": {"index": f"into{n}"}, "description": "d" * 900,
             "_meta": {"m": "x" * 100_000}, "pivot": {"group_by": {"g": {"terms": {"field": "k"}}}, "aggregations": {"m": {"max": {"field": "n"}}}}}, 40,
             cleanup=[("DELETE", f"/_transform/t{n}?force=true") for n in range(40)]),
    # Synonyms.
    Case("synonyms_rules", "PUT", "/_synonyms/many", lambda: {"synonyms_set": [{"id": f"r{n}", "synonyms": f"a{n}, b{n} => c{n}"} for n in range(100_000)]}, cleanup=[("DELETE", "/_synonyms/many")]),
    Case("synonyms_rule_long", "PUT", "/_synonyms/long", lambda: {"synonyms_set": [{"synonyms": ", ".join(f"w{n}" for n in range(50_000))}]}, seconds=60, cleanup=[("DELETE", "/_synonyms/long")]),
    repeated("synonyms_reloads", "PUT", "/_synonyms/again", lambda n: {"synonyms_set": [{"synonyms": f"a{n}{m}, b{m}"} for m in range(2_000)]}, 30,
             setup=[("PUT", "/_synonyms/again", {"synonyms_set": [{"synonyms": "a, b"}]}), ("PUT", "/synonymous", {"settings": {**ONE, "analysis": {
                 "filter": {"s": {"type": "synonym_graph", "synonyms_set": "again", "updateable": True}}, "analyzer": {"a": {"tokenizer": "standard", "filter": ["s"]}}}},
                 "mappings": {"properties": {"t": {"type": "text", "search_analyzer": "a", "analyzer": "standard"}}}})],
             cleanup=[("DELETE", "/synonymous"), ("DELETE", "/_synonyms/again")]),
    # Painless beside an index.
    Case("execute_document", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "doc['l.n'].size()"}, "context": "score", "context_setup": {
        "index": "rare", "document": {"l": [{"n": n} for n in range(50_000)]}}}),
    Case("execute_fields", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "emit('x')"}, "context": "keyword_field", "context_setup": {
        "index": "rare", "document": {f"f{n}": n for n in range(50_000)}}}),
    Case("execute_emits", "POST", "/_scripts/painless/_execute", {"script": {"source": "for (int i = 0; i < 1000000; i++) { emit('x' + i) }"}, "context": "keyword_field",
         "context_setup": {"index": "rare", "document": {"n": 1}}}),
    Case("execute_filter", "POST", "/_scripts/painless/_execute", {"script": {"source": "String s = 'x'; while (true) { s += s } return true"}, "context": "filter",
         "context_setup": {"index": "rare", "document": {"n": 1}}}),
    Case("execute_params", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "params.toString() + params.toString()", "params": {f"p{n}": "x" * 1_000 for n in range(5_000)}}}),
    # Security is off here: what is asked of it is refused by name.
    Case("security_query", "GET", "/_security/_query/api_key", lambda: {"query": {"bool": {"should": [{"term": {"name": f"n{n}"}} for n in range(50_000)]}}}, REFUSED),
    # Retrievers.
    search("retriever_deep", lambda: {"retriever": retriever(300, STANDARD)}),
    search("retriever_wide", lambda: {"retriever": {"rrf": {"retrievers": [STANDARD] * 5_000, "rank_window_size": 10_000}}, "size": 10}),
    search("retriever_trees", lambda: {"retriever": {"rrf": {"retrievers": [{"rrf": {"retrievers": [STANDARD] * 50}}] * 50}}}),
    search("retriever_explained", {"retriever": {"rrf": {"retrievers": [{"standard": {"query": {"match": {"t": "some words and"}}}}] * 20, "rank_window_size": 10_000}},
                                   "size": 10_000, "explain": True}, clients=3),
    search("retriever_pinned", lambda: {"retriever": {"pinned": {"ids": [f"{n}" for n in range(50_000)], "retriever": STANDARD}}}),
    search("retriever_linear", lambda: {"retriever": {"linear": {"retrievers": [{"retriever": STANDARD, "weight": 1e308, "normalizer": "minmax"}] * 100, "rank_window_size": 4_000}}}),
    search("retriever_diversified", {"retriever": {"diversify": {"retriever": STANDARD, "field": "n", "type": "mmr", "rank_window_size": 2_147_483_647}}}),
    # Suggesters.
    search("suggest_completion_contexts", lambda: {"suggest": {"s": {"prefix": "a", "completion": {"field": "c", "contexts": {"x": [f"c{n}" for n in range(50_000)]}}}}}),
    search("suggest_completion_regex", {"suggest": {"s": {"regex": "(a|b|c|d)*" * 500, "completion": {"field": "c", "regex": {"max_determinized_states": 2_000_000_000}}}}}),
    search("suggest_phrase_generators", lambda: {"suggest": {"s": {"text": "some wrods numbr", "phrase": {"field": "t", "max_errors": 10, "size": 1_000, "direct_generator": [
        {"field": "t", "suggest_mode": "always", "max_edits": 2, "size": 1_000, "min_word_length": 1}] * 300}}}}),
    search("suggest_phrase_collate", lambda: {"suggest": {"s": {"text": "some wrods numbr", "phrase": {"field": "t", "size": 500, "confidence": 0, "collate": {
        "query": {"source": {"match": {"{{f}}": "{{suggestion}}"}}}, "params": {"f": "t"}, "prune": True}}}}}),
    # Features.
    search("rank_feature_many", lambda: {"query": {"bool": {"should": [{"rank_feature": {"field": f"fs.a{n}", "saturation": {}}} for n in range(1_000)]}}}),
    search("rank_feature_odd", {"query": {"rank_feature": {"field": "f", "sigmoid": {"pivot": 1e-300, "exponent": 1e300}}}}),
    Case("rank_features_document", "PUT", "/rare/_doc/features?routing=1", lambda: {"fs": {f"z{n}": n + 1 for n in range(300_000)}}),
    Case("rank_features_name", "PUT", "/rare/_doc/features?routing=1", lambda: {"fs": {"z" * 1_000_000: 1}}),
    # Profiles and explanations.
    search("profile_clauses", lambda: {"profile": True, "query": {"bool": {"should": [{"term": {"k": "x" * 1_000 + str(n)}} for n in range(1_000)]}}}, clients=4),
    search("profile_aggregations", lambda: {"profile": True, "size": 0, "aggs": {f"a{n}": {"terms": {"field": "k"}, "aggs": {f"b{m}": {"max": {"field": "n"}} for m in range(30)}} for n in range(100)}}),
    search("explain_functions", lambda: {"explain": True, "size": 4_000, "query": {"function_score": {"functions": [
        {"filter": {"match_all": {"_name": "x" * 500}}, "weight": n + 1} for n in range(100)]}}}, clients=3),
    search("explain_scripts", {"explain": True, "size": 4_000, "query": {"script_score": {"query": {"match_all": {}}, "script": {
        "source": "explanation.set('x'); String s = ''; for (int i = 0; i < 100; i++) { s += 'xxxxxxxxxx' } return s.length()"}}}}),
    search("named_scores", lambda: {"size": 4_000, "query": {"bool": {"should": [{"match_all": {"_name": f"{n}" + "n" * 300}} for n in range(200)]}}}, clients=3),
    # Templates.
    Case("render_sections", "POST", "/_render/template", lambda: {"source": HTML, "params": {"a": [1] * 1_000}}),
    Case("render_lists", "POST", "/_render/template", lambda: {"source": "{{#a}}{{#a}}{{#a}}{{.}}{{/a}}{{/a}}{{/a}}", "params": {"a": ["x" * 100] * 1_000}}, seconds=60),
    Case("render_json", "POST", "/_render/template", lambda: {"source": "{\"x\": [" + ",".join(["{{#toJson}}a{{/toJson}}"] * 1_000) + "]}", "params": {"a": ["x" * 100] * 1_000}}, seconds=60),
    Case("render_join", "POST", "/_render/template", lambda: {"source": "{{#join delimiter='" + "d" * 10_000 + "'}}a{{/join delimiter='" + "d" * 10_000 + "'}}", "params": {"a": ["x"] * 50_000}}),
    Case("render_url", "POST", "/_render/template", lambda: {"source": "{{#url}}" * 300 + "{{a}}" + "{{/url}}" * 300, "params": {"a": "%" * 100_000}}),
    Case("render_partial", "POST", "/_render/template", lambda: {"source": "{{> a}}" * 100_000, "params": {"a": "{{> a}}"}}),
    Case("msearch_template", "POST", "/_msearch/template", lambda: Lines([line for n in range(2_000) for line in (
        {"index": "rare"}, {"source": "{\"size\": {{s}}, \"query\": {\"match\": {\"t\": \"{{q}}\"}}}", "params": {"s": 100, "q": "some"}})]), seconds=90),
    # Lines of places.
    search("geo_line_buckets", {"size": 0, "aggs": {"k": {"terms": {"field": "k", "size": 4_000}, "aggs": {"l": {"geo_line": {"point": {"field": "p"}, "sort": {"field": "d"}, "size": 10_000}}}}}}, clients=3),
    search("geo_line_many", lambda: {"size": 0, "aggs": {f"l{n}": {"geo_line": {"point": {"field": "p"}, "sort": {"field": "d"}, "size": 10_000, "include_sort": True}} for n in range(200)}}, clients=2, seconds=90),
    # Joins.
    search("joins_both_ways", lambda: {"query": {"has_child": {"type": "a", "query": {"has_parent": {"parent_type": "q", "query": {"has_child": {"type": "a", "query": {"match_all": {}},
           "inner_hits": {"size": 100, "name": "x"}}}}}}}}),
    search("joins_inner_hits", lambda: {"size": 4_000, "query": {"bool": {"should": [{"has_child": {"type": "a", "query": {"match_all": {}}, "inner_hits": {
        "name": f"i{n}" + "n" * 1_000, "size": 100}}} for n in range(30)]}}}, clients=2, seconds=180),
    search("children_names", lambda: {"size": 0, "aggs": {"n" * 2_000 + str(n): {"children": {"type": "a"}, "aggs": {"k": {"terms": {"field": "k", "size": 4_000}}}} for n in range(30)}}, seconds=90),
    Case("joins_mapping", "PUT", "/joined", lambda: {"mappings": {"properties": {"j": {"type": "join", "relations": {f"q{n}": [f"c{n}_{m}" for m in range(100)] for n in range(2_000)}}}}},
         cleanup=[("DELETE", "/joined")]),
    # Percolation.
    Case("percolate_stored", "PUT", "/rare/_doc/query?routing=1", lambda: {"q": {"bool": {"should": [{"match": {"t": f"w{n}"}} for n in range(1_000)]}}}),
    search("percolate_documents", lambda: {"query": {"percolate": {"field": "q", "documents": [{"t": " ".join(f"w{m}" for m in range(1_000))} for n in range(1_000)]}}}, seconds=90),
    search("percolate_fields", lambda: {"query": {"percolate": {"field": "q", "document": {f"new{n}": "x" for n in range(50_000)}}}}),
    search("percolate_highlight", lambda: {"query": {"percolate": {"field": "q", "documents": [{"t": "w1 w2 w3 " * 1_000}] * 200}}, "highlight": {
        "pre_tags": ["x" * 1_000], "post_tags": ["y"], "number_of_fragments": 0, "fields": {"t": {}}}}, seconds=90),
    # Deprecated forms: each tells the client, within bounds.
    search("warnings", lambda: {"query": {"bool": {"should": [{"geo_polygon": {"p": {"points": [[0, 0], [5, 0], [5, 5]]}}}, {"range": {"n": {"from": 1, "to": 2}}}] * 400}}}),
    Case("warnings_analyzers", "POST", "/_analyze", lambda: {"tokenizer": "standard", "filter": [{"type": "stemmer", "language": "lovins"}] * 5_000, "text": "a"}),
    repeated("warnings_templates", "PUT", "/_template/" + "w" * 200 + "{n}", {"index_patterns": ["*"], "order": 1}, 60,
             cleanup=[("DELETE", "/_template/" + "w" * 200 + "*")]),
    Case("warnings_names", "PUT", "/." + "w" * 250, None, cleanup=[("DELETE", "/." + "w" * 250)]),
    # Fields and their values.
    search("runtime_many", lambda: {"runtime_mappings": {f"r{n}": {"type": "keyword", "script": {"source": "emit('x' + doc['n'].value)"}} for n in range(300)}, "fields": ["r*"], "size": 1_000}, seconds=90),
    search("runtime_lookups", lambda: {"runtime_mappings": {f"r{n}": {"type": "lookup", "target_index": "rare", "input_field": "k", "target_field": "k", "fetch_fields": ["*"]} for n in range(50)},
                                       "fields": ["r*"], "size": 500}, seconds=90),
    Case("terms_enum", "POST", "/rare/_terms_enum", {"field": "k", "string": "key", "size": 10_000, "timeout": "1000d"}),
    Case("field_caps_filters", "POST", "/_field_caps?fields=" + ",".join(["*"] * 500), lambda: {"index_filter": {"bool": {"should": [{"range": {"n": {"gte": n}}} for n in range(1_000)]}}}),
    Case("rank_eval", "POST", "/rare/_rank_eval", lambda: {"requests": [{"id": "x" * 500 + str(n), "request": {"query": {"match": {"t": "some"}}}, "ratings": [
        {"_index": "rare", "_id": f"{m}", "rating": 1} for m in range(50)]} for n in range(500)], "metric": {"precision": {"k": 1_000}}}, seconds=90),
]
